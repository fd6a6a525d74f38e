"""tran15: random walks weighted by search impact, with graph enrichment, against orderings that know less.

A crawl by bfs from the start page has fetched 30% of the web, and in a second scene 60%; each ranker orders what waits then.
Observed impact comes from searching the fetched pages alone, the truth about the frontier from searching all. Omega is tuned
on 65% of the frontier, whose impact is told (the paper's way), and all orderings are compared on the rest; the learned one
also as a live crawl would have it, from earlier moments of its own crawl and on the whole frontier.

The paper's data are revisions of Wikipedia and a sample of a large crawl with their search log; clicks are used here only
where a web knows them. gamma is 0, as in the paper's larger data set.

Reference: Tran, Turk, Cambazoglu, Nejdl: A Random Walk Model for Optimization of Search Impact in Web Frontier Ranking,
SIGIR 2015.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.lab.evaluate import Scene, ranker_of, stage
from frontrank.lab.measures import Curve
from frontrank.lab.measures.impact import FRONTIER_SHARES, click_through, impact_shares
from frontrank.lab.papers.claims import (
    READING,
    Claim,
    decided,
    height_at,
    higher,
    is_best,
    listed,
    mean_height,
    number,
    untested,
)
from frontrank.lab.papers.crawls import Progress
from frontrank.lab.papers.impact_ratio import Behind, behind, links_within
from frontrank.lab.papers.made_queries import lines, made_workload, split, told_of, unsearchable
from frontrank.lab.papers.parts import reached, start_page
from frontrank.lab.papers.reproduction import RANDOM, Experiment, Plot, Reproduction, Table, Tell, Value, describe, skip
from frontrank.lab.tune import SHARES, Setting, tune
from frontrank.orderings.ranker import Ranker
from frontrank.search.divided import Divided, halves
from frontrank.web.view import Workload
from frontrank.web.web import Web

PAPER = (
    "Giang Tran, Ata Turk, B. Barla Cambazoglu, Wolfgang Nejdl: A Random Walk Model for Optimization of Search Impact in Web "
    "Frontier Ranking. SIGIR 2015."
)
CRAWLED = (0.3, 0.6)
SIMPLE = ("indegree", "pagerank", "q-overlap", "q-hybrid:fit=tree", "rw")
QUERIED = ("q-overlap", "q-hybrid:fit=tree")
SHOWN = np.linspace(0.0025, 0.2, 80)  # shares of the frontier at which curves are drawn
UNTIL = 0.1  # of the frontier: how far means go, as in the paper's figures for Wikipedia
FIRST = 0.01  # of the frontier: "at first"
MUCH = 2.0  # "significantly higher"
RAISED = 1.05  # by enrichment; the paper: 1.07 and 1.09
WAITS = "share of the frontier fetched"

PAPER_SHARE = {"views": "35.5% and 0.8%", "clicks": "27.4% and 0.4%"}
VIEWED = (
    "Viewed (clicked) pages that are fetched lead to far more impact each than others: r_v 13.68 against 3.15, and 137.99 "
    "against 0.06 (r_c 5.76 against 1.07, and 162.17 against 0.03)."
)
ENRICHED = (
    "Virtual edges raise what viewed (clicked) pages lead to: r_v from 13.68 to 14.67, and from 137.99 to 150.59 (r_c from "
    "5.76 to 6.17, and from 162.17 to 207.63)."
)
OMEGA = "The best omega mixes both kinds of links: 0.2 and 0.8 for views, 0.1 and 0.9 for clicks."
WALK = "RW finds considerably more impact than PageRank."
EDGES = "RW-EG finds more impact than RW."
LATER = "RW-EG is the best of all once 6% of the frontier is fetched (Wikipedia)."
DRIES = "Q-Overlap is ahead of RW-EG at first (below 5% of the frontier of Wikipedia), then dries up and falls behind."
CHANCE = "A random order is the worst of all."
CLICKS = "Q-Overlap and Q-Hybrid pick pages of the highest click-through rate (Wikipedia)."
RANK = "PageRank is the best in PageRank per page fetched."
LOW = "Pages picked by Q-Overlap have a lower PageRank than those of RW, RW-EG, Q-Hybrid and PageRank."
LEARNED = "ML, a regression over the other scores, finds more impact than RW-EG (on Wikipedia; not on the crawl)."
ALL = (VIEWED, ENRICHED, OMEGA, WALK, EDGES, LATER, DRIES, CHANCE, CLICKS, RANK, LOW, LEARNED)


@dataclass(frozen=True, eq=False)
class Ordered:
    """One scene, the orderings tuned on it, and what they score."""

    scene: Scene  # the deployed one
    trial: Scene  # with 65% of the frontier told
    settings: Sequence[Setting]
    specs: Mapping[str, str]  # by name
    scores: Mapping[str, Array]  # of all known pages, by name
    learned: Mapping[str, Array]  # of ml, in both protocols
    name: str

    def impact(self) -> dict[str, Curve]:
        """The curves of the paper's way of testing."""
        tested = self.trial.tested
        scores = {**self.scores, "ml": self.learned["split"]}
        return lines({name: score[tested] for name, score in scores.items()}, self.trial.impact[tested], SHOWN)


