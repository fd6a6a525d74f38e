"""pandey08: which uncrawled pages would searchers be shown, and is that better known from queries or from links?

Dataset 1: a fifth of all pages, drawn at random, is uncrawled, the rest crawled. Dataset 2: of the uncrawled pages the fifth
of the greatest PageRank is moved to the crawled ones, as crawlers fetch such pages early. Only uncrawled pages that a crawled
one links to are known, and so ordered. The truth comes from searching all pages: the views of a page are the times that it is
among the first ten results.

Several draws: each takes other pages for uncrawled, and halves the query log anew. One half drives the policies, the other
judges them. What is learned of queries (Figs. 7 to 9) is learned and tested on other halves of the *different* queries, as in
the paper, where queries drive and judge at once.

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
from frontrank.lab.drawn import Drawn
from frontrank.lab.measures import Curve
from frontrank.lab.measures.impact import picks
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.orderings.batch.q_expected import QExpected
from frontrank.orderings.batch.q_hybrid import FITS, QHybrid
from frontrank.papers.claims import READING, Claim, above, ahead, all_hold, at_most, decided, lead, listing, one_holds
from frontrank.papers.draws import DRAWS, at, at_shares, heads, heights, mean_height, middle
from frontrank.papers.made_queries import gathered, made_workload, most, told_of, unsearchable
from frontrank.papers.reproduction import (
    IDEAL,
    RANDOM,
    Experiment,
    Plot,
    Reproduction,
    Tell,
    Value,
    describe,
    paper_table,
    skip,
)
from frontrank.search.divided import Divided, halves
from frontrank.search.expected_score import page_features
from frontrank.search.needy import BUCKETS, Improvability, average_scores, keep, neediness, only
from frontrank.search.observe import observe
from frontrank.simulation.side_by_side import Progress
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
MOST, NEARLY = 0.5, 0.9  # of the impact with all sketches
EXPLAINED = 0.5  # of the variance between buckets
FULLER = (2, 5, 10, 50)  # answers of a query: does what is learned depend on how many it has?
HYBRID_SPEC = "q-hybrid:fit=quadratic"  # the paper's
POLICIES = {"query-independent": "pagerank", "query-driven": "q-overlap", "hybrid": HYBRID_SPEC}
OURS = {"hybrid, rising fit": "q-hybrid", "expected case": "q-expected"}  # not in the paper's figure
FITTED = 40  # points of a fitted curve
FIT_AT = (0.1, 0.5, 0.9)  # of all pages by PageRank
TAIL = 0.5  # of the uncrawled pages by PageRank: those below have a weak standing
EXAMPLES = 5
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
NEARLY_ALL = f"With {PAPER_SHARE} of the sketches the hybrid policy does almost as well as with all."
PROMOTED_TAIL = "The hybrid policy fetches pages of high impact and weak standing much earlier than PageRank would."
SOME = "Keeping but a small part of the sketches costs little (here: a tenth of them)."
ALL = (CORRELATED, GROWS, EARLY, DRIES, HYBRID, PRONOUNCED, PROMOTED_TAIL, FALLS, CARRIES, FEW, NEARLY_ALL, SOME)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Crawled and uncrawled pages, and the truth about the latter."""

    name: str
    view: CrawlView  # with all queries of the log
    truth: Results  # of searching all pages for them; pages by the web's numbers
    importance: Array  # PageRank in the whole web, of each page of it
    queries: Divided  # what drives, what judges
    urls: Sequence[str]

    @property
    def waits(self) -> Array:
        """The uncrawled pages, by discovery number."""
        return np.flatnonzero(~self.view.fetched)

    def impact(self, workload: Workload, truth: Results) -> Array:
        """The true impact of the uncrawled pages for these queries."""
        return truth.views(workload, len(self.importance), SHOWN)[self.view.pages[self.waits]]

    @property
    def driven(self) -> CrawlView:
        """The view as the driving queries show it."""
        return self.asked(self.queries.driving)

    def judged(self) -> Array:
        """The true impact of the uncrawled pages, by the judging queries."""
        assert self.view.search is not None
        judging = self.queries.judging
        places = _places(self.view.search.workload, judging)
        true = only(replace(self.view.search, results=self.truth), places).results
        return self.impact(judging, true)

    def asked(self, workload: Workload) -> CrawlView:
        """The view as some of its queries, with frequencies of their own, show it."""
        assert self.view.search is not None
        search = replace(only(self.view.search, _places(self.view.search.workload, workload)), workload=workload, cache={})
        return replace(self.view, search=search, impact=search.results.views(workload, self.view.known, SHOWN))

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


