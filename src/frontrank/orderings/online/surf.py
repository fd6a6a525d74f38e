"""surf: exact, incremental PageRank of what is known, from the seeds, pages fetched and pages known. Our own ordering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from frontrank.kernels.jit import Column, Kernel
from frontrank.orderings.online.surf_kernels import FETCHED, SMALLNESS, STARTS, TURN, on_fetch, on_seed, surf
from frontrank.orderings.tracer import Tracer
from frontrank.orderings.trust import NO_TRUST, Trust, Trusting

AUTO, UNSET = "auto", -1.0  # as people write it, and as kernels read it


def _auto_or(value: float | str, fits: Callable[[float], bool]) -> bool:
    return value == AUTO or (isinstance(value, float) and fits(value))


@dataclass(frozen=True)
class Surf(Trusting):
    """surf: the page that a random surfer of the known pages would visit most often first.

    surf keeps, for every known page, the probability that a random surfer of the links fetched so far is there, which is its
    PageRank, and fetches the waiting page where that is highest. Each fetch updates the probabilities of a few pages only, so
    they are never computed anew. The surfer returns to the seeds, to pages just fetched and to random known pages, and avoids
    parts of the web that discover only themselves.

        at a seed:      r = 1/(number of seeds)
        at a fetch of p, three pages receive mass, one unit in all if n = 1:
            r(p) += (1 - a) l n(p)        p, the page fetched
            r(s) += 1 - l                 s, the next seed in turn
            r(x) += a l                   x, a known page drawn at random
        then p, and up to seven fetched pages x with r(x) > eps, in the order in which they passed it, hand on:
            r(q) += d r(x) w(x, q)/W(x)   for each link from x to q;  then r(x) = 0
        key(q) = r(q), for waiting pages q

        r(q)      the mass of q: what reaches it in PageRank, except what is still to be handed on
        w(x, q)   the weight of a link: m if it leads to another host, else 1;  W(x) is the sum over the links of x
        d         the share of its mass that a page hands on
        l         the share of new mass that does not start at a seed
        a         the share of that which starts at a page drawn
        n(p)      novelty, from 0 to 1: how much the region of p still has to discover
        eps       the mass from which a fetched page hands on

    m, a, d and the exponent e of novelty follow from how large hosts are:

        m = max(1, 30 * mean of 1/sqrt(known pages of a host) over the known hosts);  v = 1 - 1/m
        a = 0.1 + 0.3 v;  d = 0.92 - 0.17 v;  e = 0.5 + 3 v

    v, *variety*, is 0 where hosts are large and near 1 where they are many and small. In a few large hosts nearly every link is
    a vote like any other. Among many small hosts, links between hosts lead to what is new, and mass that starts only at fetched
    pages would stay in the hosts that were found first.

        l = min(0.95, 1/(1 + sqrt(S/1000)/H)), with S seeds on H known hosts

    Many seeds on one host are a sample of it, worth returning to. Where many hosts are known, links between them say more.

        n(p) = min(1, F/f)^e
        f         the share of the known pages of p's region that have been fetched;  F: the same share of all known pages

    Novelty is the defence against traps. An endless calendar feeds itself: each of its pages brings mass that stays in it, but
    discovers only one page for each one fetched. A page belongs to the region of the page that discovered it, if both are on
    the same host, else to the first region of its host. A region has about 100 pages: a page of a full region begins a new one
    with the pages that it discovers; each seed begins one, too. Pages of good regions are also fetched early, so e is small
    where there is little variety. Chains are far from the seeds: for pages discovered more than 2 log2(known pages) links from
    a seed, e is at least 2 and d at most 0.8.

    A drawn page that still waits has no known links, so another page gets its mass: the last one fetched of its region; without
    one, the page of another host that found the region; else p. A revisited page brings mass again, which follows its present
    links; it counts once for f and F.

    With ``trust``, the pages that the file lists take the place of the seeds, from their discovery on, with turns by weight.

    Parameters, none of which needs to be set: ``l``, ``m``, ``g`` (for e) and ``d``, each fixed by a number; ``eps``;
    ``trust``, a file. ``g=0`` switches the defence off.

    Others are better (docs/decisions.md has figures) on webs grown by preferential attachment: backlink; and, by the share of
    hot pages found, on a square grid and on a single host of which much is a calendar: pagerank.

    Reference: ours. docs/results/leaderboard.md compares it with all others. With l = 0 all mass starts at
    seeds, as in RankMass. Cost: at most eight pages hand on for each one fetched; 8 to 10 times fpr.

    >>> from frontrank import Web, order
    >>> web = Web.from_edges([0, 0, 1, 1, 2], [1, 2, 3, 4, 4], pages=5)
    >>> order(web, "surf", seeds=[0])
    [0, 1, 2, 4, 3]
    """

    l: float | str = AUTO  # noqa: E741
    m: float | str = AUTO
    g: float | str = AUTO
    d: float | str = AUTO
    eps: float = 0.1
    trust: Trust = NO_TRUST
    name = "surf"
    per_link = ("mass", "mark", "host")
    touches = "known"
    columns = {
        "mass": Column(),
        "mark": Column(np.uint8),
        "todo": Column(np.int32),  # of a page that is to hand on: the one after it
        "depth": Column(np.int32),  # links from a seed on the way on which it was discovered
        "away": Column(np.int32),  # links of a fetched page that lead to other hosts
        "region": Column(np.int32),  # the number of its first page, from 1; 0 is a page not discovered
        "known": Column(np.int32),  # pages of a region
        "taken": Column(np.int32),  # pages of a region that were fetched
        "speaker": Column(np.int32),  # the page that speaks for the waiting pages of a region, from 1
        "met": Column(np.int32),  # pages as they were discovered
        "host_region": Column(np.int32, per="host"),
        "host_pages": Column(np.int32, per="host"),
        "seed": Column(np.int32),
        "weight": Column(),  # of seeds
        "weights": Column(per="crawl"),
        "count": Column(np.int64, per="crawl", slots=9),
    }
    counters = {"count": (TURN, FETCHED, STARTS, SMALLNESS)}

    def validate(self) -> None:
        self.require(_auto_or(self.l, lambda l: 0 <= l <= 1), "l", "a number from 0 to 1, or auto")  # noqa: E741
        self.require(_auto_or(self.m, lambda m: m > 0), "m", "a number above 0, or auto")
        self.require(_auto_or(self.g, lambda g: g >= 0), "g", "a number from 0, or auto")
        self.require(_auto_or(self.d, lambda d: 0 < d < 1), "d", "a number between 0 and 1, or auto")
        self.require(self.eps > 0, "eps", "a number above 0")

    def optional_needs(self) -> frozenset[str]:
        return frozenset({"hosts"})

    def parameters(self) -> dict[str, int | float]:
        fixed = {name: UNSET if isinstance(value := getattr(self, name), str) else value for name in ("m", "g", "d")}
        local = UNSET if isinstance(self.l, str) else self.l
        return {**fixed, "eps": self.eps, "local": local, **self.trust.parameters()}

    def kernels(self) -> dict[str, Kernel]:
        return {**super().kernels(), "on_seed": on_seed, "on_fetch": on_fetch, "on_revisit": surf}

    def tracer(self) -> Tracer:
        from frontrank.orderings.online.surf_trace import SurfTracer

        return SurfTracer(self)
