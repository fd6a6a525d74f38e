"""Which pages match which queries, told from URLs and anchors alone (pandey08, section 5.3).

URL and anchors of a page, each for itself, become word n-grams, n = 1 .. g; so does the query. Page p matches query q if
at least a share rho of q's distinct n-grams occur among p's (always at least one).

Only n-grams that occur in a query are indexed. They form a trie: every prefix of a query's n-gram is one of its n-grams.
Each page is walked through the trie once; out come postings (n-gram -> pages, with marks for URL and anchors). A query
with m n-grams that needs t of them reads the postings of its m - t + 1 rarest n-grams: a page that holds none of these
cannot match. So with rho = 1 a query costs its rarest n-gram's postings, never a scan.

``GrowingIndex`` goes with a crawl: only pages that are new, or that a new anchor points to, are read again.

Cost: one pass over the words of pages; memory linear in the postings (5 bytes each) and the matches (16 bytes each), of
which ``batches`` lets you hold a few million at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.pages.words import url_words, words

IN_URL, IN_ANCHORS = 1, 2
NO_WORD = -1  # a word that no query holds, or the end of an anchor: n-grams do not cross it
BATCH = 50_000  # pages whose words are held at a time
HELD = 5_000_000  # matches held at a time


@dataclass(frozen=True, eq=False)
class Matches:
    """For each query the pages that match it, in order of their numbers, and what share of its n-grams they hold where."""

    indptr: Array  # int64, one more than queries
    page: Array  # int32
    in_url: Array  # float32
    in_anchors: Array  # float32
    in_either: Array  # float32

    def of(self, query: int) -> Array:
        return self.page[self.indptr[query] : self.indptr[query + 1]]


class Trie(NamedTuple):
    """N-grams of queries. Words are their own numbers; longer n-grams are found by (prefix, last word)."""

    words: int
    key: Array  # prefix * words + last word, by open addressing; -1 where free
    gram: Array


class Postings(NamedTuple):
    """For each n-gram the pages that hold it, in order of their numbers."""

    indptr: Array
    page: Array
    where: Array


class GrowingIndex:
    """The n-grams of some queries in pages that become known, or better known, as a crawl goes on."""

    def __init__(self, queries: Sequence[str], g: int = 3) -> None:
        if g < 1:
            raise InputError(f"g, the words of an n-gram, must be a whole number from 1, got {g}")
        self.queries, self.g = queries, g
        self._number, self._trie, self._indptr, self._grams = _query_grams(queries, g)
        self._count = len(self._grams) and int(self._grams.max()) + 1
        nothing = (np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.uint8))
        self._rows: tuple[Array, Array, Array] = nothing  # n-gram, page, where

    def take_in(self, pages: Iterable[int], urls: Iterable[str], anchors: Iterable[str]) -> None:
        """These pages (each once) have these URLs and anchors, whatever was known of them before."""
        ids = np.fromiter(pages, np.int32)
        fresh = _rows(self._number, self._trie, self._count, ids, urls, anchors, self.g)
        again = np.isin(self._rows[1], ids) if self._rows[1].size else np.empty(0, bool)
        gram, page, where = (np.concatenate([had[~again], new]) for had, new in zip(self._rows, fresh, strict=True))
        order = np.argsort(page, kind="stable")
        self._rows = (gram[order], page[order], where[order])

    def index(self) -> NGramIndex:
        """As it is now; it stays so."""
        made = NGramIndex.__new__(NGramIndex)
        made.indptr, made.grams = self._indptr, self._grams
        made.postings = Postings(*compiled(_by_gram)(*self._rows, self._count))
        return made


class NGramIndex:
    """The n-grams of some queries in the URLs and anchors (one a line) of pages."""

    indptr: Array
    grams: Array
    postings: Postings

    def __init__(self, queries: Sequence[str], urls: Iterable[str], anchors: Iterable[str], g: int = 3) -> None:
        known = urls if isinstance(urls, Sequence) else list(urls)
        growing = GrowingIndex(queries, g)
        growing.take_in(range(len(known)), known, anchors)
        made = growing.index()
        self.indptr, self.grams, self.postings = made.indptr, made.grams, made.postings

    def match(self, rho: float = 1.0, first: int = 0, last: int | None = None) -> Matches:
        """The pages that match queries first .. last - 1 (row 0 is the first's)."""
        end = len(self.indptr) if last is None else last + 1
        return Matches(*compiled(_matching)(self.indptr[first:end], self.grams, self._need(rho)[first:], self.postings))

    def batches(self, rho: float = 1.0) -> Iterator[tuple[int, int]]:
        """Ranges of queries (first, last) that together have some millions of matches at most, or are single queries."""
        first, held = 0, 0
        for query, most in enumerate(compiled(_most)(self.indptr, self.grams, self._need(rho), self.postings).tolist()):
            if held and held + most > HELD:
                yield first, query
                first, held = query, 0
            held += most
        yield first, len(self.indptr) - 1

    def _need(self, rho: float) -> Array:
        """How many of its n-grams each query must find on a page."""
        if not 0 <= rho <= 1:
            raise InputError(f"rho, the share of n-grams to match, must be from 0 to 1, got {rho}")
        return np.maximum(1, np.ceil(rho * np.diff(self.indptr) - 1e-9)).astype(np.int64)


def match(queries: Sequence[str], urls: Iterable[str], anchors: Iterable[str], g: int = 3, rho: float = 1.0) -> Matches:
    """The pages (given by URL and anchors, these one a line) that match each query.

    >>> found = match(["new york", "york"], ["http://a/new/york", "http://york"], ["", "new\\nyork"])
    >>> found.of(0).tolist(), found.of(1).tolist()
    ([0], [0, 1])
    """
    return NGramIndex(queries, urls, anchors, g).match(rho)


def _query_grams(queries: Sequence[str], g: int) -> tuple[dict[str, int], Trie, Array, Array]:
    """Words to numbers, the trie of n-grams, and each query's distinct n-grams as rows."""
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
    key, held = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
    given = np.fromiter(longer.keys(), np.int64, len(longer))
    compiled(_store)(given, np.fromiter(longer.values(), np.int64, len(longer)), key, held)
    return number, Trie(len(number), key, held), indptr, np.array(grams, np.int64)


def _rows(
    number: dict[str, int], trie: Trie, grams: int, ids: Array, urls: Iterable[str], anchors: Iterable[str], g: int
) -> tuple[Array, Array, Array]:
    """N-gram, page and where it stands, by page in the order given."""

    @lru_cache(1 << 16)
    def numbered(anchor: str) -> list[int]:
        return [number.get(word, NO_WORD) for word in words(anchor)]

    pages = zip(urls, anchors, strict=True)
    seen = np.full(grams, -1, np.int64)
    found: list[tuple[Array, Array, Array]] = []
    first = 0
    while batch := list(islice(pages, BATCH)):
        text: list[int] = []
        cuts = np.zeros((len(batch), 2), np.int64)  # where a page's anchors begin, and where they end
        for page, (url, lines) in enumerate(batch):
            text.extend(number.get(word, NO_WORD) for word in url_words(url))
            cuts[page, 0] = len(text)
            for anchor in dict.fromkeys(lines.split("\n")) if lines else ():
                text.append(NO_WORD)
                text.extend(numbered(anchor))
            cuts[page, 1] = len(text)
        found.append(compiled(_walk)(trie, np.array(text, np.int64), cuts, ids[first : first + len(batch)], g, seen))
        first += len(batch)
    none = (np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.uint8))
    gram, page_of, where = (np.concatenate(parts) for parts in zip(none, *found, strict=True))
    return gram, page_of, where


