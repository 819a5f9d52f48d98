r"""A bounded parser of scalar expressions in LaTeX or plain notation.

It builds a tree and evaluates nothing. What it does not know it refuses: a word, a command
without a rule, an inverse such as ``\sec^{-1}``.
"""

from __future__ import annotations

from typing import Final

from dhd.answers.arithmetic import MAX_DEPTH, Arithmetic
from dhd.answers.tokens import ParseError, Token, tokenise
from dhd.answers.tree import Expr, function, number

FUNCTIONS: Final = frozenset((
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh",
    "tanh", "ln", "log", "exp", "sqrt", "abs", "floor", "ceil", "binom", "root",
))  # fmt: skip
_TRIGONOMETRIC: Final = frozenset({"sin", "cos", "tan", "cot", "sec", "csc"})
_MIN_DEGREES: Final = 5
"""A whole or larger argument may be meant in degrees: ``sin 30``."""
_ALIASES: Final = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "lg": "log"}
_CONSTANTS: Final = {"pi": "pi", "e": "e", "i": "i", "infty": "inf", "inf": "inf",
                     "infinity": "inf", "imath": "i"}  # fmt: skip
_GREEK: Final = frozenset((
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta",
    "vartheta", "iota", "kappa", "lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "upsilon",
    "phi", "varphi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi",
    "Sigma", "Phi", "Psi", "Omega", "hbar", "ell",
))  # fmt: skip
_NOT_SYMBOLS: Final = frozenset((
    "and", "or", "if", "for", "all", "odd", "no", "not", "the", "is", "in", "at", "by", "to",
    "of", "on", "as", "mod", "max", "min", "gcd", "lcm", "yes", "any", "an", "it", "we", "so",
    "be", "do", "has", "are", "was", "its", "but", "per", "km", "cm", "mm", "kg", "mg", "kJ",
    "nm", "ft", "Hz", "hz", "ml", "mL", "os", "id", "im", "re", "end",
))  # fmt: skip
_OPAQUE: Final = frozenset("fghFGHPQ")


def parse_expression(text: str) -> Expr:
    """Parse one scalar expression.

    Raises
    ------
    ParseError
        If the text is not understood in full, has two readings, or is too long or too deep.
    """
    parser = _Parser(tuple(tokenise(text)))
    tree = parser.sum(0)
    if parser.peek() is not None:
        raise ParseError("text after the expression")
    return tree


class _Parser(Arithmetic):
    """The whole grammar: arithmetic with roots, functions, constants and symbols."""

    def named(self, token: Token, depth: int) -> Expr:
        name = token.text.lstrip("\\")
        name = _ALIASES.get(name, name)
        if token.kind == "cmd" and name in ("frac", "binom"):
            top, bottom = self.fraction_argument(depth), self.fraction_argument(depth)
            return Expr("div", (top, bottom)) if name == "frac" else function(name, top, bottom)
        if name in ("sqrt", "surd", "cbrt"):
            return self._root(token, depth)
        if token.kind == "cmd" and name in ("lfloor", "lceil"):
            inner = self.sum(depth + 1)
            self.expect(r"\r" + name[1:])
            return function(name[1:], inner)
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
            return function("sqrt", radicand)
        return function("root", radicand, degree)

    def _applied(self, name: str, depth: int) -> Expr:
        exponent: Expr | None = None
        base: Expr | None = None
        while self.at("^", "_"):
            if self.take().text == "^":
                exponent = self.exponent(depth + 1)
            else:
                base = self.fraction_argument(depth)
        inner = self._argument(depth)
        if exponent is not None and exponent == Expr("neg", (number(1),)):
            if name not in ("sin", "cos", "tan"):
                raise ParseError("an inverse with two readings")
            return function("arc" + name, inner)
        result = function(name, inner)
        if name in _TRIGONOMETRIC and inner.op == "num" and inner.value >= _MIN_DEGREES:
            raise ParseError("a bare number of degrees or radians")
        if base is not None:
            if name not in ("log", "ln"):
                raise ParseError("a subscript of a function")
            result = Expr("div", (function("ln", inner), function("ln", base)))
        return result if exponent is None else Expr("pow", (result, exponent))

    def _argument(self, depth: int) -> Expr:
        if depth > MAX_DEPTH:
            raise ParseError("nested too deeply")
        if self.at("(", "{", "["):
            return self._argument_in_brackets(depth + 1)
        minus = self.accept("-")
        inner = self.power(depth + 1)
        while self.starts_factor() and not self._atfunction() and not self.at("(", "["):
            inner = Expr("mul", (inner, self.power(depth + 1)))
        return Expr("neg", (inner,)) if minus else inner

    def _argument_in_brackets(self, depth: int) -> Expr:
        inner = self.atom(depth + 1)
        if self.at("^"):
            raise ParseError("f(x)^2 has two readings")
        return inner

    def _atfunction(self) -> bool:
        token = self.peek()
        return token is not None and token.text.lstrip("\\") in FUNCTIONS

    def _letters(self, token: Token, depth: int) -> Expr:
        word = token.text
        if len(word) > 1 and word.isupper():
            raise ParseError("capitals side by side name a segment or a word, not a product")
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
