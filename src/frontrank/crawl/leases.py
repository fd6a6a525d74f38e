"""Pages that are leased to whoever fetches them, until when, and how often each was tried."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from frontrank.kernels.jit import Array


class Leases(Mapping[int, float]):
    """By page, when its lease ends.

    >>> leases = Leases()
    >>> leases.add(7, 20.0), leases.add(3, 10.0), leases.add(7, 30.0)
    (None, None, None)
    >>> list(leases.expired(25.0)), len(leases)
    ([3], 2)
    """

    def __init__(self) -> None:
        self.attempts: dict[int, int] = {}
        self._until: dict[int, float] = {}
        self._ends: list[tuple[float, int]] = []  # a heap; some of them no longer hold

    def __getitem__(self, page: int) -> float:
        return self._until[page]

    def __iter__(self) -> Iterator[int]:
        return iter(self._until)

    def __len__(self) -> int:
        return len(self._until)

    def __contains__(self, page: object) -> bool:
        return page in self._until

    def add(self, page: int, until: float) -> None:
        self._until[page] = until
        heapq.heappush(self._ends, (until, page))

    def add_unsorted(self, page: int, until: float) -> None:
        """As ``add``, while a log is replayed: ``sort`` follows."""
        self._until[page] = until

    def end(self, page: int) -> None:
        self._until.pop(page, None)

    def end_all(self, pages: Array) -> None:
        if self._until:
            for page in self._until.keys() & set(pages.tolist()):
                del self._until[page]

    def settle(self, page: int) -> None:
        """A page is done with: it has neither a lease nor attempts."""
        self._until.pop(page, None)
        self.attempts.pop(page, None)

    @property
    def may_expire(self) -> bool:
        return bool(self._ends)

    def expired(self, now: float) -> Iterator[int]:
        """Pages whose lease has run out, each once; whoever asks ends the lease."""
        while self._ends and self._ends[0][0] <= now:
            until, page = heapq.heappop(self._ends)
            if self._until.get(page) == until:
                yield page

    def sort(self) -> None:
        """Put the leases in the order in which they end."""
        self._until = dict(sorted(self._until.items(), key=lambda lease: lease[1]))
        self._ends = sorted((until, page) for page, until in self._until.items())

    # Snapshots ----------------------------------------------------------------------------------------------------------
    def save(self) -> tuple[Any, dict[str, Array]]:
        return None, {
            "pages": np.array(list(self._until), np.int32),
            "ends": np.array(list(self._until.values()), np.float64),
            "tried": np.array(list(self.attempts), np.int32),
            "attempts": np.array(list(self.attempts.values()), np.int32),
        }

    def restore(self, json: Any, arrays: dict[str, Array]) -> None:
        self._until = dict(zip(arrays["pages"].tolist(), arrays["ends"].tolist(), strict=True))
        self.attempts = dict(zip(arrays["tried"].tolist(), arrays["attempts"].tolist(), strict=True))
