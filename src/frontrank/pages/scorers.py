"""Scorers: how good is a page, by what stands on it? For orderings that learn from the pages fetched so far.

    def shortness(url: str, title: str, text: str) -> float:      larger is better
        return 1.0 / (1 + len(text))

An entry point ``frontrank.scorers`` gives a scorer a name (``frontrank.plugins``); ``package.module:function`` does without.
Built in:

    words    distinct words/(distinct words + 200): 0 for an empty page, near 1 for a long text that does not repeat itself
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from frontrank.errors import InputError, SpecError
from frontrank.plugins import Registry

Scorer = Callable[[str, str, str], float]
HALF = 200  # distinct words that make a score of one half
WORD = re.compile(r"\w+")


def words(url: str, title: str, text: str) -> float:
    """Words: pages with many different words first.

    >>> words("http://a/", "A title", "a text, a text")
    0.014778325123152709
    """
    distinct = len({word.lower() for part in (title, text) for word in WORD.findall(part)})
    return distinct / (distinct + HALF)


def _accept(name: str, thing: Any) -> Scorer:
    if not callable(thing) or isinstance(thing, type):
        raise SpecError(f"scorer {name!r} must be a function of url, title and text, got {thing!r}")
    scorer: Scorer = thing
    return scorer


REGISTRY: Registry[Scorer] = Registry("scorer", "frontrank.scorers", _accept)
REGISTRY.build_in({"words": words})


def scored(name: str, url: str, title: str, text: str) -> float:
    """What a scorer says of a page; InputError if that is no number.

    >>> scored("words", "http://a/", "", "")
    0.0
    """
    value = REGISTRY.find(name)(url, title, text)
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"scorer {name} must give a finite number, got {value!r} for {url}")
    return float(value)
