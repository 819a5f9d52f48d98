"""The leader of one deliberation job of several engines, as a process that a test can kill.

usage: rank_job.py CONFIG SITE NODES SECONDS

SECONDS is the time until its deadline, 0 for none.
"""

import sys
import time
from pathlib import Path

from dhd.config.load import load_study, read_yaml
from dhd.errors import DhdError
from dhd.stages.bundle_job import Allocation
from dhd.stages.deliberate import DeliberationJob
from dhd.stages.running import run_bundle

PROJECT_ROOT = Path(__file__).resolve().parents[2]


def main(config: str, site: str, nodes: str, seconds: str) -> int:
    """Run the bundle 0000 of family alpha on benchmark sums."""
    study = load_study(read_yaml(Path(config)), source=config, root=PROJECT_ROOT, site=site)
    deadline = time.time() + float(seconds) if float(seconds) else None
    allocation = Allocation(int(nodes), deadline, "digest", Path("logs/0000.log"))
    Path("logs").mkdir(exist_ok=True)
    try:
        run_bundle(study, DeliberationJob("alpha", "sums", "0000"), allocation)
    except DhdError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
