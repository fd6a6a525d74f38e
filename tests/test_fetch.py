"""frontrank fetch: fetchers anywhere, on a crawl that a service keeps."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
from warcio.archiveiterator import ArchiveIterator

from frontrank.cli.fetch import command as fetch_command
from frontrank.errors import InputError, ServiceAway
from frontrank.fetching.end_reason import EndReason
from frontrank.fetching.fetcher import FetchOptions, FetchResult
from frontrank.fetching.host_trouble import Verdict
from frontrank.fetching.loop import FetchTask
from frontrank.lab.webserver import run_in_process
from frontrank.pages import html
from frontrank.service import wire
from frontrank.service.async_client import AsyncClient
from frontrank.service.client import Client
from frontrank.service.client_calls import Page
from frontrank.service.crawls import POLITE, Crawls
from frontrank.service.fetching import FetchPlan, FetchRun
from frontrank.service.frontier import FrontierService
from frontrank.service.grpc_server import GrpcServer
from frontrank.service.limits import MAX_METADATA
from frontrank.service.page_source import NOT_TAKEN
from frontrank.service.patience import MAX_BREAKS
from frontrank.service.reports import RETURNED
from frontrank.service.routed_client import RoutedClient
from frontrank.service.security import Security
from tests.patience import PATIENCE_S
from tests.test_crawler import WEB, Site, links, served


class Clock:
    """The real one, and what it is ahead."""

    ahead_s = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead_s


@contextmanager
def service(folder: Path, clock: Clock | None = None, port: int = 0, delay_s: float = 0.0, token: str = "") -> Iterator[Client]:
    clock = clock or Clock()
    crawls = Crawls(folder, "bfs", replace(POLITE, delay_s=delay_s), clock=clock)
    server = GrpcServer(FrontierService(crawls, clock=clock), port=port, security=Security(token)).start()
    try:
        with Client(server.address, token=token, timeout_s=PATIENCE_S) as client:
            client.address, client.crawls = server.address, crawls  # type: ignore[attr-defined, assignment, method-assign]
            yield client
    finally:
        server.stop()
        crawls.close()


def command(client: Client, *args: str) -> list[str]:
    return [sys.executable, "-m", "frontrank", "fetch", "--from", client.address, "--json", *args]  # type: ignore[attr-defined]


def fetch(client: Client, *args: str) -> dict[str, Any]:
    done = subprocess.run(command(client, *args), capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.fixture(scope="module")
def web() -> Iterator[list[str]]:
    """How to fetch from a proxy that serves a web of 400 pages."""
    from frontrank.lab.webserver import ServerOptions as Served
    from frontrank.lab.webserver.site import Site as Sites
    from frontrank.sources import load

    with run_in_process(WEB) as url:
        yield [*Sites(load(WEB), Served()).seeds(), "--proxy", url, "--scope", "any", "--no-robots", "--per-host", "8"]


def until(true: Any) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true() and time.monotonic() < deadline:
        time.sleep(0.02)


def test_fetchers_share_a_crawl_and_a_killed_one_loses_nothing(web: list[str], tmp_path: Path) -> None:
    clock = Clock()
    with service(tmp_path / "frontier", clock) as client:
        args = [*web, "--idle", "4"]
        slow = subprocess.Popen(command(client, *args, "--in-flight", "4"), stdout=subprocess.DEVNULL)
        until(lambda: client.stats().completed >= 20)
        slow.kill()
        slow.wait()
        before = client.stats()
        assert 20 <= before.completed < 400
        clock.ahead_s = 1000.0  # the leases of the dead one have ended
        others = [
            subprocess.Popen(command(client, *args, "--warc", str(tmp_path / name)), stdout=subprocess.PIPE, text=True)
            for name in ("one", "two")
        ]
        told = [json.loads(other.communicate(timeout=PATIENCE_S)[0]) for other in others]
        after = client.stats()
    assert (after.completed, after.active, after.leased) == (400, 0, 0)
    assert all(one["ended"] == "idle" and not one["failures"] for one in told)
    assert sum(one["fetched"] for one in told) == 400 - before.completed, "each page by one of them"
    kept = Counter(url for name in ("one", "two") for url in responses(tmp_path / name))
    assert len(kept) == sum(kept.values()) == 400 - before.completed


def responses(folder: Path) -> list[str]:
    found = []
    for path in folder.glob("*.warc.gz"):
        with open(path, "rb") as file:
            found += [r.rec_headers["WARC-Target-URI"] for r in ArchiveIterator(file) if r.rec_type == "response"]
    return found


def test_services_that_share_the_hosts_of_a_crawl_fetch_each_page_once_and_rank_all(web: list[str], tmp_path: Path) -> None:
    with service(tmp_path / "one") as one, service(tmp_path / "two") as two:
        clients: list[Any] = [one, two]
        addresses = [client.address for client in clients]
        command = [sys.executable, "-m", "frontrank", "fetch", "--from", ",".join(addresses), "--json", "--idle", "4", *web]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        assert done.returncode == 0, done.stderr
        counts, stats = json.loads(done.stdout), [client.stats() for client in clients]
        assert counts["fetched"] == 400 == sum(one.completed for one in stats) and not counts["failures"]
        assert all(one.completed > 0 and one.active == 0 for one in stats)
        hosts = [set(client.queues(size=1_000, inactive=True)) for client in clients]
        assert all(hosts) and not hosts[0] & hosts[1], "each host belongs to one of them"
        assert not any(client.crawls.get().state.pending for client in clients), "no links wait for a page of the other"

        async def routed() -> tuple[int, list[str]]:
            async with RoutedClient([AsyncClient(address, timeout_s=PATIENCE_S) for address in addresses[::-1]]) as both:
                return (await both.stats()).completed, [both.of_host(host).address for host in sorted(hosts[0])]

        completed, owners = asyncio.run(routed())
        assert completed == 400 and set(owners) == {addresses[0]}, "in whatever order they are named"


def test_pages_of_a_service_that_is_there_are_taken_while_another_is_away(tmp_path: Path) -> None:
    async def taken(addresses: list[str]) -> list[str]:
        async with RoutedClient([AsyncClient(address, timeout_s=PATIENCE_S) for address in addresses]) as both:
            return [page.url for _ in range(2) for page in await both.get(queues=1)]

    with service(tmp_path / "one") as one:
        one.put(["http://a.example/", "http://b.example/"])
        address = one.address  # type: ignore[attr-defined]
        assert asyncio.run(taken(["127.0.0.1:1", address])) == ["http://a.example/", "http://b.example/"]
    with pytest.raises(ServiceAway, match="does not answer"):
        asyncio.run(taken(["127.0.0.1:1", "127.0.0.1:2"]))
    with pytest.raises(InputError, match="each service must be named once, got a:1, a:1"):
        asyncio.run(taken(["a:1", "a:1"]))


def test_a_signal_gives_pages_back_at_once(tmp_path: Path) -> None:
    class Endless(Site):
        def do_GET(self) -> None:
            self.asked.append((time.monotonic(), self.path, ""))
            time.sleep(PATIENCE_S)

    with service(tmp_path / "frontier") as client, served(Endless) as url:
        args = command(client, *(f"{url}/{n}" for n in range(3)), "--allow-private", "--no-robots", "--per-host", "3")
        # A busy machine must not cut off what a signal asks for.
        patient = f"from frontrank import cli; from frontrank.system import stopping as s; s.GRACE_S = {PATIENCE_S}; cli.main()"
        process = subprocess.Popen([sys.executable, "-c", patient, *args[3:]], stdout=subprocess.PIPE, text=True)
        until(lambda: client.stats().leased == 3)
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=PATIENCE_S)[0]
        assert json.loads(said)["ended"] == "interrupted"
        stats = client.stats()
        assert (stats.leased, stats.active, stats.completed) == (0, 3, 0)


class Odd(Site):
    """robots.txt, redirects, failures of both kinds."""

    PAGES = {
        "/robots.txt": "User-agent: *\nDisallow: /private\n",
        "/": links("/moved", "/chain/1", "/gone", "/flaky", "/private", "/a", "http://other.example/"),
        "/target": links("/a"),
        "/a": links("/"),
    }

    def do_GET(self) -> None:
        self.asked.append((time.monotonic(), self.path, self.headers["User-Agent"]))
        before = sum(1 for _, other, _ in self.asked[:-1] if other == self.path)
        if self.path == "/moved":
            self.answer(301, location="/target")
        elif self.path.startswith("/chain/"):
            self.answer(302, location=f"/chain/{int(self.path[7:]) + 1}")
        elif self.path == "/flaky" and not before:
            self.answer(503)
        elif self.path == "/flaky":
            self.answer(200, links())
        elif self.path in self.PAGES:
            self.answer(200, self.PAGES[self.path], kind="text/plain" if self.path == "/robots.txt" else "text/html")
        else:
            self.answer(404)


def test_what_a_server_may_answer_and_what_the_service_is_told(tmp_path: Path) -> None:
    with service(tmp_path / "frontier") as client, served(Odd) as url:
        told = fetch(
            client, f"{url}/", "--allow-private", "--idle", "5", "--user-agent", "robin/1.0", "--contact", "a@b.example"
        )
        asked = Counter(path for _, path, _ in Odd.asked)
        agents = {agent for _, _, agent in Odd.asked}
        stats = client.stats()
    assert agents == {"robin/1.0 (+mailto:a@b.example)"}
    assert told["failures"] == {"http 404": 1, "robots.txt": 1} and told["not_followed"] == {"other host": 1}
    assert asked["/flaky"] == 2 and asked["/gone"] == asked["/robots.txt"] == asked["/target"] == 1 and not asked["/private"]
    assert asked["/chain/11"] == 1 and not asked["/chain/12"], "ten redirects, then no more"
    assert stats.active == 0 and stats.completed == told["fetched"] + told["failed"]


def test_a_fetcher_waits_for_a_service_that_is_started_again(web: list[str], tmp_path: Path) -> None:
    with service(tmp_path / "frontier") as client:
        port = int(client.address.rpartition(":")[2])  # type: ignore[attr-defined]
        process = subprocess.Popen(command(client, *web, "--idle", "8", "--in-flight", "4"), stdout=subprocess.PIPE, text=True)
        until(lambda: client.stats().completed >= 20)
    with service(tmp_path / "frontier", port=port) as client:
        told = json.loads(process.communicate(timeout=PATIENCE_S)[0])
        stats = client.stats()
    assert told["ended"] == "idle" and not told["failures"]
    assert stats.completed >= 390, "all but what was out when the service ended, which waits for its leases"
    assert stats.completed + stats.active == 400


class Fragile(FrontierService):
    """One that breaks at the first ``breaks`` messages of links."""

    def __init__(self, crawls: Crawls, breaks: int) -> None:
        super().__init__(crawls)
        self.breaks = breaks

    def put_discovered(self, batches: Sequence[wire.DiscoveredBatch]) -> list[wire.BatchAck]:
        if self.breaks and any("parent" in info.metadata for batch in batches for info in batch.items):
            self.breaks -= 1
            raise RuntimeError("broken")
        return super().put_discovered(batches)


@pytest.mark.parametrize(("breaks", "failures"), [(MAX_BREAKS, {}), (10**9, {NOT_TAKEN: 1})])
def test_a_call_that_breaks_off_is_made_again_but_not_for_ever(breaks: int, failures: dict[str, int], tmp_path: Path) -> None:
    class Two(Site):
        PAGES = {"/": links("/a"), "/a": links()}

    crawls = Crawls(tmp_path / "frontier", "bfs", replace(POLITE, delay_s=0.0))
    with crawls, GrpcServer(Fragile(crawls, breaks), port=0) as server, Client(server.address) as client, served(Two) as url:
        client.address = server.address  # type: ignore[attr-defined]
        told = fetch(client, f"{url}/", "--allow-private", "--no-robots", "--idle", "1")
    assert told["failures"] == failures and told["fetched"] == (0 if failures else 2)


def test_the_help_says_nothing_that_holds_for_crawls_alone() -> None:
    """Most options are those of `frontrank crawl`, which counts all runs and stores what it was given."""
    context = click.Context(fetch_command)
    shown = " ".join(fetch_command.get_help(context).split())
    for word in ("earlier runs", "stored with the crawl", "journal", "its time"):
        assert word not in shown
    assert "Stop this fetcher after N pages, those that fail included." in shown


class Wordy(Site):
    """A page whose links say more than a message may hold."""

    PAGES = {"/": "".join(f'<a href="/{n}">{"wordy " * 7_500}</a>' for n in range(100))}


def test_a_page_of_long_anchors_is_a_page_like_any_other(tmp_path: Path) -> None:
    with service(tmp_path / "frontier") as client, served(Wordy) as url:
        told = fetch(client, f"{url}/", "--allow-private", "--no-robots", "--budget", "1")
        assert (told["fetched"], told["failed"], told["new"]) == (1, 0, 100)
        assert client.count() == 101
        anchors = {len(one.metadata["anchor"][0]) for one in client.urls(size=200) if not one.url.endswith("/")}
        assert anchors == {1_000}


def test_a_fetcher_whose_token_holds_no_more_ends_with_a_sentence(web: list[str], tmp_path: Path) -> None:
    (tmp_path / "token").write_text("the-token-of-yesterday")
    (tmp_path / "token").chmod(0o600)
    with service(tmp_path / "frontier", token="the-token-of-yesterday") as client:
        port = int(client.address.rpartition(":")[2])  # type: ignore[attr-defined]
        args = command(client, *web, "--in-flight", "2", "--token-file", str(tmp_path / "token"))
        process = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until(lambda: client.stats().completed >= 5)
    with service(tmp_path / "frontier", port=port, token="the-token-of-today"):
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2 and "a token is needed" in said


@pytest.mark.parametrize(("ours", "theirs", "then"), [(10.0, "2", 10.0), (10.0, "0.5", 10.0), (1.0, "20", 20.0)])
def test_robots_txt_slows_a_service_down_and_never_speeds_it_up(tmp_path: Path, ours: float, theirs: str, then: float) -> None:
    class Slow(Site):
        PAGES = {"/": links(), "/robots.txt": f"User-agent: *\nCrawl-delay: {theirs}\n"}

    with service(tmp_path / "frontier", delay_s=ours) as client, served(Slow) as url:
        assert fetch(client, f"{url}/", "--allow-private", "--budget", "1")["fetched"] == 1
        (host,) = client.crawls.get().inspect.busiest_hosts(1)  # type: ignore[attr-defined]
        assert host["delay"] == then


def test_metadata_that_leave_no_room_for_a_report_are_dropped(tmp_path: Path) -> None:
    with service(tmp_path / "frontier") as client, served(Site) as url:
        page = f"{url}/gone"
        assert client.put([page], metadata={"note": ["x" * (MAX_METADATA - len(page) - 45)]}) == [True]
        told = fetch(client, "--allow-private", "--no-robots", "--budget", "1")
        assert told["failures"] == {"http 404": 1}
        stats = client.stats()
        assert (stats.completed, stats.active) == (1, 0)


class Tagged(Site):
    """Pages that say whether they have changed; one does, on each visit."""

    PAGES = {"/": links("/same", "/news"), "/same": links("/"), "/news": links("/same")}

    def do_GET(self) -> None:
        condition = self.headers["If-None-Match"] or ""
        self.asked.append((time.monotonic(), self.path, condition))
        if self.path not in self.PAGES:
            self.answer(404)
        elif self.path == "/news":
            self.answer(200, self.PAGES[self.path] + f"<p>{len(self.asked)}", headers={"ETag": f'"{len(self.asked)}"'})
        elif condition == '"x"':
            self.answer(304)
        else:
            self.answer(200, self.PAGES[self.path], headers={"ETag": '"x"'})


def test_pages_come_back_and_are_asked_for_only_if_they_have_changed(tmp_path: Path) -> None:
    clock = Clock()
    with service(tmp_path / "frontier", clock) as client, served(Tagged) as url:
        args = [f"{url}/", "--allow-private", "--no-robots", "--revisit", "fixed:every=1h", "--warc", str(tmp_path / "kept")]
        told = fetch(client, *args, "--budget", "3")
        assert (told["fetched"], told["failed"]) == (3, 0)
        assert fetch(client, *args, "--idle", "1")["fetched"] == 0, "not before their time"
        clock.ahead_s = 2 * 3600.0
        told = fetch(client, *args, "--budget", "3", "--per-host", "3")  # at once: this clock brings them back at once, too
        assert (told["fetched"], told["failed"], told["new"]) == (3, 0, 0)
        asked = sorted((path, condition) for _, path, condition in Tagged.asked)
        assert [one for one in asked if one[0] != "/news"] == [("/", ""), ("/", '"x"'), ("/same", ""), ("/same", '"x"')]
        assert client.crawls.get().inspect.revisits == 3  # type: ignore[attr-defined]
        assert client.crawls.get().inspect.history.statuses() == {200: 4, 304: 2}, "what has not changed keeps its links"  # type: ignore[attr-defined]
        (news,) = client.urls(containing="/news")
        copy = json.loads(news.metadata["copy"][0])
        assert (copy["visits"], copy["changes"]) == (1, 1) and news.again_at > time.time()
    kinds = Counter[tuple[str, str]]()
    for path in (tmp_path / "kept").glob("*.warc.gz"):
        with open(path, "rb") as file:
            kinds.update((r.rec_type, r.rec_headers["WARC-Target-URI"]) for r in ArchiveIterator(file))
    assert kinds[("revisit", f"{url}/same")] == kinds[("response", f"{url}/same")] == 1
    assert kinds[("response", f"{url}/news")] == 2


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a-token-of-enough-letters")
    token.chmod(0o600)
    for args, sentence in (
        (["--from", "127.0.0.1:9"], "127.0.0.1:9 does not answer"),
        (["--from", "127.0.0.1:9", "example.org"], "has no scheme"),
        (["--from", "crawler.example.org:1", "--token-file", str(token)], "would go there unencrypted"),
        (["--from", "127.0.0.1:9", "--revisit", "never"], "revisit policy"),
        (["--from", "127.0.0.1:9", "--in-flight", "0"], "--in-flight must be a whole number from 1"),
        (["--from", "127.0.0.1:9", "--token-file", str(tmp_path / "none")], "the token cannot be read"),
        ([], "--from"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "frontrank", "fetch", *args], capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert done.returncode == 2 and sentence in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_a_fetcher_that_ends_gives_a_page_back_whose_links_nobody_was_told_of() -> None:
    """Done with, the page would never be asked for again, and what it links to never known."""
    url, told = "http://192.0.2.7/", []

    class Restarting:
        """A service that is away when the links are put, and there when the page is reported."""

        async def put(self, *given: Any, **more: Any) -> list[bool]:
            raise ServiceAway("the service restarts")

        async def known(self, url: str, again_at: float = 0, **more: Any) -> None:
            told.append((url, again_at > 0, RETURNED in more["metadata"]))

    async def main() -> None:
        run = FetchRun(FetchPlan(FetchOptions("test"), "127.0.0.1:1", robots=False))
        await run.client.close()
        run.source.client = Restarting()  # type: ignore[assignment]
        run.end(EndReason.BUDGET)
        result = FetchResult(status=200, found=html.Page(links=[(f"{url}next", "next")]))
        task = FetchTask(Page(url, "192.0.2.7", {}, "DEFAULT"), url, "192.0.2.7")
        await run.source.settle(task, result, Verdict(False))
        run.requests.close()

    asyncio.run(main())
    assert told == [(url, True, True)]