def _places(whole: Workload, some: Workload) -> Array:
    number = {query: at for at, query in enumerate(whole.queries)}
    return np.array([number[query] for query in some.queries], np.int64)


@dataclass(frozen=True, eq=False)
class Drawing:
    """One of the two data sets in all draws."""

    all: Sequence[Dataset]

    @property
    def first(self) -> Dataset:
        return self.all[0]

    @property
    def name(self) -> str:
        return self.first.name


def reproduce(web: Web, workload: Workload | Divided | None, progress: Progress, impact: str | None = None) -> Reproduction:
    if impact == "clicks":
        raise InputError("pandey08 is about what searchers are shown, not about clicks; drop --impact")
    done: list[Experiment] = []

    def tell(text: str) -> None:
        progress(f"pandey08: {text}", min(len(done), 9), 10)

    searchers = ""
    if reason := unsearchable(web):
        done.append(skip("All experiments", reason, ALL))
    else:
        given = workload is not None
        log = workload if isinstance(workload, Divided) else halves(workload or made_workload(web))
        searchers = f"{told_of(log.whole, given)} {log.told()}"
        both = datasets(web, log, tell, DRAWS)
        done.append(correlation(both[0]))
        policies = []
        for data in both:
            tell(f"policies, {data.name}")
            policies.append([compared(one) for one in data.all])
            done.append(effectiveness(data, policies[-1]))
        done[-1] = replace(done[-1], claims=[*done[-1].claims, advantage(policies)])
        for data in both:
            tell(f"standing and impact, {data.name}")
            done.append(fitted(data))
            done.append(promoted(data))
        for data in both:
            tell(f"improvability, {data.name}")
            done += improving(data)
    setting = (
        f"Dataset 1: {UNCRAWLED:.0%} of the pages, drawn at random, are uncrawled, as far as others link to them. Dataset 2: "
        f"the {PROMOTED:.0%} of them of the greatest PageRank are moved to the crawled ones. {DRAWS} draws. {searchers} "
        f"{READING}"
    )
    return Reproduction("pandey08", f"pandey08 on {web.name}", PAPER, describe(web), setting, done)


def datasets(web: Web, log: Divided, tell: Tell, draws: int) -> tuple[Drawing, Drawing]:
    """Both divisions of a web's pages, in each draw."""
    tell("searching all pages")
    everything = np.arange(web.pages)
    whole = observe(web, everything, everything, log.whole, SHOWN, SHOWN)  # so numbered, a page is found by its own number
    assert whole.search is not None and web.urls is not None
    rank = importance(web, "pagerank")
    made: dict[str, list[Dataset]] = {"Dataset 1": [], "Dataset 2": []}
    for draw in range(draws):
        held = np.sort(np.random.default_rng(draw).choice(web.pages, round(UNCRAWLED * web.pages), replace=False))
        lesser = held[np.argsort(-rank[held], kind="stable")[round(PROMOTED * len(held)) :]]
        for name, uncrawled in (("Dataset 1", held), ("Dataset 2", np.sort(lesser))):
            tell(f"searching the crawled pages, {name}, draw {draw + 1}")
            crawled = np.setdiff1d(everything, uncrawled)
            view = observe(web, crawled[:1], crawled, log.whole, SHOWN)
            data = Dataset(name, view, whole.search.results, rank, log.again(draw), web.urls)
            if len(data.waits) == 0 or not data.judged().any():
                raise InputError(
                    f"no query shows an uncrawled page of {web.name}; give queries that fit the web, or a larger web"
                )
            made[name].append(data)
    return Drawing(made["Dataset 1"]), Drawing(made["Dataset 2"])


