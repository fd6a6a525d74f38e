"""frontrank explain on a live crawl: the parts that links gave, by the ordering that the crawl goes by."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import frontrank as fr
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
