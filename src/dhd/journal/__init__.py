"""The journal: nothing that finished is ever lost or asked again."""

from dhd.journal.lock import ShardLock, Witness
from dhd.journal.store import Journal

__all__ = ["Journal", "ShardLock", "Witness"]
