"""The HTTP side: what it answers, what it refuses, and that it changes what it says it changes."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families

from frontrank import __version__
from frontrank.crawl import inbox
from frontrank.crawl.crawl import Crawl
from frontrank.errors import DiskFull, InputError, StorageError
from frontrank.frontiers.politeness import FREE
from frontrank.service.client import Client
from frontrank.service.counters import Counters
from frontrank.service.crawls import Crawls
from frontrank.service.frontier import FrontierService
from frontrank.service.grpc_server import GrpcServer
from frontrank.service.http import actions, http_server, stream
from frontrank.service.http.guard import MAX_BODY_LENGTH, MAX_TARGET_LENGTH
from frontrank.service.http.reader import MAX_WAITING
from frontrank.service.http.routes import OPERATIONS
from frontrank.service.http.server import Impatient
from frontrank.service.limits import MAX_URL_LENGTH
from frontrank.service.refusals import DISK_FULL
from tests.patience import PATIENCE_S, eventually
from tests.served import API, CALENDAR, MARKUP, Asked, grow, grown, serving

JSON = {"Content_Type": "application/json"}


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawls]:
    with grown(tmp_path_factory.mktemp("secret-place") / "service") as made:
        yield made


@pytest.fixture(scope="module")
def asked(crawls: Crawls) -> Iterator[Asked]:
    with serving(crawls) as made:
        yield made


@pytest.fixture
def own(tmp_path: Path) -> Iterator[tuple[Crawls, Asked]]:
    """A service of its own, for tests that change it."""
    with grown(tmp_path / "service") as crawls, serving(crawls) as asked:
        yield crawls, asked


# What it answers ------------------------------------------------------------------------------------------------------------
def test_status_says_what_the_crawl_says_of_itself(crawls: Crawls, asked: Asked) -> None:
    status, told = asked.get(API + "/status")
    crawl = crawls.get()
    assert status == 200
    assert {key: told[key] for key in ("known", "fetched", "failed", "waiting", "leased", "policy", "events")} == {
        "known": crawl.inspect.known,
        "fetched": 6,
        "failed": 1,
        "waiting": crawl.inspect.waiting,
        "leased": 0,
        "policy": "backlink",
        "events": crawl.state.log.seq,
    }
    assert told["pages_per_s"]["overall"] > 0
    assert (told["running"], told["left_until"]) == (True, "frontier empty")


def test_all_crawls_are_listed(asked: Asked) -> None:
    _, told = asked.get("/api/v1/crawls")
    assert [one["id"] for one in told["crawls"]] == ["DEFAULT"]


def test_the_next_pages_are_those_of_the_crawl_in_their_order(crawls: Crawls, asked: Asked) -> None:
    _, told = asked.get(API + "/next", n=7)
    assert [page["url"] for page in told["pages"]] == [page["url"] for page in crawls.get().inspect.next(7)]


def test_an_explanation_adds_up_to_the_priority(crawls: Crawls, asked: Asked) -> None:
    url = crawls.get().inspect.next(1)[0]["url"]
    status, told = asked.get(API + "/explain", url=url)
    assert (status, told["place"], told["state"]) == (200, 1, "waiting")
    parts = sum(link["part"] for link in told["links"]) + told["further_links"] + told["other"]
    assert parts == pytest.approx(told["priority"])


def test_a_url_with_markup_is_explained_like_any_other(asked: Asked) -> None:
    status, told = asked.get(API + "/explain", url=MARKUP)
    assert (status, told["url"]) == (200, MARKUP)


def test_pages_are_found_by_a_part_of_their_url(asked: Asked) -> None:
    _, told = asked.get(API + "/search", text="<SCRIPT>")
    assert [page["url"] for page in told["pages"]] == [MARKUP] and not told["more"]
    _, told = asked.get(API + "/search", text="/cal/", n=3)
    assert len(told["pages"]) == 3 and told["more"]
    assert asked.get(API + "/search", text="nowhere")[1] == {"pages": [], "more": False}


def test_failures_are_counted_by_reason_and_the_last_are_shown(asked: Asked) -> None:
    _, told = asked.get(API + "/errors")
    assert told["reasons"] == [{"reason": "http 404 <b>", "pages": 1}]
    assert told["statuses"] == [{"reason": "200", "pages": 6}]
    assert [one["reason"] for one in told["last"]] == ["http 404 <b>"]


def test_history_adds_up_to_all_settled_pages(asked: Asked) -> None:
    _, told = asked.get(API + "/history", points=3)
    assert (sum(point["fetched"] for point in told["points"]), sum(point["failed"] for point in told["points"])) == (6, 1)
    assert len(told["points"]) <= 3


def test_the_calendar_is_the_largest_family_but_no_trap_before_it_is_fetched(asked: Asked) -> None:
    _, told = asked.get(API + "/families", n=1)
    (first,) = told["families"]
    assert (first["pattern"], first["known"], first["possible_trap"]) == ("a.example/cal/#", CALENDAR, False)


def test_scores_and_coverage_are_the_crawl_s(crawls: Crawls, asked: Asked) -> None:
    assert asked.get(API + "/scores", bins=5)[1] == crawls.get().inspect.score_distribution(5)
    assert asked.get(API + "/coverage")[1] == crawls.get().inspect.coverage()


def test_hosts_have_their_limits(crawls: Crawls, asked: Asked) -> None:
    _, told = asked.get(API + "/hosts", n=2)
    assert told["known"] == 3
    host, row = told["hosts"][0], crawls.get().inspect.busiest_hosts(1)[0]
    same = ("host", "waiting", "leased", "later", "done", "taken", "concurrency", "budget", "limit")
    assert {key: host[key] for key in same} == {key: row[key] for key in same}
    assert (host["host"], host["delay_s"], host["rests_s"], host["blocked_s"]) == ("a.example", 0.0, 0.0, 0.0)


def test_a_comparison_is_what_the_other_ordering_would_do_on_the_same_crawl(crawls: Crawls, asked: Asked) -> None:
    status, told = asked.get(API + "/compare", policy="dfs", n=10)
    assert status == 200
    folder = crawls.get().inspect.folder
    assert folder is not None
    with Crawl.recover(folder, "dfs", rescore=True, read_only=True) as other:
        assert [page["url"] for page in told["head"]] == [page["url"] for page in other.inspect.next(10)]
    before = [page["url"] for page in crawls.get().inspect.next(crawls.get().inspect.waiting)]
    for place, page in enumerate(told["head"], 1):
        assert (page["place"], before[page["place_before"] - 1]) == (place, page["url"])
    assert {page["url"] for page in told["leaving"]} == set(before[:10]) - {page["url"] for page in told["head"]}
    assert told["shared"] == 10 - len(told["leaving"])
    assert crawls.get().state.policy.spec() == "backlink", "nothing is changed"


def test_compared_with_its_own_ordering_nothing_moves(asked: Asked) -> None:
    _, told = asked.get(API + "/compare", policy="backlink", n=5)
    assert told["shared"] == 5 and not told["leaving"]
    assert all(page["place"] == page["place_before"] for page in told["head"])


@pytest.mark.parametrize(
    "policy",
    [
        *("prior:file=/etc/passwd", "fpr:trust=/etc/passwd", "os.path:join", "quality", "oracle", "combine:prior=1"),
        *("nonsense", "combine:fpr=1,fpr.trust=secret", "fpr:m=x", "", "q-overlap"),
    ],
)
def test_a_comparison_reads_no_file_and_loads_no_module(asked: Asked, policy: str) -> None:
    status, told = asked.get(API + "/compare", policy=policy)
    assert status == 400 and told["error"]


def test_ids_of_crawls_are_any_text(own: tuple[Crawls, Asked]) -> None:
    crawls, asked = own
    for name in ("news/sport", "x/next", "../..", 'a"b\\\n', "Ü", "%2F"):
        crawls.get_or_start(name).seed(f"http://{len(name)}.example/")
        status, told = asked.get(f"/api/v1/crawls/{quote(name, safe='')}/status")
        assert (status, told["id"], told["known"]) == (200, name, 1)
    assert metrics(asked)["frontrank_pages", labels(crawl='a"b\\\n', state="known")] == 1


def metrics(asked: Asked) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Samples by name and labels, read as Prometheus reads them."""
    status, heads, body = asked.raw("GET", "/metrics")
    assert status == 200 and heads["content-type"].startswith("text/plain; version=0.0.4")
    families = text_string_to_metric_families(body.decode())
    samples = [sample for family in families for sample in family.samples]
    found = {(sample.name, frozenset(sample.labels.items())): sample.value for sample in samples}
    assert len(found) == len(samples), "no sample twice"
    return found


