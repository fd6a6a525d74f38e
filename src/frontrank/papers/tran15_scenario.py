"""tran15's scenes: one moment of a crawl, the orderings that are tuned on a part of its frontier, and what all of them score.

The paper sets gamma to 1 for Wikipedia and to 0 for its crawl; here it is tuned with omega, over both. ``rw`` has the gamma
that is best for links alone. Not in the paper: walks that learn from the crawl itself, or have fixed settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.lab.drawn import Drawn
from frontrank.lab.measures import Curve
from frontrank.lab.measures.impact import FRONTIER_SHARES
from frontrank.lab.scenario import Scenario, build_scenario, ranker_of, split
from frontrank.lab.tune import Tuning, tune
from frontrank.orderings.batch.rw import RandomWalk
from frontrank.papers.claims import Claim, lead
from frontrank.papers.draws import at_shares, heads, heights
from frontrank.papers.made_queries import lines
from frontrank.papers.reproduction import PaperTable, Row, Tell, paper_table
from frontrank.search.divided import Divided
from frontrank.web.web import Web

SIMPLE = ("indegree", "pagerank", "q-overlap", "q-hybrid:fit=tree")
QUERIED = ("q-overlap", "q-hybrid:fit=tree")
GAMMAS = (0.0, 1.0)  # the paper's for its crawl, and for Wikipedia
LEARNED_WALK = "rw-eg, learned"  # omega and gamma from the crawl itself, not from told pages
OURS = {LEARNED_WALK: "rw-eg", "rw, gamma 0": "rw", "rw-eg, omega .3": "rw-eg:omega=0.3"}
PAPERS_ML, OUR_ML = "ml, Table 4", "ml"
LEARNERS = {PAPERS_ML: "ml:learner=tree,features=table4", OUR_ML: "ml"}
SHOWN = np.linspace(0.0025, 0.2, 80)  # shares of the frontier at which curves are drawn
UNTIL = 0.1  # of the frontier: how far means go, as in the paper's figures for Wikipedia
WAITS = "share of the frontier fetched"
Kept = TypeVar("Kept")


@dataclass(frozen=True, eq=False)
class Ordered:
    """One draw of one scenario, the orderings tuned on it, and what they score."""

    scenario: Scenario  # the deployed one
    trial: Scenario  # with 65% of the frontier told
    tuning: Tuning
    specs: Mapping[str, str]  # by name
    scores: Mapping[str, Array]  # of all known pages, by name
    learned: Mapping[str, Mapping[str, Array]]  # of ml, by protocol and name

    def impact(self) -> dict[str, Curve]:
        """The curves of the paper's way of testing."""
        tested = self.trial.tested
        scores = {**self.scores, **self.learned["split"]}
        return lines({name: score[tested] for name, score in scores.items()}, self.trial.impact[tested], SHOWN)


def ordered(web: Web, log: Divided | None, start: int, share: float, draw: int, *, impact: str | None, tell: Tell) -> Ordered:
    """The scenario of one draw, with all that is tuned, learned and scored on it."""
    tell("the crawl and what searchers saw of it")
    seeds = web.ids_of(np.array([start])).tolist()
    asked = None if log is None else log.again(draw)
    scenario = build_scenario(web, asked, f"bfs:{share}", seeds, learns=True, impact=impact)
    tell("omega")
    trial = split(scenario, draw)
    tuning = tune(trial, gammas=GAMMAS, seed=draw)
    specs = {spec.partition(":")[0]: spec for spec in SIMPLE if log is not None or spec not in QUERIED}
    along_links = next(one for one in tuning if one.omega == 1.0)  # the best come first
    specs |= {"rw": RandomWalk(gamma=along_links.gamma).spec(), "rw-eg": tuning.spec, **OURS}
    scores = {}
    for short, spec in specs.items():
        tell(spec)
        scores[short] = ranker_of(spec).score(scenario.view)
    learned: dict[str, dict[str, Array]] = {}
    for protocol, one in (("split", trial), ("deployed", scenario)):
        tell(f"ml, {protocol}")
        learned[protocol] = {short: ranker_of(spec).score(one.view) for short, spec in LEARNERS.items()}
    return Ordered(scenario, trial, tuning, specs, scores, learned)


def in_paper(values: Mapping[str, Kept]) -> dict[str, Kept]:
    """Of these orderings the paper's own."""
    return {name: value for name, value in values.items() if name not in OURS}


def more(says: str, means: Mapping[str, Drawn], name: str, other: str) -> Claim:
    """A claim that one ordering finds more than another."""
    pair = {one: means[one] for one in (name, other)}
    rule = f"in the mean share of the ideal up to {UNTIL:.0%} of the frontier it is ahead"
    return lead(says, rule, pair, name)


def heights_table(curves: Mapping[str, Sequence[Curve]]) -> PaperTable:
    header = ["ordering", *heads(FRONTIER_SHARES), f"mean to {UNTIL:.0%}"]
    means = heights(curves, UNTIL)
    rows: list[Row] = [[name, *at_shares(drawn, FRONTIER_SHARES), means[name]] for name, drawn in curves.items()]
    return paper_table(header, rows)
