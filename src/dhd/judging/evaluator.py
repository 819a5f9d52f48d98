"""The constrained evaluator: PASS or FAIL for one submission (paper, Evaluation Procedure)."""

from __future__ import annotations

from dhd.deliberation.setup import ProtocolSetup
from dhd.judging.submissions import Judgement, Submission
from dhd.parsing import parse_verdict
from dhd.problems import Problem
from dhd.requests import Generate


async def judge_with_model(
    problem: Problem,
    submission: Submission,
    setup: ProtocolSetup,
    max_attempts: int,
    generate: Generate,
) -> Judgement:
    """Ask the evaluator until its verdict can be parsed; else the submission stays unjudged.

    The evaluator sees the submitted answer, the reference and the answer format, never the
    reasoning behind the answer. Its prompt can be equal for two problems; they never share a
    call, whatever shards they lie in.
    """
    first = setup.request(
        "evaluator",
        setup.prompts.evaluator(problem, submission.answer),
        setup.prompts.evaluator_schema(),
        "/".join(filter(None, (problem.problem_uid, submission.cell))),
    )
    for attempt in range(1, max_attempts + 1):
        completion = await generate(setup.again(first, attempt))
        if completion.status == "failed":
            return Judgement(
                submission, None, completion.answered_by, completion.reason, completion
            )
        verdict = parse_verdict(completion.text, finish_reason=completion.finish_reason)
        if verdict.correct is not None:
            break
    return Judgement(
        submission, verdict.correct, completion.answered_by, verdict.reason, completion
    )
