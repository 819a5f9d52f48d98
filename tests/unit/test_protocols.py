"""The end-to-end protocols: who is asked when, what ends a run, what it costs."""

from __future__ import annotations

from typing import Any

import pytest

from dhd.answers import Comparison
from dhd.problems import Problem
from dhd.protocols import call_bounds
from dhd.protocols.broadcast import majority_answer
from dhd.protocols.leaks import NEUTRAL_HINT, NO_ANSWER_HINT
from dhd.protocols.outputs import Vote
from dhd.protocols.run import ATTEMPTS
from support.protocols import PROBLEM, REFERENCE, Call, World, run, setup_of, submitted, verdict

PROTOCOLS = tuple(ATTEMPTS)
PEERS = (1, 2, 3)


def peer_of(call: Call) -> int:
    return int(call.step.partition("peer=")[2].partition("/")[0])


def answering(call: Call, **changes: Any) -> Any:
    """Return a plain answer of every role: all submit ``wrong``, all agree, nothing passes."""
    answers: dict[str, Any] = {
        "verdict": verdict(False),
        "hint": {"hint": "Look at the sign."},
        "solver": {"work": "w", "final_answer": "wrong"},
        "planner": {"plan": "the plan"},
        "executor": {"work": "the work", "final_answer": "executed"},
        "reviewer": {"review": "fine", "route": "agree", "final_answer": "reviewed"},
        "poll": {"thought": "t", "candidate": "wrong", "score": 10},
        "statement": {"statement": "s"},
        "note": {"note": "n"},
        "vote": {"assessment": "a", "approve": True, "revision": "wrong"},
    }
    return (answers | changes)[call.kind]


def test_direct_is_one_attempt_and_one_verdict() -> None:
    world = World(answering)
    outcome = run("direct", world)
    assert world.kinds() == ["solver", "verdict"]
    assert (outcome.answer, outcome.correct, outcome.status) == ("wrong", False, "ok")
    assert (outcome.calls, outcome.evaluator_calls) == (2, 1)
    assert (outcome.prompt_tokens, outcome.completion_tokens) == (20, 2)
    assert (outcome.answered_by, outcome.judged_by) == ("integrator", "evaluator")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_pass_ends_the_run(protocol: Any) -> None:
    world = World(lambda call: answering(call, verdict=verdict(True)))
    outcome = run(protocol, world)
    assert (outcome.correct, outcome.rounds) == (True, 1)
    assert world.kinds()[-1] == "verdict"
    assert world.kinds().count("verdict") == 1
    assert "hint" not in world.kinds()
    assert outcome.calls == len(world.calls) == call_bounds(protocol, setup_of()).fewest


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_run_that_never_passes_ends_after_its_rounds(protocol: Any) -> None:
    def reply(call: Call) -> Any:
        return answering(
            call,
            poll={"thought": "t", "candidate": "wrong", "score": 70},
            vote={"assessment": "a", "approve": False, "revision": f"other {peer_of(call)}"}
            if call.kind == "vote"
            else None,
            reviewer={"review": "r", "route": "planner", "final_answer": "x"},
        )

    world = World(reply)
    outcome = run(protocol, world)
    submissions = {"direct": 1, "iterative": 3, "per": 6, "broadcast": 3}[protocol]
    assert world.kinds().count("verdict") == submissions
    assert world.kinds().count("hint") == submissions - 1
    assert (outcome.correct, outcome.rounds) == (False, 1 if protocol == "direct" else 3)
    assert outcome.calls == len(world.calls) == call_bounds(protocol, setup_of()).most
    assert outcome.evaluator_calls == 2 * submissions - 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_call_is_a_draw_of_its_own(protocol: Any) -> None:
    world = World(answering)
    run(protocol, world, shares_verdicts=False)
    steps = [call.step for call in world.calls]
    assert len(set(steps)) == len(steps)


def test_iterative_carries_rejected_answers_and_hints_and_nothing_else() -> None:
    def reply(call: Call) -> Any:
        number = call.step.partition("round=")[2][:1]
        return answering(
            call,
            solver={"work": f"secret work {number}", "final_answer": f"answer {number}"},
            hint={"hint": f"Mind the sign, for the {number}. time."},
            verdict=verdict(call.kind == "verdict" and submitted(call) == "answer 3"),
        )

    world = World(reply)
    outcome = run("iterative", world)
    assert world.kinds() == [
        "solver",
        "verdict",
        "hint",
        "solver",
        "verdict",
        "hint",
        "solver",
        "verdict",
    ]
    first, second, third = (call.prompt for call in world.of("solver"))
    assert "Rejected answer 1" not in first
    assert "Rejected answer 1: answer 1" in second
    assert "for the 1. time" in second
    assert "Rejected answer 1: answer 1" in third
    assert "Rejected answer 2: answer 2" in third
    assert "for the 2. time" in third
    assert "secret work" not in second + third
    assert (outcome.answer, outcome.correct, outcome.rounds) == ("answer 3", True, 3)


