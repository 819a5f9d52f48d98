r"""Reading of mathematical answers into their shapes.

A text may have two readings (``1,234`` is a number or a list): all are returned, and the
comparison decides only where they agree or one of them is right.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from dhd.answers.equality import equal
from dhd.answers.expression import parse_expression
from dhd.answers.intervals import parse_real_set
from dhd.answers.quantity import chinese_integer
from dhd.answers.scan import levels, split_top, strip_outer
from dhd.answers.structure import (
    Answer,
    Based,
    Equation,
    Inequality,
    Matrix,
    Opaque,
    Ratio,
    Scalar,
    Sequence,
)  # fmt: skip
from dhd.answers.tokens import ParseError
from dhd.answers.tree import Expr
from dhd.answers.units import parse_unit

_THOUSANDS: Final = re.compile(r"^[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$")
_DECIMAL: Final = re.compile(
    r"^[-+]?\d*\.(\d+)"
    r"(?:[eE]([-+]?\d{1,4})|\s*(?:\\times|\\cdot|\*)\s*10\^(?:\{([-+]?\d{1,4})\}|(\d{1,4})))?$"
)
_PREFIX: Final = re.compile(
    r"^(?:(?:so|thus|hence|therefore)[, ]+)?(?:the\s+)?(?:final\s+)?"
    r"(?:answer|result|value)\s*(?:is|:|=)\s*"
    r"|^(?:approximately|exactly|equals?|=)\s+|^=",
    re.IGNORECASE,
)
_BASED: Final = re.compile(r"^\(?([0-9A-Fa-f]+)\)?_\{?\s*(\d{1,2}|two|eight|ten|sixteen)\s*\}?$")
_BASE_WORDS: Final = {"two": 2, "eight": 8, "ten": 10, "sixteen": 16}
_MATRIX: Final = re.compile(
    r"^\\begin\{([pbvBV]?matrix|array)\}(?:\{[clr|]*\})?(.*)\\end\{\1\}$", re.DOTALL
)
_LOGIC: Final = re.compile(
    r"\\(?:forall|exists|iff|implies|Rightarrow|Leftrightarrow|mid|text|begin|int|sum|prod|lim|dots|neg|land|lor|pmod|bmod|equiv)(?![a-z])"
)
_DEGREES: Final = re.compile(r"\s*(?:°|deg(?:ree)?s?)$", re.IGNORECASE)
_PERCENT: Final = re.compile(r"\s*(?:%|percent|per cent|pct)$", re.IGNORECASE)
_RADIANS: Final = re.compile(r"(?<=[\s\d}])\s*rad(?:ian)?s?$", re.IGNORECASE)
_MARKS: Final = ((_PERCENT, "%"), (_DEGREES, "deg"), (_RADIANS, "rad"))
_TRIGONOMETRIC: Final = re.compile(r"sin|cos|tan|cot|sec|csc")
_CALL: Final = re.compile(r"^([A-Za-z])\s*\(\s*([A-Za-z])\s*\)$")
_NAME: Final = re.compile(r"^\\?[A-Za-z]+(?:_(?:\{[A-Za-z0-9, ]+\}|[A-Za-z0-9]))?$")
_RELATION: Final = re.compile(r"(?<![<>!:])=(?!=)|\\le(?![a-zA-Z])|\\ge(?![a-zA-Z])|<=|>=|<|>")


def read_answer(text: str) -> tuple[Answer, ...]:
    """Return the readings of a cleaned answer, the likeliest first; never empty."""
    text = strip_outer(_PREFIX.sub("", text, count=1).strip())
    if _THOUSANDS.match(text):
        return (_scalar(text.replace(",", "")), _comma_list(text))
    return (_read(text, 0),)


def _read(text: str, depth: int) -> Answer:
    text = strip_outer(text)
    if not text or depth > 8:
        return Opaque(text)
    if (matrix := _MATRIX.match(text)) is not None:
        return _matrix(matrix.group(2), depth)
    if _LOGIC.search(text):
        return Opaque(text)
    if (based := _BASED.match(text)) is not None:
        base = based.group(2)
        return Based(based.group(1).upper(), _BASE_WORDS.get(base) or int(base))
    if (real_set := parse_real_set(text)) is not None:
        return real_set
    for reader in (_list, _relation, _bracketed, _ratio, _plus_minus):
        if (answer := reader(text, depth)) is not None:
            return answer
    return _scalar(text)


def _matrix(body: str, depth: int) -> Answer:
    rows = [row.strip() for row in re.split(r"\\\\|\\cr(?![a-zA-Z])", body)]
    cells = [[_read(cell.strip(), depth + 1) for cell in row.split("&")] for row in rows if row]
    if not cells or len({len(row) for row in cells}) != 1:
        return Opaque(body)
    return Matrix(tuple(map(tuple, cells)))


def _list(text: str, depth: int) -> Answer | None:
    pieces = [text]
    for separator in (";", r"\sor\s", r",?\s(?:and|和)\s|\s*&\s*", ","):
        pieces = [part for piece in pieces for part in _split(piece, separator)]
    if len(pieces) < 2:
        return None
    if any(not piece for piece in pieces):
        return Opaque(text)
    return Sequence("list", tuple(_read(piece, depth + 1) for piece in pieces))


def _split(text: str, separator: str) -> list[str]:
    if separator == "," and _THOUSANDS.match(text):
        return [text.replace(",", "")]
    if separator == "," and ", " in text:
        parts = split_top(text, r",\s")
        if all(
            part and (_THOUSANDS.match(part) or "," not in part or part[0] in "([{\\")
            for part in parts
        ):
            return [part.replace(",", "") if _THOUSANDS.match(part) else part for part in parts]
    return split_top(text, separator)


def _comma_list(text: str) -> Answer:
    return Sequence("list", tuple(_scalar(part) for part in text.split(",")))


def _relation(text: str, depth: int) -> Answer | None:
    nesting = levels(text)
    marks = [mark for mark in _RELATION.finditer(text) if nesting[mark.start()] == 0]
    if not marks:
        return None
    sides = _cut(text, marks)
    if all(mark.group() == "=" for mark in marks):
        return _equation(sides, depth)
    if len(marks) > 1:
        return Opaque(text)
    left, right = _tree(sides[0]), _tree(sides[1])
    if left is None or right is None:
        return Opaque(text)
    sign = marks[0].group()
    if sign in (">", ">=", r"\ge"):
        left, right = right, left
    return Inequality(left, right, strict=sign in ("<", ">"))


def _cut(text: str, marks: list[re.Match[str]]) -> list[str]:
    starts = [0, *(mark.end() for mark in marks)]
    ends = [*(mark.start() for mark in marks), len(text)]
    return [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]


def _equation(sides: list[str], depth: int) -> Answer:
    left, right = sides[0], sides[-1]
    value = _read(right, depth + 1)
    if not all(_is_same_side(side, value) for side in sides[1:-1]):
        return Opaque("=".join(sides))
    call = _CALL.match(left)
    if call is not None:
        return Equation(_tree(left), value, name=call.group(1), argument=call.group(2))
    tree = _tree(left)
    if _NAME.match(left) and (tree is None or tree.op == "sym" or tree.op == "const"):
        return Equation(tree, value, name=left)
    if tree is None:
        return Opaque("=".join(sides))
    return Equation(tree, value)


def _is_same_side(side: str, last: Answer) -> bool:
    """Whether a middle side of ``x = 2^3 = 8`` is a step to the last and no equation of its own."""
    tree = _tree(side)
    return tree is not None and isinstance(last, Scalar) and equal(tree, last.tree) is True


def _bracketed(text: str, depth: int) -> Answer | None:
    r"""Read ``(a, b)``, ``[a, b]`` and ``\{a, b\}``."""
    for left, right, kind in (
        ("\\{", "\\}", "set"),
        ("{", "}", "set"),
        ("(", ")", "tuple"),
        ("[", "]", "bracket"),
    ):
        if not (text.startswith(left) and text.endswith(right)):
            continue
        inner = text[len(left) : -len(right)].strip()
        if kind == "set" and not inner:
            return Sequence("set", ())
        parts = split_top(inner, r"[,;]") if kind == "set" else split_top(inner, ",")
        if not _encloses(text, left, right) or (len(parts) < 2 and left != "\\{"):
            continue
        if not all(parts):
            return Opaque(text)
        return Sequence(kind, tuple(_read(part, depth + 1) for part in parts))  # type: ignore[arg-type]
    return None


def _encloses(text: str, left: str, right: str) -> bool:
    inner = text[len(left) : -len(right)]
    level = 0
    for char in inner.replace("\\{", "(").replace("\\}", ")"):
        level += (char in "([{") - (char in ")]}")
        if level < 0:
            return False
    return level == 0


def _ratio(text: str, depth: int) -> Answer | None:
    del depth
    parts = split_top(text, ":")
    if len(parts) < 2 or text.startswith("\\{"):
        return None
    trees = [_tree(part) for part in parts]
    known = [tree for tree in trees if tree is not None]
    if len(known) < len(parts):
        return Opaque(text)
    return Ratio(tuple(known), bool(re.match(r"^\d{1,2}(?::[0-5]\d)+$", text)))


def _plus_minus(text: str, depth: int) -> Answer | None:
    if text.count(r"\pm") + text.count("+/-") != 1 or r"\mp" in text:
        return None
    both = text.replace("+/-", r"\pm ")
    items = tuple(_read(both.replace(r"\pm", sign).strip(), depth + 1) for sign in ("+", "-"))
    return Sequence("set", items)


def _scalar(text: str) -> Answer:
    if (chinese := chinese_integer(text)) is not None:
        text = str(chinese)
    for pattern, mark in () if _TRIGONOMETRIC.search(text) else _MARKS:
        match = pattern.search(text)
        if match is not None and match.start() > 0:
            tree = _tree(text[: match.start()])
            return (
                Opaque(text)
                if tree is None
                else Scalar(tree, mark, _last_place(text[: match.start()]))
            )
    tree, with_unit = _tree(text), _with_unit(text)
    if with_unit is not None and (tree is None or len(with_unit.mark) > 1):
        return with_unit
    if tree is None:
        return Opaque(text)
    return Scalar(tree, last_place=_last_place(text))


def _last_place(text: str) -> Fraction | None:
    match = _DECIMAL.match(text.strip())
    if match is None:
        return None
    exponent = int(match.group(2) or match.group(3) or match.group(4) or 0)
    return Fraction(10) ** (exponent - len(match.group(1)))


def _with_unit(text: str) -> Scalar | None:
    r"""Read ``12 ft`` or ``5 cm^2``: a space before a unit that no symbol is likely to be."""
    for space in list(re.finditer(r"\s", text))[:3]:
        unit = text[space.end() :]
        if (
            unit[0].isalpha()
            and parse_unit(unit) is not None
            and (tree := _tree(text[: space.start()]))
        ):
            return Scalar(tree, unit, _last_place(text[: space.start()]))
    return None


def _tree(text: str) -> Expr | None:
    try:
        return parse_expression(text)
    except ParseError:
        return None
