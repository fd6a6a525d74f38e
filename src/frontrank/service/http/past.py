"""What the log of a crawl says of its past: pages over time, failures by reason, families of URLs alike.

It is read bit by bit: each call continues where the last one ended, and reads at most ``ROWS`` rows and ``URLS`` names, so that
an answer about a crawl of millions comes soon and says that it is not complete yet. It runs in a process of its own: a reader
of the log holds up no writer, and the interpreter of a service is not shared with it.

Memory is bounded: time in at most ``BUCKETS`` steps (they double when there are more), ``REASONS`` reasons, ``PATTERNS``
families, and five bytes for each page.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from frontrank.crawl.events import Failed, Fetched, Retried
from frontrank.crawl.journal import Journal
from frontrank.crawl.log import Log
from frontrank.fetching.url_families import TRAPS_NOTE, UrlFamily
from frontrank.pages.urls import host_of, pattern
from frontrank.service.http.shapes import Errors, FailureInfo, Families, FamilyInfo, History, Point, Reason

ROWS = URLS = 100_000  # read in one call
BUCKETS, REASONS, PATTERNS, LAST = 2_000, 500, 200_000, 50
LATELY_S = 300.0
CRAWLS = 64  # whose past is kept
OTHER = "other"
KINDS = (Fetched.kind, Failed.kind, Retried.kind)
COLUMNS = ("seq", "kind", "page", "time", "status", "note")


class Timeline:
    """Pages fetched and failed, in steps of time."""

    def __init__(self) -> None:
        self.step = 1.0
        self.buckets: dict[int, list[int]] = {}
        self.first = self.last = 0.0
        self.counts = [0, 0]  # fetched, failed

    def add(self, time: float, failed: bool) -> None:
        if not self.buckets:
            self.first = time
        self.last = max(self.last, time)
        self.counts[failed] += 1
        self.buckets.setdefault(int(time // self.step), [0, 0])[failed] += 1
        while len(self.buckets) > BUCKETS:
            self.step *= 2
            halved: dict[int, list[int]] = {}
            for at, counts in self.buckets.items():
                _add(halved.setdefault(at // 2, [0, 0]), counts)
            self.buckets = halved

    def rates(self, now: float) -> dict[str, float]:
        """Pages settled per second: lately, and since the first."""
        if not self.buckets:
            return {"lately": 0.0, "overall": 0.0}
        since = max(now - LATELY_S, self.first)
        begin = int(since // self.step)
        # Going back from the newest step: a crawl of weeks has two thousand, five minutes have few.
        lately = sum(map(sum, (self.buckets[at] for at in range(begin, int(now // self.step) + 1) if at in self.buckets)))
        return {
            "lately": lately / max(now - begin * self.step, self.step),
            "overall": sum(self.counts) / max(now - self.first, self.step),
        }

    def points(self, max_points: int) -> tuple[float, list[Point]]:
        """At most so many steps, and how long each is; those in which nothing happened are omitted."""
        if not self.buckets:
            return self.step, []
        span = max(self.buckets) - min(self.buckets) + 1
        wide = -(-span // max_points)
        first = min(self.buckets)
        steps: dict[int, list[int]] = {}
        for at, counts in sorted(self.buckets.items()):
            _add(steps.setdefault((at - first) // wide, [0, 0]), counts)
        width = wide * self.step
        begin = first * self.step
        return width, [Point(time=begin + at * width, fetched=counts[0], failed=counts[1]) for at, counts in steps.items()]


def _add(counts: list[int], more: list[int]) -> None:
    counts[0], counts[1] = counts[0] + more[0], counts[1] + more[1]


class UrlShapes:
    """Pages by the shape of their URLs."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}
        self.known, self.settled = array("l"), array("l")
        self.of_page = array("i")
        self.done = bytearray()  # of each page, whether it was settled: one that comes back is counted once
        self.host: list[str] = []  # of each shape
        self.example = array("l")  # the first page of each shape
        self.on_host: Counter[str] = Counter()
        self.settled_on_host: Counter[str] = Counter()

    def meet(self, urls: Iterable[str]) -> None:
        for url in urls:
            shape, host = pattern(url), host_of(url)
            self.on_host[host] += 1
            at = self.number.get(shape, -1)
            if at < 0:
                shape = shape if len(self.number) < PATTERNS else OTHER
                at = self.number.setdefault(shape, len(self.number))
                if at == len(self.known):
                    self.known.append(0)
                    self.settled.append(0)
                    self.host.append(host)
                    self.example.append(len(self.of_page))
            self.known[at] += 1
            self.of_page.append(at)
            self.done.append(0)

    def settle(self, page: int) -> None:
        if page < len(self.done) and not self.done[page]:
            self.done[page] = 1
            at = self.of_page[page]
            self.settled[at] += 1
            self.settled_on_host[self.host[at]] += 1

    def largest(self, limit: int, is_trap: Callable[[int], bool] | None = None) -> list[FamilyInfo]:
        """``is_trap`` says whether a page lies in a trap that was found; without it, families are judged by numbers alone."""
        named = sorted(self.number.items(), key=lambda one: -self.known[one[1]])
        several = (one for one in named if one[0] != OTHER and self.known[one[1]] > 1)
        return [self._family(shape, at, is_trap) for shape, at in islice(several, limit)]

    def _family(self, shape: str, at: int, is_trap: Callable[[int], bool] | None) -> FamilyInfo:
        alike = UrlFamily.of(shape, self.known[at], self.on_host)
        by_number = UrlFamily.of(shape, self.settled[at], self.settled_on_host).possible_trap
        return FamilyInfo(
            pattern=shape,
            known=alike.pages,
            settled=self.settled[at],
            share=alike.share,
            possible_trap=by_number if is_trap is None else is_trap(self.example[at]),
            regex=alike.exclude,
        )


