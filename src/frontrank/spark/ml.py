"""ml on Spark: learned on the driver from a bounded number of examples, features and predictions by tasks.

Features are the local engine's (``orderings.batch.ml``) as far as links and impacts give them: places by other rankers, each
solved on the cluster, and sums over parents. Those of the crawl as it was, at three earlier moments, are made the same way,
each in a work folder of its own; what became of the pages that waited then are the examples. Tasks write those that hashes of
pages name to the folder, at most some 250,000 in all. The driver learns from them, and tasks predict, some pages at a time.

The rankers and sums of a moment are some 300 jobs. Up to ``ALONE`` pages and links they are one: a task for each of them.

Texts (URLs, anchors) have features too: where the tables have queries, which they go with, ``features=links`` leaves them out.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import InputError, need
from frontrank.kernels.coarse import coarse
from frontrank.kernels.jit import Array
from frontrank.orderings.batch.fusion import ranks
from frontrank.orderings.batch.ml.features import RANKERS, STEADY, FeatureTable, place_of
from frontrank.orderings.batch.ml.links import LinkSums, link_columns, shrunk
from frontrank.orderings.batch.ml.ml import WALK_WEIGHT, Examples, K, Ml, share_of_examples
from frontrank.orderings.batch.rw import RandomWalk
from frontrank.orderings.batch.sampled import taken
from frontrank.orderings.ranker import Ranker
from frontrank.sources.parquet_crawl import earlier_moments
from frontrank.spark.alone import Alone, each_alone
from frontrank.spark.by_links import by_links, settings_of_walk, with_settings
from frontrank.spark.folder import Folder
from frontrank.spark.jobs import Numbers, Shape
from frontrank.spark.places import placed
from frontrank.spark.walks import Solved, check_worth, indegree
from frontrank.spark.web import SparkWeb, Web, add_up, pieces

PIECE = 1 << 16  # pages whose features a task has at a time
ALONE = 20_000_000  # pages and links up to which a ranker is one task's: 160 MB of blocks
MODEL = "model.npy"


class Table(NamedTuple):
    """Vectors that features are made of."""

    places: dict[str, str]
    sums: tuple[str, ...]  # as in LinkSums
    usual: float
    rows: int  # fetched pages
    waits: int  # waiting ones


def check_ml(ranker: Ml) -> None:
    """InputError if this is more than Spark does."""
    need("sklearn", "threadpoolctl")
    if ranker.features == "table4":
        raise InputError(f"{ranker.spec()}: features=table4 is for the local engine; take ml, or drop --engine")


def check_texts(ranker: Ml) -> None:
    """InputError where the tables have queries, and features of texts are asked for."""
    if ranker.features == "all":
        raise InputError(
            f"{ranker.spec()}: with queries, ml learns from the words of URLs and anchors too, which Spark does not read;"
            " take ml:features=links, which needs no texts and is the same on both engines, or drop --engine"
        )


def ml(web: SparkWeb, ranker: Ml) -> Solved:
    """What the learned ranker gives pages that wait; 0 for fetched ones."""
    check_worth(web, ranker.name)
    predict = ranker.learned(_examples(web))
    web.folder.write(MODEL, np.frombuffer(pickle.dumps(predict), np.uint8))
    table = _features(web, "now")
    said = [web.name("said") for _ in predict.parts]
    web.tell("ml: predicting", 0, 0)
    web.over(_predicted, table, said)
    web.drop(*table.sums)
    if len(said) == 1:
        web.drop(*table.places.values())
        return Solved(said[0], 1, 0.0)
    steady = [table.places[name] for name in STEADY[ranker.features]]
    by_learner, into = placed(web, said), web.name("fused")
    web.over(_fused, into, by_learner, steady)
    web.drop(*said, *by_learner, *table.places.values())
    return Solved(into, 1, 0.0)


# --- features ---


def _features(web: SparkWeb, when: str) -> Table:
    if max(web.pages, web.blocks.links) <= ALONE:
        return _features_by_task(web, when)
    scores = {}
    for name, ranker in RANKERS.items():
        web.tell(f"ml: {name}, {when}", 0, 0)
        scores[name] = by_links(web, ranker).x
    web.tell(f"ml: features, {when}", 0, 0)
    places = dict(zip(scores, placed(web, list(scores.values())), strict=True))
    into = indegree(web).x
    web.drop(*(x for x in scores.values() if x != into))
    sums, usual = _link_sums(web)
    return Table(places, sums, usual, web.fetched, web.pages - web.fetched)


def _features_by_task(web: SparkWeb, when: str) -> Table:
    """The same of a small web: a task for each ranker, and one for sums."""
    assert web.turned  # tells of itself
    web.tell(f"ml: features, {when}", 0, 0)
    places = {name: web.name("place") for name in RANKERS}
    sums = tuple(web.name("parents") for _ in LinkSums._fields)
    works: list[Callable[[Alone], Numbers]] = [partial(_sums_alone, sums)]
    for name, ranker in RANKERS.items():
        omega, gamma = settings_of_walk(web, ranker) if isinstance(ranker, RandomWalk) else (1.0, 0.0)
        works.append(partial(_places_alone, ranker, omega, gamma, places[name]))
    return Table(places, sums, each_alone(web, works).mass, web.fetched, web.pages - web.fetched)


def _places_alone(ranker: Ranker, omega: float, gamma: float, into: str, web: Alone) -> Numbers:
    scores = web.vector(with_settings(web, ranker, omega, gamma, _not_counted).x)
    waits, places = web.vector("fetched", np.uint8) == 0, np.zeros(web.pages)
    places[waits] = ranks(coarse(scores[waits]))
    web.hand_over(into, places)
    return Numbers()


def _not_counted() -> str:
    raise AssertionError("neighbours are counted where gamma is above 0, and no feature has that")


def _sums_alone(into: tuple[str, ...], web: Alone) -> Numbers:
    """``mass`` is the usual gain."""
    sums, usual = _link_sums(web)
    for name, vector in zip(into, sums, strict=True):
        web.hand_over(name, web.vector(vector))
    return Numbers(mass=usual)


def _link_sums(web: Web) -> tuple[tuple[str, ...], float]:
    """``LinkSums`` of all pages as vectors, and the usual gain."""
    assert web.most_links >= 0  # makes degrees
    gain, told, breadth, late = given = [web.name(kind) for kind in ("gain", "told", "breadth", "late")]
    usual = web.over(_given, given, web.fetched, web.fetched_before).mass / max(1, web.fetched)
    child_gain, child_count, children = (web.name(kind) for kind in ("child-gain", "child-count", "children"))
    web.pulled(web.turned, gain, add_up, child_gain)
    web.pulled(web.turned, told, add_up, child_count)
    web.over(_children, children, child_gain, child_count, usual)

    def over_parents(give: str, largest: bool = False) -> str:
        into = web.name("parents")
        web.pulled(web.blocks, give, add_up, into, largest=largest)
        return into

    sums = (
        over_parents(told),
        over_parents(gain),
        over_parents(gain, largest=True),
        over_parents(children),
        over_parents(children, largest=True),
        over_parents(child_gain),
        over_parents(child_count),
        over_parents(breadth),
        over_parents(late, largest=True),
    )
    web.drop(*given, child_gain, child_count, children)
    return sums, usual


def _given(into: list[str], rows: int, before: dict[int, int], shape: Shape, folder: Folder, begin: int, end: int) -> Numbers:
    """What pages hand on to the pages they link to; ``mass`` is the gain of all."""
    fetched = folder.part("fetched", np.uint8, begin, end).astype(np.float64)
    gain = np.log1p(folder.part("impact", np.float64, begin, end))
    breadth = np.log1p(folder.part("degree", np.int32, begin, end))
    late = fetched * (rows + 1 - before[begin] - np.cumsum(fetched))
    for name, values in zip(into, (gain, fetched, breadth, late), strict=True):
        folder.place(name, begin, values)
    return Numbers(mass=float(gain.sum()))


def _children(into: str, gain: str, count: str, usual: float, shape: Shape, folder: Folder, begin: int, end: int) -> Numbers:
    total, times = (folder.part(name, np.float64, begin, end) for name in (gain, count))
    folder.place(into, begin, shrunk(total, times, usual))
    return Numbers()


def _matrix(table: Table, folder: Folder, low: int, high: int, at: Array) -> Array:
    """Rows of features of some of the pages low .. high."""
    held = FeatureTable()
    for name, vector in table.places.items():
        held.columns[name] = place_of(folder.part(vector, np.float64, low, high)[at], table.waits)
    sums = LinkSums(*(folder.part(vector, np.float64, low, high)[at] for vector in table.sums))
    held.columns.update(link_columns(sums, table.usual, table.rows))
    return held.matrix()


# --- examples ---


def _examples(web: SparkWeb) -> Examples:
    """What became of pages that waited at earlier moments."""
    moments = [then for then in earlier_moments(web.fetched) if then < web.fetched]
    share = share_of_examples(sum(web.fetched - then for then in moments))
    parts = [Examples(np.empty(0, np.int64), np.empty((0, 0)), np.empty(0))][: not moments]
    for then in moments:
        with web.earlier(then) as moment:
            table = _features(moment, f"when {then:,} pages were fetched")
            moment.over(_taken, table, share, web.folder)
            held = {kind: [moment.folder.array(name) for name in moment.folder.names(f"{kind}-")] for kind in Examples._fields}
            page, rows, impact = (np.concatenate(held[kind]) for kind in Examples._fields)
            order = np.argsort(page)
            parts.append(Examples(page[order], rows[order], impact[order]))
    return Examples(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _taken(table: Table, share: float, now: Folder, shape: Shape, folder: Folder, begin: int, end: int) -> Numbers:
    """Write the examples of a stretch: pages that waited then, and are fetched now."""
    for low, high in pieces(begin, end, PIECE):
        fetched_then, fetched_now = (one.part("fetched", np.uint8, low, high) for one in (folder, now))
        at = np.flatnonzero((fetched_then == 0) & (fetched_now > 0))
        at = at[taken(low + at, share)]
        folder.write(f"page-{low}.npy", low + at)
        folder.write(f"rows-{low}.npy", _matrix(table, folder, low, high, at))
        folder.write(f"impact-{low}.npy", now.part("impact", np.float64, low, high)[at])
    return Numbers()


# --- predictions ---


def _predicted(table: Table, into: list[str], shape: Shape, folder: Folder, begin: int, end: int) -> Numbers:
    predict = _model(folder)
    for low, high in pieces(begin, end, PIECE):
        at = np.flatnonzero(folder.part("fetched", np.uint8, low, high) == 0)
        said = predict(_matrix(table, folder, low, high, at)) if at.size else [np.empty(0)] * len(into)
        for name, of_learner in zip(into, said, strict=True):
            values = np.zeros(high - low)
            values[at] = of_learner
            folder.place(name, low, values)
    return Numbers()


@lru_cache(maxsize=1)
def _model(folder: Folder) -> Any:
    """What the driver learned: read once by a process."""
    return pickle.loads(folder.array(MODEL).tobytes())


def _fused(into: str, by_learner: list[str], steady: list[str], shape: Shape, folder: Folder, begin: int, end: int) -> Numbers:
    """Reciprocal places, added up; as the local engine's."""
    waits = folder.part("fetched", np.uint8, begin, end) == 0
    total = np.zeros(end - begin)
    for weight, names in ((1.0, by_learner), (WALK_WEIGHT, steady)):
        for name in names:
            total += weight / (K + folder.part(name, np.float64, begin, end))
    folder.place(into, begin, np.where(waits, total, 0.0))
    return Numbers()
