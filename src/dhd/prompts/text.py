"""How foreign text enters a prompt: as data that can neither end its block nor its turn."""

from __future__ import annotations

import re
from typing import Final

_TILDES: Final = re.compile(r"~{3,}")
_CHAT_MARKER: Final = re.compile(
    r"<(?=\|[^\s<>|]{1,40}\|?>"  # <|im_end|> <|start|> <|turn>
    r"|[^\s<>|]{1,40}\|>"  # <turn|> <channel|>
    r"|(?:start|end)_of_turn>|bos>|eos>|pad>|/?s>)"  # Gemma 1-3, Llama 1-2
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\])"  # Mistral
)
_POWER_OF_TEN: Final = re.compile(
    r"(?:1\s*)?(?:\\times|\\cdot|×|·)?\s*10\s*\^\s*(?:\{\s*[-+−]?\s*[0-9]+\s*\}|[-+−]?[0-9]+)\s*"
)
_EMPTY_UNIT: Final = re.compile(r"[\s$~{}]*")


def fence(text: str) -> str:
    """Return ``text`` between two equal lines of tildes that it does not contain.

    As in Markdown, the fence is longer than the longest run of tildes inside, so no text
    can close its own block, and the result depends on nothing but the text.
    """
    runs = _TILDES.findall(text) if "~~~" in text else ()
    marker = "~" * (max(map(len, runs), default=2) + 1)
    return f"{marker}\n{text.strip()}\n{marker}"


def one_line(text: str) -> str:
    """Return ``text`` with every run of white space, line breaks included, as one space."""
    return " ".join(text.split())


def defuse(text: str) -> str:
    """Return ``text`` with a space inside what a tokenizer could take for a chat marker.

    Tokenizers turn markers such as ``<|im_end|>`` into control tokens even inside a turn.
    A space after the bracket makes them ordinary text and leaves them readable.
    """
    if "<" not in text and "[" not in text:
        return text
    return _CHAT_MARKER.sub(lambda match: f"{match.group()} ", text)


def unit_without_factor(unit: str | None) -> str | None:
    """Return the unit that a solver is told: without powers of ten, None if nothing is left.

    SciBench keeps a power of ten of the reference in its unit field. Shown, it would make
    both 6.31 and 6.31e13 defensible; left out, the full value is the one right answer.
    """
    if unit is None:
        return None
    plain = _POWER_OF_TEN.sub("", unit).strip()
    return None if _EMPTY_UNIT.fullmatch(plain) else plain
