"""What a live crawl fetched, as a web: every other ordering can be tried on it afterwards.

    DIR/trace.db    pages, links, anchors, titles (see ``frontrank.crawl.journal``)
    DIR/warc/       texts, read when they are first asked for

Pages are numbered in the order in which they were fetched, so page 0 is the first. Only fetched pages are part of it: what
a page that was never fetched links to is not known, and an ordering that went there could not be judged. A redirect is a
page with one link. The crawl may still be running.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from frontrank.crawl.events import UNCHANGED, Failed, Fetched, ImpactReported, Seeded, WorkloadChanged
from frontrank.crawl.integrity import checked_rows, sentences
from frontrank.crawl.journal import FILE, Journal
from frontrank.crawl.stored import stored_spec
from frontrank.errors import SourceError, need
from frontrank.kernels.jit import Array
from frontrank.system.files import Progress
from frontrank.web.strings import Deferred
from frontrank.web.view import Workload, workload_from
from frontrank.web.web import Web, hosts_from_urls


def is_crawled(where: str | os.PathLike[str]) -> bool:
    return os.path.isfile(os.path.join(where, FILE))


def load_fetched(path: str, progress: Progress | None = None) -> Web:
    return load_crawled(path)


def load_crawled(where: str | os.PathLike[str], waiting: bool = False) -> Web:
    """The pages that a crawl fetched, with the links between them; ``waiting`` adds those that wait, behind them."""
    folder = Path(where)
    journal = Journal.open(folder, read_only=True)
    try:
        names = [url for urls, _ in journal.urls() for url in urls]
        with sentences(journal):
            found = _read(journal, len(names))
        if not found.pages:
            raise SourceError(f"{folder}: this crawl has fetched no page yet; there is nothing to simulate on")
        kept, notes, policy = journal.has_texts(), journal.notes, stored_spec(journal)
    finally:
        journal.close()
    pages = found.pages
    if waiting:
        others = set(range(len(names))).difference(pages, found.failed)
        pages = [*pages, *sorted(others)]
    more = len(pages) - len(found.pages)
    number = np.full(len(names), -1, np.int64)
    number[pages] = np.arange(len(pages))
    urls = [names[page] for page in pages]
    blobs, anchors, titles = (
        [*column, *[empty] * more] for column, empty in ((found.blobs, b""), (found.anchors, ""), (found.titles, ""))
    )
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
        seeds=np.unique(number[[page for page in found.seeds if number[page] >= 0]]).astype(np.int32),
        **_impacts(found, pages, notes.get("impact_by", "")),
        queries=found.queries[-1] if found.queries else None if "workload" not in notes else workload_from(notes["workload"]),
        crawled_with=policy,
        fetched=len(found.pages),
        name=folder.resolve().name,
    )


class Found(NamedTuple):
    """What the events of a crawl tell: of its fetched pages, in their order; and its seeds and failed pages."""

    pages: list[int]
    blobs: list[bytes]
    anchors: list[str]
    titles: list[str]
    impact: list[float]
    seeds: list[int]
    failed: list[int]
    told: list[ImpactReported]  # of what searchers made of pages
    queries: list[Workload]  # asked since, in place of those before


def _read(journal: Journal, known: int) -> Found:
    found = Found([], [], [], [], [], [], [], [], [])
    place: dict[int, int] = {}
    for event in (row for rows in journal.rows() for row in checked_rows(journal.folder, rows, known)):
        if event.kind == Seeded.kind:
            found.seeds.append(event.page)
        elif event.kind == Failed.kind:
            found.failed.append(event.page)
        elif event.kind == ImpactReported.kind:
            found.told.append(ImpactReported.of(event))
        elif event.kind == WorkloadChanged.kind:
            found.queries.append(WorkloadChanged.of(event).workload)
        elif event.kind == Fetched.kind and not (event.status == UNCHANGED and event.page in place):
            told = (event.page, event.links or b"", event.anchors or "", event.title or "", event.impact or 0.0)
            at = place.setdefault(event.page, len(found.pages))
            columns: tuple[list[Any], ...] = found[:5]
            for column, value in zip(columns, told, strict=True):
                column[at : at + 1] = [value]  # a page that came back stays where it was, with what it is now
    return found


def _impacts(found: Found, pages: list[int], impact_by: str) -> dict[str, Any]:
    """Views and clicks of these pages, the last that were told, and which of them count."""
    told: dict[str, dict[int, float]] = {"views": {}, "clicks": {}}
    by = impact_by or next(("clicks" if one.views is None else "views" for one in found.told), "views")
    for page, impact in zip(found.pages, found.impact, strict=True):
        if impact:
            told[by][page] = impact
    for one in found.told:
        for name in told:
            if (value := getattr(one, name)) is not None:
                told[name][one.page] = value
    columns = {name: np.array([of.get(page, 0.0) for page in pages]) if of else None for name, of in told.items()}
    return {**columns, "impact_by": by if columns[by] is not None and (impact_by or found.told) else ""}


def _picked(anchors: list[str], lengths: Array, inside: Array) -> list[str]:
    words = [
        word
        for text, length in zip(anchors, lengths.tolist(), strict=True)
        for word in (text.split("\n") if text else [""] * length)
    ]
    return [word for word, kept in zip(words, inside.tolist(), strict=True) if kept]


def _texts(folder: Path, urls: list[str], pages: list[int], kept: bool) -> Any:
    need("pyarrow")
    import pyarrow as pa

    if kept:  # the ordering read them, so the trace has them
        journal = Journal.open(folder, read_only=True)
        try:
            return pa.array(journal.texts(pages), pa.string())
        finally:
            journal.close()
    from frontrank.sources.captured import load_warc

    stored = load_warc(folder / "warc")
    assert stored.urls is not None
    held = dict(zip(stored.urls, stored.texts or [""] * stored.pages, strict=True))
    return pa.array([held.get(url, "") for url in urls], pa.string())
