"""fpr10: Fractional PageRank crawlers against RankMass with a window of 5%.

Measured by the cumulative PageRank of what has been fetched, and by the time of deciding. Seeds are the 160 pages of the
greatest PageRank. The paper fetches 80 of 105.9 million pages; here the same share of what the seeds reach. (Beyond that
RankMass spends its time handing ever smaller masses around before it comes to the last pages.)

Reference: Fractional PageRank crawlers, Korea Computer Congress 2010 (vol. 37, 1C).
"""

from __future__ import annotations

import numpy as np

from frontrank.lab.measures import Curve, ideal_mass_curve, mass_curve, random_mass_curve
from frontrank.lab.papers.claims import MARGIN, READING, Claim, decided, higher, is_best, listed, mean_height, untested
from frontrank.lab.papers.crawls import ROUNDS, Crawls, Progress
from frontrank.lab.papers.reproduction import IDEAL, RANDOM, Experiment, Plot, Reproduction, Table, Value, describe
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web

PAPER = "Fractional PageRank crawlers (FPR, FPR@M). Korea Computer Congress 2010, vol. 37, no. 1(C)."
SEEDS = 160
FETCHED = 80.0 / 105.896555  # of the web, in the paper
STEPS = 8  # points of the running time
NEAR = 0.02  # "almost as effective"
WINDOWED = "rankmass:window=0.05"
FPR = {1: "fpr", 2: "fpr:m=2", 20: "fpr:m=20", 100: "fpr:m=100", 1000: "fpr:m=1000"}
OTHERS = ("rankmass", "opic", "bfs")  # not in the paper's figure
PAPER_RATIO = 9 / 2  # hours
FASTER = 2.0

BETTER = "FPR@2 is more effective than RankMass with a window of 5%; so are all FPR@M."
BEST = "FPR@100 is the most effective of all."
LESS = "From M = 20 to 100 less is gained than from 2 to 20."
ENOUGH = "An M beyond 100 changes almost nothing."


def reproduce(web: Web, progress: Progress) -> Reproduction:
    seeds = f"top:{min(SEEDS, web.pages)}"
    pages = find_seeds(web, seeds)
    reach = simulate(web, parse("bfs"), pages).trace.fetched
    budget = max(1, round(FETCHED * reach))
    done: list[Experiment] = []
    crawls = Crawls(web, pages, lambda text: progress(f"fpr10: {text}", len(done), 2), budget)
    for experiment in (effectiveness, efficiency):
        done.append(experiment(crawls))
    setting = (
        f"Every crawl starts from the {len(pages)} pages of the greatest PageRank and fetches {budget:,} pages "
        f"(`--seeds {seeds} --budget {budget}`): of the {reach:,} that it could reach the share that the paper fetched. "
        f"PageRank has damping 0.85. {READING} The paper's web is uk-2007-05, 105.9 million pages."
    )
    return Reproduction("fpr10", f"fpr10 on {web.name}", PAPER, describe(web), setting, done)


def extended(web: Web) -> tuple[str, ...]:
    """The FPR crawlers that this web can carry: without hosts no link is between hosts."""
    return tuple(spec for m, spec in FPR.items() if m == 1 or web.hosts is not None)


def effectiveness(crawls: Crawls) -> Experiment:
    web, specs = crawls.web, (*extended(crawls.web), WINDOWED, *OTHERS)
    crawled = len(crawls[specs[0]].trace.order) / web.pages
    absolute = {spec: mass_curve(crawls[spec].trace, web, relative=False) for spec in specs}
    relative = {spec: mass_curve(crawls[spec].trace, web) for spec in specs}
    means = {spec: mean_height(curve, crawled) for spec, curve in absolute.items()}
    shares = [share for share in (0.05, 0.1, 0.2, 0.3, 0.5) if share <= crawled]
    rows: list[list[Value]] = [
        [s, *_at(absolute[s], shares), *_at(relative[s], shares), means[s], mean_height(relative[s], crawled)] for s in specs
    ]
    header = ["ordering", *(f"at {s:.0%}" for s in shares), *(f"of ideal, {s:.0%}" for s in shares), "mean", "mean of ideal"]
    best, chance = ideal_mass_curve(web, relative=False, until=crawled), random_mass_curve(web, relative=False, until=crawled)
    how = (
        "Cumulative PageRank of the pages fetched, as a share of the whole web's (drawn) and of the most that as many pages "
        f"can have. rankmass without a window, opic and bfs are not in the paper's figure. {_between(web)}"
    )
    plot = Plot({IDEAL: best, **absolute, RANDOM: chance}, "PageRank gathered")
    return Experiment("Effectiveness", how, specs, plot, Table(header, rows), _effective(web, means))


def _at(curve: Curve, shares: list[float]) -> list[float]:
    return [float(np.interp(share, curve.x, curve.y)) for share in shares]


