"""ml on Spark: learned on the driver from a bounded number of examples, features and predictions by tasks.

Features are the local engine's (``orderings.batch.ml``) as far as links and impacts give them: places by other rankers, each
computed on the cluster, and sums over parents. Those of the crawl at three earlier moments are computed the same way, each in
a work folder of its own; the examples are the pages that waited then, with the impact that they turned out to have. Tasks write
a sample of them, chosen by hashes of pages, to the folder: at most some 250,000 in all. The driver learns from these, and tasks
predict, some pages at a time.

The rankers and sums of a moment are some 300 jobs. Up to ``MAX_LOCAL`` pages and links they are one, with a task for each.

Texts (URLs, anchors) have features too: where the tables have queries, which they go with, take ``features=links``.
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
from frontrank.orderings.batch.rw import WalkSettings
from frontrank.orderings.batch.sampled import taken
from frontrank.orderings.ranker import Ranker
from frontrank.spark.by_links import edge_settings, scores_by_links, scores_with
from frontrank.spark.folder import Folder
from frontrank.spark.jobs import Result, Stretch
from frontrank.spark.local_web import LocalWeb, SolverWeb, run_locally
from frontrank.spark.places import places_by
from frontrank.spark.walks import SolvedVector, check_impact, indegree
from frontrank.spark.web import SparkWeb, add_up
from frontrank.web.view import earlier_moments

PIECE = 1 << 16  # pages whose features a task has at a time
MAX_LOCAL = 20_000_000  # pages and links up to which a ranker is one task's: 160 MB of blocks
MODEL = "model.npy"


class Table(NamedTuple):
    """Vectors that features are made of."""

    places: dict[str, str]
    sums: tuple[str, ...]  # as in LinkSums
    usual: float
    rows: int  # fetched pages
    waits: int  # waiting ones


def check_ml(ranker: Ml) -> None:
    """InputError for parameters that Spark does not support."""
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


def ml(web: SparkWeb, ranker: Ml) -> SolvedVector:
    """The learned scores of pages that wait; 0 for fetched ones."""
    check_impact(web, ranker.name)
    predict = ranker.learned(_examples(web))
    web.folder.write(MODEL, np.frombuffer(pickle.dumps(predict), np.uint8))
    table = _features(web, "now")
    predicted = [web.name("predicted") for _ in predict.parts]
    web.progress("ml: predicting", 0, 0)
    web.for_each_stretch(_predict, table, predicted)
    web.drop(*table.sums)
    if len(predicted) == 1:
        web.drop(*table.places.values())
        return SolvedVector(predicted[0], 1, 0.0)
    steady = [table.places[name] for name in STEADY[ranker.features]]
    by_learner, into = places_by(web, predicted), web.name("fused")
    web.for_each_stretch(_fuse, into, by_learner, steady)
    web.drop(*predicted, *by_learner, *table.places.values())
    return SolvedVector(into, 1, 0.0)


# --- features ---


def _features(web: SparkWeb, when: str) -> Table:
    if max(web.pages, web.blocks.links) <= MAX_LOCAL:
        return _features_by_task(web, when)
    scores = {}
    for name, ranker in RANKERS.items():
        web.progress(f"ml: {name}, {when}", 0, 0)
        scores[name] = scores_by_links(web, ranker).x
    web.progress(f"ml: features, {when}", 0, 0)
    places = dict(zip(scores, places_by(web, list(scores.values())), strict=True))
    into = indegree(web).x
    web.drop(*(x for x in scores.values() if x != into))
    sums, usual = _link_sums(web)
    return Table(places, sums, usual, web.fetched, web.pages - web.fetched)


def _features_by_task(web: SparkWeb, when: str) -> Table:
    """The same of a small web: a task for each ranker, and one for sums."""
    assert web.turned  # built first, as it reports progress of its own
    web.progress(f"ml: features, {when}", 0, 0)
    places = {name: web.name("place") for name in RANKERS}
    sums = tuple(web.name("parents") for _ in LinkSums._fields)
    works: list[Callable[[LocalWeb], Result]] = [partial(_local_sums, sums)]
    for name, ranker in RANKERS.items():
        works.append(partial(_local_places, ranker, edge_settings(web, ranker), places[name]))
    return Table(places, sums, run_locally(web, works).mass, web.fetched, web.pages - web.fetched)


def _local_places(ranker: Ranker, settings: WalkSettings, into: str, web: LocalWeb) -> Result:
    scores = web.vector(scores_with(web, ranker, settings, _not_counted).x)
    waits, places = web.vector("fetched", np.uint8) == 0, np.zeros(web.pages)
    places[waits] = ranks(coarse(scores[waits]))
    web.publish(into, places)
    return Result()


def _not_counted() -> str:
    raise AssertionError("neighbours are counted where gamma is above 0, and no feature has that")


def _local_sums(into: tuple[str, ...], web: LocalWeb) -> Result:
    """``mass`` is the usual gain."""
    sums, usual = _link_sums(web)
    for name, vector in zip(into, sums, strict=True):
        web.publish(name, web.vector(vector))
    return Result(mass=usual)


def _link_sums(web: SolverWeb) -> tuple[tuple[str, ...], float]:
    """``LinkSums`` of all pages as vectors, and the usual gain."""
    assert web.max_links >= 0  # makes degrees
    gain, known, breadth, late = own = [web.name(kind) for kind in ("gain", "known", "breadth", "late")]
    usual = web.for_each_stretch(_own_values, own, web.fetched, web.fetched_before).mass / max(1, web.fetched)
    child_gain, child_count, children = (web.name(kind) for kind in ("child-gain", "child-count", "children"))
    web.pull(web.turned, gain, add_up, child_gain)
    web.pull(web.turned, known, add_up, child_count)
    web.for_each_stretch(_children, children, child_gain, child_count, usual)

    def over_parents(give: str, largest: bool = False) -> str:
        into = web.name("parents")
        web.pull(web.blocks, give, add_up, into, largest=largest)
        return into

    sums = (
        over_parents(known),
        over_parents(gain),
        over_parents(gain, largest=True),
        over_parents(children),
        over_parents(children, largest=True),
        over_parents(child_gain),
        over_parents(child_count),
        over_parents(breadth),
        over_parents(late, largest=True),
    )
    web.drop(*own, child_gain, child_count, children)
    return sums, usual


def _own_values(into: list[str], rows: int, before: dict[int, int], stretch: Stretch) -> Result:
    """What pages hand on to the pages they link to; ``mass`` is the gain of all."""
    fetched = stretch.get("fetched", np.uint8).astype(np.float64)
    gain = np.log1p(stretch.get("impact"))
    breadth = np.log1p(stretch.get("degree", np.int32))
    late = fetched * (rows + 1 - before[stretch.begin] - np.cumsum(fetched))
    for name, values in zip(into, (gain, fetched, breadth, late), strict=True):
        stretch.put(name, values)
    return Result(mass=float(gain.sum()))


def _children(into: str, gain: str, count: str, usual: float, stretch: Stretch) -> Result:
    total, times = (stretch.get(name) for name in (gain, count))
    stretch.put(into, shrunk(total, times, usual))
    return Result()


def _matrix(table: Table, stretch: Stretch, at: Array) -> Array:
    """Rows of features of some of the pages of a stretch."""
    features = FeatureTable()
    for name, vector in table.places.items():
        features.columns[name] = place_of(stretch.get(vector)[at], table.waits)
    sums = LinkSums(*(stretch.get(vector)[at] for vector in table.sums))
    features.columns.update(link_columns(sums, table.usual, table.rows))
    return features.matrix()


# --- examples ---


def _examples(web: SparkWeb) -> Examples:
    """Pages that waited at earlier moments, with the impact that they turned out to have."""
    moments = [then for then in earlier_moments(web.fetched) if then < web.fetched]
    share = share_of_examples(sum(web.fetched - then for then in moments))
    parts = [Examples(np.empty(0, np.int64), np.empty((0, 0)), np.empty(0))][: not moments]
    for then in moments:
        with web.earlier(then) as moment:
            table = _features(moment, f"when {then:,} pages were fetched")
            moment.for_each_stretch(_write_examples, table, share, web.folder)
            files = {kind: [moment.folder.array(name) for name in moment.folder.names(f"{kind}-")] for kind in Examples._fields}
            page, rows, impact = (np.concatenate(files[kind]) for kind in Examples._fields)
            order = np.argsort(page)
            parts.append(Examples(page[order], rows[order], impact[order]))
    return Examples(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _write_examples(table: Table, share: float, now: Folder, stretch: Stretch) -> Result:
    """Write the examples of a stretch: pages that waited then, and are fetched now."""
    for piece in stretch.pieces(PIECE):
        piece_now = piece._replace(folder=now)
        at = np.flatnonzero((piece.get("fetched", np.uint8) == 0) & (piece_now.get("fetched", np.uint8) > 0))
        at = at[taken(piece.begin + at, share)]
        piece.folder.write(f"page-{piece.begin}.npy", piece.begin + at)
        piece.folder.write(f"rows-{piece.begin}.npy", _matrix(table, piece, at))
        piece.folder.write(f"impact-{piece.begin}.npy", piece_now.get("impact")[at])
    return Result()


# --- predictions ---


def _predict(table: Table, into: list[str], stretch: Stretch) -> Result:
    predict = _model(stretch.folder)
    for piece in stretch.pieces(PIECE):
        at = np.flatnonzero(piece.get("fetched", np.uint8) == 0)
        predicted = predict(_matrix(table, piece, at)) if at.size else [np.empty(0)] * len(into)
        for name, of_learner in zip(into, predicted, strict=True):
            values = np.zeros(piece.size)
            values[at] = of_learner
            piece.put(name, values)
    return Result()


@lru_cache(maxsize=1)
def _model(folder: Folder) -> Any:
    """What the driver learned: read once per process."""
    return pickle.loads(folder.array(MODEL).tobytes())


def _fuse(into: str, by_learner: list[str], steady: list[str], stretch: Stretch) -> Result:
    """Reciprocal places, added up, as the local engine does."""
    waits = stretch.get("fetched", np.uint8) == 0
    total = np.zeros(stretch.size)
    for weight, names in ((1.0, by_learner), (WALK_WEIGHT, steady)):
        for name in names:
            total += weight / (K + stretch.get(name))
    stretch.put(into, np.where(waits, total, 0.0))
    return Result()