def correlation(of: Drawing) -> Experiment:
    """Fig. 2."""
    drawn = [_by_rank(data) for data in of.all]
    pearson = Drawn(tuple(one for one, _, _ in drawn))
    low, high = (Drawn(tuple(means[at_] for _, means, _ in drawn)) for at_ in (0, -1))
    claims = [
        decided(
            CORRELATED,
            f"the correlation is below {WEAK} by more than its spread",
            str(pearson),
            at_most(pearson, WEAK),
            "where few pages have any impact and these are well linked, both grow together",
        ),
        decided(
            GROWS,
            "the mean impact of the fifth of the greatest PageRank is ahead of that of the fifth of the least",
            listing({"least": low, "greatest": high}),
            ahead(high, low),
        ),
    ]
    how = (
        "The uncrawled pages of Dataset 1 in fifths by PageRank (in the whole web, times the number of pages), and how often "
        "they would be shown: the first draw. Pearson's correlation and the claims: all draws."
    )
    header = ["fifth by PageRank", "pages", "mean PageRank", "mean views", "share with any"]
    return Experiment("Importance and impact", how, (), None, paper_table(header, drawn[0][2]), claims)


def _by_rank(data: Dataset) -> tuple[float, list[float], list[list[Value | Drawn]]]:
    rank = data.importance[data.view.pages[data.waits]] * len(data.importance)
    impact = data.judged()
    pearson = float(np.corrcoef(rank, impact)[0, 1]) if np.ptp(rank) > 0 and np.ptp(impact) > 0 else 0.0
    groups = np.array_split(np.argsort(rank, kind="stable"), GROUPS)
    rows: list[list[Value | Drawn]] = [
        [
            f"{at_ + 1}",
            len(group),
            f"{rank[group].mean():.2f}",
            f"{impact[group].mean():.2f}",
            float((impact[group] > 0).mean()),
        ]
        for at_, group in enumerate(groups)
    ]
    return pearson, [float(impact[group].mean()) for group in groups], rows


def compared(data: Dataset) -> dict[str, Curve]:
    """Fig. 5: the cumulative impact of each policy."""
    view, waits = data.driven, data.waits
    parts = QHybrid(fit="quadratic").parts(view)  # its first part is q-overlap, but for a factor
    rising = QHybrid().curve(view, page_features(view)["pagerank"])
    scores = {
        "query-independent": PageRank().score(view),
        "query-driven": parts["queries"],
        "hybrid": parts["queries"] + parts["pagerank"],
        "hybrid, rising fit": parts["queries"] + (1.0 - QHybrid().weight) * rising,
        "expected case": QExpected().score(view),
    }
    impact = data.judged()
    curves = {name: gathered(score[waits], impact) for name, score in scores.items()}
    return {IDEAL: most(impact), **curves, RANDOM: Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))}


