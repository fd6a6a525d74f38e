"""One sitemap: XML, an index of sitemaps, a list of one URL per line, RSS or Atom; packed by gzip or not.

Read piece by piece from a file, XML by libxml2 (lxml; no entities, no network): memory is needed for what is listed alone.
Called in a worker process: libxml2 takes minutes for some files of 50 MB. What was found when the time is nearly up counts.
"""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from frontrank.errors import need
from frontrank.pages.codings import DECODERS
from frontrank.pages.feeds import ENTRIES, PLAIN, forget, name_of
from frontrank.pages.html import MAX_URL_LENGTH
from frontrank.pages.urls import clean

MAX_BYTES = 50 * 2**20  # unpacked
MAX_URLS = 200_000  # of one file; the protocol allows 50,000
PIECE = 2**16
CPU_S = 10.0  # the largest files that the protocol allows take 3 s
NEARLY_UP = 0.8
TOOK_TOO_LONG, TOO_MANY = "reading a sitemap took too long", "a sitemap lists too many URLs"
DAY_S = 86_400.0
PERIODS = {  # what <changefreq> says, in seconds
    "always": 0.0,
    "hourly": 3_600.0,
    "daily": DAY_S,
    "weekly": 7 * DAY_S,
    "monthly": 30 * DAY_S,
    "yearly": 365 * DAY_S,
    "never": 10 * 365 * DAY_S,
}
USUAL = 0.5  # the priority of a page of which a sitemap says none
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")


class Hint(NamedTuple):
    """What a sitemap says of a page."""

    changed_at: float | None = None  # <lastmod>, in seconds since 1970
    every_s: float | None = None  # <changefreq>
    priority: float = USUAL

    def place(self, now: float) -> tuple[float, float]:
        """Smaller goes first: what its site holds for important, then what has changed lately."""
        changed_at = self.changed_at if self.changed_at is not None and self.changed_at <= now else 0.0
        return -self.priority, -changed_at

    def wait_s(self, now: float) -> float:
        """How long the page need not be looked at again, as its sitemap has it; 0: who knows.

        What has not changed for long will hardly change soon, whatever <changefreq> promises.
        """
        age_s = max(now - self.changed_at, 0.0) if self.changed_at is not None else 0.0
        return max(age_s / 2, self.every_s or 0.0)


class Listed(NamedTuple):
    """What a file lists: pages, or further files."""

    is_index: bool
    urls: list[str]
    cut: str = ""  # why there may be more
    hints: dict[str, Hint] = {}  # of the URLs of which something is said


def read_file(path: str, codings: Sequence[str], most_urls: int) -> Listed:
    """What the file lists; ``codings``: its content codings, in the order in which they were applied."""
    return read(pieces_of(path, codings), most_urls)


def read_sitemap(body: bytes, most_urls: int) -> Listed:
    """The URLs that these bytes list, in canonical form and their order.

    >>> read_sitemap(b"<urlset><url><loc> http://a.example/[1] </loc></url><!-- <url><loc>http://b/</loc></url> -->", 9).urls
    ['http://a.example/[1]']
    >>> read_sitemap(b"http://a.example/1\\nhttp://a.example/2", 9).urls
    ['http://a.example/1', 'http://a.example/2']
    """
    return read((body[start : start + PIECE] for start in range(0, len(body), PIECE)), most_urls)


def read(pieces: Iterable[bytes], most_urls: int) -> Listed:
    begun, pieces = time.process_time(), unpacked(pieces)
    most_urls = min(most_urls, MAX_URLS)
    listed = Listed(False, [], "", {})
    found: dict[str, None] = {}
    start = next(pieces, b"").removeprefix(b"\xef\xbb\xbf")
    is_text = start.lstrip()[:4].lower() == b"http"
    entries = _lines(start, pieces) if is_text else _entries(start, pieces)
    for is_index, location, hint in entries:
        if len(found) >= most_urls:
            listed = listed._replace(cut=TOO_MANY if most_urls == MAX_URLS else "")
            break
        if time.process_time() - begun > NEARLY_UP * CPU_S:
            listed = listed._replace(cut=TOOK_TOO_LONG)
            break
        if is_index and not listed.is_index:
            listed = listed._replace(is_index=True)
        if 0 < len(location) <= MAX_URL_LENGTH:
            url = clean(location)
            found[url] = None
            if hint is not None:
                listed.hints[url] = hint
    return listed._replace(urls=list(found))


