"""Parse an evaluator's output into a verdict."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from dhd.messages import ParsedVerdict
from dhd.parsing.labels import normalise_key
from dhd.parsing.lenient_json import JsonValue, scan_encoded
from dhd.parsing.reasoning import NoFinalTextError, readable_final_text
from dhd.parsing.verdict_text import (
    OFF_MENU,
    Signal,
    stated_verdicts,
    without_open_label,
    word_verdict,
)

_JSON_KEYS: Final = frozenset(
    {"verdict", "final_verdict", "correctness", "correct", "is_correct", "pass", "passed"}
)
_MAX_WRAPPERS: Final = 2
_FENCE_MARK: Final = re.compile(r"```(?:json\b)?", re.IGNORECASE)
_INVISIBLE: Final = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad"))


def parse_verdict(text: str | None, *, finish_reason: str | None = None) -> ParsedVerdict:
    """Parse the correctness label that the evaluator emits (paper, Prompt Interface Details).

    Takes ``PASS``/``FAIL``, ``Verdict: …``, ``Correctness: 1|0`` and JSON with such keys. A
    verdict is a statement of its own (a line or sentence); mentions inside other sentences and
    quotations are none. Contradictions, words and numbers off the menu, echoes of the template
    and outputs cut at the token limit give None, which is *unjudged*, never *incorrect*.

    Parameters
    ----------
    text
        The output; None when the engine found no final text.
    finish_reason
        As the engine reports it; after ``length`` only one complete JSON object counts.
    """
    try:
        final = readable_final_text(text)
    except NoFinalTextError as error:
        return ParsedVerdict(None, str(error))
    final = unicodedata.normalize("NFKC", final).translate(_INVISIBLE).strip()
    scan = scan_encoded(final)
    if scan.unclosed:
        return ParsedVerdict(None, "unclosed JSON")
    signals = [signal for value in scan.values for signal in _json_signals(value, _MAX_WRAPPERS)]
    rest = _without(final, scan.spans) if scan.spans else final
    if finish_reason == "length" and (rest.strip() or not signals):
        return ParsedVerdict(None, "cut at the token limit")
    return _decide([*signals, *stated_verdicts(rest)])


def _decide(signals: list[Signal]) -> ParsedVerdict:
    if not signals:
        return ParsedVerdict(None, "no verdict")
    if OFF_MENU in signals:
        return ParsedVerdict(None, "verdict off the menu")
    if len(set(signals)) > 1:
        return ParsedVerdict(None, "contradictory verdicts")
    return ParsedVerdict(signals[0] == "pass")


def _json_signals(value: JsonValue, depth: int) -> list[Signal]:
    """Return what the verdict keys of an object, or of objects nested in it, say."""
    if isinstance(value, list):
        return [signal for item in value if depth for signal in _json_signals(item, depth - 1)]
    if not isinstance(value, dict):
        return []
    signals = [
        _value_signal(item) for key, item in value.items() if normalise_key(key) in _JSON_KEYS
    ]
    if signals or not depth:
        return signals
    return [signal for item in value.values() for signal in _json_signals(item, depth - 1)]


def _value_signal(value: JsonValue) -> Signal:
    if isinstance(value, bool):
        return "pass" if value else "fail"
    return word_verdict(value) if isinstance(value, str) else OFF_MENU


def _without(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    """Cut the JSON out of a text; a fence around it goes with it."""
    pieces: list[str] = []
    end = 0
    for start, stop in spans:
        pieces.append(without_open_label(_FENCE_MARK.sub("", text[end:start])))
        end = stop
    pieces.append(text[end:])
    return _FENCE_MARK.sub("", "\n".join(pieces))
