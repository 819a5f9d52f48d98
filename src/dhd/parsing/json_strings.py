r"""Decode the inside of a JSON string in which a model may have written LaTeX unescaped.

``"3 \times 10"`` is legal JSON for *3*, tab, *imes 10*. Backspace, form feed and carriage return
before a letter never occur in a message, so ``\b``, ``\f`` and ``\r`` before letters are LaTeX;
``\t`` and ``\n`` are LaTeX where a command of that name exists.
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<word>[A-Za-z]++)|(?P<char>.))", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_PLAIN = frozenset("\"\\/'“”")
_LATEX_T = re.compile(
    r"t(?:imes|ext[a-z]*|heta|hetasym|au|anh?|o|op|frac|binom|ilde|riangle[a-z]*|herefore"
    r"|hinspace|ag|an|wohead[a-z]*|t)"
)
_LATEX_N = re.compile(
    r"n(?:abla|eq|eqq|eg|ot|otin|leq|geq|less|gtr|mid|sim|cong|exists|subset[a-z]*|supset[a-z]*"
    r"|parallel|prec|succ|[lL]eft[a-z]*|[rR]ight[a-z]*|earrow|warrow|atural|onumber|olimits"
    r"|ewline|ewcommand)"
)
_AMBIGUOUS_N = frozenset({"nu", "ne", "ni"})
_SENTENCE_END = ".,:;!?)"


def decode_string(source: str) -> str:
    r"""Return the text of a JSON string, given what stands between its quotes.

    Unknown escapes keep their backslash; lone surrogates become U+FFFD, so that the text can be
    stored as UTF-8.
    """
    if "\\" in source:
        source = _ESCAPE.sub(_replacement, source)
    if _SURROGATE.search(source):
        source = source.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return source


def _replacement(match: re.Match[str]) -> str:
    if code := match["code"]:
        return chr(int(code, 16))
    if word := match["word"]:
        if word[0] in _CONTROL and not _is_latex(word, match):
            return _CONTROL[word[0]] + word[1:]
        return match[0]
    return match["char"] if match["char"] in _PLAIN else match[0]


def _is_latex(word: str, match: re.Match[str]) -> bool:
    if len(word) == 1:
        return False
    if word[0] == "t":
        return _LATEX_T.fullmatch(word) is not None
    if word in _AMBIGUOUS_N:
        # A line break follows the end of a sentence, a symbol does not.
        before = match.string[max(0, match.start() - 8) : match.start()].rstrip()
        return not before.endswith(tuple(_SENTENCE_END))
    if word[0] == "n":
        return _LATEX_N.fullmatch(word) is not None
    return True
