"""Seeds: where a crawl of a known web starts.

seeds.txt         a file with one node id or URL per line; empty lines and lines that begin with # are skipped
top:160           the pages of the greatest PageRank (fpr10's choice)
random:1000@7     pages drawn without replacement, @7 is the seed of the draw (fica07's choice)
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np

from frontrank.errors import InputError, SeedError
from frontrank.kernels.jit import Array
from frontrank.system.text_files import read_lines
from frontrank.web.importance import importance
from frontrank.web.web import Web

DEFAULT = 100


def find_seeds(web: Web, given: str | os.PathLike[str] | Iterable[int | str] | None = None) -> Array:
    """The pages that a seed specification means, in its order, without repetitions.

    Without one: the web's own seeds if it has any, else 100 random pages.

    >>> web = Web.from_edges([0, 1], [1, 2], pages=3)
    >>> find_seeds(web, ["2", 0, 2]).tolist(), find_seeds(web, "top:1").tolist()
    ([2, 0], [2])
    """
    if given is None:
        pages = web.seeds if web.seeds is not None else _random(web, min(DEFAULT, web.pages), 0)
    elif isinstance(given, str) and given.startswith(("top:", "random:")):
        pages = _drawn(web, given)
    elif isinstance(given, str) and "://" in given:
        pages = np.array([_page(web, given)], np.int32)
    elif isinstance(given, str | os.PathLike):
        pages = _from_file(web, given)
    elif isinstance(given, Iterable):
        pages = np.array([_page(web, str(one)) for one in given], np.int32)
    else:
        raise SeedError(f"seeds must be a list of pages, top:COUNT, random:COUNT@SEED or a file, got {given!r}")
    if len(pages) == 0:
        raise SeedError("there must be at least one seed to start from, got none")
    return distinct(pages)


def distinct(pages: Array) -> Array:
    """Each page once, where it comes first."""
    return np.array(list(dict.fromkeys(np.asarray(pages).tolist())), np.int32)


def _page(web: Web, name: str) -> int:
    try:
        return web.page_of(name)
    except SeedError as error:
        raise SeedError(f"seed {error}") from None


def _from_file(web: Web, path: str | os.PathLike[str]) -> Array:
    if not os.path.exists(path):
        expected = "seeds must be a URL, a file of node ids or URLs, top:COUNT or random:COUNT@SEED"
        raise SeedError(f"there is no file {os.fspath(path)!r}; {expected}")
    pages = []
    for number, line in enumerate(read_lines(os.fspath(path)), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                pages.append(_page(web, line))
            except SeedError as error:
                raise SeedError(f"{os.fspath(path)}, line {number}: {error}") from None
    if not pages:
        raise SeedError(f"seeds file {os.fspath(path)} names no page; it must have one node id or URL per line")
    return np.array(pages, np.int32)


def _drawn(web: Web, spec: str) -> Array:
    kind, _, rest = spec.partition(":")
    count, at, draw = rest.partition("@")
    if not count.isdigit() or (at and not draw.isdigit()) or (at and kind == "top"):
        raise SeedError(f"seeds must be top:COUNT or random:COUNT@SEED, got {spec!r}")
    if not 1 <= int(count) <= web.pages:
        raise SeedError(f"seeds must be from 1 to the {web.pages:,} pages of {web.name}, got {spec!r}")
    if kind == "top":
        return np.argsort(-importance(web, "pagerank"), kind="stable")[: int(count)].astype(np.int32)
    return _random(web, int(count), int(draw or 0))


def _random(web: Web, count: int, draw: int) -> Array:
    try:
        generator = np.random.default_rng(draw)
        return generator.choice(web.pages, count, replace=False).astype(np.int32)
    except ValueError as error:
        raise InputError(f"random seeds cannot be drawn: {error}") from None
