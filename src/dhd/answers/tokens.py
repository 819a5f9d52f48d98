"""Tokens of scalar expressions, and a cursor over them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

MAX_TOKENS: Final = 2_000
MAX_DIGITS: Final = 4_000
"""Python refuses to convert longer strings to integers (limit 4,300)."""
MAX_EXPONENT: Final = 5_000
"""Largest power of ten of a literal such as ``1e400``."""
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<num>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+(?![\d.]|\s*[a-zA-Z^_]))?)"
    r"|(?P<cmd>\\(?:[a-zA-Z]+|[{}|]))|(?P<word>[a-zA-Z]+)|(?P<sign>[-+*/^_!(){}\[\]|°%]))"
)


class ParseError(ValueError):
    """The text is not an expression that the rules understand."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token with its kind (num, cmd, word, sign) and whether white space came before it."""

    kind: str
    text: str
    spaced: bool


def parse_number(text: str) -> Fraction:
    """Return the exact value of a decimal literal; refuses lengths that would cost much."""
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > MAX_DIGITS or len(exponent) > 6 or abs(int(exponent or 0)) > MAX_EXPONENT:
        raise ParseError("number too long")
    return Fraction(text)


def tokenise(text: str) -> Iterator[Token]:
    """Yield the tokens of an expression; raises ``ParseError`` at a sign that is none."""
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


class Cursor:
    """A place in a list of tokens."""

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self.tokens = tokens
        self.position = 0

    def peek(self, ahead: int = 0) -> Token | None:
        """Return the token that many places ahead, or None at the end."""
        index = self.position + ahead
        return self.tokens[index] if index < len(self.tokens) else None

    def at(self, *texts: str) -> bool:
        """Whether the next token is one of these."""
        token = self.peek()
        return token is not None and token.text in texts

    def take(self) -> Token:
        """Return the next token and move on."""
        token = self.peek()
        if token is None:
            raise ParseError("the expression ends too early")
        self.position += 1
        return token

    def accept(self, *texts: str) -> bool:
        """Move on if the next token is one of these."""
        if self.at(*texts):
            self.position += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Move on over this token or raise ``ParseError``."""
        if not self.accept(text):
            raise ParseError(f"{text} is missing")
