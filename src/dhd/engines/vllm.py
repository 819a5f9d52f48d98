"""The ``vllm`` engine: vLLM inside the job's process, behind the interface of all engines.

All of vLLM runs in one thread of its own, so that the event loop (heartbeat, signals) stays
responsive through a long prefill, and ``submit`` only queues.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dhd.config.models import VllmModel
from dhd.engines.processes import end_children
from dhd.engines.vllm_model import LoadedModel
from dhd.engines.vllm_rules import finish_reason, prompt_room
from dhd.errors import EngineError
from dhd.requests import Completion, ModelIdentity, Request

#: Longest time that one ``poll`` steps the engine when nothing finishes.
_POLL_S = 0.25
#: Time that vLLM gets to shut down, its workers to end after that, and this process to exit
#: when it did not (offline engines have hung for hours after their last answer); this process
#: gets less where it loads the model, which nothing can interrupt and nobody waits for.
_CLOSE_S = 60.0
_WORKERS_S = 10.0
_EXIT_S = 60
_EXIT_LOADING_S = 15

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request that vLLM is working on; ``max_tokens`` is what the context left of it."""

    prompt: list[int]
    max_tokens: int


class VllmEngine:
    """Answers requests with a model that vLLM runs in this process.

    Answers depend on the batch they are computed in, unless the model runs in float32 on the
    CPU or in vLLM's batch-invariant mode (``env: {VLLM_BATCH_INVARIANT: "1"}``, GPUs that
    support it): seeds and settings are reproducible, texts in general are not.

    Parameters
    ----------
    settings
        The model's entry in ``config/models.yaml``.
    weights
        Finds the folder to load it from, which changes nothing of its identity; None to load
        it as the settings name it.
    """

    def __init__(
        self, settings: VllmModel, weights: Callable[[VllmModel], Path] | None = None
    ) -> None:
        self.identity: ModelIdentity = settings.identity()
        self._settings = settings
        self._weights = weights
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="vllm")
        self._model: LoadedModel | None = None
        self._waiting: deque[tuple[str, Request]] = deque()
        self._asked: dict[str, _Asked] = {}
        self._finished: list[Completion] = []
        self._is_loading = False
        self._closed = False

    @property
    def capacity(self) -> int:
        """Return ``max_in_flight`` of the settings."""
        return self._settings.max_in_flight

    async def start(self) -> None:
        """Load the model; raise ``EngineError`` for what would fail or falsify every request."""
        self._is_loading = True
        await self._in_thread(self._load)

    def submit(self, key: str, request: Request) -> None:
        """Queue a request; tokenizing and the engine's own checks happen in ``poll``."""
        self._waiting.append((key, request))

    async def poll(self) -> list[Completion]:
        """Hand queued requests to vLLM and step it until something finishes or 0.25 s pass."""
        await self._in_thread(self._advance)
        finished, self._finished = self._finished, []
        return finished

    async def close(self) -> None:
        """Shut vLLM down within a bounded time; raise ``EngineError`` if it hangs.

        In that case its workers are killed and this process ends by ``SIGALRM`` a minute later
        if it has not ended by itself: every finished answer has been returned by ``poll``. The
        same happens at once, and without an error, when the model is still being loaded.
        """
        if self._closed:
            return
        self._closed = True
        if self._is_loading:
            self._thread.shutdown(wait=False)
            end_children(0)
            signal.alarm(_EXIT_LOADING_S)
            return
        try:
            await asyncio.wait_for(self._in_thread(self._unload), _CLOSE_S)
        except TimeoutError:
            end_children(0)
            signal.alarm(_EXIT_S)
            raise EngineError(
                f"vLLM did not shut down within {_CLOSE_S:.0f} s; its workers were killed. "
                "Finished answers are kept: run the same command again"
            ) from None
        finally:
            self._thread.shutdown(wait=False)

    async def _in_thread(self, function: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)

    def _load(self) -> None:
        try:
            settings = self._settings
            if self._weights is not None:
                folder = self._weights(settings)
                settings = settings.model_copy(update={"path": str(folder), "revision": ""})
            self._model = LoadedModel(settings)
        finally:
            self._is_loading = False

    def _advance(self) -> None:
        if self._model is None:
            raise EngineError("poll before start: the driver must start the engine first")
        while self._waiting:
            self._admit(self._model, *self._waiting.popleft())
        until = time.monotonic() + _POLL_S
        while self._asked and not self._finished and time.monotonic() < until:
            for output in self._model.step():
                self._finished.append(self._completion(self._model, output))

    def _admit(self, model: LoadedModel, key: str, request: Request) -> None:
        """Give a request to vLLM; whatever it refuses becomes a failed completion."""
        prompt: list[int] = []
        try:
            prompt = model.prompt(request.turns)
            room = prompt_room(len(prompt), request.decoding.max_tokens, model.max_model_len)
            if room > 0:
                model.add(key, prompt, request, room)
                self._asked[key] = _Asked(prompt, room)
                return
            reason = "prompt_too_long"
        except Exception as error:  # one request's fault must not take the others down
            reason = f"refused: {type(error).__name__}: {_first_line(error)}"
        self._finished.append(
            Completion(
                key=key,
                status="failed",
                reason=reason,
                prompt_tokens=len(prompt),
                answered_by=str(self.identity),
            )
        )

    def _completion(self, model: LoadedModel, output: Any) -> Completion:
        asked = self._asked.pop(output.request_id)
        answer = output.outputs[0]
        tokens = list(answer.token_ids)
        broken = answer.finish_reason in {"error", "abort"}
        text = None if broken else model.content(answer.text, tokens, asked.prompt)
        return Completion(
            key=output.request_id,
            status="failed" if broken else "ok",
            reason=f"engine_{answer.finish_reason}" if broken else None,
            text=text,
            raw=None if text == answer.text else answer.text or None,
            finish_reason=finish_reason(
                answer.finish_reason, tokens, asked.max_tokens, model.end_tokens
            ),
            prompt_tokens=len(asked.prompt),
            cached_tokens=output.num_cached_tokens or 0,
            completion_tokens=len(tokens),
            answered_by=str(self.identity),
        )

    def _unload(self) -> None:
        model, self._model = self._model, None
        if model is not None:
            model.shutdown()
        end_children(_WORKERS_S)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")[:300]
