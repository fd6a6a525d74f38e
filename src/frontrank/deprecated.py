"""Names that were changed, in one place. A name of before works for one release and says the new one.

    PARAMETERS  of specifications: each use is a DeprecationWarning; what was stored is read in silence
    OPTIONS     of commands: the new name is printed once, on standard error; aliases are accepted in silence
    NAMES       of Python: members of a class, names in a module, parameters of a function; each use is a DeprecationWarning

``tests/test_deprecated.py`` uses every row. A row goes with the release after the one that brought it.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from importlib import import_module
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
ALIASES = {"--policy": "--ordering", "--ranker": "--ordering"}  # other words for one thing, which stay
OPTIONS = {  # by command and old flag: the new flag, or the argument that takes the value now
    ("limit", "--family"): "--pattern",
    ("limit", "--host"): "HOST",
}


PARAMETERS = {  # of specifications, by name and old parameter
    ("adaptive", "least"): "min_wait",
    ("adaptive", "most"): "max_wait",
    ("gain", "least"): "min_wait",
    ("gain", "most"): "max_wait",
}


class Renamed(NamedTuple):
    """``owner`` is a module, a class as ``module:Class``, or a function as ``module:function`` (a parameter was renamed)."""

    owner: str
    old: str
    new: str  # a path from the owner: ``inspect.hosts``


CRAWL = "frontrank.crawl.crawl:Crawl"
RUN = "frontrank.fetching.crawler.run"
NAMES: tuple[Renamed, ...] = (
    Renamed(RUN, "run", "run_loop"),
    Renamed(RUN, "start", "crawl_async"),
    Renamed(CRAWL, "ask", "control.ask"),
    Renamed(CRAWL, "behave", "control.set_politeness"),
    Renamed(CRAWL, "block", "control.block"),
    Renamed(CRAWL, "boost", "control.boost"),
    Renamed(CRAWL, "depth", "inspect.depth"),
    Renamed(CRAWL, "explain", "inspect.explain"),
    Renamed(CRAWL, "fetched_count", "inspect.fetched_count"),
    Renamed(CRAWL, "fetched_page", "fetched"),
    Renamed(CRAWL, "find", "lookup"),
    Renamed(CRAWL, "forget_pages", "queues.forget"),
    Renamed(CRAWL, "host", "control.limit_host"),
    Renamed(CRAWL, "hosts", "inspect.hosts"),
    Renamed(CRAWL, "impact", "control.impact"),
    Renamed(CRAWL, "impacts", "control.impacts"),
    Renamed(CRAWL, "known", "inspect.known"),
    Renamed(CRAWL, "leased", "inspect.leased"),
    Renamed(CRAWL, "limit_family", "control.limit_pattern"),
    Renamed(CRAWL, "limit_host", "control.limit_host"),
    Renamed(CRAWL, "limit_pattern", "control.limit_pattern"),
    Renamed(CRAWL, "log", "state.log"),
    Renamed(CRAWL, "next", "inspect.next"),
    Renamed(CRAWL, "page", "intern"),
    Renamed(CRAWL, "pause", "control.pause"),
    Renamed(CRAWL, "policy", "state.policy"),
    Renamed(CRAWL, "rescore", "control.rescore"),
    Renamed(CRAWL, "resume", "control.resume"),
    Renamed(CRAWL, "revisits", "inspect.revisits"),
    Renamed(CRAWL, "schedule_page", "queues.schedule"),
    Renamed(CRAWL, "seed_pages", "seed"),
    Renamed(CRAWL, "status", "inspect.status"),
    Renamed(CRAWL, "take_queues", "queues.take"),
    Renamed(CRAWL, "waiting", "inspect.waiting"),
)


def current_arguments(command: str, flags: Iterable[str], args: Sequence[str]) -> list[str]:
    """The arguments of a command, with its options (``flags``) under their present names."""
    known, found, announced = set(flags), list[str](), set[str]()
    stop = list(args).index("--") if "--" in args else len(args)
    words, rest = iter(args[:stop]), list(args[stop:])
    arguments: list[str] = []
    for word in words:
        flag, equals, value = word.partition("=")
        new = OPTIONS.get((command, flag)) or (ALIASES.get(flag) if flag not in known else None)
        if new is None or (new.startswith("-") and new not in known):
            found.append(word)
            continue
        if flag not in ALIASES and flag not in announced:
            how = f"is called {new} now" if new.startswith("-") else f"{new} is written as {new} alone now"
            print(f"frontrank: {flag} {how}", file=sys.stderr)
            announced.add(flag)
        if new.startswith("-"):
            found.append(new + equals + value)
        else:
            arguments += [value] if equals else [next(words, "")]
    return found + arguments + rest


def current_parameters(name: str, given: dict[str, str]) -> dict[str, str]:
    """The parameters of a specification under their present names."""
    for key in given:
        if (name, key) in PARAMETERS:
            warn(f"{name}:{key}=", f"{PARAMETERS[name, key]}=", 4)
    return {PARAMETERS.get((name, key), key): value for key, value in given.items()}


def names_of_before(module: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module."""

    def attribute(name: str) -> Any:
        new = next((row.new for row in NAMES if (row.owner, row.old) == (module, name)), None)
        if new is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return current(import_module(module), name, new, callers=4)

    return attribute


def members_of_before(owner: type[T]) -> type[T]:
    """Give a class its members of before, as properties: with a ``__getattr__`` each attribute of it takes longer to find."""
    for row in NAMES:
        if row.owner == f"{owner.__module__}:{owner.__qualname__}":
            setattr(owner, row.old, property(partial(current, old=row.old, new=row.new)))
    return owner


def current(holder: Any, old: str, new: str, callers: int = 3) -> Any:
    """What a name of before means now; the warning names the line so many calls up."""
    warn(old, new, callers)
    return attrgetter(new)(holder)


def parameters_of_before(function: F) -> F:
    """Accept parameters under the names that they had."""
    owner = f"{function.__module__}:{function.__qualname__}"
    renamed = {row.old: row.new for row in NAMES if row.owner == owner}

    @wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        for old in renamed.keys() & given.keys():
            warn(f"{old}=", f"{renamed[old]}=", 3)
            given[renamed[old]] = given.pop(old)
        return function(*args, **given)

    return cast(F, call)


def warn(old: str, new: str, callers: int) -> None:
    warnings.warn(f"{old} is called {new} now", DeprecationWarning, stacklevel=callers)
