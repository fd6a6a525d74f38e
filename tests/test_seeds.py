"""Seeds first: what the user named is fetched before what was discovered, within politeness and budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.events import Taken
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.run import crawl as fetch_all
from frontrank.fetching.crawler.run import resume
from frontrank.fetching.crawler.seeds import MAX_WAIT_S, Seeds
from frontrank.frontiers.politeness import Politeness
from tests.test_crawler import Site, events, fetched, links, served

HOME, SEEDS = "http://home.example/", tuple(f"http://seed.example/{i}" for i in range(3))
FOUND = tuple(f"http://found.example/{i}" for i in range(9))


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def begun(clock: Clock, path: Path | None = None, **options: Any) -> tuple[Crawl, Seeds]:
    """A crawl whose first seed has been fetched, and links to pages of another host."""
    asked = Options((HOME, *SEEDS), "dfs", **options)
    crawl = Crawl(asked.policy, path, politeness=Politeness(delay_s=10.0), clock=clock)
    crawl.seed(asked.seeds)
    seeds = Seeds(crawl, asked)
    assert urls(crawl, seeds.take(9, 100)) == [HOME, SEEDS[0]]
    crawl.fetched(HOME, FOUND, again_at=clock.now + 86_400.0 if asked.revisit else None)
    seeds.settled(crawl.lookup(HOME))
    return crawl, seeds


def urls(crawl: Crawl, pages: list[int]) -> list[str]:
    return [crawl.url(page) for page in pages]


def test_what_was_found_goes_only_as_far_as_the_budget_still_covers_the_seeds(clock: Clock) -> None:
    crawl, seeds = begun(clock)
    assert seeds.take(9, 2) == [] and seeds.next_at == clock.now + 10.0, "the seeds' host rests: what is left is theirs"
    assert urls(crawl, seeds.take(9, 3)) == [FOUND[-1]] and seeds.next_at is None
    clock.now += 10.0
    assert urls(crawl, seeds.take(1, 2)) == [SEEDS[1]]


@pytest.mark.parametrize(("wait", "goes"), [(MAX_WAIT_S, False), (MAX_WAIT_S + 1, True)])
def test_seeds_of_a_host_that_is_away_for_long_do_not_stall_a_crawl(clock: Clock, wait: float, goes: bool) -> None:
    crawl, seeds = begun(clock)
    crawl.control.block("seed.example", wait)
    assert bool(seeds.take(9, 1)) is goes
    assert seeds.next_at == (None if goes else clock.now + wait)


def test_nothing_is_kept_for_seeds_whose_host_has_spent_its_budget(clock: Clock) -> None:
    crawl, seeds = begun(clock)
    crawl.control.limit_host("seed.example", budget=1)
    assert urls(crawl, seeds.take(9, 1)) == [FOUND[-1]]


def test_a_seed_that_is_tried_again_is_still_one_and_what_it_leads_to_stands_in_for_it(clock: Clock) -> None:
    crawl, seeds = begun(clock)
    page = crawl.lookup(SEEDS[0])
    crawl.failed(SEEDS[0], "http 503", retry=True, retry_s=5.0)
    seeds.settled(page)
    clock.now += 10.0
    assert seeds.take(1, 3) == [page]
    crawl.fetched(SEEDS[0], ["http://moved.example/"], status=301)
    seeds.redirected(page, crawl.lookup("http://moved.example/"))
    seeds.settled(page)
    assert urls(crawl, seeds.take(1, 9)) == ["http://moved.example/"]


def test_the_order_of_seeds_survives_the_process(clock: Clock, tmp_path: Path) -> None:
    crawl, seeds = begun(clock, tmp_path / "crawl")
    crawl.abandon()
    crawl = Crawl.recover(tmp_path / "crawl", clock=clock)
    clock.now += 100.0
    before = crawl.state.log.seq
    assert list(Seeds(crawl, seeds.options).open) == [crawl.lookup(url) for url in SEEDS]
    assert crawl.state.log.seq == before, "nothing had to be said again"
    left = Options(seeds.options.seeds, "dfs", seeds_first=False)
    assert not Seeds(crawl, left).open
    assert urls(crawl, crawl.take_pages(1)) == [FOUND[-1]], "the ordering's again"
    crawl.close()


def test_a_seed_that_comes_back_comes_when_its_ordering_says_so(clock: Clock) -> None:
    crawl, _ = begun(clock, revisit="fixed:every=1d")
    page = crawl.lookup(HOME)
    assert crawl.state.frontier.key(page) == crawl.state.frontier.own_key(page)


class Endless(Site):
    """Each page links to three further ones."""

    def do_GET(self) -> None:
        self.asked.append((0.0, self.path, ""))
        self.answer(200, links(*(f"{self.path.rstrip('/')}/{i}" for i in "abc")))


def test_all_seeds_come_before_anything_that_was_found(tmp_path: Path) -> None:
    with served(Endless) as url:
        seeds = tuple(f"{url}/seed{i}" for i in range(20))
        options = Options(seeds, "dfs", 10, delay=0.0, per_host=0, in_flight=4, robots=False, allow_private=True)
        fetch_all(options, tmp_path / "crawl")
        told = resume(tmp_path / "crawl", {"budget": 30})
    assert told.fetched == 30
    assert {url for url, *_ in events(tmp_path / "crawl", Taken.kind)[:20]} == set(seeds)


def test_a_budget_is_kept_for_seeds_whose_host_rests(tmp_path: Path) -> None:
    with served(Endless) as url:
        there = url.replace("127.0.0.1", "localhost")
        seeds = (f"{url}/home", *(f"{there}/seed{i}" for i in range(5)))
        options = Options(seeds, "dfs", 7, delay=0.1, scope="any", robots=False, allow_private=True)
        told = fetch_all(options, tmp_path / "crawl")
    assert told.fetched == 7 and set(seeds) < set(fetched(tmp_path / "crawl"))
