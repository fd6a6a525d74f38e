"""TF-IDF: how similar a text is to a query (cho98, section 2, IS).

    w(word) = tf(word) * idf(word),  idf = ln(1 + N/df)
    similarity(text, query) = cosine of the two vectors

tf counts a word in the text, words of the title ``title`` times; N is the number of pages and df the number of those with the
word: of a whole web for the true importance, of the pages fetched so far for a crawl that cannot know more.

Words are distinguished by ``SLOTS`` values of a checksum. So the counts of a crawl are one array of fixed size, which can be
saved and restored; two words that share a slot count as one. Similarities are rounded to nine digits: what differs less is the
rounding of logarithms, which is not the same on all machines.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from urllib.parse import unquote
from zlib import crc32

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.pages.words import url_words, words

SLOTS = 1 << 20
TITLE = 5.0  # times that a word of a title counts
DIGITS = 9

Terms = dict[int, float]  # slot of a word -> tf


def slots(text: str) -> tuple[int, ...]:
    """The distinct words of a query.

    >>> len(slots("Machine learning, machine"))
    2
    """
    return tuple(dict.fromkeys(_slot(word) for word in words(text)))


def of_page(title: str, text: str, weight: float = TITLE) -> Terms:
    """tf of the words of a page."""
    counts: Terms = {}
    _count(counts, words(text), 1.0)
    _count(counts, words(title), weight)
    return counts


def of_link(anchor: str, url: str) -> Terms:
    """tf of what is known of a page before it is fetched: the words of an anchor, and of its URL."""
    counts: Terms = {}
    _count(counts, words(anchor), 1.0)
    _count(counts, url_words(url), 1.0)
    return counts


def mentions(text: str, asked: Iterable[str]) -> bool:
    """Whether a text may hold one of these words: quickly told, and seldom true."""
    text = unquote(text).lower()
    return any(word in text for word in asked)


def note(df: Array, terms: Terms) -> None:
    """One more page holds these words."""
    df[list(terms)] += 1


def similarity(terms: Terms, query: tuple[int, ...], df: Array, pages: int) -> float:
    """The cosine of a text and a query, where so many pages were counted in df."""
    if not any(slot in terms for slot in query):
        return 0.0
    counts = df.data  # plain numbers: a text has few words, too few for array operations

    def idf(slot: int) -> float:
        return math.log1p(pages / max(1, counts[slot]))

    inner = sum(terms.get(slot, 0.0) * idf(slot) ** 2 for slot in query)
    length = sum((tf * idf(slot)) ** 2 for slot, tf in terms.items()) * sum(idf(slot) ** 2 for slot in query)
    return round(inner / math.sqrt(length), DIGITS) if length > 0.0 else 0.0


def counts() -> Array:
    """Room for df."""
    return np.zeros(SLOTS, np.int32)


def _count(terms: Terms, found: Iterable[str], weight: float) -> None:
    for word, times in Counter(found).items() if weight else ():
        slot = _slot(word)
        terms[slot] = terms.get(slot, 0.0) + weight * times


def _slot(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass")) % SLOTS