@kernel
def _store(given: Array, grams: Array, key: Array, held: Array) -> None:
    for i in range(given.size):
        slot = given[i] % key.size
        while key[slot] != -1:
            slot = slot + 1 if slot + 1 < key.size else 0
        key[slot] = given[i]
        held[slot] = grams[i]


@kernel
def _next(trie: Trie, gram: int, word: int) -> int:
    """The n-gram one word longer, or -1."""
    wanted = gram * trie.words + word
    slot = wanted % trie.key.size
    while trie.key[slot] != -1:
        if trie.key[slot] == wanted:
            return trie.gram[slot]  # type: ignore[no-any-return]
        slot = slot + 1 if slot + 1 < trie.key.size else 0
    return -1


@kernel
def _walk(trie: Trie, text: Array, cuts: Array, ids: Array, g: int, seen: Array) -> tuple[Array, Array, Array]:
    """Postings of these pages. seen[gram] is the place of its last posting of this batch: it tells a page's second."""
    seen[:] = -1
    gram_of = np.empty(text.size + 16, np.int32)
    page_of = np.empty(text.size + 16, np.int32)
    where = np.empty(text.size + 16, np.uint8)
    count = 0
    begin = 0
    for page in range(cuts.shape[0]):
        own = count
        for i in range(begin, cuts[page, 1]):
            mark = IN_URL if i < cuts[page, 0] else IN_ANCHORS
            end = min(i + g, cuts[page, 0] if i < cuts[page, 0] else cuts[page, 1])
            gram = -1
            for j in range(i, end):
                if text[j] < 0:
                    break
                gram = text[j] if gram < 0 else _next(trie, gram, text[j])
                if gram < 0:
                    break
                if seen[gram] >= own:
                    where[seen[gram]] |= np.uint8(mark)
                    continue
                if count == gram_of.size:
                    gram_of = np.concatenate((gram_of, np.empty_like(gram_of)))
                    page_of = np.concatenate((page_of, np.empty_like(page_of)))
                    where = np.concatenate((where, np.empty_like(where)))
                seen[gram] = count
                gram_of[count] = gram
                page_of[count] = ids[page]
                where[count] = mark
                count += 1
        begin = cuts[page, 1]
    return gram_of[:count].copy(), page_of[:count].copy(), where[:count].copy()


