"""tune: omega and gamma of rw-eg, chosen by the .632+ bootstrap on pages whose impact is known (tran15, section 5.1).

For each setting the frontier is scored once. Its error on a set of pages is 1 minus its share of the ideal impact there, the
mean over some shares of the set. With e the error on all training pages, o the mean error on the pages that a bootstrap
sample leaves out, and c the error that a random order has in expectation (Efron, Tibshirani 1997):

    R = (o - e)/(c - e) in 0 .. 1,   w = .632/(1 - .368 R),   .632+ error = (1 - w) e + w min(o, c)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.lab.frame import Frame, FrameColumn, Tabular
from frontrank.lab.lab_options import TuneOptions
from frontrank.lab.measures.impact import impact_shares
from frontrank.lab.scenario import Scenario
from frontrank.options import check_options
from frontrank.orderings.batch.rw import EnrichedWalk

SHARES = (0.05, 0.1)
SAMPLES = 50


@dataclass(frozen=True)
class Setting:
    """One choice of parameters, with what the bootstrap says of it and what it does on the pages kept for the test."""

    omega: float
    gamma: float
    estimate: float  # of its share of the ideal impact
    training: float
    test: float | None


@dataclass(frozen=True)
class Tuning(Sequence[Setting], Tabular):
    """All settings that were tried, the best first."""

    settings: tuple[Setting, ...]
    judged_by: str = "impact"  # what impact is here: views or clicks

    def __len__(self) -> int:
        return len(self.settings)

    def __getitem__(self, at: Any) -> Any:
        return self.settings[at]

    @property
    def spec(self) -> str:
        """The best setting, as a ranker."""
        return EnrichedWalk(omega=self[0].omega, gamma=self[0].gamma).spec()

    def json(self) -> dict[str, Any]:
        best = {"omega": self[0].omega, "gamma": self[0].gamma}
        return {"best": best, "judged_by": self.judged_by, "settings": [asdict(one) for one in self.settings]}

    def frame(self) -> Frame:
        columns = [FrameColumn(name, [f"{getattr(one, name):g}" for one in self.settings]) for name in ("omega", "gamma")]
        for name, head in (("estimate", ".632+"), ("training", "training"), ("test", "test")):
            columns.append(FrameColumn(head, [getattr(one, name) for one in self.settings], "share", "more"))
        title = f"share of the ideal {self.judged_by} at 5% and 10% of the frontier, mean"
        return Frame(tuple(columns), title).sorted(".632+")


def tune(
    scenario: Scenario,
    omegas: tuple[float, ...] = TuneOptions.omega,
    gammas: tuple[float, ...] = TuneOptions.gamma,
    samples: int = SAMPLES,
    seed: int = TuneOptions.draw,
    progress: Callable[[str, int, int], None] | None = None,
) -> Tuning:
    """All settings, the best first. The scenario must be one of the split protocol: its revealed pages are the training set."""
    if scenario.view.revealed is None:
        raise InputError("tuning needs pages whose impact is known; stage the crawl with the split protocol")
    check_options(TuneOptions, omega=omegas, gamma=gammas, draw=seed)
    training, impact = scenario.view.revealed
    draw = np.random.default_rng(seed)
    drawn = [draw.integers(0, len(training), len(training)) for _ in range(samples)]
    settings = []
    for at, (gamma, omega) in enumerate((g, o) for g in gammas for o in omegas):
        if progress is not None:
            progress(f"omega={omega:g}, gamma={gamma:g}", at, len(omegas) * len(gammas))
        scores = EnrichedWalk(omega=omega, gamma=gamma).score(scenario.view)
        estimate, resubstituted = estimate_632_plus(scores[training], impact, drawn)
        tested = share_of_ideal(scores[scenario.tested], scenario.impact[scenario.tested]) if len(scenario.tested) else None
        settings.append(Setting(omega, gamma, estimate, resubstituted, tested))
    return Tuning(tuple(sorted(settings, key=lambda setting: -setting.estimate)), scenario.judged_by)


def share_of_ideal(scores: Array, impact: Array, shares: tuple[float, ...] = SHARES) -> float:
    return float(np.mean(list(impact_shares(scores, impact, shares).values())))


def estimate_632_plus(
    scores: Array, impact: Array, drawn: list[Array], shares: tuple[float, ...] = SHARES
) -> tuple[float, float]:
    """The .632+ estimate of the share of the ideal, and the share on the training pages themselves."""
    e = 1.0 - share_of_ideal(scores, impact, shares)
    left_out = []
    for sample in drawn:
        out = np.setdiff1d(np.arange(len(impact)), sample)
        if impact[out].any():
            left_out.append(1.0 - share_of_ideal(scores[out], impact[out], shares))
    o = float(np.mean(left_out)) if left_out else e
    c = 1.0 - _by_chance(impact, shares)
    overfit = min(1.0, (o - e) / (c - e)) if c > e and o > e else 0.0
    weight = 0.632 / (1.0 - 0.368 * overfit)
    return 1.0 - ((1.0 - weight) * e + weight * min(o, c)), 1.0 - e


def _by_chance(impact: Array, shares: tuple[float, ...]) -> float:
    """The share of the ideal that a random order has in expectation: its first k pages have k/n of all impact."""
    best = np.cumsum(np.sort(impact)[::-1])
    counts = [max(1, round(share * len(impact))) for share in shares]
    return float(np.mean([k * impact.mean() / best[k - 1] if best[k - 1] > 0 else 0.0 for k in counts]))
