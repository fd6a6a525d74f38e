"""The demo: a served web, two real crawls beside each other, ten simulations, one report."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from frontrank.cli.demo import RACERS
from frontrank.crawl.status import events, status
from tests.patience import PATIENCE_S


def test_the_demo_crawls_a_served_web_and_our_ordering_finds_more_of_the_best_pages(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "frontrank", "demo", "--out", str(tmp_path / "demo"), "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)["policies"]
    bfs, ours = (told[f"{spec} (crawled)"] for spec in RACERS)
    assert bfs["fetched"] == ours["fetched"] == 2000
    assert ours["hot"]["0.1"] > bfs["hot"]["0.1"] + 0.05
    for spec in RACERS:  # eight requests in flight change the order a little, and no more
        assert abs(told[f"{spec} (crawled)"]["hot"]["0.1"] - told[spec]["hot"]["0.1"]) < 0.05
    assert (tmp_path / "demo" / "report.html").stat().st_size > 100_000
    crawls = sorted((tmp_path / "demo" / "crawls").iterdir())
    assert [status(crawl)["fetched"] for crawl in crawls] == [2000, 2000]
    assert sum(event["kind"] == "fetched" for event in events(crawls[0])) == 2000
    assert [entry.name for entry in tmp_path.iterdir()] == ["demo"]
