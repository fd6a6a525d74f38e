"""Options as data: a frozen dataclass holds them, and each field says its default, limits and help, once.

    kind      in Python      on a command line              in a TOML file
    whole     3              --in-flight 3                  in-flight = 3
    number    0.3            --revisit-share 0.3            revisit-share = 0.3
    numbers   (0.0, 0.5)     --omega 0,0.5
    seconds   90.0           --time 90, 90s, 1.5m, 2h, 1d   time = 90, or "2h"
    size      10_000_000     --max-size 10MB                max-size = "10MB"
    text      "fpr"          --ordering fpr                 ordering = "fpr"
    texts     ("a", "b")     --exclude a --exclude b        exclude = ["a", "b"]
    switch    True           --sitemaps, --no-sitemaps      sitemaps = true

The command line is made from such a class (``frontrank.cli.click_options``), and the library takes its defaults and limits from
it. A value that cannot be used is refused under the name by which it was given (``written``): a flag, or a parameter.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from frontrank.errors import FrontrankError, InputError, nearest
from frontrank.specs import SECONDS, text_of, with_unit

BYTES = {"": 1.0, "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9}
LONG, LARGE = "seconds, or a number with s, m, h or d, such as 30m", "bytes, or a number with kB, MB or GB, such as 10MB"
WHOLE, NUMBER, NUMBERS, TIME, SIZE = "whole", "number", "numbers", "seconds", "size"
TEXT, TEXTS, SWITCH = "text", "texts", "switch"
KINDS = {"int": WHOLE, "float": NUMBER, "str": TEXT, "bool": SWITCH}  # of a field's type, unless it says another
KINDS |= {"tuple[float, ...]": NUMBERS, "tuple[str, ...]": TEXTS}


UNITS = {WHOLE: "a whole number", SIZE: "a whole number of bytes", TIME: "a number of seconds", NUMBER: "a number"}


@dataclass(frozen=True)
class Option:
    """What is known of an option beside its value."""

    field: str  # its name in the dataclass
    name: str  # its name for people
    kind: str
    default: Any
    help: str
    group: str = ""
    metavar: str = ""
    minimum: float = 0.0
    maximum: float = math.inf
    above: bool = False  # whether the minimum itself is too little
    choices: tuple[str, ...] = ()
    no: bool = True  # whether a switch can be turned off: --no-NAME
    changes: bool = True  # whether a crawl can be resumed with another value
    secret: bool = False  # whether it is stored nowhere, and so must be given again with each run
    wrong: Callable[[str], str] = lambda text: ""  # what else is wrong with a text: "must be ..., got ..."

    @property
    def flag(self) -> str:
        return f"--{self.name}"

    @property
    def usage(self) -> str:
        """As it is given on a command line."""
        if self.kind == SWITCH:
            return f"{self.flag}/--no-{self.name}" if self.no else self.flag
        return f"{self.flag} {self.metavar}"

    def read(self, given: Any, written: str) -> Any:
        """The value that a command line or a TOML file means; numbers may come as text, texts one by one."""
        value = given
        if isinstance(given, str):
            if self.kind == WHOLE and re.fullmatch(r"\s*[+-]?\d{1,18}\s*", given):  # more fit into no counter
                value = int(given)
            elif self.kind in (TIME, SIZE):
                value = _number(given, written, self.kind)
            elif self.kind == NUMBER:
                value = _float(given)
            elif self.kind == NUMBERS:
                value = tuple(_float(part) for part in given.split(","))
            elif self.kind == TEXTS:
                value = (given,)
        elif self.kind == TEXTS and isinstance(given, list | tuple):
            value = tuple(given)
        elif self.kind in (TIME, NUMBER) and type(given) is int:
            value = float(given)
        self.check(value, written)
        return value

    def check(self, value: Any, written: str) -> None:
        """Raise InputError if this is not a value of the option's kind, or out of its limits."""
        if value is None and self.default is None:
            return
        if self.kind == NUMBERS:
            if not isinstance(value, tuple) or not value or not all(map(self._fits, value)):
                raise InputError(f"{written} must be numbers {self._limits()}, joined by commas, got {_shown(value)}")
        elif self.kind in (WHOLE, SIZE, TIME, NUMBER):
            if not self._fits(value):
                raise InputError(f"{written} must be {UNITS[self.kind]} {self._limits()}, got {_shown(value)}")
        elif self.kind == SWITCH:
            if not isinstance(value, bool):
                raise InputError(f"{written} must be true or false, got {value!r}")
        elif self.kind == TEXTS:
            if not isinstance(value, tuple) or not all(isinstance(one, str) for one in value):
                raise InputError(f"{written} must be a list of texts, got {value!r}")
        elif not isinstance(value, str):
            raise InputError(f"{written} must be text, got {value!r}")
        elif self.choices and value not in self.choices:
            expected = f"{', '.join(self.choices[:-1])} or {self.choices[-1]}"
            raise InputError(f"{written} must be {expected}, got {value!r}{_close(value, self.choices)}")
        for text in (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ():
            if problem := self.wrong(text):
                raise InputError(f"{written} {problem}")

    def _fits(self, value: Any) -> bool:
        whole = self.kind in (WHOLE, SIZE)
        number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value):
            return False
        return bool(self.minimum <= value <= self.maximum) and not (self.above and value == self.minimum)

    def _limits(self) -> str:
        upto = f"to {self.maximum:,.0f}" if self.maximum < math.inf else ""
        limit = f"{self.minimum:,.0f}" if self.minimum == int(self.minimum) else f"{self.minimum:g}"
        if self.above:
            return f"above {limit}{upto and f' and up {upto}'}"
        return f"from {limit}{upto and f' {upto}'}"

    def shown(self) -> str:
        """The default, for people; empty if there is none."""
        if self.kind == SWITCH:
            return ("on" if self.default else "off") if self.no else ""
        if self.default in ("", None, ()) or (self.default == 0 and "0: no limit" in self.help):
            return ""
        if self.kind == SIZE:
            return f"{self.default / 1e6:g}MB"
        if self.kind == NUMBERS:
            return ",".join(f"{one:g}" for one in self.default)
        if isinstance(self.default, int | float):
            return f"{self.default:,g}" if abs(self.default) >= 10_000 else f"{self.default:g}"
        return str(self.default)


