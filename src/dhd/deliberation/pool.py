"""The pool: five roles for a problem, and one independent message from each."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from dhd.answers import extract_answer
from dhd.deliberation.setup import ProtocolSetup
from dhd.messages import POOL_SIZE, ExpertRole, MessageFields, ParsedMessage, ParsedRoster
from dhd.parsing import parse_message, parse_roster
from dhd.problems import Problem
from dhd.prompts import IndexedMessage
from dhd.requests import Completion, Generate, Request

_Parsed = TypeVar("_Parsed", ParsedMessage, ParsedRoster)
_ParsedOut = TypeVar("_ParsedOut", ParsedMessage, ParsedRoster, covariant=True)
MessageStatus = Literal["ok", "invalid_format", "truncated", "failed"]


class _Parse(Protocol[_ParsedOut]):
    """A tolerant parser of outputs."""

    def __call__(self, text: str | None, *, finish_reason: str | None = None) -> _ParsedOut: ...


@dataclass(frozen=True, slots=True)
class MessageRow:
    """One message of a pool, before it is judged.

    Attributes
    ----------
    message_index
        1…5, in roster order.
    role, fields
        Who wrote it and what it says.
    answer
        The proposed answer as it is judged, or None.
    status
        ``ok``, or why there is nothing to show.
    reason
        What was wrong, or None.
    completion
        The last model call behind it, or None when none was made.
    """

    message_index: int
    role: ExpertRole
    fields: MessageFields
    answer: str | None
    status: MessageStatus
    reason: str | None = None
    completion: Completion | None = None

    @property
    def is_rendered(self) -> bool:
        """Return whether at least one field can be shown to the integrator."""
        return self.status == "ok"


@dataclass(frozen=True, slots=True)
class Pool:
    """The five messages of one problem; ``has_roster`` is False when there are no roles."""

    messages: tuple[MessageRow, ...]
    has_roster: bool = True

    def shown(self, indices: tuple[int, ...]) -> tuple[IndexedMessage, ...]:
        """Return the rendered messages among ``indices``, in index order."""
        return tuple(
            IndexedMessage(message.message_index, message.role, message.fields)
            for message in self.messages
            if message.message_index in indices and message.is_rendered
        )


async def recruit_pool(problem: Problem, setup: ProtocolSetup, generate: Generate) -> Pool:
    """Recruit five roles and let each write one message, none seeing another's.

    A roster or message that cannot be parsed is asked again as a new draw, up to the limits
    of ``setup``, then recorded as it is. Without a roster all five messages are ``failed``.
    """
    roster, completion = await _recruit(problem, setup, generate)
    if roster is None or roster.status != "ok":
        reason = completion.reason if roster is None else roster.reason
        absent = (_absent(index, reason, completion) for index in range(1, POOL_SIZE + 1))
        return Pool(tuple(absent), has_roster=False)
    messages = await asyncio.gather(
        *(
            _hypothesize(problem, index, role, setup, generate)
            for index, role in enumerate(roster.roles, 1)
        )
    )
    return Pool(tuple(messages))


async def _recruit(
    problem: Problem, setup: ProtocolSetup, generate: Generate
) -> tuple[ParsedRoster | None, Completion]:
    first = setup.request(
        "recruiter", setup.prompts.recruiter(problem), setup.prompts.recruiter_schema(problem)
    )
    return await _until_parsed(first, setup.max_roster_attempts, parse_roster, setup, generate)


def _absent(index: int, reason: str | None, completion: Completion) -> MessageRow:
    return MessageRow(
        message_index=index,
        role=ExpertRole("", ""),
        fields=MessageFields(),
        answer=None,
        status="failed",
        reason=f"no_roster: {reason}",
        completion=completion,
    )


async def _hypothesize(
    problem: Problem, index: int, role: ExpertRole, setup: ProtocolSetup, generate: Generate
) -> MessageRow:
    first = setup.request(
        "hypothesizer",
        setup.prompts.hypothesizer(problem, role),
        setup.prompts.hypothesizer_schema(problem),
    )
    parsed, completion = await _until_parsed(
        first, setup.max_message_attempts, parse_message, setup, generate
    )
    if parsed is None:
        return MessageRow(
            index, role, MessageFields(), None, "failed", completion.reason, completion
        )
    fields = parsed.fields
    answer = fields.proposed_answer
    if answer is not None:
        marked = extract_answer(
            answer, answer_format=problem.answer_format, options=problem.options
        )
        answer = marked or answer.strip() or None
    return MessageRow(index, role, fields, answer, parsed.status, parsed.reason, completion)


async def _until_parsed(
    first: Request, attempts: int, parse: _Parse[_Parsed], setup: ProtocolSetup, generate: Generate
) -> tuple[_Parsed | None, Completion]:
    """Ask until the output can be parsed or the tries run out; None when the call failed."""
    for attempt in range(1, attempts + 1):
        completion = await generate(setup.again(first, attempt))
        if completion.status == "failed":
            return None, completion
        parsed = parse(completion.text, finish_reason=completion.finish_reason)
        if parsed.status == "ok":
            break
    return parsed, completion
