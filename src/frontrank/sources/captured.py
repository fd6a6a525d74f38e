"""The web that a crawler captured: WARC files (ISO 28500), or WAT files (Common Crawl's extract of them: links, no text).

    WARC    response records: HTTP status, headers and body; resource records of HTML
    WAT     metadata records of JSON: Envelope / WARC-Header-Metadata / WARC-Target-URI, and under Payload-Metadata /
            HTTP-Response-Metadata the status, the headers, HTML-Metadata / Links [{path, url, text}], Head / Title, Base

Pages are what was captured with a status of 200 to 299, and redirects, which are pages with one link. Of a URL that was
captured twice the first counts. What is not HTML is a page only if a page links to it; robots.txt and error pages are not.
A page on which the HTML parser takes too long (pages/bounded.py) has the links that are found without it, and no text.
Links are those that a live crawl follows: none of a page whose owner asks for that (nofollow in <meta> or X-Robots-Tag, to
all crawlers or to frontrank), and rel=canonical of a Link header, too.
The world is closed unless ``uncaptured`` is asked for: links to pages that were not captured are dropped.

Seeds: the first page captured, and every page that no other links to.

Cost: one pass; memory for all link targets, anchors and texts. Mostly parsing HTML: about 1 ms for a page of 40 kB.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import SourceError
from frontrank.pages import bounded, feeds, html
from frontrank.pages.directives import OWN_NAME
from frontrank.pages.page_headers import NONE as NO_HEADERS
from frontrank.pages.page_headers import PageHeaders
from frontrank.pages.warc_reader import NAMES, Record, decoded, find, is_warc, records
from frontrank.system.lazy import pa
from frontrank.system.workers import Workers
from frontrank.web.strings import Texts
from frontrank.web.web import Web, hosts_from_urls

BATCH = 4_096
REDIRECTS = (301, 302, 303, 307, 308)
Progress = Callable[[str], None]


class Capture(NamedTuple):
    """What was captured at a URL."""

    url: str
    is_html: bool = False
    title: str = ""
    text: str = ""
    links: list[tuple[str, str]] = []


def is_captured(path: str) -> bool:
    """Whether this is a WARC or WAT file, or a directory of them."""
    return bool(find(path)) if os.path.isdir(path) else os.path.isfile(path) and is_warc(path)


def load_warc(path: str | os.PathLike[str], progress: Progress | None = None, uncaptured: bool = False) -> Web:
    """The web in a WARC or WAT file, or in all those of a directory.

    ``uncaptured`` keeps the targets of links that were not captured, as pages without links or text.
    """
    where = os.fspath(path)
    files = find(where) if os.path.isdir(where) else [where]
    if not files:
        raise SourceError(f"{where}: contains no file called {', '.join(NAMES)}")
    found = _Captured()
    with Workers(1) as workers:
        for file in files:
            for number, record in enumerate(records(file), 1):
                if (capture := _capture(record, file, number, workers)) is not None:
                    found.add(capture)
                if progress is not None and number % 1000 == 1:
                    progress(f"reading {os.path.basename(file)}, {len(found.titles):,} pages")
    if not found.titles:
        raise SourceError(f"{where}: contains no captured page; expected response records, or metadata records of a WAT file")
    return found.web(os.path.basename(os.path.normpath(where)), uncaptured)


# --- captures ---


def _capture(record: Record, path: str, number: int, workers: Workers) -> Capture | None:
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
        return _from_html(url, record.block, content_type, workers)
    return _from_http(url, record.block, workers) if kind == "response" else None


def _page_url(uri: str) -> str | None:
    """The canonical URL of what was captured, if it can be a page."""
    url = html.resolve("", uri.strip("<> "))
    return url if url and url.split("/", 3)[3] != "robots.txt" else None


def _from_http(url: str, block: bytes, workers: Workers) -> Capture | None:
    top, _, body = block.partition(b"\r\n\r\n")
    first, *lines = top.decode("utf-8", "replace").split("\r\n")
    fields = [line.partition(b":") for line in top.split(b"\r\n")[1:]]
    headers = PageHeaders.of([(name.strip(), value.strip()) for name, _, value in fields])
    head = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    status = _number(first.split(" ")[1] if first.count(" ") else "")
    if status in REDIRECTS and head.get("location"):
        return _redirect(url, head["location"])
    if not 200 <= status < 300:
        return None
    content_type = head.get("content-type", "")
    if content_type and "html" not in content_type.lower():
        return _from_feed(url, decoded(body, head), content_type, workers, headers)
    return _from_html(url, decoded(body, head), content_type, workers, headers)


def _from_feed(url: str, body: bytes, content_type: str, workers: Workers, headers: PageHeaders) -> Capture:
    """A feed; what is no feed has the links of its headers."""
    page = html.Page()
    if feeds.is_feed(content_type.partition(";")[0].strip().lower(), body):
        with suppress(Exception):  # as in a live crawl: what takes too long has no links
            page = workers.call(feeds.read_feed, body, url)
    page = headers.add_links(url, page)
    links = [] if page.directives(OWN_NAME, headers.statements).nofollow else page.links
    return Capture(url, bool(page.links), page.title, "", links)


def _from_html(url: str, body: bytes, content_type: str, workers: Workers, headers: PageHeaders = NO_HEADERS) -> Capture:
    if html.looks_binary(body):
        return Capture(url)
    page = bounded.parse(workers, body, url, content_type.lower().partition("charset=")[2].partition(";")[0])
    if headers.links:
        page = headers.add_links(url, page)
    links = [] if page.directives(OWN_NAME, headers.statements).nofollow else page.links
    return Capture(url, True, page.title, page.text, links)


def _redirect(url: str, location: str) -> Capture:
    target = html.resolve(url, location)
    return Capture(url, True, links=[(target, "")] if target else [])


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0


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
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, dict) else {}


def _line(text: Any) -> str:
    return " ".join(str(text or "").encode("utf-8", "replace").decode().split())


# --- the web ---


class _Captured:
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
        self.texts.append(pa.array(self.batch, pa.string()))
        self.batch = []

    def web(self, name: str, uncaptured: bool) -> Web:
        """All of it as a web: captured pages in their order, then the others if they are asked for."""
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
