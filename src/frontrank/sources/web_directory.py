"""Web directories: frontrank's own format, which opens at once, however large the web is.

    web.json          {"format": "frontrank-web", "version": 1, "name", "pages", "links", "hosts", "columns"}
    indptr.npy        int64, pages + 1: the links of page p are targets[indptr[p]:indptr[p + 1]]
    targets.npy       int32, links
    hosts.npy         int32, pages: host numbers          hosts.parquet    host
    ids.npy           int64, pages                        pages.parquet    url, title, text
    views.npy         float64, pages                      clicks.npy       float64, pages
    seeds.npy         integers                            anchors.parquet  anchor, a row per link

Only web.json, indptr and targets are required; ``columns`` lists the others. Arrays are memory-mapped; strings are
read column by column at their first use. Opening checks shapes, types and ranges, in one pass over the links.

web.json has a digest of each file (``digests``: of a Parquet file one for its footer and for each column), and of itself.
Those of arrays are compared when the web is opened, those of columns when they are read. Webs of earlier versions have none.

The mapping is copy-on-write ("c"): a read-only array is another type to numba, so every kernel would be compiled twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from frontrank.errors import InputError, SourceError
from frontrank.kernels.jit import Array
from frontrank.sources.digests import AGAIN, check_file, read_manifest, write_digested
from frontrank.sources.parquet_digests import damaged_part
from frontrank.system.files import IMPORTED, Progress, check_target, written_beside
from frontrank.system.lazy import pa, pq
from frontrank.web.strings import Deferred, Packed, Texts
from frontrank.web.web import Web

FORMAT = "frontrank-web"
VERSION = 1
MANIFEST = "web.json"
TABLES = ("pages", "hosts", "anchors")
PARQUET_MAGIC = b"PAR1"
ROWS = 16_384  # of a row group: a few hundred MB of text at most
ARRAYS: dict[str, Any] = {"hosts": np.int32, "ids": np.int64, "seeds": None, "views": np.float64, "clicks": np.float64}
STRINGS = {"urls": ("pages", "url"), "titles": ("pages", "title"), "texts": ("pages", "text")}
FILES = {MANIFEST, *(f"{name}.npy" for name in ("indptr", "targets", *ARRAYS)), *(f"{t}.parquet" for t in TABLES)}


def has_manifest(path: str) -> bool:
    return os.path.isfile(os.path.join(path, MANIFEST))


def is_web_directory(path: str) -> bool:
    """Whether there is a web.json of this format, of any version."""
    try:
        with open(os.path.join(path, MANIFEST), encoding="utf-8") as file:
            manifest = json.load(file)
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT


# --- writing ---


def save(web: Web, path: str | os.PathLike[str], force: bool = False) -> None:
    """Write the web as a directory, which replaces another web there; with ``force`` also one with further files in it."""
    check_web_target(path, force)
    with written_beside(path) as beside:
        beside.mkdir()
        write_web(web, os.fspath(beside))


def check_web_target(path: str | os.PathLike[str], force: bool = False) -> None:
    """Raise InputError if no web can be written there, or if more than a web would be lost."""
    check_target(path, lambda target: is_web_directory(os.fspath(target)), "a frontrank web")
    more = [] if force or not os.path.isdir(path) else sorted(set(os.listdir(path)) - FILES)
    if more:
        content = "an imported crawl" if IMPORTED in more else f"more than a web ({', '.join(more[:3])})"
        raise InputError(f"{os.fspath(path)} exists and holds {content}; give another path, or --force to replace it")


def write_web(web: Web, where: str) -> None:
    np.save(os.path.join(where, "indptr.npy"), np.asarray(web.indptr, np.int64))
    np.save(os.path.join(where, "targets.npy"), np.asarray(web.targets, np.int32))
    for name, dtype in ARRAYS.items():
        array = getattr(web, name)
        if array is not None:
            np.save(os.path.join(where, f"{name}.npy"), np.asarray(array, dtype))
    _write_strings(where, "pages", {STRINGS[c][1]: getattr(web, c) for c in STRINGS if web.has(c)})
    if web.anchors is not None:
        _write_strings(where, "anchors", {"anchor": web.anchors})
    if web.host_names is not None:
        _write_strings(where, "hosts", {"host": web.host_names})
    columns = [column for column in Web.COLUMNS if web.has(column)]
    write_manifest(where, web.name, web.pages, web.links, None if web.host_names is None else len(web.host_names), columns)


def write_manifest(
    where: str | os.PathLike[str], name: str, pages: int, links: int, hosts: int | None = None, columns: Sequence[str] = ()
) -> None:
    """Write web.json, the last file: without it a folder is not a web directory."""
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "pages": pages,
        "links": links,
        "hosts": hosts,
        "columns": list(columns),
    }
    write_digested(os.path.join(where, MANIFEST), manifest, FILES)


def _write_strings(where: str, name: str, columns: dict[str, Sequence[str]]) -> None:
    if not columns:
        return
    with StringsFile(where, name, list(columns)) as file:
        for begin, end in _spans(len(next(iter(columns.values())))):
            file.append(*(_strings(column, begin, end) for column in columns.values()))


class StringsFile:
    """A table of strings of a web directory, written piece by piece; each piece is a row group."""

    def __init__(self, where: str | os.PathLike[str], table: str, columns: list[str]) -> None:
        self.rows = 0
        self._schema = pa.schema([(column, pa.string()) for column in columns])
        path = os.path.join(where, f"{table}.parquet")
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd", write_page_checksum=True)

    def append(self, *columns: Any) -> None:
        """A row for each string; columns are Packed, Arrow arrays or lists."""
        arrays = [column.arrow() if isinstance(column, Packed) else pa.array(column, pa.string()) for column in columns]
        self._writer.write_table(pa.table(arrays, schema=self._schema))
        self.rows += len(arrays[0])

    def __enter__(self) -> StringsFile:
        return self

    def __exit__(self, *error: object) -> None:
        self._writer.close()


def _spans(length: int) -> Iterator[tuple[int, int]]:
    for begin in range(0, length, ROWS):
        yield begin, min(begin + ROWS, length)


def _strings(column: Sequence[str], begin: int, end: int) -> list[str]:
    if isinstance(column, Texts):
        return [text or "" for text in column.array[begin:end].to_pylist()]
    return [column[i] for i in range(begin, end)]


# --- reading ---


def load_directory(path: str | os.PathLike[str], progress: Progress | None = None) -> Web:
    """The web in a directory that ``save`` wrote."""
    where = os.fspath(path)
    manifest = _read_manifest(os.path.join(where, MANIFEST))
    pages, links, columns = manifest["pages"], manifest["links"], manifest["columns"]
    digests = manifest["digests"]
    indptr = mapped(where, "indptr", np.int64, pages + 1, digests)
    targets = mapped(where, "targets", np.int32, links, digests)
    if indptr[0] != 0 or indptr[-1] != links or not bool(np.all(indptr[1:] >= indptr[:-1])):
        raise SourceError(f"{where}/indptr.npy: expected numbers that go up from 0 to {links:,}; write the web again")
    check_range(targets, pages, f"{where}/targets.npy", "page")
    found: dict[str, Any] = {
        name: mapped(where, name, dtype, None if name == "seeds" else pages, digests)
        for name, dtype in ARRAYS.items()
        if name in columns
    }
    if "seeds" in found:
        check_range(found["seeds"], pages, f"{where}/seeds.npy", "page")
    for name, (file, column) in STRINGS.items():
        if name in columns:
            found[name] = _column(where, file, column, pages, digests)
    if "anchors" in columns:
        found["anchors"] = _column(where, "anchors", "anchor", links, digests)
    if manifest["hosts"] is not None:
        found["host_names"] = _column(where, "hosts", "host", manifest["hosts"], digests)
        if "hosts" in found:
            check_range(found["hosts"], manifest["hosts"], f"{where}/hosts.npy", "host")
    return Web(indptr, targets, name=manifest["name"], **found)


def _read_manifest(path: str) -> dict[str, Any]:
    manifest = read_manifest(path, (FORMAT,), VERSION, ("pages", "links"), ("hosts",))
    columns = manifest.get("columns")
    if not isinstance(columns, list) or not set(map(str, columns)) <= set(Web.COLUMNS):
        raise SourceError(f"{path}: columns is {columns!r}, expected some of {', '.join(Web.COLUMNS)}")
    if not isinstance(manifest.get("name"), str):
        raise SourceError(f"{path}: name is {manifest.get('name')!r}, expected a text")
    return manifest


def mapped(where: str, name: str, dtype: Any, length: int | None, digests: dict[str, Any] | None = None) -> Array:
    """An array of the directory, mapped; a plain ndarray, so that kernels are compiled for one type only."""
    path = f"{where}/{name}.npy"
    try:
        array: Array = np.load(path, mmap_mode="c", allow_pickle=False).view(np.ndarray)
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror or error})") from None
    except Exception:  # the header is read as Python source: damage shows as a syntax error, a huge shape, anything
        raise SourceError(f"{path}: truncated or not a .npy array; write the web again") from None
    of_type = array.dtype == dtype if dtype is not None else array.dtype.kind == "i"
    if array.ndim != 1 or not of_type or length not in (None, array.size):
        wanted = f"{'' if length is None else f'{length:,} '}{'integers' if dtype is None else np.dtype(dtype).name}"
        raise SourceError(f"{path}: {array.dtype} of shape {array.shape}, expected {wanted}; write the web again")
    check_file(path, digests or {})
    return array


def check_range(numbers: Array, limit: int, path: str, what: str) -> None:
    # Seen as unsigned, a negative number is larger than every limit: one pass finds both faults.
    if numbers.size and int(numbers.view(f"u{numbers.itemsize}").max()) >= limit:
        raise SourceError(f"{path}: a {what} number is outside 0 to {limit - 1:,}; write the web again")


def _column(where: str, file: str, column: str, length: int, digests: dict[str, Any]) -> Deferred:
    path = f"{where}/{file}.parquet"
    try:
        with open(path, "rb") as file_:
            mark = _mark(os.fstat(file_.fileno()))
            file_.seek(-len(PARQUET_MAGIC), os.SEEK_END)
            whole = file_.read() == PARQUET_MAGIC
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror or error})") from None
    if not whole:
        raise SourceError(f"{path}: truncated or not a Parquet file; write the web again")
    return Deferred(length, partial(_read_column, path, column, mark, length, digests), f"{path}, column {column}")


def _mark(found: os.stat_result) -> tuple[int, ...]:
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read_column(path: str, column: str, mark: tuple[int, ...], rows: int, digests: dict[str, Any]) -> Any:
    try:
        if _mark(os.stat(path)) != mark:  # another web was saved here: its strings belong to other pages
            raise SourceError(f"{path}: replaced since the web was opened; load the web again")
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror or error})") from None
    return read_columns(path, [column], rows, digests)[column]


def read_columns(path: str, columns: list[str], rows: int, digests: dict[str, Any] | None = None) -> Any:
    """Columns of a Parquet file as an Arrow table. Its metadata may be damaged, so it is checked before it is used."""
    expected = (digests or {}).get(os.path.basename(path))
    try:
        if expected is not None:
            wrong = damaged_part(path, columns, expected)
            if wrong:
                raise SourceError(f"{path}: damaged, the digest of {wrong} is not that of what was written; {AGAIN}")
        with pq.ParquetFile(path, memory_map=True, page_checksum_verification=True) as file:
            metadata = file.metadata
            found_rows = sum(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups))
            if metadata.num_rows == found_rows == rows:
                table = file.read(columns=columns)
                table.validate(full=True)
                if table.num_rows == rows and table.column_names == columns:
                    return table
                found_rows = table.num_rows
    except (pa.ArrowException, OSError, KeyError, MemoryError, ValueError, OverflowError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise SourceError(f"{path}: column {', '.join(columns)} cannot be read ({why}); write the file again") from None
    raise SourceError(f"{path}: {found_rows:,} rows of {', '.join(columns)}, expected {rows:,}; write the file again")