def labels(**given: str) -> frozenset[tuple[str, str]]:
    return frozenset(given.items())


def test_metrics_have_urlfrontier_s_names_and_are_well_formed(asked: Asked) -> None:
    found = metrics(asked)
    assert min(found.values()) >= 0
    assert found["frontier_getURLs_calls_total", labels()] == found["frontier_putURLs_completed_total", labels()] == 0
    assert found["frontier_putURLs_discovered_total", labels(discovered="true")] == 0
    assert found["frontrank_pages", labels(crawl="DEFAULT", state="failed")] == 1
    assert found["frontrank_info", labels(version=__version__)] == 1
    assert found["process_resident_memory_bytes", labels()] > 2**20
    assert not [name for name, _ in found if name.endswith("_created")]


def test_metrics_count_what_fetchers_ask_for(tmp_path: Path) -> None:
    counters = Counters()
    with (
        Crawls(tmp_path / "service", "bfs", FREE) as crawls,
        GrpcServer(FrontierService(crawls, counters), "127.0.0.1", 0) as frontier,
        http_server(crawls, port=0, counters=counters) as server,
        Client(frontier.address) as client,
    ):
        client.put(["http://a.example/1", "http://a.example/2", "http://a.example/1"])
        assert len(client.get(queues=10, per_queue=10)) == 2
        found = metrics(Asked(server))
    assert found["frontier_getURLs_total", labels()] == 2 and found["frontier_putURLs_ignored_total", labels()] == 1
    assert found["frontier_getURLs_latency_seconds_count", labels()] > 0
    assert found["frontrank_pages", labels(crawl="DEFAULT", state="leased")] == 2


