"""Words of texts and URLs.

A word is a run of letters and digits of any script, in lower case. The search engine, the matching of queries and the
queries themselves all use these words, so that what matches in one place matches in all.

>>> words("Crème brûlée, 2nd_try")
['crème', 'brûlée', '2nd', 'try']
>>> url_words("https://www.ics.uci.edu/~smyth/Data%20Mining.html")
['ics', 'uci', 'edu', 'smyth', 'data', 'mining', 'html']
"""

from __future__ import annotations

import re
from urllib.parse import unquote

WORD = re.compile(r"[^\W_]+")
SCHEME = re.compile(r"^\s*[A-Za-z][A-Za-z0-9+.\-]*://")


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    return WORD.findall(text.lower())


def url_words(url: str) -> list[str]:
    """The words of a URL, without its scheme and a leading www."""
    found = words(unquote(SCHEME.sub("", url)))
    return found[1:] if found and found[0] == "www" else found
