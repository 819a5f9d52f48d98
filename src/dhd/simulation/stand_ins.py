"""Stand-in problems: own-written items of the paper's five kinds, each named by a code.

An item follows from its code alone, e.g. ``[OM-00291]``, which ends its text. Whoever reads the
code in a prompt knows the item, its right answer and the wrong ones that people give. The items
are real problems with right references, so that rules judge them as an evaluator does.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from types import MappingProxyType
from typing import Final

from dhd.benchmarks.catalogue import CATALOGUE
from dhd.problems import AnswerFormat
from dhd.simulation.draws import uniforms
from dhd.simulation.items import MAKERS, Item

#: Prefix of a code → benchmark.
PREFIXES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "OM": "omni_math_2",
        "JB": "jeebench",
        "SB": "scibench",
        "LB": "lab_bench",
        "MS": "mascqa",
    }
)
CODE: Final = re.compile(r"\[((?:OM|JB|SB|LB|MS)-[0-9]{5})\]")

#: Share of Omni-MATH-2's problems up to each tier t1…t10; near what olympiad sources give.
_TIER_WEIGHTS: Final = (3, 9, 9, 19, 29, 12, 8, 6, 4, 1)
#: Which maker writes a stratum's items, and their answer format.
_FORMATS: Final[Mapping[str, AnswerFormat]] = MappingProxyType(
    {
        "MCQ": "choice",
        "MCQ(multiple)": "multi_choice",
        "Integer": "integer",
        "Numeric": "numeric",
        "SeqQA": "choice",
        "ProtocolQA": "choice",
        "CloningScenarios": "choice",
        "MCQS": "choice",
        "NUM": "numeric",
        "MATCH": "matching",
        "MCQS-NUM": "choice",
    }
)
_OWN_MAKERS: Final = ("SeqQA", "ProtocolQA", "CloningScenarios")
_HARDEST: Final = 10


@dataclass(frozen=True, slots=True)
class StandIn:
    """One stand-in problem.

    Attributes
    ----------
    code
        Its name, e.g. ``OM-00291``; stands in brackets at the end of its text.
    benchmark, stratum
        Which benchmark it stands for, and the part of it.
    answer_format
        How it is answered.
    item
        Text, options, unit and answers.
    hardness
        How much harder than its benchmark's mean, in standard deviations of difficulty.
    """

    code: str
    benchmark: str
    stratum: str | None
    answer_format: AnswerFormat
    item: Item
    hardness: float

    @property
    def problem(self) -> str:
        """Return the text that a solver sees."""
        return f"{self.item.text} [{self.code}]"


@lru_cache(maxsize=32_768)
def stand_in(code: str) -> StandIn:
    """Return the item of a code.

    Parameters
    ----------
    code
        Two letters, a hyphen and a number of five digits.

    Raises
    ------
    KeyError
        When no benchmark has the prefix.
    """
    prefix, number = code.split("-")
    benchmark = PREFIXES[prefix]
    stratum = _stratum(benchmark, code, int(number))
    answer_format = _FORMATS.get(stratum or "", "math" if prefix == "OM" else "numeric")
    maker = stratum if stratum in _OWN_MAKERS else answer_format
    item = MAKERS[maker](uniforms("item", code))
    hardness = (int(stratum[1:]) - 5) / _HARDEST if benchmark == "omni_math_2" and stratum else 0.0
    return StandIn(code, benchmark, stratum, answer_format, item, hardness)


def code_in(text: str) -> str | None:
    """Return the first code in a text, or None."""
    found = CODE.search(text)
    return None if found is None else found[1]


def codes(benchmark: str, count: int | None = None) -> tuple[str, ...]:
    """Return the codes of a benchmark's items; as many as the paper has (Table 2) if not told."""
    prefix = next(key for key, name in PREFIXES.items() if name == benchmark)
    size = CATALOGUE[benchmark].count if count is None else count
    return tuple(f"{prefix}-{number:05d}" for number in range(size))


def _stratum(benchmark: str, code: str, number: int) -> str | None:
    """Return the part of its benchmark that an item belongs to, in upstream's proportions."""
    strata = CATALOGUE[benchmark].strata
    if not strata:
        return None
    if benchmark == "omni_math_2":
        limits, at = list(accumulate(_TIER_WEIGHTS)), uniforms("tier", code)[0]
        return list(strata)[bisect_right(limits, at * limits[-1])]
    limits = list(accumulate(count or 0 for count in strata.values()))
    return list(strata)[bisect_right(limits, number % limits[-1])]
