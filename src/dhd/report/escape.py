"""Escaping of text that users and models wrote, for LaTeX, Markdown and HTML."""

from __future__ import annotations

import html
import re
import unicodedata

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "→": r"$\to$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "∆": r"$\Delta$",
    "Δ": r"$\Delta$",
    "κ": r"$\kappa$",
    "τ": r"$\tau$",
    "×": r"$\times$",
    "÷": r"$\div$",
}
# An underscore within a word, as in protocol_direct, marks nothing.
_MARKDOWN = re.compile(r"([\\`*\[\]|$~]|(?<![^\W_])_|_(?![^\W_]))")


def _latex_character(character: str) -> str:
    if character in _LATEX:
        return _LATEX[character]
    if " " <= character <= "~" or "À" <= character <= "ÿ":
        return character
    # pdflatex stops at characters that its fonts lack: show the code point instead.
    return f"[U+{ord(character):04X}]"


def latex(text: str) -> str:
    r"""Return `text` as LaTeX that prints it; needs ``\usepackage[T1]{fontenc}, textcomp``.

    Characters outside Latin-1 that have no replacement here show as ``[U+4E2D]``.
    """
    return "".join(map(_latex_character, unicodedata.normalize("NFC", text)))


def markdown(text: str) -> str:
    """Return `text` as Markdown that prints it inside a table cell."""
    return _MARKDOWN.sub(r"\\\1", html.escape(text, quote=False))


def html_text(text: str) -> str:
    """Return `text` as HTML that prints it, in an element or a quoted attribute."""
    return html.escape(text, quote=True)
