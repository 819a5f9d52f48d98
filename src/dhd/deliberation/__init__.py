"""Diverse Hypothesis Deliberation: recruiter, five hypothesizers, integrator scan.

Pure protocol code: coroutines over a ``generate`` callable, no engine, no input or output.
"""

from dhd.deliberation.pool import MessageRow, Pool, recruit_pool
from dhd.deliberation.replay import Cell, OutcomeRow, replay_cell, scan_cells
from dhd.deliberation.scan import Deliberation, deliberate, expected_requests
from dhd.deliberation.setup import ProtocolSetup

__all__ = [
    "Cell",
    "Deliberation",
    "MessageRow",
    "OutcomeRow",
    "Pool",
    "ProtocolSetup",
    "deliberate",
    "expected_requests",
    "recruit_pool",
    "replay_cell",
    "scan_cells",
]
