"""What a link touches, in one cache line.

In a simulation the columns that an ordering reads and writes for each link (``per_link``) are in one record per page. Kernels
see columns as before, as views with a stride; a link waits for memory once, not once per column.

The record's size is a power of two, so none lies across two lines. It pays where most links touch most of the columns: surf is
an eighth faster for it. fpr is not: four of five links lead to pages that are fetched, and of these only the mark is read, a
byte that stays in the cache. One column stays as it is; whether one or several, the first is prefetched (``look_ahead``).
"""

from __future__ import annotations

import numpy as np

from frontrank.orderings.policy import Policy, State

LINE = 64  # bytes of a cache line


def together(policy: Policy, state: State) -> State:
    """The same state with its per-link columns in one array of records."""
    if len(policy.per_link) < 2:
        return state
    columns = {name: getattr(state, name) for name in policy.per_link}
    by_size = sorted(columns, key=lambda name: -columns[name].itemsize)
    sizes = [columns[name].itemsize for name in by_size]
    size = 2 ** (sum(sizes) - 1).bit_length()
    pages = len(state.fetched)
    raw = np.zeros(pages * size + LINE, np.uint8)
    raw = raw[-raw.ctypes.data % LINE :][: pages * size]
    for at, name in enumerate(by_size):
        begin = sum(sizes[:at])
        laid = np.ndarray(pages, columns[name].dtype, raw.data, begin, (size,))
        laid[:] = columns[name]
        columns[name] = laid
    return state._replace(**columns)
