"""Broadcast: three peers discuss in public, keep private notes, and approve a candidate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from dhd.answers import normalise_answer
from dhd.prompts.protocol_views import Rejected, Standpoint, Statement
from dhd.prompts.protocols import TEMPERAMENTS
from dhd.protocols.attempts import Attempt
from dhd.protocols.desk import Desk, together
from dhd.protocols.outputs import Poll, Vote, read_poll, read_vote, text_reader

PEERS = tuple(range(1, len(TEMPERAMENTS) + 1))
_SILENT = Poll(0, None, "")
"""The bid of a peer whose poll cannot be read."""


@dataclass(slots=True)
class _Discussion:
    """What was said, noted and proposed in one round."""

    rejected: tuple[Rejected, ...]
    statements: list[Statement] = field(default_factory=list)
    notes: dict[int, list[str]] = field(default_factory=lambda: {peer: [] for peer in PEERS})
    candidate: str | None = None

    def as_seen_by(self, peer: int) -> Standpoint:
        return Standpoint(peer, self.rejected, tuple(self.statements), tuple(self.notes[peer]))


def broadcast_attempts(desk: Desk) -> Iterator[Attempt]:
    """Yield one attempt a round: a discussion from nothing, then votes on its candidate."""
    for number in range(1, desk.setup.limits.rounds + 1):
        yield Attempt(number, f"round={number}", partial(_discuss_and_vote, desk))


async def _discuss_and_vote(desk: Desk, step: str, rejected: tuple[Rejected, ...]) -> str | None:
    discussion = _Discussion(rejected)
    for turn in range(1, desk.setup.limits.discussion_turns + 1):
        await _take_turn(desk, discussion, f"{step}/turn={turn}")
    return await _vote(desk, discussion, step)


async def _take_turn(desk: Desk, discussion: _Discussion, at: str) -> None:
    """Poll every peer; the highest score speaks, others with high scores keep a note.

    Ties go to the lowest number. The candidate is that of the latest speaker who had one.
    """
    seen = {peer: discussion.as_seen_by(peer) for peer in PEERS}
    polls = await together(*(_poll(desk, seen[peer], at) for peer in PEERS))
    bids = dict(zip(PEERS, polls, strict=True))
    speaker = max(PEERS, key=lambda peer: bids[peer].score)
    if bids[speaker].score == 0:
        return
    noting = [
        peer
        for peer in PEERS
        if peer != speaker and bids[peer].score >= desk.setup.limits.note_score
    ]
    said, *noted = await together(
        _statement(desk, seen[speaker], bids[speaker], at),
        *(_note(desk, seen[peer], bids[peer], at) for peer in noting),
    )
    if said is not None:
        discussion.statements.append(Statement(speaker, said))
    for peer, note in zip(noting, noted, strict=True):
        if note is not None:
            discussion.notes[peer].append(note)
    discussion.candidate = bids[speaker].candidate or discussion.candidate


async def _poll(desk: Desk, standpoint: Standpoint, at: str) -> Poll:
    prompt = desk.setup.prompts.poll(desk.problem, standpoint)
    step = f"{at}/poll/peer={standpoint.peer}"
    return await desk.read(step, prompt, partial(read_poll, desk.problem)) or _SILENT


async def _statement(desk: Desk, standpoint: Standpoint, bid: Poll, at: str) -> str | None:
    prompt = desk.setup.prompts.statement(desk.problem, standpoint, bid.thought, bid.candidate)
    step = f"{at}/statement/peer={standpoint.peer}"
    return await desk.read(step, prompt, text_reader("statement"))


async def _note(desk: Desk, standpoint: Standpoint, bid: Poll, at: str) -> str | None:
    prompt = desk.setup.prompts.note(desk.problem, standpoint, bid.thought, bid.candidate)
    return await desk.read(f"{at}/note/peer={standpoint.peer}", prompt, text_reader("note"))


async def _vote(desk: Desk, discussion: _Discussion, step: str) -> str | None:
    """Return the submission: the candidate, or what a majority put in its place.

    A candidate that not all peers approve is replaced by the answer that most of all peers
    stand behind, and put to the vote once more while votes are left.
    """
    candidate = discussion.candidate
    for number in range(1, desk.setup.limits.approval_votes + 1):
        if candidate is None:
            return None
        at = f"{step}/vote={number}"
        votes = await together(
            *(_ballot(desk, discussion.as_seen_by(peer), candidate, at) for peer in PEERS)
        )
        if all(vote is not None and vote.approves for vote in votes):
            break
        candidate = majority_answer(candidate, votes)
    return candidate


async def _ballot(desk: Desk, standpoint: Standpoint, candidate: str, at: str) -> Vote | None:
    prompt = desk.setup.prompts.vote(desk.problem, standpoint, candidate)
    step = f"{at}/peer={standpoint.peer}"
    return await desk.read(step, prompt, partial(read_vote, desk.problem))


def majority_answer(candidate: str, votes: list[Vote | None]) -> str:
    """Return the answer that more than half of all peers stand behind, else the candidate.

    Who approves stands behind the candidate, who does not behind the own revision; answers
    are told apart as submissions are. An unreadable vote stands behind nothing.
    """
    backed = [candidate if vote.approves else vote.revision for vote in votes if vote is not None]
    answers = [answer for answer in backed if answer is not None]
    counts = Counter(map(normalise_answer, answers))
    for answer in answers:
        if 2 * counts[normalise_answer(answer)] > len(votes):
            return answer
    return candidate
