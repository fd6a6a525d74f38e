"""Every ordering once more, plainly: lists, dicts and heapq, written from the definitions and not from the engine.

``order(name, rows, seeds, budget, ...)`` gives the pages in fetch order. An ordering here keeps one key for each page,
larger is fetched sooner; ``learn(p)`` updates keys after p was fetched and names the pages whose key may have changed.
The queue is a heap of (-key, discovery number, page) in which old entries stay until they come up and are dropped.

Only ``pagerank`` uses numpy, to add up the links. ``first_wrong`` judges an order given from elsewhere: for scores that
two right implementations may round differently. ``rankmass`` and ``largest-site`` have loops of their own.

Cost: O(log n) a link for all but ``pagerank`` (a power iteration every k fetches) and ``largest-site-scan``.
"""

from __future__ import annotations

import math
import re
import struct
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any
from urllib.parse import urlsplit

Rows = Sequence[Sequence[int]]


class Crawl:
    """What is known so far: discovery numbers, who is fetched, in which order; and the columns of the web."""

    def __init__(self, rows: Rows, seeds: Iterable[int], **columns: Any) -> None:
        self.rows = rows
        self.seeds = list(dict.fromkeys(seeds))
        self.number = [-1] * len(rows)
        self.known: list[int] = []
        self.fetched = [False] * len(rows)
        self.order: list[int] = []
        self.columns = columns
        self.unpaid: dict[str, float] = dict(columns.get("trust") or {})  # URL or host name to t
        self.t = [0.0] * len(rows)  # of discovered pages, until an ordering takes it
        self.discover(self.seeds)

    def column(self, name: str) -> Any:
        held = self.columns.get(name)
        if held is None:
            raise ValueError(f"this ordering needs {name}")
        return held

    def discover(self, pages: Iterable[int]) -> None:
        number, known = self.number, self.known
        for q in pages:
            if number[q] < 0:
                number[q] = len(known)
                known.append(q)
                if self.columns.get("trust"):
                    url = self.columns["urls"][q]
                    self.t[q] = self.unpaid.pop(url if url in self.columns["trust"] else host_name(url), 0.0)

    def taken(self, q: int) -> float:
        """What a page is trusted with, once."""
        t, self.t[q] = self.t[q], 0.0
        return t

    def start(self, seed: int) -> float:
        """A seed's part of the restart vector."""
        return self.taken(seed) if self.columns.get("trust") else 1.0 / len(self.seeds)

    def fetch(self, p: int) -> None:
        self.fetched[p] = True
        self.order.append(p)
        self.discover(self.rows[p])


class Ordering:
    """Keys all 0 that never change: first discovered, first fetched."""

    def __init__(self, crawl: Crawl) -> None:
        self.crawl = crawl
        self.key: list[float] = [0.0] * len(crawl.rows)

    def learn(self, p: int) -> Iterable[int]:
        return self.crawl.rows[p]

    def place(self, q: int) -> Any:
        """Where q stands in the queue: smaller is sooner."""
        return -self.key[q]


class DepthFirst(Ordering):
    def place(self, q: int) -> int:
        return -self.crawl.number[q]


class Ideal(Ordering):
    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self.key = list(crawl.column("truth"))


class Backlink(Ordering):
    def learn(self, p: int) -> Iterable[int]:
        for q in self.crawl.rows[p]:
            self.key[q] += 1.0
        return self.crawl.rows[p]


class Forward(Ordering):
    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self.total, self.parents = [0] * len(crawl.rows), [0] * len(crawl.rows)

    def learn(self, p: int) -> Iterable[int]:
        row = self.crawl.rows[p]
        for q in row:
            self.total[q] += len(row)
            self.parents[q] += 1
            self.key[q] = self.total[q] / self.parents[q]
        return row


class Location(Ordering):
    def __init__(
        self,
        crawl: Crawl,
        slashes: float = 1.0,
        suffix: str = "",
        suffix_bonus: float = 0.0,
        word: str = "",
        word_bonus: float = 0.0,
    ) -> None:
        super().__init__(crawl)
        for q, url in enumerate(crawl.column("urls")):
            self.key[q] = -slashes * url.count("/")
            if suffix and host_name(url).endswith(suffix):
                self.key[q] += suffix_bonus
            if word and word in url:
                self.key[q] += word_bonus


