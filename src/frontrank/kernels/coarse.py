"""Numbers rounded to about 1e-9 of themselves: engines that add up in another order differ in the last bits."""

from __future__ import annotations

import numpy as np

from frontrank.kernels.jit import Array

BITS = 30


def coarse(scores: Array) -> Array:
    """Scores without the bits in which engines differ.

    >>> values = coarse(np.array([0.1 + 0.2, 0.3, 0.30001]))
    >>> bool(values[0] == values[1]), bool(values[1] < values[2])
    (True, True)
    """
    mantissa, exponent = np.frexp(scores)
    return np.asarray(np.ldexp(np.round(mantissa * 2.0**BITS), exponent - BITS))
