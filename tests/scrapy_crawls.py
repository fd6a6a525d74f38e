"""Crawls of tests with a Scrapy project, in processes of their own; and what their journals say of the pace they kept.

The engine's heartbeat is off in these processes (tests.scrapy_project): a scheduler that relies on it hangs.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from frontrank.crawl.events import Failed
from frontrank.crawl.status import events
from frontrank.pages.urls import host_of
from tests.scrapy_project_server import Site, page

ROOT = Path(__file__).resolve().parent.parent
ADDON = {"frontrank.fetching.addon.Addon": 500}
ASYNCIO = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
SELECT = "twisted.internet.selectreactor.SelectReactor"
HANGS_S = 300.0  # a crawl that goes on for so long hangs


class Crawled:
    def __init__(self, result: dict[str, Any], log: str) -> None:
        self.stats: dict[str, Any] = result["stats"]
        self.noted: list[list[Any]] = result["noted"]
        self.error: str = result["error"]
        self.log = log


class Worker:
    """A process that crawls; it serves many tests, as it takes seconds to start one."""

    def __init__(self, reactor: str) -> None:
        command = [sys.executable, "-m", "tests.scrapy_project", reactor]
        self.process = subprocess.Popen(
            command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def begin(
        self, jobs: list[dict[str, Any]], proxy: Site | None = None, largest_file: int = 0, together: bool = False
    ) -> None:
        assert self.process.stdin is not None
        environment = {} if proxy is None else {"http_proxy": proxy.root}
        asked = {"jobs": jobs, "environment": environment, "largest_file": largest_file, "together": together}
        print(json.dumps(asked), file=self.process.stdin, flush=True)

    def results(self) -> list[Crawled]:
        assert self.process.stdout is not None
        too_late = threading.Timer(HANGS_S, self.process.kill)
        too_late.start()
        log: list[str] = []
        for line in self.process.stdout:
            if line.startswith("RESULTS "):
                too_late.cancel()
                return [Crawled(result, "".join(log)) for result in json.loads(line.removeprefix("RESULTS "))]
            log.append(line)
        too_late.cancel()
        raise AssertionError(f"the crawl did not end:\n{''.join(log)[-8000:]}")

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


WORKERS: dict[str, Worker] = {}


def end_workers() -> None:
    while WORKERS:
        WORKERS.popitem()[1].end()


def job(spider: str, urls: str, settings: dict[str, Any] | None = None) -> dict[str, Any]:
    every = {"ADDONS": ADDON, "FRONTRANK_POLICY": "bfs", "LOG_LEVEL": "INFO", "DOWNLOAD_TIMEOUT": 120, **(settings or {})}
    return {"spider": spider, "settings": every, "args": {"urls": urls}}


def crawl(
    jobs: list[dict[str, Any]], proxy: Site | None = None, reactor: str = ASYNCIO, together: bool = False
) -> list[Crawled]:
    """One after the other; together: at the same time, in one process."""
    if reactor not in WORKERS or WORKERS[reactor].process.poll() is not None:
        WORKERS[reactor] = Worker(reactor)
    WORKERS[reactor].begin(jobs, proxy, together=together)
    return WORKERS[reactor].results()


def crawl_one(
    spider: str, urls: str, settings: dict[str, Any] | None = None, proxy: Site | None = None, reactor: str = ASYNCIO
) -> Crawled:
    (crawled,) = crawl([job(spider, urls, settings)], proxy, reactor)
    assert not crawled.error, crawled.log[-8000:]
    return crawled


SMALL = {"/": page("/a", "/b"), "/a": page("/c", "/b", "/"), "/b": page("/d"), "/c": page(), "/d": page("/a")}


def why_failed(folder: Path, kind: int = Failed.kind) -> dict[str, str]:
    db = sqlite3.connect(folder / "trace.db")
    rows = db.execute(
        "SELECT url.url, event.note FROM event JOIN url ON url.id = event.page WHERE event.kind = ?", (kind,)
    ).fetchall()
    db.close()
    return {"/" + url.split("/", 3)[3]: note for url, note in rows}


def check_pace(folder: Path, host: str, delay_s: float = 0.0) -> tuple[int, float]:
    """By the crawl's own clock: a page is taken no sooner than the delay in force when the last one was taken, and none while
    the host is blocked. Returns how many pages were taken, and the longest delay that was in force."""
    taken, longest, due = 0, delay_s, 0.0
    for event in events(folder):
        if event["kind"] == "host" and event["host"] == host:
            delay_s = event.get("delay_s", delay_s)
            longest = max(longest, delay_s)
        elif event["kind"] == "block" and event["host"] == host:
            due = max(due, event["until"])
        elif event["kind"] == "take" and host_of(event["url"]) == host:
            assert event["time"] >= due
            taken, due = taken + 1, event["time"] + delay_s
    return taken, longest