@kernel
def _by_gram(gram: Array, page: Array, where: Array, grams: int) -> tuple[Array, Array, Array]:
    indptr = np.zeros(grams + 1, np.int64)
    for i in range(gram.size):
        indptr[gram[i] + 1] += 1
    for k in range(grams):
        indptr[k + 1] += indptr[k]
    fill = indptr[:-1].copy()
    pages, marks = np.empty_like(page), np.empty_like(where)
    for i in range(gram.size):
        at = fill[gram[i]]
        fill[gram[i]] += 1
        pages[at] = page[i]
        marks[at] = where[i]
    return indptr, pages, marks


@kernel
def _shares(postings: Postings, grams: Array, page: int, shares: Array) -> int:
    """How many of these n-grams a page holds; shares become those in its URL and in its anchors."""
    held = 0
    shares[:] = 0.0
    for k in range(grams.size):
        begin, end = postings.indptr[grams[k]], postings.indptr[grams[k] + 1]
        at = begin + np.searchsorted(postings.page[begin:end], page)
        if at < end and postings.page[at] == page:
            held += 1
            shares[0] += (postings.where[at] & IN_URL) != 0
            shares[1] += (postings.where[at] & IN_ANCHORS) != 0
    shares /= grams.size
    return held


@kernel
def _rarest(mine: Array, need: int, postings: Postings) -> Array:
    """Places of the n-grams of which a match holds at least one."""
    return np.argsort(postings.indptr[mine + 1] - postings.indptr[mine])[: mine.size - need + 1]


@kernel
def _most(indptr: Array, grams: Array, need: Array, postings: Postings) -> Array:
    """How many pages may match each query, at most."""
    most = np.zeros(indptr.size - 1, np.int64)
    for query in range(most.size):
        mine = grams[indptr[query] : indptr[query + 1]]
        for k in _rarest(mine, need[query], postings):
            most[query] += postings.indptr[mine[k] + 1] - postings.indptr[mine[k]]
    return most


@kernel
def _matching(indptr: Array, grams: Array, need: Array, postings: Postings) -> tuple[Array, Array, Array, Array, Array]:
    rows = np.zeros(indptr.size, np.int64)
    page_of = np.empty(1024, np.int32)
    in_url = np.empty(1024, np.float32)
    in_anchors = np.empty(1024, np.float32)
    in_either = np.empty(1024, np.float32)
    shares = np.zeros(2)
    count = 0
    for query in range(indptr.size - 1):
        mine = grams[indptr[query] : indptr[query + 1]]
        rarest = _rarest(mine, need[query], postings)
        read = 0
        for k in rarest:
            read += postings.indptr[mine[k] + 1] - postings.indptr[mine[k]]
        candidates = np.empty(read, np.int32)
        read = 0
        for k in rarest:
            held = postings.page[postings.indptr[mine[k]] : postings.indptr[mine[k] + 1]]
            candidates[read : read + held.size] = held
            read += held.size
        if rarest.size > 1:
            candidates.sort()
        for i in range(read):
            if i > 0 and candidates[i] == candidates[i - 1]:
                continue
            found = _shares(postings, mine, candidates[i], shares)
            if found < need[query]:
                continue
            if count == page_of.size:
                page_of = np.concatenate((page_of, np.empty_like(page_of)))
                in_url = np.concatenate((in_url, np.empty_like(in_url)))
                in_anchors = np.concatenate((in_anchors, np.empty_like(in_anchors)))
                in_either = np.concatenate((in_either, np.empty_like(in_either)))
            page_of[count] = candidates[i]
            in_url[count] = shares[0]
            in_anchors[count] = shares[1]
            in_either[count] = found / mine.size
            count += 1
        rows[query + 1] = count
    return rows, page_of[:count].copy(), in_url[:count].copy(), in_anchors[:count].copy(), in_either[:count].copy()
