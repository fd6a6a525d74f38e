"""cho98, similarity crawlers: pages about a topic are hot.

A page is hot if the topic stands in its title or ten times in its text. The first crawler prefers pages whose anchor or
URL holds the topic, the second also pages at most three links behind a page found hot. In each of the two queues the order
is breadth-first, by backlinks or by PageRank. Reference: cho98, section 5.4.

Differs from the paper: the PageRank inside the queues has damping 0.85, not 0.9.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from frontrank.errors import InputError
from frontrank.lab.drawn import Drawn
from frontrank.papers.claims import ALIKE, Claim, above, ahead, all_hold, because, decided, failed, leads, listing, not_below
from frontrank.papers.draws import Draws, at_shares, heads, heights, middle, threshold_plot
from frontrank.papers.reproduction import PaperExperiment, Row, paper_table, skip
from frontrank.web.importance import importance
from frontrank.web.web import Web

FIRST, SECOND = "computer", "admission"  # the paper's topics
MIN_HOT = 20  # hot pages that make a curve worth reading
INNER = ("bfs", "backlink", "pagerank")
CHANCE = 0.5  # mean P_ST of a random crawler
NEEDS = ("urls", "anchors", "texts")
NEARER = "bfs, distance 1"
RANKINGS = 40  # of the queues by PageRank, in a crawl
SHARES = (0.1, 0.2, 0.3, 0.5)

BASIC, MODIFIED = "First similarity crawler", "Second similarity crawler"
BFS_ONLY = "With the first crawler breadth-first does well, best of the three."
NO_BETTER = "With the first crawler the orderings by backlinks and PageRank do no better than a random crawler."
IMPROVES = "The second crawler improves on the first with all three orderings."
NARROWER = "The second crawler narrows the gap between breadth-first and the others."
ABOVE = "With the second crawler all orderings find pages about the topic faster than a random crawler."
ABOVE_TOO = "So they do with the other topic."
SIMILAR = "For this topic PageRank does as well as breadth-first or better."


PLAN = {
    (BASIC, FIRST): (BFS_ONLY, NO_BETTER),
    (MODIFIED, FIRST): (IMPROVES, NARROWER, ABOVE),
    (MODIFIED, SECOND): (ABOVE_TOO, SIMILAR),
}


def topics(draws: Draws) -> Iterator[PaperExperiment]:
    """Both crawlers on the first topic, the second on the other; or why not."""
    web = draws.web
    missing = [need for need in NEEDS if not web.has(need)]
    means: dict[tuple[str, str], dict[str, Drawn]] = {}
    for (crawler, topic), says in PLAN.items():
        heading = f"{crawler}, topic {topic!r}"
        if missing:
            yield skip(heading, f"{web.name} does not know its {', '.join(missing)}", says)
            continue
        draws.tell(f"looking for {topic!r}")
        try:
            hot = int(importance(web, _metric(topic)).sum())
        except InputError:  # no page is about it
            hot = 0
        if hot < MIN_HOT:
            yield skip(heading, f"{hot} pages of {web.name} are about {topic!r}, at least {MIN_HOT} are wanted", says)
            continue
        yield _experiment(draws, crawler, topic, hot, means)


def _metric(topic: str) -> str:
    return f"similarity:topic={topic}"


def _experiment(
    draws: Draws, crawler: str, topic: str, hot: int, means: dict[tuple[str, str], dict[str, Drawn]]
) -> PaperExperiment:
    web = draws.web
    every = max(1, web.pages // RANKINGS)
    specs = {
        inner: f"similarity:topic={topic},inner={inner}"
        + (f",every={every}" if inner == "pagerank" else "")
        + (",parents=off" if crawler == BASIC else "")
        for inner in INNER
    }
    if crawler == MODIFIED:
        specs[NEARER] = f"similarity:topic={topic},distance=1"
    curves = draws.threshold_curves(specs, 1.0, _metric(topic))
    mean = heights(curves)
    means[crawler, topic] = {inner: mean[inner] for inner in INNER}
    rows: list[Row] = [[inner, mean[inner], *at_shares(drawn, SHARES)] for inner, drawn in curves.items()]
    how = f"{hot:,} pages are about the topic ({hot / web.pages:.1%}). P_ST, with each ordering inside the two queues."
    if crawler == MODIFIED:
        how += " Pages up to three links behind a page found hot are preferred; not in the paper: only one link behind."
    table = paper_table(["order in the queues", "mean P_ST", *heads(SHARES)], rows)
    plot = threshold_plot(web, middle(curves), 1.0, _metric(topic))
    claims = _claims(crawler, topic, means, _seen(web, topic) if crawler == BASIC else _nearer(mean))
    return PaperExperiment(f"{crawler}, topic {topic!r}", how, list(specs.values()), plot, table, claims)


def _seen(web: Web, topic: str) -> str:
    """How many of the pages about a topic can be told by their URL or an anchor."""
    assert web.urls is not None and web.anchors is not None
    hot = importance(web, _metric(topic)) > 0
    named = np.array([topic in url.lower() for url in web.urls])
    telling = np.array([topic in anchor.lower() for anchor in web.anchors], bool)
    named[web.targets[telling]] = True
    return f"{named[hot].mean():.0%} of the pages about the topic have it in their URL or an anchor"


def _nearer(mean: dict[str, Drawn]) -> str:
    return (
        f"three links lead from a page found hot to much that is not; with pages one link behind alone it has {mean[NEARER]}"
        if ahead(mean[NEARER], mean["bfs"])
        else f"with pages one link behind alone it has {mean[NEARER]}; why is not known"
    )


def _claims(crawler: str, topic: str, means: dict[tuple[str, str], dict[str, Drawn]], why: str) -> list[Claim]:
    mean = means[crawler, topic]
    if crawler == BASIC:
        return _of_first(mean, why)
    says = ABOVE if topic == FIRST else ABOVE_TOO
    rule = f"all mean P_ST are above chance ({CHANCE}) by more than their spread"
    better = decided(says, rule, listing(mean), all_hold(above(value, CHANCE) for value in mean.values()), why)
    if topic == SECOND:
        rule = f"its mean P_ST is at most {ALIKE} below that of breadth-first, spread included"
        return [better, not_below(SIMILAR, rule, listing(mean), mean["pagerank"].minus(mean["bfs"]), ALIKE)]
    return [*_of_second(means[BASIC, topic], mean, why), better]


def _of_first(mean: dict[str, Drawn], seen: str) -> list[Claim]:
    rule = f"its mean P_ST is ahead of both others and above chance ({CHANCE})"
    later = {inner: mean[inner] for inner in ("backlink", "pagerank")}
    why = because(mean, "bfs", seen)
    best = all_hold([leads(mean, "bfs"), above(mean["bfs"], CHANCE)])
    highest = max(later.values(), key=lambda value: value.mean)
    return [
        decided(BFS_ONLY, rule, listing(mean), best, why, why),
        not_below(
            NO_BETTER,
            f"both mean P_ST are at most {CHANCE + ALIKE} (chance {CHANCE}), spread included",
            listing(later),
            Drawn(tuple(CHANCE - value for value in highest.values)),
            ALIKE,
            f"{seen}; whether that is the reason is not known",
        ),
    ]


def _of_second(first: dict[str, Drawn], second: dict[str, Drawn], nearer: str) -> list[Claim]:
    gap = {name: _gap(values) for name, values in (("first", first), ("second", second))}
    verdicts = {inner: ahead(second[inner], first[inner]) for inner in INNER}
    sizes = {name: Drawn(tuple(abs(value) for value in drawn.values)) for name, drawn in gap.items()}
    return [
        decided(
            IMPROVES,
            "each mean P_ST is ahead of that of the first",
            f"first: {listing(first)}; second: {listing(second)}",
            all_hold(verdicts.values()),
            f"not {failed(verdicts)}: {nearer}",
        ),
        decided(
            NARROWER,
            "breadth-first's lead over the mean of the others (mean P_ST) is smaller in size, by more than the spread",
            listing(gap),
            ahead(sizes["first"], sizes["second"]),
        ),
    ]


def _gap(values: dict[str, Drawn]) -> Drawn:
    """Breadth-first's lead over the mean of the other two."""
    drawn = zip(*(values[inner].values for inner in INNER), strict=True)
    return Drawn(tuple(bfs - (backlink + pagerank) / 2 for bfs, backlink, pagerank in drawn))
