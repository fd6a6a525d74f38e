"""Importance of pages, known only once a whole web is known: what orderings are measured by.

The metrics of cho98, section 2, each one number a page, larger is more important:

    pagerank    IR: PageRank, damping 0.85, L1 error below 1e-10
    backlink    IB: the number of pages that link to it
    forward     IF: the number of its links
    location    IL: minus the number of slashes in its URL
    similarity  IS: 1 if the page is about the topic, else 0 (``similarity:topic=computer``)

and weighted sums of them, IC: ``0.5*pagerank+2*backlink``.
"""

from __future__ import annotations

import math

import numpy as np

from frontrank.errors import InputError, SpecError, nearest
from frontrank.kernels.jit import Array
from frontrank.kernels.pagerank import pagerank
from frontrank.web.web import Web

METRICS = ("pagerank", "backlink", "forward", "location", "similarity")


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
        web.cache[key] = _combined(web, metric) if "*" in metric else _single(web, metric)
    found: Array = web.cache[key]
    return found


def _combined(web: Web, metric: str) -> Array:
    total = np.zeros(web.pages)
    for term in metric.split("+"):
        weight, _, name = term.partition("*")
        try:
            factor = float(weight)
        except ValueError:
            factor = math.nan
        if not math.isfinite(factor) or not name:
            raise SpecError(f"importance {metric!r}: term {term!r} given, WEIGHT*METRIC with a finite weight expected")
        total += factor * importance(web, name)
    return total


def _single(web: Web, metric: str) -> Array:
    name, _, rest = metric.partition(":")
    if name == "pagerank":
        return pagerank(web.indptr, web.targets)
    if name == "backlink":
        return np.bincount(web.targets, minlength=web.pages).astype(np.float64)
    if name == "forward":
        return web.out_degree().astype(np.float64)
    if name == "location":
        if web.urls is None:
            raise InputError(f"importance location needs a web with urls, but {web.name} has none")
        return np.array([location_value(url) for url in web.urls])
    if name == "similarity":
        topic = rest.removeprefix("topic=")
        if not topic or web.texts is None:
            raise InputError(f"importance {metric!r} needs similarity:topic=WORD and a web with texts ({web.name})")
        titles = web.titles or [""] * web.pages
        return np.array([float(about(topic, *page)) for page in zip(titles, web.texts, strict=True)])
    raise SpecError(f"unknown importance metric {name!r}{nearest(name, METRICS)}")


def location_value(url: str) -> float:
    """IL without bonuses: fewer slashes are better.

    >>> location_value("http://a.com/x/y")
    -4.0
    """
    return -float(url.count("/"))


def about(topic: str, title: str, text: str, body: int = 10) -> bool:
    """Whether a page is about a topic: it stands in the title, or at least ``body`` times in the text (cho98, 5.4).

    >>> about("computer", "A Computer Store", ""), about("computer", "", "computer " * 9)
    (True, False)
    """
    topic = topic.lower()
    return topic in title.lower() or text.lower().count(topic) >= body
