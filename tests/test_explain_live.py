"""frontrank explain on a live crawl: the parts that links gave, by the ordering that the crawl goes by."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frontrank as fr
from frontrank.crawl.crawl import Crawl
from tests.commands import run_command
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
    return run_command("explain", crawl, *args)


def test_each_link_is_named_with_its_part_of_the_priority(crawl: Path) -> None:
    told = json.loads(explained(crawl, X, "--json").stdout)
    assert (told["policy"], told["place"], told["waiting"]) == ("backlink", 1, 1)
    assert {link["url"] for link in told["links"]} == {A, B}
    assert sum(link["part"] for link in told["links"]) + told["other"] == pytest.approx(told["priority"])


def test_a_page_that_came_back_is_one_page_that_links_here(tmp_path: Path) -> None:
    with fr.Crawl("opic", tmp_path / "crawl") as crawl:
        crawl.seed([HOME])
        for again in range(3):
            if again:
                crawl.queues.schedule(crawl.lookup(HOME), crawl.inspect.clock())
            assert HOME in crawl.take(5)
            crawl.fetched(HOME, links=[A])
        told = crawl.inspect.explain(A)
    assert ([link["url"] for link in told["links"]], told["links_known"]) == ([HOME], 1)
    assert told["links"][0]["part"] + told["other"] == pytest.approx(told["priority"])


def ranked(folder: Path, spec: str, **options: Any) -> fr.Crawl:
    """The same pages, with what searchers made of each, by an ordering that ranks every so many."""
    crawl = fr.Crawl(spec, folder, **options)
    crawl.seed([HOME])
    for url, links, views in ((HOME, [A, B], 1.0), (A, [X, B], 8.0), (B, [X], 2.0)):
        assert take(crawl) == url
        crawl.fetched(url, links=links, impact=views)
    return crawl


def take(crawl: fr.Crawl) -> str:
    """The next page, once no ranking is under way any more."""
    while not (taken := crawl.take()):
        time.sleep(0.01)
    return taken[0]


@pytest.mark.parametrize("ranking", ["inline", "background"])
def test_a_ranking_says_what_each_link_gave(tmp_path: Path, ranking: str) -> None:
    crawl = ranked(tmp_path / "crawl", "pagerank:every=1", ranking=ranking)
    while crawl.state.ranking.under_way:
        time.sleep(0.01)
    told = crawl.inspect.explain(X)
    crawl.close()
    rows = np.array([[0, 1 / 2, 1 / 2, 0], [0, 0, 1 / 2, 1 / 2], [0, 0, 0, 1], [1 / 4] * 4])  # HOME, A, B, and X to all
    x = np.linalg.solve(np.eye(4) - 0.85 * rows.T, np.full(4, 0.15 / 4))
    gave = {link["url"]: link["part"] for link in told["links"]}
    assert gave == {A: pytest.approx(0.85 * x[1] / 2, abs=1e-9), B: pytest.approx(0.85 * x[2], abs=1e-9)}
    assert told["other"] == pytest.approx((0.15 + 0.85 * x[3]) / 4, abs=1e-9)
    assert told["priority"] == pytest.approx(x[3], abs=1e-9) and told["links_known"] == 2


def test_links_since_the_last_ranking_do_not_count_yet(tmp_path: Path) -> None:
    ranked(tmp_path / "crawl", "indegree:every=2").close()
    told = json.loads(explained(tmp_path / "crawl", X, "--json").stdout)
    assert told["links"] == [{"url": A, "part": 1.0}] and (told["links_known"], told["other"]) == (2, 0.0)
    settled = json.loads(explained(tmp_path / "crawl", B, "--json").stdout)
    gave = {link["url"]: link["part"] for link in settled["links"]}
    assert gave == {HOME: 1.0, A: 1.0}, "by the ranking that it was taken by"


def test_a_page_that_no_ranking_has_seen_is_said_to_wait_behind_all(tmp_path: Path) -> None:
    ranked(tmp_path / "crawl", "pagerank").close()
    said = explained(tmp_path / "crawl", X).stdout
    assert "is not ranked yet, and waits behind all" in said and "+" not in said


@pytest.mark.parametrize("spec", ["rw:every=3", "rw-eg:omega=0.5,every=3", "fusion:of=rw+indegree,every=3"])
def test_what_a_ranking_has_other_names_for_is_told_by_them(tmp_path: Path, spec: str) -> None:
    ranked(tmp_path / "crawl", spec).close()
    told = json.loads(explained(tmp_path / "crawl", X, "--json").stdout)
    gave = {link["url"]: link["part"] for link in told["links"]}
    assert told["priority"] == pytest.approx(sum(gave.values()) + sum(told["parts"].values()), rel=1e-9)
    if spec.startswith("fusion"):
        assert not gave and set(told["parts"]) == {"rw", "indegree"}, "places do not come from links"
    else:
        assert gave[A] > gave[B] > 0, "searchers liked A better than B, though it links to two"
        assert (told["parts"]["virtual edges"] > 1e-6) == spec.startswith("rw-eg") and told["parts"]["jump"] > 0


def test_surf_says_where_mass_started_and_which_links_handed_it_on(tmp_path: Path) -> None:
    """One seed and two links: it has 1 as a seed, 0.9 when it is fetched, 0.1 as the page drawn, and hands on half of 2."""
    with fr.Crawl("surf:l=1,m=1,g=0,d=0.5", tmp_path / "crawl") as crawl:
        crawl.seed([HOME])
        crawl.take()
        crawl.fetched(HOME, links=[A, B])
        explanation = crawl.inspect.explain(A)
    assert explanation["links"] == [{"url": HOME, "part": pytest.approx(0.5)}]
    came = {one["kind"]: one["part"] for one in explanation["starts"]}
    assert came == {"seed": pytest.approx(0.25), "fetched": pytest.approx(0.225), "drawn": pytest.approx(0.025)}
    assert {one["url"] for one in explanation["starts"]} == {HOME}


@pytest.mark.parametrize("interpreted", [True, False])
def test_surf_leaves_nothing_of_a_priority_unexplained(
    tmp_path: Path, interpreted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With many hosts, failures, revisits, links that are reported late, and seeds that come later."""
    monkeypatch.setattr("frontrank.kernels.jit._interpreted_s", [-1e9 if interpreted else 1e9])
    crawl_with_everything(tmp_path / "crawl")
    with Crawl.recover(tmp_path / "crawl", read_only=True) as crawl:
        for page in range(crawl.inspect.known):
            explanation = crawl.inspect.explain(crawl.url(page))
            links = sum(link["part"] for link in explanation["links"]) + explanation.get("further_links", 0.0)
            assert links + sum(explanation["parts"].values()) == pytest.approx(explanation["priority"], rel=1e-9, abs=1e-12)
            started = sum(kind["part"] for kind in explanation["started"].values())
            assert started == pytest.approx(explanation["priority"], rel=1e-9, abs=1e-12)


