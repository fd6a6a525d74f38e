"""What is known of a page before it is fetched, as one row of numbers: the features of the learned ranker.

    scores       places (1 best, 0 worst) in the frontier by indegree, pagerank, rw, rw-eg at two omegas, rw-virtual and, where
                 queries are known, q-overlap and q-hybrid: places, as scores of two moments of a crawl have different scales
    address      depth, length, words, digits, query string and kind of the URL; number and length of the anchors
    company      mean log(1 + impact) of pages of known impact that share something with the page: host, directory,
                 address up to digits, file name, anchor, a word. Shrunk toward the mean of all by ``SHRINK`` pages
    links        impact of the pages that link to it, and of the other pages that those link to
    queries      how much is asked for the words of its URL and anchors, and how much of that still lacks answers

``features=links`` takes scores that links and impacts give, and links, alone: what needs no texts.

``features=table4`` takes the scores of Table 4 of tran15 alone: indegree, pagerank, q-overlap, q-hybrid by a regression tree;
and rw, rw-eg and rw-virtual, by views and by clicks where both are known. As there the omega of rw-eg was chosen for the crawl;
other than there scores are places, and the omega is learned from the crawl itself.

Nothing else: a view holds nothing of the content of an unfetched page. Impacts enter as ``log(1 + impact)``.

Cost: some passes over links, URLs and anchors, and the walks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from frontrank.kernels.coarse import coarse
from frontrank.kernels.jit import Array
from frontrank.orderings.batch.fusion import ranks
from frontrank.orderings.batch.indegree import InDegree
from frontrank.orderings.batch.ml.links import LinkSums, link_columns, shrunk
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.orderings.batch.q_hybrid import QHybrid
from frontrank.orderings.batch.rw import EnrichedWalk, RandomWalk, VirtualWalk
from frontrank.orderings.ranker import Ranker
from frontrank.pages.words import url_words, words
from frontrank.search.ngrams import match
from frontrank.web.view import CrawlView, SearchView

STEADY = {  # scores that need no training
    "all": ("rw", "rw-eg .7"),
    "links": ("rw", "rw-eg .7"),
    "table4": ("rw", "rw-eg"),
}
SETS = tuple(STEADY)
SHOWN = 10  # results on a page of answers
DIGITS = re.compile(r"\d+")
VALUES = re.compile(r"=[^&]*")
RANKERS: dict[str, Ranker] = {
    "indegree": InDegree(),
    "pagerank": PageRank(),
    "rw": RandomWalk(),
    "rw-eg .7": EnrichedWalk(omega=0.7),
    "rw-eg .3": EnrichedWalk(omega=0.3),
    "rw-virtual": VirtualWalk(),
}
WALKS: dict[str, Ranker] = {"rw": RandomWalk(), "rw-eg": EnrichedWalk(), "rw-virtual": VirtualWalk()}  # of Table 4


@dataclass
class FeatureTable:
    """Columns of numbers by name, one row for each asked page."""

    columns: dict[str, Array] = field(default_factory=dict)

    def matrix(self) -> Array:
        """As 32-bit numbers: engines that add up in another order differ below that, and learners would see it."""
        return np.column_stack([np.asarray(column, np.float32) for column in self.columns.values()]).astype(np.float64)


@dataclass(frozen=True)
class Groups:
    """Pages that share something: a number for each page, -1 for pages that share it with none."""

    of: Array
    count: int


def features(view: CrawlView, pages: Array, gain: Array, known: Array, which: str = "all") -> FeatureTable:
    """Rows for these frontier pages. gain is log(1 + impact) of all known pages, valid where ``known`` is true."""
    table = FeatureTable()
    scores = _cached(view, f"scores, {which}", lambda: _table4(view) if which == "table4" else _scores(view, which))
    for name, score in scores.items():
        table.columns[name] = score[pages]
    if which == "table4":
        return table
    for name, column in link_columns(_link_sums(view, gain, known), usual_gain(gain, known), len(view.source)).items():
        table.columns[name] = column[pages]
    if which == "all" and view.search is not None:
        for name, column in _cached(view, "address", lambda: _address(view)).items():
            table.columns[name] = column[pages]
        for name, column in _cached(view, "asked", lambda: _asked(view)).items():
            table.columns[name] = column[pages]
        for name, groups in _cached(view, "company", lambda: _company(view.search)).items():
            mean, count = _encoded(groups, pages, gain, known)
            table.columns[f"mean {name}"] = mean
            table.columns[f"count {name}"] = np.log1p(count)
        mean, highest = _words(view, pages, gain, known)
        table.columns["mean word"], table.columns["best word"] = mean, highest
    return table


def places(scores: Array) -> Array:
    """1 for the best, 0 for the worst, equal for equals."""
    return place_of(ranks(scores), len(scores))


def place_of(rank: Array, count: int) -> Array:
    """The rank of one of so many, as a place."""
    return 1.0 - (rank - 1.0) / max(1, count - 1)


def _cached(view: CrawlView, key: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Made once for a moment of a crawl: several folds and learners ask for the same."""
    if view.search is None:
        return make()
    whole = f"ml {key} of {len(view.source)} fetched, {view.known} known"
    if whole not in view.search.cache:
        view.search.cache[whole] = make()
    return cast("dict[str, Any]", view.search.cache[whole])


