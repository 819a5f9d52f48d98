"""Sites: where jobs run, what a user says about it, and what the machine's queues allow."""

from dhd.sites.jobs import JobSize, cpu_job, engine_job, engines
from dhd.sites.load import read_site, site_file
from dhd.sites.prologue import prologue
from dhd.sites.queues import Machine, QueueRules
from dhd.sites.site import Site

__all__ = [
    "JobSize",
    "Machine",
    "QueueRules",
    "Site",
    "cpu_job",
    "engine_job",
    "engines",
    "prologue",
    "read_site",
    "site_file",
]
