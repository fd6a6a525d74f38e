"""Trust: the pages at which a random surfer restarts, given as a file. It means the same for every ordering that takes it.

    https://www.example.org/start   3       a page
    example.com                     1       a host: the page of it that is discovered first
    # a comment; a line without a weight has 1

It is the restart vector t of fpr10's Algorithm 1 (and of Cho and Schonfeld's RankMass), t_i = weight/(sum of all weights). A
crawl knows only what it has discovered, so a line of the file *pays* its t_i once, to the first page that it names, when
that page is discovered. Seeds that no line names have none. With trust at a few good pages alone, PageRank with this
vector is TrustRank (Gyongyi, Garcia-Molina, Pedersen 2004).

The content of the file is part of the ordering: it is stored with a live crawl, and the file is not read again. Instead of
the file's name its content can be given, several lines (``written_out`` writes an ordering so); a first line ``# NAME``
keeps the name.

An online ordering derives from ``Trusting`` (fpr is an example), with a field ``trust: Trust = NO_TRUST`` and in its kernels

    t = paid(state, page) if state.trusting else weight     in on_seed
    if state.trusting: ... += paid(state, q)                for each q in L(p) that is not fetched

A batch ordering needs URLs, has ``url_value = trust.line_of``, and gives ``restart(view)`` to the solver.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array, Column, lean
from frontrank.orderings.parameters import Parameters
from frontrank.orderings.policy import Policy, State
from frontrank.pages.urls import canonical, host_of
from frontrank.specs import write
from frontrank.web.view import CrawlView
from frontrank.web.web import Web

HEADS = ("url", "host", "page")  # a first line that begins so, and has no number, is a head


@lean
def paid(state: State, page: int) -> float:
    """What a page that is discovered is trusted with: every line of the file pays once."""
    line = int(state.url_value[page])
    if line == 0:
        return 0.0
    weight = state.unpaid[line - 1]
    state.unpaid[line - 1] = 0.0
    return float(weight)


@dataclass(frozen=True)
class Trust(Parameters):
    """Pages and hosts with weights; ``Trust.read(path)`` makes one of a file."""

    source: str = field(default="", compare=False)  # the file it was read from, as it was named
    names: tuple[str, ...] = ()  # canonical URLs, and hosts in lower case
    weights: tuple[float, ...] = ()
    name = "trust"
    written = "file"  # as a parameter of an ordering

    def validate(self) -> None:
        if len(self.names) != len(self.weights):
            raise InputError(f"trust must have a weight for each name, got {len(self.names)} and {len(self.weights)}")

    @classmethod
    def read(cls, given: str) -> Trust:
        """The trust that a file has, or these lines; InputError names the line that is wrong."""
        if not given:
            return NO_TRUST
        lines, path = (given.splitlines(), "trust") if "\n" in given else (_lines(given), given)
        if path != given and lines[0].startswith("# "):
            path = lines[0].removeprefix("# ")
        weights: dict[str, float] = {}
        for number, text in enumerate(lines, 1):
            if not text.strip() or text.lstrip().startswith("#") or (number == 1 and _is_head(text)):
                continue
            try:
                name, weight = _entry(text)
            except InputError as error:
                raise InputError(f"{path}, line {number}: {error}") from None
            if name in weights:
                raise InputError(f"{path}, line {number}: {name!r} must be given once, got it twice")
            weights[name] = weight
        if not weights:
            raise InputError(f"trust file {path} names no page; it must have one URL or host, and its weight, per line")
        if not sum(weights.values()) > 0:
            raise InputError(f"trust file {path}: at least one weight must be above 0, got none")
        return cls(path, tuple(weights), tuple(weights.values()))

    def content(self) -> str:
        """The lines that ``read`` makes the same of again."""
        entries = (f"{name} {weight!r}" for name, weight in zip(self.names, self.weights, strict=True))
        return "\n".join([f"# {' '.join(self.source.split())}", *entries])

    def __bool__(self) -> bool:
        return bool(self.names)

    def __str__(self) -> str:
        return self.source

    # What a crawl asks ----------------------------------------------------------------------------------------------------
    def line_of(self, url: str) -> float:
        """The number of the line that names a page, from 1; 0 for none. A URL goes before its host."""
        table, named = self._table
        host = host_of(url)
        line = table.get(url, 0)
        if not line and host in named:
            line = table.get(canonical(url), 0)
        return float(line or table.get(host, 0))

    @cached_property
    def shares(self) -> Array:
        """t of each line."""
        weights = np.array(self.weights, np.float64)
        scaled: Array = weights / weights.sum()
        return scaled

    def layout(self) -> dict[str, Column]:
        """Columns beside the ordering's own; without trust they are never read."""
        unpaid = Column(np.float64, self.shares if self else 0, per="crawl", slots=max(1, len(self.names)))
        return {"url_value": Column(per="crawl"), "unpaid": unpaid}

    def parameters(self) -> dict[str, int | float]:
        return {"trusting": len(self.names)}

    def gauges(self, state: State) -> dict[str, float]:
        """The share of all trust that has reached a page."""
        return {"trust": 1.0 - float(state.unpaid.sum())} if self else {}

    def restart(self, view: CrawlView) -> Array | None:
        """t over all known pages, adding up to 1; None (everywhere alike) as long as no page is known that has any."""
        if not self:
            return None
        lines = view.url_value
        if lines is None:
            if view.urls is None:
                raise InputError(f"trust {self} names pages by URL or host, but the crawl's pages have no URLs; drop trust=")
            lines = np.array([self.line_of(url) for url in view.urls])
        found, first = np.unique(lines.astype(np.int64), return_index=True)
        t = np.zeros(view.known)
        t[first[found > 0]] = self.shares[found[found > 0] - 1]
        return t / t.sum() if t.any() else None

    # What a person is told ----------------------------------------------------------------------------------------------
    def unknown(self, web: Web) -> list[str]:
        """The names that no page of this web has."""
        found = {int(self.line_of(url)) for url in web.urls or ()}
        return [name for line, name in enumerate(self.names, 1) if line not in found]

    def check(self, web: Web) -> None:
        """Raise InputError if none of it can be found in this web."""
        if self and web.urls is not None and len(unknown := self.unknown(web)) == len(self.names):
            raise InputError(
                f"trust file {self} must name pages or hosts of {web.name}, got none of them: {_some(unknown)}; "
                f"correct the names, or drop trust="
            )

    def remarks(self, web: Web) -> Iterable[str]:
        """What of it this web does not have."""
        if self and (unknown := self.unknown(web)):
            yield f"{self}: {len(unknown):,} of {len(self.names):,} names are not in {web.name}: {_some(unknown)}"

    def unmet(self, lines: Array | None, known: int) -> Iterable[str]:
        """What of it a live crawl has not met; ``lines`` is what ``line_of`` said of the pages that are known so far."""
        if not self or lines is None or not known:
            return
        found = set(lines[:known].astype(np.int64).tolist())
        unknown = [name for line, name in enumerate(self.names, 1) if line not in found]
        if len(unknown) == len(self.names):
            yield f"{self}: none of its {len(self.names):,} names was met, so that no page is trusted: {_some(unknown)}"
        elif unknown:
            yield f"{self}: {len(unknown):,} of {len(self.names):,} names were not met: {_some(unknown)}"

    @cached_property
    def _table(self) -> tuple[dict[str, int], frozenset[str]]:
        """Lines by name, and the hosts of URLs among them."""
        table = {name: line for line, name in enumerate(self.names, 1)}
        return table, frozenset(host_of(name) for name in self.names if "://" in name)


