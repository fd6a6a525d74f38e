"""cho98, small-scale crawl: one site of the web taken for the whole (the paper's is that of a research group).

On a small site most pages have few backlinks, so their number says more of an author's habits than of importance, and
dense clusters lead the backlink ordering astray. Reference: cho98, section 5.3.
"""

from __future__ import annotations

import numpy as np

from frontrank.lab.drawn import Drawn
from frontrank.lab.measures import Curve, threshold_for
from frontrank.papers.claims import NOT_KNOWN, Claim, above, ahead, all_hold, at_most, beyond, decided, failed, lead, listing
from frontrank.papers.draws import DRAWS, Draws, at, at_shares, heads, heights, middle, threshold_plot
from frontrank.papers.parts import site, starts
from frontrank.papers.reproduction import PaperExperiment, Plot, Row, paper_table, skip
from frontrank.web.importance import importance
from frontrank.web.web import Web

SIZE = 0.015  # of the web
HOT = 0.05
BELOW = 0.01  # so far under the line of chance counts as worse than random
EARLY = 0.1
FEW = 10  # backlinks
MAX_BACKLINKS = 50  # backlinks in the figure
HEADINGS = {"backlink": "One site, hot pages by backlinks (IB)", "pagerank": "One site, hot pages by PageRank (IR)"}
HISTOGRAM = "Backlinks of one site"
FEW_LINKS = "Most pages of the small site have few backlinks, so their number depends on their author's habits."
WORSE = "On a small site, hot by backlinks, all orderings do worse than a random crawler at times."
FLAT = "There the backlink ordering is flat at first, in a cluster; PageRank finds the large cluster earlier."
SMALLER = "Crawling by backlinks works less well on the small site than on the whole web."
BETTER = "On the small site all orderings do better with importance PageRank than with backlinks."
BEST = "On the small site the PageRank ordering is the best for importance PageRank."


def small_site(web: Web, draws: Draws) -> list[PaperExperiment]:
    """The experiments, or why there are none."""
    found = None if web.hosts is None else site(web, SIZE)
    if found is None:
        lack = "does not know its hosts" if web.hosts is None else "has no host of a fitting size that its start page reaches"
        left_out = {HISTOGRAM: [FEW_LINKS], HEADINGS["backlink"]: [WORSE, FLAT, SMALLER], HEADINGS["pagerank"]: [BETTER, BEST]}
        return [skip(heading, f"{web.name} {lack}", says) for heading, says in left_out.items()]
    part, start = found
    pages = starts(part, start, DRAWS)
    small = Draws(part, [np.array([page]) for page in pages], lambda text: draws.tell(f"{part.name}, {text}"), what="start")
    specs = {"bfs": "bfs", "backlink": "backlink", "pagerank": f"pagerank:alpha=0.9,every={max(1, part.pages // 100)}"}
    curves = {m: small.threshold_curves(specs, threshold_for(part, m, HOT), m) for m in HEADINGS}
    means = {m: heights(curves[m]) for m in HEADINGS}
    level = threshold_for(draws.web, "backlink", HOT)
    large = heights(draws.threshold_curves({"backlink": "backlink"}, level, "backlink"))["backlink"]
    claims = {
        "backlink": [_worse(curves["backlink"]), _flat(curves["backlink"]), _smaller(means["backlink"]["backlink"], large)],
        "pagerank": [_better(means), lead(BEST, "its mean P_ST is ahead of both others", means["pagerank"], "pagerank")],
    }
    how = (
        f"The host {part.name} alone, the {part.pages:,} pages that {part.name_of(start)} reaches without leaving it "
        f"({part.pages / web.pages:.1%} of the web; {part.links:,} links), from {len(pages)} starts. P_ST with {HOT:.0%} of "
        f"its pages hot."
    )
    shares = (EARLY, 0.2, 0.3, 0.5)
    header = ["ordering", "mean P_ST", *heads(shares), "farthest below random"]
    experiments = [histogram(part, draws.web)]
    for metric, heading in HEADINGS.items():
        rows: list[Row] = [
            [spec, means[metric][spec], *at_shares(drawn, shares), _below(drawn)] for spec, drawn in curves[metric].items()
        ]
        plot = threshold_plot(part, middle(curves[metric]), threshold_for(part, metric, HOT), metric)
        experiments.append(PaperExperiment(heading, how, list(specs.values()), plot, paper_table(header, rows), claims[metric]))
    return experiments


