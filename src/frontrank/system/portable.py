"""What Linux and macOS do differently: asked here, and nowhere else. Windows is refused when frontrank is imported.

sync          on macOS, fsync leaves data in the drive's cache; F_FULLFSYNC has it written
fill          macOS has no posix_fallocate: zeros are written
is_linux      only Linux reserves address space without memory, limits it for a process, and lets a process of several
              threads go on after a fork: elsewhere arrays grow by copying, workers are limited in time alone, and a
              snapshot is written by the crawl itself, which waits for it
"""

from __future__ import annotations

import fcntl
import os
import sys

PIECE = 2**20  # bytes of zeros that are written at a time


def is_linux() -> bool:
    return sys.platform == "linux"


def sync(descriptor: int) -> None:
    """Return when what was written to this file survives a power cut."""
    whole = getattr(fcntl, "F_FULLFSYNC", None)
    try:
        if whole is not None:
            fcntl.fcntl(descriptor, whole)
            return
    except OSError:  # a network share
        pass
    os.fsync(descriptor)


def fill(descriptor: int, size: int) -> None:
    """Give a new file so many bytes of disk; OSError if there are none."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    written = 0
    while written < size:
        written += os.pwrite(descriptor, bytes(min(PIECE, size - written)), written)
