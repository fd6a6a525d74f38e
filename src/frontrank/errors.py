"""Everything that can go wrong at a border of frontrank, as one tree.

    FrontrankError            any of the below; the command line prints its sentence and exits with code 2
    ├── InputError            a file, line, seed or number that was given cannot be used
    │   ├── SourceError       a web cannot be read: missing, truncated, of another format
    │   ├── SeedError         a seed is not a page of the web
    │   ├── StorageError      a crawl's directory cannot be written, read or shared
    │   │   ├── BrokenCrawl   a crawl of a service could not be opened; the others are served
    │   │   ├── DiskFull      the disk has no room for it
    │   │   └── CrawlClosed   it was closed, or deleted
    │   ├── TooMany           there is no room for another one
    │   └── NotFound          what was asked for is not there
    │       └── UnknownCrawl  a service has no crawl of this ID
    ├── ServiceError          a service does not answer, or refuses
    │   ├── ServiceAway       it does not answer now; it may later
    │   └── ServiceFailed     a call broke off; made again it may succeed
    ├── SpecError             an ordering, parameter or web specification is not understood
    │   └── NotTrusted        a file names code that is not part of frontrank (a StorageError, too)
    └── MissingExtra          what was asked for needs a package that this installation came without

A message says what was given, what was expected, and what to do. Kernels never raise.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterable
from importlib.util import find_spec

# The modules that the core does without, and the extra of pyproject.toml that brings each.
EXTRA_OF = {
    "scrapy": "scrapy",
    "selectolax": "crawl",
    "publicsuffixlist": "crawl",
    "brotli": "crawl",
    "protego": "crawl",
    "lxml": "crawl",
    "trafilatura": "text",
    "lxml_html_clean": "text",
    "backports": "crawl",
    "jinja2": "report",
    "matplotlib": "report",
    "pyarrow": "lab",
    "scipy": "lab",
    "sklearn": "search",
    "threadpoolctl": "search",
    "duckdb": "duckdb",
    "crawlee": "crawlee",
    "grpc": "service",
    "h2": "service",
    "msgspec": "service",
    "prometheus_client": "service",
    "google": "service",
    "starlette": "service",
    "uvicorn": "service",
    "pyspark": "spark",
}


class FrontrankError(Exception):
    """Base of all errors that a user can fix."""


class InputError(FrontrankError):
    """A file, line, seed or number that was given cannot be used."""


class SourceError(InputError):
    """A web cannot be read."""


class SeedError(InputError):
    """A seed is not a page of the web."""


class StorageError(InputError):
    """A crawl's directory cannot be written, read or shared."""


class BrokenCrawl(StorageError):
    """A crawl of a service could not be opened."""

    def __init__(self, crawl: str, reason: str) -> None:
        super().__init__(f"crawl {crawl!r} could not be opened: {reason}")
        self.reason = reason


class DiskFull(StorageError):
    """The disk that a crawl is stored on has no room left."""


class CrawlClosed(StorageError):
    """A crawl was closed, or deleted, by somebody else."""


class TooMany(InputError):
    """There is no room for another one."""


class NotFound(InputError):
    """What was asked for is not there."""


class UnknownCrawl(NotFound):
    """A service has no crawl of this ID."""


class EngineError(FrontrankError):
    """An engine that computes for us, such as Spark, returned less than it was asked for."""


class ServiceError(FrontrankError):
    """A service does not answer, or refuses."""


class ServiceAway(ServiceError):
    """A service does not answer now; it may later."""


class ServiceFailed(ServiceError):
    """A service broke off a call, or the connection to it did; the same call may succeed when it is made again."""


class SpecError(FrontrankError):
    """An ordering, parameter or web specification is not understood."""


class NotTrusted(SpecError, StorageError):
    """A file names code that is not part of frontrank, and nobody said that it may be loaded."""


class MissingExtra(FrontrankError):
    """What was asked for needs a package that this installation came without."""

    def __init__(self, module: str) -> None:
        extra = EXTRA_OF.get(module)
        line = install_line(extra) if extra else f"pip install {module}"
        super().__init__(f"this needs {module}, which is not installed; run: {line}")


def install_line(extra: str) -> str:
    """What adds an extra to this installation: the program that made it, and where it came from (a clone, an index)."""
    import json
    import shlex
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote

    try:
        source = json.loads(distribution("frontrank").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        source = {}
    scheme, _, path = str(source.get("url", "")).partition("://")
    what = shlex.quote(f"{unquote(path) if scheme == 'file' and path else 'frontrank'}[{extra}]")
    if source.get("dir_info", {}).get("editable"):
        what = f"-e {what}"
    if os.path.exists(os.path.join(sys.prefix, "uv-receipt.toml")):
        return f"uv tool install {what}"
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return f"pipx install --force {what}"
    active = os.environ.get("VIRTUAL_ENV") == sys.prefix or not sys.executable  # else pip may be another Python's
    return f"pip install {what}" if active else f"{shlex.quote(sys.executable)} -m pip install {what}"


def need(*modules: str) -> None:
    """Say which package is missing, and how to get it, where an import would only fail; call it before the work begins.

    >>> need("json")
    >>> need("json", "no_such_module")
    Traceback (most recent call last):
    frontrank.errors.MissingExtra: this needs no_such_module, which is not installed; run: pip install no_such_module
    """
    for module in modules:
        if find_spec(module) is None:
            raise MissingExtra(module)


def nearest(given: str, known: Iterable[str]) -> str:
    """A suggestion to append to a message about an unknown name.

    >>> nearest("pagernk", ["pagerank", "opic"])
    "; did you mean 'pagerank'? Known: opic, pagerank"
    >>> nearest("zzz", ["pagerank", "opic"])
    '; known: opic, pagerank'
    """
    names = sorted(known)
    close = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
    listed = ", ".join(names) if names else "none"
    return f"; did you mean {close[0]!r}? Known: {listed}" if close else f"; known: {listed}"
