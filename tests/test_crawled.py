"""What a crawl's directory tells: status, events, and a web on which other orderings can be tried."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from frontrank.cli import main
from frontrank.crawl.crawl import Crawl
from frontrank.crawl.status import events, status
from frontrank.errors import SourceError, StorageError
from frontrank.frontiers.politeness import Politeness
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from frontrank.sources import load
from frontrank.sources.synthetic import synthetic
from frontrank.web.seeds import find_seeds


@pytest.fixture
def crawled(tmp_path: Path) -> Path:
    """Four pages fetched, one failed for good, one to be tried again, one in flight, two waiting."""
    with Crawl(parse("bfs"), tmp_path / "c", politeness=Politeness(backoff_s=1e6)) as crawl:
        crawl.seed(["http://a.org/", "http://b.org/"])
        crawl.take()
        crawl.fetched("http://a.org/", [("http://a.org/1", "one\nmore"), ("http://b.org/", ""), "http://a.org/2"], "Title A")
        crawl.take()
        crawl.fetched("http://b.org/", ["http://a.org/3", "http://a.org/1", "http://a.org/4", "http://a.org/5"], status=203)
        crawl.take(5)
        crawl.fetched("http://a.org/1", ["http://a.org/"], "Title 1")
        crawl.fetched("http://a.org/2", ["http://a.org/6", ("http://b.org/", "back")], where=("crawl-00000.warc.gz", 7, 99))
        crawl.failed("http://a.org/3", "http 404")
        crawl.failed("http://a.org/4", "timeout", retry=True)
    return tmp_path / "c"


def test_status_counts_and_names_what_is_next(crawled: Path) -> None:
    told = status(crawled)
    assert [told[key] for key in ("known", "fetched", "waiting", "leased", "failed")] == [8, 4, 2, 1, 1]
    assert told["failed_by_reason"] == {"http 404": 1}
    assert told["hosts"]["known"] == 2 and told["hosts"]["with_waiting"] == 1
    assert told["next"] == [{"url": "http://a.org/6", "queue": "a.org", "priority": 0.0, "depth": 2}]


def test_status_and_trace_change_nothing(crawled: Path) -> None:
    before = list(events(crawled))
    status(crawled)
    assert list(events(crawled)) == before


def test_every_event_is_told_in_order(crawled: Path) -> None:
    told = list(events(crawled))
    assert [event["seq"] for event in told] == list(range(1, len(told) + 1))
    assert [event["kind"] for event in told][:4] == ["seed", "seed", "take", "fetched"]
    fetched = [event for event in told if event["kind"] == "fetched"]
    assert [(event["url"], event["status"], event["links"]) for event in fetched] == [
        ("http://a.org/", 200, 3),
        ("http://b.org/", 203, 4),
        ("http://a.org/1", 200, 1),
        ("http://a.org/2", 200, 2),
    ]
    assert fetched[3]["warc"] == "crawl-00000.warc.gz"
    assert {event["reason"] for event in told if event["kind"] in ("failed", "retry")} == {"http 404", "timeout"}


def test_a_crawl_is_a_web_of_what_it_fetched(crawled: Path) -> None:
    web = load(crawled)
    assert list(web.urls or ()) == ["http://a.org/", "http://b.org/", "http://a.org/1", "http://a.org/2"]
    assert [web.targets_of(page).tolist() for page in range(4)] == [[2, 1, 3], [2], [0], [1]]
    assert list(web.anchors or ()) == ["one more", "", "", "", "", "back"]
    assert list(web.titles or ()) == ["Title A", "", "Title 1", ""]
    assert (web.seeds.tolist() if web.seeds is not None else []) == [0, 1]


def test_a_crawl_that_fetched_all_is_the_web_it_came_from_to_every_ordering(tmp_path: Path) -> None:
    web = synthetic("pages=400,links=6,hosts=9,text=0,seed=2")
    assert web.urls is not None
    seeds = find_seeds(web)
    number = {url: page for page, url in enumerate(web.urls)}
    with Crawl(parse("opic"), tmp_path / "c", group=50) as crawl:
        crawl.seed([web.urls[page] for page in seeds])
        while taken := crawl.take():
            crawl.fetched(taken[0], [web.urls[q] for q in web.targets_of(number[taken[0]])])
    again = load(tmp_path / "c")
    assert again.urls is not None
    for spec in ("opic", "fica:k=40", "fpr:m=20", "rankmass", "pagerank:every=50"):
        one = simulate(web, parse(spec), seeds).trace.order
        other = simulate(again, parse(spec), find_seeds(again, [web.urls[page] for page in seeds])).trace.order
        assert [web.urls[page] for page in one] == [again.urls[page] for page in other]
    assert np.array_equal(
        simulate(again, parse("opic"), find_seeds(again, [web.urls[p] for p in seeds])).trace.order, np.arange(400)
    )


def test_texts_that_the_ordering_read_are_in_the_trace(tmp_path: Path) -> None:
    with Crawl(parse("similarity:topic=moon"), tmp_path / "c") as crawl:
        crawl.seed(["http://a.org/"])
        crawl.take()
        crawl.fetched("http://a.org/", [], "A title", "a text about the moon")
    assert list(load(tmp_path / "c").texts or ()) == ["a text about the moon"]


def test_a_crawl_without_pages_is_no_web(tmp_path: Path) -> None:
    with Crawl(parse("bfs"), tmp_path / "c") as crawl:
        crawl.seed(["http://a.org/"])
    with pytest.raises(SourceError, match="has fetched no page yet"):
        load(tmp_path / "c")


def test_the_commands_tell_the_same(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["status", str(crawled), "--json"])
    assert json.loads(capsys.readouterr().out)["fetched"] == 4
    main(["status", str(crawled)])
    assert "http 404" in capsys.readouterr().out
    main(["trace", str(crawled), "--json", "--kind", "fetched"])
    assert [json.loads(line)["status"] for line in capsys.readouterr().out.splitlines()] == [200, 203, 200, 200]
    main(["trace", str(crawled)])
    assert "reason=http 404" in capsys.readouterr().out
    main(["simulate", str(crawled), "--ordering", "all", "--json"])
    assert {"bfs", "fpr", "opic"} <= set(json.loads(capsys.readouterr().out)["policies"])


@pytest.mark.parametrize("command", ["status", "trace", "simulate"])
def test_a_directory_without_a_crawl_is_told(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, str(tmp_path)])
    assert ended.value.code == 2
    assert str(tmp_path) in capsys.readouterr().err


@pytest.mark.parametrize("command", ["status", "trace"])
def test_an_imported_crawl_is_told_from_one_that_was_crawled(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pages.csv").write_text("url,fetched\nhttp://a.example/,1\nhttp://a.example/b,0\n")
    (tmp_path / "links.csv").write_text("source,target\nhttp://a.example/,http://a.example/b\n")
    tables = ["--pages", str(tmp_path / "pages.csv"), "--links", str(tmp_path / "links.csv")]
    main(["import", *tables, str(tmp_path / "team.crawl")])
    with pytest.raises(SystemExit):
        main([command, str(tmp_path / "team.crawl")])
    assert "an imported crawl, of which no events are known; use rank, explain or evaluate" in capsys.readouterr().err


def test_an_unknown_kind_of_event_is_refused(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["trace", str(crawled), "--kind", "fetchd"])
    assert "did you mean 'fetched'" in capsys.readouterr().err


def test_a_reader_that_has_seen_enough_ends_the_trace(crawled: Path) -> None:
    command = f"{sys.executable} -m frontrank trace {crawled} | head -1"
    ran = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert "seed" in ran.stdout and "Traceback" not in ran.stderr and "BrokenPipe" not in ran.stderr


def test_a_crawl_that_runs_can_be_looked_at(tmp_path: Path) -> None:
    """Readers see one moment of it, however much is written while they read."""
    script = """
