"""What the log of a crawl says of its past: counts, times, places in files. For reports; nothing here changes anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from frontrank.crawl.events import UNCHANGED, Blocked, Failed, Fetched, Retried, Scheduled, parts_of_note
from frontrank.kernels.jit import Array

if TYPE_CHECKING:
    from frontrank.crawl.state import CrawlState


class History:
    def __init__(self, state: CrawlState) -> None:
        self._state, self.log = state, state.log

    def statuses(self) -> Counter[int]:
        """How many pages were fetched, by HTTP status."""
        return Counter(status for (status,) in self.log.select(("status",), (Fetched.kind,)))

    def reasons(self) -> Counter[str]:
        """How many pages failed for good, by reason; not those that wait again."""
        found: Counter[str] = Counter()
        last: dict[int, str] = {}
        for page, kind, note, reopened in self.log.select(("page", "kind", "note", "status"), (Failed.kind, Scheduled.kind)):
            if kind == Failed.kind:
                last[page] = note or "failed"
                found[last[page]] += 1
            elif reopened:
                found[last.pop(page)] -= 1
        return +found

    def failed(self) -> dict[int, str]:
        """The pages that failed for good and never came, and why."""
        found: dict[int, str] = {}
        came: set[int] = set()
        kinds = (Fetched.kind, Failed.kind, Scheduled.kind)
        for page, kind, note, reopened in self.log.select(("page", "kind", "note", "status"), kinds):
            if kind == Failed.kind and page not in came:
                found[page] = note or "failed"
            elif kind == Fetched.kind or reopened:
                found.pop(page, None)
                came.update((page,) if kind == Fetched.kind else ())
        return found

    def resting(self, now: float) -> list[tuple[str, str, float]]:
        """Hosts that do not answer, why, and when they are asked again; infinity: they were given up."""
        last: dict[str, tuple[str, float]] = {}
        for host, reason, until in self.log.select(("note", "title", "until"), (Blocked.kind,)):
            last[host] = reason or "", until if until is not None else 0.0
        return [(host, reason, until) for host, (reason, until) in last.items() if reason and until > now]

    def unscored(self) -> Counter[str]:
        """How many pages a scorer failed on, by scorer and reason."""
        found: Counter[str] = Counter()
        for (note,) in self.log.select(("note",), (Fetched.kind,)):
            for scorer, judged in parts_of_note(note)[0].items():
                if isinstance(judged, str):
                    found[f"{scorer} {judged}"] += 1
        return found

    def best(self, n: int) -> list[tuple[float, str, str]]:
        """Score, URL and title of the pages that the ordering's scorer (the first, of several) likes most."""
        scorer = self._state.policy.scorers()[0]
        judged: dict[int, tuple[float, int, str]] = {}  # of a page that came back, what is said of it now
        for page, title, note in self.log.select(("page", "title", "note"), (Fetched.kind,)):
            scores, metadata = parts_of_note(note)
            score = scores.get(scorer)
            if metadata.get("withheld"):
                judged.pop(page, None)
            elif isinstance(score, float | int) and score > 0:
                judged[page] = (score, page, title or "")
        best = sorted(judged.values(), key=lambda one: -one[0])[:n]
        return [(score, self.log.url(page), title) for score, page, title in best]

    def withheld(self) -> Counter[str]:
        """How many fetched pages are not to be used, by what their owners ask: "noindex" and the like."""
        found: dict[int, str] = {}
        for page, status, note in self.log.select(("page", "status", "note"), (Fetched.kind,)):
            if not note and not found:
                continue
            if status != UNCHANGED and (reason := parts_of_note(note)[1].get("withheld")):
                found[page] = str(reason)
            elif status != UNCHANGED:
                found.pop(page, None)
        return Counter(found.values())

    def retries(self) -> int:
        return sum(1 for _ in self.log.select(("seq",), (Retried.kind,)))

    def first(self, n: int) -> list[tuple[str, str, int]]:
        """URL, title and status of the pages that were fetched first."""
        found: dict[int, tuple[str, str, int]] = {}
        for page, title, status in self.log.select(("page", "title", "status"), (Fetched.kind,)):
            if len(found) == n:
                break
            found.setdefault(page, (self.log.url(page), title or "", status))
        return list(found.values())

    def times(self) -> tuple[Array, Array]:
        """When each page was settled, and whether it was fetched (or failed)."""
        rows = list(self.log.select(("time", "kind"), (Fetched.kind, Failed.kind)))
        return np.array([time for time, _ in rows], np.float64), np.array([kind == Fetched.kind for _, kind in rows], bool)

    def fetched_urls(self) -> Iterator[str]:
        """The URLs of fetched pages, in the order in which they became known."""
        fetched = np.zeros(self._state.known, bool)
        fetched[[page for (page,) in self.log.select(("page",), (Fetched.kind,))]] = True
        first = 0
        for urls, _ in self.log.urls():
            yield from (url for url, wanted in zip(urls, fetched[first : first + len(urls)].tolist(), strict=True) if wanted)
            first += len(urls)

    def failed_pages(self) -> Array:
        """Each as often as it failed and was not reopened."""
        found: Counter[int] = Counter()
        for page, kind, reopened in self.log.select(("page", "kind", "status"), (Failed.kind, Scheduled.kind)):
            if kind == Failed.kind:
                found[page] += 1
            elif reopened:
                found[page] -= 1
        return np.array(list(found.elements()), np.int64)

    def records(self) -> Iterator[tuple[str, int, int]]:
        """File, offset and length of every record that an event points to."""
        kinds = (Fetched.kind, Failed.kind, Retried.kind)
        return ((file, start, length) for file, start, length in self.log.select(("file", "start", "length"), kinds) if file)
