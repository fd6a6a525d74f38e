"""The service over gRPC: URLFrontier's behaviour with an ordering behind it, clients, restarts, bad input."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import os
import random
import socket
import threading
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from h2.connection import H2Connection
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.crawl import events
from frontrank.crawl.crawl import Crawl
from frontrank.errors import InputError, NotFound, ServiceAway, ServiceError
from frontrank.service import client_calls, wire
from frontrank.service.async_client import AsyncClient
from frontrank.service.client import Client
from frontrank.service.crawls import Crawls
from frontrank.service.frontier import PIECE, PIECE_BYTES, FrontierService
from frontrank.service.grpc_server import SERVICE, GrpcServer
from frontrank.service.limits import MAX_KEY_LENGTH, MAX_METADATA, MAX_URL_LENGTH
from frontrank.service.reopening import has_room
from frontrank.service.rpc import framed
from frontrank.service.security import Security
from tests.patience import PATIENCE_S, eventually
from tests.test_service_security import TOKEN, certificate

__all__ = ["certificate"]
NOW = 1_800_000_000.0


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


class Service:
    """A served folder, with a clock of its own."""

    def __init__(self, folder: Path, clock: Clock, policy: str = "bfs", security: Security | None = None) -> None:
        self.clock = clock
        self.crawls = Crawls(folder, policy, clock=clock)
        self.frontier = FrontierService(self.crawls, clock=clock)
        self.server = GrpcServer(self.frontier, port=0, security=security).start()
        self.client = Client(self.server.address, timeout_s=PATIENCE_S)

    def named(self, crawl: str) -> Client:
        return Client(self.server.address, crawl, timeout_s=PATIENCE_S)

    def call(self, name: str, message: Any) -> Any:
        """A call as it is, without a client of ours between."""
        answers = self.client._channel
        made = answers._methods[name](message, timeout=PATIENCE_S, metadata=answers.metadata)
        return list(made) if SERVICE.methods_by_name[name].server_streaming else made

    def close(self) -> None:
        self.client.close()
        self.server.stop()
        self.crawls.close()


@contextmanager
def served(folder: Path, clock: Clock | None = None, **more: Any) -> Iterator[Service]:
    made = Service(folder, clock or Clock(), **more)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with served(tmp_path / "served") as made:
        yield made


def got(pages: list[Any]) -> list[str]:
    return [page.url for page in pages]


# URLs in and out ----------------------------------------------------------------------------------------------------
def test_a_url_is_new_once_and_goes_to_one_client_at_a_time(service: Service) -> None:
    client = service.client
    assert client.put(["http://a.org/", "http://b.org/", "http://a.org/"]) == [True, True, False]
    assert client.put(["http://b.org/", "http://c.org/"]) == [False, True]
    assert got(client.get()) == ["http://a.org/", "http://b.org/", "http://c.org/"]
    assert client.get() == []


def test_a_url_that_is_done_with_never_comes_again(service: Service) -> None:
    client = service.client
    client.put(["http://a.org/"])
    client.known("http://a.org/")
    service.clock.now += 1e6
    assert client.get() == [] and client.put(["http://a.org/"]) == [False]
    assert client.stats() == (0, 0, 1, 1, 0)


def test_a_lease_ends(service: Service) -> None:
    client = service.client
    client.put(["http://a.org/"])
    assert got(client.get(lease_s=5)) == ["http://a.org/"]
    assert client.stats("a.org").leased == 1
    service.clock.now += 4.9
    assert client.get() == []
    service.clock.now += 0.2
    assert client.stats("a.org") == (1, 0, 0, 1, 1), "nobody had to ask for URLs first"
    assert got(client.get()) == ["http://a.org/"]


def test_dates_say_from_when_on(service: Service) -> None:
    client = service.client
    client.known("http://a.org/later", NOW + 100)
    client.known("http://a.org/now", NOW)
    client.known("http://a.org/long-due", NOW - 10_000)
    assert got(client.get(per_queue=9, lease_s=1000)) == ["http://a.org/long-due", "http://a.org/now"]
    service.clock.now += 100
    assert got(client.get(per_queue=9)) == ["http://a.org/later"]


def test_a_page_comes_back_at_its_date(service: Service) -> None:
    client = service.client
    client.put(["http://a.org/"])
    client.get()
    client.fetched("http://a.org/", ["http://b.org/"], again_at=NOW + 50, metadata={"etag": ["x"]})
    assert client.status("http://a.org/").again_at == NOW + 50
    assert got(client.get(lease_s=1000)) == ["http://b.org/"]
    service.clock.now += 51
    (page,) = client.get()
    assert (page.url, page.metadata) == ("http://a.org/", {"etag": ["x"]})


def test_queues_take_turns_and_rest(service: Service) -> None:
    client = service.client
    client.put([f"http://h{n % 3}.org/{n}" for n in range(12)])
    assert got(client.get(queues=2, per_queue=2)) == [
        "http://h0.org/0",
        "http://h0.org/3",
        "http://h1.org/1",
        "http://h1.org/4",
    ]
    assert got(client.get(queues=2, per_queue=2)) == ["http://h2.org/2", "http://h2.org/5"]
    service.clock.now += 1.5
    assert client.get(per_queue=2) == [], "two are out of each"
    assert got(client.get(per_queue=3, queue="h1.org")) == ["http://h1.org/7", "http://h1.org/10"]


def test_the_order_is_the_orderings(tmp_path: Path) -> None:
    """The same events in a Crawl of our own, and by messages, lead to the same order."""
    draw = random.Random(7)
    urls = [f"http://h{n % 5}.org/{n}" for n in range(60)]
    links = {url: [(draw.choice(urls), f"anchor {n}") for n in range(6)] for url in urls}
    with served(tmp_path / "served", policy="opic") as service:
        service.client.delay(0)
        alone = Crawl("opic")
        service.client.put(urls[:2])
        alone.discover(urls[:2])
        order = []
        while pages := service.client.get(queues=1, per_queue=1):
            (taken,) = alone.queues.take(1, 1)
            assert pages[0].url == alone.url(taken)
            order.append(pages[0].url)
            found = links[pages[0].url]
            service.client.fetched(pages[0].url, found)
            alone.discover([url for url, _ in found], pages[0].url, [anchor for _, anchor in found])
            alone.fetched(pages[0].url, None)
    assert len(order) > 30 and order != [url for url in urls if url in order], "it is not the order of discovery"


def test_the_parent_may_come_as_stormcrawler_tells_it(tmp_path: Path) -> None:
    with served(tmp_path / "served", policy="backlink") as service:
        client = service.client
        client.put(["http://a.org/", "http://b.org/", "http://x.org/rare", "http://y.org/linked"])
        for n, page in enumerate(("http://a.org/", "http://b.org/")):
            path = wire.StringList(values=["http://seed.org/", page])
            info = wire.URLInfo(url="http://y.org/linked", metadata={"url.path": path, "n": wire.StringList(values=[str(n)])})
            service.call("PutDiscovered", iter([wire.DiscoveredBatch(items=[info])]))
            client.known(page)
        assert got(client.get(queues=1)) == ["http://y.org/linked"]


def test_metadata_stays_with_a_url(service: Service) -> None:
    client, said = service.client, {"depth": ["3"], "tags": ["a", "ü", ""], "none": []}
    client.put(["http://a.org/"], metadata=said)
    client.put(["http://b.org/"])
    assert client.status("http://a.org/").metadata == said
    assert {page.url: page.metadata for page in client.get()} == {"http://a.org/": said, "http://b.org/": {}}
    assert client.urls("a.org")[0].metadata == said


def test_queues_have_names_of_their_own(service: Service) -> None:
    client = service.client
    assert client.put(["http://a.org/1", "http://b.org/2"], queue="slow") == [True, True]
    assert client.put(["http://a.org/1"]) == [True], "a page is known by its URL and its queue"
    client.put(["http://gac.icann.org?language_id=9", "HTTP://Upper.org/"])
    assert sorted(client.queues()) == ["Upper.org", "a.org", "gac.icann.org", "slow"]
    assert [(page.url, page.queue) for page in client.get(queue="slow", per_queue=5)] == [
        ("http://a.org/1", "slow"),
        ("http://b.org/2", "slow"),
    ]
    client.known("http://a.org/1", queue="slow")
    assert (client.stats("slow").completed, client.stats("a.org").completed) == (1, 0)


# Crawls ----------------------------------------------------------------------------------------------------
def test_crawls_are_apart(service: Service) -> None:
    news, default = service.named("news"), service.client
    assert default.crawls() == []
    assert news.put(["http://a.org/"]) == default.put(["http://a.org/"]) == [True]
    assert default.crawls() == ["DEFAULT", "news"]
    assert news.stats().active == default.stats().active == 1
    assert news.delete_crawl() == 1 and news.delete_crawl() == 0
    assert default.crawls() == ["DEFAULT"] and news.stats().active == 0
    assert got(default.get()) == ["http://a.org/"]


def test_any_crawl_or_one_or_none(service: Service) -> None:
    for name in ("one", "two"):
        service.named(name).put([f"http://{name}.org/"])
    assert service.call("GetURLs", wire.GetParams(crawlID="")) == [], "a blank ID is none here"
    assert service.call("GetURLs", wire.GetParams(key="one.org")) == [], "a queue alone says too little"
    found = service.call("GetURLs", wire.GetParams(anyCrawlID=wire.AnyCrawlID()))
    assert sorted((info.crawlID, info.url) for info in found) == [("one", "http://one.org/"), ("two", "http://two.org/")]
    service.clock.now += 60
    assert len(service.call("GetURLs", wire.GetParams(max_queues=1))) == 1
    service.client.put(["http://a.org/"])
    assert len(service.call("GetURLs", wire.GetParams(key="a.org", crawlID=""))) == 1


# What is known ----------------------------------------------------------------------------------------------------
def test_what_is_known_of_a_url(service: Service) -> None:
    client = service.client
    client.put(["http://a.org/"])
    service.clock.now += 10
    assert client.status("http://a.org/") == ("http://a.org/", "a.org", {}, NOW, NOW)
    client.known("http://b.org/done")
    assert client.status("http://b.org/done", "b.org").again_at == 0
    for url, queue in (("http://a.org/x", ""), ("http://a.org/", "other")):
        with pytest.raises(NotFound, match="is not known in queue"):
            client.status(url, queue)
    with pytest.raises(InputError, match="must have a host, or a key must be given"):
        client.status("")


def test_urls_are_listed_and_counted(service: Service) -> None:
    client = service.client
    client.put([f"http://h{n % 2}.org/Page{n}" for n in range(2_500)])
    client.known("http://h0.org/Page0")
    assert client.count() == 2_500 and client.count("h0.org") == 1_250 and client.count("h2.org") == 0
    assert len(client.urls()) == 100, "unless more are asked for"
    assert [one.url for one in client.urls("h1.org", start=1_248, size=10)] == [
        "http://h1.org/Page2497",
        "http://h1.org/Page2499",
    ]
    assert client.count(containing="Page24") == 111 and client.count(containing="page24") == 0
    asked = wire.CountUrlParams(filter="pAGE24", ignoreCase=True)
    assert service.call("CountURLs", asked).value == 111
    assert [one.url for one in client.urls(containing="Page24", start=109)] == [
        "http://h0.org/Page2498",
        "http://h1.org/Page2499",
    ]
    assert client.urls()[0].again_at == 0 and client.urls()[1].again_at == NOW
    assert service.named("other").urls() == [] and service.named("other").count() == 0


def test_queues_are_listed(service: Service) -> None:
    client = service.client
    client.put([f"http://h{n}.org/" for n in range(150)])
    client.block("h0.org", NOW + 10)
    client.known("http://h1.org/")
    assert len(client.queues()) == 100 and client.queues(size=200) == [f"h{n}.org" for n in range(2, 150)]
    assert client.queues(size=3, inactive=True) == ["h0.org", "h1.org", "h2.org"]
    assert client.queues(start=147, size=5) == ["h149.org"]
    assert client.stats() == (149, 0, 1, 150, 149)
    assert client.stats("nobody.org") == (0, 0, 0, 0, 0)


# Control ----------------------------------------------------------------------------------------------------
def test_a_blocked_queue_gives_nothing(service: Service) -> None:
    client = service.client
    client.put(["http://a.org/", "http://b.org/"])
    client.block("a.org", NOW + 100)
    client.block("nobody.org", NOW + 100)
    assert got(client.get()) == ["http://b.org/"]
    client.block("a.org", 0)
    assert got(client.get()) == ["http://a.org/"]


def test_a_limit_counts_what_is_completed(service: Service) -> None:
    client = service.client
    client.put(["http://a.org/1", "http://a.org/2"])
    client.limit("a.org", 1)
    client.known(client.get()[0].url)
    service.clock.now += 5
    assert client.get() == []
    client.limit("a.org", 0)
    assert got(client.get()) == ["http://a.org/2"]
    with pytest.raises(NotFound, match=r"has no queue 'nobody\.org'"):
        client.limit("nobody.org", 1)


def test_delays_of_one_queue_and_of_all(service: Service) -> None:
    client = service.client
    client.put([f"http://{host}.org/{n}" for n in range(4) for host in "ab"])
    client.delay(10, "a.org")
    assert len(client.get(per_queue=9, lease_s=1)) == 8
    service.clock.now += 2
    assert {page.queue for page in client.get(lease_s=1)} == {"b.org"}
    service.clock.now += 9
    assert {page.queue for page in client.get(lease_s=1)} == {"a.org", "b.org"}
    client.delay(100)
    service.clock.now += 11
    assert {page.queue for page in client.get(lease_s=1)} <= {"a.org", "b.org"}
    service.clock.now += 11
    assert {page.queue for page in client.get(lease_s=1)} == {"a.org"}, "it has a delay of its own"


def test_a_deleted_queue_is_gone_with_all_that_was_said_of_it(service: Service) -> None:
    client = service.client
    client.put(["http://a.org/1", "http://a.org/2", "http://b.org/"], metadata={"m": ["x"]})
    client.known("http://a.org/2")
    client.block("a.org", NOW + 1000)
    assert client.delete_queue("a.org") == 1
    assert client.stats("a.org").queues == 0 and client.count() == 1
    assert client.delete_queue("a.org") == client.delete_queue("nobody.org") == 0
    with pytest.raises(NotFound):
        client.status("http://a.org/1")
    assert client.put(["http://a.org/1", "http://a.org/2"]) == [True, True]
    assert [(page.url, page.metadata) for page in client.get(queue="a.org", per_queue=5)] == [
        ("http://a.org/1", {}),
        ("http://a.org/2", {}),
    ]


def test_old_urls_are_purged(service: Service) -> None:
    client = service.client
    client.put(["http://a.org/old", "http://b.org/old"])
    service.clock.now += 3 * 86_400
    client.put(["http://a.org/new"])
    assert client.purge(5) == 0 and client.purge(2, "a.org") == 1 and client.purge(2) == 1
    assert [one.url for one in client.urls()] == ["http://a.org/new"]
    assert client.put(["http://a.org/old"]) == [True]


def test_many_pages_are_forgotten_in_parts_so_that_others_get_to_the_crawl(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("frontrank.service.frontier.FORGOTTEN_AT_ONCE", 10)
    client = service.client
    client.put([f"http://{host}.org/{n}" for host in "ab" for n in range(25)])
    service.clock.now += 3 * 86_400
    client.put(["http://a.org/new"])
    assert client.purge(2, "b.org") == 25 and client.delete_queue("a.org") == 26 and client.urls() == []
    rows = service.crawls.get().state.log.select(("links",), (events.Forgotten.kind,))
    assert [len(links) // 4 for (links,) in rows] == [10, 10, 5, 10, 10, 6], "each an event of its own"


def test_nothing_is_handed_out_while_paused(service: Service) -> None:
    client = service.client
    client.put(["http://a.org/"])
    client.pause()
    assert not client.active() and client.get() == [] and client.put(["http://b.org/"]) == [True]
    client.resume()
    assert client.active() and len(client.get()) == 2


def test_the_rest_of_the_protocol_answers(tmp_path: Path) -> None:
    with served(tmp_path, security=Security(TOKEN)) as service:
        service.client._channel.metadata = (("authorization", f"Bearer {TOKEN}"),)
        assert list(service.call("ListNodes", wire.Empty()).values) == [service.server.address]
        for level in range(5):
            service.call("SetLogLevel", wire.LogLevelParams(package="root", level=level))  # type: ignore[arg-type]


def test_calls_and_urls_are_counted(service: Service) -> None:
    client, counters = service.client, service.frontier.counters
    client.put([f"http://a.org/{n}" for n in range(150)])
    client.put(["http://a.org/1"])
    client.fetched(client.get(per_queue=2)[0].url, ["http://b.org/"])
    found = {sample.name: sample.value for family in counters.registry.collect() for sample in family.samples}
    assert {name: value for name, value in found.items() if name.endswith("_total") and name.startswith("frontier_")} == {
        "frontier_getURLs_calls_total": 1,
        "frontier_getURLs_total": 2,
        "frontier_putURLs_calls_total": 1,
        "frontier_putDiscovered_calls_total": 2,
        "frontier_putURLs_total": 153,
        "frontier_putURLs_discovered_total": 152,
        "frontier_putURLs_ignored_total": 1,
        "frontier_putURLs_completed_total": 1,
    }
    assert found["frontier_getURLs_latency_seconds_count"] == 1


# Restarts ----------------------------------------------------------------------------------------------------
def test_nothing_of_the_control_state_is_lost_by_a_restart(tmp_path: Path) -> None:
    clock = Clock()
    with served(tmp_path, clock) as service:
        client = service.client
        client.put([f"http://{host}.org/{n}" for n in range(3) for host in "abcdef"], metadata={"m": ["x"]})
        client.block("a.org", NOW + 100)
        client.delay(50, "b.org")
        client.limit("c.org", 1)
        client.known("http://c.org/0")
        client.known("http://d.org/0", NOW + 200, metadata={"m": ["y"]})
        assert len(client.get(queue="e.org", per_queue=3, lease_s=30)) == 3
        assert got(client.get(queue="b.org", lease_s=5)) == ["http://b.org/0"]
        service.crawls.get().control.boost(r"/2$", 5)
        client.pause()
    with served(tmp_path, clock) as service:
        client = service.client
        assert not client.active()
        client.resume()
        assert client.stats("e.org").leased == 3, "fetchers elsewhere did not end with the service"
        clock.now += 10
        assert got(client.get(per_queue=2, lease_s=1000)) == [
            "http://d.org/2",
            "http://d.org/1",
            "http://f.org/2",
            "http://f.org/0",
        ]
        clock.now += 30
        assert {page.queue for page in client.get()} == {"e.org"}, "leases ended; b rests, a is blocked, c has its limit"
        clock.now += 20
        assert got(client.get(queue="b.org")) == ["http://b.org/2"]
        clock.now += 50
        assert got(client.get(queue="a.org")) == ["http://a.org/2"]
        clock.now += 100
        assert client.status("http://d.org/0") == ("http://d.org/0", "d.org", {"m": ["y"]}, NOW + 200, NOW)


# Bad input ----------------------------------------------------------------------------------------------------
def statuses(service: Service, infos: list[wire.URLInfo]) -> list[int]:
    (answer,) = service.call("PutDiscovered", iter([wire.DiscoveredBatch(ID="b", items=infos)]))
    assert answer.ID == "b"
    items = [wire.URLItem(known=wire.KnownURLItem(info=info), ID=str(n)) for n, info in enumerate(infos)]
    answers = service.call("PutURLs", iter(items))
    assert [ack.status for ack in sorted(answers, key=lambda ack: int(ack.ID))] == list(answer.statuses)
    return list(answer.statuses)


def test_urls_that_do_not_fit_are_skipped_and_others_are_not(service: Service) -> None:
    large = {"m": wire.StringList(values=["x" * MAX_METADATA])}
    infos = [
        wire.URLInfo(url="http://good.org/"),
        wire.URLInfo(url=""),
        wire.URLInfo(url="http:///no-host"),
        wire.URLInfo(url="", key="k"),
        wire.URLInfo(url="http://a.org/", key="k" * (MAX_KEY_LENGTH + 1)),
        wire.URLInfo(url="http://a.org/", key="k" * MAX_KEY_LENGTH),
        wire.URLInfo(url="http://a.org/" + "x" * MAX_URL_LENGTH),
        wire.URLInfo(url="http://a.org/", metadata=large),
        wire.URLInfo(url="not a URL at all"),
    ]
    assert statuses(service, infos) == [0, 1, 1, 1, 1, 0, 1, 1, 0]


def test_urls_of_one_message_are_answered_in_their_order_however_many_and_of_whatever_crawls(service: Service) -> None:
    def batch(first: int) -> wire.DiscoveredBatch:
        urls = [wire.URLInfo(url=f"http://a.org/{n}", key="a", crawlID=f"c{n % 2}") for n in range(first, first + 5_000)]
        return wire.DiscoveredBatch(ID="all", items=urls)

    for first, new in ((0, 5_000), (2_500, 2_500)):
        (answer,) = service.call("PutDiscovered", iter([batch(first)]))
        assert list(answer.statuses) == [wire.AckMessage.SKIPPED] * (5_000 - new) + [wire.AckMessage.OK] * new
    assert service.named("c0").count() == service.named("c1").count() == 3_750


def test_an_item_that_is_nothing_is_skipped(service: Service) -> None:
    (answer,) = service.call("PutURLs", iter([wire.URLItem(ID="x")]))
    assert (answer.ID, answer.status) == ("x", wire.AckMessage.SKIPPED)
    (answer,) = service.call("PutURLs", iter([wire.URLItem(known=wire.KnownURLItem(info=wire.URLInfo(url="http://a.org/")))]))
    assert (answer.ID, answer.status) == ("http://a.org/", wire.AckMessage.OK), "without an ID, the URL is"


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda client: client.put([5]), "must be text"),
        (lambda client: client.put(["http://a.org/\ud800"]), "must be text"),
        (lambda client: client.known("http://a.org/", -1), "again_at must be"),
        (lambda client: client.known("http://a.org/", float("nan")), "again_at must be"),
        (lambda client: client.known("http:///"), "did not take"),
        (lambda client: client.get(queues=-1), "queues must be"),
        (lambda client: client.get(lease_s=1e12), "lease_s must be"),
        (lambda client: client.block("a.org", -5), "blocked until"),
        (lambda client: client.delay(-5), "a delay must be"),
        (lambda client: client.limit("a.org", -5), "a limit must be"),
        (lambda client: client.purge(-5), "an age must be"),
    ],
)
def test_bad_values_are_said(service: Service, ask: Callable[[Client], Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        ask(service.client)


def test_an_id_that_cannot_be_is_refused(service: Service) -> None:
    with pytest.raises(InputError, match="the ID of a crawl must have at most 1,000 characters"):
        service.named("x" * 1001).put(["http://a.org/"])


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with served(tmp_path_factory.mktemp("target") / "served") as made:
        made.client.put(["http://a.org/"])
        yield made


messages = st.one_of(
    st.binary(max_size=60),
    st.builds(
        lambda url, key, crawl, tags: wire.URLInfo(
            url=url, key=key, crawlID=crawl, metadata={tag: wire.StringList(values=[tag]) for tag in tags}
        ).SerializeToString(),
        st.text(max_size=20),
        st.text(max_size=5),
        st.sampled_from(["", "DEFAULT", "../x", "é\0"]),
        st.lists(st.sampled_from(["parent", "anchor", "url.path", "m"]), max_size=3),
    ).flatmap(
        lambda info: st.sampled_from(
            [info, b"\x0a" + bytes([len(info) % 128]) + info, b"\x12" + bytes([len(info) % 128]) + info]
        )
    ),
)


@settings(max_examples=120)
@given(st.sampled_from(sorted(set(SERVICE.methods_by_name) - {"SetLogLevel"})), st.lists(messages, max_size=4))
def test_random_messages_are_answered_or_refused(target: Service, name: str, some: list[bytes]) -> None:
    method = SERVICE.methods_by_name[name]
    kind = f"{'stream' if method.client_streaming else 'unary'}_{'stream' if method.server_streaming else 'unary'}"
    call = getattr(target.client._channel.channel, kind)(f"/{SERVICE.full_name}/{name}")
    asked = iter(some) if method.client_streaming else b"".join(some)
    try:
        made = call(asked, timeout=PATIENCE_S)
        assert made is not None and (not method.server_streaming or list(made) is not None)
    except grpc.RpcError as error:
        code, sentence = error.code(), error.details()
        assert code in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND)
        assert sentence and "served" not in sentence, "no path of ours"
    assert target.client.crawls() is not None


def test_urls_that_were_skipped_are_not_counted_as_completed(service: Service) -> None:
    registry, name = service.frontier.counters.registry, "frontier_putURLs_completed_total"
    before = registry.get_sample_value(name)
    with pytest.raises(InputError):
        service.client.known("http://a.org/" + "x" * 20_000)
    service.client.known("http://a.org/x")
    assert registry.get_sample_value(name) == (before or 0) + 1


def test_urls_of_any_number_go_in_messages_and_calls_that_are_not_too_long(service: Service) -> None:
    def sizes(links: Iterable[Any]) -> list[tuple[int, int]]:
        asked = client_calls.put(links, "DEFAULT", "http://p.org/", "", None)
        return [(len(batch.items), batch.ByteSize()) for batch in asked.message]  # type: ignore[union-attr]

    assert [count for count, _ in sizes(f"http://a.org/{n}" for n in range(250))] == [100, 100, 50]
    long = sizes((f"http://a.org/{n}", "x" * 60_000) for n in range(100))
    assert sum(count for count, _ in long) == 100 and max(size for _, size in long) <= 2**20 + 10_000
    assert [count for count, _ in sizes([("http://a.org/", "x" * 2_000_000)] * 2)] == [1, 1] and sizes([]) == []
    assert [len(some) for some in client_calls.streams(f"http://a.org/{n}" for n in range(client_calls.STREAM + 1))] == [
        client_calls.STREAM,
        1,
    ]
    assert list(client_calls.streams("http://a.org/")) == [["http://a.org/"]]


def test_a_delay_that_is_longer_stays_if_that_is_asked_for(service: Service) -> None:
    def delay() -> float:
        return float(service.crawls.get().inspect.busiest_hosts(1)[0]["delay"])

    service.client.put(["http://a.org/"])
    service.client.delay(30, "a.org")
    service.client.delay(2, "a.org", at_least=True)
    assert delay() == 30.0
    service.client.delay(60, "a.org", at_least=True)
    assert delay() == 60.0
    service.client.delay(2, "a.org")
    assert delay() == 2.0


# Who may call ----------------------------------------------------------------------------------------------------
def test_a_token_is_asked_for(tmp_path: Path) -> None:
    with served(tmp_path, security=Security(TOKEN)) as service:
        for token in ("", "wrong", TOKEN + "x", TOKEN[:-1]):
            with Client(service.server.address, token=token) as client:
                for ask in (client.stats, client.get, lambda client=client: client.put(["http://a.org/"])):
                    with pytest.raises(ServiceError, match="a token is needed"):
                        ask()
        with Client(service.server.address, token=TOKEN) as client:
            assert client.put(["http://a.org/"]) == [True]


def test_tls(tmp_path: Path, certificate: tuple[str, str]) -> None:
    with served(tmp_path, security=Security(TOKEN, certificate)) as service:
        with Client(service.server.address, token=TOKEN, tls_ca=certificate[0], timeout_s=PATIENCE_S) as client:
            assert client.put([f"http://a.org/{n}" for n in range(3_000)]) == [True] * 3_000
            assert len(client.get(per_queue=3_000)) == 3_000
        with Client(service.server.address, token=TOKEN, timeout_s=PATIENCE_S) as client, pytest.raises(ServiceError):
            client.stats()
    with pytest.raises(InputError, match="the certificate cannot be read"):
        Client("localhost:1", tls_ca=str(tmp_path / "missing"))


def test_a_service_that_is_not_there_is_said() -> None:
    with (
        Client("127.0.0.1:1") as client,
        pytest.raises(ServiceError, match=r"127\.0\.0\.1:1 does not answer .* frontrank serve"),
    ):
        client.stats()


def test_a_port_that_is_taken_is_said(service: Service) -> None:
    with pytest.raises(InputError, match="cannot listen at"):
        GrpcServer(FrontierService(service.crawls), port=service.server.port).start()


# The client for asyncio ----------------------------------------------------------------------------------------------------
def test_both_clients_have_the_same_verbs() -> None:
    def verbs(kind: type) -> dict[str, str]:
        found = inspect.getmembers(kind, inspect.isfunction)
        return {name: str(inspect.signature(verb)) for name, verb in found if not name.startswith("_")}

    assert verbs(Client) == verbs(AsyncClient)
    assert all(
        verb.__doc__ or name in ("close", "resume")
        for name, verb in inspect.getmembers(Client, inspect.isfunction)
        if name[0] != "_"
    )


def test_the_client_for_asyncio(service: Service) -> None:
    async def crawl() -> list[str]:
        order = []
        async with AsyncClient(service.server.address, timeout_s=PATIENCE_S) as client:
            assert await client.put(["http://a.org/"]) == [True]
            while pages := await client.get():
                order += got(pages)
                await client.fetched(pages[0].url, [f"http://h{len(order)}.org/"] if len(order) < 4 else [])
            assert (await client.stats()).completed == 4
            with pytest.raises(NotFound):
                await client.status("http://nobody.org/")
            await asyncio.gather(*(client.put([f"http://x.org/{n}"]) for n in range(20)))
            assert await client.count("x.org") == 20
        return order

    assert asyncio.run(crawl()) == ["http://a.org/", "http://h1.org/", "http://h2.org/", "http://h3.org/"]


# What a caller who does not read costs ------------------------------------------------------------------------------
def test_of_a_listing_that_nobody_reads_one_piece_is_held(tmp_path: Path) -> None:
    """Whatever the size of the crawl and of what is kept with its URLs."""
    with Crawls(tmp_path, "bfs") as crawls:
        frontier = FrontierService(crawls)
        crawl = crawls.get_or_start("big")
        crawl.discover([f"http://a.example/{n}" for n in range(10_000)])
        crawl.attach({page: wire.URLInfo(key="x" * 5_000).SerializeToString() for page in range(100)})
        next(frontier.list_urls(wire.ListUrlParams(crawlID="big", size=2**31)))
        tracemalloc.start()
        try:
            listings: list[Any] = [frontier.list_urls(wire.ListUrlParams(crawlID="big", size=2**31)) for _ in range(50)]
            pieces = [next(listing) for listing in listings]
            held = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        assert held < 50 * 2 * PIECE_BYTES and max(map(len, pieces)) <= PIECE
        for listing in listings:
            listing.close()
        assert len(list(itertools.chain(*frontier.list_urls(wire.ListUrlParams(crawlID="big", size=2**31))))) == 10_000


def test_a_listing_goes_on_while_its_crawl_grows_is_closed_and_deleted(tmp_path: Path) -> None:
    with Crawls(tmp_path, "bfs", max_open=1) as crawls:
        frontier = FrontierService(crawls)
        urls = [f"http://{'ab'[n % 2]}.example/{n}" for n in range(1_000)]
        crawls.get_or_start("one").discover(urls)
        listing = frontier.list_urls(
            wire.ListUrlParams(crawlID="one", key="b.example", start=3, size=450, filter="EXAMPLE/", ignoreCase=True)
        )
        found = next(listing)
        crawls.get_or_start("one").discover(["http://b.example/late"])
        crawls.get_or_start("other").discover(["http://c.example/"])
        assert len(crawls.open_crawls()) == 1
        found += itertools.chain(*listing)
        assert [wire.URLItem.FromString(item).known.info.url for item in found] == urls[1::2][3:453]
        asked = wire.CountUrlParams(crawlID="one", key="b.example")
        assert frontier.count_urls(asked).value == 501
        listing = frontier.list_urls(wire.ListUrlParams(crawlID="one", size=1_000))
        next(listing)
        crawls.delete("one")
        assert list(listing) == []


def test_streams_that_are_never_read_hold_up_nobody_and_little_memory(service: Service) -> None:
    """Their windows are as large as HTTP/2 allows: nothing but the connection itself says that nobody reads."""
    service.crawls.get_or_start("").discover([f"http://a.example/{n}" for n in range(30_000)])
    before, deaf = memory(), []
    message = wire.ListUrlParams(size=2**31).SerializeToString()
    host, _, port = service.server.address.rpartition(":")
    try:
        for _ in range(3):
            line = H2Connection()
            line.local_settings.initial_window_size = 2**31 - 1
            line.initiate_connection()
            line.increment_flow_control_window(2**30)
            for stream in range(1, 200, 2):
                heads = [
                    (":method", "POST"),
                    (":scheme", "http"),
                    (":path", f"/{SERVICE.full_name}/ListURLs"),
                    (":authority", host),
                ]
                line.send_headers(stream, [*heads, ("content-type", "application/grpc"), ("te", "trailers")])
                line.send_data(stream, framed([message]), end_stream=True)
            made = socket.create_connection((host, int(port)), timeout=PATIENCE_S)
            deaf.append(made)
            made.sendall(line.data_to_send())
        eventually(lambda: sum(len(one.calls) for one in list(service.server._server.connections)) >= 300)
        for n in range(5):
            assert service.client.put([f"http://b.example/{n}"]) == [True]
        eventually(
            lambda: all(call.headers_sent for one in list(service.server._server.connections) for call in one.calls.values())
        )
        assert memory() - before < 100 * 2**20
    finally:
        for made in deaf:
            made.close()


def memory() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# A crawl that cannot be opened --------------------------------------------------------------------------------------
def test_a_broken_crawl_is_refused_with_its_reason_and_the_others_are_served(tmp_path: Path) -> None:
    with served(tmp_path / "served") as service:
        for name in ("bad", "well"):
            service.named(name).put([f"http://{name}.org/"])
    (tmp_path / "served" / "bad" / "trace.db").write_bytes(b"not a database" * 1_000)
    with served(tmp_path / "served") as service:
        bad = service.named("bad")
        for call in (bad.stats, bad.get, lambda: bad.put(["http://a.org/"]), bad.urls):
            with pytest.raises(
                ServiceError, match=r"'bad' could not be opened: .*not a database.*FAILED_PRECONDITION"
            ) as caught:
                call()
            assert str(tmp_path) not in str(caught.value)
        assert service.client.crawls() == ["well"] and got(service.named("well").get()) == ["http://well.org/"]
        infos = [wire.URLInfo(url="http://new.org/", crawlID=name) for name in ("bad", "well")]
        items = [wire.URLItem(discovered=wire.DiscoveredURLItem(info=info)) for info in infos]
        assert [one.status for one in service.frontier.put_urls(items)] == [wire.AckMessage.FAIL, wire.AckMessage.OK]
        (answer,) = service.frontier.put_discovered([wire.DiscoveredBatch(ID="1", items=infos)])
        assert list(answer.statuses) == [wire.AckMessage.FAIL, wire.AckMessage.SKIPPED]
        assert bad.delete_crawl() == 0 and not (tmp_path / "served" / "bad").exists()
        assert bad.put(["http://a.org/"]) == [True] and got(bad.get()) == ["http://a.org/"], "it begins anew"


# Where nothing can be stored ---------------------------------------------------------------------------------------
def test_a_crawl_goes_on_by_itself_when_the_disk_has_room_again(
    service: Service, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    room = threading.Event()
    monkeypatch.setattr("frontrank.service.pool.has_room", lambda folder: room.is_set() and has_room(folder))
    client = service.client
    client.put([f"http://a.org/{n}" for n in range(10)])
    crawl = service.crawls.get()
    log: Any = crawl.state.log
    pages = log.db.execute("PRAGMA page_count").fetchone()[0]
    log.db.execute(f"PRAGMA max_page_count = {pages + 2}")
    full = pytest.raises(ServiceAway, match=rf"^{service.server.address}: the disk of the service is full")
    with full:
        client.put([f"http://b.org/{n}" for n in range(5_000)])
    with full:
        client.stats()  # they would count what is not stored
    with full:
        client.get()
    with service.named("other") as other:
        assert other.put(["http://a.org/"]) == [True] and other.crawls() == ["other"]
    room.set()
    eventually(lambda: not service.crawls.has_trouble())
    stored = client.stats().active
    assert 10 <= stored < 5_010 and stored == client.count()
    assert client.put(["http://c.org/"]) == [True] and client.stats().active == stored + 1
    assert "Traceback" not in capfd.readouterr().err


def test_a_crawl_on_a_full_disk_can_be_deleted(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontrank.service.pool.has_room", lambda folder: False)
    service.client.put(["http://a.org/"])
    log: Any = service.crawls.get().state.log
    log.db.execute("PRAGMA max_page_count = 1")
    with pytest.raises(ServiceAway, match="full"):
        service.client.put([f"http://b.org/{n}" for n in range(5_000)])
    service.client.delete_crawl()
    assert service.client.put(["http://a.org/"]) == [True]


def test_what_is_asked_of_a_crawl_that_was_just_deleted_is_answered(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    use = service.crawls.use
    for ask, answer in (
        (lambda: service.client.get(), []),
        (lambda: service.client.urls(), []),
        (lambda: service.client.block("a.org", NOW + 9), None),
    ):
        service.client.put(["http://a.org/"])
        found_before = iter([nullcontext(service.crawls.get())])  # by who asks: it is deleted before anything is read
        service.client.delete_crawl()
        with monkeypatch.context() as patched:
            patched.setattr(service.crawls, "use", lambda name, found=found_before: next(found, None) or use(name))
            assert ask() == answer


def test_a_refusal_that_repeats_a_long_url_is_no_longer_than_clients_take(service: Service) -> None:
    with pytest.raises(NotFound, match=r"http://a\.org/xxx"):
        service.client.status("http://a.org/" + "x" * 100_000)


def test_a_search_of_all_urls_lets_others_get_to_the_crawl(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    client = service.client
    client.put([f"http://h{n % 2}.org/Page{n}" for n in range(60)])
    waits: list[float] = []
    monkeypatch.setattr("frontrank.service.frontier.LOOKED_AT", 20)
    monkeypatch.setattr("frontrank.service.frontier.time", SimpleNamespace(sleep=waits.append))
    assert client.count(containing="Page5") == 11 and len(waits) == 3
    assert client.urls(containing="Page59")[0].url == "http://h1.org/Page59" and len(waits) == 5
    assert client.count("h1.org", containing="Page5") == 6
