"""One option of a crawl: how its value is read, checked and described. ``options`` has all of them.

    kind      in Python      on a command line              in a TOML file
    whole     3              --in-flight 3                  in-flight = 3
    seconds   90.0           --time 90, 90s, 1.5m, 2h, 1d   time = 90, or "2h"
    size      10_000_000     --max-size 10MB                max-size = "10MB"
    share     0.3            --revisit-share 0.3            revisit-share = 0.3
    text      "fpr"          --policy fpr                   policy = "fpr"
    texts     ("a", "b")     --exclude a --exclude b        exclude = ["a", "b"]
    switch    True           --sitemaps, --no-sitemaps      sitemaps = true

A value that cannot be used is refused under the name by which it was given (``written``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from frontrank.errors import InputError, nearest
from frontrank.specs import SECONDS, with_unit

BYTES = {"": 1.0, "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9}
LONG, LARGE = "seconds, or a number with s, m, h or d, such as 30m", "bytes, or a number with kB, MB or GB, such as 10MB"
WHOLE, TIME, SIZE, TEXT, TEXTS, SWITCH = "whole", "seconds", "size", "text", "texts", "switch"
SHARE = "share"
KINDS = {"int": WHOLE, "float": TIME, "str": TEXT, "str | None": TEXT, "tuple[str, ...]": TEXTS, "bool": SWITCH}


@dataclass(frozen=True)
class Option:
    """What is known of an option beside its value."""

    field: str  # its name in Options
    name: str  # its name for people
    kind: str
    default: Any
    help: str
    group: str
    metavar: str = ""
    least: float = 0.0
    most: float = math.inf
    choices: tuple[str, ...] = ()
    changes: bool = True  # whether a crawl can be resumed with another value
    wrong: Callable[[str], str] = lambda text: ""  # what else is wrong with a text: "must be ..., got ..."

    @property
    def flag(self) -> str:
        return f"--{self.name}"

    @property
    def usage(self) -> str:
        """As it is given on a command line."""
        return f"{self.flag}/--no-{self.name}" if self.kind == SWITCH else f"{self.flag} {self.metavar}"

    def read(self, given: Any, written: str) -> Any:
        """The value that a command line or a TOML file means; numbers may come as text, texts one by one."""
        value = given
        if isinstance(given, str):
            if self.kind == WHOLE and re.fullmatch(r"\s*[+-]?\d+\s*", given):
                value = int(given)
            elif self.kind in (TIME, SIZE):
                value = _number(given, written, self.kind)
            elif self.kind == SHARE and re.fullmatch(r"\s*[+-]?(\d+\.?\d*|\.\d+)\s*", given):
                value = float(given)
            elif self.kind == TEXTS:
                value = (given,)
        elif self.kind == TEXTS and isinstance(given, list | tuple):
            value = tuple(given)
        elif self.kind in (TIME, SHARE) and type(given) is int:
            value = float(given)
        self.check(value, written)
        return value

    def check(self, value: Any, written: str) -> None:
        """Raise InputError if this is not a value of the option's kind, or out of its limits."""
        if self.kind in (WHOLE, SIZE, TIME, SHARE):
            self._check_number(value, written)
        elif self.kind == SWITCH:
            if not isinstance(value, bool):
                raise InputError(f"{written} must be true or false, got {value!r}")
        elif self.kind == TEXTS:
            if not isinstance(value, tuple) or not all(isinstance(one, str) for one in value):
                raise InputError(f"{written} must be a list of texts, got {value!r}")
        elif not isinstance(value, str) and not (value is None and self.default is None):
            raise InputError(f"{written} must be text, got {value!r}")
        elif self.choices and isinstance(value, str) and value not in self.choices:
            expected = f"{', '.join(self.choices[:-1])} or {self.choices[-1]}"
            raise InputError(f"{written} must be {expected}, got {value!r}{_close(value, self.choices)}")
        for text in (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ():
            if said := self.wrong(text):
                raise InputError(f"{written} {said}")

    def _check_number(self, value: Any, written: str) -> None:
        whole = self.kind not in (TIME, SHARE)
        number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if number and math.isfinite(value) and self.least <= value <= self.most:
            return
        units = {WHOLE: "a whole number", SIZE: "a whole number of bytes", TIME: "a number of seconds", SHARE: "a number"}
        unit = units[self.kind]
        limits = f"from {self.least:g}" + (f" to {self.most:,.0f}" if self.most < math.inf else "")
        raise InputError(f"{written} must be {unit} {limits}, got {value!r}")

    def shown(self) -> str:
        """The default, for people; empty if there is none."""
        if self.kind == SWITCH:
            return "on" if self.default else "off"
        if self.default in ("", None, ()) or (self.default == 0 and "0: no limit" in self.help):
            return ""
        if self.kind == SIZE:
            return f"{self.default / 1e6:g}MB"
        return f"{self.default:,g}" if isinstance(self.default, int | float) else str(self.default)


def duration(text: str, written: str = "time") -> float:
    """
    >>> duration("90"), duration("30m"), duration("2h")
    (90.0, 1800.0, 7200.0)
    """
    return _with_unit(text, written, SECONDS, LONG)


def size(text: str, written: str = "size") -> int:
    """
    >>> size("10MB"), size("512")
    (10000000, 512)
    """
    return int(_with_unit(text, written, BYTES, LARGE))


def _number(text: str, written: str, kind: str) -> float | int:
    return duration(text, written) if kind == TIME else size(text, written)


def _with_unit(text: str, written: str, units: Mapping[str, float], expected: str) -> float:
    value = with_unit(text, units)
    if value is None:
        raise InputError(f"{written} must be {expected}, got {text!r}")
    return value


def _close(given: str, known: tuple[str, ...]) -> str:
    said = nearest(given, known).partition(" Known:")[0]
    return said if "did you mean" in said else ""
