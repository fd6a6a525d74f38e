"""Arrays in a work folder that all machines reach: blocks and vectors that tasks write once and then map.

A plain path is on this machine, or on a file system that all machines mount at the same place. Arrays are written beside their
place and renamed; a vector is one file, in which each task writes its own pages. An attempt that is repeated, or comes late,
writes the same bytes to the same place, so it does no harm; nothing is read before the job that wrote it has ended. Tasks map
files, so that the system caches them once for all processes of a machine.

Elsewhere (hdfs://, s3a://, and file:// for those who want it) pyarrow's file systems write and read: a part of a vector is an
object of its own, and what is to be mapped is copied to the first folder of ``spark.local.dir``, once per machine.

If machines saw different folders, a ranking would be of a part of the web; so the driver leaves a mark in the folder, and every
task looks for it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import IO, Any

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.system.lazy import pafs

MARK = "of-one-ranking"


@dataclass(frozen=True)
class Folder:
    """A folder at a plain path. Tasks get a copy of this object."""

    path: str

    def open(self) -> None:
        """Create it, with the driver's mark."""
        with _written(self.path):
            os.makedirs(self.path)
            with open(f"{self.path}/{MARK}", "x"):
                pass

    def check(self) -> None:
        """InputError if this machine does not see what the driver wrote."""
        if not self._there(MARK):
            raise InputError(
                f"--work must be a folder that all machines reach: {socket.gethostname()} does not see what the driver wrote to"
                f" {self.path}; give one on a shared disk, or hdfs://, s3a://"
            )

    @contextmanager
    def writing(self, name: str) -> Iterator[str]:
        """A path to write a file to, which gets its name when the block ends."""
        beside = f"{self._here()}/{name}.{secrets.token_hex(4)}"
        with _written(self.path):
            try:
                yield beside
                self._keep(beside, name)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(beside)

    def _here(self) -> str:
        """Where this machine writes files beside."""
        return self.path

    def _keep(self, beside: str, name: str) -> None:
        """Give a file that was written beside its name."""
        os.replace(beside, f"{self.path}/{name}")

    def _there(self, name: str) -> bool:
        return os.path.exists(f"{self.path}/{name}")

    def write(self, name: str, values: Array) -> None:
        """An array as a file of its own."""
        with self.writing(name) as path, open(path, "wb") as file:
            data = np.ascontiguousarray(values)
            header = {"descr": data.dtype.str, "fortran_order": False, "shape": data.shape}
            np.lib.format.write_array_header_1_0(file, header)
            file.write(data.data)  # on a full disk numpy would count the missing bytes only; this raises the reason

    def array(self, name: str) -> Array:
        """What ``write`` wrote, mapped."""
        return _mapped(f"{self.path}/{name}")

    def some(self, name: str, begin: int, end: int) -> Array:
        """Rows ``begin`` to ``end`` of what ``write`` wrote, read."""
        with self._reading(name) as file:
            version = np.lib.format.read_magic(file)
            assert version == (1, 0)
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            row = dtype.itemsize * int(np.prod(shape[1:]))
            file.seek(begin * row, os.SEEK_CUR)
            return np.frombuffer(file.read((end - begin) * row), dtype).reshape(end - begin, *shape[1:])

    def _reading(self, name: str) -> IO[bytes]:
        return open(f"{self.path}/{name}", "rb")

    def place(self, name: str, begin: int, values: Array) -> None:
        """Write a part of a vector: values of the pages from ``begin`` on."""
        with _written(self.path), os.fdopen(os.open(f"{self.path}/{name}", os.O_WRONLY | os.O_CREAT, 0o644), "wb") as file:
            file.seek(begin * values.itemsize)
            file.write(np.ascontiguousarray(values).data)

    def vector(self, name: str, dtype: Any, size: int) -> Array:
        """A vector that all tasks have written, mapped."""
        return np.asarray(np.memmap(f"{self.path}/{name}", dtype, "r", shape=(size,)))

    def part(self, name: str, dtype: Any, begin: int, end: int) -> Array:
        """Values of pages ``begin`` to ``end`` of a vector, read."""
        return np.fromfile(f"{self.path}/{name}", dtype, end - begin, offset=begin * np.dtype(dtype).itemsize)

    def names(self, prefix: str) -> list[str]:
        """The arrays whose names begin so."""
        return sorted(name for name in os.listdir(self.path) if name.startswith(prefix) and name.endswith(".npy"))

    def drop(self, *names: str) -> None:
        for name in names:
            with suppress(FileNotFoundError):
                os.unlink(f"{self.path}/{name}")

    def close(self) -> None:
        """Remove it, with its files."""
        shutil.rmtree(self.path, ignore_errors=True)


