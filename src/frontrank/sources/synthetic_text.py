"""URLs, titles, texts and anchors of the pages of a generated web.

Nothing is stored: a string is computed from the number of its page (or link) when it is asked for, so that a web of
any size has URLs and costs no memory for them.

A site is a tree in breadth-first order: of its pages 0 .. n - 1, page i has the children b·i + 1 .. b·i + b (b is the
branching of its host). A page with children is a directory; a path has as many segments as its page is deep:
``/`` , ``/music-2/``, ``/music-2/section-1/page-3.html``. The pages of the endless calendar follow the tree.

A text is a bag of 50 to 300 words, Zipfian over made-up words, with a share of words of the page's topic (the most
frequent one is the topic's name) and a few of a neighbouring topic. Most titles begin with the name of the topic; an
anchor is the title of its target, a part of it, words of the target's topic, or says nothing ("more").

Cost: 3 µs for a URL, a title or an anchor, 75 µs for a text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from frontrank.kernels.jit import Array

TOPIC_NAMES = (
    *("computer", "admission", "music", "sport", "travel", "health", "science", "film", "food", "history"),
    *("business", "art", "law", "nature", "energy", "fashion", "game", "house", "car", "weather"),
)
TOPIC_WORDS = 50  # of each topic, its name first
PLAIN_WORDS = 4000
ENDINGS = ("example", "test", "example", "invalid", "example")  # reserved: no generated URL leads anywhere
GENERIC_ANCHORS = ("more", "here", "next", "click here", "read on")
MIN_TEXT_LENGTH, MAX_TEXT_LENGTH = 50, 300
OFF_TOPIC = 0.02  # share of a text's words that are of the neighbouring topic
DAYS, MONTHS, FIRST_YEAR = 28, 12, 2031  # a calendar that never ends needs no leap years

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15
_TITLE, _TEXT, _ANCHOR = 0x7469746C65, 0x74657874, 0x616E63686F72


class Layout(NamedTuple):
    """Where the pages of a web lie. Kernels read it too."""

    first: Array  # of each host, its first page (its root); one more entry ends the last host
    size: Array  # of each host, the pages of its tree; those of the calendar come on top
    branching: Array  # of each host, the children of a directory
    host: Array  # of each page
    topic: Array  # of each page
    topic_start: Array  # the pages of topic t are topic_pages[topic_start[t]:topic_start[t + 1]]
    topic_pages: Array
    trap_first: int  # the pages of the calendar are trap_first .. trap_last - 1
    trap_last: int


class Generated(Sequence[str], ABC):
    """Strings that are computed when they are asked for."""

    def __init__(self, size: int) -> None:
        self.size = size

    @abstractmethod
    def at(self, index: int) -> str:
        """The string at an index from 0 to size - 1."""

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self.at(index) for index in range(*at.indices(self.size))]
        index = int(at) + self.size if at < 0 else int(at)
        if not 0 <= index < self.size:
            raise IndexError(f"{at} is not an index from 0 to {self.size - 1}")
        return self.at(index)


def host_names(hosts: int) -> list[str]:
    """
    >>> host_names(3)
    ['www.h0.example', 'www.h1.test', 'www.h2.example']
    """
    width = len(str(hosts - 1))
    return [f"www.h{h:0{width}}.{ENDINGS[h % len(ENDINGS)]}" for h in range(hosts)]


def topic_names(topics: int) -> list[str]:
    return [TOPIC_NAMES[t] if t < len(TOPIC_NAMES) else _made_up(70**3 - 1 - t, 3) for t in range(topics)]


class Urls(Generated):
    def __init__(self, layout: Layout, names: Sequence[str], topics: Sequence[str]) -> None:
        super().__init__(len(layout.host))
        self.layout, self.names, self.topics = layout, names, topics

    def at(self, index: int) -> str:
        layout = self.layout
        host = int(layout.host[index])
        name = self.names[host]
        if layout.trap_first <= index < layout.trap_last:
            return f"http://{name}/calendar/{date(index - layout.trap_first)}"
        first, children = int(layout.first[host]), int(layout.branching[host])
        page = index - first
        path = ""
        if page and page * children + 1 >= layout.size[host]:
            page, slot = divmod(page - 1, children)
            path = f"page-{slot}.html"
        while page:
            parent, slot = divmod(page - 1, children)
            label = "section" if parent else self.topics[layout.topic[first + page]]
            path = f"{label}-{slot}/{path}" if slot else f"{label}/{path}"
            page = parent
        return f"http://{name}/{path}"


class Titles(Generated):
    def __init__(self, layout: Layout, words: Words, names: Sequence[str], seed: int) -> None:
        super().__init__(len(layout.host))
        self.layout, self.words, self.names, self.seed = layout, words, names, seed

    def at(self, index: int) -> str:
        layout = self.layout
        topic, host = int(layout.topic[index]), int(layout.host[index])
        if layout.trap_first <= index < layout.trap_last:
            return f"Calendar {date(index - layout.trap_first)}"
        if index == layout.first[host]:
            return f"{self.words.topics[topic].capitalize()} at {self.names[host].split('.')[1]}"
        bits = _hash(self.seed ^ _TITLE, index)
        one, two = self.words.of_topic(topic, bits >> 8), self.words.plain(bits >> 24)
        if bits % 100 < 85:
            return f"{self.words.topics[topic].capitalize()} {one} {two}"
        return f"{two.capitalize()} {self.words.plain(bits >> 40)}"


class TextsOfPages(Generated):
    def __init__(self, titles: Titles) -> None:
        super().__init__(titles.size)
        self.titles = titles

    def at(self, index: int) -> str:
        words, topic = self.titles.words, int(self.titles.layout.topic[index])
        key = _hash(self.titles.seed ^ _TEXT, index)
        title = self.titles.at(index).lower()
        count = MIN_TEXT_LENGTH + key % (MAX_TEXT_LENGTH - MIN_TEXT_LENGTH + 1) - len(title.split())
        return f"{title} {words.bag(key, count, topic)}"


class Anchors(Generated):
    def __init__(self, titles: Titles, targets: Array) -> None:
        super().__init__(len(targets))
        self.titles, self.targets = titles, targets

    def at(self, index: int) -> str:
        page = int(self.targets[index])
        bits = _hash(self.titles.seed ^ _ANCHOR, index)
        kind, words, topic = bits % 10, self.titles.words, int(self.titles.layout.topic[page])
        if kind < 4:
            return self.titles.at(page).lower()
        if kind < 7:
            return f"{words.topics[topic]} {words.of_topic(topic, bits >> 8)}"
        if kind < 9:
            return " ".join(self.titles.at(page).lower().split()[:2])
        return GENERIC_ANCHORS[(bits >> 8) % len(GENERIC_ANCHORS)]


class Words:
    """The vocabulary: plain words, and of each topic its name and the words made up for it."""

    def __init__(self, topics: Sequence[str]) -> None:
        self.topics = topics
        words = [_made_up(k, 2) for k in range(PLAIN_WORDS)]
        for t, name in enumerate(topics):
            words.append(name)
            words.extend(_made_up(t * TOPIC_WORDS + k, 3) for k in range(1, TOPIC_WORDS))
        self.words: Array = np.array(words, object)
        self.plain_odds, self.topic_odds = _zipf(PLAIN_WORDS), _zipf(TOPIC_WORDS)

    def plain(self, bits: int) -> str:
        return str(self.words[bits % PLAIN_WORDS])

    def of_topic(self, topic: int, bits: int) -> str:
        """A word of the topic that is not its name."""
        return str(self.words[PLAIN_WORDS + topic * TOPIC_WORDS + 1 + bits % (TOPIC_WORDS - 1)])

    def bag(self, key: int, count: int, topic: int) -> str:
        """Words drawn by their odds; between 5 and 35 of 100 are of the topic, the share differs from page to page."""
        bits = _hashes(key, count)
        draw = (bits >> np.uint64(11)) * 2.0**-53
        kind = (bits & np.uint64(2047)) / 2048
        share = 0.05 + 0.3 * ((key >> 32) % 1024) / 1024
        neighbour = (topic + 1 + (key >> 44) % 7) % len(self.topics)
        of_topic = np.searchsorted(self.topic_odds, draw, "right")
        chosen = np.searchsorted(self.plain_odds, draw, "right")
        near, far = kind < share, (kind >= share) & (kind < share + OFF_TOPIC)
        chosen[near] = PLAIN_WORDS + topic * TOPIC_WORDS + of_topic[near]
        chosen[far] = PLAIN_WORDS + neighbour * TOPIC_WORDS + of_topic[far]
        return " ".join(self.words[chosen].tolist())


def date(day: int) -> str:
    """
    >>> date(0), date(28 * 12 + 30)
    ('2031/01/01', '2032/02/03')
    """
    month = day // DAYS
    return f"{FIRST_YEAR + month // MONTHS}/{month % MONTHS + 1:02}/{day % DAYS + 1:02}"


def _made_up(number: int, syllables: int) -> str:
    """A word for a number; a step coprime to the number of words keeps neighbours apart and all words distinct.

    >>> _made_up(1, 3)
    'rifola'
    """
    number = number * 123_457 % 70**syllables
    parts = []
    for _ in range(syllables):
        number, syllable = divmod(number, 70)
        parts.append(_SYLLABLES[syllable])
    return "".join(parts)


def _zipf(count: int) -> Array:
    """The odds of rank 1 .. count, in proportion to 1 / rank, summed up; a draw from [0, 1) falls below the last."""
    odds: Array = np.cumsum(1.0 / np.arange(1, count + 1))
    odds /= odds[-1]
    return odds


def _hash(key: int, number: int) -> int:
    """splitmix64: 64 bits that depend on the key and the number alone."""
    z = (_mixed(key & _MASK) + (number + 1) * _GOLDEN) & _MASK
    return _mixed(z)


def _mixed(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _MASK
    return z ^ (z >> 31)


def _hashes(key: int, count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """The first numbers of the stream that starts at key. Unsigned arrays wrap without a word."""
    z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GOLDEN) + np.uint64(key)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
