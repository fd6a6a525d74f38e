"""Arrays that grow in place, so that growing a crawl of a million pages does not pause it.

A small array doubles and is copied, as usual. From ``LARGE`` elements on, address space for ``capacity`` of them is reserved
once (an anonymous mapping without reserved memory): memory is used page by page as it is touched, and growth is a longer view
of the same bytes. Nothing is copied, nothing moves, and a reader that holds an older, shorter view sees the same values.

Doubling and copying a frontier of 400,000 known pages took 118 ms in one call; a longer view takes microseconds.

>>> import numpy as np
>>> short = grown(np.arange(3), LARGE)
>>> longer = grown(short, short.size + 1, fill=7)
>>> longer[:3].tolist(), int(longer[-1]), np.shares_memory(short, longer)
([0, 1, 2], 7, True)
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, Any

import numpy as np

from frontrank.system.portable import is_linux

if TYPE_CHECKING:
    from frontrank.kernels.jit import Array

GROWTH = 2  # small arrays at least double, so that n discoveries copy O(n) values in all
LARGE = 2**15  # elements; below, a copy takes microseconds too
STEP = 2**16  # elements that a large array grows by at least
MAX_ELEMENTS = 2**28  # elements reserved: more pages than one machine's memory holds the state of
NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # Python 3.13 names it


def grown(array: Array, size: int, fill: Any = 0, capacity: int = MAX_ELEMENTS) -> Array:
    """The same array with room for at least size elements; new ones hold the fill value (by field, for records)."""
    if size <= array.size:
        return array
    if size < LARGE:
        return _copied(array, np.zeros(max(size, GROWTH * array.size), array.dtype), fill)
    size = max(size, min(array.size + STEP, capacity))
    space = array.base
    if not (isinstance(space, np.ndarray) and isinstance(getattr(space, "base", None), memoryview) and space.size >= size):
        return _copied(array, _reserved(array.dtype, size, capacity), fill)
    longer = space[:size]
    _fill(longer[array.size :], fill)
    return longer


def reserve(array: Array, capacity: int = MAX_ELEMENTS) -> Array:
    """A large array laid where it can grow; a small one as it is."""
    return array if array.size < LARGE else _copied(array, _reserved(array.dtype, array.size, capacity)[: array.size], 0)


def _reserved(dtype: Any, size: int, capacity: int) -> Array:
    """An array of zeros that can grow to ``capacity`` elements in place; where the system refuses, one that cannot."""
    if is_linux():
        try:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE
            space = mmap.mmap(-1, max(size, capacity) * dtype.itemsize, flags=flags)
            whole: Array = np.frombuffer(space, dtype)
            return whole[:size]
        except OSError:
            pass  # no address space to spare (ulimit -v, strict overcommit)
    return np.zeros(GROWTH * size, dtype)


def _copied(array: Array, bigger: Array, fill: Any) -> Array:
    bigger[: array.size] = array
    _fill(bigger[array.size :], fill)
    return bigger


def _fill(fresh: Array, fill: Any) -> None:
    if isinstance(fill, dict):
        for name, value in fill.items():
            fresh[name] = value
    elif isinstance(fill, np.ndarray) or fill != 0:
        fresh[:] = fill
