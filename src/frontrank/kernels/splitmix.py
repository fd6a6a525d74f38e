"""Random numbers that are the same everywhere: splitmix64, whose whole state is one unsigned number in an array.

The only floating-point operation is a product with a power of two, which is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frontrank.kernels.jit import Array, kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S27, S30, S31 = np.uint64(27), np.uint64(30), np.uint64(31)
S11, S33 = np.uint64(11), np.uint64(33)


@kernel
def mixed(z: Any) -> Any:
    """64 bits that look random, of 64 that need not."""
    z = (z ^ (z >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    return z ^ (z >> S31)


@kernel
def draw(rng: Array) -> Any:
    """64 random bits."""
    rng[0] += GOLDEN
    return mixed(rng[0])


@kernel
def below(rng: Array, n: int) -> Any:
    """A whole number from 0 to n - 1, for n below 2^31."""
    return (np.int64(draw(rng) >> S33) * n) >> 31


@kernel
def unit(rng: Array) -> Any:
    """A number from 0 to 1, 1 excluded."""
    return np.int64(draw(rng) >> S11) * 2.0**-53
