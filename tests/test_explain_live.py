"""frontrank explain on a live crawl: the parts that links gave, by the ordering that the crawl goes by."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import frontrank as fr
from frontrank.crawl.crawl import Crawl
from tests.terminal import seen

HOME, A, B, X = (f"http://site.example/{name}" for name in ("", "a", "b", "x"))


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    with fr.Crawl(fr.parse("backlink"), tmp_path / "crawl") as crawl:
        crawl.seed([HOME])
        for url, links in ((HOME, [A, B]), (A, [X, B]), (B, [X])):
            assert crawl.take() == [url]
            crawl.fetched(url, links=links)
    return tmp_path / "crawl"


def explained(crawl: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "frontrank", "explain", str(crawl), *args]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_each_link_is_named_with_its_part_of_the_priority(crawl: Path) -> None:
    told = json.loads(explained(crawl, X, "--json").stdout)
    assert (told["policy"], told["place"], told["waiting"]) == ("backlink", 1, 1)
    assert {link["url"] for link in told["links"]} == {A, B}
    assert sum(link["part"] for link in told["links"]) + told["other"] == pytest.approx(told["priority"])


@pytest.mark.parametrize("columns", [80, 140])
def test_people_are_told_in_lines_that_fit(crawl: Path, columns: int) -> None:
    shown = seen("explain", "crawl", X, columns=columns, cwd=crawl.parent)
    assert "backlink: place 1 of 1 that wait, priority 2, depth 2" in shown.text
    assert f"+1  {A}" in shown.text and shown.widest <= columns


def test_other_orderings_can_be_asked_and_unknown_pages_are_refused(crawl: Path) -> None:
    assert "pagerank: place 1 of 1" in explained(crawl, X, "--policy", "pagerank").stdout
    unknown = explained(crawl, "http://site.example/none")
    assert unknown.returncode == 2 and "this crawl does not know the page" in unknown.stderr


@pytest.mark.parametrize("queue", ["", "slow"])
@pytest.mark.parametrize("policy", ["bfs", "opic", "surf", "location", "domains", "fpr"])
def test_names_that_are_taken_over_are_those_that_are_read(tmp_path: Path, policy: str, queue: str) -> None:
    """A replay for another ordering, with the names of a crawl that is there, and by reading them all again."""
    with Crawl("backlink", tmp_path / "crawl") as crawl:
        crawl.seed([f"http://h{n}.test/" for n in range(3)])
        crawl.host("never-seen.test", delay_s=3.0)
        for turn in range(40):
            for url in crawl.take(1, now=10.0 * turn):
                crawl.fetched(url, [f"http://h{(turn * n) % 7}.test/{turn // 3}/{n}" for n in range(5)], now=10.0 * turn + 1)
        crawl.host("h1.test", delay_s=9.0)
        if queue:
            crawl.discover(["http://h1.test/in-a-queue"], queues=[queue])
        crawl.snapshot()
    before = Crawl.recover(tmp_path / "crawl", read_only=True)
    read, taken = (
        Crawl.recover(tmp_path / "crawl", policy, read_only=True, rescore=True, names_of=names) for names in (None, before)
    )
    assert taken.known == read.known == before.known
    assert taken.next(500) == read.next(500) and taken.next(1)
    assert sorted(taken.hosts(), key=str) == sorted(read.hosts(), key=str)
    for page in range(read.known):
        assert taken.find(read.url(page)) == read.find(read.url(page))
    for one in (before, read, taken):
        one.close()
