"""Judging: submissions against references, by rules, by an evaluator model, or both."""

from dhd.judging.evaluator import judge_with_model
from dhd.judging.submissions import Judgement, Submission, distinct_submissions

__all__ = ["Judgement", "Submission", "distinct_submissions", "judge_with_model"]
