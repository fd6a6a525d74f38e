"""Columns of strings that become Python objects only when they are read: in Arrow arrays, in files, selected from others.

``Packed`` is such a column while it is built: bytes and the end of each string, as kernels write them and Arrow takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np

from frontrank.errors import SourceError
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.system.lazy import pa, pc


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

    def find(self, text: str) -> int:
        """The place of the first that is this one, or -1."""
        return int(pc.index(self.array, text).as_py())

    def __iter__(self) -> Iterator[str]:
        for batch in getattr(self.array, "chunks", [self.array]):
            for begin in range(0, len(batch), 1024):  # many at a time: an Arrow scalar for each costs ten times as much
                yield from (text or "" for text in batch[begin : begin + 1024].to_pylist())


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


class Picked(Sequence[str]):
    """Some of a column's strings, in another order, looked up when they are asked for; -1 stands for an empty one."""

    def __init__(self, strings: Sequence[str], at: Array) -> None:
        self.strings, self.at = strings, at

    def __len__(self) -> int:
        return len(self.at)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Picked: ...
    def __getitem__(self, at: int | slice) -> str | Picked:
        if isinstance(at, slice):
            return Picked(self.strings, self.at[at])
        place = int(self.at[at])
        return self.strings[place] if place >= 0 else ""


class Packed(NamedTuple):
    """UTF-8 strings one after the other: string i is ``data[offsets[i]:offsets[i + 1]]``.

    >>> found = Packed.picked(np.frombuffer(b"some bytes", np.uint8), np.array([5, 0]), np.array([10, 2]))
    >>> found.strings()
    ['bytes', 'so']
    """

    data: Array  # uint8
    offsets: Array  # int64, one more than there are strings

    @classmethod
    def picked(cls, data: Array, begins: Array, ends: Array) -> Packed:
        """The strings that lie in ``data`` from each of these places to each of those."""
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - begins, dtype=np.int64)])
        bytes_ = np.empty(int(offsets[-1]), np.uint8)
        compiled(_pick)(data, begins, bytes_, offsets)
        return cls(bytes_, offsets)

    @classmethod
    def of(cls, array: Any) -> Packed:
        """The strings of an Arrow array of whatever string type; nulls are empty."""
        array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        array = array.cast(pa.large_string()).fill_null("")
        _, offsets, data = array.buffers()
        at = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
        bytes_ = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
        return cls(bytes_[int(at[0]) : int(at[-1])], at - at[0])

    @classmethod
    def joined(cls, parts: Sequence[Packed]) -> Packed:
        """One after the other."""
        offsets, end = [np.zeros(1, np.int64)], 0
        for part in parts:
            offsets.append(part.offsets[1:] + end)
            end += int(part.offsets[-1])
        return cls(np.concatenate([np.empty(0, np.uint8), *(part.data for part in parts)]), np.concatenate(offsets))

    @property
    def size(self) -> int:
        return int(self.offsets.size) - 1

    def between(self, before: Array, behind: Array) -> Packed:
        """Each string with these bytes before and behind it."""
        offsets = self.offsets + (before.size + behind.size) * np.arange(self.offsets.size)
        bytes_ = np.empty(int(offsets[-1]), np.uint8)
        compiled(_put_between)(self.data, self.offsets, before, behind, bytes_)
        return Packed(bytes_, offsets)

    def arrow(self) -> Any:
        """An Arrow array of strings over the same bytes; less than 2 GiB of them."""
        offsets = pa.py_buffer(self.offsets.astype(np.int32))
        return pa.StringArray.from_buffers(self.size, offsets, pa.py_buffer(np.ascontiguousarray(self.data)))

    def strings(self) -> list[str]:
        text = self.data.tobytes()
        at = self.offsets.tolist()
        return [text[at[i] : at[i + 1]].decode() for i in range(self.size)]


@kernel
def _pick(data: Array, begins: Array, bytes_: Array, offsets: Array) -> None:
    for i in range(begins.size):
        shift = begins[i] - offsets[i]
        for at in range(offsets[i], offsets[i + 1]):
            bytes_[at] = data[at + shift]


@kernel
def _put_between(data: Array, offsets: Array, before: Array, behind: Array, bytes_: Array) -> None:
    to = 0
    for i in range(offsets.size - 1):
        for j in range(before.size):
            bytes_[to] = before[j]
            to += 1
        for j in range(offsets[i], offsets[i + 1]):
            bytes_[to] = data[j]
            to += 1
        for j in range(behind.size):
            bytes_[to] = behind[j]
            to += 1
