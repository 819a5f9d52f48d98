r"""A bounded parser of scalar expressions in LaTeX or plain notation.

It builds a tree and evaluates nothing. What it does not know it refuses (``ParseError``), and
so it does for notation with two readings (``1/2x``, ``\sqrt23``, a mixed number such as
``2\frac{5}{3}``): a refused answer is deferred, a misread one would be silently wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dhd.answers.text import matching_brace

MAX_TOKENS: Final = 2_000
MAX_DEPTH: Final = 60
MAX_DIGITS: Final = 4_000
"""Python refuses to convert longer strings to integers (limit 4,300)."""
MAX_EXPONENT: Final = 5_000
"""Largest power of ten of a literal such as ``1e400``."""


class ParseError(ValueError):
    """The text is not an expression that the rules understand."""


@dataclass(frozen=True, slots=True)
class Expr:
    """A node: ``op`` is num, sym, const, add, mul, div, pow, neg, fact, or func.

    ``value`` belongs to num; ``name`` to sym, const and func.
    """

    op: str
    args: tuple[Expr, ...] = ()
    value: Fraction = Fraction(0)
    name: str = ""


FUNCTIONS: Final = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh ln log exp sqrt abs floor ceil "
    "binom root".split()
)
_ALIASES: Final = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "lg": "log"}
_CONSTANTS: Final = {"pi": "pi", "e": "e", "i": "i", "infty": "inf", "inf": "inf",
                     "infinity": "inf", "imath": "i"}  # fmt: skip
_GREEK: Final = frozenset(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi "
    "rho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi "
    "Omega hbar ell".split()
)
_NOT_SYMBOLS: Final = frozenset(
    "and or if for all odd no not the is in at by to of on as mod max min gcd lcm yes any an it we "
    "so be do has are was its but per km cm mm kg mg kJ nm ft Hz hz ml mL os id im re end".split()
)
_OPAQUE: Final = frozenset("fghFGHPQ")
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<num>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+(?![\d.]|\s*[a-zA-Z^_]))?)"
    r"|(?P<cmd>\\(?:[a-zA-Z]+|[{}|]))|(?P<word>[a-zA-Z]+)|(?P<sign>[-+*/^_!(){}\[\]|°%]))"
)
_OPEN: Final = {"(": ")", "{": "}", "[": "]", "\\{": "\\}"}
_TIMES: Final = frozenset({"*", r"\cdot", r"\times", r"\ast"})
_DIVIDE: Final = frozenset({"/", r"\div"})


@dataclass(frozen=True, slots=True)
class Token:
    """A token with its kind (num, cmd, word, sign) and whether white space came before it."""

    kind: str
    text: str
    spaced: bool


def number(value: Fraction | int) -> Expr:
    """Return the node of a rational number."""
    return Expr("num", value=Fraction(value))


def parse_number(text: str) -> Fraction:
    """Return the exact value of a decimal literal; refuses lengths that would cost much."""
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > MAX_DIGITS or len(exponent) > 6 or abs(int(exponent or 0)) > MAX_EXPONENT:
        raise ParseError("number too long")
    return Fraction(text)


def parse_expression(text: str) -> Expr:
    """Parse one scalar expression.

    Raises
    ------
    ParseError
        If the text is not understood in full, has two readings, or is too long or too deep.
    """
    parser = _Parser(tuple(_tokens(text)))
    tree = parser.sum(0)
    if parser.peek() is not None:
        raise ParseError("text after the expression")
    return tree


def _tokens(text: str) -> Iterator[Token]:
    position = count = 0
    text = text.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        count += 1
        if match is None or count > MAX_TOKENS:
            raise ParseError("unknown sign or too many tokens")
        kind = str(match.lastgroup)
        yield Token(kind, match.group(kind), match.start(kind) > position)
        position = match.end()


class _Parser:
    """Recursive descent over the tokens; every method takes the depth it runs at."""

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self.tokens = tokens
        self.position = 0

    def peek(self, ahead: int = 0) -> Token | None:
        index = self.position + ahead
        return self.tokens[index] if index < len(self.tokens) else None

    def at(self, *texts: str) -> bool:
        token = self.peek()
        return token is not None and token.text in texts

    def take(self) -> Token:
        token = self.peek()
        if token is None:
            raise ParseError("the expression ends too early")
        self.position += 1
        return token

    def accept(self, *texts: str) -> bool:
        if self.at(*texts):
            self.position += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise ParseError(f"{text} is missing")

    def sum(self, depth: int) -> Expr:
        if depth > MAX_DEPTH:
            raise ParseError("nested too deeply")
        terms = [self.signed_product(depth)]
        while self.at("+", "-"):
            minus = self.take().text == "-"
            term = self.signed_product(depth)
            terms.append(Expr("neg", (term,)) if minus else term)
        return terms[0] if len(terms) == 1 else Expr("add", tuple(terms))

    def signed_product(self, depth: int) -> Expr:
        if self.accept("-"):
            return Expr("neg", (self.signed_product(depth + 1),))
        if self.accept("+"):
            return self.signed_product(depth + 1)
        return self.product(depth)

    def product(self, depth: int) -> Expr:
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
        if self.accept("-"):
            return Expr("neg", (self.power(depth),))
        self.accept("+")
        return self.power(depth)

    def starts_factor(self) -> bool:
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
        if depth > MAX_DEPTH:
            raise ParseError("nested too deeply")
        if self.accept("-"):
            return Expr("neg", (self.exponent(depth + 1),))
        base = self.atom(depth + 1)
        if self.accept("^"):
            return Expr("pow", (base, self.exponent(depth + 1)))
        return base

    def atom(self, depth: int) -> Expr:
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
            return self._named(token, depth)
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
            top, bottom = self._fraction_argument(0), self._fraction_argument(0)
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

    def _fraction_argument(self, depth: int) -> Expr:
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

    def _named(self, token: Token, depth: int) -> Expr:
        name = token.text.lstrip("\\")
        name = _ALIASES.get(name, name)
        if token.kind == "cmd" and name in ("frac", "binom"):
            top, bottom = self._fraction_argument(depth), self._fraction_argument(depth)
            return Expr("div", (top, bottom)) if name == "frac" else _function(name, top, bottom)
        if name in ("sqrt", "surd", "cbrt"):
            return self._root(token, depth)
        if token.kind == "cmd" and name in ("lfloor", "lceil"):
            inner = self.sum(depth + 1)
            self.expect(r"\r" + name[1:])
            return _function(name[1:], inner)
        if name in FUNCTIONS:
            return self._applied(name, depth)
        if name in _CONSTANTS and (token.kind == "cmd" or name != "infty"):
            return Expr("const", name=_CONSTANTS[name])
        if name in _GREEK and (token.kind == "cmd" or len(name) > 2):
            return self._subscripted(name)
        if token.kind == "cmd":
            raise ParseError(f"unknown command {token.text[:20]}")
        return self._letters(token, depth)

    def _root(self, token: Token, depth: int) -> Expr:
        degree: Expr = number(3 if token.text.endswith("cbrt") else 2)
        if token.text == r"\sqrt" and self.accept("["):
            degree = self.sum(depth + 1)
            self.expect("]")
        following = self.peek()
        if following is None or (token.kind == "word" and following.text != "("):
            raise ParseError("a root without its argument")
        if following.kind == "num" and len(following.text) > 1 and token.text == r"\sqrt":
            raise ParseError("bare digits under a root have two readings")
        radicand = self.atom(depth + 1)
        if degree.op == "num" and degree.value == 2:
            return _function("sqrt", radicand)
        return _function("root", radicand, degree)

    def _applied(self, name: str, depth: int) -> Expr:
        exponent: Expr | None = None
        base: Expr | None = None
        while self.at("^", "_"):
            if self.take().text == "^":
                exponent = self.exponent(depth + 1)
            else:
                base = self._fraction_argument(depth)
        inner = self._argument(depth)
        if exponent is not None and exponent == Expr("neg", (number(1),)):
            if name not in ("sin", "cos", "tan"):
                raise ParseError("an inverse with two readings")
            return _function("arc" + name, inner)
        result = _function(name, inner)
        if base is not None:
            result = Expr("div", (_function("ln", inner), _function("ln", base)))
        return result if exponent is None else Expr("pow", (result, exponent))

    def _argument(self, depth: int) -> Expr:
        if depth > MAX_DEPTH:
            raise ParseError("nested too deeply")
        if self.at("(", "{", "["):
            return self.power_without_exponent(depth + 1)
        minus = self.accept("-")
        inner = self.power(depth + 1)
        while self.starts_factor() and not self._at_function() and not self.at("(", "["):
            inner = Expr("mul", (inner, self.power(depth + 1)))
        return Expr("neg", (inner,)) if minus else inner

    def power_without_exponent(self, depth: int) -> Expr:
        inner = self.atom(depth + 1)
        if self.at("^"):
            raise ParseError("f(x)^2 has two readings")
        return inner

    def _at_function(self) -> bool:
        token = self.peek()
        return token is not None and token.text.lstrip("\\") in FUNCTIONS

    def _letters(self, token: Token, depth: int) -> Expr:
        word = token.text
        if len(word) > 3 or word in _NOT_SYMBOLS or word.lower() in _NOT_SYMBOLS:
            raise ParseError(f"a word: {word[:20]}")
        factors = [self._letter(letter) for letter in word[:-1]]
        factors.append(self._last_letter(word[-1], depth, alone=len(word) == 1))
        product = factors[0]
        for factor in factors[1:]:
            product = Expr("mul", (product, factor))
        if len(factors) > 1 and self.at("^"):
            # The power binds the last letter only: xy^2 is x times y^2.
            self.take()
            last = Expr("pow", (factors[-1], self.exponent(depth + 1)))
            return Expr("mul", (*product.args[:-1], last))
        return product

    def _letter(self, letter: str) -> Expr:
        if letter in _CONSTANTS:
            return Expr("const", name=_CONSTANTS[letter])
        return Expr("sym", name=letter)

    def _last_letter(self, letter: str, depth: int, *, alone: bool) -> Expr:
        if alone and letter in _OPAQUE and self.accept("("):
            inner = self.sum(depth + 1)
            self.expect(")")
            return Expr("func", (inner,), name=f"opaque {letter}")
        if letter in _CONSTANTS and not self.at("_"):
            return Expr("const", name=_CONSTANTS[letter])
        return self._subscripted(letter)

    def _subscripted(self, name: str) -> Expr:
        if not self.accept("_"):
            return Expr("sym", name=name)
        if not self.accept("{"):
            return Expr("sym", name=f"{name}_{self.take().text}")
        parts: list[str] = []
        while not self.accept("}"):
            token = self.take()
            if token.text == "{":
                raise ParseError("a nested subscript")
            parts.append(token.text)
        return Expr("sym", name=f"{name}_{''.join(parts)}")


_DEGREE: Final = Expr("div", (Expr("const", name="pi"), number(180)))


def _function(name: str, *args: Expr) -> Expr:
    return Expr("func", args, name=name)


def _proper(top: Fraction, bottom: Fraction) -> Fraction:
    if not 0 < top < bottom:
        raise ParseError("a mixed number without a proper fraction has two readings")
    return top / bottom


def symbols(tree: Expr) -> frozenset[str]:
    """Return the names of the free symbols, opaque functions included."""
    if tree.op == "sym":
        return frozenset({tree.name})
    own = {tree.name} if tree.name.startswith("opaque ") else set()
    if tree.op == "func" and tree.name == "log":
        own.add("log")
    return frozenset(own).union(*map(symbols, tree.args))


def rename(tree: Expr, names: dict[str, str]) -> Expr:
    """Return the tree with symbols renamed."""
    if tree.op == "sym":
        return Expr("sym", name=names.get(tree.name, tree.name))
    return Expr(tree.op, tuple(rename(arg, names) for arg in tree.args), tree.value, tree.name)


__all__ = ["Expr", "ParseError", "matching_brace", "number", "parse_expression", "parse_number",
           "rename", "symbols"]  # fmt: skip
