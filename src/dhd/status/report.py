"""The overview as lines of text, and as a document for other programs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from dhd.status.overview import Overview
from dhd.status.shards import Progress
from dhd.wording import number_of

_HEAD = (
    "stage",
    "shards",
    "done",
    "running",
    "waiting",
    "requests",
    "failed",
    "prompt tok",
    "cached",
    "output tok",
    "GPU-h",
)


def report_lines(overview: Overview) -> list[str]:
    """Return the overview as text: a table, failures by reason, engines and the estimate."""
    rows = [_row(name, one, overview) for name, one in overview.groups.items()]
    rows.append(_row("all", _total(overview.groups.values()), overview))
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(overview.time))
    return [
        f"Study {overview.study}, {when}",
        "",
        *_aligned([_HEAD, *rows]),
        "",
        *_failure_lines(overview),
        *(f"Lacking  {line}" for line in overview.failures),
        *_engine_lines(overview),
        *_estimate_lines(overview),
    ]


def summary_lines(overview: Overview) -> list[str]:
    """Return the state of a finished study: one line, and one a kind of lacking result."""
    total = _total(overview.groups.values())
    head = (
        f"Study {overview.study}: finished, {number_of(total.shards, 'shard')}, "
        f"{number_of(total.answered, 'request')} answered, {total.failed.total():,} failed, "
        f"{_gpu_hours('all', overview):,.1f} GPU-h"
    )
    return [head, *(f"  {line}" for line in overview.failures)]


def report_document(overview: Overview) -> dict[str, Any]:
    """Return the overview as plain values."""
    estimate = overview.estimate
    return {
        "study": overview.study,
        "finished": overview.is_finished,
        "lacking_results": overview.lacking,
        "lacking_rows": list(overview.failures),
        "time": overview.time,
        "stages": {
            name: {
                "shards": {"done": one.done, "running": one.running, "waiting": one.waiting},
                "requests": {"answered": one.answered, "failed": dict(one.failed)},
                "prompt_tokens": one.prompt_tokens,
                "cached_tokens": one.cached_tokens,
                "completion_tokens": one.completion_tokens,
                "gpu_hours": _gpu_hours(name, overview),
                "requests_left": one.requests_left,
            }
            for name, one in overview.groups.items()
        },
        "engines": {"running": len(overview.engines.running), "gpus": overview.engines.gpus},
        "estimate": {
            "gpu_hours": estimate.gpu_hours,
            "engine_hours": estimate.engine_hours,
            "hours": estimate.hours,
            "unknown": list(estimate.unknown),
        },
    }


def _total(groups: Iterable[Progress]) -> Progress:
    total = Progress()
    for one in groups:
        for name in (
            "done",
            "running",
            "waiting",
            "answered",
            "prompt_tokens",
            "cached_tokens",
            "completion_tokens",
        ):
            setattr(total, name, getattr(total, name) + getattr(one, name))
        total.failed.update(one.failed)
    return total


def _gpu_hours(name: str, overview: Overview) -> float:
    if name == "all":
        return sum(use.gpu_hours for use in overview.engines.by_group.values())
    use = overview.engines.by_group.get(name)
    return 0.0 if use is None else use.gpu_hours


def _row(name: str, one: Progress, overview: Overview) -> tuple[str, ...]:
    cached = f"{one.cached_tokens / one.prompt_tokens:.0%}" if one.prompt_tokens else ""
    left = one.requests_left if name != "all" else None
    of = f" of ~{one.answered + left:,.0f}" if left and one.answered else ""
    return (
        name,
        *(f"{n:,}" for n in (one.shards, one.done, one.running, one.waiting)),
        f"{one.answered:,}{of}",
        f"{sum(one.failed.values()):,}",
        f"{one.prompt_tokens:,}",
        cached,
        f"{one.completion_tokens:,}",
        f"{_gpu_hours(name, overview):,.1f}",
    )


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if n == 0 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _failure_lines(overview: Overview) -> list[str]:
    return [
        f"Failed   {name}: "
        + ", ".join(f"{reason} ×{n:,}" for reason, n in one.failed.most_common() if n)
        for name, one in overview.groups.items()
        if one.failed.total()
    ]


def _engine_lines(overview: Overview) -> list[str]:
    engines = overview.engines
    if not engines.running:
        return ["Engines  none is up"]
    hosts = engines.hosts
    shown = ", ".join(hosts[:4]) + (f" and {len(hosts) - 4} more" if len(hosts) > 4 else "")
    return [
        f"Engines  {len(engines.running):,} up with {number_of(engines.gpus, 'GPU')} on {shown}"
    ]


def _estimate_lines(overview: Overview) -> list[str]:
    estimate = overview.estimate
    lines = []
    if overview.is_asked:
        left = ["Left     nothing to ask"]
        return [*left, f"Results  {overview.lacking}"] if overview.lacking else left
    if estimate.engine_hours:
        pace = (
            f"about {_duration(estimate.hours)} with the engines that are up"
            if estimate.hours is not None
            else f"about {_duration(estimate.engine_hours)} for one engine"
        )
        lines.append(f"Left     {pace}, about {estimate.gpu_hours:,.1f} GPU-hours")
    if estimate.unknown:
        lines.append(f"Left     not known yet: {', '.join(estimate.unknown)}")
    return lines


def _duration(hours: float) -> str:
    minutes = round(hours * 60)
    if minutes < 60:
        return f"{max(1, minutes)} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{hours / 24:,.1f} days"
