"""One run's way to its models: its draws, its retries, and what its calls cost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from dhd.problems import Problem
from dhd.prompts.protocols import Prompt
from dhd.protocols.setup import EndToEndSetup
from dhd.requests import Completion, Generate, Request, Role

Value = TypeVar("Value")


class CallFailedError(Exception):
    """A call that the run depends on got no answer; the run was not observed."""


class Desk:
    """Makes the calls of one run of one protocol on one problem.

    Parameters
    ----------
    problem
        The problem that the run is about.
    protocol
        Name of the protocol; with the step it makes every call a draw of its own.
    setup
        Decoding, retries and limits.
    generate
        How a model is asked.

    Attributes
    ----------
    calls, prompt_tokens, completion_tokens
        What the run has cost so far, evaluator, hints and retries included.
    evaluator_calls
        How many of the calls went to the evaluator.
    answered_by
        The model that filled the solving roles.
    """

    def __init__(
        self, problem: Problem, protocol: str, setup: EndToEndSetup, generate: Generate
    ) -> None:
        self.problem = problem
        self.setup = setup
        self.calls = 0
        self.evaluator_calls = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.answered_by: str | None = None
        self._protocol = protocol
        self._generate = generate

    def draw(self, step: str) -> str:
        """Return the draw id of a step of this run.

        The problem is part of it: a hint's prompt shows no problem, so it can be equal for two.
        """
        run = f"{self.setup.family}/{self.problem.problem_uid}/{self._protocol}"
        return f"protocols/{run}/{step}"

    async def generate(self, request: Request) -> Completion:
        """Ask a model and count the call, whatever came of it."""
        completion = await self._generate(request)
        self.calls += 1
        self.prompt_tokens += completion.prompt_tokens
        self.completion_tokens += completion.completion_tokens
        if request.role == "evaluator":
            self.evaluator_calls += 1
        else:
            self.answered_by = completion.answered_by or self.answered_by
        return completion

    async def ask(
        self, step: str, prompt: Prompt, *, role: Role = "integrator", attempt: int = 1
    ) -> Completion:
        """Ask for one step.

        Raises
        ------
        CallFailedError
            When there is no answer at all.
        """
        base = self.setup.base
        request = base.request(role, prompt.turns, prompt.schema, self.draw(step))
        completion = await self.generate(base.again(request, attempt))
        if completion.status == "failed":
            raise CallFailedError(f"{step}: {completion.reason}")
        return completion

    async def read(
        self,
        step: str,
        prompt: Prompt,
        parse: Callable[[Completion], Value | None],
        *,
        role: Role = "integrator",
    ) -> Value | None:
        """Ask until the answer can be read; None when it never can.

        Raises
        ------
        CallFailedError
            When there is no answer at all.
        """
        for attempt in range(1, self.setup.limits.max_attempts + 1):
            value = parse(await self.ask(step, prompt, role=role, attempt=attempt))
            if value is not None:
                return value
        return None


async def together(*calls: Awaitable[Value]) -> list[Value]:
    """Await calls side by side; when some raise, raise the first after all have ended.

    No call of a run is left behind, so that its cost is complete when the run ends.
    """
    results = await asyncio.gather(*calls, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
