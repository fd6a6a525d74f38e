"""What fetchers elsewhere report, by gRPC: which page is meant, whatever its queue, and whether it arrived at all."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.status import events
from frontrank.errors import NotFound
from frontrank.frontiers.frontier import FORGOTTEN
from frontrank.service import wire
from frontrank.service.reports import Report, read
from tests.served import API, serving
from tests.test_service_grpc import NOW, Service, got, served

DRAW = random.Random(7)
URLS = [f"http://h{n % 5}.dom{n % 2}.org/{n}" for n in range(60)]
LINKS = {url: [DRAW.choice(URLS) for _ in range(6)] for url in URLS}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with served(tmp_path / "served") as made:
        yield made


def lists(**said: str) -> dict[str, wire.StringList]:
    return {name.replace("_", "."): wire.StringList(values=[value]) for name, value in said.items()}


def report(service: Service, page: Any, links: list[str], key_of: Callable[[str], str], key: str | None = None) -> None:
    """As StormCrawler does it: links with the path that leads to them, then the page, each with the key of its own queue."""
    made = [
        wire.URLItem(
            ID=str(n),
            discovered=wire.DiscoveredURLItem(
                info=wire.URLInfo(url=link, key=key_of(link), metadata={"url.path": wire.StringList(values=["x", page.url])})
            ),
        )
        for n, link in enumerate(links)
    ]
    info = wire.URLInfo(url=page.url, key=page.queue if key is None else key)
    made.append(wire.URLItem(ID="page", known=wire.KnownURLItem(info=info)))
    assert len(service.call("PutURLs", iter(made))) == len(made)


def alone(policy: str, links: dict[str, list[str]] = LINKS) -> list[str]:
    """The order of a crawl that fetches itself."""
    crawl, order = Crawl(policy), list[str]()
    crawl.discover(URLS[:2])
    while taken := crawl.take():
        order += taken
        crawl.fetched(taken[0], links[taken[0]])
    return order


# Which page is meant ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "key_of",
    [
        lambda url: "slow",
        lambda url: ".".join(url.split("/")[2].split(".")[1:]),  # byDomain
        lambda url: f"192.0.2.{len(url)}",  # byIP
        lambda url: url.split("/")[2].upper(),
        lambda url: f"{url.split('/')[2]} {len(url)}" if len(url) % 2 else "",
    ],
    ids=["one", "domain", "address", "case", "some"],
)
def test_links_of_pages_in_queues_of_their_own_reach_the_ordering(tmp_path: Path, key_of: Callable[[str], str]) -> None:
    with served(tmp_path / "served", policy="opic") as service:
        service.client.delay(0)
        for url in URLS[:2]:
            service.client.put([url], queue=key_of(url))
        order: list[str] = []
        while pages := service.client.get(queues=1, per_queue=1):
            order += got(pages)
            report(service, pages[0], LINKS[pages[0].url], key_of)
        crawl = service.crawls.get()
        assert not crawl.state.pending and crawl.inspect.overview()["known"] == len(set(order))
    assert order == alone("opic") and len(order) > 30


def test_the_clients_own_verb_tells_of_links_of_a_page_in_any_queue(tmp_path: Path) -> None:
    onward = {url: [link for link in links if link not in URLS[:2]] for url, links in LINKS.items()}
    with served(tmp_path / "served", policy="opic") as service:
        client = service.client
        client.delay(0)
        client.put(URLS[:2], queue="slow")  # nobody links to them: a link leads to the queue of a host
        order = []
        while pages := client.get(queues=1, per_queue=1):
            order += got(pages)
            client.fetched(pages[0].url, onward[pages[0].url], queue=pages[0].queue)
    assert order == alone("opic", onward)


@pytest.mark.parametrize("restarted", [False, True])
def test_links_told_of_a_url_are_those_of_whichever_page_of_it_is_reported(tmp_path: Path, restarted: bool) -> None:
    """The page was never named, or is reported under another key than it was handed out with."""
    with served(tmp_path / "served", policy="backlink") as service:
        client = service.client
        client.put(["http://x.org/rare", "http://y.org/linked", "http://a.org/"])
        client.put(["http://y.org/linked"], parent="http://nobody.org/")
        client.put(["http://y.org/linked"], parent="http://a.org/")
        if restarted:
            service.crawls.get().snapshot()
        assert sorted(service.crawls.get().state.pending.values(), key=len) == [{1: ""}, {1: ""}]
    with served(tmp_path / "served", policy="backlink") as service:
        for url in ("http://nobody.org/", "http://a.org/"):
            service.client.known(url, queue="elsewhere")
        assert not service.crawls.get().state.pending
        assert got(service.client.get(queues=1)) == ["http://y.org/linked"]


def test_a_page_that_is_reported_without_a_queue_is_the_one_that_is_out(service: Service) -> None:
    client = service.client
    client.put(["http://a.org/", "http://b.org/"], queue="slow")
    client.put(["http://b.org/"])
    assert [(page.url, page.queue) for page in client.get(queue="slow", lease_s=1000)] == [("http://a.org/", "slow")]
    client.fetched("http://a.org/", ["http://c.org/"])
    assert client.stats("slow") == (1, 0, 1, 1, 1) and client.status("http://a.org/").queue == "slow"
    assert client.status("http://b.org/").queue == "b.org" and client.status("http://b.org/", queue="slow").queue == "slow"
    with pytest.raises(NotFound):
        client.status("http://a.org/", queue="a.org")
    client.known("http://b.org/")
    assert client.stats("b.org").completed == 1 and client.stats("slow").completed == 1


# Whether it arrived -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({}, Report()),
        ({"returned": "1", "error": "http 503", "status": "200"}, Report(returned=True)),
        ({"status": "301"}, Report(status=301)),
        ({"status": "200", "error": "of the visit before"}, Report()),
        ({"status": "404"}, Report(error="http 404")),
        ({"status": "nonsense"}, Report()),
        ({"error": "timeout\n at  last"}, Report(error="timeout at last")),
        ({"error": ""}, Report(error="failed")),
        ({"fetch_error_count": "1"}, Report(error="fetch error")),
        ({"fetch_error_count": "2", "fetch_exception": "Socket timeout"}, Report(error="Socket timeout")),
        ({"fetch_error_count": "1", "fetch_statusCode": "503"}, Report(error="http 503")),
        ({"fetch_error_count": "0", "fetch_statusCode": "200", "fetch_exception": "once"}, Report()),
        ({"error_cause": "maxFetchErrors", "fetch_statusCode": "503"}, Report(error="maxFetchErrors")),
        ({"fetch_statusCode": "410"}, Report(error="http 410")),
        ({"fetch_statusCode": "304"}, Report(status=304)),
    ],
)
def test_metadata_say_what_became_of_a_visit(said: dict[str, str], meant: Report) -> None:
    given = wire.URLInfo(url="http://a.org/")
    for name, value in said.items():
        given.metadata[{"fetch_error_count": "fetch.error.count"}.get(name, name.replace("_", "."))].values.append(value)
    assert read(given) == meant


def test_what_failed_is_told_by_reason_and_what_was_given_back_never_went(service: Service, tmp_path: Path) -> None:
    client = service.client
    client.put([f"http://{host}.org/" for host in "abcde"], metadata={"m": ["x"]})
    assert len(client.get(lease_s=1000)) == 5
    client.known("http://a.org/", metadata={"error": ["http 404"]})
    client.known("http://b.org/", NOW + 50, metadata={"m": ["x"], "error": ["http 503"], "attempts": ["1"]})
    client.known("http://c.org/", NOW, metadata={"m": ["x"], "returned": ["1"]})
    client.known("http://d.org/", metadata={"status": ["301"]})
    client.known("http://e.org/", NOW + 50, metadata={"fetch.error.count": ["1"], "fetch.exception": ["reset"]})
    crawl = service.crawls.get()
    assert crawl.inspect.fetched_count == 1 and crawl.inspect.failed_count == 1 and crawl.inspect.revisits == 0
    assert crawl.inspect.status()["failed_by_reason"] == {"http 404": 1} and crawl.inspect.history.retries() == 2
    assert crawl.inspect.history.statuses() == {301: 1}
    with serving(service.crawls) as asked:
        _, told = asked.get(API + "/errors")
        assert told["reasons"] == [{"reason": "http 404", "pages": 1}] and told["retries"] == 2
        assert told["statuses"] == [{"reason": "301", "pages": 1}]
        _, found = asked.get(API + "/search", text="b.org")
        assert (found["pages"][0]["state"], found["pages"][0]["due"]) == ("waiting for a retry", NOW + 50)
    service.clock.now += 5
    assert [(page.url, page.metadata) for page in client.get(lease_s=1000)] == [("http://c.org/", {"m": ["x"]})]
    service.clock.now += 50
    again = {page.url: page.metadata for page in client.get()}
    assert again["http://b.org/"] == {"m": ["x"], "attempts": ["1"]}, "what tells of one visit is not kept"
    assert again["http://e.org/"] == {"fetch.error.count": ["1"], "fetch.exception": ["reset"]}, "StormCrawler counts on"


@pytest.mark.parametrize("trouble", [{"error": ["http 503"]}, {"fetch.error.count": ["1"]}, {"returned": ["1"]}])
def test_a_page_that_is_tried_again_changes_nothing_in_the_order(tmp_path: Path, trouble: dict[str, list[str]]) -> None:
    """OPIC gives a page's cash to its links when it arrives: not before, and all of it."""
    with served(tmp_path / "served", policy="opic") as service:
        client = service.client
        client.delay(0)
        client.put(URLS[:2])
        order: list[str] = []
        while pages := client.get(queues=1, per_queue=1):
            if len(order) % 3 == 0 and pages[0].url not in order:
                client.known(pages[0].url, service.clock.now, metadata=trouble)
                service.clock.now += 0.5
                pages = client.get(queues=1, per_queue=1)
            order += got(pages)
            client.fetched(pages[0].url, LINKS[pages[0].url])
    assert order == alone("opic")


