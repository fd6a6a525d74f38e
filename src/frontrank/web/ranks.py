"""Ranks of hosts from other sources: how important each is before any of its pages is fetched.

    host <blank, tab or comma> rank       example.org 12.5; lines that begin with #, and a header are skipped
    Common Crawl's host or domain ranks   tab-separated, a first line "#harmonicc_pos #harmonicc_val #pr_pos #pr_val #host_rev",
                                          hosts reversed (org.example); larger harmonic centrality or PageRank is better

A host that is not in the file has the rank of the nearest domain above it that is (en.example.org: example.org), else the
smallest of all. Ranks are divided by the largest. Of lines with the same host the first counts.

A host is known by 64 bits of its name and takes 16 bytes: names are not stored, and do not become Python objects. A kernel
reads lines as nearly all of them are; the others are read one by one.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from frontrank.errors import SourceError
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.system.text_files import chunks, opened

PIECE = 2**23  # bytes read at a time
COLUMNS = ("harmonicc_val", "pr_val")
FIRST, STEP, MIX = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3), np.uint64(0xFF51AFD7ED558CCD)
TAB, NEWLINE, BLANK, PLUS, COMMA, MINUS, DOT, ZERO, NINE, UNDERSCORE = 9, 10, 32, 43, 44, 45, 46, 48, 57, 95
MAX_DIGITS = 18  # that an integer of 64 bits holds
EXACT = 22  # powers of ten that a float64 holds exactly
EMPTY = "{path}: contains no host with its rank; expected lines such as: example.org 12.5"
Places = tuple[int, int]  # the columns of host and rank


class Ranks:
    """Weights of hosts, from above 0 to 1."""

    def __init__(self, keys: Array, ranks: Array) -> None:
        by_key = np.argsort(keys, kind="stable")
        self.keys, self.weights = keys[by_key], ranks[by_key]
        again = np.flatnonzero(self.keys[1:] == self.keys[:-1]) + 1
        if again.size:
            self.keys, self.weights = np.delete(self.keys, again), np.delete(self.weights, again)
        self.weights /= self.weights.max()
        self.least = float(self.weights.min())

    @classmethod
    def of_hosts(cls, ranks: Mapping[str, float]) -> Ranks:
        """Of hosts by name, in lower case."""
        return cls(np.array([_key_of(host) for host in ranks], np.int64), np.array(list(ranks.values()), np.float64))

    def digest(self) -> str:
        """What tells these ranks from others."""
        return hashlib.blake2b(self.keys.tobytes() + self.weights.tobytes(), digest_size=16).hexdigest()

    def of(self, host: str) -> float:
        """
        >>> ranks = Ranks.of_hosts({"example.org": 4.0, "example.com": 1.0})
        >>> ranks.of("en.example.org"), ranks.of("example.com"), ranks.of("other.example")
        (1.0, 0.25, 0.25)
        """
        name = host.lower()
        while name:
            key = _key_of(name)
            at = int(np.searchsorted(self.keys, key))
            if at < self.keys.size and self.keys[at] == key:
                return float(self.weights[at])
            name = name.partition(".")[2]
        return self.least


def _key_of(host: str) -> int:
    name = np.frombuffer(host.encode("utf-8", "surrogatepass"), np.uint8)
    return int(compiled(_key)(name, 0, name.size, False))


def host_ranks(path: str, column: str) -> Ranks:
    """The ranks in a file; it is read once for as long as it does not change."""
    try:
        changed = os.stat(path).st_mtime_ns
    except (OSError, ValueError) as error:  # a name with a zero byte is no name
        why = error.strerror if isinstance(error, OSError) else error
        raise SourceError(f"{path}: the ranks of hosts cannot be read ({why})") from None
    return _read(path, column, changed)


def named_ranks(path: str, column: str) -> dict[str, float]:
    """The same by name, for a file that is small."""
    with opened(path) as file:
        return read_ranks((line.decode("utf-8", "replace") for line in file), path, column)


def read_ranks(lines: Iterable[str], path: str, column: str = COLUMNS[0]) -> dict[str, float]:
    """Hosts and ranks in these lines; ``path`` is what they are called in errors."""
    found: dict[str, float] = {}
    places: Places | None = None
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if number == 1 and text.startswith("#harmonicc_pos"):
            places = _places(path, text, column)
        elif text and not text.startswith("#"):
            named = _entry(text, places, f"{path}, line {number}", number == 1)
            if named is not None:
                found.setdefault(*named)
    if not found:
        raise SourceError(EMPTY.format(path=path))
    return found


@lru_cache(maxsize=4)
def _read(path: str, column: str, changed: int) -> Ranks:
    keys, ranks = [np.empty(0, np.int64)], [np.empty(0)]
    for some, of in _pieces(path, column):
        keys.append(some)
        ranks.append(of)
    joined = np.concatenate(keys)
    keys.clear()
    if not joined.size:
        raise SourceError(EMPTY.format(path=path))
    return Ranks(joined, np.concatenate(ranks))


def _pieces(path: str, column: str) -> Iterator[tuple[Array, Array]]:
    """Keys and ranks, some millions at a time."""
    places: Places | None = None  # in Common Crawl's tables
    line = 0  # lines read
    for data in chunks(path, PIECE):
        bytes_ = np.frombuffer(data, np.uint8)
        keys = np.empty(data.count(b"\n") + 1, np.int64)
        ranks = np.empty(keys.size)
        at = found = 0
        while at < bytes_.size:
            if line:  # the first may be a head
                of = places or (0, 1)
                at, read, found = compiled(_plain_lines)(bytes_, at, places is not None, *of, keys, ranks, found)
                line += read
            if at < bytes_.size:  # a line of another kind
                end = data.find(b"\n", at) + 1 or bytes_.size
                text = data[at:end].decode("utf-8", "replace").strip()
                at, line = end, line + 1
                if line == 1 and text.startswith("#harmonicc_pos"):
                    places = _places(path, text, column)
                elif text and not text.startswith("#"):
                    named = _entry(text, places, f"{path}, line {line}", line == 1)
                    if named is not None:
                        keys[found], ranks[found] = _key_of(named[0]), named[1]
                        found += 1
        yield keys[:found].copy(), ranks[:found].copy()


def _places(path: str, head: str, column: str) -> Places:
    names = [name.strip().removeprefix("#") for name in head.split("\t")]
    if "host_rev" not in names or column not in names:
        raise SourceError(f"{path}: columns must be host_rev and {column}, as Common Crawl names them, got {', '.join(names)}")
    return names.index("host_rev"), names.index(column)


def _entry(text: str, places: Places | None, where: str, first: bool) -> tuple[str, float] | None:
    """Host and rank of a line; nothing if it is the first, and names columns."""
    parts = text.split("\t") if places else text.replace(",", " ").split()
    at, of = places or (0, 1)
    if len(parts) <= max(at, of):
        raise SourceError(f"{where}: must be a host and its rank, got {text[:80]!r}")
    try:
        rank = float(parts[of])
    except ValueError:
        if first:
            return None
        rank = math.nan
    if not (math.isfinite(rank) and rank > 0.0):
        raise SourceError(f"{where}: a rank must be a number above 0, got {parts[of]!r}")
    host = ".".join(reversed(parts[at].strip().split("."))) if places else parts[at]
    return host.lower(), rank


@kernel
def _key(data: Array, begin: int, end: int, turned: bool) -> Any:
    """64 bits of the name that lies there, or of its labels from the last to the first."""
    key = FIRST
    if turned:
        last = end
        for at in range(end - 1, begin - 2, -1):
            if at < begin or data[at] == DOT:
                for i in range(at + 1, last):
                    key = (key ^ np.uint64(data[i])) * STEP
                if at >= begin:
                    key = (key ^ np.uint64(DOT)) * STEP
                last = at
    else:
        for at in range(begin, end):
            key = (key ^ np.uint64(data[at])) * STEP
    key = (key ^ (key >> np.uint64(33))) * MIX
    return np.int64(key ^ (key >> np.uint64(33)))


@kernel
def _is_plain(data: Array, begin: int, end: int) -> bool:
    """Whether a name has letters in lower case, digits, dots, dashes and underscores alone."""
    for at in range(begin, end):
        c = data[at]
        if not ((c >= 97 and c <= 122) or (c >= ZERO and c <= NINE) or c in (DOT, MINUS, UNDERSCORE)):
            return False
    return end > begin


@kernel
def _number(data: Array, begin: int, end: int) -> float:
    """The number that lies there, if it is plain and above 0; else 0."""
    whole = np.int64(0)
    digits = power = 0
    at = begin
    dot = False
    while at < end and ((data[at] >= ZERO and data[at] <= NINE) or (data[at] == DOT and not dot)):
        if data[at] == DOT:
            dot = True
        else:
            whole = whole * 10 + (np.int64(data[at]) - ZERO)
            digits += 1 if digits > 0 or whole > 0 else 0
            power -= 1 if dot else 0
        at += 1
    if at == begin or digits > MAX_DIGITS:
        return 0.0
    if at < end and (data[at] == 69 or data[at] == 101):  # E, e
        at += 1
        sign = -1 if at < end and data[at] == MINUS else 1
        if at < end and (data[at] == MINUS or data[at] == PLUS):
            at += 1
        ten: Any = 0
        from_ = at
        while at < end and at - from_ < 3 and data[at] >= ZERO and data[at] <= NINE:
            ten = ten * 10 + int(np.int64(data[at]) - ZERO)
            at += 1
        if at == from_:
            return 0.0
        power += sign * ten
    if at < end or power < -EXACT or power > EXACT:
        return 0.0
    return float(whole) / 10.0**-power if power < 0 else float(whole) * 10.0**power


@kernel
def _plain_lines(
    data: Array, at: int, table: bool, host_at: int, rank_at: int, keys: Array, ranks: Array, found: int
) -> tuple[int, int, int]:
    """Lines from this place on, as long as they are plain; returns the place after them, their number, and all found."""
    lines = 0
    while at < data.size:
        column = 0
        host_begin = host_end = rank_begin = rank_end = begin = at
        end = at
        while True:
            c = data[end] if end < data.size else NEWLINE
            if c in (TAB, NEWLINE) or (not table and c in (BLANK, COMMA)):
                if column == host_at:
                    host_begin, host_end = begin, end
                if column == rank_at:
                    rank_begin, rank_end = begin, end
                column += 1
                begin = end + 1
            if c == NEWLINE:
                break
            end += 1
        rank = _number(data, rank_begin, rank_end) if column > max(host_at, rank_at) else 0.0
        if rank == 0.0 or not _is_plain(data, host_begin, host_end):
            break
        keys[found] = _key(data, host_begin, host_end, table)
        ranks[found] = rank
        found += 1
        lines += 1
        at = end + 1
    return at, lines, found
