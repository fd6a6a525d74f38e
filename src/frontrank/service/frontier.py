"""URLFrontier's methods on crawls: what each message asks for, and what is answered. How URLs come in is in ``intake``.

Which URLs go first, within a queue and among queues, is the ordering's. Dates say from when on one may go.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from frontrank.crawl.crawl import Crawl
from frontrank.errors import InputError, NotFound, StorageError, UnknownCrawl
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, GONE, LATER, LEASED
from frontrank.service import counters as counted
from frontrank.service import wire
from frontrank.service.counters import Counters
from frontrank.service.crawls import Crawls, crawl_id
from frontrank.service.intake import LATEST, Intake, host_in
from frontrank.service.limits import MOST_PER_QUEUE

LEASE_S = 30
LISTED = 100  # if no size is asked for
CHUNK = 1_000  # URLs that are listed at once
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
        return wire.StringList(values=[name for name, crawl in self._all() if crawl.counts().known])

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
        self.counters.add(counted.GET_CALLS)
        for chunk in self._taken(asked) if self.crawls.active else ():
            self.counters.add(counted.GET_URLS, len(chunk))
            yield chunk
        self.counters.took(time.perf_counter() - begun)

    def _taken(self, asked: wire.GetParams) -> Iterator[list[bytes]]:
        wanted = asked.crawlID if asked.HasField("crawlID") else None
        lease_s = float(asked.delay_requestable or LEASE_S)
        each = min(asked.max_urls_per_queue or MOST_PER_QUEUE, MOST_PER_QUEUE)
        if asked.key:
            crawl = None if wanted is None else self.crawls.find(wanted)
            if crawl is not None:
                pages = crawl.take_queues(1, each, lease_s=lease_s, queue=asked.key)
                yield self._infos(crawl_id(wanted or ""), crawl, pages, crawl.names(pages))
            return
        left, at_once = asked.max_queues or 2**31, max(1, TAKEN // each)
        for name, crawl in self._any() if wanted is None else self._named(wanted):
            while left > 0 and (pages := crawl.take_queues(min(left, at_once), each, lease_s=lease_s)):
                names = crawl.names(pages)
                left -= len({crawl.group_of(queue) for _, queue in names})
                yield self._infos(name, crawl, pages, names)

    def _any(self) -> list[tuple[str, Crawl]]:
        """All crawls, another one first each time."""
        found = self._all()
        self._turn += 1
        at = self._turn % len(found) if found else 0
        return found[at:] + found[:at]

    def _named(self, name: str) -> list[tuple[str, Crawl]]:
        """As in the reference service, a blank name is none here."""
        crawl = self.crawls.find(name) if name.strip() else None
        return [] if crawl is None else [(name, crawl)]

    def _infos(self, name: str, crawl: Crawl, pages: Sequence[int], names: Sequence[tuple[str, str]]) -> list[bytes]:
        metadata = crawl.attached_all(pages)
        return [
            wire.URLInfo(url=url, key=queue, crawlID=name).SerializeToString() + metadata.get(page, b"")
            for page, (url, queue) in zip(pages, names, strict=True)
        ]

    # What is known ------------------------------------------------------------------------------------------------------------
    def list_queues(self, asked: wire.Pagination) -> wire.QueueList:
        crawl, start = self.crawls.find(asked.crawlID), asked.start
        found = crawl.queues(inactive=asked.include_inactive) if crawl is not None else []
        values = found[start : start + (asked.size or LISTED)]
        return wire.QueueList(values=values, start=start, size=len(values), crawlID=crawl_id(asked.crawlID))

    def get_stats(self, asked: wire.QueueWithinCrawlParams) -> wire.Stats:
        crawl, made = self.crawls.find(asked.crawlID), wire.Stats(crawlID=crawl_id(asked.crawlID))
        counts = None if crawl is None else crawl.queue_counts(asked.key) if asked.key else crawl.counts()
        if crawl is not None and crawl.broken:  # since it was found: they would count URLs that are not stored
            self.crawls.find(asked.crawlID)
        if counts is not None:
            made.size, made.inProcess, made.numberOfQueues = counts.active, counts.leased, counts.queues
        made.counts["completed"] = counts.completed if counts is not None else 0
        made.counts["active_queues"] = counts.active_queues if counts is not None else 0
        return made

    def get_url_status(self, asked: wire.URLStatusRequest) -> wire.URLItem:
        key = asked.key or host_in(asked.url)
        if not key:
            raise InputError(f"the URL of a page must have a host, or a key must be given; got {asked.url!r}")
        crawl = self.crawls.find(asked.crawlID)
        page = -1 if crawl is None else crawl.find_page(asked.url, asked.key or None)
        if crawl is None or page < 0 or crawl.mark(page) in (ABSENT, FORGOTTEN):
            raise NotFound(f"{asked.url!r} is not known in queue {key!r} of crawl {crawl_id(asked.crawlID)!r}")
        return wire.URLItem.FromString(self._items(crawl_id(asked.crawlID), crawl, [page])[0])

    def list_urls(self, asked: wire.ListUrlParams) -> Iterator[list[bytes]]:
        crawl = self.crawls.find(asked.crawlID)
        if crawl is None:
            return
        name, start, left = crawl_id(asked.crawlID), asked.start, asked.size or LISTED
        for pages in self._matching(crawl, asked.key, asked.filter, asked.ignoreCase):
            passed = min(start, len(pages))
            start -= passed
            some = pages[passed : passed + left]
            if some:
                left -= len(some)
                yield self._items(name, crawl, some)
            if not left:
                return

    def count_urls(self, asked: wire.CountUrlParams) -> wire.Long:
        crawl = self.crawls.find(asked.crawlID)
        if crawl is None:
            return wire.Long(value=0)
        return wire.Long(value=sum(map(len, self._matching(crawl, asked.key, asked.filter, asked.ignoreCase))))

    def _matching(self, crawl: Crawl, key: str, text: str, ignore_case: bool) -> Iterator[list[int]]:
        """Pages (of a queue) whose URL contains a text, in the order in which they became known, in chunks."""
        found = crawl.pages_of(key or None).tolist()
        wanted = text.lower() if ignore_case else text
        for first in range(0, len(found), CHUNK):
            pages = found[first : first + CHUNK]
            if text.strip():
                urls = [url.lower() if ignore_case else url for url, _ in crawl.names(pages)]
                pages = [page for page, url in zip(pages, urls, strict=True) if wanted in url]
            yield pages

    def _items(self, name: str, crawl: Crawl, pages: Sequence[int]) -> list[bytes]:
        made = []
        for page, info in zip(pages, self._infos(name, crawl, pages, crawl.names(pages)), strict=True):
            born = int(crawl.born(page))
            date = 0
            if crawl.mark(page) != GONE:
                date = int(min(crawl.due(page), LATEST)) if crawl.mark(page) in (LATER, LEASED) else born
            item = wire.URLItem(creation_date=born)
            item.known.info.MergeFromString(info)
            item.known.refetchable_from_date = date
            made.append(item.SerializeToString())
        return made

    # Control ------------------------------------------------------------------------------------------------------------------
    def delete_queue(self, asked: wire.QueueWithinCrawlParams) -> wire.Long:
        crawl = self.crawls.find(asked.crawlID)
        counts = None if crawl is None else crawl.queue_counts(asked.key)
        if crawl is None or counts is None or not counts.known:
            return wire.Long(value=NO_QUEUE)
        polite = crawl.politeness
        with crawl.together():
            crawl.forget_pages(crawl.pages_of(asked.key).tolist())
            if asked.key in crawl.groups or crawl.group_of(asked.key) != asked.key:
                return wire.Long(value=counts.active)  # the limits are those of other hosts, too
            crawl.host(asked.key, delay_s=polite.delay_s, concurrency=polite.per_host, budget=polite.host_budget, limit=0)
            crawl.block_until(asked.key, 0.0)
        return wire.Long(value=counts.active)

    def purge_urls(self, asked: wire.PurgeUrlParams) -> wire.Long:
        crawl = self.crawls.find(asked.crawlID)
        if crawl is None:
            return wire.Long(value=0)
        old = crawl.born_before(self.clock() - asked.days * DAY_S)
        pages = crawl.pages_of(asked.key or None)
        return wire.Long(value=crawl.forget_pages(pages[pages < old].tolist()))

    def block_queue_until(self, asked: wire.BlockQueueParams) -> wire.Empty:
        crawl = self._with_queue(asked.crawlID, asked.key)
        if crawl is not None:
            crawl.block_until(asked.key, float(asked.time))
        return wire.Empty()

    def set_delay(self, asked: wire.QueueDelayParams) -> wire.Empty:
        delay_s = float(asked.delay_requestable)
        if not asked.key:
            self.crawls.delay(delay_s)
        elif (crawl := self._with_queue(asked.crawlID, asked.key)) is not None:
            crawl.host(asked.key, delay_s=delay_s, at_least=asked.at_least)
        return wire.Empty()

    def set_crawl_limit(self, asked: wire.CrawlLimitParams) -> wire.Empty:
        crawl = self._with_queue(asked.crawlID, asked.key)
        if crawl is None:
            raise NotFound(f"crawl {crawl_id(asked.crawlID)!r} has no queue {asked.key!r} to be limited")
        crawl.host(asked.key, limit=asked.limit)
        return wire.Empty()

    def _with_queue(self, name: str, key: str) -> Crawl | None:
        """The crawl, if it has this queue."""
        crawl = self.crawls.find(name)
        counts = None if crawl is None else crawl.queue_counts(key)
        return crawl if counts is not None and counts.known else None

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

    def _all(self) -> list[tuple[str, Crawl]]:
        """Those that can be read."""
        found = []
        for name in self.crawls.ids():
            with suppress(StorageError):
                found.append((name, self.crawls.find(name)))
        return [(name, crawl) for name, crawl in found if crawl is not None]