def test_a_crawl_by_another_ordering_is_explained_as_surf_would_have_it(crawl: Path) -> None:
    explanation = json.loads(explained(crawl, X, "--ordering", "surf", "--json").stdout)["rankers"]["surf"]
    assert {link["url"] for link in explanation["links"]} == {A, B}
    assert sum(link["part"] for link in explanation["links"]) == pytest.approx(explanation["score"])
    assert sum(kind["part"] for kind in explanation["started"].values()) == pytest.approx(explanation["score"])
    assert "seeds:" in explained(crawl, X, "--ordering", "surf").stdout


def crawl_with_everything(folder: Path) -> None:
    rng = np.random.default_rng(5)
    urls = [f"http://h{n % 7}.test/{n}" for n in range(200)]
    with Crawl("surf", folder) as crawl:
        crawl.seed(urls[:3])
        for turn in range(60):
            now = 10.0 * turn
            for url in crawl.take(3, now=now):
                if turn % 9 == 4:
                    crawl.failed(url, retry=False, now=now + 1)
                else:
                    links = [urls[n] for n in rng.integers(0, 200, 6)]
                    crawl.fetched(url, links, now=now + 1, again_at=now + 50 if turn % 5 == 0 else None)
            if turn == 20:
                crawl.seed([urls[150], urls[7]])
            if turn == 30:
                crawl.discover([urls[160]], parent=urls[0])
                crawl.discover([urls[161]])


@pytest.mark.parametrize("columns", [80, 140])
def test_people_are_told_in_lines_that_fit(crawl: Path, columns: int) -> None:
    shown = seen("explain", "crawl", X, columns=columns, cwd=crawl.parent)
    assert "backlink: place 1 of 1 that wait, priority 2, depth 2" in shown.text
    assert f"+1  {A}" in shown.text and shown.widest <= columns


def test_other_orderings_can_be_asked_and_unknown_pages_are_refused(crawl: Path) -> None:
    assert "pagerank: place 1 of 1" in explained(crawl, X, "--ordering", "pagerank").stdout
    unknown = explained(crawl, "http://site.example/none")
    assert unknown.returncode == 2 and "this crawl does not know the page" in unknown.stderr


@pytest.mark.parametrize("queue", ["", "slow"])
@pytest.mark.parametrize("policy", ["bfs", "opic", "surf", "location", "domains", "fpr"])
def test_names_that_are_taken_over_are_those_that_are_read(tmp_path: Path, policy: str, queue: str) -> None:
    """A replay for another ordering, with the names of a crawl that is there, and by reading them all again."""
    with Crawl("backlink", tmp_path / "crawl") as crawl:
        crawl.seed([f"http://h{n}.test/" for n in range(3)])
        crawl.control.limit_host("never-seen.test", delay_s=3.0)
        for turn in range(40):
            for url in crawl.take(1, now=10.0 * turn):
                crawl.fetched(url, [f"http://h{(turn * n) % 7}.test/{turn // 3}/{n}" for n in range(5)], now=10.0 * turn + 1)
        crawl.control.limit_host("h1.test", delay_s=9.0)
        if queue:
            crawl.discover(["http://h1.test/in-a-queue"], queues=[queue])
        crawl.snapshot()
    before = Crawl.recover(tmp_path / "crawl", read_only=True)
    read, taken = (
        Crawl.recover(tmp_path / "crawl", policy, read_only=True, rescore=True, names_of=names) for names in (None, before)
    )
    assert taken.inspect.known == read.inspect.known == before.inspect.known
    assert taken.inspect.next(500) == read.inspect.next(500) and taken.inspect.next(1)
    assert sorted(taken.inspect.hosts(), key=str) == sorted(read.inspect.hosts(), key=str)
    for page in range(read.inspect.known):
        assert taken.lookup(read.url(page)) == read.lookup(read.url(page))
    for one in (before, read, taken):
        one.close()
