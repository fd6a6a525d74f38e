"""Kinds of webs by name: each knows what it can read, and reads it. Other packages add theirs (``frontrank.plugins``).

A source is an object (a module will do) with two functions:

    matches(path) -> bool           whether what lies at this path is of its kind
    load(path, progress) -> Web     progress, if it is not None, is told in a few words what is being read

The first that matches reads it: the built-in ones in the order of ``KINDS``, then those of other packages, last the edge
list, which any file can be. ``NAME:REST`` asks one source by its name; it is given REST, and need not match.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from frontrank.errors import SourceError, SpecError, nearest
from frontrank.plugins import NAME, Registry
from frontrank.system.files import Progress
from frontrank.web.web import Web


class Source(Protocol):
    def matches(self, path: str) -> bool: ...

    def load(self, path: str, progress: Progress | None) -> Web: ...


class Kind(NamedTuple):
    """A built-in source. ``write``, where it has one, fills a folder as a web directory without the web in memory."""

    matches: Callable[[str], bool]
    load: Callable[[str, Progress | None], Web]
    write: Callable[[str, Path, Progress | None], None] | None = None


def _is_live(path: str) -> bool:
    from frontrank.sources.live_crawl import is_crawled

    return is_crawled(path)


def _load_live(path: str, progress: Progress | None) -> Web:
    from frontrank.sources.live_crawl import load_crawled

    return load_crawled(path)


def _is_imported(path: str) -> bool:
    from frontrank.sources.imported_crawl import is_crawl_directory

    return is_crawl_directory(path)


def _load_imported(path: str, progress: Progress | None) -> Web:
    from frontrank.sources.imported_crawl import load_crawl

    return load_crawl(path).web


def _is_directory(path: str) -> bool:
    from frontrank.sources.web_directory import MANIFEST

    return os.path.isfile(os.path.join(path, MANIFEST))


def _load_directory(path: str, progress: Progress | None) -> Web:
    from frontrank.sources.web_directory import load_directory

    return load_directory(path)


def _is_tsv(path: str) -> bool:
    from frontrank.sources import tsv

    return tsv.find(path, "pages") is not None and tsv.find(path, "links") is not None


def _load_tsv(path: str, progress: Progress | None) -> Web:
    from frontrank.sources.tsv import load_tsv_crawl

    return load_tsv_crawl(path, progress)


def bvgraph_bases(path: str) -> list[str]:
    """The base names of the BVGraphs that this path is part of, or holds. Base names hold dots, so none is cut off."""
    if os.path.isdir(path):
        try:
            names = sorted(name for name in os.listdir(path) if name.endswith(".properties"))
        except OSError as error:
            raise SourceError(f"{path}: cannot be read ({error.strerror or error})") from None
        return [os.path.join(path, name.removesuffix(".properties")) for name in names]
    for base in (path, path.removesuffix(".graph"), path.removesuffix(".properties")):
        if os.path.isfile(base + ".properties"):
            return [base]
    if path.endswith(".graph") and os.path.isfile(path):
        raise SourceError(f"{path}: {path.removesuffix('.graph')}.properties is missing; a BVGraph needs both files")
    return []


def _bvgraph_base(path: str) -> str:
    bases = bvgraph_bases(path) or [path]
    if len(bases) > 1:
        files = ", ".join(f"{os.path.basename(base)}.properties" for base in bases)
        raise SourceError(f"{path}: {len(bases)} graphs in it ({files}); name one of these files")
    return bases[0]


def _load_bvgraph(path: str, progress: Progress | None) -> Web:
    from frontrank.sources.bvgraph import load_bvgraph

    base = _bvgraph_base(path)
    if progress is not None:
        progress(f"decoding {os.path.basename(base)}.graph")
    return load_bvgraph(base)


def _write_bvgraph(path: str, where: Path, progress: Progress | None) -> None:
    from frontrank.sources.bvgraph import write_bvgraph

    write_bvgraph(_bvgraph_base(path), where, progress)


def is_captured(path: str) -> bool:
    """Whether a path is a WARC or WAT file, or a directory of them."""
    from frontrank.pages.warc_reader import find, is_warc

    return bool(find(path)) if os.path.isdir(path) else os.path.isfile(path) and is_warc(path)


def _load_captured(path: str, progress: Progress | None) -> Web:
    from frontrank.sources.captured import load_warc

    return load_warc(path, progress)


def _load_edges(path: str, progress: Progress | None) -> Web:
    from frontrank.sources.edges import load_edges

    return load_edges(path, progress=progress)


def _write_edges(path: str, where: Path, progress: Progress | None) -> None:
    from frontrank.sources.edges import write_edges

    write_edges(path, where, progress)


def _load_synthetic(path: str, progress: Progress | None) -> Web:
    from frontrank.sources.synthetic import synthetic

    return synthetic(path)


def _is_parquet(path: str) -> bool:
    from frontrank.sources.parquet_web import is_parquet_web

    return is_parquet_web(path)


def _load_parquet(path: str, progress: Progress | None) -> Web:
    from frontrank.sources.parquet_web import load_parquet

    return load_parquet(path, progress)


def _write_parquet(path: str, where: Path, progress: Progress | None) -> None:
    from frontrank.sources.parquet_web import write_from_parquet

    write_from_parquet(path, where, progress)


def _is_common_crawl(path: str) -> bool:
    from frontrank.sources.common_crawl import is_common_crawl

    return is_common_crawl(path)


def _load_common_crawl(path: str, progress: Progress | None) -> Web:
    from frontrank.sources.common_crawl import load_common_crawl

    return load_common_crawl(path, progress)


def _write_common_crawl(path: str, where: Path, progress: Progress | None) -> None:
    from frontrank.sources.common_crawl import write_common_crawl

    write_common_crawl(path, where, progress)


LAST = "edges"  # any file can be one
KINDS = {
    "synthetic": Kind(lambda path: False, _load_synthetic),
    "live-crawl": Kind(_is_live, _load_live),
    "imported-crawl": Kind(_is_imported, _load_imported),
    "web-directory": Kind(_is_directory, _load_directory),
    "tsv": Kind(_is_tsv, _load_tsv),
    "parquet": Kind(_is_parquet, _load_parquet, _write_parquet),
    "common-crawl": Kind(_is_common_crawl, _load_common_crawl, _write_common_crawl),
    "bvgraph": Kind(lambda path: bool(bvgraph_bases(path)), _load_bvgraph, _write_bvgraph),
    "warc": Kind(is_captured, _load_captured),
    LAST: Kind(os.path.isfile, _load_edges, _write_edges),
}


def _accept(name: str, thing: Any) -> Source:
    if isinstance(thing, type):
        thing = thing()
    if not callable(getattr(thing, "matches", None)) or not callable(getattr(thing, "load", None)):
        raise SpecError(f"source {name!r} must be an object with matches(path) and load(path, progress), got {thing!r}")
    source: Source = thing
    return source


REGISTRY: Registry[Source] = Registry("source", "frontrank.sources", _accept)
REGISTRY.build_in(KINDS)


def source_of(path: str) -> tuple[Source, str]:
    """The source that reads what is given, and what it is given to read."""
    name, colon, rest = path.partition(":")
    if colon and NAME.fullmatch(name) and not rest.startswith("//") and name in REGISTRY:
        return REGISTRY.find(name), rest
    for source in _candidates():
        if source.matches(path):
            return source, path
    if os.path.isdir(path):
        raise SourceError(
            f"{path}: a directory of no known kind; expected web.json, or pages.tsv and links.tsv (or .tsv.gz), "
            "or links.parquet and pages.parquet, or vertices and edges files of Common Crawl, "
            "or WARC or WAT files, or one BVGraph (a .properties and a .graph file)"
        )
    if os.path.exists(path) and not os.path.isfile(path):
        raise SourceError(f"{path}: not a file but a pipe or a device, which can be read once only; write it to a file first")
    wrong = nearest(name, REGISTRY.names()) if colon and NAME.fullmatch(name) and "/" not in path else ""
    raise SourceError(
        f"{path}: no such file; expected an edge list, a crawl or web directory, the base name of a BVGraph "
        f"({path}.properties does not exist either) or synthetic:pages=...,seed=...{wrong}"
    )


def _candidates() -> Iterator[Source]:
    """All sources, as they are asked: installed ones are looked for only when no built-in one has matched."""
    for name, kind in KINDS.items():
        if name != LAST:
            yield kind
    for name, source in REGISTRY.items():
        if name not in KINDS:
            yield source
    yield KINDS[LAST]