def _lines(start: bytes, pieces: Iterator[bytes]) -> Iterator[tuple[bool, str, Hint | None]]:
    rest = start
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from ((False, line.decode("utf-8", "replace").strip(), None) for line in lines)
        rest = rest[: 2 * MAX_URL_LENGTH]  # of a longer line nothing is used
    yield from ((False, line.decode("utf-8", "replace").strip(), None) for line in rest.split(b"\n"))


class Reader:
    """Pieces as the file that lxml asks for."""

    def __init__(self, start: bytes, pieces: Iterator[bytes]) -> None:
        self.start, self.pieces = start, pieces

    def read(self, size: int = -1) -> bytes:
        start, self.start = self.start, b""
        return start or next(self.pieces, b"")


def _entries(start: bytes, pieces: Iterator[bytes]) -> Iterator[tuple[bool, str, Hint | None]]:
    """What stands in the <loc> of each entry, or in the <link> of a feed's. What was read is forgotten at once."""
    need("lxml")
    from lxml.etree import LxmlError, iterparse  # type: ignore[import-untyped]

    try:
        file = iterparse(Reader(start, pieces), events=("start", "end"), recover=True, **PLAIN)
        is_index = name_of(next(file)[1]) == "sitemapindex"
        for event, entry in file:
            name = name_of(entry)
            if event == "start" or name not in ("url", "sitemap", *ENTRIES):
                continue
            values = {name_of(child): (child.text or "").strip() or (child.get("href") or "").strip() for child in entry}
            forget(entry)
            if location := values.get("link" if name in ENTRIES else "loc"):
                yield is_index, location, _hint(values)
    except (LxmlError, StopIteration, OSError):
        pass  # no XML, or only up to here


def _hint(values: dict[str, str]) -> Hint | None:
    changed_at = moment(values.get("lastmod") or values.get("updated") or "")
    every_s = PERIODS.get(values.get("changefreq", "").lower())
    try:
        priority = float(values.get("priority", USUAL))
    except ValueError:
        priority = USUAL
    hint = Hint(changed_at, every_s, min(max(priority, 0.0), 1.0) if priority == priority else USUAL)
    return hint if hint != Hint() else None


def moment(text: str) -> float | None:
    """A time as W3C's notation has it (a year, a month, a day, or with the time of day); None if it is not one.

    >>> moment("2024-01"), moment("2024-01-01T12:00:00+02:00"), moment("yesterday")
    (1704067200.0, 1704103200.0, None)
    """
    found = _DATE.fullmatch(text[:40])
    try:
        year, month, day = (int(part or 1) for part in found.groups()) if found else (1, 1, 1)
        at = datetime(year, month, day) if found else datetime.fromisoformat(text[:40])
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


# Bytes -----------------------------------------------------------------------------------------------------------------------
def pieces_of(path: str, codings: Sequence[str]) -> Iterator[bytes]:
    """The bytes of a file without its content codings."""
    if all(coding == "gzip" for coding in codings):
        with open(path, "rb") as file:
            pieces = iter(lambda: file.read(PIECE), b"")
            for _ in codings:
                pieces = inflated(pieces)
            yield from pieces
        return
    body = Path(path).read_bytes()  # packed, so it is small
    for coding in codings[:0:-1]:
        body = b"".join(DECODERS[coding](body))[:MAX_BYTES]
    yield from DECODERS[codings[0]](body)


def unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces without gzip, up to the largest size.

    >>> import gzip
    >>> list(unpacked([gzip.compress(b"<urlset>")])), list(unpacked([b"<urlset>"])), list(unpacked([b"\\x1f\\x8bnot gzip"]))
    ([b'<urlset>'], [b'<urlset>'], [])
    """
    source = iter(pieces)
    start = next(source, b"")
    whole = _after(start, source)
    size = 0
    for piece in inflated(whole) if start.startswith(b"\x1f\x8b") else whole:
        yield piece[: MAX_BYTES - size]
        size += len(piece)
        if size >= MAX_BYTES:
            return


def _after(start: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    if start:
        yield start
        yield from pieces


def inflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """What gzip has packed, as far as it is whole. gzip files may follow each other."""
    decoder: Any = zlib.decompressobj(31)
    try:
        for packed in pieces:
            while packed:
                piece = decoder.decompress(packed, PIECE)
                packed = decoder.unconsumed_tail
                if piece:
                    yield piece
                if decoder.eof:
                    packed, decoder = decoder.unused_data, zlib.decompressobj(31)
        if rest := decoder.flush():
            yield rest
    except zlib.error:
        return
