"""All kinds of bundles that a job can work on."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dhd.stages.audits import AuditJob
from dhd.stages.deliberate import DeliberationJob
from dhd.stages.judge import JudgingJob
from dhd.stages.protocols import ProtocolJob
from dhd.stages.replays import ReplayJob

AnySpec = Annotated[
    DeliberationJob | JudgingJob | ReplayJob | ProtocolJob | AuditJob,
    Field(discriminator="kind"),
]
