"""A model that this job cannot ask: its answers come from the journal, or from a later job.

Where two models cannot share a node, jobs take turns: each asks one of them and replays what
the other answered in earlier turns. A coroutine that needs a new answer of the other model ends
with `Elsewhere`; the next turn starts it again, and it finds everything up to there.
"""

from __future__ import annotations

from dhd.driver.queue import EngineQueue
from dhd.engines.base import Engine
from dhd.errors import EngineError
from dhd.journal import Journal
from dhd.requests import Completion, ModelIdentity, Request


class Elsewhere(Exception):  # noqa: N818 - a signal to coroutines, not an error of theirs
    """The request's model is asked by another job, and it was not asked this yet."""


class JournalQueue(EngineQueue):
    """Answers from journals alone.

    Parameters
    ----------
    identity
        The model that other jobs ask; part of every content key.
    seed
        Seed of the study; part of every content key.
    """

    def __init__(self, identity: ModelIdentity, *, seed: int) -> None:
        super().__init__(identity, self._refuse, seed=seed)

    async def ask(self, request: Request, journal: Journal) -> Completion:
        """Return the outcome of a request from the journal.

        Raises
        ------
        Elsewhere
            When the journal does not have it.
        """
        found = journal.find(self.key(request))
        if found is None:
            raise Elsewhere
        self.counts.found += 1
        return found

    def expected_s(self, unseen_s: float) -> float:
        """Return 0: a journal answers at once."""
        return 0.0

    def _refuse(self) -> Engine:
        raise EngineError(f"{self.identity}: is asked by another job, not by this one")
