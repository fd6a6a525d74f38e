"""Plan: what is to be simulated, and when it stops; checked once, when it is made, before a large web is read.

    Stop(budget=0.3)                        after 30% of the web; Stop(budget=1000) after 1,000 pages
    Stop(until="coverage=0.9")              as soon as the ordering's own measure of the crawl has reached that
    Plan.of(["bfs", "fpr:m=100"], Stop(0.3))

Numbers may be given as text, as they come from a command line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from frontrank.errors import InputError, SpecError
from frontrank.frontiers.politeness import Politeness
from frontrank.orderings.policy import Policy
from frontrank.orderings.ranker import Ranker
from frontrank.orderings.registry import as_policy
from frontrank.simulation.graph_driver import check_needs
from frontrank.web.importance import parse_metric
from frontrank.web.web import Web

Budget = float | int | str | None
Given = str | Policy | Ranker


class StopRule(NamedTuple):
    """Stop when a gauge of the ordering has reached a share."""

    gauge: str
    share: float


@dataclass(frozen=True)
class Stop:
    """When a crawl stops, if pages do not run out before.

    >>> Stop("0.3").pages(1000), Stop("50").pages(1000), Stop().pages(1000), Stop(5000).pages(1000)
    (300, 50, 1000, 1000)
    >>> Stop(until="coverage=0.9").until
    StopRule(gauge='coverage', share=0.9)
    """

    budget: Budget = None  # a whole number counts pages, a number with a point is a share of the web
    until: str | StopRule | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", _budget(self.budget))
        object.__setattr__(self, "until", _rule(self.until))

    def pages(self, pages: int) -> int:
        """The number of pages after which a crawl of a web of so many stops."""
        assert not isinstance(self.budget, str)
        if self.budget is None:
            return pages
        return min(self.budget, pages) if isinstance(self.budget, int) else max(1, round(self.budget * pages))

    def given_to(self, policy: Policy) -> Policy:
        """The policy, with the stopping rule if there is one."""
        return policy.stopping_at(*self.until) if isinstance(self.until, StopRule) else policy

    def holds(self, gauges: Callable[[], Mapping[str, float]]) -> bool:
        """Whether the rule is met, where the policy itself is not given it: the policy of a live crawl is never another."""
        return isinstance(self.until, StopRule) and gauges().get(self.until.gauge, 0.0) >= self.until.share


def _budget(given: Budget) -> float | int | None:
    if given is None:
        return None
    text = str(given).strip()
    try:
        number = float(text)
    except ValueError:
        raise InputError(f"budget must be a number of pages or a share such as 0.3, got {given!r}") from None
    if text.lstrip("+-").isdigit() or (number > 1.0 and number.is_integer()):
        if number < 1:
            raise InputError(f"budget must be at least 1 page, got {text}")
        return int(number)
    if not 0.0 < number <= 1.0:
        raise InputError(f"budget must be a share above 0 and up to 1, or a whole number of pages, got {text}")
    return number


def _rule(given: str | StopRule | None) -> StopRule | None:
    if given is None or isinstance(given, StopRule):
        return given
    if not isinstance(given, str):
        raise SpecError(f"a stopping rule must be RULE=SHARE, such as coverage=0.9, got {given!r}")
    gauge, equals, text = (part.strip() for part in given.partition("="))
    try:
        share = float(text if equals else gauge)
    except ValueError:
        share = math.nan
    if not equals and share == share:
        raise SpecError(f"a stopping rule must be RULE=SHARE; write coverage={given}")
    if not gauge or not share == share:
        raise SpecError(f"a stopping rule must be RULE=SHARE, such as coverage=0.9, got {given!r}")
    return StopRule(gauge, share)


ALL = Stop()  # when no page is left


class Planned(NamedTuple):
    """One ordering of a plan: as a person wrote it, and as it runs."""

    spec: str
    policy: Policy


@dataclass(frozen=True)
class Plan:
    """Crawls of one web with the same budget, one for each ordering; ``politeness`` gives them a clock."""

    orderings: tuple[Planned, ...]
    stop: Stop = ALL
    politeness: Politeness | None = None
    latency_s: float = 1.0  # of a request, with a clock
    metric: str = "pagerank"  # the importance that pages are judged by

    def __post_init__(self) -> None:
        parse_metric(self.metric)
        if not (isinstance(self.latency_s, int | float) and 0.0 <= self.latency_s < math.inf):
            raise InputError(f"latency must be a number of seconds from 0, got {self.latency_s!r}")
        if self.politeness is not None and not isinstance(self.politeness, Politeness):
            raise InputError(f"politeness must be a Politeness, such as Politeness(delay_s=1.0), got {self.politeness!r}")

    @classmethod
    def of(
        cls,
        orderings: Given | Iterable[Given],
        stop: Stop = ALL,
        politeness: Politeness | None = None,
        latency_s: float = 1.0,
        metric: str = "pagerank",
    ) -> Plan:
        return cls((), stop, politeness, latency_s, metric).adding(orderings)

    def adding(self, orderings: Given | Iterable[Given]) -> Plan:
        """The same plan with more orderings."""
        more = list(orderings) if isinstance(orderings, Iterable) and not isinstance(orderings, str) else [orderings]
        planned = []
        for one in more:
            policy = as_policy(one)
            planned.append(Planned(one if isinstance(one, str) else policy.spec(), self.stop.given_to(policy)))
        return replace(self, orderings=(*self.orderings, *planned))

    def check(self, web: Web) -> None:
        """Raise InputError if the web lacks what an ordering reads: said before the first of them runs."""
        if not self.orderings:
            raise InputError("no ordering given; name at least one, such as bfs")
        for one in self.orderings:
            check_needs(one.policy, web)
