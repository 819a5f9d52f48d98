"""Choices: which options an answer names, by letter or by text."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import Final

from dhd.answers.quantity import Quantity, parse_quantity
from dhd.answers.ranges import is_void
from dhd.answers.result import Comparison, deferred
from dhd.answers.text import clean, normalise_answer

Letters = frozenset[str]

DEFAULT_LETTERS: Final = 8
"""Letters that count (A…H) where the options are not known."""
_DECORATION: Final = re.compile(r"[*_`\"'$\s]+")
_LEAD: Final = re.compile(
    r"^(?:(?:so|thus|hence|therefore)[, ]+)?(?:the\s+)?"
    r"(?:final\s+|correct\s+|right\s+|best\s+|only\s+)*"
    r"(?:answers?|options?|choices?|letters?|ans|选项|答案|故选|选)(?:\s+(?:is|are))?\s*[:是为]?\s*",
    re.IGNORECASE,
)
_QUALIFIER: Final = re.compile(
    r"^(?:both|only|just|options?|choices?|statements?)\s+", re.IGNORECASE
)
_TAIL: Final = re.compile(
    r"\s+(?:only|(?:is|are)\s+(?:all\s+)?(?:the\s+)?(?:correct|right|true|answers?)(?:\s+(?:options?|choices?|answers?))?)$",
    re.IGNORECASE,
)
_LETTER_THEN_TEXT: Final = re.compile(
    r"^[(\[{]?\s*([A-Za-z])\s*(?:[)\]}]\s*[.:,-]?|[.:,]|\s-|(?=\()|\s(?=because\b|since\b))"
    r"\s*(?=\S)(.+)$",
    re.DOTALL,
)
_TEXT_THEN_LETTER: Final = re.compile(r"^(.+\S)\s*[(\[]\s*([A-Za-z])\s*[)\]]$", re.DOTALL)
_LETTER_AND_BRACKET: Final = re.compile(r"^[A-Za-z][)\]}]$")
_REASON: Final = re.compile(r"^(?:because|since|as|for|due|which|by|,)\b", re.IGNORECASE)
_SEPARATORS: Final = re.compile(
    r"\s*(?:,\s*and\b|,|;|/|&|\+|\band\b|和|与|及|、|\s)\s*", re.IGNORECASE
)
_DISJUNCTION: Final = re.compile(
    r"\bor\b|或|\bnot\b|\beither\b|\bneither\b|\bexcept\b|\?", re.IGNORECASE
)


def compare_choice(reference: str, submitted: str, options: Sequence[str] | None) -> Comparison:
    """Compare with a reference that names one option, or alternatives (``C OR D``)."""
    accepted = _accepted(reference, options)
    if accepted is None:
        return deferred("void_item" if is_void(reference) else "reference_not_understood")
    if any(len(letters) > 1 for letters in accepted):
        return compare_multi_choice(reference, submitted, options)
    letter = resolve_choice(submitted, options)
    if letter is None:
        return deferred("no_single_option")
    return Comparison(frozenset({letter}) in accepted, "option")


def compare_multi_choice(
    reference: str, submitted: str, options: Sequence[str] | None
) -> Comparison:
    """Compare with a reference that names a set of options; a part of it is wrong."""
    accepted = _accepted(reference, options)
    if accepted is None:
        return deferred("void_item" if is_void(reference) else "reference_not_understood")
    letters = resolve_choices(submitted, options)
    if letters is None:
        return deferred("no_option_set")
    return Comparison(letters in accepted, "option_set")


def _accepted(reference: str, options: Sequence[str] | None) -> list[Letters] | None:
    """Return the accepted sets of letters, or None if the reference is void or not understood."""
    if is_void(reference):
        return None
    text = clean(normalise_answer(reference))
    whole = _letter_set(text, options)
    if whole is not None:
        return [whole]
    if options is not None and (letter := option_of_text(text, options)) is not None:
        return [frozenset({letter})]
    parts = [
        _letter_set(part, options) for part in re.split(r"\s+or\s+", text, flags=re.IGNORECASE)
    ]
    found = [part for part in parts if part is not None]
    return found if len(found) == len(parts) else None


def _valid_letters(options: Sequence[str] | None) -> str:
    return string.ascii_uppercase[: len(options) if options else DEFAULT_LETTERS]


def _bare(text: str) -> str:
    """Strip decoration, leading words and enclosing brackets from an answer."""
    out = clean(text).replace("**", "").replace("\\{", "{").replace("\\}", "}")
    out = _DECORATION.sub(" ", out).strip(" .,;:!")
    out = _LEAD.sub("", out, count=1).strip(" .,;:!")
    while (
        len(out) > 2
        and out[0] + out[-1] in ("()", "[]", "{}")
        and not set(out[1:-1]) & set("()[]{}")
    ):
        out = out[1:-1].strip(" .,;:!")
    return out[0] if _LETTER_AND_BRACKET.match(out) else out


def resolve_choice(text: str, options: Sequence[str] | None) -> str | None:
    """Return the letter of the one option that an answer names, or None.

    An answer may give the letter, decorated or not, the option's text, or both. None when it
    names no option, several, a letter whose text is another option's, or when letter and text
    can be told apart in no way (options that are themselves letters).
    """
    bare = _bare(text)
    by_text = option_of_text(text, options) if options else None
    if by_text is None and options:
        by_text = option_of_text(bare, options)
    if len(bare) == 1:
        letter = bare.upper() if bare.upper() in _valid_letters(options) else None
        if letter and by_text and letter != by_text:
            return None
        return letter or by_text
    if by_text is not None:
        return by_text
    return _letter_with_text(bare, options)


def _letter_with_text(bare: str, options: Sequence[str] | None) -> str | None:
    """Read ``B) 52`` and ``52 (B)``; None where letter and text name different options."""
    match = _LETTER_THEN_TEXT.match(bare)
    if match is not None:
        letter, rest = match.group(1).upper(), match.group(2).strip(" ()")
    elif (match := _TEXT_THEN_LETTER.match(bare)) is not None:
        rest, letter = match.group(1), match.group(2).upper()
    else:
        return None
    if letter not in _valid_letters(options) or _letter_set(rest, options) is not None:
        return None
    return letter if options is None or _text_fits(letter, rest, options) else None


def _text_fits(letter: str, text: str, options: Sequence[str]) -> bool:
    """Whether a text beside a letter is, or mentions, that option's text, or gives a reason."""
    named = option_of_text(text, options)
    if named is not None:
        return named == letter
    own, key = _key(options[string.ascii_uppercase.index(letter)]), _key(text)
    others = [_key(option) for option in options if _key(option) not in own]
    if _mentions(key, own):
        return not any(_mentions(key, other) for other in others)
    return bool(_REASON.match(text))


