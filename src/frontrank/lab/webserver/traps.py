"""Three traps that real crawlers fall into, one each on the three largest hosts. None of their pages is in the web.

calendar   /calendar/2030/01/ links to the month before and after, without end; the largest host's root links to it
sessions   on the second largest host every link to a page of the host carries ?sid=..., new for every route to it: the
           same pages under ever new URLs
repeats    /a/b/ links to /a/b/a/ and that to /a/b/a/b/, as a wrong relative link does;
           the third largest host's root links to it

A host without a root gets the link on its first page. With fewer than three hosts there are fewer traps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from frontrank.lab.webserver.addresses import SCHEME, Addresses, netloc_of
from frontrank.lab.webserver.faults import bits

CALENDAR = re.compile(r"/calendar/([1-9][0-9]{3,8})/(0[1-9]|1[0-2])/", re.ASCII)
REPEATS = re.compile(r"/a/b/(a/b/)*(a/)?", re.ASCII)
SESSION = re.compile(r"[?&]sid=([0-9a-f]{8})$")

Link = tuple[str, str]  # URL, anchor


class Trap(NamedTuple):
    title: str
    links: list[Link]
    text: str


class ServedTraps:
    def __init__(self, found: Addresses) -> None:
        sizes = found.sizes()
        largest = [host for host in np.argsort(-sizes, kind="stable")[:3].tolist() if sizes[host]]
        self.entries = [self._entry(found, host) for host in largest]
        self.calendar, self.sessions, self.repeats = ([found.netloc(host) for host in largest] + [None, None, None])[:3]

    @staticmethod
    def _entry(found: Addresses, host: int) -> int:
        root = found.find(f"{SCHEME}{found.netloc(host)}/")
        return root if root >= 0 else int(found.pages_of(host)[0])

    def links_on(self, page: int) -> list[Link]:
        """The links into traps that a page of the web gets."""
        if page == self.entries[0]:
            return [(f"{SCHEME}{self.calendar}/calendar/2030/01/", "calendar")]
        if page in self.entries[2:]:
            return [(f"{SCHEME}{self.repeats}/a/b/", "more")]
        return []

    def page(self, url: str) -> Trap | None:
        """The page of a trap under this URL."""
        netloc = netloc_of(url)
        root = SCHEME + netloc
        path = url[len(root) :]
        if netloc == self.calendar and (month := CALENDAR.fullmatch(path)):
            return _month(root, int(month[1]), int(month[2]))
        if netloc == self.repeats and REPEATS.fullmatch(path):
            return Trap("More", [(url + ("a/" if path.endswith("b/") else "b/"), "more")], "There is more.")
        return None

    def without_session(self, url: str) -> tuple[str, str]:
        """A URL and its session id, which is empty if it has none."""
        match = SESSION.search(url) if netloc_of(url) == self.sessions else None
        return (url[: match.start()], match[1]) if match else (url, "")

    def with_sessions(self, url: str, session: str, targets: Iterable[str]) -> list[str]:
        """The targets of a page as this session sees them."""
        if netloc_of(url) != self.sessions:
            return list(targets)
        links = []
        for target in targets:
            if netloc_of(target) == self.sessions:
                new = bits("session", f"{session} {url} {target}") & 0xFFFFFFFF
                target = f"{target}{'&' if '?' in target else '?'}sid={new:08x}"
            links.append(target)
        return links


def _month(root: str, year: int, month: int) -> Trap:
    count = 12 * year + month - 1
    near = [(count - 1, "previous month"), (count + 1, "next month")]
    links = [(f"{root}/calendar/{m // 12}/{m % 12 + 1:02}/", anchor) for m, anchor in near if m >= 12 * 1000]
    return Trap(f"{year}/{month:02}", [(root + "/", "home"), *links], "Nothing happens this month.")