NO_TRUST = Trust()


class Trusting(Policy):
    """What an online ordering asks and keeps for its field ``trust``."""

    trust: Trust  # a field of the orderings

    def needs(self) -> frozenset[str]:
        return super().needs() | frozenset({"urls"} if self.trust else ())

    def url_value(self, url: str) -> float:
        return self.trust.line_of(url)

    def layout(self) -> dict[str, Column]:
        return {**self.trust.layout(), **super().layout()}

    def parameters(self) -> dict[str, int | float]:
        return {**super().parameters(), **self.trust.parameters()}

    def gauges(self, state: State) -> dict[str, float]:
        return self.trust.gauges(state)


def trust_of(ordering: Any) -> Trust:
    """The trust of an ordering, be it online or ranked now and then."""
    found = getattr(getattr(ordering, "ranker", ordering), "trust", NO_TRUST)
    return found if isinstance(found, Trust) else NO_TRUST


def written_out(policy: Policy) -> str:
    """A specification that needs no file: the content of trust and rank files stands in it."""
    ordering = getattr(policy, "ranker", policy)
    values = {one.name: getattr(ordering, one.name) for one in fields(ordering)}
    contents = {name: value.content() for name, value in values.items() if value and hasattr(value, "content")}
    return write(policy.called(), {**policy.given(), **contents}) if contents else policy.spec()


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read().splitlines()
    except FileNotFoundError:
        raise InputError(
            f"there is no trust file {os.fspath(path)!r}; it must have one URL or host, and a weight, per line"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"trust file {os.fspath(path)} cannot be read: {error}") from None


def _entry(text: str) -> tuple[str, float]:
    fields = text.split()
    if len(fields) == 1:  # a URL may hold a comma too: only what follows the last can be a weight
        name, comma, last = text.strip().rpartition(",")
        fields = [name, last] if comma else fields
    fields[0] = fields[0].rstrip(",;")
    if len(fields) > 2 or not fields[0]:
        raise InputError(f"a line must be a URL or host and a weight, got {text.strip()!r}")
    try:
        weight = float(fields[1]) if len(fields) == 2 else 1.0
    except ValueError:
        weight = math.nan
    if not 0.0 <= weight < math.inf:
        raise InputError(f"a weight must be a finite number from 0, got {fields[1]}")
    name = fields[0]
    return (canonical(name) if "://" in name else name.lower()), weight


def _is_head(text: str) -> bool:
    return text.replace(",", " ").split()[0].lower() in HEADS


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
