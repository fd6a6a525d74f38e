"""Policy: an online ordering. A frozen value: what each event does to columns of state; out come priorities.

A policy is a frozen dataclass whose fields are its parameters, with kernels for its events:

    on_seed(state, page, weight) -> key           a seed is discovered; the weights of all seeds add up to 1
    on_fetch(state, links, page, out) -> count    a page was fetched: write (page, key) pairs to out, return how many
    on_start(state, out) -> count                 (optional) all seeds are known: priorities that follow from them together
    on_revisit(state, links, page, out) -> count  (optional) a page that was fetched before arrives again, with its new links
    done(state) -> bool                           (optional) a stopping rule of the ordering's own

Larger keys are fetched sooner, among equal keys the page discovered first. The engine owns the queue: a policy never
pops, knows no URL, no clock, no file. What it may read: ``state.fetched``, its own columns, its parameters, the links of
pages fetched so far, and the values it *needs*:

    needs       gives                       computed by
    "hosts"     state.host[page]            the engine: a number for each host
    "urls"      state.url_value[page]       policy.url_value(url), when the page is discovered
    "anchors"   links.value[link]           policy.anchor_value(anchor), when its source is fetched
    "texts"     state.text_value[page]      policy.text_value(title, text), when the page is fetched
    "scores"    state.quality[page]         the scorer named by policy.scorer, when the page is fetched
    "truth"     state.truth[page]           an importance metric of the whole web; in simulations only
    "impact"    the view of rescore         observed clicks or views of fetched pages
    "queries"   the view of rescore         what searchers ask, and what an engine over fetched pages shows them

What on_fetch must keep: every link of the page that was not known before is written to out, in row order (that is its
discovery); no page more than twice; keys are finite. ``frontrank.checks`` tests all of this for your own ordering. on_revisit
need not write every page: new pages that it does not write wait behind all that are ranked.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from frontrank.errors import SpecError
from frontrank.kernels.growing import grown
from frontrank.kernels.jit import Array, Column, Kernel, lean, state_type
from frontrank.orderings.parameters import Parameters
from frontrank.pages.scorers import LOWEST, Judged
from frontrank.web.importance import importance
from frontrank.web.links import Links
from frontrank.web.quality import scores_of
from frontrank.web.web import Web

if TYPE_CHECKING:
    from frontrank.orderings.tracer import Tracer
    from frontrank.web.view import CrawlView

State = Any  # a namedtuple: fetched, what is needed, columns, parameters
NEEDS = ("hosts", "urls", "anchors", "texts", "scores", "truth")


class Out(NamedTuple):
    """Where on_fetch writes the pages whose priority it sets."""

    page: Array
    key: Array


def out_for(room: int, before: Out | None = None) -> Out:
    """Room for so many pages, at least; a large one grows where it lies, and what is never written takes no memory."""
    page, key = before or (np.empty(0, np.int32), np.empty(0))
    return Out(grown(page, room), grown(key, room))


@lean
def never(state: State) -> bool:
    return False


@lean
def nothing(state: State, out: Out) -> int:
    return 0


@lean
def unmoved(state: State, links: Links, page: int, out: Out) -> int:
    return 0


@lean
def zero(state: State, page: int, weight: float) -> float:
    return 0.0


@lean
def every_link(state: State, links: Links, page: int, out: Out) -> int:
    """All links of the page, all with one key: the order is the queue's own."""
    targets = links.target[links.start[page] : links.stop[page]]
    for j in range(targets.size):
        out.page[j] = targets[j]
        out.key[j] = 0.0
    return targets.size


INPUTS = {
    "hosts": ("host", Column(np.int32)),
    "urls": ("url_value", Column(np.float64)),
    "texts": ("text_value", Column(np.float64)),
    "scores": ("quality", Column(np.float64, np.nan)),  # NaN: nothing to judge, such as a redirect
    "truth": ("truth", Column(np.float64)),
}


