"""One crawl of a server that does everything wrong: it goes on, stays small, and says of each evil what it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from frontrank.crawl.events import Failed, Fetched, Retried
from frontrank.crawl.journal import Journal
from tests import hostile
from tests.hostile import EVILS, GOOD, HostileServer
from tests.patience import PATIENCE_S

TOO_LARGE, TIMEOUT, BAD, HEADERS = "too large", "timeout", "bad response", "headers too large"
LOST, CUT, COMPRESSION = "connection lost", "cut short", "broken compression"
FAILURES = {
    **dict.fromkeys(("/big/said", "/big/unsaid", "/big/chunked"), TOO_LARGE),
    **dict.fromkeys((f"/bomb/{kind}" for kind in ("gzip", "deflate", "br", "zstd", "nested")), TOO_LARGE),
    **dict.fromkeys(("/bomb/matryoshka", "/bomb/broken"), COMPRESSION),
    **dict.fromkeys(("/slow/body", "/slow/headers", "/slow/silence"), TIMEOUT),
    **dict.fromkeys((f"/status/{kind}" for kind in ("words", "binary", "zero", "huge", "negative")), BAD),
    "/status/999": "http 999",
    "/status/continue": HEADERS,
    "/status/none": LOST,
    **dict.fromkeys(("/headers/fold", "/headers/nul"), BAD),
    **dict.fromkeys((f"/headers/{kind}" for kind in ("long", "many", "endless", "cookies")), HEADERS),
    "/length/long": CUT,
    **dict.fromkeys((f"/length/{kind}" for kind in ("two", "word", "negative")), BAD),
    **dict.fromkeys((f"/chunked/{kind}" for kind in ("garbage", "huge", "cut")), CUT),
    "/chunked/odd": BAD,
    "/reset": CUT,
}
REDIRECTS = ("/r/1", "/loop", "/loop/a", *(path for path in EVILS if path.startswith("/to/")))
ROBOTS = {  # of /page and of /secret
    hostile.HUGE_ROBOTS: ("200", "robots.txt"),
    hostile.BROKEN_ROBOTS: (None,) * 2,  # the host may get well: its pages wait
    hostile.HANGING_ROBOTS: (None,) * 2,
    hostile.BOMB_ROBOTS: ("200", "robots.txt"),
    hostile.LOOPING_ROBOTS: ("200", "200"),
    hostile.GARBAGE_ROBOTS: ("200", "200"),
}
MORE_MEMORY_MB = 150


@dataclass
class Crawled:
    told: dict[str, Any]
    outcomes: dict[str, str]  # by URL: the status, or why there is none
    known: set[str]  # URLs, those that wait among them
    log: str
    errors: str
    peak_mb: float
    server: HostileServer
    asked: list[tuple[str, str]]  # what the server was asked for meanwhile, as (address, path)
    waiting: dict[str, str]  # why pages failed that wait, since it may be the fault of their host

    def __getitem__(self, path: str) -> str | None:
        url = self.server.url(path)
        return self.outcomes.get(url, self.waiting.get(url))


def crawl(server: HostileServer, folder: Path, seeds: list[str], *more: str, code: int = 0) -> Crawled:
    """Runs the command, and measures the most memory that this one process ever held."""
    out, told, errors = folder / "crawl", folder / "told", folder / "errors"
    command = [sys.executable, "-m", "frontrank", "crawl", *seeds, "--out", str(out), "--json", "--delay", "0", *more]
    begun, before = time.monotonic(), len(server.seen)
    with told.open("wb") as output, errors.open("wb") as complaints:
        process = subprocess.Popen(command, stdout=output, stderr=complaints)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - begun > PATIENCE_S:
                process.kill()
            time.sleep(0.05)
    process.returncode = os.waitstatus_to_exitcode(status)
    complaint = errors.read_text()
    assert process.returncode == code, complaint
    journal = Journal.open(out, read_only=True)
    query = "SELECT url, kind, status, note FROM event JOIN url ON url.id = event.page WHERE kind IN (?, ?, ?) ORDER BY seq"
    rows = journal.db.execute(query, (Fetched.kind, Failed.kind, Retried.kind)).fetchall()
    known = {url for (url,) in journal.db.execute("SELECT url FROM url")}
    journal.close()
    last = {url: (kind, str(code) if kind == Fetched.kind else note) for url, kind, code, note in rows}
    outcomes = {url: outcome for url, (kind, outcome) in last.items() if kind != Retried.kind}
    waiting = {url: outcome for url, (kind, outcome) in last.items() if kind == Retried.kind}
    log = (out / "crawl.log").read_text()
    peak_mb = usage.ru_maxrss / 1024
    return Crawled(
        json.loads(told.read_text()), outcomes, known, log, complaint, peak_mb, server, server.seen[before:], waiting
    )


@pytest.fixture(scope="module")
def server() -> Iterator[HostileServer]:
    with HostileServer() as server:
        yield server


OPEN = ("--allow-private", "--scope", "any")


@pytest.fixture(scope="module")
def crawled(server: HostileServer, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    limits = ("--timeout", "15", "--retries", "0", "--max-size", "5MB", "--per-host", "16", "--budget", "400")
    return crawl(server, tmp_path_factory.mktemp("evil"), [server.url("/")], *OPEN, *limits)


@pytest.fixture(scope="module")
def tame(server: HostileServer, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return crawl(server, tmp_path_factory.mktemp("tame"), [server.url(f"/good/{n}") for n in range(GOOD)], *OPEN)


def test_every_good_page_is_fetched(crawled: Crawled) -> None:
    assert [crawled[f"/good/{n}"] for n in range(GOOD)] == ["200"] * GOOD


@pytest.mark.parametrize("path", EVILS)
def test_each_evil_is_called_by_its_name(crawled: Crawled, path: str) -> None:
    expected = FAILURES.get(path, "302" if path in REDIRECTS else "200")
    assert crawled[path] == expected


@pytest.mark.parametrize("address", ROBOTS)
def test_each_evil_robots_txt(crawled: Crawled, address: str) -> None:
    outcomes = crawled.outcomes
    assert tuple(outcomes.get(crawled.server.url(path, address)) for path in ("/page", "/secret")) == ROBOTS[address]
    assert (address, "/secret") not in crawled.server.seen or ROBOTS[address][1] == "200"


def test_the_summary_counts_them_all(crawled: Crawled) -> None:
    failures = crawled.told["failures"]
    settled = [reason for path, reason in FAILURES.items() if crawled.server.url(path) not in crawled.waiting]
    for reason in set(settled):
        assert failures[reason] >= settled.count(reason)
    assert "http 429" not in failures, "a host that asks for rest gets it, and its pages wait"
    assert failures["robots.txt"] == 2
    assert sum(failures.values()) == crawled.told["failed"] == sum(not o.isdigit() for o in crawled.outcomes.values())


def test_what_is_not_followed_is_counted(crawled: Crawled) -> None:
    not_followed = crawled.told["not_followed"]
    assert not_followed["redirect to another scheme"] == 3
    assert not_followed["too many redirects"] == 1
    assert not_followed["scheme"] >= 6
    assert not_followed["too many links"] == 90_000
    assert not_followed["too long"] >= 3
    assert not_followed["path repeats"] >= 1


def test_a_link_behind_an_image_within_the_page_is_found(crawled: Crawled) -> None:
    # Whether it is fetched too depends on what else the budget was spent on while a worker read the page.
    assert crawled.server.url("/behind/image") in crawled.known


def test_an_endless_chain_of_redirects_is_given_up(crawled: Crawled) -> None:
    chain = [path for address, path in crawled.server.seen if address == hostile.MAIN and path.startswith("/r/")]
    assert 5 <= len(chain) <= 20
    assert len(set(chain)) == len(chain)


def test_sessions_are_one_page_and_growing_paths_end(crawled: Crawled) -> None:
    trapped = [path for address, path in crawled.server.seen if address == hostile.TRAPS]
    assert sum(path.startswith("/session") for path in trapped) == 1
    assert sum(path.startswith("/again") for path in trapped) < 50


def test_of_an_endless_robots_txt_only_the_beginning_is_read(crawled: Crawled) -> None:
    assert crawled.server.asked("/robots.txt", hostile.HUGE_ROBOTS) == 1
    assert crawled.outcomes[crawled.server.url("/page", hostile.HUGE_ROBOTS)] == "200"


def test_memory_stays_bounded(crawled: Crawled, tame: Crawled) -> None:
    assert crawled.peak_mb < tame.peak_mb + MORE_MEMORY_MB


def test_nothing_escapes(crawled: Crawled, tame: Crawled) -> None:
    for run in (crawled, tame):
        assert run.errors == ""
        assert "Traceback" not in run.log
        assert "Unhandled" not in run.log
    assert crawled.told["ended"] in ("budget", "frontier empty")
    assert tame.told["fetched"] == GOOD


def test_a_host_that_asks_for_a_thousand_years_is_left_alone(server: HostileServer, tmp_path: Path) -> None:
    seeds = [server.url("/long", hostile.BUSY), *(server.url(f"/good/{n}") for n in range(3))]
    before = server.asked("/long", hostile.BUSY)
    run = crawl(server, tmp_path, seeds, *OPEN, "--retries", "2", "--budget", "3")
    assert server.asked("/long", hostile.BUSY) == before + 1
    assert [run[f"/good/{n}"] for n in range(3)] == ["200"] * 3
    assert run.told["ended"] == "budget"


def test_a_server_that_is_always_busy_is_given_up(server: HostileServer, tmp_path: Path) -> None:
    seed = server.url("/word", hostile.BUSY)
    before = server.asked("/word", hostile.BUSY)
    run = crawl(server, tmp_path, [seed], *OPEN, "--retries", "1", code=1)
    assert server.asked("/word", hostile.BUSY) == before + 3
    assert run.told["failures"] == {}
    assert run.told["given_up"] == [{"name": hostile.BUSY, "reason": "http 429", "pages": 1}]


def test_by_default_no_private_address_is_asked(server: HostileServer, tmp_path: Path) -> None:
    before = len(server.seen)
    run = crawl(server, tmp_path, [server.url("/"), f"http://localhost:{server.port}/", f"http://[::1]:{server.port}/"], code=1)
    assert run.told["failures"] == {"private address": 3}
    assert len(server.seen) == before


def test_no_page_leads_into_a_private_network(server: HostileServer, tmp_path: Path) -> None:
    before = len(server.seen)
    proxy = ("--proxy", f"http://{hostile.MAIN}:{server.port}", "--scope", "any", "--retries", "0")
    run = crawl(server, tmp_path, ["http://public.example/inward"], *proxy)
    asked = {path for _, path in server.seen[before:]}
    pages = ("/robots.txt", "/inward", "/inward/redirect", "/good/4", "/good/0")
    assert asked == {f"http://public.example{path}" for path in pages}
    assert run.told["failures"] == {"private address": 6}
