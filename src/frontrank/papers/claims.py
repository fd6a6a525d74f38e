"""Claims: what a paper says, the rule that decides whether it holds here, what was measured, and the verdict.

The rule is written down before it is applied, and the verdict follows from the measurement alone:

    agrees                  the rule holds
    disagrees               it does not; the reason is said, or that it is not known
    cannot be decided       draws of seeds differ by more than lies between the measurement and what the rule asks for
    cannot be tested here   the web lacks what the claim is about; the reason is said

There is one rule of what draws decide (``beyond``): a figure is above a number, or it is not, only if its mean is away from it
by more than its spread, the sample standard deviation. Between, nothing is decided: neither True nor False, but None. In one
draw all orderings start from the same seeds, so they are compared draw by draw: one is *ahead* of another if the difference is
above ``MARGIN``. A claim about several figures holds if it holds of each (``all_hold``), and fails if it fails of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from frontrank.lab.drawn import Drawn

AGREES, DISAGREES, UNDECIDED, UNTESTED = "agrees", "disagrees", "cannot be decided", "cannot be tested here"
NOT_KNOWN = "why is not known"
ACROSS = "the spread lies across what the rule asks for"
MARGIN = 0.005  # two figures nearer than this are equal
ALIKE = 0.03  # and nearer than this are similar
READING = (
    f"Figures are means over the draws, with the sample standard deviation behind ±, the spread. One ordering is ahead of "
    f"another if their difference, draw by draw, is above {MARGIN} by more than its spread, and not ahead if it is below "
    f"{MARGIN} by more than that; between, the claim cannot be decided. The same holds for every other bound."
)


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


def beyond(by: float, spread: float) -> bool | None:
    """Whether something is above 0; None where its spread lies across."""
    return None if abs(by) < spread else by > 0.0


def above(value: Drawn, level: float = 0.0) -> bool | None:
    """Whether a figure is above a number, by more than draws differ.

    >>> above(Drawn((0.5, 0.7)), 0.4), above(Drawn((0.5, 0.7)), 0.8), above(Drawn((0.5, 0.7)), 0.55)
    (True, False, None)
    """
    return beyond(value.mean - level, value.spread)


def at_most(value: Drawn, limit: float) -> bool | None:
    """Whether a figure is no higher than a number, whatever the draw."""
    return negated(above(value, limit))


def ahead(a: Drawn, b: Drawn) -> bool | None:
    """Whether one ordering is better than another by more than draws differ.

    >>> ahead(Drawn((0.5, 0.7)), Drawn((0.4, 0.6))), ahead(Drawn((0.4, 0.6)), Drawn((0.5, 0.7)))
    (True, False)
    """
    return above(a.minus(b), MARGIN)


def negated(holds: bool | None) -> bool | None:
    return None if holds is None else not holds


def all_hold(parts: Iterable[bool | None]) -> bool | None:
    """Whether all hold: no, if one does not.

    >>> all_hold([True, None]), all_hold([None, False]), all_hold([True, True])
    (None, False, True)
    """
    found = set(parts)
    return False if False in found else None if None in found else True


def one_holds(parts: Iterable[bool | None]) -> bool | None:
    """Whether one holds: no, if none does."""
    return negated(all_hold(map(negated, parts)))


def failed(verdicts: Mapping[str, bool | None]) -> str:
    """The names of what certainly does not hold."""
    return ", ".join(name for name, holds in verdicts.items() if holds is False)


def leads(values: Mapping[str, Drawn], name: str) -> bool | None:
    """Whether one is ahead of all others."""
    return all_hold(ahead(values[name], other) for key, other in values.items() if key != name)


def lead(
    says: str, rule: str, values: Mapping[str, Drawn], name: str, fact: str = "", reason: str = "", *, measured: str = ""
) -> Claim:
    """A claim that one is ahead of all others; for ``fact`` and ``reason`` see ``because``."""
    why = because(values, name, fact, reason)
    return decided(says, rule, measured or listing(values), leads(values, name), why, why)


def alike(says: str, rule: str, measured: str, by: Drawn, margin: float, why: str = NOT_KNOWN) -> Claim:
    """A claim that two differ by no more than a margin."""
    return decided(says, rule, measured, negated(beyond(abs(by.mean) - margin, by.spread)), why)


def not_below(says: str, rule: str, measured: str, by: Drawn, margin: float, why: str = NOT_KNOWN) -> Claim:
    """A claim that one is below another by no more than a margin; ``by`` is how much it is above."""
    return decided(says, rule, measured, negated(beyond(-by.mean - margin, by.spread)), why)


def listing(values: Mapping[str, Drawn]) -> str:
    """
    >>> listing({"bfs": Drawn((0.5, 0.7))})
    'bfs .600±.141'
    """
    return ", ".join(f"{name} {value}" for name, value in values.items())


def not_ahead(values: Mapping[str, Drawn], name: str) -> str:
    """Of whom one is not ahead, or not for certain: why it does not lead.

    >>> not_ahead({"a": Drawn((0.5, 0.6)), "b": Drawn((0.7, 0.8)), "c": Drawn((0.5, 0.6)), "d": Drawn((0.4, 0.7))}, "a")
    'behind b by .200±.000; level with c; within the spread of d'
    """
    found: dict[str, list[str]] = {"behind": [], "level with": [], "within the spread of": []}
    for key, other in values.items():
        is_ahead = ahead(values[name], other)
        if key == name or is_ahead:
            continue
        by = other.minus(values[name])
        if is_ahead is None:
            found["within the spread of"].append(key)
        elif by.mean > MARGIN:
            found["behind"].append(f"{key} by {by}")
        else:
            found["level with"].append(key)
    return "; ".join(f"{how} {', '.join(whom)}" for how, whom in found.items() if whom)


def because(values: Mapping[str, Drawn], name: str, fact: str = "", reason: str = "") -> str:
    """Why one does not lead, as far as figures tell: what lies within the spread needs no other reason.

    ``fact`` is what was looked at beside it, ``reason`` what was found to be why.
    """
    short = not_ahead(values, name)
    why = reason or (NOT_KNOWN if leads(values, name) is False else "")
    return "; ".join(part for part in (short, fact, why) if part)
