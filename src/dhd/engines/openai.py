"""An engine that asks an OpenAI-compatible endpoint over HTTP.

The key comes from the environment only and appears in no message, log or completion. Proxies of
the environment are used, as many sites reach the outside through one, except for endpoints on
this machine (loopback), which no proxy can reach.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import re
import secrets
import time
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Any, Final

import httpx

from dhd.config.models import OpenAIModel
from dhd.errors import EngineError
from dhd.parsing import final_text
from dhd.requests import Completion, Request, seed_of

_TOO_LONG = re.compile(
    r"context[ _-]?length|context window|maximum (?:context|model) length|max_model_len"
    r"|(?:prompt|input) (?:is|was) too long",
    re.IGNORECASE,
)
_RETRIED_STATUS: Final = frozenset({408, 409, 425, 429})
_SHORTEST_SECRET: Final = 12
"""Characters; a shorter key is a dummy such as EMPTY, which answers may contain by chance."""
_RANDOM: Final = secrets.SystemRandom()


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait between tries: ``first_s`` doubled at each try, at most ``most_s``.

    Each wait is drawn from half to one and a half of that; a longer ``Retry-After`` of the
    endpoint is honoured up to ``most_s``.
    """

    first_s: float = 1.0
    most_s: float = 60.0

    def wait_s(self, tries: int, retry_after_s: float) -> float:
        """Return the seconds to wait after the given number of tries."""
        planned: float = min(self.most_s, self.first_s * 2 ** (min(tries, 32) - 1))
        return max(planned * _RANDOM.uniform(0.5, 1.5), min(retry_after_s, self.most_s))


