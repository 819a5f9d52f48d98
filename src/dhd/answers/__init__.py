"""The rule-based answer judge: extraction from model outputs, and comparison by format.

A comparison is True, False or None. None means *deferred*: the rules cannot decide, and the
answer goes to the LLM evaluator or stays unjudged. It is never silently right or wrong.
"""

from dhd.answers.compare import Comparison, compare_answers
from dhd.answers.extract import extract_answer
from dhd.answers.pool import ComparisonPool
from dhd.answers.text import normalise_answer

__all__ = [
    "Comparison",
    "ComparisonPool",
    "compare_answers",
    "extract_answer",
    "normalise_answer",
]
