"""Journaled generation against plain ``LLM.generate``: same model, same 256 requests.

Usage: ``python bench/generation.py``

Both run in one process and one thread of it (each thread has OpenMP threads of its own),
alternating, nine times each. Tokens per CPU-second are compared, as wall time drifts on shared
machines; wall time is printed beside.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import ROOT, Report, run_fresh

REQUESTS, PAIRS = 256, 9
MODEL = ROOT / "models" / "SmolLM2-135M-Instruct"


class KeptEngine:
    """A started engine that a session may close without unloading it."""

    def __init__(self, engine: Any) -> None:
        self.identity, self.capacity = engine.identity, engine.capacity
        self.submit, self.poll = engine.submit, engine.poll

    async def start(self) -> None:
        """Do nothing: the engine runs already."""

    async def close(self) -> None:
        """Do nothing: the next round needs the engine."""


def made_requests(round_number: int) -> list[Any]:
    """Return 256 requests of 8 to 24 output tokens; equal in every round but for the draw.

    Their order is that of their text, in which a queue asks them: both ways have equal batches.
    """
    from dhd.requests import Decoding, Request, Turn

    return [
        Request(
            "integrator",
            (Turn("user", f"Item {n:03}: what is {n} plus {2 * n + 1}? Explain in one sentence."),),
            Decoding(0.7, 8 + 37 * n % 17),
            draw=str(round_number),
        )
        for n in range(REQUESTS)
    ]


def journaled(engine: Any, requests: list[Any], folder: Path) -> int:
    """Ask the requests through queue, session and journal; return the tokens generated."""
    from dhd.driver import EngineQueue, Session, SessionLimits, ShardWork
    from dhd.progress import Progress

    def task(request: Any) -> Any:
        async def ask(generate: Any) -> int:
            return int((await generate(request)).completion_tokens)

        return ask

    queue = EngineQueue(engine.identity, lambda: KeptEngine(engine), seed=1)
    limits = SessionLimits(max_outstanding=2 * REQUESTS)
    session: Session[int, list[int]] = Session(
        {"integrator": queue}, limits, Progress("bench", REQUESTS)
    )
    work = ShardWork("bench", folder / "journal.jsonl", [task(one) for one in requests], list)
    return sum(session.run([work])["bench"])


def plain(engine: Any, requests: list[Any]) -> int:
    """Ask the requests with ``LLM.generate`` in the engine's thread; return the tokens."""
    import asyncio

    return int(asyncio.run(engine._in_thread(lambda: plain_here(engine, requests))))


def plain_here(engine: Any, requests: list[Any]) -> int:
    """Ask the requests with ``LLM.generate``; return the tokens generated."""
    from vllm import SamplingParams

    from dhd.requests import KeyMaker, seed_of

    model = engine._model
    maker = KeyMaker(engine.identity, 1)
    prompts = [{"prompt_token_ids": model.prompt(one.turns)} for one in requests]
    params = [
        SamplingParams(
            temperature=one.decoding.temperature,
            top_p=one.decoding.top_p,
            max_tokens=one.decoding.max_tokens,
            seed=seed_of(maker.key(one)),
        )
        for one in requests
    ]
    outputs = model._llm.generate(prompts, params, use_tqdm=False)
    return sum(len(output.outputs[0].token_ids) for output in outputs)


def measure() -> dict[str, list[dict[str, float]]]:
    """Alternate both ways; return tokens, CPU and wall seconds of each run."""
    import asyncio

    from dhd.config.models import VllmModel
    from dhd.engines.vllm import VllmEngine

    settings = VllmModel(
        engine="vllm",
        path=str(MODEL),
        dtype="float32",
        max_model_len=1024,
        max_in_flight=128,
        structured_output=False,
        engine_args={"enable_prefix_caching": False},
    )
    engine = VllmEngine(settings)
    asyncio.run(engine.start())
    plain(engine, made_requests(-1)[:16])
    runs: dict[str, list[dict[str, float]]] = {"plain": [], "journaled": []}
    for pair in range(PAIRS):
        order = ("plain", "journaled") if pair % 2 == 0 else ("journaled", "plain")
        for way in order:
            with tempfile.TemporaryDirectory() as folder:
                wall, cpu = time.perf_counter(), time.process_time()
                if way == "plain":
                    tokens = plain(engine, made_requests(pair))
                else:
                    tokens = journaled(engine, made_requests(pair), Path(folder))
                runs[way].append(
                    {
                        "tokens": tokens,
                        "cpu_s": time.process_time() - cpu,
                        "wall_s": time.perf_counter() - wall,
                    }
                )
    asyncio.run(engine.close())
    return runs


def main() -> None:
    """Measure in a fresh process; print the median ratio of the pairs."""
    if sys.argv[1:] == ["measure"]:
        print(json.dumps(measure()))
        return
    report = Report()
    runs = run_fresh(__file__, "measure").result
    for unit in ("cpu_s", "wall_s"):
        rates = {way: [run["tokens"] / run[unit] for run in runs[way]] for way in runs}
        ratios = sorted(
            ours / theirs for ours, theirs in zip(rates["journaled"], rates["plain"], strict=True)
        )
        ratio = statistics.median(ratios)
        per = "CPU-second" if unit == "cpu_s" else "second of wall time"
        for way, values in rates.items():
            report.note(f"{way}: tokens a {per}, median", f"{statistics.median(values):.1f}")
        if unit == "cpu_s":
            report.line(
                f"journaled / plain, tokens a {per}, median of {PAIRS} pairs",
                f"{ratio:.3f}",
                limit=">= 0.97",
                ok=ratio >= 0.97,
            )
        else:
            report.note(f"journaled / plain, tokens a {per}", f"{ratio:.3f}")
        report.note(
            "the pairs' ratios, from least to greatest", " ".join(f"{one:.2f}" for one in ratios)
        )
    equal = [run["tokens"] for run in runs["plain"]] == [run["tokens"] for run in runs["journaled"]]
    report.line("both generate equally many tokens", str(equal), limit="True", ok=equal)
    report.close()


if __name__ == "__main__":
    main()