def histogram(part: Web, web: Web) -> PaperExperiment:
    """How many pages have how many backlinks: on the site, and on the whole web."""
    counts = {part.name: importance(part, "backlink"), f"the whole of {web.name}": importance(web, "backlink")}
    x = np.arange(MAX_BACKLINKS + 1)
    lines = {
        name: Curve(
            x.astype(np.float64),
            np.bincount(numbers.astype(np.int64), minlength=MAX_BACKLINKS + 1)[: MAX_BACKLINKS + 1] / len(numbers),
        )
        for name, numbers in counts.items()
    }
    bounds = (1, 2, 5, FEW, 20, MAX_BACKLINKS)
    rows: list[Row] = [
        [name, *(float(np.mean(numbers < bound)) for bound in bounds), float(np.median(numbers)), float(numbers.max())]
        for name, numbers in counts.items()
    ]
    few = float(np.mean(counts[part.name] < FEW))
    claim = decided(
        FEW_LINKS,
        f"more than half of its pages have fewer than {FEW}",
        f"{few:.0%} of the pages",
        few > 0.5,
        f"the median page has {np.median(counts[part.name]):g}: the site's pages link to each other more than the paper's did",
    )
    how = (
        f"The share of pages with each number of backlinks (up to {MAX_BACKLINKS}), within the site and within the whole web. "
        "The table has the share of pages with fewer backlinks than this, the median and the most."
    )
    table = paper_table(["", *(f"fewer than {bound}" for bound in bounds), "median", "most"], rows)
    plot = Plot(lines, "share of the pages", "backlinks", shares=False)
    return PaperExperiment(HISTOGRAM, how, (), plot, table, [claim])


def _below(curves: list[Curve]) -> Drawn:
    """How far curves fall below the line of chance, at most."""
    return Drawn(tuple(max(0.0, float(np.max(curve.x - curve.y))) for curve in curves))


def _worse(curves: dict[str, list[Curve]]) -> Claim:
    below = {spec: _below(drawn) for spec, drawn in curves.items()}
    rule = f"each curve lies more than {BELOW} below the line of chance somewhere, by more than the spread"
    verdicts = {spec: above(drawn, BELOW) for spec, drawn in below.items()}
    why = f"not {failed(verdicts)}: the pages with most backlinks are found early on this site"
    return decided(WORSE, rule, f"farthest below: {listing(below)}", all_hold(verdicts.values()), why)


def _flat(curves: dict[str, list[Curve]]) -> Claim:
    early = {spec: at(drawn, EARLY) for spec, drawn in curves.items()}
    rule = f"after {EARLY:.0%} of the site backlink has found no more than chance would, and PageRank is ahead of it"
    holds = all_hold([ahead(early["pagerank"], early["backlink"]), at_most(early["backlink"], EARLY)])
    why = (
        "the site's pages with many backlinks are no cluster that the start is far from"
        if early["backlink"].mean > EARLY
        else ""
    )
    return decided(FLAT, rule, f"found: {listing(early)}", holds, why)


def _smaller(small: Drawn, large: Drawn) -> Claim:
    rule = f"mean P_ST of backlink, {HOT:.0%} hot by IB, is lower on the site, by more than both spreads"
    holds = beyond(large.mean - small.mean, max(small.spread, large.spread))
    return decided(SMALLER, rule, f"site {small}, whole web {large}", holds)


def _better(means: dict[str, dict[str, Drawn]]) -> Claim:
    measured = f"IR: {listing(means['pagerank'])}; IB: {listing(means['backlink'])}"
    verdicts = {spec: ahead(means["pagerank"][spec], value) for spec, value in means["backlink"].items()}
    why = f"not {failed(verdicts)}; {NOT_KNOWN}"
    return decided(BETTER, "each mean P_ST is ahead with IR of that with IB", measured, all_hold(verdicts.values()), why)
