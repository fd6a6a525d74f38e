"""What the HTTP side reads of a crawl's past: bit by bit it is the same as at once, and nothing is counted twice or lost."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.journal import Journal
from frontrank.errors import SpecError
from frontrank.service.http import past, replays
from frontrank.service.http.past import LogReader, Timeline, UrlShapes
from tests.served import CALENDAR, grow

moments = st.lists(st.tuples(st.floats(1e9, 1.1e9), st.booleans()), max_size=60)


@given(moments, st.integers(1, 50))
def test_a_timeline_loses_no_page_however_few_steps_it_has(events: list[tuple[float, bool]], most: int) -> None:
    line = Timeline()
    for time, failed in events:
        line.add(time, failed)
    width, points = line.points(most)
    assert len(points) <= most
    assert sum(point.failed for point in points) == sum(failed for _, failed in events)
    assert sum(point.fetched for point in points) == sum(not failed for _, failed in events)
    for time, _ in events:
        assert any(point.time <= time < point.time + width for point in points)


def test_a_timeline_of_many_steps_doubles_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "BUCKETS", 10)
    line = Timeline()
    for second in range(1000):
        line.add(float(second), failed=False)
    assert len(line.buckets) <= 10 and line.step == 128.0
    assert sum(map(sum, line.buckets.values())) == 1000


def test_rates_are_of_the_last_five_minutes_and_of_all_time() -> None:
    line = Timeline()
    for second in range(1000):
        line.add(1e9 + second, failed=second % 2 == 0)
    rates = line.rates(1e9 + 1000)
    assert rates["lately"] == pytest.approx(1.0, rel=0.01) and rates["overall"] == pytest.approx(1.0, rel=0.01)
    later = line.rates(1e9 + 2000)
    assert later["lately"] == 0.0 and later["overall"] == pytest.approx(0.5, rel=0.01)
    assert Timeline().rates(5.0) == {"lately": 0.0, "overall": 0.0}


def test_read_bit_by_bit_the_past_is_the_same_as_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Crawl("bfs", tmp_path) as crawl:
        grow(crawl)
    log = Journal.open(tmp_path, read_only=True)
    whole, bits = LogReader(), LogReader()
    whole.read(log)
    monkeypatch.setattr(past, "ROWS", 2)
    monkeypatch.setattr(past, "URLS", 1)
    bits.read(log)
    assert whole.complete and not bits.complete
    while not bits.complete:
        bits.read(log)
    bits.read(log)  # nothing new
    log.close()
    for one in (whole, bits):
        assert (one.time.counts, one.reasons, one.statuses) == ([6, 1], {"http 404 <b>": 1}, {200: 6})
    assert bits.shapes.largest(99) == whole.shapes.largest(99)
    assert sum(whole.shapes.settled) == 7


def test_families_beyond_the_most_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "PATTERNS", 2)
    shapes = UrlShapes()
    shapes.meet(f"http://a.example/{word}/{i}" for word in ("x", "y", "z", "w") for i in range(3))
    assert len(shapes.number) == 3 and shapes.known.tolist() == [3, 3, 6]
    assert [family.pattern for family in shapes.largest(9)] == ["a.example/x/#", "a.example/y/#"]


def test_another_crawl_in_the_same_directory_is_read_from_its_beginning(tmp_path: Path) -> None:
    with Crawl("bfs", tmp_path / "crawl") as crawl:
        grow(crawl)
    assert past.series(str(tmp_path / "crawl"), 10).fetched == 6
    shutil.rmtree(tmp_path / "crawl")
    with Crawl("bfs", tmp_path / "crawl") as crawl:
        crawl.seed("http://new.example/")
    assert past.series(str(tmp_path / "crawl"), 10).fetched == 0
    assert past.families(str(tmp_path / "crawl"), 10).patterns == 1


def test_only_orderings_that_read_nothing_can_be_tried() -> None:
    assert replays.ordering("combine:fpr=1,opic=0.5,fpr.m=10").spec() == "combine:fpr=1,fpr.m=10,opic=0.5"
    assert {"prior", "quality", "group", "oracle"}.isdisjoint(replays.open_orderings())
    for spec in ("prior:file=x", "fpr:trust=x", "shop.orderings:Margin", "combine:prior=1", "surf:trust=1e3x"):
        with pytest.raises(SpecError):
            replays.ordering(spec)


def test_the_calendar_s_expression_matches_its_pages_alone(tmp_path: Path) -> None:
    with Crawl("bfs", tmp_path) as crawl:
        grow(crawl)
        urls = [crawl.url(page) for page in range(crawl.inspect.known)]
    (family,) = past.families(str(tmp_path), 1).families
    assert sum(bool(re.search(family.regex, url)) for url in urls) == CALENDAR


def test_a_family_that_nobody_has_watched_is_judged_by_what_was_fetched_of_it() -> None:
    """A site of numbered pages that only waits is no possible trap."""
    pages = [f"http://a.example/cal/{day}" for day in range(90)] + [f"http://a.example/about/{word}" for word in "abc"]
    shapes = UrlShapes()
    shapes.meet(pages)
    told = []
    for settled in (0, 49, 50, 93):
        for page in range(settled):
            shapes.settle(page)
        told.append([one.pattern for one in shapes.largest(9) if one.possible_trap])
    assert told == [[], [], ["a.example/cal/#"], ["a.example/cal/#"]]


def test_of_a_crawl_that_looks_for_traps_those_it_found_are_marked(tmp_path: Path) -> None:
    with Crawl("bfs", tmp_path) as crawl:
        crawl.note("options", {})
        crawl.seed(f"http://a.example/{place}/{day}" for place in ("cal", "news") for day in range(60))
        while crawl.take():
            crawl.fetched(crawl.url(len(crawl.state.progress.order)), [])
        found = []
        given: tuple[dict[str, Any], ...] = ({}, {"://a.example/cal/": {}})
        for traps in given:
            crawl.note("traps", traps)
            found.append([one.pattern for one in past.families(str(tmp_path), 9).families if one.possible_trap])
    assert found == [[], ["a.example/cal/#"]]