def effectiveness(of: Drawing, compared_: Sequence[Mapping[str, Curve]]) -> Experiment:
    curves = {name: [one[name] for one in compared_] for name in compared_[0]}
    means = {name: value for name, value in heights(curves).items() if name in (*POLICIES, RANDOM)}
    first = {name: at(curves[name], FIRST) for name in means}
    x = np.linspace(FIRST, 1.0, 200)
    driven, plain = ("query-driven", "query-independent")
    overtakes = {float(share): ahead(at(curves[plain], share), at(curves[driven], share)) for share in x}
    overtaken = [share for share, holds in overtakes.items() if holds]
    claims = [
        lead(
            EARLY,
            f"at {FIRST:.0%} of the uncrawled pages it is ahead of the query-independent policy and of a random order",
            {name: first[name] for name in (plain, RANDOM, driven)},
            driven,
            measured=listing(first),
        ),
        decided(
            DRIES,
            f"somewhere beyond {FIRST:.0%} of the uncrawled pages the query-independent policy is ahead of it",
            f"from {overtaken[0]:.0%} on" if overtaken else "nowhere for certain",
            one_holds(overtakes.values()),
            "pages that match no query are fetched as they were found; few of those that matter are among them here",
        ),
        lead(
            HYBRID,
            "in mean cumulative impact it is ahead of the other three",
            means,
            "hybrid",
            "its parabola rises again for pages of the least PageRank (see below)",
        ),
    ]
    rows: list[list[Value | Drawn]] = [
        [name, *at_shares(drawn, ABOVE), heights({name: drawn})[name]] for name, drawn in curves.items()
    ]
    data = of.first
    how = (
        f"In the first draw {len(data.view.source):,} pages are crawled, {len(data.waits):,} are ordered. Cumulative impact, "
        "as a share of that of all the uncrawled pages. Pages that match no query come last in the query-driven order, as they "
        f"were found. Not in the paper's figure: {' and '.join(OURS)}."
    )
    plot = Plot(middle(curves), "share of the impact gathered", "share of the uncrawled pages fetched")
    header = ["policy", *heads(ABOVE), "mean"]
    specs = (*POLICIES.values(), *OURS.values())
    return Experiment(f"Policies, {of.name}", how, specs, plot, paper_table(header, rows), claims)


def advantage(policies: Sequence[Sequence[Mapping[str, Curve]]]) -> Claim:
    gains = {
        f"Dataset {number_}": Drawn(tuple(mean_height(one["hybrid"]) - mean_height(one["query-independent"]) for one in drawn))
        for number_, drawn in enumerate(policies, 1)
    }
    rule = "the mean of the hybrid policy above that of the query-independent one is ahead there"
    return lead(PRONOUNCED, rule, gains, "Dataset 2")


def fitted(of: Drawing) -> Experiment:
    """The query-independent part of the hybrid policy: what each way of fitting makes of PageRank."""
    view = of.first.driven
    x = page_features(view)["pagerank"]
    points = np.linspace(float(x.min()), float(x.max()), FITTED)
    curves = {fit: Curve(points, QHybrid(fit=fit).curve(view, points)) for fit in FITS}
    waits = x[of.first.waits]
    rows: list[list[Value | Drawn]] = []
    for fit, curve in curves.items():
        slope = np.diff(np.interp(np.sort(waits), *curve))
        rows.append([fit, *(f"{value:.2f}" for value in np.interp(np.quantile(x, FIT_AT), *curve)), float((slope < 0).mean())])
    how = (
        "The impact that PageRank alone lets expect, as it is fitted to the crawled pages of the first draw: isotonic, the "
        "best function that never falls (the default of q-hybrid); quadratic, the paper's parabola; a tree (tran15). "
        "Falling: the share of the uncrawled pages, one after the other by PageRank, at which the curve falls."
    )
    plot = Plot(curves, "impact expected", "log (n PageRank)", shares=False)
    header = ["fit", *(f"at the {q:.0%} quantile" for q in FIT_AT), "falling"]
    return Experiment(f"Impact expected from PageRank, {of.name}", how, (), plot, paper_table(header, rows))


def promoted(of: Drawing) -> Experiment:
    """Fig. 6: pages of weak standing that queries bring forward."""
    earlier = [_promoted(data) for data in of.all]
    gain = Drawn(tuple(one for one, _ in earlier))
    claim = decided(
        PROMOTED_TAIL,
        "of the uncrawled pages in the lower half by PageRank, those with impact stand earlier in its order than in "
        "PageRank's: the mean gain, as a share of all uncrawled pages, is above its spread",
        str(gain),
        above(gain),
        "neither URLs nor anchors of these pages match what is asked for",
    )
    how = (
        f"Of the uncrawled pages the {TAIL:.0%} of the least PageRank that have impact, and their place in both orders. The "
        f"table: of the first draw those with impact that the hybrid policy brings forward most."
    )
    header = ["page", "views", "PageRank among the uncrawled", "place by PageRank", "place by the hybrid policy"]
    return Experiment(f"Promoted pages, {of.name}", how, (HYBRID_SPEC,), None, paper_table(header, earlier[0][1]), [claim])


