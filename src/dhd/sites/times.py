"""Wall-clock times as schedulers write them."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator

_WALLTIME = re.compile(r"(\d{1,3}):([0-5]\d):([0-5]\d)")


def minutes_of(walltime: str) -> int:
    """Return the whole minutes in ``HH:MM:SS``, rounded down."""
    hours, minutes, _ = map(int, walltime.split(":"))
    return 60 * hours + minutes


def _checked(value: Any) -> Any:
    if not isinstance(value, str) or not _WALLTIME.fullmatch(value):
        # Without quotes YAML 1.1 reads 06:00:00 as the number 21600.
        raise ValueError('write it as "HH:MM:SS", in quotes')
    if minutes_of(value) == 0:
        raise ValueError("schedulers count minutes; give it one at least")
    return value


Walltime = Annotated[str, BeforeValidator(_checked)]
"""A time limit, ``HH:MM:SS``."""
