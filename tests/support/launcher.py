"""Stands in for a site's launcher: starts COUNT copies of a command on this machine.

usage: launcher.py COUNT COMMAND…

Like a launcher that was told so, it does not end the others when one copy dies, and it passes
no signals on.
"""

import subprocess
import sys


def main() -> int:
    """Start the copies, wait for all, and return the first bad exit code."""
    ranks = [subprocess.Popen(sys.argv[2:]) for _ in range(int(sys.argv[1]))]
    codes = [rank.wait() for rank in ranks]
    return next((code & 0xFF for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main())
