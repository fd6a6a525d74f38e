"""The contract of an ordering, as code: run it on your own ordering.

    from frontrank.checks import yield_checks
    for check in yield_checks(MyOrdering()):
        check()

Each check raises AssertionError, naming the ordering and what it broke. All registered orderings pass them.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from frontrank.crawl.crawl import Crawl
from frontrank.kernels.jit import Array, Kernel, compiled, interpreted
from frontrank.orderings.policy import Policy
from frontrank.orderings.ranker import UNRANKED
from frontrank.orderings.registry import REGISTRY, parse
from frontrank.orderings.stored import from_data, to_data
from frontrank.simulation.graph_driver import GraphDriver
from frontrank.simulation.simulate import simulate
from frontrank.sources.synthetic import synthetic
from frontrank.specs import write
from frontrank.web.importance import importance
from frontrank.web.view import Workload
from frontrank.web.web import Web

Check = Callable[[], None]
PAGES = 300


def yield_checks(policy: Policy, web: Web | None = None) -> Iterator[Check]:
    """All contracts as callables named after what they check. The web must know what the policy needs."""
    if web is None:
        web = searched(synthetic(f"pages={PAGES},links=6,text=1,seed=5"))
    for check in CHECKS:
        bound = partial(check, policy, web)
        bound.__name__ = check.__name__  # type: ignore[attr-defined]
        bound.__doc__ = check.__doc__
        yield bound


def searched(web: Web) -> Web:
    """The web with searchers: some queries, and how often each page is shown."""
    assert web.titles is not None
    words = [title.lower() for title in web.titles[:40]]
    draw = np.random.default_rng(7)
    views = np.floor(draw.pareto(1.0, web.pages)).clip(0, 100)
    return replace(web, views=views, queries=Workload(tuple(dict.fromkeys(words)), np.ones(len(dict.fromkeys(words)))))


def _seeds(web: Web) -> Array:
    return np.array([web.pages // 2, 0, web.pages // 3], np.int32)


def _order(policy: Policy, web: Web, jit: bool = True, steps: int = 1) -> Array:
    return simulate(web, policy, _seeds(web), jit=jit, steps=steps).trace.order


class References:
    """The orders that most checks compare with, of the ordering checked last: each is computed once."""

    def __init__(self, policy: Policy, web: Web) -> None:
        self.policy, self.web = policy, web
        self.names = [web.name_of(page) for page in range(web.pages)]

    @cached_property
    def simulated(self) -> Array:
        return _order(self.policy, self.web)

    @cached_property
    def live(self) -> list[str]:
        """The names of the pages in the order in which a live crawl that began with 16 slots fetched them."""
        return _crawled(self.policy, self.web, self.names, 16)


_last: list[References] = []


def _references(policy: Policy, web: Web) -> References:
    if not _last or _last[0].web is not web or _last[0].policy != policy:
        _last[:] = [References(policy, web)]
    return _last[0]


def _equal(policy: Policy, one: Array, other: Array, what: str) -> None:
    if not np.array_equal(one, other):
        shared = min(len(one), len(other))
        differ = np.flatnonzero(one[:shared] != other[:shared])
        at = int(differ[0]) if differ.size else shared
        raise AssertionError(f"{policy.spec()}: {what}; the orders part at place {at} of {len(one)} and {len(other)}")


def compiled_as_interpreted(policy: Policy, web: Web) -> None:
    """Compiled kernels fetch what the same code fetches when Python interprets it."""
    _equal(policy, _references(policy, web).simulated, _order(policy, web, jit=False), "compiled and interpreted runs differ")


def live_as_simulated(policy: Policy, web: Web) -> None:
    """One event at a time, from 16 slots, knowing only what events told: the same order as over the whole graph."""
    known = _references(policy, web)
    live = np.array([known.names.index(name) for name in known.live])
    _equal(policy, known.simulated, live, "live and simulated crawls differ")


def growth_is_invisible(policy: Policy, web: Web) -> None:
    """State that grows from 16 slots gives the order of state that was large enough from the start."""
    known = _references(policy, web)
    large = _crawled(policy, web, known.names, 4 * web.pages)
    _equal(policy, np.array(known.live), np.array(large), "a crawl that grew differs from one with room from the start")


def recovery_is_invisible(policy: Policy, web: Web) -> None:
    """A crawl that ends abruptly and is recovered from its directory, again and again, goes on as if nothing had been."""
    known = _references(policy, web)
    with tempfile.TemporaryDirectory(prefix="frontrank-check-") as folder:
        torn = _crawled(policy, web, known.names, 16, Path(folder, "crawl"), ends=7)
    _equal(policy, np.array(known.live), np.array(torn), "a recovered crawl goes on differently")


def _crawled(policy: Policy, web: Web, names: list[str], capacity: int, path: Path | None = None, ends: int = 0) -> list[str]:
    """Crawl the web event by event; with a directory, the crawl ends abruptly so many times and is recovered."""
    truth = None
    if "truth" in policy.needs():
        values = importance(web, getattr(policy, "truth", "pagerank"))
        truth = dict(zip(names, values.tolist(), strict=True)).__getitem__
    workload = web.queries if "queries" in policy.needs() else None
    crawl = Crawl(policy, path, capacity=capacity, truth=truth, workload=workload, sync_s=60.0)
    crawl.seed(names[page] for page in _seeds(web))
    number = {name: page for page, name in enumerate(names)}
    order: list[str] = []
    stops = {web.pages * i // (ends + 1) for i in range(1, ends + 1)}
    while taken := crawl.take():
        crawl.fetched(taken[0], **_page_of(web, names, number[taken[0]]))
        order.append(taken[0])
        if path is not None and len(order) in stops:
            if len(order) % 2:
                crawl.snapshot()  # so that the next recovery, or the one after it, starts from here
            crawl.abandon()
            crawl = Crawl.recover(path, policy, truth=truth, sync_s=60.0)
    crawl.abandon()
    return order


def _page_of(web: Web, names: list[str], page: int) -> dict[str, Any]:
    first = int(web.indptr[page])
    anchors = web.anchors
    return {
        "links": [
            (names[q], "" if anchors is None else anchors[first + j]) for j, q in enumerate(web.targets_of(page).tolist())
        ],
        "title": "" if web.titles is None else web.titles[page],
        "text": "" if web.texts is None else web.texts[page],
        "impact": 0.0 if web.views is None else float(web.views[page]),
    }


def chunking_is_invisible(policy: Policy, web: Web) -> None:
    """Fetching in many small runs gives the order of one long run."""
    stepped = _order(policy, web, steps=web.pages)
    _equal(policy, _references(policy, web).simulated, stepped, "the order depends on the size of steps")


def seeded_twice_equal(policy: Policy, web: Web) -> None:
    """The same crawl twice is the same crawl."""
    _equal(policy, _references(policy, web).simulated, _order(policy, web), "two runs of the same crawl differ")


def relabelling_is_invisible(policy: Policy, web: Web) -> None:
    """How pages are numbered changes nothing but the numbers."""
    number = np.random.default_rng(3).permutation(web.pages).astype(np.int32)
    other = relabelled(web, number)
    order = simulate(other, policy, number[_seeds(web)]).trace.order
    _equal(policy, number[_references(policy, web).simulated], order, "the order depends on how pages are numbered")


def relabelled(web: Web, number: Array) -> Web:
    """The same web with page p called number[p]."""
    old = np.argsort(number)
    lengths = web.out_degree()[old]
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    at = np.concatenate([np.arange(web.indptr[p], web.indptr[p + 1]) for p in old]) if web.links else np.empty(0, int)
    columns = {
        column: [getattr(web, column)[int(p)] for p in old]
        for column in ("urls", "titles", "texts")
        if getattr(web, column) is not None
    }
    if web.anchors is not None:
        columns["anchors"] = [web.anchors[int(j)] for j in at]
    return Web(
        indptr,
        number[web.targets[at]].astype(np.int32),
        hosts=None if web.hosts is None else web.hosts[old],
        views=None if web.views is None else web.views[old],
        queries=web.queries,
        host_names=web.host_names,
        name=web.name,
        **columns,  # type: ignore[arg-type]
    )


def replay_restores_the_state(policy: Policy, web: Web) -> None:
    """Following the order of a crawl event by event restores its state and queue, bit for bit."""
    crawled, followed = GraphDriver(policy, web), GraphDriver(policy, web)
    for engine in (crawled, followed):
        engine.seed(_seeds(web))
    order = np.empty(web.pages, np.int32)
    half = crawled.run(order, 0, web.pages // 2)
    again = order.copy()
    followed.follow(again[:half])
    ends = [engine.run(orders, half, web.pages) for engine, orders in ((crawled, order), (followed, again))]
    _equal(policy, order[: ends[0]], again[: ends[1]], "a replayed crawl goes on differently")
    for one, other in zip(_arrays(crawled.state), _arrays(followed.state), strict=True):
        assert one.tobytes() == other.tobytes(), f"{policy.spec()}: replay leaves a different state"


def _arrays(state: object) -> Iterator[Array]:
    assert isinstance(state, tuple)
    for name, value in zip(getattr(state, "_fields", ()), state, strict=True):
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple) and not name.startswith("out_"):  # those hold only what was written last
            yield from _arrays(value)


def priorities_are_finite(policy: Policy, web: Web) -> None:
    """Every key that an event writes is a finite number, for a page of the web, at most twice in one event."""
    engine = GraphDriver(policy, web, jit=False)
    on_fetch = interpreted(policy.kernels()["on_fetch"])
    engine.seed(_seeds(web))
    order = _references(policy, web).simulated[:50]
    for page in order.tolist():
        engine.state.fetched[page] = 1
        count = on_fetch(engine.state, engine.links, page, engine.out)
        pages, keys = engine.out.page[:count], engine.out.key[:count]
        assert np.isfinite(keys).all(), f"{policy.spec()}: a key is not finite after page {page}"
        assert ((pages >= 0) & (pages < web.pages)).all(), f"{policy.spec()}: a written page is not a page of the web"
        assert np.bincount(pages, minlength=1).max() <= 2, f"{policy.spec()}: a page is written more than twice"


def revisits_are_events(policy: Policy, web: Web) -> None:
    """Pages come back with other links, one with its first, and one comes that nobody told of: keys are finite, compiled and
    interpreted runs leave the same state, and the crawl goes on, each page once."""
    states = []
    for jit in (True, False):
        engine = GraphDriver(policy, web, jit=jit)
        order = _with_revisits(engine, compiled if jit else interpreted)
        assert len(np.unique(order)) == len(order), f"{policy.spec()}: a page is fetched twice after others came back"
        states.append((order, [array.tobytes() for array in _arrays(engine.state)]))
    _equal(policy, states[0][0], states[1][0], "compiled and interpreted runs differ after pages came back")
    assert states[0][1] == states[1][1], f"{policy.spec()}: compiled and interpreted revisits leave different states"


def _with_revisits(engine: GraphDriver, link: Callable[[Kernel], Kernel]) -> Array:
    web, policy = engine.web, engine.policy
    on_revisit, put = link(policy.kernels()["on_revisit"]), link(engine.kind.put)
    engine.seed(_seeds(web))
    order = np.empty(web.pages, np.int32)
    reached = engine.run(order, 0, min(40, web.pages))
    known = {*_seeds(web).tolist(), *(q for page in order[:reached] for q in web.targets_of(page).tolist())}
    for page in order[:reached:2].tolist():
        other = (page * 7 + 3) % web.pages  # whose links it has now
        if page in web.targets_of(other):
            continue
        start, stop = engine.links.start.copy(), engine.links.stop.copy()
        start[page], stop[page] = start[other], stop[other]
        count = on_revisit(engine.state, engine.links._replace(start=start, stop=stop), page, engine.out)
        pages, keys = engine.out.page[:count].copy(), engine.out.key[:count].copy()
        assert np.isfinite(keys).all(), f"{policy.spec()}: a key is not finite after page {page} came back"
        assert np.bincount(pages, minlength=1).max() <= 2, f"{policy.spec()}: a page is written more than twice"
        unwritten = [q for q in web.targets_of(other).tolist() if q not in known and q not in pages]
        for q, key in (*zip(pages.tolist(), keys.tolist(), strict=True), *((q, UNRANKED) for q in unwritten)):
            put(engine.queue, q, key)
        known.update(pages.tolist(), unwritten)
    again = int(order[reached // 2])  # it had no links at first, and is seen for the first time with some
    count = link(policy.kernels()["on_fetch"])(engine.state, engine.links, again, engine.out)
    for q, key in zip(engine.out.page[:count].tolist(), engine.out.key[:count].tolist(), strict=True):
        put(engine.queue, q, key)
    stranger = min(set(range(web.pages)) - known, default=None)
    if stranger is not None and reached < web.pages:
        put(engine.queue, stranger, UNRANKED)
        order[reached] = stranger
        engine.follow(order[reached : reached + 1])
        reached += 1
    return order[: engine.run(order, reached, web.pages)]


def every_page_once(policy: Policy, web: Web) -> None:
    """No page is fetched twice, and unless a stopping rule holds all that can be reached is fetched."""
    trace = simulate(web, policy, _seeds(web)).trace
    assert len(np.unique(trace.order)) == trace.fetched, f"{policy.spec()}: a page is fetched twice"
    if trace.ended == "stopping rule":
        return
    reached = np.zeros(web.pages, bool)
    stack = _seeds(web).tolist()
    while stack:
        page = stack.pop()
        if not reached[page]:
            reached[page] = True
            stack.extend(web.targets_of(page).tolist())
    expected = int(reached.sum())
    assert trace.fetched == expected, f"{policy.spec()}: {expected} pages can be reached, {trace.fetched} fetched"


def stored_and_read_back(policy: Policy, web: Web) -> None:
    """As data, and as a specification, it is read back as the same ordering; classes inside functions cannot be."""
    data = json.loads(json.dumps(to_data(policy)))
    if "<locals>" in json.dumps(data):
        return
    assert from_data(data) == policy, f"{policy.spec()}: stored as data, {from_data(data)} is read back"
    named = REGISTRY.known(policy.called()) is not None or ":" in policy.called()
    spec = policy.spec() if named else write(data["name"], policy.given())
    assert parse(spec) == policy, f"{policy.spec()}: the specification is read back as {parse(spec)}"


def documented(policy: Policy, web: Web) -> None:
    """The class says in its docstring what it does, with a first line of its own."""
    from frontrank.orderings.ranker import Periodic

    ordering = type(policy.ranker) if isinstance(policy, Periodic) else type(policy)
    text = (ordering.__doc__ or "").strip()
    assert text and not text.startswith(f"{ordering.__name__}("), f"{policy.spec()}: the class has no docstring"
    assert len(text.splitlines()[0]) <= 120, f"{policy.spec()}: the first line of the docstring is too long"


CHECKS = (
    compiled_as_interpreted,
    live_as_simulated,
    growth_is_invisible,
    recovery_is_invisible,
    chunking_is_invisible,
    seeded_twice_equal,
    relabelling_is_invisible,
    replay_restores_the_state,
    priorities_are_finite,
    revisits_are_events,
    every_page_once,
    stored_and_read_back,
    documented,
)
