"""Find the verdicts that a text states, as opposed to those that it mentions or quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

Signal = Literal["pass", "fail", "off_menu"]
OFF_MENU: Final = "off_menu"

_POSITIVE: Final = r"pass(?:ed)?|correct|equivalent|true|yes|1(?:\.0+)?"
_NEGATIVE: Final = (
    r"fail(?:ed)?|incorrect|not\s{1,3}correct|not\s{1,3}equivalent|wrong|false|no|0(?:\.0+)?"
)
_DECORATION: Final = " \t*_`\"'“”‘’([<{#"
_BOX = re.compile(r"\$?\\boxed\{(?:\\text\{)?")
_WORD = re.compile(
    rf"(?:(?P<pass>{_POSITIVE})|(?P<fail>{_NEGATIVE}))"
    r"(?!_*[^\W_]|%|[.,/:^+\-]\d|\s{0,3}(?:/|out of|of)\s{0,3}\d)",
    re.IGNORECASE,
)
# What may follow a word that also begins ordinary sentences ("no doubt", "failed to …").
_ENDS_VALUE = re.compile(
    r"[*_`\"'“”’\])}>$]*(?:$|[.,;:!()\[|]|\s+[-–—(|]|\s*[–—]|\s+(?:because|since)\b)"
)
_HYPOTHETICAL = re.compile(
    r"[*_`\"'”’]*\s+(?:would|could|might|may|should|if|unless|were|cannot|is\s+not|requires|needs)\b",
    re.IGNORECASE,
)
_OTHER = {
    side: re.compile(
        rf"[\s*_`\"'“”‘’\])>]*(?:or|and|vs\.?|/|\|)[\s*_`\"'“”‘’(\[<]*"
        rf"(?:verdict\s*:\s*|correctness\s*:\s*)?(?:{words})(?!\w)",
        re.IGNORECASE,
    )
    for side, words in (("pass", _NEGATIVE), ("fail", _POSITIVE))
}
_NEGATED = re.compile(
    r"(?:\bnot|n't|\bnever|\bno|\brather than|\binstead of|\bcannot)\s+(?:an?\s+)?(?:PASS|FAIL)"
)
_SHOUTED = {"pass": re.compile(r"\bFAIL(?:ED)?\b"), "fail": re.compile(r"\bPASS(?:ED)?\b")}

_LABEL = re.compile(
    r"(?:(?:the|my|our|final|overall)\s{1,3}){0,3}"
    r"(?:(?P<primary>verdict|correctness|(?:is[ _])?correct)|judge?ment|decision|conclusion"
    r"|result|evaluation|outcome)"
    r"[*_`]{0,3}(?P<separator>\s*(?:[:=]|[-–—]+(?!\d)|\bis\b(?:\s*:)?)|(?=\s*$)|\s)[ \t]*",
    re.IGNORECASE,
)
_LEAD = re.compile(r"[\s*_`#|•+\-–—]*(?:\d{1,2}[.)]\s+)?[\s*_`#]*")
_SENTENCE = re.compile(r"(?<=[.!?])[*_`]{0,3}\s+")
_BETWEEN = re.compile(r"[\s*_`\"'“”‘’,;|.()\[\]\-–—&]*(?:and\s+)?[*_`]*")
_BARE = re.compile(
    r"(?:(?P<pass>pass(?:ed)?|correct|equivalent)"
    r"|(?P<fail>fail(?:ed)?|incorrect|not\s{1,3}correct|not\s{1,3}equivalent))[.!]?",
    re.IGNORECASE,
)
_MAX_VALUE: Final = 400
"""Characters that are read behind a label."""

_BARE_WITH_WORDS = re.compile(r"(?:PASS|FAIL)(?:ED)?\b")

_FENCE = re.compile(r"```[^\n`]*+\n?(?P<body>[^`]*+(?:`(?!``)[^`]*+)*+)(?:```|\Z)")
_QUOTED = re.compile(
    r"""(?<!\w)"(?=\S)([^"]*+)"(?!\w)|“([^“”]*+)”|«([^«»]*+)»"""
    r"""|(?<![\w'])'(?=\S)([^'\n]*+)'(?!\w)|`([^`\n]*+)`"""
)
_REPORT_VERBS: Final = (
    r"\b(?:says?|said|reads?|contain(?:s|ed)|adds?|added|claim(?:s|ed)|writes?|wrote|includes?"
    r"|included|states?|stated|instructs?|demand(?:s|ed)|asks?|asked|inserts?|inserted)\b"
)
_REPORTS = re.compile(_REPORT_VERBS, re.IGNORECASE)
_REPORTED = re.compile(_REPORT_VERBS + r"[^.!?:]{0,60}:", re.IGNORECASE)


def word_verdict(text: str) -> Signal:
    """Return the verdict that a value gives; anything else is off the menu."""
    signal, _ = _read_value(text)
    return signal or OFF_MENU


def stated_verdicts(text: str) -> list[Signal]:
    """Return the verdicts that a text states, in order.

    A statement is a labelled line or sentence (``Verdict: PASS``), a heading with the value below
    it, or a line that is nothing but the value. ``yes``, ``no`` and digits count only as the
    whole text. Quotations, fenced blocks beside other text and reported speech are no statements.
    """
    text = _unwrapped(text.strip())
    lines = [line for line in _without_quotations(text).splitlines() if line.strip()]
    if len(lines) == 1 and _is_single_value(lines[0]):
        return [word_verdict(lines[0])]
    signals: list[Signal] = []
    for number, line in enumerate(lines):
        reported = number > 0 and lines[number - 1].rstrip().endswith(":")
        if reported and _REPORTS.search(lines[number - 1]):
            continue
        if line.lstrip().startswith(">"):
            continue
        following = lines[number + 1] if number + 1 < len(lines) else ""
        found = list(_labelled(line, following))
        at_edge = number in {0, len(lines) - 1}
        signals.extend(found or _bare(line, with_words=at_edge))
    return signals


