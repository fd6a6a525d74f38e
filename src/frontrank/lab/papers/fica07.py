"""fica07: FICA against breadth-first, backlink count, partial PageRank and OPIC.

Throughput is P_CS by PageRank: of the k pages fetched, those among the k most important. The paper ranks the queue of every
ordering that is not itself a schedule anew each K = n/72 pages (250,000 of 18 million); FICA's time steps are as long. So
its back-link count is ``indegree:every=K`` here; ``backlink``, which ranks at once, is beside it.

Kendall's tau needs a ranking of all pages. FICA's is the distance, OPIC's the cash. For the others the paper must have taken
the order of fetching: a PageRank of the whole crawl would agree with the benchmark nearly everywhere, and the paper has
.18. Both are given here: by fetch order, and by the scores that an ordering holds at the end.

Reference: A. M. Zareh Bidoki, N. Yazdani, P. Ghodsnia: FICA: A Fast Intelligent Crawling Algorithm, 2007.
"""

from __future__ import annotations

import numpy as np

from frontrank.lab.measures import SAMPLE, final_scores, kendall
from frontrank.lab.papers.claims import ALIKE, READING, Claim, decided, height_at, higher, is_best, listed, mean_height, number
from frontrank.lab.papers.crawls import Crawls, Progress, stop_plot
from frontrank.lab.papers.reproduction import Experiment, Reproduction, Table, Value, describe
from frontrank.web.importance import importance
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web

PAPER = "A. M. Zareh Bidoki, N. Yazdani, P. Ghodsnia: FICA: A Fast Intelligent Crawling Algorithm. 2007."
SEEDS, DRAW = 1000, 7
STEPS = 72  # rankings in a crawl
EARLY = 0.3  # "early stages": the mean throughput is taken up to here
QUOTED = 0.15
THROUGHPUT = {"FICA": 0.43, "OPIC": 0.37, "partial PageRank": 0.28}
TAU = {"back-link count": 0.09, "breadth-first": 0.11, "partial PageRank": 0.18, "FICA": 0.61, "OPIC": 0.62}
NOT_IN_PAPER = ("backlink, at once", "fpr", "rankmass")
OWN_SCORES = ("FICA", "OPIC")  # whose tau the paper takes by scores, not by fetch order
SCHEDULES = ("exp", "inverse", "power", "linear")
BETAS = (0.01, 0.03, 0.1, 0.3, 1.0)
ACCEPTABLE = 0.5
MUCH_FASTER = 5.0


def reproduce(web: Web, progress: Progress) -> Reproduction:
    seeds = f"random:{min(SEEDS, max(1, web.pages // 100))}@{DRAW}"
    done: list[Experiment] = []
    crawls = Crawls(web, find_seeds(web, seeds), lambda text: progress(f"fica07: {text}", len(done), 5))
    for experiment in (throughput, ranking, schedules, betas, running_time):
        done.append(experiment(crawls))
    setting = (
        f"Every crawl starts from {len(crawls.seeds):,} random pages (`--seeds {seeds}`) and fetches all it can reach "
        f"({crawls['bfs'].trace.fetched / web.pages:.1%} of the web). K = n/{STEPS} = {step(web):,} pages. Importance is "
        f"PageRank with damping 0.85. {READING} The paper's web is the .uk of 18 million pages."
    )
    return Reproduction("fica07", f"fica07 on {web.name}", PAPER, describe(web), setting, done)