def _between(web: Web) -> str:
    if web.hosts is None:
        return f"{web.name} does not know its hosts, so FPR@M with M > 1 is not run."
    source = np.repeat(np.arange(web.pages), web.out_degree())
    share = float(np.mean(web.hosts[source] != web.hosts[web.targets])) if web.links else 0.0
    return f"{share:.1%} of the links are between hosts (4% in the paper's web)."


def _effective(web: Web, means: dict[str, float]) -> list[Claim]:
    pair = {spec: means[spec] for spec in ("fpr", WINDOWED)}
    near = decided(
        "FPR is almost as effective as RankMass with a window of 5%.",
        f"its mean cumulative PageRank is at most {NEAR} lower",
        listed(pair),
        pair["fpr"] >= pair[WINDOWED] - NEAR,
    )
    if web.hosts is None:
        reason = f"{web.name} does not know its hosts, which M > 1 needs"
        return [near, *(untested(says, reason) for says in (BETTER, BEST, LESS, ENOUGH))]
    compared = {spec: mean for spec, mean in means.items() if spec not in OTHERS and spec != FPR[1000]}
    ms = {spec: means[spec] for m, spec in FPR.items() if 1 < m <= 100}
    gains = {"2 to 20": means[FPR[20]] - means[FPR[2]], "20 to 100": means[FPR[100]] - means[FPR[20]]}
    beyond = means[FPR[1000]] - means[FPR[100]]
    return [
        near,
        decided(
            BETTER,
            "the mean cumulative PageRank of FPR@2, FPR@20 and FPR@100 is higher",
            listed({**ms, WINDOWED: means[WINDOWED]}),
            higher(min(ms.values()), means[WINDOWED]),
        ),
        decided(BEST, "its mean is the highest of those in the paper's figure", listed(compared), is_best(compared, FPR[100])),
        decided(
            LESS,
            f"the mean grows by more than {MARGIN} from 2 to 20, and by more than from 20 to 100",
            listed(gains, 4),
            gains["2 to 20"] > max(MARGIN, gains["20 to 100"]),
        ),
        decided(ENOUGH, f"the mean changes by at most {MARGIN} from 100 to 1000", f"{beyond:+.4f}", abs(beyond) <= MARGIN),
    ]


def efficiency(crawls: Crawls) -> Experiment:
    web, total = crawls.web, crawls.budget or crawls.web.pages
    specs = (*(s for s in extended(web) if s != FPR[1000]), WINDOWED, "bfs")
    steps = sorted({max(1, total * i // STEPS) for i in range(1, STEPS + 1)})
    seconds = crawls.growth(specs, steps)
    whole = {OTHERS[0]: crawls.seconds(OTHERS[0])} | {spec: float(times[-1]) for spec, times in seconds.items()}
    x = np.array(steps) / web.pages
    unit = whole["bfs"]
    curves = {spec: Curve(x, times / unit) for spec, times in seconds.items()}
    ratio = seconds[WINDOWED] / seconds["fpr"]
    half = ratio[(len(steps) - 1) // 2]
    rows = [
        [spec, f"{whole[spec] / unit:.1f}", f"{whole[spec] / whole['fpr']:.1f}", f"{whole[spec]:.3f}"]
        for spec in (*seconds, *OTHERS[:1])
    ]
    claims = [
        decided(
            f"FPR is much faster than RankMass with a window of 5%: 2 hours against 9, {PAPER_RATIO:.1f} times.",
            f"RankMass takes at least {FASTER:g} times as long for the whole crawl",
            f"{ratio[-1]:.1f} times as long",
            bool(ratio[-1] >= FASTER),
        ),
        decided(
            "The time of windowed RankMass grows faster with the pages fetched than that of FPR.",
            "the ratio of their times is higher at the end of the crawl than half-way",
            f"half-way {half:.1f}, at the end {ratio[-1]:.1f}",
            bool(ratio[-1] > half),
        ),
        _overall(web, whole),
    ]
    how = (
        "Time of deciding for crawls of growing size, as a multiple of the whole crawl by bfs in the same process; the least "
        f"of {ROUNDS} rounds in which the orderings take turns; seconds as information."
    )
    plot = Plot(curves, "times the whole crawl by bfs", shares=False)
    table = Table(["ordering", "times bfs", "times fpr", "seconds"], rows)
    return Experiment("Running time", how, specs, plot, table, claims)


def _overall(web: Web, whole: dict[str, float]) -> Claim:
    says = "Over a whole crawl FPR@M takes less time than windowed RankMass."
    if web.hosts is None:
        return untested(says, f"{web.name} does not know its hosts, which M > 1 needs")
    ms = {spec: whole[spec] / whole[WINDOWED] for m, spec in FPR.items() if 1 < m <= 100}
    return decided(says, "each takes less", f"of its time: {listed(ms, 2)}", max(ms.values()) < 1.0)
