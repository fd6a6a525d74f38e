"""Which tests `make test` leaves to `make test-all`, and which tests share a process. Nothing else says so.

    make test         all but those marked ``full``: what a change is tried with
    make test-all     everything, as CI runs it; kernel tests (``bounds``) with numba's bounds checks instead of without

A test is marked ``full`` by its file, below, or where it is parametrised (``full``, ``representative``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from frontrank.orderings.registry import parse

FULL = {  # files that take minutes of the processor, and what for
    "test_spark.py": "Spark",
    "test_spark_blocks.py": "Spark",
    "test_spark_cluster.py": "Spark",
    "test_spark_fits.py": "Spark",
    "test_spark_learned.py": "Spark",
    "test_demo.py": "the demo",
}


def is_full(item: pytest.Item) -> bool:
    return item.path.name in FULL or "browser" in getattr(item, "fixturenames", ())


def full(*case: Any) -> Any:
    """A case of a test of which `make test` runs others."""
    return pytest.param(*case, marks=pytest.mark.full)


def representative(specs: Iterable[str]) -> list[Any]:
    """Parameters of a test: one spec of each set of kernels for `make test`, the others marked ``full``."""
    seen = set()
    parameters = []
    for spec in specs:
        policy = parse(spec)
        kernels = (spec.partition(":")[0], policy.queue, *policy.kernels().values())
        parameters.append(full(spec) if kernels in seen else spec)
        seen.add(kernels)
    return parameters


def group_of(item: pytest.Item) -> str | None:
    """Tests of one group run in one process: they share what takes long to make."""
    function = getattr(item, "callspec", None)
    if function is not None and item.nodeid.startswith("tests/test_contracts.py"):
        return f"contracts {function.params['spec']}"  # whose reference orders are computed once
    fixtures = getattr(item, "_fixtureinfo", None)
    found = fixtures.name2fixturedefs.values() if fixtures is not None else ()
    if any(definitions[-1].scope == "module" for definitions in found if definitions):
        return item.nodeid.partition("::")[0]  # a server, a browser, Spark
    return None