def test_a_page_that_was_never_there_is_not_as_it_was(service: Service) -> None:
    service.client.put(["http://a.org/"])
    service.client.fetched("http://a.org/", ["http://b.org/"], metadata={"status": ["304"]})
    crawl = service.crawls.get()
    assert (
        crawl.inspect.fetched_count == 1
        and list(crawl.state.progress.order) == [0]
        and crawl.inspect.history.statuses() == {200: 1}
    )


def test_a_late_failure_of_a_page_whose_lease_has_ended_schedules_it(service: Service) -> None:
    client = service.client
    client.put(["http://a.org/"])
    client.get(lease_s=5)
    service.clock.now += 10
    client.known("http://a.org/", NOW + 100, metadata={"error": ["timeout"]})
    assert client.get() == [] and client.status("http://a.org/").again_at == NOW + 100
    service.clock.now += 100
    assert got(client.get()) == ["http://a.org/"]


# What is handed out -----------------------------------------------------------------------------------------------------
def test_pages_that_a_family_holds_up_keep_nothing_else_back(service: Service) -> None:
    client, crawl = service.client, None
    client.put([f"http://{host}.org/{kind}" for host in "ab" for kind in ("cal/1", "cal/2", "page")])
    crawl = service.crawls.get()
    crawl.control.limit_pattern("/cal/", budget=1)
    crawl.control.boost("/cal/", 5)
    assert got(client.get(queues=9, per_queue=1, lease_s=1000)) == ["http://a.org/cal/1", "http://b.org/page"]
    service.clock.now += 2
    assert got(client.get(queues=9, per_queue=1, lease_s=1000)) == [], "one of each is out"
    assert got(client.get(queues=9, per_queue=2, lease_s=1000)) == ["http://a.org/page"]
    crawl.control.limit_pattern("/cal/", budget=2)
    service.clock.now += 2
    assert got(client.get(queue="b.org", per_queue=9)) == ["http://b.org/cal/1"]


