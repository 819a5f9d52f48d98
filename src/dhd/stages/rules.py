"""Comparison by rules as every stage of a study does it: one judge for scan and protocols."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from dhd.answers import Comparison, ComparisonPool
from dhd.config.load import Study
from dhd.problems import Problem


def comparison_pool(study: Study) -> ComparisonPool:
    """Return the pool that compares a study's answers with the references.

    Prompts show units without their powers of ten, so the full value is the right answer.
    """
    limit_s = study.settings.judging.comparison_limit_s
    return ComparisonPool(limit_s=limit_s, prompt_shows_factor=False)


class Rules:
    """Compares answers by rules beside the event loop, one at a time, each pair once."""

    def __init__(self, study: Study) -> None:
        self._pool = comparison_pool(study)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="rules")
        self._known: dict[tuple[str, str], Comparison] = {}

    def close(self) -> None:
        """End the comparing processes."""
        self._thread.shutdown(cancel_futures=True)
        self._pool.close()

    async def compare(self, problem: Problem, answer: str) -> Comparison:
        """Compare one answer with the problem's reference."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._compare, problem, answer)

    def _compare(self, problem: Problem, answer: str) -> Comparison:
        key = (problem.problem_uid, answer)
        if key not in self._known:
            self._known[key] = self._pool.compare(problem, answer)
        return self._known[key]
