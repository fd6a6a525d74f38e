"""URLFrontier's methods on crawls: what each message requests, and the answer. ``intake`` takes URLs in.

The ordering decides which URLs go first, within a queue and among queues. A date is the earliest time of a fetch.
"""

from __future__ import annotations

import itertools
import logging
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.locking import YIELD_S
from frontrank.errors import BrokenCrawl, InputError, NotFound, StorageError, UnknownCrawl
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, GONE, LATER, LEASED
from frontrank.service import wire
from frontrank.service.counters import Counters
from frontrank.service.crawl_ids import crawl_id
from frontrank.service.crawls import Crawls
from frontrank.service.intake import LATEST, Intake, host_in
from frontrank.service.limits import MAX_PER_QUEUE

LEASE_S = 30
LISTED = 100  # if no size is asked for
PIECE, PIECE_BYTES = 250, 2**16  # what is listed at once, and kept for a client that does not read
LOOKED_AT = 10_000  # pages that are searched at once: with their URLs some 5 ms
FORGOTTEN_AT_ONCE = 5_000  # pages: about 15 ms
TAKEN = 250  # URLs that are taken at once, about: the client reads them while the next are taken
DAY_S = 86_400
NO_QUEUE = 2**64 - 1  # -1, as the reference service answers it
LEVELS = {
    wire.LogLevelParams.TRACE: logging.DEBUG,
    wire.LogLevelParams.DEBUG: logging.DEBUG,
    wire.LogLevelParams.INFO: logging.INFO,
    wire.LogLevelParams.WARN: logging.WARNING,
    wire.LogLevelParams.ERROR: logging.ERROR,
}