def test_the_delay_of_a_queue_begins_when_its_last_request_was_sent(service: Service) -> None:
    client, clock = service.client, service.clock
    client.put([f"http://a.org/{page}" for page in range(4)])
    (page,) = client.get(lease_s=1000)
    assert page.delay_s == 1.0
    clock.now += 0.75
    client.known(page.url, sent_ago=0.25)
    clock.now += 0.7
    assert client.get(lease_s=1000) == []
    clock.now += 0.05
    (page,) = client.get(lease_s=1000)
    for sent_ago in (math.nan, -1.0, 1.0, math.inf):  # nothing to go by, or over already
        client.known("http://b.org/", sent_ago=sent_ago)
    clock.now += 5
    client.known(page.url, metadata={"returned": ["1"]}, sent_ago=0.25)
    assert client.get() == [], "given back, after its robots.txt was asked for"
    clock.now += 0.75
    assert got(client.get()) == [page.url]
    crawl = service.crawls.get()
    assert crawl.inspect.folder is not None
    rests = [event["until"] - event["time"] for event in events(crawl.inspect.folder) if event["kind"] == "rest"]
    assert rests == pytest.approx([0.75, 0.75])


def test_a_late_or_repeated_report_takes_a_page_from_nobody_who_has_it_since(service: Service) -> None:
    """Its queue would be free for a third fetcher, while the second one still sends requests to it."""
    client, clock = service.client, service.clock
    client.put([f"http://a.org/{page}" for page in range(3)])
    returned = {"returned": ["1"]}
    (first,) = client.get(lease_s=1000)
    client.known(first.url, metadata=returned, lease=first.lease)
    clock.now += 2
    (second,) = client.get(lease_s=1000)
    assert second.url == first.url and second.lease != first.lease
    for said in (returned, {"error": ["http 500"]}, {"status": ["200"]}):  # the answer to the first one was lost
        client.known(first.url, metadata=said, lease=first.lease)
    clock.now += 2
    assert client.get(lease_s=1000) == [], "the page is still out, and one of a queue at a time"
    client.known(second.url, clock.now + 10, metadata={"error": ["http 500"]}, lease=second.lease)
    client.known(second.url, metadata={"error": ["http 500"]}, lease=second.lease)
    clock.now += 20
    assert first.url in got(client.get(per_queue=3, lease_s=5)), "it was to be tried again; what came later did not count"
    clock.now += 6
    client.known(first.url, lease=first.lease)  # nobody has it, so it was fetched by whoever says so
    clock.now += 6
    assert first.url not in got(client.get(per_queue=3))


