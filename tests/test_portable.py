"""What macOS lacks, taken away here: the ways that stand in for it give the same files."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from frontrank.crawl.snapshots import Snapshots
from frontrank.system import portable
from frontrank.system.workers import Workers


@pytest.mark.parametrize("size", [0, 1, portable.PIECE, 2 * portable.PIECE + 1])
@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_a_file_is_filled_with_or_without_posix_fallocate(
    size: int, system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if system == "darwin":
        monkeypatch.delattr(os, "posix_fallocate")
    elif not size:
        pytest.skip("Linux refuses to reserve nothing")
    with open(tmp_path / "file", "wb") as file:
        portable.fill(file.fileno(), size)
    assert (tmp_path / "file").read_bytes() == bytes(size)


def test_a_full_disk_is_an_error_without_posix_fallocate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "posix_fallocate")
    with open("/dev/full", "wb", buffering=0) as file, pytest.raises(OSError):
        portable.fill(file.fileno(), 1)


@pytest.mark.parametrize("known", [True, False], ids=["this file system takes F_FULLFSYNC", "it does not"])
def test_data_are_on_disk_by_what_the_system_offers(known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux knows no F_FULLFSYNC; a command that it knows, or none that it knows, stands for it."""
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", fcntl.F_GETFD if known else 2**20, raising=False)
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    with open(tmp_path / "file", "wb") as file:
        portable.sync(file.fileno())
        assert synced == ([] if known else [file.fileno()])


def test_elsewhere_than_on_linux_a_snapshot_is_written_without_a_fork_and_workers_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delattr(os, "fork")
    Snapshots(tmp_path).save({"seq": 7, "arrays": ["a"]}, {"a": np.arange(3)}, wait=False)
    ((head, arrays),) = Snapshots(tmp_path).load()
    assert head["seq"] == 7 and arrays["a"].tolist() == [0, 1, 2]
    with Workers() as workers:
        assert workers.call(sorted, "cab") == ["a", "b", "c"]


def test_windows_is_refused_in_a_sentence() -> None:
    program = "import sys; sys.platform = 'win32'; import frontrank"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("ImportError: frontrank runs on Linux and macOS; on Windows, install it in WSL\n")
