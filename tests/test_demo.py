"""The demo: a served web, two real crawls side by side, eleven simulations, one report."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from frontrank.cli.demo import ORDERINGS, RACERS
from frontrank.crawl.status import events, status
from frontrank.lab.compare import Runs
from tests.patience import PATIENCE_S
from tests.terminal import Terminal, seen


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "frontrank", "demo", "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, cwd=folder, check=False)
    assert ran.returncode == 0 and ran.stderr == "", ran.stderr
    return folder, json.loads(ran.stdout)


def test_the_demo_crawls_a_served_web_and_our_ordering_finds_more_of_the_best_pages(demo: tuple[Path, dict[str, Any]]) -> None:
    folder, told = demo[0], demo[1]["policies"]
    bfs, ours = (told[f"{spec} (crawled)"] for spec in RACERS)
    assert bfs["fetched"] == ours["fetched"] == 2000
    assert bfs["crawled"] and "crawled" not in told["bfs"]
    assert ours["hot"]["0.1"] > bfs["hot"]["0.1"] + 0.05
    for spec in RACERS:  # eight requests in flight change the order a little, and no more
        assert abs(told[f"{spec} (crawled)"]["hot"]["0.1"] - told[spec]["hot"]["0.1"]) < 0.05
    out = folder / "frontrank-demo"
    assert (out / "report.html").stat().st_size > 100_000
    crawls = sorted((out / "crawls").iterdir())
    assert [status(crawl)["fetched"] for crawl in crawls] == [2000, 2000]
    assert sum(event["kind"] == "fetched" for event in events(crawls[0])) == 2000
    assert [entry.name for entry in folder.iterdir()] == ["frontrank-demo"]


def test_the_saved_runs_know_which_of_them_were_crawled(demo: tuple[Path, dict[str, Any]]) -> None:
    runs = Runs.load(demo[0] / "frontrank-demo")
    assert [run.spec for run in runs if run.crawled] == [f"{spec} (crawled)" for spec in RACERS]
    seconds = dict(zip(runs.frame()["ordering"].values, runs.frame()["seconds"].values, strict=True))
    assert [spec for spec, value in seconds.items() if value is None] != []
    assert all((value is None) == spec.endswith("(crawled)") for spec, value in seconds.items())  # no HTTP in them


@pytest.mark.parametrize("columns", [80, 100, 140])
def test_the_last_screen_can_be_read_and_its_commands_can_be_pasted(demo: tuple[Path, dict[str, Any]], columns: int) -> None:
    folder, figures = demo
    program = (
        "import sys; from frontrank.cli.demo import tell_all; from frontrank.lab.compare import Runs;"
        "sys.argv[0] = sys.argv[1]; runs = Runs.load('frontrank-demo'); tell_all(runs, runs.json(), 'frontrank-demo')"
    )
    frontrank = str(Path(sys.executable).parent / "frontrank")
    shown = seen(frontrank, columns=columns, cwd=folder, command=(sys.executable, "-c", program))
    assert max(len(line) for line in shown.plain.split("\r\n") if frontrank not in line) <= columns
    assert len(shown.lines) < 24 and "…" not in shown.text, "all of it is in sight, with a line to type the next command"
    simulated, real = shown.text.split("Crawled for real")
    for spec in RACERS:
        assert re.search(rf"^  {spec} +█+ +[\d.]+%   \d+ s, \d+ pages/s$", real, re.MULTILINE)
    places = [
        re.search(rf"^  {re.escape(spec)} +█+ +{100 * figures['policies'][spec]['hot']['0.1']:.1f}%$", simulated, re.MULTILINE)
        for spec in ORDERINGS
    ]
    assert all(places)
    *_, crawling = shown.plain.split("\r\n")[:-1]
    assert crawling == f"  {frontrank} crawl https://YOUR-SITE/ --out my-crawl --budget 1000"
    pasted = next(line for line in shown.plain.split("\r\n") if f"{frontrank} status" in line)
    ran = subprocess.run(pasted, shell=True, capture_output=True, text=True, cwd=folder, check=False)
    assert ran.returncode == 0 and "2,000" in ran.stdout


def test_ctrl_c_while_crawling_ends_the_demo_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    terminal = Terminal("demo", columns=80, cwd=tmp_path)
    terminal.wait_for("Crawling for real")
    terminal.wait_for("surf ")
    terminal.type("\x03")
    assert terminal.end() == 130
    said = terminal.text.replace("\n", "")
    assert "frontrank: interrupted while crawling, pages fetched: " in said
    assert said.endswith("nothing was written to frontrank-demo")
    assert "crawled for real" not in said
    assert list(tmp_path.iterdir()) == []
