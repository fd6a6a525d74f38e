"""Random: a uniform key drawn at discovery."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontrank.kernels.jit import Column, kernel
from frontrank.orderings.policy import Out, Policy, State
from frontrank.web.links import Links, row

BITS = 0xFFFFFFFF


@kernel
def mix(x: int) -> int:
    """A bijection of 32-bit numbers that looks random; products stay below 2**63, so no driver ever overflows."""
    x = (x ^ (x >> 16)) & BITS
    x = (x * 0x21F0AAAD) & BITS
    x = (x ^ (x >> 15)) & BITS
    x = (x * 0x735A2D97) & BITS
    return (x ^ (x >> 15)) & BITS


@kernel
def draw(seed: int, number: int) -> float:
    """A uniform number in [0, 1) for the number-th page discovered."""
    high = mix((mix(seed & BITS) + number) & BITS)
    low = mix((high + 0x9E3779B9) & BITS)
    return (high * 2097152 + (low >> 11)) / 9007199254740992.0


@dataclass(frozen=True)
class Random(Policy):
    """Random: a uniform key drawn when a page is discovered.

        key(q) = U(seed, number of pages discovered before q)

    The floor of every plot. The key depends on the discovery number alone, so simulation and live crawl draw alike. Note
    that it is no uniform sample of the web: it can only choose among pages that a fetched page links to.

    Parameters: ``seed`` chooses the sequence.

    Cost: O(log n) for each discovery.

    >>> from frontrank import Web, order
    >>> web = Web.from_edges([0, 0, 0, 0], [1, 2, 3, 4], pages=5)
    >>> order(web, "random:seed=1", seeds=[0])
    [0, 1, 3, 4, 2]
    """

    seed: int = 0
    name = "random"
    needs_past_links = False
    columns = {"seen": Column(np.uint8), "number": Column(np.int64, per="crawl")}

    def validate(self) -> None:
        self.require(0 <= self.seed <= BITS, "seed", "a whole number from 0 to 4294967295")

    @staticmethod
    @kernel
    def on_seed(state: State, page: int, weight: float) -> float:
        state.seen[page] = 1
        number = int(state.number[0])
        state.number[0] += 1
        return draw(state.seed, number)

    @staticmethod
    @kernel
    def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
        targets = row(links, page)
        count = 0
        for j in range(targets.size):
            q = targets[j]
            if state.seen[q] == 0:
                state.seen[q] = 1
                out.page[count] = q
                out.key[count] = draw(state.seed, int(state.number[0]))
                state.number[0] += 1
                count += 1
        return count

    on_revisit = on_fetch  # a page that was met before says nothing new
