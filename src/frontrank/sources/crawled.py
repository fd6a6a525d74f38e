"""What a live crawl fetched, as a web: every other ordering can be tried on it afterwards.

    DIR/trace.db    pages, links, anchors, titles (see ``frontrank.journal``)
    DIR/warc/       texts, read when they are first asked for

Pages are numbered in the order in which they were fetched, so page 0 is the first. Only fetched pages are part of it: what
a page that was never fetched links to is not known, and an ordering that went there could not be judged. A redirect is a
page with one link. The crawl may still be running.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from frontrank import journal as log
from frontrank.errors import SourceError
from frontrank.journal import Journal
from frontrank.kernel import Array
from frontrank.sources.deferred import Deferred
from frontrank.web import Web, hosts_from_urls


def is_crawled(where: str | os.PathLike[str]) -> bool:
    return os.path.isfile(os.path.join(where, log.FILE))


def load_crawled(where: str | os.PathLike[str]) -> Web:
    """The pages that a crawl fetched, with the links between them."""
    folder = Path(where)
    journal = Journal.open(folder, read_only=True)
    try:
        pages, seeds, blobs, anchors, titles = _read(journal)
        if not pages:
            raise SourceError(f"{folder}: this crawl has fetched no page yet; there is nothing to simulate on")
        names = [url for url, _ in journal.urls()]
        kept = journal.has_texts()
    finally:
        journal.close()
    number = np.full(len(names), -1, np.int64)
    number[pages] = np.arange(len(pages))
    urls = [names[page] for page in pages]
    lengths = np.array([len(blob) // 4 for blob in blobs])
    target = number[np.frombuffer(b"".join(blobs), "<i4")]
    inside = target >= 0
    hosts, host_names = hosts_from_urls(urls)
    texts: Deferred | None = None
    if kept or (folder / "warc").is_dir():
        texts = Deferred(len(urls), lambda: _texts(folder, urls, pages, kept), str(folder))
    return Web.from_edges(
        np.repeat(np.arange(len(pages)), lengths)[inside],
        target[inside],
        len(pages),
        anchors=_picked(anchors, lengths, inside) if any(anchors) else None,
        hosts=hosts,
        host_names=host_names,
        urls=urls,
        titles=titles,
        texts=texts,
        seeds=np.unique(number[[page for page in seeds if number[page] >= 0]]).astype(np.int32),
        name=folder.resolve().name,
    )


def _read(journal: Journal) -> tuple[list[int], list[int], list[bytes], list[str], list[str]]:
    pages, seeds, blobs, anchors, titles = [], [], [], [], []
    for event in journal.events():
        if event.kind == log.SEED:
            seeds.append(event.page)
        elif event.kind == log.FETCHED:
            pages.append(event.page)
            blobs.append(event.links or b"")
            anchors.append(event.anchors or "")
            titles.append(event.title or "")
    return pages, seeds, blobs, anchors, titles


def _picked(anchors: list[str], lengths: Array, inside: Array) -> list[str]:
    words = [
        word
        for text, length in zip(anchors, lengths.tolist(), strict=True)
        for word in (text.split("\n") if text else [""] * length)
    ]
    return [word for word, kept in zip(words, inside.tolist(), strict=True) if kept]


def _texts(folder: Path, urls: list[str], pages: list[int], kept: bool) -> Any:
    import pyarrow as pa

    if kept:  # the ordering read them, so the trace has them
        journal = Journal.open(folder, read_only=True)
        try:
            return pa.array(journal.texts(pages), pa.string())
        finally:
            journal.close()
    from frontrank.sources.warc import load_warc

    stored = load_warc(folder / "warc")
    assert stored.urls is not None
    held = dict(zip(stored.urls, stored.texts or [""] * stored.pages, strict=True))
    return pa.array([held.get(url, "") for url in urls], pa.string())
