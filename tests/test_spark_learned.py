"""The part of a crawl that settings are learned from is the same for both engines. Without Spark."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from frontrank.orderings.batch.sampled import learned_from, share_of, taken
from frontrank.web.view import CrawlView

PAGES = 60


def view_of(links: list[tuple[int, int]], fetched: set[int]) -> CrawlView:
    source = np.array(sorted(fetched), np.int32)
    rows = [sorted({q for p, q in links if p == page and p != q}) for page in source.tolist()]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    target = np.array([q for row in rows for q in row], np.int32)
    view = CrawlView(PAGES, 0, np.arange(PAGES, dtype=np.int32), source, indptr, target)
    view.impact = np.where(view.fetched, np.arange(PAGES) % 7, 0.0)
    return view


@given(
    st.lists(st.tuples(st.integers(0, PAGES - 1), st.integers(0, PAGES - 1)), max_size=200),
    st.sets(st.integers(0, PAGES - 1)),
    st.integers(5, 300),
)
def test_a_part_has_whole_rows_of_the_pages_that_their_hash_names(
    links: list[tuple[int, int]], fetched: set[int], most: int
) -> None:
    view = view_of(links, fetched)
    part = learned_from(view, most)
    share = share_of(len(fetched), view.links, most)
    if max(PAGES, view.links) <= most:
        assert part is view, "a small crawl is taken as it is"
        return
    kept = view.source[taken(view.source, share)].tolist()
    pages = sorted({*kept, *(q for p, q in links if p in kept and p != q)})
    assert part.known == len(pages) and [pages[page] for page in part.source.tolist()] == kept
    for at, page in enumerate(kept):
        row = part.target[part.indptr[at] : part.indptr[at + 1]]
        assert [pages[q] for q in row.tolist()] == sorted({q for p, q in links if p == page and p != q})
    assert part.impact is not None and view.impact is not None
    assert part.impact.tolist() == [float(view.impact[page]) if page in kept else 0.0 for page in pages]


def test_the_share_taken_is_what_was_asked_for() -> None:
    for share in (0.5, 0.1, 0.001):
        assert abs(taken(np.arange(10**6), share).mean() / share - 1.0) < 0.1
