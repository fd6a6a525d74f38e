"""Sitemaps: their forms, where they lead, what they say of pages, and that a large one costs no memory."""

from __future__ import annotations

import gzip
import json
import resource
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import brotli
import pytest

from frontrank.crawl.journal import Journal
from frontrank.crawl.status import events
from frontrank.fetching.copies import Copy
from frontrank.fetching.crawler import run
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.sitemap_file import MAX_BYTES, MAX_URLS, TOO_MANY, Hint, moment, read_file, read_sitemap
from frontrank.fetching.crawler.sitemaps import TOO_LARGE
from frontrank.fetching.crawler.summary import Summary
from frontrank.fetching.http.message import Incoming
from frontrank.orderings.revisits import parse
from frontrank.system.workers import Workers
from tests.arrivals import Answer, ArrivalLog, page, text
from tests.test_crawler import Site, served

OPTIONS: dict[str, Any] = {"allow_private": True, "delay": 0.0, "sitemaps": True}
DAY = 86_400.0


def crawl(out: Path, answers: dict[str, Any], **options: Any) -> tuple[Summary, list[str]]:
    with ArrivalLog({"/": page(), **answers}) as server:
        summary = run.crawl(Options(seeds=(f"{server.url}/",), **{**OPTIONS, **options}), out)
    return summary, server.paths()


def xml(*paths: str, index: bool = False) -> Answer:
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    rows = "".join(f"<{inner}><loc>http://127.0.0.1:{{port}}{path}</loc></{inner}>" for path in paths)
    return Answer(body=f"<{outer}>{rows}</{outer}>")


def moved(target: str) -> Answer:
    return Answer(301, headers=(f"Location: {target}",))


# Where they lead -------------------------------------------------------------------------------------------------------------
CASES: dict[str, dict[str, Any]] = {
    "a list": {"/sitemap.xml": text("http://127.0.0.1:{port}/a", "", "  http://127.0.0.1:{port}/b\r")},
    "redirects": {"/sitemap.xml": moved("/s1"), "/s1": moved("http://127.0.0.1:{port}/s2"), "/s2": xml("/a", "/b")},
    "an index that redirects": {
        "/sitemap.xml": moved("/i"), "/i": xml("/1", "/2", index=True),
        "/1": moved("/2"), "/2": xml("/a", "/b"),
    },
    "a feed": {"/sitemap.xml": Answer(body="<rss><item><link>http://127.0.0.1:{port}/a</link></item>"
                                          "<item><link>http://127.0.0.1:{port}/b</link></item></rss>")},
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_pages_of_sitemaps_of_every_form_are_fetched(tmp_path: Path, case: str) -> None:
    summary, paths = crawl(tmp_path / "crawl", {"/a": page(), "/b": page(), **CASES[case]})
    assert {"/a", "/b"} <= set(paths) and summary.fetched == 3


def test_redirects_of_sitemaps_stay_within_the_scope_and_end(tmp_path: Path) -> None:
    with ArrivalLog({"/s": xml("/a")}) as other:
        _, paths = crawl(tmp_path / "away", {"/sitemap.xml": moved(other.url.replace("127.0.0.1", "localhost") + "/s")})
    assert other.paths() == [] and "/a" not in paths
    _, paths = crawl(tmp_path / "round", {"/sitemap.xml": moved("/again"), "/again": moved("/sitemap.xml")})
    assert paths.count("/sitemap.xml") == paths.count("/again") == 3, "five redirects"


PACKED: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "br": brotli.compress, "deflate": zlib.compress}


class Packed(Site):
    """A sitemap in a file of gzip, which the server packs once more."""

    def do_GET(self) -> None:
        home = f"http://{self.headers['Host']}"
        if self.path == "/sitemap.xml":
            packed = gzip.compress(f"<urlset><url><loc>{home}/a</loc></url></urlset>".encode())
            pack = {"gzip": gzip.compress, "br": brotli.compress, "deflate": zlib.compress, "gzip, gzip": gzip.compress}[
                self.coding
            ]
            packed = pack(packed) if self.coding != "gzip, gzip" else pack(pack(packed))
            self.answer(200, packed, headers={"Content-Encoding": self.coding})
        else:
            self.answer(200, "<p>page")

    coding = ""


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "gzip, gzip"])
def test_packed_sitemaps_are_read_however_they_are_packed(tmp_path: Path, coding: str) -> None:
    Packed.coding = coding
    with served(Packed) as url:
        assert run.crawl(Options(seeds=(f"{url}/",), robots=False, **OPTIONS), tmp_path / "crawl").fetched == 2


