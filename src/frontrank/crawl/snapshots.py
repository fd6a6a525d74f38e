"""Snapshots: the arrays of a crawl as they were after some event, so that recovery replays the tail alone.

    DIR/snapshots/000000123456.npz    after event 123456

An .npz is a zip file: it carries a checksum for each array. A snapshot is written beside, handed to the disk, then renamed;
one that is torn, damaged or of another ordering or version is passed over for an older one, and in the end for no
snapshot at all: the journal alone restores everything.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from frontrank.errors import StorageError
from frontrank.kernels.jit import Array

FOLDER = "snapshots"
KEPT = 2  # of the newest


def leaves(state: Any) -> Iterator[Array]:
    """The arrays of a nested state, in a fixed order; one that is shared comes as often as it occurs."""
    for value in state:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple):
            yield from leaves(value)


def with_leaves(state: Any, arrays: Iterator[Array]) -> Any:
    """The same state made of these arrays."""
    values = []
    for value in state:
        if isinstance(value, np.ndarray):
            value = next(arrays)
        elif isinstance(value, tuple):
            value = with_leaves(value, arrays)
        values.append(value)
    return type(state)(*values)


def shared(state: Any) -> list[int]:
    """For each leaf the place of its first occurrence: parts of a combination have arrays in common."""
    first: dict[int, int] = {}
    return [first.setdefault(id(array), place) for place, array in enumerate(leaves(state))]


def save(folder: Path, seq: int, head: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write a snapshot and drop those that are too old to be of use."""
    where = folder / FOLDER
    final = where / f"{seq:012d}.npz"
    beside = final.with_suffix(".tmp")
    try:
        where.mkdir(exist_ok=True)
        with open(beside, "wb") as file:
            np.savez(file, head=np.frombuffer(json.dumps(head).encode(), np.uint8), **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, final)
        for old in _files(folder)[KEPT:]:
            old.unlink(missing_ok=True)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise StorageError(
            f"{final}: the snapshot cannot be written ({error.strerror or error}); the trace is safe: mend this, then resume"
        ) from None


def load(folder: Path, upto: int, wanted: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Array]]]:
    """The good snapshots, newest first: not after event ``upto``, with these values in their heads."""
    for file in _files(folder):
        if int(file.stem) > upto:  # events that a power cut took back
            continue
        try:
            with open(file, "rb") as raw, np.load(raw, allow_pickle=False) as held:
                head = json.loads(held["head"].tobytes())
                if any(head.get(key) != value for key, value in wanted.items()):
                    continue
                yield head, {name: held[name] for name in held.files if name != "head"}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError):
            continue


def _files(folder: Path) -> list[Path]:
    return sorted((folder / FOLDER).glob("[0-9]*.npz"), reverse=True)