def _scores(view: CrawlView, which: str) -> dict[str, Array]:
    view = replace(view, scores={}, notes={})  # from scratch: a walk that restarts ends some last bits elsewhere
    scores = {name: ranker.score(view) for name, ranker in RANKERS.items()}
    if which == "all":
        scores |= _by_queries(view, "quadratic")
    return _as_places(view, {name: coarse(score) for name, score in scores.items()})


def _table4(view: CrawlView) -> dict[str, Array]:
    """What tran15 learns from; beside the impact that counts, walks by the other one too, where it is known."""
    scores = {name: ranker.score(view) for name, ranker in (("indegree", InDegree()), ("pagerank", PageRank()))}
    scores |= _by_queries(view, "tree")
    assert view.impact is not None
    others = {name: impact for name, impact in view.impacts.items() if not np.array_equal(impact, view.impact)}
    for named, impact in {"": view.impact, **others}.items():
        seen = replace(view, scores={}, notes={}, impact=impact)
        scores |= {f"{name} by {named}" if named else name: walk.score(seen) for name, walk in WALKS.items()}
    return _as_places(view, scores)


def _by_queries(view: CrawlView, fit: str) -> dict[str, Array]:
    if view.search is None:
        return {}
    parts = QHybrid(fit=fit).parts(view)
    return {"q-overlap": parts["queries"], "q-hybrid": parts["queries"] + parts["pagerank"]}


def _as_places(view: CrawlView, scores: dict[str, Array]) -> dict[str, Array]:
    waits = np.flatnonzero(~view.fetched)
    found = {name: np.zeros(view.known) for name in scores}
    for name, score in scores.items():
        found[name][waits] = places(score[waits])
    return found


def usual_gain(gain: Array, known: Array) -> float:
    """The mean gain of the pages whose gain is known."""
    return float(gain[known].mean()) if known.any() else 0.0


def _link_sums(view: CrawlView, gain: Array, known: Array) -> LinkSums:
    rows = len(view.source)
    target = view.target[: view.links]
    degree = np.diff(view.indptr[: rows + 1])
    source = np.repeat(np.arange(rows), degree)
    parent_gain = gain[view.source] * known[view.source]
    child_sum = np.bincount(source, (gain * known)[target], rows)
    child_count = np.bincount(source, known[target], rows)
    children = shrunk(child_sum, child_count, usual_gain(gain, known))

    def largest(values: Array) -> Array:
        found = np.zeros(view.known)
        np.maximum.at(found, target, values[source])
        return found

    return LinkSums(
        np.bincount(target, minlength=view.known),
        np.bincount(target, parent_gain[source], view.known),
        largest(parent_gain),
        np.bincount(target, children[source], view.known),
        largest(children),
        np.bincount(target, child_sum[source], view.known),
        np.bincount(target, child_count[source], view.known),
        np.bincount(target, np.log1p(degree)[source], view.known),
        largest(np.arange(rows, 0, -1, dtype=np.float64)),
    )


def _address(view: CrawlView) -> dict[str, Array]:
    search = view.search
    assert search is not None
    names = (
        "depth",
        "length",
        "url words",
        "digits",
        "arguments",
        "tilde",
        "html",
        "text",
        "secure",
        "anchors",
        "anchor length",
        "anchor words",
        "anchor digits",
    )
    found = np.zeros((view.known, len(names)))
    for page, (url, anchor) in enumerate(zip(search.urls, search.anchors, strict=True)):
        path, _, arguments = url.partition("?")
        last = path.rpartition("/")[2].lower()
        lines = anchor.split("\n") if anchor else []
        longest = max(lines, key=len).strip() if lines else ""
        found[page] = (
            path.count("/"),
            len(url),
            len(url_words(url)),
            sum(map(str.isdigit, url)),
            url.count("=") + bool(arguments),
            "~" in url,
            last.endswith((".html", ".htm", ".php", ".shtml")) or "." not in last,
            last.endswith((".txt", ".text", ".sql", ".csv", ".log", ".java", ".py", ".c", ".h", ".lisp", ".xml", ".words")),
            url.startswith("https"),
            np.log1p(len(lines)),
            len(longest),
            len(words(longest)),
            sum(map(str.isdigit, longest)),
        )
    return dict(zip(names, found.T, strict=True))