def test_live_updates_come_when_something_happens(own: tuple[Crawls, Asked], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "LOOK_S", 0.05)
    crawls, asked = own
    with socket.create_connection(("127.0.0.1", asked.server.port)) as line:
        line.sendall(f"GET {API}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        with line.makefile("rb") as said:
            first = _data(said)
            crawls.get().fetched(crawls.get().take()[0])
            eventually(lambda: _data(said)["fetched"] == first["fetched"] + 1)


def _data(said: Any) -> dict[str, Any]:
    while not (line := said.readline()).startswith(b"data: "):
        assert line, "the stream ended"
    told: dict[str, Any] = json.loads(line[6:])
    return told


def test_health_says_whether_journals_can_be_written(own: tuple[Crawls, Asked]) -> None:
    crawls, asked = own
    assert asked.get("/health")[0] == 200
    crawls.get().state.log.broken = "disk full"
    status, told = asked.get("/health")
    assert status == 503 and "disk full" not in told["error"]


def test_a_crawl_whose_disk_is_full_is_listed_without_its_path(
    own: tuple[Crawls, Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("frontrank.service.pool.has_room", lambda folder: False)
    crawls, asked = own
    crawl = crawls.get()
    crawl.state.log.db.execute("PRAGMA max_page_count = 1")  # type: ignore[attr-defined]
    with pytest.raises(DiskFull, match=re.escape(str(crawl.inspect.folder))):
        crawl.discover([f"http://d.example/{n}" for n in range(5_000)])
    crawls.get_or_start("other")
    status, told = asked.get("/api/v1/crawls")
    assert status == 200 and [one["id"] for one in told["crawls"]] == ["other"]
    assert told["broken"] == [{"id": "DEFAULT", "reason": DISK_FULL}] and str(crawls.folder) not in json.dumps(told)


# What it changes ------------------------------------------------------------------------------------------------------------
def test_a_blocked_host_gives_no_page_and_stays_blocked_after_a_restart(tmp_path: Path) -> None:
    with grown(tmp_path / "service") as crawls, serving(crawls) as asked:
        for host in ("a.example", "b.example", "c.example"):
            assert asked.post(API + "/block", {"host": host, "seconds": 1e6})[0] == 200
        assert crawls.get().take() == []
        assert all(host["blocked_s"] > 9e5 for host in asked.get(API + "/hosts")[1]["hosts"])
    with Crawls(tmp_path / "service") as crawls:
        assert crawls.get().take() == []


def test_a_block_is_ended_by_zero_seconds(own: tuple[Crawls, Asked]) -> None:
    crawls, asked = own
    for seconds in (1e6, 0):
        for host in ("a.example", "b.example", "c.example"):
            assert asked.post(API + "/block", {"host": host, "seconds": seconds})[0] == 200
    assert crawls.get().take() != []


def test_a_paused_crawl_gives_no_page_until_it_is_resumed(tmp_path: Path) -> None:
    with grown(tmp_path / "service") as crawls, serving(crawls) as asked:
        assert asked.post(API + "/pause", {})[0] == 200
        assert asked.get(API + "/status")[1]["paused"] and crawls.get().take() == []
    with Crawls(tmp_path / "service") as crawls, serving(crawls) as asked:
        assert crawls.get().take() == [], "it is paused after a restart, too"
        assert asked.post(API + "/resume", {})[0] == 200
        assert not asked.get(API + "/status")[1]["paused"] and crawls.get().take() != []


def test_boosted_pages_go_first_and_the_rule_is_told_until_it_ends(own: tuple[Crawls, Asked]) -> None:
    crawls, asked = own
    before = [page["url"] for page in crawls.get().inspect.next(3)]
    status, told = asked.post(API + "/boost", {"pattern": r"/cal/7\d$", "by": 3})
    assert (status, told["done"]) == (200, "pages that match go before all others")
    pages = asked.get(API + "/next", n=11)[1]["pages"]
    assert {page["url"] for page in pages[:10]} == {f"http://a.example/cal/{day}" for day in range(70, 80)}
    assert {page["standing"] for page in pages[:10]} == {"before all"} and pages[10]["standing"] == "ranked"
    rule = {"pattern": r"/cal/7\d$", "boost": 3, "budget": 0, "delay_s": 0.0, "taken": 0}
    assert asked.get(API + "/status")[1]["rules"] == [rule]
    assert asked.post(API + "/boost", {"pattern": r"/cal/7\d$", "by": 0})[0] == 200
    assert [page["url"] for page in asked.get(API + "/next", n=3)[1]["pages"]] == before
    status, told = asked.post(API + "/boost", {"pattern": "(", "by": 1})
    assert status == 400 and "regular expression" in told["error"]


def test_a_family_with_a_budget_gives_no_more_pages_than_that(own: tuple[Crawls, Asked]) -> None:
    crawls, asked = own
    assert asked.post(API + "/families", {"pattern": "/cal/", "budget": 2})[0] == 200
    taken = [url for _ in range(20) for url in crawls.get().take(5)]
    assert sum("/cal/" in url for url in taken) == 2
    assert asked.post(API + "/families", {"pattern": "/cal/"})[0] == 400


def test_limits_of_a_host_are_set_one_by_one(own: tuple[Crawls, Asked]) -> None:
    crawls, asked = own
    assert asked.post(API + "/limits", {"host": "A.example", "delay_s": 2.5, "budget": 100})[0] == 200
    assert asked.post(API + "/limits", {"host": "a.example", "concurrency": 3})[0] == 200
    host = crawls.get().inspect.busiest_hosts(1)[0]
    assert (host["host"], host["delay"], host["budget"], host["concurrency"]) == ("a.example", 2.5, 100, 3)
    assert asked.post(API + "/limits", {"host": "a.example"})[0] == 400


# What it refuses ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/api/v1/crawls/none/status", 404),
        ("GET", API + "/explain?url=http://never.example/", 404),
        ("GET", API + "/explain", 400),
        ("GET", API + "/next?n=0", 400),
        ("GET", API + "/next?n=1e3", 400),
        ("GET", API + "/next?n=99999999999999999999999", 400),
        ("GET", API + "/search?text=", 400),
        ("GET", API + "/search?text=" + "x" * 501, 400),
        ("GET", API + "/events/", 404),
        ("DELETE", API + "/status", 405),
        ("GET", API + "/block", 405),
        ("GET", API + "/search?text=" + "x" * MAX_TARGET_LENGTH, 414),
        ("GET", "/../../etc/passwd", 404),
        ("GET", "/page/dashboard.html", 404),
    ],
)
def test_bad_requests_get_a_status_and_a_sentence(asked: Asked, method: str, path: str, status: int) -> None:
    found, heads, body = asked.raw(method, path)
    assert (found, heads["content-type"]) == (status, "application/json")
    sentence = json.loads(body)["error"]
    assert sentence and "Traceback" not in sentence and "secret-place" not in sentence


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        (b"", 400, "JSON"),
        (b"{", 400, "JSON"),
        (b"\xff", 400, "JSON"),
        (b"[" * 10_000, 400, "JSON"),
        (b"[]", 400, "object"),
        (b'{"host": "a.example"}', 400, "seconds"),
        (b'{"host": "a.example", "seconds": "1"}', 400, "number"),
        (b'{"host": "a.example", "seconds": true}', 400, "number"),
        (b'{"host": "a.example", "seconds": NaN}', 400, "seconds"),
        (b'{"host": "a.example", "seconds": 1e999}', 400, "seconds"),
        (b'{"host": "a.example", "seconds": ' + b"9" * 400 + b"}", 400, "seconds"),
        (b'{"host": "a.example", "seconds": -1}', 400, "-1"),
        (b'{"host": "", "seconds": 1}', 400, "empty"),
        (b'{"host": "a\\ud800", "seconds": 1}', 400, "Unicode"),
        (b'{"host": "a", "seconds": 1, "more": 1}', 400, "more"),
        (b'{"host": "a", "seconds": 1}' + b" " * MAX_BODY_LENGTH, 413, "bytes"),
    ],
)
def test_bad_bodies_get_a_sentence_that_helps(asked: Asked, body: bytes, status: int, word: str) -> None:
    found, _, said = asked.raw("POST", API + "/block", body, **JSON)
    assert found == status and word in json.loads(said)["error"]


