"""Matching answers: pairs such as ``P-2, Q-3``, or the letter of the option that lists them."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import Final

from dhd.answers.choices import compare_choice, resolve_choice
from dhd.answers.result import Comparison, deferred
from dhd.answers.text import clean, normalise_answer

Pairs = dict[str, frozenset[str]]

MAX_CHARS: Final = 1_000
"""Longer texts are no list of pairs."""
_ROMAN: Final = dict(
    zip(
        ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"],
        map(str, range(1, 11)),
        strict=True,
    )
)
_LABEL: Final = r"(?:[ivxIVX]{1,4}|[A-Za-z]|\d{1,2})"
_ARROW: Final = r"\\(?:to|rightarrow|Rightarrow|longrightarrow|mapsto)\s|->|=>|-+>?|→|⇒|⟶"
_LINK: Final = rf"\s*(?:{_ARROW}|:|=|\bis\b|\bwith\b|\bmatches\b|\bto\b)\s*"
_NEXT: Final = rf"\s*(?:,|;|&|\band\b)\s*\(?\s*{_LABEL}\s*\)?(?!\s*\)?{_LINK})"
_VALUES: Final = rf"\(?\s*{_LABEL}\s*\)?(?:{_NEXT})*"
_PAIR: Final = re.compile(rf"\(?\s*\b({_LABEL})\b\s*\)?{_LINK}({_VALUES})")
_COUPLE: Final = re.compile(rf"\(\s*({_LABEL})\s*,\s*({_LABEL})\s*\)")
_GLUED: Final = re.compile(r"\b([A-Za-z])\s?(\d{1,2})\b")
_ITEM: Final = re.compile(rf"\b{_LABEL}\b")
_LEADING_LETTER: Final = re.compile(
    r"^(?:option|choice|answer)?\s*[(\[]?\s*([A-Za-z])\s*(?:[)\]]\s*[:.-]?|[:.])\s*(?=\S)",
    re.IGNORECASE,
)


def compare_matching(reference: str, submitted: str, options: Sequence[str] | None) -> Comparison:
    """Compare with a reference that is an option's letter or the list of pairs itself.

    Complete pairs that differ from the reference's are wrong; incomplete ones, and a letter
    whose option lists other pairs than the answer, are deferred.
    """
    gold = _reference_pairs(reference, options)
    letter, pairs = _split_letter(clean(submitted), gold)
    if not pairs:
        values = _value_sequence(clean(submitted), gold)
        if values is not None:
            return Comparison(values, "matching_values")
        comparison = compare_choice(reference, submitted, options)
        if comparison.reason == "reference_not_understood" and gold is not None:
            return deferred("no_pairs")  # the reference is no option, but pairs
        return comparison
    if gold is None:
        return deferred("reference_has_no_pairs")
    pairs = _oriented(pairs, gold)
    if letter is not None and not _letter_agrees(letter, pairs, options):
        return deferred("letter_and_pairs_disagree")
    if pairs == gold:
        return Comparison(True, "matching_pairs")
    if set(pairs) == set(gold):
        return Comparison(False, "matching_pairs")
    return deferred("pairs_incomplete")


def parse_pairs(text: str) -> Pairs:
    """Return the pairs in a text, labels in one case and Roman numerals as digits; may be empty."""
    if len(text) > MAX_CHARS:
        return {}
    text = re.sub(r"[\"'{}\[\]*]", " ", text)
    found = _PAIR.findall(text)
    if not found:
        found = _COUPLE.findall(text) or _GLUED.findall(text)
    pairs: Pairs = {}
    for key, values in found:
        labels = frozenset(
            _label(value) for value in _ITEM.findall(values) if value.lower() != "and"
        )
        name = _label(key)
        pairs[name] = pairs.get(name, frozenset()) | labels
    return pairs if len(pairs) > 1 else {}


def _label(text: str) -> str:
    low = text.lower()
    return _ROMAN.get(low, low.lstrip("0") or low) if len(low) > 1 or low in "ivx" else low


def _reference_pairs(reference: str, options: Sequence[str] | None) -> Pairs | None:
    direct = parse_pairs(clean(normalise_answer(reference)))
    if direct:
        return direct
    letter = resolve_choice(normalise_answer(reference), options)
    if letter is None or options is None:
        return None
    return parse_pairs(_option_text(options, letter)) or None


def _option_text(options: Sequence[str], letter: str) -> str:
    return clean(normalise_answer(options[string.ascii_uppercase.index(letter)]))


def _split_letter(text: str, gold: Pairs | None) -> tuple[str | None, Pairs]:
    """Split ``B: P-2, Q-3`` into letter and pairs; a label of the list is no option letter."""
    match = _LEADING_LETTER.match(text)
    if match is not None:
        rest = parse_pairs(text[match.end() :])
        label = match.group(1).lower()
        if rest and (gold is None or label not in gold or label in rest):
            return match.group(1).upper(), rest
    return None, parse_pairs(text)


def _oriented(pairs: Pairs, gold: Pairs) -> Pairs:
    """Return the pairs turned round (``2-P`` for ``P-2``) where only that fits the labels."""
    if set(pairs) & set(gold):
        return pairs
    turned: Pairs = {}
    for key, values in pairs.items():
        for value in values:
            turned[value] = turned.get(value, frozenset()) | {key}
    return turned if set(turned) & set(gold) else pairs


def _letter_agrees(letter: str, pairs: Pairs, options: Sequence[str] | None) -> bool:
    if options is None or letter not in string.ascii_uppercase[: len(options)]:
        return False
    listed = parse_pairs(_option_text(options, letter))
    return _oriented(pairs, listed) == listed


def _value_sequence(text: str, gold: Pairs | None) -> bool | None:
    """Judge bare values in the order of the list (``2, 3, 1, 4``); None if it is none."""
    if gold is None or any(len(values) != 1 for values in gold.values()):
        return None
    items = [part.strip(" ()") for part in re.split(r"[,;]|\s+", text) if part.strip(" ()")]
    if len(items) != len(gold) or not all(re.fullmatch(_LABEL, item) for item in items):
        return None
    values = [_label(item) for item in items]
    wanted = [next(iter(gold[key])) for key in sorted(gold)]
    if values == wanted:
        return True
    return False if sorted(values) == sorted(wanted) else None
