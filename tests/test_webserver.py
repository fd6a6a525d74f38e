"""A served web: what a client gets is what the Web holds, and no client can hurt the server."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.error import HTTPError
from urllib.robotparser import RobotFileParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from frontrank.errors import InputError
from frontrank.lab.webserver import ServerOptions, WebServer, run_in_process, serve
from frontrank.lab.webserver.addresses import addresses
from frontrank.lab.webserver.faults import HANG, RESET
from frontrank.lab.webserver.site import Site
from frontrank.pages.urls import canonical
from frontrank.sources import load
from frontrank.web.web import Web
from tests.patience import PATIENCE_S, eventually

SMALL = "synthetic:pages=300,links=6,text=1,hosts=7,seed=3"


@contextmanager
def served(web: Web, **options: Any) -> Iterator[WebServer]:
    """A server in a thread of its own, for as long as the block runs."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(serve(web, log=True, **options), loop).result(PATIENCE_S)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.close(), loop).result(PATIENCE_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE_S)
        loop.close()


@pytest.fixture(scope="module")
def web() -> Web:
    return load(SMALL)


@pytest.fixture(scope="module")
def server(web: Web) -> Iterator[WebServer]:
    with served(web) as running:
        yield running


def get(server: WebServer, url: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """One request to the server as a proxy."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    with contextlib.closing(connection):
        connection.request(method, url, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()


def raw(server: WebServer, sent: bytes, timeout_s: float = PATIENCE_S) -> bytes:
    """All that comes back on a connection until the server closes it."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=timeout_s) as connection:
        connection.sendall(sent)
        received = b""
        while data := connection.recv(65_536):
            received += data
        return received


def ask_on(connection: socket.socket, until: float) -> None:
    """Ask without ever reading an answer."""
    while time.monotonic() < until:
        connection.sendall(b"GET http://www.h0.example/ HTTP/1.1\r\nHost: x\r\n\r\n" * 1000)
        time.sleep(0.1)


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def read_page(body: bytes) -> tuple[str, list[tuple[str, str]], str]:
    """Title, links and text as a parser that knows HTML5 sees them."""
    tree = LexborHTMLParser(body)
    title, main = tree.css_first("title"), tree.css_first("main")
    assert title is not None and main is not None
    links = [(str(a.attributes["href"]), " ".join(a.text().split())) for a in tree.css("a")]
    assert len(links) == len(tree.css("nav > a"))
    return title.text(), links, main.text()


class TestWhatIsServed:
    def test_a_crawl_through_the_proxy_finds_exactly_the_web(self, web: Web, server: WebServer) -> None:
        assert web.urls is not None and web.titles is not None and web.texts is not None
        assert web.anchors is not None and web.seeds is not None
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
        found = {}
        waiting = [web.urls[page] for page in web.seeds]
        while waiting:
            url = waiting.pop()
            connection.request("GET", url)
            answer = connection.getresponse()
            assert answer.status == 200
            found[url] = read_page(answer.read())
            waiting += [to for to, _ in found[url][1] if to not in found and to not in waiting]
        connection.close()
        assert len(found) > 200
        for url, (title, links, text) in found.items():
            page = web.page_of(url)
            row = range(web.indptr[page], web.indptr[page + 1])
            assert title == web.titles[page]
            assert text == web.texts[page]
            assert links == [(web.urls[web.targets[at]], web.anchors[at]) for at in row]

    @settings(deadline=None)
    @given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=3, max_size=3))
    def test_any_title_text_and_anchor_come_back(self, strings: list[str]) -> None:
        title, text, anchor = strings
        urls = ['http://a.example/?x="<&amp;>&y=é', "http://b.example/ü b"]
        pages = {"urls": urls, "titles": [title, ""], "texts": [text, ""]}
        web = Web.from_edges([0], [1], pages=2, anchors=[anchor], **pages)
        body = Site(web, ServerOptions()).answer(canonical(urls[0])).body
        assert read_page(body) == (title, [(canonical(urls[1]), " ".join(anchor.split()))], text)

    def test_hostile_strings_survive_the_wire(self) -> None:
        bad = "</title></main><a href='http://evil/'>&amp;\"\r\n 日本語 \U0001f600 ]]>"
        web = Web.from_edges(
            [0, 1], [1, 0], pages=2, anchors=[bad, "x"], urls=["http://a/", "http://b/"], titles=[bad, ""], texts=["", bad]
        )
        with served(web) as server:
            assert read_page(get(server, "http://a/")[2]) == (bad, [("http://b/", " ".join(bad.split()))], "")
            assert read_page(get(server, "http://b/")[2])[2] == bad

    def test_the_host_header_names_the_host(self, web: Web, server: WebServer) -> None:
        assert web.urls is not None
        host = canonical(web.urls[0]).split("/")[2]
        by_proxy = get(server, web.urls[0])[2]
        assert get(server, "/", Host=host)[2] == by_proxy
        assert get(server, "/", Host=f"{host.upper()}:{server.port}")[2] == by_proxy

    def test_a_web_without_urls_gets_some(self) -> None:
        web = Web.from_edges([0, 0], [1, 2], pages=3, hosts=np.array([0, 1, 1], np.int32))
        with served(web) as server:
            links = read_page(get(server, "http://www.h0.example/p0")[2])[1]
            assert links == [("http://www.h1.example/p1", ""), ("http://www.h1.example/p2", "")]
            assert get(server, links[1][0])[0] == 200
            assert get(server, "http://www.h0.example/p1")[0] == 404

    def test_https_is_served_as_http_and_doubles_once(self) -> None:
        urls = ["https://a.example/", "http://a.example", "ftp://a.example/file", "https://me:pw@b.example:8443/x"]
        web = Web.from_edges([0, 0, 0, 3, 3], [1, 2, 3, 0, 1], pages=4, urls=urls, titles=["first", "second", "", "last"])
        with served(web) as server:
            assert read_page(get(server, "http://a.example/")[2])[0] == "first"
            assert read_page(get(server, "https://a.example/")[2])[0] == "first"
            title, links, _ = read_page(get(server, "http://b.example:8443/x")[2])
            assert (title, [url for url, _ in links]) == ("last", ["http://a.example/"])
            assert server.site.addresses.duplicates == 2

    def test_a_web_of_no_http_urls_is_refused(self) -> None:
        with pytest.raises(InputError, match="none of its 2 pages has an http URL"):
            Site(Web.from_edges([0], [1], pages=2, urls=["ftp://a/", "nonsense"]), ServerOptions())

    def test_unknown_pages_are_not_found(self, server: WebServer) -> None:
        for url in ("http://www.h0.example/nothing", "http://elsewhere.example/", "http://www.h0.example/sitemap.xml"):
            assert get(server, url)[0] == 404

    def test_the_servers_own_page_tells_how_to_crawl(self, web: Web, server: WebServer) -> None:
        assert web.urls is not None and web.seeds is not None
        status, _, body = get(server, "/")
        seed = web.urls[web.seeds[0]]
        assert status == 200
        assert f"frontrank crawl {seed} --proxy {server.url} --out crawl --budget 1000" in body.decode()
        assert f"curl -x {server.url} {seed}" in body.decode()
        assert b"300 pages" in body

    @settings(deadline=None)
    @given(st.lists(st.from_regex(r"https?://[a-c]{1,2}(:[1-9][0-9])?/[a-z/]{0,4}(\?[a-z]{0,2})?", fullmatch=True), min_size=1))
    def test_every_page_is_found_under_its_url(self, urls: list[str]) -> None:
        found = addresses(Web.from_edges([], [], pages=len(urls), urls=urls))
        shown = [found.of(page) for page in range(len(urls))]
        assert [found.find(url) for url in shown] == [shown.index(url) for url in shown]
        assert found.duplicates == len(urls) - len(set(shown))
        assert found.find("http://zz/") == -1


