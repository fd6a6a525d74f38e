"""Which pages match which queries, by URLs and anchors alone (pandey08, section 5.3).

URL and anchors of a page, separately, become word n-grams, n = 1 .. g; so does the query. Page p matches query q if
at least a share rho of q's distinct n-grams occur among p's (always at least one).

Only n-grams that occur in a query are indexed. They form a trie: every prefix of a query's n-gram is one of its n-grams.
Each page is walked through the trie once; out come postings (n-gram -> pages, with marks for URL and anchors). A query
with m n-grams that needs t of them reads the postings of its m - t + 1 rarest n-grams: a page that has none of these
cannot match. So with rho = 1 a query costs its rarest n-gram's postings, never a scan.

``GrowingIndex`` grows with a crawl: only pages that are new, or that a new anchor points to, are read again.

Cost: one pass over the words of pages; memory linear in the postings (5 bytes each) and the matches (16 bytes each), of
which ``batches`` gives a few million at a time.
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
from frontrank.search.trie import QueryGrams, Trie, longer_gram, query_grams

IN_URL, IN_ANCHORS = 1, 2
NO_WORD = -1  # a word that no query has, or the end of an anchor: n-grams do not cross it
BATCH = 50_000  # pages whose words are in memory at a time
MAX_MATCHES = 5_000_000  # of a batch


@dataclass(frozen=True, eq=False)
class Matches:
    """For each query the pages that match it, in order of their numbers, and what share of its n-grams they have where."""

    indptr: Array  # int64, one more than queries
    page: Array  # int32
    in_url: Array  # float32
    in_anchors: Array  # float32
    in_either: Array  # float32

    def of(self, query: int) -> Array:
        return self.page[self.indptr[query] : self.indptr[query + 1]]


class GramPostings(NamedTuple):
    """For each n-gram the pages that have it, in order of their numbers."""

    indptr: Array
    page: Array
    where: Array


class GrowingIndex:
    """The n-grams of some queries in pages that become known, or better known, in the course of a crawl."""

    def __init__(self, queries: Sequence[str], g: int = 3) -> None:
        if g < 1:
            raise InputError(f"g, the words of an n-gram, must be a whole number from 1, got {g}")
        self.queries, self.g = queries, g
        self._grams = query_grams(queries, g)
        nothing = (np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.uint8))
        self._rows: tuple[Array, Array, Array] = nothing  # n-gram, page, where

    def take_in(self, pages: Iterable[int], urls: Iterable[str], anchors: Iterable[str]) -> None:
        """Replace what is known of these pages (each once): their URLs and anchors."""
        ids = np.fromiter(pages, np.int32)
        fresh = _rows(self._grams, ids, urls, anchors)
        again = np.isin(self._rows[1], ids) if self._rows[1].size else np.empty(0, bool)
        gram, page, where = (np.concatenate([old[~again], new]) for old, new in zip(self._rows, fresh, strict=True))
        order = np.argsort(page, kind="stable")
        self._rows = (gram[order], page[order], where[order])

    def index(self) -> NGramIndex:
        """The index of this moment; it does not change."""
        return NGramIndex(self._grams, GramPostings(*compiled(_by_gram)(*self._rows, self._grams.total)))


class NGramIndex:
    """The n-grams of some queries in the URLs and anchors of pages."""

    def __init__(self, grams: QueryGrams, postings: GramPostings) -> None:
        self.indptr, self.grams, self.postings = grams.indptr, grams.grams, postings

    @classmethod
    def of(cls, queries: Sequence[str], urls: Iterable[str], anchors: Iterable[str], g: int = 3) -> NGramIndex:
        """The index of pages given by URL and anchors, these one per line."""
        known = urls if isinstance(urls, Sequence) else list(urls)
        growing = GrowingIndex(queries, g)
        growing.take_in(range(len(known)), known, anchors)
        return growing.index()

    def match(self, rho: float = 1.0, first: int = 0, last: int | None = None) -> Matches:
        """The pages that match queries first .. last - 1 (row 0 is the first's)."""
        end = len(self.indptr) if last is None else last + 1
        return Matches(*compiled(_matching)(self.indptr[first:end], self.grams, self._need(rho)[first:], self.postings))

    def batches(self, rho: float = 1.0) -> Iterator[tuple[int, int]]:
        """Ranges of queries (first, last) that together have some millions of matches at most, or are single queries."""
        first, total = 0, 0
        limits = compiled(_match_limits)(self.indptr, self.grams, self._need(rho), self.postings)
        for query, limit in enumerate(limits.tolist()):
            if total and total + limit > MAX_MATCHES:
                yield first, query
                first, total = query, 0
            total += limit
        yield first, len(self.indptr) - 1

    def _need(self, rho: float) -> Array:
        """How many of its n-grams each query must find on a page."""
        if not 0 <= rho <= 1:
            raise InputError(f"rho, the share of n-grams to match, must be from 0 to 1, got {rho}")
        return np.maximum(1, np.ceil(rho * np.diff(self.indptr) - 1e-9)).astype(np.int64)


def match(queries: Sequence[str], urls: Iterable[str], anchors: Iterable[str], g: int = 3, rho: float = 1.0) -> Matches:
    """The pages (given by URL and anchors, these one per line) that match each query.

    >>> found = match(["new york", "york"], ["http://a/new/york", "http://york"], ["", "new\\nyork"])
    >>> found.of(0).tolist(), found.of(1).tolist()
    ([0], [0, 1])
    """
    return NGramIndex.of(queries, urls, anchors, g).match(rho)


def _rows(grams: QueryGrams, ids: Array, urls: Iterable[str], anchors: Iterable[str]) -> tuple[Array, Array, Array]:
    """N-gram, page, and whether it is in the URL or the anchors, by page in the order of ``ids``."""
    number = grams.number

    @lru_cache(1 << 16)
    def numbered(anchor: str) -> list[int]:
        return [number.get(word, NO_WORD) for word in words(anchor)]

    pages = zip(urls, anchors, strict=True)
    seen = np.full(grams.total, -1, np.int64)
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
        words_of_batch, ids_of_batch = np.array(text, np.int64), ids[first : first + len(batch)]
        found.append(compiled(_walk)(grams.trie, words_of_batch, cuts, ids_of_batch, grams.g, seen))
        first += len(batch)
    none = (np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.uint8))
    gram, page_of, where = (np.concatenate(parts) for parts in zip(none, *found, strict=True))
    return gram, page_of, where


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
                gram = text[j] if gram < 0 else longer_gram(trie, gram, text[j])
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
def _shares(postings: GramPostings, grams: Array, page: int, shares: Array) -> int:
    """How many of these n-grams a page has; shares become those in its URL and in its anchors."""
    count = 0
    shares[:] = 0.0
    for k in range(grams.size):
        begin, end = postings.indptr[grams[k]], postings.indptr[grams[k] + 1]
        at = begin + np.searchsorted(postings.page[begin:end], page)
        if at < end and postings.page[at] == page:
            count += 1
            shares[0] += (postings.where[at] & IN_URL) != 0
            shares[1] += (postings.where[at] & IN_ANCHORS) != 0
    shares /= grams.size
    return count


@kernel
def _rarest(mine: Array, need: int, postings: GramPostings) -> Array:
    """Places of the n-grams of which a match has at least one."""
    return np.argsort(postings.indptr[mine + 1] - postings.indptr[mine])[: mine.size - need + 1]


@kernel
def _match_limits(indptr: Array, grams: Array, need: Array, postings: GramPostings) -> Array:
    """How many pages may match each query, at most."""
    limits = np.zeros(indptr.size - 1, np.int64)
    for query in range(limits.size):
        mine = grams[indptr[query] : indptr[query + 1]]
        for k in _rarest(mine, need[query], postings):
            limits[query] += postings.indptr[mine[k] + 1] - postings.indptr[mine[k]]
    return limits


@kernel
def _matching(indptr: Array, grams: Array, need: Array, postings: GramPostings) -> tuple[Array, Array, Array, Array, Array]:
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
            pages = postings.page[postings.indptr[mine[k]] : postings.indptr[mine[k] + 1]]
            candidates[read : read + pages.size] = pages
            read += pages.size
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
