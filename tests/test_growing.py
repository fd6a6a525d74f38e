"""Arrays that grow in place hold what arrays that are copied would, and never move once they are large."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontrank.kernels.growing import LARGE, grown
from frontrank.kernels.jit import Array

RECORD = np.dtype([("key", "f8"), ("pos", "i4")])


def copied(array: Array, size: int, fill: Any) -> Array:
    """The naive twin: a new array, filled, with the old values at its beginning."""
    made = np.zeros(size, array.dtype)
    if isinstance(fill, dict):
        for name, value in fill.items():
            made[name] = value
    else:
        made[:] = fill
    made[: array.size] = array
    return made


@pytest.mark.parametrize("reserve", [True, False])
@given(
    sizes=st.lists(st.integers(1, 3 * LARGE), min_size=1, max_size=5),
    kind=st.sampled_from([(np.dtype("i4"), 0), (np.dtype("u2"), 65535), (RECORD, {"pos": -1})]),
)
def test_a_grown_array_holds_what_a_copied_one_would(sizes: list[int], kind: tuple[Any, Any], reserve: bool) -> None:
    dtype, fill = kind
    with pytest.MonkeyPatch.context() as patch:
        if not reserve:
            patch.setattr("sys.platform", "another")  # where no address space can be had
        array = np.zeros(1, dtype)
        for number, size in enumerate(sizes):
            before = array
            array = grown(array, size, fill)
            assert array.size >= size
            assert array.tobytes() == copied(before, array.size, fill).tobytes()
            array[number % array.size] = np.ones(1, dtype)[0]


def test_a_large_array_stays_where_it_is() -> None:
    large = grown(np.zeros(4), LARGE)
    views = [large]
    for _ in range(50):
        large = grown(large, large.size + 1)
        views.append(large)
    assert all(np.shares_memory(view, large) for view in views)
    large[0] = 7.0
    assert views[0][0] == 7.0