def reproduce(web: Web, workload: Workload | Divided | None, progress: Progress, impact: str | None = None) -> Reproduction:
    web = web.by_impact(impact) if impact != "views" or web.views is not None else web
    steps = 6 * len(CRAWLED)
    done: list[Experiment] = []

    def tell(text: str) -> None:
        progress(f"tran15: {text}", min(len(done), steps - 1), steps)

    known = web.views is not None or web.clicks is not None
    log, searched = halves(workload) if isinstance(workload, Workload) else workload, ""
    if reason := "" if known and workload is None else unsearchable(web):
        done += [skip(f"{share:.0%} fetched", reason, ALL) for share in CRAWLED]
    else:
        if log is None and not known:
            log = halves(made_workload(web))
        own = f"Impact is the web's own: {web.impact_by or ('views' if web.views is not None else 'clicks')}."
        searched = own if log is None else f"{told_of(log.whole, workload is not None)} {log.told()}"
        start = start_page(web)
        reach = len(reached(web, start))
        for share in CRAWLED:
            done += _scene(web, log, start, share, reach, tell)
    setting = (
        f"Crawls by bfs start at the web's start page and have fetched {' or '.join(f'{s:.0%}' for s in CRAWLED)} of the web. "
        f"{searched} {READING} The paper's webs: Wikipedia, 477 thousand pages fetched and 127 thousand waiting, and a crawl "
        "of 74 and 24 million, with the queries and clicks of their time."
    )
    return Reproduction("tran15", f"tran15 on {web.name}", PAPER, describe(web), setting, done)


def _scene(web: Web, log: Divided | None, start: int, share: float, reach: int, tell: Tell) -> list[Experiment]:
    name = f"{share:.0%} fetched"
    if round(share * web.pages) >= reach:
        reason = f"the start page reaches {reach:,} pages, which is not more than {share:.0%} of the web: nothing would wait"
        return [skip(name, reason, ALL)]
    tell(f"{name}: the crawl and what searchers saw of it")
    seeds = web.ids_of(np.array([start])).tolist()
    scene = stage(web, log, f"bfs:{share}", seeds, learns=True)
    tell(f"{name}: omega")
    trial = split(scene)
    settings = tune(trial)
    specs = {spec.partition(":")[0]: spec for spec in SIMPLE if log is not None or spec not in QUERIED}
    specs["rw-eg"] = f"rw-eg:omega={settings[0].omega:g}"
    scores = {}
    for short, spec in specs.items():
        tell(f"{name}: {spec}")
        scores[short] = ranker_of(spec).score(scene.view)
    learned = {}
    for protocol, one in (("split", trial), ("deployed", scene)):
        tell(f"{name}: ml, {protocol}")
        learned[protocol] = _ml().score(one.view)
    ordered = Ordered(scene, trial, settings, specs, scores, learned, name)
    return [made(ordered) for made in (frontier, omega, impact, clicked, standing, learning)]


def _ml() -> Ranker:
    from frontrank.orderings.batch.ml.ml import Ml

    return Ml()


