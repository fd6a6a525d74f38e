"""cho98, small-scale crawl: one site of the web taken for the whole (the paper's is that of a research group).

On a small site most pages have few backlinks, so their number says more of an author's habits than of importance, and
dense clusters lead the backlink ordering astray. Reference: cho98, section 5.3.
"""

from __future__ import annotations

import numpy as np

from frontrank.lab.measures import Curve, threshold_for
from frontrank.lab.papers.claims import Claim, decided, height_at, higher, is_best, listed, mean_height
from frontrank.lab.papers.crawls import Crawls, threshold_plot
from frontrank.lab.papers.parts import site
from frontrank.lab.papers.reproduction import Experiment, Table, Value, skip
from frontrank.web.web import Web

SIZE = 0.015  # of the web
HOT = 0.05
BELOW = 0.01  # so far under the line of chance counts as worse than random
EARLY = 0.1
HEADINGS = {"backlink": "One site, hot pages by backlinks (IB)", "pagerank": "One site, hot pages by PageRank (IR)"}
WORSE = "On a small site, hot by backlinks, all orderings do worse than a random crawler at times."
FLAT = "There the backlink ordering is flat at first, in a cluster; PageRank finds the large cluster earlier."
SMALLER = "Crawling by backlinks works less well on the small site than on the whole web."
BETTER = "On the small site all orderings do better with importance PageRank than with backlinks."
BEST = "On the small site the PageRank ordering is the best for importance PageRank."


def small_site(web: Web, crawls: Crawls) -> list[Experiment]:
    """The two experiments, or why there are none."""
    found = None if web.hosts is None else site(web, SIZE)
    if found is None:
        lack = "does not know its hosts" if web.hosts is None else "has no host of a fitting size that its start page reaches"
        told = f"{web.name} {lack}"
        return [skip(HEADINGS["backlink"], told, [WORSE, FLAT, SMALLER]), skip(HEADINGS["pagerank"], told, [BETTER, BEST])]
    part, start = found
    small = Crawls(part, np.array([start]), lambda text: crawls.tell(f"{part.name}, {text}"))
    specs = {"bfs": "bfs", "backlink": "backlink", "pagerank": f"pagerank:alpha=0.9,every={max(1, part.pages // 100)}"}
    curves = {m: small.found(specs, threshold_for(part, m, HOT), m) for m in HEADINGS}
    means = {m: {spec: mean_height(curve) for spec, curve in curves[m].items()} for m in HEADINGS}
    least = threshold_for(crawls.web, "backlink", HOT)
    large = mean_height(crawls.found({"backlink": "backlink"}, least, "backlink")["backlink"])
    claims = {
        "backlink": [_worse(curves["backlink"]), _flat(curves["backlink"]), _smaller(means["backlink"]["backlink"], large)],
        "pagerank": [
            _better(means),
            decided(BEST, "its mean P_ST is the highest", listed(means["pagerank"]), is_best(means["pagerank"], "pagerank")),
        ],
    }
    how = (
        f"The host {part.name} alone, the {part.pages:,} pages that {part.name_of(start)} reaches without leaving it "
        f"({part.pages / web.pages:.1%} of the web; {part.links:,} links). P_ST with {HOT:.0%} of its pages hot."
    )
    shares = (EARLY, 0.2, 0.3, 0.5)
    header = ["ordering", "mean P_ST", *(f"at {share:.0%}" for share in shares), "farthest below random"]
    made = []
    for metric, heading in HEADINGS.items():
        rows: list[list[Value]] = [
            [spec, means[metric][spec], *(height_at(curve, s) for s in shares), _below(curve)]
            for spec, curve in curves[metric].items()
        ]
        plot = threshold_plot(part, curves[metric], threshold_for(part, metric, HOT), metric)
        made.append(Experiment(heading, how, list(specs.values()), plot, Table(header, rows), claims[metric]))
    return made


def _below(curve: Curve) -> float:
    """How far a curve falls below the line of chance, at most."""
    return max(0.0, float(np.max(curve.x - curve.y)))


def _worse(curves: dict[str, Curve]) -> Claim:
    below = {spec: _below(curve) for spec, curve in curves.items()}
    rule = f"each curve lies more than {BELOW} below the line of chance somewhere"
    return decided(WORSE, rule, f"farthest below: {listed(below)}", min(below.values()) > BELOW)


def _flat(curves: dict[str, Curve]) -> Claim:
    early = {spec: height_at(curve, EARLY) for spec, curve in curves.items()}
    rule = f"after {EARLY:.0%} of the site backlink has found no more than chance would, and less than PageRank"
    return decided(FLAT, rule, f"found: {listed(early)}", early["backlink"] < early["pagerank"] and early["backlink"] <= EARLY)


def _smaller(small: float, large: float) -> Claim:
    measured = f"site {small:.3f}, whole web {large:.3f}"
    return decided(SMALLER, f"mean P_ST of backlink, {HOT:.0%} hot by IB, is lower on the site", measured, higher(large, small))


def _better(means: dict[str, dict[str, float]]) -> Claim:
    measured = f"IR: {listed(means['pagerank'])}; IB: {listed(means['backlink'])}"
    holds = all(higher(means["pagerank"][spec], value) for spec, value in means["backlink"].items())
    return decided(BETTER, "each mean P_ST is higher with IR than with IB", measured, holds)
