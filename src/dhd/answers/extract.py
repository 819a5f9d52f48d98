r"""Extraction of the final answer from a model output.

The JSON field where the output is structured, else the last non-empty ``\boxed{}``, else what
follows the last answer marker (``Final answer:``, ``Answer:`` and its translations). An answer
line after the last box corrects it. Echoed instructions are no answers.

Outputs are hostile and may repeat one token thousands of times, and extraction runs outside the
comparison workers: every step takes time linear in the output, so patterns do not backtrack over
white space and only the last candidates are looked at.
"""

from __future__ import annotations

import bisect
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dhd.answers.choices import resolve_choice, resolve_choices
from dhd.answers.json_answer import json_answer, looks_structured
from dhd.answers.prose import choice_in_prose, letters_in_prose, number_in_prose
from dhd.answers.quantity import parse_quantity
from dhd.answers.text import clean, closing_braces, matching_brace, normalise_answer
from dhd.parsing.reasoning import final_text
from dhd.problems import AnswerFormat

MAX_OUTPUT_CHARS: Final = 400_000
"""Of longer outputs only the end is searched."""
_MAX_CANDIDATES: Final = 50
"""Boxes and answer lines that are looked at, counted from the end."""
_MAX_PLACEHOLDER: Final = 80
_MAX_NAMING: Final = 4_000
"""Characters; a longer text is not searched for the options that it names."""

