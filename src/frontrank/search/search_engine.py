"""The embedded search engine S: BM25 over title, body, anchors and URL of each page, plus a prior for its standing.

    S(p, q) = sum over words w of q, fields F of boost(F) * BM25(w, F of p) + prior(p)
    BM25(w, F) = idf(w, F) (k + 1) tf/(tf + k (1 - b + b |F|/mean |F|)),   idf = log(1 + (n - df + .5)/(df + .5))
    prior(p) = weight * log(1 + n * PageRank(p))

for pages with every word of q in some field; other pages have no score. All scores are above 0. The best ``CANDIDATES``
by BM25 are taken (more where more results are wanted), the prior is added, and the best of these stay: best first, equal
scores by page number. |F| is kept as a byte would keep it, exact up to 40 words, then in steps of an eighth: long pages that
differ by a few words are equally long.

The engine grows with a crawl. A page is read once, when it is added; anchors may follow at any time, also for pages that are
not there yet. Only words of queries are kept: counts of a word in the fields of a page, whole numbers, so that
an engine that grew page by page and one that was built at once say the same to the last bit. Statistics are taken when it is
searched.

Cost: a page, its words; a search, a sort of the counts and, for each query, the pages that hold its rarest word.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.growing import grown
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.pages.words import url_words, words
from frontrank.web.view import Results

FIELDS = {"title": 3.0, "body": 1.0, "anchors": 2.0, "url": 1.5}  # with their boosts
TITLE, BODY, ANCHORS, URL = range(len(FIELDS))
K, B = 1.2, 0.75
PRIOR_WEIGHT = 1.0
CANDIDATES = 300
MAX_WORD_LENGTH = 1000  # words this long are data, not words
EXACT = 24  # lengths that a byte keeps as they are; above, three bits and a shift
AT_ONCE = 1000  # queries between two looks at the progress

Progress = Callable[[int, int], None]  # done, in all


def pagerank_prior(pagerank: Array, weight: float = PRIOR_WEIGHT) -> Array:
    """What a page's standing adds to its scores; a page of average PageRank gets weight * log 2."""
    prior: Array = weight * np.log1p(len(pagerank) * pagerank)
    return prior


class WordPostings(NamedTuple):
    """For each word the pages that hold it, in order of their numbers, and how often in each field."""

    indptr: Array
    page: Array
    counts: Array  # of each field
    weight: Array  # of each word and field: boost * idf * (k + 1)


