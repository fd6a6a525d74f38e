"""Generated webs that may be larger than memory, written straight to disk on all cores, for benchmarks:

    python -m benchmarks.large_web pages=98e6,links=12 big.web
    python -m benchmarks.large_web pages=1e6,frontier=0.3,impact=0.01,seed=7 million.crawl

| key | meaning | default |
|---|---|---|
| ``pages`` | number of pages | 1,000,000 |
| ``links`` | mean number of links of a page | 12 |
| ``hosts`` | number of hosts | an eighth of pages^0.6 |
| ``locality`` | share of links that stay on the host | 0.8 |
| ``frontier`` | share of pages that are not fetched; with it, the result is a crawl for ``frontrank rank`` | 0 |
| ``impact`` | share of pages that have views | 0.004 |
| ``seed`` | another seed gives another web | 0 |

Sites are as in ``synthetic:`` webs: host sizes are Zipfian, in random order; the pages of a host form a tree, root first;
a page links to its children, most also to the root, their parent and the menu; out-degrees have the tail
P(D > d) ~ d^-1.6. There are no URLs, topics or texts, and no link is copied from another page, because that page would
have to be in memory. The other links go to page i of a host with odds ~ i^-7/8, or to the root; hosts are drawn by size.
In-degrees follow a power law all the same: a tenth of all pages link to one of a few roots. Where a page has more local
links than its host has pages, the excess goes to other hosts, and less than ``locality`` stays.

Pages that are not fetched have no known links, but their parents are fetched, so a crawler has discovered them. A page
with views has 1/(1 - u) of them, u uniform in [0, 1).

The links of a page depend only on its number and the seed, so the web has the same bytes for any number of threads. Each
thread makes a piece of 262,144 pages at a time. Memory: these pieces, and 24 bytes per host. Time: 145 ns of CPU time per
link for 98 million pages, on a busy machine.
"""

from __future__ import annotations

import argparse
import math
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.large_links import LinkPlan, fill_degrees, fill_targets, sum_draws
from frontrank.errors import FrontrankError, SpecError
from frontrank.kernels.jit import Array, compiled
from frontrank.kernels.threads import cores
from frontrank.sources.imported_crawl import write_manifest as write_crawl_manifest
from frontrank.sources.specification import Specification
from frontrank.sources.synthetic import MAX_CHILDREN, MAX_SEEDS, MIN_CHILDREN, usual_hosts, zipf_sizes
from frontrank.sources.synthetic_links import fill_below, shuffled
from frontrank.sources.web_directory import check_web_target, write_manifest
from frontrank.system.capacity import check_disk, free_memory, gb
from frontrank.system.files import NpyFile, Progress, written_beside
from frontrank.web.links import MAX_PAGES
from frontrank.web.web import Web

PIECE = 2**18  # pages; the sum of the draws is rounded piece by piece, so it is part of what a seed gives
MAX_LINKS = 1000.0
MAX_WAITING = 0.45  # each has a parent that does not wait
DTYPES = {"indptr": np.int64, "targets": np.int32, "hosts": np.int32, "views": np.float64, "fetched": np.int32}


class Piece(NamedTuple):
    """Some pages in a row: where each one's links end, counted within the piece, and the rest."""

    ends: Array
    targets: Array
    hosts: Array
    views: Array
    fetched: Array


