"""Names that were changed, in one place. A name of before works for one release and says the new one.

    OPTIONS     of commands: the new name is printed once, on standard error; aliases are accepted in silence
    NAMES       of Python: members of a class, names in a module, parameters of a function; each use is a DeprecationWarning

``tests/test_deprecated.py`` uses every row. A row goes with the release after the one that brought it.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from importlib import import_module
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
ALIASES = {"--policy": "--ordering", "--ranker": "--ordering"}  # other words for one thing, which stay
OPTIONS = {  # by command and old flag: the new flag, or the argument that takes the value now
    ("limit", "--family"): "--pattern",
    ("limit", "--host"): "HOST",
}


class Renamed(NamedTuple):
    """``owner`` is a module, a class as ``module:Class``, or a function as ``module:function`` (a parameter was renamed)."""

    owner: str
    old: str
    new: str  # a path from the owner: ``inspect.hosts``


CRAWL = "frontrank.crawl.crawl:Crawl"
NAMES: tuple[Renamed, ...] = (
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
    known, found, said = set(flags), list[str](), set[str]()
    stop = list(args).index("--") if "--" in args else len(args)
    words, rest = iter(args[:stop]), list(args[stop:])
    arguments: list[str] = []
    for word in words:
        flag, equals, value = word.partition("=")
        new = OPTIONS.get((command, flag)) or (ALIASES.get(flag) if flag not in known else None)
        if new is None or (new.startswith("-") and new not in known):
            found.append(word)
            continue
        if flag not in ALIASES and flag not in said:
            how = f"is called {new} now" if new.startswith("-") else f"{new} is written as {new} alone now"
            print(f"frontrank: {flag} {how}", file=sys.stderr)
            said.add(flag)
        if new.startswith("-"):
            found.append(new + equals + value)
        else:
            arguments += [value] if equals else [next(words, "")]
    return found + arguments + rest


def attribute(owner: str, holder: Any, name: str) -> Any:
    """What a name of before means now, for the ``__getattr__`` of a module or a class."""
    new = next((row.new for row in NAMES if (row.owner, row.old) == (owner, name)), None)
    if new is None:
        kind = f"module {owner!r}" if ":" not in owner else repr(owner.partition(":")[2])
        raise AttributeError(f"{kind} has no attribute {name!r}")
    warn(name, new)
    return attrgetter(new)(holder)


def names_of_before(owner: str) -> Callable[..., Any]:
    """The ``__getattr__`` of the module or class ``owner``."""

    def module_attribute(name: str) -> Any:
        return attribute(owner, import_module(owner), name)

    def member(self: Any, name: str) -> Any:
        return attribute(owner, self, name)

    return member if ":" in owner else module_attribute


def parameters_of_before(function: F) -> F:
    """Accept parameters under the names that they had."""
    owner = f"{function.__module__}:{function.__qualname__}"
    renamed = {row.old: row.new for row in NAMES if row.owner == owner}

    @wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        for old in renamed.keys() & given.keys():
            warn(f"{old}=", f"{renamed[old]}=")
            given[renamed[old]] = given.pop(old)
        return function(*args, **given)

    return cast(F, call)


def warn(old: str, new: str) -> None:
    warnings.warn(f"{old} is called {new} now", DeprecationWarning, stacklevel=4)
