"""Frontiers against a list that is searched: largest key first, among equals the first discovered."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.frontiers import KINDS, heap, shelf
from frontrank.kernels.jit import compiled, interpreted

PAGES = 12
events = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, PAGES - 1), st.sampled_from([0.0, 0.5, 1.0, 2.0, -3.0, 1e300])),
        st.tuples(st.just("pop"), st.just(0), st.just(0.0)),
        st.tuples(st.just("remove"), st.integers(0, PAGES - 1), st.just(0.0)),
    ),
    max_size=80,
)


class Searched:
    """What a frontier is, said plainly."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.key: dict[int, float] = {}
        self.number: dict[int, int] = {}
        self.gone: set[int] = set()

    def put(self, page: int, key: float) -> None:
        if page not in self.gone:
            self.number.setdefault(page, len(self.number))
            self.key[page] = key

    def remove(self, page: int) -> None:
        self.number.setdefault(page, len(self.number))
        self.key.pop(page, None)
        self.gone.add(page)

    def pop(self) -> int:
        if not self.key:
            return -1
        ranks: dict[str, Callable[[int], Any]] = {
            "heap": lambda page: (-self.key[page], self.number[page]),
            "fifo": lambda page: self.number[page],
            "lifo": lambda page: -self.number[page],
        }
        page = min(self.key, key=ranks[self.kind])
        self.remove(page)
        return page


MODULES = {**KINDS, "indexed": heap}
ORDER = {"heap": "heap", "indexed": "heap", "fifo": "fifo", "lifo": "lifo"}


def play(
    module: ModuleType, link: Any, slots: int, happened: list[tuple[str, int, float]], **new: int
) -> list[tuple[int, int]]:
    put, pop, remove = (link(getattr(module, name)) for name in ("put", "pop", "remove"))
    queue = module.new(slots, **new)
    told = []
    for event, page, key in happened:
        queue = module.grown(queue, page + 1)
        if event == "put":
            put(queue, page, key)
        elif event == "remove":
            remove(queue, page)
        else:
            told.append((int(pop(queue)), module.waiting(queue)))
    return told


def found(kind: str, happened: list[tuple[str, int, float]]) -> list[tuple[int, int]]:
    searched, expected = Searched(kind), []
    for event, page, key in happened:
        if event == "put":
            searched.put(page, key)
        elif event == "remove":
            searched.remove(page)
        else:
            expected.append((searched.pop(), len(searched.key)))
    return expected


@pytest.mark.parametrize("kind", MODULES)
@settings(max_examples=200, deadline=None)
@given(happened=events, slots=st.integers(1, PAGES))
def test_a_frontier_is_what_a_search_finds(kind: str, happened: list[tuple[str, int, float]], slots: int) -> None:
    expected = found(ORDER[kind], happened)
    assert play(MODULES[kind], compiled, slots, happened) == expected
    assert play(MODULES[kind], interpreted, PAGES, happened) == expected


@settings(max_examples=300, deadline=None)
@given(happened=events, room=st.integers(8, 4 * PAGES))
def test_the_order_does_not_depend_on_who_waits_on_the_shelf(happened: list[tuple[str, int, float]], room: int) -> None:
    expected = found("heap", happened)
    assert play(shelf, compiled, PAGES, happened, room=room) == expected
    assert play(shelf, interpreted, PAGES, happened, room=room) == expected


@pytest.mark.parametrize("distinct", [1, 3, 10**9])
def test_a_bar_that_is_guessed_from_a_sample_changes_nothing(distinct: int) -> None:
    """So many pages that the bar is set by a sample, so many equal keys that discovery decides."""
    pages, drawn = 100_000, np.random.default_rng(5)
    first, then = drawn.integers(0, distinct, pages).astype(float), drawn.integers(0, distinct, pages).astype(float)
    at_once, changed = np.arange(pages), drawn.permutation(pages)[: pages // 2]
    orders = []
    for module, new in ((heap, {}), (shelf, {"room": 2_000})):
        queue, order = module.new(pages, **new), []
        put_all, pop = compiled(module.put_all), compiled(module.pop)
        put_all(queue, at_once, first)
        order += [pop(queue) for _ in range(pages // 4)]
        put_all(queue, changed, then[changed])
        order += [pop(queue) for _ in range(pages)]
        orders.append(order)
    assert orders[0] == orders[1]
    assert sorted(orders[0])[-pages:] == at_once.tolist()


@pytest.mark.parametrize("module", [heap, shelf])
def test_larger_is_sooner(module: ModuleType) -> None:
    queue = module.new(3)
    for page, key in enumerate([1.0, 3.0, 2.0]):
        module.put(queue, page, key)
    assert module.peek(queue) == 1
    assert [module.pop(queue) for _ in range(4)] == [1, 2, 0, -1]


@pytest.mark.parametrize("module", [heap, shelf])
@settings(max_examples=50, deadline=None)
@given(happened=events)
def test_discovered_lists_pages_in_the_order_they_were_first_seen(
    module: ModuleType, happened: list[tuple[str, int, float]]
) -> None:
    queue, searched = module.new(PAGES), Searched("heap")
    for event, page, key in happened:
        if event == "put":
            module.put(queue, page, key)
            searched.put(page, key)
        elif event == "pop":
            module.pop(queue)
            searched.pop()
    assert module.discovered(queue).tolist() == list(searched.number)