def test_a_queue_that_is_not_there_is_deleted_by_the_reference_services_answer(service: Service) -> None:
    client = service.client
    assert service.call("DeleteQueue", wire.QueueWithinCrawlParams(key="none.org")).value == 2**64 - 1
    client.put(["http://a.org/1", "http://a.org/2"])
    assert client.delete_queue("none.org") == 0
    crawl = service.crawls.get()
    crawl.control.limit_host("a.org", budget=1, concurrency=1)
    client.fetched(client.get()[0].url)
    assert client.delete_queue("a.org") == 1
    client.put(["http://a.org/1", "http://a.org/2"])
    service.clock.now += 2
    assert len(client.get(per_queue=5)) == 2, "limits and what was taken are forgotten with it"


def test_what_was_deleted_is_neither_found_nor_explained(service: Service) -> None:
    client = service.client
    client.put(["http://a.org/1", "http://b.org/1"])
    client.put(["http://a.org/in/slow"], queue="slow")
    client.delete_queue("a.org")
    crawl = service.crawls.get()
    assert crawl.inspect.mark(crawl.lookup("http://a.org/1")) == FORGOTTEN and crawl.inspect.overview()["known"] == 2
    with serving(service.crawls) as asked:
        _, found = asked.get(API + "/search", text="/1")
        assert [page["url"] for page in found["pages"]] == ["http://b.org/1"]
        status, told = asked.get(API + "/explain", url="http://a.org/1")
        assert status == 404 and "does not know the page" in told["error"]
        _, told = asked.get(API + "/status")
        assert told["known"] == 2 == client.stats().active
        _, told = asked.get(API + "/next")
        assert {page["url"]: page["queue"] for page in told["pages"]} == {
            "http://b.org/1": "b.org",
            "http://a.org/in/slow": "slow",
        }
        for given in ({}, {"queue": "slow"}, {"queue": ""}):
            status, told = asked.get(API + "/explain", url="http://a.org/in/slow", **given)
            assert (status, told["queue"]) == (200, "slow")
        assert asked.get(API + "/explain", url="http://a.org/in/slow", queue="other")[0] == 404
