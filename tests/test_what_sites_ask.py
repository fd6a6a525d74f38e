"""What sites ask of crawlers, by robots.txt, headers and markup: what a crawl does, and that simulations see the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from frontrank.crawl.events import Fetched, parts_of_note
from frontrank.crawl.journal import Journal
from frontrank.crawl.status import events
from frontrank.errors import SourceError
from frontrank.fetching.crawler import run
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.summary import Summary
from frontrank.fetching.robots_file import read_robots
from frontrank.pages import html
from frontrank.pages.directives import NOTHING, PURPOSES, Directives, of_header, of_meta
from frontrank.pages.feeds import read_feed
from frontrank.pages.relations import links_of_header, refresh_target
from frontrank.pages.warc_reader import records
from frontrank.sources import load
from frontrank.system.workers import Workers
from tests.arrivals import Answer, ArrivalLog, page, text
from tests.commands import run_command

HTML, PDF = "Content-Type: text/html", "Content-Type: application/pdf"


def markup(head: str = "", body: str = "", *headers: str) -> Answer:
    return Answer(body=f"<html><head><title>a title</title>{head}</head><body>{body}</body></html>", headers=(HTML, *headers))


def meta(name: str, content: str) -> str:
    return f"<meta name='{name}' content='{content}'>"


LINK = "<a href='/unlinked'>x</a>"
ENTRY = "<entry><title>One</title><link href='/of-atom'/></entry>"
ATOM = f"<feed xmlns='http://www.w3.org/2005/Atom'><title>News</title>{ENTRY}</feed>"
RSS = "<?xml version='1.0'?><rss><channel><link>/</link><item><title>Two</title><link>/of-rss</link></item></channel></rss>"
ASKING = {
    "/hidden": markup(meta("robots", "noindex"), "secret words"),
    "/tagged": markup("", "words", "X-Robots-Tag: noindex, nofollow, otherbot: noai"),
    "/none": markup("", LINK, "X-Robots-Tag: NONE"),
    "/to-others": markup(meta("googlebot", "noindex,nofollow"), "<a href='/of-others'>x</a>", "X-Robots-Tag: otherbot: none"),
    "/to-us": markup(meta("robots", "none") + meta("frontrank", "follow, noai"), "<a href='/of-us'>x</a>"),
    "/meta-nofollow": markup(meta("frontrank", "nofollow"), LINK),
    "/noai": markup("", "words", "X-Robots-Tag: noai, noimageai"),
    "/reserved": markup("", "words", "tdm-reservation: 1"),
    "/mined": markup(meta("tdm-reservation", "0"), "words", "tdm-reservation: 1"),
    "/noarchive": markup(meta("robots", "noarchive"), "words"),
    "/file.pdf": Answer(body="pdf", headers=(PDF, "X-Robots-Tag: noindex", 'Link: </file.html>; rel="canonical"')),
}
LINKING = {
    "/canonical": markup("<link rel='canonical' href='/original'>"),
    "/self": markup("<link rel=canonical href='/self#top'>"),
    "/refresh": markup("<meta http-equiv=refresh content='0; url=/refreshed'>"),
    "/frames": Answer(body="<html><frameset><frame src='/frame'></frameset></html>", headers=(HTML,)),
    "/iframes": markup("", "<iframe src='/iframe'></iframe>"),
    "/announces": markup("<link rel=alternate type='application/rss+xml' title='All news' href='/rss'>"),
    "/rss": Answer(body=RSS, headers=("Content-Type: text/xml",)),
    "/atom": Answer(body=ATOM, headers=("Content-Type: application/atom+xml",)),
}
LED_TO = ("/original", "/refreshed", "/frame", "/iframe", "/of-rss", "/of-atom", "/file.html", "/of-others", "/of-us")
SITE: dict[str, Any] = {
    "/": page(*ASKING, *(path for path in LINKING if path != "/rss")),
    **ASKING,
    **LINKING,
    **{path: markup() for path in LED_TO},
}
OPTIONS = {"allow_private": True, "delay": 0.0}


class Crawled:
    """A crawl of a site that asks for much."""

    def __init__(self, out: Path, answers: Mapping[str, Any], **options: Any) -> None:
        self.out = out
        with ArrivalLog(answers) as server:
            self.summary: Summary = run.crawl(Options(seeds=(f"{server.url}/",), **{**OPTIONS, **options}), out)
        self.url, self.requested = server.url, server.paths()

    def metadata(self) -> dict[str, dict[str, Any]]:
        journal = Journal.open(self.out, read_only=True)
        try:
            rows = journal.select(("page", "note"), (Fetched.kind,))
            pages = {journal.url(number).removeprefix(self.url): parts_of_note(note)[1] for number, note in rows}
        finally:
            journal.close()
        return {path: values for path, values in pages.items() if values}

    def links(self) -> dict[str, int]:
        return {event["url"].removeprefix(self.url): event["links"] for event in events(self.out) if event["kind"] == "fetched"}

    def kept(self) -> set[str]:
        """The paths of pages in its WARC files."""
        found = (record.head for file in (self.out / "warc").iterdir() for record in records(str(file)))
        return {head["warc-target-uri"].removeprefix(self.url) for head in found if head["warc-type"] == "response"}


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Crawled]:
    """The same site, crawled for each purpose."""
    folder = tmp_path_factory.mktemp("asking")
    return {purpose: Crawled(folder / purpose, SITE, purpose=purpose) for purpose in PURPOSES}


INDEX = ["/hidden", "/tagged", "/none", "/file.pdf"]
WITHHELD = {
    "search": dict.fromkeys(INDEX, "noindex"),
    "train": {**dict.fromkeys(INDEX, "noindex"), **dict.fromkeys(("/noai", "/to-us"), "noai"), "/reserved": "tdm-reservation"},
    "archive": {**dict.fromkeys(INDEX, "noindex"), "/noarchive": "noarchive"},
}


@pytest.mark.parametrize("purpose", PURPOSES)
def test_what_is_withheld_by_purpose_is_stored_with_the_page_and_counted(crawls: dict[str, Crawled], purpose: str) -> None:
    crawl, expected = crawls[purpose], WITHHELD[purpose]
    assert {path: said["withheld"] for path, said in crawl.metadata().items() if "withheld" in said} == expected
    counts = {reason: list(expected.values()).count(reason) for reason in expected.values()}
    assert crawl.summary.withheld == crawl.summary.json()["withheld"] == counts
    assert "fetched, but not to be used: noindex (4)" in crawl.summary.text()
    assert json.loads(run_command("status", crawl.out, "--json").stdout)["withheld"] == counts
    assert "not to be used" in run_command("status", crawl.out).stdout
    kept = {path for path, reason in expected.items() if reason == "noindex"}
    assert crawl.kept() & expected.keys() == kept, "bytes that the owner reserves are not kept; what is not to be indexed is"


def test_titles_of_withheld_pages_are_not_stored(crawls: dict[str, Crawled]) -> None:
    titles = {url.removeprefix(crawls["search"].url): title for url, title, _ in crawls["search"].summary.first}
    assert titles["/hidden"] == "" and titles["/noai"] == "a title"


def test_nofollow_is_obeyed_in_headers_and_by_name(crawls: dict[str, Crawled]) -> None:
    crawl = crawls["search"]
    assert "/unlinked" not in crawl.requested
    assert crawl.summary.not_followed == {"nofollow": 2}, "one link of each of /none and /meta-nofollow"
    assert {"/of-others", "/of-us"} <= set(crawl.requested), "not meant for us, and meant for us alone"


def test_links_that_are_no_a_elements_are_followed(crawls: dict[str, Crawled]) -> None:
    crawl = crawls["search"]
    assert set(LED_TO) <= set(crawl.requested)
    assert {path: crawl.links()[path] for path in ("/canonical", "/self", "/refresh", "/rss", "/atom", "/file.pdf")} == {
        **dict.fromkeys(("/canonical", "/refresh", "/atom", "/file.pdf"), 1),
        "/self": 0,
        "/rss": 2,
    }
    canonical = {
        path: said["canonical"].removeprefix(crawl.url) for path, said in crawl.metadata().items() if "canonical" in said
    }
    assert canonical == {"/canonical": "/original", "/file.pdf": "/file.html"}, "a page that names itself needs no column"


def test_a_simulation_of_the_captured_crawl_sees_the_same_links(crawls: dict[str, Crawled]) -> None:
    crawl = crawls["search"]
    web = load(f"{crawl.out}/warc")
    assert web.urls is not None
    places = {url.removeprefix(crawl.url): place for place, url in enumerate(web.urls)}
    assert {path: len(web.targets_of(places[path])) for path in crawl.links()} == crawl.links()


@pytest.mark.parametrize("spec", ["bfs", "backlink"])
def test_orderings_see_canonical_links_like_any_others(tmp_path: Path, spec: str) -> None:
    """Three copies name one original, one page links to another: of both, the original has more links to it."""
    copies = {f"/copy/{n}": markup("<link rel=canonical href='/original'>") for n in range(3)}
    site = {"/": page("/one", *copies), "/one": page("/other"), **copies, "/original": page(), "/other": page()}
    crawl = Crawled(tmp_path / "crawl", site, policy=spec, in_flight=1)
    order = [path for path in crawl.requested if path in ("/original", "/other")]
    assert order == (["/other", "/original"] if spec == "bfs" else ["/original", "/other"])


# Purposes in robots.txt ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("lines", "forbidden"),
    [
        (["User-agent: *", "Content-Signal: search=yes, ai-train=no", "Allow: /"], {"train": "ai-train"}),
        (["Content-Signal: search=no"], {"search": "search"}),
        (["User-agent: *", "Content-Signal: search=no", "User-agent: Frontrank", "Content-Signal: search=yes"], {}),
        (["User-agent: otherbot", "Content-Signal: search=no, ai-train=no"], {}),
        (["User-agent: *", "Content-Signal: ai-input=no"], {}),
    ],
)
@pytest.mark.parametrize("purpose", PURPOSES)
def test_content_signals_forbid_by_purpose(tmp_path: Path, lines: list[str], forbidden: dict[str, str], purpose: str) -> None:
    crawl = Crawled(tmp_path / "crawl", {"/robots.txt": text(*lines), "/": page()}, purpose=purpose)
    expected = {f"content signal: {forbidden[purpose]}=no": 1} if purpose in forbidden else {}
    assert crawl.summary.failures == expected
    assert crawl.requested == ["/robots.txt"] + ["/"] * (not expected)
    if expected:
        assert "robots.txt of the site does not allow them" in crawl.summary.no_pages_message()
        assert json.loads(run_command("status", crawl.out, "--json").stdout)["asked"] == 0, "no budget spent"


@pytest.mark.parametrize(
    ("line", "signals"),
    [
        ("Content-Signal: search=yes,ai-train=no", {"search": True, "ai-train": False}),
        ("content-signal:   AI-Train = NO  # why", {"ai-train": False}),
        ("Content-Signal: search=maybe, use=reference, ai-train", {}),
        ("Content-Signal: search=yes, search=no", {"search": False}),
        ("Content-Signal: " + "search=" * 50_000, {}),
    ],
)
def test_content_signals_are_read_whatever_else_a_line_has(line: str, signals: dict[str, bool]) -> None:
    assert read_robots(f"User-agent: *\n{line}\nAllow: /".encode(), "us").signals == signals


# The forms -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("header", "agent", "expected"),
    [
        ("noindex", "us", Directives(noindex=True)),
        ("none", "us", Directives(noindex=True, nofollow=True)),
        ("otherbot: noindex, nofollow", "us", NOTHING),
        ("noindex, us: nofollow", "us", Directives(nofollow=True)),
        ("us: all, noindex", "us", Directives(noindex=True)),
        ("nofollow, us: all", "us", NOTHING),
        ("us/2.0: noindex", "us", Directives(noindex=True)),
        ("*: noindex", "us", Directives(noindex=True)),
        ("unavailable_after: Sat, 25 Jun 2010 15:00:00 PST, noindex", "us", Directives(noindex=True)),
        ("max-snippet: 20, max-age: 3600, nocache", "us", Directives(noarchive=True, max_age_s=3600.0)),
        ("max-age=99999999999", "us", Directives(max_age_s=365 * 86_400.0)),
        ("noindexing, no index", "us", NOTHING),
        ("", "us", NOTHING),
        (":,:,,a:b:c", "us", NOTHING),
    ],
)
def test_a_header_says_the_same_as_meta(header: str, agent: str, expected: Directives) -> None:
    assert Directives.of(of_header(header), agent) == expected
    if ":" not in header:
        assert Directives.of(of_meta({"name": "robots", "content": header}), agent) == expected


@pytest.mark.parametrize("value", ["2", "true", "", "01", "1, 0"])
def test_a_reservation_is_1_or_nothing(value: str) -> None:
    assert Directives.of(of_meta({"name": "TDM-Reservation", "content": value})) == NOTHING
    assert Directives.of([("tdm-reservation", "1"), *of_meta({"name": "tdm-reservation", "content": value})]).tdm_reserved


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=/a", "/a"),
        ("5; URL = '/a b'", "/a b"),
        ('0.5,"/a"', "/a"),
        ("3 /a", "/a"),
        ("7", ""),
        ("url=/a", ""),
        ("0;url=", ""),
        ("0" + " " * 100_000 + ";url=/a", ""),
    ],
)
def test_where_a_refresh_leads(content: str, target: str) -> None:
    assert refresh_target({"http-equiv": "refresh", "content": content}) == target


def test_link_headers_are_read_in_all_their_forms() -> None:
    header = """</a>; rel="prev canonical", <b>;rel=alternate;type="application/atom+xml";title="x, <", </s>; rel=preload, <"""
    assert list(links_of_header(header)) == [("canonical", "/a"), ("feed", "b")]


def test_links_in_the_body_of_a_page_are_not_its_own() -> None:
    found = html.parse(b"<head></head><body><p><link rel=canonical href=/of-a-reader></body>", "http://a.example/")
    assert (found.canonical, found.links) == ("", [])


FEEDS = {
    "rss": (RSS, [("http://a.example/", ""), ("http://a.example/of-rss", "Two")]),
    "atom": (ATOM, [("http://a.example/of-atom", "One")]),
    "rdf": ("<rdf:RDF xmlns:rdf='x'><item><title>T</title><link>/r</link></item></rdf:RDF>", [("http://a.example/r", "T")]),
    "guid": ("<rss><channel><item><guid>http://a.example/g</guid></item></channel></rss>", [("http://a.example/g", "")]),
    "no link": ("<rss><channel><item><guid isPermaLink='false'>id:1</guid></item></channel></rss>", []),
    "relations": (
        "<feed><link rel='self' href='/s'/><link rel='next' href='/n'/><entry><link rel='edit' href='/e'/></entry></feed>",
        [("http://a.example/n", "")],
    ),
    "cut off": (RSS[:-20], [("http://a.example/", ""), ("http://a.example/of-rss", "Two")]),
    "entities": ("<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><rss><channel><title>&a;</title></channel></rss>", []),
    "nothing": ("", []),
    "no XML": ("\0\1 <<<>>> & ]]>", []),
}


@pytest.mark.parametrize("kind", FEEDS)
def test_feeds_have_the_links_of_their_entries(kind: str) -> None:
    body, expected = FEEDS[kind]
    found = read_feed(body.encode(), "http://a.example/feed")
    assert found.links == expected and "root:" not in found.title


def test_a_feed_of_the_largest_size_does_not_hold_up_a_crawl() -> None:
    item = b"<item><title>t</title><link>/%d</link></item>"
    body = b"<rss><channel>" + b"".join(item % number for number in range(200_000))
    with Workers(1) as workers:
        found = workers.call(read_feed, body[:10_000_000], "http://a.example/", 10_000)
    assert len(found.links) == 10_000 and found.dropped == {html.TOO_MANY: len(body[:10_000_000].split(b"</item>")) - 10_001}


def test_a_crawl_without_metadata_has_none(tmp_path: Path) -> None:
    crawl = Crawled(tmp_path / "crawl", {"/": page("/a"), "/a": page()})
    assert crawl.metadata() == {} and crawl.summary.withheld == {}
    with pytest.raises(SourceError):
        load(str(tmp_path / "nowhere"))
