"""The pages that a live crawl knows: their numbers, and room for what is kept of each.

Nothing here is a Python object a page: names are fingerprints in a table, everything else lies in arrays that grow. With the
frontier's 29 bytes and the ordering's own columns that is about 100 bytes of memory a waiting URL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from frontrank.crawl.elsewhere import Elsewhere
from frontrank.crawl.kernels import UNLINKED
from frontrank.crawl.log import Log
from frontrank.errors import StorageError
from frontrank.frontiers.polite_frontier import PoliteFrontier
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels import hashtable as names
from frontrank.kernels.growing import grown
from frontrank.kernels.jit import Array, compiled
from frontrank.orderings.policy import Policy, out_for
from frontrank.pages.groups import HOST, grouping
from frontrank.pages.urls import host_of
from frontrank.web.links import NO_VALUES, Links

HOSTS_CACHED = 50_000
MOST_LINKS = 2**31 - 1  # that are kept: 8 GB of them


def name_of(url: str, queue: str | None, host: str | None = None) -> str:
    """What a page is known by: its URL, and its queue if that is given and not its host's.

    >>> name_of("http://a.org/", None) == name_of("http://a.org/", "a.org") != name_of("http://a.org/", "slow")
    True
    """
    return url if not queue or queue == (host_of(url) if host is None else host) else f"{queue}\0{url}"


class Known:
    """An ordering's state and a frontier that grow as pages become known."""

    def __init__(
        self,
        policy: Policy,
        log: Log,
        politeness: Politeness,
        capacity: int,
        truth: Callable[[str], float] | None,
    ) -> None:
        self.policy, self.log, self.politeness, self.truth = policy, log, politeness, truth
        self.needs = policy.needs()
        self.state = policy.allocate(capacity, 1)
        self.frontier = PoliteFrontier(politeness, policy.queue, capacity)
        self.reads_anchors = "anchors" in self.needs
        self.reads_names = bool((self.needs | policy.wants()) & {"hosts", "urls", "truth"})
        self.keeps_links = policy.rereads or policy.interval() > 0
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
        self._host_numbers: dict[str, int] = {}  # of some hosts: it spares most lookups
        self.host_page = np.full(1, -1, np.int32)  # the first known page of each host: it has the host's name
        self.depths = np.full(capacity, UNLINKED, np.uint16)
        self.worth = np.zeros(capacity if "impact" in self.needs else 0)  # of each page, as far as it was told
        self.queue_by = grouping(log.notes.get("queue_by", HOST))  # the queue of a URL, where it is not its host's
        self.joined: dict[str, str] = {}  # hosts that became part of a group, and their groups
        self._number_all, self._find = compiled(names.number_all), compiled(names.find)

    @property
    def known(self) -> int:
        """Pages whose name is known."""
        return int(self.table.counts[0])

    def find(self, url: str, key: int | None = None) -> int:
        """The number of a page, -1 if it is not known."""
        return int(self._find(self.table, names.fingerprint(url) if key is None else names.signed(key)))

    def page(self, url: str, key: int | None = None) -> int:
        """The number of a page, which is known from now on; it waits once it is seeded or linked to."""
        keys = names.fingerprints([url]) if key is None else np.array([names.signed(key)], np.int64)
        return int(self._pages([url], keys)[0])

    def url(self, page: int) -> str:
        return self.log.url(int(page))

    def depth(self, page: int) -> int:
        """How many links lie between a seed and this page, on the way it was first discovered."""
        return int(self.depths[page])

    def number(self, url: str, queue: str | None = None) -> int:
        """The number of the page of this URL in this queue (none: that of its host), -1 if it is not known."""
        return int(self._find(self.table, names.fingerprint(name_of(url, queue))))

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
        self.table = names.roomy(self.table, len(urls))
        numbers = np.empty(len(urls), np.int32)
        first = self.known
        fresh = self._number_all(self.table, keys, numbers)
        if fresh:
            if fresh < len(urls):
                at = _first_places(numbers.tolist(), first)
                urls, keys = [urls[place] for place in at], keys[at]
                queues = None if queues is None else [queues[place] for place in at]
                hosts = None if hosts is None else [hosts[place] for place in at]
            self.log.add_urls(first, urls, keys.tolist())
            hosts = [host_of(url) for url in urls] if hosts is None else hosts
            placed = self._queues_of(first, urls, queues, hosts)
            if placed:
                self.log.place(placed)
            if int(self.now) > self._born:
                self._born = int(self.now)
                self.log.born(first, self.now)
            self._meet(first, urls, placed, hosts)
        return numbers

    def _queues_of(
        self, first: int, urls: Sequence[str], queues: Sequence[str | None] | None, hosts: Sequence[str]
    ) -> dict[int, str]:
        """Which of these pages, numbered from first on, wait in a queue that is not their host's."""
        if queues is None and self.queue_by is None and not self.joined:
            return {}
        given = queues
        if given is None:
            named = [self.queue_by(url) for url in urls] if self.queue_by else hosts
            given = [self.joined.get(name, name) for name in named] if self.joined else named
        return {first + i: queue for i, queue in enumerate(given) if queue and queue != hosts[i]}

    def _meet(self, first: int, urls: Sequence[str], placed: Mapping[int, str], names: Sequence[str]) -> None:
        """Pages with these names and hosts are known now, numbered from first on; placed: those in queues of their own."""
        hosts = self._hosts(names, first)
        end = first + len(urls)
        queues = hosts
        if placed:
            queues = hosts.copy()
            queues[[page - first for page in placed]] = [self._hosts([name], page)[0] for page, name in placed.items()]
            self._meet_elsewhere(first, urls, sorted(placed))
        if end > self.links.start.size:
            self._grow(end)
        self.frontier.place(first, queues)
        if self.reads_names:
            for i, url in enumerate(urls):
                truth = self.truth(url) if self.truth else 0.0
                self.policy.see_page(self.state, first + i, url, int(hosts[i]), truth)

    def _meet_elsewhere(self, first: int, urls: Sequence[str], pages: Sequence[int]) -> None:
        """These pages lie in queues of their own: those that are not known by their URL alone are found by it all the same."""
        keys = names.fingerprints([urls[page - first] for page in pages])
        named = self.table.keys[list(pages)] != keys
        self.elsewhere.add([page for page, one in zip(pages, named.tolist(), strict=True) if one], keys[named])

    def _host(self, name: str) -> int:
        """The number of a host, or of a queue whose name is known as it is written."""
        if self.queue_by is not None:  # what is said of a host holds for its group
            name = self.queue_by(f"http://{name}/") or name
        known = self.find_host(name)
        return known if known >= 0 else int(self._hosts([name.lower()], -1)[0])

    def find_host(self, name: str) -> int:
        """The number of a host or queue, -1 if it is not known."""
        return int(self._find(self.host_table, names.fingerprint(self.joined.get(name, name))))

    def _hosts(self, hosts: Sequence[str], page: int) -> Array:
        """The numbers of these hosts; page is the first of pages that lie there, one a host, or -1 for none."""
        cache = self._host_numbers
        unknown = [host for host in dict.fromkeys(hosts) if host not in cache]
        if unknown:
            if len(cache) + len(unknown) > HOSTS_CACHED:
                cache.clear()
                unknown = list(dict.fromkeys(hosts))
            numbers = self._number_hosts(unknown).tolist()
            cache.update(zip(unknown, numbers, strict=True))
            if page >= 0:
                place = {host: i for i, host in reversed(list(enumerate(hosts)))}
                for host, number in zip(unknown, numbers, strict=True):
                    if self.host_page[number] < 0:
                        self.host_page[number] = page + place[host]
        return np.array([cache[host] for host in hosts], np.int32)

    def _number_hosts(self, hosts: Sequence[str]) -> Array:
        self.host_table = names.roomy(self.host_table, len(hosts))
        numbers = np.empty(len(hosts), np.int32)
        if self._number_all(self.host_table, names.fingerprints(hosts), numbers):
            count = int(self.host_table.counts[0])
            self.state = self.policy.enlarge(self.state, self.links.start.size, count)
            self.frontier.grow(self.links.start.size, count)
            self.host_page = grown(self.host_page, count, -1)
        return numbers

    def _grow(self, pages: int) -> None:
        start = grown(self.links.start, pages)
        size, hosts = start.size, int(self.host_table.counts[0])
        self.state = self.policy.enlarge(self.state, size, hosts)
        self.frontier.grow(size, hosts)
        self.links = self.links._replace(start=start, stop=grown(self.links.stop, size))
        self.depths = grown(self.depths, size, UNLINKED)
        if self.worth.size:
            self.worth = grown(self.worth, size)
        self._out_for(0)

    def _out_for(self, links: int) -> None:
        """Room for what an ordering writes: twice the longest row of links, or twice all pages if it reaches for them."""
        room = 2 * max(links, self.links.start.size if self.policy.reach != "links" else 0) + 2
        if room > self.out.page.size:
            self.out = out_for(room, self.out)

    def _grow_links(self, links: int) -> None:
        if links > MOST_LINKS:
            raise StorageError(
                f"{self.policy.name} reads links again, and at most {MOST_LINKS:,} of them are kept; "
                "resume with an ordering that does not, such as fpr or opic"
            )
        value = grown(self.links.value, links, most=MOST_LINKS) if self.reads_anchors else NO_VALUES
        self.links = self.links._replace(target=grown(self.links.target, links, most=MOST_LINKS), value=value)

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
