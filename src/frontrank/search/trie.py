"""The n-grams of queries as a trie: every prefix of a query's n-gram is one of its n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.pages.words import words


class Trie(NamedTuple):
    """N-grams of queries. Words are their own numbers; longer n-grams are found by (prefix, last word)."""

    words: int
    key: Array  # prefix * words + last word, by open addressing; -1 where free
    gram: Array


class QueryGrams(NamedTuple):
    """The n-grams of queries: numbers of words, the trie, and each query's distinct n-grams as rows."""

    number: dict[str, int]
    trie: Trie
    indptr: Array
    grams: Array
    g: int

    @property
    def total(self) -> int:
        """How many n-grams there are."""
        return len(self.grams) and int(self.grams.max()) + 1


def query_grams(queries: Sequence[str], g: int) -> QueryGrams:
    """The n-grams of queries, of up to ``g`` words."""
    number: dict[str, int] = {}
    rows = [[number.setdefault(word, len(number)) for word in words(query)] for query in queries]
    longer: dict[int, int] = {}
    indptr = np.zeros(len(rows) + 1, np.int64)
    grams: list[int] = []
    for query, row in enumerate(rows):
        mine: dict[int, None] = {}
        for begin in range(len(row)):
            gram = row[begin]
            mine[gram] = None
            for word in row[begin + 1 : begin + g]:
                gram = longer.setdefault(gram * len(number) + word, len(number) + len(longer))
                mine[gram] = None
        grams.extend(mine)
        indptr[query + 1] = len(grams)
    size = 2 * len(longer) + 1
    trie = Trie(len(number), np.full(size, -1, np.int64), np.full(size, -1, np.int64))
    keys = np.fromiter(longer.keys(), np.int64, len(longer))
    compiled(_store)(keys, np.fromiter(longer.values(), np.int64, len(longer)), trie.key, trie.gram)
    return QueryGrams(number, trie, indptr, np.array(grams, np.int64), g)


@kernel
def _store(keys: Array, grams: Array, key: Array, gram: Array) -> None:
    for i in range(keys.size):
        slot = keys[i] % key.size
        while key[slot] != -1:
            slot = slot + 1 if slot + 1 < key.size else 0
        key[slot] = keys[i]
        gram[slot] = grams[i]


@kernel
def longer_gram(trie: Trie, gram: int, word: int) -> int:
    """The n-gram one word longer, or -1."""
    wanted = gram * trie.words + word
    slot = wanted % trie.key.size
    while trie.key[slot] != -1:
        if trie.key[slot] == wanted:
            return trie.gram[slot]  # type: ignore[no-any-return]
        slot = slot + 1 if slot + 1 < trie.key.size else 0
    return -1
