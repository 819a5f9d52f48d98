#!/usr/bin/env bash
# Make .venv at the project's root from a pinned lock; do nothing when it is up to date.
#
#   PYTHON=python3.11 envs/setup.sh [cpu|cuda|controller|auto]
#
# cpu (the default) is what the demo and the tests run with; cuda is for nodes with NVIDIA GPUs,
# also where it is run on a login node without one; controller has no engine; auto takes cuda
# where this machine's driver is new enough for it, else cpu.
#
# uv installs in a fraction of pip's time; where it cannot be had, pip does the same work. Torch
# comes from the ordinary index or from wheels on this machine (PIP_FIND_LINKS); its CPU build,
# where these do not have it, from PyTorch's own index.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
torch_index=https://download.pytorch.org/whl/cpu
venv=.venv
uv_version=0.13.9

driver_needed() { # driver_needed LOCK: first number of the driver's version
  sed -n 's/^# Needs: NVIDIA driver \([0-9]*\).*/\1/p' "$1"
}

driver_found() { # nothing where there is no driver
  nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null |
    sed -n '1s/^\([0-9]*\)\..*/\1/p' || true
}

fits_driver() { # fits_driver LOCK: whether this machine's driver is new enough; says why not
  local needed found
  needed=$(driver_needed "$1") found=$(driver_found)
  if [[ -n $found && $found -lt $needed ]]; then
    echo "setup: $1 needs NVIDIA driver $needed or newer, here is $found. A data-centre GPU can" \
      "take it with CUDA's compatibility libraries (envs/cuda-compat.yaml, see README); for" \
      "others there is no lock: serve the model elsewhere and use 'engine: openai'" >&2
    return 1
  fi
  [[ -n $found ]]
}

choice=${1:-cpu}
case $choice in
  cpu | cuda) lock=envs/vllm-$choice.lock ;;
  controller) lock=envs/controller.lock ;;
  auto)
    lock=envs/vllm-cpu.lock
    if fits_driver envs/vllm-cuda.lock; then lock=envs/vllm-cuda.lock; fi
    ;;
  *)
    echo "setup: $choice: should be cpu, cuda, controller or auto" >&2
    exit 2
    ;;
esac
[[ $choice != cuda ]] || fits_driver "$lock" || true

if ! "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then
  echo "setup: $lock is pinned for Python 3.11, but $python is $("$python" --version 2>&1);" \
    "install Python 3.11 and run: PYTHON=python3.11 envs/setup.sh $choice" >&2
  exit 2
fi

locks=("$lock")
[[ $lock != envs/vllm-cpu.lock ]] || locks+=(envs/dev.lock)

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

install_torch() { # from the ordinary index or local wheels, else from PyTorch's own index
  install "$torch" 2>"$venv/torch.log" || install "$torch" --index-url "$torch_index"
}

ticker=
trap '[[ -z $ticker ]] || kill "$ticker" 2>/dev/null || true' EXIT

tell() { # tell WHAT COMMAND...: run it, and say what and how much is there every 15 s meanwhile
  local what=$1 status=0
  shift
  echo "setup: $what"
  while sleep 15 >/dev/null 2>&1; do
    echo "setup: $what: $((SECONDS - begin)) s so far, $(du -sh "$venv" | cut -f1) in $venv"
  done &
  ticker=$!
  "$@" || status=$?
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  ticker=
  return "$status"
}

begin=$SECONDS
count=$(cat "${locks[@]}" | grep -c '^[^#].*==')
echo "setup: installing $count packages of ${locks[*]} into $venv; this takes minutes"
[[ -x $venv/bin/python ]] || tell "making $venv" "$python" -m venv "$venv"
tell "installing uv $uv_version, which installs the others faster than pip" \
  "$venv/bin/pip" install --quiet --disable-pip-version-check "uv==$uv_version" ||
  echo "setup: uv $uv_version cannot be had here; using pip" >&2

torch=$(grep '^torch==.*+cpu' "$lock" || true)
if [[ -n $torch ]]; then
  tell "installing $torch" install_torch || {
    cat "$venv/torch.log" >&2
    echo "setup: no $torch on the package index, among local wheels, or at $torch_index" >&2
    exit 1
  }
fi
tell "installing the other packages" install "${locks[@]/#/--requirement=}"
tell "installing dhd itself" \
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
echo "$state" >"$stamp"
echo "setup: done in $((SECONDS - begin)) s"
