"""Masking: position and word count stay, and nothing but the named fields changes."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhd.config.prompts import PromptSettings
from dhd.deliberation import Cell, MessageRow, Pool
from dhd.messages import FIELD_NAMES, ExpertRole, MessageFields
from dhd.problems import Problem
from dhd.prompts import PromptSet
from dhd.studies import masked_pool, masking_schedule
from dhd.studies.masking import ANSWER_FIELDS, HIDDEN, REASONING_FIELDS, footprint

CHANGED = {
    "full": (),
    "repeat": (),
    "removal": (),
    "neutral": FIELD_NAMES,
    "mask_answer": ANSWER_FIELDS,
    "mask_reasoning": REASONING_FIELDS,
}
TARGET = 3


def pool() -> Pool:
    def fields(n: int) -> MessageFields:
        return MessageFields(
            proposed_answer=f"{n}{n}{n} newtons",
            reasoning_direction=f"Balance torques{n} about pivot{n},\nthen solve{n} for force{n}.",
            key_idea=f"Lever{n} arms{n} scale{n} linearly{n}",
            critical_assumption=None,
            what_to_check=f"units{n}",
            confidence=f"level{n}",
        )

    role = ExpertRole("Mechanic", "balances torques")
    return Pool(tuple(MessageRow(n, role, fields(n), f"{n}{n}{n}", "ok") for n in range(1, 6)))


def cell(condition: str) -> Cell:
    return next(one for one in masking_schedule(TARGET, 1) if one.condition == condition)


def words(text: str | None) -> int | None:
    return None if text is None else len(text.split())


@pytest.mark.parametrize("condition", CHANGED)
def test_only_the_named_fields_of_the_target_change(condition: str) -> None:
    before, after = pool(), masked_pool(pool(), cell(condition))
    for old, new in zip(before.messages, after.messages, strict=True):
        changed = {
            name for name in FIELD_NAMES if getattr(old.fields, name) != getattr(new.fields, name)
        }
        has_text = {name for name in CHANGED[condition] if getattr(old.fields, name) is not None}
        assert changed == (has_text if old.message_index == TARGET else set())
        assert replace(new, fields=old.fields) == old


@pytest.mark.parametrize("condition", CHANGED)
def test_every_field_keeps_its_word_count(condition: str) -> None:
    after = masked_pool(pool(), cell(condition))
    for old, new in zip(pool().messages, after.messages, strict=True):
        for name in FIELD_NAMES:
            assert words(getattr(new.fields, name)) == words(getattr(old.fields, name))


@pytest.mark.parametrize("condition", CHANGED)
def test_prompts_keep_position_and_word_count(condition: str, project_root: Path) -> None:
    prompts = PromptSet(PromptSettings(), project_root)
    problem = Problem("p", "b", "What force?", "333", "numeric")
    one = cell(condition)
    full = prompts.integrator(problem, pool().shown((1, 2, 3, 4, 5)))
    shown = prompts.integrator(problem, masked_pool(pool(), one).shown(one.indices()))
    text, original = shown[-1].content, full[-1].content
    if condition == "removal":
        assert [n for n in range(1, 6) if f"Lever{n}" in text] == [1, 2, 4, 5]
        return
    assert shown[:-1] == full[:-1]
    assert len(text.split()) == len(original.split())
    differing = [
        (old, new) for old, new in zip(original.split(), text.split(), strict=True) if old != new
    ]
    assert len(differing) == sum(
        words(getattr(pool().messages[TARGET - 1].fields, name)) or 0 for name in CHANGED[condition]
    )
    assert all(str(TARGET) in old for old, _ in differing if old not in SHARED_WORDS)


#: Words of a field that do not carry the number of their message.
SHARED_WORDS = {"Balance", "about", "then", "for", "newtons"}


def test_a_neutral_message_says_nothing_of_the_original() -> None:
    original = pool().messages[TARGET - 1].fields
    neutral = masked_pool(pool(), cell("neutral")).messages[TARGET - 1].fields
    said = {word for name in FIELD_NAMES for word in (getattr(original, name) or "").split()}
    kept = {word for name in FIELD_NAMES for word in (getattr(neutral, name) or "").split()}
    assert not said & kept


def test_a_hidden_answer_and_hidden_reasoning_leave_the_other_field() -> None:
    answer = masked_pool(pool(), cell("mask_answer")).messages[TARGET - 1].fields
    assert answer.proposed_answer == f"{HIDDEN} {HIDDEN}"
    assert answer.key_idea == "Lever3 arms3 scale3 linearly3"
    reasoning = masked_pool(pool(), cell("mask_reasoning")).messages[TARGET - 1].fields
    assert reasoning.proposed_answer == "333 newtons"
    assert reasoning.what_to_check == HIDDEN
    assert reasoning.confidence == "level3"


@given(st.text())
def test_a_footprint_has_as_many_words_whatever_the_text(text: str) -> None:
    for filler in (HIDDEN, "one two three"):
        assert len(footprint(text, filler).split()) == len(text.split())
