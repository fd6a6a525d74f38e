"""What all tests share: where the real web graphs lie, and small webs that are generated."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("suite", deadline=None)  # no test depends on how fast this machine is
settings.load_profile("suite")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real web graphs (FRONTRANK_DATA, or ../shared/data); tests that need it skip without it."""
    path = Path(os.environ.get("FRONTRANK_DATA", ROOT.parent / "shared" / "data"))
    if not path.is_dir():
        pytest.skip(f"the real web graphs are not here ({path}); set FRONTRANK_DATA to run this test")
    return path