import sys
from frontrank.crawl.crawl import Crawl
from frontrank.orderings.registry import parse
crawl = Crawl(parse("fpr"), sys.argv[1])
crawl.seed(["http://a.org/0"])
n = 1
while True:
    (url,) = crawl.take()
    crawl.fetched(url, [f"http://h{(n + j) % 50}.org/{n + j}" for j in range(20)])
    n += 20
    print(n, flush=True)
"""
    crawler = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "c")], stdout=subprocess.PIPE)
    try:
        assert crawler.stdout is not None
        crawler.stdout.readline()
        before = 0
        for _ in range(8):
            told = status(tmp_path / "c")
            assert told["known"] == 1 + 20 * told["fetched"] and told["leased"] in (0, 1)
            assert told["fetched"] >= before
            before = told["fetched"]
            assert load(tmp_path / "c").pages >= before
        assert before > 1
    finally:
        crawler.kill()
        crawler.communicate()


def test_simulations_on_a_crawl_stand_beside_what_was_really_fetched(
    crawled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["simulate", str(crawled), "--ordering", "dfs", "--json", "--out", str(tmp_path / "runs")])
    assert list(json.loads(capsys.readouterr().out)["policies"]) == ["bfs (crawled)", "dfs"]
    main(["report", str(tmp_path / "runs"), "--out", str(tmp_path / "again.html")])
    main(["simulate", str(crawled), "--ordering", "dfs", "--order-out", str(tmp_path / "order.npy")])
    assert np.load(tmp_path / "order.npy").tolist() == [1, 2, 0, 3]


def test_the_frontier_of_a_live_crawl_can_be_ranked_and_explained(
    crawled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["rank", str(crawled), "--ordering", "pagerank", "--out", str(tmp_path / "next.parquet"), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["pages"] == {"D": 4, "F": 3}
    assert {page["url"] for page in told["next"]} == {"http://a.org/4", "http://a.org/5", "http://a.org/6"}
    main(["explain", str(crawled), "http://a.org/6"])
    assert "bfs: place 1 of 2 that wait" in capsys.readouterr().out  # the third is leased


def test_a_closed_crawl_says_so(tmp_path: Path) -> None:
    crawl = Crawl(parse("bfs"), tmp_path / "c")
    crawl.seed(["a"])
    crawl.close()
    crawl.close()
    with pytest.raises(StorageError, match="this crawl is closed"):
        crawl.take()
    with pytest.raises(StorageError, match="this crawl is closed"):
        crawl.url(0)
