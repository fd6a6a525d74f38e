"""Ranks of hosts from elsewhere: how much each is worth before anything of it is fetched.

    host <blank, tab or comma> rank       example.org 12.5; lines that begin with #, and a head, are passed over
    Common Crawl's host or domain ranks   tab-separated, a first line "#harmonicc_pos #harmonicc_val #pr_pos #pr_val #host_rev",
                                          hosts reversed (org.example); larger harmonic centrality or PageRank is better

A host that a file does not name has the rank of the nearest domain above it that is named (en.example.org: example.org), else
the smallest of all. Ranks are divided by the greatest. Of a file that is longer than ``MOST`` lines the first count: Common
Crawl's are sorted, the best first.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

from frontrank.errors import SourceError
from frontrank.web.files import opened

MOST = 2_000_000
COLUMNS = ("harmonicc_val", "pr_val")


class Ranks:
    """Weights of hosts, from above 0 to 1."""

    def __init__(self, weights: dict[str, float]) -> None:
        self.given = weights
        greatest = max(weights.values())
        self.weights = {host: rank / greatest for host, rank in weights.items()}
        self.least = min(self.weights.values())

    def of(self, host: str) -> float:
        """
        >>> ranks = Ranks({"example.org": 4.0, "example.com": 1.0})
        >>> ranks.of("en.example.org"), ranks.of("example.com"), ranks.of("other.example")
        (1.0, 0.25, 0.25)
        """
        name = host.lower()
        while name:
            found = self.weights.get(name)
            if found is not None:
                return found
            name = name.partition(".")[2]
        return self.least


def host_ranks(path: str, column: str) -> Ranks:
    """The ranks in a file; it is read once for as long as it does not change."""
    try:
        changed = os.stat(path).st_mtime_ns
    except (OSError, ValueError) as error:  # a name with a zero byte is no name
        why = error.strerror if isinstance(error, OSError) else error
        raise SourceError(f"{path}: the ranks of hosts cannot be read ({why})") from None
    return _read(path, column, changed)


@lru_cache(maxsize=4)
def _read(path: str, column: str, changed: int) -> Ranks:
    with opened(path) as file:
        return read_ranks((line.decode("utf-8", "replace") for line in islice(file, MOST)), path, column)


def read_ranks(lines: Iterable[str], path: str, column: str = COLUMNS[0]) -> Ranks:
    """The ranks in these lines; ``path`` is what they are called in errors."""
    weights: dict[str, float] = {}
    places: tuple[int, int] | None = None  # of host and rank, in Common Crawl's tables
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if number == 1 and text.startswith("#harmonicc_pos"):
            places = _places(path, text, column)
        elif text and not text.startswith("#"):
            _enter(weights, text, places, f"{path}, line {number}", number == 1)
    if not weights:
        raise SourceError(f"{path}: no host and its rank in it; expected a line such as: example.org 12.5")
    return Ranks(weights)


def _places(path: str, head: str, column: str) -> tuple[int, int]:
    names = [name.strip().removeprefix("#") for name in head.split("\t")]
    if "host_rev" not in names or column not in names:
        raise SourceError(f"{path}: columns must be host_rev and {column}, as Common Crawl names them, got {', '.join(names)}")
    return names.index("host_rev"), names.index(column)


def _enter(weights: dict[str, float], text: str, places: tuple[int, int] | None, where: str, first: bool) -> None:
    parts = text.split("\t") if places else text.replace(",", " ").split()
    at, of = places or (0, 1)
    if len(parts) <= max(at, of):
        raise SourceError(f"{where}: must be a host and its rank, got {text[:80]!r}")
    try:
        rank = float(parts[of])
    except ValueError:
        if first:
            return  # the names of columns
        rank = math.nan
    if not (math.isfinite(rank) and rank > 0.0):
        raise SourceError(f"{where}: a rank must be a number above 0, got {parts[of]!r}")
    host = ".".join(reversed(parts[at].strip().split("."))) if places else parts[at]
    weights.setdefault(host.lower(), rank)