# What they say ---------------------------------------------------------------------------------------------------------------
def entry(more: str) -> bytes:
    return f"<urlset><url><loc>http://a/</loc>{more}</url></urlset>".encode()


@pytest.mark.parametrize(
    ("more", "hint"),
    [
        ("<lastmod>2024-01-01</lastmod>", Hint(changed_at=1704067200.0)),
        ("<lastmod>2024-01-01T00:00:00Z</lastmod><priority>0.8</priority>", Hint(1704067200.0, None, 0.8)),
        ("<changefreq> Weekly </changefreq><priority>7</priority>", Hint(None, 7 * DAY, 1.0)),
        ("<priority>-1</priority><lastmod>soon</lastmod>", Hint(priority=0.0)),
        ("<priority>nan</priority><changefreq>often</changefreq>", None),
        ("<lastmod>9999999999-01-01</lastmod><priority>0.5</priority>", None),
        ("<priority>1e999</priority>", Hint(priority=1.0)),
    ],
)
def test_what_a_sitemap_says_of_a_page_is_read_or_passed_over(more: str, hint: Hint | None) -> None:
    assert read_sitemap(entry(more), 9).hints == ({"http://a/": hint} if hint else {})


@pytest.mark.parametrize("written", ["2024", "2024-13", "0000-01-01", "2024-01-01T25:00", "x" * 1000, "", "²024"])
def test_moments_never_raise(written: str) -> None:
    assert moment(written) in (None, 1704067200.0)


def test_the_longer_of_a_promise_and_half_the_age_counts() -> None:
    now = 100 * DAY
    assert Hint(changed_at=60 * DAY, every_s=DAY).wait_s(now) == 20 * DAY
    assert Hint(changed_at=99 * DAY, every_s=7 * DAY).wait_s(now) == 7 * DAY
    assert Hint(changed_at=200 * DAY).wait_s(now) == Hint(priority=1.0).wait_s(now) == 0.0, "the future says nothing"


@pytest.mark.parametrize("spec", ["bfs", "backlink"])
def test_listed_pages_go_by_priority_and_date_until_links_tell_them_apart(tmp_path: Path, spec: str) -> None:
    said = {
        "/plain": "",
        "/low": "<priority>0.1</priority>",
        "/old": "<priority>0.9</priority><lastmod>2020-01-01</lastmod>",
        "/new": "<priority>0.9</priority><lastmod>2024-01-01</lastmod>",
        "/future": "<priority>0.9</priority><lastmod>9000-01-01</lastmod>",
    }
    rows = "".join(f"<url><loc>http://127.0.0.1:{{port}}{path}</loc>{more}</url>" for path, more in said.items())
    site = {**{path: page() for path in said}, "/sitemap.xml": Answer(body=f"<urlset>{rows}</urlset>")}
    _, paths = crawl(tmp_path / "crawl", site, policy=spec, in_flight=1)
    assert [path for path in paths if path in said] == ["/new", "/old", "/future", "/plain", "/low"]


def test_a_revisit_policy_takes_it_as_the_first_wait_within_its_bounds() -> None:
    waits = {spec: parse(spec).expecting(400 * DAY).next_wait(0, 0, 0.0, 0.0) / DAY for spec in ("adaptive", "gain", "fixed")}
    assert waits == {"adaptive": 30.0, "gain": 30.0, "fixed": 1.0}, "up to max_wait; fixed is what was asked for"
    assert parse("adaptive").expecting(0.0) == parse("adaptive")


