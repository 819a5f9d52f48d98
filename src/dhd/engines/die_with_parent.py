"""Importing this module ties the life of this process to that of its parent (Linux only).

vLLM imports it in every worker process, as ``worker_extension_cls``. A worker that waits in a
collective operation does not notice that its parent was killed, lives on, and keeps the GPU;
the kernel's parent-death signal does not depend on what the worker does.
"""

from __future__ import annotations

import ctypes
import signal
import sys

_PR_SET_PDEATHSIG = 1


class DieWithParent:
    """Adds nothing to vLLM's worker class: the import is what counts."""


def _die_with_parent() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")


if sys.platform == "linux":
    _die_with_parent()
