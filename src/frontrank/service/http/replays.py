"""What takes a replay of a crawl's log: why a page is where it is in the queue, and what another ordering would do.

It runs in a process of its own, on one moment of the log, beside the crawl and without its lock. Another ordering is asked
for by a person who may be anybody on the network, so only orderings that read no file and load no module can be tried. What a
crawl has fetched is also a web on which orderings can be tried from the beginning (``simulate``, ``recommend``).
"""

from __future__ import annotations

import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from frontrank.crawl import inbox
from frontrank.crawl.crawl import Crawl
from frontrank.crawl.journal import Journal, is_locked
from frontrank.crawl.needs import check_live
from frontrank.crawl.status import is_known
from frontrank.crawl.stored import first_workload
from frontrank.errors import InputError, SpecError, StorageError, nearest
from frontrank.kernels.jit import Array
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import as_policy, orderings
from frontrank.orderings.stored import Trusted, trusting
from frontrank.service.http.shapes import Compared, Moved
from frontrank.specs import split

if TYPE_CHECKING:
    from frontrank.lab.purpose import Purpose

T = TypeVar("T")
HERE = "DIR"  # what the directory of a crawl is called in answers
MAX_TRIED = 8  # orderings of one simulation
PURPOSES = ("importance", "coverage", "votes", "topic")  # what a recommendation may be for: other purposes load scorers
MAX_OPEN = 4  # crawls that are only watched, kept from one question to the next
FRESH_S, FRESH_TIMES = 1.0, 10.0  # a watched crawl is read anew after this time, and this many times what reading it took
CLOSED = ("prior", "quality", "group", "oracle")  # they read files, load scorers, or need what is unknown in a crawl
WORDS = ("topic", "query", "start", "schedule", "suffix", "word", "l", "gamma", "omega")  # parameters that may be text
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")

_crawls: OrderedDict[str, tuple[Crawl, float, float]] = OrderedDict()  # crawl, when it was read, how long that took


def open_orderings() -> dict[str, Any]:
    """The orderings that may be asked for from outside."""
    return {name: ordering for name, ordering in orderings().items() if name not in CLOSED}


def ordering(spec: str) -> Policy:
    """The ordering of a specification that came from outside.

    >>> ordering("fpr:m=100").spec()
    'fpr:m=100'
    >>> ordering("fpr:trust=secret")
    Traceback (most recent call last):
    frontrank.errors.SpecError: parameter 'trust' must be a number here, got 'secret'
    """
    name, given = split(spec)
    known = open_orderings()
    parts = [key.partition(".")[0].partition("#")[0] for key in given] if name == "combine" else []
    for one in (name, *parts):
        if one not in known:
            raise SpecError(f"an ordering that can be tried here must be given, got {one!r}{nearest(one, known)}")
    for key, value in given.items():
        if key.rpartition(".")[2] not in WORDS and not NUMBER.fullmatch(value):
            raise SpecError(f"parameter {key!r} must be a number here, got {value!r}")
    return as_policy(spec)


def opening(what: Trusted, function: Callable[..., T], *given: Any) -> T:
    """A function that opens a crawl, in a process that trusts what the one that asks has trusted."""
    with trusting(what):
        return function(*given)


def watched(folder: str, method: str, given: tuple[Any, ...]) -> Any:
    """What a crawl in a directory says, be it at work or not: a method of crawl.inspect, called on one moment of it."""
    return getattr(_crawl(folder).inspect, method)(*given)


def tell(folder: str, verb: str, given: dict[str, Any]) -> bool:
    """Have a crawl do something, be it at work or not; False if it has not acted on it yet."""
    return inbox.send_command(Path(folder), verb, **given)


def simulate(folder: str, specs: list[str], budget: float) -> dict[str, Any]:
    """How soon other orderings find the important pages among those that a crawl has fetched."""
    from frontrank.lab.compare import compare as compare_on
    from frontrank.sources import load

    with _without(folder):
        runs = compare_on(load(folder), [ordering(spec) for spec in specs], budget=budget)
    figures: dict[str, Any] = fit(runs.json(), folder)
    return figures


def recommend(folder: str, text: str) -> dict[str, Any]:
    """Which ordering to take for a crawl like this one, by what it has fetched."""
    from frontrank.lab.recommend import recommend as recommend_on
    from frontrank.sources import load

    with _without(folder):
        found: dict[str, Any] = fit(recommend_on(load(folder), purpose_of(text), draws=2).json(), folder)
    return found


