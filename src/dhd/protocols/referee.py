"""The evaluator between rounds: a verdict on each submission, a hint on each failure.

The evaluator sees the submitted answer, the reference and the answer format, never problem or
reasoning; the solving roles see the hint and nothing else of the evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass

from dhd.answers import normalise_answer
from dhd.judging import Judgement, Submission, judge_with_model
from dhd.protocols.desk import Desk
from dhd.protocols.leaks import NEUTRAL_HINT, NO_ANSWER_HINT, reveals_reference
from dhd.protocols.outputs import text_reader
from dhd.protocols.setup import Compare

_RULES = "rules"


class UnjudgedError(Exception):
    """A submission got no verdict: how its run would have gone on is not known."""

    def __init__(self, answer: str, reason: str | None) -> None:
        super().__init__(reason or "no verdict")
        self.answer = answer


@dataclass(frozen=True, slots=True)
class Ruling:
    """The verdict on one submission, by whom, and the hint for the next attempt if it failed."""

    passes: bool
    judged_by: str | None = None
    hint: str = ""


class Referee:
    """Judges the submissions of one run.

    Parameters
    ----------
    desk
        Makes and counts the calls.
    compare
        Compares by rules first; None where a model alone decides.
    """

    def __init__(self, desk: Desk, compare: Compare | None) -> None:
        self._desk = desk
        self._compare = compare

    async def rule(self, answer: str | None, step: str, *, wants_hint: bool) -> Ruling:
        """Return the verdict on an attempt's answer; without an answer it fails without a call.

        Raises
        ------
        UnjudgedError
            When neither rules nor evaluator reach a verdict.
        CallFailedError
            When the hint's call gets no answer at all.
        """
        if answer is None:
            return Ruling(passes=False, hint=NO_ANSWER_HINT)
        judgement = await self._judge(answer, step)
        if judgement.correct is None:
            raise UnjudgedError(answer, judgement.reason)
        if judgement.correct or not wants_hint:
            return Ruling(judgement.correct, judgement.judged_by)
        return Ruling(
            passes=False, judged_by=judgement.judged_by, hint=await self._hint(answer, step)
        )

    async def _judge(self, answer: str, step: str) -> Judgement:
        desk, setup = self._desk, self._desk.setup
        draw = f"protocols/{setup.family}/verdict"
        if not setup.shares_verdicts:
            draw = desk.draw(f"{step}/verdict")
        submission = Submission(desk.problem.problem_uid, normalise_answer(answer), draw)
        judgement = Judgement(submission, None, _RULES, "no judge")
        if self._compare is not None:
            compared = await self._compare(desk.problem, submission.answer)
            judgement = Judgement(submission, compared.equivalent, _RULES, compared.reason)
        if judgement.correct is None and setup.asks_verdicts:
            return await judge_with_model(
                desk.problem,
                submission,
                setup.base,
                setup.limits.max_verdict_attempts,
                desk.generate,
            )
        return judgement

    async def _hint(self, answer: str, step: str) -> str:
        """Return the evaluator's hint, or the fixed one where it leaks or there is none."""
        desk = self._desk
        if not desk.setup.asks_hints:
            return NEUTRAL_HINT
        prompt = desk.setup.prompts.hint(desk.problem, normalise_answer(answer))
        hint = await desk.read(f"{step}/hint", prompt, text_reader("hint"), role="evaluator")
        if hint is None or reveals_reference(hint, desk.problem):
            return NEUTRAL_HINT
        return hint
