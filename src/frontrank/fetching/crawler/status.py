"""How far a crawl is: what the crawl says of itself, at which rate it goes, and when its budget will be spent.

The crawl may be running: one moment of it is read, nothing is changed. Crawls of other programs (Scrapy with the add-on,
``frontrank.Crawl``) have no budget here, all else is the same.
"""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.journal import is_locked
from frontrank.errors import InputError
from frontrank.fetching.crawler.job import WORKED, asked_for
from frontrank.fetching.crawler.pace import time_left
from frontrank.frontiers.frontier import LATER
from frontrank.kernels.jit import Array
from frontrank.pages.urls import host_of
from frontrank.web.files import check_target, written_beside

LATELY_S = 300.0
QUEUE = ("place", "url", "host", "priority", "depth", "retry")


def status(
    path: str | os.PathLike[str], queue: str | os.PathLike[str] | None = None, clock: Callable[[], float] = time.time
) -> dict[str, Any]:
    """The state of the crawl in a directory; ``queue``: where to write all waiting pages, a file .parquet or .csv."""
    if queue is not None:
        check_queue_target(queue)
    running = is_locked(Path(path))
    crawl = Crawl.recover(path, read_only=True)
    try:
        told = crawl.status() | {"running": running}
        times, _ = crawl.history.times()
        now = clock() if running else float(told["last_event"] or 0.0)
        told["pages_per_s"] = rates(times, now, crawl.notes.get(WORKED))
        told |= _budget(crawl.notes.get("options", {}).get("budget", 0), told)
        if queue is not None:
            told["queue"] = {"path": os.fspath(queue), "pages": write_queue(crawl, queue)}
        return told
    finally:
        crawl.close()


def rates(times: Array, now: float, worked_s: float | None) -> dict[str, float]:
    """Pages settled a second: lately, and over all the time in which the crawl was at work (or since its first page)."""
    if len(times) == 0:
        return {"lately": 0.0, "overall": 0.0}
    since = max(now - LATELY_S, float(times[0]))
    lately = float((times > since).sum()) / (now - since) if now > since else 0.0
    whole = worked_s or now - float(times[0])
    return {"lately": lately, "overall": len(times) / whole if whole > 0 else 0.0}


def _budget(budget: int, told: dict[str, Any]) -> dict[str, Any]:
    """How much of the budget is spent, and when it will be, at the rate of the last minutes."""
    asked = asked_for(told["fetched"] + told["failed"], told["failed_by_reason"])
    left = time_left(budget - asked, told["pages_per_s"]["lately"]) if budget and told["running"] else None
    return {"budget": budget or None, "asked": asked, "left_s": left}


def check_queue_target(path: str | os.PathLike[str]) -> None:
    if Path(path).suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"the queue is written as .parquet or .csv, got {os.fspath(path)!r}; give a name with such an ending")
    check_target(path)


def write_queue(crawl: Crawl, path: str | os.PathLike[str]) -> int:
    """Write all waiting pages in the order of their priority, whatever politeness says; returns how many."""
    rows = list(_rows(crawl))
    with written_beside(path) as beside:
        if Path(path).suffix.lower() == ".csv":
            with open(beside, "w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([QUEUE, *rows])
        else:
            import pyarrow as pa
            import pyarrow.parquet as pq

            types = (pa.int64(), pa.string(), pa.string(), pa.float64(), pa.int64(), pa.bool_())
            columns = zip(*rows, strict=True) if rows else [()] * len(QUEUE)
            made = [pa.array(list(values), kind) for values, kind in zip(columns, types, strict=True)]
            pq.write_table(pa.table(dict(zip(QUEUE, made, strict=True))), beside)
    return len(rows)


def _rows(crawl: Crawl) -> Iterator[tuple[int, str, str, float, int, bool]]:
    """Pages that wait for their turn, then those that wait for a retry."""
    place = 0
    for place, one in enumerate(crawl.next(max(crawl.waiting, 1)), 1):
        yield place, one["url"], host_of(one["url"]), one["priority"], one["depth"], False
    again = [page for page in crawl.waiting_pages() if crawl.mark(page) == LATER]
    for more, page in enumerate(sorted(again, key=lambda page: -crawl.frontier.key(page)), 1):
        url = crawl.url(page)
        yield place + more, url, host_of(url), crawl.frontier.key(page), crawl.depth(page), True
