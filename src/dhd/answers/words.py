"""Comparison of answers that are words."""

from __future__ import annotations

import re
from typing import Final

from dhd.answers.result import Comparison, deferred
from dhd.answers.text import clean

_SAME: Final = (
    ("yes", "yeah", "是", "是的"),
    ("no", "不是", "否"),
    ("true", "正确"),
    ("false", "错误"),
    ("even", "偶数"),
    ("odd", "奇数"),
    (
        "no solution",
        "no solutions",
        "there is no solution",
        "there are no solutions",
        "无解",
        "没有解",
    ),
    ("does not exist", "doesn't exist", "dne", "不存在"),
    ("infinity", r"\infty", r"+\infty", "+infinity", "无穷大", "正无穷"),
    ("infinitely many", "infinite number", "无穷多", "无数个"),
)
_CANONICAL: Final = {word: group[0] for group in _SAME for word in group}
_OPPOSITES: Final = (
    ("yes", "no"), ("true", "false"), ("even", "odd"), ("rational", "irrational"),
    ("convergent", "divergent"), ("converges", "diverges"), ("increasing", "decreasing"),
    ("positive", "negative"), ("continuous", "discontinuous"), ("prime", "composite"),
    ("finite", "infinite"), ("left", "right"), ("clockwise", "counterclockwise"),
    ("clockwise", "anticlockwise"), ("endothermic", "exothermic"),
)  # fmt: skip
_CONTRARY: Final = {frozenset(pair) for pair in _OPPOSITES}
_ABSTENTION: Final = re.compile(
    r"^(?:\?+|-+|_+|\.*|\\dots|n/?a|none|null|nil|undefined|unknown|unclear|tbd|idk|pass|nan)$"
    r"|\b(?:i (?:do not|don'?t|can ?not|can'?t)|unable to|not sure|no idea"
    r"|impossible to (?:say|tell|determine|know)"
    r"|(?:can ?not|can'?t|could not|couldn'?t) be (?:determined|answered|solved|found)"
    r"|not enough|insufficient (?:data|information)|no answer)\b|不知道|无法确定|不确定",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"^(?:the\s+)?(?:final\s+|correct\s+)?answer\s*(?:is|:)\s*", re.IGNORECASE
)
_ARTICLE: Final = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)


def canonical_words(text: str) -> str:
    """Return a text without case, articles and idle punctuation; synonyms share one form."""
    plain = _LEAD.sub("", clean(text).casefold())
    plain = " ".join(re.sub(r"[\"'`!?.]+$|^[\"'`]+", "", plain).split())
    plain = _ARTICLE.sub("", plain)
    return _CANONICAL.get(plain, plain)


def is_word(text: str) -> bool:
    """Whether a cleaned text is a word or known phrase rather than a product of symbols."""
    return canonical_words(text) in _CANONICAL or bool(re.fullmatch(r"[^\W\d_]{4,}", text))


def is_abstention(text: str) -> bool:
    """Whether a submission declines to answer."""
    return bool(_ABSTENTION.search(text.strip()))


def compare_words(reference: str, submitted: str) -> Comparison:
    """Compare texts: equal words are right, contrary ones wrong, all else is deferred."""
    ours, theirs = canonical_words(submitted), canonical_words(reference)
    if not theirs or not ours:
        return deferred("empty")
    if ours == theirs:
        return Comparison(True, "same_words")
    if frozenset((ours, theirs)) in _CONTRARY:
        return Comparison(False, "contrary_words")
    return deferred("words_differ")
