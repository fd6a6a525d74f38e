"""A big-endian bit stream of natural numbers in the instantaneous codes of WebGraph: the bottom of ``bvgraph``.

Codes of a natural number n, with m = n + 1 and b = floor(log2 m): unary is n zeros and a one; γ is b in unary and the b
low bits of m; δ is b in γ and these bits; ζ_k is h = b div k in unary and m - 2^(hk) in minimal binary below
2^(hk+k) - 2^(hk); Golomb is n div k in unary and n mod k in minimal binary; nibble is n in groups of three bits, each
after a bit that is 1 for the last.

A reader takes the words, a position and the end, both in bits, and returns (value, next position). The value is -1
where there is no number, the position lies after the end where bits were missing; nothing is read outside the words.

Constants are passed from kernel to kernel as np.int64(c): numba compiles the callee again for every literal it gets.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from frontrank.errors import SourceError
from frontrank.kernels.jit import Array, kernel

UNARY, GAMMA, DELTA, ZETA, NIBBLE, GOLOMB = range(6)
CODE_NAMES = ("UNARY", "GAMMA", "DELTA", "ZETA", "NIBBLE", "GOLOMB", "SKEWED_GOLOMB")
MAX_NUMBER = 2**62 - 1  # no number of a graph comes near it


def read_words(path: str, begin: int, size: int) -> Array:
    """So many bytes of the stream from there on, or what there is, as native 64-bit words and two zero words after them."""
    try:
        with open(path, "rb") as file:
            file.seek(begin)
            raw = file.read(size)
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror or error})") from None
    padded = np.zeros(len(raw) // 8 + 3, np.uint64)
    padded.view(np.uint8)[: len(raw)] = np.frombuffer(raw, np.uint8)
    return padded.byteswap(inplace=True) if sys.byteorder == "little" else padded


@kernel
def _bits(words: Array, pos: int, n: Any) -> Any:
    """The next n bits, 0 <= n <= 63, the first one highest; zeros after the end."""
    w = pos >> 6
    if w + 1 >= words.size:
        return np.int64(0)
    off = np.uint64(pos & 63)
    # A shift by 64 is not defined, hence two shifts wherever one of 64 might be needed.
    low = (words[w + 1] >> np.uint64(1)) >> (np.uint64(63) - off)
    return np.int64((((words[w] << off) | low) >> np.uint64(1)) >> np.uint64(63 - n))


@kernel
def _zeros(words: Array, pos: int, end: int) -> int:
    """The number of zeros before the next one; -1 if the stream ends before."""
    start = pos
    while pos < end:
        ahead = _bits(words, pos, np.int64(63))
        if ahead != 0:
            step = 32
            while step > 0:
                if ahead >> (63 - step) == 0:
                    pos += step
                    ahead <<= step
                step >>= 1
            return pos - start
        pos += 63
    return -1


@kernel
def _nibble(words: Array, pos: int, end: int) -> tuple[int, int]:
    value = 0
    while pos < end and value < MAX_NUMBER >> 3:
        four = _bits(words, pos, np.int64(4))
        pos += 4
        value = (value << 3) | (four & 7)
        if four >= 8:
            return value, pos
    return -1, pos + 4 if pos >= end else pos


@kernel
def read_code(words: Array, pos: int, end: int, code: int, k: int) -> tuple[Any, int]:
    """The next number in this code. One function for all, since each begins with a run of zeros (but for nibble)."""
    if code == NIBBLE:
        return _nibble(words, pos, end)
    zeros = _zeros(words, pos, end)
    if zeros < 0:
        return np.int64(-1), end + 1
    pos += zeros + 1
    if code == UNARY:
        return zeros, pos
    if code == GAMMA or code == DELTA:  # noqa: SIM109
        width = zeros
        if code == DELTA and width < 6:  # the width itself, in gamma
            pos += width
            width = ((1 << width) | _bits(words, pos - width, width)) - 1
        elif code == DELTA:
            return np.int64(-1), pos
        if width > 61:
            return np.int64(-1), pos
        return ((1 << width) | _bits(words, pos, width)) - 1, pos + width
    if zeros > MAX_NUMBER >> 31 or k > MAX_NUMBER >> 31:
        return np.int64(-1), pos
    if code == ZETA:
        width = zeros * k + k - 1
        if width > 61:
            return np.int64(-1), pos
        base = -1 + (1 << (zeros * k))
        short = base + 1
    else:
        width = 0
        while (k >> width) > 1:
            width += 1
        base = zeros * k
        short = (1 << (width + 1)) - k
    low = _bits(words, pos, width)  # minimal binary: the first ``short`` remainders have a bit less
    pos += width
    if low >= short:
        low = (low << 1) + _bits(words, pos, np.int64(1)) - short
        pos += 1
    return base + low, pos
