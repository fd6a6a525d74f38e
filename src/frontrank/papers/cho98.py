"""cho98: breadth-first, backlink and PageRank orderings, measured by backlinks and by PageRank.

As in the paper a crawl starts from one home page, and the web is what this page reaches. Hot pages are fixed by a threshold G
of importance (P_ST), or are the k most important after k fetches (P_CS), or must stay in a buffer (P_BC). The paper gives G as
numbers of backlinks of its own web; here G is such that a given share of pages is hot. An ordering is summed up as the
mean height of its curve over the whole crawl; a random crawler's P_ST has 0.5. The paper starts from one page, once; here
several pages are tried that reach (nearly) the same part of the web, each a draw.

Not in the paper: P_BC (defined there, not measured), P_CS by PageRank, several G for each comparison. The experiments on
topics, on a query of several words and on a single site are in ``cho98_topics``, ``cho98_query`` and ``cho98_site``.

Reference: J. Cho, H. Garcia-Molina, L. Page: Efficient Crawling Through URL Ordering, WWW 1998, section 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from frontrank.lab.drawn import Drawn
from frontrank.lab.measures import Curve, buffer, hot_count, threshold_for
from frontrank.orderings.registry import parse
from frontrank.papers.cho98_query import several_words
from frontrank.papers.cho98_site import small_site
from frontrank.papers.cho98_topics import topics
from frontrank.papers.claims import (
    ALIKE,
    NOT_KNOWN,
    READING,
    Claim,
    ahead,
    alike,
    all_hold,
    decided,
    lead,
    leads,
    listing,
    not_ahead,
    untested,
)
from frontrank.papers.draws import DRAWS, Draws, at_shares, heads, heights, middle, reaches_at, stop_plot, threshold_plot
from frontrank.papers.parts import reachable, starts
from frontrank.papers.reproduction import PaperExperiment, Plot, Reproduced, Row, Tell, paper_table
from frontrank.web.web import Web

PAPER = "J. Cho, H. Garcia-Molina, L. Page: Efficient Crawling Through URL Ordering. WWW 1998."
IB, IR = "backlink", "pagerank"
TITLES = {IB: "backlinks (IB)", IR: "PageRank (IR)"}
HOT = (0.01, 0.05, 0.1)  # shares of pages that are hot
SHOWN = 0.05  # the one that is drawn
LAX_TO_STRINGENT = (0.5, 0.1, 0.01)
EXPERIMENTS = 12  # with those on one site, on topics and on a query
BUFFERS = (0.1, 0.2, 0.4)
RANKINGS = 100  # how often the PageRank ordering ranks its queue in a crawl
AT = (0.1, 0.2, 0.3, 0.5)  # shares of the web at which curves are tabled
TOLERANCE = "1e-06"  # of its scores: half the time of 1e-10, and the order of a queue hardly notices


def reproduce(web: Web, tell: Tell) -> Reproduced:
    part, start = reachable(web)
    pages = starts(part, start, DRAWS)
    draws = Draws(part, [np.array([page]) for page in pages], tell, what="start")
    others = ", ".join(part.name_of(page) for page in pages[1:])
    setting = (
        f"Every crawl starts from one page and is followed over the {part.pages:,} pages that {part.name_of(start)} reaches "
        f"({part.pages / web.pages:.0%} of the web); the others are left out, as in the paper. Draws: this page and "
        f"{len(pages) - 1} others that reach nearly all of it ({others or 'none'}). The PageRank ordering has damping 0.9 and "
        f"ranks its queue {RANKINGS} times in a crawl; PageRank as importance has 0.85. A curve's mean height is taken over "
        f"the whole crawl. {READING}"
    )
    return setting, _experiments(web, draws)


def _experiments(web: Web, draws: Draws) -> Iterator[PaperExperiment]:
    for experiment in (thresholds, partial(by_threshold, metric=IB), crawl_and_stop, partial(by_threshold, metric=IR), limited):
        yield experiment(draws)
    yield from small_site(web, draws)
    yield from topics(draws)
    yield several_words(draws, orderings(draws.web)[IR])


def orderings(web: Web) -> dict[str, str]:
    every = max(1, web.pages // RANKINGS)
    return {"bfs": "bfs", "backlink": "backlink", "pagerank": f"pagerank:alpha=0.9,tolerance={TOLERANCE},every={every}"}


def thresholds(draws: Draws) -> PaperExperiment:
    """One ordering, several G (the paper's first experiment)."""
    web = draws.web
    levels = {share: threshold_for(web, IB, share) for share in LAX_TO_STRINGENT}
    curves: dict[str, list[Curve]] = {}
    half: list[Drawn | None] = []
    rows: list[Row] = []
    for share, level in levels.items():
        count = hot_count(web, level, IB)
        drawn = draws.threshold_curves({"backlink": "backlink"}, level, IB)["backlink"]
        curves[f"G = {level:g} ({share:.0%} asked for, {count / web.pages:.1%} hot)"] = drawn
        half.append(_reached(drawn, 0.5))
        mean = heights({"backlink": drawn})["backlink"]
        rows.append([f"{level:g}", count, count / web.pages, half[-1], _reached(drawn, 0.8), mean])
    how = "Backlink ordering, hot pages by number of backlinks: how much of the web is fetched before half of them are found?"
    table = paper_table(["G (backlinks)", "hot pages", "share hot", "half found at", "80% found at", "mean P_ST"], rows)
    plot = Plot(middle(curves), "share of the hot pages found")
    claim = _stringent(list(levels.values()), half)
    return PaperExperiment("More and less stringent thresholds", how, ["backlink"], plot, table, [claim])


def _reached(curves: list[Curve], height: float) -> Drawn | None:
    """When curves are so high; None if one never is."""
    found = [reaches_at(curve, height) for curve in curves]
    at_all = tuple(share for share in found if share is not None)
    return Drawn(at_all) if len(at_all) == len(found) else None


def _stringent(levels: list[float], half: list[Drawn | None]) -> Claim:
    says = "The more stringent the threshold G, the faster the backlink crawler finds the hot pages."
    found = [share for share in half if share is not None]
    if len(set(levels)) < len(levels) or len(found) < len(half):
        return untested(says, "too few different numbers of backlinks for three thresholds")
    measured = ", ".join(f"G = {g:g}: {share}" for g, share in zip(levels, found, strict=True))
    rule = "half of the hot pages are found after a smaller share of the web at each higher G, by more than the spread"
    return decided(says, rule, f"half found after {measured}", all_hold(ahead(a, b) for a, b in pairwise(found)))


def by_threshold(draws: Draws, metric: str) -> PaperExperiment:
    """Three orderings, P_ST."""
    web, specs = draws.web, orderings(draws.web)
    levels = {share: threshold_for(web, metric, share) for share in HOT}
    curves = {share: draws.threshold_curves(specs, level, metric) for share, level in levels.items()}
    means = {share: heights(found) for share, found in curves.items()}
    rows: list[Row] = [[spec, *(means[share][spec] for share in HOT), *at_shares(curves[SHOWN][spec], AT)] for spec in specs]
    table = paper_table(["ordering", *(f"mean P_ST, {share:.0%} hot" for share in HOT), *heads(AT)], rows)
    how = (
        f"Crawl and stop with threshold, hot pages by {TITLES[metric]}, for thresholds that make {_shares()} of all pages hot; "
        f"drawn for {SHOWN:.0%}, and so are the last columns: P_ST after these shares of the web."
    )
    plot = threshold_plot(web, middle(curves[SHOWN]), levels[SHOWN], metric)
    claims = [_pagerank_best(metric, means)]
    if metric == IR:
        claims.append(_alike(means[SHOWN]))
    return PaperExperiment(f"Hot pages by {TITLES[metric]}", how, list(specs.values()), plot, table, claims)


def _shares() -> str:
    return ", ".join(f"{share:.0%}" for share in HOT)


def _pagerank_best(metric: str, means: dict[float, dict[str, Drawn]]) -> Claim:
    says = f"With importance {TITLES[metric]} the PageRank ordering finds hot pages fastest"
    says += ", even before the ordering by backlinks itself." if metric == IB else "."
    measured = "; ".join(f"{share:.0%} hot: {listing(values)}" for share, values in means.items())
    rule = f"its mean P_ST is ahead of both others with {_shares()} of the pages hot"
    short = [f"{share:.0%} hot: {found}" for share, values in means.items() if (found := not_ahead(values, IR))]
    holds = all_hold(leads(values, IR) for values in means.values())
    return decided(says, rule, measured, holds, "; ".join([*short, NOT_KNOWN]), "; ".join(short))


def _alike(means: dict[str, Drawn]) -> Claim:
    says = "With importance PageRank (IR) the backlink and breadth-first orderings do similarly well."
    values = {spec: means[spec] for spec in ("bfs", "backlink")}
    rule = f"their mean P_ST with {SHOWN:.0%} hot differ by at most {ALIKE}, spread included"
    by = values["backlink"].minus(values["bfs"])
    why = f"backlink is {'ahead' if by.mean > 0 else 'behind'} by {by}; why is not known"
    return alike(says, rule, listing(values), by, ALIKE, why)


def crawl_and_stop(draws: Draws) -> PaperExperiment:
    """Three orderings, P_CS."""
    web, specs = draws.web, orderings(draws.web)
    curves = {metric: draws.hot_curves(specs, metric) for metric in (IB, IR)}
    means = {metric: heights(found) for metric, found in curves.items()}
    rows: list[Row] = [
        [spec, means[IB][spec], *at_shares(curves[IB][spec], AT), means[IR][spec], *at_shares(curves[IR][spec], AT)]
        for spec in specs
    ]
    header = ["ordering", *(f"{name} {head}" for name in ("IB", "IR") for head in ("mean P_CS", *heads(AT)))]
    says = "In the crawl-and-stop model too the PageRank ordering is the best for importance backlinks (IB)."
    claim = lead(says, "its mean P_CS is ahead of both others", means[IB], IR)
    how = "Crawl and stop: of the k pages fetched, those among the k most important. Drawn for backlinks (IB); IR beside it."
    plot = stop_plot(web, middle(curves[IB]), IB)
    return PaperExperiment("Crawl and stop", how, list(specs.values()), plot, paper_table(header, rows), [claim])


def limited(draws: Draws) -> PaperExperiment:
    """Three orderings, P_BC, from the first start alone. The paper defines the model and measures nothing in it."""
    web, specs = draws.web, orderings(draws.web)
    every = max(1, web.pages // RANKINGS)
    values: dict[str, list[float]] = {}
    for name, spec in specs.items():
        values[name] = []
        for share in BUFFERS:
            draws.tell(f"{spec}, buffer of {share:.0%}")
            size = max(1, round(share * web.pages))
            values[name].append(buffer(web, parse(spec), draws.draws[0], size, IR, every))
    sizes = np.array(BUFFERS)
    curves = {spec: Curve(sizes, np.array(found)) for spec, found in values.items()}
    how = (
        "Limited buffer: all pages are visited, only B can be kept; the one of the lowest ordering value is flushed. The share "
        f"of hot pages (IR) in the buffer at the end, from the first start. Values are looked at {RANKINGS} times in a crawl. "
        "The paper defines this model without measuring it, so there is no claim to test."
    )
    plot = Plot(curves, "share of the buffer that is hot", "size of the buffer, share of the web")
    table = paper_table(
        ["ordering", *(f"B = {share:.0%}" for share in BUFFERS)], [[spec, *found] for spec, found in values.items()]
    )
    return PaperExperiment("Limited buffer", how, list(specs.values()), plot, table)
