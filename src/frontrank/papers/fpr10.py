"""fpr10: Fractional PageRank crawlers against RankMass with a window of 5%.

Measured by the cumulative PageRank of what has been fetched, and by the time of deciding. The paper starts from the 160 pages
of the greatest PageRank, of 105.9 million. Of a web of 100,000 pages that share is less than one page: so each draw takes
one (or the share, if it is more) of the 160 best pages. The paper fetches 80 of 105.9 million pages; here the same share of
what the seeds reach. (Beyond that RankMass spends its time handing ever smaller masses around before it comes to the last
pages.)
Reference: Fractional PageRank crawlers, Korea Computer Congress 2010 (vol. 37, 1C).
"""

from __future__ import annotations

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.lab.drawn import Drawn
from frontrank.lab.measures import Curve, ideal_mass_curve, mass_curve, random_mass_curve
from frontrank.papers.claims import (
    ALIKE,
    MARGIN,
    NOT_KNOWN,
    READING,
    Claim,
    above,
    ahead,
    alike,
    all_hold,
    at_most,
    decided,
    lead,
    listing,
    not_ahead,
    not_below,
    untested,
)
from frontrank.papers.draws import ROUNDS, Draws, at_shares, draw, heads, heights, middle, random_pages
from frontrank.papers.reproduction import IDEAL, RANDOM, PaperExperiment, Plot, Reproduced, Row, Tell, paper_table
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web

PAPER = (
    "Fractional PageRank crawlers (FPR, FPR@M). Korea Computer Congress 2010, vol. 37, no. 1(C). FPR was introduced by Md. "
    "Hijbul Alam, JongWoo Ha and SangKeun Lee (DASFAA 2009)."
)
TOP = 160
PAGES = 105_896_555  # of the paper's web
FETCHED = 80_000_000 / PAGES
EXPERIMENTS = 3
STEPS = 8  # points of the running time
NEAR = 0.02  # "almost as effective"
WINDOWED = "rankmass:window=0.05"
WINDOWS = ("rankmass", WINDOWED, "rankmass:window=0.2", "rankmass:window=0.5", "rankmass:window=1", "bfs")
FPR = {1: "fpr", 2: "fpr:m=2", 20: "fpr:m=20", 100: "fpr:m=100", 1000: "fpr:m=1000"}
OTHERS = ("rankmass", "opic", "opic:start=all", "bfs")  # not in the paper's figure
PAPER_RATIO = 9 / 2  # hours
FASTER = 2.0

BETTER = "FPR@2 is more effective than RankMass with a window of 5%; so are all FPR@M."
BEST = "FPR@100 is the most effective of all."
LESS = "From M = 20 to 100 less is gained than from 2 to 20."
ENOUGH = "An M beyond 100 changes almost nothing."


def reproduce(web: Web, tell: Tell) -> Reproduced:
    best = find_seeds(web, f"top:{min(TOP, web.pages)}")
    count = max(1, round(TOP / PAGES * web.pages))
    seeds, reach = draw(web, random_pages(web, min(count, len(best)), best))
    budget = max(1, round(FETCHED * min(reach)))
    draws = Draws(web, seeds, tell, budget)
    setting = (
        f"{len(seeds)} draws: every crawl starts from {count} of the {len(best)} pages of the greatest PageRank (the paper "
        f"takes {TOP}, of {PAGES / 1e6:.1f} million pages; the same share, at least one) and fetches {budget:,} pages: of the "
        f"{min(reach):,} that the seeds reach at least, the share that the paper fetched. PageRank has damping 0.85. {READING} "
        f"The paper's web is uk-2007-05, from one set of seeds."
    )
    return setting, (experiment(draws) for experiment in (effectiveness, windows, efficiency))


def extended(web: Web) -> tuple[str, ...]:
    """The FPR crawlers that this web can carry: without hosts no link is between hosts."""
    return tuple(spec for m, spec in FPR.items() if m == 1 or web.hosts is not None)


def _gathered(draws: Draws, specs: tuple[str, ...], relative: bool) -> dict[str, list[Curve]]:
    return draws.collect({spec: spec for spec in specs}, lambda run: mass_curve(run.trace, draws.web, relative=relative))


def _crawled(draws: Draws) -> float:
    """The share of the web that every crawl fetches."""
    return draws.pages / draws.web.pages


