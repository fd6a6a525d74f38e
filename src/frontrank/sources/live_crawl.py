"""What a live crawl fetched, as a web: every other ordering can be tried on it afterwards.

    DIR/trace.db    pages, links, anchors, titles (see ``frontrank.crawl.journal``)
    DIR/warc/       texts, read when they are first asked for

Pages are numbered in the order in which they were fetched, so page 0 is the first. Only fetched pages are part of it: the
links of other pages are not known, so an ordering that went there could not be judged. A redirect is a
page with one link. The crawl may still be running.
"""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from frontrank.crawl.events import UNCHANGED, Failed, Fetched, ImpactReported, Seeded, WorkloadChanged
from frontrank.crawl.integrity import checked_rows, sentences
from frontrank.crawl.journal import FILE, Journal
from frontrank.crawl.stored import stored_spec
from frontrank.errors import SourceError
from frontrank.kernels.jit import Array
from frontrank.system.files import Progress
from frontrank.system.lazy import pa
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
    with closing(Journal.open(folder, read_only=True)) as journal:
        names = [url for urls, _ in journal.urls() for url in urls]
        with sentences(journal):
            found = _read(journal, len(names))
        if not found.pages:
            raise SourceError(f"{folder}: this crawl has fetched no page yet; there is nothing to simulate on")
        has_texts, notes, policy = journal.has_texts(), journal.notes, stored_spec(journal)
    pages = found.pages
    if waiting:
        others = set(range(len(names))).difference(pages, found.failed)
        pages = [*pages, *sorted(others)]
    urls = [names[page] for page in pages]
    hosts, host_names = hosts_from_urls(urls)
    texts: Deferred | None = None
    if has_texts or (folder / "warc").is_dir():
        texts = Deferred(len(urls), lambda: _texts(folder, urls, pages, has_texts), str(folder))
    columns = {**_links(found, pages, len(names)), **_impacts(found, pages, notes.get("impact_by", ""))}
    return Web.from_edges(
        columns.pop("source"),
        columns.pop("target"),
        len(pages),
        hosts=hosts,
        host_names=host_names,
        urls=urls,
        titles=[*found.titles, *[""] * (len(pages) - len(found.pages))],
        texts=texts,
        queries=found.queries[-1] if found.queries else None if "workload" not in notes else workload_from(notes["workload"]),
        crawled_with=policy,
        fetched=len(found.pages),
        name=folder.resolve().name,
        **columns,
    )


def _links(found: FoundEvents, pages: list[int], known: int) -> dict[str, Any]:
    """The links between these pages, their anchors, and the seeds, under the new numbers of pages."""
    number = np.full(known, -1, np.int64)
    number[pages] = np.arange(len(pages))
    lengths = np.array([len(blob) // 4 for blob in found.blobs])
    target = number[np.frombuffer(b"".join(found.blobs), "<i4")]
    inside = target >= 0
    return {
        "source": np.repeat(np.arange(len(lengths)), lengths)[inside],
        "target": target[inside],
        "anchors": _picked(found.anchors, lengths, inside) if any(found.anchors) else None,
        "seeds": np.unique(number[[page for page in found.seeds if number[page] >= 0]]).astype(np.int32),
    }


class FoundEvents(NamedTuple):
    """What the events of a crawl say of its fetched pages, in their order; and its seeds and failed pages."""

    pages: list[int]
    blobs: list[bytes]
    anchors: list[str]
    titles: list[str]
    impact: list[float]
    seeds: list[int]
    failed: list[int]
    impacts: list[ImpactReported]  # reported later
    queries: list[Workload]  # workloads set later; the last one counts


def _read(journal: Journal, known: int) -> FoundEvents:
    found = FoundEvents([], [], [], [], [], [], [], [], [])
    place: dict[int, int] = {}
    for event in (row for rows in journal.rows() for row in checked_rows(journal.folder, rows, known)):
        if event.kind == Seeded.kind:
            found.seeds.append(event.page)
        elif event.kind == Failed.kind:
            found.failed.append(event.page)
        elif event.kind == ImpactReported.kind:
            found.impacts.append(ImpactReported.of(event))
        elif event.kind == WorkloadChanged.kind:
            found.queries.append(WorkloadChanged.of(event).workload)
        elif event.kind == Fetched.kind and not (event.status == UNCHANGED and event.page in place):
            row = (event.page, event.links or b"", event.anchors or "", event.title or "", event.impact or 0.0)
            at = place.setdefault(event.page, len(found.pages))
            columns: tuple[list[Any], ...] = found[:5]
            for column, value in zip(columns, row, strict=True):
                column[at : at + 1] = [value]  # a revisited page keeps its place, and its data is replaced
    return found


def _impacts(found: FoundEvents, pages: list[int], impact_by: str) -> dict[str, Any]:
    """Views and clicks of these pages, the last that were reported, and which of them count."""
    impact_of: dict[str, dict[int, float]] = {"views": {}, "clicks": {}}
    by = impact_by or next(("clicks" if one.views is None else "views" for one in found.impacts), "views")
    for page, impact in zip(found.pages, found.impact, strict=True):
        if impact:
            impact_of[by][page] = impact
    for one in found.impacts:
        for name in impact_of:
            if (value := getattr(one, name)) is not None:
                impact_of[name][one.page] = value
    columns = {name: np.array([of.get(page, 0.0) for page in pages]) if of else None for name, of in impact_of.items()}
    return {**columns, "impact_by": by if columns[by] is not None and (impact_by or found.impacts) else ""}


def _picked(anchors: list[str], lengths: Array, inside: Array) -> list[str]:
    words = [
        word
        for text, length in zip(anchors, lengths.tolist(), strict=True)
        for word in (text.split("\n") if text else [""] * length)
    ]
    return [word for word, kept in zip(words, inside.tolist(), strict=True) if kept]


def _texts(folder: Path, urls: list[str], pages: list[int], has_texts: bool) -> Any:
    if has_texts:  # the ordering read them, so the trace has them
        with closing(Journal.open(folder, read_only=True)) as journal:
            return pa.array(journal.texts(pages), pa.string())
    from frontrank.sources.captured import load_warc

    stored = load_warc(folder / "warc")
    assert stored.urls is not None
    text_of = dict(zip(stored.urls, stored.texts or [""] * stored.pages, strict=True))
    return pa.array([text_of.get(url, "") for url in urls], pa.string())
