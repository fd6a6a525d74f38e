"""frontrank status and frontrank trace: how far a crawl is, what waits, what happened."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from frontrank.cli import command
from frontrank.crawl.crawl import Crawl
from frontrank.errors import InputError
from frontrank.fetching.crawler.job import Job
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.status import rates, status
from frontrank.fetching.crawler.summary import summarise
from frontrank.fetching.end_reason import EndReason
from frontrank.frontiers.politeness import Politeness
from frontrank.lab.report.crawl_report import write_crawl_report
from frontrank.orderings.registry import parse
from tests.terminal import seen

T0 = 1_000_000_000.0  # 2001-09-09T01:46:40Z


def said(*args: str | Path) -> str:
    done = CliRunner().invoke(command, [str(arg) for arg in args], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


@pytest.fixture
def crawl(tmp_path: Path) -> Any:
    """A crawl of two hundred pages, one a second, of which fifty have come and three failed; one of them never asked for."""
    now = T0

    def clock() -> float:
        return now

    options = Options(seeds=("http://a.example/",), policy="bfs", budget=100)
    made = Crawl(
        parse("bfs"), tmp_path / "crawl", politeness=Politeness(retries=1), notes={"options": options.json()}, clock=clock
    )
    made.seed(["http://a.example/"])
    for i in range(52):
        now += 1.0
        (url,) = made.take()
        if i in (3, 4):
            made.failed(url, "http 404" if i == 3 else "robots.txt")
        else:
            made.fetched(url, [f"http://{'ab'[j % 2]}.example/{j}" for j in range(3 * i, 3 * i + 4)])
    made.drop(made.inspect.next(1)[0]["url"], "excluded")
    (url,) = made.take()
    made.failed(url, "timeout", retry=True, retry_s=1000.0)
    yield made
    made.close()


def test_a_running_crawl_says_when_its_budget_is_spent(crawl: Crawl) -> None:
    told = status(crawl.inspect.folder or "", clock=lambda: crawl.state.progress.now)
    assert told["running"] and (told["fetched"], told["failed"]) == (50, 3)
    assert (told["budget"], told["asked"]) == (100, 51), "what was never asked for uses up no budget"
    assert told["pages_per_s"]["lately"] == pytest.approx(1.0, rel=0.1)
    assert told["left_s"] == pytest.approx(49 / told["pages_per_s"]["lately"])
    text = said("status", crawl.inspect.folder or "")
    assert f"{crawl.inspect.folder}: running, ordered by bfs" in text
    assert re.search(r"budget +51 of 100 pages \(51%\)", text)
    assert "started     2001-09-09T01:46:40Z" in text and "last event  2001-09-09T01:47:32Z" in text


def test_a_stopped_crawl_has_no_time_left(crawl: Crawl) -> None:
    crawl.close()
    told = json.loads(said("status", crawl.inspect.folder or "", "--json"))
    assert not told["running"] and told["left_s"] is None
    assert told["pages_per_s"]["lately"] == pytest.approx(1.0, rel=0.1), "of its last minutes"
    assert "stopped" in said("status", crawl.inspect.folder or "")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_queue_is_every_waiting_page_in_its_order(crawl: Crawl, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"queue.{ending}"
    told = json.loads(said("status", crawl.inspect.folder or "", "--queue", path, "--json"))
    if ending == "csv":
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    else:
        rows = pq.read_table(path).to_pylist()
    assert told["queue"]["pages"] == len(rows) == told["waiting"]
    assert [row["url"] for row in rows[:20]] == [page["url"] for page in told["next"]]
    assert [row["state"] for row in rows] == ["waiting"] * (len(rows) - 1) + ["retry"], "the page that failed comes last"
    assert {row["host"] for row in rows} == {"a.example", "b.example"}
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    taken = crawl.take(len(rows), now=crawl.state.progress.now)
    assert taken == [row["url"] for row in rows[:-1]], "it is the order in which they are taken"


def test_where_the_queue_goes_is_checked_first(tmp_path: Path) -> None:
    for name, sentence in (("queue.txt", r"ends in \.csv, \.parquet or \.json"), ("none/queue.csv", "no directory")):
        done = CliRunner().invoke(command, ["status", str(tmp_path / "no crawl"), "--queue", str(tmp_path / name)])
        assert isinstance(done.exception, InputError) and re.search(sentence, str(done.exception))


def test_a_crawl_of_another_program_has_no_budget(tmp_path: Path) -> None:
    with Crawl(parse("bfs"), tmp_path / "crawl") as made:
        made.seed(["page one"])
    told = status(tmp_path / "crawl")
    assert told["budget"] is None and told["pages_per_s"] == {"lately": 0.0, "overall": 0.0}
    assert "budget" not in said("status", tmp_path / "crawl")


def test_a_crawl_that_was_stopped_before_its_first_page_has_a_summary_and_a_report(tmp_path: Path) -> None:
    options = Options(seeds=("http://a.example/",), policy="bfs", budget=100)
    with Crawl(parse("bfs"), tmp_path / "crawl") as made:
        made.seed(options.seeds)
        job = Job(made, options, None)
        job.end(EndReason.INTERRUPTED)
        told = summarise(job)
    write_crawl_report(told, tmp_path / "report.html")
    assert told.text().startswith("0 pages fetched") and told.no_pages_message() == "", "it was stopped: that is no failure"


def test_one_page_is_one_page_and_the_way_on_can_be_typed(tmp_path: Path) -> None:
    options = Options(seeds=("http://a.example/",), policy="bfs")
    with Crawl(parse("bfs"), tmp_path / "crawl") as made:
        made.seed(options.seeds)
        made.take()
        made.failed("http://a.example/", "host not found")
        told = replace(summarise(Job(made, options, None)), run_pages=1, ended="frontier empty")
    assert "this run: 1 page in " in told.text()
    assert f"try them again with .venv/bin/frontrank crawl --resume {tmp_path}" in told.no_pages_message(".venv/bin/frontrank")


def test_the_report_of_a_crawl_with_a_goal_begins_with_its_best_pages(tmp_path: Path) -> None:
    options = Options(seeds=("http://a.example/",), goal="solar energy", budget=3)
    with Crawl(parse(options.policy), tmp_path / "crawl") as made:
        made.seed(options.seeds)
        for url, title, text in (
            ("http://a.example/", "Home", "nothing of note"),
            ("http://a.example/1", "Roofs & <panels>", "solar energy, solar panels: energy of the sun"),
        ):
            made.take()
            made.fetched(url, ["http://a.example/1", "http://a.example/2"], title, text)
        told = summarise(Job(made, options, None))
    write_crawl_report(told, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.index("The best pages") < page.index("Pages over time")
    assert "solar energy" in page and "Roofs &amp; &lt;panels&gt;" in page
    assert [best.url for best in told.best] == ["http://a.example/1"]


def test_rates_count_the_time_at_work() -> None:
    times = np.concatenate([np.arange(100.0), 10_000.0 + np.arange(50.0)])
    told = rates(times, 10_050.0, worked_s=150.0)
    assert told["overall"] == 1.0, "the pause between two runs does not count"
    assert told["lately"] == pytest.approx(50 / 300)
    assert rates(times, 11_000.0, None)["lately"] == 0.0, "a crawl that stands still"
    assert rates(times[:0], 5.0, None) == {"lately": 0.0, "overall": 0.0}


def test_a_trace_has_times_with_their_zone(crawl: Crawl) -> None:
    lines = said("trace", crawl.inspect.folder or "").splitlines()
    assert "2001-09-09T01:46:40Z  seed     http://a.example/" in lines[0]
    (retry,) = [line for line in lines if " retry " in line]
    assert "again_at=2001-09-09T02:04:12Z" in retry
    assert json.loads(said("trace", crawl.inspect.folder or "", "--json").splitlines()[0])["time"] == T0


def test_what_was_crawled_does_not_steer_the_terminal(tmp_path: Path) -> None:
    with Crawl(parse("bfs"), tmp_path / "crawl") as made:
        made.seed(["\x1b[2J\x1b]0;owned\x07"])
    assert "\x1b" not in said("trace", tmp_path / "crawl") + said("status", tmp_path / "crawl")


@pytest.mark.parametrize("columns", [80, 100, 140])
def test_the_status_fits_the_terminal(crawl: Crawl, columns: int) -> None:
    crawl.close()
    folder = crawl.inspect.folder
    assert folder is not None
    terminal = seen("status", folder.name, columns=columns, cwd=folder.parent)
    assert terminal.widest <= columns
    assert "pages/s" in terminal.text and "http://" in terminal.text


@pytest.mark.parametrize(("lines", "pages"), [("50", 20), ("24", 5), ("34", 14)])
def test_the_facts_do_not_scroll_away(crawl: Crawl, lines: str, pages: int) -> None:
    folder = crawl.inspect.folder
    assert folder is not None
    crawl.close()
    terminal = seen("status", folder.name, columns=80, cwd=folder.parent, env={"LINES": lines})
    assert terminal.text.count("http://") == pages
    assert pages == 5 or len(terminal.lines) < int(lines), "and the prompt has its line"
