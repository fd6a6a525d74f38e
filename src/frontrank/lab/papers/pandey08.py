"""pandey08: which uncrawled pages would searchers be shown, and is that better known from queries or from links?

Dataset 1: a fifth of all pages, drawn at random, is uncrawled, the rest crawled. Dataset 2: of the uncrawled pages the fifth
of the greatest PageRank is moved to the crawled ones, as crawlers fetch such pages early. Only uncrawled pages that a crawled
one links to are known, and so ordered. The truth comes from searching all pages: the views of a page are the times that it is
among the first ten results.

The paper's data are 110,000 of many billions of pages and the complete log of a search engine, with that engine's scores.

Reference: Pandey, Olston: Crawl Ordering by Search Impact, WSDM 2008.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.lab.measures import Curve
from frontrank.lab.measures.impact import picks
from frontrank.lab.papers.claims import (
    MARGIN,
    READING,
    Claim,
    decided,
    height_at,
    higher,
    is_best,
    listed,
    mean_height,
    number,
)
from frontrank.lab.papers.crawls import Progress
from frontrank.lab.papers.made_queries import gathered, made_workload, most, told_of, unsearchable
from frontrank.lab.papers.reproduction import IDEAL, RANDOM, Experiment, Plot, Reproduction, Table, Tell, Value, describe, skip
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.orderings.batch.q_hybrid import QHybrid
from frontrank.search.divided import Divided
from frontrank.search.needy import BUCKETS, Improvability, average_scores, keep, neediness, only
from frontrank.search.observe import observe
from frontrank.web.importance import importance
from frontrank.web.view import CrawlView, Results, Workload
from frontrank.web.web import Web

PAPER = "Sandeep Pandey, Christopher Olston: Crawl Ordering by Search Impact. WSDM 2008."
UNCRAWLED = 0.2  # of all pages
PROMOTED = 0.2  # of the uncrawled, in Dataset 2
SHOWN = 10  # results that searchers look at
GROUPS = 5  # of pages by PageRank
WEAK = 0.3  # a correlation below this is weak
FIRST = 0.05  # of the uncrawled pages: "at first"
BUDGET = 0.1  # of the uncrawled pages: c, where the paper has 1000 of 110,000
BUDGETS = (0.05, 0.1, 0.2)
SHARES = (1.0, 0.1, 0.01, 0.001, 0.0007)  # of the query sketches
PAPER_SHARE = 0.0007
TENTH = 0.1
NEARLY = 0.9  # of the impact with all sketches
EXPLAINED = 0.5  # of the variance between buckets
FULLER = (2, 5, 10, 50)  # answers of a query: does what is learned depend on how many it has?
HYBRID_SPEC = "q-hybrid:fit=quadratic"  # the paper's
POLICIES = {"query-independent": "pagerank", "query-driven": "q-overlap", "hybrid": HYBRID_SPEC}
ABOVE = np.array([0.05, 0.1, 0.2, 0.5])

CORRELATED = "Importance and impact hardly go together: Pearson's correlation is 0.09."
GROWS = "Yet the average impact grows with the average importance of groups of pages."
EARLY = "The query-driven policy does very well at first."
DRIES = "Then its clues dry up, and the query-independent policy overtakes it."
HYBRID = "The hybrid policy does best."
PRONOUNCED = "The advantage of the hybrid policy is more pronounced on Dataset 2."
FALLS = "Queries whose results score low on average can be improved more."
CARRIES = "What was learned of this on one half of the queries holds for the other half, with fairly high accuracy."
FEW = f"Most of the impact is had with {PAPER_SHARE} of the query sketches, the neediest ones."
SOME = "Keeping but a small part of the sketches costs little (here: a tenth of them)."
ALL = (CORRELATED, GROWS, EARLY, DRIES, HYBRID, PRONOUNCED, FALLS, CARRIES, FEW, SOME)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Crawled and uncrawled pages, and the truth about the latter."""

    name: str
    view: CrawlView
    truth: Results  # of searching all pages; pages by the web's numbers
    importance: Array  # PageRank in the whole web, of each page of it

    @property
    def waits(self) -> Array:
        """The uncrawled pages, by discovery number."""
        return np.flatnonzero(~self.view.fetched)

    def impact(self, workload: Workload, truth: Results) -> Array:
        """The true impact of the uncrawled pages for these queries."""
        return truth.views(workload, len(self.importance), SHOWN)[self.view.pages[self.waits]]

    def half(self, queries: Array) -> tuple[CrawlView, Results]:
        """The view and the truth as these queries alone show them."""
        assert self.view.search is not None
        search = only(self.view.search, queries)
        seen = search.results.views(search.workload, self.view.known, SHOWN)
        true = only(replace(self.view.search, results=self.truth), queries).results
        return replace(self.view, search=search, impact=seen), true

    @property
    def log(self) -> Workload:
        assert self.view.search is not None
        return self.view.search.workload


