"""Regions of a crawl that discover nothing but themselves: what a trap does, whatever its URLs look like.

A region is the URLs of a host with a query, or a directory up to three levels deep (runs of digits and hexadecimal ids count
as one name); it contains all that lies beneath. An endless region shows in what its fetched pages link to:

    nothing but itself   what they discover lies in the region, about one page for each page fetched, and that does not end
    known to nobody      at most ``MAX_OUTSIDE`` of its pages are linked from elsewhere
    sparse               its pages seldom link to pages of it that are known already, while an ordinary site has menus, contents
                         and cross-references: ``NEW_PER_KNOWN`` new ones for each known one. With one title for nearly all, or
                         with numbers, ids or queries in their URLs, they may link to ``MAX_KNOWN_LINKS``; with both, as the
                         days of a calendar or the filters of a shop, to any number

A region in which a seed lies is what somebody asked for, and never a trap as a whole; nor is a host, which can have a budget.

Counts begin anew when there are more than ``MAX_REGIONS``; a resumed crawl counts its newest pages again (``traps``).
Cost: 30 to 60 us a page fetched with 25 links; memory 3 bytes per page known and 400 a region.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from frontrank.fetching.url_families import ENDING
from frontrank.pages.urls import DIGITS, HASH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_REGIONS, MAX_PREFIXES = 50_000, 50_000  # at most 65,535 regions have a number
FOLDERS = 3
LEVELS = 2 + FOLDERS  # host, its URLs with a query, directories
MIN_PAGES = 100  # fetched pages of a possible trap: many a list of articles has fifty pages
MAX_OUTSIDE, MAX_KNOWN_LINKS, NEW_PER_KNOWN = 0.05, 2.5, 4
MIN_NEW, MAX_NEW_OUTSIDE, ALIKE = 0.5, 0.2, 0.9
MAX_NEW = 16  # that one page counts for: a list of a thousand pages is no sign that there will be more
RECENT = 1 / 32  # weight of the newest page in a running mean
NONE, UNLINKED = 0, 255


class Region:
    __slots__ = (
        "alike",
        "exempt",
        "fetched",
        "known",
        "known_links",
        "name",
        "new",
        "new_outside",
        "numbered",
        "outside",
        "title",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.known = self.fetched = 0
        self.outside = 0  # of the known pages, how many are linked from elsewhere
        self.new = self.new_outside = self.known_links = 0.0  # mean links of a fetched page; new ones: lately
        self.title, self.alike = 0, 0  # the title that most pages have, if most have one; and how many more than others
        self.numbered = any(mark in name for mark in "#*?")
        self.exempt = False

    def fetch(self, new: int, new_outside: int, known_links: int, title: int) -> None:
        self.fetched += 1
        self.new += max(RECENT, 1 / self.fetched) * (min(new, MAX_NEW) - self.new)
        self.new_outside += (new_outside - self.new_outside) / self.fetched
        self.known_links += (known_links - self.known_links) / self.fetched
        if self.alike == 0:
            self.title = title
        self.alike += 1 if title == self.title else -1

    @property
    def endless(self) -> bool:
        alike = self.alike >= (2 * ALIKE - 1) * self.fetched
        return (
            self.fetched >= MIN_PAGES
            and not self.exempt
            and self.outside <= MAX_OUTSIDE * self.known
            and self.new >= MIN_NEW
            and self.new_outside <= MAX_NEW_OUTSIDE
            and self._sparse(alike)
        )

    def _sparse(self, alike: bool) -> bool:
        if alike and self.numbered:
            return True
        return self.known_links <= (MAX_KNOWN_LINKS if alike or self.numbered else self.new / NEW_PER_KNOWN)


class Regions:
    """The regions of a crawl, and which of them may be endless."""

    def __init__(self, seeds: Iterable[str]) -> None:
        self.seeds = list(seeds)
        self._begin()

    def _begin(self) -> None:
        self.leaf = array("H")  # of each page: its innermost region, 0 if it is not known
        self.shared = bytearray()  # of the regions around a page, how many are around all pages that link to it
        self.regions = [Region("")]
        self.above: list[tuple[int, ...]] = [()]  # of each region: those that contain it, outermost first, and itself
        self._common: list[dict[int, int]] = [{}]  # of each region: how many it has in common with others
        self._numbers: dict[str, int] = {}
        self._prefixes: dict[str, int] = {}
        for seed in self.seeds[: MAX_REGIONS // (2 * LEVELS)]:
            for url in (seed, seed.rstrip("/") + "/"):
                for number in self.above[self._region_of(url)]:
                    self.regions[number].exempt = True

    # Which region ---------------------------------------------------------------------------------------------------------
    def _region_of(self, url: str) -> int:
        """The innermost region of a URL."""
        path, mark, _ = url.partition("?")
        parts = path.split("/", 3 + FOLDERS)
        prefix = "/".join(parts[2 : min(max(len(parts) - 1, 3), 3 + FOLDERS)]) + mark
        number = self._prefixes.get(prefix, -1)
        if number < 0:
            if len(self._prefixes) >= MAX_PREFIXES:
                self._prefixes.clear()
            number = self._prefixes[prefix] = self._intern(prefix.rstrip("?").split("/"), bool(mark))
        return number

    def _intern(self, parts: Sequence[str], query: bool) -> int:
        place, ending = parts[0] + "/", f"{ENDING}?{ENDING}" if query else ENDING
        number = self._inside(NONE, place + ENDING)
        self.regions[number].exempt = True
        if query:
            number = self._inside(number, place + ending)
        for folder in parts[1:]:
            place += DIGITS.sub("#", HASH.sub("*", folder)) + "/"
            number = self._inside(number, place + ending)
        return number

    def _inside(self, around: int, name: str) -> int:
        """The number of the region of this name, which lies inside another one."""
        number = self._numbers.get(name)
        if number is None and len(self.regions) >= MAX_REGIONS:
            return around
        if number is None:
            number = self._numbers[name] = len(self.regions)
            self.regions.append(Region(name))
            self.above.append((*self.above[around], number))
            self._common.append({})
        return number

    # What happens -----------------------------------------------------------------------------------------------------------
    def fetched(self, page: int, url: str, title: str, links: Mapping[int, str], first_new: int) -> list[Region]:
        """A page has arrived with links to these pages, by number and URL; those from ``first_new`` on were unknown before.

        Returns which regions around it may be endless, the outermost first.
        """
        if len(self.regions) >= MAX_REGIONS:
            self._begin()
        self._grow(max(page, max(links, default=0)) + 1)
        own = self.leaf[page] = self.leaf[page] or self._region_of(url)
        fresh, known = self._links(own, links, first_new)
        words, discovered = hash(DIGITS.sub("#", HASH.sub("*", title))), sum(fresh)
        of_new, of_known = discovered, sum(known)
        found = []
        for level, number in enumerate(self.above[own]):
            of_new -= fresh[level]  # those that have just so many regions in common are not in the next one
            of_known -= known[level]
            region = self.regions[number]
            region.fetch(of_new, discovered - of_new, of_known, words)
            if region.endless:
                found.append(region)
        return found

    def _links(self, own: int, links: Mapping[int, str], first_new: int) -> tuple[list[int], list[int]]:
        """How many links to new and to known pages there are, by how many regions both ends have in common."""
        leaf, shared, common = self.leaf, self.shared, self._common[own]
        fresh, known = [0] * (LEVELS + 1), [0] * (LEVELS + 1)
        for target, url in links.items():
            other = leaf[target] or self._meet(target, url, target >= first_new)
            level = common.get(other, -1)
            if level < 0:
                level = common[other] = len(set(self.above[own]) & set(self.above[other]))
            if level < shared[target]:
                for number in self.above[other][level : shared[target]]:
                    self.regions[number].outside += 1
                shared[target] = level
            if target >= first_new:
                fresh[level] += 1
            else:
                known[level] += 1
        return fresh, known

    def _meet(self, page: int, url: str, new: bool) -> int:
        """The region of a page. Of one that was known before, nobody can tell any more who linked to it: it does not count."""
        number = self.leaf[page] = self._region_of(url)
        if new:
            for around in self.above[number]:
                self.regions[around].known += 1
        else:
            self.shared[page] = 0
        return number

    def _grow(self, pages: int) -> None:
        if (more := pages - len(self.leaf)) > 0:
            self.leaf.extend([NONE] * more)
            self.shared.extend(bytes([UNLINKED]) * more)
