"""Pages of a live crawl come back: conditional requests, what counts as a change, WARC revisit records, going on."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.status import status
from frontrank.errors import InputError
from frontrank.fetching.copies import Copy
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.run import crawl, resume
from frontrank.pages.warc_records import Original, digest, records
from frontrank.sources import load
from tests.listening import listening


@dataclass
class Site:
    """A server whose pages know when they change. What a page is depends on how often it was asked for."""

    visits: dict[str, int] = field(default_factory=dict)
    conditional: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    statuses: list[tuple[str, int]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def page(self, path: str, visit: int) -> tuple[int, dict[str, str], bytes]:
        links = "".join(
            f'<a href="{to}">{to}</a>' for to in ("/tagged", "/dated", "/plain", "/markup", "/words", "/news", "/lost")
        )
        if path == "/":
            return 200, {}, f"<title>home</title>{links}".encode()
        if path == "/tagged":
            return 200, {"ETag": '"one"'}, b"<title>tagged</title><p>always the same</p>"
        if path == "/dated":
            return 200, {"Last-Modified": "Mon, 02 Nov 2026 10:00:00 GMT"}, b"<title>dated</title><p>as of November</p>"
        if path == "/markup":
            return 200, {}, f"<title>markup</title><p class='v{visit}'>the words stay</p>".encode()
        if path == "/words":
            return 200, {}, f"<title>words</title><p>visit number {visit}</p>".encode()
        if path == "/news":
            return 200, {}, f"<title>news</title><p>{visit}</p><a href='/story-{min(visit, 3)}'>story</a>".encode()
        if path == "/lost" and visit > 1:
            return 404, {}, b"gone"
        return 200, {}, f"<title>{path}</title><p>a page</p>".encode()


@contextmanager
def served(site: Site) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with site.lock:
                visit = site.visits[self.path] = site.visits.get(self.path, 0) + 1
                asked = {k: v for k, v in self.headers.items() if k in ("If-None-Match", "If-Modified-Since")}
                site.conditional.setdefault(self.path, []).append(asked)
                code, headers, body = site.page(self.path, visit)
                same = {"ETag": "If-None-Match", "Last-Modified": "If-Modified-Since"}
                if any(name in headers and asked.get(back) == headers[name] for name, back in same.items()):
                    code, body = 304, b""
                site.statuses.append((self.path, code))
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            if code != 304:
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None: ...

    with listening(Handler) as home:
        yield home


def _options(home: str, **more: Any) -> Options:
    given = {
        "policy": "bfs",
        "revisit": "fixed:every=0.05s",
        "delay": 0.0,
        "per_host": 4,
        "budget": 60,
        "robots": False,
        **more,
    }
    return Options(seeds=(f"{home}/",), allow_private=True, **given)


def _copy(folder: Path, url: str) -> Copy:
    held = Crawl.recover(folder, read_only=True)
    try:
        packed = next(iter(held.attached([held.lookup(url)]).values()), None)
        assert packed is not None
        return Copy.unpack(packed)
    finally:
        held.close()


@pytest.fixture(scope="module")
def visited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, str, Path, Any]:
    folder = tmp_path_factory.mktemp("crawled") / "crawl"
    site = Site()
    with served(site) as home:
        told = crawl(_options(home), folder)
    return site, home, folder, told


def test_pages_come_back_until_the_budget_is_spent(visited: tuple[Site, str, Path, Any]) -> None:
    site, _, folder, told = visited
    assert sum(site.visits.values()) == 60
    assert told.ended == "budget"
    assert told.fetched == 11  # the home page, seven that it links to, three stories
    assert told.revisits > 20
    assert status(folder)["revisits"] == told.revisits
    assert f"revisits: {told.revisits}, of them unchanged to the byte: {told.unchanged}" in told.text()
    assert all(times > 1 for path, times in site.visits.items() if path != "/story-3")


def test_servers_are_asked_with_what_they_said_before(visited: tuple[Site, str, Path, Any]) -> None:
    site, home, folder, _ = visited
    for path, name, value in (
        ("/tagged", "If-None-Match", '"one"'),
        ("/dated", "If-Modified-Since", "Mon, 02 Nov 2026 10:00:00 GMT"),
    ):
        first, *later = site.conditional[path]
        assert first == {}
        assert later
        assert all(asked == {name: value} for asked in later)
        assert [code for where, code in site.statuses if where == path] == [200] + [304] * len(later)
        copy = _copy(folder, home + path)
        assert (copy.visits, copy.changes) == (len(later), 0)
    assert all(asked == {} for asked in site.conditional["/plain"])


def test_a_page_has_changed_if_its_words_have(visited: tuple[Site, str, Path, Any]) -> None:
    site, home, folder, _ = visited
    for path, always in (("/plain", False), ("/markup", False), ("/words", True)):
        copy = _copy(folder, home + path)
        assert copy.visits == site.visits[path] - 1
        assert copy.changes == (copy.visits if always else 0), path


def test_links_that_are_new_are_followed(visited: tuple[Site, str, Path, Any]) -> None:
    site, home, folder, _ = visited
    assert {"/story-1", "/story-2", "/story-3"} <= set(site.visits)
    web = load(str(folder))
    assert web.pages == 11
    news = web.page_of(f"{home}/news")
    assert [web.urls[q] for q in web.targets_of(news)] == [f"{home}/story-3"]  # type: ignore[index]


def test_a_page_that_is_gone_does_not_come_back(visited: tuple[Site, str, Path, Any]) -> None:
    site, _, _, told = visited
    assert site.visits["/lost"] == 2
    assert told.failures == {"http 404": 1}


def test_what_did_not_change_is_a_revisit_record(visited: tuple[Site, str, Path, Any]) -> None:
    _, home, folder, told = visited
    originals: dict[str, Any] = {}
    profiles: dict[str, set[str]] = {}
    seen = 0
    for file in sorted((folder / "warc").glob("*.warc.gz")):
        with open(file, "rb") as raw:
            for record in ArchiveIterator(raw, check_digests="raise"):
                head = record.rec_headers
                uri = head["WARC-Target-URI"]
                if record.rec_type == "response":
                    body = record.content_stream().read()
                    originals[head["WARC-Record-ID"]] = (uri, head["WARC-Date"], head["WARC-Payload-Digest"])
                    assert head["WARC-Payload-Digest"] == digest(body).decode()
                elif record.rec_type == "revisit":
                    seen += 1
                    assert originals[head["WARC-Refers-To"]] == (uri, head["WARC-Refers-To-Date"], head["WARC-Payload-Digest"])
                    assert head["WARC-Refers-To-Target-URI"] == uri
                    assert record.content_stream().read() == b""
                    profiles.setdefault(uri.removeprefix(home), set()).add(head["WARC-Profile"].rpartition("/")[2])
                    assert record.http_headers.get_statuscode() == (
                        "304" if uri[len(home) :] in ("/tagged", "/dated") else "200"
                    )
    assert seen == told.unchanged > 10
    assert profiles["/tagged"] == profiles["/dated"] == {"server-not-modified"}
    assert profiles["/plain"] == {"identical-payload-digest"}
    assert "/words" not in profiles
    assert "/markup" not in profiles


def test_a_crawl_goes_on_with_all_that_it_knows_of_its_pages(tmp_path: Path) -> None:
    site = Site()
    folder = tmp_path / "crawl"
    with served(site) as home:
        crawl(_options(home, budget=30), folder)
        before = {path: _copy(folder, home + path) for path in ("/tagged", "/words")}
        asked = {path: len(site.conditional[path]) for path in before}
        told = resume(folder, {"budget": 60})
    assert told.revisits > 30
    assert site.conditional["/tagged"][asked["/tagged"]] == {"If-None-Match": '"one"'}
    for path, copy in before.items():
        later = _copy(folder, home + path)
        assert later.first_at == copy.first_at
        assert later.visits > copy.visits
        assert later.changes == (later.visits if path == "/words" else 0)


def test_new_pages_go_first_and_a_share_of_all_are_revisits(tmp_path: Path) -> None:
    """A chain without end: there is always something new. One page in flight, so that counts are exact."""

    class Chain(Site):
        def page(self, path: str, visit: int) -> tuple[int, dict[str, str], bytes]:
            number = int(path.strip("/") or 0)
            return 200, {}, f"<a href='/{number + 1}'>next</a>".encode()

    for share, expected in ((0.0, 0), (0.25, 10), (1.0, 38)):
        site = Chain()
        with served(site) as home:
            told = crawl(
                _options(home, budget=40, in_flight=1, revisit="fixed:every=0.001s", revisit_share=share),
                tmp_path / f"crawl-{share}",
            )
        assert told.fetched + told.revisits == 40
        assert told.revisits == pytest.approx(expected, abs=2)


def test_fetchers_of_their_own_ask_in_the_same_way(tmp_path: Path) -> None:
    site = Site()
    with served(site) as home:
        told = crawl(_options(home, fetchers=2, budget=40), tmp_path / "crawl")
    assert told.revisits > 10
    assert told.unchanged > 5
    assert site.conditional["/tagged"][1] == {"If-None-Match": '"one"'}


def test_adaptive_waits_longer_for_what_does_not_change(tmp_path: Path) -> None:
    site = Site()
    with served(site) as home:
        crawl(_options(home, revisit="adaptive:first=0.02s,min_wait=0.01s,max_wait=30s", budget=80), tmp_path / "crawl")
        waits = {path: _copy(tmp_path / "crawl", home + path).wait_s for path in ("/tagged", "/words")}
    assert waits["/tagged"] > 2 * waits["/words"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"revisit": "adaptve"}, "did you mean 'adaptive'"),
        ({"revisit": "optimal"}, "only a simulation knows"),
        ({"revisit_share": 1.5}, "must be a number from 0 to 1, got 1.5"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        _options("http://a.example", **given)


def test_a_revisit_record_has_the_head_alone() -> None:
    original = Original("<urn:uuid:1>", "2026-11-01T00:00:00Z", "sha1:ABC")
    _, whole = records("http://a/", 200, [("Content-Length", "5")], b"hello")
    _, made = records("http://a/", 200, [("Content-Length", "5")], b"hello", unchanged=original)
    import gzip

    assert b"hello" in gzip.decompress(whole)
    text = gzip.decompress(made)
    assert b"hello" not in text
    assert b"WARC-Type: revisit" in text
    assert b"Content-Length: 5" in text  # the head is what the server sent
    assert text.count(b"WARC-Payload-Digest") == 1


KILLED = """
import os, signal, sys
from frontrank.crawl.crawl import Crawl
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.run import crawl

from frontrank.crawl.queues import Queues

def killed(self, page, at, now=None):
    os.kill(os.getpid(), signal.SIGKILL)

Queues.schedule = killed
given = {"policy": "bfs", "revisit": "fixed:every=0.01s", "delay": 0.0, "budget": 60, "robots": False}
crawl(Options(seeds=(sys.argv[2] + "/",), allow_private=True, **given), sys.argv[1])
"""


def test_a_page_that_failed_when_it_came_back_keeps_its_date_after_a_kill(tmp_path: Path) -> None:
    class Failing(Site):
        def page(self, path: str, visit: int) -> tuple[int, dict[str, str], bytes]:
            return (200 if visit == 1 else 403), {}, b"<p>once</p>"

    with served(Failing()) as home:
        done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "crawl"), home], check=False)
    assert done.returncode == -signal.SIGKILL
    with Crawl.recover(tmp_path / "crawl") as left:
        assert left.inspect.fetched_count == 1 and not left.inspect.completed(0), "it waits, or comes back: it is not lost"
