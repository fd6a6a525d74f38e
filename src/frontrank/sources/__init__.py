"""Where webs come from: one function, ``load``, for every format; ``save`` writes the one that loads fastest.

What lies at the path decides the format (see ``docs/sources.md``):

    synthetic:pages=1000,seed=7                   a generated web
    a directory with trace.db                     what a live crawl fetched (frontrank crawl)
    a directory with web.json                     a web directory, as ``save`` writes it
    a directory with pages.tsv and links.tsv      a crawl as tab-separated files (or .tsv.gz)
    *.warc, *.wat (or .gz), a directory of them   what a crawler captured
    BASE, where BASE.properties exists            a BVGraph; also BASE.graph, BASE.properties, or a directory with one
    any other file                                an edge list
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from frontrank.errors import SourceError
from frontrank.sources.web_directory import save
from frontrank.web.web import Web

__all__ = ["load", "save"]

SYNTHETIC = "synthetic:"
Progress = Callable[[str], None]


def load(path: str | os.PathLike[str], progress: Progress | None = None, uncaptured: bool = False) -> Web:
    """The web at a path, whatever its format. ``progress`` is told, in a few words, what is being read.

    ``uncaptured`` is for WARC and WAT files: targets of links that were not captured become pages too, without links.
    """
    where = os.fspath(path)
    if uncaptured:
        from frontrank.pages.warc_reader import find, is_warc
        from frontrank.sources.captured import load_warc

        if not (find(where) if os.path.isdir(where) else is_warc(where)):
            raise SourceError(f"{where}: no WARC or WAT file; uncaptured pages are known from such files only")
        return replace(load_warc(where, progress, uncaptured), source=where)
    return replace(_load(where, progress), source=where)


def _load(where: str, progress: Progress | None) -> Web:
    if where.startswith(SYNTHETIC):
        from frontrank.sources.synthetic import synthetic

        return synthetic(where.removeprefix(SYNTHETIC))
    if os.path.isdir(where):
        return _load_directory(where, progress)
    base = bvgraph_base(where)
    if base is not None:
        return _load_bvgraph(base, progress)
    if os.path.isfile(where):
        from frontrank.pages.warc_reader import is_warc
        from frontrank.sources.captured import load_warc

        if is_warc(where):
            return load_warc(where, progress)
        from frontrank.sources.edges import load_edges

        return load_edges(where, progress=progress)
    raise SourceError(
        f"{where}: no such file; expected an edge list, a crawl or web directory, the base name of a BVGraph "
        f"({where}.properties does not exist either) or synthetic:pages=...,seed=..."
    )


def bvgraph_base(path: str) -> str | None:
    """The base name of the BVGraph that this path is part of, if it is. Base names hold dots, so none is cut off."""
    for base in (path, path.removesuffix(".graph"), path.removesuffix(".properties")):
        if os.path.isfile(base + ".properties"):
            return base
    if path.endswith(".graph") and os.path.isfile(path):
        raise SourceError(f"{path}: {path.removesuffix('.graph')}.properties is missing; a BVGraph needs both files")
    return None


def _load_bvgraph(base: str, progress: Progress | None) -> Web:
    from frontrank.sources.bvgraph import load_bvgraph

    if progress is not None:
        progress(f"decoding {os.path.basename(base)}.graph")
    return load_bvgraph(base)


def _load_directory(where: str, progress: Progress | None) -> Web:
    from frontrank.pages import warc_reader
    from frontrank.sources import captured, live_crawl, tsv, web_directory

    if live_crawl.is_crawled(where):
        return live_crawl.load_crawled(where)
    if os.path.isfile(os.path.join(where, web_directory.MANIFEST)):
        return web_directory.load_directory(where)
    if tsv.find(where, "pages") and tsv.find(where, "links"):
        return tsv.load_tsv_crawl(where, progress)
    try:
        found = sorted(name for name in os.listdir(where) if name.endswith(".properties"))
    except OSError as error:
        raise SourceError(f"{where}: cannot be read ({error.strerror or error})") from None
    if len(found) == 1:
        return _load_bvgraph(os.path.join(where, found[0].removesuffix(".properties")), progress)
    if not found and warc_reader.find(where):
        return captured.load_warc(where, progress)
    if found:
        raise SourceError(f"{where}: {len(found)} graphs in it ({', '.join(found)}); name one of these files")
    raise SourceError(
        f"{where}: a directory of no known kind; expected web.json, or pages.tsv and links.tsv (or .tsv.gz), "
        "or WARC or WAT files, or one BVGraph (a .properties and a .graph file)"
    )
