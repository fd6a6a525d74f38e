"""Links of pages that have not arrived yet, and their anchors: each link of a page once.

The page that links were found on may never be reported. So at most ``MAX_PENDING`` of them are kept, and beyond that the
links of the pages that have waited longest are given up: an event, counted in ``Progress.links_given_up``. The pages they lead
to stay behind all ranked pages until another page links to them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from frontrank.kernels.jit import Array

MAX_PENDING = 1_000_000  # links in all: about 100 MB
KEPT = 900_000  # so many are left when there are too many: giving up a few each time would take a look at all pages each time
MAX_ANCHOR = 1_000  # characters that are kept of the anchors from one page to another, if they come one by one
ANCHOR_WEIGHT = 100  # characters that count as a further link


class PendingLinks(Mapping[int, dict[int, str]]):
    """By page, what it links to, with the anchors.

    >>> pending = PendingLinks()
    >>> pending.add(3, [7, 8], ["seven", "eight"]), pending.add(3, [7], ["again"]), pending.add(5, [7])
    (None, None, None)
    >>> pending[3], pending.size, pending.pop(3), pending.size
    ({7: 'seven again', 8: 'eight'}, 3, {7: 'seven again', 8: 'eight'}, 1)
    """

    def __init__(self) -> None:
        self._links: dict[int, dict[int, str]] = {}
        self.size = 0

    def __getitem__(self, page: int) -> dict[int, str]:
        return self._links[page]

    def __iter__(self) -> Iterator[int]:
        return iter(self._links)

    def __len__(self) -> int:
        return len(self._links)

    def add(self, page: int, targets: Iterable[int], anchors: Iterable[str] = ()) -> None:
        """A page links to these."""
        links = self._links.setdefault(page, {})
        if not anchors:  # as most clients report them, and a third of the time
            had = len(links)
            for target in targets:
                links.setdefault(target, "")
            self.size += len(links) - had
            return
        for target, anchor in zip(targets, anchors, strict=True):
            before = links.get(target)
            links[target] = anchor if before is None else _joined(before, anchor)
            self.size += _weight(links[target]) - (0 if before is None else _weight(before))

    def pop(self, page: int) -> dict[int, str]:
        """The links of a page, which are no longer pending."""
        links = self._links.pop(page, {})
        self.size -= sum(map(_weight, links.values()))
        return links

    def excess(self, leased: Collection[int]) -> list[int]:
        """Pages whose links are to be given up, if there are too many: those that have waited longest.

        Pages that are being fetched only if there is nothing else.
        """
        left = self.size - KEPT if self.size > MAX_PENDING else 0
        found: list[int] = []
        for out in (False, True):
            for page in self._links:
                if left <= 0:
                    break
                if (page in leased) == out:
                    found.append(page)
                    left -= sum(map(_weight, self._links[page].values()))
        return found

    # Snapshots ----------------------------------------------------------------------------------------------------------
    def save(self) -> tuple[Any, dict[str, Array]]:
        rows = self._links.values()
        anchors = "\n".join(anchor for links in rows for anchor in links.values()).encode("utf-8", "surrogatepass")
        return None, {
            "parent": np.array(list(self._links), np.int32),
            "length": np.array([len(links) for links in rows], np.int64),
            "target": np.array([page for links in rows for page in links], np.int32),
            "anchors": np.frombuffer(anchors, np.uint8),
        }

    def restore(self, json: Any, arrays: dict[str, Array]) -> None:
        anchors = arrays["anchors"].tobytes().decode("utf-8", "surrogatepass").split("\n")
        targets, begin = arrays["target"].tolist(), 0
        for parent, length in zip(arrays["parent"].tolist(), arrays["length"].tolist(), strict=True):
            end = begin + length
            self.add(parent, targets[begin:end], anchors[begin:end])
            begin = end


def _weight(anchor: str) -> int:
    return 1 + len(anchor) // ANCHOR_WEIGHT


def _joined(before: str, anchor: str) -> str:
    """The anchors of a link that is reported once more: a client that repeats itself adds nothing."""
    return before if anchor in before or len(before) >= MAX_ANCHOR else f"{before} {anchor}".strip()
