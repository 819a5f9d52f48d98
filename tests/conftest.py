"""Fixtures that all tests share."""

from pathlib import Path

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def project_root() -> Path:
    """Return the root of the repository."""
    return PROJECT_ROOT


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """Return the folder of reference material beside the project; skip where it is missing."""
    folder = PROJECT_ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip(f"no reference material: {folder} does not exist")
    return folder
