"""How far a crawl is: what the crawl says of itself, at which rate it goes, and when its budget will be spent.

The crawl may be running: one moment of it is read, nothing is changed. Crawls of other programs (Scrapy with the add-on,
``frontrank.Crawl``) have no budget here, all else is the same.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.journal import is_locked
from frontrank.crawl.status import priority
from frontrank.fetching.counting import requested_pages, time_left
from frontrank.fetching.crawler.job import WORKED
from frontrank.frontiers.frontier import LATER
from frontrank.kernels.jit import Array
from frontrank.pages.urls import host_of

LATELY_S = 300.0


def status(path: str | os.PathLike[str], with_queue: bool = False, clock: Callable[[], float] = time.time) -> dict[str, Any]:
    """The state of the crawl in a directory; if asked for, with all waiting pages under ``queue``."""
    running = is_locked(Path(path))
    crawl = Crawl.recover(path, read_only=True)
    try:
        facts = crawl.inspect.status() | {"running": running}
        times, _ = crawl.inspect.history.times()
        now = clock() if running else float(facts["last_event"] or 0.0)
        facts["pages_per_s"] = rates(times, now, crawl.notes.get(WORKED))
        facts["trouble"] = [
            {"host": host, "reason": reason, "next_try_s": None if until == inf else max(until - clock(), 0.0)}
            for host, reason, until in crawl.inspect.history.resting(clock() if running else crawl.state.progress.now)
            if _has_more(crawl, host)
        ]
        facts |= _budget(crawl.notes.get("options", {}).get("budget", 0), facts)
        if with_queue:
            facts["queue"] = _queue(crawl)
        return facts
    finally:
        crawl.close()


def _has_more(crawl: Crawl, host: str) -> bool:
    """Whether pages of a host are still to be fetched."""
    (row,) = crawl.state.frontier.hosts(crawl.inspect.host_number(host))
    return bool(row["waiting"] + row["later"] + row["leased"])


def rates(times: Array, now: float, worked_s: float | None) -> dict[str, float]:
    """Pages settled a second: lately, and over all the time in which the crawl was at work (or since its first page)."""
    if len(times) == 0:
        return {"lately": 0.0, "overall": 0.0}
    since = max(now - LATELY_S, float(times[0]))
    lately = float((times > since).sum()) / (now - since) if now > since else 0.0
    whole = worked_s or now - float(times[0])
    return {"lately": lately, "overall": len(times) / whole if whole > 0 else 0.0}


def _budget(budget: int, facts: dict[str, Any]) -> dict[str, Any]:
    """How much of the budget is spent, and when it will be, at the rate of the last minutes."""
    asked = requested_pages(facts["fetched"], facts["revisits"], facts["failed_by_reason"])
    left = time_left(budget - asked, facts["pages_per_s"]["lately"]) if budget and facts["running"] else None
    return {"budget": budget or None, "asked": asked, "left_s": left}


def _queue(crawl: Crawl) -> list[dict[str, Any]]:
    """All waiting pages in the order of their priority, whatever politeness says; last those that wait for a retry."""
    rows = [{**page, "state": "waiting"} for page in crawl.inspect.next(max(crawl.inspect.waiting, 1))]
    again = [page for page in crawl.inspect.waiting_pages() if crawl.inspect.mark(page) == LATER]
    for page in sorted(again, key=lambda page: -crawl.state.frontier.key(page)):
        rows.append(
            {
                "url": crawl.url(page),
                "priority": priority(crawl.state, page),
                "depth": crawl.inspect.depth(page),
                "state": "retry",
            }
        )
    return [{**row, "host": host_of(row["url"])} for row in rows]