@contextmanager
def _without(folder: str) -> Iterator[None]:
    """Errors without the paths of our directories."""
    try:
        yield
    except StorageError:
        raise
    except InputError as error:
        raise InputError(str(error).replace(folder, HERE)) from None


def purpose_of(text: str) -> Purpose:
    """What a recommendation is for, as somebody outside may say it."""
    from frontrank.lab.purpose import Purpose

    purpose = Purpose.of(text)
    if purpose.name not in PURPOSES:
        raise InputError(f"for must be importance, coverage, votes or topic:WORDS, got {text!r}")
    return purpose


def fit(value: Any, folder: str) -> Any:
    """The same, fit for an answer: JSON has no infinity, and the paths of our directories stay here.

    >>> fit({"a": [1.5, float("nan")], "b": "explain /srv/c"}, "/srv/c")
    {'a': [1.5, None], 'b': 'explain DIR'}
    """
    if isinstance(value, dict):
        return {key: fit(one, folder) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [fit(one, folder) for one in value]
    if isinstance(value, str):
        return value.replace(folder, HERE)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def notes(folder: str) -> dict[str, Any]:
    return _crawl(folder).notes


def as_of(folder: str) -> float:
    """When the crawl was read that answers are about, in seconds since 1970."""
    _crawl(folder)
    return time.time() - (time.monotonic() - _crawls[folder][1])


def running(folder: str) -> bool:
    return is_locked(Path(folder))


def explain(folder: str, url: str, queue: str | None = None) -> dict[str, Any] | None:
    """Why a page is where it is in the queue; None if it is not known."""
    with Crawl.recover(folder, read_only=True) as crawl:
        page = crawl.lookup(url, queue)
        return crawl.inspect.explain(url, queue) if is_known(crawl.state, page) else None


def compare(folder: str, spec: str, n: int) -> Compared:
    """The head of the queue under another ordering beside the one that it has, at one moment of the crawl."""
    policy = ordering(spec)
    with closing(Journal.open(Path(folder), read_only=True)) as log:
        before = Crawl.recover(log, read_only=True)
        check_live(policy, queries=first_workload(log) is not None)
        after = Crawl.recover(log, policy, read_only=True, rescore=True, names_of=before)
        return _compared(before, after, n)


def _compared(before: Crawl, after: Crawl, n: int) -> Compared:
    first, then = _order(before), _order(after)
    place_before, place = _places(first, before.inspect.known), _places(then, after.inspect.known)

    def moved(page: int) -> Moved:
        now, was = int(place[page]), int(place_before[page])
        return Moved(url=after.url(page), place=now or None, place_before=was or None)

    head, old = then[:n].tolist(), first[:n].tolist()
    return Compared(
        policy=after.state.policy.spec(),
        policy_before=before.state.policy.spec(),
        pages=len(head),
        shared=len(set(head) & set(old)),
        head=[moved(page) for page in head],
        leaving=[moved(page) for page in old if page not in set(head)],
    )


def _order(crawl: Crawl) -> Array:
    """All waiting pages, the next first."""
    count = crawl.state.frontier.counts.waiting - crawl.state.frontier.counts.later
    return crawl.state.frontier.best(max(count, 1))


def _places(order: Array, known: int) -> Array:
    """The place of each page, from 1; 0 if it does not wait."""
    places = np.zeros(known, np.int64)
    places[order] = np.arange(1, order.size + 1)
    return places


def forget(folder: str) -> None:
    """Something was changed: the crawl is read anew."""
    opened = _crawls.pop(folder, None)
    if opened is not None:
        opened[0].close()


def _crawl(folder: str) -> Crawl:
    opened = _crawls.pop(folder, None)
    known = opened is not None
    if opened is not None:
        crawl, at, took = opened
        if time.monotonic() - at < max(FRESH_S, FRESH_TIMES * took):
            _crawls[folder] = opened
            return crawl
        crawl.close()
    begun = time.monotonic()
    crawl = Crawl.recover(folder, read_only=True)
    took = time.monotonic() - begun if known else 0.0  # the first time compiles kernels
    _crawls[folder] = (crawl, time.monotonic(), took)
    while len(_crawls) > MAX_OPEN:
        _crawls.popitem(last=False)[1][0].close()
    return crawl