@dataclass(frozen=True)
class RemoteFolder(Folder):
    """A folder that only libraries reach."""

    def open(self) -> None:
        files, path = _system(self.path)
        with _written(self.path):
            files.create_dir(path, recursive=True)
            self._put(MARK, b"\n")

    def _keep(self, beside: str, name: str) -> None:
        with open(beside, "rb") as file:
            self._put(name, file)

    def array(self, name: str) -> Array:
        return _mapped(self._copy(name, [(name, 0)]))

    def _reading(self, name: str) -> IO[bytes]:
        files, path = _system(self.path)
        opened: IO[bytes] = files.open_input_file(f"{path}/{name}")
        return opened

    def place(self, name: str, begin: int, values: Array) -> None:
        with _written(self.path):
            files, path = _system(self.path)
            files.create_dir(f"{path}/{name}", recursive=True)
            self._put(f"{name}/{begin}.{values.dtype.str[1:]}", np.ascontiguousarray(values).data)

    def vector(self, name: str, dtype: Any, size: int) -> Array:
        kind = np.dtype(dtype)
        ending = f".{kind.str[1:]}"
        found = [one for one in self._listed(name) if one.base_name.endswith(ending)]
        if sum(one.size for one in found) != size * kind.itemsize:
            raise InputError(f"{self.path}: {name} is not whole; something else writes to this folder, give another as --work")
        parts = [(f"{name}/{one.base_name}", int(one.base_name.removesuffix(ending)) * kind.itemsize) for one in found]
        return np.asarray(np.memmap(self._copy(name, parts), kind, "r", shape=(size,)))

    def part(self, name: str, dtype: Any, begin: int, end: int) -> Array:
        kind = np.dtype(dtype)
        one = f"{name}/{begin}.{kind.str[1:]}"
        if self._there(one):
            with self._reading(one) as file:
                data = file.read()
            if len(data) == (end - begin) * kind.itemsize:
                return np.frombuffer(data, kind)
        size = max(int(one.base_name.split(".")[0]) + one.size // kind.itemsize for one in self._listed(name))
        return self.vector(name, dtype, size)[begin:end].copy()

    def names(self, prefix: str) -> list[str]:
        files = (one.base_name for one in self._listed())
        return sorted(name for name in files if name.startswith(prefix) and name.endswith(".npy"))

    def drop(self, *names: str) -> None:
        files, path = _system(self.path)
        for name in names:
            kind = files.get_file_info(f"{path}/{name}").type
            if kind == pafs.FileType.Directory:
                files.delete_dir(f"{path}/{name}")
            elif kind == pafs.FileType.File:
                files.delete_file(f"{path}/{name}")

    def close(self) -> None:
        shutil.rmtree(self._here(), ignore_errors=True)
        files, path = _system(self.path)
        with suppress(OSError):  # what went wrong before is what matters
            files.delete_dir(path)

    def _listed(self, name: str = "") -> list[Any]:
        """What lies in the folder, or in one in it."""
        files, path = _system(self.path)
        return list(files.get_file_info(pafs.FileSelector(f"{path}/{name}".rstrip("/"))))

    def _there(self, name: str) -> bool:
        files, path = _system(self.path)
        return bool(files.get_file_info(f"{path}/{name}").type == pafs.FileType.File)

    def _put(self, name: str, data: Any) -> None:
        """Write beside and rename. One that is there already has the same bytes."""
        files, path = _system(self.path)
        beside = f"{path}/{name}.{secrets.token_hex(4)}.beside"
        with files.open_output_stream(beside) as out:
            if hasattr(data, "read"):
                shutil.copyfileobj(data, out, 1 << 24)
            else:
                out.write(data)
        try:
            files.move(beside, f"{path}/{name}")
        except OSError:
            if not self._there(name):
                raise
            files.delete_file(beside)

    def _here(self) -> str:
        """Where this machine keeps its copies."""
        local = (os.environ.get("SPARK_LOCAL_DIRS") or tempfile.gettempdir()).split(",")[0]
        where = f"{local}/{self.path.rstrip('/').rpartition('/')[2]}"
        os.makedirs(where, exist_ok=True)
        return where

    def _copy(self, name: str, parts: list[tuple[str, int]]) -> str:
        """The path of this machine's copy, made of parts that each begin at a byte; copies of vectors long gone go."""
        where = self._here()
        here = f"{where}/{name}"
        if os.path.exists(here):
            return here
        beside = f"{here}.{secrets.token_hex(4)}"
        with _written(where):
            with open(beside, "wb") as copy:
                for part, at in parts:
                    copy.seek(at)
                    with self._reading(part) as file:
                        shutil.copyfileobj(file, copy, 1 << 24)
            os.replace(beside, here)
        for other in os.listdir(where):
            if _older(other, name):
                with suppress(FileNotFoundError):
                    os.unlink(f"{where}/{other}")
        return here


def _older(other: str, name: str) -> bool:
    """Whether this vector is of the same kind, and from before the last.

    >>> _older("x-7", "x-9"), _older("x-8", "x-9"), _older("give-7", "x-9")
    (True, False, False)
    """
    (kind, _, number), (mine, _, now) = other.rpartition("-"), name.rpartition("-")
    return kind == mine and number.isdigit() and now.isdigit() and int(number) < int(now) - 1


def folder_at(path: str) -> Folder:
    """The folder of this path or address."""
    return RemoteFolder(path) if "://" in path else Folder(path)


@lru_cache(maxsize=256)
def _mapped(path: str) -> Array:
    """Blocks stay mapped in a process that works for more than one job."""
    return np.asarray(np.load(path, mmap_mode="r"))


@lru_cache(maxsize=4)
def _system(address: str) -> tuple[Any, str]:
    """pyarrow's file system for an address, and the path in it. Spark's s3a is s3 to others."""
    try:
        system, path = pafs.FileSystem.from_uri(address.replace("s3a://", "s3://", 1))
    except (OSError, ValueError) as error:
        raise InputError(
            f"--work {address}: pyarrow does not reach it ({error}); give a folder that all machines mount"
        ) from None
    return system, path


@contextmanager
def _written(where: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"{where} cannot be written: {why}; free some room, or give another folder as --work") from None
