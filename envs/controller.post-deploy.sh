#!/usr/bin/env bash
# The pinned packages and this project into the active conda environment, from the project's root.
set -euo pipefail
python -m pip install --no-deps -r envs/controller.lock
python -m pip install --no-deps --no-build-isolation -e .
