"""Where webs come from: one function, ``load``, for every format; ``save`` writes the one that loads fastest,
and ``convert`` converts any format to that one, many of them without having the web in memory.

What lies at the path decides the format (see ``docs/sources.md``):

    synthetic:pages=1000,seed=7                   a generated web
    a directory with trace.db                     what a live crawl fetched (frontrank crawl)
    a directory with crawl.json                   a crawl with its searchers (frontrank import)
    a directory with web.json                     a web directory, as ``save`` writes it
    a directory with pages.tsv and links.tsv      a crawl as tab-separated files (or .tsv.gz)
    a directory with links.parquet                a web in Parquet, with pages.parquet
    a directory with vertices and edges files     Common Crawl's graph of hosts or domains
    BASE, where BASE.properties exists            a BVGraph; also BASE.graph, BASE.properties, or a directory with one
    *.warc, *.wat (or .gz), a directory of them   what a crawler captured
    what another package reads                    see docs/plugins.md
    any other file                                an edge list

``kinds`` holds this list as code; NAME:PATH asks for one of its kinds by name.
"""

from __future__ import annotations

import os
from dataclasses import replace

from frontrank.errors import InputError, SourceError
from frontrank.sources.kinds import Kind, source_of
from frontrank.sources.parquet_web import check_parquet_target, is_parquet_target, write_parquet
from frontrank.sources.web_directory import check_web_target, save
from frontrank.system.files import Progress, written_beside
from frontrank.web.web import Web

__all__ = ["convert", "load", "save"]

TABLES = (".csv", ".tsv", ".json", ".jsonl", ".gz", ".md", ".xlsx", ".wacz")  # endings of what a web is not written as


def load(path: str | os.PathLike[str], progress: Progress | None = None, uncaptured: bool = False) -> Web:
    """The web at a path, whatever its format. ``progress`` is told, in a few words, what is being read.

    ``uncaptured`` is for WARC and WAT files: targets of links that were not captured become pages too, without links.
    """
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise SourceError(f"a web must be given by its path or specification, such as synthetic:pages=1000, got {path!r}")
    where = os.fspath(path)
    if uncaptured:
        from frontrank.sources.captured import is_captured, load_warc

        if not is_captured(where):
            raise SourceError(f"{where}: no WARC or WAT file; uncaptured pages are known from such files only")
        return replace(load_warc(where, progress, uncaptured), source=where)
    source, given = source_of(where)
    web = source.load(given, progress)
    if not isinstance(web, Web):
        raise SourceError(f"{where}: the source {source!r} must give a Web, got {type(web).__name__}")
    return replace(web, source=where)


def convert(
    path: str | os.PathLike[str],
    target: str | os.PathLike[str],
    force: bool = False,
    progress: Progress | None = None,
    uncaptured: bool = False,
) -> Web:
    """Write the web at a path as a web directory, and open that; or in Parquet, if the target ends with .parquet, from the web.

    Edge lists, BVGraphs and webs in Parquet may be larger than memory; into Parquet, web directories too.
    """
    where = os.fspath(path)
    _check_no_table(target)
    if is_parquet_target(target):
        check_parquet_target(target, force)
        return _to_parquet(where, target, progress, uncaptured)
    check_web_target(target, force)
    source, given = source_of(where)
    if uncaptured or not isinstance(source, Kind) or not source.writer:
        web = load(where, progress, uncaptured)
        if progress is not None:
            progress(f"writing {os.fspath(target)}")
        save(web, target, force)
    else:
        with written_beside(target) as beside:
            beside.mkdir()
            source.write(given, beside, progress)
    return load(target)


def _check_no_table(target: str | os.PathLike[str]) -> None:
    """Raise InputError if somebody wants a table of pages, and would get a directory of that name."""
    ending = os.path.splitext(os.path.normpath(target))[1].lower()
    if ending in TABLES:
        raise InputError(
            f"{os.fspath(target)}: convert writes a web as a directory, and no {ending} file; frontrank export CRAWL pages.csv "
            "writes the pages of a crawl"
        )


def _to_parquet(where: str, target: str | os.PathLike[str], progress: Progress | None, uncaptured: bool) -> Web:
    web = load(where, progress, uncaptured)
    with written_beside(target) as beside:
        beside.mkdir()
        write_parquet(web, beside, progress)
    return web
