"""Claims: what a paper says, the rule that decides whether it holds here, what was measured, and the verdict.

The rule is written down before it is applied, and the verdict follows from the measurement alone:

    agrees                  the rule holds
    disagrees               it does not; the reason is said, or that it is not known
    cannot be decided       draws of seeds differ by more than lies between the measurement and what the rule asks for
    cannot be tested here   the web lacks what the claim is about; the reason is said
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from frontrank.lab.measures import Curve

AGREES, DISAGREES, UNDECIDED, UNTESTED = "agrees", "disagrees", "cannot be decided", "cannot be tested here"
NOT_KNOWN = "why is not known"
ACROSS = "the spread lies across what the rule asks for"
MARGIN = 0.005  # two figures nearer than this are equal
ALIKE = 0.03  # and nearer than this are similar
GRID = 2000  # points at which a curve's mean height is taken


@dataclass(frozen=True)
class Claim:
    """One claim of a paper and what became of it here."""

    says: str  # in our words, with the paper's figure where it gives one
    rule: str  # when it counts as borne out
    measured: str
    verdict: str
    reason: str = ""  # why it does not hold, or cannot be decided

    @property
    def finding(self) -> str:
        return f"{self.verdict}: {self.reason}" if self.reason else self.verdict


def decided(says: str, rule: str, measured: str, holds: bool | None, why: str = NOT_KNOWN, across: str = ACROSS) -> Claim:
    """A claim and whether its rule holds: if not, ``why`` that is thought to be; if draws do not decide (None), what of it."""
    if holds is None:
        return Claim(says, rule, measured, UNDECIDED, across)
    return Claim(says, rule, measured, AGREES) if holds else Claim(says, rule, measured, DISAGREES, why or NOT_KNOWN)


def untested(says: str, reason: str) -> Claim:
    """A claim that this web cannot decide."""
    return Claim(says, "", "", UNTESTED, reason)


def mean_height(curve: Curve, until: float = 1.0) -> float:
    """The mean of a curve from 0 to a share of the web: one number for a whole line.

    >>> round(mean_height(Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))), 3)
    0.5
    """
    x = (np.arange(GRID) + 0.5) / GRID * until
    return float(np.interp(x, curve.x, curve.y).mean())


def height_at(curve: Curve, x: float) -> float:
    return float(np.interp(x, curve.x, curve.y))


def reaches_at(curve: Curve, height: float) -> float | None:
    """The first share of the web at which a curve is this high; None if it never is.

    >>> reaches_at(Curve(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.8, 1.0])), 0.4)
    0.25
    """
    high = np.flatnonzero(curve.y >= height)
    if len(high) == 0:
        return None
    at = int(high[0])
    if at == 0:
        return float(curve.x[0])
    x0, x1, y0, y1 = (float(v) for v in (curve.x[at - 1], curve.x[at], curve.y[at - 1], curve.y[at]))
    return x0 + (x1 - x0) * (height - y0) / (y1 - y0)


def listed(values: Mapping[str, float | None], digits: int = 3) -> str:
    """
    >>> listed({"bfs": 0.61234, "fpr": None})
    'bfs .612, fpr –'
    """
    return ", ".join(f"{name} {number(value, digits)}" for name, value in values.items())


def number(value: float | None, digits: int = 3) -> str:
    """A number as papers print them: no zero before the point.

    >>> number(0.43, 2), number(-0.1, 1), number(12.0, 1), number(None)
    ('.43', '-.1', '12.0', '–')
    """
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text
