"""The web that a crawler captured: WARC files (ISO 28500), or WAT files (Common Crawl's extract of them: links, no text).

    WARC    response records: HTTP status, headers and body; resource records of HTML
    WAT     metadata records of JSON: Envelope / WARC-Header-Metadata / WARC-Target-URI, and under Payload-Metadata /
            HTTP-Response-Metadata the status, the headers, HTML-Metadata / Links [{path, url, text}], Head / Title, Base

Pages are what was captured with a status of 200 to 299, and redirects, which are pages with one link. Of a URL that was
captured twice the first counts. What is no HTML is a page only if a page links to it; robots.txt and error pages are none.
The world is closed unless ``uncaptured`` is asked for: links to pages that were not captured are dropped.

Seeds: the first page captured, and every page that no other links to.

Cost: one pass; memory for all link targets, anchors and texts. Mostly parsing HTML: about 1 ms for a page of 40 kB.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from array import array
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple, cast

import numpy as np

from frontrank.pages import html
from frontrank.pages.codings import DECODERS
from frontrank.errors import SourceError
from frontrank.web.files import GZIP_MAGIC, is_gzip
from frontrank.web.web import Texts, Web, hosts_from_urls

NAMES = (".warc", ".warc.gz", ".wat", ".wat.gz")
MAGIC = b"WARC/"
MOST_BODY = 64 * 2**20  # bytes of a record that are looked at
LONGEST_HEAD = 2**16
BATCH = 4_096
REDIRECTS = (301, 302, 303, 307, 308)
Progress = Callable[[str], None]


class Record(NamedTuple):
    """One record of a WARC file; names of its headers in lower case."""

    head: dict[str, str]
    block: bytes


class Capture(NamedTuple):
    """What was captured at a URL."""

    url: str
    is_html: bool = False
    title: str = ""
    text: str = ""
    links: list[tuple[str, str]] = []


def is_warc(path: str) -> bool:
    """Whether a file is called WARC or WAT, or begins like one."""
    if path.lower().endswith(NAMES):
        return True
    try:
        with gzip.open(path) if is_gzip(path) else open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, EOFError, zlib.error):
        return False


def find(folder: str) -> list[str]:
    """The WARC and WAT files in a directory, by name."""
    try:
        return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.lower().endswith(NAMES))
    except OSError as error:
        raise SourceError(f"{folder}: cannot be read ({error.strerror or error})") from None


def load_warc(path: str | os.PathLike[str], progress: Progress | None = None, uncaptured: bool = False) -> Web:
    """The web in a WARC or WAT file, or in all those of a directory.

    ``uncaptured`` keeps the targets of links that were not captured, as pages without links or text.
    """
    where = os.fspath(path)
    files = find(where) if os.path.isdir(where) else [where]
    if not files:
        raise SourceError(f"{where}: no file in it is called {', '.join(NAMES)}")
    found = _Found()
    for file in files:
        for number, record in enumerate(records(file), 1):
            if (capture := _capture(record, file, number)) is not None:
                found.add(capture)
            if progress is not None and number % 1000 == 1:
                progress(f"reading {os.path.basename(file)}, {len(found.titles):,} pages")
    if not found.titles:
        raise SourceError(f"{where}: no page was captured in it; expected response records, or metadata records of a WAT file")
    return found.web(os.path.basename(os.path.normpath(where)), uncaptured)


# --- records ---


def records(path: str) -> Iterator[Record]:
    """The records of a file, plain or gzip; blocks are cut at 64 MiB."""
    number = 0
    try:
        with open(path, "rb") as raw:
            packed = raw.read(2) == GZIP_MAGIC
            raw.seek(0)
            file = cast(IO[bytes], gzip.GzipFile(fileobj=raw) if packed else raw)
            while True:
                number += 1
                begin = file.tell()
                record = _next(file, f"{path}, record {number} (byte {begin:,}{' unpacked' if packed else ''})")
                if record is None:
                    return
                yield record
    except EOFError:
        raise SourceError(
            f"{path}, at record {number}: the gzip stream ends early; the file is truncated, fetch it again"
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise SourceError(f"{path}, at record {number}: the gzip stream is damaged ({error}); fetch the file again") from None
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror or error})") from None


def _next(file: IO[bytes], at: str) -> Record | None:
    """The record that begins here, or None at the end of the file. ``at`` names the place in messages."""
    line = file.readline(LONGEST_HEAD)
    while line in (b"\r\n", b"\n"):
        line = file.readline(LONGEST_HEAD)
    if not line:
        return None
    if not line.startswith(MAGIC):
        raise SourceError(f"{at}: begins with {line[:20]!r}, expected WARC/1.0 or WARC/1.1; this is no WARC file, or damaged")
    head: dict[str, str] = {}
    size = 0
    while (line := file.readline(LONGEST_HEAD)) not in (b"\r\n", b"\n"):
        size += len(line)
        if not line.endswith(b"\n") or size > LONGEST_HEAD:
            raise SourceError(f"{at}: its headers do not end; the file is truncated or damaged, fetch it again")
        name, _, value = line.decode("utf-8", "replace").partition(":")
        head[name.strip().lower()] = value.strip()
    length = head.get("content-length", "")
    if not (length.isascii() and length.isdigit() and len(length) < 16):
        raise SourceError(f"{at}: Content-Length is {length[:40]!r}, expected a number of bytes")
    return Record(head, _block(file, int(length), at))


def _block(file: IO[bytes], length: int, at: str) -> bytes:
    block = file.read(min(length, MOST_BODY))
    left = length - len(block)
    while left and (piece := file.read(min(left, 2**20))):
        left -= len(piece)
    if left:
        raise SourceError(f"{at}: {length:,} bytes announced, {length - left:,} there; the file is truncated, fetch it again")
    return block


# --- captures ---


def _capture(record: Record, path: str, number: int) -> Capture | None:
    """What a record says of a page; None if it is of another kind, or no page."""
    kind, content_type = record.head.get("warc-type", ""), record.head.get("content-type", "")
    if kind == "metadata" and "json" in content_type:
        try:
            return _from_wat(json.loads(record.block))
        except (ValueError, RecursionError):
            raise SourceError(f"{path}, record {number}: not the JSON of a WAT file; fetch the file again") from None
    url = _page_url(record.head.get("warc-target-uri", ""))
    if url is None:
        return None
    if kind == "resource" and "html" in content_type:
        return _from_html(url, record.block, content_type)
    return _from_http(url, record.block) if kind == "response" else None


def _page_url(uri: str) -> str | None:
    """The canonical URL of what was captured, if it can be a page."""
    url = html.resolve("", uri.strip("<> "))
    return url if url and url.split("/", 3)[3] != "robots.txt" else None


def _from_http(url: str, block: bytes) -> Capture | None:
    top, _, body = block.partition(b"\r\n\r\n")
    first, *lines = top.decode("utf-8", "replace").split("\r\n")
    head = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    status = _number(first.split(" ")[1] if first.count(" ") else "")
    if status in REDIRECTS and head.get("location"):
        return _redirect(url, head["location"])
    if not 200 <= status < 300:
        return None
    content_type = head.get("content-type", "")
    if content_type and "html" not in content_type.lower():
        return Capture(url)
    return _from_html(url, _decoded(body, head), content_type)


def _from_html(url: str, body: bytes, content_type: str) -> Capture:
    if html.looks_binary(body):
        return Capture(url)
    page = html.parse(body, url, content_type.lower().partition("charset=")[2].partition(";")[0])
    return Capture(url, True, page.title, page.text, page.links)


def _redirect(url: str, location: str) -> Capture:
    target = html.resolve(url, location)
    return Capture(url, True, links=[(target, "")] if target else [])


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0


def _decoded(body: bytes, head: dict[str, str]) -> bytes:
    """The body without its transfer and content encodings; as it is where it was kept decoded, or is damaged."""
    if "chunked" in head.get("transfer-encoding", "").lower():
        body = _unchunked(body)
    encoding = head.get("content-encoding", "").lower().removeprefix("x-")
    return _unpacked(body, encoding) if encoding in DECODERS else body


def _unpacked(body: bytes, encoding: str) -> bytes:
    found = bytearray()
    try:
        for piece in DECODERS[encoding](body):
            found += piece
            if len(found) >= MOST_BODY:
                break
    except Exception:  # each library has its own; what came before counts
        pass
    return bytes(found[:MOST_BODY]) or body


def _unchunked(body: bytes) -> bytes:
    pieces, at = [], 0
    while (end := body.find(b"\r\n", at)) >= 0:
        try:
            size = int(body[at:end].partition(b";")[0], 16)
        except ValueError:
            return body  # kept decoded, with its header as it came
        if size <= 0:
            break
        pieces.append(body[end + 2 : end + 2 + size])
        at = end + 2 + size + 2
    return b"".join(pieces) or body


def _from_wat(data: Any) -> Capture | None:
    envelope = _within(data, "Envelope")
    about = _within(envelope, "WARC-Header-Metadata")
    url = _page_url(str(about.get("WARC-Target-URI", "")))
    http = _within(_within(envelope, "Payload-Metadata"), "HTTP-Response-Metadata")
    if url is None or about.get("WARC-Type", "response") != "response" or not http:
        return None
    status = _number(str(_within(http, "Response-Message").get("Status", "")))
    location = next((str(value) for key, value in _within(http, "Headers").items() if key.lower() == "location"), "")
    if status in REDIRECTS and location:
        return _redirect(url, location)
    if not 200 <= status < 300:
        return None
    page = _within(http, "HTML-Metadata")
    head = _within(page, "Head")
    base = html.resolve(url, str(head.get("Base") or "")) or url
    links = page.get("Links")
    return Capture(url, bool(page), _line(head.get("Title")), "", _wat_links(base, links if isinstance(links, list) else []))


def _wat_links(base: str, links: list[Any]) -> list[tuple[str, str]]:
    anchors: dict[str, list[str]] = {}
    for link in links:
        if isinstance(link, dict) and link.get("path") in ("A@/href", "AREA@/href"):
            target = html.resolve(base, str(link.get("url", "")))
            if target:
                text = _line(link.get("text") or link.get("alt"))
                anchors.setdefault(target, []).extend([text] if text else [])
    return [(target, " ".join(texts)) for target, texts in anchors.items()]


def _within(data: Any, key: str) -> dict[str, Any]:
    held = data.get(key) if isinstance(data, dict) else None
    return held if isinstance(held, dict) else {}


def _line(text: Any) -> str:
    return " ".join(str(text or "").encode("utf-8", "replace").decode().split())


# --- the web ---


class _Found:
    """What was captured so far. URLs are numbered as they are met, captured or not."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}
        self.captured: dict[int, bool] = {}  # in order of capture: whether it is HTML
        self.titles: list[str] = []
        self.texts: list[Any] = []  # Arrow arrays of a batch each
        self.batch: list[str] = []
        self.has_text = False
        self.source, self.target = array("i"), array("i")
        self.anchors: list[str] = []

    def add(self, capture: Capture) -> None:
        page = self._page(capture.url)
        if page in self.captured:
            return
        self.captured[page] = capture.is_html
        self.titles.append(capture.title)
        self.batch.append(capture.text)
        self.has_text = self.has_text or bool(capture.text)
        if len(self.batch) >= BATCH or len(capture.text) > 2**20:
            self._pack()
        for url, anchor in capture.links:
            self.source.append(page)
            self.target.append(self._page(url))
            self.anchors.append(anchor)

    def _page(self, url: str) -> int:
        return self.number.setdefault(url, len(self.number))

    def _pack(self) -> None:
        import pyarrow as pa

        self.texts.append(pa.array(self.batch, pa.string()))
        self.batch = []

    def web(self, name: str, uncaptured: bool) -> Web:
        """All of it as a web: captured pages in their order, then the others if they are asked for."""
        import pyarrow as pa

        self._pack()
        captured = np.fromiter(self.captured, np.int64, len(self.captured))
        source, target = np.array(self.source, np.int64), np.array(self.target, np.int64)
        linked = np.zeros(len(self.number), bool)
        linked[target[source != target]] = True
        keep = np.fromiter(self.captured.values(), bool, len(captured)) | linked[captured]
        if not keep.any():
            keep[:] = True  # captures without a single page of HTML
        others = np.setdiff1d(np.arange(len(self.number)), captured) if uncaptured else captured[:0]
        order = np.concatenate([captured[keep], others])
        place = np.full(len(self.number), -1, np.int64)
        place[order] = np.arange(len(order))
        strings = list(self.number)
        urls = [strings[at] for at in order.tolist()]
        texts = pa.chunked_array(self.texts, pa.string()).filter(pa.array(keep))
        blank = [""] * len(others)
        texts = pa.chunked_array([*texts.chunks, pa.array(blank, pa.string())], pa.string())
        inside = (place[source] >= 0) & (place[target] >= 0)
        hosts, host_names = hosts_from_urls(urls)
        return Web.from_edges(
            place[source[inside]],
            place[target[inside]],
            len(order),
            anchors=[anchor for anchor, kept in zip(self.anchors, inside.tolist(), strict=True) if kept],
            hosts=hosts,
            host_names=host_names,
            urls=urls,
            titles=[title for title, kept in zip(self.titles, keep.tolist(), strict=True) if kept] + blank,
            texts=Texts(texts) if self.has_text else None,
            seeds=np.union1d([0], np.flatnonzero(~linked[captured[keep]])).astype(np.int32),
            name=name,
        )
