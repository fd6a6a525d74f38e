"""A crawl does not enter private networks: not by a link, a redirect, a name or a proxy."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.run import crawl_async, run_loop
from frontrank.fetching.crawler.summary import Summary
from frontrank.fetching.private import is_private, private_host
from frontrank.pages.urls import canonical, host_of
from tests.fetching import fetch
from tests.listening import listening

PRIVATE = "private address"


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254"),
        *("0.0.0.0", "0.1.2.3", "100.64.0.1", "100.127.255.255", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1"),
        *("203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "fec0::1", "ff02::1", "2001:db8::1", "100::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "2002:7f00:1::", "2002:a00:1::", "64:ff9b::7f00:1"),
        *("64:ff9b::a9fe:a9fe", "64:ff9b:1::808:808", "2001:0:4136:e378:8000:63bf:80ff:fffe", "2606:4700::1%eth0"),
        *("", "example.org", "127.1", "1.2.3.4.5", "0x7f.0.0.1"),
    ],
)
def test_addresses_that_are_not_public(address: str) -> None:
    assert is_private(address)


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "93.184.215.14", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::", "2002:100::"],
)
def test_addresses_that_are_public(address: str) -> None:
    assert not is_private(address)


@settings(deadline=None)
@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_as_private_as_every_ipv6_address_that_leads_to_it(address: ipaddress.IPv4Address) -> None:
    private = is_private(str(address))
    assert is_private(f"::ffff:{address}") == private
    assert is_private(f"64:ff9b::{address}") == private
    assert is_private(str(ipaddress.IPv6Address((0x2002 << 112) | (int(address) << 80)))) == private


@settings(deadline=None)
@given(st.ip_addresses(v=6))
def test_what_the_registry_calls_private_is_private(address: ipaddress.IPv6Address) -> None:
    if (
        not address.is_global and address.sixtofour is None
    ):  # newer Pythons call all of 6to4 private; we look at what it carries
        assert is_private(str(address))


@pytest.mark.parametrize(
    "url",
    [
        *("http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/", "http://127.1/", "http://0/", "http://[::1]/"),
        *(
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
        ),
        *("http://intranet/", "http://printer.local/", "http://metadata.google.internal/", "http://１２７.０.０.１/"),
        *("http://user@127.0.0.1/", "http://127.0.0.1:22/", "http://router.home.arpa/"),
    ],
)
def test_urls_that_spell_a_private_host(url: str) -> None:
    assert private_host(host_of(canonical(url)))


@pytest.mark.parametrize(
    "url", ["http://example.org/", "http://8.8.8.8/", "http://localhost.example.org/", "http://mylocal.org/"]
)
def test_urls_that_do_not(url: str) -> None:
    assert not private_host(host_of(canonical(url)))


class Site(NamedTuple):
    port: int
    asked: list[str]


@pytest.fixture
def site() -> Iterator[Site]:
    """A server that redirects /to?URL to URL, answers all else, also as a proxy, and remembers what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            _, found, target = self.path.partition("/to?")
            self.send_response(302 if found else 404 if self.path.endswith("/robots.txt") else 200)
            if found:
                self.send_header("Location", unquote(target))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with listening(Handler) as home:
        yield Site(int(home.rpartition(":")[2]), asked)


def test_private_addresses_and_names_are_refused_before_any_request(site: Site) -> None:
    hosts = [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "inside.example",
        "both.example",
        "six.example",
    ]
    names = {"inside.example": ["127.0.0.1"], "both.example": ["93.184.215.14", "127.0.0.1"], "six.example": ["::1"]}
    urls = [f"http://{host}:{site.port}/page" for host in hosts]
    told = fetch(urls, names=names)
    assert {url: told[url] for url in urls} == dict.fromkeys(urls, PRIVATE)
    assert site.asked == []


def test_a_redirect_to_a_private_address_is_refused(site: Site) -> None:
    start = f"http://public.example:{site.port}/to?"
    targets = [
        f"http://127.0.0.1:{site.port}/secret",
        f"http://inside.example:{site.port}/secret",
        f"http://[::1]:{site.port}/secret",
    ]
    names = {"public.example": ["127.0.0.1"], "inside.example": ["127.0.0.1"]}
    told = fetch([start + target for target in targets], names=names, trusted=["public.example"])
    assert {target: told[target] for target in targets} == dict.fromkeys(targets, PRIVATE)
    assert len(site.asked) == 1 + len(targets)
    assert not any(path.startswith("/secret") for path in site.asked)


def test_a_name_is_looked_up_once_and_its_checked_address_used(site: Site) -> None:
    urls = [f"http://public.example:{site.port}/{n}" for n in range(5)]
    told = fetch(urls, names={"public.example": ["127.0.0.1"]}, trusted=["public.example"])
    assert [told[url] for url in urls] == ["200"] * 5
    assert told["looked_up"] == ["public.example"]


def test_names_that_cannot_be_looked_up_fail_at_once() -> None:
    urls = [f"http://{'a' * 70}.example/", "http://does-not-exist.invalid/"]
    told = fetch(urls)
    assert [told[url] for url in urls] == ["host not found"] * 2


def test_all_is_open_when_private_addresses_are_allowed(site: Site) -> None:
    urls = [f"http://{host}:{site.port}/page" for host in ("127.0.0.1", "localhost", "inside.example")]
    told = fetch(urls, allow_private=True, names={"inside.example": ["127.0.0.1"]})
    assert [told[url] for url in urls] == ["200"] * 3


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_proxy_may_be_private_but_not_what_it_is_asked_for(site: Site, host: str) -> None:
    page, private, itself = "http://public.example/page", "http://10.0.0.1/page", f"http://{host}:{site.port}/page"
    told = fetch([page, private, itself], proxy=f"http://{host}:{site.port}")
    assert (told[page], told[private], told[itself]) == ("200", PRIVATE, PRIVATE)
    assert set(site.asked) == {"http://public.example/robots.txt", page}


def test_other_schemes_and_endless_urls_are_refused() -> None:
    long = "http://public.example/" + "x" * 10_000
    told = fetch(["file:///etc/passwd", "ftp://public.example/", "data:,x", long])
    assert [told["file:///etc/passwd"], told["ftp://public.example/"], told["data:,x"]] == ["unsupported scheme"] * 3
    assert told[long] == "url too long"


def test_a_crawl_that_may_opens_nothing_for_another_in_its_process(site: Site, tmp_path: Path) -> None:
    """Side by side, and one after the other: by address and by name."""
    seeds = tuple(f"http://{name}:{site.port}/" for name in ("127.0.0.1", "localhost"))
    options = Options(seeds, "bfs", delay=0.0, robots=False, retries=0, warc=False)
    opened = replace(options, allow_private=True)

    async def both() -> list[Summary]:
        together = await asyncio.gather(crawl_async(opened, tmp_path / "open"), crawl_async(options, tmp_path / "closed"))
        return [*together, await crawl_async(options, tmp_path / "later")]

    first, *others = run_loop(both)
    assert (first.fetched, first.failures) == (2, {})
    for closed in others:
        assert (closed.fetched, closed.failures) == (0, {PRIVATE: 2})