def effectiveness(draws: Draws) -> PaperExperiment:
    web, specs = draws.web, (*extended(draws.web), WINDOWED, *OTHERS)
    crawled = _crawled(draws)
    absolute, relative = (_gathered(draws, specs, kind) for kind in (False, True))
    means, of_ideal = heights(absolute, crawled), heights(relative, crawled)
    shares = [share for share in (0.05, 0.1, 0.2, 0.3, 0.5) if share <= crawled]
    rows: list[Row] = [
        [
            s,
            *at_shares(absolute[s], shares),
            means[s],
            *at_shares(relative[s], shares),
            of_ideal[s],
        ]
        for s in specs
    ]
    header = ["ordering", *heads(shares), "mean", *(f"of ideal, {s:.0%}" for s in shares), "mean of ideal"]
    how = (
        "Cumulative PageRank of the pages fetched, as a share of the whole web's (drawn, the mean of all draws) and of the "
        f"most that as many pages can have. rankmass without a window, opic and bfs are not in the paper's figure. "
        f"{_between(web)}"
    )
    plot = _plot(draws, absolute)
    return PaperExperiment("Effectiveness", how, specs, plot, paper_table(header, rows), _effective(web, means))


def _plot(draws: Draws, absolute: dict[str, list[Curve]]) -> Plot:
    web, until = draws.web, _crawled(draws)
    best, chance = (line(web, relative=False, until=until) for line in (ideal_mass_curve, random_mass_curve))
    return Plot({IDEAL: best, **middle(absolute), RANDOM: chance}, "PageRank gathered")


def _share_between(web: Web) -> float:
    assert web.hosts is not None
    source = np.repeat(np.arange(web.pages), web.out_degree())
    return float(np.mean(web.hosts[source] != web.hosts[web.targets])) if web.links else 0.0


def _between(web: Web) -> str:
    if web.hosts is None:
        return f"{web.name} does not know its hosts, so FPR@M with M > 1 is not run."
    return f"{_share_between(web):.1%} of the links are between hosts (4% in the paper's web)."


def _effective(web: Web, means: dict[str, Drawn]) -> list[Claim]:
    pair = {spec: means[spec] for spec in ("fpr", WINDOWED)}
    near = not_below(
        "FPR is almost as effective as RankMass with a window of 5%.",
        f"its mean cumulative PageRank is at most {NEAR} lower, spread included",
        listing(pair),
        pair["fpr"].minus(pair[WINDOWED]),
        NEAR,
    )
    if web.hosts is None:
        reason = f"{web.name} does not know its hosts, which M > 1 needs"
        return [near, *(untested(says, reason) for says in (BETTER, BEST, LESS, ENOUGH))]
    return [
        near,
        *_effective_between(means, f"{_share_between(web):.1%} of the links are between hosts (4% in the paper's web)"),
    ]


def _effective_between(means: dict[str, Drawn], seen: str) -> list[Claim]:
    """The claims on FPR@M with M > 1."""
    compared = {spec: mean for spec, mean in means.items() if spec not in OTHERS and spec != FPR[1000]}
    ms = {spec: means[spec] for m, spec in FPR.items() if 1 < m <= 100}
    first, second = means[FPR[20]].minus(means[FPR[2]]), means[FPR[100]].minus(means[FPR[20]])
    beyond = means[FPR[1000]].minus(means[FPR[100]])
    return [
        decided(
            BETTER,
            "the mean cumulative PageRank of FPR@2, FPR@20 and FPR@100 is ahead",
            listing({**ms, WINDOWED: means[WINDOWED]}),
            all_hold(ahead(mean, means[WINDOWED]) for mean in ms.values()),
            _weight(ms, means, seen),
        ),
        lead(BEST, "its mean is ahead of all others in the paper's figure", compared, FPR[100], seen),
        decided(
            LESS,
            f"the mean grows by more than {MARGIN} from 2 to 20, and by more than from 20 to 100, spread included",
            listing({"2 to 20": first, "20 to 100": second}),
            all_hold([above(first, MARGIN), above(first.minus(second))]),
            NOT_KNOWN if above(first, MARGIN) else f"a larger M gains nothing here, as FPR@M is no better than FPR; {seen}",
        ),
        alike(
            ENOUGH,
            f"the mean changes by at most {MARGIN} from 100 to 1000, spread included",
            str(beyond),
            beyond,
            MARGIN,
            f"{seen}; {NOT_KNOWN}",
        ),
    ]


def _weight(ms: dict[str, Drawn], means: dict[str, Drawn], seen: str) -> str:
    worse = [spec for spec, mean in ms.items() if ahead(means["fpr"], mean)]
    if worse:
        return f"links between hosts lead to less PageRank than those within: behind fpr itself: {', '.join(worse)}; {seen}"
    pairs = {spec: not_ahead({spec: mean, WINDOWED: means[WINDOWED]}, spec) for spec, mean in ms.items()}
    return "; ".join([*(f"{spec} is {short}" for spec, short in pairs.items() if short), seen])