def without_open_label(text: str) -> str:
    """Cut a label off the end of a text: its value is what follows the text, such as JSON."""
    text = text.rstrip()
    line_start = text.rfind("\n") + 1
    starts = [line_start, *(match.end() for match in _SENTENCE.finditer(text, line_start))]
    lead = _LEAD.match(text, starts[-1])
    label = _LABEL.match(text, lead.end() if lead else starts[-1])
    if label is None or text[label.end() :].strip(_DECORATION + "]>})"):
        return text
    return text[: starts[-1]]


def _is_single_value(line: str) -> bool:
    value = line.strip(_DECORATION + "]>})").rstrip(".!").rstrip(_DECORATION + "]>})")
    return _WORD.fullmatch(value) is not None


def _read_value(text: str) -> tuple[Signal | None, str]:
    """Return the verdict at the start of a text and what follows it.

    None stands for an echo of the template (``PASS or FAIL``) and for a hypothetical
    (``PASS would be …``): they say nothing.
    """
    text = text.lstrip(_DECORATION)
    box = _BOX.match(text)
    text = text[box.end() :] if box else text
    word = _WORD.match(text)
    if word is None:
        return OFF_MENU, ""
    side: Literal["pass", "fail"] = "pass" if word["pass"] else "fail"
    rest = text[word.end() :]
    if _OTHER[side].match(rest) or _HYPOTHETICAL.match(rest):
        return None, rest
    if not _BARE_WITH_WORDS.match(text) and not _ENDS_VALUE.match(rest):
        return OFF_MENU, rest
    own, _, _ = rest.partition("\n")
    next_label = _next_label(own)
    own = own if next_label is None else own[: next_label.start()]
    if _SHOUTED[side].search(_NEGATED.sub("", own)):
        return OFF_MENU, rest
    return side, rest


def _next_label(text: str) -> re.Match[str] | None:
    """Return the label that follows a value on its line: ``Correctness: 1, Verdict: PASS``."""
    between = _BETWEEN.match(text)
    label = _LABEL.match(text, between.end() if between else 0)
    return label if label is not None and label["separator"].strip() else None


def _labelled(line: str, following: str) -> Iterator[Signal]:
    report = _REPORTED.search(line)
    start = 0
    for end in [*(match.start() for match in _SENTENCE.finditer(line)), len(line)]:
        if report is not None and start >= report.end():
            return
        segment = line[start:end]
        start = end
        lead = _LEAD.match(segment)
        label = _LABEL.match(segment, lead.end() if lead else 0)
        while label is not None:
            value = label.string[label.end() : label.end() + _MAX_VALUE]
            signal, rest = _statement(label, value, following)
            if signal is not None:
                yield signal
            label = _next_label(rest)


def _statement(label: re.Match[str], value: str, following: str) -> tuple[Signal | None, str]:
    if not value.strip(_DECORATION + "]>})"):
        return _below(following), ""
    signal, rest = _read_value(value)
    if signal != OFF_MENU:
        digits = value.lstrip(_DECORATION)[:1].isdigit()
        return (None if digits and not label["primary"] else signal), rest
    binding = label["primary"] and label["separator"].strip()[-1:] in set(":=-–—")
    return (OFF_MENU if binding else None), rest


def _below(line: str) -> Signal | None:
    """Return the value that stands on the line under its heading."""
    if _LABEL.match(line, len(line) - len(line.lstrip(_DECORATION))):
        return None
    signal, _ = _read_value(line)
    return None if signal == OFF_MENU and len(line.split(None, 4)) > 3 else signal


def _bare(line: str, *, with_words: bool) -> Iterator[Signal]:
    value = line.strip(_DECORATION + "]>})-–—•")
    bare = _BARE.fullmatch(value)
    if bare is not None:
        yield "pass" if bare["pass"] else "fail"
    elif with_words:
        word = _BARE_WITH_WORDS.match(value)
        if word is not None and _ENDS_VALUE.match(value, word.end()):
            signal, _ = _read_value(value)
            if signal is not None:
                yield signal


def _unwrapped(text: str) -> str:
    """Take a fence or a pair of quotes off a text that is nothing else."""
    fence = _FENCE.fullmatch(text)
    if fence is not None:
        text = fence["body"].strip()
    if len(text) > 1 and text[0] in "\"“'" and text[-1] in "\"”'":
        inner = text[1:-1]
        if not any(quote in inner for quote in '"“”'):
            return inner.strip()
    return text


def _without_quotations(text: str) -> str:
    return _QUOTED.sub(_quotation, _FENCE.sub("\n", text))


def _quotation(match: re.Match[str]) -> str:
    """Keep a quoted single word, which is decoration; drop what is quoted at length."""
    inner = next((group for group in match.groups() if group is not None), "")
    code_alone = (
        match[0].startswith("`")
        and match.string[max(0, match.start() - 1) : match.start()] in {"", "\n"}
        and match.string[match.end() : match.end() + 1] in {"", "\n"}
    )
    if len(inner.split(None, 1)) < 2 or code_alone:
        return match[0]
    return '""'
