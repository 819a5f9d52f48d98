"""Normalisation of answer text: Unicode, wrappers, and one spelling for LaTeX and plain text."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

MAX_CHARS: Final = 20_000
"""Longer answers are compared as strings only."""

_SUPERSCRIPTS: Final = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱ", "0123456789+-()ni", strict=True))
_SUBSCRIPTS: Final = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₙ", "0123456789+-()n", strict=True))
_SUPERSCRIPT_RUN: Final = re.compile(f"[{''.join(_SUPERSCRIPTS)}]+")
_SUBSCRIPT_RUN: Final = re.compile(f"[{''.join(_SUBSCRIPTS)}]+")
_VULGAR_FRACTION: Final = re.compile("(\\d)?([¼½¾⅐-⅞])")
_VARIATION_SELECTORS: Final = range(0xFE00, 0xFE10)
_DELIMITERS: Final = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))
_BOX: Final = re.compile(r"\\f?box(?:ed)?\s*\{")


def normalise_answer(text: str) -> str:
    r"""Return the key under which identical submissions share one evaluation.

    NFKC (after superscripts, subscripts and fractions are spelled out, which NFKC alone would
    merge with plain digits), invisible characters removed, white space collapsed, and
    surrounding ``$`` and ``\boxed{}`` removed. Case is kept. Every comparison starts from this
    form, so two submissions with the same key are never judged differently.
    """
    if text.isascii():
        out = text
    else:
        out = _SUPERSCRIPT_RUN.sub(lambda m: _raised("^", m.group(), _SUPERSCRIPTS), text)
        out = _SUBSCRIPT_RUN.sub(lambda m: _raised("_", m.group(), _SUBSCRIPTS), out)
        out = _VULGAR_FRACTION.sub(_spell_fraction, out).replace("º", "°")
        out = unicodedata.normalize("NFKC", out).replace("\u2044", "/")
        out = "".join(map(_visible, out))
    out = " ".join(out.split())
    while (inner := _unwrap(out)) != out:
        out = inner
    return out


def _raised(mark: str, run: str, table: dict[str, str]) -> str:
    return mark + "{" + "".join(table[char] for char in run) + "}"


def _spell_fraction(match: re.Match[str]) -> str:
    whole = match.group(1)
    fraction = unicodedata.normalize("NFKC", match.group(2)).replace("\u2044", "/")
    return f"{whole} {fraction}" if whole else fraction


def _visible(char: str) -> str:
    if char.isascii():
        return char
    if unicodedata.category(char) == "Cf" or ord(char) in _VARIATION_SELECTORS:
        return ""
    if unicodedata.category(char) == "Nd":
        return str(unicodedata.digit(char))
    return {"٫": ".", "٬": ","}.get(char, char)


def _unwrap(text: str) -> str:
    for left, right in _DELIMITERS:
        if len(text) > len(left + right) and text.startswith(left) and text.endswith(right):
            inner = text[len(left) : -len(right)]
            if "$" not in inner.replace(r"\$", "") and left not in inner and inner[-1] != "\\":
                return inner.strip()
    match = _BOX.match(text)
    if match and matching_brace(text, match.end() - 1) == len(text) - 1:
        return text[match.end() : -1].strip()
    return text


def matching_brace(text: str, start: int) -> int:
    r"""Return the index of the brace that closes ``text[start]``, or -1; ``\{`` does not count."""
    depth = 0
    index = start
    while index < len(text):
        char = text[index]
        if char == "\\":
            index += 2
            continue
        depth += (char == "{") - (char == "}")
        if depth == 0:
            return index
        index += 1
    return -1


_BRACE: Final = re.compile(r"\\.|[{}]", re.DOTALL)


def closing_braces(text: str) -> dict[int, int]:
    r"""Return where each brace of a text that is closed closes; ``\{`` does not count."""
    opened: list[int] = []
    closings: dict[int, int] = {}
    for match in _BRACE.finditer(text):
        if match.group() == "{":
            opened.append(match.start())
        elif match.group() == "}" and opened:
            closings[opened.pop()] = match.start()
    return closings


_SYMBOLS: Final = str.maketrans(
    {
        "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "‒": "-", "﹣": "-", "➖": "-",
        "×": r"\times ", "✕": r"\times ", "⨯": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ",
        "∙": r"\cdot ", "•": r"\cdot ", "∗": "*", "÷": "/", "∕": "/", "√": r"\surd ",
        "∞": r"\infty ", "≤": r"\le ", "⩽": r"\le ", "≥": r"\ge ", "⩾": r"\ge ",
        "≠": r"\ne ", "≈": r"\approx ", "∪": r"\cup ", "∈": r"\in ", "∅": r"\emptyset ",
        "∖": r"\setminus ", "±": r"\pm ", "∀": r"\forall ", "∃": r"\exists ", "ℝ": r"\mathbb{R}",
        "π": r"\pi ", "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "δ": r"\delta ",
        "θ": r"\theta ", "λ": r"\lambda ", "μ": r"\mu ", "ν": r"\nu ", "ρ": r"\rho ",
        "σ": r"\sigma ", "τ": r"\tau ", "φ": r"\phi ", "ϕ": r"\phi ", "ω": r"\omega ",
        "ε": r"\epsilon ", "ψ": r"\psi ", "Ω": r"\Omega ", "Δ": r"\Delta ", "⟨": "(", "⟩": ")",
        "，": ",", "。": ".", "、": ", ", "；": ";", "：": ":", "“": '"', "”": '"', "‘": "'",
        "’": "'", "【": "[", "】": "]", "《": "", "》": "",
    }
)  # fmt: skip

_REWRITES: Final = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (
            r"\\(?:left|right|mleft|mright|[bB]igg?[lrm]?)\s*(?:\.|(?=\\?[\[\](){}|/<>]|\\[lrmv]))",
            "",
        ),
        (r"\\[dtc]frac(?![a-zA-Z])", r"\\frac"),
        (r"\s*\{\s*,\s*\}\s*", ","),
        (r"(?<!\\)\\!", ""),
        (r"(?<=\d)(?:(?<!\\)\\[,;: ]|~|\\thinspace|\u202f|\u00a0)(?=\d{3}(?!\d))", ""),
        (r"(?<!\\)\\[,;: >]|~", " "),
        (r"\\(?:q?quad|thinspace|enspace|displaystyle|textstyle|limits)(?![a-zA-Z])", " "),
        (r"(?<!\\)\\[()\[\]]", " "),
        (r"\\\$|[€£¥]", ""),
        (r"\\%", "%"),
        (
            r"(?:\{\s*\}\s*)?\^\s*\{?\s*(?:\\circ|°)\s*\}?|\\degree(?![a-zA-Z])|\{\s*\\circ\s*\}",
            "° ",
        ),
        (r"\\(?:leq|leqslant)(?![a-zA-Z])", r"\\le "),
        (r"\\(?:geq|geqslant)(?![a-zA-Z])", r"\\ge "),
        (r"\\neq(?![a-zA-Z])", r"\\ne "),
        (r"\\(?:lt)(?![a-zA-Z])", "<"),
        (r"\\(?:gt)(?![a-zA-Z])", ">"),
        (r"\\(?:varnothing)(?![a-zA-Z])", r"\\emptyset "),
        (r"\\(?:mathbb|mathbf)\s*\{?\s*R\s*\}?(?![a-zA-Z])", r"\\Reals "),
        (r"\\(?:ldots|cdots|dots|dotsc|dotsb)(?![a-zA-Z])|\.\.\.+|…", r"\\dots "),
        (r"\\l[vV]ert(?![a-zA-Z])|\\r[vV]ert(?![a-zA-Z])|\\vert(?![a-zA-Z])", "|"),
        (r"\\operatorname\*?\s*\{\s*([a-zA-Z]+)\s*\}", r"\\\1 "),
        (r"\\lbrace(?![a-zA-Z])", r"\\{"),
        (r"\\rbrace(?![a-zA-Z])", r"\\}"),
        (r"\*\*(?=\s*[-\d({])", "^"),
    )
)
_TEXT_COMMAND: Final = re.compile(
    r"\\(?:text(?:bf|it|rm|normal|sf|tt)?|math(?:rm|bf|it|sf|tt|cal|bb)|mbox|hbox|emph|boldsymbol|bm)"
    r"\s*\{((?:[^{}]++|\{[^{}]*+\})*+)\}"
)


def clean(text: str) -> str:
    r"""Return an answer in one spelling for the comparison rules.

    ``text`` is normalised already. Unicode operators become LaTeX or ASCII, spacing and sizing
    commands and ``\text{}`` wrappers go, emphasis and trailing punctuation are removed.
    """
    out = text.replace("**", "") if text.startswith("**") or text.endswith("**") else text
    out = out.translate(_SYMBOLS).replace("$", " ") if "\\$" not in out else out.translate(_SYMBOLS)
    for pattern, new in _REWRITES:
        out = pattern.sub(new, out)
    while (plain := _TEXT_COMMAND.sub(r" \1 ", out)) != out:
        out = plain
    out = " ".join(out.replace("$", " ").split())
    return strip_punctuation(out)


def strip_punctuation(text: str) -> str:
    """Remove sentence punctuation and quotes around an answer."""
    out = text.strip()
    while (shorter := out.rstrip().rstrip(".,;:\u3002").removesuffix("\\\\")) != out:
        out = shorter
    if len(out) > 2 and out[0] == out[-1] and out[0] in "\"'`_*":
        out = out[1:-1].strip()
    return out.strip("`").strip()


_IDLE_SPACE: Final = re.compile(r"\s+(?!\w)|(?<!\w)\s+")


def compact(text: str) -> str:
    """Return a cleaned answer without idle white space: equal strings are equal answers.

    A space between two word characters stays: ``5 3/7`` is not ``53/7``.
    """
    return _IDLE_SPACE.sub("", text)
