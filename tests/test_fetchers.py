"""Several fetchers on one frontier: the same crawl, the same guards, and nothing lost with a fetcher."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.events import Expired, Failed, Taken
from frontrank.errors import InputError
from frontrank.fetching import fetchers
from frontrank.fetching.fetcher import FetchOptions
from frontrank.lab.webserver import run_in_process
from tests.hostile import EVILS, HostileServer
from tests.patience import PATIENCE_S
from tests.test_bounded import running
from tests.test_crawler import WEB, Mapped, command, crawl, events, fetched, on, records, served
from tests.test_hostile import FAILURES, OPEN, REDIRECTS
from tests.test_hostile import crawl as crawl_evil


@pytest.fixture(scope="module")
def web() -> Iterator[tuple[str, list[str]]]:
    from frontrank.lab.webserver import ServerOptions as Served
    from frontrank.lab.webserver.site import Site
    from frontrank.sources import load

    with run_in_process(WEB) as url:
        yield url, Site(load(WEB), Served()).seeds()


def test_several_fetchers_crawl_in_the_same_order_as_one(web: tuple[str, list[str]], tmp_path: Path) -> None:
    orders = []
    for count in (1, 3):
        out = tmp_path / str(count)
        crawl(*on(web), "--out", out, "--budget", "60", "--in-flight", "1", "--fetchers", str(count))
        orders.append(fetched(out))
        assert sorted(records(out)) == sorted((url, 200) for url in orders[-1])
    assert orders[0] == orders[1]


def fetchers_of(process: int) -> list[int]:
    """The fetcher processes that this one has started."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            line = (entry / "cmdline").read_bytes()
        except (OSError, ValueError, IndexError):
            continue
        if parent == process and b"fetching.fetchers" in line:
            found.append(int(entry.name))
    return found


def test_a_killed_fetcher_is_replaced_and_its_pages_are_fetched_once(web: tuple[str, list[str]], tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    slowly = ["--delay", "0.05", "--per-host", "4", "--in-flight", "8", "--fetchers", "2"]
    process = subprocess.Popen(command(*on(web), "--out", out, *slowly), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    killed: set[int] = set()
    until = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < until:
        if (out / "trace.db").exists() and len(fetched(out)) >= 60 * (len(killed) + 1) and len(killed) < 4:
            for pid in set(fetchers_of(process.pid)) - killed:
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
                break
        time.sleep(0.01)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    assert len(killed) >= 2
    order = fetched(out)
    assert len(order) == len(set(order)) == 400 and not events(out, Failed.kind)
    taken = Counter(row[0] for row in events(out, Taken.kind))
    expired = Counter(row[0] for row in events(out, Expired.kind))
    assert all(taken[url] == 1 + expired[url] for url in order)
    assert sum(expired.values()) <= 8 * len(killed)
    assert sorted(records(out)) == sorted((url, 200) for url in order)


def test_fetchers_end_with_a_crawl_that_is_killed(web: tuple[str, list[str]], tmp_path: Path) -> None:
    process = subprocess.Popen(
        command(*on(web), "--out", tmp_path / "crawl", "--delay", "5", "--per-host", "1", "--fetchers", "2"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + PATIENCE_S
    while len(started := fetchers_of(process.pid)) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    process.kill()
    process.wait()
    while any(running(pid) for pid in started) and time.monotonic() < until:
        time.sleep(0.02)
    assert len(started) == 2 and not any(running(pid) for pid in started)


def test_one_robots_txt_and_one_pace_a_host(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with served(Mapped) as url:
        told = crawl(f"{url}/", "--out", out, "--allow-private", "--delay", "0.3", "--sitemaps", "--fetchers", "3")
        asked = Counter(path for _, path, _ in Mapped.asked)
    assert asked["/robots.txt"] == 1 and told["failures"] == {"robots.txt": 1}
    assert {path for path in asked if path in Mapped.PAGES} == {"/", "/a", "/lonely", "/packed"}
    times = [at for _, at, _, _ in events(out, Taken.kind)]
    assert min(later - sooner for sooner, later in pairwise(times[1:])) > 0.4 - 1e-6, "as robots.txt asks for"


def test_the_guards_hold_in_every_fetcher(tmp_path: Path) -> None:
    with HostileServer() as server:
        limits = ("--timeout", "15", "--retries", "0", "--max-size", "5MB", "--per-host", "16", "--budget", "400")
        crawled = crawl_evil(server, tmp_path, [server.url("/")], *OPEN, *limits, "--fetchers", "2")
    expected = {path: FAILURES.get(path, "302" if path in REDIRECTS else "200") for path in EVILS}
    assert {path: crawled[path] for path in EVILS} == expected
    assert crawled.errors == "" and "Traceback" not in crawled.log


def test_fetchers_that_end_as_they_start_end_the_crawl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetchers, "START", "raise SystemExit")

    async def main() -> None:
        many = fetchers.Fetchers(FetchOptions("robin/1.0"), 2)
        try:
            while True:
                with suppress(fetchers.FetcherDied):
                    await many.fetch("http://example.org/")
        finally:
            many.close()
            await asyncio.sleep(0.05)

    with pytest.raises(InputError, match=r"5 fetchers in a row ended .* fewer --fetchers"):
        asyncio.run(main())


def test_pages_that_are_given_back_wait_where_they_stood() -> None:
    crawl = Crawl("bfs")
    crawl.seed([f"http://a.example/{n}" for n in range(4)])
    first = crawl.take_pages(3)
    crawl.fetched(crawl.url(first[1]), [])
    crawl.give_back(first)
    assert crawl.inspect.leased == 0 and crawl.take_pages(9) == [first[0], first[2], 3]
