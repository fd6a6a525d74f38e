"""Whether a web fits in memory or on disk: checked before the work, and refused with an alternative if it does not."""

from __future__ import annotations

import mmap
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frontrank.errors import InputError, SourceError
from frontrank.system.portable import fill

BYTES_A_PAGE = 110  # of vectors, at the peak of rw-eg, the largest
SMALL = 2**28  # bytes that are used without a check


def free_memory() -> int | None:
    """Bytes that this process may still use without taking memory from others; None where the system does not say."""
    free = []
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            free.append(1024 * int(line.split()[1]))
    limit, used = _lines("/sys/fs/cgroup/memory.max"), _lines("/sys/fs/cgroup/memory.current")
    if limit and used and limit[0].isdigit():
        cached = [int(line.split()[1]) for line in _lines("/sys/fs/cgroup/memory.stat") if line.startswith("inactive_file ")]
        free.append(int(limit[0]) - int(used[0]) + sum(cached))  # what files left in memory is given up first
    return min(free, default=None)


def free_temporary() -> int:
    """Bytes free on the disk for temporary files (TMPDIR)."""
    return shutil.disk_usage(tempfile.gettempdir()).free


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def check_room(path: str, links: int, needed: int) -> None:
    """Raise SourceError if there is less memory than that; it says what to run instead."""
    free = free_memory()
    if free is not None and needed > free:
        stem = os.path.basename(os.path.normpath(path)).removesuffix(".gz").removesuffix(".txt")
        raise SourceError(
            f"{path}: about {links:,} links take {gb(needed)} in memory, and {gb(free)} are free; "
            f"write them to disk once, then use that: frontrank convert {path} {stem}.web"
        )


def check_disk(folder: str | os.PathLike[str], what: str, needed: int) -> None:
    """Raise InputError if the disk of this directory has no room for so many bytes."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise InputError(
            f"{what} takes {gb(needed)} on disk, and {gb(free)} are free there; make it smaller, or give another disk"
        )


def check_ranking(name: str, pages: int) -> None:
    """Raise InputError if ranking so many pages takes more memory than there is; links are mapped, and do not count."""
    _check(pages * BYTES_A_PAGE, f"{name}: ranking {pages:,} pages", pages)


def check_copy(name: str, pages: int, links: int) -> None:
    """Raise InputError if there is no memory for a copy of the links, with pages numbered anew."""
    _check(4 * links + 12 * pages, f"{name}: {links:,} links, put in the order of their discovery,", pages)


def _check(needed: int, what: str, pages: int) -> None:
    free = free_memory() if needed > SMALL else None
    if free is not None and needed > free:
        fit = max(free, 0) * pages // needed
        raise InputError(
            f"{what} takes {gb(needed)} of memory, and {gb(free)} are free, enough for {fit:,} pages of this kind; "
            "free some memory, rank a part of the crawl, or rank Parquet tables of it with --engine spark"
        )


def room_for(size: int) -> NDArray[np.int32]:
    """An int32 array of this size: in memory, or, where that would take more than a quarter of what is free, in a file
    without a name in the directory for temporary files (TMPDIR), which is gone when the array is."""
    needed = 4 * size
    free = free_memory() if needed > SMALL else None
    if free is None or needed <= free // 4:
        return np.empty(size, np.int32)
    folder = tempfile.gettempdir()
    check_disk(folder, f"{folder}: links by target", needed)
    with tempfile.TemporaryFile(dir=folder) as file:
        try:
            fill(file.fileno(), needed)  # a full disk is an error here; in a mapping it ends the process
        except OSError as error:
            raise InputError(
                f"{folder}: no room for {gb(needed)} of links ({error.strerror}); set TMPDIR to another disk"
            ) from None
        return np.frombuffer(mmap.mmap(file.fileno(), needed), np.int32)


def gb(bytes_: int) -> str:
    return f"{max(bytes_, 0) / 1e9:,.1f} GB"
