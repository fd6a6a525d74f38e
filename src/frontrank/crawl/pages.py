"""The pages that a live crawl knows: their numbers, and room for what is kept of each.

Nothing here is a Python object a page: names are fingerprints in a table, everything else lies in arrays that grow. With the
frontier's 29 bytes and the ordering's own columns that is about 100 bytes of memory a waiting URL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from frontrank.crawl import given
from frontrank.crawl.elsewhere import Elsewhere
from frontrank.crawl.kernels import UNLINKED
from frontrank.crawl.log import Log
from frontrank.errors import InputError, StorageError
from frontrank.frontiers.frontier import Frontier
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels import hashtable as names
from frontrank.kernels.growing import grown
from frontrank.kernels.jit import Array, Direct, by_size
from frontrank.orderings.policy import Policy, out_for
from frontrank.pages.groups import HOST, grouping
from frontrank.pages.urls import host_of
from frontrank.web.links import NO_VALUES, Links

HOSTS_CACHED = 50_000
CACHED_LENGTH = 300  # of such a beginning: a URL may have 16,000 letters before its host
AUTHORITY = 8  # where to look for the slash after the host: behind those of http:// and https://
MAX_LINKS = 2**31 - 1  # that are kept: 8 GB of them


def name_of(url: str, queue: str | None, host: str | None = None) -> str:
    """What a page is known by: its URL, and its queue if that is given and not its host's.

    >>> name_of("http://a.org/", None) == name_of("http://a.org/", "a.org") != name_of("http://a.org/", "slow")
    True
    """
    return url if not queue or queue == (host_of(url) if host is None else host) else f"{queue}\0{url}"


def queue_of(named: tuple[str, str | None]) -> str:
    """The queue that a page came with, by its URL and the name that the log has for its queue, if any."""
    url, queue = named
    return queue or host_of(url)


class Known:
    """An ordering's state and a frontier that grow as pages become known."""

    def __init__(
        self,
        policy: Policy,
        log: Log,
        politeness: Politeness,
        capacity: int,
        truth: Callable[[str], float] | None,
        frontier: Callable[[Politeness], Frontier],
    ) -> None:
        self.policy, self.log, self.politeness, self.truth = policy, log, politeness, truth
        self.needs = policy.needs()
        self.state = policy.allocate(capacity, 1)
        self.new_frontier = frontier
        self.frontier = frontier(politeness)
        self.frontier.grow(capacity, 0)
        self.reads_anchors = "anchors" in self.needs
        self.reads_names = bool((self.needs | policy.optional_needs()) & {"hosts", "urls", "truth"})
        self.keeps_links = policy.needs_past_links or policy.interval() > 0
        anchors = np.empty(capacity) if self.reads_anchors else NO_VALUES
        empty = np.zeros(capacity, np.int32)
        self.links = Links(empty, empty.copy(), np.empty(capacity, np.int32), anchors)
        self.used = 0  # links held
        self.now = 0.0  # the time of the last event
        self._born = 0  # the last second in which a page became known
        self.out = out_for(0)
        self._out_for(capacity)
        self.table, self.host_table = names.new(capacity), names.new(16)
        self.elsewhere = Elsewhere()
        self._beginnings: dict[str, int] = {}  # of URLs of some hosts, up to the slash after the host, and the hosts' numbers
        self._queue_numbers: dict[str, int] = {}  # of some queues by name: both spare most lookups
        self.host_page = np.full(1, -1, np.int32)  # the first known page of each host: it has the host's name
        self.depths = np.full(capacity, UNLINKED, np.uint16)
        self.worth = np.zeros(capacity if "impact" in self.needs else 0)  # of each page, as far as it was told
        self.queue_by = grouping(log.notes.get("queue_by", HOST))  # the queue of a URL, where it is not its host's
        self.joined: dict[str, str] = {}  # hosts, and the address whose pace and budget they share
        self._number_all, self._find = Direct(names.number_all), Direct(names.find)

    @property
    def known(self) -> int:
        """Pages whose name is known."""
        return int(self.table.counts[0])

    def find(self, url: str, key: int | None = None) -> int:
        """The number of a page, -1 if it is not known."""
        return int(self._find.call(self.table, names.fingerprint(url) if key is None else names.signed(key)))

    def page(self, url: str, key: int | None = None) -> int:
        """The number of a page, which is known from now on; it waits once it is seeded or linked to."""
        given.url(url, "a page")
        keys = names.fingerprints([url]) if key is None else np.array([names.signed(key)], np.int64)
        return int(self._pages([url], keys)[0])

    def url(self, page: int) -> str:
        return self.log.url(int(page))

    def check_page(self, page: int) -> int:
        """Kernels trust page numbers: one out of range, as ``find`` says of unknown pages, would write over other memory; and
        the log would keep a number of numpy's as its bytes."""
        if isinstance(page, bool) or not (isinstance(page, int | np.integer) and 0 <= page < self.known):
            raise InputError(f"a page must be the number of one of the {self.known:,} that this crawl knows, got {page!r}")
        return int(page)

    def check_pages(self, pages: Iterable[int] | Array) -> list[int]:
        """The same for many: one comparison, and a second look only to say which of them is not known."""
        if not isinstance(pages, Iterable):
            raise InputError(f"pages must be numbers of pages, got {pages!r}")
        found = pages if isinstance(pages, np.ndarray) else _flat_array(list(pages))
        if found.ndim != 1:
            raise InputError(f"pages must be a flat list of numbers of pages, got {pages!r}")
        if found.size and not (found.dtype.kind in "iu" and found.min() >= 0 and found.max() < self.known):
            for page in found.tolist():
                self.check_page(page)
        numbers: list[int] = found.tolist()
        return numbers

    def depth(self, page: int) -> int:
        """How many links lie between a seed and this page, on the way it was first discovered."""
        page = self.check_page(page)
        return int(self.depths[page])

    def number(self, url: str, queue: str | None = None) -> int:
        """The number of the page of this URL in this queue (none: that of its host), -1 if it is not known."""
        if queue is not None:
            given.text(queue, "a queue")
        return int(self._find.call(self.table, names.fingerprint(name_of(url, queue))))

    def _pages(
        self,
        urls: Sequence[str],
        keys: Array,
        queues: Sequence[str | None] | None = None,
        hosts: Sequence[str] | None = None,
    ) -> Array:
        """The numbers of these pages; those not known before are, from now on. No queue: that of the host.

        ``hosts``: theirs, if the caller has looked already.
        """
        self._check_open()
        self.table = names.with_capacity(self.table, len(urls))
        numbers = np.empty(len(urls), np.int32)
        first = self.known
        fresh = by_size(names.number_all, len(urls), few=self._number_all)(self.table, keys, numbers)
        if fresh:
            if fresh < len(urls):
                at = _first_places(numbers.tolist(), first)
                urls, keys = [urls[place] for place in at], keys[at]
                queues = None if queues is None else [queues[place] for place in at]
                hosts = None if hosts is None else [hosts[place] for place in at]
            self.log.add_urls(first, urls, keys.tolist())
            placed = self._queues_of(first, urls, queues, hosts)
            if placed:
                self.log.place(placed)
            if int(self.now) > self._born:
                self._born = int(self.now)
                self.log.born(first, self.now)
            self._meet(first, urls, placed)
        return numbers

    def _check_open(self) -> None:
        """Nothing changes in a crawl that is closed, or whose log cannot be written."""
        if self.log.broken:
            raise getattr(self.log, "refusal", StorageError)(self.log.broken)

    def _queues_of(
        self, first: int, urls: Sequence[str], queues: Sequence[str | None] | None, hosts: Sequence[str] | None
    ) -> dict[int, str]:
        """Which of these pages, numbered from first on, wait in a queue that is not their host's."""
        if queues is None and self.queue_by is None:
            return {}
        hosts = [host_of(url) for url in urls] if hosts is None else hosts
        given = queues
        if given is None:
            given = [self.queue_by(url) for url in urls] if self.queue_by else hosts
        return {first + i: queue for i, queue in enumerate(given) if queue and queue != hosts[i]}

    def _meet(self, first: int, urls: Sequence[str], placed: Mapping[int, str]) -> None:
        """Pages with these names are known now, numbered from first on; placed: those in queues of their own."""
        hosts = self._hosts_of(urls, first)
        end = first + len(urls)
        queues = hosts
        if placed:
            queues = hosts.copy()
            queues[[page - first for page in placed]] = [self._queue(name, page) for page, name in placed.items()]
            self._meet_elsewhere(first, urls, sorted(placed))
        if self.joined:  # a page keeps the name of its own queue: whoever brought it may ask by that
            named = [placed.get(first + i) or host_of(url) for i, url in enumerate(urls)]
            queues = np.array([self._queue(self.group_of(name), first + i) for i, name in enumerate(named)], np.int32)
        if end > self.links.start.size:
            self._grow(end)
        self.frontier.place(first, queues)
        if self.reads_names:
            truths = [self.truth(url) if self.truth else 0.0 for url in urls]
            self.policy.see_pages(self.state, first, urls, hosts, truths)

    def _group(self, name: str) -> str:
        """What is said of a host holds for its group, if hosts are asked by group."""
        return name if self.queue_by is None else self.queue_by(f"http://{name}/") or name

    def group_of(self, name: str) -> str:
        """The queue in which the pages of a host or queue wait: that of its group, or its own."""
        return self.joined.get(given.text(name, "a host or queue"), name)

    def _meet_elsewhere(self, first: int, urls: Sequence[str], pages: Sequence[int]) -> None:
        """These pages lie in queues of their own: those that are not known by their URL alone are found by it all the same."""
        keys = names.fingerprints([urls[page - first] for page in pages])
        named = self.table.keys[list(pages)] != keys
        self.elsewhere.add([page for page, one in zip(pages, named.tolist(), strict=True) if one], keys[named])

    def _host(self, name: str) -> int:
        """The number of a host, or of a queue whose name is known as it is written; it is known from now on."""
        name = self._group(name)
        known = self.find_host(name)
        return known if known >= 0 else self._queue(name.lower())

    def find_host(self, name: str) -> int:
        """The number of a host or queue, -1 if it is not known."""
        return int(self._find.call(self.host_table, names.fingerprint(self.group_of(name))))

    def _queue(self, name: str, page: int = -1) -> int:
        """The number of a queue, which is known from now on; page: one that lies there, if any does."""
        number = self._queue_numbers.get(name, -1)
        if number < 0:
            if len(self._queue_numbers) >= HOSTS_CACHED:
                self._queue_numbers.clear()
            number = self._queue_numbers[name] = int(self._number_hosts([name])[0])
        if page >= 0 > self.host_page[number]:
            self.host_page[number] = page
        return number

    def _hosts_of(self, urls: Sequence[str], first: int) -> Array:
        """The numbers of the hosts of these pages, which are numbered from first on.

        Few URLs are parsed: those that are the same up to the slash after the host have the same host.
        """
        known = self._beginnings
        numbers = [known.get(url[: url.find("/", AUTHORITY) + 1], -1) for url in urls]
        if -1 in numbers:
            self._meet_hosts(urls, first, numbers)
        return np.array(numbers, np.int32)

    def _meet_hosts(self, urls: Sequence[str], first: int, numbers: list[int]) -> None:
        """Put in the numbers that are missing, -1, and remember them by the beginnings of their URLs."""
        begun = {
            place: url[: url.find("/", AUTHORITY) + 1]
            for place, (url, number) in enumerate(zip(urls, numbers, strict=True))
            if number < 0
        }
        shared = [begin for begin in dict.fromkeys(begun.values()) if begin.startswith(("http://", "https://"))]
        beginnings = {begin: host_of(begin) for begin in shared}
        hosts = {place: beginnings.get(begin) or host_of(urls[place]) for place, begin in begun.items()}
        distinct = list(dict.fromkeys(hosts.values()))
        given = dict(zip(distinct, self._number_hosts(distinct).tolist(), strict=True))
        for place, host in hosts.items():
            number = numbers[place] = given[host]
            if self.host_page[number] < 0:
                self.host_page[number] = first + place
        if len(self._beginnings) + len(beginnings) > HOSTS_CACHED:
            self._beginnings.clear()
        self._beginnings.update(
            (begin, given[host]) for begin, host in beginnings.items() if host and len(begin) <= CACHED_LENGTH
        )

    def _number_hosts(self, hosts: Sequence[str]) -> Array:
        self.host_table = names.with_capacity(self.host_table, len(hosts))
        numbers = np.empty(len(hosts), np.int32)
        if by_size(names.number_all, len(hosts), few=self._number_all)(self.host_table, names.fingerprints(hosts), numbers):
            count = int(self.host_table.counts[0])
            self.frontier.grow(self.links.start.size, count)
            if count > self.host_page.size:  # the ordering's columns have room for as many
                self.host_page = grown(self.host_page, count, -1)
                self.state = self.policy.enlarge(self.state, self.links.start.size, self.host_page.size)
        return numbers

    def _grow(self, pages: int) -> None:
        start = grown(self.links.start, pages)
        size = start.size
        self.state = self.policy.enlarge(self.state, size, self.host_page.size)
        self.frontier.grow(size, int(self.host_table.counts[0]))
        self.links = self.links._replace(start=start, stop=grown(self.links.stop, size))
        self.depths = grown(self.depths, size, UNLINKED)
        if self.worth.size:
            self.worth = grown(self.worth, size)
        self._out_for(0)

    def _out_for(self, links: int) -> None:
        """Room for what an ordering writes: twice the longest row of links, or twice all pages if it reaches for them."""
        room = 2 * max(links, self.links.start.size if self.policy.touches != "links" else 0) + 2
        if room > self.out.page.size:
            self.out = out_for(room, self.out)

    def _grow_links(self, links: int) -> None:
        if links > MAX_LINKS:
            raise StorageError(
                f"{self.policy.name} reads links again, and at most {MAX_LINKS:,} of them are kept; "
                "resume with an ordering that does not, such as fpr or opic"
            )
        value = grown(self.links.value, links, capacity=MAX_LINKS) if self.reads_anchors else NO_VALUES
        self.links = self.links._replace(target=grown(self.links.target, links, capacity=MAX_LINKS), value=value)

    def _note_links(self, page: int, targets: Array, anchors: Sequence[str]) -> None:
        if not self.keeps_links:
            self.used = 0  # nobody reads the links of earlier pages again
        self.state = self.policy.expect(self.state, len(targets))
        end = self.used + len(targets)
        if end > self.links.target.size:
            self._grow_links(end)
        self.links.target[self.used : end] = targets
        if self.reads_anchors:
            said = anchors or [""] * len(targets)
            urls = [self.log.url(int(target)) for target in targets] if self.policy.stepwise() else ()
            self.links.value[self.used : end] = self.policy.link_values(self.state, said, urls)
        self.links.start[page], self.links.stop[page] = self.used, end
        self.used = end
        self._out_for(len(targets))


def _flat_array(values: list[Any]) -> Array:
    """
    >>> _flat_array([1, 2]).tolist(), _flat_array([[]]).ndim, _flat_array([[1], [2, 3]]).ndim
    ([1, 2], 2, 0)
    """
    try:
        return np.asarray(values)
    except ValueError:  # lists of several lengths
        return np.asarray(None)


def _first_places(numbers: Sequence[int], new: int) -> list[int]:
    """Where each number from ``new`` on occurs for the first time; they do so in their order.

    >>> _first_places([3, 7, 2, 7, 8], 7)
    [1, 4]
    """
    places = []
    for place, number in enumerate(numbers):
        if number == new:
            places.append(place)
            new += 1
    return places
