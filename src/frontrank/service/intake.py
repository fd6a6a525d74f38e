"""How URLs come into crawls by URLFrontier's messages.

Links reach the ordering by metadata: ``parent`` is the URL of the page on which a URL was found (or the last of ``url.path``,
which StormCrawler keeps), ``anchor`` the text of the link. A parent is looked for in all queues. A known URL that is sent back
was fetched: with date 0 it is completed, else it is fetched again at that date; from then on the links that were sent as its
own count. Its metadata may say otherwise: that it failed, will be tried again at that date, or was given back (``reports``).

What is acknowledged survives the end of the process: URLs of one crawl that arrive together share a commit. Where there are
many, or many rules to be tried on them, they are taken in by parts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Sequence

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.locking import YIELD_S
from frontrank.errors import BrokenCrawl
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, GONE, LATER, LEASED
from frontrank.service import reports, wire
from frontrank.service.counters import Counters
from frontrank.service.crawls import Crawls
from frontrank.service.limits import MAX_KEY_LENGTH, MAX_METADATA, MAX_URL_LENGTH

LATEST = 253_402_300_799  # the end of year 9999
OK, SKIPPED, FAIL = wire.AckMessage.OK, wire.AckMessage.SKIPPED, wire.AckMessage.FAIL


class Intake:
    """Takes URLs in, by message, and counts them."""

    def __init__(self, crawls: Crawls, counters: Counters) -> None:
        self.crawls, self.counters = crawls, counters

    def put_urls(self, items: Sequence[wire.URLItem]) -> list[wire.AckMessage]:
        """One answer per item. Those of one crawl share a commit, unless they are many."""
        answers = [wire.AckMessage(ID=item.ID or _info(item).url, status=SKIPPED) for item in items]
        keyless = {place for place, item in enumerate(items) if not _info(item).key}  # before keys are made of hosts

        def put(crawl: Crawl, places: list[int]) -> None:
            self._put(crawl, items, places, answers, keyless)

        for place in self._put_in_parts(list(map(_info, items)), put):
            answers[place].status = FAIL
        self._count(
            len(items), [answer.status for item, answer in zip(items, answers, strict=True) if item.HasField("discovered")]
        )
        done = [item.HasField("known") and not item.known.refetchable_from_date for item in items]
        completed = sum(one and answer.status == OK for one, answer in zip(done, answers, strict=True))
        self.counters.completed.inc(completed)
        return answers

    def _put(
        self,
        crawl: Crawl,
        items: Sequence[wire.URLItem],
        places: Sequence[int],
        answers: Sequence[wire.AckMessage],
        keyless: Container[int],
    ) -> None:
        run: list[int] = []  # discovered URLs that follow each other, added together
        for place in [*places, -1]:
            if place >= 0 and items[place].HasField("discovered"):
                run.append(place)
                continue
            if run:
                found = self._discover(crawl, [items[one].discovered.info for one in run])
                for one, status in zip(run, found, strict=True):
                    answers[one].status = status
                run = []
            if place >= 0:
                self._know(crawl, items[place].known, anywhere=place in keyless)
                answers[place].status = OK

    def put_discovered(self, batches: Sequence[wire.DiscoveredBatch]) -> list[wire.BatchAck]:
        """One answer per batch. Those of one crawl share a commit, unless they are many."""
        infos = [info for batch in batches for info in batch.items]
        statuses: list[wire.AckMessage.Status] = [SKIPPED] * len(infos)

        def put(crawl: Crawl, places: list[int]) -> None:
            for place, status in zip(places, self._discover(crawl, [infos[place] for place in places]), strict=True):
                statuses[place] = status

        for place in self._put_in_parts(infos, put):
            statuses[place] = FAIL
        answers, first = [], 0
        for batch in batches:
            stop = first + len(batch.items)
            answers.append(wire.BatchAck(ID=batch.ID, statuses=statuses[first:stop]))
            first = stop
        self._count(len(infos), statuses)
        return answers

    def _put_in_parts(self, infos: Sequence[wire.URLInfo], put: Callable[[Crawl, list[int]], None]) -> list[int]:
        """Put URLs into their crawls, by their places, in parts: between two parts, others can use the crawl.

        Returns the places of those whose crawl cannot be opened; if there is only one crawl, its error is raised.
        """
        failed: list[int] = []
        by_crawl = _by_crawl(infos)
        for name, places in by_crawl.items():
            try:
                rules, urls = self.crawls.get_or_start(name).state.rules, [infos[place].url for place in places]
                for number, part in enumerate(rules.parts(urls)):
                    if number:
                        time.sleep(YIELD_S)
                    with self.crawls.put_into(name) as crawl:
                        put(crawl, places[part])
            except BrokenCrawl:
                if len(by_crawl) == 1:
                    raise
                failed += places
        return failed

    def _count(self, came: int, discovered: Sequence[wire.AckMessage.Status]) -> None:
        self.counters.put_urls.inc(came)
        self.counters.discovered.inc(len(discovered))
        self.counters.ignored.inc(list(discovered).count(SKIPPED))

    def _discover(self, crawl: Crawl, infos: Sequence[wire.URLInfo]) -> list[wire.AckMessage.Status]:
        """URLs that fetchers found; those of one parent are added together."""
        statuses: list[wire.AckMessage.Status] = [SKIPPED] * len(infos)
        named = [(info.url, info.key) for info in infos]
        metadata = [_metadata(info) if info.metadata else b"" for info in infos]
        links: dict[bytes, tuple[str, str]] = {b"": ("", "")}  # URLs of one parent often have the same metadata
        by_parent: dict[str, list[int]] = {}
        for place, packed in enumerate(metadata):
            if packed not in links:
                links[packed] = _parent(infos[place]), " ".join(_values(infos[place], "anchor"))
            by_parent.setdefault(links[packed][0], []).append(place)
        for parent, places in by_parent.items():
            page = crawl.intern(parent) if parent else -1
            anchors = [links[metadata[place]][1] for place in places] if parent else []
            urls, queues = zip(*[named[place] for place in places], strict=True)
            pages, fresh = crawl.queues.discover(urls, page, anchors if any(anchors) else (), queues)
            new = [(place, page) for place, page, one in zip(places, pages.tolist(), fresh.tolist(), strict=True) if one]
            for place, _ in new:
                statuses[place] = OK
            crawl.attach({page: metadata[place] for place, page in new if metadata[place]})
        return statuses

    def _know(self, crawl: Crawl, known: wire.KnownURLItem, anywhere: bool) -> None:
        """A URL that a fetcher reports. ``anywhere``: no queue is given, so the URL is looked for in all queues."""
        info, report = known.info, reports.read(known.info)
        again_at = float(min(known.refetchable_from_date, LATEST)) if known.refetchable_from_date else None
        page, fresh = crawl.lookup(info.url) if anywhere else -1, False
        if page < 0 or crawl.inspect.mark(page) in (ABSENT, FORGOTTEN):
            pages, news = crawl.queues.discover([info.url], queues=[info.key])  # no link led to a URL that was not known
            page, fresh = int(pages[0]), bool(news[0])
        if 0 < known.sent_ago < (delay := crawl.inspect.pace_of(info.key)[1]):
            crawl.control.rest(info.key, delay - known.sent_ago)  # before the page is settled, and another one may be taken
        if known.lease and not _counts(crawl, page, known.lease):
            return
        if report.returned:
            crawl.give_back([page])
        elif fresh and again_at is not None and not crawl.queues.has_pending_links(info.url):
            crawl.queues.schedule(page, again_at)  # there is no sign that it was ever fetched
        elif report.error:
            crawl.queues.report_failure(page, report.error, again_at=again_at)
        else:
            crawl.queues.report(page, status=report.status, again_at=again_at)
        if again_at is not None and (fresh or not report.returned):
            self._keep(crawl, page, info)

    def _keep(self, crawl: Crawl, page: int, info: wire.URLInfo) -> None:
        reports.strip(info)
        if info.metadata:
            crawl.attach({page: _metadata(info)})


def _counts(crawl: Crawl, page: int, lease: float) -> bool:
    """Whether a report under this lease counts: not if another fetcher has the page now, or has settled it.

    A report may arrive twice, if its answer was lost, or after the end of its lease.
    """
    if crawl.state.leases.get(page) == lease:
        return True
    crawl.inspect.due(page)  # leases that have run out end now
    return crawl.inspect.mark(page) not in (LEASED, GONE, LATER)


def host_in(url: str) -> str:
    """The queue of a URL that comes without one, as the reference service cuts it; empty if there is none.

    >>> [host_in(url) for url in ("http://a.org:80/x", "a.org?b", "https://A.org&c", "http:///x", "")]
    ['a.org', 'a.org', 'A.org', '', '']
    """
    host = url.partition("://")[2] if "://" in url else url
    for sign in ":/?&":
        host = host.partition(sign)[0]
    return host


def _info(item: wire.URLItem) -> wire.URLInfo:
    return item.discovered.info if item.HasField("discovered") else item.known.info


def _by_crawl(infos: Iterable[wire.URLInfo]) -> dict[str, list[int]]:
    """The places of those that can be taken in, by the ID of their crawl."""
    found: dict[str, list[int]] = {}
    for place, info in enumerate(infos):
        if _fits(info):
            found.setdefault(info.crawlID, []).append(place)
    return found


def _fits(info: wire.URLInfo) -> bool:
    """Whether a URL can be taken in; it then has a key."""
    url, key = info.url, info.key
    if not key:
        key = info.key = host_in(url)
    return (
        0 < len(key) <= MAX_KEY_LENGTH
        and 0 < len(url) <= MAX_URL_LENGTH
        and (not info.metadata or info.ByteSize() <= MAX_METADATA)
    )


def _parent(info: wire.URLInfo) -> str:
    return (_values(info, "parent") or _values(info, "url.path") or [""])[-1]


def _values(info: wire.URLInfo, name: str) -> Sequence[str]:
    return info.metadata[name].values if name in info.metadata else ()  # reading a missing one would create it


def _metadata(info: wire.URLInfo) -> bytes:
    """The metadata of a message, as bytes that may be appended to another message. Its other fields are cleared."""
    for field in ("url", "key", "crawlID", "delay"):
        info.ClearField(field)
    return info.SerializeToString()