def host_name(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


class Opic(Ordering):
    """key = cash. Cash of a page without links goes to its history and nowhere else."""

    def __init__(self, crawl: Crawl, start: str = "seeds") -> None:
        super().__init__(crawl)
        self.history = [0.0] * len(crawl.rows)
        if start == "all":
            self.key = [1.0] * len(crawl.rows)
            return
        for s in crawl.seeds:
            self.key[s] = 1.0 / len(crawl.seeds)

    def learn(self, p: int) -> Iterable[int]:
        row, cash = self.crawl.rows[p], self.key
        self.history[p] += cash[p]
        if row:
            share = cash[p] / len(row)
            for q in row:
                cash[q] += share
        cash[p] = 0.0
        return row


RATES: dict[str, Callable[[float], float]] = {
    "exp": lambda x: math.exp(-x),
    "inverse": lambda x: min(1.0, 1.0 / x),
    "power": lambda x: min(1.0, x**-2.1),
    "linear": lambda x: max(0.0, 1.0 - x),
}


class Fica(Ordering):
    """key = -d. ``schedule="sum"`` is the paper's equation 2, d = d_p + log10 O(p), the distance of its Figure 1."""

    def __init__(self, crawl: Crawl, k: int = 250_000, beta: float = 0.1, schedule: str = "exp", alpha: float = 0.0) -> None:
        super().__init__(crawl)
        self.k, self.beta, self.schedule, self.alpha = k, beta, schedule, alpha
        self.key = [-math.inf] * len(crawl.rows)
        for s in crawl.seeds:
            self.key[s] = 0.0

    def distance(self, p: int) -> float:
        weight, before = math.log10(len(self.crawl.rows[p])), -self.key[p]
        if self.schedule == "sum" and not self.alpha:
            return before + weight
        x = self.beta * (len(self.crawl.order) // self.k)
        a = self.alpha or (RATES[self.schedule](x) if x > 0.0 else 1.0)
        return a * weight + (1.0 - a) * before

    def learn(self, p: int) -> Iterable[int]:
        row, fetched, key = self.crawl.rows[p], self.crawl.fetched, self.key
        if not row:
            return ()
        offer = -self.distance(p)
        nearer = [q for q in row if not fetched[q] and offer > key[q]]
        for q in nearer:
            key[q] = offer
        return nearer


class FractionalPageRank(Ordering):
    def __init__(self, crawl: Crawl, damping: float = 0.85, m: float = 1.0) -> None:
        super().__init__(crawl)
        self.damping, self.m = damping, m
        self.hosts = None if m == 1.0 else crawl.column("hosts")
        for s in crawl.seeds:
            self.key[s] = (1.0 - damping) * crawl.start(s)

    def learn(self, p: int) -> Iterable[int]:
        row, f = self.crawl.rows[p], self.key
        host = self.hosts
        weights = [1.0 if host is None or host[p] == host[q] else self.m for q in row]
        total = 0.0
        for w in weights:
            total += w
        share = (self.damping * f[p]) / total if row else 0.0
        for q, w in zip(row, weights, strict=True):
            if not self.crawl.fetched[q]:
                f[q] += w * share
                f[q] += (1.0 - self.damping) * self.crawl.taken(q)
        f[p] = 0.0
        return row


def mixed32(x: int) -> int:
    """The bits of a whole number, mixed: the first start of a surfer, the second, and so on, look random."""
    for shift, factor in ((16, 0x21F0AAAD), (15, 0x735A2D97)):
        x = (x ^ (x >> shift)) * factor % 2**32
    return x ^ (x >> 15)


class Surf(Ordering):
    """r of waiting pages is the key; r of fetched ones is handed on when it is above eps."""

    def __init__(
        self,
        crawl: Crawl,
        local: float | None = None,
        m: float | None = None,
        g: float | None = None,
        damping: float | None = None,
        eps: float = 0.1,
    ) -> None:
        super().__init__(crawl)
        self.todo: list[int] = []  # fetched pages that are to hand on, first come, first served
        self.local, self.fixed_m, self.g, self.fixed_damping, self.eps = local, m, g, damping, eps
        self.hosts = crawl.columns.get("hosts") or [0] * len(crawl.rows)
        self.region: dict[int, str] = {}
        self.depth = dict.fromkeys(crawl.seeds, 0)
        self.of_host: dict[int, str] = {}  # host to its first region
        self.turns: list[tuple[int, float]] = []  # seeds, or trusted pages, and their weights
        self.speaker: dict[str, int] = {}  # of a region's waiting pages
        self.starts = 0
        for s in crawl.seeds:
            self.of_host.setdefault(self.hosts[s], f"of {s}")
            self.region[s] = f"of {s}"
            self.speaker[f"of {s}"] = s
            self.key[s] = 1.0 / len(crawl.seeds)
            self.trust(s, 1.0)
        self.turn = 0

    def trust(self, q: int, otherwise: float) -> None:
        weight = self.crawl.taken(q) if self.crawl.columns.get("trust") else otherwise
        if weight > 0.0:
            self.turns.append((q, weight))

    def meet(self, p: int, q: int) -> None:
        if q in self.region:
            return
        self.depth[q] = self.depth[p] + 1
        if self.hosts[p] == self.hosts[q]:
            full = sum(name == self.region[p] for name in self.region.values()) >= 100
            self.region[q] = f"of {p}" if full else self.region[p]
        else:
            self.region[q] = self.of_host.setdefault(self.hosts[q], f"of {q}")
            self.speaker.setdefault(self.region[q], p)
        self.trust(q, 0.0)

    def share(self) -> float:
        if self.local is not None:
            return self.local
        return min(0.95, 1.0 / (1.0 + math.sqrt(len(self.turns) / 1000.0) / len(self.of_host)))

    @property
    def m(self) -> float:
        if self.fixed_m is not None:
            return self.fixed_m
        pages = Counter(self.hosts[q] for q in self.region)
        small = sum(int(2.0**32 / math.sqrt(float(many))) for many in pages.values())  # whole numbers, added up in any order
        return max(1.0, 30.0 * (small / 2.0**32) / len(pages))

    @property
    def variety(self) -> float:
        return max(0.0, 1.0 - 1.0 / self.m)

    def deep(self, p: int) -> bool:
        return self.depth[p] > 2.0 * math.log2(len(self.region))

    def damping(self, p: int) -> float:
        if self.fixed_damping is not None:
            return self.fixed_damping
        usual = 0.92 - 0.17 * self.variety
        return min(usual, 0.8) if self.deep(p) else usual

    def exponent(self, p: int) -> float:
        if self.g is not None:
            return self.g
        usual = 0.5 + 3.0 * self.variety
        return max(usual, 2.0) if self.deep(p) else usual

    def novelty(self, p: int) -> float:
        known = [q for q, name in self.region.items() if name == self.region[p]]
        fetched = sum(self.crawl.fetched[q] for q in known)
        everywhere = len(self.crawl.order) / len(self.region)
        return float(min(1.0, everywhere / (fetched / len(known))) ** self.exponent(p))

    def drawn(self, p: int) -> int:
        self.starts += 1
        page = list(self.region)[mixed32(self.starts) % len(self.region)]  # in the order of discovery
        return page if self.crawl.fetched[page] else self.speaker.get(self.region[page], p)

    def learn(self, p: int) -> Iterable[int]:
        r, fetched = self.key, self.crawl.fetched
        self.speaker[self.region[p]] = p
        for q in self.crawl.rows[p]:
            self.meet(p, q)
        share, m = self.share(), self.m
        drawing = 0.1 + 0.3 * self.variety
        r[p] += (1.0 - drawing) * share * self.novelty(p)
        todo, changed = self.todo, []
        if self.turns:
            self.turn %= len(self.turns)
            seed, weight = self.turns[self.turn]
            self.turn += 1
            total = 0.0
            for _, w in self.turns:
                total += w
            r[seed] += (1.0 - share) * weight * len(self.turns) / total
            if not fetched[seed]:
                changed.append(seed)
            elif seed not in [p, *todo] and r[seed] > self.eps:
                todo.append(seed)
        drawn = self.drawn(p)
        r[drawn] += drawing * share
        if not fetched[drawn]:
            changed.append(drawn)
        elif drawn not in [p, *todo] and r[drawn] > self.eps:
            todo.append(drawn)
        x = p
        for step in range(8):
            if step > 0:
                if not todo:
                    break
                x = todo.pop(0)
            held, r[x], damping = r[x], 0.0, self.damping(x)
            away = [self.hosts[x] != self.hosts[q] for q in self.crawl.rows[x]]
            total = (len(away) - sum(away)) + m * sum(away)
            for q, elsewhere in zip(self.crawl.rows[x], away, strict=True):
                r[q] += damping * held / total * (m if elsewhere else 1.0)
                if not fetched[q]:
                    changed.append(q)
                elif r[q] > self.eps and q not in todo:
                    todo.append(q)
        return changed


class Ranked(Ordering):
    """Scores set anew after every k-th fetch; pages not scored yet have key -1, behind every score."""

    def __init__(self, crawl: Crawl, every: int = 1000) -> None:
        super().__init__(crawl)
        self.every = every
        self.key = [-1.0] * len(crawl.rows)

    def note(self, p: int) -> None:
        """Take in the links of p, leaving the keys as they are."""

    def score(self) -> Iterable[int]:
        """Set the keys of all waiting pages; name those that changed."""
        raise NotImplementedError

    def learn(self, p: int) -> Iterable[int]:
        self.note(p)
        return self.score() if len(self.crawl.order) % self.every == 0 else self.crawl.rows[p]


class Indegree(Ranked):
    def __init__(self, crawl: Crawl, every: int = 1000) -> None:
        super().__init__(crawl, every)
        self.count = [0] * len(crawl.rows)
        self.stale = set(crawl.seeds)

    def note(self, p: int) -> None:
        for q in self.crawl.rows[p]:
            self.count[q] += 1
        self.stale.update(self.crawl.rows[p])

    def score(self) -> Iterable[int]:
        changed, self.stale = self.stale, set()
        for q in changed:
            self.key[q] = float(self.count[q])
        return changed


class PageRank(Ranked):
    """On all known pages, over the links of fetched ones; pages without links (the frontier) give to all alike."""

    def __init__(self, crawl: Crawl, alpha: float = 0.85, every: int = 1000, tolerance: float = 1e-12) -> None:
        super().__init__(crawl, every)
        self.alpha, self.tolerance = alpha, tolerance
        self.source, self.target = array("q"), array("q")  # discovery numbers
        self.t = [0.0] * len(crawl.rows) if crawl.columns.get("trust") else None

    def note(self, p: int) -> None:
        number, row = self.crawl.number, self.crawl.rows[p]
        self.source.extend([number[p]] * len(row))
        self.target.extend([number[q] for q in row])

    def score(self) -> Iterable[int]:
        waiting = [q for q in self.crawl.known if not self.crawl.fetched[q]]
        x = self.solve()
        for q in waiting:
            self.key[q] = x[self.crawl.number[q]]
        return waiting

    def solve(self) -> list[float]:
        import numpy as np

        n = len(self.crawl.known)
        source, target = np.array(self.source, np.int64), np.array(self.target, np.int64)
        out = np.bincount(source, minlength=n)
        dangling, per_link = out == 0, 1.0 / out[source]
        restart = np.full(n, 1.0 / n)
        if self.t is not None:
            for q in self.crawl.known:
                self.t[q] += self.crawl.taken(q)
            trusted = np.array([self.t[q] for q in self.crawl.known])
            restart = trusted / trusted.sum() if trusted.any() else restart
        x, change = np.full(n, 1.0 / n), math.inf
        while change >= self.tolerance:
            jump = (self.alpha * x[dangling].sum() + 1.0 - self.alpha) * restart
            new = self.alpha * np.bincount(target, x[source] * per_link, n) + jump
            change, x = float(np.abs(new - x).sum()), new
        return list(x.tolist())


class Similarity(Ordering):
    """Two queues. Distances from hot pages run along links of fetched pages and are shortened wherever they can be."""

    def __init__(
        self,
        crawl: Crawl,
        topic: str,
        body: int = 10,
        distance: int = 3,
        inner: str = "bfs",
        every: int = 1000,
        parents: bool = True,
        **inner_params: Any,
    ) -> None:
        super().__init__(crawl)
        self.topic, self.body, self.distance, self.parents = topic.lower(), body, distance, parents
        self.inner = make(inner, crawl, **({"every": every} if inner == "pagerank" else {}), **inner_params)
        self.steps = [distance + 1] * len(crawl.rows)  # from the nearest page found hot, as far as that matters
        for s in crawl.seeds:
            self.key[s] = float(self.named(s))

    def place(self, q: int) -> Any:
        return -self.key[q], self.inner.place(q)

    def says(self, column: str, at: int) -> bool:
        held = self.crawl.columns.get(column)
        return held is not None and self.topic in held[at].lower()

    def named(self, q: int) -> bool:
        return self.says("urls", q)

    def found_hot(self, p: int) -> bool:
        texts = self.crawl.columns.get("texts")
        return self.says("titles", p) or (texts is not None and texts[p].lower().count(self.topic) >= self.body)

    def learn(self, p: int) -> Iterable[int]:
        row, anchors = self.crawl.rows[p], self.crawl.columns.get("anchors")
        for at, q in enumerate(row):
            if self.key[q] == 0.0 and ((anchors and self.topic in anchors[p][at].lower()) or self.named(q)):
                self.key[q] = 1.0
        changed = {*row, *self.inner.learn(p)}
        if self.parents:
            if self.found_hot(p):
                self.steps[p] = 0
            changed.update(self.nearer(p))
        return changed

    def nearer(self, p: int) -> Iterable[int]:
        """Pages brought within distance now that p is fetched."""
        level = [p]
        while level:
            following = []
            for u in level:
                for q in self.crawl.rows[u]:
                    if self.steps[u] + 1 < self.steps[q]:
                        self.steps[q] = self.steps[u] + 1
                        self.key[q] = 1.0
                        yield q
                        if self.crawl.fetched[q]:
                            following.append(q)
            level = following


class SimilarityToQuery(Ordering):
    """key = the mean IS'(anchor and URL) + IS'(parent) over links seen, each with the IDF of the moment; seeds have 2."""

    def __init__(self, crawl: Crawl, query: str, title: float = 5.0) -> None:
        super().__init__(crawl)
        self.seen: list[list[float]] = [[] for _ in crawl.rows]
        self.query, self.title = set(plain_words(query)), title
        self.df: dict[str, int] = {}
        for s in crawl.seeds:
            self.key[s] = 2.0

    def similarity(self, tf: dict[str, float]) -> float:
        vector = {word: count * self.idf(word) for word, count in tf.items()}
        asked = {word: self.idf(word) for word in self.query}
        inner = sum(vector.get(word, 0.0) * weight for word, weight in asked.items())
        length = math.sqrt(sum(w * w for w in vector.values())) * math.sqrt(sum(w * w for w in asked.values()))
        return round(inner / length, 9) if length > 0.0 else 0.0

    def idf(self, word: str) -> float:
        return math.log(1.0 + len(self.crawl.order) / max(1, self.df.get(word, 0)))

    def learn(self, p: int) -> Iterable[int]:
        crawl, tf = self.crawl, dict[str, float]()
        for column, weight in (("texts", 1.0), ("titles", self.title)):
            for word in plain_words(crawl.column(column)[p]) if weight else ():
                tf[word] = tf.get(word, 0.0) + weight
        for word in tf:
            self.df[word] = self.df.get(word, 0) + 1
        here = self.similarity(tf)
        for at, q in enumerate(crawl.rows[p]):
            said = plain_words(crawl.column("anchors")[p][at]) + plain_words(crawl.column("urls")[q].split("://")[-1])
            self.seen[q].append(self.similarity({word: float(said.count(word)) for word in said}) + here)
            if q not in crawl.seeds:
                self.key[q] = sum(self.seen[q]) / len(self.seen[q])
        return crawl.rows[p]


def plain_words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text.lower()).split()


class Domains(Ordering):
    """key = number of domains other than its own that link here; of the tests' URLs the last two labels are the domain."""

    def learn(self, p: int) -> Iterable[int]:
        domains = [".".join(host_name(url).split(".")[-2:]) for url in self.crawl.column("urls")]
        for q in self.crawl.rows[p]:
            linking = {domains[r] for r in self.crawl.order if q in self.crawl.rows[r]}
            self.key[q] = float(len(linking - {domains[q]}))
        return self.crawl.rows[p]


class Prior(Ordering):
    """Another ordering's keys times the rank of the host; pages of a host that has had its share come last."""

    def __init__(
        self, crawl: Crawl, ranks: dict[str, float], inner: str = "fpr", power: float = 1.0, most: float = 0.0
    ) -> None:
        super().__init__(crawl)
        self.inner = make(inner, crawl)
        self.inner.key = [1.0] * len(crawl.rows) if inner == "bfs" else self.inner.key
        self.hosts = [host_name(url) for url in crawl.column("urls")]
        self.weight = {host: (rank_of(host, ranks) / max(ranks.values())) ** power for host in set(self.hosts)}
        self.budget, self.taken = most, dict.fromkeys(self.hosts, 0)

    def spent(self, host: str) -> bool:
        return self.budget > 0 and self.taken[host] >= max(1, math.floor(self.budget * self.weight[host]))

    def place(self, q: int) -> Any:
        host = self.hosts[q]
        return math.inf if self.spent(host) else -(self.weight[host] * self.inner.key[q])

    def learn(self, p: int) -> Iterable[int]:
        self.taken[self.hosts[p]] += 1
        alike = [q for q in self.crawl.known if self.hosts[q] == self.hosts[p]]
        return [*self.inner.learn(p), *alike]


def rank_of(host: str, ranks: dict[str, float]) -> float:
    labels = host.split(".")
    named = [".".join(labels[at:]) for at in range(len(labels))]
    return next((ranks[name] for name in named if name in ranks), min(ranks.values()))


class Quality(Ordering):
    """key = what is inherited from the scores of fetched parents; the scores are the column ``truth``."""

    def __init__(self, crawl: Crawl, inherit: str = "mean", prior: float = 0.5) -> None:
        super().__init__(crawl)
        self.of, self.score = inherit, crawl.column("truth")
        self.given: list[list[float]] = [[] for _ in crawl.rows]
        for s in crawl.seeds:
            self.key[s] = prior

    def learn(self, p: int) -> Iterable[int]:
        for q in self.crawl.rows[p]:
            self.given[q].append(self.score[p])
            self.key[q] = inherited(self.of, self.given[q])
        return self.crawl.rows[p]


def inherited(of: str, scores: list[float]) -> float:
    total = 0.0
    for s in scores:  # in this order: sum() adds more exactly
        total += s
    return {"mean": total / len(scores), "max": max(scores), "min": min(scores), "first": scores[0]}[of]


class Combine(Ordering):
    """Weights times keys, added in the order given; a similarity part counts 1 for a hot page and 0 for another."""

    def __init__(self, crawl: Crawl, parts: Iterable[tuple[float, str, dict[str, Any]]]) -> None:
        super().__init__(crawl)
        self.parts = [(weight, make(name, crawl, **params)) for weight, name, params in parts]
        for s in crawl.seeds:
            self.add_up(s)

    def add_up(self, q: int) -> None:
        total = 0.0
        for weight, part in self.parts:
            total += weight * part.key[q]
        self.key[q] = total

    def learn(self, p: int) -> Iterable[int]:
        changed = set(self.crawl.rows[p])
        for _, part in self.parts:
            changed.update(part.learn(p))
        for q in changed:
            self.add_up(q)
        return changed


ORDERINGS: dict[str, Callable[..., Ordering]] = {
    "bfs": Ordering,
    "dfs": DepthFirst,
    "oracle": Ideal,
    "backlink": Backlink,
    "forward": Forward,
    "location": Location,
    "similarity": Similarity,
    "similarity-to-query": SimilarityToQuery,
    "opic": Opic,
    "fica": Fica,
    "fpr": FractionalPageRank,
    "surf": Surf,
    "indegree": Indegree,
    "pagerank": PageRank,
    "domains": Domains,
    "prior": Prior,
    "quality": Quality,
    "combine": Combine,
}


def make(name: str, crawl: Crawl, **params: Any) -> Ordering:
    return ORDERINGS[name](crawl, **params)


class Queue:
    """Who waits, best first. A page is entered anew when its place changes; its old entries are dropped when met."""

    def __init__(self, ordering: Ordering) -> None:
        self.ordering, self.crawl = ordering, ordering.crawl
        self.heap: list[tuple[Any, int, int]] = []
        self.places: list[Any] = [None] * len(self.crawl.rows)
        self.enter(self.crawl.seeds)

    def enter(self, pages: Iterable[int]) -> None:
        heap, places, place = self.heap, self.places, self.ordering.place
        fetched, number = self.crawl.fetched, self.crawl.number
        for q in pages:
            if not fetched[q]:
                at = place(q)
                if at != places[q]:
                    places[q] = at
                    heappush(heap, (at, number[q], q))

    def best(self) -> int | None:
        heap, places, fetched = self.heap, self.places, self.crawl.fetched
        while heap:
            at, _, q = heap[0]
            if not fetched[q] and at == places[q]:
                return q
            heappop(heap)
        return None

    def fetch(self, p: int) -> None:
        self.crawl.fetch(p)
        self.enter(self.ordering.learn(p))


def play(name: str, rows: Rows, seeds: Iterable[int], budget: int, params: dict[str, Any], **columns: Any) -> Ordering:
    """The ordering and all its state after the crawl."""
    ordering = make(name, Crawl(rows, seeds, **columns), **params)
    queue = Queue(ordering)
    while len(ordering.crawl.order) < budget and (p := queue.best()) is not None:
        queue.fetch(p)
    return ordering


class RankMass:
    """The page with the largest r, fetched or not; ``left`` is the mass that pages without links passed to nobody.

    The heap holds only pages with r >= floor: mass drips on most pages many times before their turn comes.
    """

    def __init__(self, crawl: Crawl, damping: float = 0.85, epsilon: float = 1e-7) -> None:
        self.crawl, self.damping, self.epsilon = crawl, damping, epsilon
        self.r = [0.0] * len(crawl.rows)
        self.covered = self.left = 0.0
        self.heap: list[tuple[float, int, int]] = []
        self.floor = math.inf
        self.given = 0.0
        for s in crawl.seeds:
            t = crawl.start(s)
            self.given += t
            self.r[s] = (1.0 - damping) * t

    def may_go(self, q: int) -> bool:
        return not self.crawl.fetched[q] or self.r[q] > self.epsilon

    def handle(self, p: int) -> None:
        crawl, r, floor = self.crawl, self.r, self.floor
        if not crawl.fetched[p]:
            crawl.fetch(p)
        row, mass = crawl.rows[p], r[p]
        self.covered += mass
        r[p] = 0.0
        if not row:
            self.left += self.damping * mass
            return
        share = (self.damping * mass) / len(row)
        for q in row:
            t = crawl.taken(q)
            self.given += t
            r[q] = has = r[q] + (1.0 - self.damping) * t + share
            if has >= floor and self.may_go(q):
                heappush(self.heap, (-has, crawl.number[q], q))

    def best(self) -> int | None:
        heap, r = self.heap, self.r
        while True:
            while heap:
                minus, _, q = heap[0]
                if -minus == r[q] and self.may_go(q):
                    return q
                heappop(heap)
            candidates = [q for q in self.crawl.known if self.may_go(q)]
            if not candidates:
                return None
            most = max(r[q] for q in candidates)
            self.floor = 0.9 * most if most > self.epsilon else 0.0
            for q in candidates:
                if r[q] >= self.floor:
                    heappush(heap, (-r[q], self.crawl.number[q], q))

    def cascade(self) -> None:
        """Let fetched pages pass mass on until the largest r is that of a waiting page, or is at most epsilon."""
        while (p := self.best()) is not None and self.crawl.fetched[p]:
            self.handle(p)

    def all_fetched(self) -> bool:
        return len(self.crawl.order) == len(self.crawl.known)

    def run(self, budget: int) -> None:
        while len(self.crawl.order) < budget and not self.all_fetched():
            p = self.best()
            assert p is not None
            self.handle(p)

    def run_rounds(self, budget: int, window: float) -> None:
        crawl, r = self.crawl, self.r
        while len(crawl.order) < budget and not self.all_fetched():
            able = [q for q in crawl.known if self.may_go(q)]
            ranked = sorted(able, key=lambda q: -r[q])  # stable: equal ones stay in discovery order
            for p in ranked[: max(1, int(window * len(crawl.known)))]:
                if len(crawl.order) < budget:
                    self.handle(p)


def rank_mass(crawl: Crawl, budget: int, window: float | None = None, **params: Any) -> RankMass:
    """RankMass and all its state after the crawl; what the last fetch set off is not yet passed on (``cascade``)."""
    made = RankMass(crawl, **params)
    if window is None:
        made.run(budget)
    else:
        made.run_rounds(budget, window)
    return made


def largest_site_scan(crawl: Crawl, budget: int) -> None:
    """By the definition: count and compare all waiting pages before every fetch."""
    hosts = crawl.column("hosts")
    while len(crawl.order) < budget:
        waiting = [q for q in crawl.known if not crawl.fetched[q]]
        sizes: dict[int, int] = {}
        for q in waiting:
            sizes[hosts[q]] = sizes.get(hosts[q], 0) + 1
        if not waiting:
            return
        crawl.fetch(min(waiting, key=lambda q: (-sizes[hosts[q]], crawl.number[q])))


def largest_site(crawl: Crawl, budget: int) -> None:
    """The same: pages of one host have one key, so they go in discovery order, and only hosts need a heap."""
    hosts = crawl.column("hosts")
    lines: dict[int, list[int]] = {}  # all known pages of a host, in discovery order
    gone: dict[int, int] = {}  # how many of them are fetched
    heap: list[tuple[int, int, int]] = []
    seen = 0

    def entry(host: int) -> tuple[int, int, int] | None:
        line, at = lines[host], gone[host]
        return (at - len(line), crawl.number[line[at]], host) if at < len(line) else None

    while len(crawl.order) < budget:
        changed = {hosts[q] for q in crawl.known[seen:]} | {hosts[p] for p in crawl.order[-1:]}
        for q in crawl.known[seen:]:
            lines.setdefault(hosts[q], []).append(q)
            gone.setdefault(hosts[q], 0)
        seen = len(crawl.known)
        for host in changed:
            if (now := entry(host)) is not None:
                heappush(heap, now)
        while heap and heap[0] != entry(heap[0][2]):
            heappop(heap)
        if not heap:
            return
        host = heap[0][2]
        gone[host] += 1
        crawl.fetch(lines[host][gone[host] - 1])


def running_mean(values: list[float]) -> float:
    """In single precision, as it is kept."""
    mean = 0.0
    for n, value in enumerate(values, 1):
        mean = single(mean + (value - mean) / n if n > 1 else value)
    return mean


def single(value: float) -> float:
    kept: float = struct.unpack("f", struct.pack("f", value))[0]
    return kept


def group_scan(
    crawl: Crawl, budget: int, depth: int = 2, prior: float = 0.5, strength: float = 1.0, inner: str = "quality"
) -> None:
    """By the definition: the key of every group's first page is computed before every fetch."""
    score, urls = crawl.column("truth"), crawl.column("urls")
    groups = [(depth, place_of(url, depth)) for url in urls]
    above = [[(level, place_of(url, level)) for level in range(depth)] for url in urls]
    given: list[list[float]] = [[] for _ in crawl.rows]
    worth: dict[tuple[int, str], float] = {}
    judged: dict[tuple[int, str], int] = {}
    told: dict[tuple[int, str], tuple[float, int]] = {}  # mean, of how many

    def inside(q: int) -> float:
        if inner == "quality":
            return running_mean(given[q]) if given[q] else prior
        return float(len(given[q])) if inner == "backlink" else 0.0

    def expected(q: int) -> float:
        if inner != "quality":
            return prior
        value = inside(q)
        for group in above[q]:
            value = 0.5 * (value + told[group][0]) if group in told else value
        return value

    def key(q: int) -> float:
        weight = judged.get(groups[q], 0) + strength
        return (worth.get(groups[q], 0.0) + strength * expected(q)) / weight if weight else expected(q)

    while len(crawl.order) < budget:
        firsts: dict[tuple[int, str], int] = {}
        for q in crawl.known:  # in discovery order
            if not crawl.fetched[q] and (groups[q] not in firsts or inside(q) > inside(firsts[groups[q]])):
                firsts[groups[q]] = q
        if not firsts:
            return
        p = min(firsts.values(), key=lambda q: (-key(q), crawl.number[q]))
        crawl.fetch(p)
        for group in (groups[p], *above[p]):
            worth[group] = worth.get(group, 0.0) + score[p]
            judged[group] = judged.get(group, 0) + 1
            if 10 * judged[group] >= 11 * told.get(group, (0.0, 0))[1]:
                told[group] = worth[group] / judged[group], judged[group]
        for q in crawl.rows[p]:
            given[q].append(score[p])


def place_of(url: str, depth: int) -> str:
    parts = urlsplit(url)
    folders = parts.path.split("/")[1:-1][:depth]
    return "/".join([parts.netloc, *(re.sub("[0-9]+", "#", folder) for folder in folders)])


LOOPS: dict[str, Callable[..., Any]] = {
    "group": group_scan,
    "rankmass": rank_mass,
    "largest-site": largest_site,
    "largest-site-scan": largest_site_scan,
}


def order(
    name: str,
    rows: Rows,
    seeds: Iterable[int],
    budget: int,
    *,
    hosts: Sequence[int] | None = None,
    urls: Sequence[str] | None = None,
    titles: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
    anchors: Sequence[Sequence[str]] | None = None,
    truth: Sequence[float] | None = None,
    trust: dict[str, float] | None = None,
    **params: Any,
) -> list[int]:
    """The pages in the order in which they are fetched."""
    columns = {
        "hosts": hosts,
        "urls": urls,
        "titles": titles,
        "texts": texts,
        "anchors": anchors,
        "truth": truth,
        "trust": trust,
    }
    if name in ORDERINGS:
        return play(name, rows, seeds, budget, params, **columns).crawl.order
    crawl = Crawl(rows, seeds, **columns)
    LOOPS[name](crawl, budget, **params)
    return crawl.order


def first_wrong(
    name: str,
    rows: Rows,
    seeds: Iterable[int],
    given: Iterable[int],
    *,
    slack: float = 0.0,
    params: dict[str, Any] | None = None,
    **columns: Any,
) -> int | None:
    """Where the given order first fetches a page whose key is more than slack below the best waiting one, or None.

    With slack 0 only the breaking of ties is left open. A page fetched twice or not yet known is wrong as well.
    """
    ordering = make(name, Crawl(rows, seeds, **columns), **(params or {}))
    queue, crawl = Queue(ordering), ordering.crawl
    for at, p in enumerate(given):
        best = queue.best()
        if best is None or crawl.number[p] < 0 or crawl.fetched[p] or not near(ordering, p, best, slack):
            return at
        queue.fetch(p)
    return None


def near(ordering: Ordering, p: int, best: int, slack: float) -> bool:
    mine, other = ordering.place(p), ordering.place(best)
    if isinstance(mine, tuple):
        return bool(mine[0] == other[0] and mine[1] <= other[1] + slack)
    return bool(mine <= other + slack)
