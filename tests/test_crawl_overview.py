"""What a screen asks of a crawl often: counts, the distribution of priorities, coverage, whatever the length of its past."""

from __future__ import annotations

from pathlib import Path

import pytest

from frontrank.crawl import status
from frontrank.crawl.crawl import Crawl


@pytest.fixture
def crawl(tmp_path: Path) -> Crawl:
    made = Crawl("backlink", tmp_path / "crawl")
    made.seed(["http://a.example/"])
    made.take()
    made.fetched("http://a.example/", [f"http://a.example/{i}" for i in range(10)] + ["http://b.example/"])
    for i in range(3):
        (url,) = made.take()
        made.fetched(url, ["http://b.example/", f"http://b.example/{i}"])
    return made


def test_the_overview_is_the_status_without_what_only_the_log_knows(crawl: Crawl) -> None:
    whole = crawl.inspect.status()
    assert crawl.inspect.overview() == {
        key: whole[key] for key in whole if key not in ("failed_by_reason", "withheld", "unscored", "next")
    }


def test_the_distribution_counts_each_waiting_page_once(crawl: Crawl) -> None:
    told = crawl.inspect.score_distribution(bins=4)
    assert told["waiting"] == told["sampled"] == crawl.inspect.waiting
    assert sum(one["pages"] for one in told["bins"]) == crawl.inspect.waiting
    assert told["quantiles"][-1]["priority"] == crawl.inspect.next(1)[0]["priority"]
    assert [one["to"] for one in told["bins"]][:-1] == [one["from"] for one in told["bins"]][1:]


def test_pages_with_a_priority_of_their_own_are_counted_apart(crawl: Crawl) -> None:
    first = crawl.inspect.next(1)[0]["url"]
    crawl.control.prioritise(crawl.lookup(first), 7)
    told = crawl.inspect.score_distribution()
    assert told["prioritised"] == 1
    assert sum(one["pages"] for one in told["bins"]) == crawl.inspect.waiting - 1


def test_of_many_pages_a_sample_is_looked_at(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "SAMPLE", 3)
    told = crawl.inspect.score_distribution()
    assert told["waiting"] == crawl.inspect.waiting > 3 >= told["sampled"] == sum(one["pages"] for one in told["bins"])


def test_an_empty_frontier_has_an_empty_distribution() -> None:
    told = Crawl("fpr").inspect.score_distribution()
    assert (told["waiting"], told["bins"], told["quantiles"]) == (0, [], [])


def test_equal_priorities_are_one_bin() -> None:
    crawl = Crawl("bfs")
    crawl.seed("http://a.example/")
    (only,) = crawl.inspect.score_distribution()["bins"]
    assert (only["from"], only["pages"]) == (only["to"], 1)


def test_coverage_counts_pages_and_hosts_and_adds_up_over_depths(crawl: Crawl) -> None:
    told = crawl.inspect.coverage()
    assert (told["known"], told["settled"]) == (crawl.inspect.known, 4)
    assert (told["hosts"], told["hosts_asked"]) == (
        2,
        1 + any("//b." in crawl.url(page) for page in crawl.state.progress.order),
    )
    assert sum(row["known"] for row in told["by_depth"]) == told["known"]
    assert sum(row["settled"] for row in told["by_depth"]) == told["settled"]
    assert told["by_depth"][0] == {"depth": 0, "known": 1, "settled": 1}
