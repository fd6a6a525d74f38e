"""pandey08, Figs. 7 to 9: which queries can be improved, and how few of their sketches suffice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.lab.drawn import Drawn
from frontrank.lab.measures import Curve
from frontrank.lab.measures.impact import picks
from frontrank.orderings.batch.q_hybrid import QHybrid
from frontrank.papers.claims import Claim, above, ahead, all_hold, at_most, decided, listing
from frontrank.papers.draws import Drawing, at, at_shares, heads, heights, middle
from frontrank.papers.made_queries import gathered
from frontrank.papers.pandey08_data import SHOWN, Dataset
from frontrank.papers.reproduction import PaperExperiment, Plot, Row, paper_table, skip
from frontrank.search.needy import BUCKETS, Improvability, average_scores, keep, neediness, only

HYBRID_SPEC = "q-hybrid:fit=quadratic"  # the paper's
BUDGET = 0.1  # of the uncrawled pages: c, where the paper has 1000 of 110,000
BUDGETS = (0.05, 0.1, 0.2)
SHARES = (1.0, 0.1, 0.01, 0.001, 0.0007)  # of the query sketches
PAPER_SHARE = 0.0007
TENTH = 0.1
MOST, NEARLY = 0.5, 0.9  # of the impact with all sketches
EXPLAINED = 0.5  # of the variance between buckets
FULLER = (2, 5, 10, 50)  # answers of a query: does what is learned depend on how many it has?

FALLS = "Queries whose results score low on average can be improved more."
CARRIES = "What was learned of this on one half of the queries holds for the other half, with fairly high accuracy."
FEW = f"Most of the impact is had with {PAPER_SHARE} of the query sketches, the neediest ones."
NEARLY_ALL = f"With {PAPER_SHARE} of the sketches the hybrid policy does almost as well as with all."
SOME = "Keeping but a small part of the sketches costs little (here: a tenth of them)."


class Improved(NamedTuple):
    """What a cycle of the hybrid policy did for each of some queries."""

    average: Array  # score of the first ten results before
    answers: Array  # results before
    brought: Array  # of its true first ten results, those that the cycle fetched

    def answered(self, answers: int) -> Improved:
        """Those with so many results before, at least."""
        return Improved(*(column[self.answers >= answers] for column in self))


def improving(of: Drawing[Dataset]) -> list[PaperExperiment]:
    """Figs. 7, 8 and 9, with the queries in two halves."""
    heading = f"Improvability, {of.name}"
    sides = [_sides(data, draw) for draw, data in enumerate(of.all)]
    pairs = [(_improved(data, first), _improved(data, second)) for data, (first, second) in zip(of.all, sides, strict=True)]
    if min(_smaller_half(*pair, 1) for pair in pairs) < BUCKETS:
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


def _smaller_half(learned: Improved, tested: Improved, answers: int) -> int:
    return min(int((half.answers >= answers).sum()) for half in (learned, tested))


def _fitted(learned: Improved, answers: int) -> Improvability:
    some = learned.answered(answers)
    return Improvability.fit(some.average, some.brought)


def _buckets(tested: Improved, answers: int) -> tuple[Array, Array]:
    """Mean average score and mean improvement of queries of about the same score."""
    some = tested.answered(answers)
    buckets = np.array_split(np.argsort(some.average, kind="stable"), BUCKETS)
    return np.array([some.average[b].mean() for b in buckets]), np.array([some.brought[b].mean() for b in buckets])


def _explained(fitted: Improvability, x: Array, y: Array) -> float:
    """The share of the variance of y that the curve explains; below 0 if the mean of y would err less."""
    spread = float(((y - y.mean()) ** 2).sum())
    return 1.0 - float(((y - fitted(x)) ** 2).sum()) / spread if spread > 0 else 0.0


def improvability(heading: str, pairs: Sequence[tuple[Improved, Improved]]) -> PaperExperiment:
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
    others = _fits_of_fuller(pairs[0])
    rows: list[Row] = [[f"{a:.2f}", f"{b:.3f}", f"{c:.3f}"] for a, b, c in zip(x, expected, y, strict=True)]
    how = (
        f"Each half of the queries drives a hybrid policy of its own, which fetches {BUDGET:.0%} of the uncrawled pages. "
        f"Improvement: how many of a query's first {SHOWN} results these pages are. Queries with an answer among the crawled "
        f"pages, in {BUCKETS} buckets by the average score s of their first {SHOWN} results (missing ones count 0); the first "
        "draw. The verdicts are on these queries, over all draws. "
    )
    if others:
        how += f"Slope and variance explained for queries with more answers, at least {'; '.join(others)}."
    plot = Plot({"learned": Curve(x, expected), "test": Curve(x, y)}, "results improved", "average score before", shares=False)
    return PaperExperiment(
        heading, how.strip(), (HYBRID_SPEC,), plot, paper_table(["average score", "learned", "test"], rows), claims
    )


def _fits_of_fuller(halves: tuple[Improved, Improved]) -> list[str]:
    """Slope and variance explained for queries with more answers."""
    found = []
    for answers in FULLER:
        if _smaller_half(*halves, answers) >= BUCKETS:
            curve = _fitted(halves[0], answers)
            found.append(f"{answers}: {curve.slope:+.3f}, {_explained(curve, *_buckets(halves[1], answers)):.0%}")
    return found


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


def sketches(of: Drawing[Dataset], kept: Sequence[tuple[dict[str, Curve], dict[str, int]]]) -> PaperExperiment:
    """Figs. 8 and 9."""
    curves = {name: [one[name] for one, _ in kept] for name in kept[0][0]}
    means = heights(curves)
    rows: list[Row] = [[name, kept[0][1][name], *at_shares(drawn, BUDGETS), means[name]] for name, drawn in curves.items()]
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
    return PaperExperiment(f"Sketches kept, {of.name}", how, (HYBRID_SPEC,), plot, paper_table(header, rows), claims)


def _enough(says: str, reached: Mapping[str, Drawn], share: str, wanted: float) -> Claim:
    rule = (
        f"at {BUDGET:.0%} of the uncrawled pages it is ahead of {wanted:.0%} of the impact that it has with all sketches, and "
        "of that without any"
    )
    measured = {f"{share} of sketches": reached[share], "all": reached["1"], "none": reached["none"]}
    enough = all_hold([ahead(reached[share], reached["1"].scaled(wanted)), ahead(reached[share], reached["none"])])
    part = reached[share].mean / reached["1"].mean if reached["1"].mean else 0.0
    short = f"so few sketches have {part:.0%} of the impact of all" if part < wanted else "PageRank alone has as much"
    return decided(says, rule, listing(measured), enough, short)
