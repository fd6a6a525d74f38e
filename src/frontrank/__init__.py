"""frontrank: which page should a web crawler fetch next?

import frontrank as fr
web = fr.load("path/to/web")
runs = fr.compare(web, ["fpr:m=100", "fica"], budget=0.2)
runs.report("out.html")
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    raise ImportError("frontrank runs on Linux and macOS; on Windows, install it in WSL")

TYPE_CHECKING = False  # typing's own would be imported first, and that takes as long as all else here
if TYPE_CHECKING:
    from typing import Any

    from frontrank.crawl.async_crawl import AsyncCrawl
    from frontrank.crawl.crawl import Crawl
    from frontrank.errors import FrontrankError
    from frontrank.frontiers.politeness import Politeness
    from frontrank.kernels.jit import Column, kernel, lean
    from frontrank.lab.compare import Runs, compare, order
    from frontrank.orderings.policy import Out, Policy
    from frontrank.orderings.ranker import Periodic, Ranker
    from frontrank.orderings.registry import parse, register
    from frontrank.simulation.simulate import Run
    from frontrank.simulation.trace import Trace
    from frontrank.sources import load
    from frontrank.web.links import Links, row
    from frontrank.web.view import CrawlView
    from frontrank.web.web import Web

__version__ = "0.2.0"

# Name to module: read when first asked for, so that importing frontrank costs nothing.
_HOME = {
    "AsyncCrawl": "crawl.async_crawl",
    "Column": "kernels.jit",
    "Crawl": "crawl.crawl",
    "CrawlView": "web.view",
    "FrontrankError": "errors",
    "Links": "web.links",
    "Politeness": "frontiers.politeness",
    "Out": "orderings.policy",
    "Periodic": "orderings.ranker",
    "Policy": "orderings.policy",
    "Ranker": "orderings.ranker",
    "Run": "simulation.simulate",
    "Runs": "lab.compare",
    "Trace": "simulation.trace",
    "Web": "web.web",
    "compare": "lab.compare",
    "kernel": "kernels.jit",
    "lean": "kernels.jit",
    "load": "sources",
    "order": "lab.compare",
    "parse": "orderings.registry",
    "register": "orderings.registry",
    "row": "web.links",
}
__all__ = [
    "AsyncCrawl",
    "Column",
    "Crawl",
    "CrawlView",
    "FrontrankError",
    "Links",
    "Out",
    "Periodic",
    "Policy",
    "Politeness",
    "Ranker",
    "Run",
    "Runs",
    "Trace",
    "Web",
    "__version__",
    "compare",
    "kernel",
    "lean",
    "load",
    "order",
    "parse",
    "register",
    "row",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'frontrank' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"frontrank.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