def test_an_answer_without_a_box_fails_without_a_call() -> None:
    world = World(lambda call: answering(call, solver={"work": "w", "final_answer": ""}))
    outcome = run("iterative", world)
    assert world.kinds() == ["solver"] * 3
    assert NO_ANSWER_HINT in world.calls[1].prompt
    assert (outcome.answer, outcome.correct, outcome.status) == (None, False, "no_answer")
    assert (outcome.calls, outcome.evaluator_calls) == (3, 0)


def test_per_repairs_inside_the_round() -> None:
    world = World(answering)
    run("per", world, limits={"rounds": 1})
    team = ["planner", "executor", "reviewer"]
    assert world.kinds() == [*team, "verdict", "hint", *team, "verdict"]
    repair = world.of("planner")[1].prompt
    assert "Look at the sign." in repair
    assert "the plan" in repair
    assert "Rejected answer 1: reviewed" in repair


@pytest.mark.parametrize(
    ("route", "second"),
    [
        ("planner", ["planner", "executor", "reviewer"]),
        ("executor", ["executor", "reviewer"]),
    ],
)
def test_a_reviewer_routes_the_second_cycle(route: str, second: list[str]) -> None:
    review = {"review": "the finding", "route": route, "final_answer": "reviewed"}
    world = World(lambda call: answering(call, reviewer=review, verdict=verdict(True)))
    outcome = run("per", world)
    assert world.kinds() == ["planner", "executor", "reviewer", *second, "verdict"]
    assert "the finding" in world.of(second[0])[1].prompt
    assert outcome.answer == "executed"  # no agreement: the reviewer's answer does not count


def test_agreement_submits_the_reviewers_answer() -> None:
    world = World(lambda call: answering(call, verdict=verdict(True)))
    assert run("per", world).answer == "reviewed"


def test_the_executors_latest_box_survives_a_cycle_without_one() -> None:
    def reply(call: Call) -> Any:
        is_first = "cycle=1" in call.step
        return answering(
            call,
            executor={"work": "w", "final_answer": "boxed"}
            if is_first
            else {"work": "w", "final_answer": ""},
            reviewer={"review": "r", "route": "executor", "final_answer": "x"},
            verdict=verdict(True),
        )

    assert run("per", World(reply)).answer == "boxed"


def test_an_unreadable_plan_and_review_are_asked_again_and_then_done_without() -> None:
    def reply(call: Call) -> Any:
        return answering(call, planner="{", reviewer="hm", verdict=verdict(True))

    world = World(reply)
    outcome = run("per", world, limits={"max_attempts": 2})
    cycle = ["planner", "planner", "executor", "reviewer", "reviewer"]
    assert world.kinds() == [*cycle, *cycle, "verdict"]
    assert outcome.calls == 11
    assert outcome.answer == "executed"


def test_the_highest_score_speaks_and_high_others_keep_a_private_note() -> None:
    scores = {1: 64, 2: 90, 3: 65}

    def reply(call: Call) -> Any:
        peer = peer_of(call) if call.kind in ("poll", "statement", "note", "vote") else 0
        return answering(
            call,
            poll={"thought": "t", "candidate": f"answer {peer}", "score": scores.get(peer, 1)},
            statement={"statement": f"public by {peer}"},
            note={"note": f"private of {peer}"},
            verdict=verdict(True),
        )

    world = World(reply)
    outcome = run("broadcast", world, limits={"discussion_turns": 2})
    assert world.kinds() == [
        *(["poll"] * 3 + ["statement", "note"]) * 2, *["vote"] * 3, "verdict",
    ]  # fmt: skip
    assert {peer_of(call) for call in world.of("statement")} == {2}
    assert {peer_of(call) for call in world.of("note")} == {3}
    later = {peer_of(call): call.prompt for call in world.of("poll")[3:]}
    for peer in PEERS:
        assert "public by 2" in later[peer]
        assert ("private of 3" in later[peer]) == (peer == 3)
    assert len({prompt.partition("Problem:")[0] for prompt in later.values()}) == 3
    assert outcome.answer == "answer 2"


def test_ties_go_to_the_lowest_peer_and_silence_skips_the_turn() -> None:
    world = World(lambda call: answering(call, verdict=verdict(True)))
    run("broadcast", world, limits={"discussion_turns": 1})
    assert [peer_of(call) for call in world.of("statement")] == [1]
    silent = World(lambda call: answering(call, poll="no score"))
    outcome = run("broadcast", silent, limits={"rounds": 1, "max_attempts": 1})
    assert silent.kinds() == ["poll"] * 12
    assert (outcome.status, outcome.correct) == ("no_answer", False)


