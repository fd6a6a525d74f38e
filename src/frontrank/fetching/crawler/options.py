"""What a crawl was asked to do: one frozen value, checked when it is made, and stored with the crawl: --resume needs no more.

A duration is seconds, or a number with s, m, h or d; a size is bytes, or a number with kB, MB or GB.

>>> duration("90"), duration("30m"), duration("2h"), size("10MB")
(90.0, 1800.0, 7200.0, 10000000)
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import frontrank
from frontrank.errors import InputError
from frontrank.frontiers.politeness import Politeness

SCOPES = ("host", "domain", "any")
SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
BYTES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9}
ANEW = ("budget", "time_s", "until")  # what may differ when a crawl is resumed
WRITTEN = {"seeds": "a URL", "robots": "--no-robots", "warc": "--no-warc"}
AGENT = f"frontrank/{frontrank.__version__}"


@dataclass(frozen=True)
class Options:
    """The crawl as it was asked for. 0 is no limit, but for max_depth, where it is the seeds alone."""

    seeds: tuple[str, ...] = ()
    policy: str = "fpr"
    budget: int = 0  # pages asked for, in all runs together
    time_s: float = 0.0  # of one run
    until: str | None = None
    scope: str = "host"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    delay: float = 1.0
    per_host: int = 1
    in_flight: int = 16
    host_budget: int = 0
    max_depth: int = 64
    max_size: int = 10_000_000
    max_links: int = 10_000
    robots: bool = True
    sitemaps: bool = False
    warc: bool = True
    user_agent: str = AGENT
    proxy: str = ""
    allow_private: bool = False
    retries: int = 2
    timeout: float = 30.0
    queries: str = ""  # a query log, for orderings that are driven by queries; it is stored with the crawl

    def __post_init__(self) -> None:
        from frontrank.orderings.registry import parse
        from frontrank.pages.urls import usable_seed
        from frontrank.simulation.plan import Stop

        if not self.seeds:
            raise InputError("no seeds given, at least one URL to start from expected")
        object.__setattr__(self, "seeds", tuple(dict.fromkeys(usable_seed(url) for url in self.seeds)))
        Stop(until=self.until).given_to(parse(self.policy))
        if self.scope not in SCOPES:
            raise InputError(f"scope {self.scope!r} given; expected host, domain or any")
        for name in ("include", "exclude"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
            for pattern in getattr(self, name):
                _check_pattern(name, pattern)
        for name, least in LEAST.items():
            _check_number(name, getattr(self, name), least)
        if self.proxy and not re.fullmatch(r"https?://[^/\s]+/?", self.proxy):
            raise InputError(f"proxy {self.proxy!r} given; expected http://HOST:PORT")
        if not self.user_agent.isprintable() or not self.user_agent.strip() or not self.user_agent.isascii():
            raise InputError(f"user agent {self.user_agent!r} given; expected a name in plain ASCII, such as {AGENT}")

    @property
    def politeness(self) -> Politeness:
        return Politeness(
            delay_s=self.delay,
            per_host=self.per_host,
            in_flight=self.in_flight,
            host_budget=self.host_budget,
            retries=self.retries,
            # Nothing is out for longer than this, however a download ends: robots.txt may be asked for first.
            lease_s=4 * self.timeout + 3600.0,
        )

    def json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, held: Mapping[str, Any]) -> Options:
        """The options that were stored with a crawl; those this version does not know are passed over."""
        known = {field.name for field in fields(cls)}
        made: dict[str, Any] = {}
        for name in known & set(held):
            made[name] = tuple(held[name]) if isinstance(held[name], list) else held[name]
        return cls(**made)

    def with_changes(self, changes: Mapping[str, Any]) -> Options:
        """The same crawl, resumed with these options."""
        for name in changes:
            if name not in ANEW and name != "policy":
                given = WRITTEN.get(name, "--" + name.replace("_", "-"))
                raise InputError(
                    f"{given} was given with --resume, but a crawl keeps what it was started with; only --budget, --time and "
                    f"--until may change, and --policy together with --rescore"
                )
        made = dict(changes)
        if "policy" in made and "until" not in made and not made["policy"].startswith("rankmass"):
            made["until"] = None  # a rule of the ordering that is left
        return replace(self, **made)


LEAST = {
    "budget": 0,
    "time_s": 0.0,
    "delay": 0.0,
    "per_host": 0,
    "in_flight": 1,
    "host_budget": 0,
    "max_depth": 0,
    "max_size": 1,
    "max_links": 1,
    "retries": 0,
    "timeout": 0.001,
}
MOST = {"max_depth": 65_533, "in_flight": 10_000}


def _check_number(name: str, value: float, least: float) -> None:
    whole = isinstance(least, int)
    good = isinstance(value, int if whole else int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not good or value < least or value > MOST.get(name, math.inf):
        most = f" to {MOST[name]:,}" if name in MOST else ""
        kind = "a whole number" if whole else "seconds"
        raise InputError(f"{name.removesuffix('_s').replace('_', '-')} {value!r} given; expected {kind} from {least:g}{most}")


def _check_pattern(name: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise InputError(f"{name} {pattern!r} given, which is no regular expression: {error}") from None


def duration(text: str) -> float:
    return _with_unit("time", text, SECONDS, "seconds, or a number with s, m, h or d, such as 30m")


def size(text: str) -> int:
    return int(_with_unit("size", text, BYTES, "bytes, or a number with kB, MB or GB, such as 10MB"))


def _with_unit(what: str, text: str, units: Mapping[str, float], expected: str) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-z]*)", text.strip().lower())
    if match is None or match[2] not in units or not 0.0 < float(match[1]) * units[match[2]] < 1e15:
        raise InputError(f"{what} {text!r} given; expected {expected}")
    return float(match[1]) * units[match[2]]
