"""Searchers of a generated web: how often each page is shown and clicked on, and what is asked.

In the webs of tran15 pages that searchers are shown link to pages that they are shown, and stand beside such pages: its two
reasons for walks that carry impact along links, and along virtual edges. So here some random pages are in fashion, and fashion
spreads, ever weaker, for some generations:

    by links        from a page in fashion to some of the pages that it links to
    among siblings  each page in fashion is on one list of similar pages, a page that links to it, and fashion passes to some
                    of the others that the list links to. Nobody searches for the list itself

Pages that are linked from everywhere, such as home pages and menus, are mostly left alone.

At most a fifth of the pages ever are in fashion, and a few whims have nothing to do with links. Views follow fashion. Searchers
ask for pages as often as they see them, by some words of the title or the text; of who is shown a page some click on it, more
where the page is asked for by name.

The same web and seed give the same searchers. Cost: some passes over the links, and the words of the pages asked for.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.inlinks import find_inlinks
from frontrank.kernels.jit import Array
from frontrank.pages.words import url_words, words
from frontrank.web.view import Workload
from frontrank.web.web import Web

STARTS, MIN_STARTS, GENERATIONS = 0.0007, 8, 3  # pages in fashion at first, and how far it spreads
ALONG, AMONG = 0.15, 0.5  # links along which it spreads, of a page in fashion and of a list
MAX_LIST_LENGTH = 60  # links: a page with more lists everything
EVERYWHERE = 20  # links to a page: with more, it is linked from everywhere, and fashion passes by it
LIKED = 0.2  # of all pages, at most: most pages are never shown
MAX_LIKED = 1000.0  # views of the page most in fashion
PAGES_A_QUERY = 10  # so that most pages are never asked for, as in a real web
MIN_QUERIES, MAX_QUERIES = 200, 20_000  # queries drawn
MAX_QUERY_LENGTH = 3
CLICKED, BY_NAME = 0.3, 0.5  # of those who are shown a page, at most; and further ones where they ask for it


def searched(web: Web, seed: int = 0) -> tuple[Web, Workload]:
    """The web with views and clicks of its own, which follow its links, and what its searchers ask."""
    draw = np.random.default_rng(seed)
    views = np.floor(in_fashion(web, draw))
    drawn = _drawn(views, min(MAX_QUERIES, max(MIN_QUERIES, web.pages // PAGES_A_QUERY)), draw)
    asked = asked_for(web, drawn, draw)
    rate = CLICKED * draw.random(web.pages)
    rate[drawn] += BY_NAME * draw.random(len(drawn))
    workload = Workload(tuple(asked), np.array([*asked.values()], np.float64))
    return replace(web, views=views, clicks=np.floor(views * rate), queries=workload), workload


def in_fashion(web: Web, draw: np.random.Generator) -> Array:
    """How much searchers care for each page."""
    starts = min(web.pages, max(MIN_STARTS, round(STARTS * web.pages)))
    begun = np.zeros(web.pages, bool)
    begun[np.argsort(draw.random(web.pages), kind="stable")[:starts]] = True
    fashion = np.where(begun, MAX_LIKED * draw.random(web.pages) ** 2 + 1.0, 0.0)
    degree = web.out_degree()
    source = np.repeat(np.arange(web.pages), degree)
    start, row = find_inlinks(web.indptr, web.targets, web.pages)
    catches = np.minimum(1.0, EVERYWHERE / np.maximum(1, np.diff(start)))[web.targets]
    fresh = begun
    for _ in range(GENERATIONS):
        given = np.where(fresh, fashion, 0.0)  # by each page along its links
        along = draw.random(web.links) < ALONG * catches
        lists = _lists(np.flatnonzero(fresh), start, row, draw)
        listed = np.zeros(web.pages)
        np.maximum.at(listed, lists[1], fashion[lists[0]])
        listed[degree > MAX_LIST_LENGTH] = 0.0
        among = draw.random(web.links) < AMONG * catches
        offered = np.maximum(np.where(along, given[source], 0.0), np.where(among, listed[source], 0.0)) * draw.random(web.links)
        fresh = _spread(fashion, web.targets, offered, draw)
    whim = draw.random(web.pages) < STARTS
    return np.where(whim, MAX_LIKED * draw.random(web.pages), fashion)


def _lists(pages: Array, start: Array, row: Array, draw: np.random.Generator) -> tuple[Array, Array]:
    """Pages that some page links to, and for each of them one that does."""
    many = (start[pages + 1] - start[pages]).astype(np.int64)
    chosen = start[pages] + (draw.random(len(pages)) * many).astype(np.int64)
    has = many > 0
    return pages[has], row[chosen[has]]


def _spread(fashion: Array, targets: Array, offered: Array, draw: np.random.Generator) -> Array:
    """Pages take the most that they are offered, as long as there is room for more in fashion; who is new among them."""
    largest = np.zeros(len(fashion))
    np.maximum.at(largest, targets, offered)
    new = np.flatnonzero((largest >= 1.0) & (fashion == 0.0))
    room = max(0, round(LIKED * len(fashion)) - int((fashion > 0).sum()))
    largest[new[np.argsort(draw.random(len(new)), kind="stable")[room:]]] = 0.0
    fresh: Array = (largest >= 1.0) & (fashion == 0.0)
    fashion[fresh] = largest[fresh]
    return fresh


def _drawn(views: Array, count: int, draw: np.random.Generator) -> Array:
    """So many pages, by their views."""
    odds = np.cumsum(views) / max(float(views.sum()), 1.0)
    return np.minimum(np.searchsorted(odds, draw.random(count), "right"), len(views) - 1)


def asked_for(web: Web, pages: Array, draw: np.random.Generator) -> dict[str, int]:
    """A query for each of these pages, a run of words of its title or text, and how many ask for it."""
    columns = [column for column in (web.titles, web.texts) if column is not None]
    asked: dict[str, int] = {}
    for page in pages.tolist():
        column, length, place = (float(number) for number in draw.random(3))
        if columns:
            found = words(columns[int(column * len(columns))][page])
        else:
            found = url_words(web.urls[page]) if web.urls is not None else []
        if found:
            many = min(len(found), 1 + int(length * MAX_QUERY_LENGTH))
            at = int(place * (len(found) - many + 1))
            query = " ".join(found[at : at + many])
            asked[query] = asked.get(query, 0) + 1
    if not asked:
        raise InputError(f"{web.name} holds no words to make queries of; give a query log with --queries")
    return asked
