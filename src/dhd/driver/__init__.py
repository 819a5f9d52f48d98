"""The driver: many coroutines over few engines, with a journal between them."""

from dhd.driver.elsewhere import Elsewhere, JournalQueue
from dhd.driver.queue import EngineQueue, Stopped
from dhd.driver.replay import Replayed, replay_shards
from dhd.driver.session import Session
from dhd.driver.work import Peers, Reports, SessionLimits, ShardWork, raise_if_retryable

__all__ = [
    "Elsewhere",
    "EngineQueue",
    "JournalQueue",
    "Peers",
    "Replayed",
    "Reports",
    "Session",
    "SessionLimits",
    "ShardWork",
    "Stopped",
    "raise_if_retryable",
    "replay_shards",
]
