"""The driver: many coroutines over few engines, with a journal between them."""

from dhd.driver.elsewhere import Elsewhere, JournalQueue
from dhd.driver.queue import EngineQueue, Stopped
from dhd.driver.session import Session, SessionLimits, ShardWork

__all__ = [
    "Elsewhere",
    "EngineQueue",
    "JournalQueue",
    "Session",
    "SessionLimits",
    "ShardWork",
    "Stopped",
]
