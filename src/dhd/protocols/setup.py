"""What the end-to-end protocols need beside the problem: prompts, decoding, limits, a judge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from dhd.answers import Comparison
from dhd.config.protocols import ProtocolsSettings
from dhd.config.study import StudySettings
from dhd.deliberation import ProtocolSetup
from dhd.problems import Problem
from dhd.prompts import PromptSet
from dhd.prompts.protocols import ProtocolPrompts

#: Compares a submitted answer with the reference by rules.
Compare = Callable[[Problem, str], Awaitable[Comparison]]


@dataclass(frozen=True, slots=True)
class Limits:
    """Where the protocols stop; the defaults are those of `ProtocolsSettings`."""

    rounds: int = 3
    review_cycles: int = 2
    discussion_turns: int = 4
    note_score: int = 65
    approval_votes: int = 2
    max_attempts: int = 3
    max_verdict_attempts: int = 3

    @classmethod
    def of(cls, settings: ProtocolsSettings, max_verdict_attempts: int) -> Limits:
        """Return the limits that a study's settings describe."""
        return cls(
            rounds=settings.rounds,
            review_cycles=settings.review_cycles,
            discussion_turns=settings.discussion_turns,
            note_score=settings.note_score,
            approval_votes=settings.approval_votes,
            max_attempts=settings.max_attempts,
            max_verdict_attempts=max_verdict_attempts,
        )


@dataclass(frozen=True, slots=True)
class EndToEndSetup:
    """Prompts and settings of one family's end-to-end protocols.

    Attributes
    ----------
    family
        The family; part of every draw, so that two families' runs share no call, the
        evaluator's included.
    base
        Makes requests; its evaluator prompt and decoding judge submissions, its integrator
        decoding is that of all solving roles.
    prompts
        Prompts of the protocols' own calls.
    limits
        Where the protocols stop.
    asks_verdicts, asks_hints
        Whether an evaluator model gives verdicts (after the rules, where they are there
        too), and whether a model writes hints; the fixed hint otherwise.
    shares_verdicts
        Whether equal submissions of a problem share one verdict, over all protocols.
    """

    family: str
    base: ProtocolSetup
    prompts: ProtocolPrompts
    limits: Limits = Limits()
    asks_verdicts: bool = True
    asks_hints: bool = True
    shares_verdicts: bool = True

    @classmethod
    def of(
        cls,
        family: str,
        study: StudySettings,
        protocols: ProtocolsSettings,
        prompts: PromptSet,
        own: ProtocolPrompts,
    ) -> EndToEndSetup:
        """Return the setup that a study's settings describe."""
        base = ProtocolSetup.of(study, prompts)
        if protocols.actor is not None:
            decoding = {**base.decoding, "integrator": protocols.actor.as_decoding()}
            base = replace(base, decoding=decoding)
        asks_verdicts = study.judging.method != "rules"
        return cls(
            family=family,
            base=base,
            prompts=own,
            limits=Limits.of(protocols, study.judging.max_attempts),
            asks_verdicts=asks_verdicts,
            asks_hints=asks_verdicts or protocols.hint_writer is not None,
            shares_verdicts=study.judging.share_identical_submissions,
        )
