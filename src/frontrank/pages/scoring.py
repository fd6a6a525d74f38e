"""Scores of pages within a time limit: a foreign scorer may hang, and must not block a crawl.

    built in, text of usual length    called at once, in this process
    registered in this process alone  called in a thread; after ``WALL_S`` seconds the page has no score. Such a thread cannot
                                      be ended: it is left behind
    all others                        called in a worker process (workers.py); over ``CPU_S`` seconds of the processor or
                                      ``WALL_S`` of the clock the page has no score, and the next one is scored

A worker finds the scorer, and so loads its model, before its time is counted. After ``MAX_MISSES`` pages in a row that took too
long the scorer is not called any more, as a crawl would wait in vain for every page. No call raises anything but Closed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType

from frontrank.pages.scorers import Judged, find, is_built_in, is_of_this_process, score_all
from frontrank.system.workers import Closed, TooLong, Workers

CPU_S, WALL_S = 2.0, 10.0
FIRST_S = 120.0  # to load a model
MAX_BYTES = 2**36  # of address space: models map their weights
SHORT = 200_000  # characters: every built-in scorer is done within milliseconds
TOGETHER = 64  # pages asked for at a time, where many are known
MAX_MISSES = 5
TOO_LONG, GIVEN_UP = "took too long", f"took too long {MAX_MISSES} times in a row, and is not asked any more"
Page = tuple[str, str, str]  # url, title, text


class Scoring:
    """One scorer, asked from any thread.

    >>> with Scoring("words") as scoring:
    ...     scoring.page("http://a/", "", "one two")
    0.009900990099009901
    """

    def __init__(self, spec: str, workers: int = 1, cpu_s: float = CPU_S, wall_s: float = WALL_S) -> None:
        find(spec)  # SpecError now, not at the first page
        self.spec = spec
        self.misses = 0
        self._wall_s = wall_s
        self._own = is_of_this_process(spec)
        self._longest = SHORT if is_built_in(spec) else -1
        self._workers = Workers(workers, cpu_s, MAX_BYTES, wall_s=wall_s, first=(find, (spec,)), first_s=FIRST_S)

    def at_once(self, url: str, title: str, text: str) -> Judged | None:
        """The score, if it cannot take long."""
        return score_all(self.spec, [(url, title, text)])[0] if len(text) <= self._longest else None

    def page(self, url: str, title: str, text: str) -> Judged:
        """The score, or why there is none. Waits for a worker; raises Closed if there will be none."""
        found = self.at_once(url, title, text)
        return next(self._elsewhere([(url, title, text)])) if found is None else found

    def pages(self, pages: Sequence[Page], report: Callable[[int], None] | None = None) -> list[Judged]:
        """The same for many; told how many are done by then."""
        scores: list[Judged] = []
        for at in range(0, len(pages), TOGETHER):
            some = pages[at : at + TOGETHER]
            scores += self._elsewhere(some) if self._longest < 0 else [self.page(*page) for page in some]
            if report is not None:
                report(len(scores))
        return scores

    def _elsewhere(self, pages: Sequence[Page]) -> Iterator[Judged]:
        if self.misses >= MAX_MISSES:
            yield from [GIVEN_UP] * len(pages)
            return
        try:
            found = self._in_a_thread(pages) if self._own else self._workers.call(score_all, self.spec, pages)
            self.misses = 0
            yield from found
        except Closed:
            raise
        except TooLong:
            if len(pages) > 1:
                for page in pages:
                    yield from self._elsewhere([page])
                return
            self.misses += 1
            yield TOO_LONG
        except Exception as error:  # out of memory, a crash, what cannot be sent to and fro
            if len(pages) > 1:
                for page in pages:
                    yield from self._elsewhere([page])
                return
            yield f"failed: {error}"[:200]

    def _in_a_thread(self, pages: Sequence[Page]) -> list[Judged]:
        """What a scorer says that no other process can find."""
        found: list[Judged] = []
        thread = threading.Thread(
            target=lambda: found.extend(score_all(self.spec, pages)), name="frontrank-scorer", daemon=True
        )
        thread.start()
        thread.join(self._wall_s)
        if thread.is_alive():
            raise TooLong
        if len(found) != len(pages):  # it ended the thread: SystemExit is no Exception
            raise RuntimeError("the scorer ended its thread")
        return found

    def close(self) -> None:
        """Take no more pages, and end those that are under way."""
        self._workers.close()

    def __enter__(self) -> Scoring:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class Scorers:
    """All scorers of an ordering."""

    def __init__(self, specs: Sequence[str], workers: int = 2) -> None:
        self._scoring = {spec: Scoring(spec, workers) for spec in specs}

    def judge(self, url: str, title: str, text: str) -> dict[str, Judged]:
        """What each says of a page. It may take seconds."""
        return {spec: scoring.page(url, title, text) for spec, scoring in self._scoring.items()}

    def judge_at_once(self, url: str, title: str, text: str) -> dict[str, Judged] | None:
        """The same, if it cannot take long."""
        judged = {spec: scoring.at_once(url, title, text) for spec, scoring in self._scoring.items()}
        return {spec: score for spec, score in judged.items() if score is not None} if None not in judged.values() else None

    def __bool__(self) -> bool:
        return bool(self._scoring)

    def __getitem__(self, spec: str) -> Scoring:
        return self._scoring[spec]

    def close(self) -> None:
        for scoring in self._scoring.values():
            scoring.close()