def frontier(of: Ordered) -> Experiment:
    """Tables 1 to 3: what is fetched, what waits, and how the two are linked."""
    view, views = of.scene.view, of.scene.impact
    done, counted = ("clicked", "clicks") if of.scene.judged_by == "clicks" else ("viewed", "views")
    r = f"r_{counted[0]}"
    assert view.impact is not None
    fetched, waits = view.fetched, ~view.fetched
    seen = fetched & (view.impact > 0)
    inside, outside = links_within(view)
    ratio = float((views[waits] > 0).mean())
    rows: list[list[Value]] = []
    found: dict[str, Behind] = {}
    for label, chosen in ((done, seen), (f"not {done}", fetched & ~seen)):
        for when, enriched in (("links", False), ("links and virtual edges", True)):
            found[f"{label}, {when}"] = one = behind(view, chosen, views, enriched)
            rows.append([label, when, one.pages, one.linked, f"{one.impact:,.0f}", f"{one.ratio:.3f}"])
    how = (
        f"{len(view.source):,} pages are fetched (D), {int(waits.sum()):,} wait (F). {inside:,} links lead from D to D, "
        f"{outside:,} from D to F. {done.capitalize()}: {int(seen.sum()):,} of D and {int((views[waits] > 0).sum()):,} of F, "
        f"which is {ratio:.1%} of F (the paper: {PAPER_SHARE[counted]}). {r}: the {counted} of all pages of F that some pages "
        "of D lead to, for each of these pages of D."
    )
    before, after, others = (
        found[k].ratio for k in (f"{done}, links", f"{done}, links and virtual edges", f"not {done}, links")
    )
    claims = [
        decided(
            VIEWED,
            f"{r} of {done} pages is at least {MUCH:g} times that of the others",
            f"{done} {before:.3f}, not {done} {others:.3f}",
            before >= MUCH * others and before > 0,
        ),
        decided(
            ENRICHED,
            f"{r} of {done} pages grows by at least {RAISED - 1:.0%}",
            f"from {before:.3f} to {after:.3f}",
            after >= RAISED * before and after > 0,
        ),
    ]
    header = ["pages of D", "lead on by", "how many", "pages of F they lead to", f"{counted} of these", r]
    return Experiment(f"Frontier impact ratio, {of.name}", how, (), None, Table(header, rows), claims)


def omega(of: Ordered) -> Experiment:
    """Fig. 3."""
    by_omega = sorted(of.settings, key=lambda one: one.omega)
    estimate = {f"{one.omega:g}": one.estimate for one in by_omega}
    best = of.settings[0]
    ends = {"0": estimate["0"], "1": estimate["1"]}
    rows: list[list[Value]] = [[f"{one.omega:g}", one.estimate, one.training, one.test] for one in by_omega]
    x = np.array([one.omega for one in by_omega])
    curves = {
        ".632+": Curve(x, np.array([s.estimate for s in by_omega])),
        "test": Curve(x, np.array([s.test for s in by_omega])),
    }
    claim = decided(
        OMEGA,
        "the estimate is highest for an omega between 0 and 1, and higher there than at one of the ends",
        listed({f"{best.omega:g}": best.estimate, **ends}),
        0 < best.omega < 1 and higher(best.estimate, min(ends.values())),
    )
    shares = " and ".join(f"{share:.0%}" for share in SHARES)
    how = (
        f"Share of the ideal impact among the first {shares} of the frontier, the mean, as the .632+ bootstrap expects it "
        "from the 65% of the frontier whose impact is told, and as it is on the rest. 1: links alone, which is RW; 0: virtual "
        "edges alone."
    )
    plot = Plot(curves, "share of the ideal impact", "omega")
    return Experiment(f"Omega, {of.name}", how, (), plot, Table(["omega", ".632+", "told", "test"], rows), [claim])


def impact(of: Ordered) -> Experiment:
    """Figs. 4 and 5."""
    curves = {name: curve for name, curve in of.impact().items() if name != "ml"}
    means = {name: mean_height(curve, UNTIL) for name, curve in curves.items()}
    claims = [
        _more(WALK, means, "rw", "pagerank"),
        _more(EDGES, means, "rw-eg", "rw"),
        decided(
            LATER,
            f"at {UNTIL:.0%} of the frontier its share of the ideal is the highest",
            listed(late := _at(curves, UNTIL)),
            is_best(late, "rw-eg"),
        ),
        _dries(curves),
        decided(
            CHANCE,
            f"its mean up to {UNTIL:.0%} of the frontier is the lowest",
            listed(means),
            all(higher(mean, means[RANDOM]) for name, mean in means.items() if name != RANDOM),
        ),
    ]
    how = (
        f"{of.scene.judged_by.capitalize()} of the first pages over that of the ideal order, on the {len(of.trial.tested):,} "
        f"pages of the frontier that omega was not tuned on; {RANDOM} is the expectation."
    )
    plot = Plot(curves, "impact relative to the ideal", WAITS)
    return Experiment(f"Impact, {of.name}", how, list(of.specs.values()), plot, _heights(curves), claims)


def _more(says: str, means: Mapping[str, float], name: str, other: str) -> Claim:
    pair = {one: means[one] for one in (name, other)}
    rule = f"its mean share of the ideal up to {UNTIL:.0%} of the frontier is higher"
    return decided(says, rule, listed(pair), higher(pair[name], pair[other]))


def _dries(curves: Mapping[str, Curve]) -> Claim:
    if "q-overlap" not in curves:
        return untested(DRIES, "no queries are known")
    first, late = (_at({one: curves[one] for one in ("q-overlap", "rw-eg")}, share) for share in (FIRST, UNTIL))
    return decided(
        DRIES,
        f"its share of the ideal is higher at {FIRST:.0%} of the frontier and lower at {UNTIL:.0%}",
        f"at {FIRST:.0%} {listed(first)}; at {UNTIL:.0%} {listed(late)}",
        higher(first["q-overlap"], first["rw-eg"]) and higher(late["rw-eg"], late["q-overlap"]),
    )


