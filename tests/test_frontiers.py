"""Frontiers against a list that is searched: largest key first, among equals the first discovered."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.frontiers import KINDS, heap
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
        rank = {
            "heap": lambda page: (-self.key[page], self.number[page]),
            "fifo": lambda page: self.number[page],
            "lifo": lambda page: -self.number[page],
        }[self.kind]
        page = min(self.key, key=rank)
        self.remove(page)
        return page


def play(kind: str, link: Any, slots: int, happened: list[tuple[str, int, float]]) -> list[tuple[int, int]]:
    module = KINDS[kind]
    put, pop, remove = (link(getattr(module, name)) for name in ("put", "pop", "remove"))
    queue = module.new(slots)
    told = []
    for event, page, key in happened:
        if page >= queue.items.size:
            queue = module.grown(queue, page + 1)
        if event == "put":
            put(queue, page, key)
        elif event == "remove":
            remove(queue, page)
        else:
            told.append((int(pop(queue)), module.waiting(queue)))
    return told


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=200, deadline=None)
@given(happened=events, slots=st.integers(1, PAGES))
def test_a_frontier_is_what_a_search_finds(kind: str, happened: list[tuple[str, int, float]], slots: int) -> None:
    searched, expected = Searched(kind), []
    for event, page, key in happened:
        if event == "put":
            searched.put(page, key)
        elif event == "remove":
            searched.remove(page)
        else:
            expected.append((searched.pop(), len(searched.key)))
    assert play(kind, compiled, slots, happened) == expected
    assert play(kind, interpreted, PAGES, happened) == expected


def test_larger_is_sooner() -> None:
    queue = heap.new(3)
    for page, key in enumerate([1.0, 3.0, 2.0]):
        heap.put(queue, page, key)
    assert [heap.pop(queue) for _ in range(4)] == [1, 2, 0, -1]


@settings(max_examples=50, deadline=None)
@given(happened=events)
def test_discovered_lists_pages_in_the_order_they_were_first_seen(happened: list[tuple[str, int, float]]) -> None:
    queue, searched = heap.new(PAGES), Searched("heap")
    for event, page, key in happened:
        if event == "put":
            heap.put(queue, page, key)
            searched.put(page, key)
        elif event == "pop":
            heap.pop(queue)
            searched.pop()
    assert heap.discovered(queue).tolist() == list(searched.number)