@dataclass(frozen=True)
class Policy(Parameters):
    """Base of all online orderings. Subclass it, decorate with ``@dataclass(frozen=True)``, write the kernels."""

    columns: ClassVar[dict[str, Column]] = {}
    queue: ClassVar[str] = "heap"  # or "fifo", "lifo", when the order follows from discovery alone
    touches: ClassVar[str] = "links"  # or "known": on_fetch may touch pages beyond the links of the fetched one
    counters: ClassVar[dict[str, tuple[int, ...]]] = {}  # slots of columns that are no index: a snapshot may hold any number
    per_link: ClassVar[tuple[str, ...]] = ()  # columns that on_fetch touches for links; a simulation lays them together
    stops: ClassVar[dict[str, str]] = {}  # stopping rules: a gauge, and the parameter at which it stops the crawl
    needs_past_links: ClassVar[bool] = True  # on_fetch reads links of pages fetched earlier; a live crawl forgets them if not
    combines: ClassVar[bool] = True  # whether its keys can be added to others' (see combine)
    explained_by: ClassVar[str] = "that link to it"  # the fetched pages that a priority is explained by

    on_seed: ClassVar[Kernel] = staticmethod(zero)
    on_fetch: ClassVar[Kernel] = staticmethod(every_link)
    on_start: ClassVar[Kernel] = staticmethod(nothing)
    on_revisit: ClassVar[Kernel] = staticmethod(unmoved)
    done: ClassVar[Kernel] = staticmethod(never)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__dict__.get("reach") in ("links", "known"):
            warnings.warn(f"{cls.__name__}.reach is called touches since 0.2", DeprecationWarning, stacklevel=2)
            cls.touches = cls.__dict__["reach"]

    # What the policy reads ------------------------------------------------------------------------------------------
    def needs(self) -> frozenset[str]:
        """What it cannot do without: a web that lacks it is refused."""
        return frozenset()

    def optional_needs(self) -> frozenset[str]:
        """What it reads where the web knows it; where not, all pages have 0."""
        return frozenset()

    def parameters(self) -> dict[str, int | float]:
        """The numbers that kernels see as ``state.NAME``: by default all fields that are numbers."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, int | float)}

    def url_value(self, url: str) -> float:
        raise NotImplementedError

    def anchor_value(self, anchor: str) -> float:
        raise NotImplementedError

    def text_value(self, title: str, text: str) -> float:
        raise NotImplementedError

    def stepwise(self) -> bool:
        """Whether what anchors and texts tell depends on the pages fetched before. Then it is asked for page by page, by
        ``see_text`` and ``link_values``, when a page is fetched; a simulation is slower for it."""
        return False

    def link_values(self, state: State, anchors: Sequence[str], urls: Sequence[str]) -> Sequence[float]:
        """What the links of a fetched page tell; URLs are those of the targets, given if the ordering is stepwise."""
        return [self.anchor_value(anchor) for anchor in anchors]

    # What the engine calls ------------------------------------------------------------------------------------------
    def kernels(self) -> dict[str, Kernel]:
        return {event: getattr(type(self), event) for event in ("on_seed", "on_start", "on_fetch", "on_revisit", "done")}

    def layout(self) -> dict[str, Column]:
        """All arrays of the state."""
        needed = self.needs() | self.optional_needs()
        inputs = {name: column for need, (name, column) in INPUTS.items() if need in needed}
        return {"fetched": Column(np.uint8), **inputs, **self.columns}

    def bytes_for(self, pages: int, links: int) -> int:
        """The memory that a simulation takes beside the web, about: columns, frontier and order, and what ranking reads."""
        sizes = {name: np.dtype(column.dtype).itemsize for name, column in self.layout().items() if column.per == "page"}
        laid = self.per_link if len(self.per_link) > 1 else ()
        a_page: int = sum(sizes.values()) + 2 * sum(sizes[name] for name in laid)  # together, with gaps, beside
        reached = 24 * pages if self.touches == "known" else 0
        return (a_page + 24) * pages + reached + (16 * links if self.interval() else 0)

    def allocate(self, pages: int, hosts: int = 1) -> State:
        layout = self.layout()
        arrays = [c.new(hosts if c.per == "host" else pages) for c in layout.values()]
        numbers = self.parameters()
        return state_type((*layout, *numbers))(*arrays, *numbers.values())

    def enlarge(self, state: State, pages: int, hosts: int = 1) -> State:
        """The same state with room for more pages and hosts."""
        layout = self.layout()
        return state._replace(
            **{name: c.grown(getattr(state, name), hosts if c.per == "host" else pages) for name, c in layout.items()}
        )

    def expect(self, state: State, links: int) -> State:
        """The same state with room for what an ordering keeps of so many more links, if it keeps anything."""
        return state

    def share(self, state: State, fetched: Array) -> State:
        """The same state with this array of fetched marks: the parts of a combination have one in common."""
        return state._replace(fetched=fetched)

    def see_web(self, state: State, web: Web) -> None:
        """A whole web is known: note what its pages' names, texts and importance tell."""
        needed = self.needs() | {need for need in self.optional_needs() if web.has(need)}
        if "hosts" in needed:
            state.host[:] = web.hosts
        if "urls" in needed:
            state.url_value[:] = [self.url_value(url) for url in web.urls or ()]
        if "texts" in needed and not self.stepwise():
            titles = web.titles or [""] * web.pages
            state.text_value[:] = [self.text_value(*page) for page in zip(titles, web.texts or (), strict=True)]
        if "scores" in needed:
            state.quality[:] = scores_of(web, self.scorers()[0])
        if "truth" in needed:
            state.truth[:] = importance(web, getattr(self, "truth", "pagerank"))

    def see_pages(self, state: State, first: int, urls: Sequence[str], hosts: Array, truths: Sequence[float]) -> None:
        """Pages are discovered, numbered from first on: note what their names tell."""
        needed, stop = self.needs() | self.optional_needs(), first + len(urls)
        if "hosts" in needed:
            state.host[first:stop] = hosts
        if "urls" in needed:
            state.url_value[first:stop] = [self.url_value(url) for url in urls]
        if "truth" in needed:
            state.truth[first:stop] = truths

    def see_text(self, state: State, page: int, title: str, text: str) -> None:
        """A page is fetched: note what it says."""
        if "texts" in self.needs():
            state.text_value[page] = self.text_value(title, text)

    def scorers(self) -> tuple[str, ...]:
        """The scorers whose judgement of fetched pages it asks for."""
        return (getattr(self, "scorer", ""),) if "scores" in self.needs() else ()

    def see_scores(self, state: State, page: int, scores: Mapping[str, Judged]) -> None:
        """A page is fetched: note how good it is; one that a scorer failed on is worse than all others."""
        if "scores" in self.needs():
            judged = scores.get(self.scorers()[0], np.nan)
            state.quality[page] = LOWEST if isinstance(judged, str) else judged

    def stopping_at(self, gauge: str, share: float) -> Policy:
        """The same ordering, which stops when one of its gauges has reached a share; SpecError if it has no such rule."""
        if gauge not in self.stops:
            others = f"its rules are {', '.join(self.stops)}" if self.stops else "it has none; rankmass has coverage=SHARE"
            raise SpecError(f"{self.spec()}: stopping rule {gauge}={share:g} given, but {others}")
        return replace(self, **{self.stops[gauge]: share})

    # A batch part, for orderings that rank the whole frontier now and then --------------------------------------------
    def interval(self) -> int:
        """Rank the whole frontier anew after every so many fetches; 0 is never."""
        return 0

    def scores(self, view: CrawlView) -> Array:
        """A score for each known page, in order of discovery. It reads the view alone, so it may run beside the crawl."""
        raise NotImplementedError

    def rescore(self, state: State, view: CrawlView, scores: Array) -> Array:
        """The new keys of these pages, now that they have these scores."""
        return scores

    # What a person is told of a waiting page --------------------------------------------------------------------------
    def priority(self, state: State, page: int, key: float) -> float:
        """The priority of a page, where the key that it has in the queue stands for something else."""
        return key

    def givers(self, state: State, page: int, fetched: Array) -> tuple[list[tuple[int, float]], float] | None:
        """Which of these fetched pages gave which part of a page's priority, and what nobody gave.

        None if the parts can be seen when a page that links to it is fetched, as in most orderings.
        """
        return None

    def ranked_by(self, state: State, view: CrawlView, page: int) -> tuple[list[tuple[int, float]], dict[str, float]] | None:
        """The same for an ordering that ranks now and then, after a ranking of this view: what links gave, and named parts
        of what they did not give."""
        return None

    def tracer(self) -> Tracer | None:
        """What records, in a replay, where priorities come from: for an ordering that hands them on along many links."""
        return None

    # What is told afterwards ------------------------------------------------------------------------------------------
    def ranking(self, state: State) -> Array | None:
        """Scores of all pages after the crawl, if the ordering gives any but the order of fetching itself."""
        return None

    def gauges(self, state: State) -> dict[str, float]:
        """Numbers worth watching while the crawl runs."""
        return {}


Queue = Any  # a namedtuple of one of the kinds in frontiers


def pop(queue: Queue) -> int:  # open names of the drivers, bound when they are linked
    raise NotImplementedError


def put(queue: Queue, page: int, key: float) -> None:
    raise NotImplementedError


def put_all(queue: Queue, pages: Array, keys: Array) -> None:
    raise NotImplementedError


def look_ahead(queue: Queue, links: Links, fetched: Array, touched: Array) -> None:
    raise NotImplementedError


def remove(queue: Queue, page: int) -> None:
    raise NotImplementedError


def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
    raise NotImplementedError


def on_revisit(state: State, links: Links, page: int, out: Out) -> int:
    raise NotImplementedError


def done(state: State) -> bool:
    raise NotImplementedError


def on_seed(state: State, page: int, weight: float) -> float:
    raise NotImplementedError


def on_start(state: State, out: Out) -> int:
    raise NotImplementedError