def test_a_body_that_does_not_say_its_length_is_counted(asked: Asked) -> None:
    with socket.create_connection(("127.0.0.1", asked.server.port)) as line:
        heads = ("Host: 127.0.0.1", "Content-Type: application/json", "Transfer-Encoding: chunked")
        line.sendall("\r\n".join((f"POST {API}/block HTTP/1.1", *heads, "", "")).encode())
        line.sendall(b"%x\r\n" % (MAX_BODY_LENGTH + 1) + b" " * (MAX_BODY_LENGTH + 1) + b"\r\n0\r\n\r\n")
        with line.makefile("rb") as said:
            assert b" 413 " in said.readline()


def test_a_page_of_another_origin_cannot_act(own: tuple[Crawls, Asked]) -> None:
    crawls, asked = own
    before = crawls.get().state.log.seq
    body = b'{"host": "a.example", "seconds": 60}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        assert asked.raw("POST", API + "/block", body, Content_Type=kind)[0] == 415  # all that a form can send
    assert asked.raw("POST", API + "/block", body, Origin="http://evil.example", **JSON)[0] == 403
    assert asked.raw("POST", API + "/block", body, Origin="null", **JSON)[0] == 403
    assert asked.raw("POST", API + "/block", body, Origin=f"http://127.0.0.1:{asked.server.port + 1}", **JSON)[0] == 403
    assert crawls.get().state.log.seq == before
    assert asked.raw("POST", API + "/block", body, Origin=asked.url, **JSON)[0] == 200


def test_a_name_that_was_made_to_lead_here_gets_nothing(asked: Asked) -> None:
    assert asked.raw("GET", API + "/status", Host="evil.example")[0] == 403
    assert asked.raw("GET", API + "/status", Host=f"localhost:{asked.server.port}")[0] == 200


def test_with_a_token_reads_and_actions_need_it_and_the_page_does_not(tmp_path: Path) -> None:
    with grown(tmp_path / "service") as crawls, serving(crawls, token="s3cret") as asked:
        paths = [one.path.replace("{crawl}", "DEFAULT") for one in OPERATIONS if not one.acts and not one.slow]
        for path in (*paths, API + "/events", "/metrics"):
            status, heads, _ = asked.raw("GET", path)
            assert (status, heads["www-authenticate"]) == (401, "Bearer"), path
        before = crawls.get().state.log.seq
        for one in OPERATIONS:
            if one.acts:
                assert asked.raw("POST", one.path.replace("{crawl}", "DEFAULT"), b"{}", **JSON)[0] == 401
        assert asked.raw("GET", API + "/status", Authorization="Bearer wrong")[0] == 401
        assert asked.raw("GET", API + "/status", Authorization="Basic s3cret")[0] == 401
        assert crawls.get().state.log.seq == before
        assert asked.raw("GET", API + "/status", Authorization="Bearer s3cret", Host="frontier.example")[0] == 200
        assert [asked.raw("GET", path)[0] for path in ("/health", "/dashboard.html", "/openapi.json")] == [200, 200, 200]