class _RetriableError(Exception):
    """A try failed in a way that another try may mend."""

    def __init__(self, reason: str, retry_after_s: float = 0.0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after_s = retry_after_s


class OpenAIEngine:
    """Asks an OpenAI-compatible endpoint, many requests at a time (settings: ``OpenAIModel``)."""

    def __init__(self, settings: OpenAIModel, backoff: Backoff | None = None) -> None:
        self.identity = settings.identity()
        self._settings = settings
        self._backoff = backoff or Backoff()
        self._client: httpx.AsyncClient | None = None
        self._key = ""
        self._slots = asyncio.Semaphore(settings.max_in_flight)
        self._tasks: set[asyncio.Task[Completion]] = set()
        self._fatal: EngineError | None = None

    @property
    def capacity(self) -> int:
        """Return how many requests may be submitted and unanswered at a time."""
        return self._settings.max_in_flight

    async def start(self) -> None:
        """Open the client.

        Raises
        ------
        EngineError
            If the environment variable that ``api_key_env`` names is missing or holds no key.
        """
        self._key = _key_from_environment(self._settings.api_key_env)
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            timeout=httpx.Timeout(None, connect=min(30.0, self._settings.timeout_s)),
            limits=httpx.Limits(max_connections=self._settings.max_in_flight),
            trust_env=not _is_loopback(httpx.URL(self._settings.base_url).host),
        )

    def submit(self, key: str, request: Request) -> None:
        """Send a request as soon as fewer than ``max_in_flight`` are on their way."""
        if self._client is None:
            raise EngineError("the openai engine must be started before it takes requests")
        self._tasks.add(asyncio.create_task(self._complete(self._client, key, request)))

    async def poll(self) -> list[Completion]:
        """Wait for at least one answer and return all that are there.

        Raises
        ------
        EngineError
            If the endpoint refuses the key or does not know the model; what was answered
            before is returned first.
        """
        if self._fatal is None and self._tasks:
            done, self._tasks = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
            completions = [self._result(task) for task in done]
            answered = [completion for completion in completions if completion is not None]
            if answered:
                return answered
        if self._fatal is not None:
            raise self._fatal
        return []

    async def close(self) -> None:
        """Cancel what is on its way and close the connections; safe to call twice."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _result(self, task: asyncio.Task[Completion]) -> Completion | None:
        try:
            return task.result()
        except EngineError as error:
            self._fatal = error
            return None

    async def _complete(self, client: httpx.AsyncClient, key: str, request: Request) -> Completion:
        body = request_body(self._settings, key, request)
        async with self._slots:
            for tries in range(1, self._settings.max_tries + 1):
                try:
                    answer = self._completion(key, await self._post(client, body))
                    return _with_cut_flagged(answer, request.decoding.max_tokens)
                except _RetriableError as error:
                    reason, retry_after_s = error.reason, error.retry_after_s
                if tries < self._settings.max_tries:
                    await asyncio.sleep(self._backoff.wait_s(tries, retry_after_s))
        return self._failed(key, reason)

    async def _post(self, client: httpx.AsyncClient, body: dict[str, Any]) -> httpx.Response:
        """Send one request; the time limit holds for the whole answer, not for each read."""
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                return await client.post(f"{self._settings.base_url}/chat/completions", json=body)
        except (TimeoutError, httpx.TimeoutException):
            raise _RetriableError("timeout") from None
        except httpx.DecodingError:
            raise _RetriableError("bad_response") from None
        except httpx.TransportError:
            raise _RetriableError("connection") from None

    def _without_key(self, answer: Completion) -> Completion:
        """Return the answer with the key blotted out: an endpoint may echo what it was sent."""
        if len(self._key) < _SHORTEST_SECRET:
            return answer
        texts = {
            name: getattr(answer, name) for name in ("text", "raw", "finish_reason", "answered_by")
        }
        return replace(
            answer, **{n: t.replace(self._key, "[key]") for n, t in texts.items() if t is not None}
        )

    def _completion(self, key: str, response: httpx.Response) -> Completion:
        """Turn a response into a completion; raise what says how to go on otherwise."""
        status = response.status_code
        text = response.text
        if status == httpx.codes.OK:
            return self._without_key(_read_answer(key, text, self._settings.name))
        if status in {401, 403}:
            raise EngineError(self._refused_key(status))
        if status == httpx.codes.NOT_FOUND:
            raise EngineError(
                f"the endpoint on {httpx.URL(self._settings.base_url).host} answers 404: it does "
                f"not know the model {self._settings.name!r}, or base_url does not end in /v1"
            )
        if status in _RETRIED_STATUS or status >= 500:
            raise _RetriableError(f"http_{status}", _retry_after_s(response))
        if status in {400, 413, 422} and _TOO_LONG.search(text):
            return self._failed(key, "prompt_too_long")
        return self._failed(key, f"http_{status}")

    def _refused_key(self, status: int) -> str:
        host = httpx.URL(self._settings.base_url).host
        name = self._settings.api_key_env
        if name is None:
            return f"the endpoint on {host} answers {status}: set api_key_env for this model"
        return f"the endpoint on {host} answers {status}: it refuses the key in ${name}"

    def _failed(self, key: str, reason: str) -> Completion:
        return Completion(key, "failed", reason=reason, answered_by=str(self.identity))


def request_body(settings: OpenAIModel, key: str, request: Request) -> dict[str, Any]:
    """Return the JSON body of a chat completion; ``extra_body`` overrides all but the prompt."""
    body: dict[str, Any] = {
        "model": settings.name,
        "temperature": request.decoding.temperature,
        "top_p": request.decoding.top_p,
        "max_tokens": request.decoding.max_tokens,
    }
    if settings.send_seed:
        body["seed"] = seed_of(key)
    if settings.structured_output and request.json_schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": request.json_schema},
        }
    body.update(settings.extra_body)
    body["messages"] = [{"role": turn.role, "content": turn.content} for turn in request.turns]
    return body


def _read_answer(key: str, text: str, asked_model: str) -> Completion:
    try:
        document = json.loads(text)
        choice = document["choices"][0]
        message = choice["message"]
        content = message.get("content")
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        usage = document.get("usage") or {}
        reason = choice.get("finish_reason")
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
        final = final_text(content)
        output = content if content and content.strip() else reasoning
        return Completion(
            key,
            "ok",
            text=final,
            raw=None if output is None or output.strip() == final else output,
            finish_reason=None if reason is None else str(reason),
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            cached_tokens=int(cached or 0),
            completion_tokens=int(usage.get("completion_tokens") or 0),
            answered_by=str(document.get("model") or asked_model),
        )
    # Whatever shape an endpoint sends instead of an answer, it is one bad response.
    except (ValueError, ArithmeticError, RecursionError, LookupError, TypeError, AttributeError):
        raise _RetriableError("bad_response") from None


def _with_cut_flagged(answer: Completion, max_tokens: int) -> Completion:
    """Return the answer; one as long as allowed counts as cut, as some servers say ``stop``.

    Structured output that is complete is still read by the parsers.
    """
    if answer.finish_reason == "stop" and answer.completion_tokens >= max_tokens:
        return replace(answer, finish_reason="length")
    return answer


def _key_from_environment(name: str | None) -> str:
    """Return the key, empty where the model needs none."""
    if name is None:
        return ""
    key = os.environ.get(name, "").strip()
    if not key:
        raise EngineError(
            f"environment variable {name} is not set; it must hold the endpoint's key"
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise EngineError(f"environment variable {name} holds characters that no key has")
    return key


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _retry_after_s(response: httpx.Response) -> float:
    """Return the seconds of a ``Retry-After`` header (number or date), 0 without a usable one."""
    value = response.headers.get("retry-after", "").strip()
    if value.isascii() and value.replace(".", "", 1).isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0
