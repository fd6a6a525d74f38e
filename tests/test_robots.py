"""robots.txt, by RFC 9309: what is asked, how often, what then may be fetched, and what a broken one cannot do."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protego import Protego

from frontrank.fetching.http.message import Response
from frontrank.fetching.robots import OriginRules, Robots, RulesCache
from frontrank.fetching.robots_file import MAX_BYTES, RobotsFile, product_of, read_robots
from frontrank.system.workers import CPU_S, Workers
from tests.fetching import fetch
from tests.patience import PATIENCE_S

Answer = tuple[int, dict[str, str], bytes]
OPEN: dict[str, Any] = {"allow_private": True}
UNREACHABLE, FORBIDDEN = "robots.txt unreachable", "robots.txt"


class Site:
    """A server with a robots.txt; `robots` is its answer, or what makes one of the number of times it was asked before."""

    def __init__(self, robots: Any, paths: dict[str, Answer] | None = None) -> None:
        asked: list[str] = []
        self.asked, others = asked, paths or {}

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer = others.get(self.path, (200, {}, b"page"))
                if self.path == "/robots.txt":
                    answer = robots(asked.count("/robots.txt")) if callable(robots) else robots
                asked.append(self.path)
                status, headers, body = answer
                if status == 0:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        class Server(ThreadingHTTPServer):
            request_queue_size = (
                128  # with 5, the system drops connections that come together, and they are tried again too late
            )

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server.server_port}{path}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def text(rules: str) -> Answer:
    return 200, {"Content-Type": "text/plain"}, rules.encode()


def hops(number: int) -> tuple[Answer, dict[str, Answer]]:
    """A robots.txt behind so many redirects."""
    paths: dict[str, Answer] = {f"/hop/{n}": (301, {"Location": f"/hop/{n + 1}"}, b"") for n in range(1, number)}
    return (301, {"Location": "/hop/1"}, b""), {**paths, f"/hop/{number}": text(SECRET)}


SECRET = "User-agent: *\nDisallow: /secret\n"
SITES: dict[str, tuple[Any, str, str]] = {  # robots.txt, what becomes of /page, and of /secret
    "rules": (text(SECRET), "200", FORBIDDEN),
    "missing": ((404, {}, b""), "200", "200"),
    "not for us": ((401, {}, b""), "200", "200"),
    "gone": ((410, {}, SECRET.encode()), "200", "200"),
    "busy": ((429, {}, b""), UNREACHABLE, UNREACHABLE),
    "broken": ((503, {}, b""), UNREACHABLE, UNREACHABLE),
    "cut": ((0, {}, b""), "connection lost", "connection lost"),
    "five hops": (hops(5), "200", FORBIDDEN),
    "six hops": (hops(6), "200", "200"),
    "hop to a file": ((302, {"Location": "file:///etc/passwd"}, b""), "200", "200"),
    "hop to nowhere": ((302, {}, b""), "200", "200"),
    "hop to nonsense": ((302, {"Location": "http://[/"}, b""), "200", "200"),
    "empty": (text(""), "200", "200"),
    "ours": (text("User-agent: *\nDisallow: /\n\nUser-agent: FrontRank/2.0\nDisallow: /secret\n"), "200", FORBIDDEN),
    "another's": (text("User-agent: frontrankbot\nUser-agent: front\nDisallow: /\n"), "200", "200"),
    "longest wins": (text("User-agent: *\nDisallow: /\nAllow: /page\n"), "200", FORBIDDEN),
    "byte order mark": (text("\ufeff" + SECRET), "200", FORBIDDEN),
    "carriage returns": (text(SECRET.replace("\n", "\r")), "200", FORBIDDEN),
    "latin 1": ((200, {}, "# \xe9\xff\n".encode("latin-1") + SECRET.encode()), "200", FORBIDDEN),
    "gzip": ((200, {"Content-Encoding": "gzip"}, gzip.compress(SECRET.encode())), "200", FORBIDDEN),
    "broken gzip": ((200, {"Content-Encoding": "gzip"}, SECRET.encode()), "200", "200"),
    "html": ((200, {"Content-Type": "text/html"}, b"<html><body>User-agent: *<br>Disallow: /"), "200", "200"),
    "binary": ((200, {}, bytes(range(256)) * 1000), "200", "200"),
    "cut short": ((200, {"Content-Length": "1000"}, SECRET.encode()), "200", FORBIDDEN),
    "long": (text(SECRET + "".join(f"Disallow: /{n}\n" for n in range(20_000))), "200", FORBIDDEN),
    "wildcards": (text("User-agent: *\nDisallow: /*e*c*e*t$\nDisallow: /" + "*a" * 10_000 + "\n"), "200", FORBIDDEN),
}


@pytest.fixture(scope="module")
def outcomes() -> Iterator[dict[str, Any]]:
    sites = {
        name: Site(*robots) if isinstance(robots[1], dict) and isinstance(robots[0], tuple) else Site(robots)
        for name, (robots, _, _) in SITES.items()
    }
    try:
        told = fetch([site.url(path) for site in sites.values() for path in ("/page", "/secret")], **OPEN)
        yield {name: (told[site.url("/page")], told[site.url("/secret")], site.asked) for name, site in sites.items()}
    finally:
        for site in sites.values():
            site.close()


@pytest.mark.parametrize("name", SITES)
def test_what_may_be_fetched(outcomes: dict[str, Any], name: str) -> None:
    assert outcomes[name][:2] == SITES[name][1:]


@pytest.mark.parametrize("name", SITES)
def test_what_is_forbidden_is_not_asked_for(outcomes: dict[str, Any], name: str) -> None:
    asked = outcomes[name][2]
    assert ("/page" in asked, "/secret" in asked) == tuple(said == "200" for said in SITES[name][1:])


def test_many_waiting_pages_ask_once() -> None:
    def slow(before: int) -> Answer:
        time.sleep(0.3)
        return text(SECRET)

    site = Site(slow)
    told = fetch([site.url(f"/{n}") for n in range(50)], **OPEN)
    site.close()
    assert [told[site.url(f"/{n}")] for n in range(50)] == ["200"] * 50
    assert site.asked.count("/robots.txt") == 1
    assert site.asked[0] == "/robots.txt"


@pytest.mark.parametrize(
    ("given_s", "own_s", "waits_s"),
    [("2", 0.0, 2.0), ("3600", 0.0, 60.0), ("inf", 5.0, 5.0)],
)
def test_the_frontier_waits_as_long_as_the_crawl_delay_says(given_s: str, own_s: float, waits_s: float) -> None:
    site = Site(text(f"User-agent: other\nCrawl-delay: 30\n\nUser-agent: *\nCrawl-delay: {given_s}\nSitemap: {'/map.xml'}\n"))
    told = fetch([site.url("/")], **OPEN, politeness={"delay_s": own_s})
    site.close()
    assert told["delay_s"] == pytest.approx(waits_s)
    assert told["sitemaps"] == ["/map.xml"]


def test_robots_can_be_turned_off() -> None:
    site = Site(text("User-agent: *\nDisallow: /\n"))
    told = fetch([site.url("/")], **OPEN, robots=False)
    site.close()
    assert told[site.url("/")] == "200"
    assert site.asked == ["/"]


def test_a_crawl_tries_again_when_robots_txt_was_out_of_reach(tmp_path: Path) -> None:
    site = Site(lambda before: (503, {}, b"") if before == 0 else text(SECRET))
    command = [sys.executable, "-m", "frontrank", "crawl", site.url("/page"), "--out", str(tmp_path / "crawl")]
    done = subprocess.run(
        [*command, "--allow-private", "--delay", "0", "--time", "600", "--json"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    site.close()
    assert json.loads(done.stdout)["fetched"] == 1, done.stderr
    assert site.asked == ["/robots.txt", "/robots.txt", "/page"]


# Reading ---------------------------------------------------------------------------------------------------------------------
@settings(deadline=None)
@given(st.binary(max_size=2_000))
def test_no_bytes_are_too_broken(body: bytes) -> None:
    assert read_robots(body, "frontrank").allows("http://example.org/a?b") in (True, False)


AGENTS = st.sampled_from(["*", "frontrank", "FrontRank/1.0", "other", "frontrankbot", ""])
PATTERNS = st.one_of(
    st.sampled_from(["/", "/a", "/a/b", "/*b$", "", "*", "$", "/a/index.html", "https://example.org/a", "/%61", "/é", "/a b"]),
    st.text("/ab*$%é?=2F~", max_size=8).map("/".__add__),
)
LINES = st.one_of(
    st.builds("User-agent: {}".format, AGENTS),
    st.builds("{}: {}".format, st.sampled_from(["Allow", "Disallow", "disallow ", "Dissalow"]), PATTERNS),
    st.sampled_from(
        [
            "",
            "# comment",
            "Sitemap: http://a/b",
            "Crawl-delay: 3",
            "Crawl-delay: -3",
            "crawl delay 4",
            "no rule at all",
            "Unknown: x",
            "Unknown:x",
            "Host: a",
            "Host a",
            "Sitemap http://a/b",
            "Disallow /a",
            "Disallow\t/a # comment",
            "user agent frontrank",
            "Sitemap:",
            ":",
        ]
    ),
)
PATHS = st.text("/ab*$%é?=2F~", max_size=8).map("/".__add__)


@given(st.lists(LINES, max_size=12), st.lists(PATHS, max_size=4))
@settings(max_examples=500, deadline=None)
def test_verdicts_are_those_of_protego(lines: list[str], paths: list[str]) -> None:
    whole = "\n".join(lines)
    ours = read_robots(whole.encode(), "frontrank")
    # Protego takes a name in the file for ours only if it is a part of ours: without its version.
    theirs = Protego.parse(whole.replace("FrontRank/1.0", "frontrank"))
    for path in ("/", "/a", "/a/", "/a/b", "/c", "/robots.txt", *paths):
        url = f"http://example.org{path}"
        assert ours.allows(url) == theirs.can_fetch(url, "frontrank"), (whole, url)
    assert ours.delay_s == theirs.crawl_delay("frontrank")


def test_a_rule_longer_than_the_path_is_no_reason_to_pass_over_the_end_of_another() -> None:
    file = read_robots(b"User-agent: *\nAllow: /$\nDisallow: /", "frontrank")
    assert file.allows("http://example.org/")
    assert not file.allows("http://example.org/a")


HALF = "a" * 48 + "b" + "a" * 48
BLANKS = " " * MAX_BYTES
FILES = {  # each takes minutes where a reader goes back over what it has read
    "agents": "".join(f"User-agent: a{n}\n" for n in range(15_000)) + "User-agent: *\n" + "Disallow: /x\n" * 18_000,
    "patterns": "User-agent: *\n" + "".join(f"Disallow: /*{n}*\n" for n in range(30_000)),
    "long needles": "User-agent: *\n" + f"Disallow: /*{HALF}\n" * 4_500,
    "short needles": "User-agent: *\n" + "Disallow: /*ab*\n" * 30_000,
    "stars": "User-agent: *\nDisallow: /" + "*a" * 250_000,
    "many stars": "User-agent: *\n" + f"Disallow: /{'*a' * 20}b\n" * 9_000,
    "prefixes": "User-agent: *\n" + "".join(f"Disallow: /{'a' * n}\n" for n in range(980)),
    "escapes": "User-agent: *\nDisallow: /" + "%e9" * 150_000,
    "same group": "User-agent: *\n" * 35_000 + "Disallow: /x\n",
    "empty lines": "\n" * MAX_BYTES,
    "an agent and blanks": "user-agent" + BLANKS,
    "a sitemap and blanks": "sitemap:" + BLANKS,
    "blanks": BLANKS,
    "blanks and a word": BLANKS[:-10] + "x",
    "colons": ":" * MAX_BYTES,
    "compatible": "User-agent: " + "compatible;  " * 38_000,
}
LONG_URL = "http://example.org/" + "a" * 1_980


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(1, cpu_s=CPU_S, wall_s=PATIENCE_S) as some:
        yield some


@pytest.mark.parametrize("name", FILES)
def test_no_file_takes_longer_than_others_may_be_held_up(workers: Workers, name: str) -> None:
    """Seconds of a processor, counted by the system, which ends who needs more: a busy machine changes nothing."""
    file = workers.call(read_robots, FILES[name].encode(), "frontrank")
    assert workers.call(RobotsFile.allows, file, LONG_URL) in (True, False)


@pytest.mark.parametrize("name", ["patterns", "long needles", "many stars"])
def test_the_loop_turns_while_a_file_is_read_and_asked(name: str) -> None:
    async def get(url: str) -> Response:
        return Response(url, 200, [], FILES[name].encode())

    async def turned() -> list[int]:
        robots, turns = Robots("frontrank", get), []
        for _ in range(2):  # read and asked, then asked alone
            checking = asyncio.ensure_future(robots.check(LONG_URL))
            turns.append(0)
            while not checking.done():
                turns[-1] += 1
                await asyncio.sleep(0)
            await asyncio.gather(checking, return_exceptions=True)
            assert not robots.known(LONG_URL), "not for the loop to say"
        return turns

    assert min(asyncio.run(turned())) >= 5, "with the work on the loop it turns once or twice"


def test_a_line_cut_off_at_the_limit_is_no_rule() -> None:
    body = b"User-agent: *\n" + b"#" * (MAX_BYTES - 30) + b"\nDisallow: /private\n"
    assert read_robots(body, "us").allows("http://example.org/private")


def test_who_we_are() -> None:
    assert product_of("frontrank/0.1") == "frontrank"
    assert product_of("") == ""


# Keeping ---------------------------------------------------------------------------------------------------------------------
@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 50)), max_size=60), st.integers(1, 6), st.integers(1, 100))
def test_what_is_kept_is_the_newest_that_fits(puts: list[tuple[int, int]], most: int, most_bytes: int) -> None:
    kept = RulesCache(most, most_bytes, clock=lambda: 0.0)
    newest: dict[str, int] = {}
    for origin, size in puts:
        kept.put(str(origin), OriginRules(until=1.0, size=size))
        newest.pop(str(origin), None)
        newest[str(origin)] = size
        while len(newest) > 1 and (len(newest) > most or sum(newest.values()) > most_bytes):
            newest.pop(next(iter(newest)))
        assert len(kept) == len(newest)
        assert kept.size == sum(newest.values())
        assert all(kept.last(name) is not None for name in newest)


def test_rules_hold_for_their_time() -> None:
    now = [0.0]
    kept = RulesCache(clock=lambda: now[0])
    kept.put("a", OriginRules(until=10.0))
    now[0] = 9.0
    assert kept.get("a") is not None
    now[0] = 10.0
    assert kept.get("a") is None
    assert kept.last("a") is not None