def _promoted(data: Dataset) -> tuple[float, list[list[Value | Drawn]]]:
    view, waits, impact = data.driven, data.waits, data.judged()
    orders = [PageRank().score(view)[waits], QHybrid(fit="quadratic").score(view)[waits]]
    place = [np.empty(len(waits), np.int64) for _ in orders]
    for held, score in zip(place, orders, strict=True):
        held[picks(score)] = np.arange(1, len(waits) + 1)
    rank = data.importance[view.pages[waits]]
    weak = (rank <= np.quantile(rank, TAIL)) & (impact > 0)
    gain = (place[0] - place[1]) / len(waits)
    best = np.flatnonzero(weak)[np.argsort(-gain[weak], kind="stable")][:EXAMPLES]
    rows: list[list[Value | Drawn]] = [
        [
            data.urls[int(view.pages[waits[page]])],
            f"{impact[page]:g}",
            f"lowest {float((rank <= rank[page]).mean()):.0%}",
            int(place[0][page]),
            int(place[1][page]),
        ]
        for page in best.tolist()
    ]
    return float(gain[weak].mean()) if weak.any() else 0.0, rows


class Improved(NamedTuple):
    """What a cycle of the hybrid policy did for each of some queries."""

    average: Array  # score of the first ten results before
    answers: Array  # results before
    brought: Array  # of its true first ten results, those that the cycle fetched

    def answered(self, least: int) -> Improved:
        """Those with so many results before, at least."""
        return Improved(*(column[self.answers >= least] for column in self))


def improving(of: Drawing) -> list[Experiment]:
    """Figs. 7, 8 and 9, with the queries in two halves."""
    heading = f"Improvability, {of.name}"
    sides = [_sides(data, draw) for draw, data in enumerate(of.all)]
    pairs = [(_improved(data, first), _improved(data, second)) for data, (first, second) in zip(of.all, sides, strict=True)]
    if min(_fewest(*pair, 1) for pair in pairs) < BUCKETS:
        reason = f"fewer than {BUCKETS} queries of each half have answers among the crawled pages"
        return [skip(heading, reason, [FALLS, CARRIES]), skip(f"Sketches kept, {of.name}", reason, [FEW, SOME])]
    curves = [_kept(data, two[1], _fitted(pair[0], 1)) for data, two, pair in zip(of.all, sides, pairs, strict=True)]
    return [improvability(heading, pairs), sketches(of, curves)]


def _sides(data: Dataset, draw: int) -> tuple[Array, Array]:
    shuffled = np.random.default_rng(draw + 1).permutation(len(data.log))
    first, second = (np.sort(part) for part in np.array_split(shuffled, 2))
    return first, second


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


def improvability(heading: str, pairs: Sequence[tuple[Improved, Improved]]) -> Experiment:
    """Fig. 7."""
    fits = [_fitted(learned, 1) for learned, _ in pairs]
    slope = Drawn(tuple(fit.slope for fit in fits))
    explained = Drawn(tuple(_explained(fit, *_buckets(pair[1], 1)) for fit, pair in zip(fits, pairs, strict=True)))
    claims = [
        decided(
            FALLS,
            "the slope of the fitted curve is below 0 by more than its spread",
            str(slope),
            at_most(slope, 0.0),
            "queries with few answers have low scores and little that a crawl can add, and there are many of them",
        ),
        decided(
            CARRIES,
            f"the curve of the one half explains more than {EXPLAINED:.0%} of the variance between buckets of the other, by "
            "more than its spread",
            str(explained),
            above(explained, EXPLAINED),
            "a line in the logarithm is too simple where the curve rises first",
        ),
    ]
    x, y = _buckets(pairs[0][1], 1)
    expected = fits[0](x)
    others = []
    for least in FULLER:
        if _fewest(*pairs[0], least) >= BUCKETS:
            curve = _fitted(pairs[0][0], least)
            others.append(f"{least}: {curve.slope:+.3f}, {_explained(curve, *_buckets(pairs[0][1], least)):.0%}")
    rows: list[list[Value | Drawn]] = [[f"{a:.2f}", f"{b:.3f}", f"{c:.3f}"] for a, b, c in zip(x, expected, y, strict=True)]
    how = (
        f"Each half of the queries drives a hybrid policy of its own, which fetches {BUDGET:.0%} of the uncrawled pages. "
        f"Improvement: how many of a query's first {SHOWN} results these pages are. Queries with an answer among the crawled "
        f"pages, in {BUCKETS} buckets by the average score s of their first {SHOWN} results (missing ones count 0); the first "
        "draw. The verdicts are on these queries, over all draws. "
    )
    if others:
        how += f"Slope and variance explained for queries with more answers, at least {'; '.join(others)}."
    plot = Plot({"learned": Curve(x, expected), "test": Curve(x, y)}, "results improved", "average score before", shares=False)
    return Experiment(
        heading, how.strip(), (HYBRID_SPEC,), plot, paper_table(["average score", "learned", "test"], rows), claims
    )