def _at(curves: Mapping[str, Curve], share: float) -> dict[str, float]:
    return {name: height_at(curve, share) for name, curve in curves.items()}


def _heights(curves: Mapping[str, Curve]) -> Table:
    header = ["ordering", *(f"at {share:.0%}" for share in FRONTIER_SHARES), f"mean to {UNTIL:.0%}"]
    rows: list[list[Value]] = [
        [name, *(height_at(curve, share) for share in FRONTIER_SHARES), mean_height(curve, UNTIL)]
        for name, curve in curves.items()
    ]
    return Table(header, rows)


def clicked(of: Ordered) -> Experiment:
    """Fig. 6."""
    heading = f"Click-through rate, {of.name}"
    clicks, views, tested = of.trial.clicks, of.trial.views, of.trial.tested
    if clicks is None or views is None or "q-overlap" not in of.scores:
        lacks = "clicks" if clicks is None else "views" if views is None else "queries"
        return skip(heading, f"{of.scene.web.name} does not know its {lacks}", [CLICKS])
    rate = click_through(clicks[tested], views[tested])
    rates = {name: impact_shares(score[tested], rate) for name, score in of.scores.items()}
    late = {name: rate[UNTIL] for name, rate in rates.items()}
    claim = decided(
        CLICKS,
        f"at {UNTIL:.0%} of the frontier the rate of either is the highest",
        listed(late),
        any(is_best(late, name) for name in ("q-overlap", "q-hybrid")),
    )
    rows: list[list[Value]] = [[name, *rate.values()] for name, rate in rates.items()]
    header = ["ordering", *(f"at {share:.0%}" for share in FRONTIER_SHARES)]
    how = "Clicks over views of each of the first pages of the frontier, the mean, over that of the pages that have most."
    return Experiment(heading, how, list(of.specs.values()), None, Table(header, rows), [claim])


def standing(of: Ordered) -> Experiment:
    """Fig. 7."""
    tested = of.trial.tested
    scores = {name: score[tested] for name, score in of.scores.items()}
    curves = lines(scores, of.trial.pagerank[tested], SHOWN)
    means = {name: mean_height(curve, UNTIL) for name, curve in curves.items()}
    rule = f"its mean up to {UNTIL:.0%} of the frontier is the"
    claims = [decided(RANK, f"{rule} highest", listed(means), is_best(means, "pagerank"))]
    if "q-overlap" in means:
        others = {name: means[name] for name in ("rw", "rw-eg", "q-hybrid", "pagerank")}
        measured = listed({"q-overlap": means["q-overlap"], **others})
        claims.append(decided(LOW, f"{rule} lowest of these", measured, higher(min(others.values()), means["q-overlap"])))
    else:
        claims.append(untested(LOW, "no queries are known"))
    how = "PageRank of the first pages, in the whole web, over that of as many pages of the greatest PageRank."
    plot = Plot(curves, "PageRank relative to the ideal", WAITS)
    return Experiment(f"PageRank per page, {of.name}", how, list(of.specs.values()), plot, _heights(curves), claims)


def learning(of: Ordered) -> Experiment:
    """Fig. 8, and the same as a live crawl would have it."""
    chosen = ("ml", "rw-eg", "rw")
    curves = of.impact()
    split_means = {name: mean_height(curves[name], UNTIL) for name in chosen}
    tested = of.scene.tested
    scores = {"ml": of.learned["deployed"], **{name: of.scores[name] for name in chosen[1:]}}
    live = lines({name: score[tested] for name, score in scores.items()}, of.scene.impact[tested], SHOWN)
    drawn = {f"{name}, split": curves[name] for name in chosen} | {f"{name}, deployed": live[name] for name in chosen}
    gain = number(mean_height(live["ml"], UNTIL) - mean_height(live["rw-eg"], UNTIL))
    how = (
        "split: the paper's way, learned from the told 65% of the frontier and tested on the rest. deployed: learned from "
        "pages fetched since earlier moments of the same crawl, tested on the whole frontier, as in a crawl that runs; there "
        f"the mean of ml less that of rw-eg, whose omega was tuned on the frontier itself, is {gain}. ml takes more than the "
        "paper's features."
    )
    plot = Plot(drawn, "impact relative to the ideal", WAITS)
    claims = [_more(LEARNED, split_means, "ml", "rw-eg")]
    return Experiment(f"Learned, {of.name}", how, ("ml", of.specs["rw-eg"], "rw"), plot, _heights(drawn), claims)
