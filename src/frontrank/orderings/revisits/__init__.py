"""Revisits: when a fetched page is fetched again. The same code decides in simulations and in live crawls.

    fixed           always after the same time
    adaptive        sooner, the more often it was found changed
    gain            as often as a fetch buys enough freshness; what changes too often to be kept fresh comes last
    uniform, proportional, optimal      the baselines of the literature; they know how often every page changes

``frontrank revisit`` compares them on a web that changes; docs/revisits.md says which to take.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from frontrank.deprecated import PARAMETERS, current_parameters
from frontrank.errors import SpecError, nearest
from frontrank.orderings.parameters import from_texts
from frontrank.orderings.revisits.adaptive import Adaptive
from frontrank.orderings.revisits.allocated import Optimal, Proportional, Uniform
from frontrank.orderings.revisits.fixed import Fixed
from frontrank.orderings.revisits.gain import Gain
from frontrank.orderings.revisits.revisit import Revisit
from frontrank.specs import split

REVISITS: dict[str, type[Revisit]] = {
    revisit.name: revisit for revisit in (Fixed, Adaptive, Gain, Uniform, Proportional, Optimal)
}


def parse(spec: str, live: bool = False) -> Revisit:
    """The revisit policy that a specification names; ``live``: one that needs not know how often pages change.

    >>> parse("adaptive:max_wait=14d").spec(), parse("fixed").every
    ('adaptive:max_wait=14d', 1d)
    >>> parse("adaptve")
    Traceback (most recent call last):
    frontrank.errors.SpecError: unknown revisit policy 'adaptve'; did you mean 'adaptive'? Known: ...
    """
    name, given = split(spec)
    revisit = from_texts(_class(name), current_parameters(name, given))
    if live and revisit.knows_rates:
        usable = ", ".join(known for known, one in REVISITS.items() if not one.knows_rates)
        raise SpecError(f"{name} goes by how often pages really change, which only a simulation knows; use one of {usable}")
    return revisit


def to_data(revisit: Revisit) -> dict[str, Any]:
    """What a program stores: every field, defaults too.

    >>> to_data(parse("fixed:every=12h"))
    {'name': 'fixed', 'fields': {'every': 43200.0}}
    """
    values = {f.name: getattr(revisit, f.name) for f in fields(revisit)}
    return {"name": revisit.name, "fields": {k: float(v) if isinstance(v, float) else v for k, v in values.items()}}


def from_data(data: Mapping[str, Any]) -> Revisit:
    """The policy that ``to_data`` was given, by this version or one before.

    >>> from_data({"name": "fixed", "fields": {"every": 43200.0}}).spec()
    'fixed:every=12h'
    """
    try:
        name = data["name"]
        return _class(name)(**{PARAMETERS.get((name, key), key): value for key, value in data["fields"].items()})
    except (TypeError, KeyError) as error:
        raise SpecError(f"a stored revisit policy cannot be read: {error}; expected what to_data wrote") from None


def _class(name: str) -> type[Revisit]:
    if name not in REVISITS:
        raise SpecError(f"unknown revisit policy {name!r}{nearest(name, REVISITS)}")
    return REVISITS[name]
