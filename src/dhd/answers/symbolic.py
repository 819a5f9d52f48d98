"""The symbolic library (math-verify), for what the rules cannot read: integrals, sums, limits.

Only its yes counts: a library's no may be a failure to read or to simplify. It is imported when
it is first needed (about a second), and never shown what it is known to misread or to choke
on. It has no bound on time or memory of its own: call it in a worker that has.
"""

from __future__ import annotations

import logging
import re
import sys
from typing import Final

_MAX_CHARS: Final = 400
_MAX_DEPTH: Final = 12
_WORTH_IT: Final = re.compile(
    r"\\(?:int|sum|prod|lim|det|begin|partial|nabla|overline|bar|vec|hat|gcd|max|min)(?![a-zA-Z])"
)
_MISREAD: Final = re.compile(
    r"\\(?:forall|exists|iff|implies|dots|mid|text|mathrm|pmod|bmod|equiv|neg|approx)"
    r"|(?<!\\)\b[a-zA-Z]{3,}\b|[;'\"`@#$]|\\(?:input|write|def|csname)|__"
)
_LARGE: Final = re.compile(r"\d{7,}|!|\^\s*\{[^{}]*\^|\^\s*\w\s*\^|\^\s*\{?\s*\d{4,}")


def is_loaded() -> bool:
    """Whether the library has been imported into this process."""
    return "math_verify" in sys.modules


def load() -> None:
    """Import the library and silence its reports of failed parses."""
    import math_verify  # noqa: F401

    for name in ("math_verify", "math_verify.parser", "math_verify.grader"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def is_worth_asking(reference: str, submitted: str) -> bool:
    """Whether the library may be shown two cleaned answers, and has something to add."""
    texts = (reference, submitted)
    return any(_WORTH_IT.search(text) for text in texts) and all(map(_is_safe, texts))


def _is_safe(text: str) -> bool:
    if len(text) > _MAX_CHARS or text.count("{") > 4 * _MAX_DEPTH:
        return False
    return not _MISREAD.search(text) and not _LARGE.search(text)


def library_agrees(reference: str, submitted: str) -> bool:
    """Whether the library proves two cleaned answers equal."""
    load()
    from latex2sympy2_extended import NormalizationConfig
    from math_verify import LatexExtractionConfig, parse, verify

    # Its removal of units takes letters for units: "a c" would equal "a".
    reading = NormalizationConfig(basic_latex=True, units=False, boxed="none")
    config = (LatexExtractionConfig(boxed_match_priority=-1, normalization_config=reading),)
    try:
        gold, ours = (
            parse(f"${text}$", config, fallback_mode="no_fallback", parsing_timeout=None)
            for text in (reference, submitted)
        )
        if not gold or not ours:
            return False
        return bool(verify(gold, ours, numeric_precision=30, timeout_seconds=None))
    except Exception:
        return False
