"""Importing this module leaves the end of this process to its parent alone (Linux only).

vLLM imports it in every worker process, as ``worker_extension_cls``, after it has set its own
signal handlers there. A worker that waits in a collective operation does not notice that its
parent was killed, lives on, and keeps the GPU: so it dies with its parent. And schedulers signal
every process of a job, whereupon vLLM's workers would end at once: they ignore that, and the
parent finishes what is in flight before it ends them.
"""

from __future__ import annotations

import signal

from dhd.engines.parent import die_with_parent


class DieWithParent:
    """Adds nothing to vLLM's worker class: the import is what counts."""


die_with_parent()
for _number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(_number, signal.SIG_IGN)