class FrontierService:
    """The methods, by message. Any thread may call any of them at any time."""

    def __init__(
        self, crawls: Crawls, counters: Counters | None = None, address: str = "", clock: Callable[[], float] = time.time
    ) -> None:
        self.crawls, self.address, self.clock = crawls, address, clock
        self.counters = counters or Counters()
        self.intake = Intake(crawls, self.counters)
        self._turn = 0  # which crawl is first, where any will do

    # Nodes and crawls -------------------------------------------------------------------------------------------------------
    def list_nodes(self, asked: wire.Empty) -> wire.StringList:
        return wire.StringList(values=[self.address])

    def list_crawls(self, asked: wire.Local) -> wire.StringList:
        return wire.StringList(values=[name for name in self.crawls.ids() if self._is_filled(name)])

    def _is_filled(self, name: str) -> bool:
        summary = self.crawls.summary(name)
        if summary is not None:
            return summary.counts.known > 0
        with suppress(StorageError), self.crawls.use(name) as crawl:
            return crawl is not None and crawl.queues.counts().known > 0
        return False

    def delete_crawl(self, asked: wire.DeleteCrawlMessage) -> wire.Long:
        try:
            return wire.Long(value=self.crawls.delete(asked.value))
        except UnknownCrawl:
            return wire.Long(value=0)

    # URLs in and out ----------------------------------------------------------------------------------------------------------
    def put_urls(self, items: Sequence[wire.URLItem]) -> list[wire.AckMessage]:
        return self.intake.put_urls(items)

    def put_discovered(self, batches: Sequence[wire.DiscoveredBatch]) -> list[wire.BatchAck]:
        return self.intake.put_discovered(batches)

    def get_urls(self, asked: wire.GetParams) -> Iterator[list[bytes]]:
        """URLs to fetch, best first, in chunks; they are leased as they go."""
        begun = time.perf_counter()
        self.counters.get_calls.inc()
        for chunk in self._taken(asked) if self.crawls.active else ():
            self.counters.get_urls.inc(len(chunk))
            yield chunk
        self.counters.get_seconds.observe(time.perf_counter() - begun)

    def _taken(self, asked: wire.GetParams) -> Iterator[list[bytes]]:
        wanted = asked.crawlID if asked.HasField("crawlID") else None
        lease_s = float(asked.delay_requestable or LEASE_S)
        each = min(asked.max_urls_per_queue or MAX_PER_QUEUE, MAX_PER_QUEUE)
        if asked.key:
            if wanted is not None:
                infos, rest, _ = self._taken_of(crawl_id(wanted), 1, each, lease_s, asked.key)
                yield infos
                yield from self._parts(crawl_id(wanted), rest)
            return
        left, at_once = asked.max_queues or 2**31, max(1, TAKEN // each)
        # As in the reference service, a blank name means no crawl.
        for name in self._any() if wanted is None else [wanted] * bool(wanted.strip()):
            try:
                while left > 0:
                    infos, rest, queues = self._taken_of(name, min(left, at_once), each, lease_s)
                    if not infos:
                        break
                    left -= queues
                    yield infos
                    yield from self._parts(name, rest)
            except BrokenCrawl:  # the other crawls may have URLs
                if wanted is not None:
                    raise

    def _taken_of(
        self, name: str, queues: int, each: int, lease_s: float, queue: str | None = None
    ) -> tuple[list[bytes], array[int], int]:
        """URLs of a crawl that are leased now, pages of further ones, and the number of queues that they come from."""
        with self.crawls.use(name) as crawl:
            if crawl is None:
                return [], array("i"), 0
            pages = crawl.queues.take(queues, each, lease_s=lease_s, queue=queue)
            first, count = pages[:TAKEN], crawl.queues.count(pages)
            return self._infos(name, crawl, first, crawl.queues.names(first)), array("i", pages[TAKEN:]), count

    def _parts(self, name: str, pages: array[int]) -> Iterator[list[bytes]]:
        """URLs that are leased already. The crawl may be closed while the client reads."""
        for first in range(0, len(pages), TAKEN):
            some = pages[first : first + TAKEN].tolist()
            with self.crawls.use(name) as crawl:
                infos = [] if crawl is None else self._infos(name, crawl, some, crawl.queues.names(some))
            yield infos

    def _any(self) -> Iterator[str]:
        """All crawls, another one first each time, without those that are closed and have no URL to give yet."""
        found = self.crawls.ids()
        self._turn += 1
        at = self._turn % len(found) if found else 0
        for name in found[at:] + found[:at]:
            summary = self.crawls.summary(name)
            if summary is None or summary.ready_at <= self.crawls.clock():
                yield name

    def _infos(self, name: str, crawl: Crawl, pages: Sequence[int], names: Sequence[tuple[str, str]]) -> list[bytes]:
        metadata, delays, leases = crawl.attached(pages), crawl.inspect.delays_of(pages), crawl.state.leases
        return [
            wire.URLInfo(url=url, key=queue, crawlID=name, delay=delay, lease=leases.get(page, 0.0)).SerializeToString()
            + metadata.get(page, b"")
            for page, (url, queue), delay in zip(pages, names, delays, strict=True)
        ]

    # What is known ------------------------------------------------------------------------------------------------------------
    def list_queues(self, asked: wire.Pagination) -> wire.QueueList:
        start, values = asked.start, []
        with self.crawls.use(asked.crawlID) as crawl:
            if crawl is not None:
                values = crawl.queues.listed(asked.include_inactive, start=start, size=asked.size or LISTED)
        return wire.QueueList(values=values, start=start, size=len(values), crawlID=crawl_id(asked.crawlID))

    def get_stats(self, asked: wire.QueueWithinCrawlParams) -> wire.Stats:
        stats = wire.Stats(crawlID=crawl_id(asked.crawlID))
        with self.crawls.use(asked.crawlID) as crawl:
            counts = None if crawl is None else crawl.queues.counts_of(asked.key) if asked.key else crawl.queues.counts()
        if crawl is not None and crawl.inspect.broken:  # meanwhile: the counts have URLs that are not stored
            self.crawls.find(asked.crawlID)
        if counts is not None:
            stats.size, stats.inProcess, stats.numberOfQueues = counts.active, counts.leased, counts.queues
        stats.counts["completed"] = counts.completed if counts is not None else 0
        stats.counts["active_queues"] = counts.active_queues if counts is not None else 0
        return stats

    def get_url_status(self, asked: wire.URLStatusRequest) -> wire.URLItem:
        key = asked.key or host_in(asked.url)
        if not key:
            raise InputError(f"the URL of a page must have a host, or a key must be given; got {asked.url!r}")
        with self.crawls.use(asked.crawlID) as crawl:
            page = -1 if crawl is None else crawl.lookup(asked.url, asked.key or None)
            if crawl is None or page < 0 or crawl.inspect.mark(page) in (ABSENT, FORGOTTEN):
                raise NotFound(f"{asked.url!r} is not known in queue {key!r} of crawl {crawl_id(asked.crawlID)!r}")
            return wire.URLItem.FromString(self._items(crawl_id(asked.crawlID), crawl, [page])[0])

    def list_urls(self, asked: wire.ListUrlParams) -> Iterator[list[bytes]]:
        """In pieces, each made when the one before has left: a listing that nobody reads keeps one piece in memory, and does
        not keep its crawl open."""
        name, skipped, left, at_once = crawl_id(asked.crawlID), asked.start, asked.size or LISTED, PIECE
        first = stop = 0
        while left > 0:
            with self.crawls.use(name) as crawl:
                stop = stop or (0 if crawl is None else crawl.inspect.known)  # what becomes known meanwhile is not listed
                if crawl is None or first >= stop:
                    return
                wanted = min(skipped or at_once, skipped or left, LOOKED_AT)
                pages, then = self._matching(crawl, asked, first, stop, wanted)
                items = [] if skipped else _fitting(self._items(name, crawl, pages))
            if skipped:
                skipped -= len(pages)
            elif pages:
                then = then if len(items) == len(pages) else pages[len(items)]
                at_once, left = min(PIECE, 2 * len(items)), left - len(items)
                yield items
            else:
                time.sleep(YIELD_S)
            first = then

    def count_urls(self, asked: wire.CountUrlParams) -> wire.Long:
        with self.crawls.use(asked.crawlID) as crawl:
            first = count = 0
            while crawl is not None and first < crawl.inspect.known:
                pages, first = self._matching(crawl, asked, first, crawl.inspect.known, LOOKED_AT)
                count += len(pages)
                time.sleep(YIELD_S)
        return wire.Long(value=count)

    def _matching(
        self, crawl: Crawl, asked: wire.ListUrlParams | wire.CountUrlParams, first: int, stop: int, at_once: int
    ) -> tuple[list[int], int]:
        """The next pages from ``first`` on (of a queue, whose URL contains a text), at most so many, and where to continue.

        Only some pages are searched, so the result may be empty before the end.
        """
        then, queue = min(first + LOOKED_AT, stop), asked.key or None
        if asked.filter.strip():
            there = crawl.queues.pages_containing(asked.filter, queue, first, then, ignore_case=asked.ignoreCase)
        else:
            there = crawl.queues.pages(queue, first, then)
        found = there[: at_once + 1].tolist()
        return found[:at_once], found[at_once] if len(found) > at_once else then

    def _items(self, name: str, crawl: Crawl, pages: Sequence[int]) -> list[bytes]:
        items = []
        for page, info in zip(pages, self._infos(name, crawl, pages, crawl.queues.names(pages)), strict=True):
            born = int(crawl.inspect.discovered_at(page))
            date = 0
            if crawl.inspect.mark(page) != GONE:
                date = int(min(crawl.inspect.due(page), LATEST)) if crawl.inspect.mark(page) in (LATER, LEASED) else born
            item = wire.URLItem(creation_date=born)
            item.known.info.MergeFromString(info)
            item.known.refetchable_from_date = date
            items.append(item.SerializeToString())
        return items

    # Control ------------------------------------------------------------------------------------------------------------------
    def delete_queue(self, asked: wire.QueueWithinCrawlParams) -> wire.Long:
        with self._with_queue(asked.crawlID, asked.key) as crawl:
            counts = None if crawl is None else crawl.queues.counts_of(asked.key)
            if crawl is None or counts is None:
                return wire.Long(value=NO_QUEUE)
            polite = crawl.state.politeness
            self._forget(crawl, asked.key, crawl.inspect.known)
            with crawl.together():
                if crawl.inspect.group_of(asked.key) != asked.key:
                    return wire.Long(value=counts.active)  # its limits are those of other hosts too
                crawl.control.limit_host(
                    asked.key, delay_s=polite.delay_s, concurrency=polite.per_host, budget=polite.host_budget, limit=0
                )
                crawl.control.block_until(asked.key, 0.0)
            return wire.Long(value=counts.active)

    def purge_urls(self, asked: wire.PurgeUrlParams) -> wire.Long:
        with self.crawls.use(asked.crawlID) as crawl:
            if crawl is None:
                return wire.Long(value=0)
            old = crawl.inspect.discovered_before(self.clock() - asked.days * DAY_S)
            return wire.Long(value=self._forget(crawl, asked.key or None, old))

    def _forget(self, crawl: Crawl, queue: str | None, stop: int) -> int:
        """Forget pages (of a queue) before this one, in parts: between two of them, others get to the crawl."""
        forgotten = 0
        for first in range(0, stop, LOOKED_AT):
            pages = crawl.queues.pages(queue, first, min(first + LOOKED_AT, stop)).tolist()
            for begin in range(0, len(pages), FORGOTTEN_AT_ONCE):
                forgotten += crawl.queues.forget(pages[begin : begin + FORGOTTEN_AT_ONCE])
                time.sleep(YIELD_S)
        return forgotten

    def block_queue_until(self, asked: wire.BlockQueueParams) -> wire.Empty:
        with self._with_queue(asked.crawlID, asked.key) as crawl:
            if crawl is not None:
                crawl.control.block_until(asked.key, float(asked.time))
        return wire.Empty()

    def set_delay(self, asked: wire.QueueDelayParams) -> wire.Empty:
        delay_s = float(asked.delay_requestable)
        if not asked.key:
            self.crawls.set_delay(delay_s)
            return wire.Empty()
        with self._with_queue(asked.crawlID, asked.key) as crawl:
            if crawl is not None:
                crawl.control.limit_host(asked.key, delay_s=delay_s, at_least=asked.at_least)
        return wire.Empty()

    def set_crawl_limit(self, asked: wire.CrawlLimitParams) -> wire.Empty:
        with self._with_queue(asked.crawlID, asked.key) as crawl:
            if crawl is None:
                raise NotFound(f"crawl {crawl_id(asked.crawlID)!r} has no queue {asked.key!r} to be limited")
            crawl.control.limit_host(asked.key, limit=asked.limit)
        return wire.Empty()

    @contextmanager
    def _with_queue(self, name: str, key: str) -> Iterator[Crawl | None]:
        """The crawl, if it has this queue."""
        with self.crawls.use(name) as crawl:
            yield None if crawl is None or crawl.queues.counts_of(key) is None else crawl

    def set_active(self, asked: wire.Active) -> wire.Empty:
        self.crawls.active = asked.state
        return wire.Empty()

    def get_active(self, asked: wire.Local) -> wire.Boolean:
        return wire.Boolean(state=self.crawls.active)

    def set_log_level(self, asked: wire.LogLevelParams) -> wire.Empty:
        """Of frontrank's own log, whatever package is named."""
        if asked.level not in LEVELS:
            raise InputError(f"a level of the log must be 0 (TRACE) to 4 (ERROR), got {asked.level}")
        logging.getLogger("frontrank").setLevel(LEVELS[asked.level])
        return wire.Empty()


def _fitting(items: list[bytes]) -> list[bytes]:
    """The first of these items: as many as make a piece, at least one."""
    sizes = itertools.accumulate(map(len, items))
    return items[: max(1, sum(size <= PIECE_BYTES for size in sizes))]