def test_every_answer_forbids_scripts_from_elsewhere(asked: Asked) -> None:
    for path in ("/dashboard.html", API + "/status", "/nowhere", API + "/search?text=" + "x" * MAX_TARGET_LENGTH):
        heads = asked.raw("GET", path)[1]
        assert "default-src 'none'" in heads["content-security-policy"]
        assert heads["x-content-type-options"] == "nosniff"


def test_too_many_replays_at_once_are_refused(own: tuple[Crawls, Asked]) -> None:
    _, asked = own
    waiting = asked.server.app.reader._waiting
    for _ in range(MAX_WAITING):
        waiting.acquire()
    status, told = asked.get(API + "/explain", url=MARKUP)
    assert status == 429 and "too many" in told["error"]
    for _ in range(MAX_WAITING):
        waiting.release()
    assert asked.get(API + "/explain", url=MARKUP)[0] == 200


def test_a_port_that_is_taken_is_a_sentence(asked: Asked) -> None:
    with pytest.raises(InputError, match="give another port"):
        http_server(folders={}, port=asked.server.port)


# What is bounded, and what is not held up -----------------------------------------------------------------------------------
def test_connections_that_ask_nothing_are_closed(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Impatient, "request_s", 0.05)
    where = urlsplit(asked.url)
    for said in (b"", b"GET /health HTTP/1.1\r\nHost: 127.0", b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"):
        with socket.create_connection((where.hostname, where.port), timeout=PATIENCE_S) as line:
            line.sendall(said)
            heard = b""
            with contextlib.suppress(ConnectionError):
                while some := line.recv(65_536):
                    heard += some
        assert (b"200 OK" in heard) == said.endswith(b"\r\n\r\n")


def test_half_requests_make_room_for_whole_ones_the_oldest_first(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Impatient, "max_connections", 3)
    where = urlsplit(asked.url)
    head = b"POST " + (API + "/pause").encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    with contextlib.ExitStack() as lines:
        opened = []
        for said in (b"GET /health HT", head + b"Content-Length: 100\r\n\r\n{", b""):
            line = lines.enter_context(socket.create_connection((where.hostname, where.port), timeout=PATIENCE_S))
            line.sendall(said)
            opened.append(line)
            eventually(lambda: len(asked.server.server.server_state.connections) == len(opened))
        for line in opened[:2]:
            assert asked.get("/health")[0] == 200
            with contextlib.suppress(ConnectionError):
                assert line.recv(1) == b""
            eventually(lambda: len(asked.server.server.server_state.connections) < 3)
            lines.enter_context(socket.create_connection((where.hostname, where.port), timeout=PATIENCE_S))
            eventually(lambda: len(asked.server.server.server_state.connections) == 3)
        opened[2].sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert opened[2].recv(12) == b"HTTP/1.1 200"


def test_health_waits_for_no_thread_and_no_crawl(own: tuple[Crawls, Asked]) -> None:
    crawls, asked = own
    with crawls.get().state.lock, crawls._lock:  # all that a busy service may hold
        waiting = [threading.Thread(target=asked.get, args=(API + "/next",), kwargs={"n": n}) for n in range(1, 13)]
        for thread in waiting:
            thread.start()
        eventually(lambda: asked.server.app._quick.borrowed_tokens == asked.server.app._quick.total_tokens)
        assert asked.get("/health")[0] == 200
    for thread in waiting:
        thread.join()


def test_many_who_search_hold_up_nobody_else(own: tuple[Crawls, Asked]) -> None:
    _, asked = own
    searching = asked.server.app.reader.searching
    with searching._room:  # whoever searches waits
        waiting = [threading.Thread(target=asked.get, args=(API + "/search",), kwargs={"text": str(n)}) for n in range(20)]
        for thread in waiting:
            thread.start()
        eventually(lambda: asked.server.app._apart.borrowed_tokens == asked.server.app._apart.total_tokens)
        assert asked.get(API + "/status")[0] == asked.get("/health")[0] == asked.get(API + "/next")[0] == 200
        assert asked.post(API + "/pause", {})[0] == asked.post(API + "/resume", {})[0] == 200
    for thread in waiting:
        thread.join()


def test_queries_and_impacts_are_told_over_http_and_by_commands(tmp_path: Path) -> None:
    with Crawls(tmp_path / "service", "rw:every=2", FREE) as crawls, serving(crawls) as asked:
        crawl = crawls.get_or_start()
        crawl.discover(["http://a.example/", "http://a.example/cal/3"])
        page = crawl.lookup("http://a.example/cal/3")
        told = asked.post(
            f"{API}/impacts", {"pages": [{"url": "http://a.example/cal/3", "clicks": 4}, {"url": "http://no/", "clicks": 1}]}
        )
        assert told == (
            200,
            {
                "done": "1 pages have a new impact, 1 are not known",
                "applied": True,
                "unknown": ["http://no/"],
                "unknown_pages": 1,
            },
        )
        assert crawl.state.demand.impacts[page] == 4.0
        assert asked.post(f"{API}/queries", {"queries": [{"query": "bees", "frequency": 2}, {"query": "ants"}]})[0] == 200
        assert crawl.state.demand.searchers is not None and crawl.state.demand.searchers.workload.queries == ("bees", "ants")
        for path, body, word in (
            ("impacts", {"pages": [{"url": "http://a.example/"}]}, "must be given clicks, views or both"),
            ("impacts", {"pages": [{"url": "http://a.example/", "views": 2}]}, "goes by clicks"),
            ("impacts", {"pages": [{"clicks": 2}]}, "number 1 of pages: url must be given"),
            ("impacts", {"pages": {}}, "pages must be a list of 1 to 100,000, got an object"),
            ("queries", {"queries": [{"query": "a", "frequency": 0}]}, "at least one query with a frequency above 0"),
            ("queries", {"queries": ["a"]}, "number 1 of queries: it must be a JSON object, got 'a'"),
            ("queries", {"queries": [{"query": "a", "often": 1}]}, "it has an unknown field 'often'"),
        ):
            status, said = asked.post(f"{API}/{path}", body)
            assert status == 400 and word in said["error"], said
        long = json.dumps({"queries": [{"query": f"{n:040}"} for n in range(2_000)]}).encode()
        assert len(long) > MAX_BODY_LENGTH and asked.raw("POST", f"{API}/queries", long, **JSON)[0] == 200
        assert asked.raw("POST", f"{API}/queries", b" " * (2**24 + 1), **JSON)[0] == 413
        assert asked.raw("POST", f"{API}/boost", long, **JSON)[0] == 413
        (tmp_path / "log.tsv").write_text("wasps\t3\n")
        (tmp_path / "seen.csv").write_text("url,clicks\nhttp://a.example/cal/3,7\nhttp://nowhere.test/,2\n")
        address = asked.url.removeprefix("http://")
        for words, out in ((("ask", "log.tsv"), "told of 1 queries"), (("impact", "seen.csv"), "told of 2 pages")):
            command = [sys.executable, "-m", "frontrank", words[0], address, str(tmp_path / words[1])]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stdout) == (0, f"{address}: {out}\n"), done.stderr
        assert "1 of 2 pages with an impact are not known to this crawl: http://nowhere.test/" in done.stderr
        assert crawl.state.demand.impacts[page] == 7.0 and list(crawl.state.demand.searchers.workload.queries) == ["wasps"]


