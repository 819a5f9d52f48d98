"""Importing this module ties the life of this process to that of its parent (Linux only).

vLLM imports it in every worker process, as ``worker_extension_cls``. A worker that waits in a
collective operation does not notice that its parent was killed, lives on, and keeps the GPU.
"""

from __future__ import annotations

from dhd.engines.parent import die_with_parent


class DieWithParent:
    """Adds nothing to vLLM's worker class: the import is what counts."""


die_with_parent()
