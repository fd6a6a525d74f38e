"""Names for what can be added from outside: orderings, sources, measures, scorers.

A package adds its own by entry points, groups ``frontrank.orderings``, ``frontrank.sources``, ``frontrank.measures`` and
``frontrank.scorers`` (docs/plugins.md):

    [project.entry-points."frontrank.orderings"]
    margin = "shop.orderings:Margin"

Which packages are installed is read only when a name is not built in, or when names are listed. Built-in names win. A
plug-in that cannot be loaded is named on standard error (the log of ``frontrank``) and skipped, unless it is the very
one that was asked for.

Names that come from files (``loading(False)``) load no module, so that opening somebody else's directory runs none of its code.
Which files are trusted is decided in ``frontrank.orderings.stored``.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from frontrank.errors import NotTrusted, SpecError, nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
NAME = re.compile(r"\w[\w-]*")  # no sign that means something in a specification
log = logging.getLogger("frontrank")
_loads: ContextVar[bool] = ContextVar("frontrank_loads_code", default=True)


@contextmanager
def loading(allowed: bool) -> Iterator[None]:
    """In this block, whether ``package.module:Thing`` may be loaded: not where the name comes from a file of somebody else."""
    before = _loads.set(allowed)
    try:
        yield
    finally:
        _loads.reset(before)


class Registry(Generic[T]):
    """What is known by name, of one kind. ``accept(name, thing)`` raises SpecError if a thing is not of that kind."""

    def __init__(self, kind: str, group: str, accept: Callable[[str, Any], T]) -> None:
        self.kind = kind
        self.group = group
        self.accept = accept
        self._known: dict[str, T] = {}
        self._built_in: tuple[str, ...] = ()
        self._installed: dict[str, EntryPoint] | None = None
        self._requested: set[str] = set()  # package.module:Thing that the user of this process has named

    def build_in(self, things: Mapping[str, T]) -> None:
        """The things that come with frontrank: their names cannot be taken."""
        self._known |= things
        self._built_in = tuple(self._known)

    def register(self, name: str, thing: Any) -> None:
        """Give a thing its name, for as long as this process runs."""
        if not NAME.fullmatch(name):
            raise SpecError(f"the name of a {self.kind} must consist of letters, digits, - and _, got {name!r}")
        accepted = self.accept(name, thing)
        if self._known.setdefault(name, accepted) is not accepted:
            raise SpecError(f"{_title(thing)}: the name {name!r} is taken by {_title(self._known[name])}")

    def find(self, name: str) -> T:
        """The thing of this name, or ``package.module:Thing``; SpecError with a suggestion if there is none."""
        if name in self._known:
            return self._known[name]
        first, colon, rest = name.partition(":")
        if colon and first in self:
            raise SpecError(f"{name}: parameters must be KEY=VALUE, got {rest!r}")
        if colon and not (_loads.get() or name in self._requested):
            shown = name if name.isprintable() else repr(name)
            raise NotTrusted(
                f"made with the {self.kind} {shown}, code that is not part of frontrank; "
                f"if you trust this directory, pass --trust (in Python: trust=True)"
            )
        if colon:
            accepted = self.accept(name, located(name, self.kind))
            self._requested.add(name)
            return accepted
        entry = self._outside().get(name)
        if entry is None:
            raise SpecError(f"unknown {self.kind} {name!r}{nearest(name, self.names())}")
        return self._load(entry)

    def __contains__(self, name: str) -> bool:
        return name in self._known or name in self._outside()

    def known(self, name: str) -> T | None:
        """What has this name by now; no package is looked at."""
        return self._known.get(name)

    def built_in(self) -> dict[str, T]:
        return {name: self._known[name] for name in self._built_in}

    def names(self) -> list[str]:
        """Built-in, registered and installed names; nothing is loaded."""
        return list(dict.fromkeys([*self._known, *self._outside()]))

    def items(self) -> Iterator[tuple[str, T]]:
        """All that is known; installed plug-ins are loaded, broken ones are named and skipped."""
        yield from list(self._known.items())
        for name, entry in self._outside().items():
            if name not in self._known:
                try:
                    thing = self._load(entry)
                except SpecError as error:
                    log.warning("frontrank: %s; ignored", error)
                    continue
                yield name, thing

    def origin(self, name: str) -> str:
        """Which installed package brings this name; nothing for what is built in or registered."""
        entry = self._outside().get(name)
        return "" if entry is None or name in self._built_in else _distribution(entry)

    def _outside(self) -> dict[str, EntryPoint]:
        if self._installed is None:
            from importlib.metadata import entry_points  # costs as much time as all the rest of this module

            self._installed = {}
            for entry in sorted(entry_points(group=self.group), key=lambda entry: (entry.name, _distribution(entry))):
                first = self._installed.setdefault(entry.name, entry)
                if entry.name in self._built_in:
                    del self._installed[entry.name]
                    log.warning("frontrank: %s is not used: %r is a built-in %s", _source(entry), entry.name, self.kind)
                elif first != entry:
                    log.warning("frontrank: %s is not used: %s has the name already", _source(entry), _source(first))
        return self._installed

    def _load(self, entry: EntryPoint) -> T:
        try:
            accepted = self.accept(entry.name, entry.load())
        except (Exception, SystemExit) as error:
            raise SpecError(f"{_source(entry)} cannot be loaded: {_reason(error)}") from None
        return self._known.setdefault(entry.name, accepted)


def located(name: str, kind: str) -> Any:
    """What ``package.module:Thing`` names.

    >>> located("math:pi", "number")
    3.141592653589793
    """
    module, _, inside = name.partition(":")
    try:
        thing: Any = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise SpecError(f"{kind} {name!r}: {module} cannot be imported: {_reason(error)}") from None
        folder = f"; if {module.partition('.')[0]} is in this directory, set PYTHONPATH=."
        raise SpecError(f"{kind} {name!r}: there is no module {module!r} among the installed ones{folder}") from None
    except (Exception, SystemExit) as error:
        raise SpecError(f"{kind} {name!r}: {module} cannot be imported: {_reason(error)}") from None
    for part in inside.split("."):
        known = [one for one in dir(thing) if not one.startswith("_")]
        if not hasattr(thing, part):
            raise SpecError(f"{kind} {name!r}: {module} has no {inside!r}{nearest(part, known)}")
        thing = getattr(thing, part)
    return thing


def _title(thing: object) -> str:
    return str(getattr(thing, "__name__", None) or thing)


def _distribution(entry: EntryPoint) -> str:
    return "" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


def _source(entry: EntryPoint) -> str:
    return f"the plug-in {entry.name!r} of {_distribution(entry) or 'an unnamed package'} ({entry.value})"


def _reason(error: BaseException) -> str:
    return str(error) if isinstance(error, SpecError) else f"{type(error).__name__}: {error}"