def test_queries_are_refused_where_nothing_goes_by_them(own: tuple[Crawls, Asked]) -> None:
    status, told = own[1].post(f"{API}/queries", {"queries": [{"query": "bees"}]})
    assert status == 400 and "backlink does not use any" in told["error"]


def test_a_crawl_has_so_many_rules_and_no_more(own: tuple[Crawls, Asked], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "MAX_RULES", 2)
    crawls, asked = own
    assert [asked.post(API + "/boost", {"pattern": word, "by": 1})[0] for word in ("a", "b", "c")] == [200, 200, 429]
    status, told = asked.post(API + "/families", {"pattern": "d", "budget": 1})
    assert status == 429 and "2 rules" in told["error"]
    assert asked.post(API + "/families", {"pattern": "a", "budget": 1})[0] == 200, "of one that is there"
    assert asked.post(API + "/boost", {"pattern": "b", "by": 0})[0] == 200
    assert asked.post(API + "/boost", {"pattern": "c", "by": 1})[0] == 200
    assert sorted(crawls.get().state.rules.families) == ["a", "c"]


def test_an_expression_without_bounds_is_refused(own: tuple[Crawls, Asked]) -> None:
    status, told = own[1].post(API + "/boost", {"pattern": r"(.*)(.*)\1\2x", "by": 1})
    assert status == 400 and "bounded time" in told["error"]


def test_to_end_a_rule_that_is_not_there_takes_no_time(own: tuple[Crawls, Asked]) -> None:
    """Its expression would take longer than the universe on this URL, if anybody looked for it."""
    crawls, asked = own
    crawls.get().discover(["http://a.example/" + 60 * "a" + "!"])
    for verb, given in (("boost", {"by": 0}), ("families", {"budget": 0}), ("families", {"budget": 0, "delay_s": 0})):
        status, told = asked.post(f"{API}/{verb}", {"pattern": "(a|a)*(?!x)b", **given})
        assert status == 200 and told["applied"]


def test_what_is_kept_for_many_is_dropped_with_what_it_said(own: tuple[Crawls, Asked]) -> None:
    _, asked = own
    for n in range(1, 20):
        asked.get(API + "/next", n=n)
    asked.post(API + "/pause", {})
    reader = asked.server.app.reader
    assert len(reader._flights) <= 1 and not reader._cache


def test_urls_may_be_as_long_and_as_odd_as_the_service_takes_them(own: tuple[Crawls, Asked]) -> None:
    crawls, asked = own
    odd = "http://odd.example/\x00\n\u202e" + "é" * 100 + "x" * (MAX_URL_LENGTH - 130)
    crawls.get().discover([odd])
    status, told = asked.get(API + "/explain", url=odd)
    assert (status, told["url"]) == (200, odd)
    assert [page["url"] for page in asked.get(API + "/search", text="\x00\n")[1]["pages"]] == [odd]
    assert asked.get(API + "/explain", url="x" * (MAX_URL_LENGTH + 1))[0] == 400


