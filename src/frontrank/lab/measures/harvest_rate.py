"""harvest: mean score of the first k pages fetched: the harvest rate of focused crawling (Chakrabarti et al. 1999).

Scores are those of ``--metric quality:scorer=S``. An unknown value is ``None``, as in ``hot``.
"""

from __future__ import annotations

from collections.abc import Iterable

from frontrank.lab.measures.curves import at_shares
from frontrank.lab.measures.measure import SHARES, Measure, Values
from frontrank.lab.measures.standing import standing
from frontrank.simulation.trace import Trace
from frontrank.web.web import Web


def harvest(trace: Trace, web: Web, shares: Iterable[float] = SHARES, metric: str = "quality") -> Values:
    """Mean score of what was fetched.

    >>> import numpy as np
    >>> web = Web.from_edges([0, 0], [1, 2], pages=3, texts=["", "a b", ""])
    >>> harvest(Trace(np.array([0]), np.array([0, 1])), web, (0.6, 1.0))
    {0.6: 0.0049504950495049506, 1.0: None}
    """
    value = standing(web, metric).value
    return at_shares(trace, web, shares, lambda k: float(value[trace.order[:k]].sum()) / min(k, trace.fetched))


HARVEST = Measure(
    "harvest",
    "mean score after",
    lambda run, judged: harvest(run.trace, judged.web, SHARES, judged.metric),
    lambda judged: judged.by_scorer is not None,
    shown=False,
)