def reproduce(web: Web, workload: Workload | Divided | None, progress: Progress, impact: str | None = None) -> Reproduction:
    if impact == "clicks":
        raise InputError("pandey08 is about what searchers are shown, not about clicks; leave out --impact")
    if isinstance(workload, Divided):
        workload = workload.whole
    done: list[Experiment] = []

    def tell(text: str) -> None:
        progress(f"pandey08: {text}", min(len(done), 6), 7)

    searched = ""
    if reason := unsearchable(web):
        done.append(skip("All experiments", reason, ALL))
    else:
        log = workload or made_workload(web)
        searched = told_of(log, workload is not None)
        both = datasets(web, log, tell)
        done.append(correlation(both[0]))
        tell("policies")
        policies = [compared(data) for data in both]
        done += [effectiveness(data, curves) for data, curves in zip(both, policies, strict=True)]
        done[-1] = replace(done[-1], claims=[*done[-1].claims, advantage(policies)])
        for data in both:
            tell(f"improvability, {data.name}")
            done += improving(data)
    setting = (
        f"Dataset 1: {UNCRAWLED:.0%} of the pages, drawn at random, are uncrawled, as far as others link to them. Dataset 2: "
        f"the {PROMOTED:.0%} of them of the greatest PageRank are moved to the crawled ones. {searched} {READING}"
    )
    return Reproduction("pandey08", f"pandey08 on {web.name}", PAPER, describe(web), setting, done)


def datasets(web: Web, log: Workload, tell: Tell) -> tuple[Dataset, Dataset]:
    """Both divisions of a web's pages."""
    tell("searching all pages")
    everything = np.arange(web.pages)
    whole = observe(web, everything, everything, log, SHOWN, SHOWN)  # so numbered, a page is found by its own number
    assert whole.search is not None
    rank = importance(web, "pagerank")
    held = np.sort(np.random.default_rng(0).choice(web.pages, round(UNCRAWLED * web.pages), replace=False))
    lesser = held[np.argsort(-rank[held], kind="stable")[round(PROMOTED * len(held)) :]]
    made = []
    for name, uncrawled in (("Dataset 1", held), ("Dataset 2", np.sort(lesser))):
        tell(f"searching the crawled pages, {name}")
        crawled = np.setdiff1d(everything, uncrawled)
        view = observe(web, crawled[:1], crawled, log, SHOWN)
        data = Dataset(name, view, whole.search.results, rank)
        if len(data.waits) == 0 or not data.impact(log, data.truth).any():
            raise InputError(f"no query shows an uncrawled page of {web.name}; give queries that fit the web, or a larger web")
        made.append(data)
    return made[0], made[1]


def correlation(data: Dataset) -> Experiment:
    """Fig. 2."""
    rank = data.importance[data.view.pages[data.waits]] * len(data.importance)
    impact = data.impact(data.log, data.truth)
    pearson = float(np.corrcoef(rank, impact)[0, 1]) if np.ptp(rank) > 0 else 0.0
    groups = np.array_split(np.argsort(rank, kind="stable"), GROUPS)
    rows: list[list[Value]] = [
        [f"{at + 1}", len(group), f"{rank[group].mean():.2f}", f"{impact[group].mean():.2f}", float((impact[group] > 0).mean())]
        for at, group in enumerate(groups)
    ]
    low, high = impact[groups[0]].mean(), impact[groups[-1]].mean()
    claims = [
        decided(CORRELATED, f"the correlation is below {WEAK}", number(pearson, 2), abs(pearson) < WEAK),
        decided(
            GROWS,
            "the fifth of the greatest PageRank has a higher mean impact than the fifth of the least",
            f"{low:.2f} and {high:.2f}",
            bool(high > low),
        ),
    ]
    how = (
        "The uncrawled pages of Dataset 1 in fifths by PageRank (in the whole web, times the number of pages), and how often "
        "they would be shown."
    )
    header = ["fifth by PageRank", "pages", "mean PageRank", "mean views", "share with any"]
    return Experiment("Importance and impact", how, (), None, Table(header, rows), claims)


def compared(data: Dataset) -> dict[str, Curve]:
    """Fig. 5: the cumulative impact of each policy."""
    parts = QHybrid(fit="quadratic").parts(data.view)  # its first part is q-overlap, but for a factor
    scores = {
        "query-independent": PageRank().score(data.view),
        "query-driven": parts["queries"],
        "hybrid": parts["queries"] + parts["pagerank"],
    }
    impact = data.impact(data.log, data.truth)
    return {name: gathered(score[data.waits], impact) for name, score in scores.items()}


