"""Prefix cache of a scan: cached share of prompt tokens against the block-granular ideal.

Usage: ``python bench/prefix_cache.py``

The demo study's scan runs twice on the real model: with ample key-value space, and with space
for a third of the distinct prompt tokens. The ideal computes every distinct block prefix once.
"""

from __future__ import annotations

import json
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from measure import ROOT, Report, run_fresh

BLOCK = 32
PROBLEMS = 16


class RecordingEngine:
    """Passes everything on and keeps the prompts that were asked."""

    def __init__(self, engine: Any) -> None:
        self.identity, self.capacity = engine.identity, engine.capacity
        self.start, self.poll, self.close = engine.start, engine.poll, engine.close
        self._submit, self.asked = engine.submit, []

    def submit(self, key: str, request: Any) -> None:
        """Pass a request on."""
        self.asked.append(request.turns)
        self._submit(key, request)


def block_ideal(prompts: list[list[int]]) -> int:
    """Return the prompt tokens that a cache of unlimited size finds; the last is computed."""
    seen: set[tuple[int, ...]] = set()
    found = 0
    for prompt in prompts:
        is_known = True
        for end in range(BLOCK, len(prompt) + 1, BLOCK):
            prefix = tuple(prompt[:end])
            is_known = is_known and prefix in seen
            if is_known and end <= len(prompt) - 1:
                found += BLOCK
            seen.add(prefix)
    return found


def distinct_tokens(prompts: list[list[int]]) -> int:
    """Return the size of the prompts' common tree, in tokens."""
    return len(
        {hash(tuple(prompt[:end])) for prompt in prompts for end in range(1, len(prompt) + 1)}
    )


def measure(blocks: int) -> dict[str, int]:
    """Run the scan with ``blocks`` cache blocks (0: as many as fit); return token counts."""
    from dhd.benchmarks import load_benchmark
    from dhd.config.load import load_study_file
    from dhd.deliberation import ProtocolSetup
    from dhd.driver import EngineQueue, Session, SessionLimits, ShardWork
    from dhd.engines.vllm import VllmEngine
    from dhd.progress import Progress
    from dhd.prompts import PromptSet
    from dhd.stages.deliberate import scan_tables, scan_task

    study = load_study_file(ROOT / "config" / "config.yaml", root=ROOT)
    settings = study.actor("smollm2")
    override = {"num_gpu_blocks_override": blocks} if blocks else {}
    model = settings.model_copy(
        update={
            "path": str(ROOT / "models" / "SmolLM2-135M-Instruct"),
            "engine_args": {**settings.engine_args, **override},
        }
    )
    engine = RecordingEngine(VllmEngine(model))
    queue = EngineQueue(model.identity(), lambda: engine, seed=study.settings.seed)
    setup = ProtocolSetup.of(study.settings, PromptSet(study.settings.prompts, ROOT))
    (name, entry), *_ = study.settings.benchmarks.items()
    problems = load_benchmark(name, entry, ROOT / str(entry.path)).problems[:PROBLEMS]
    roles = ("recruiter", "hypothesizer", "integrator")
    session: Session[Any, Any] = Session(
        dict.fromkeys(roles, queue),
        SessionLimits(max_outstanding=2 * model.max_in_flight),
        Progress("bench", 25 * len(problems)),
    )
    with tempfile.TemporaryDirectory() as folder:
        tasks = [scan_task(setup, problem) for problem in problems]
        work = ShardWork("bench", Path(folder) / "j.jsonl", tasks, partial(scan_tables, "bench"))
        session.run([work])
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model.path)
    prompts = [
        tokenizer.apply_chat_template(
            [{"role": turn.role, "content": turn.content} for turn in turns],
            add_generation_prompt=True,
            return_dict=False,
        )
        for turns in engine.asked
    ]
    return {
        "prompt": queue.counts.prompt_tokens,
        "cached": queue.counts.cached_tokens,
        "ideal": block_ideal(prompts),
        "distinct": distinct_tokens(prompts),
    }


def main() -> None:
    """Measure both sizes in fresh processes."""
    if len(sys.argv) == 2:
        print(json.dumps(measure(int(sys.argv[1]))))
        return
    report = Report()
    ample = run_fresh(__file__, "0").result
    tight = run_fresh(__file__, str(ample["distinct"] // 3 // BLOCK)).result
    for name, one in (("ample space", ample), ("space for a third of the tokens", tight)):
        share = one["cached"] / one["ideal"]
        report.note(
            f"{name}: cached share of prompt tokens", f"{one['cached'] / one['prompt']:.3f}"
        )
        report.line(
            f"{name}: cached share of the block-granular ideal",
            f"{share:.3f}",
            limit=">= 0.95",
            ok=share >= 0.95,
        )
    report.close()


if __name__ == "__main__":
    main()
