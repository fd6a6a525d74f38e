"""Names to orderings: ``parse("fpr:m=100")`` is ``FractionalPageRank(m=100.0)``.

A specification is ``name`` or ``name:key=value,key=value``. Your own ordering needs no entry here: pass the object itself
wherever a specification is taken, or ``register`` its class to give it a name on the command line.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, get_type_hints

from frontrank.errors import SpecError, nearest
from frontrank.orderings.batch import RANKERS
from frontrank.orderings.batch.fusion import Fusion
from frontrank.orderings.online import POLICIES
from frontrank.orderings.online.combine import Combine, combined
from frontrank.orderings.policy import Policy
from frontrank.orderings.ranker import EVERY, Periodic, Ranker

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
        every = _value(name, "every", given.pop("every", str(EVERY)), int)
        return Periodic(_ranker(ordering, given), every)
    made = _made(ordering, given)
    assert isinstance(made, Policy)
    return made


def parse_ranker(spec: str) -> Ranker:
    """The ranker that a specification names, as it is, without a rhythm.

    >>> parse_ranker("rw-eg:omega=0.5").spec()
    'rw-eg:omega=0.5'
    """
    name, _, rest = spec.strip().partition(":")
    ordering = _known.get(name)
    if ordering is None or not issubclass(ordering, Ranker):
        raise SpecError(f"unknown ranker {name!r}{nearest(name, rankers())}")
    return _ranker(ordering, _pairs(spec, rest))


def rankers() -> list[str]:
    """The names of all batch orderings."""
    return [name for name, ordering in _known.items() if issubclass(ordering, Ranker)]


def parameters(ordering: Ordering) -> dict[str, tuple[type, Any]]:
    """The parameters of an ordering: name to (type, default)."""
    if ordering is Combine:
        return {}
    hints = get_type_hints(ordering)
    own = {f.name: (hints[f.name], None if f.default is MISSING else f.default) for f in fields(ordering)}
    return {**own, "every": (int, EVERY)} if issubclass(ordering, Ranker) else own


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


def _ranker(ordering: type[Ranker], given: dict[str, str]) -> Ranker:
    if ordering is Fusion:
        return _fusion(given)
    made = _made(ordering, given, ("every",))
    assert isinstance(made, Ranker)
    return made


def _fusion(given: dict[str, str]) -> Ranker:
    names = given.pop("of", "q-overlap+rw-eg").split("+")
    inner, own = _inner("fusion", names, given)
    for key in own:
        if key != "k":
            raise SpecError(f"fusion: unknown parameter {key!r}{nearest(key, ['of', 'k'])}")
    return Fusion(tuple(parse_ranker(inner[name]) for name in names), _value("fusion", "k", own.get("k", "60"), float))


def _combine(given: dict[str, str]) -> Policy:
    weights = {key: text for key, text in given.items() if "." not in key}
    inner, _ = _inner("combine", list(weights), given)
    return combined([(_value("combine", name, weight, float), parse(inner[name])) for name, weight in weights.items()])


def _inner(outer: str, names: list[str], given: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The specifications of the parts, whose parameters are written NAME.KEY=VALUE, and what is left."""
    parts: dict[str, list[str]] = {name: [] for name in names}
    own = {}
    for key, text in given.items():
        name, dot, parameter = key.partition(".")
        if not dot:
            own[key] = text
        elif name not in parts:
            raise SpecError(f"{outer}: parameter {key!r} given, but {name!r} is no part; parts are {', '.join(parts)}")
        else:
            parts[name].append(f"{parameter}={text}")
    return {name: f"{name}:{','.join(pairs)}" if pairs else name for name, pairs in parts.items()}, own