def _company(search: SearchView | None) -> dict[str, Groups]:
    """By what pages are grouped."""
    assert search is not None
    keys: dict[str, list[str]] = {
        name: [] for name in ("host", "site", "folder", "above", "shape", "page", "file", "ending", "anchor", "parameters")
    }
    for url, anchor in zip(search.urls, search.anchors, strict=True):
        rest = url.partition("://")[2].lower()
        path, _, arguments = rest.partition("?")
        parts = path.rstrip("/").split("/")
        folder = path.rpartition("/")[0] if not path.endswith("/") else "/".join(parts[:-1])
        last = parts[-1] if len(parts) > 1 else ""
        keys["host"].append(parts[0])
        keys["site"].append("/".join(parts[:2]))
        keys["folder"].append(folder)
        keys["above"].append(folder.rpartition("/")[0])
        keys["shape"].append(DIGITS.sub("0", folder + "?" + VALUES.sub("", arguments)) + "." + last.rpartition(".")[2][:5])
        keys["page"].append(path)
        keys["file"].append(last)
        keys["ending"].append(parts[0] + last.rpartition(".")[2][:6] if "." in last else parts[0])
        keys["anchor"].append(" ".join(words(anchor.partition("\n")[0]))[:80])
        keys["parameters"].append(parts[0] + "?" + VALUES.sub("", arguments))
    return {name: _grouped(values) for name, values in keys.items()}


def _grouped(keys: Iterable[str]) -> Groups:
    number: dict[str, int] = {}
    of = np.array([number.setdefault(key, len(number)) if key else -1 for key in keys], np.int64)
    return Groups(of, len(number))


def _encoded(groups: Groups, pages: Array, gain: Array, known: Array) -> tuple[Array, Array]:
    """The shrunk mean gain of the known pages of each page's group, and their number."""
    has = known & (groups.of >= 0)
    total = np.bincount(groups.of[has], gain[has], groups.count)
    count = np.bincount(groups.of[has], minlength=groups.count)
    usual = usual_gain(gain, known)
    mean = np.append(shrunk(total, count, usual), usual)
    return mean[groups.of[pages]], np.append(count, 0)[groups.of[pages]]


def _words(view: CrawlView, pages: Array, gain: Array, known: Array) -> tuple[Array, Array]:
    """The mean gain of known pages that have a word: mean and maximum over the words of a page."""
    index = _cached(view, "words", lambda: _word_index(view.search))
    page_of, word = index["page"], index["word"]
    count_all = int(word.max()) + 1 if word.size else 0
    use = known[page_of]
    usual = usual_gain(gain, known)
    total = np.bincount(word[use], gain[page_of[use]], count_all)
    count = np.bincount(word[use], minlength=count_all)
    mean = shrunk(total, count, usual)
    sums = np.bincount(page_of, mean[word], len(known))
    words = np.bincount(page_of, minlength=len(known))
    highest = np.full(len(known), usual)
    np.maximum.at(highest, page_of, mean[word])
    return ((sums + usual) / (words + 1.0))[pages], highest[pages]


def _word_index(search: SearchView | None) -> dict[str, Array]:
    assert search is not None
    number: dict[str, int] = {}
    page_of: list[int] = []
    word: list[int] = []
    for page, (url, anchor) in enumerate(zip(search.urls, search.anchors, strict=True)):
        for found in dict.fromkeys([*url_words(url), *words(anchor)]):
            page_of.append(page)
            word.append(number.setdefault(found, len(number)))
    return {"page": np.array(page_of, np.int64), "word": np.array(word, np.int64)}


def _asked(view: CrawlView) -> dict[str, Array]:
    """How much is asked for a page's words: queries that its URL and anchors hold whole, and single words."""
    search = view.search
    assert search is not None
    matches = match(search.workload.queries, search.urls, search.anchors, 1)
    queries = np.repeat(np.arange(len(search.workload)), np.diff(matches.indptr))
    frequency = np.asarray(search.workload.frequency, np.float64)
    answers = np.diff(search.results.indptr)
    rivals = np.diff(matches.indptr)
    lacking = np.minimum(1.0, SHOWN / np.maximum(1.0, np.minimum(answers, 1000) + 1.0))
    sums = {
        "asked": frequency,
        "asked lacking": frequency * (answers < SHOWN),
        "asked share": frequency * lacking,
        "asked rare": frequency * np.minimum(1.0, SHOWN / np.maximum(1.0, rivals)),
        "asked number": np.ones(len(frequency)),
    }
    found = {}
    for name, weight in sums.items():
        found[name] = np.log1p(np.bincount(matches.page, weight[queries], view.known))
    return found
