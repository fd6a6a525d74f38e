"""Names to orderings: ``parse("fpr:m=100")`` is ``FractionalPageRank(m=100.0)``.

A specification is ``name`` or ``name:key=value,key=value``. Your own ordering needs no entry here: pass the object itself
wherever a specification is taken, or ``register`` its class to give it a name on the command line.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, get_type_hints

from frontrank.errors import SpecError, nearest
from frontrank.policies import POLICIES
from frontrank.policies.combine import Combine, combined
from frontrank.policy import Policy
from frontrank.ranker import Periodic, Ranker
from frontrank.rankers import RANKERS

Ordering = type[Policy] | type[Ranker]
_known: dict[str, Ordering] = {}
YES, NO = ("on", "true", "yes", "1"), ("off", "false", "no", "0")


def register(ordering: Ordering) -> Ordering:
    """Give an ordering its name in specifications. Can be used as a decorator."""
    if not ordering.name:
        raise SpecError(f"{ordering.__name__} has no name; set the class attribute name")
    if _known.setdefault(ordering.name, ordering) is not ordering:
        raise SpecError(f"{ordering.__name__}: the name {ordering.name!r} is taken by {_known[ordering.name].__name__}")
    return ordering


_builtin: tuple[Ordering, ...] = (*POLICIES, *RANKERS)
for _ordering in _builtin:
    register(_ordering)


def orderings() -> dict[str, Ordering]:
    """All known orderings by name."""
    return dict(_known)


def parse(spec: str | Policy | Ranker) -> Policy:
    """The policy that a specification names; a policy or ranker object is taken as it is.

    >>> parse("fpr:m=100")
    FractionalPageRank(d=0.85, m=100.0)
    >>> parse("fica:k=1388,beta=0.2").spec()
    'fica:k=1388,beta=0.2'
    >>> parse("pagernk")
    Traceback (most recent call last):
    frontrank.errors.SpecError: unknown ordering 'pagernk'; did you mean 'pagerank'? Known: ...
    """
    if isinstance(spec, Ranker):
        return Periodic(spec)
    if isinstance(spec, Policy):
        return spec
    name, _, rest = spec.strip().partition(":")
    ordering = _known.get(name)
    if ordering is None:
        raise SpecError(f"unknown ordering {name!r}{nearest(name, _known)}")
    given = _pairs(spec, rest)
    if ordering is Combine:
        return _combine(given)
    if issubclass(ordering, Ranker):
        every = _value(name, "every", given.pop("every", "1000"), int)
        return Periodic(_made(ordering, given, ("every",)), every)
    made = _made(ordering, given)
    assert isinstance(made, Policy)
    return made


def parameters(ordering: Ordering) -> dict[str, tuple[type, Any]]:
    """The parameters of an ordering: name to (type, default)."""
    if ordering is Combine:
        return {}
    hints = get_type_hints(ordering)
    own = {f.name: (hints[f.name], None if f.default is MISSING else f.default) for f in fields(ordering)}
    return {**own, "every": (int, 1000)} if issubclass(ordering, Ranker) else own


def describe(ordering: Ordering) -> dict[str, Any]:
    """What a list of orderings says of one: its description and parameters."""
    first = (ordering.__doc__ or "").strip().splitlines()[0]
    known = {
        key: {"type": kind.__name__, "default": "on" if default is True else default}
        for key, (kind, default) in parameters(ordering).items()
    }
    return {"description": first.partition(": ")[2] or first, "parameters": known}


def _pairs(spec: str, rest: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for item in rest.split(",") if rest else ():
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            raise SpecError(f"{spec}: {item!r} given, KEY=VALUE expected")
        if key.strip() in pairs:
            raise SpecError(f"{spec}: parameter {key.strip()!r} given twice")
        pairs[key.strip()] = value.strip()
    return pairs


def _made(ordering: Ordering, given: dict[str, str], more: tuple[str, ...] = ()) -> Any:
    known = parameters(ordering)
    for key in given:
        if key not in known:
            raise SpecError(f"{ordering.name}: unknown parameter {key!r}{nearest(key, [*known, *more])}")
    return ordering(**{key: _value(ordering.name, key, text, known[key][0]) for key, text in given.items()})


def _value(name: str, key: str, text: str, kind: type) -> Any:
    try:
        if kind is bool:
            if text.lower() not in YES + NO:
                raise ValueError
            return text.lower() in YES
        if kind is int:
            number = float(text)
            if not number.is_integer():
                raise ValueError
            return int(number)
        return kind(text)
    except (ValueError, OverflowError):
        expected = {bool: "on or off", int: "a whole number", float: "a number"}.get(kind, "text")
        raise SpecError(f"{name}: parameter {key}={text} given, {expected} expected") from None


def _combine(given: dict[str, str]) -> Policy:
    parts = {key: text for key, text in given.items() if "." not in key}
    inner: dict[str, list[str]] = {name: [] for name in parts}
    for key, text in given.items():
        name, dot, parameter = key.partition(".")
        if dot and name not in inner:
            raise SpecError(f"combine: parameter {key!r} given, but no weight for {name!r}; write {name}=WEIGHT")
        if dot:
            inner[name].append(f"{parameter}={text}")
    return combined(
        [
            (_value("combine", name, weight, float), parse(f"{name}:{','.join(inner[name])}" if inner[name] else name))
            for name, weight in parts.items()
        ]
    )
