"""Columns of strings that are not Python objects until they are asked for: in Arrow arrays, in files, picked from others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, overload

from frontrank.errors import SourceError
from frontrank.kernels.jit import Array


class Texts(Sequence[str]):
    """Strings that lie in an Arrow array (often a memory-mapped one) and become Python objects one at a time."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Texts: ...
    def __getitem__(self, at: int | slice) -> str | Texts:
        if isinstance(at, slice):
            return Texts(self.array[at])
        return self.array[int(at)].as_py() or ""

    def __iter__(self) -> Iterator[str]:
        for begin in range(0, len(self.array), 1024):  # many at a time: an Arrow scalar for each costs ten times as much
            yield from (text or "" for text in self.array[begin : begin + 1024].to_pylist())


class Deferred(Texts):
    """A column whose length is known and whose strings lie in a file until the first access.

    ``read`` gives the Arrow array; it raises SourceError where the file is not what it was.
    """

    def __init__(self, length: int, read: Callable[[], Any], what: str) -> None:
        self._length = length
        self._read = read
        self._what = what

    @cached_property
    def array(self) -> Any:
        found = self._read()
        if len(found) != self._length:
            raise SourceError(f"{self._what}: {len(found):,} rows, expected {self._length:,}")
        return found

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        for batch in getattr(self.array, "chunks", [self.array]):
            for begin in range(0, len(batch), 1024):
                for text in batch[begin : begin + 1024].to_pylist():
                    yield text or ""


class Picked(Sequence[str]):
    """Some of a column's strings, in another order, looked up when they are asked for."""

    def __init__(self, strings: Sequence[str], at: Array) -> None:
        self.strings, self.at = strings, at

    def __len__(self) -> int:
        return len(self.at)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Picked: ...
    def __getitem__(self, at: int | slice) -> str | Picked:
        return Picked(self.strings, self.at[at]) if isinstance(at, slice) else self.strings[int(self.at[at])]
