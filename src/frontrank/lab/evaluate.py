"""evaluate: how much of the search impact that waits in a frontier does a ranker find first?

On a fully known web: pretend that D is the first part of a crawl, let each ranker score the frontier F from what was known
then, and compare what it puts first with the ideal. Observed impact comes from searching D alone, as an engine shows only
what it has; the truth for F from searching all pages. Where a web knows its own views or clicks, these can be the impact
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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from frontrank.errors import InputError, need
from frontrank.kernels.jit import Array
from frontrank.lab.frame import Column, Frame, Tabular
from frontrank.lab.measures.impact import FRONTIER_SHARES, click_through, impact_shares
from frontrank.lab.options import EvaluateOptions
from frontrank.options import check_options
from frontrank.orderings.ranker import Ranker
from frontrank.orderings.registry import find as find_ordering
from frontrank.orderings.registry import parse, parse_ranker
from frontrank.search.divided import DATES, Divided, divide, halves
from frontrank.search.observe import observe, truth
from frontrank.simulation.replayed import Replay
from frontrank.simulation.simulate import simulate
from frontrank.specs import split
from frontrank.web.importance import importance
from frontrank.web.seeds import find_seeds
from frontrank.web.view import CrawlView, Workload
from frontrank.web.web import Web

TRAINING = 0.65  # of F, in the split protocol
CYCLES = (1 / 2, 2 / 3, 5 / 6)  # of D: the earlier moments that the deployed protocol learns from
CALLED = {"ctr": "clicks over views", "pagerank": "PageRank"}  # measures in a table's head
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Scene:
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


@dataclass(frozen=True)
class Finding:
    """What one ranker found."""

    ranker: Ranker
    name: str  # as a person wrote it
    impact: dict[float, float]  # what the scene is judged by: views or clicks
    views: dict[float, float] | None
    clicks: dict[float, float] | None
    pagerank: dict[float, float]
    ctr: dict[float, float] | None  # clicks over views of each page, where both are known
    seconds: float
    notes: dict[str, dict[str, float]]


def ranker_of(spec: str | Ranker) -> Ranker:
    """The ranker that a specification names; online orderings such as random or fpr are replayed."""
    if isinstance(spec, Ranker):
        return spec
    batch = issubclass(find_ordering(split(spec)[0]), Ranker)
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


def stage(
    web: Web,
    workload: Workload | Divided | None,
    crawled: str = EvaluateOptions.crawled,
    seeds: Any = None,
    protocol: str | None = None,
    learns: bool = False,
    draw: int = EvaluateOptions.draw,
    progress: Progress | None = None,
    impact: str | None = None,
) -> Scene:
    """Crawl a part of the web, note what was known then, and look up the truth.

    A workload is cut in halves, one that drives and one that judges, unless it comes divided. ``impact`` names what pages
    are worth, views or clicks: the web's own, or views by the queries.
    """
    check_options(EvaluateOptions, crawled=crawled, protocol=protocol, draw=draw, impact=impact)
    tell = progress or (lambda text, done, total: None)
    policy, _, share = crawled.rpartition(":")
    pages = find_seeds(web, seeds)
    if impact is None and web.impact is not None and isinstance(workload, Divided) and workload.whole is web.queries:
        impact = web.impact_by or ("clicks" if web.views is None else "views")  # its own queries come with what came of them
    searched = impact == "views" and web.views is None and workload is not None
    web = web if searched else web.by_impact(impact)
    queries = halves(workload, draw) if isinstance(workload, Workload) else workload
    order = simulate(web, parse(policy), pages, share).trace.order
    past, future = _by_date(web, queries)
    true, judged_by = _true_impact(future, queries, tell)
    tell("searching the fetched pages", 0, 0)
    view = _seen(past, pages, order, queries)
    frontier = np.flatnonzero(~view.fetched)
    if len(frontier) == 0:
        raise InputError(f"crawled {crawled}: the whole web was fetched, so there is no frontier to rank; give a smaller share")
    if view.impact is None or not view.impact.any():
        raise InputError("all observed impacts are zero: no query shows a fetched page; give queries that fit the web")
    tested = frontier
    if protocol == "split":
        shuffled = np.random.default_rng(draw).permutation(frontier)
        cut = round(TRAINING * len(frontier))
        training, tested = np.sort(shuffled[:cut]), np.sort(shuffled[cut:])
        view.revealed = (training, true[view.pages[training]])
    elif learns:
        for at, cycle in enumerate(CYCLES):
            tell("earlier moments of the crawl", at, len(CYCLES))
            view.history.append(_seen(past, pages, order[: max(1, round(cycle * len(order)))], queries))
    known = {"views": web.views, "clicks": web.clicks} | {judged_by: true}
    views, clicks = (None if one is None else one[view.pages] for one in known.values())
    return Scene(web, view, tested, true[view.pages], judged_by, importance(web)[view.pages], views, clicks, queries)


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


def score_ranker(scene: Scene, ranker: Ranker, name: str = "", shares: tuple[float, ...] = FRONTIER_SHARES) -> Finding:
    """Let a ranker score the frontier, and compare what it puts first with the ideal."""
    begun = perf_counter()
    scores = ranker.score(scene.view)[scene.tested]
    seconds = perf_counter() - begun
    views, clicks = (None if known is None else known[scene.tested] for known in (scene.views, scene.clicks))
    return Finding(
        ranker,
        name or ranker.spec(),
        impact_shares(scores, scene.impact[scene.tested], shares),
        None if views is None else impact_shares(scores, views, shares),
        None if clicks is None else impact_shares(scores, clicks, shares),
        impact_shares(scores, scene.pagerank[scene.tested], shares),
        None if clicks is None or views is None else impact_shares(scores, click_through(clicks, views), shares),
        seconds,
        _notes(ranker, scene.view.notes),
    )


def _notes(ranker: Ranker, notes: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """What was noted of this ranker, not of one of the same name with other parameters."""
    own = f"{ranker.name} {ranker}"
    return (
        {own: notes[own]} if own in notes else {key: note for key, note in notes.items() if key.startswith(f"{ranker.name} ")}
    )


@dataclass(frozen=True, eq=False)
class Evaluation(Tabular):
    """Rankers side by side on one scene."""

    scene: Scene
    findings: tuple[Finding, ...]
    title: str = ""

    def json(self) -> dict[str, Any]:
        def at(values: dict[float, float] | None) -> dict[str, float] | None:
            return None if values is None else {f"{share:g}": value for share, value in values.items()}

        view = self.scene.view
        return {
            "rankers": {
                finding.name: {
                    "impact": at(finding.impact),
                    "views": at(finding.views),
                    "clicks": at(finding.clicks),
                    "ctr": at(finding.ctr),
                    "pagerank": at(finding.pagerank),
                    "seconds": finding.seconds,
                    **({"convergence": finding.notes} if finding.notes else {}),
                }
                for finding in self.findings
            },
            "judged_by": self.scene.judged_by,
            "queries": None if self.scene.queries is None else self.scene.queries.json(),
            "pages": {"D": len(view.source), "F": view.known - len(view.source), "tested": len(self.scene.tested)},
        }

    def frame(self) -> Frame:
        """The same as a table, the ranker first that finds most in 5% of the frontier."""
        figures: dict[str, dict[str, Any]] = self.json()["rankers"]
        values = list(figures.values())
        columns = [Column("ranker", list(figures))]
        for measure in ("views", "clicks", "ctr", "pagerank"):
            for share in values[0][measure] or ():
                name = f"{float(share):.0%}"
                held = [value[measure][share] for value in values]
                detail = measure != self.scene.judged_by
                group = f"of the ideal {CALLED.get(measure, measure)} in the first"
                columns.append(Column(f"{measure}@{name}", held, "share", "more", group, name, detail=detail))
        columns.append(Column("seconds", [value["seconds"] for value in values], "seconds", "less"))
        impact = self.scene.judged_by
        notes: tuple[str, ...] = (f"{impact}@5%: share of the ideal {impact} among the first 5% of the frontier",)
        if self.scene.queries is not None:
            notes = (*notes, self.scene.queries.told())
        notes += tuple(line for finding in self.findings for line in _walked(finding))
        pages = self.json()["pages"]
        counts = f"{pages['D']:,} pages fetched, {pages['F']:,} wait, {pages['tested']:,} tested"
        made = Frame(tuple(columns), f"{self.title or self.scene.web.name}: {counts}", notes)
        return made.sorted(f"{impact}@5%")


def _walked(finding: Finding) -> Iterator[str]:
    """What a walk was run with, and how exact it is."""
    for note in finding.notes.values():
        if {"omega", "gamma", "iterations", "residual"} <= note.keys():
            chosen = f"omega {note['omega']:g}, gamma {note['gamma']:g}"
            yield f"{finding.name}: {chosen}; {note['iterations']:.0f} iterations, L1 error at most {note['residual']:.1e}"


def evaluate(
    web: Web,
    workload: Workload | Divided | None,
    rankers: Sequence[str | Ranker],
    crawled: str = EvaluateOptions.crawled,
    seeds: Any = None,
    protocol: str | None = None,
    draw: int = EvaluateOptions.draw,
    progress: Progress | None = None,
    impact: str | None = None,
) -> Evaluation:
    """Score one frontier with each ranker, and say which share of the ideal impact each finds first (see ``stage``)."""
    made = [ranker_of(spec) for spec in rankers]
    if not made:
        raise InputError("no ranker given; name at least one, such as rw-eg")
    for ranker in made:
        if "queries" in ranker.needs():
            need("sklearn")  # said before the work
        if workload is None and "queries" in ranker.needs():
            raise InputError(f"{ranker.spec()} is driven by queries, but no query log was given; add --queries FILE")
    learns = any("history" in ranker.needs() for ranker in made)
    scene = stage(web, workload, crawled, seeds, protocol, learns, draw, progress, impact)
    findings = []
    for at, (spec, ranker) in enumerate(zip(rankers, made, strict=True)):
        if progress is not None:
            progress(ranker.spec(), at, len(made))
        findings.append(score_ranker(scene, ranker, spec if isinstance(spec, str) else ranker.spec()))
    return Evaluation(scene, tuple(findings), f"{web.name}, {crawled}")