def effectiveness(data: Dataset, curves: Mapping[str, Curve]) -> Experiment:
    everyone = {**curves, RANDOM: Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))}
    means = {name: mean_height(curve) for name, curve in everyone.items()}
    first = {name: height_at(curve, FIRST) for name, curve in everyone.items()}
    x = np.linspace(FIRST, 1.0, 500)
    driven, plain = (np.interp(x, *curves[name]) for name in ("query-driven", "query-independent"))
    behind = np.flatnonzero(plain > driven + MARGIN)
    claims = [
        decided(
            EARLY,
            f"at {FIRST:.0%} of the uncrawled pages it has gathered more than the query-independent policy and a random order",
            listed(first),
            higher(first["query-driven"], max(first["query-independent"], first[RANDOM])),
        ),
        decided(
            DRIES,
            f"beyond {FIRST:.0%} of the uncrawled pages the query-independent policy has somewhere gathered more",
            f"from {x[behind[0]]:.0%} on" if len(behind) else "nowhere",
            len(behind) > 0,
        ),
        decided(HYBRID, "its mean cumulative impact is the highest", listed(means), is_best(means, "hybrid")),
    ]
    rows: list[list[Value]] = [[name, *np.interp(ABOVE, *curve).tolist(), means[name]] for name, curve in everyone.items()]
    ideal = most(data.impact(data.log, data.truth))
    rows.insert(0, [IDEAL, *np.interp(ABOVE, *ideal).tolist(), mean_height(ideal)])
    how = (
        f"{len(data.view.source):,} pages are crawled, {len(data.waits):,} are ordered. Cumulative impact, as a share of that "
        "of all the uncrawled pages. Pages that match no query come last in the query-driven order, as they were found."
    )
    plot = Plot({IDEAL: ideal, **everyone}, "share of the impact gathered", "share of the uncrawled pages fetched")
    header = ["policy", *(f"at {share:.0%}" for share in ABOVE), "mean"]
    return Experiment(f"Policies, {data.name}", how, tuple(POLICIES.values()), plot, Table(header, rows), claims)


def advantage(policies: Sequence[Mapping[str, Curve]]) -> Claim:
    gains = {
        f"Dataset {at + 1}": mean_height(curves["hybrid"]) - mean_height(curves["query-independent"])
        for at, curves in enumerate(policies)
    }
    rule = "the mean of the hybrid policy above that of the query-independent one is higher there"
    return decided(PRONOUNCED, rule, listed(gains), higher(gains["Dataset 2"], gains["Dataset 1"]))


class Improved(NamedTuple):
    """What a cycle of the hybrid policy did for each of some queries."""

    average: Array  # score of the first ten results before
    answers: Array  # results before
    brought: Array  # of its true first ten results, those that the cycle fetched

    def answered(self, least: int) -> Improved:
        """Those with so many results before, at least."""
        return Improved(*(column[self.answers >= least] for column in self))


def improving(data: Dataset) -> list[Experiment]:
    """Figs. 7, 8 and 9, with the queries in two halves."""
    shuffled = np.random.default_rng(1).permutation(len(data.log))
    halves = [np.sort(part) for part in np.array_split(shuffled, 2)]
    learned, tested = (_improved(data, half) for half in halves)
    heading = f"Improvability, {data.name}"
    if _fewest(learned, tested, 1) < BUCKETS:
        reason = f"fewer than {BUCKETS} queries of each half have answers among the crawled pages"
        return [skip(heading, reason, [FALLS, CARRIES]), skip(f"Sketches kept, {data.name}", reason, [FEW, SOME])]
    return [improvability(heading, learned, tested), sketches(data, halves[1], _fitted(learned, 1))]


def _improved(data: Dataset, queries: Array) -> Improved:
    view, truth = data.half(queries)
    assert view.search is not None
    waits = data.waits
    count = max(1, round(BUDGET * len(waits)))
    chosen = np.zeros(len(data.importance), bool)
    chosen[view.pages[waits[picks(QHybrid(fit="quadratic").score(view)[waits])[:count]]]] = True
    query = np.repeat(np.arange(len(queries)), np.diff(truth.indptr))
    results = view.search.results
    brought = np.bincount(query, chosen[truth.page], len(queries))
    return Improved(average_scores(results, SHOWN), np.diff(results.indptr), brought)


def _fewest(learned: Improved, tested: Improved, least: int) -> int:
    return min(int((half.answers >= least).sum()) for half in (learned, tested))


def _fitted(learned: Improved, least: int) -> Improvability:
    some = learned.answered(least)
    return Improvability.fit(some.average, some.brought)


