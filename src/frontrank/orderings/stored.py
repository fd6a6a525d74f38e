"""Orderings as data, from which a program recreates the same ordering. Specifications are for people.

    {"name": "fpr", "fields": {"d": 0.85, "m": 100.0}}
    {"name": "periodic", "fields": {"ranker": {"name": "rw", "fields": {...}}, "every": 1000}}

Every field is stored, defaults too: a later version with other defaults makes the ordering that was stored. Floats survive
JSON bit by bit, as both sides use the shortest digits that give the same float. An ordering inside another is such a value
itself, and so is what was read from a file (``trust``): the file is not read again. Classes without a name in the registry
are stored as ``module:Class``.

This module decides which code a stored name may load, for every reader of stored data:

    built in, or an entry point of an installed package     always: whoever installed it has chosen it
    a class that this process has loaded already            always: nothing is imported
    package.module:Thing that the user of this process named (--ordering, FRONTRANK_POLICY, ``parse``)      that very name
    any other                                               NotTrusted, unless inside ``trusting()``: --trust, trust=True
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from typing import Any

from frontrank.errors import SpecError
from frontrank.orderings.parameters import Parameters
from frontrank.orderings.policy import Policy
from frontrank.orderings.rank_file import RankFile
from frontrank.orderings.ranker import Periodic, Ranker
from frontrank.orderings.registry import REGISTRY
from frontrank.orderings.trust import Trust
from frontrank.plugins import loading, located
from frontrank.specs import text_of, write

# Classes that no specification names, under names that outlive a move to another module.
INNER: dict[str, type[Parameters] | str] = {
    "policy": Policy,
    "periodic": Periodic,
    "trust": Trust,
    "ranks": RankFile,
    "replay": "frontrank.simulation.replayed:Replay",
}
PLAIN = (bool, int, float, str, type(None))
Trusted = bool | Mapping[str, Any] | str  # everything, nothing, or one ordering as it is stored
_trusted: ContextVar[Trusted] = ContextVar("frontrank_trusted", default=False)


@contextmanager
def trusting(what: Trusted = True) -> Iterator[None]:
    """In this block, stored data may load the code that it names; ``False`` leaves it as it is.

    Threads do not inherit it: what opens crawls later keeps ``trusted()``.
    """
    before = _trusted.set(what or _trusted.get())
    try:
        yield
    finally:
        _trusted.reset(before)


def trusted() -> Trusted:
    """What may load code here."""
    return _trusted.get()


@contextmanager
def stored_names(ordering: Mapping[str, Any] | str | None = None) -> Iterator[None]:
    """In this block, names come from stored data, of this ordering if it is one: what is not trusted loads no code."""
    what = _trusted.get()
    with loading(what is True or (what is not False and what == ordering)):
        yield


def to_data(ordering: Parameters) -> dict[str, Any]:
    """
    >>> from frontrank.orderings.registry import parse
    >>> to_data(parse("fica:k=1388"))
    {'name': 'fica', 'fields': {'k': 1388, 'beta': 0.1, 'schedule': 'exp', 'alpha': 0.0}}
    """
    return {
        "name": _name(type(ordering)),
        "fields": {f.name: _stored(ordering, f.name, getattr(ordering, f.name)) for f in fields(ordering)},
    }


def from_data(data: Mapping[str, Any]) -> Policy | Ranker:
    """The ordering that ``to_data`` made this of.

    >>> from_data({"name": "fpr", "fields": {"d": 0.5}}).spec()
    'fpr:d=0.5'
    """
    with stored_names(data):
        return _from_data(data)


def _from_data(data: Mapping[str, Any]) -> Policy | Ranker:
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str) or not isinstance(data.get("fields"), Mapping):
        raise SpecError(f'a stored ordering must be {{"name": ..., "fields": {{...}}}}, got {data!r}')
    kind = _class(data["name"])
    known = [f.name for f in fields(kind)]
    for name in data["fields"]:
        if name not in known:
            raise SpecError(f"stored ordering {data['name']}: no field {name!r} in this version; known: {', '.join(known)}")
    try:
        ordering: Policy | Ranker = kind(**{name: _restored(value) for name, value in data["fields"].items()})
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise SpecError(f"stored ordering {data['name']}: {error}; expected what to_data wrote") from None
    return ordering


def spec_of(data: Mapping[str, Any]) -> str:
    """How a stored ordering is written; if its class is not here, by its name and the fields that can be written.

    >>> spec_of({"name": "of-another-package", "fields": {"weight": 0.5, "part": {}}})
    'of-another-package:weight=0.5'
    """
    try:
        return from_data(data).spec()
    except SpecError:
        if not isinstance(data, Mapping) or not isinstance(data.get("fields", {}), Mapping):
            return "an unknown ordering"
        plain = {name: value for name, value in data.get("fields", {}).items() if isinstance(value, bool | int | float | str)}
        name = str(data.get("name", "an unknown ordering"))
        return write(name if name.isprintable() else repr(name), {name: text_of(value) for name, value in plain.items()})


def _name(ordering: type[Parameters]) -> str:
    if REGISTRY.known(ordering.name) is ordering:
        return ordering.name
    place = f"{ordering.__module__}:{ordering.__qualname__}"
    return next((name for name, inner in INNER.items() if inner in (ordering, place)), place)


def _class(name: str) -> Any:
    inner = INNER.get(name)
    if isinstance(inner, type):
        return inner
    if inner is None and ("<locals>" in name or (name.startswith("__main__:") and not _in_this_script(name))):
        raise SpecError(
            f"stored ordering {name}: a class of a script or function cannot be found again; give the ordering itself"
        )
    thing = located(inner, "ordering") if inner is not None else _loaded(name) or REGISTRY.find(name)
    if not (isinstance(thing, type) and issubclass(thing, Policy | Ranker)):
        raise SpecError(f"stored ordering {name} must name a subclass of Policy or Ranker, got {thing!r}")
    return thing


def _loaded(name: str) -> type[Policy] | type[Ranker] | None:
    """The ordering of this name, if its module was loaded before; nothing is run, not even a module's ``__getattr__``."""
    module, _, inside = name.partition(":")
    thing: Any = sys.modules.get(module)
    for part in inside.split("."):
        thing = getattr(thing, "__dict__", {}).get(part)
    return thing if isinstance(thing, type) and issubclass(thing, Policy | Ranker) else None


def _in_this_script(name: str) -> bool:
    return hasattr(sys.modules["__main__"], name.partition(":")[2])


def _stored(ordering: Parameters, name: str, value: Any) -> Any:
    if isinstance(value, Parameters):
        return to_data(value)
    if isinstance(value, tuple):
        return [_stored(ordering, name, one) for one in value]
    if isinstance(value, PLAIN):
        return value
    kind = type(value).__name__
    raise SpecError(f"{ordering.called()}: field {name} is a {kind}; only numbers, texts, tuples and orderings can be stored")


def _restored(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _from_data(value)
    if isinstance(value, list):
        return tuple(_restored(one) for one in value)
    return value
