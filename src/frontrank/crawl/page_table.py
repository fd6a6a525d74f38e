"""The pages that a live crawl knows: their numbers, and how deep they lie.

Nothing here is a Python object per page: names are fingerprints in a table, everything else is in arrays that grow. With the
frontier's 29 bytes and the ordering's own columns that is about 100 bytes of memory for a waiting URL.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from frontrank.crawl.hosts import HostTable, queues_given
from frontrank.crawl.kernels import UNLINKED
from frontrank.crawl.pages_by_url import PagesByUrl
from frontrank.errors import InputError
from frontrank.kernels import hashtable as names
from frontrank.kernels.growing import grown, reserve
from frontrank.kernels.jit import Array, Direct, by_size
from frontrank.pages.urls import host_of


def name_of(url: str, queue: str | None, host: str | None = None) -> str:
    """What a page is known by: its URL, and its queue if that is given and not its host's.

    >>> name_of("http://a.org/", None) == name_of("http://a.org/", "a.org") != name_of("http://a.org/", "slow")
    True
    """
    return url if not queue or queue == (host_of(url) if host is None else host) else f"{queue}\0{url}"


def queue_of(named: tuple[str, str | None]) -> str:
    """The queue of a page, by its URL and the name that the log has for its queue, if any."""
    url, queue = named
    return queue or host_of(url)


class NewPages(NamedTuple):
    """Pages that nobody has named before, numbered from ``first`` on."""

    first: int
    urls: Sequence[str]
    keys: Array
    queues: dict[int, str]  # by page, of those in queues that are not their hosts'


class PageTable:
    def __init__(self, capacity: int, hosts: HostTable) -> None:
        self.table = names.new(capacity)
        self.hosts = hosts
        self.by_url = PagesByUrl()
        self.depths = np.full(capacity, UNLINKED, np.uint16)
        self._number_all, self._find = Direct(names.number_all), Direct(names.find)

    def __len__(self) -> int:
        """Pages whose name is known."""
        return int(self.table.counts[0])

    def find(self, key: int) -> int:
        """The page of this fingerprint, -1 if it is not known."""
        return int(self._find.call(self.table, names.signed(key)))

    def named(self, url: str) -> list[int]:
        """All pages of this URL: the one in its host's queue first, then those in queues of their own, the last named first."""
        page = self.find(names.fingerprint(url))
        own = [page] if page >= 0 else []
        return own + self.by_url.find(names.fingerprint(url)) if len(self.by_url) else own

    def check(self, page: int) -> int:
        """Kernels trust page numbers: one out of range, such as the -1 of unknown pages, would write to other memory; and
        the log would keep a number of numpy's as its bytes."""
        if isinstance(page, bool) or not (isinstance(page, int | np.integer) and 0 <= page < len(self)):
            raise InputError(f"a page must be the number of one of the {len(self):,} that this crawl knows, got {page!r}")
        return int(page)

    def check_all(self, pages: Iterable[int] | Array) -> list[int]:
        """The same for many: one comparison, and a second look only to say which of them is not known."""
        if not isinstance(pages, Iterable):
            raise InputError(f"pages must be numbers of pages, got {pages!r}")
        found = pages if isinstance(pages, np.ndarray) else _flat_array(list(pages))
        if found.ndim != 1:
            raise InputError(f"pages must be a flat list of numbers of pages, got {pages!r}")
        if found.size and not (found.dtype.kind in "iu" and found.min() >= 0 and found.max() < len(self)):
            for page in found.tolist():
                self.check(page)
        numbers: list[int] = found.tolist()
        return numbers

    def intern(
        self,
        urls: Sequence[str],
        keys: Array,
        queues: Sequence[str | None] | None = None,
        hosts: Sequence[str] | None = None,
    ) -> tuple[Array, NewPages | None]:
        """The numbers of these pages, and those of them that were not known before. ``hosts``: theirs, if already parsed."""
        self.table = names.with_capacity(self.table, len(urls))
        numbers = np.empty(len(urls), np.int32)
        first = len(self)
        fresh = by_size(names.number_all, len(urls), few=self._number_all)(self.table, keys, numbers)
        if not fresh:
            return numbers, None
        if fresh < len(urls):
            places = _first_places(numbers.tolist(), first)
            urls, keys = [urls[place] for place in places], keys[places]
            queues = None if queues is None else [queues[place] for place in places]
            hosts = None if hosts is None else [hosts[place] for place in places]
        own = queues_given(urls, queues, hosts, self.hosts)
        return numbers, NewPages(first, urls, keys, {first + place: queue for place, queue in own.items()})

    def place(self, new: NewPages) -> tuple[Array, Array]:
        """The hosts of new pages, and the queues that they wait in, by number."""
        first, placed = new.first, new.queues
        hosts = self.hosts.of_urls(new.urls, first)
        queues = hosts
        if placed:
            queues = hosts.copy()
            queues[[page - first for page in placed]] = [self.hosts.intern_queue(name, page) for page, name in placed.items()]
            self._add_by_url(new, sorted(placed))
        if self.hosts.joined:  # a page keeps the name of its own queue: whoever brought it may ask by that
            named = [placed.get(first + place) or host_of(url) for place, url in enumerate(new.urls)]
            numbers = [self.hosts.intern_queue(self.hosts.group_of(name), first + place) for place, name in enumerate(named)]
            queues = np.array(numbers, np.int32)
        return hosts, queues

    def _add_by_url(self, new: NewPages, pages: Sequence[int]) -> None:
        """Pages in queues of their own that are not known by their URL alone are found by it all the same."""
        keys = names.fingerprints([new.urls[page - new.first] for page in pages])
        named = self.table.keys[list(pages)] != keys
        self.by_url.add([page for page, one in zip(pages, named.tolist(), strict=True) if one], keys[named])

    def intern_stored(self, urls: Sequence[str], keys: Array, queues: dict[int, str]) -> NewPages:
        """Pages that a log has names of, none of which is known here."""
        new = NewPages(len(self), urls, keys, queues)
        self.table = names.with_capacity(self.table, len(urls))
        by_size(names.number_all, len(urls))(self.table, keys, np.empty(len(urls), np.int32))
        return new

    def copy_names(self, other: PageTable) -> None:
        """Know what another table of the same log knows, the hosts too."""
        self.table, self.hosts.table = (
            names.HashTable(*(reserve(column.copy()) for column in table)) for table in (other.table, other.hosts.table)
        )
        self.hosts.first_page = reserve(other.hosts.first_page.copy())

    def grow(self, pages: int) -> None:
        self.depths = grown(self.depths, pages, UNLINKED)

    # Snapshots ----------------------------------------------------------------------------------------------------------
    def save(self) -> tuple[Any, dict[str, Array]]:
        by_url = {f"by_url_{name}": array for name, array in self.by_url.arrays().items()}
        return None, {**self.table._asdict(), **by_url, "depths": self.depths}

    def restore(self, json: Any, arrays: dict[str, Array]) -> None:
        self.table = names.HashTable(**{name: arrays[name] for name in names.HashTable._fields})
        prefix = "by_url_"
        self.by_url.restore({name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)})
        self.depths = arrays["depths"]


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