def _kept(data: Dataset, testing: Array, fit: Improvability) -> tuple[dict[str, Curve], dict[str, int]]:
    """The curves of the hybrid policy with fewer and fewer sketches, and how many each keeps."""
    view, truth = data.half(testing)
    assert view.search is not None
    impact, waits = data.impact(view.search.workload, truth), data.waits
    need = neediness(view.search.workload, view.search.results, fit, SHOWN)
    curves: dict[str, Curve] = {}
    kept: dict[str, int] = {}
    hybrid = QHybrid(fit="quadratic")
    for share in SHARES:
        chosen = keep(need, share)
        name = f"{share:g}"
        kept[name] = len(chosen)
        parts = hybrid.parts(replace(view, search=only(view.search, chosen)))
        curves[name] = gathered((parts["queries"] + parts["pagerank"])[waits], impact)
    curves["none"] = gathered(parts["pagerank"][waits], impact)
    return curves, {**kept, "none": 0}


def sketches(of: Drawing, kept: Sequence[tuple[dict[str, Curve], dict[str, int]]]) -> Experiment:
    """Figs. 8 and 9."""
    curves = {name: [one[name] for one, _ in kept] for name in kept[0][0]}
    means = heights(curves)
    rows: list[list[Value | Drawn]] = [
        [name, kept[0][1][name], *at_shares(drawn, BUDGETS), means[name]] for name, drawn in curves.items()
    ]
    header = ["share of sketches", "sketches", *heads(BUDGETS), "mean"]
    how = (
        "The hybrid policy with the sketches of the neediest queries alone, on the half of the queries that improvability was "
        "not learned on. Need is judged by frequency and average score. Impact as a share of that of all uncrawled pages. "
        "none: PageRank alone."
    )
    reached = {name: at(drawn, BUDGET) for name, drawn in curves.items()}
    few, some = f"{PAPER_SHARE:g}", f"{TENTH:g}"
    claims = [
        _enough(FEW, reached, few, MOST),
        _enough(NEARLY_ALL, reached, few, NEARLY),
        _enough(SOME, reached, some, NEARLY),
    ]
    plot = Plot(middle(curves), "share of the impact gathered", "share of the uncrawled pages fetched")
    return Experiment(f"Sketches kept, {of.name}", how, (HYBRID_SPEC,), plot, paper_table(header, rows), claims)


def _enough(says: str, reached: Mapping[str, Drawn], share: str, least: float) -> Claim:
    rule = (
        f"at {BUDGET:.0%} of the uncrawled pages it is ahead of {least:.0%} of the impact that it has with all sketches, and "
        "of that without any"
    )
    measured = {f"{share} of sketches": reached[share], "all": reached["1"], "none": reached["none"]}
    wanted = Drawn(tuple(least * value for value in reached["1"].values))
    enough = all_hold([ahead(reached[share], wanted), ahead(reached[share], reached["none"])])
    part = reached[share].mean / reached["1"].mean if reached["1"].mean else 0.0
    short = f"so few sketches have {part:.0%} of the impact of all" if part < least else "PageRank alone has as much"
    return decided(says, rule, listing(measured), enough, short)