_BOX: Final = re.compile(r"\\f?box(?:ed)?\s*(\{)|\\boxed\s+([^\s{}$\\]+)")
_PLACEHOLDER: Final = re.compile(
    r"^[\s\[<({$*_]*(?:|\.{2,}|…|\\l?dots|_+|\?+|x{3,}"
    r"|(?:your|the|my|insert|final|correct)?[\s_]*(?:final[\s_]*)?"
    r"(?:answer|letter|result|option|choice|value|number)s?"
    r"(?:[\s_]*(?:here|goes here|only|letter))?)[\s\])>}$*_.]*$",
    re.IGNORECASE,
)
_WORDS: Final = (
    r"(?:the\s++)?(?:my\s++)?(?:final|correct|right)\s++(?:answer|choice|option|result)"
    r"|(?:the\s++)?answer|ans\.?|final|correct\s++option"
)
_FOREIGN: Final = (
    "最终答案|正确答案|答案|答え|Antwort|Réponse|Respuesta|Risposta|Resposta|Ответ|정답|الجواب|Jawaban|"
    "Odpowiedź|Antwoord|Cevap|उत्तर|উত্তর|Jibu"
)
_MARKER: Final = re.compile(
    rf"(?<![A-Za-z\"'_])(?:{_WORDS}|{_FOREIGN})\s*+(?:\([^()\n]{{0,20}}\))?+\s*+[*_]{{0,2}}+\s*+"
    rf"(?:[:：]|(?:\bis\b|\bequals\b|是|为|為|は)\s*+[:：]?)[*_]{{0,2}}",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(
    r"^[#*_ \t]*+(?:the\s++)?final\s++answer[#*_ \t:]*+$", re.IGNORECASE | re.MULTILINE
)
_HASHES: Final = re.compile(r"^[ \t]*+####[ \t]*+(\S.*)$", re.MULTILINE)
_TAG: Final = re.compile(r"<answer>((?:(?!</?answer>).)*+)</answer>", re.DOTALL | re.IGNORECASE)
_RUN_ON: Final = re.compile(
    r"\n[ \t]*+(?:#++[ \t]*+|\*\*)?(?:next\s++)?"
    r"(?:question|problem|q|human|user|exercise|问题|题目)\s*+\d*+\s*+[:：.]",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"(?<=[^\s.])\.(?=\s+[A-Z])|(?<=[.。])\s*I hope\b|。")
_LETTER_FORMATS: Final = ("choice", "multi_choice")


@dataclass(frozen=True, slots=True)
class _Candidate:
    start: int
    text: str
    is_box: bool


_THOUGHT_BEGINS: Final = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THOUGHT_ENDS: Final = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


def extract_answer(
    text: str,
    *,
    answer_format: AnswerFormat,
    options: Sequence[str] | None = None,
    finish_reason: str | None = None,
) -> str | None:
    r"""Return the final answer in a raw model output, or None if there is none.

    Parameters
    ----------
    text
        The output; reasoning in tags or channels is ignored.
    answer_format
        Letters may be found in prose, free text may not.
    options
        Option texts in the shown order.
    finish_reason
        ``length`` marks a truncated output: only an answer that was complete before the cut
        counts.
    """
    truncated = finish_reason == "length"
    body = _THOUGHT_BEGINS.split(final_text(_outside_thoughts(text[-MAX_OUTPUT_CHARS:])) or "")[0]
    if not body:
        return None
    if (found := json_answer(body)) is not None:
        return found or None
    if truncated and looks_structured(body):
        return None
    body = _without_run_on(body)
    candidates = _boxes(body, truncated) + _marked(body, truncated)
    if truncated and _has_open_box(body):
        return None
    if answer_format in _LETTER_FORMATS:
        return _choose_letter(candidates, body, answer_format, options, truncated)
    return _choose(candidates) or (None if truncated else _from_prose(body, answer_format))


def _choose(candidates: list[_Candidate]) -> str | None:
    boxes = [one for one in candidates if one.is_box]
    marked = [one for one in candidates if not one.is_box]
    if not boxes:
        return marked[-1].text if marked else None
    later = [one for one in marked if one.start > boxes[-1].start]
    if later and parse_quantity(clean(normalise_answer(later[-1].text))) is not None:
        return later[-1].text
    return boxes[-1].text


def _choose_letter(
    candidates: list[_Candidate],
    body: str,
    answer_format: AnswerFormat,
    options: Sequence[str] | None,
    truncated: bool,
) -> str | None:
    """Return the last candidate that names options, else a letter in the prose."""
    for candidate in sorted(candidates, key=lambda one: one.start, reverse=True):
        if _names_options(candidate.text, answer_format, options):
            return candidate.text
    if not truncated:
        multiple = answer_format == "multi_choice"
        found = letters_in_prose(body) if multiple else choice_in_prose(body, options)
        if found is not None:
            return found
    if candidates:
        return candidates[-1].text if _is_short(candidates[-1].text) else None
    return body if not truncated and _is_short(body) else None


def _names_options(text: str, answer_format: AnswerFormat, options: Sequence[str] | None) -> bool:
    if len(text) > _MAX_NAMING:
        return False
    answer = normalise_answer(text)
    if answer_format == "multi_choice":
        return resolve_choices(answer, options) is not None
    return resolve_choice(answer, options) is not None


def _is_short(text: str) -> bool:
    return "\n" not in text.strip() and len(text.strip()) <= 60


def _from_prose(body: str, answer_format: AnswerFormat) -> str | None:
    if answer_format in ("math", "integer", "numeric"):
        return number_in_prose(body)
    return body if _is_short(body) else None


def _without_run_on(body: str) -> str:
    """Cut an invented next question off, where an answer stands before it."""
    cuts = [match.start() for match in _RUN_ON.finditer(body)]

    def answered(cut: int) -> bool:
        head = body[:cut]
        return bool(_boxes(head, truncated=False) or _marked(head, truncated=False))

    first = bisect.bisect_left(cuts, True, key=answered)  # a longer head keeps its answers
    return body[: cuts[first]] if first < len(cuts) else body


def _boxes(body: str, truncated: bool) -> list[_Candidate]:
    found: list[_Candidate] = []
    closings = closing_braces(body)
    for match in deque(_BOX.finditer(body), _MAX_CANDIDATES):
        if match.group(1) is None:
            content, end = match.group(2).rstrip(".,;"), match.end()
        else:
            end = closings.get(match.end() - 1, -1)
            content = body[match.end() : end].strip() if end >= 0 else ""
        if truncated and end >= len(body) and match.group(1) is None:
            continue
        if not _is_placeholder(content):
            found.append(_Candidate(match.start(), content, is_box=True))
    return found


def _has_open_box(body: str) -> bool:
    last = None
    for match in _BOX.finditer(body):
        last = match
    return (
        last is not None and last.group(1) is not None and matching_brace(body, last.end() - 1) < 0
    )


def _marked(body: str, truncated: bool) -> list[_Candidate]:
    spots = [(match.start(), match.end()) for match in _MARKER.finditer(body)]
    spots += [(match.start(), match.end()) for match in _HEADING.finditer(body)]
    spots = sorted(spots)[-_MAX_CANDIDATES:]
    found = [
        _Candidate(start, content, is_box=False)
        for start, end in spots
        if (content := _line_after(body, end, truncated)) is not None
    ]
    tagged = [
        match
        for pattern in (_HASHES, _TAG)
        for match in deque(pattern.finditer(body), _MAX_CANDIDATES)
    ]
    found += [
        _Candidate(match.start(), match.group(1).strip(), is_box=False)
        for match in tagged
        if not (truncated and match.end() == len(body)) and not _is_placeholder(match.group(1))
    ]
    return sorted(found, key=lambda one: one.start)


def _line_after(body: str, start: int, truncated: bool) -> str | None:
    """Return the rest of the line after a marker, or the next line if nothing is left of it."""
    stripped = body[start:].lstrip(" \t*_#")
    offset = len(body) - len(stripped)
    if stripped.startswith(("\n", "\r")):
        offset = len(body) - len(stripped.lstrip())
    end = body.find("\n", offset)
    complete = end >= 0
    line = body[offset : end if complete else len(body)]
    if (sentence := _SENTENCE_END.search(line)) is not None:
        line, complete = line[: sentence.start()], True
    if truncated and not complete:
        return None
    inner = _MARKER.match(line)
    content = (line[inner.end() :] if inner else line).strip().strip("*_ ").strip()
    content = content.removeprefix("####").strip()
    if content.endswith(".") and not content.endswith(".."):
        content = content[:-1]
    if _is_placeholder(content) or _BOX.search(content):
        return None
    return content


def _is_placeholder(text: str) -> bool:
    if len(text) > _MAX_PLACEHOLDER:
        return False
    plain = re.sub(r"\\(?:text|mathrm|textbf)\s*\{([^{}]*)\}", r"\1", text)
    return _PLACEHOLDER.match(plain) is not None


def _outside_thoughts(text: str) -> str:
    """Return the text without its closed thoughts, wherever they stand."""
    parts, at = [], 0
    while begin := _THOUGHT_BEGINS.search(text, at):
        end = _THOUGHT_ENDS.search(text, begin.end())
        if end is None:
            break
        parts.append(text[at : begin.start()])
        at = end.end()
    return "".join([*parts, text[at:]])