def test_pages_wait_for_their_first_revisit_as_their_sitemap_says_also_after_a_resume(tmp_path: Path) -> None:
    weekly = xml("/listed").body.replace("</loc>", "</loc><changefreq>weekly</changefreq>")
    site = {"/": page("/plain"), "/plain": page(), "/listed": page(), "/sitemap.xml": Answer(body=weekly)}
    out = tmp_path / "crawl"
    with ArrivalLog(site) as server:
        options = Options(seeds=(f"{server.url}/",), revisit="adaptive", budget=1, **OPTIONS)
        run.crawl(options, out)
        assert "/listed" not in server.paths()
        run.resume(out, {"budget": 3})
    journal = Journal.open(out, read_only=True)
    try:
        urls = [url for some, _ in journal.urls() for url in some]
        copies = {
            urls[page].removeprefix(server.url): Copy.unpack(data) for page, data in journal.attached(range(len(urls))).items()
        }
    finally:
        journal.close()
    assert {path: copy.wait_s / DAY for path, copy in copies.items()} == {"/": 1.0, "/plain": 1.0, "/listed": 7.0}
    assert all(copy.visits == 0 and copy.first_at for copy in copies.values())


def test_a_listed_page_that_never_came_is_not_scheduled(tmp_path: Path) -> None:
    weekly = xml("/gone").body.replace("</loc>", "</loc><changefreq>weekly</changefreq>")
    site = {"/sitemap.xml": Answer(body=weekly), "/gone": Answer(403)}
    summary, paths = crawl(tmp_path / "crawl", site, revisit="adaptive", budget=2)
    assert paths.count("/gone") == 1 and summary.failures == {"http 403": 1}
    assert "schedule" not in {event["kind"] for event in events(tmp_path / "crawl")}


# Size ------------------------------------------------------------------------------------------------------------------------
def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_a_sitemap_of_50_mb_is_read_within_a_bounded_memory(tmp_path: Path) -> None:
    """All but its URLs: entries with long captions, once plain, once packed."""
    rows = [b"<url><loc>http://a.example/%d</loc><x>%s</x></url>" % (n, b"word " * 1_000) for n in range(10_000)]
    body = b"<urlset>" + b"".join(rows)
    (tmp_path / "plain.xml").write_bytes(body[:MAX_BYTES])
    (tmp_path / "packed.xml.gz").write_bytes(gzip.compress(body, 1))
    with Workers(1, cpu_s=60.0, wall_s=600.0) as workers:
        assert workers.call(read_sitemap, b"".join(rows[:10]), 10).urls
        before = workers.call(peak_bytes)
        for file in ("plain.xml", "packed.xml.gz"):
            listed = workers.call(read_file, str(tmp_path / file), [], 1_000_000)
            assert 9_900 < len(listed.urls) <= 10_000 and not listed.is_index
        assert workers.call(peak_bytes) - before < 16 * 2**20


def test_a_body_that_goes_elsewhere_is_not_kept_and_ends_at_its_limit() -> None:
    pieces: list[bytes] = []
    coming = Incoming(100, truncate=True, sink=pieces.append)
    assert not coming.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b"a" * 60)
    assert coming.feed(b"b" * 60)
    assert (b"".join(pieces), coming.body, coming.reusable) == (b"a" * 60 + b"b" * 40, b"", False)


def test_a_file_that_lists_too_much_is_cut_off() -> None:
    body = b"".join(b"http://a.example/%d\n" % n for n in range(MAX_URLS + 10))
    listed = read_sitemap(body, 10 * MAX_URLS)
    assert (len(listed.urls), listed.cut) == (MAX_URLS, TOO_MANY)
    assert read_sitemap(body, 5).cut == "", "the crawl has all that it may have"


def test_a_sitemap_beyond_the_limit_is_read_up_to_it_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontrank.fetching.crawler.sitemaps.MAX_BYTES", 200)
    summary, _ = crawl(tmp_path / "crawl", {"/a": page(), "/sitemap.xml": xml("/a", *(f"/{n}" for n in range(99)))})
    assert summary.not_followed == json.loads(json.dumps(summary.json()))["not_followed"] == {TOO_LARGE: 1}
    assert summary.fetched >= 2
