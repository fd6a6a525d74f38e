"""A crawl of servers whose pages, sitemaps and robots.txt take their reader minutes: all others are served meanwhile."""

from __future__ import annotations

import gzip
import logging
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from frontrank.fetching.crawler import run
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.sitemap_file import TOOK_TOO_LONG, read_sitemap
from frontrank.fetching.crawler.summary import Summary
from frontrank.pages.bounded import TOO_LONG
from frontrank.system.workers import TooLong, Workers
from tests import slow
from tests.patience import PATIENCE_S
from tests.test_bounded import HOSTILE
from tests.test_crawler import Site, fetched, links, records, served
from tests.test_robots import FILES

CHAIN = 40  # pages of the host beside the hostile one, each found on the one before it


class Slow(Site):
    """/slow stays in its reader until the last page of the chain was sent: /chain/1 is answered when /slow was sent, /chain/2
    is found on it, and so on."""

    body: bytes
    sent: threading.Event
    all_served: Path

    def do_GET(self) -> None:
        if self.path == "/slow":
            self.answer(200, self.body)
            self.sent.set()
        elif self.path.startswith("/chain/"):
            self.sent.wait(PATIENCE_S)
            number = int(self.path[7:])
            self.answer(200, links(*([f"/chain/{number + 1}"] if number < CHAIN else [])))
            if number == CHAIN:
                self.all_served.touch()
        else:
            self.answer(200, links())


def waiting(folder: Path, body: bytes) -> bytes:
    """What takes a reader of ``tests.slow`` until the chain is served."""
    Slow.sent, Slow.all_served = threading.Event(), folder / "served"
    return slow.WAITS % os.fsencode(Slow.all_served) + body


def crawled(seeds: Iterable[str], out: Path, **options: Any) -> Summary:
    """A crawl in this process, whose readers are a test's own."""
    given = {"scope": "any", "robots": False, "allow_private": True, "delay": 0.0, "timeout": PATIENCE_S, **options}
    return run.crawl(Options(seeds=tuple(seeds), **given), out)


def chain(url: str, upto: int = CHAIN) -> set[str]:
    return {f"{url}/chain/{n}" for n in range(1, upto + 1)}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that waits for the test is not ended by the clock; the processor's time ends it."""
    monkeypatch.setattr("frontrank.fetching.parsing.MIN_WALL_S", PATIENCE_S)


def test_other_hosts_are_served_while_a_page_is_in_its_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "crawl"
    Slow.body = waiting(tmp_path, links("/found").encode() + HOSTILE["attributes of body"]())
    monkeypatch.setattr("frontrank.pages.html.parse", slow.page)
    with served(Slow) as url:
        beside = url.replace("127.0.0.1", "localhost")
        told = crawled([f"{beside}/slow", f"{url}/chain/1"], out)
    order = fetched(out)
    assert chain(url, CHAIN - 1) <= set(order[: order.index(f"{beside}/slow")]), "the last one was sent before it was parsed"
    assert set(order) == {f"{beside}/slow", f"{beside}/found", *chain(url)}
    assert told.not_followed == {TOO_LONG: 1}
    assert sorted(records(out)) == sorted((url, 200) for url in order), "it is stored like any other"


# Sitemaps --------------------------------------------------------------------------------------------------------------------
NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'


def test_a_sitemap_lists_pages_and_nothing_else() -> None:
    body = f"""<?xml version="1.0" encoding="UTF-8"?><urlset {NS}>
        <url><loc>\n http://a.example/x[1]?b=1&amp;c=2 </loc><image:image><image:loc>http://a.example/i.png</image:loc></image:image></url>
        <!-- <url><loc>http://a.example/commented</loc></url> -->
        <url><loc><![CDATA[http://a.example/é?sid=1]]></loc><lastmod>2024-01-01</lastmod></url>
        <url><lastmod>2024-01-01</lastmod></url>
        <url><loc>  </loc></url>
        <url><loc>http://a.example/{"x" * 3000}</loc></url>
        <url><loc>http://a.example/last</loc>"""
    expected = ["http://a.example/x[1]?b=1&c=2", "http://a.example/%C3%A9", "http://a.example/last"]
    assert read_sitemap(body.encode(), 10)[:3] == (False, expected, "")
    assert read_sitemap(gzip.compress(body.encode()), 2)[:3] == (False, expected[:2], "")
    index = b"<sitemapindex><sitemap><loc>http://a.example/1.xml</loc></sitemap></sitemapindex>"
    assert read_sitemap(index, 10) == (True, ["http://a.example/1.xml"], "", {})


