"""A scenario: one moment of a crawl of a known web, with the truth about its frontier.

Pretend that D is the first part of a crawl. Observed impact comes from searching D alone, as an engine shows only what it has;
the truth for the frontier F from searching all pages. Where a web knows its own views or clicks, these can be the impact
(``impact``): of D they are seen, of F they are the truth.

A query log is cut in two (``search.divided``): the queries that drive the rankers are not those that judge them. Cut by date,
clicks and views of a web that knows their dates are cut with it: of D the earlier ones are seen, of F the later ones judge.

Protocols, for rankers that learn (all rankers are tested on the same pages):

    split      tran15's: the impact of 65% of F is revealed for training, the rest is tested. It flatters, as training pages
               are neighbours of test pages in the same frontier
    deployed   a live crawl's: learn from pages that were fetched since earlier moments of the same crawl, with features as
               they were then and impact as it is known now; all of F is tested
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.lab.lab_options import EvaluateOptions
from frontrank.options import check_options
from frontrank.orderings.ranker import Ranker
from frontrank.orderings.registry import find as find_ordering
from frontrank.orderings.registry import parse, parse_ranker
from frontrank.search.divided import DATES, Divided, divide, halves
from frontrank.search.observe import observe, truth
from frontrank.simulation.replayed import Replay
from frontrank.simulation.side_by_side import Progress
from frontrank.simulation.simulate import simulate
from frontrank.specs import split as split_spec
from frontrank.web.importance import importance
from frontrank.web.seeds import find_seeds
from frontrank.web.view import CrawlView, Workload, earlier_moments
from frontrank.web.web import Web

TRAINING = 0.65  # of F, in the split protocol


@dataclass(frozen=True, eq=False)
class Scenario:
    """One moment of a crawl of a known web, with the truth about its frontier."""

    web: Web
    view: CrawlView
    tested: Array  # frontier pages, by discovery number
    impact: Array  # the truth that rankers are judged by, of all known pages
    judged_by: str  # what it counts: views or clicks
    pagerank: Array
    views: Array | None = None  # of all known pages, as far as they are known
    clicks: Array | None = None
    queries: Divided | None = None


def ranker_of(spec: str | Ranker) -> Ranker:
    """The ranker that a specification names; online orderings such as random or fpr are replayed."""
    if isinstance(spec, Ranker):
        return spec
    batch = issubclass(find_ordering(split_spec(spec)[0]), Ranker)
    return parse_ranker(spec) if batch else Replay(parse(spec))


def own_queries(web: Web, judge: str, draw: int, rankers: Sequence[str | Ranker]) -> Divided | None:
    """The queries that a web brings along, divided; None where nobody asks for them."""
    dated = judge.partition(":")[0] == DATES
    if web.queries is None:
        if dated:
            raise InputError(
                f"{web.name} knows no dates of searches, but it is to be judged by dates; give a query log with a column date"
            )
        return None
    asked = any("queries" in ranker_of(spec).needs() for spec in rankers)
    return divide(web.queries, judge, draw, web.name) if asked or dated else None


def build_scenario(
    web: Web,
    workload: Workload | Divided | None,
    crawled: str = EvaluateOptions.crawled,
    seeds: Any = None,
    protocol: str | None = None,
    *,
    learns: bool = False,
    draw: int = EvaluateOptions.draw,
    progress: Progress | None = None,
    impact: str | None = None,
) -> Scenario:
    """Crawl a part of the web, note what was known then, and look up the truth.

    A workload is cut in halves, one that drives and one that judges, unless it comes divided. ``impact`` names what pages
    are worth, views or clicks: the web's own, or views by the queries.
    """
    check_options(EvaluateOptions, crawled=crawled, protocol=protocol, draw=draw, impact=impact)
    tell = progress or (lambda text, done, total: None)
    policy, _, share = crawled.rpartition(":")
    pages = find_seeds(web, seeds)
    web = _with_impact(web, workload, impact)
    queries = halves(workload, draw) if isinstance(workload, Workload) else workload
    order = simulate(web, parse(policy), pages, share).trace.order
    past, future = _by_date(web, queries)
    true, judged_by = _true_impact(future, queries, tell)
    tell("searching the fetched pages", 0, 0)
    view = _seen(past, pages, order, queries)
    _check_frontier(view, crawled)
    if learns and protocol != "split":
        for at, fetched in enumerate(moments := earlier_moments(len(order))):
            tell("earlier moments of the crawl", at, len(moments))
            view.history.append(_seen(past, pages, order[:fetched], queries))
    known = {"views": web.views, "clicks": web.clicks} | {judged_by: true}
    views, clicks = (None if one is None else one[view.pages] for one in known.values())
    tested, rank = np.flatnonzero(~view.fetched), importance(web)[view.pages]
    scenario = Scenario(web, view, tested, true[view.pages], judged_by, rank, views, clicks, queries)
    return split(scenario, draw) if protocol == "split" else scenario


def split(scenario: Scenario, draw: int = 0) -> Scenario:
    """The same moment with the impact of 65% of the frontier revealed and the rest to be tested; without earlier moments."""
    shuffled = np.random.default_rng(draw).permutation(scenario.tested)
    cut = round(TRAINING * len(shuffled))
    training, tested = np.sort(shuffled[:cut]), np.sort(shuffled[cut:])
    view = replace(scenario.view, history=[], revealed=(training, scenario.impact[training]))
    return replace(scenario, view=view, tested=tested)


def _with_impact(web: Web, workload: Workload | Divided | None, impact: str | None) -> Web:
    """The web with what its pages are worth, where that is its own clicks or views."""
    if impact is None and web.impact is not None and isinstance(workload, Divided) and workload.whole is web.queries:
        impact = web.impact_by or (
            "clicks" if web.views is None else "views"
        )  # its own queries come with their clicks and views
    searched = impact == "views" and web.views is None and workload is not None
    return web if searched else web.by_impact(impact)


def _check_frontier(view: CrawlView, crawled: str) -> None:
    if view.fetched.all():
        raise InputError(f"crawled {crawled}: the whole web was fetched, so there is no frontier to rank; give a smaller share")
    if view.impact is None or not view.impact.any():
        raise InputError("all observed impacts are zero: no query shows a fetched page; give queries that fit the web")


def _by_date(web: Web, queries: Divided | None) -> tuple[Web, Web]:
    """The web as it was when the log is cut, and as it was later: with the clicks or views of each time, if they have dates."""
    if queries is None or queries.since is None or web.seen_on is None or not web.impact_by:
        return web, web
    cut = web.seen_on.split(web.impact_by, queries.since, web.pages)
    if cut is None:
        return web, web
    named: dict[str, Any] = {web.impact_by: cut[0]}
    return replace(web, **named), replace(web, **{**named, web.impact_by: cut[1]})


def _seen(web: Web, seeds: Array, order: Array, queries: Divided | None) -> CrawlView:
    view = CrawlView.of(web, seeds, order) if queries is None else observe(web, seeds, order, queries.driving)
    if queries is None or web.impact_by:
        assert web.impact is not None
        view.see_impact(web.impact)
        if web.views is not None and web.clicks is not None:
            both = {"views": web.views, "clicks": web.clicks}
            view.impacts = {name: np.where(view.fetched, known[view.pages], 0.0) for name, known in both.items()}
    return view


def _true_impact(web: Web, queries: Divided | None, tell: Progress) -> tuple[Array, str]:
    if queries is not None and not web.impact_by:
        tell("searching all pages", 0, 0)
        return truth(web, queries.judging), "views"
    if web.impact is None:
        raise InputError(f"{web.name} knows neither views nor clicks; give a query log with --queries")
    return web.impact, web.impact_by or ("clicks" if web.views is None else "views")
