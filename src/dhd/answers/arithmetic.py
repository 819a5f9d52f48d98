r"""The arithmetic of the expression parser: sums, products, powers, numbers, brackets.

Notation with two readings is refused (``1/2x``, ``\frac123``, a mixed number such as
``2\frac{5}{3}``): a refused answer is deferred, a misread one would be silently wrong.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Final

from dhd.answers.tokens import Cursor, ParseError, Token, parse_number
from dhd.answers.tree import Expr, number

MAX_DEPTH: Final = 60

_OPEN: Final = {"(": ")", "{": "}", "[": "]", "\\{": "\\}"}
_TIMES: Final = frozenset({"*", r"\cdot", r"\times", r"\ast"})
_DIVIDE: Final = frozenset({"/", r"\div"})
_DEGREE: Final = Expr("div", (Expr("const", name="pi"), number(180)))


class Arithmetic(Cursor, ABC):
    """Recursive descent over the tokens; every method takes the depth it runs at."""

    @abstractmethod
    def named(self, token: Token, depth: int) -> Expr:
        """Parse what begins with a command or a run of letters, which is taken already."""

    def sum(self, depth: int) -> Expr:
        """Parse terms joined by + and -."""
        if depth > MAX_DEPTH:
            raise ParseError("nested too deeply")
        terms = [self.signed_product(depth)]
        while self.at("+", "-"):
            minus = self.take().text == "-"
            term = self.signed_product(depth)
            terms.append(Expr("neg", (term,)) if minus else term)
        return terms[0] if len(terms) == 1 else Expr("add", tuple(terms))

    def signed_product(self, depth: int) -> Expr:
        """Parse a product with its signs."""
        if self.accept("-"):
            return Expr("neg", (self.signed_product(depth + 1),))
        if self.accept("+"):
            return self.signed_product(depth + 1)
        return self.product(depth)

    def product(self, depth: int) -> Expr:
        """Parse factors that are multiplied, divided or side by side."""
        if depth > MAX_DEPTH:
            raise ParseError("nested too deeply")
        left = self.power(depth)
        slashed = False
        while True:
            if self.accept(*_TIMES) or self._cross():
                left, slashed = Expr("mul", (left, self.operand(depth))), False
            elif self.accept(*_DIVIDE):
                left, slashed = Expr("div", (left, self.operand(depth))), True
            elif self.starts_factor():
                if slashed:
                    raise ParseError("a/bc has two readings")
                left = Expr("mul", (left, self.power(depth)))
            else:
                return left

    def _cross(self) -> bool:
        """Accept ``x`` as a times sign between a number and a power of ten."""
        token, after = self.peek(), self.peek(1)
        before = self.tokens[self.position - 1]
        if token and after and token.text in "xX" and after.text == "10" and before.kind == "num":
            following = self.peek(2)
            if following is not None and following.text == "^":
                self.position += 1
                return True
        return False

    def operand(self, depth: int) -> Expr:
        """Parse the factor after an explicit operator, which may have a sign."""
        if self.accept("-"):
            return Expr("neg", (self.power(depth),))
        self.accept("+")
        return self.power(depth)

    def starts_factor(self) -> bool:
        """Whether a factor follows without an operator."""
        token = self.peek()
        if token is None:
            return False
        if token.kind == "num":
            if self.tokens[self.position - 1].kind == "num":
                raise ParseError("two numbers side by side")
            return True
        if token.kind == "cmd":
            return token.text not in ("\\}", r"\rfloor", r"\rceil", "\\|")
        return token.kind == "word" or token.text in ("(", "{", "[")

    def power(self, depth: int) -> Expr:
        """Parse a factor with its powers, factorials, degree and percent signs."""
        base = self.atom(depth + 1)
        while True:
            if self.accept("!"):
                base = Expr("fact", (base,))
            elif self.accept("°"):
                base = Expr("mul", (base, _DEGREE))
            elif self.accept("%"):
                base = Expr("div", (base, number(100)))
            elif self.accept("^"):
                base = Expr("pow", (base, self.exponent(depth + 1)))
            else:
                return base

    def exponent(self, depth: int) -> Expr:
        """Parse what stands after ``^``."""
        if depth > MAX_DEPTH:
            raise ParseError("nested too deeply")
        if self.accept("-"):
            return Expr("neg", (self.exponent(depth + 1),))
        base = self.atom(depth + 1)
        if self.accept("^"):
            return Expr("pow", (base, self.exponent(depth + 1)))
        return base

    def atom(self, depth: int) -> Expr:
        """Parse a number, a bracket, or a name."""
        token = self.take()
        if token.kind == "num":
            return self._number(token)
        if token.text in _OPEN and token.text != "\\{":
            inner = self.sum(depth + 1)
            self.expect(_OPEN[token.text])
            return inner
        if token.text == "|":
            inner = self.sum(depth + 1)
            self.expect("|")
            return Expr("func", (inner,), name="abs")
        if token.kind in ("cmd", "word"):
            return self.named(token, depth)
        raise ParseError(f"unexpected {token.text}")

    def _number(self, token: Token) -> Expr:
        value = parse_number(token.text)
        if not token.text.isdigit():
            return number(value)
        fraction = self._mixed_part()
        return number(value if fraction is None else value + fraction)

    def _mixed_part(self) -> Fraction | None:
        r"""Accept the fraction of a mixed number: ``3\frac{1}{4}`` or ``3 1/4``."""
        first, second, third = self.peek(), self.peek(1), self.peek(2)
        if first is None:
            return None
        if first.text == r"\frac":
            start = self.position
            self.take()
            top, bottom = self.fraction_argument(0), self.fraction_argument(0)
            if (
                top.op == bottom.op == "num"
                and top.value.denominator == 1 == bottom.value.denominator
            ):
                return _proper(top.value, bottom.value)
            self.position = start
            return None
        if (
            first.spaced and first.text.isdigit() and second is not None and second.text == "/"
            and third is not None and third.text.isdigit()
        ):  # fmt: skip
            self.position += 3
            return _proper(parse_number(first.text), parse_number(third.text))
        return None

    def fraction_argument(self, depth: int) -> Expr:
        r"""Parse an argument of ``\frac``: a group, or one digit or letter."""
        if self.accept("{"):
            inner = self.sum(depth + 1)
            self.expect("}")
            return inner
        token = self.peek()
        if token is not None and token.kind == "num" and len(token.text) > 1:
            return self._split_digit(token)
        if token is not None and token.kind == "word" and len(token.text) > 1:
            raise ParseError("a bare argument of several letters has two readings")
        return self.atom(depth + 1)

    def _split_digit(self, token: Token) -> Expr:
        r"""Take one digit of ``\frac85``; longer runs have two readings."""
        before = self.tokens[self.position - 1].text
        if before != r"\frac" or len(token.text) != 2 or not token.text.isdigit():
            raise ParseError("bare digits have two readings")
        rest = Token("num", token.text[1], spaced=False)
        self.tokens = (*self.tokens[: self.position], rest, *self.tokens[self.position + 1 :])
        return number(int(token.text[0]))


def _proper(top: Fraction, bottom: Fraction) -> Fraction:
    if not 0 < top < bottom:
        raise ParseError("a mixed number without a proper fraction has two readings")
    return top / bottom
