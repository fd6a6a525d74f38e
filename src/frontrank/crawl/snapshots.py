"""Snapshots: the arrays of a crawl as they were after some event, so that recovery replays the tail alone.

    DIR/snapshots/000000123456.npz    after event 123456

An .npz is a zip file: it carries a checksum for each array. A snapshot is written beside, handed to the disk, then renamed;
one that is torn or damaged is skipped for an older one, and in the end for no snapshot at all: the journal alone restores
everything.

While a crawl runs, a forked child writes it: the child has the arrays as they were at that moment (copy on write), and the
crawl goes on at once. Forking takes about a millisecond for 100 MB; writing them inline took a call of hundreds. The child
closes all files of its parent first, the lock among them, so that it never outlives a killed crawl as its owner.
"""

from __future__ import annotations

import json
import os
import signal
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from frontrank.crawl.log import Snapshot
from frontrank.errors import StorageError
from frontrank.kernels.jit import Array
from frontrank.system.files import PRIVATE_FOLDER, private, replaced
from frontrank.system.portable import is_linux

FOLDER = "snapshots"
KEPT = 2  # of the newest
SOON_S, PATIENCE_S = 0.02, 60.0


class Snapshots:
    """The snapshots of one directory, and the child that writes one, if there is one."""

    def __init__(self, folder: Path, to_close: tuple[int, ...] = ()) -> None:
        self.folder = folder
        self.to_close = to_close
        self.child = 0

    def save(self, head: dict[str, Any], arrays: dict[str, Array], wait: bool = True) -> None:
        """Write a snapshot and drop those that are too old to be of use; without ``wait``, beside the crawl."""
        if not wait and is_linux():
            self._fork(head, arrays)
        else:
            self.close()
            _write(self.folder, head, arrays)

    def busy(self) -> bool:
        """Whether a child is writing."""
        if self.child:
            try:
                done, _ = os.waitpid(self.child, os.WNOHANG)
            except ChildProcessError:  # somebody else waited for it
                done = self.child
            if done:
                self.child = 0
        return bool(self.child)

    def close(self, patience_s: float = PATIENCE_S) -> None:
        """Wait for the child, which has little to do; one that hangs is ended: what it wrote beside is never read."""
        end = time.monotonic() + patience_s
        while self.busy():
            if time.monotonic() > end:
                os.kill(self.child, signal.SIGKILL)
            time.sleep(SOON_S)

    def _fork(self, head: dict[str, Any], arrays: dict[str, Array]) -> None:
        with warnings.catch_warnings():
            # The child runs this thread alone, takes no lock that another thread might hold, and never returns.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child:
            self.child = child
            return
        try:
            for number in self.to_close:
                os.close(number)
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # a service may have many files open
            for caught in (signal.SIGINT, signal.SIGTERM):  # Ctrl-C is for the crawl; it waits for us
                signal.signal(caught, signal.SIG_IGN)
            _write(self.folder, head, arrays)
        finally:
            os._exit(0)

    def load(self) -> Iterator[Snapshot]:
        """The undamaged snapshots, newest first."""
        for file in _files(self.folder):
            try:
                with open(file, "rb") as raw, np.load(raw, allow_pickle=False) as stored:
                    head = json.loads(stored["head"].tobytes())
                    arrays = {name: stored[name] for name in stored.files if name != "head"}
                    if head["arrays"] != sorted(arrays) or type(head["seq"]) is not int:
                        continue
            except Exception:  # whatever a damaged zip file, a header that is Python source, or JSON may raise
                continue
            yield head, arrays


def _write(folder: Path, head: dict[str, Any], arrays: dict[str, Array]) -> None:
    where = folder / FOLDER
    final = where / f"{head['seq']:012d}.npz"
    try:
        where.mkdir(PRIVATE_FOLDER, exist_ok=True)
        for left in where.glob("[0-9]*.tmp"):  # by a process that was killed while it wrote
            left.unlink(missing_ok=True)
        beside = final.with_suffix(".tmp")
        with replaced(final, durable=True, beside=beside), open(beside, "wb", opener=private) as file:
            header = json.dumps({**head, "arrays": sorted(arrays)}).encode()  # zip has no checksum of the names of arrays
            np.savez(file, head=np.frombuffer(header, np.uint8), **arrays)  # type: ignore[arg-type]
        for old in _files(folder)[KEPT:]:
            old.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(
            f"{final}: the snapshot cannot be written ({error.strerror or error}); the trace is safe: fix this, then resume"
        ) from None


def _files(folder: Path) -> list[Path]:
    return sorted((folder / FOLDER).glob("[0-9]*.npz"), reverse=True)


# States -------------------------------------------------------------------------------------------------------------------
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