def step(web: Web) -> int:
    return max(1, web.pages // STEPS)


def orderings(web: Web) -> dict[str, str]:
    """The paper's names, and ours for what it does not have."""
    k = step(web)
    return {
        "breadth-first": "bfs",
        "back-link count": f"indegree:every={k}",
        "backlink, at once": "backlink",
        "partial PageRank": f"pagerank:every={k}",
        "OPIC": "opic",
        "FICA": f"fica:k={k}",
        "fpr": "fpr",
        "rankmass": "rankmass",
    }


def throughput(crawls: Crawls) -> Experiment:
    web, specs = crawls.web, orderings(crawls.web)
    curves = crawls.stopped(specs, "pagerank")
    early = {name: mean_height(curve, EARLY) for name, curve in curves.items()}
    shares = (0.05, 0.1, QUOTED, 0.2, EARLY, 0.5)
    rows = [[n, specs[n], *(height_at(c, s) for s in shares), early[n], THROUGHPUT.get(n)] for n, c in curves.items()]
    header = ["ordering", "as run", *(f"at {s:.0%}" for s in shares), f"mean to {EARLY:.0%}", f"paper, at {QUOTED:.0%}"]
    at = {name: height_at(curves[name], QUOTED) for name in THROUGHPUT}
    in_paper = {name: value for name, value in early.items() if name not in NOT_IN_PAPER}
    told = f"at {QUOTED:.0%}: {listed(at)}"
    claims = [
        decided(
            "FICA finds more hot pages than the other algorithms, above all in the early stages.",
            f"its mean throughput up to {EARLY:.0%} of the web is the highest of the paper's five",
            listed(in_paper),
            is_best(in_paper, "FICA"),
        ),
        decided(
            f"At {QUOTED:.0%} FICA is ahead of OPIC ({number(THROUGHPUT['FICA'], 2)} against {number(THROUGHPUT['OPIC'], 2)}).",
            "its throughput there is higher",
            told,
            higher(at["FICA"], at["OPIC"]),
        ),
        decided(
            f"At {QUOTED:.0%} OPIC is ahead of partial PageRank ({number(THROUGHPUT['OPIC'], 2)} against "
            f"{number(THROUGHPUT['partial PageRank'], 2)}).",
            "its throughput there is higher",
            told,
            higher(at["OPIC"], at["partial PageRank"]),
        ),
    ]
    how = "Of the k pages fetched, those among the k of the greatest PageRank. fpr and rankmass are not in the paper."
    return Experiment("Throughput", how, list(specs.values()), stop_plot(web, curves, "pagerank"), Table(header, rows), claims)


def ranking(crawls: Crawls) -> Experiment:
    web, specs = crawls.web, orderings(crawls.web)
    truth = importance(web, "pagerank")
    rows: list[list[Value]] = []
    taken: dict[str, float] = {}
    for name, spec in specs.items():
        crawls.tell(f"Kendall's tau of {spec}")
        run = crawls[spec]
        by_order = -run.trace.when(web.pages).astype(np.float64)
        own = None if run.ranking is None else final_scores(run, web)
        scores = own if own is not None and name in OWN_SCORES else by_order
        taken[name] = kendall(scores, truth)
        held = None if own is None else kendall(own, truth)
        rows.append([name, kendall(by_order, truth), held, taken[name], kendall(scores, truth, SAMPLE, DRAW), TAU.get(name)])
    header = ["ordering", "tau by fetch order", "tau by its scores", "as the paper takes it", f"{SAMPLE:,} sampled", "paper"]
    how = (
        "Kendall's tau-b between the ranking after the crawl and PageRank, on all pages. As the paper takes it: FICA by "
        f"distance, OPIC by cash received, the others by the order of fetching; also on {SAMPLE:,} pages drawn at random "
        "(on all where there are no more). Pages never fetched come last, all equal."
    )
    return Experiment("The ranking left behind", how, list(specs.values()), None, Table(header, rows), _tau_claims(taken))


def _tau_claims(taken: dict[str, float]) -> list[Claim]:
    in_paper = {name: value for name, value in taken.items() if name in TAU}
    least = min(in_paper[name] for name in OWN_SCORES)
    others = {name: value for name, value in in_paper.items() if name not in OWN_SCORES}
    return [
        decided(
            "FICA and OPIC leave the rankings nearest to PageRank (.61, .62; the others at most .18).",
            "their tau, as the paper takes it, are the two highest of the five",
            listed(in_paper),
            higher(least, max(others.values())),
        ),
        decided(
            "FICA's ranking is as good as OPIC's (.61, .62).",
            f"FICA's tau is at most {ALIKE} lower",
            listed({name: in_paper[name] for name in OWN_SCORES}),
            in_paper["FICA"] >= in_paper["OPIC"] - ALIKE,
        ),
        decided(
            "FICA's distances are by themselves an acceptable ranking of the pages (tau .61).",
            f"its tau is at least {ACCEPTABLE}",
            listed({"FICA": in_paper["FICA"]}),
            in_paper["FICA"] >= ACCEPTABLE,
        ),
    ]


def schedules(crawls: Crawls) -> Experiment:
    k = step(crawls.web)
    specs = {name: f"fica:k={k}" + (f",schedule={name}" if name != "exp" else "") for name in SCHEDULES}
    says = "Of the learning rates exp(-x), 1/x, x^-2.1 and linear, x = beta t, the exponential gives the best throughput."
    how = "FICA with each schedule, beta = 0.1. The linear one is 1 - x, at least 0."
    return _learning(crawls, "Learning-rate schedules", how, specs, "exp", says)


def betas(crawls: Crawls) -> Experiment:
    k = step(crawls.web)
    specs = {f"{beta:g}": f"fica:k={k}" + (f",beta={beta:g}" if beta != 0.1 else "") for beta in BETAS}
    says = "With the exponential schedule beta = 0.1 gives the best throughput."
    return _learning(crawls, "The constant beta", "FICA with the exponential schedule.", specs, "0.1", says)


def _learning(crawls: Crawls, heading: str, how: str, specs: dict[str, str], best: str, says: str) -> Experiment:
    curves = crawls.stopped(specs, "pagerank")
    early = {name: mean_height(curve, EARLY) for name, curve in curves.items()}
    shares = (0.05, QUOTED, EARLY, 0.5)
    rows: list[list[Value]] = [
        [name, specs[name], *(height_at(curve, s) for s in shares), early[name]] for name, curve in curves.items()
    ]
    table = Table(["", "as run", *(f"at {share:.0%}" for share in shares), f"mean to {EARLY:.0%}"], rows)
    claim = decided(says, f"its mean throughput up to {EARLY:.0%} is the highest", listed(early), is_best(early, best))
    return Experiment(heading, how, list(specs.values()), stop_plot(crawls.web, curves, "pagerank"), table, [claim])


def running_time(crawls: Crawls) -> Experiment:
    specs = orderings(crawls.web)
    seconds = {name: crawls.seconds(spec) for name, spec in specs.items()}
    times = {name: value / seconds["breadth-first"] for name, value in seconds.items()}
    rows = [[name, f"{times[name]:.1f}", f"{seconds[name]:.3f}"] for name in specs]
    ratio = seconds["partial PageRank"] / seconds["FICA"]
    says = "FICA costs O(E log V), partial PageRank some 100 passes over the links at each ranking: FICA is much faster."
    claim = decided(
        says,
        f"partial PageRank takes at least {MUCH_FASTER:g} times as long in the same process",
        f"{ratio:.0f} times as long",
        ratio >= MUCH_FASTER,
    )
    how = "Time of deciding for the whole crawl, as a multiple of breadth-first's in the same process; seconds as information."
    table = Table(["ordering", "times breadth-first", "seconds"], rows)
    return Experiment("Running time", how, list(specs.values()), None, table, [claim])
