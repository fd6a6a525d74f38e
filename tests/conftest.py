"""What all tests share: where the real web graphs lie, a folder that cannot be written, a browser."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from frontrank.kernels.jit import compile_at_once
from tests.tiers import group_of, is_full

ROOT = Path(__file__).resolve().parent.parent

# A shell that runs the suite in the background has it ignore SIGINT, and so would all commands that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Hypothesis' own deadline and its check for slow draws are clocks too.
settings.register_profile("frontrank", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("frontrank")

# Whether a command says every ten seconds that it is at work depends on how busy the machine is.
os.environ["FRONTRANK_PROGRESS_S"] = "0"

if os.environ.get("NUMBA_BOUNDSCHECK") == "1":
    compile_at_once()  # it is compiled code that is to be checked


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups next
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by tier and group (``tests.tiers``)."""
    for item in items:
        if is_full(item):
            item.add_marker(pytest.mark.full)
        group = group_of(item)
        if group is not None:
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)  # what takes long to end begins first


@pytest.fixture(autouse=True)
def log_level() -> Iterator[None]:
    """A service in a test may be asked for another level: it holds for the process."""
    before = logging.getLogger("frontrank").level
    yield
    logging.getLogger("frontrank").setLevel(before)


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A directory in which nothing can be written: root needs a file system of its own for that."""
    folder = tmp_path / "locked"
    folder.mkdir()
    if os.geteuid():
        folder.chmod(0o500)
        yield folder
        folder.chmod(0o700)
        return
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(folder)], capture_output=True, check=False).returncode:
        pytest.skip("root can write anywhere, and nothing can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real web graphs (FRONTRANK_DATA, or ../shared/data); tests that need it skip without it."""
    path = Path(os.environ.get("FRONTRANK_DATA", ROOT.parent / "shared" / "data"))
    if not path.is_dir():
        pytest.skip(f"the real web graphs are not here ({path}); set FRONTRANK_DATA to run this test")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real one, without a window."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()
