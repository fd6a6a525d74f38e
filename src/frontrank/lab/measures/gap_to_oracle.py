"""gap: the share of the possible gain over bfs that was reached: (x - bfs)/(oracle - bfs), of masses x."""

from __future__ import annotations

from frontrank.lab.measures.mass_gathered import mass
from frontrank.lab.measures.measure import SHARES, Judged, Measure, Values
from frontrank.simulation.simulate import Run
from frontrank.web.importance import parse_metric

BASELINE = "bfs"


def gap(value: float | None, baseline: float | None, oracle: float | None) -> float | None:
    """How far it is from the baseline to the oracle; None where one is not known, or nothing is to be won.

    >>> gap(0.8, 0.6, 1.0)
    0.5000000000000001
    """
    if value is None or baseline is None or oracle is None or oracle <= baseline:
        return None
    return (value - baseline) / (oracle - baseline)


def _ends(judged: Judged) -> tuple[Run | None, Run | None]:
    """The baseline, and the run that goes by the very importance that it is judged by."""
    wanted = parse_metric(judged.metric)
    knowing = (run for run in judged.runs if "truth" in run.policy.needs())
    oracle = next((run for run in knowing if parse_metric(getattr(run.policy, "truth", "")) == wanted), None)
    return next((run for run in judged.runs if run.spec == BASELINE), None), oracle


def _values(run: Run, judged: Judged) -> Values:
    ends = [one for one in _ends(judged) if one is not None]
    reached, low, high = (mass(one.trace, judged.web, SHARES, judged.metric) for one in (run, *ends))
    return {share: gap(reached[share], low[share], high[share]) for share in SHARES}


GAP = Measure(
    "gap",
    "of the way from bfs to the oracle after",
    _values,
    lambda judged: judged.by_scorer is not None and None not in _ends(judged),
    shown=False,
)