class SearchEngine:
    """Pages by number, and how well each answers some queries.

    >>> engine = SearchEngine(["bees honey", "honey shop", "wasps"])
    >>> engine.add(0, "Bees", "honey", "http://a/")
    >>> engine.add(1, "", "Honey! from bees", "http://b/")
    >>> engine.point(1, "shop")
    >>> results = engine.search(np.zeros(2))
    >>> [results.of(query)[0].tolist() for query in range(3)]
    [[0, 1], [1], []]
    """

    def __init__(self, queries: Sequence[str]) -> None:
        self._number: dict[str, int] = {}
        self._rows: tuple[Array, Array] = (np.zeros(1, np.int64), np.empty(0, np.int64))
        asked = [_distinct(query) for query in queries]
        for word in (word for row in asked for word in row):
            self._number.setdefault(word, len(self._number))
        self._ask(asked)
        self._words, self._pages = array("i"), array("i")  # a row for each word of a field of a page
        self._fields, self._counts = array("b"), array("i")
        self._length = [np.zeros(16, np.int64) for _ in FIELDS]  # words of each field of each page
        self._present = np.zeros(16, np.uint8)
        self._size = 0

    @classmethod
    def build(
        cls,
        queries: Sequence[str],
        titles: Iterable[str],
        texts: Iterable[str],
        anchors: Iterable[str],
        urls: Iterable[str],
    ) -> SearchEngine:
        """An engine of pages 0, 1, 2, ..., given as parallel columns."""
        engine = cls(queries)
        for page, (title, text, anchor, url) in enumerate(zip(titles, texts, anchors, urls, strict=True)):
            engine.add(page, title, text, url)
            engine.point(page, anchor)
        return engine

    def ask(self, queries: Sequence[str]) -> bool:
        """Other queries from now on. False if they hold words that were never asked for: then pages must be read again."""
        asked = [_distinct(query) for query in queries]
        if any(word not in self._number for row in asked for word in row):
            return False
        self._ask(asked)
        return True

    def _ask(self, asked: list[list[str]]) -> None:
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in asked])]).astype(np.int64)
        self._rows = indptr, np.array([self._number[word] for row in asked for word in row], np.int64)

    def add(self, page: int, title: str, text: str, url: str) -> None:
        """A page has arrived."""
        self._room(page)
        self._present[page] = 1
        for field, found in ((TITLE, words(title)), (BODY, words(text)), (URL, url_words(url))):
            self._note(page, field, found)

    def point(self, page: int, anchor: str) -> None:
        """A link with this text points to a page, be it there or not."""
        if anchor:
            self._room(page)
            self._note(page, ANCHORS, words(anchor))

    def _note(self, page: int, field: int, found: list[str]) -> None:
        if not found:
            return
        if max(map(len, found)) > MAX_WORD_LENGTH:
            found = [word for word in found if len(word) <= MAX_WORD_LENGTH]
        self._length[field][page] += len(found)
        count: dict[int, int] = {}
        number = self._number
        for word in found:
            at = number.get(word)
            if at is not None:
                count[at] = count.get(at, 0) + 1
        if count:
            self._words.extend(count)
            self._counts.extend(count.values())
            self._pages.extend([page] * len(count))
            self._fields.extend([field] * len(count))

    def _room(self, page: int) -> None:
        self._size = max(self._size, page + 1)
        if self._size > self._present.size:
            self._present = grown(self._present, self._size)
            self._length = [grown(length, self._size) for length in self._length]

    def search(self, prior: Array, top: int = 10, progress: Progress | None = None) -> Results:
        """The best pages for each query; prior[page] is added to the score of a page."""
        prior = np.asarray(prior, np.float64)
        if not np.all(np.isfinite(prior)) or np.any(prior < 0):
            raise InputError("the prior of a search engine holds a value that is not a finite number from 0")
        if len(prior) < self._size:
            raise InputError(f"the prior of a search engine must have a value for each of {self._size} pages, got {len(prior)}")
        postings, norm = self._statistics()
        indptr, asked = self._rows
        limit, total = max(CANDIDATES, 3 * top), len(indptr) - 1
        lengths, pages, scores = [np.empty(0, np.int64)], [np.empty(0, np.int32)], [np.empty(0)]
        for first in range(0, total, AT_ONCE):
            row = indptr[first : first + AT_ONCE + 1]
            length, page, score = compiled(_answers)(row, asked, postings, norm, prior, limit, top)
            lengths.append(length)
            pages.append(page)
            scores.append(score)
            if progress is not None and first + AT_ONCE <= total:
                progress(first + AT_ONCE, total)
        found = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
        return Results(found, np.concatenate(pages), np.concatenate(scores))

    def _statistics(self) -> tuple[WordPostings, Array]:
        """Postings of the pages that are there, and k (1 - b + b |F|/mean |F|) of each field and page."""
        present = self._present[: self._size].astype(bool)
        pages = int(present.sum())
        word, page = np.frombuffer(self._words, np.int32), np.frombuffer(self._pages, np.int32)
        field, count = np.frombuffer(self._fields, np.int8), np.frombuffer(self._counts, np.int32)
        there = np.flatnonzero(present[page])
        there = there[np.argsort(word[there].astype(np.int64) * self._size + page[there], kind="stable")]
        indptr, page, count = compiled(_merged)(word[there], page[there], field[there], count[there], len(self._number))
        of_word = np.repeat(np.arange(len(self._number)), np.diff(indptr))
        df = np.stack([np.bincount(of_word, count[:, at] > 0, len(self._number)) for at in range(len(FIELDS))], axis=1)
        idf = np.log1p((pages - df + 0.5) / (df + 0.5))
        length = np.stack([one[: self._size] for one in self._length])
        mean = length[:, present].sum(axis=1) / max(1, pages)
        norm = K * (1.0 - B + B * _as_a_byte(length) / np.where(mean > 0, mean, 1.0)[:, None])
        return WordPostings(indptr, page, count, np.array([*FIELDS.values()]) * idf * (K + 1.0)), norm


def _distinct(query: str) -> list[str]:
    return [*dict.fromkeys(words(query))]


