"""What is said while somebody waits and reads a pipe."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from numba import njit

from frontrank.kernels.compiling import compiling_s, listen
from frontrank.system.waiting import lines
from tests.patience import PATIENCE_S


def test_a_line_says_what_is_done_until_the_wait_is_over(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FRONTRANK_PROGRESS_S", "0.001")
    asked = threading.Event()

    def line() -> str:
        asked.set()
        return "3 of 20 pages"

    with lines(line):
        assert asked.wait(PATIENCE_S)
    assert re.match(r"frontrank: 3 of 20 pages, 0:\d\d:\d\d\n", capsys.readouterr().err)
    asked.clear()
    time.sleep(0.01)
    assert not asked.is_set(), "nobody waits any more"


@pytest.mark.parametrize(("every_s", "says"), [("0.001", True), ("0", False)])
def test_a_command_says_so_in_a_pipe(tmp_path: Path, every_s: str, says: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "frontrank", "simulate", "synthetic:pages=5000,text=0,seed=1", "--ordering", "bfs"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
        env={**os.environ, "FRONTRANK_PROGRESS_S": every_s},
    )
    assert bool(re.fullmatch(r"(frontrank: .+, 0:\d\d:\d\d\n)+", done.stderr)) == says
    assert "0:00:" not in done.stdout


def test_time_for_compiling_is_counted_apart() -> None:
    listen()
    before = compiling_s()
    assert njit(lambda number: 2 * number)(2) == 4
    assert compiling_s() > before
