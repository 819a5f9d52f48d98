"""A world of scripted roles for tests of the end-to-end protocols: who says what, who was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from dhd.config.prompts import PromptSettings
from dhd.config.protocols import ProtocolName
from dhd.config.roles import RoleDecoding
from dhd.deliberation import ProtocolSetup
from dhd.problems import Problem
from dhd.prompts import PromptSet
from dhd.prompts.protocols import ProtocolPrompts
from dhd.protocols import EndToEndSetup, Limits, ProtocolRun, run_protocol
from dhd.protocols.setup import Compare
from dhd.requests import Completion, Request

PROJECT_ROOT = Path(__file__).resolve().parents[2]
REFERENCE = "sentinel-reference-731"
PROBLEM = Problem("sums:1", "sums", "What is asked here?", REFERENCE, "text")

#: Maps a call to its answer: a JSON document, a raw text, or None for a failed call.
Reply = Callable[["Call"], Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One call as a test sees it: its step, role, prompt and schema."""

    step: str
    role: str
    prompt: str
    fields: tuple[str, ...]
    temperature: float

    @property
    def kind(self) -> str:
        """Return what the call asks for, by its last named part or by its answer's keys."""
        if self.fields == ("verdict", "correctness"):
            return "verdict"
        parts = [part.split("=")[0] for part in self.step.split("/")]
        named = [part for part in parts if part not in ("peer", "attempt", "cycle", "round")]
        return named[-1]


@dataclass
class World:
    """Answers calls by ``reply`` and remembers them.

    Each call costs 10 prompt tokens and 1 completion token.
    """

    reply: Reply
    calls: list[Call] = field(default_factory=list)

    async def generate(self, request: Request) -> Completion:
        await asyncio.sleep(0)
        call = Call(
            "/".join(request.draw.split("/")[3:]),
            request.role,
            "\n".join(turn.content for turn in request.turns),
            tuple((request.json_schema or {})["properties"]),
            request.decoding.temperature,
        )
        self.calls.append(call)
        answer = self.reply(call)
        key = f"{len(self.calls):032x}"
        if answer is None:
            return Completion(key, "failed", reason="timeout")
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return Completion(
            key,
            "ok",
            text=text,
            finish_reason="stop",
            prompt_tokens=10,
            completion_tokens=1,
            answered_by=request.role,
        )

    def kinds(self, *, without: tuple[str, ...] = ()) -> list[str]:
        """Return the kinds of all calls in order."""
        return [call.kind for call in self.calls if call.kind not in without]

    def of(self, kind: str) -> list[Call]:
        """Return the calls of one kind."""
        return [call for call in self.calls if call.kind == kind]


def setup_of(**changes: Any) -> EndToEndSetup:
    """Return a setup with the project's prompts; ``limits`` and flags can be replaced."""
    prompts, own = _prompts()
    decoding = RoleDecoding(temperature=0.0, max_tokens=100).as_decoding()
    roles = ("recruiter", "hypothesizer", "integrator", "evaluator")
    base = ProtocolSetup(prompts, dict.fromkeys(roles, decoding))
    limits = replace(Limits(), **changes.pop("limits", {}))
    return replace(EndToEndSetup("family", base, own, limits), **changes)


@lru_cache
def _prompts() -> tuple[PromptSet, ProtocolPrompts]:
    settings = PromptSettings()
    return PromptSet(settings, PROJECT_ROOT), ProtocolPrompts(settings, PROJECT_ROOT)


def run(
    protocol: ProtocolName,
    world: World,
    problem: Problem = PROBLEM,
    compare: Compare | None = None,
    **changes: Any,
) -> ProtocolRun:
    """Run one protocol in a world."""
    return asyncio.run(
        run_protocol(protocol, problem, setup_of(**changes), world.generate, compare)
    )


def verdict(passes: bool) -> dict[str, Any]:
    """Return an evaluator's document."""
    return {"verdict": "PASS" if passes else "FAIL", "correctness": int(passes)}


def submitted(call: Call) -> str:
    """Return the answer that a verdict's prompt submits."""
    return call.prompt.rpartition("Submitted answer:")[2].strip("~\n ")