def _as_a_byte(length: Array) -> Array:
    """The greatest length that a byte can tell and that is not above.

    >>> _as_a_byte(np.array([0, 39, 40, 41, 42, 63, 1000])).tolist()
    [0, 39, 40, 40, 42, 60, 984]
    """
    over = np.maximum(length - EXACT, 0)
    shift = np.maximum(np.frexp(over.astype(np.float64))[1] - 4, 0)
    kept: Array = np.where(length < EXACT, length, EXACT + ((over >> shift) << shift))
    return kept


@kernel
def _merged(word: Array, page: Array, field: Array, count: Array, words_: int) -> tuple[Array, Array, Array]:
    """Rows sorted by word and page, one for each page of a word."""
    indptr = np.zeros(words_ + 1, np.int64)
    pages = np.empty(word.size, np.int32)
    counts = np.zeros((word.size, 4), np.int32)
    used = 0
    for i in range(word.size):
        if i == 0 or word[i] != word[i - 1] or page[i] != page[i - 1]:
            pages[used] = page[i]
            used += 1
            indptr[word[i] + 1] += 1
        counts[used - 1, field[i]] += count[i]
    for w in range(words_):
        indptr[w + 1] += indptr[w]
    return indptr, pages[:used].copy(), counts[:used].copy()


@kernel
def _bm25(postings: WordPostings, norm: Array, word: int, at: int) -> float:
    page = postings.page[at]
    score = 0.0
    for field in range(norm.shape[0]):
        count = postings.counts[at, field]
        if count > 0:
            score += postings.weight[word, field] * count / (count + norm[field, page])
    return score


@kernel
def _matching(asked: Array, postings: WordPostings, norm: Array) -> tuple[Array, Array]:
    """The pages that hold all these words, by number, and their BM25."""
    rarest = asked[0]
    for word in asked:
        if postings.indptr[word + 1] - postings.indptr[word] < postings.indptr[rarest + 1] - postings.indptr[rarest]:
            rarest = word
    begin, end = postings.indptr[rarest], postings.indptr[rarest + 1]
    page = np.empty(end - begin, np.int32)
    score = np.empty(end - begin, np.float64)
    place = np.empty(asked.size, np.int64)
    for k in range(asked.size):
        place[k] = postings.indptr[asked[k]]
    used = 0
    for i in range(begin, end):
        total = 0.0
        whole = True
        for k in range(asked.size):
            last = postings.indptr[asked[k] + 1]
            place[k] += np.searchsorted(postings.page[place[k] : last], postings.page[i])
            if place[k] == last or postings.page[place[k]] != postings.page[i]:
                whole = False
                break
            total += _bm25(postings, norm, asked[k], place[k])
        if whole:
            page[used] = postings.page[i]
            score[used] = total
            used += 1
    return page[:used], score[:used]


@kernel
def _first(score: Array, limit: int) -> Array:
    """Places of the best so many scores, in their order; of equals the first."""
    if score.size <= limit:
        return np.arange(score.size)
    lowest = np.partition(score, score.size - limit)[score.size - limit]
    free = limit - np.sum(score > lowest)
    kept = np.empty(limit, np.int64)
    used = 0
    for i in range(score.size):
        if score[i] > lowest or (score[i] == lowest and free > 0):
            if score[i] == lowest:
                free -= 1
            kept[used] = i
            used += 1
    return kept


@kernel
def _answers(
    indptr: Array, asked: Array, postings: WordPostings, norm: Array, prior: Array, limit: int, top: int
) -> tuple[Array, Array, Array]:
    lengths = np.zeros(indptr.size - 1, np.int64)
    pages = np.empty(lengths.size * top, np.int32)
    scores = np.empty(lengths.size * top, np.float64)
    used = 0
    for query in range(lengths.size):
        if indptr[query] == indptr[query + 1]:
            continue
        page, score = _matching(asked[indptr[query] : indptr[query + 1]], postings, norm)
        kept = _first(score, limit)
        page, score = page[kept], score[kept] + prior[page[kept]]
        best = np.argsort(-score, kind="mergesort")[:top]
        for i in best:
            pages[used] = page[i]
            scores[used] = score[i]
            used += 1
        lengths[query] = best.size
    return lengths, pages[:used].copy(), scores[:used].copy()
