"""The embedded search engine S: BM25 over title, body, anchors and URL of each page, plus a prior for its standing.

    S(p, q) = sum over words w of q, fields F of boost(F) * BM25(w, F of p) + prior(p)
    prior(p) = weight * log(1 + n * PageRank(p))

for pages that hold every word of q in some field; other pages have no score. All scores are above 0. Results are best
first, equal scores by page number.

tantivy indexes and finds; as it knows no prior, its best ``CANDIDATES`` by BM25 are taken (more where more results are
wanted), the prior is added, and the best of these stay. The index lies in memory and is written by one thread into one
segment, so that equal pages give equal scores in every run.

Cost: one pass over the texts (about 10 MB a second); a query costs the pages that hold all its words. A query with a
word that no page holds costs a lookup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from frontrank.errors import InputError, need
from frontrank.kernels.jit import Array
from frontrank.pages.words import url_words, words
from frontrank.web.view import Results, Workload

BOOSTS = {"title": 3.0, "body": 1.0, "anchors": 2.0, "url": 1.5}
PRIOR_WEIGHT = 1.0
CANDIDATES = 300
LONGEST_WORD = 1000  # tantivy refuses terms of 64 kB; words this long are data, not words
HEAP_BYTES = 4_000_000_000  # what the writer may use before it starts a second segment; taken as needed

Progress = Callable[[int, int], None]  # done, in all


def pagerank_prior(pagerank: Array, weight: float = PRIOR_WEIGHT) -> Array:
    """What a page's standing adds to its scores; a page of average PageRank gets weight * log 2."""
    prior: Array = weight * np.log1p(len(pagerank) * pagerank)
    return prior


class SearchEngine:
    """Pages 0 .. n - 1 and how well each answers a query.

    >>> engine = SearchEngine.build(["Bees", ""], ["honey", "Honey! from bees"], ["", "shop"], ["http://a/", "http://b/"],
    ...                             np.zeros(2))
    >>> results = engine.search(Workload(("bees honey", "honey shop", "wasps"), np.ones(3)))
    >>> [results.of(query)[0].tolist() for query in range(3)]
    [[0, 1], [1], []]
    """

    def __init__(self, index: Any, prior: Array) -> None:
        self.prior = np.asarray(prior, np.float64)
        self._index = index
        self._searcher = index.searcher()
        self._of_word: dict[str, Any] = {}

    @classmethod
    def build(
        cls, titles: Iterable[str], texts: Iterable[str], anchors: Iterable[str], urls: Iterable[str], prior: Array
    ) -> SearchEngine:
        """Index pages, given as parallel columns. ``prior`` is added to the score of each page."""
        need("tantivy")
        import tantivy

        if not np.all(np.isfinite(prior)) or np.any(np.asarray(prior) < 0):
            raise InputError("the prior of a search engine holds a value that is not a finite number from 0")
        schema = tantivy.SchemaBuilder().add_unsigned_field("page", fast=True)
        for field in BOOSTS:
            schema = schema.add_text_field(field, tokenizer_name="words", index_option="freq")
        index = tantivy.Index(schema.build())
        analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        index.register_tokenizer("words", analyzer)
        writer = index.writer(HEAP_BYTES, 1)
        for page, (title, text, anchor, url) in enumerate(zip(titles, texts, anchors, urls, strict=True)):
            document = tantivy.Document()
            document.add_unsigned("page", page)
            for field, found in zip(BOOSTS, (words(title), words(text), words(anchor), url_words(url)), strict=True):
                if found:
                    document.add_text(field, " ".join(_usable(found)))
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return cls(index, prior)

    def search(self, workload: Workload, top: int = 10, progress: Progress | None = None) -> Results:
        """The best pages for each query."""
        limit = max(CANDIDATES, 3 * top)
        indptr = np.zeros(len(workload) + 1, np.int64)
        pages: list[Array] = []
        scores: list[Array] = []
        for query, text in enumerate(workload.queries):
            page, score = self._best(list(dict.fromkeys(words(text))), limit, top)
            pages.append(page)
            scores.append(score)
            indptr[query + 1] = indptr[query] + page.size
            if progress is not None and query % 1000 == 999:
                progress(query + 1, len(workload))
        none = np.empty(0)
        return Results(indptr, np.concatenate([*pages, none]).astype(np.int32), np.concatenate([*scores, none]))

    def _best(self, asked: list[str], limit: int, top: int) -> tuple[Array, Array]:
        need("tantivy")
        import tantivy

        parts = []
        for word in asked:
            part = self._word(word)
            if part is None:
                break
            parts.append((tantivy.Occur.Must, part))
        if not parts or len(parts) < len(asked):
            return np.empty(0, np.int64), np.empty(0)
        hits = self._searcher.search(tantivy.Query.boolean_query(parts), limit, count=False).hits
        page = np.array(self._searcher.fast_field_values("page", [at for _, at in hits]), np.int64)
        score = np.array([bm25 for bm25, _ in hits]) + self.prior[page]
        best = np.lexsort((page, -score))[:top]
        return page[best], score[best]

    def _word(self, word: str) -> Any:
        """The query for one word in any field; None if no page holds it."""
        if word not in self._of_word:
            self._of_word[word] = self._any_field(word) if len(word) <= LONGEST_WORD else None
        return self._of_word[word]

    def _any_field(self, word: str) -> Any:
        need("tantivy")
        import tantivy

        schema = self._index.schema
        parts = []
        for field, boost in BOOSTS.items():
            if self._searcher.doc_freq(field, word):
                term = tantivy.Query.term_query(schema, field, word, "freq")
                parts.append((tantivy.Occur.Should, tantivy.Query.boost_query(term, boost)))
        return tantivy.Query.boolean_query(parts) if parts else None


def _usable(found: list[str]) -> list[str]:
    return found if max(map(len, found)) <= LONGEST_WORD else [word for word in found if len(word) <= LONGEST_WORD]
