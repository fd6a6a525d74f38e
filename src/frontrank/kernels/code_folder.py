"""The folder in which the machine code of kernels is kept.

    $NUMBA_CACHE_DIR, or $XDG_CACHE_HOME/frontrank, or ~/.cache/frontrank

The name of a kernel carries a checksum of all that it is made of (``jit``), so nothing in the folder can be stale, and clones,
environments and releases share it. numba would keep code beside the package: each checkout would compile for itself, and a
read-only installation at every start. Code that nobody has used for 60 days is deleted.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType

logger = logging.getLogger("frontrank.kernels")

MAX_AGE_S = 60 * 86400.0


@cache
def code_folder() -> Path | None:
    """Where machine code is kept; None, with a warning, if no folder can be written.

    Never a temporary folder: anybody on the machine could put code there, and it would be run.
    """
    tried = _candidates()
    for base in tried:
        folder = base / ("bounds-checked" if os.environ.get("NUMBA_BOUNDSCHECK") == "1" else "kernels")
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return folder
    where = ", ".join(map(str, tried)) or "there is no home folder"
    logger.warning(
        "Compiled code cannot be kept (%s cannot be written): each command compiles for some seconds. "
        "Set NUMBA_CACHE_DIR to a folder that can be written.",
        where,
    )
    return None


def _candidates() -> list[Path]:
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(chosen)]
    named = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(named) if os.path.isabs(named) else None
    with suppress(RuntimeError):  # no home is known
        home = home or Path.home() / ".cache"
    return [home / "frontrank"] if home is not None else []


def is_kept(function: FunctionType) -> bool:
    """Whether machine code of this function is kept, for some types of arguments. numba names the file."""
    folder = code_folder()
    module = Path(function.__code__.co_filename).stem
    name = f"{module}.{function.__qualname__}-.py{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}.nbi"
    return folder is not None and (folder / name).exists()


@cache
def delete_unused(folder: Path) -> None:
    """Delete the code of kernels that nobody has loaded for long: once a process, and only one that compiles anyway."""
    oldest = time.time() - MAX_AGE_S
    for index in folder.glob("*.nbi"):
        with suppress(OSError):
            if index.stat().st_mtime < oldest:
                for path in (index, index.with_suffix(".lock"), *folder.glob(f"{index.stem}.*.nbc")):
                    path.unlink(missing_ok=True)
