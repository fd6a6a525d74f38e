"""What the papers about search impact share: a query log where none is given, a frontier cut in two, and curves of impact.

A made query log stands in where a web comes without one. Pages are drawn at random, one in ten, and from the title or the
text of each a run of one to three words: what somebody might ask who looks for that page. Queries are as popular as they are
early among the draws, so that frequent runs of words are; the query of rank r is asked ceil(n/r) times (Zipf). The same web
gives the same log.

Drawn so, what is asked for has nothing to do with links. In the webs of tran15 it has: pages that searchers are shown link to
pages that they are shown. Where a web with that property is wanted and none is given, searchers are made too (``searched``):
some random pages are in fashion, and fashion spreads along links, ever weaker. A page's views follow its fashion, its clicks
are a part of them, and searchers ask for pages as often as they see them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.lab.evaluate import TRAINING, Scene
from frontrank.lab.measures import Curve
from frontrank.lab.measures.impact import picks
from frontrank.lab.papers.reproduction import RANDOM
from frontrank.pages.words import url_words, words
from frontrank.web.view import Workload
from frontrank.web.web import Web

PAGES_A_QUERY = 10  # so that most pages are never shown, as in a real web
FEWEST, MOST = 200, 20_000  # queries drawn for a made log
LONGEST_QUERY = 3
STARTS, CATCHES, GENERATIONS = 0.002, 0.3, 3  # pages in fashion at first, links along which it spreads, how far
LIKED = 0.2  # of all pages, at most: most pages are never shown
MOST_LIKED = 1000.0  # views of the page most in fashion
POINTS = 1000  # of a curve


def made_workload(web: Web, seed: int = 0) -> Workload:
    """Queries made from the words of a web's own pages."""
    draw = np.random.default_rng(seed)
    count = min(MOST, max(FEWEST, web.pages // PAGES_A_QUERY))
    asked = _asked_for(web, draw.integers(0, web.pages, count), draw)
    return Workload(tuple(asked), np.ceil(len(asked) / np.arange(1.0, len(asked) + 1)))


def _asked_for(web: Web, pages: Array, draw: np.random.Generator) -> dict[str, int]:
    """A query for each of these pages, and how many ask for it."""
    columns = [column for column in (web.titles, web.texts) if column is not None]
    asked: dict[str, int] = {}
    for page in pages.tolist():
        column, length, place = (float(number) for number in draw.random(3))
        if columns:
            found = words(columns[int(column * len(columns))][page])
        else:
            found = url_words(web.urls[page]) if web.urls is not None else []
        if found:
            many = min(len(found), 1 + int(length * LONGEST_QUERY))
            at = int(place * (len(found) - many + 1))
            query = " ".join(found[at : at + many])
            asked[query] = asked.get(query, 0) + 1
    if not asked:
        raise InputError(f"{web.name} holds no words to make queries of; give a query log with --queries")
    return asked


def searched(web: Web, seed: int = 0) -> tuple[Web, Workload]:
    """The web with views and clicks of its own, which follow its links, and what its searchers ask."""
    draw = np.random.default_rng(seed)
    views = np.floor(in_fashion(web, draw))
    clicks = draw.binomial(views.astype(np.int64), draw.beta(2.0, 5.0, web.pages)).astype(np.float64)
    count = min(MOST, max(FEWEST, web.pages // PAGES_A_QUERY))
    asked = _asked_for(web, draw.choice(web.pages, count, p=views / views.sum()), draw)
    return replace(web, views=views, clicks=clicks), Workload(tuple(asked), np.array([*asked.values()], np.float64))


def in_fashion(web: Web, draw: np.random.Generator) -> Array:
    """How much searchers care for each page: some random ones, and what fashion makes of the pages that they link to."""
    begun = draw.random(web.pages) < STARTS
    begun[draw.integers(0, web.pages)] = True
    fashion = np.where(begun, MOST_LIKED * draw.random(web.pages) ** 2 + 1.0, 0.0)
    source = np.repeat(np.arange(web.pages), web.out_degree())
    for _ in range(GENERATIONS):
        room = round(LIKED * web.pages) - int((fashion > 0).sum())
        caught = np.flatnonzero((fashion[source] > 0) & (draw.random(web.links) < CATCHES))
        fresh = np.unique(web.targets[caught][fashion[web.targets[caught]] == 0])
        refused = np.zeros(web.pages, bool)
        refused[draw.permutation(fresh)[max(0, room) :]] = True
        caught = caught[~refused[web.targets[caught]]]
        np.maximum.at(fashion, web.targets[caught], fashion[source[caught]] * draw.random(len(caught)))
    whim = draw.random(web.pages) < STARTS
    return np.where(whim, MOST_LIKED * draw.random(web.pages), fashion)


def told_of(workload: Workload, given: bool) -> str:
    """Where the queries come from, in a sentence."""
    count = f"{len(workload):,} different queries, asked {workload.frequency.sum():,.0f} times"
    made = "made from titles and texts of pages drawn at random, with Zipf's frequencies, for want of a query log"
    return f"{count} ({'the log given' if given else made})."


def split(scene: Scene, draw: int = 0) -> Scene:
    """The same moment with the impact of 65% of the frontier told and the rest to be tested; without earlier moments."""
    shuffled = np.random.default_rng(draw).permutation(scene.tested)
    cut = round(TRAINING * len(shuffled))
    training, tested = np.sort(shuffled[:cut]), np.sort(shuffled[cut:])
    view = replace(scene.view, history=[], revealed=(training, scene.impact[training]))
    return replace(scene, view=view, tested=tested)


def gathered(scores: Array, impact: Array) -> Curve:
    """The share of all impact in the frontier that its first pages hold.

    >>> gathered(np.array([1.0, 2.0]), np.array([1.0, 3.0])).y.tolist()
    [0.0, 0.75, 1.0]
    """
    return _cumulated(impact[picks(scores)])


def most(impact: Array) -> Curve:
    """What an ideal order gathers."""
    return _cumulated(np.sort(impact)[::-1])


def _cumulated(impact: Array) -> Curve:
    n = len(impact)
    at = np.unique(np.round(np.linspace(0, n, min(n, POINTS) + 1)).astype(np.int64))
    total = np.concatenate([[0.0], np.cumsum(impact)])
    return Curve(at / n, total[at] / max(total[-1], np.finfo(float).tiny))


def of_ideal(scores: Array | None, impact: Array, shares: Array) -> Curve:
    """Impact over the ideal's for these shares of the frontier; of a random order, the expected one, if there are no scores."""
    best = np.cumsum(np.sort(impact)[::-1])
    got = np.cumsum(impact[picks(scores)]) if scores is not None else impact.mean() * np.arange(1.0, len(impact) + 1)
    last = np.maximum(1, np.round(shares * len(impact)).astype(np.int64)) - 1
    y = np.divide(got[last], best[last], out=np.zeros(len(last)), where=best[last] > 0)
    return Curve(shares, y)


def lines(scores: Mapping[str, Array], impact: Array, shares: Array) -> dict[str, Curve]:
    """``of_ideal`` of each ranker by name, and of a random order."""
    return {name: of_ideal(score, impact, shares) for name, score in scores.items()} | {RANDOM: of_ideal(None, impact, shares)}


def unsearchable(web: Web) -> str:
    """Why nothing can be searched in this web; empty if something can."""
    return "" if web.urls is not None else f"{web.name} does not know its URLs, without which nothing can be searched"
