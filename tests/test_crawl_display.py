"""What a person sees of a crawl: the panel on a real terminal while it runs, and what is left of it afterwards."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from frontrank.fetching.counting import time_left
from frontrank.fetching.crawler.display import COMPILING
from frontrank.fetching.crawler.pace import Pace
from frontrank.lab.webserver import ServerOptions as Served
from frontrank.lab.webserver import run_in_process
from frontrank.lab.webserver.site import Site
from frontrank.sources import load
from tests.terminal import Terminal

WEB = "synthetic:pages=400,links=8,seed=3"


@pytest.fixture(scope="module")
def slowly() -> Iterator[list[str]]:
    """A crawl that takes minutes, on a served web."""
    with run_in_process(WEB) as url:
        seeds = Site(load(WEB), Served()).seeds()
        yield [*seeds, "--proxy", url, "--scope", "any", "--no-robots", "--delay", "0.5", "--contact", "us@example.org"]


def panel_with(terminal: Terminal, text: str) -> list[str]:
    """The panel, when it is whole and holds this."""
    while True:
        lines = seen(terminal)
        if lines and lines[-1].startswith("╰") and text in "".join(lines):
            return lines
        assert terminal.read(300.0), terminal.text


def seen(terminal: Terminal) -> list[str]:
    return [line.rstrip() for line in terminal.screen.display if line.strip()]


@pytest.mark.parametrize("columns", [80, 100, 140])
def test_the_panel_fits_and_nothing_of_it_stays(slowly: list[str], tmp_path: Path, columns: int) -> None:
    terminal = Terminal("crawl", *slowly, "--budget", "300", "--out", tmp_path / "crawl", columns=columns)
    panel = panel_with(terminal, "left")
    assert panel[0].startswith("╭─ frontrank crawl  surf  0:") and panel[-1].startswith("╰─ Ctrl-C: stop")
    assert {len(line) for line in panel} == {columns - 4}, "every line of it is whole, and ^C has room beside it"
    assert "of 300 pages, about" in panel[1] and "━" in panel[1]
    assert "…" not in "".join(panel), "nothing had to be cut"
    terminal.type("\x03")
    assert terminal.end() == 0, terminal.text
    left = seen(terminal)
    assert not [line for line in left if set(line) & set("╭╰│─━")], "nothing of the panel stays"
    assert "pages fetched" in left[0] and left[1] == "ordered by surf; stopped by request"


def test_a_crawl_with_a_time_shows_how_much_of_it_is_spent(slowly: list[str], tmp_path: Path) -> None:
    terminal = Terminal("crawl", *slowly, "--time", "1h", "--out", tmp_path / "crawl", columns=80)
    panel_with(terminal, "of 1 h, about 59 min left")
    terminal.type("\x03")
    assert terminal.end() == 0, terminal.text


def test_a_crawl_without_an_end_has_no_bar_and_quiet_shows_nothing(slowly: list[str], tmp_path: Path) -> None:
    terminal = Terminal("crawl", *slowly, "--out", tmp_path / "crawl", columns=80)
    panel_with(terminal, "pages/s")
    assert "━" not in terminal.text and "left" not in terminal.text
    terminal.type("\x03")
    assert terminal.end() == 0, terminal.text
    terminal = Terminal("crawl", *slowly, "-q", "--budget", "5", "--out", tmp_path / "quiet", columns=80)
    assert terminal.end() == 0, terminal.text
    assert seen(terminal)[0].startswith("5 pages fetched") and "╭" not in terminal.plain


COMPILES = """
from frontrank.fetching.crawler.display import watching
from frontrank.kernels.jit import compiled, kernel

exec("def added(a, b): return a + b")
with watching() as watch:
    assert watch is not None and compiled(kernel(added))(1, 2) == 3
"""


def test_the_wait_for_the_compiler_is_explained_and_nothing_of_it_stays(tmp_path: Path) -> None:
    """Before there is a panel, too: a first crawl compiles for seconds before its first page."""
    terminal = Terminal(columns=80, command=(sys.executable, "-c", COMPILES), env={"NUMBA_CACHE_DIR": str(tmp_path)})
    assert terminal.end() == 0, terminal.text
    assert COMPILING in terminal.plain and seen(terminal) == []


def test_a_refusal_is_all_that_is_on_the_screen(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    terminal = Terminal("crawl", "http://a.example/", "--out", tmp_path, columns=500)
    assert terminal.end() == 2
    (said,) = seen(terminal)
    assert said.startswith("frontrank: ") and "not empty" in said


def test_pace_is_that_of_the_last_seconds() -> None:
    now = 0.0
    pace = Pace(clock=lambda: now)
    assert pace.over(10) == 0.0
    for second in range(100):
        now = float(second)
        pace.note(second if second < 50 else 50 + 3 * (second - 50))
    assert pace.over(10) == 3.0
    assert pace.over(1000) == pytest.approx((50 + 3 * 49) / 99)
    assert (time_left(30, 3.0), time_left(-5, 3.0), time_left(1, 0.0)) == (10.0, 0.0, None)
