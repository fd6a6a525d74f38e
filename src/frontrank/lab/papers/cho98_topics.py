"""cho98, similarity crawlers: pages about a topic are hot.

A page is hot if the topic stands in its title or ten times in its text. The first crawler prefers pages whose anchor or
URL holds the topic, the second also pages at most three links behind a page found hot. In each of the two queues the order
is breadth-first, by backlinks or by PageRank. Reference: cho98, section 5.4.

Differs from the paper: the PageRank inside the queues has damping 0.85, not 0.9.
"""

from __future__ import annotations

from collections.abc import Iterator

from frontrank.errors import InputError
from frontrank.lab.papers.claims import ALIKE, Claim, decided, height_at, higher, is_best, listed, mean_height
from frontrank.lab.papers.crawls import Crawls, threshold_plot
from frontrank.lab.papers.reproduction import Experiment, Table, Value, skip
from frontrank.web.importance import importance

FIRST, SECOND = "computer", "admission"  # the paper's topics
FEWEST = 20  # hot pages that make a curve worth reading
INNER = ("bfs", "backlink", "pagerank")
CHANCE = 0.5  # mean P_ST of a random crawler
NEEDS = ("urls", "anchors", "texts")
NEARER = "bfs, distance 1"
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


def topics(crawls: Crawls) -> Iterator[Experiment]:
    """Both crawlers on the first topic, the second on the other; or why not."""
    web = crawls.web
    missing = [need for need in NEEDS if not web.has(need)]
    means: dict[tuple[str, str], dict[str, float]] = {}
    for (crawler, topic), says in PLAN.items():
        heading = f"{crawler}, topic {topic!r}"
        if missing:
            yield skip(heading, f"{web.name} does not know its {', '.join(missing)}", says)
            continue
        crawls.tell(f"looking for {topic!r}")
        try:
            hot = int(importance(web, _metric(topic)).sum())
        except InputError:  # no page is about it
            hot = 0
        if hot < FEWEST:
            yield skip(heading, f"{hot} pages of {web.name} are about {topic!r}, at least {FEWEST} are wanted", says)
            continue
        yield _experiment(crawls, crawler, topic, hot, means)


def _metric(topic: str) -> str:
    return f"similarity:topic={topic}"


def _experiment(
    crawls: Crawls, crawler: str, topic: str, hot: int, means: dict[tuple[str, str], dict[str, float]]
) -> Experiment:
    web = crawls.web
    every = max(1, web.pages // 100)
    specs = {
        inner: f"similarity:topic={topic},inner={inner}"
        + (f",every={every}" if inner == "pagerank" else "")
        + (",parents=off" if crawler == BASIC else "")
        for inner in INNER
    }
    if crawler == MODIFIED:
        specs[NEARER] = f"similarity:topic={topic},distance=1"
    curves = crawls.found(specs, 1.0, _metric(topic))
    heights = {inner: mean_height(curve) for inner, curve in curves.items()}
    means[crawler, topic] = {inner: heights[inner] for inner in INNER}
    rows: list[list[Value]] = [
        [inner, heights[inner], *(height_at(curve, share) for share in SHARES)] for inner, curve in curves.items()
    ]
    how = f"{hot:,} pages are about the topic ({hot / web.pages:.1%}). P_ST, with each ordering inside the two queues."
    if crawler == MODIFIED:
        how += " Pages up to three links behind a page found hot are preferred; not in the paper: only one link behind."
    table = Table(["order in the queues", "mean P_ST", *(f"at {share:.0%}" for share in SHARES)], rows)
    plot = threshold_plot(web, curves, 1.0, _metric(topic))
    claims = _claims(crawler, topic, means)
    return Experiment(f"{crawler}, topic {topic!r}", how, list(specs.values()), plot, table, claims)


def _claims(crawler: str, topic: str, means: dict[tuple[str, str], dict[str, float]]) -> list[Claim]:
    mean = means[crawler, topic]
    if crawler == BASIC:
        rule = f"its mean P_ST is the highest and above chance ({CHANCE})"
        least = {inner: mean[inner] for inner in ("backlink", "pagerank")}
        return [
            decided(BFS_ONLY, rule, listed(mean), is_best(mean, "bfs") and higher(mean["bfs"], CHANCE)),
            decided(
                NO_BETTER,
                f"both mean P_ST are at most {CHANCE + ALIKE} (chance {CHANCE})",
                listed(least),
                max(least.values()) <= CHANCE + ALIKE,
            ),
        ]
    says = ABOVE if topic == FIRST else ABOVE_TOO
    above = decided(says, f"all mean P_ST are above chance ({CHANCE})", listed(mean), higher(min(mean.values()), CHANCE))
    if topic == SECOND:
        rule = f"its mean P_ST is at most {ALIKE} below that of breadth-first"
        return [above, decided(SIMILAR, rule, listed(mean), mean["pagerank"] >= mean["bfs"] - ALIKE)]
    first = means[BASIC, topic]
    gap = {
        name: values["bfs"] - (values["backlink"] + values["pagerank"]) / 2
        for name, values in (("first", first), ("second", mean))
    }
    gained = all(higher(mean[inner], first[inner]) for inner in INNER)
    return [
        decided(IMPROVES, "each mean P_ST is higher", f"first: {listed(first)}; second: {listed(mean)}", gained),
        decided(
            NARROWER,
            "breadth-first's lead over the mean of the others (mean P_ST) is smaller in size",
            listed(gap),
            abs(gap["second"]) < abs(gap["first"]),
        ),
        above,
    ]