def option(default: Any, help: str, **more: Any) -> Any:
    """A field of a dataclass that is an option; ``more`` as in ``Option``."""
    return dataclasses.field(default=default, repr=not more.get("secret"), metadata={"help": help, **more})


def said_of(check: Callable[[str], object], given: str, *names: str) -> str:
    """What a check says of a text: "must be ..., got ..."; nothing if it is fine."""
    try:
        check(given)
    except FrontrankError as error:
        message = str(error)
        for name in names:
            message = message.removeprefix(f"{name} ")
        return message
    return ""


@cache
def options_of(kind: type) -> dict[str, Option]:
    """The options of a dataclass, by the names of their fields.

    >>> @dataclass(frozen=True)
    ... class Asked:
    ...     in_flight: int = option(1, "Requests at a time.", metavar="N", minimum=1)
    >>> options_of(Asked)["in_flight"].read("16", "--in-flight"), Asked.in_flight
    (16, 1)
    >>> options_of(Asked)["in_flight"].read("0", "--in-flight")
    Traceback (most recent call last):
    frontrank.errors.InputError: --in-flight must be a whole number from 1, got 0
    """
    values = {}
    for f in fields(kind):
        if "help" in f.metadata:
            usual: dict[str, Any] = {
                "name": f.name.replace("_", "-"),
                "kind": KINDS.get(str(f.type).removesuffix(" | None"), TEXT),
            }
            values[f.name] = Option(field=f.name, default=f.default, **(usual | dict(f.metadata)))
    return values


def check_options(kind: type, **values: Any) -> None:
    """Raise InputError if one of these parameters cannot be used."""
    for name, value in values.items():
        options_of(kind)[name].check(value, name)


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


def _shown(value: Any) -> str:
    """What was given, as a person wrote it."""
    if isinstance(value, tuple):
        return ",".join(one if isinstance(one, str) else _shown(one) for one in value)
    return text_of(value).removesuffix(".0") if isinstance(value, int | float) and not isinstance(value, bool) else repr(value)


def _float(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _number(text: str, written: str, kind: str) -> float | int:
    return duration(text, written) if kind == TIME else size(text, written)


def _with_unit(text: str, written: str, units: Mapping[str, float], expected: str) -> float:
    value = with_unit(text, units)
    if value is None:
        raise InputError(f"{written} must be {expected}, got {text!r}")
    return value


def _close(given: str, known: tuple[str, ...]) -> str:
    suggestion = nearest(given, known).partition(" Known:")[0]
    return suggestion if "did you mean" in suggestion else ""
