"""The end-to-end protocols: Direct, Iterative, planner–executor–reviewer (PER), Broadcast.

Coroutines over ``generate``, like the deliberation: no engine, no input or output.
"""

from dhd.protocols.costs import CallBounds, call_bounds, submission_count
from dhd.protocols.desk import together
from dhd.protocols.run import ProtocolRun, run_protocol
from dhd.protocols.setup import EndToEndSetup, Limits

__all__ = [
    "CallBounds",
    "EndToEndSetup",
    "Limits",
    "ProtocolRun",
    "call_bounds",
    "run_protocol",
    "submission_count",
    "together",
]