class TestAddresses:
    def test_each_host_has_a_loopback_address(self, web: Web) -> None:
        assert web.urls is not None and web.anchors is not None
        with served(web, hosts="ip") as server:
            found, waiting = {}, server.site.seeds()
            while waiting:
                url = waiting.pop()
                assert re.match(rf"http://127\.0\.0\.[2-8]:{server.port}/", url)
                with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
                    found[url] = read_page(answer.read())
                waiting += [to for to, _ in found[url][1] if to not in found and to not in waiting]
        assert len(found) > 200
        logged = {url for _, url, _ in server.log or []}
        assert logged == {web.urls[page] for page in range(web.pages)} & logged
        assert len(logged) == len(found)

    def test_the_home_page_is_at_127_0_0_1(self, web: Web) -> None:
        with served(web, hosts="ip") as server:
            seed = server.site.seeds()[0]
            assert seed.startswith("http://127.0.0.")
            body = get(server, "/")[2].decode()
            assert f"frontrank crawl {seed} --allow-private --out crawl --budget 1000" in body
            assert seed in re.findall('href="(.*?)"', body)
            assert get(server, "http://127.0.0.99/")[0] == 404

    @pytest.mark.parametrize(
        "host", ["127.0.0.x", "127.0.0.300", "127.0.0.2:1", "[::1]", "a b", "", "127.0.0.1.", "%zz", "\u0663"]
    )
    def test_a_host_that_is_none_of_them_has_no_pages(self, web: Web, host: str) -> None:
        with served(web, hosts="ip") as server:
            assert status_of(raw(server, f"GET /x HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())) == 404

    def test_too_many_hosts_for_addresses(self) -> None:
        web = Web.from_edges([0], [1], pages=201, hosts=np.arange(201, dtype=np.int32))
        with pytest.raises(InputError, match=r"201 hosts.*--hosts name"):
            Site(web, ServerOptions(hosts="ip"))


class TestRobots:
    def test_a_faultless_web_disallows_nothing(self, web: Web, server: WebServer) -> None:
        status, headers, body = get(server, "http://www.h0.example/robots.txt")
        assert status == 200 and headers["Content-Type"].startswith("text/plain")
        assert "Sitemap" not in body.decode()
        assert _robots(body).can_fetch("x", "http://www.h0.example/anything")

    def test_delay_and_disallowed_directories(self, web: Web) -> None:
        assert web.urls is not None
        with served(web, crawl_delay=2.5, disallow=0.5) as server:
            refused = 0
            for host in range(7):
                root = f"http://{server.site.addresses.netloc(host)}"
                body = get(server, root + "/robots.txt")[2]
                assert b"Crawl-delay: 2.5\n" in body
                robots = _robots(body)
                assert robots.can_fetch("x", root + "/")
                for url in (url for url in web.urls if url.startswith(root)):
                    assert robots.can_fetch("x", url) == server.site.allows(url)
                    refused += not server.site.allows(url)
        assert 0.2 * web.pages < refused < 0.8 * web.pages

    def test_the_same_directories_are_disallowed_every_time(self, web: Web) -> None:
        one, two = Site(web, ServerOptions(disallow=0.3)), Site(web, ServerOptions(disallow=0.3))
        assert [one.disallowed(host) for host in range(7)] == [two.disallowed(host) for host in range(7)]

    def test_sitemaps_list_the_allowed_pages_of_the_host(self, web: Web) -> None:
        assert web.urls is not None
        with served(web, sitemaps=True, disallow=0.4) as server:
            listed = []
            for host in range(7):
                root = f"http://{server.site.addresses.netloc(host)}"
                robots = _robots(get(server, root + "/robots.txt")[2])
                (sitemap,) = robots.site_maps() or []
                status, _, body = get(server, sitemap)
                assert status == 200
                listed += _locations(body)
                assert all(url.startswith(root) for url in _locations(body))
            assert sorted(listed) == sorted(url for url in web.urls if server.site.allows(url))
            assert len(listed) < web.pages

    def test_a_large_host_has_an_index_of_sitemaps(self) -> None:
        web = Web.from_edges([0], [1], pages=100_001)
        with served(web, sitemaps=True) as server:
            files = _locations(get(server, "http://www.h0.example/sitemap.xml")[2])
            assert files == [f"http://www.h0.example/sitemap-{k}.xml" for k in (1, 2, 3)]
            pages = [_locations(get(server, url)[2]) for url in files]
            assert [len(part) for part in pages] == [50_000, 50_000, 1]
            assert pages[2] == ["http://www.h0.example/p100000"]
            assert get(server, "http://www.h0.example/sitemap-4.xml")[0] == 404


def _robots(body: bytes) -> RobotFileParser:
    parser = RobotFileParser()
    parser.parse(body.decode().splitlines())
    return parser


def _locations(body: bytes) -> list[str]:
    return [str(found.text) for found in ElementTree.fromstring(body).iter() if found.tag.endswith("}loc")]


class TestFaults:
    def test_the_given_share_fails_in_all_ways_and_always_alike(self, web: Web) -> None:
        assert web.urls is not None
        site, again = Site(web, ServerOptions(errors=0.3)), Site(web, ServerOptions(errors=0.3))
        statuses = [site.answer(url).status for url in web.urls]
        assert statuses == [site.answer(url).status for url in web.urls] == [again.answer(url).status for url in web.urls]
        assert set(statuses) == {200, 404, 500, 503, RESET, HANG}
        assert 0.2 < np.mean(np.array(statuses) != 200) < 0.4

    def test_failures_as_a_client_sees_them(self, web: Web) -> None:
        assert web.urls is not None
        with served(web, errors=1.0) as server:
            of = {server.site.answer(url).status: url for url in web.urls}
            assert get(server, of[404])[0] == 404
            assert get(server, of[500])[0] == 500
            status, headers, _ = get(server, of[503])
            assert status == 503 and headers["Retry-After"] == "2"
            with pytest.raises(ConnectionResetError):
                get(server, of[RESET])
            with pytest.raises(TimeoutError):
                raw(server, f"GET {of[HANG]} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), timeout_s=0.5)
            eventually(lambda: len(server.log or []) == 5)  # on a busy machine the client gave up before it was heard
            assert [status for _, _, status in server.log or []] == [404, 500, 503, 0, 0]

    def test_flaky_pages_answer_the_second_time(self, web: Web) -> None:
        assert web.urls is not None
        site = Site(web, ServerOptions(flaky=0.5))
        first = [site.answer(url) for url in web.urls]
        second = [site.answer(url) for url in web.urls]
        assert {answer.status for answer in first} == {200, 503}
        assert {answer.status for answer in second} == {200}
        assert 0.4 < sum(answer.status == 503 for answer in first) / web.pages < 0.6

    def test_latency_is_between_half_and_one_and_a_half_of_its_mean(self, web: Web) -> None:
        assert web.urls is not None
        delays = [Site(web, ServerOptions(latency=0.2)).faults.latency_s(url) for url in web.urls]
        assert 0.1 <= min(delays) < 0.11 and 0.29 < max(delays) <= 0.3
        assert np.mean(delays) == pytest.approx(0.2, rel=0.1)

    def test_waiting_for_one_page_holds_up_no_other(self, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
        """No answer is let go before all twenty wait for theirs, each for its own time."""
        assert web.urls is not None
        urls, real, waits = [web.urls[page] for page in range(20)], asyncio.sleep, []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)
            while seconds and len([wait for wait in waits if wait]) < len(urls):
                await real(0.01)

        with served(web, latency=300.0) as server, ThreadPoolExecutor(20) as threads:
            monkeypatch.setattr("asyncio.sleep", sleep)
            assert {status for status, _, _ in threads.map(lambda url: get(server, url), urls)} == {200}
            expected = [server.site.faults.latency_s(url) for url in urls]
        assert sorted(wait for wait in waits if wait) == sorted(expected)

    @pytest.mark.parametrize(
        ("name", "value"), [("errors", 1.5), ("latency", -1), ("hosts", "dns"), ("disallow", float("nan"))]
    )
    def test_a_bad_option_is_named(self, name: str, value: Any) -> None:
        with pytest.raises(InputError, match=f"{name} .*{value}"):
            ServerOptions(**{name: value})

    def test_an_unknown_option_is_named(self) -> None:
        with pytest.raises(InputError, match="no option 'latencey'; did you mean 'latency'"):
            ServerOptions.of({"latencey": 1})


@pytest.fixture(scope="module")
def trapped(web: Web) -> Iterator[WebServer]:
    with served(web, traps=True) as running:
        yield running


class TestTraps:
    def host(self, server: WebServer, rank: int) -> str:
        order = np.argsort(-server.site.sizes, kind="stable")
        return f"http://{server.site.addresses.netloc(int(order[rank]))}"

    def test_there_are_none_unless_asked_for(self, server: WebServer) -> None:
        for rank, path in enumerate(("/calendar/2030/01/", "/?sid=01234567", "/a/b/")):
            assert get(server, self.host(server, rank) + path)[0] == 404

    def test_the_calendar_never_ends(self, trapped: WebServer) -> None:
        root = self.host(trapped, 0)
        url = next(to for to, anchor in read_page(get(trapped, root + "/")[2])[1] if anchor == "calendar")
        seen = set()
        for _ in range(30):
            seen.add(url)
            status, _, body = get(trapped, url)
            assert status == 200
            url = {anchor: to for to, anchor in read_page(body)[1]}["next month"]
        assert len(seen) == 30
        assert url == f"{root}/calendar/2032/07/"

    def test_every_route_to_a_page_has_its_own_session(self, web: Web, trapped: WebServer) -> None:
        root = self.host(trapped, 1)
        plain = read_page(get(trapped, root + "/")[2])
        titles, urls = set(), set()
        level = [to for to, _ in plain[1] if to.startswith(root)][:4]
        assert all(re.search(r"\?sid=[0-9a-f]{8}$", url) for url in level)
        for _ in range(3):
            following = []
            for url in level:
                status, _, body = get(trapped, url)
                assert status == 200
                title, links, _ = read_page(body)
                titles.add(title)
                urls.add(url)
                following += [to for to, _ in links if to.startswith(root)]
            level = following[:30]
        assert len(urls) > 1.3 * len(titles)

    def test_a_web_of_few_hosts_has_fewer_traps(self) -> None:
        web = Web.from_edges([0], [1], pages=2, hosts=np.array([0, 5], np.int32))
        site = Site(web, ServerOptions(traps=True))
        assert site.answer("http://www.h0.example/calendar/2030/01/").status == 200
        assert site.answer("http://www.h5.example/p1?sid=01234567").status == 200
        assert site.answer("http://www.h1.example/a/b/").status == 404

    def test_paths_repeat_themselves(self, trapped: WebServer) -> None:
        root = self.host(trapped, 2)
        url = f"{root}/a/b/"
        assert url in [to for to, _ in read_page(get(trapped, root + "/")[2])[1]]
        for _ in range(4):
            ((url, _),) = read_page(get(trapped, url)[2])[1]
        assert url == f"{root}/a/b/a/b/a/b/"
        assert get(trapped, f"{root}/a/a/")[0] == 404


class TestProtocol:
    def test_head_is_get_without_the_body(self, server: WebServer) -> None:
        full, none = get(server, "http://www.h0.example/"), get(server, "http://www.h0.example/", "HEAD")
        assert none[0] == 200 and none[2] == b""
        assert none[1]["Content-Length"] == full[1]["Content-Length"] == str(len(full[2]))

    def test_pipelined_requests_are_answered_in_order(self, web: Web, server: WebServer) -> None:
        assert web.urls is not None and web.titles is not None
        asked = [f"GET {web.urls[page]} HTTP/1.1\r\nHost: x\r\n\r\n" for page in range(100)]
        asked.append("GET /none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answers = raw(server, "".join(asked).encode()).split(b"HTTP/1.1 ")[1:]
        titles = [re.search(b"<title>(.*)</title>", answer) for answer in answers]
        assert [title[1].decode() for title in titles if title] == [*(web.titles[page] for page in range(100)), "Not Found"]

    def test_a_body_is_not_taken_for_the_next_request(self, server: WebServer) -> None:
        body = b"GET /no HTTP/1.1\r\n\r\n"
        first = b"GET http://www.h0.example/ HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
        last = b"GET http://www.h0.example/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        assert raw(server, first + body + last).count(b"HTTP/1.1 200 OK") == 2

    def test_http_1_0_closes_unless_asked_to_stay(self, server: WebServer) -> None:
        assert status_of(raw(server, b"GET http://www.h0.example/ HTTP/1.0\r\n\r\n")) == 200
        stay = b"GET http://www.h0.example/ HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"
        assert raw(server, stay + b"GET / HTTP/1.0\r\n\r\n").count(b" 200 OK") == 2

    @pytest.mark.parametrize(
        ("request_line", "status"),
        [
            (b"GARBAGE", 400),
            (b"\x00\xff\xfe", 400),
            (b"GET /", 400),
            (b"GET  / HTTP/1.1", 400),
            (b"GET / HTTP/1.1 x", 400),
            (b"GET x HTTP/1.1", 400),
            (b"G\xe9T / HTTP/1.1", 400),
            (b"GET / HTTP/2.0", 505),
            (b"BREW / HTTP/1.1", 501),
            (b"POST / HTTP/1.1", 405),
            (b"OPTIONS * HTTP/1.1", 405),
            (b"CONNECT www.h0.example:443 HTTP/1.1", 405),
            (b"GET /" + b"a" * 9000 + b" HTTP/1.1", 414),
            (b"GET / HTTP/1.1\r\nHost: b", 400),
            (b"GET / HTTP/1.1\r\nno colon", 400),
            (b"GET / HTTP/1.1\r\n folded: line", 400),
            (b"GET / HTTP/1.1\r\nContent-Length: -1", 400),
            (b"GET / HTTP/1.1\r\nContent-Length: 99999999", 413),
            (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked", 501),
        ],
    )
    def test_what_is_no_request_is_refused_and_the_connection_closed(
        self, server: WebServer, request_line: bytes, status: int
    ) -> None:
        assert status_of(raw(server, request_line + b"\r\nHost: a\r\n\r\n")) == status
        assert get(server, "/")[0] == 200

    def test_http_1_1_needs_a_host(self, server: WebServer) -> None:
        assert status_of(raw(server, b"GET / HTTP/1.1\r\n\r\n")) == 400

    def test_a_megabyte_of_headers_is_too_much(self, server: WebServer) -> None:
        assert status_of(raw(server, b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 2**20 + b"\r\n\r\n")) == 431
        assert status_of(raw(server, b"x" * 2**20)) == 431

    def test_a_slow_client_is_hung_up_on(self, web: Web) -> None:
        with served(web, idle_s=1.0) as server:
            assert raw(server, b"GET / HT") == b""
            assert raw(server, b"") == b""

    def test_a_client_that_does_not_read_is_hung_up_on(self, web: Web) -> None:
        with served(web, idle_s=1.0) as server, socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(PATIENCE_S)
            connection.connect(("127.0.0.1", server.port))
            with pytest.raises(ConnectionError):
                ask_on(connection, until=time.monotonic() + PATIENCE_S)

    @settings(max_examples=60, deadline=None)
    @given(st.binary(max_size=300), st.booleans())
    def test_no_bytes_kill_the_server(self, server: WebServer, sent: bytes, ended: bool) -> None:
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as connection:
            connection.sendall(sent + (b"\r\n\r\n" if ended else b""))
            connection.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                answer = b"".join(iter(lambda: connection.recv(65_536), b""))
                assert answer == b"" or answer.startswith(b"HTTP/1.1 ")
        assert get(server, "http://www.h0.example/")[0] == 200

    def test_many_connections_at_once(self, web: Web, server: WebServer) -> None:
        assert web.urls is not None
        urls = list(web.urls) * 2
        with ThreadPoolExecutor(40) as threads:
            assert {status for status, _, _ in threads.map(lambda url: get(server, url), urls)} == {200}

    def test_requests_are_counted_and_logged(self, web: Web) -> None:
        with served(web) as server:
            get(server, "http://www.h0.example/")
            get(server, "http://www.h0.example/none")
            assert server.requests == 2
            assert [entry[1:] for entry in server.log or []] == [
                ("http://www.h0.example/", 200),
                ("http://www.h0.example/none", 404),
            ]


class TestCommand:
    def start(self, *args: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "frontrank", "web", *args]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_it_runs_until_it_is_told_to_stop(self, number: signal.Signals) -> None:
        with self.start(SMALL, "--port", "0", "--json") as process:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            assert (told["pages"], told["hosts"]) == (300, 7)
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": told["url"]}))
            with opener.open(told["seeds"][0], timeout=PATIENCE_S) as answer:
                assert answer.status == 200
            with pytest.raises(HTTPError, match="404"):
                opener.open("http://www.h0.example/none", timeout=PATIENCE_S)
            process.send_signal(number)
            said, complaints = process.communicate(timeout=PATIENCE_S)
        assert (json.loads(said), complaints, process.returncode) == ({"requests": 2}, "", 0)

    def test_for_a_person_it_says_what_to_do(self) -> None:
        with self.start(SMALL, "--port", "0") as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(4)]
            process.terminate()
            assert process.communicate(timeout=PATIENCE_S)[0] == "0 requests served\n"
        assert "300 pages" in lines[0]
        assert lines[1].startswith("  curl -x http://127.0.0.1:")
        assert lines[2].startswith("  frontrank crawl http://www.h")

    def test_a_busy_port_is_named(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            with self.start(SMALL, "--port", str(port)) as process:
                said, complaints = process.communicate(timeout=PATIENCE_S)
        assert (said, process.returncode) == ("", 2)
        assert (
            complaints == f"frontrank: port {port} is in use by another program; give another --port, or 0 for any free one\n"
        )

    def test_in_a_process_that_ends_with_the_block(self) -> None:
        with run_in_process(SMALL, sitemaps=True, crawl_delay=1.5) as url:
            request = urllib.request.Request(f"{url}/robots.txt", headers={"Host": "www.h0.example"})
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                told = answer.read().decode()
        assert "Crawl-delay: 1.5" in told and "Sitemap: http://www.h0.example/sitemap.xml" in told
        with pytest.raises(OSError):
            urllib.request.urlopen(url, timeout=PATIENCE_S)

    def test_what_cannot_be_served_is_told_by_the_block(self) -> None:
        with pytest.raises(InputError, match="there is no parameter 'pagse'"), run_in_process("synthetic:pagse=3"):
            pass

    @pytest.mark.skipif(not os.path.exists("/proc/net/tcp"), reason="the system does not list its sockets there")
    def test_nothing_listens_outside_loopback(self, web: Web) -> None:
        with served(web, hosts="ip") as server, open("/proc/net/tcp", encoding="ascii") as sockets:
            local = [line.split()[1] for line in sockets.readlines()[1:] if line.split()[3] == "0A"]
        mine = [address for address in local if address.endswith(f":{server.port:04X}")]
        assert mine
        assert all(address.split(":")[0].endswith("7F") for address in mine)