class LogReader:
    """What was read of one log so far."""

    def __init__(self, started: float | None = None) -> None:
        self.started = started
        self.seq = 0
        self.time = Timeline()
        self.shapes = UrlShapes()
        self.reasons: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.retries = 0
        self.last: deque[tuple[float, int, str]] = deque(maxlen=LAST)
        self.complete = True

    def read(self, log: Log) -> None:
        """Continue where the last call ended."""
        met = 0
        for urls, _ in log.urls(len(self.shapes.of_page)):
            self.shapes.meet(urls)
            met += len(urls)
            if met >= URLS:
                break
        rows, ahead = 0, False
        for seq, kind, page, time, status, note in islice(log.select(COLUMNS, KINDS, self.seq), ROWS):
            if page >= len(self.shapes.of_page):
                ahead = True  # its name comes first
                break
            self.seq = seq
            rows += 1
            self._count(kind, page, time, status, note)
        self.complete = rows < ROWS and met < URLS and not ahead
        if self.complete:
            self.seq = max(self.seq, log.seq)

    def _count(self, kind: int, page: int, time: float, status: int | None, note: str | None) -> None:
        if kind == Retried.kind:
            self.retries += 1
            return
        failed = kind == Failed.kind
        self.time.add(time, failed)
        self.shapes.settle(page)
        if failed:
            reason = note or "failed"
            self.reasons[reason if reason in self.reasons or len(self.reasons) < REASONS else OTHER] += 1
            self.last.append((time, page, reason))
        else:
            self.statuses[status or 200] += 1


# What the process is asked --------------------------------------------------------------------------------------------------
_pasts: OrderedDict[str, LogReader] = OrderedDict()


@contextmanager
def _read(folder: str) -> Iterator[tuple[LogReader, Journal]]:
    """What is known of a log after reading on, and the log itself."""
    past = _pasts.pop(folder, None)
    with closing(Journal.open(Path(folder), read_only=True)) as log:
        started = log.notes.get("started")
        if past is None or past.seq > log.seq or past.started != started:  # another crawl lies there now
            past = LogReader(started)
        past.read(log)
        _pasts[folder] = past
        while len(_pasts) > CRAWLS:
            _pasts.popitem(last=False)
        yield past, log


def summary(folder: str, now: float | None) -> dict[str, Any]:
    """The part of a status that is about the past. Without ``now`` the crawl has stopped: its time ended with its last page."""
    with _read(folder) as (past, _):
        rates = past.time.rates(past.time.last if now is None else now)
        return {"pages_per_s": rates, "reasons": dict(past.reasons), "complete": past.complete}


def series(folder: str, points: int) -> History:
    with _read(folder) as (past, _):
        width, found = past.time.points(points)
        fetched, failed = past.time.counts
        return History(bucket_s=width, fetched=fetched, failed=failed, points=found, complete=past.complete)


def errors(folder: str) -> Errors:
    with _read(folder) as (past, log):
        return Errors(
            failed=past.time.counts[1],
            retries=past.retries,
            reasons=[Reason(reason=reason, pages=count) for reason, count in past.reasons.most_common()],
            statuses=[Reason(reason=str(status), pages=count) for status, count in past.statuses.most_common(REASONS)],
            last=[FailureInfo(time=time, url=log.url(page), reason=why) for time, page, why in reversed(past.last)],
            complete=past.complete,
        )


def families(folder: str, limit: int) -> Families:
    with _read(folder) as (past, log):
        found = past.shapes.largest(limit, _trap_finder(log))
        return Families(patterns=len(past.shapes.number), families=found, complete=past.complete)


def _trap_finder(log: Log) -> Callable[[int], bool] | None:
    """Whether a page lies in a trap, as ``frontrank crawl`` has found them; None for crawls in which nobody looks for traps."""
    if "options" not in log.notes:
        return None
    searchers = [re.compile(pattern).search for pattern in log.notes.get(TRAPS_NOTE, {})]
    return lambda page: any(search(log.url(page)) for search in searchers)


def search(folder: str, text: str, first: int, limit: int) -> list[tuple[int, str]]:
    """Number and URL of pages whose URL contains a text."""
    with closing(Journal.open(Path(folder), read_only=True)) as log:
        return log.find_urls(text, first, limit)
