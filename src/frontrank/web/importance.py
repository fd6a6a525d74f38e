"""Importance of pages, known only once a whole web is known: what orderings are measured by.

The metrics of cho98, section 2, each one number per page, larger is more important:

    pagerank    IR: PageRank, L1 error below 1e-10; damping 0.85 unless given (``pagerank:alpha=0.5``)
    backlink    IB: the number of pages that link to it
    votes       the number of pages of other hosts that link to it: which its owner could not write
    forward     IF: the number of its links
    location    IL: minus the number of slashes in its URL
    views       how often searchers are shown it, where the web knows
    clicks      how often they choose it
    similarity  IS: the cosine of the TF-IDF vectors of page and query (``similarity:query="machine learning"``, see
                ``pages.tfidf``), IDF of the whole web; ``title=1`` counts words of the title once, not five times.
                With ``topic=computer``: 1 if the page is about the topic, else 0; ``body=5`` asks for the topic five
                times in the text, not ten
    quality     a scorer's score of its text (``quality:scorer=rules``; by default ``words``); a page on which the scorer
                fails gets the lowest score, or 0 if that is lower

and weighted sums of them, IC: ``0.5*pagerank+2*backlink``. Other packages add theirs: see ``frontrank.web.measures``.

Ties: a metric is computed in floating point, and pages that are equally important may come out a rounding error apart,
differently on another machine. To ask which pages are *as important as* another, allow for ``TIE``: see ``at_least``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import InputError, SpecError
from frontrank.kernels.inlinks import in_degree
from frontrank.kernels.jit import Array
from frontrank.kernels.pagerank import DAMPING, pagerank
from frontrank.pages import tfidf
from frontrank.pages.scorers import LOWEST, find
from frontrank.system.capacity import room_for
from frontrank.web import measures
from frontrank.web.measures import measured, parse_measure
from frontrank.web.quality import scores_of
from frontrank.web.web import IMPACTS, Web

BODY = 10  # times that a topic occurs in the text of a page about it (cho98)
PAIRS = re.compile(r',(?=\s*\w+=)(?=(?:[^"]*"[^"]*")*[^"]*$)')  # a topic may contain a comma, and in quotes anything
TIE = 1e-9  # values closer than this share of themselves are equal; sums of a million links err by some 1e-13


class Metric(NamedTuple):
    """One metric, with its parameters."""

    name: str
    given: dict[str, Any]


def importance(web: Web, metric: str = "pagerank") -> Array:
    """The importance of every page; computed once for a web.

    >>> web = Web.from_edges([0, 1, 2], [2, 2, 0], pages=3)
    >>> importance(web, "backlink").tolist()
    [1.0, 0.0, 2.0]
    >>> importance(web, "2*backlink+1*forward").tolist()
    [3.0, 1.0, 5.0]
    """
    key = f"importance {metric}"
    if key not in web.cache:
        total = np.zeros(web.pages)
        for weight, one in parse_metric(metric):
            total += weight * _value(web, one)
        web.cache[key] = total
    found: Array = web.cache[key]
    return found


def at_least(value: Any, level: Any) -> Any:
    """Whether importances reach a level, where a rounding error does not count.

    >>> at_least(0.1 + 0.2, 0.3), at_least(0.3, 0.1 + 0.2), at_least(0.3, 0.30001)
    (True, True, False)
    """
    return value >= lowest_tie(level)


def lowest_tie(level: Any) -> Any:
    """The smallest value that counts as equal to this one."""
    return level - TIE * abs(level)


def parse_metric(metric: str) -> list[tuple[float, Metric]]:
    """The metrics that a specification names, with their weights; SpecError says what is wrong with it.

    >>> parse_metric("2*backlink+0.5*pagerank:alpha=0.5")
    [(2.0, Metric(name='backlink', given={})), (0.5, Metric(name='pagerank', given={'alpha': 0.5}))]
    """
    if not isinstance(metric, str):
        raise SpecError(f"a metric must be written as text, such as pagerank or 2*backlink+1*pagerank, got {metric!r}")
    if "*" not in metric:
        return [(1.0, _parsed(metric))]
    terms = []
    for term in metric.split("+"):
        weight, _, name = term.partition("*")
        try:
            factor = float(weight)
        except ValueError:
            factor = math.nan
        if not math.isfinite(factor) or not name:
            raise SpecError(f"importance {metric!r}: a term must be WEIGHT*METRIC with a finite weight, got {term!r}")
        terms.append((factor, _parsed(name)))
    if not any(factor for factor, _ in terms):  # every page would be one of the best
        raise SpecError(f"importance {metric!r}: a weight must not be 0, or all pages are alike; give one above 0")
    return terms


def _parsed(metric: str) -> Metric:
    name, colon, rest = metric.partition(":")
    if name not in METRICS:
        return Metric(*parse_measure(metric))
    known, given = METRICS[name][1], dict[str, Any]()
    for pair in PAIRS.split(rest) if colon else ():
        key, equals, text = (part.strip() for part in pair.partition("="))
        if not equals or key not in known:
            takes = f"takes {' and '.join(f'{key}=' for key in known)}" if known else "takes no parameters"
            raise SpecError(f"importance {metric!r}: {pair.strip()!r} given, but {name} {takes}")
        if key in given:
            raise SpecError(f"importance {metric!r}: {key} given twice; keep one of the two")
        try:
            given[key] = known[key](json.loads(text) if len(text) > 1 and text[0] == text[-1] == '"' else text)
        except ValueError:
            raise SpecError(f"importance {metric!r}: {key} must be a number, got {text or 'nothing'}") from None
    if not 0.0 < given.get("alpha", 0.5) < 1.0:
        raise SpecError(f"importance {metric!r}: alpha must be a number between 0 and 1, got {given['alpha']:g}")
    if given.get("body", 1) < 1:
        raise SpecError(f"importance {metric!r}: body must be a whole number from 1, got {given['body']}")
    if name == "similarity":
        _check_similarity(metric, given)
    if name == "quality":
        find(given.get("scorer", "words"))
    return Metric(name, given)


def _check_similarity(metric: str, given: dict[str, Any]) -> None:
    if "query" in given and "topic" in given:
        raise SpecError(f"importance {metric!r}: both query and topic were given; drop one of them")
    if "query" in given and not tfidf.slots(given["query"]):
        raise SpecError(f"importance {metric!r}: query must have at least one word, got {given['query']!r}")
    if "query" not in given and not given.get("topic"):
        raise SpecError(f'importance {metric!r}: no topic given; write similarity:topic=WORD or similarity:query="WORDS"')
    if not 0.0 <= given.get("title", 0.0) < math.inf:
        raise SpecError(f"importance {metric!r}: title must be a number from 0, got {given['title']:g}")
    for one, other in (("title", "query"), ("body", "topic")):
        if one in given and other not in given:
            raise SpecError(f"importance {metric!r}: {one} given, but it goes with {other}=")


def _value(web: Web, metric: Metric) -> Array:
    name, given = metric
    return METRICS[name][0](web, **given) if name in METRICS else measured(web, name, given)


def _pagerank(web: Web, alpha: float = DAMPING) -> Array:
    return pagerank(web.indptr, web.targets, alpha, room=room_for)


def _backlink(web: Web) -> Array:
    return in_degree(web.targets, web.pages).astype(np.float64)


def _votes(web: Web) -> Array:
    if web.hosts is None:
        raise InputError(f"importance votes needs a web with hosts, but {web.name} has none")
    apart = np.repeat(web.hosts, web.out_degree()) != web.hosts[web.targets]
    return np.bincount(web.targets[apart], minlength=web.pages).astype(np.float64)


def _forward(web: Web) -> Array:
    return web.out_degree().astype(np.float64)


def _location(web: Web) -> Array:
    if web.urls is None:
        raise InputError(f"importance location needs a web with urls, but {web.name} has none")
    return np.array([location_value(url) for url in web.urls])


def _impact(web: Web, name: str) -> Array:
    known: Array | None = getattr(web, name)
    if known is None:
        raise InputError(f"importance {name} needs a web with {name}, but {web.name} has none")
    return np.asarray(known, np.float64).copy()


def _quality(web: Web, scorer: str = "words") -> Array:
    scores = scores_of(web, scorer)
    scored = scores > LOWEST
    if not np.any(scores[scored]):
        raise InputError(f"no page of {web.name} is worth anything to the scorer {scorer}; give another one, or other words")
    return np.where(scored, scores, min(0.0, float(scores[scored].min(initial=0.0))))


def _similarity(web: Web, topic: str = "", body: int = BODY, query: str | None = None, title: float = tfidf.TITLE) -> Array:
    if web.texts is None:
        raise InputError(f"importance similarity needs a web with texts, but {web.name} has none")
    if query is not None:
        return _similar(web, query, title)
    titles = web.titles or [""] * web.pages
    hot = np.array([float(about(topic, *page, body)) for page in zip(titles, web.texts, strict=True)])
    if not hot.any():
        found = f"{topic!r} is in no title and nowhere {body} times in a text"
        raise InputError(f"no page of {web.name} is about the topic: {found}; give another topic, or a smaller body=")
    return hot


def _similar(web: Web, query: str, title_weight: float) -> Array:
    """IS: the cosine of each page and the query; IDF of the whole web."""
    assert web.texts is not None
    wanted, df = tfidf.slots(query), tfidf.counts()
    matching: dict[int, tfidf.Terms] = {}
    for page, (title, text) in enumerate(zip(web.titles or [""] * web.pages, web.texts, strict=True)):
        terms = tfidf.of_page(title, text, title_weight)
        tfidf.note(df, terms)
        if any(slot in terms for slot in wanted):
            matching[page] = terms
    if not matching:
        raise InputError(f"no page of {web.name} has a word of the query {query!r}; give another query")
    values = np.zeros(web.pages)
    for page, terms in matching.items():
        values[page] = tfidf.similarity(terms, wanted, df, web.pages)
    return values


METRICS: dict[str, tuple[Callable[..., Array], dict[str, Callable[[str], Any]]]] = {  # each with its parameters
    "pagerank": (_pagerank, {"alpha": float}),
    "backlink": (_backlink, {}),
    "votes": (_votes, {}),
    "forward": (_forward, {}),
    "location": (_location, {}),
    **{name: (partial(_impact, name=name), {}) for name in IMPACTS},
    "similarity": (_similarity, {"topic": str, "body": int, "query": str, "title": float}),
    "quality": (_quality, {"scorer": str}),
}
measures.REGISTRY.build_in({name: partial(importance, metric=name) for name in METRICS})


def location_value(url: str) -> float:
    """IL without bonuses: fewer slashes are better.

    >>> location_value("http://a.com/x/y")
    -4.0
    """
    return -float(url.count("/"))


def about(topic: str, title: str, text: str, body: int = BODY) -> bool:
    """Whether a page is about a topic: it occurs in the title, or at least ``body`` times in the text (cho98, 5.4).

    >>> about("computer", "A Computer Store", ""), about("computer", "", "computer " * 9)
    (True, False)
    """
    topic = topic.lower()
    return topic in title.lower() or text.lower().count(topic) >= body
