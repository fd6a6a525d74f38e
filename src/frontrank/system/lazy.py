"""Modules of optional packages, each imported when something of it is first used.

    from frontrank.system.lazy import pa, pq

takes no time and needs no package; ``pq.read_table`` imports pyarrow, or says how to get it (``errors.need``).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from frontrank.errors import need


class Lazy:
    """A module by its name.

    >>> Lazy("json").loads("[1]")
    [1]
    >>> Lazy("no_such_module").loads
    Traceback (most recent call last):
    frontrank.errors.MissingExtra: this needs no_such_module, which is not installed; run: pip install no_such_module
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # inspect and doctest look at every global; that is no use of it
            raise AttributeError(name)
        need(self._module.partition(".")[0])
        value = getattr(import_module(self._module), name)
        setattr(self, name, value)  # found at once from now on
        return value

    def __reduce__(self) -> tuple[type[Lazy], tuple[str]]:
        return Lazy, (self._module,)


pa: Any = Lazy("pyarrow")
pacsv: Any = Lazy("pyarrow.csv")
pc: Any = Lazy("pyarrow.compute")
pd: Any = Lazy("pandas")
pafs: Any = Lazy("pyarrow.fs")
pl: Any = Lazy("polars")
pq: Any = Lazy("pyarrow.parquet")
sparse: Any = Lazy("scipy.sparse")
trafilatura: Any = Lazy("trafilatura")
