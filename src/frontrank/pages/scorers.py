"""Scorers: how good is a page, by its content? For orderings that learn from the pages fetched so far.

    def shortness(url: str, title: str, text: str) -> float:      larger is better
        return 1.0 / (1 + len(text))

An entry point ``frontrank.scorers`` gives a scorer a name (``frontrank.plugins``); ``package.module:function`` does without.
A fourth parameter gets what is written after the name: ``topic:machine learning``. Built in, all from 0 to 1:

    words          distinct words/(distinct words + 200): 0 for an empty page, near 1 for a long text that repeats little
    rules          the share of eight rules of thumb (``RULES``, ``RUNS``) that the text passes: of those by which Gopher's
                   training text was chosen (Rae et al. 2021), the ones that need no lines, since a page's text has none
    topic:WORDS    the mean over these words of BM25's tf part, c/(c + 1.2 (1/4 + 3/4 length/300)), c the occurrences; one
                   in the title counts for five. No IDF: a crawl knows no collection

``in_batches`` marks a scorer that scores many pages at once, as models do: it gets three lists, and returns a list of numbers.
A scorer that raises, or gives no finite number, has no score for that page (``score_all`` says why); ``scoring`` also ends one
that takes too long.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from inspect import Parameter, signature
from typing import Any

from frontrank.errors import InputError, SpecError
from frontrank.pages.words import words as words_of
from frontrank.plugins import Registry

Scorer = Callable[..., Any]
Judged = float | str  # a score, or why there is none
LOWEST = -1e300  # below every score: that of a page on which a scorer fails
MAX_SCORE = 1e150  # what is beyond is cut: sums of scores stay finite
HALF = 200  # distinct words that make a score of one half
WORD = re.compile(r"\w+")
USUAL = 300  # words of a page, where BM25 has a collection's mean
TITLE = 5  # occurrences in the text that one in the title is worth
MAX_WORDS = 2_000  # words in which repetitions are looked for
STOP = frozenset(["the", "be", "to", "of", "and", "that", "have", "with"])  # the eight of Gopher
NOTHING = """a about all an and any are as at be best by can find for from get good how i in is it me more my of on or our page
pages that the their these this to want we what when where which who why with you your"""
EMPTY = frozenset(NOTHING.split())  # words of a goal that say nothing of a page


def words(url: str, title: str, text: str) -> float:
    """Words: pages with many different words first.

    >>> words("http://a/", "A title", "a text, a text")
    0.014778325123152709
    """
    distinct = len({word.lower() for part in (title, text) for word in WORD.findall(part)})
    return distinct / (distinct + HALF)


def rules(url: str, title: str, text: str) -> float:
    """Rules: the share of Gopher-like rules of thumb for good text that a page passes.

    >>> rules("http://a/", "", ""), rules("http://a/", "", "buy now " * 60)
    (0.0, 0.5)
    """
    tokens = text.split()
    if not tokens:
        return 0.0
    return (sum(rule(text, tokens) for rule in RULES) + _runs(tokens)) / (len(RULES) + len(RUNS))


def _length(text: str, tokens: list[str]) -> bool:
    return 50 <= len(tokens) <= 100_000


def _mean_word(text: str, tokens: list[str]) -> bool:
    return 3 <= sum(map(len, tokens)) / len(tokens) <= 10


def _symbols(text: str, tokens: list[str]) -> bool:
    return text.count("#") + text.count("...") + text.count("…") <= 0.1 * len(tokens)


def _letters(text: str, tokens: list[str]) -> bool:
    return sum(token.isalpha() or any(map(str.isalpha, token)) for token in tokens) >= 0.8 * len(tokens)


def _stop_words(text: str, tokens: list[str]) -> bool:
    return len(STOP & {token.lower() for token in tokens}) >= 2


def _runs(tokens: list[str]) -> int:
    """How many of ``RUNS`` hold: the most frequent run of n words makes up no more than this share of the characters."""
    looked = tokens[:MAX_WORDS]
    total, longest = sum(map(len, looked)), max(map(len, looked))
    passed, times = 0, len(looked)
    for n, limit in RUNS:
        if times * n * longest > limit * total:  # else no run of n words can be too frequent
            runs = Counter(zip(*(looked[i:] for i in range(n)), strict=False))
            run, times = runs.most_common(1)[0] if runs else ((), 0)
            if times > 1 and times * sum(map(len, run)) > limit * total:
                continue
        passed += 1
    return passed


RUNS = ((2, 0.20), (3, 0.18), (4, 0.16))  # a longer run is no more frequent than the shorter ones in it
RULES: tuple[Callable[[str, list[str]], bool], ...] = (_length, _mean_word, _symbols, _letters, _stop_words)


def topic(url: str, title: str, text: str, words: str) -> float:
    """Topic: pages on which these words stand often, above all in the title.

    >>> topic("http://a/", "Research", "", "research") > topic("http://a/", "", "research and more", "research") > 0
    True
    """
    wanted = frozenset(words_of(words))
    if not wanted:
        raise SpecError(f"scorer topic needs a word to look for, got {words!r}; write topic:WORDS, such as topic:research")
    body = words_of(text)
    found = Counter(word for word in body if word in wanted)
    for word in words_of(title):
        if word in wanted:
            found[word] += TITLE
    half = 1.2 * (0.25 + 0.75 * len(body) / USUAL)
    return sum(count / (count + half) for count in found.values()) / len(wanted)


def goal_words(goal: str) -> str:
    """The words of a goal that say what it is about; InputError if it has none.

    >>> goal_words("Find the best pages about machine learning")
    'machine learning'
    """
    found = [word for word in words_of(goal) if word not in EMPTY]
    if not found:
        raise InputError(f"a goal must say what pages are to be about, got {goal!r}; write words, such as 'solar energy'")
    return " ".join(dict.fromkeys(found))


def in_batches(scorer: Scorer) -> Scorer:
    """Mark a scorer that is given lists: urls, titles, texts. It gives one number for each page."""
    scorer.in_batches = True  # type: ignore[attr-defined]
    return scorer


def _accept(name: str, thing: Any) -> Scorer:
    if not callable(thing) or isinstance(thing, type):
        raise SpecError(f"scorer {name!r} must be a function of url, title and text, got {thing!r}")
    scorer: Scorer = thing
    return scorer


REGISTRY: Registry[Scorer] = Registry("scorer", "frontrank.scorers", _accept)
REGISTRY.build_in({"words": words, "rules": rules, "topic": topic})


def find(spec: str) -> Scorer:
    """The scorer of a specification, its argument filled in; SpecError if there is none.

    >>> find("topic:solar energy")("http://a/", "Solar energy", "", ) > 0.5
    True
    """
    name, argument = _split(spec)
    scorer = REGISTRY.find(name)
    takes = _argument_of(scorer)
    if argument and takes is None:
        raise SpecError(f"scorer {spec!r}: {argument!r} given, but {name} takes nothing; write {name}")
    if not argument:
        if takes is not None and takes.default is Parameter.empty:
            raise SpecError(f"scorer {spec!r}: no {takes.name} given; write {name}:{takes.name.upper()}")
        return scorer
    assert takes is not None
    bound = partial(scorer, **{takes.name: argument})
    if name == "topic":
        bound("", "", "")  # says what is wrong with the words, before the work
    return in_batches(bound) if is_batch(scorer) else bound


def is_batch(scorer: Scorer) -> bool:
    return bool(getattr(scorer, "in_batches", False))


def is_built_in(spec: str) -> bool:
    """Whether it is known to end, whatever the page."""
    return _split(spec)[0] in REGISTRY.built_in()


def is_of_this_process(spec: str) -> bool:
    """Whether no other process could find it: it was registered in this one."""
    name = _split(spec)[0]
    return ":" not in name and not is_built_in(spec) and REGISTRY.known(name) is not None and not REGISTRY.origin(name)


def _split(spec: str) -> tuple[str, str]:
    """The name of a scorer, and what is written behind it."""
    first, colon, rest = spec.strip().partition(":")
    if not colon or first in REGISTRY:
        return first.strip(), rest.strip()
    inside, _, argument = rest.partition(":")
    return f"{first}:{inside}".strip(), argument.strip()


def _argument_of(scorer: Scorer) -> Parameter | None:
    try:
        own = list(signature(scorer).parameters.values())
    except (TypeError, ValueError):  # of C
        return None
    more = own[3:]
    return more[0] if more and more[0].kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY) else None


def scored(spec: str, url: str, title: str, text: str) -> float:
    """What a scorer says of a page; InputError if that is not a number.

    >>> scored("words", "http://a/", "", "")
    0.0
    """
    (value,) = score_all(spec, [(url, title, text)])
    if isinstance(value, str):
        raise InputError(f"scorer {spec} must give a finite number for {url}; it {value}")
    return value


def score_all(spec: str, pages: Sequence[tuple[str, str, str]]) -> list[Judged]:
    """What a scorer says of these pages (url, title, text): a finite number each, or why there is none."""
    scorer = find(spec)
    if not is_batch(scorer):
        return [_judged(scorer, *page) for page in pages]
    try:
        values = list(scorer(*([page[i] for page in pages] for i in range(3))))
        if len(values) != len(pages):
            raise ValueError(f"{len(values)} numbers for {len(pages)} pages")
    except Exception as error:
        if len(pages) > 1:  # one page may have spoilt it for the others
            return [value for page in pages for value in score_all(spec, [page])]
        return [_raised(error)]
    return [_number(value) for value in values]


def _judged(scorer: Scorer, url: str, title: str, text: str) -> Judged:
    try:
        return _number(scorer(url, title, text))
    except Exception as error:
        return _raised(error)


def _raised(error: Exception) -> str:
    return f"raised {type(error).__name__}: {error}"[:200]


def _number(value: Any) -> Judged:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return f"gave {value!r}"[:200]
    return max(-MAX_SCORE, min(MAX_SCORE, number)) if math.isfinite(number) else f"gave {number}"
