"""The driver: many coroutines over few engines, with a journal between them."""

from dhd.driver.queue import EngineQueue, Stopped
from dhd.driver.session import Session, SessionLimits, ShardWork

__all__ = ["EngineQueue", "Session", "SessionLimits", "ShardWork", "Stopped"]
