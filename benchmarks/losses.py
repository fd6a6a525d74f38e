"""Where does surf lose? ``python -m benchmarks.losses``, about a minute.

Webs that are hard for it, 20,000 pages each, from three draws of 20 random seeds: grown by preferential attachment, half of the
pages in chains, a square grid, a calendar in few hosts; and many hosts from one seed. Shown: surf less the published ordering
that is best there, means from 1 to 50% of the web, as the leaderboard has them; and the same of surf with d fixed, far from the
seeds as well.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.show import table
from frontrank.lab.contest import Contest, contests
from frontrank.sources import load
from frontrank.web.web import Web

PAGES, LINKS, CHAINS, SIDE = 20_000, 10, 5, 141
PUBLISHED = ("bfs", "backlink", "opic", "fpr", "fpr:m=10", "rankmass", "pagerank")
OURS = ("surf", "surf:d=0.92", "surf:d=0.85")
DRAWS, BUDGET = 3, 0.5
CALENDARS = tuple((hosts, trap) for hosts in (1, 5) for trap in (1000, 2000))


def grown(hosts: int) -> Web:
    """Each page links to pages there were before it, drawn by the links that they have, and is linked back."""
    draw = np.random.default_rng(1)
    ends = list(range(LINKS + 1))
    source, target = [], []
    for page in range(LINKS + 1, PAGES):
        chosen = {ends[at] for at in draw.integers(0, len(ends), LINKS)}
        for other in sorted(chosen):
            source += [page, other]
            target += [other, page]
        ends += [page] * len(chosen) + sorted(chosen)
    of_host = draw.integers(0, hosts, PAGES) if hosts > 1 else None
    return Web.from_edges(
        source, target, pages=PAGES, hosts=of_host, name=f"grown, {hosts} random hosts" if hosts > 1 else "grown"
    )


def chained(back: bool) -> Web:
    """Half of the pages are a generated web of one host, half are chains that begin there, with links back or without."""
    core = load(f"synthetic:pages={PAGES // 2},hosts=1,text=0,seed=1")
    source, target = np.repeat(np.arange(core.pages), np.diff(core.indptr)), core.targets
    rows = np.arange(PAGES // 2, PAGES).reshape(CHAINS, -1)
    begins = np.random.default_rng(1).integers(0, core.pages, CHAINS)
    before, after = rows[:, :-1].ravel(), rows[:, 1:].ravel()
    source = np.concatenate([source, begins, before, *([after] if back else [])])
    target = np.concatenate([target, rows[:, 0], after, *([before] if back else [])])
    return Web.from_edges(source, target, pages=PAGES, name=f"half in {CHAINS} chains{', both ways' if back else ''}")


def grid() -> Web:
    """Each page links to its neighbours, four of them unless it is at an edge."""
    at = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    ways = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:])]
    source = np.concatenate([end.ravel() for a, b in ways for end in (a, b)])
    target = np.concatenate([end.ravel() for a, b in ways for end in (b, a)])
    return Web.from_edges(source, target, pages=SIDE * SIDE, name="square grid")


def webs() -> Iterator[tuple[Web, str]]:
    """Each with its seeds."""
    for web in (grown(1), grown(100), chained(back=False), chained(back=True), grid()):
        yield web, "random:20"
    for hosts, trap in CALENDARS:
        yield load(f"synthetic:pages={PAGES},hosts={hosts},text=0,trap={trap},seed=2"), "random:20"
    yield load(f"synthetic:pages={PAGES},hosts=1000,text=0,seed=2"), "random:1"


def less_best(contest: Contest, ordering: str, measure: str) -> str:
    """An ordering less the best published one, which is named."""
    best = max((p for p in PUBLISHED if p in contest.orderings), key=lambda p: contest.mean(p, measure))
    return f"{contest.mean(ordering, measure) - contest.mean(best, measure):+.3f} ({best})"


def losses() -> None:
    rows = []
    for web, seeds in webs():
        [contest] = contests(web, None, seeds, [*PUBLISHED, *OURS], DRAWS, BUDGET, progress=lambda text, done, total: None)
        for ordering in OURS:
            rows.append([web.name, ordering, *(less_best(contest, ordering, measure) for measure in ("mass", "hot"))])
    table("surf less the best published", ["web", "ordering", "mass", "hot"], rows)


if __name__ == "__main__":
    losses()
