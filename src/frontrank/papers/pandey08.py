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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from frontrank.errors import InputError
from frontrank.lab.drawn import Drawn
from frontrank.lab.measures import Curve
from frontrank.lab.measures.impact import picks
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.orderings.batch.q_expected import QExpected
from frontrank.orderings.batch.q_hybrid import FITS, QHybrid
from frontrank.papers.claims import READING, Claim, above, ahead, at_most, decided, lead, listing, one_holds
from frontrank.papers.draws import DRAWS, Drawing, at, at_shares, heads, heights, mean_height, middle
from frontrank.papers.made_queries import gathered, ideal, made_workload, told_of, unsearchable
from frontrank.papers.pandey08_data import PROMOTED, UNCRAWLED, Dataset, datasets
from frontrank.papers.pandey08_improving import CARRIES, FALLS, FEW, HYBRID_SPEC, NEARLY_ALL, SOME, improving
from frontrank.papers.reproduction import (
    IDEAL,
    RANDOM,
    PaperExperiment,
    Plot,
    Reproduced,
    Row,
    Tell,
    paper_table,
    skip,
)
from frontrank.search.divided import Divided, halves
from frontrank.search.expected_score import page_features
from frontrank.web.view import Workload
from frontrank.web.web import Web

PAPER = "Sandeep Pandey, Christopher Olston: Crawl Ordering by Search Impact. WSDM 2008."
EXPERIMENTS = 10
GROUPS = 5  # of pages by PageRank
WEAK = 0.3  # a correlation below this is weak
FIRST = 0.05  # of the uncrawled pages: "at first"
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
PROMOTED_TAIL = "The hybrid policy fetches pages of high impact and weak standing much earlier than PageRank would."
ALL = (CORRELATED, GROWS, EARLY, DRIES, HYBRID, PRONOUNCED, PROMOTED_TAIL, FALLS, CARRIES, FEW, NEARLY_ALL, SOME)


def reproduce(web: Web, tell: Tell, workload: Workload | Divided | None, impact: str | None) -> Reproduced:
    if impact == "clicks":
        raise InputError("pandey08 is about what searchers are shown, not about clicks; drop --impact")
    searchers = ""
    experiments: Iterable[PaperExperiment]
    if reason := unsearchable(web):
        experiments = [skip("All experiments", reason, ALL)]
    else:
        log = workload if isinstance(workload, Divided) else halves(workload or made_workload(web))
        searchers = f"{told_of(log.whole, workload is not None)} {log.sentence()}"
        experiments = _experiments(datasets(web, log, tell, DRAWS), tell)
    setting = (
        f"Dataset 1: {UNCRAWLED:.0%} of the pages, drawn at random, are uncrawled, as far as others link to them. Dataset 2: "
        f"the {PROMOTED:.0%} of them of the greatest PageRank are moved to the crawled ones. {DRAWS} draws. {searchers} "
        f"{READING}"
    )
    return setting, experiments


def _experiments(both: list[Drawing[Dataset]], tell: Tell) -> Iterator[PaperExperiment]:
    yield correlation(both[0])
    policies = []
    for data in both:
        tell(f"policies, {data.name}")
        policies.append([compared(one) for one in data.all])
        found = effectiveness(data, policies[-1])
        yield found if data is both[0] else replace(found, claims=[*found.claims, advantage(policies)])
    for data in both:
        tell(f"standing and impact, {data.name}")
        yield fitted(data)
        yield promoted(data)
    for data in both:
        tell(f"improvability, {data.name}")
        yield from improving(data)


def correlation(of: Drawing[Dataset]) -> PaperExperiment:
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
    return PaperExperiment("Importance and impact", how, (), None, paper_table(header, drawn[0][2]), claims)


