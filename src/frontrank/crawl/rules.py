"""Rules for families of pages: all whose URL matches a regular expression, known now or to come.

    boost       their priority, before (or, below 0, after) all that have none; those of several rules add up
    budget      how many of them may be taken, revisits too, from the moment on at which the family was first limited
    delay_s     between two of them, whatever their hosts

A rule is named by its pattern: another one with the same pattern takes its place, and what was taken so far counts on. One that
has ended and is set again begins anew.

It may be the turn of many pages of a family that may not go yet. The best of them waits until the family may be asked again,
the next one for a ``delay_s`` more, and so on: none of them could go sooner, so each is looked at again when it may, not each
time.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.pages.patterns import MAX_CHARACTERS, Search, searcher

logger = logging.getLogger("frontrank.crawl")

MAX_PATTERN = 1_000  # characters
MAX_BOOST = 1_000_000
MAX_WORK = 100_000  # expressions tried on URLs while a crawl is locked, times their length: some 50 ms, or 0.6 s at worst
WORK_LENGTH = 100  # characters of a URL that count as one try
MAX_AT_ONCE = 2_000  # URLs


@dataclass(frozen=True)
class Rule:
    """What holds for all pages whose URL matches. Whether the pattern can be searched for, ``Family`` finds out.

    >>> Rule("/news/", budget=-1)
    Traceback (most recent call last):
    frontrank.errors.InputError: budget must be a whole number of pages from 0 (none), got -1
    """

    pattern: str
    boost: int = 0
    budget: int = 0
    delay_s: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < len(self.pattern) <= MAX_PATTERN:
            raise InputError(f"pattern must have 1 to {MAX_PATTERN:,} characters, got {len(self.pattern):,}")
        if isinstance(self.boost, bool) or not isinstance(self.boost, int) or abs(self.boost) > MAX_BOOST:
            raise InputError(f"boost must be a whole number from -{MAX_BOOST:,} to {MAX_BOOST:,}, got {self.boost!r}")
        if isinstance(self.budget, bool) or not isinstance(self.budget, int) or self.budget < 0:
            raise InputError(f"budget must be a whole number of pages from 0 (none), got {self.budget!r}")
        if not isinstance(self.delay_s, int | float) or not (math.isfinite(self.delay_s) and self.delay_s >= 0):
            raise InputError(f"delay_s must be a number of seconds from 0, got {self.delay_s!r}")

    def json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def says_nothing(self) -> bool:
        return not (self.boost or self.budget or self.delay_s)


@dataclass
class Family:
    """A rule at work: how many of its pages were taken, and when the next one may be."""

    rule: Rule
    taken: int = 0
    ready_at: float = -math.inf
    matches: Search = field(init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            self.matches = searcher(self.rule.pattern)
        except InputError as error:  # an older crawl, or one from elsewhere: no pattern is searched without a bound
            logger.warning("a rule of this crawl holds for no page: %s", error)
            self.matches = _matches_nothing

    def free_at(self) -> float:
        """When a page of this family may go; infinity: not before the budget grows."""
        return math.inf if 0 < self.rule.budget <= self.taken else self.ready_at


def _matches_nothing(url: str) -> bool:
    return False


class HostLimits(NamedTuple):
    """Limits of one host, and its number."""

    number: int
    limits: dict[str, int]


class Rules:
    """The rules of a crawl.

    >>> rules = Rules()
    >>> rules.set(Rule("/news/", boost=2)), rules.set(Rule("[.]pdf$", boost=-5, budget=10))
    (None, None)
    >>> rules.priority("http://a.org/news/1"), rules.priority("http://a.org/news/1.pdf"), rules.priority("http://a.org/")
    (2, -3, 0)
    """

    def __init__(self) -> None:
        self.families: dict[str, Family] = {}
        self.hosts: dict[str, HostLimits] = {}  # that frontiers do not keep
        self.held_up: set[int] = set()  # pages that wait because their families may not go
        self._ahead: Counter[str] = Counter()  # by pattern: pages that were held up in this call of take
        self._matching: dict[str, list[Family]] = {}  # by URL: limiting families, in this call of take
        self._work = 0  # of this call of take
        self._derive()

    def _derive(self) -> None:
        families = self.families.values()
        self.boosting = [family for family in families if family.rule.boost]
        self._matching = {}
        self.limiting = [family for family in families if family.rule.budget or family.rule.delay_s]

    def set(self, rule: Rule) -> None:
        before = self.families.pop(rule.pattern, None)
        if not rule.says_nothing:
            self.families[rule.pattern] = Family(rule, before.taken if before else 0)
        self._derive()

    def limit_host(self, host: str, number: int, limits: dict[str, int]) -> None:
        """Limits of a host that hold beside those of the frontier; 0 ends one.

        >>> rules = Rules()
        >>> rules.limit_host("a.org", 3, {"queue_cap": 10})
        >>> rules.hosts
        {'a.org': HostLimits(number=3, limits={'queue_cap': 10})}
        >>> rules.limit_host("a.org", 3, {"queue_cap": 0})
        >>> rules.hosts
        {}
        """
        present = self.hosts.pop(host, HostLimits(number, {})).limits
        left = {name: value for name, value in {**present, **limits}.items() if value}
        if left:
            self.hosts[host] = HostLimits(number, left)

    def __bool__(self) -> bool:
        return bool(self.families)

    def release(self, pages: Iterable[int]) -> None:
        """Nothing holds these pages up any longer."""
        if self.held_up:
            self.held_up.difference_update(pages)

    def priority(self, url: str) -> int:
        """What the boosts of a page add up to."""
        return sum(family.rule.boost for family in self.boosting if family.matches(url))

    def free_at(self, url: str) -> float:
        """When a page may go: minus infinity if no rule holds it up."""
        return max((family.free_at() for family in self.limiting if family.matches(url)), default=-math.inf)

    def begin(self) -> None:
        """A call of take begins."""
        self._ahead.clear()
        self._matching.clear()
        self._work = 0

    @property
    def is_spent(self) -> bool:
        """Whether this call of take has tried so many expressions that others should have their turn."""
        return self._work >= MAX_WORK

    def parts(self, urls: Sequence[str]) -> Iterator[slice]:
        """URLs in parts that boosting rules are tried on in a moment.

        >>> rules = Rules()
        >>> list(rules.parts(["a"] * 5_000))
        [slice(0, 2000, None), slice(2000, 4000, None), slice(4000, 5000, None)]
        >>> for n in range(1_000):
        ...     rules.set(Rule(str(n), boost=1))
        >>> list(rules.parts(["a"] * 150 + ["a" * 2000] * 5))[:3]
        [slice(0, 100, None), slice(100, 152, None), slice(152, 155, None)]
        """
        if not self.boosting:  # no look at each of them
            yield from (slice(at, min(at + MAX_AT_ONCE, len(urls))) for at in range(0, len(urls), MAX_AT_ONCE))
            return
        first = work = 0
        for place, url in enumerate(urls):
            more = len(self.boosting) * tries(url)
            if place > first and (work + more > MAX_WORK or place - first == MAX_AT_ONCE):
                yield slice(first, place)
                first, work = place, 0
            work += more
        if first < len(urls):
            yield slice(first, len(urls))

    def turns(self, urls: Sequence[str], now: float) -> list[float]:
        """When each of these pages, best first, may go, if those that may go now do; not after now: it may. Of some only, once
        too many expressions were tried (``is_spent``).

        >>> rules = Rules()
        >>> rules.set(Rule("a", delay_s=10.0)), rules.set(Rule("b", budget=1))
        (None, None)
        >>> rules.turns(["a1", "c", "a2", "b1", "a3", "b2"], now=100.0)
        [100.0, 100.0, 110.0, 100.0, 120.0, inf]
        """
        before = [(family.taken, family.ready_at) for family in self.limiting]
        found = [self._turn(url, now) for url in takewhile(lambda _: not self.is_spent, urls)]
        for family, (taken, ready_at) in zip(self.limiting, before, strict=True):  # what happens is told by events
            family.taken, family.ready_at = taken, ready_at
        return found

    def _turn(self, url: str, now: float) -> float:
        families = self._matching[url] = [family for family in self.limiting if family.matches(url)]
        self._work += len(self.limiting) * tries(url)
        if all(family.free_at() <= now for family in families):
            self.take(url, now)
            return now
        turn = now
        for family in families:
            turn = max(turn, family.free_at() + self._ahead[family.rule.pattern] * family.rule.delay_s)
            self._ahead[family.rule.pattern] += 1
        return turn

    def take(self, url: str, now: float) -> None:
        """A page is taken: it counts in its families."""
        known = self._matching.get(url)
        for family in self.limiting if known is None else known:
            if known is not None or family.matches(url):
                family.taken += 1
                family.ready_at = now + family.rule.delay_s

    def json(self) -> list[dict[str, Any]]:
        return [{**family.rule.json(), "taken": family.taken} for family in self.families.values()]

    # Snapshots ----------------------------------------------------------------------------------------------------------
    def save(self) -> tuple[Any, dict[str, Array]]:
        rows = [(family.rule.json(), family.taken, family.ready_at) for family in self.families.values()]
        families = [[rule, taken, None if at == -math.inf else at] for rule, taken, at in rows]
        hosts = [[host, *one] for host, one in self.hosts.items()]
        return {"families": families, "hosts": hosts}, {"held_up": np.array(sorted(self.held_up), np.int32)}

    def restore(self, json: Any, arrays: dict[str, Array]) -> None:
        families = [(Rule(**rule), taken, -math.inf if at is None else at) for rule, taken, at in json["families"]]
        self.hosts = {host: HostLimits(number, limits) for host, number, limits in json["hosts"]}
        self.families = {rule.pattern: Family(rule, taken, at) for rule, taken, at in families}
        self.held_up = set(arrays["held_up"].tolist())
        self._derive()


def tries(url: str) -> int:
    """How many tries of an expression on a short URL one on this URL is worth."""
    return 1 + min(len(url), MAX_CHARACTERS) // WORK_LENGTH
