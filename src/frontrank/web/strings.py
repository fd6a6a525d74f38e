"""Columns of strings that are read when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from frontrank.errors import SourceError
from frontrank.web.web import Texts


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