# The whole service ----------------------------------------------------------------------------------------------------------
def test_the_pause_of_the_service_is_seen_and_ended_over_http(own: tuple[Crawls, Asked]) -> None:
    crawls, asked = own
    crawls.active = False  # as SetActive does
    assert asked.get(API + "/status")[1]["active"] is asked.get("/api/v1/crawls")[1]["active"] is False
    assert metrics(asked)["frontrank_active", labels()] == 0
    assert "the whole service is paused" in asked.post(API + "/resume", {})[1]["done"]
    assert asked.post("/api/v1/resume", {})[0] == 200 and crawls.active
    assert asked.get(API + "/status")[1]["active"] and metrics(asked)["frontrank_active", labels()] == 1
    address = asked.url.removeprefix("http://")
    for verb, state in (("pause", False), ("resume", True)):
        done = subprocess.run([sys.executable, "-m", "frontrank", verb, address, "--all"], capture_output=True, check=False)
        assert done.returncode == 0 and crawls.active == state


def test_time_left_is_of_pages_that_may_go(own: tuple[Crawls, Asked]) -> None:
    crawls, asked = own
    crawl = crawls.get()
    for page in crawl.inspect.waiting_pages():
        crawl.queues.schedule(page, time.time() + 30 * 86_400)
    _, told = asked.get(API + "/status")
    assert told["waiting"] == told["scheduled"] > 0 and told["left_s"] == 0


def test_the_stream_of_a_crawl_that_is_deleted_ends(own: tuple[Crawls, Asked], capfd: pytest.CaptureFixture[str]) -> None:
    crawls, asked = own
    with urllib.request.urlopen(f"{asked.url}{API}/events", timeout=PATIENCE_S) as stream:
        assert stream.readline() == b"event: status\n"
        crawls.delete()
        while stream.readline():
            pass
    assert asked.get(API + "/events")[0] == 404
    assert "Traceback" not in capfd.readouterr().err


def test_a_damaged_crawl_is_told_and_the_others_are_served(tmp_path: Path) -> None:
    with grown(tmp_path / "service") as crawls:
        crawls.get_or_start("bad").seed("http://a.example/")
    (tmp_path / "service" / "bad" / "trace.db").write_bytes(b"not a database" * 1000)
    with Crawls(tmp_path / "service") as crawls, serving(crawls) as asked:
        assert asked.get(API + "/status")[0] == 200
        status, told = asked.get("/api/v1/crawls/bad/status")
        reason = "the trace of the crawl cannot be written (file is not a database); fix this and try again"
        assert (status, told) == (503, {"error": f"crawl 'bad' could not be opened: {reason}"})
        assert asked.get("/health")[0] == 503
        _, listed = asked.get("/api/v1/crawls")
        assert [one["id"] for one in listed["crawls"]] == ["DEFAULT"]
        assert listed["broken"] == [{"id": "bad", "reason": reason}]
        assert b'crawl="DEFAULT"' in asked.raw("GET", "/metrics")[2]
        with pytest.raises(StorageError, match="could not be opened"):
            crawls.get_or_start("bad")


def test_crawls_that_are_closed_are_listed_and_opened_when_something_is_asked_of_them(tmp_path: Path) -> None:
    with Crawls(tmp_path, "backlink", FREE, max_open=1) as crawls, serving(crawls) as asked:
        for name in "abc":
            grow(crawls.get_or_start(name))
        (last,) = crawls.open_crawls()
        listed = asked.get("/api/v1/crawls")[1]["crawls"]
        assert [(one["id"], one["fetched"], one["failed"]) for one in listed] == [(name, 6, 1) for name in "abc"]
        assert asked.raw("GET", "/metrics")[2].count(b'state="known"} ') == 6 and asked.get("/health")[0] == 200
        assert asked.get("/api/v1/crawls/a/status")[1]["failed"] == 1
        assert crawls.open_crawls() == [last], "none was opened for that"
        assert asked.post("/api/v1/crawls/a/boost", {"pattern": "/cal/7$", "by": 1}) == (
            200,
            {"done": "pages that match go before all others", "applied": True},
        )
        assert asked.get("/api/v1/crawls/b/next", n=1)[1]["pages"]
        assert asked.get("/api/v1/crawls/a/next", n=1)[1]["pages"][0]["url"] == "http://a.example/cal/7"
        assert len(crawls.open_crawls()) == 1


def test_a_watched_crawl_that_cannot_be_read_is_listed_with_its_reason(tmp_path: Path) -> None:
    for name in ("bad", "well"):
        with Crawl("bfs", tmp_path / name) as crawl:
            crawl.seed(["http://a.example/"])
    with closing(sqlite3.connect(tmp_path / "bad" / "trace.db")) as db, db:
        db.execute("UPDATE meta SET value = '{\"no\": 1}' WHERE key = 'politeness'")
    with http_server(folders={name: tmp_path / name for name in ("bad", "well")}, port=0) as server:
        asked = Asked(server)
        status, listed = asked.get("/api/v1/crawls")
        assert status == 200 and [one["id"] for one in listed["crawls"]] == ["well"]
        assert listed["broken"][0]["id"] == "bad" and "'politeness' is damaged" in listed["broken"][0]["reason"]
        status, told = asked.get("/api/v1/crawls/bad/status")
        assert status == 503 and told["error"].startswith("crawl 'bad' could not be opened: ")