def _by_rank(data: Dataset) -> tuple[float, list[float], list[Row]]:
    rank = data.importance[data.view.pages[data.waits]] * len(data.importance)
    impact = data.judged()
    pearson = float(np.corrcoef(rank, impact)[0, 1]) if np.ptp(rank) > 0 and np.ptp(impact) > 0 else 0.0
    groups = np.array_split(np.argsort(rank, kind="stable"), GROUPS)
    rows: list[Row] = [
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
    return {IDEAL: ideal(impact), **curves, RANDOM: Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))}


def effectiveness(of: Drawing[Dataset], compared_: Sequence[Mapping[str, Curve]]) -> PaperExperiment:
    curves = {name: [one[name] for one in compared_] for name in compared_[0]}
    means = {name: value for name, value in heights(curves).items() if name in (*POLICIES, RANDOM)}
    rows: list[Row] = [[name, *at_shares(drawn, ABOVE), heights({name: drawn})[name]] for name, drawn in curves.items()]
    data = of.first
    how = (
        f"In the first draw {len(data.view.source):,} pages are crawled, {len(data.waits):,} are ordered. Cumulative impact, "
        "as a share of that of all the uncrawled pages. Pages that match no query come last in the query-driven order, as they "
        f"were found. Not in the paper's figure: {' and '.join(OURS)}."
    )
    plot = Plot(middle(curves), "share of the impact gathered", "share of the uncrawled pages fetched")
    table = paper_table(["policy", *heads(ABOVE), "mean"], rows)
    specs = (*POLICIES.values(), *OURS.values())
    return PaperExperiment(f"Policies, {of.name}", how, specs, plot, table, _policy_claims(curves, means))


def _policy_claims(curves: Mapping[str, list[Curve]], means: dict[str, Drawn]) -> list[Claim]:
    first = {name: at(curves[name], FIRST) for name in means}
    driven, plain = ("query-driven", "query-independent")
    shares = np.linspace(FIRST, 1.0, 200).tolist()
    overtakes = {share: ahead(at(curves[plain], share), at(curves[driven], share)) for share in shares}
    overtaken = [share for share, holds in overtakes.items() if holds]
    return [
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


def advantage(policies: Sequence[Sequence[Mapping[str, Curve]]]) -> Claim:
    gains = {
        f"Dataset {number_}": Drawn(tuple(mean_height(one["hybrid"]) - mean_height(one["query-independent"]) for one in drawn))
        for number_, drawn in enumerate(policies, 1)
    }
    rule = "the mean of the hybrid policy above that of the query-independent one is ahead there"
    return lead(PRONOUNCED, rule, gains, "Dataset 2")


def fitted(of: Drawing[Dataset]) -> PaperExperiment:
    """The query-independent part of the hybrid policy: what each way of fitting makes of PageRank."""
    view = of.first.driven
    x = page_features(view)["pagerank"]
    points = np.linspace(float(x.min()), float(x.max()), FITTED)
    curves = {fit: Curve(points, QHybrid(fit=fit).curve(view, points)) for fit in FITS}
    waits = x[of.first.waits]
    rows: list[Row] = []
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
    return PaperExperiment(f"Impact expected from PageRank, {of.name}", how, (), plot, paper_table(header, rows))


def promoted(of: Drawing[Dataset]) -> PaperExperiment:
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
    return PaperExperiment(f"Promoted pages, {of.name}", how, (HYBRID_SPEC,), None, paper_table(header, earlier[0][1]), [claim])


def _promoted(data: Dataset) -> tuple[float, list[Row]]:
    view, waits, impact = data.driven, data.waits, data.judged()
    orders = [PageRank().score(view)[waits], QHybrid(fit="quadratic").score(view)[waits]]
    place = [np.empty(len(waits), np.int64) for _ in orders]
    for ranks, score in zip(place, orders, strict=True):
        ranks[picks(score)] = np.arange(1, len(waits) + 1)
    rank = data.importance[view.pages[waits]]
    weak = (rank <= np.quantile(rank, TAIL)) & (impact > 0)
    gain = (place[0] - place[1]) / len(waits)
    best = np.flatnonzero(weak)[np.argsort(-gain[weak], kind="stable")][:EXAMPLES]
    rows: list[Row] = [
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