@dataclass(frozen=True)
class Large(Specification):
    """What a large web is made by; ``write`` makes it on disk, ``build`` in memory.

    >>> Large(pages=1000, links=5.0).build().links
    4996
    """

    pages: int = 1_000_000
    links: float = 12.0  # mean out-degree, pages that are not fetched among them
    hosts: int = 0  # 0: an eighth of pages^0.6
    locality: float = 0.8  # share of links that stay on the host
    frontier: float = 0.0  # share of pages that are not fetched
    impact: float = 0.004  # share of pages with views
    seed: int = 0
    kind = "large"
    broken = frozenset({"links", "locality", "frontier", "impact"})

    def __post_init__(self) -> None:
        self._whole("pages", 2, MAX_PAGES)
        self._number("links", 1.0, min(MAX_LINKS, self.pages / 4), ", at most a quarter of pages")
        self._whole("hosts", 0, self.pages, ", at most one for each page")
        self._number("locality", 0.0, 1.0)
        self._number("frontier", 0.0, MAX_WAITING)
        self._number("impact", 0.0, 1.0)
        self._whole("seed", 0, 2**63 - 1)

    def write(self, where: Path, progress: Progress | None) -> None:
        """Write a web directory into a directory that exists; InputError if the disk has no room for it."""
        each = 8 + 4 * self.links + 4 + 8 + (4 if self.frontier > 0 else 0)
        check_disk(where, self.name, round(self.pages * each))
        parts = {name: dtype for name, dtype in DTYPES.items() if name != "fetched" or self.frontier > 0}
        with ExitStack() as stack:
            files = {n: stack.enter_context(NpyFile(where / f"{n}.npy", t)) for n, t in parts.items()}
            files["indptr"].append(np.zeros(1, np.int64))
            for piece in self._pieces(progress):
                files["indptr"].append(files["targets"].size + piece.ends)
                for name in parts:
                    if name != "indptr":
                        files[name].append(getattr(piece, name))
        np.save(where / "seeds.npy", self._seeds)
        write_manifest(where, self.name, self.pages, files["targets"].size, None, ["hosts", "seeds", "views"])
        if self.frontier > 0:
            write_crawl_manifest(where, files["fetched"].size)

    def build(self, progress: Progress | None = None) -> Web:
        """The web in memory; SpecError if it does not fit."""
        needed, free = round(self.pages * (28 + 8 * self.links)), free_memory()  # the pieces, and what is put together of them
        if free is not None and needed > free:
            raise SpecError(
                f"{self.name} takes {gb(needed)} in memory, and {gb(free)} are free; "
                f"write it to disk, and use that: python -m benchmarks.large_web {self.name} large.web"
            )
        pieces = list(self._pieces(progress))
        starts = np.cumsum([0, *(len(piece.targets) for piece in pieces)])
        ends = [begin + piece.ends for begin, piece in zip(starts[:-1], pieces, strict=True)]
        return Web(
            np.concatenate([np.zeros(1, np.int64), *ends]),
            np.concatenate([piece.targets for piece in pieces]),
            hosts=np.concatenate([piece.hosts for piece in pieces]),
            views=np.concatenate([piece.views for piece in pieces]),
            seeds=self._seeds,
            name=self.name,
        )

    @cached_property
    def _layout(self) -> tuple[Array, Array, Array]:
        """Of each host its first page and its branching; and the hosts from the largest to the smallest."""
        with np.errstate(over="ignore"):  # interpreted, unsigned scalars complain when they wrap; they are meant to
            rng = np.array([self.seed], np.uint64)
            hosts = self.hosts or usual_hosts(self.pages, self.pages)
            by_size = compiled(shuffled)(np.arange(hosts, dtype=np.int32), rng)
            size = np.empty(hosts, np.int64)
            size[by_size] = zipf_sizes(self.pages, hosts)
            first = np.zeros(hosts + 1, np.int64)
            np.cumsum(size, out=first[1:])
            branching = np.empty(hosts, np.int64)
            compiled(fill_below)(branching, MAX_CHILDREN - MIN_CHILDREN + 1, rng)
        return first, branching + MIN_CHILDREN, by_size

    @property
    def _seeds(self) -> Array:
        first, _, by_size = self._layout
        seeds: Array = first[by_size[:MAX_SEEDS]].astype(np.int32)
        return seeds

    def _plan(self, pool: ThreadPoolExecutor) -> LinkPlan:
        first, branching, _ = self._layout
        waiting = self.frontier / (1.0 - self.frontier)  # of w = (1 - w) q
        rough = LinkPlan(first, branching, waiting, float(self.impact), 0.0, 0.0, self.seed)
        told = list(pool.map(lambda cut: compiled(sum_draws)(rough, *cut), self._cuts()))
        draws, children = (math.fsum(sums) for sums in zip(*told, strict=True))
        free = max(0.0, self.links * self.pages - children)
        stay = (self.locality * self.links * self.pages - children) / max(free, 1.0)
        return rough._replace(stay=min(max(stay, 0.0), 1.0), scale=free / max(draws, 1.0))

    def _cuts(self) -> list[tuple[int, int]]:
        return [(begin, min(begin + PIECE, self.pages)) for begin in range(0, self.pages, PIECE)]

    def _pieces(self, progress: Progress | None) -> Iterator[Piece]:
        """The pages in order, some of them made ahead."""
        threads, cuts = cores(), self._cuts()
        with np.errstate(over="ignore"), ThreadPoolExecutor(threads) as pool:
            plan = self._plan(pool)
            waiting: deque[Future[Piece]] = deque()
            for k, cut in enumerate(cuts):
                waiting.append(pool.submit(_piece, plan, *cut))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
                if progress is not None:
                    progress(f"{self.name}: {100 * k // len(cuts)}% of {self.pages:,} pages")
            while waiting:
                yield waiting.popleft().result()


def _piece(plan: LinkPlan, begin: int, end: int) -> Piece:
    degree, hosts, views = np.empty(end - begin, np.int64), np.empty(end - begin, np.int32), np.empty(end - begin)
    links = compiled(fill_degrees)(plan, begin, degree, hosts, views)
    targets = np.empty(links, np.int32)
    compiled(fill_targets)(plan, begin, degree, targets)
    fetched = (begin + np.flatnonzero(degree >= 0)).astype(np.int32)
    return Piece(np.cumsum(np.maximum(degree, 0)), targets, hosts, views, fetched)


def write_large(spec: str, target: Path, force: bool = False, progress: Progress | None = None) -> None:
    """Write the web of this specification, with or without ``large:`` before it, as a web directory."""
    web = Large.parse(spec.removeprefix("large:"))
    check_web_target(target, force)
    with written_beside(target) as beside:
        beside.mkdir()
        web.write(beside, progress)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_web")
    parser.add_argument("spec", help="key=value,..., such as pages=98e6,links=12")
    parser.add_argument("target", type=Path)
    parser.add_argument("--force", action="store_true", help="replace a web that exists")
    options = parser.parse_args()
    try:
        write_large(options.spec, options.target, options.force)
    except FrontrankError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
