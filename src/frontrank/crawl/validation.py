"""Checks of what a program passes to a crawl: refused in a sentence, before anything is written or changed."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from frontrank.errors import InputError
from frontrank.frontiers.politeness import Politeness
from frontrank.web.view import Workload

MAX_WHOLE = 2**53  # whole numbers up to here are exact wherever they are kept
WHOLE = (int, np.integer)  # not unions, which take three times as long to look through
REAL = (int, float, np.integer, np.floating)


def text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{what} must be text, got {value!r}")
    return value


def texts(values: Any, what: str) -> list[str]:
    """One text, or several."""
    return _each(text, values, what)


def url(value: Any, what: str) -> str:
    """A name, and not an empty one."""
    if not isinstance(value, str) or not value:
        raise InputError(f"{what} must be a URL, got {value!r}")
    return value


def urls(values: Any, what: str) -> list[str]:
    """One URL, or several."""
    return _each(url, values, what)


def _each(check: Callable[[Any, str], str], values: Any, what: str) -> list[str]:
    items = [values] if isinstance(values, str | bytes) or not isinstance(values, Iterable) else list(values)
    return [check(value, what) for value in items]


def seconds(value: Any, what: str, finite: bool = True) -> float:
    """A time. ``what`` begins the sentence, such as "a page must be scheduled for"."""
    if type(value) is float and -math.inf < value < math.inf:  # nearly always, and at every event
        return value
    real = _real(value)
    if math.isfinite(real) or (not finite and math.isinf(real)):
        return real
    raise InputError(f"{what} a time in seconds, got {value!r}")


def _real(value: Any) -> float:
    """NaN for what is not a number, and for whole numbers beyond all floats."""
    with suppress(OverflowError):
        if isinstance(value, REAL):
            return float(value)
    return math.nan


def number(value: Any, what: str) -> float:
    """A finite number from 0."""
    real = _real(value)
    if 0 <= real < math.inf:
        return real
    raise InputError(f"{what} must be a finite number from 0, got {value!r}")


def whole(value: Any, what: str, minimum: int = 0, of: str = "") -> int:
    if isinstance(value, WHOLE) and not isinstance(value, bool) and minimum <= value <= MAX_WHOLE:
        return int(value)
    raise InputError(f"{what} must be a whole number{of} from {minimum}, got {value!r}")


def checked_clock(clock: Callable[[], Any]) -> Callable[[], float]:
    """A clock, each of whose answers is checked; the system's need not be."""
    return clock if clock is time.time else lambda: seconds(clock(), "a clock must return")


def politeness(value: Any) -> Politeness:
    if isinstance(value, Politeness):
        return value
    raise InputError(f"politeness must be a Politeness, such as Politeness(delay_s=1.0), got {value!r}")


def workload(value: Any) -> Workload:
    if isinstance(value, Workload):
        return value
    raise InputError(f"a workload must be a Workload of queries and their frequencies, got {value!r}")


def path(value: Any) -> Path:
    with suppress(TypeError, UnicodeEncodeError):
        if (name := os.fsencode(value)) and b"\0" not in name:
            return Path(os.fsdecode(name))
    raise InputError(f"the directory of a crawl must be a path, got {value!r}")


def where(value: Any) -> tuple[str, int, int] | None:
    """A WARC file, and where in it a record begins and how long it is."""
    if value is None:
        return None
    if isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], str):
        return value[0], whole(value[1], "the beginning of a record"), whole(value[2], "the length of a record")
    raise InputError(f"where must be the name of a file, and the beginning and the length of a record, got {value!r}")


def share(value: Any, what: str) -> float:
    if isinstance(value, int | float) and 0 <= value <= 1:
        return float(value)
    raise InputError(f"{what} must be a share from 0 to 1, got {value!r}")


def metadata(values: Any) -> Mapping[str, Any]:
    """What is stored with a page as JSON; None: nothing."""
    if values is None:  # nearly always
        return {}
    with suppress(TypeError, ValueError, RecursionError):
        if isinstance(values, Mapping) and all(isinstance(name, str) for name in values):
            json.dumps(dict(values), allow_nan=False)
            return values
    raise InputError(f"the metadata of a page must be a mapping from names to what JSON can hold, got {values!r}")


def payloads(values: Any) -> Mapping[int, bytes]:
    if isinstance(values, Mapping) and all(isinstance(value, bytes) for value in values.values()):
        return values
    raise InputError(f"payloads must be a mapping from pages to bytes, got {values!r}")
