"""Combine: weighted sums of other orderings' priorities (cho98's IC)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from frontrank.errors import SpecError
from frontrank.kernels.jit import Array, Column, Kernel, interpreted, kernel, state_type
from frontrank.orderings.policy import Out, Policy, State, out_for
from frontrank.pages.scorers import Judged
from frontrank.specs import labels, of_parts, text_of
from frontrank.web.links import Links
from frontrank.web.web import Web


def seed_a(state: State, page: int, weight: float) -> float:  # open names, bound when a pair is linked
    raise NotImplementedError


def seed_b(state: State, page: int, weight: float) -> float:
    raise NotImplementedError


def fetch_a(state: State, links: Links, page: int, out: Out) -> int:
    raise NotImplementedError


def fetch_b(state: State, links: Links, page: int, out: Out) -> int:
    raise NotImplementedError


@kernel
def _seed_pair(state: State, page: int, weight: float) -> float:
    state.key_a[page] = seed_a(state.a, page, weight)
    state.key_b[page] = seed_b(state.b, page, weight)
    return float(state.weight_a * state.key_a[page] + state.weight_b * state.key_b[page])


@kernel
def _fetch_pair(state: State, links: Links, page: int, out: Out) -> int:
    count = 0
    part = state.out_a
    for i in range(fetch_a(state.a, links, page, part)):
        state.key_a[part.page[i]] = part.key[i]
        if state.written[part.page[i]] == 0:
            state.written[part.page[i]] = 1
            out.page[count] = part.page[i]
            count += 1
    part = state.out_b
    for i in range(fetch_b(state.b, links, page, part)):
        state.key_b[part.page[i]] = part.key[i]
        if state.written[part.page[i]] == 0:
            state.written[part.page[i]] = 1
            out.page[count] = part.page[i]
            count += 1
    for i in range(count):
        q = out.page[i]
        state.written[q] = 0
        out.key[i] = state.weight_a * state.key_a[q] + state.weight_b * state.key_b[q]
    return count


@cache
def _linked(seeds: tuple[Kernel, Kernel], fetches: tuple[Kernel, Kernel], revisits: tuple[Kernel, Kernel]) -> dict[str, Kernel]:
    return {
        "on_seed": interpreted(_seed_pair, seed_a=seeds[0], seed_b=seeds[1]),
        "on_fetch": interpreted(_fetch_pair, fetch_a=fetches[0], fetch_b=fetches[1]),
        "on_revisit": interpreted(_fetch_pair, fetch_a=revisits[0], fetch_b=revisits[1]),
    }


@dataclass(frozen=True)
class Combine(Policy):
    """Combine: a weighted sum of other orderings' keys.

        key(q) = w1 * key1(q) + w2 * key2(q) + ...

    Written ``combine:NAME=WEIGHT,NAME=WEIGHT``; parameters of a part are written ``NAME.KEY=VALUE``, as in
    ``combine:similarity=100,similarity.topic=computer,backlink=1``, the paper's example; the second part of one name is
    ``NAME#2``. Orderings whose keys change for pages that no event touches (largest-site, rankmass, and the periodic
    ones) cannot take part.

    Reference: cho98, metric IC(p) = k1 IS(p, Q) + k2 IB(p). Cost: the sum of the parts'.

    >>> from frontrank import Web, order
    >>> urls = ["http://a/", "http://a/x/y", "http://a/z", "http://a/x/w"]
    >>> web = Web.from_edges([0, 0, 2, 2], [1, 2, 1, 3], pages=4, urls=urls)
    >>> order(web, "combine:backlink=1,location=0.1", seeds=[0])
    [0, 2, 1, 3]
    """

    a: Policy = field(default_factory=Policy)
    b: Policy = field(default_factory=Policy)
    weight_a: float = 1.0
    weight_b: float = 0.0
    name = "combine"
    touches = "known"
    columns = {"key_a": Column(), "key_b": Column(), "written": Column(np.uint8)}

    def validate(self) -> None:
        for part in (self.a, self.b):
            if not part.combines or part.interval():
                raise SpecError(
                    f"combine: {part.spec()} cannot take part, its keys change for pages that no fetch touches; "
                    f"use orderings such as backlink, fica, fpr, location, opic or similarity"
                )
        if "anchors" in self.a.needs() & self.b.needs():
            raise SpecError("combine: at most one part may read anchors, got two")

    def needs(self) -> frozenset[str]:
        return self.a.needs() | self.b.needs()

    def optional_needs(self) -> frozenset[str]:
        return self.a.optional_needs() | self.b.optional_needs()

    @property
    def needs_past_links(self) -> bool:  # type: ignore[override]
        return self.a.needs_past_links or self.b.needs_past_links

    def kernels(self) -> dict[str, Kernel]:
        a, b = self.a.kernels(), self.b.kernels()
        of_both = [(a[event], b[event]) for event in ("on_seed", "on_fetch", "on_revisit")]
        return {**super().kernels(), **_linked(*of_both)}

    def allocate(self, pages: int, hosts: int = 1) -> State:
        columns = {"fetched": Column(np.uint8), **self.columns}
        arrays = {name: column.new(pages) for name, column in columns.items()}
        outs = {name: out_for(2 * pages + 2) for name in ("out_a", "out_b")}
        return self._state(arrays, outs, self.a.allocate(pages, hosts), self.b.allocate(pages, hosts))

    def enlarge(self, state: State, pages: int, hosts: int = 1) -> State:
        columns = {"fetched": Column(np.uint8), **self.columns}
        arrays = {name: column.grown(getattr(state, name), pages) for name, column in columns.items()}
        outs = {name: out_for(2 * len(arrays["fetched"]) + 2, getattr(state, name)) for name in ("out_a", "out_b")}
        return self._state(arrays, outs, self.a.enlarge(state.a, pages, hosts), self.b.enlarge(state.b, pages, hosts))

    def _state(self, arrays: dict[str, Array], outs: dict[str, Out], a: State, b: State) -> State:
        weights = {"weight_a": float(self.weight_a), "weight_b": float(self.weight_b)}
        values = {**arrays, **outs, **weights, "a": a, "b": b}
        return self.share(state_type(tuple(values))(*values.values()), arrays["fetched"])

    def expect(self, state: State, links: int) -> State:
        return state._replace(a=self.a.expect(state.a, links), b=self.b.expect(state.b, links))

    def share(self, state: State, fetched: Array) -> State:
        return state._replace(fetched=fetched, a=self.a.share(state.a, fetched), b=self.b.share(state.b, fetched))

    def see_web(self, state: State, web: Web) -> None:
        self.a.see_web(state.a, web)
        self.b.see_web(state.b, web)

    def see_pages(self, state: State, first: int, urls: Sequence[str], hosts: Array, truths: Sequence[float]) -> None:
        self.a.see_pages(state.a, first, urls, hosts, truths)
        self.b.see_pages(state.b, first, urls, hosts, truths)

    def see_text(self, state: State, page: int, title: str, text: str) -> None:
        self.a.see_text(state.a, page, title, text)
        self.b.see_text(state.b, page, title, text)

    def scorers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.a.scorers(), *self.b.scorers())))

    def see_scores(self, state: State, page: int, scores: Mapping[str, Judged]) -> None:
        self.a.see_scores(state.a, page, scores)
        self.b.see_scores(state.b, page, scores)

    def anchor_value(self, anchor: str) -> float:
        return (self.a if "anchors" in self.a.needs() else self.b).anchor_value(anchor)

    def stepwise(self) -> bool:
        return self.a.stepwise() or self.b.stepwise()

    def link_values(self, state: State, anchors: Sequence[str], urls: Sequence[str]) -> Sequence[float]:
        if "anchors" in self.a.needs():
            return self.a.link_values(state.a, anchors, urls)
        return self.b.link_values(state.b, anchors, urls)

    def parts(self) -> list[tuple[float, Policy]]:
        """The weighted orderings, in the order given: ``combined`` of them is this one."""
        if type(self.b) is Policy and self.weight_b == 0.0:
            return [(self.weight_a, self.a)]
        sum_so_far = isinstance(self.a, Combine) and self.weight_a == 1.0 and len(self.a.parts()) > 1
        first = self.a.parts() if isinstance(self.a, Combine) and sum_so_far else [(self.weight_a, self.a)]
        return [*first, (self.weight_b, self.b)]

    def given(self) -> dict[str, str]:
        texts: dict[str, str] = {}
        parts = self.parts()
        for label, (weight, part) in zip(labels(part.called() for _, part in parts), parts, strict=True):
            texts |= {label: text_of(weight), **of_parts({label: part.given()})}
        return texts


def combined(parts: list[tuple[float, Policy]]) -> Combine:
    """The weighted sum of these orderings, added from left to right."""
    for weight, part in parts:
        if not math.isfinite(weight):
            raise SpecError(f"combine: the weight of {part.name} must be a finite number, got {weight}")
    if not parts:
        raise SpecError("combine: no ordering given; write combine:NAME=WEIGHT,NAME=WEIGHT")
    (weight, policy), *rest = parts
    if not rest:
        return Combine(policy, Policy(), weight, 0.0)
    total = Combine(policy, rest[0][1], weight, rest[0][0])
    for weight, policy in rest[1:]:
        total = Combine(total, policy, 1.0, weight)
    return total