def test_a_candidate_without_unanimity_is_replaced_by_the_majority() -> None:
    def reply(call: Call) -> Any:
        if call.kind == "vote":
            is_second = "vote=2" in call.step
            return {
                "assessment": "a",
                "approve": is_second or peer_of(call) == 1,
                "revision": "better",
            }
        return answering(call, verdict=verdict(True))

    world = World(reply)
    outcome = run("broadcast", world)
    assert world.kinds().count("vote") == 6
    assert "Answer up for approval: better" in world.of("vote")[3].prompt
    assert outcome.answer == "better"


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([Vote(True, None), Vote(True, None), Vote(False, "b")], "a"),
        ([Vote(False, "b"), Vote(False, "$b$"), Vote(True, None)], "b"),
        ([Vote(False, "b"), Vote(False, "c"), Vote(True, None)], "a"),
        ([None, None, Vote(False, "b")], "a"),
        ([Vote(False, "b"), Vote(False, None), Vote(False, "b")], "b"),
    ],
)
def test_majority_is_of_all_peers(votes: list[Vote | None], expected: str) -> None:
    assert majority_answer("a", votes) == expected


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("failing", ["solver", "executor", "reviewer", "poll", "vote"])
def test_a_call_without_an_answer_leaves_the_run_unobserved(protocol: Any, failing: str) -> None:
    world = World(lambda call: answering(call, **{failing: None}))
    outcome = run(protocol, world)
    if failing not in world.kinds():
        return
    assert (outcome.status, outcome.correct, outcome.answer) == ("failed", None, None)
    assert "timeout" in str(outcome.reason)
    assert outcome.calls == len(world.calls)


def test_a_submission_without_a_verdict_leaves_the_run_unobserved() -> None:
    world = World(lambda call: answering(call, verdict="perhaps"))
    outcome = run("iterative", world)
    assert world.kinds() == ["solver", "verdict", "verdict", "verdict"]
    assert (outcome.status, outcome.correct, outcome.answer) == ("unjudged", None, "wrong")
    assert (outcome.calls, outcome.evaluator_calls) == (4, 3)


def test_rules_judge_first_and_the_evaluator_what_they_leave() -> None:
    async def compare(problem: Problem, answer: str) -> Comparison:
        assert problem is PROBLEM
        return Comparison(None if answer == "wrong" else True, "rule")

    world = World(answering)
    outcome = run("direct", world, compare=compare)
    assert (outcome.judged_by, outcome.correct) == ("evaluator", False)
    sure = World(lambda call: answering(call, solver={"work": "", "final_answer": "sure"}))
    outcome = run("direct", sure, compare=compare)
    assert (outcome.judged_by, outcome.correct, sure.kinds()) == ("rules", True, ["solver"])


def test_rules_alone_give_the_fixed_hint_unless_a_model_writes_them() -> None:
    async def compare(problem: Problem, answer: str) -> Comparison:
        return Comparison(False, "rule")

    world = World(answering)
    run("iterative", world, compare=compare, asks_verdicts=False, asks_hints=False)
    assert world.kinds() == ["solver"] * 3
    assert NEUTRAL_HINT in world.calls[1].prompt
    helped = World(answering)
    run("iterative", helped, compare=compare, asks_verdicts=False, asks_hints=True)
    assert helped.kinds() == ["solver", "hint", "solver", "hint", "solver"]


LEAKS = (
    REFERENCE,
    REFERENCE.upper(),
    f"It is **{REFERENCE}**.",
    "It is sentinel reference 731!",
    "Write sentinel\u200b-reference-731 at the end.",
    f'{{"answer": "{REFERENCE}"}}',
)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("leak", LEAKS)
def test_no_solving_prompt_ever_shows_the_reference(protocol: Any, leak: str) -> None:
    """An evaluator that tells the reference in every hint, and refuses everything."""
    world = World(lambda call: answering(call, hint={"hint": leak}))
    run(protocol, world)
    solving = [call for call in world.calls if call.role != "evaluator"]
    judging = [call for call in world.calls if call.role == "evaluator"]
    assert all(REFERENCE in call.prompt for call in judging)
    for call in solving:
        bare = "".join(filter(str.isalnum, call.prompt)).casefold()
        assert "sentinelreference731" not in bare, call.step
        assert "731" not in bare, call.step
    if protocol != "direct":
        assert any(NEUTRAL_HINT in call.prompt for call in solving)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_evaluator_never_sees_problem_or_reasoning(protocol: Any) -> None:
    world = World(answering)
    run(protocol, world)
    for call in world.calls:
        if call.role == "evaluator":
            assert PROBLEM.problem not in call.prompt
            for reasoning in ("the work", "the plan", "Look at the sign."):
                assert reasoning not in call.prompt