def test_other_orderings_are_tried_on_what_was_fetched(asked: Asked) -> None:
    status, told = asked.get(API + "/simulate", policies="bfs dfs", budget=1)
    assert status == 200 and sorted(told["policies"]) == ["bfs", "dfs"] and told["web"]["pages"] == 6
    for policies in ("", "prior:file=/etc/passwd", "bfs " * 9):
        assert asked.get(API + "/simulate", policies=policies)[0] == 400
    assert asked.get(API + "/recommend", **{"for": "quality:os.path:join"})[0] == 400
    status, told = asked.get(API + "/recommend", **{"for": "coverage"})
    assert status == 200 and told["for"] == "coverage" and "secret-place" not in json.dumps(told)


def test_a_crawl_of_which_nothing_was_fetched_is_a_sentence_without_a_path(tmp_path: Path) -> None:
    with Crawls(tmp_path / "secret-place", "bfs", FREE) as crawls, serving(crawls) as asked:
        crawls.get_or_start().seed(["http://a.example/"])
        for name in ("simulate", "recommend"):
            status, told = asked.get(f"{API}/{name}")
            assert status == 400 and "secret-place" not in told["error"] and "DIR" in told["error"], told


# A crawl of another process ------------------------------------------------------------------------------------------------
def test_a_directory_is_watched_while_another_process_works_on_it(tmp_path: Path) -> None:
    with Crawl("fpr", tmp_path / "crawl", notes={"options": {"budget": 100}}) as crawl:
        grow(crawl)
        with http_server(folders={"DEFAULT": tmp_path / "crawl"}, port=0) as server:
            asked = Asked(server)
            _, told = asked.get(API + "/status")
            assert (told["running"], told["fetched"], told["budget"]) == (True, 6, 100)
            assert told["left_until"] == "budget spent"
            _, told = asked.get(API + "/next", n=5)
            assert [page["url"] for page in told["pages"]] == [page["url"] for page in crawl.inspect.next(5)]
            assert asked.get(API + "/explain", url=MARKUP)[0] == 200
            crawl.fetched(crawl.take()[0])
            eventually(lambda: asked.get(API + "/status")[1]["fetched"] == 7)
        assert _paused(tmp_path / "crawl", crawl)
    with http_server(folders={"DEFAULT": tmp_path / "crawl"}, port=0) as server:
        asked = Asked(server)
        assert asked.get(API + "/status")[1]["running"] is False
        assert asked.post(API + "/resume", {})[0] == 200
        eventually(lambda: asked.get(API + "/status")[1]["paused"] is False)


def _paused(folder: Path, crawl: Crawl) -> bool:
    """Whether a crawl that is at work heeds a pause that was said over HTTP."""
    done = threading.Event()

    def work() -> None:
        while not done.is_set() and not crawl.state.progress.paused:
            crawl.take(0)  # it heeds while it takes

    thread = threading.Thread(target=work)
    thread.start()
    try:
        with http_server(folders={"DEFAULT": folder}, port=0) as server:
            return Asked(server).post(API + "/pause", {})[0] == 200 and crawl.state.progress.paused
    finally:
        done.set()
        thread.join()


def test_what_a_crawl_has_not_heeded_is_told_and_holds_up_nobody(tmp_path: Path) -> None:
    """A crawl in the middle of something that is one step heeds nothing until it is done."""
    with Crawl("bfs", tmp_path / "crawl") as crawl:
        grow(crawl)
        with crawl.together(), http_server(folders={"DEFAULT": tmp_path / "crawl"}, port=0) as server:
            asked, said = Asked(server), []
            asked.get(API + "/status")
            thread = threading.Thread(target=lambda: said.append(asked.post(API + "/pause", {})))
            thread.start()
            eventually(lambda: inbox.waiting(tmp_path / "crawl"))
            assert asked.get(API + "/next", n=3)[0] == 200 and said == [], "others are answered meanwhile"
            thread.join()
            status, told = said[0]
            assert (status, told["applied"]) == (202, False) and "has not acted on it yet" in told["done"]
            status, told = asked.post("/api/v1/pause", {})
            assert status == 400 and "watched, not served" in told["error"]


# The command ----------------------------------------------------------------------------------------------------------------
def test_the_command_shows_crawls_until_it_is_stopped(tmp_path: Path) -> None:
    with Crawl("bfs", tmp_path / "crawl") as crawl:
        grow(crawl)
    command = [sys.executable, "-m", "frontrank", "dashboard", str(tmp_path / "crawl"), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        name = quote(told["crawls"][0], safe="")
        with urllib.request.urlopen(f"{told['http']}/api/v1/crawls/{name}/status") as answer:
            assert json.load(answer)["fetched"] == 6
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate()
    assert (process.returncode, said) == (143, b"frontrank: interrupted\n") or (process.returncode, said) == (0, b"")


@pytest.mark.parametrize(
    ("args", "word"),
    [(["nowhere"], "not a crawl"), (["crawl", "--host", "0.0.0.0"], "token"), (["crawl", "--tls-cert", "x"], "--tls-key")],
)
def test_the_command_refuses_before_it_listens(tmp_path: Path, args: list[str], word: str) -> None:
    Crawl("bfs", tmp_path / "crawl").close()
    command = [sys.executable, "-m", "frontrank", "dashboard", *args]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and word in done.stderr
