"""The numbers of hosts and queues, by name. A page waits in the queue of its host, unless it is given another.

Few URLs are parsed: those that are the same up to the slash after the host have the same host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from frontrank.crawl import validation
from frontrank.kernels import hashtable as names
from frontrank.kernels.growing import grown
from frontrank.kernels.jit import Array, Direct, by_size
from frontrank.pages.urls import host_of

MAX_CACHED = 50_000  # hosts
MAX_CACHED_LENGTH = 300  # of the beginning of a URL, up to its path: there may be 16,000 characters before it
AUTHORITY = 8  # where to look for the slash after the host: behind those of http:// and https://


class HostTable:
    """Hosts, queues and groups of hosts, numbered from 0 as they become known.

    >>> hosts = HostTable()
    >>> hosts.of_urls(["http://a.org/1", "http://b.org/", "http://a.org/2"], first_page=0).tolist()
    [0, 1, 0]
    >>> hosts.find("b.org"), hosts.find("c.org"), hosts.first_page.tolist()[:2]
    (1, -1, [0, 1])
    """

    def __init__(self, group_by: Callable[[str], str] | None = None) -> None:
        self.table = names.new(16)
        self.first_page = np.full(1, -1, np.int32)  # the first known page of each host: it has the host's name
        self.group_by = group_by  # the queue of a URL, where hosts are grouped from the start
        self.joined: dict[str, str] = {}  # hosts, and the group (an address) whose delay and budget they share
        self._beginnings: dict[str, int] = {}  # of URLs of some hosts, up to the slash after the host: the host's number
        self._queues: dict[str, int] = {}  # numbers of some queues by name: both spare most lookups
        self._number_all, self._find = Direct(names.number_all), Direct(names.find)

    def __len__(self) -> int:
        return int(self.table.counts[0])

    def group_of(self, name: str) -> str:
        """The queue in which the pages of a host or queue wait: that of its group, or its own."""
        return self.joined.get(validation.text(name, "a host or queue"), name)

    def grouped(self, name: str) -> str:
        """A host, or the group in its place where hosts are grouped from the start."""
        return name if self.group_by is None else self.group_by(f"http://{name}/") or name

    def find(self, name: str) -> int:
        """The number of a host or queue, -1 if it is not known."""
        return int(self._find.call(self.table, names.fingerprint(self.group_of(name))))

    def find_cached(self, queue: str) -> int:
        """The same for a queue that was looked up before; others are found as usual."""
        number = self._queues.get(queue, -1)
        return number if number >= 0 else self.find(queue)

    def intern(self, name: str) -> int:
        """The number of a host, or of a queue whose name is known as it is written; it is known from now on."""
        name = self.grouped(name)
        known = self.find(name)
        return known if known >= 0 else self.intern_queue(name.lower())

    def intern_queue(self, name: str, page: int = -1) -> int:
        """The number of a queue, which is known from now on; ``page``: one that waits there, if any does."""
        number = self._queues.get(name, -1)
        if number < 0:
            if len(self._queues) >= MAX_CACHED:
                self._queues.clear()
            number = self._queues[name] = int(self._intern_all([name])[0])
        if page >= 0 > self.first_page[number]:
            self.first_page[number] = page
        return number

    def join(self, name: str, group: str) -> tuple[int, int]:
        """A host belongs to a group from now on; the numbers of both."""
        host, into = self.intern(name), self.intern(group)
        self.joined[name] = group
        if self.first_page[into] < 0:
            self.first_page[into] = self.first_page[host]
        return host, into

    def of_urls(self, urls: Sequence[str], first_page: int) -> Array:
        """The numbers of the hosts of these pages, which are numbered from ``first_page`` on."""
        get = self._beginnings.get
        beginnings = [url[: url.find("/", AUTHORITY) + 1] for url in urls]
        numbers = [get(begin, -1) for begin in beginnings]
        if -1 in numbers:
            self._intern_missing(urls, first_page, beginnings, numbers)
        return np.array(numbers, np.int32)

    def _intern_missing(self, urls: Sequence[str], first_page: int, beginnings: list[str], numbers: list[int]) -> None:
        """Replace each -1, and cache the host's number by the beginning of its URLs."""
        missing = [place for place, number in enumerate(numbers) if number < 0]
        distinct = dict.fromkeys([beginnings[place] for place in missing])
        host_by = {begin: host_of(begin) for begin in distinct if begin.startswith(("http://", "https://"))}
        hosts = [host_by.get(beginnings[place]) or host_of(urls[place]) for place in missing]
        first_places = dict(zip(reversed(hosts), reversed(missing), strict=True))
        found = self._intern_all(list(dict.fromkeys(hosts)))
        number_of = dict(zip(dict.fromkeys(hosts), found.tolist(), strict=True))
        for place, host in zip(missing, hosts, strict=True):
            numbers[place] = number_of[host]
        firsts = np.array([first_places[host] for host in number_of], self.first_page.dtype) + first_page
        new = self.first_page[found] < 0
        self.first_page[found[new]] = firsts[new]
        if len(self._beginnings) + len(host_by) > MAX_CACHED:
            self._beginnings.clear()
        self._beginnings.update(
            (begin, number_of[host]) for begin, host in host_by.items() if host and len(begin) <= MAX_CACHED_LENGTH
        )

    def _intern_all(self, hosts: Sequence[str]) -> Array:
        self.table = names.with_capacity(self.table, len(hosts))
        numbers = np.empty(len(hosts), np.int32)
        if by_size(names.number_all, len(hosts), few=self._number_all)(self.table, names.fingerprints(hosts), numbers):
            self.first_page = grown(self.first_page, len(self), -1)
        return numbers

    # Snapshots ----------------------------------------------------------------------------------------------------------
    def save(self) -> tuple[Any, dict[str, Array]]:
        return self.joined, {**self.table._asdict(), "first_page": self.first_page}

    def restore(self, json: Any, arrays: dict[str, Array]) -> None:
        self.joined = json
        self.table = names.HashTable(**{name: arrays[name] for name in names.HashTable._fields})
        self.first_page = arrays["first_page"]


def queues_given(
    urls: Sequence[str], queues: Iterable[str | None] | None, hosts: Sequence[str] | None, table: HostTable
) -> dict[int, str]:
    """By place, the queues of those of these pages that do not wait in that of their host."""
    if queues is None and table.group_by is None:
        return {}
    hosts = [host_of(url) for url in urls] if hosts is None else hosts
    if queues is None:
        assert table.group_by is not None
        queues = [table.group_by(url) for url in urls]
    return {place: queue for place, queue in enumerate(queues) if queue and queue != hosts[place]}
