"""Visibility V(r): how much of a result at rank r searchers see (pandey08, section 3.1). It never rises.

    step          1 for the first k ranks, 0 below; step:5 for the first five
    1/r           1, 1/2, 1/3, ... down to rank k
    1/log2(1+r)   1, .63, .5, ... down to rank k: the discount of DCG
    0.9,0.5,0.2   any other series, one number per rank
    FILE          a table: one number per line for ranks 1, 2, 3, ..., or rank and visibility

What a file says becomes part of the ordering that names it: it is stored with a crawl, and the file is not read again.
"""

from __future__ import annotations

import math
import os

import numpy as np

from frontrank.errors import InputError, SpecError
from frontrank.kernels.jit import Array
from frontrank.system.text_files import read_lines

STEP = "step"
FORMULAS = {"1/r": lambda r: 1.0 / r, "1/log2(1+r)": lambda r: 1.0 / np.log2(1.0 + r)}


class Visibility(str):
    """A visibility as it is written; a parameter of orderings."""

    written = "visibility"

    @classmethod
    def read(cls, text: str) -> Visibility:
        """What a person wrote, a file's numbers in its place."""
        return cls(",".join(f"{value!r}" for value in _table(text)) if os.path.isfile(text) else text)


def step(k: int = 10) -> Array:
    """The step visibility: the first k ranks are seen, the others are not."""
    return np.ones(k)


def visibility(text: str, k: int = 10) -> Array:
    """V(1), V(2), ...; below its last number V is 0.

    >>> visibility("step", 3).tolist(), visibility("1/r", 2).tolist(), visibility("1,0.5").tolist()
    ([1.0, 1.0, 1.0], [1.0, 0.5], [1.0, 0.5])
    """
    name, colon, count = text.partition(":")
    if name == STEP and (not colon or (count.isdigit() and int(count) > 0)):
        return step(int(count) if colon else k)
    if text in FORMULAS:
        return np.asarray(FORMULAS[text](np.arange(1.0, k + 1)), np.float64)
    try:
        seen = np.array([float(part) for part in text.split(",")])
    except ValueError:
        raise SpecError(
            f"visibility must be step, step:COUNT, {', '.join(FORMULAS)}, numbers joined by commas, or a file, got {text!r}"
        ) from None
    return checked_visibility(seen)


def checked_visibility(given: Array) -> Array:
    seen = np.asarray(given, np.float64)
    if seen.ndim != 1 or not np.all(np.isfinite(seen)) or np.any(seen < 0) or np.any(np.diff(seen) > 0):
        raise InputError("the visibility of ranks must be finite, from 0, and nowhere rising; give such a series")
    return seen


def _table(path: str) -> list[float]:
    """The numbers of a file, by rank."""
    seen: dict[int, float] = {}
    for number, line in enumerate(read_lines(path), 1):
        parts = line.replace(",", " ").split()
        if not parts or (number == 1 and not _is_number(parts[-1])):  # a head
            continue
        rank = parts[0] if len(parts) == 2 else str(len(seen) + 1)
        if len(parts) > 2 or not _is_number(parts[-1]) or rank != str(len(seen) + 1):
            wrong = f"must have the visibility of rank {len(seen) + 1}, got {line.strip()[:40]!r}"
            raise InputError(f"{path}, line {number}: {wrong}")
        seen[int(rank)] = float(parts[-1])
    if not seen:
        raise InputError(f"{path}: contains no visibilities; a table must have a number for each rank, from the first")
    checked_visibility(np.array([*seen.values()]))
    return [*seen.values()]


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
