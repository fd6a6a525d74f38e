"""Traps: endless regions are found while a crawl runs and held to a share of it; ordinary sites are left alone."""

from __future__ import annotations

import random
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np
import pytest

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.events.control import RuleSet
from frontrank.crawl.status import events
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.regions import MIN_PAGES, Regions
from frontrank.fetching.crawler.run import crawl as fetch_all
from frontrank.fetching.crawler.run import resume
from frontrank.fetching.crawler.traps import Traps
from frontrank.fetching.url_families import expression
from frontrank.sources import load
from frontrank.web.web import Web
from tests.conftest import ROOT
from tests.patience import PATIENCE_S
from tests.test_crawler import LOCAL, Site, command, fetched, links, served

SITES = ("apache", "boost", "django", "linux", "openjdk", "postgres", "python311", "rust")
HOST = "http://a.example"
Page = tuple[str, list[str]]  # title, links


# Replayed --------------------------------------------------------------------------------------------------------------------
def traps_of(site: Callable[[str], Page], seeds: list[str], pages: int, policy: str) -> set[str]:
    """What is taken for a trap in a crawl of so many pages of a site."""
    crawl, regions = Crawl(policy), Regions(seeds)
    crawl.seed(seeds)
    found: set[str] = set()
    while len(crawl.state.progress.order) < pages and (urls := crawl.take()):
        first_new = crawl.inspect.known
        title, targets = site(urls[0])
        crawl.fetched(urls[0], targets, title)
        page = crawl.lookup(urls[0])
        row = crawl.state.links.rows.target[crawl.state.links.rows.start[page] : crawl.state.links.rows.stop[page]].tolist()
        found |= {one.name for one in regions.fetched(page, urls[0], title, {to: crawl.url(to) for to in row}, first_new)}
    return found


def site_of(web: Web) -> Callable[[str], Page]:
    assert web.urls is not None
    urls = web.urls
    titles = [""] * web.pages if web.titles is None else web.titles
    number = {url: page for page, url in enumerate(urls)}

    def site(url: str) -> Page:
        page = number[url]
        return titles[page], [urls[to] for to in web.targets[web.indptr[page] : web.indptr[page + 1]].tolist()]

    return site


@pytest.mark.parametrize("policy", ["bfs", "dfs", "surf", "random"])
@pytest.mark.parametrize("name", SITES)
def test_no_documentation_is_a_trap(data_dir: Path, name: str, policy: str) -> None:
    web = load(data_dir / "documentation" / name)
    assert web.urls is not None
    shallow = min(web.urls, key=lambda url: (url.count("/"), "index" not in url, len(url)))
    assert traps_of(site_of(web), [shallow], 5_000, policy) == set()


def test_of_the_demo_s_web_only_the_calendar_is_a_trap() -> None:
    web = load("synthetic:pages=4000,hosts=40,text=0,trap=400,seed=7")
    assert web.urls is not None and web.seeds is not None
    found = traps_of(site_of(web), [web.urls[page] for page in web.seeds.tolist()], 4_000, "bfs")
    assert found and all("/calendar/" in name for name in found)


def token(url: str, many: int) -> list[str]:
    made = random.Random(url)
    return ["".join(made.choices("abcdefghijklmnopqrstuvwxyz", k=9)) for _ in range(many)]


def month(url: str) -> Page:
    year, at = map(int, url.rstrip("/").split("/")[-2:])
    near = [12 * year + at - 2, 12 * year + at]
    return f"{at}. {year}", [f"{HOST}/x/{one // 12}/{one % 12 + 1}/" for one in near]


def filtered(url: str) -> Page:
    query = dict(parse_qsl(urlsplit(url).query))
    options = [(key, value) for key in ("color", "size", "brand", "sort", "rate") for value in "abcd"]
    return "Shop", [f"{HOST}/x/shop?{urlencode(query | {key: value})}" for key, value in options]


