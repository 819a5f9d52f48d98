"""Limits of Slurm's partitions, asked of Slurm itself."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from dhd.errors import SchedulerError
from dhd.schedulers.commands import ask
from dhd.sites.queues import Machine, QueueRules, SizeRule

_FIELD = re.compile(r"(\w+)=(\S*)")
_TIME = re.compile(r"(?:(\d+)-)?(\d+):(\d+):(\d+)")
_NO_LIMIT = "999:59:59"
_SHORTEST = "00:01:00"


def partitions() -> list[dict[str, str]]:
    """Return what Slurm says of each partition; nothing where it does not answer."""
    if shutil.which("scontrol") is None:
        return []
    try:
        answer = ask(["scontrol", "show", "partition", "--oneliner"])
    except SchedulerError:
        return []
    lines = answer.stdout.splitlines() if answer.returncode == 0 else []
    return [dict(_FIELD.findall(line)) for line in lines]


def machine(found: Sequence[Mapping[str, str]]) -> Machine | None:
    """Return the limits of partitions as rules of queues; None where there are none.

    Only limits of partitions are known here: those of accounts and of qualities of service are
    not, and sbatch alone speaks for them.
    """
    queues = {name: rules for fields in found for name, rules in _rules(fields)}
    if not queues:
        return None
    today = date.today()
    return Machine(name="Slurm", source="scontrol show partition", checked=today, queues=queues)


def cancels_preempted(found: Sequence[Mapping[str, str]], name: str) -> bool:
    """Return whether jobs that are preempted in a partition end instead of starting again."""
    modes = [
        fields.get("PreemptMode", "") for fields in found if fields.get("PartitionName") == name
    ]
    return any("CANCEL" in mode for mode in modes)


def _rules(fields: Mapping[str, str]) -> Iterator[tuple[str, QueueRules]]:
    total = int(fields.get("TotalNodes", "0"))
    if "PartitionName" not in fields or total == 0:
        return
    most = fields.get("MaxNodes", "UNLIMITED")
    highest = total if most == "UNLIMITED" else min(int(most), total)
    lowest = max(1, int(fields.get("MinNodes", "1")))
    if lowest <= highest:
        limit = _walltime(fields.get("MaxTime", "UNLIMITED"))
        size = SizeRule(min=lowest, max=highest, max_walltime=limit)
        yield fields["PartitionName"], QueueRules(sizes=[size], min_walltime=_SHORTEST)


def _walltime(text: str) -> str:
    """Return Slurm's ``D-HH:MM:SS`` in hours, or what stands for no limit."""
    found = _TIME.fullmatch(text)
    if found is None:
        return _NO_LIMIT
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    total = 24 * days + hours
    return _NO_LIMIT if total > 999 else f"{total:02d}:{minutes:02d}:{seconds:02d}"
