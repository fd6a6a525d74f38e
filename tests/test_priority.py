"""Pages with a priority of their own: before the ordering's choice, or after all of it, also when a crawl goes on."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.status import events
from frontrank.frontiers.politeness import Politeness
from frontrank.orderings.registry import parse

priorities = st.dictionaries(st.integers(0, 14), st.integers(-(2**31), 2**31 - 1), max_size=8)


def url(i: int) -> str:
    return f"http://h{i % 3}.test/{i}"


def begun(folder: Path | None, policy: str, given: dict[int, int]) -> Crawl:
    """0 links to 1 .. 14; the pages of `given` have priorities, half of them before they wait, half while they do."""
    crawl = Crawl(parse(policy), folder)
    pages = [crawl.intern(url(i)) for i in range(15)]
    before = dict(list(given.items())[::2])
    for i, priority in before.items():
        crawl.control.prioritise(pages[i], priority)
    crawl.seed([url(0)])
    crawl.take()
    crawl.fetched(url(0), [url(i) for i in range(1, 15)])
    for i in given.keys() - before.keys():
        crawl.control.prioritise(pages[i], given[i])
    return crawl


def drained(crawl: Crawl) -> list[str]:
    order = []
    while taken := crawl.take():
        order += taken
        crawl.fetched(taken[0], [url(3), url(5)])
    return order


@pytest.mark.parametrize("policy", ["bfs", "dfs", "fpr", "backlink"])
@settings(max_examples=25, deadline=None)
@given(given=priorities)
def test_larger_priorities_go_first_negative_ones_last_and_the_rest_as_the_ordering_says(
    policy: str, given: dict[int, int]
) -> None:
    given = {i: priority for i, priority in given.items() if i}
    order = drained(begun(None, policy, given))
    assert sorted(order) == sorted(url(i) for i in range(1, 15))
    places = [given.get(int(name.rsplit("/", 1)[1]), 0) for name in order]
    assert places == sorted(places, reverse=True)
    if policy == "bfs":
        assert order == [url(i) for i in sorted(range(1, 15), key=lambda i: (-given.get(i, 0), i))]


@settings(max_examples=15, deadline=None)
@given(given=priorities, taken=st.integers(0, 10))
def test_priorities_survive_the_process(given: dict[int, int], taken: int) -> None:
    with TemporaryDirectory() as folder:
        crawl = begun(Path(folder, "crawl"), "fpr", given)
        order = []
        for _ in range(taken):
            order += crawl.take()
            crawl.fetched(order[-1], [url(3), url(5)])
        crawl.close()
        again = Crawl.recover(Path(folder, "crawl"))
        order += drained(again)
        again.close()
        assert order == drained(begun(None, "fpr", given))
        assert sum(event["kind"] == "priority" for event in events(Path(folder, "crawl"))) == len(given)


def test_politeness_holds_for_priorities_too() -> None:
    crawl = Crawl(parse("bfs"), politeness=Politeness(delay_s=10.0))
    urls = ["http://a.test/1", "http://a.test/2", "http://b.test/1"]
    for name in urls[:2]:
        crawl.control.prioritise(crawl.intern(name), 5)
    crawl.seed(urls, now=0.0)
    assert crawl.take(3, now=0.0) == ["http://a.test/1", "http://b.test/1"]
    assert crawl.take(3, now=9.0) == []
    assert crawl.take(3, now=10.0) == ["http://a.test/2"]


def test_a_priority_of_0_gives_a_page_back_to_its_ordering() -> None:
    crawl = Crawl(parse("bfs"))
    pages = [crawl.intern(url(i)) for i in range(3)]
    crawl.control.prioritise(pages[2], 9)
    crawl.seed([url(i) for i in range(3)])
    crawl.control.prioritise(pages[2], 0)
    assert crawl.take(3) == [url(0), url(1), url(2)]
