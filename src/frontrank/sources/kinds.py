"""Kinds of webs by name: each knows what it can read, and reads it. Other packages add theirs (``frontrank.plugins``).

A source is an object (a module will do) with two functions:

    matches(path) -> bool           whether the file or folder at this path is of its kind
    load(path, progress) -> Web     progress, if not None, is called with a few words on what is being read

The first that matches reads it: the built-in ones in the order of ``KINDS``, then those of other packages, last the edge
list, which any file can be. ``NAME:REST`` names a source, which gets REST and need not match.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from frontrank.errors import SourceError, SpecError, nearest
from frontrank.plugins import NAME, Registry
from frontrank.system.files import Progress
from frontrank.web.web import Web


class Source(Protocol):
    def matches(self, path: str) -> bool: ...

    def load(self, path: str, progress: Progress | None) -> Web: ...


@dataclass(frozen=True)
class Kind:
    """A built-in source: its functions as module:function of this package, imported when they are called."""

    matcher: str
    loader: str
    writer: str = ""  # fills a folder as a web directory without the web in memory

    def matches(self, path: str) -> bool:
        return bool(self.matcher and _function(self.matcher)(path))

    def load(self, path: str, progress: Progress | None) -> Web:
        web: Web = _function(self.loader)(path, progress)
        return web

    def write(self, path: str, folder: Path, progress: Progress | None) -> None:
        _function(self.writer)(path, folder, progress)


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"frontrank.sources.{module}"), function)
    return found


LAST = "edges"  # any file can be one
KINDS = {
    "synthetic": Kind("", "synthetic:load_synthetic"),
    "live-crawl": Kind("live_crawl:is_crawled", "live_crawl:load_fetched"),
    "imported-crawl": Kind("imported_crawl:is_crawl_directory", "imported_crawl:load_web"),
    "web-directory": Kind("web_directory:has_manifest", "web_directory:load_directory"),
    "tsv": Kind("tsv:is_tsv_crawl", "tsv:load_tsv_crawl"),
    "parquet": Kind("parquet_web:is_parquet_web", "parquet_web:load_parquet", "parquet_web:write_from_parquet"),
    "common-crawl": Kind("common_crawl:is_common_crawl", "common_crawl:load_common_crawl", "common_crawl:write_common_crawl"),
    "bvgraph": Kind("bvgraph:is_bvgraph", "bvgraph:load_bvgraph", "bvgraph:write_bvgraph"),
    "warc": Kind("captured:is_captured", "captured:load_warc"),
    LAST: Kind("edges:is_file", "edges:load_edges", "edges:write_edges"),
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
