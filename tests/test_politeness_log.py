"""Politeness by the log of a server: between two requests of any kind lies the delay, whoever crawls, and however."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from frontrank.fetching.pacing import MIN_PRUNED, NotYet, Pacer
from tests.arrivals import Answer, ArrivalLog, page, text
from tests.patience import PATIENCE_S
from tests.test_crawler import command, crawl
from tests.test_fetch import command as fetch_command
from tests.test_fetch import service

DELAY_S = 0.25
LINKS = [f"/{number}" for number in range(1, 7)]
PAGES: dict[str, Any] = {"/": page(*LINKS), **{link: page() for link in LINKS}}
SITEMAP = "<urlset>" + "".join(f"<url><loc>http://127.0.0.1:{{port}}/s{n}</loc></url>" for n in range(2)) + "</urlset>"

# What a server answers, and what the crawl is asked to do, beside --delay; and how many requests there are at least.
CASES: dict[str, tuple[Mapping[str, Any], Sequence[str], int]] = {
    "plain": ({}, (), 8),
    "slow robots.txt": ({"/robots.txt": text("User-agent: *", "Disallow: /no", after_s=0.8)}, (), 8),
    "slow robots.txt, 4 per host": ({"/robots.txt": text("User-agent: *", after_s=0.8)}, ("--per-host", "4"), 8),
    "slow pages, 4 per host": ({link: page(after_s=0.6) for link in LINKS}, ("--per-host", "4"), 8),
    "robots.txt redirects": (
        {
            "/robots.txt": Answer(301, headers=("Location: /r1",), after_s=0.5),
            "/r1": Answer(302, headers=("Location: http://127.0.0.1:{port}/r2",)),
            "/r2": text("User-agent: *"),
        },
        (),
        10,
    ),
    "robots.txt unreachable": ({"/robots.txt": [Answer(503), Answer(closes=True), text("User-agent: *")]}, (), 10),
    "pages unreachable": (
        {"/": [Answer(503), PAGES["/"]], "/1": [Answer(503), PAGES["/1"]], "/2": [Answer(closes=True), PAGES["/2"]]},
        (),
        10,
    ),
    "connections closed": ({link: [page(), Answer(closes=True)] for link in LINKS}, ("--per-host", "4"), 8),
    "redirects": ({link: Answer(302, headers=(f"Location: /to{link}",)) for link in LINKS}, (), 14),
    "sitemaps": (
        {
            "/robots.txt": text(
                "Sitemap: http://127.0.0.1:{port}/one.xml", "Sitemap: http://127.0.0.1:{port}/two.xml", after_s=0.5
            ),
            "/one.xml": Answer(body=SITEMAP, after_s=0.6),
            "/two.xml": Answer(body=SITEMAP),
        },
        ("--sitemaps",),
        12,
    ),
    "sitemaps and feeds that redirect": (
        {
            "/robots.txt": text("Sitemap: http://127.0.0.1:{port}/one.xml"),
            "/one.xml": Answer(301, headers=("Location: /two.txt",), after_s=0.5),
            "/two.txt": text("http://127.0.0.1:{port}/feed", "http://127.0.0.1:{port}/1", after_s=0.5),
            "/feed": Answer(
                body="<rss><item><link>/of-feed</link></item></rss>", headers=("Content-Type: application/rss+xml",)
            ),
        },
        ("--sitemaps",),
        11,
    ),
    "two fetchers": ({"/robots.txt": text("User-agent: *", after_s=0.8)}, ("--fetchers", "2", "--per-host", "4"), 8),
    "revisits": ({}, ("--revisit", "fixed:every=1s", "--budget", "14"), 15),
    "one by one": ({"/robots.txt": text("User-agent: *", after_s=0.8)}, ("--goal", "solar energy"), 8),
}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, ArrivalLog]]:
    """What the servers of all cases have noted; crawls wait for the most part, so several of them run side by side."""
    folder = tmp_path_factory.mktemp("crawls")

    def run(case: str) -> ArrivalLog:
        answers, args, _ = CASES[case]
        with ArrivalLog({**PAGES, **answers}) as server:
            crawl(f"{server.url}/", "--out", folder / case, "--allow-private", "--delay", str(DELAY_S), *args)
        return server

    with ThreadPoolExecutor(4) as pool:
        yield dict(zip(CASES, pool.map(run, CASES), strict=True))


@pytest.mark.parametrize("case", CASES)
def test_requests_of_any_kind_keep_the_delay(logs: Mapping[str, ArrivalLog], case: str) -> None:
    logs[case].check_gaps(DELAY_S, CASES[case][2])


def test_the_crawl_delay_of_a_robots_txt_holds_from_its_request_on(tmp_path: Path) -> None:
    with ArrivalLog({**PAGES, "/robots.txt": text("User-agent: *", "Crawl-delay: 0.5")}) as server:
        crawl(f"{server.url}/", "--out", tmp_path / "crawl", "--allow-private", "--delay", "0", "--budget", "4")
    server.check_gaps(0.5, 5)


def test_hosts_of_a_group_share_the_delay(tmp_path: Path) -> None:
    (tmp_path / "groups").write_text("127.0.0.1 localhost\n")
    with ArrivalLog({**PAGES, "/robots.txt": text("User-agent: *", after_s=0.4)}) as server:
        seeds = [f"{server.url}/", f"http://localhost:{server.port}/"]
        where = ("--out", tmp_path / "crawl", "--politeness-by", tmp_path / "groups", "--per-host", "4", "--in-flight", "4")
        crawl(*seeds, *where, "--allow-private", "--delay", "0.25", "--budget", "8")
    server.check_gaps(0.25, 10)
    assert len({request.host for request in server.requests}) == 2


@pytest.mark.parametrize("fetchers", ["1", "2"])
def test_a_resumed_crawl_waits_for_what_the_one_before_it_sent(fetchers: str, tmp_path: Path) -> None:
    """Killed as soon as its request is there, with the answer still to come; and stopped at its budget."""
    delay_s = 2.0
    with ArrivalLog({**PAGES, "/": page(*LINKS, after_s=0.5)}) as server:
        out = ("--out", tmp_path / "crawl", "--allow-private", "--delay", str(delay_s), "--fetchers", fetchers)
        process = subprocess.Popen(command(f"{server.url}/", *out, "--budget", "2"), stdout=subprocess.DEVNULL)
        server.wait_for(1, "/")
        process.kill()
        process.wait()
        crawl("--resume", tmp_path / "crawl")
        crawl("--resume", tmp_path / "crawl", "--budget", "3")
    assert server.paths().count("/") == 2
    server.check_gaps(delay_s, 5)


@pytest.mark.parametrize("fetchers", [1, 2])
def test_fetchers_of_a_service_keep_its_delay_together(fetchers: int, tmp_path: Path) -> None:
    pages = {"/": page(*LINKS), **{link: page(after_s=0.1) for link in LINKS}}
    with (
        ArrivalLog({**pages, "/robots.txt": text("User-agent: *", after_s=0.5)}) as server,
        service(tmp_path / "served", delay_s=DELAY_S) as client,
    ):
        args = [f"{server.url}/", "--allow-private", "--idle", "3", "--per-host", "4"]
        running = [subprocess.Popen(fetch_command(client, *args), stdout=subprocess.DEVNULL) for _ in range(fetchers)]
        assert [process.wait() for process in running] == [0] * fetchers
        assert client.stats().completed == 7
    assert server.paths().count("/robots.txt") == fetchers
    server.check_gaps(DELAY_S, 7 + fetchers)


def test_fetchers_of_a_service_keep_a_crawl_delay_from_the_robots_txt_on(tmp_path: Path) -> None:
    robots = text("User-agent: *", "Crawl-delay: 1")
    with ArrivalLog({**PAGES, "/robots.txt": robots}) as server, service(tmp_path / "served", delay_s=0.1) as client:
        args = [f"{server.url}/", "--allow-private", "--idle", "4", "--budget", "3", "--fetchers", "2"]
        assert subprocess.run(fetch_command(client, *args), stdout=subprocess.DEVNULL, check=True).returncode == 0
    server.check_gaps(1.0, 4)


def test_jumps_of_the_system_s_clock_shorten_no_delay(tmp_path: Path) -> None:
    """The clock runs an hour back and forth, several times a second."""
    jumping = (
        "import time; real = time.time; time.time = lambda: real() + 3600 * (int(time.monotonic() * 7) % 3 - 1);"
        "from frontrank.cli import main; main()"
    )
    with ArrivalLog({**PAGES, "/robots.txt": text("User-agent: *", after_s=0.5)}) as server:
        args = command(
            f"{server.url}/", "--out", tmp_path / "crawl", "--allow-private", "--delay", str(DELAY_S), "--time", "60"
        )
        subprocess.run([sys.executable, "-c", jumping, *args[3:]], stdout=subprocess.DEVNULL, check=True, timeout=PATIENCE_S)
    server.check_gaps(DELAY_S, 8)


def test_fetchers_keep_the_delay_of_a_service_that_is_started_again(tmp_path: Path) -> None:
    pages = {"/": page(*LINKS), **{link: page(after_s=0.1) for link in LINKS}}
    with ArrivalLog({**pages, "/robots.txt": text("User-agent: *")}) as server, ExitStack() as started:
        with service(tmp_path / "served", delay_s=DELAY_S) as client:
            address: str = client.address  # type: ignore[attr-defined]
            args = fetch_command(client, f"{server.url}/", "--allow-private", "--idle", "5")
            running = [subprocess.Popen(args, stdout=subprocess.DEVNULL) for _ in range(2)]
            server.wait_for(5)
        client = started.enter_context(service(tmp_path / "served", port=int(address.rpartition(":")[2]), delay_s=DELAY_S))
        assert [process.wait(PATIENCE_S) for process in running] == [0, 0]
        assert client.stats().completed == 7
    server.check_gaps(DELAY_S, 9)


def test_a_pacer_forgets_hosts_that_may_be_asked_again_and_no_others() -> None:
    now = [0.0]
    delays = {"slow.example": 600.0}
    pacer = Pacer(lambda host: (host, delays.get(host, 1.0)), clock=lambda: now[0])

    async def request(sent: Callable[[], None] | None) -> None:
        assert sent is not None
        sent()

    async def main() -> None:
        await pacer.send("http://slow.example/", request)
        for host in range(5 * MIN_PRUNED):
            now[0] += 0.1
            await pacer.send(f"http://h{host}.example/", request)
        assert len(pacer._turns) <= 2 * MIN_PRUNED
        with pytest.raises(NotYet) as resting:
            await pacer.send("http://slow.example/", request, 0.0)
        assert resting.value.seconds == pytest.approx(100.0)

    asyncio.run(main())


def test_a_host_that_joins_or_leaves_a_group_rests_for_what_was_sent_to_it() -> None:
    queues: dict[str, str] = {}
    pacer = Pacer(lambda host: (queues.get(host, host), 5.0), clock=lambda: 0.0)

    async def request(sent: Callable[[], None] | None) -> None:
        assert sent is not None
        sent()

    async def main() -> None:
        await pacer.send("http://a.example/", request)
        queues.update({"a.example": "group", "b.example": "group"})
        with pytest.raises(NotYet):
            pacer.check("http://a.example/", 0.0)
        await pacer.send("http://b.example/", request)
        queues.clear()
        for host in ("a.example", "b.example"):
            with pytest.raises(NotYet):
                pacer.check(f"http://{host}/", 0.0)

    asyncio.run(main())