def _buckets(tested: Improved, least: int) -> tuple[Array, Array]:
    """Mean average score and mean improvement of queries of about the same score."""
    some = tested.answered(least)
    buckets = np.array_split(np.argsort(some.average, kind="stable"), BUCKETS)
    return np.array([some.average[b].mean() for b in buckets]), np.array([some.brought[b].mean() for b in buckets])


def _explained(fitted: Improvability, x: Array, y: Array) -> float:
    """The share of the variance of y that the curve explains; below 0 if the mean of y would err less."""
    spread = float(((y - y.mean()) ** 2).sum())
    return 1.0 - float(((y - fitted(x)) ** 2).sum()) / spread if spread > 0 else 0.0


def improvability(heading: str, learned: Improved, tested: Improved) -> Experiment:
    """Fig. 7."""
    fitted = _fitted(learned, 1)
    x, y = _buckets(tested, 1)
    expected, explained = fitted(x), _explained(fitted, x, y)
    claims = [
        decided(FALLS, "the fitted curve falls", f"exp({fitted.intercept:.2f} {fitted.slope:+.3f} s)", fitted.slope < 0),
        decided(
            CARRIES,
            f"the curve of the one half explains at least {EXPLAINED:.0%} of the variance between buckets of the other",
            f"{explained:.0%}",
            explained >= EXPLAINED,
        ),
    ]
    others = []
    for least in FULLER:
        if _fewest(learned, tested, least) >= BUCKETS:
            curve = _fitted(learned, least)
            others.append(f"{least}: {curve.slope:+.3f}, {_explained(curve, *_buckets(tested, least)):.0%}")
    rows: list[list[Value]] = [[f"{a:.2f}", f"{b:.3f}", f"{c:.3f}"] for a, b, c in zip(x, expected, y, strict=True)]
    how = (
        f"Each half of the queries drives a hybrid policy of its own, which fetches {BUDGET:.0%} of the uncrawled pages. "
        f"Improvement: how many of a query's first {SHOWN} results these pages are. Queries with an answer among the crawled "
        f"pages, in {BUCKETS} buckets by the average score s of their first {SHOWN} results (missing ones count 0). The "
        "verdicts are on these. "
    )
    if others:
        how += f"Slope and variance explained for queries with more answers, at least {'; '.join(others)}."
    plot = Plot({"learned": Curve(x, expected), "test": Curve(x, y)}, "results improved", "average score before", shares=False)
    return Experiment(heading, how.strip(), (HYBRID_SPEC,), plot, Table(["average score", "learned", "test"], rows), claims)


def sketches(data: Dataset, testing: Array, fitted: Improvability) -> Experiment:
    """Figs. 8 and 9."""
    view, truth = data.half(testing)
    assert view.search is not None
    impact, waits = data.impact(view.search.workload, truth), data.waits
    need = neediness(view.search.workload, view.search.results, fitted, SHOWN)
    curves: dict[str, Curve] = {}
    kept: dict[str, int] = {}
    hybrid = QHybrid(fit="quadratic")
    for share in SHARES:
        chosen = keep(need, share)
        name = f"{share:g}"
        kept[name] = len(chosen)
        fewer = replace(view, search=only(view.search, chosen))
        parts = hybrid.parts(fewer)
        curves[name] = gathered((parts["queries"] + parts["pagerank"])[waits], impact)
    kept["none"] = 0
    curves["none"] = gathered(parts["pagerank"][waits], impact)
    at = {name: height_at(curve, BUDGET) for name, curve in curves.items()}
    rows: list[list[Value]] = [
        [name, kept[name], *(height_at(curve, share) for share in BUDGETS), mean_height(curve)]
        for name, curve in curves.items()
    ]
    header = ["share of sketches", "sketches", *(f"at {share:.0%}" for share in BUDGETS), "mean"]
    how = (
        "The hybrid policy with the sketches of the neediest queries alone, on the half of the queries that improvability was "
        "not learned on. Need is judged by frequency and average score. Impact as a share of that of all uncrawled pages. "
        "none: PageRank alone."
    )
    claims = [_enough(FEW, at, f"{PAPER_SHARE:g}"), _enough(SOME, at, f"{TENTH:g}")]
    plot = Plot(curves, "share of the impact gathered", "share of the uncrawled pages fetched")
    return Experiment(f"Sketches kept, {data.name}", how, (HYBRID_SPEC,), plot, Table(header, rows), claims)


def _enough(says: str, at: Mapping[str, float], share: str) -> Claim:
    rule = (
        f"at {BUDGET:.0%} of the uncrawled pages it has at least {NEARLY:.0%} of the impact that it has with all sketches, and "
        "more than without any"
    )
    measured = {f"{share} of sketches": at[share], "all": at["1"], "none": at["none"]}
    enough = at[share] >= NEARLY * at["1"] and higher(at[share], at["none"])
    return decided(says, rule, listed(measured), enough)