MB = 1_000_000
BOMB = b"".join(b'<!ENTITY a%d "%s">' % (i + 1, b"&a%d;" % i * 10) for i in range(20))
SITEMAPS: dict[str, Callable[[], bytes]] = {  # each took minutes, or might
    "open locs": lambda: b"<urlset>" + b"<url><loc>   " * (4 * MB),
    "blanks": lambda: b"<urlset><url><loc>" + b" " * (50 * MB),
    "entities": lambda: b'<!DOCTYPE x [<!ENTITY a0 "aaaa">' + BOMB + b"]><urlset><url><loc>http://a/&a20;</loc></url></urlset>",
    "references": lambda: b"<urlset><url><loc>" + b"&" * (20 * MB),
    "attributes": lambda: b"<urlset " + b" ".join(b"a%d=''" % i for i in range(MB // 2)) + b"/>",
    "elements": lambda: b"<urlset>" + b"<a/>" * (12 * MB),
    "less than": lambda: b"<" * (50 * MB),
    "text": lambda: b"http://a.example/\n" * (2 * MB),
    "packed": lambda: gzip.compress(bytes(200 * MB), 1),
    "nothing": lambda: b"",
    "torn": lambda: gzip.compress(b"<urlset>")[:9],
}


@pytest.mark.parametrize("name", SITEMAPS)
def test_no_sitemap_takes_for_ever_or_raises(name: str) -> None:
    """They take seconds of the processor; what took minutes would not end within the one that is given here."""
    with Workers(1, cpu_s=60.0, wall_s=PATIENCE_S) as workers:
        if name == "elements":
            workers.cpu_s = 0.5  # a fraction of what it takes
            with pytest.raises(TooLong):
                workers.call(read_sitemap, SITEMAPS[name](), 100)
            workers.cpu_s = 60.0
        else:
            listed = workers.call(read_sitemap, SITEMAPS[name](), 100)
            expected = ["http://a.example/"] if name == "text" else []
            assert listed == (False, expected, "", {}), "read to its end, within the deadline that is set here"
        assert workers.call(read_sitemap, b"<urlset><url><loc>http://a/</loc></url></urlset>", 1).urls == ["http://a/"]


def test_what_was_found_when_the_time_is_up_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(100))
    monkeypatch.setattr("frontrank.fetching.crawler.sitemap_file.time.process_time", lambda: float(next(ticks)))
    listed = read_sitemap(b"<urlset>%s</urlset>" % b"".join(b"<url><loc>http://a/%d</loc></url>" % i for i in range(50)), 100)
    assert listed.cut and listed.urls == [f"http://a/{i}" for i in range(8)]


class SlowMap(Slow):
    """A site whose sitemap takes seconds to read, once the other one is served."""

    def do_GET(self) -> None:
        is_slow = self.headers["Host"].startswith("localhost")
        if self.path == "/sitemap.xml":
            good = f"<urlset><url><loc>http://{self.headers['Host']}/listed</loc></url></urlset>"
            self.answer(200, self.body if is_slow else good)
            if is_slow:
                self.sent.set()
            return
        self.asked.append((0.0, self.path, "slow" if is_slow else "other"))
        super().do_GET()


class WhenGivenUp(logging.Handler):
    """Of which sites pages were asked for when the crawl gave the sitemap up."""

    asked: list[str] | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if "/sitemap.xml: TooLong()" in record.getMessage():
            self.asked = [site for _, _, site in SlowMap.asked]


def test_other_hosts_are_served_while_a_sitemap_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "crawl"
    SlowMap.body = waiting(tmp_path, SITEMAPS["elements"]())
    monkeypatch.setattr("frontrank.fetching.crawler.sitemaps.read_file", slow.sitemap)
    monkeypatch.setattr("frontrank.fetching.crawler.sitemaps.CPU_S", 1.0)  # the file takes many times that
    given_up, log = WhenGivenUp(), logging.getLogger("frontrank.fetching.crawler")
    log.addHandler(given_up)
    try:
        with served(SlowMap) as url:
            beside = url.replace("127.0.0.1", "localhost")
            told = crawled([f"{beside}/page", f"{url}/chain/1"], out, sitemaps=True)
    finally:
        log.removeHandler(given_up)
    assert given_up.asked is not None and len(given_up.asked) >= CHAIN, "the whole other site was served meanwhile"
    assert set(given_up.asked) == {"other"}, "its own pages wait for it"
    assert set(fetched(out)) == {f"{beside}/page", f"{url}/listed", *chain(url)}
    assert told.not_followed == {TOOK_TOO_LONG: 1}


# robots.txt ------------------------------------------------------------------------------------------------------------------
class SlowRobots(Slow):
    """A site whose robots.txt is long and costly to ask, and read once the other one is served."""

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            is_slow = self.headers["Host"].startswith("localhost")
            self.answer(200, self.body if is_slow else "", kind="text/plain")
            if is_slow:
                self.sent.set()
        else:
            super().do_GET()


def test_other_hosts_are_served_while_a_robots_txt_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "crawl"
    SlowRobots.body = waiting(tmp_path, FILES["short needles"].encode())
    monkeypatch.setattr("frontrank.fetching.robots.read_robots", slow.robots)
    with served(SlowRobots) as url:
        beside = url.replace("127.0.0.1", "localhost")
        own = [f"{beside}/{'a' * 1_900}/{n}" for n in range(5)]
        crawled([*own, f"{url}/chain/1"], out, robots=True)
    order = fetched(out)
    assert set(order[: CHAIN - 1]) == chain(url, CHAIN - 1), "its own pages wait for it, those of others do not"
    assert set(order) == {*own, *chain(url)}