def _mentions(text: str, part: str) -> bool:
    """Whether a text contains a part as words or numbers of their own."""
    return bool(part) and bool(re.search(rf"(?<![\w.]){re.escape(part)}(?!\w|\.\d)", text))


def resolve_choices(text: str, options: Sequence[str] | None) -> Letters | None:
    """Return the set of options that an answer names, by letters or by texts, or None."""
    bare = _QUALIFIER.sub("", _TAIL.sub("", _bare(text)))
    letters = _letter_set(bare, options)
    if letters is not None:
        return letters
    single = resolve_choice(text, options)
    if single is not None:
        return frozenset({single})
    return _options_of_texts(bare, options) if options else None


def _letter_set(text: str, options: Sequence[str] | None) -> Letters | None:
    """Read ``ACD``, ``A, C and D``, ``(A); (C)``; None for words, disjunctions or repeats."""
    if _DISJUNCTION.search(text) or len(text) > 80:
        return None
    plain = re.sub(r"[()\[\]{}.*]", " ", text).strip()
    parts = [part for part in _SEPARATORS.split(plain) if part]
    if len(parts) == 1:
        parts = list(parts[0])
    letters = [part.upper() for part in parts]
    valid = _valid_letters(options)
    if not letters or any(len(letter) != 1 or letter not in valid for letter in letters):
        return None
    return frozenset(letters) if len(set(letters)) == len(letters) else None


def _options_of_texts(text: str, options: Sequence[str]) -> Letters | None:
    for separator in (r"\s*;\s*", r"\s*,\s*(?:and\s+)?|\s+and\s+"):
        parts = [part for part in re.split(separator, text) if part]
        if not 2 <= len(parts) <= len(options):
            continue
        named = [resolve_choice(part, options) for part in parts]
        found = [letter for letter in named if letter is not None]
        if len(found) == len(parts) == len(set(found)):
            return frozenset(found)
    return None


def _key(text: str) -> str:
    return " ".join(clean(normalise_answer(text)).casefold().split())


def option_of_text(text: str, options: Sequence[str]) -> str | None:
    """Return the letter of the one option whose text or value an answer is, or None."""
    key = _key(text)
    if not key:
        return None
    same = [index for index, option in enumerate(options) if _key(option) == key]
    if not same and len(key) > 1:
        same = _same_value(key, options)
    return string.ascii_uppercase[same[0]] if len(same) == 1 else None


def _same_value(key: str, options: Sequence[str]) -> list[int]:
    ours = parse_quantity(clean(key)) if len(key) <= 60 else None
    if ours is None:
        return []
    return [
        index
        for index, option in enumerate(options)
        if len(option) <= 60 and _is_same(ours, parse_quantity(_key(option)))
    ]


def _is_same(left: Quantity, right: Quantity | None) -> bool:
    return right is not None and left.value == right.value and left.unit == right.unit