def windows(draws: Draws) -> PaperExperiment:
    """What the paper says of its baseline: a window of 5% costs nothing, one of 100% is breadth-first."""
    crawled = _crawled(draws)
    absolute = _gathered(draws, WINDOWS, False)
    means = heights(absolute, crawled)
    shares = [share for share in (0.05, 0.1, 0.2, 0.3, 0.5) if share <= crawled]
    rows: list[Row] = [[s, *at_shares(absolute[s], shares), means[s]] for s in WINDOWS]
    table = paper_table(["ordering", *heads(shares), "mean"], rows)
    whole, bfs = means["rankmass:window=1"], means["bfs"]
    claims = [
        not_below(
            "RankMass with a window of 5% is as effective as RankMass.",
            f"its mean cumulative PageRank is at most {NEAR} lower, spread included",
            listing({spec: means[spec] for spec in WINDOWS[:2]}),
            means[WINDOWED].minus(means["rankmass"]),
            NEAR,
        ),
        alike(
            "A window of 100% has the effect of breadth-first.",
            f"their mean cumulative PageRank differ by at most {ALIKE}, spread included",
            listing({"window=1": whole, "bfs": bfs}),
            whole.minus(bfs),
            ALIKE,
            "a round takes all known pages, as a level of breadth-first does; but in the order of their mass, and a crawl of "
            "few rounds is stopped within one",
        ),
    ]
    how = (
        "RankMass in rounds: the window is the share of all known pages that a round handles. Claims that the paper cites from "
        "Cho and Schonfeld (2007) for its baseline."
    )
    return PaperExperiment("Windows", how, WINDOWS, _plot(draws, absolute), table, claims)


def efficiency(draws: Draws) -> PaperExperiment:
    web, total = draws.web, draws.pages
    specs = (*(s for s in extended(web) if s != FPR[1000]), WINDOWED, "bfs")
    steps = sorted({max(1, total * i // STEPS) for i in range(1, STEPS + 1)})
    seconds = draws.growth(specs, steps)
    whole = {spec: Drawn(tuple(float(times[-1]) for times in drawn)) for spec, drawn in seconds.items()}
    whole[OTHERS[0]] = draws.processor_s(OTHERS[0])
    x, unit = np.array(steps) / web.pages, whole["bfs"]
    curves = {
        spec: Curve(x, np.mean([times / bfs_s for times, bfs_s in zip(drawn, unit.values, strict=True)], axis=0))
        for spec, drawn in seconds.items()
    }
    rows: list[Row] = [
        [spec, whole[spec].over(unit).times(), whole[spec].over(whole["fpr"]).times(), f"{whole[spec].mean:.3f}"]
        for spec in whole
    ]
    claims = [*_faster(seconds), _overall(web, whole)]
    how = (
        f"Processor time of deciding for crawls of growing size, for each draw the lowest of {ROUNDS} rounds in which the "
        "orderings take turns, as a multiple of the whole crawl by bfs in the same draw; seconds as information."
    )
    plot = Plot(curves, "times the whole crawl by bfs", shares=False)
    table = paper_table(["ordering", "times bfs", "times fpr", "seconds"], rows)
    return PaperExperiment("Running time", how, specs, plot, table, claims)


def _faster(seconds: dict[str, list[Array]]) -> list[Claim]:
    """Times by ordering, draw and size of the crawl."""
    steps = len(seconds["fpr"][0])
    half, end = (
        Drawn(tuple(float(a[step] / b[step]) for a, b in zip(seconds[WINDOWED], seconds["fpr"], strict=True)))
        for step in ((steps - 1) // 2, -1)
    )
    return [
        decided(
            f"FPR is much faster than RankMass with a window of 5%: 2 hours against 9, {PAPER_RATIO:.1f} times.",
            f"RankMass takes more than {FASTER:g} times as long for the whole crawl, by more than the spread",
            f"{end.times()} times as long",
            above(end, FASTER),
        ),
        decided(
            "The time of windowed RankMass grows faster with the pages fetched than that of FPR.",
            "the ratio of their times is higher at the end of the crawl than half-way, by more than the spread over draws",
            f"half-way {half.times()}, at the end {end.times()}",
            above(end.minus(half)),
            "the ratio falls",
        ),
    ]


def _overall(web: Web, whole: dict[str, Drawn]) -> Claim:
    says = "Over a whole crawl FPR@M takes less time than windowed RankMass."
    if web.hosts is None:
        return untested(says, f"{web.name} does not know its hosts, which M > 1 needs")
    ms = {spec: whole[spec].over(whole[WINDOWED]) for m, spec in FPR.items() if 1 < m <= 100}
    return decided(
        says,
        "each takes less, by more than the spread over draws",
        f"of its time: {listing(ms)}",
        all_hold(at_most(value, 1.0) for value in ms.values()),
    )
