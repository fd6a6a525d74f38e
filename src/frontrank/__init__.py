"""frontrank: which page should a web crawler fetch next?

import frontrank as fr
web = fr.load("path/to/web")
runs = fr.compare(web, ["fpr:m=100", "fica"], budget=0.2)
runs.report("out.html")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frontrank.crawl.crawl import Crawl
    from frontrank.errors import FrontrankError
    from frontrank.kernels.jit import Column
    from frontrank.frontiers.politeness import Manners
    from frontrank.orderings.policy import Out, Policy
    from frontrank.orderings.ranker import CrawlView, Periodic, Ranker
    from frontrank.orderings.registry import parse, register
    from frontrank.lab.compare import Runs, compare, order
    from frontrank.simulation.simulate import Run
    from frontrank.sources import load
    from frontrank.simulation.trace import Trace
    from frontrank.web.web import Links, Web, row

__version__ = "0.1.0"

# Name to module: read when first asked for, so that importing frontrank costs nothing.
_HOME = {
    "Column": "kernel",
    "Crawl": "crawl",
    "CrawlView": "ranker",
    "FrontrankError": "errors",
    "Links": "web",
    "Manners": "manners",
    "Out": "policy",
    "Periodic": "ranker",
    "Policy": "policy",
    "Ranker": "ranker",
    "Run": "simulate",
    "Runs": "runs",
    "Trace": "trace",
    "Web": "web",
    "compare": "runs",
    "load": "sources",
    "order": "runs",
    "parse": "registry",
    "register": "registry",
    "row": "web",
}
__all__ = [
    "Column",
    "Crawl",
    "CrawlView",
    "FrontrankError",
    "Links",
    "Manners",
    "Out",
    "Periodic",
    "Policy",
    "Ranker",
    "Run",
    "Runs",
    "Trace",
    "Web",
    "__version__",
    "compare",
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