def following(url: str) -> Page:
    at = int(url.rpartition("=")[2])
    return f"List, page {at}", [f"{HOST}/x/list?page={one}" for one in (1, at - 1, at + 1)]


ENDLESS: dict[str, tuple[str, Callable[[str], Page]]] = {
    "random names": ("start/", lambda url: ("Page", [f"{HOST}/x/{name}/" for name in token(url, 5)])),
    "random names and titles": ("start/", lambda url: (url, [f"{HOST}/x/{name}/" for name in token(url, 5)])),
    "relative links": ("a/", lambda url: ("Help", [f"{url}{name}/" for name in "abc"])),
    "a calendar": ("2030/1/", month),
    "filters": ("shop?sort=a", filtered),
    "pagination": ("list?page=1", following),
    "session ids": (
        "?sid=0",
        lambda url: ("Home" + url[-9:-7], [f"{HOST}/x/{i}?sid={s}" for i, s in enumerate(token(url, 9))]),
    ),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_traps_of_every_kind_are_found(kind: str) -> None:
    entry, trap = ENDLESS[kind]
    ordinary = [f"{HOST}/docs/{i}.html" for i in range(60)]

    def site(url: str) -> Page:
        return trap(url) if "/x/" in url else (url, [*ordinary[:30], f"{HOST}/x/{entry}", ordinary[len(url) % 60]])

    found = traps_of(site, [f"{HOST}/"], 400, "bfs")
    assert found and all(name.startswith(("a.example/x/", "a.example/<...>?")) for name in found)


def test_a_region_in_which_a_seed_lies_is_none() -> None:
    def site(url: str) -> Page:
        return "Page", [f"{HOST}/x/{name}/" for name in token(url, 5)]

    assert traps_of(site, [f"{HOST}/"], 120, "bfs") == {"a.example/x/<...>"}
    assert traps_of(site, [f"{HOST}/x/"], 120, "bfs") == set()


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontrank.fetching.crawler.regions.MAX_REGIONS", 1_000)
    regions = Regions([])
    for page in range(2_000):
        regions.fetched(page, f"{HOST}/{page}/a/b/c", "", {page + 1: f"{HOST}/{page + 1:x}x/{page}y/b/c"}, page + 1)
        assert len(regions.regions) <= 1_000


# Limited ---------------------------------------------------------------------------------------------------------------------
class Trapped(Site):
    """Four hundred ordinary pages, and a page that leads on and on."""

    def do_GET(self) -> None:
        self.asked.append((0.0, self.path, ""))
        at = int(self.path[3:]) if self.path.startswith("/p/") else 0
        near = [f"/p/{one % 400}" for one in (at + 1, 2 * at + 1, 3 * at + 2, at * at + 7, at // 2, at // 3, 5)]
        if self.path.startswith("/x/"):
            self.answer(200, links(*(f"/x/{name}" for name in token(self.path, 9)), head="<title>More</title>"))
        else:
            self.answer(200, links(*near, "/x/start", head=f"<title>{self.path}</title>"))


OPTIONS = {"delay": 0.0, "per_host": 0, "robots": False, "allow_private": True, "warc": False}


def share_of(out: Path) -> int:
    return sum("/x/" in url for url in fetched(out))


def test_a_trap_is_held_to_its_share_until_that_is_lifted(tmp_path: Path) -> None:
    out = tmp_path / "it's a crawl"
    with served(Trapped) as url:
        told = fetch_all(Options((f"{url}/",), "bfs", 400, in_flight=4, **OPTIONS), out)  # type: ignore[arg-type]
        most = MIN_PAGES + 4
        assert told.fetched == 400 and MIN_PAGES <= share_of(out) <= most
        (trap,) = told.traps
        assert (trap.pattern, trap.pages, trap.limited) == (f"{url[7:]}/x/<...>", share_of(out), True)
        resume(out, {"budget": 430})
        assert share_of(out) <= most, "it is stored"
        lift = shlex.split(told.lift(trap))
        subprocess.run([*command("x")[:3], *lift[1:]], check=True, timeout=PATIENCE_S, cwd=ROOT)
        told = resume(out, {"budget": 800})
        assert share_of(out) > most + 100, "it was lifted, and is not set again"
        assert [trap.limited for trap in told.traps] == [False]
    rules = [event for event in events(out) if event["kind"] == RuleSet.name]
    assert [rule["pattern"] for rule in rules] == 2 * [expression(trap.pattern)]


def test_a_share_of_everything_is_a_report_alone(tmp_path: Path) -> None:
    with served(Trapped) as url:
        told = fetch_all(Options((f"{url}/",), "bfs", 300, trap_share=1.0, **OPTIONS), tmp_path / "crawl")  # type: ignore[arg-type]
    assert share_of(tmp_path / "crawl") > 150
    assert [trap.limited for trap in told.traps] == [False]


def test_a_summary_says_how_to_go_on_with_a_trap_and_without(tmp_path: Path) -> None:
    with served(Trapped) as url:
        done = subprocess.run(
            command(f"{url}/", "--out", tmp_path / "crawl", *LOCAL, "--no-robots", "--ordering", "bfs", "--budget", "300"),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=True,
        )
        lines = [line.strip() for line in done.stdout.splitlines()]
        (without,) = [line for line in lines if "--exclude" in line]
        assert [line for line in lines if " limit " in line and "--budget 0" in line]
        assert all(
            len(line) <= 80 for line in lines if "--resume" not in line and " limit " not in line and "report:" not in line
        )
        arguments = shlex.split(without)
        again = subprocess.run(
            command(*arguments[arguments.index("--resume") :], "--json"), capture_output=True, timeout=PATIENCE_S, check=True
        )
    assert b'"excluded"' in again.stdout


def test_a_trap_is_found_though_the_crawl_ends_and_is_resumed_in_it(tmp_path: Path) -> None:
    def crawl_on(crawl: Crawl, pages: int) -> Traps:
        traps = Traps(crawl, Options((f"{HOST}/",)))
        for _ in range(pages):
            (url,) = crawl.take()
            first_new, names = crawl.inspect.known, token(url, 2) if "/x/" in url else ["0"]
            further = [(f"{HOST}/x/{name}", "") for name in names]
            crawl.fetched(url, further, "More")
            traps.fetched(crawl.lookup(url), url, "More", further, first_new)
        return traps

    with Crawl("bfs", tmp_path / "crawl") as crawl:
        crawl.seed([f"{HOST}/"])
        assert not crawl_on(crawl, 70).found
    with Crawl.recover(tmp_path / "crawl") as crawl:
        assert [trap["pattern"] for trap in crawl_on(crawl, 32).found.values()] == ["a.example/x/<...>"]


def test_the_share_grows_with_the_crawl(tmp_path: Path) -> None:
    crawl = Crawl("bfs")
    crawl.seed([f"{HOST}/"])
    traps = Traps(crawl, Options((f"{HOST}/",), trap_share=0.5))
    crawl.control.limit_pattern("://a.example/x/", budget=5)
    traps.found["://a.example/x/"] = {"pattern": "a.example/x/<...>", "before": 45, "budget": 5}
    counts = []
    for page in range(300):
        crawl.take()
        first_new = crawl.inspect.known
        following = [(f"{HOST}/{page}", "")]
        crawl.fetched(f"{HOST}/{page - 1}" if page else f"{HOST}/", following)
        traps.fetched(crawl.lookup(following[0][0]) - 1, f"{HOST}/{page - 1}" if page else f"{HOST}/", "", following, first_new)
        counts.append(crawl.state.rules.families["://a.example/x/"].rule.budget)
    assert sorted(set(counts)) == [5, 30, 80] and np.all(np.diff(counts) >= 0)
