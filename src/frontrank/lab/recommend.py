"""recommend: which ordering for this web and this wish? Tried, over several draws of seeds, not guessed.

    wish          measured as, after the budget                                        an ordering must know
    importance    hot: share of the k pages of the greatest PageRank (cho98's P_CS)     -
    quality       scores of what was fetched, over the most possible; by the scorer     texts
                  words, or another: quality:rules
    votes         links from other hosts to what was fetched, over the most possible    hosts, more than one
    topic:WORDS   pages about the topic, over the most that so many pages can be        titles or texts
    searchers     true impact of the first 10% of a frontier, over the ideal            views, clicks or queries
    coverage      the share of personalised PageRank that is guaranteed to be fetched   -

A draw is a set of random seeds; every ordering starts from the same. Orderings whose mean lies within the best one's spread
(standard deviation over the draws) are ties; of these the cheapest is recommended, as the difference may be chance.

Cost: a crawl of a tenth of the web (at most 100,000 pages) for each ordering and draw. A draw that would end more than a
minute after the first is not begun, but two are made at least.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from time import perf_counter
from typing import Any

import numpy as np

from frontrank.errors import FrontrankError, InputError, SpecError, nearest
from frontrank.lab.evaluate import ranker_of, score_ranker, stage
from frontrank.lab.frame import Column, Frame, Tabular
from frontrank.lab.measures import hot, mass
from frontrank.lab.options import RecommendOptions
from frontrank.options import check_options
from frontrank.orderings.online.group import Group
from frontrank.orderings.online.quality import Quality
from frontrank.orderings.online.similarity import Similarity
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import parse
from frontrank.pages.scorers import find as find_scorer
from frontrank.simulation.engine import check_needs
from frontrank.simulation.plan import Budget, Stop
from frontrank.simulation.simulate import Run, simulate
from frontrank.sources.imported_crawl import is_crawl_directory
from frontrank.web.importance import importance
from frontrank.web.seeds import find_seeds
from frontrank.web.view import Workload
from frontrank.web.web import Web

Progress = Callable[[str, int, int], None]
WISHES = ("importance", "quality", "votes", "topic", "searchers", "coverage")
MIN_DRAWS = 2
LIMIT_S = 60.0  # no further draw is begun after that
SHARE, MAX_PAGES = 0.1, 100_000
SEEDS_SHARE, MIN_SEEDS, MAX_SEEDS = 0.001, 10, 1000
RANKINGS = 20  # of the whole frontier, within the budget
CRAWLED = 0.3  # of the web, before a frontier is ranked for searchers
FIRST = 0.1  # of a frontier
MAX_QUERIES = 10_000

# What a decision costs: a queue; some work for each link; a cascade, or a pass over all links now and then; a search engine.
QUEUE, LINKS, PASSES, SEARCH = 1, 2, 3, 4
COSTS = {"bfs": QUEUE, "rankmass": PASSES, "surf": PASSES, "pagerank": PASSES, "rw": PASSES, "rw-eg": PASSES}
COSTS |= {"q-overlap": SEARCH, "q-hybrid": SEARCH, "fusion": SEARCH}
HOSTED = ("fpr:m=100", "largest-site")


@dataclass(frozen=True)
class Wish:
    """What a crawl is for: one of ``WISHES``, and of a topic its words, of quality a scorer.

    >>> Wish.of("topic:new york").topic, Wish.of("quality").scorer, Wish.of("quality:rules").scorer
    ('new york', 'words', 'rules')
    """

    name: str
    topic: str = ""
    scorer: str = ""

    @classmethod
    def of(cls, text: str) -> Wish:
        name, colon, topic = text.partition(":")
        if name not in WISHES:
            raise SpecError(f"--for {text!r} given{nearest(name, WISHES)}")
        if name == "quality" and (topic.strip() or not colon):
            find_scorer(topic.strip() or "words")
            return cls(name, scorer=topic.strip() or "words")
        if (name == "topic") != bool(topic.strip()) or (colon and name != "topic"):
            raise SpecError(f"--for {text!r} given; write topic:WORDS, or {', '.join(w for w in WISHES if w != 'topic')}")
        return cls(name, topic.strip())

    @property
    def metric(self) -> str:
        """The importance that pages are judged by."""
        if self.name == "topic":
            return Similarity(topic=self.topic).spec()
        if self.name == "quality":
            return Quality(scorer=self.scorer).truth
        return "votes" if self.name == "votes" else "pagerank"

    def __str__(self) -> str:
        return f"{self.name}:{self.topic or self.scorer}" if self.topic or self.scorer else self.name


@dataclass(frozen=True)
class Tried:
    """What one ordering reached in each draw."""

    spec: str
    values: tuple[float, ...]
    seconds: float  # of deciding, on average
    tie: bool = False

    @property
    def mean(self) -> float:
        return fmean(self.values)

    @property
    def spread(self) -> float:
        return stdev(self.values) if len(self.values) > 1 else 0.0

    @property
    def cost(self) -> int:
        return COSTS.get(self.spec.partition(":")[0], LINKS)


@dataclass(frozen=True, eq=False)
class Recommendation(Tabular):
    """Orderings tried on one web, best first, and the one to take."""

    web: Web
    wish: Wish
    tried: tuple[Tried, ...]
    left_out: dict[str, str]  # orderings that do not apply, and why
    measured: str
    draws: int
    asked: int  # draws
    seeds: int
    next: tuple[str, ...]  # commands

    @property
    def recommended(self) -> Tried:
        """Of the ties with the best the cheapest; of equally cheap ones the better."""
        return min((one for one in self.tried if one.tie), key=lambda one: (one.cost, -one.mean))

    def why(self) -> str:
        best, chosen = self.tried[0], self.recommended
        ties = sum(one.tie for one in self.tried)
        if ties == 1:
            second = f", {best.mean - self.tried[1].mean:.3f} above the next" if len(self.tried) > 1 else ""
            return f"best{second}; no other is within its spread"
        if chosen is best:
            return f"best; {ties - 1} more within its spread, none of them cheaper"
        return f"within the spread of the best ({best.spec}), and the cheapest of the {ties} that are"

    def frame(self) -> Frame:
        """The orderings as a table, the best first."""
        web, rows = self.web, self.tried
        hosts = "" if web.hosts is None else f", hosts: {hosts_of(web):,}"
        marks = ["best" if at == 0 else "tie" if one.tie else "" for at, one in enumerate(rows)]
        columns = (
            Column("ordering", [one.spec for one in rows]),
            Column("reached", [one.mean for one in rows], "share", "more", spread=[one.spread for one in rows]),
            Column("verdict", marks),
            Column("seconds", [one.seconds for one in rows], "seconds", "less"),
        )
        less = f" (not {self.asked}: a minute was up)" if self.draws < self.asked else ""
        notes = [f"reached: {self.measured}; mean and spread over {self.draws} draws{less} of {self.seeds:,} random seeds"]
        notes += ["tie: within the spread of the best", *(f"not tried: {spec}: {why}" for spec, why in self.left_out.items())]
        if web.crawled_with:
            notes.append(f"tried on the pages that {web.crawled_with} fetched: pages it did not fetch cannot be judged")
        knows = ", ".join(known(web)) or "its links alone"
        title = f"{web.name}: {web.pages:,} pages, {web.links:,} links{hosts}; knows {knows}"
        return Frame(columns, title, tuple(notes), sorted_by="reached")

    def json(self) -> dict[str, Any]:
        return {
            "for": str(self.wish),
            "web": {"pages": self.web.pages, "links": self.web.links, "hosts": hosts_of(self.web), "knows": known(self.web)},
            "measured": self.measured,
            "draws": self.draws,
            "seeds": self.seeds,
            "orderings": {
                one.spec: {
                    "mean": one.mean,
                    "spread": one.spread,
                    "values": list(one.values),
                    "seconds": one.seconds,
                    "tie": one.tie,
                }
                for one in self.tried
            },
            "left_out": self.left_out,
            "recommended": self.recommended.spec,
            "why": self.why(),
            "next": list(self.next),
        }


def hosts_of(web: Web) -> int | None:
    return None if web.hosts is None else len(np.unique(web.hosts))


def known(web: Web) -> list[str]:
    """What a web knows beside its links."""
    found = [
        column for column in ("hosts", "urls", "titles", "texts", "anchors", "seeds", "views", "clicks") if web.has(column)
    ]
    return [*found, "queries"] if web.queries is not None else found


def candidates(web: Web, wish: Wish, pages: int) -> list[str]:
    """The orderings worth trying for a wish, whether or not this web can feed them."""
    if wish.name == "searchers":
        return ["indegree", "pagerank", "rw", "rw-eg", "q-overlap", "q-hybrid", "fusion"]
    if wish.name == "coverage":
        return ["rankmass", "rankmass:window=0.05"]
    if wish.name == "topic":
        alone = [Similarity(topic=wish.topic, inner=inner).spec() for inner in ("bfs", "backlink")]
        near = Similarity(topic=wish.topic, distance=1).spec()
        return ["bfs", "backlink", "fpr", *alone, near, *_by_scores(f"topic:{wish.topic}", anchor=1.0)]
    if wish.name == "quality":
        return ["bfs", "fpr", *_by_scores(wish.scorer), Quality(scorer=wish.scorer, inherit="first").spec()]
    shared = ["bfs", "backlink", "opic", "fpr", *HOSTED, "rankmass", "surf"]
    if wish.name == "votes":
        return [*shared, "domains"]
    return [*shared, f"fica:k={max(1, web.pages // 72)}", f"pagerank:every={max(1, pages // RANKINGS)}"]


def _by_scores(scorer: str, anchor: float = 0.0) -> list[str]:
    return [Quality(scorer=scorer, anchor=anchor).spec(), Group(scorer=scorer).spec()]


def recommend(
    web: Web,
    wish: Wish | str = "importance",
    draws: int = RecommendOptions.draws,
    budget: Budget = None,
    seeds: int | None = None,
    workload: Workload | None = None,
    progress: Progress | None = None,
    queries: str = "",
    clock: Callable[[], float] = perf_counter,
    policies: Sequence[str] = (),
) -> Recommendation:
    """Try the orderings that this web can feed, and say which to take.

    ``policies`` are tried beside the usual candidates; ``queries`` is how the workload was named.
    """
    wish = Wish.of(wish) if isinstance(wish, str) else wish
    check_options(RecommendOptions, draws=draws, seeds=seeds)
    for spec in policies:
        ranker_of(spec)  # a wrong name is refused before the work
    count = seeds if seeds is not None else int(np.clip(web.pages * SEEDS_SHARE, MIN_SEEDS, MAX_SEEDS))
    count = min(count, web.pages)
    if workload is not None:
        web = replace(web, queries=workload)
    _check(web, wish)
    stop = min(MAX_PAGES, Stop(SHARE).pages(web.pages)) if budget is None else Stop(budget).pages(web.pages)
    specs, left_out = _applicable(web, wish, (*candidates(web, wish, stop), *policies))
    measured = _searchers if wish.name == "searchers" else _crawled
    tried: dict[str, list[tuple[float, float]]] = {spec: [] for spec in specs}
    begun, made = 0.0, 0
    for draw in range(1, draws + 1):
        for at, (spec, value, seconds) in enumerate(measured(web, wish, specs, f"random:{count}@{draw}", stop)):
            tried[spec].append((value, seconds))
            if progress is not None:
                progress(f"draw {draw} of {draws}: {spec}", (draw - 1) * len(specs) + at + 1, draws * len(specs))
        made = draw
        if draw == 1:
            begun = clock()  # the first draw also compiles kernels and computes importance
        elif draw >= MIN_DRAWS and (clock() - begun) * draw / (draw - 1) > LIMIT_S:
            break
    rows = _ranked({spec: Tried(spec, *_columns(values)) for spec, values in tried.items()})
    how = _how(web, wish, stop)
    done = Recommendation(web, wish, rows, left_out, how, made, draws, count, ())
    return replace(done, next=tuple(_next(done, count, stop, queries)))


def _check(web: Web, wish: Wish) -> None:
    """InputError if the wish cannot be judged on this web, whatever the ordering."""
    if wish.name == "votes" and (hosts_of(web) or 0) < 2:
        lacks = "knows no hosts" if web.hosts is None else "has one host"
        raise InputError(f"votes are links from other hosts, but {web.name} {lacks}; ask --for importance")
    if wish.name == "quality" and web.texts is None:
        raise InputError(f"quality is what stands on pages, but {web.name} knows no texts; ask --for importance or votes")
    if wish.name == "topic":
        importance(web, wish.metric)  # says what is missing, or that no page is about it
    if wish.name == "searchers" and web.impact is None and _log(web) is None:
        lacks = "neither views nor clicks nor queries" if web.queries is None else "neither titles nor texts to search"
        raise InputError(f"{web.name} knows {lacks}; give a web with views or clicks, or with texts and --queries FILE")


def _applicable(web: Web, wish: Wish, wanted: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    specs: list[str] = []
    left_out: dict[str, str] = {}
    for spec in dict.fromkeys(wanted):
        try:
            if wish.name == "searchers":
                if "queries" in ranker_of(spec).needs() and _log(web) is None:
                    raise InputError("driven by queries, but there is no query log, or there are no titles or texts to search")
            else:
                check_needs(parse(spec), web)
                if wish.name == "coverage" and not _guarantees(spec):
                    raise InputError("does not guarantee a coverage")
            if spec in HOSTED and (hosts_of(web) or 0) < 2:
                raise InputError("one host, so no link leads to another")
        except InputError as error:
            left_out[spec] = (
                str(error).removeprefix(f"{spec} ").partition(";")[0] if "needs a web" in str(error) else str(error)
            )
            continue
        specs.append(spec)
    return specs, left_out


def _guarantees(spec: str) -> bool:
    try:
        Stop(until="coverage=0.5").given_to(parse(spec))
    except FrontrankError:
        return False
    return True


def _crawled(web: Web, wish: Wish, specs: list[str], seeds: str, pages: int) -> Iterator[tuple[str, float, float]]:
    start = find_seeds(web, seeds)
    for spec in specs:
        policy = parse(spec)
        run = simulate(web, policy, start, pages)
        yield spec, _value(web, wish, run, policy, pages), run.seconds


def _value(web: Web, wish: Wish, run: Run, policy: Policy, pages: int) -> float:
    if wish.name == "coverage":
        return float(run.trace.gauges["coverage"][-1][1])
    share = pages / web.pages
    if wish.name == "importance":
        reached = hot(run.trace, web, [share])[share]
    else:
        reached = mass(run.trace, web, [share], wish.metric)[share]
    assert reached is not None, f"{policy.spec()} stopped by itself"
    return reached


def _searchers(web: Web, wish: Wish, specs: list[str], seeds: str, pages: int) -> Iterator[tuple[str, float, float]]:
    scene = stage(web, _log(web), f"bfs:{CRAWLED}", seeds)
    for spec in specs:
        found = score_ranker(scene, ranker_of(spec), spec, (FIRST,))
        yield spec, found.impact[FIRST], found.seconds


def _log(web: Web) -> Workload | None:
    """The queries, if there is something to search: an engine then tells the truth that rankers are judged by.

    A sample of them, where there are very many: searching all pages takes most of the time.
    """
    asked: Workload | None = web.queries if web.has("texts") or web.has("titles") else None
    if asked is None or len(asked) <= MAX_QUERIES:
        return asked
    kept = np.sort(np.random.default_rng(0).choice(len(asked), MAX_QUERIES, replace=False))
    return asked.only(kept, asked.frequency[kept])


def _columns(values: list[tuple[float, float]]) -> tuple[tuple[float, ...], float]:
    return tuple(value for value, _ in values), fmean(seconds for _, seconds in values)


def _ranked(tried: dict[str, Tried]) -> tuple[Tried, ...]:
    rows = sorted(tried.values(), key=lambda one: -one.mean)
    return tuple(replace(one, tie=rows[0].mean - one.mean <= rows[0].spread) for one in rows)


def _how(web: Web, wish: Wish, pages: int) -> str:
    after = f"after {pages:,} pages ({pages / web.pages:.0%})"
    return {
        "importance": f"share of the {pages:,} pages of the greatest PageRank, {after}",
        "quality": f"scores of the fetched pages by {wish.scorer}, over the most possible {after}",
        "votes": f"links from other hosts to the fetched pages, over the most possible {after}",
        "topic": f"pages about {wish.topic!r}, over the most possible {after}",
        "coverage": f"personalised PageRank that is guaranteed to be fetched {after}",
        "searchers": f"impact of the first {FIRST:.0%} of the frontier over the ideal, {CRAWLED:.0%} of the web fetched",
    }[wish.name]


def _next(done: Recommendation, seeds: int, pages: int, queries: str) -> Iterator[str]:
    """What to type next, as it can be pasted."""
    web, spec = done.web, done.recommended.spec
    source = web.source or web.name
    if web.crawled_with and done.wish.name != "searchers":
        yield shlex.join(["frontrank", "crawl", "--resume", source, "--ordering", spec, "--rescore"])
    elif done.wish.name == "searchers" and (web.crawled_with or is_crawl_directory(web.source)):
        yield shlex.join(["frontrank", "rank", source, "--ordering", spec])
    elif done.wish.name == "searchers":
        log = ["--queries", queries] if queries else []
        yield shlex.join(["frontrank", "evaluate", source, *log, "--seeds", f"random:{seeds}@1", "--ordering", spec])
    else:
        more = ["--metric", done.wish.metric] if done.wish.metric != "pagerank" else []
        against = [] if spec == "bfs" or done.wish.name == "coverage" else ["--ordering", "bfs"]
        given = ["--ordering", spec, *against, "--seeds", f"random:{seeds}@1", "--budget", str(pages), *more]
        yield shlex.join(["frontrank", "simulate", source, *given])
    if not web.crawled_with and done.wish.name != "searchers":
        yield shlex.join(["frontrank", "crawl", "https://site.example/", "--ordering", spec, "--out", "my-crawl"])
