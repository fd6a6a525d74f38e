"""Which page is meant by a URL or by a number, by what a caller is about to do with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from frontrank.crawl import validation
from frontrank.crawl.state import CrawlState
from frontrank.errors import InputError
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, LATER, WAITING


def fresh_seeds(state: CrawlState, pages: Any) -> list[int]:
    """Those of these pages, which are known from now on, that may be started from: they were never taken."""
    seeds: Any = [pages] if isinstance(pages, str | bytes) or not isinstance(pages, Iterable) else list(pages)
    if not seeds:
        raise InputError("there must be at least one seed to start from, got none")
    if isinstance(seeds[0], int | np.integer):
        numbers = state.pages.check_all(seeds)
    else:
        numbers = state.intern(validation.urls(seeds, "a seed")).tolist()
    return [page for page in dict.fromkeys(numbers) if state.frontier.mark(page) in (ABSENT, WAITING, FORGOTTEN)]


def leased_page(state: CrawlState, page: str | int) -> int:
    """A page that is about to be settled."""
    if isinstance(page, int | np.integer):
        return state.pages.check(page)
    number = state.lookup(validation.url(page, "a page"))
    if number < 0:
        raise InputError(f"page {page!r} was settled, but it is not leased; take it first, and settle it once")
    return number


def waiting_page(state: CrawlState, page: str | int) -> int:
    """A page that is about to be dropped."""
    frontier = state.frontier
    if isinstance(page, int | np.integer):
        number = state.pages.check(page)
    else:
        named = state.pages.named(validation.url(page, "a page"))
        number = next((one for one in named if frontier.mark(one) in (WAITING, LATER)), state.lookup(page))
        if number < 0:
            raise InputError(f"page {page!r} cannot be dropped: this crawl does not know it")
    if frontier.mark(number) not in (WAITING, LATER):
        raise InputError(f"page {state.log.url(number)!r} cannot be dropped: it is not waiting")
    return number


def parent_page(state: CrawlState, url: str) -> int:
    """The page on which links were found; if nobody has named it yet, it is known from now on."""
    page = state.lookup(validation.url(url, "a parent"))
    return page if page >= 0 else int(state.intern([url])[0])
