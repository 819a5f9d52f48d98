"""The parts of a study: the scan, and every further study that the config has."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from dhd.config.load import Study

SCAN: Final = "scan"
PROTOCOLS: Final = "protocols"
EVALUATORS: Final = "evaluators"
#: What the results of a part need beside it: whose pools and labels it is compared with.
_NEEDS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "repeats": (SCAN,),
        "order": (SCAN, "repeats"),
        "integrator_swap": (SCAN, "repeats"),
        "masking": (SCAN, "repeats"),
    }
)


def study_parts(study: Study) -> Mapping[str, tuple[str, ...]]:
    """Return every part of a study with the parts whose records its own results need.

    The scan comes first, then the studies in the order in which they can run; a part's own
    name is the last of its parts.
    """
    studies = study.settings.studies
    parts = {SCAN: (SCAN,)} | {name: (*_NEEDS[name], name) for name in studies.replays()}
    if studies.protocols is not None:
        parts[PROTOCOLS] = (PROTOCOLS,)
    if studies.evaluators is not None:
        parts[EVALUATORS] = (EVALUATORS,)
    return parts
