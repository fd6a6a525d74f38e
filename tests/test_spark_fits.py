"""What q-hybrid on Spark fits part by part is what scikit-learn and numpy fit at once. Without Spark."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from frontrank.spark.hybrid import _curve, _pooled

POINTS = st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 50)), min_size=1, max_size=60)


@example([(1, 10), (2, 0), (2, 100)], [], 2)
@given(POINTS, st.lists(st.integers(0, 60), max_size=3), st.integers(1, 7))
def test_pooling_part_by_part_gives_the_best_function_that_never_falls(
    points: list[tuple[int, int]], cuts: list[int], batch: int
) -> None:
    x, impact = np.array(sorted(points), np.float64).T
    levels: list[tuple[float, ...]] = []
    # Spark never parts equal x.
    edges = [0, *sorted({int(np.searchsorted(x, x[min(cut, x.size - 1)])) for cut in cuts}), x.size]
    for begin, end in pairwise(edges):
        table = pa.table({"x": x[begin:end], "impact": impact[begin:end]})
        for made in _pooled(table.to_batches(max_chunksize=batch)):
            levels += zip(*(column.to_pylist() for column in made.columns), strict=True)
    curve = _curve(np.array(levels).reshape(-1, 4))
    asked = np.linspace(-25, 25, 201)
    expected = IsotonicRegression(out_of_bounds="clip").fit(x, impact).predict(asked)
    assert np.allclose(curve(asked), expected, rtol=1e-12, atol=1e-12)
