"""Purposes: what a crawl is for, the orderings worth trying for it, and whether a web knows enough to measure it.

purpose       measured as, after the budget                                        an ordering must know
importance    hot: share of the k pages of the greatest PageRank (cho98's P_CS)     -
quality       scores of what was fetched, over the maximum; by the scorer     texts
              words, or another: quality:rules
votes         links from other hosts to what was fetched, over the maximum    hosts, more than one
topic:WORDS   pages about the topic, over the maximum for as many pages        titles or texts
searchers     true impact of the first 10% of a frontier, over the ideal            views, clicks or queries
coverage      the share of personalised PageRank that is guaranteed to be fetched   -
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from frontrank.errors import FrontrankError, InputError, SpecError, nearest
from frontrank.lab.scenario import ranker_of
from frontrank.orderings.online.group import Group
from frontrank.orderings.online.quality import Quality
from frontrank.orderings.online.similarity import Similarity
from frontrank.orderings.registry import parse
from frontrank.pages.scorers import find as find_scorer
from frontrank.simulation.graph_driver import check_needs
from frontrank.simulation.plan import Stop
from frontrank.web.importance import importance
from frontrank.web.view import Workload
from frontrank.web.web import Web

PURPOSES = ("importance", "quality", "votes", "topic", "searchers", "coverage")
RANKINGS = 20  # of the whole frontier, within the budget
CRAWLED = 0.3  # of the web, before a frontier is ranked for searchers
FIRST = 0.1  # of a frontier
MAX_QUERIES = 10_000
HOSTED = ("fpr:m=100", "largest-site")


@dataclass(frozen=True)
class Purpose:
    """What a crawl is for: one of ``PURPOSES``, and of a topic its words, of quality a scorer.

    >>> Purpose.of("topic:new york").topic, Purpose.of("quality").scorer, Purpose.of("quality:rules").scorer
    ('new york', 'words', 'rules')
    """

    name: str
    topic: str = ""
    scorer: str = ""

    @classmethod
    def of(cls, text: str) -> Purpose:
        name, colon, topic = text.partition(":")
        if name not in PURPOSES:
            raise SpecError(f"--for {text!r} given{nearest(name, PURPOSES)}")
        if name == "quality" and (topic.strip() or not colon):
            find_scorer(topic.strip() or "words")
            return cls(name, scorer=topic.strip() or "words")
        if (name == "topic") != bool(topic.strip()) or (colon and name != "topic"):
            raise SpecError(f"--for {text!r} given; write topic:WORDS, or {', '.join(w for w in PURPOSES if w != 'topic')}")
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

    def measured(self, web: Web, pages: int) -> str:
        """What is measured after so many pages, in words."""
        after = f"after {pages:,} pages ({pages / web.pages:.0%})"
        return {
            "importance": f"share of the {pages:,} pages of the greatest PageRank, {after}",
            "quality": f"scores of the fetched pages by {self.scorer}, over the maximum {after}",
            "votes": f"links from other hosts to the fetched pages, over the maximum {after}",
            "topic": f"pages about {self.topic!r}, over the maximum {after}",
            "coverage": f"personalised PageRank that is guaranteed to be fetched {after}",
            "searchers": f"impact of the first {FIRST:.0%} of the frontier over the ideal, {CRAWLED:.0%} of the web fetched",
        }[self.name]


def hosts_of(web: Web) -> int | None:
    return None if web.hosts is None else len(np.unique(web.hosts))


def candidates(web: Web, purpose: Purpose, pages: int) -> list[str]:
    """The orderings worth trying for a purpose, whether or not this web can feed them."""
    if purpose.name == "searchers":
        return ["indegree", "pagerank", "rw", "rw-eg", "q-overlap", "q-hybrid", "fusion"]
    if purpose.name == "coverage":
        return ["rankmass", "rankmass:window=0.05"]
    if purpose.name == "topic":
        single = [Similarity(topic=purpose.topic, inner=inner).spec() for inner in ("bfs", "backlink")]
        near = Similarity(topic=purpose.topic, distance=1).spec()
        return ["bfs", "backlink", "fpr", *single, near, *_by_scores(f"topic:{purpose.topic}", anchor=1.0)]
    if purpose.name == "quality":
        return ["bfs", "fpr", *_by_scores(purpose.scorer), Quality(scorer=purpose.scorer, inherit="first").spec()]
    shared = ["bfs", "backlink", "opic", "fpr", *HOSTED, "rankmass", "surf"]
    if purpose.name == "votes":
        return [*shared, "domains"]
    return [*shared, f"fica:k={max(1, web.pages // 72)}", f"pagerank:every={max(1, pages // RANKINGS)}"]


def _by_scores(scorer: str, anchor: float = 0.0) -> list[str]:
    return [Quality(scorer=scorer, anchor=anchor).spec(), Group(scorer=scorer).spec()]


def check_purpose(web: Web, purpose: Purpose) -> None:
    """InputError if a purpose cannot be judged on this web, whatever the ordering."""
    if purpose.name == "votes" and (hosts_of(web) or 0) < 2:
        lacks = "knows no hosts" if web.hosts is None else "has one host"
        raise InputError(f"votes are links from other hosts, but {web.name} {lacks}; ask --for importance")
    if purpose.name == "quality" and web.texts is None:
        raise InputError(f"quality is what stands on pages, but {web.name} knows no texts; ask --for importance or votes")
    if purpose.name == "topic":
        importance(web, purpose.metric)  # says what is missing, or that no page is about it
    if purpose.name == "searchers" and web.impact is None and query_log(web) is None:
        lacks = "neither views nor clicks nor queries" if web.queries is None else "neither titles nor texts to search"
        raise InputError(f"{web.name} knows {lacks}; give a web with views or clicks, or with texts and --queries FILE")


def applicable(web: Web, purpose: Purpose, specs: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """The orderings that this web can feed, and why the others are left out."""
    fitting: list[str] = []
    left_out: dict[str, str] = {}
    for spec in dict.fromkeys(specs):
        try:
            if purpose.name == "searchers":
                if "queries" in ranker_of(spec).needs() and query_log(web) is None:
                    raise InputError("driven by queries, but there is no query log, or there are no titles or texts to search")
            else:
                check_needs(parse(spec), web)
                if purpose.name == "coverage" and not _guarantees(spec):
                    raise InputError("does not guarantee a coverage")
            if spec in HOSTED and (hosts_of(web) or 0) < 2:
                raise InputError("one host, so no link leads to another")
        except InputError as error:
            left_out[spec] = (
                str(error).removeprefix(f"{spec} ").partition(";")[0] if "needs a web" in str(error) else str(error)
            )
            continue
        fitting.append(spec)
    return fitting, left_out


def _guarantees(spec: str) -> bool:
    try:
        Stop(until="coverage=0.5").given_to(parse(spec))
    except FrontrankError:
        return False
    return True


def query_log(web: Web) -> Workload | None:
    """The queries, if there is something to search: searching all pages gives the truth that rankers are judged by.

    A sample of them, where there are very many: searching all pages takes most of the time.
    """
    asked: Workload | None = web.queries if web.has("texts") or web.has("titles") else None
    if asked is None or len(asked) <= MAX_QUERIES:
        return asked
    kept = np.sort(np.random.default_rng(0).choice(len(asked), MAX_QUERIES, replace=False))
    return asked.only(kept, asked.frequency[kept])
