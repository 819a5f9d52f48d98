r"""Find JSON in model output and read it without guessing at its meaning.

Libraries that repair JSON were measured and refused: they complete cut objects, take NaN, turn
``\times`` into a tab, and take seconds to minutes on a megabyte of braces. Here a tokeniser
rewrites what models commonly get wrong (comments, trailing commas, curly or single quotes, raw
newlines, unescaped LaTeX) into strict JSON, and the standard library parses that.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Final

from dhd.parsing.json_strings import decode_string


class Number(str):
    """A JSON number as the text that the model wrote: no digit is lost or added."""

    __slots__ = ()


JsonValue = str | bool | None | dict[str, "JsonValue"] | list["JsonValue"]

_MAX_DEPTH: Final = 64
_MAX_TOKENS: Final = 50_000
"""Tokens read per text; outputs of 4,096 tokens have a few thousand, a hostile text is cut off."""

# A brace or bracket that begins JSON; `{1, 2}`, `\frac{a}{b}` and `{smile}` do not.
_START = re.compile(
    r"""\{(?=\s*+(?:["“”„}]|//|/\*|'[^'\n]{1,60}'\s*+[:\uff1a]|[A-Za-z_][\w\\]{0,60}+\s*+[:\uff1a]))
      | \[(?=\s*+[{"“„'])""",
    re.VERBOSE,
)
# Strings and comments may run to the end of the text, so that each is scanned once only.
_TOKEN = re.compile(
    r"""(?P<skip>[\s\u200b\ufeff]++ | //[^\n]*+ | \#[^\n]*+ | /\*.*?(?:\*/|\Z))
      | (?P<open>[{\[]) | (?P<close>[}\]]) | (?P<comma>[,\uff0c]) | (?P<colon>[:\uff1a])
      | "(?P<double>[^"\\]*+(?:\\.[^"\\]*+)*+)(?P<double_end>"|\\?\Z)
      | [“”„](?P<curly>(?:[^“”\\]|\\.|[“”](?!\s*+[,\uff0c:\uff1a}\]]))*+)(?P<curly_end>[“”]|\\?\Z)
      | '(?P<single>(?:[^'\\]|\\.|'(?!\s*+[,\uff0c:\uff1a}\]]))*+)(?P<single_end>'|\\?\Z)
      | (?P<number>-?(?:0|[1-9]\d*+)(?:\.\d++)?+(?:[eE][+-]?\d++)?+)(?![\w.])
      | (?P<word>[A-Za-z_$][\w\\$]*+)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_CONSTANTS: Final = {
    "true": "true",
    "false": "false",
    "null": "null",
    "True": "true",
    "False": "false",
    "None": "null",
}
_KEY_FOLLOWS = re.compile(r"\s*+[:\uff1a]")
_CLOSING: Final = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class JsonScan:
    """The JSON objects and lists of a text.

    Attributes
    ----------
    values
        Complete top-level objects and lists in their order.
    spans
        Where they and the refused ones stand, as (start, end) in the text.
    refused
        Objects and lists that close but are not readable JSON.
    unclosed
        Whether the text ends inside an object or list.
    """

    values: tuple[JsonValue, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    refused: int = 0
    unclosed: bool = False


class _Reader:
    """Rewrites one value to strict JSON while it looks for its end."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.position = start
        self.parts: list[str] = []
        self.expected: list[str] = []
        self.error_at: int | None = None
        self.tokens = 0

    def read(self, budget: int) -> bool:
        """Read to the end of the value; return False when the text or the budget ends first."""
        for match in _TOKEN.finditer(self.text, self.position):
            if self.tokens >= budget:
                return False
            self.tokens += 1
            self.position = match.end()
            kind = match.lastgroup or "other"
            if kind.endswith("_end"):
                if match[kind] not in {'"', "“", "”", "'"}:
                    return False
                self.parts.append(json.dumps(decode_string(match[kind.removesuffix("_end")])))
            elif kind != "skip":
                self._take(kind, match)
            if not self.expected:
                return True
        return False

    def _take(self, kind: str, match: re.Match[str]) -> None:
        token = match[0]
        if kind == "open":
            self.expected.append(_CLOSING[token])
            self.parts.append(token)
            if len(self.expected) > _MAX_DEPTH:
                self._refuse(match)
        elif kind == "close":
            if self.parts[-1] == ",":
                self.parts.pop()
            if self.expected.pop() != token:
                self._refuse(match)
            self.parts.append(token)
        elif kind in {"comma", "colon"}:
            self.parts.append("," if kind == "comma" else ":")
        elif kind == "number":
            self.parts.append(token)
        elif kind == "word" and self.parts[-1] in {"{", ","} and self._is_key():
            self.parts.append(json.dumps(token))
        elif kind == "word" and token in _CONSTANTS:
            self.parts.append(_CONSTANTS[token])
        else:
            self._refuse(match)

    def _is_key(self) -> bool:
        return _KEY_FOLLOWS.match(self.text, self.position) is not None

    def _refuse(self, match: re.Match[str]) -> None:
        if self.error_at is None:
            self.error_at = match.end()


def scan_json(text: str) -> JsonScan:
    """Return the JSON objects and lists in a text; linear in its length.

    What stands inside an unreadable or unclosed value is never taken for a value of its own.
    """
    strict = _strict_object(text)
    return _scan_leniently(text) if strict is None else strict


def _strict_object(text: str) -> JsonScan | None:
    """Read a text that is one plain object by the standard library alone; None for all others.

    Constrained outputs are mostly of this kind. A backslash may be LaTeX and needs the
    lenient reading.
    """
    if not (text.startswith("{") and text.endswith("}")) or "\\" in text:
        return None
    if text.count("{") + text.count("[") > _MAX_DEPTH or len(text) > _MAX_TOKENS:
        return None
    try:
        return JsonScan((_loads(text),), ((0, len(text)),))
    except ValueError:
        return None


def _scan_leniently(text: str) -> JsonScan:
    values: list[JsonValue] = []
    spans: list[tuple[int, int]] = []
    refused = 0
    budget = _MAX_TOKENS
    start = _START.search(text)
    while start is not None:
        reader = _Reader(text, start.start())
        closed = reader.read(budget)
        budget -= reader.tokens
        if not closed and (reader.error_at is None or budget <= 0):
            return JsonScan(tuple(values), tuple(spans), refused, unclosed=True)
        resume = reader.position
        if closed:
            spans.append((start.start(), resume))
            try:
                values.append(_load(reader))
            except ValueError:
                refused += 1
        elif reader.error_at is not None:  # prose with a stray brace: go on behind it
            resume = reader.error_at
        start = _START.search(text, resume)
    return JsonScan(tuple(values), tuple(spans), refused)


def scan_encoded(text: str) -> JsonScan:
    """Like ``scan_json``, but also look inside a JSON text that was encoded twice."""
    scan = scan_json(text)
    if scan.values or scan.unclosed or '\\"' not in text:
        return scan
    inner = text.strip()
    if not inner.startswith('"'):
        inner = f'"{inner}"'
    try:
        decoded = json.loads(inner, strict=False)
    except ValueError:
        return scan
    found = scan_json(decoded)
    return replace(found, spans=((0, len(text)),)) if found.values else scan


def _load(reader: _Reader) -> JsonValue:
    if reader.error_at is not None:
        raise ValueError("not JSON")
    return _loads("".join(reader.parts))


def _loads(text: str) -> JsonValue:
    """Read strict JSON; numbers as written, no key with two values, no NaN."""
    value: JsonValue = json.loads(
        text,
        object_pairs_hook=_unique_pairs,
        parse_int=Number,
        parse_float=Number,
        parse_constant=_refuse_constant,
    )
    return value


def _refuse_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is not JSON")


def _unique_pairs(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """Refuse an object that gives one key two values: which one is meant would be a guess."""
    result: dict[str, JsonValue] = {}
    for key, value in pairs:
        if key in result and result[key] != value:
            raise ValueError(f"key {key!r} has two values")
        result[key] = value
    return result
