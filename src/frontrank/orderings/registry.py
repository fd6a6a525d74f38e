"""Names to orderings: ``parse("fpr:m=100")`` is ``FractionalPageRank(m=100.0)``.

A specification is ``name`` or ``name:key=value,key=value`` (see ``frontrank.specs``). Your own ordering needs no entry
here: pass the object itself wherever a specification is taken, or write ``package.module:Class`` for its name. ``register``
gives its class a name in this process, an entry point ``frontrank.orderings`` in every one (``frontrank.plugins``).
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, get_type_hints

from frontrank.errors import SpecError, nearest
from frontrank.orderings.batch import RANKERS
from frontrank.orderings.batch.fusion import Fusion
from frontrank.orderings.online import POLICIES
from frontrank.orderings.online.combine import Combine, combined
from frontrank.orderings.parameters import from_texts
from frontrank.orderings.policy import Policy
from frontrank.orderings.ranker import EVERY, Periodic, Ranker
from frontrank.plugins import Registry
from frontrank.specs import per_part, split, value_of

Ordering = type[Policy] | type[Ranker]


def _accept(name: str, thing: Any) -> Ordering:
    if not (isinstance(thing, type) and issubclass(thing, Policy | Ranker)):
        raise SpecError(f"{name!r} must name a subclass of Policy or Ranker, got {thing!r}")
    if ":" not in name and thing.name != name:
        raise SpecError(f"the class attribute name of {thing.__name__} must be {name!r}, got {thing.name!r}")
    try:
        parameters(thing)
    except NameError as error:
        raise SpecError(f"{thing.__name__}: the type of a parameter cannot be read: {error}") from None
    return thing


REGISTRY: Registry[Ordering] = Registry("ordering", "frontrank.orderings", _accept)
_builtin: tuple[Ordering, ...] = (*POLICIES, *RANKERS)
REGISTRY.build_in({ordering.name: ordering for ordering in _builtin})


def register(ordering: Ordering) -> Ordering:
    """Give an ordering its name in specifications. Can be used as a decorator."""
    if not (isinstance(ordering, type) and issubclass(ordering, Policy | Ranker)):
        raise SpecError(f"an ordering must be a class derived from Policy or Ranker, got {ordering!r}")
    if not ordering.name:
        raise SpecError(f"{ordering.__name__} has no name; set the class attribute name")
    REGISTRY.register(ordering.name, ordering)
    return ordering


def orderings() -> dict[str, Ordering]:
    """All known orderings by name: built in, registered, and of installed packages."""
    return dict(REGISTRY.items())


def find(name: str) -> Ordering:
    """The class of a name, or of ``package.module:Class``."""
    several = [part.strip() for part in name.split(",")]
    if len(several) > 1 and all(part in REGISTRY for part in several):
        options = " ".join(f"--ordering {part}" for part in several)
        raise SpecError(f"{name!r} was given as one ordering; name each by itself: {options} (in Python, a list of names)")
    if name in ("best", "auto", "default") and name not in REGISTRY:
        raise SpecError(
            f"unknown ordering {name!r}: which one is best depends on the web; frontrank recommend WEB tries them on yours, "
            "and surf is taken where none is named"
        )
    return REGISTRY.find(name)


def as_policy(given: object) -> Policy:
    """The policy that was given: as a specification, as a policy, or as a ranker, which then ranks now and then.

    >>> as_policy("fpr") == as_policy(as_policy("fpr"))
    True
    """
    if isinstance(given, Policy):
        return given
    if isinstance(given, Ranker):
        return Periodic(given)
    if isinstance(given, str):
        return parse(given)
    if isinstance(given, type) and issubclass(given, Policy | Ranker):
        raise SpecError(f"got the class {given.__name__} instead of an ordering; write {given.__name__}()")
    raise SpecError(f"an ordering must be a specification such as 'fpr:m=100', a Policy or a Ranker, got {given!r}")


def parse(spec: str) -> Policy:
    """The policy that a specification names.

    >>> parse("fica:k=1388")
    Fica(k=1388, beta=0.1, schedule='exp', alpha=0.0)
    >>> parse("fica:k=1388,beta=0.2").spec()
    'fica:k=1388,beta=0.2'
    >>> parse("pagernk")
    Traceback (most recent call last):
    frontrank.errors.SpecError: unknown ordering 'pagernk'; did you mean 'pagerank'? Known: ...
    """
    name, given = split(spec)
    return _policy(find(name), given)


def parse_ranker(spec: str) -> Ranker:
    """The ranker that a specification names, as it is, without a rhythm.

    >>> parse_ranker("rw-eg:omega=0.5").spec()
    'rw-eg:omega=0.5'
    """
    name, given = split(spec)
    return _ranker(name, given)


def rankers() -> list[str]:
    """The names of all batch orderings."""
    return [name for name, ordering in orderings().items() if issubclass(ordering, Ranker)]


def parameters(ordering: Ordering) -> dict[str, tuple[type, Any]]:
    """The parameters of an ordering: name to (type, default)."""
    if ordering is Combine:
        return {}
    hints = get_type_hints(ordering)
    own = {f.name: (hints[f.name], None if f.default is MISSING else f.default) for f in fields(ordering)}
    return {**own, "every": (int, EVERY)} if issubclass(ordering, Ranker) else own


def describe(ordering: Ordering) -> dict[str, Any]:
    """What a list of orderings says of one: its description and parameters."""
    first = ((ordering.__doc__ or "").strip() or ordering.__name__).splitlines()[0]
    known = {key: {"type": _called(kind), "default": _shown(default)} for key, (kind, default) in parameters(ordering).items()}
    return {"description": first.partition(": ")[2] or first, "parameters": known}


def _called(kind: Any) -> str:
    """A type of parameters, for people."""
    return "number or word" if kind == float | str else str(getattr(kind, "written", getattr(kind, "__name__", kind)))


def _shown(default: Any) -> Any:
    if default is True or default is False:
        return "on" if default else "off"
    return default if default is None or isinstance(default, int | float | str) else str(default)


def _policy(ordering: Ordering, given: dict[str, str]) -> Policy:
    if ordering is Combine:
        return _combine(given)
    if issubclass(ordering, Ranker):
        every = value_of(ordering.name, "every", given.pop("every", str(EVERY)), int)
        return Periodic(_made_ranker(ordering, given), every)
    return from_texts(ordering, given)


def _ranker(name: str, given: dict[str, str]) -> Ranker:
    ordering = find(name)
    if not issubclass(ordering, Ranker):
        raise SpecError(f"{name} ranks no frontier at once{nearest(name, rankers())}")
    return _made_ranker(ordering, given)


def _made_ranker(ordering: type[Ranker], given: dict[str, str]) -> Ranker:
    if ordering is Fusion:
        return _fusion(given)
    return from_texts(ordering, given, ("every",))


def _fusion(given: dict[str, str]) -> Ranker:
    labels = given.pop("of", "q-overlap+rw-eg").split("+")
    if not all(labels):
        raise SpecError("fusion: a part has no name; write fusion:of=NAME+NAME, such as fusion:of=q-overlap+rw-eg")
    parts, own = per_part("fusion", labels, given)
    for key in own:
        if key != "k":
            raise SpecError(f"fusion: unknown parameter {key!r}{nearest(key, ['of', 'k'])}")
    rankers = tuple(_ranker(label.partition("#")[0], dict(parts[label])) for label in labels)
    return Fusion(rankers, value_of("fusion", "k", own.get("k", "60"), float))


def _combine(given: dict[str, str]) -> Policy:
    parts, weights = per_part("combine", [key for key in given if "." not in key], given)
    policies = []
    for label, weight in weights.items():
        part = _policy(find(label.partition("#")[0]), dict(parts[label]))
        policies.append((value_of("combine", label, weight, float), part))
    return combined(policies)
