"""compare: several orderings on one web, side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from frontrank.engine import check_needs
from frontrank.errors import InputError
from frontrank.policy import Policy
from frontrank.ranker import Ranker
from frontrank.registry import parse
from frontrank.seeds import find_seeds
from frontrank.simulate import Run, simulate
from frontrank.web import Web

Seeds = str | os.PathLike[str] | Iterable[int | str] | None
Progress = Callable[[str, int, int], None]


def order(web: Web, policy: str | Policy | Ranker, seeds: Seeds = None, budget: float | int | None = None) -> list[int]:
    """The pages that an ordering fetches, in its order."""
    run = simulate(web, parse(policy), find_seeds(web, seeds), budget)
    pages: list[int] = run.trace.order.tolist()
    return pages


@dataclass(frozen=True, eq=False)
class Runs(Sequence[Run]):
    """Crawls of one web from the same seeds, one for each ordering."""

    web: Web
    runs: tuple[Run, ...]
    metric: str = "pagerank"  # the importance that pages are judged by
    command: str = ""  # what a person types to get these runs again

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, str):
            for run in self.runs:
                if run.spec == at:
                    return run
            raise KeyError(at)
        return self.runs[at]

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def json(self) -> dict[str, Any]:
        """Shares of hot pages and of the best possible mass at fixed shares of the web, for programs."""
        from frontrank.metrics import SHARES, hot, mass

        def at_shares(values: dict[float, float | None]) -> dict[str, float | None]:
            return {f"{share:g}": value for share, value in values.items()}

        return {
            "policies": {
                run.spec: {
                    "hot": at_shares(hot(run.trace, self.web, SHARES, self.metric)),
                    "mass": at_shares(mass(run.trace, self.web, SHARES, self.metric)),
                    "fetched": run.trace.fetched,
                    "seconds": run.seconds,
                    "ended": run.trace.ended,
                    **{name: values[-1][1] for name, values in run.trace.gauges.items()},
                }
                for run in self.runs
            },
            "web": {"pages": self.web.pages, "links": self.web.links},
        }

    def report(self, path: str | os.PathLike[str]) -> None:
        """One self-contained HTML page: curves of every ordering against ideal and random, a table, run times."""
        from frontrank.report import write

        write(self, path)


def compare(
    web: Web,
    policies: Iterable[str | Policy | Ranker],
    seeds: Seeds = None,
    budget: float | int | str | None = None,
    metric: str = "pagerank",
    progress: Progress | None = None,
    command: str = "",
) -> Runs:
    """Crawl the web once with each ordering, from the same seeds and with the same budget.

    An ordering is a specification such as ``"fpr:m=100"`` or an object of your own.
    """
    parsed = [parse(policy) for policy in policies]
    if not parsed:
        raise InputError("no ordering given; name at least one, such as bfs")
    for policy in parsed:
        check_needs(policy, web)
    pages = find_seeds(web, seeds)
    runs = []
    for policy in parsed:
        tell = None if progress is None else partial(progress, policy.spec())
        runs.append(simulate(web, policy, pages, budget, tell))
    return Runs(web, tuple(runs), metric, command)
