"""Words of texts and URLs, and the n-grams they form.

A word is a run of letters and digits of any script, in lower case. The search engine, the matching of queries and the
queries themselves all use these words, so that what matches in one place matches in all.

>>> words("Crème brûlée, 2nd_try")
['crème', 'brûlée', '2nd', 'try']
>>> url_words("https://www.ics.uci.edu/~smyth/Data%20Mining.html")
['ics', 'uci', 'edu', 'smyth', 'data', 'mining', 'html']
>>> ngrams(["new", "york", "city"], 2)
['new', 'york', 'city', 'new york', 'york city']
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote

WORD = re.compile(r"[^\W_]+")
SCHEME = re.compile(r"^\s*[A-Za-z][A-Za-z0-9+.\-]*://")


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    return WORD.findall(text.lower())


def url_words(url: str) -> list[str]:
    """The words of a URL: its scheme and a leading www say nothing of the page."""
    found = words(unquote(SCHEME.sub("", url)))
    return found[1:] if found and found[0] == "www" else found


def ngrams(sequence: Sequence[str], g: int) -> list[str]:
    """All runs of 1 to g words, shortest first, each as often as it occurs."""
    return [" ".join(sequence[i : i + n]) for n in range(1, g + 1) for i in range(len(sequence) - n + 1)]
