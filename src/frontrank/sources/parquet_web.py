"""A web in Parquet: what Spark, DuckDB, pandas and Polars write and read.

    links.parquet     source, target                      whole numbers: pages of the pages table
    pages.parquet     page [, url, host, views, clicks, title, text]   page is 0 .. n - 1, each once, in any order

Each is a file, a folder of that name with parts (*.parquet) in it, or such a folder called ``links`` or ``pages``
(``parquet_tables``). Parts are read by name, so the links of a page keep their order.

Both ways are streams of record batches (``parquet_rows``): nothing of a web is whole in memory (``write_from_parquet``,
``write_parquet``), but for ``load_parquet``, which makes a web there, as all do with a web that has titles or texts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from frontrank.errors import InputError, SourceError
from frontrank.kernels.jit import Array
from frontrank.sources.names import HostTable
from frontrank.sources.parquet_rows import (
    LINKS,
    PAGES,
    ParquetTables,
    are_in_order,
    impact_of,
    link_pieces,
    looked_at,
    page_pieces,
)
from frontrank.sources.parquet_tables import BATCH, SUFFIX, UNDONE
from frontrank.sources.spilled import SpilledLinks
from frontrank.sources.url_files import HostFiles, UrlFiles
from frontrank.sources.web_directory import write_manifest, write_web
from frontrank.system.capacity import check_room
from frontrank.system.files import NpyFile, Progress, check_target
from frontrank.system.lazy import pa, pq
from frontrank.web.strings import Packed, Texts
from frontrank.web.web import IMPACTS, Web

BYTES_A_LINK = 12
STRINGS = {"title": "titles", "text": "texts"}  # column here: column of a web
WRITTEN = ("hosts", "urls", *IMPACTS, *STRINGS.values())  # the columns of a web that this form has
MARK = {b"frontrank": b"web"}  # in the schema of tables that are written here, which may be replaced


# --- what lies there ---


def is_parquet_web(path: str) -> bool:
    parts = os.path.join(path, LINKS)
    if os.path.isdir(parts):
        return any(name.endswith(SUFFIX) or name == UNDONE for name in os.listdir(parts))
    return os.path.exists(parts + SUFFIX)


def is_parquet_target(path: str | os.PathLike[str]) -> bool:
    """Whether a web that is to be written there is wanted in this form."""
    return os.path.normpath(path).endswith(SUFFIX)


# --- in ---


def load_parquet(path: str, progress: Progress | None = None) -> Web:
    """The web in memory; refused if it does not fit."""
    tables = looked_at(path)
    in_order = are_in_order(tables.pages)
    check_room(path, tables.links.rows, BYTES_A_LINK * tables.links.rows + 100 * tables.pages.rows)
    sources, targets = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for source, target in link_pieces(tables, progress):
        sources.append(source.astype(np.int32))
        targets.append(target.astype(np.int32))
    columns = [column for column in ("url", "host", *IMPACTS, *STRINGS) if column in tables.pages.columns]
    pieces = list(page_pieces(tables, columns, in_order)) if columns else []
    known: dict[str, Any] = {}
    if "url" in columns:
        known["urls"] = Texts(pa.chunked_array([Packed.of(piece["url"]).arrow() for piece in pieces]))
    if "url" in columns or "host" in columns:
        hosts, numbers, names = HostTable(), [], []
        for piece in pieces:
            given = Packed.of(piece["host"] if "host" in columns else piece["url"])
            found, fresh = hosts.of_names(given) if "host" in columns else hosts.numbers(given)
            numbers.append(found)
            names.append(fresh)
        known["hosts"], known["host_names"] = np.concatenate(numbers), Packed.joined(names).strings()
    for impact in IMPACTS:
        if impact in columns:
            known[impact] = np.concatenate([impact_of(path, piece[impact], impact) for piece in pieces])
    for column, name in STRINGS.items():
        if column in columns:
            known[name] = Texts(pa.chunked_array([_texts(path, piece[column], column) for piece in pieces], pa.large_string()))
    return Web.from_edges(np.concatenate(sources), np.concatenate(targets), tables.pages.rows, name=tables.name, **known)


def _texts(path: str, column: Any, name: str) -> Any:
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    try:
        return column.cast(pa.large_string()).fill_null("")
    except pa.ArrowException as error:
        raise SourceError(f"{path}: the column {name} of the pages table must be text ({error})") from None


def write_from_parquet(path: str, where: Path, progress: Progress | None = None) -> None:
    """The web, written into a folder as a web directory, however large it is."""
    tables = looked_at(path)
    if not STRINGS.keys().isdisjoint(tables.pages.columns):
        write_web(load_parquet(path, progress), os.fspath(where))
        return
    in_order = are_in_order(tables.pages)
    with SpilledLinks(where, tables.name, progress) as spilled:
        for source, target in link_pieces(tables, progress):
            spilled.add(source, target)
        links = spilled.write(tables.pages.rows)
    columns = [column for column in ("url", "host", *IMPACTS) if column in tables.pages.columns]
    hosts = _write_pages(tables, in_order, columns, where) if columns else None
    known = {"hosts": hosts is not None, "urls": "url" in columns, **{impact: impact in columns for impact in IMPACTS}}
    write_manifest(where, tables.name, tables.pages.rows, links, hosts, [column for column in known if known[column]])


def _write_pages(tables: ParquetTables, in_order: bool, columns: list[str], where: Path) -> int | None:
    """Returns the number of hosts, if they are known."""
    with ExitStack() as files:
        urls = files.enter_context(UrlFiles(where)) if "url" in columns else None
        hosts = files.enter_context(HostFiles(where)) if urls is None and "host" in columns else None
        impacts = {name: files.enter_context(NpyFile(where / f"{name}.npy", np.float64)) for name in IMPACTS if name in columns}
        for piece in page_pieces(tables, columns, in_order):
            names = Packed.of(piece["host"]) if "host" in columns else None
            if urls is not None:
                urls.append(Packed.of(piece["url"]), names)
            elif hosts is not None and names is not None:
                hosts.append_names(names)
            for name, file in impacts.items():
                file.append(impact_of(tables.path, piece[name], name))
    if urls is not None:
        return urls.hosts
    return None if hosts is None else hosts.count


# --- out ---


def check_parquet_target(path: str | os.PathLike[str], force: bool = False) -> None:
    """Raise InputError if no web can be written there, or if tables that somebody else made would be lost."""
    check_target(path, _holds_tables_alone, "a web in Parquet alone")
    if not force and os.path.isdir(path) and not all(map(_is_ours, Path(path).iterdir())):
        raise InputError(f"{os.fspath(path)} exists and holds tables of your own; give another path, or --force to replace it")


def _holds_tables_alone(path: Path) -> bool:
    return {entry.name for entry in path.iterdir()} <= {LINKS + SUFFIX, PAGES + SUFFIX}


def _is_ours(file: Path) -> bool:
    """Whether ``write_parquet`` wrote this table."""
    try:
        metadata = pq.read_schema(file).metadata or {}
    except (OSError, pa.ArrowException):
        return False
    return MARK.items() <= metadata.items()


def write_parquet(web: Web, where: Path, progress: Progress | None = None) -> None:
    """Write links.parquet and pages.parquet into a folder. Columns that this form has not are left out."""
    _write_table(where / (LINKS + SUFFIX), _link_tables(web), progress, "links")
    _write_table(where / (PAGES + SUFFIX), _page_tables(web), progress, "pages")


def _write_table(path: Path, pieces: Iterator[Any], progress: Progress | None, what: str) -> None:
    first = next(pieces)
    rows = 0
    schema = first.schema.with_metadata(MARK)
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False, write_page_checksum=True) as writer:
        for piece in chain([first], pieces):
            writer.write_table(piece.cast(schema), row_group_size=BATCH)
            rows += piece.num_rows
            if progress is not None:
                progress(f"{path.parent.name}: {rows:,} {what} written")


def _link_tables(web: Web) -> Iterator[Any]:
    """Never empty: a table of no links has columns too."""
    for begin in range(0, max(web.links, 1), BATCH):
        end = min(begin + BATCH, web.links)
        first, last = np.searchsorted(web.indptr, [begin, end], side="right") - 1
        bounds = np.clip(web.indptr[first : last + 2], begin, end)
        source = np.repeat(np.arange(first, first + bounds.size - 1, dtype=np.int64), np.diff(bounds))
        yield pa.table({"source": source, "target": web.targets[begin:end].astype(np.int64)})


def _page_tables(web: Web) -> Iterator[Any]:
    columns: dict[str, Callable[[int, int], Any]] = {}
    if web.urls is not None:
        columns["url"] = _strings(web.urls)
    if web.hosts is not None and web.host_names is not None:
        columns["host"] = _hosts(web.hosts, web.host_names)
    for impact in IMPACTS:
        if (values := getattr(web, impact)) is not None:
            columns[impact] = _counts(values)
    for column, name in STRINGS.items():
        if (strings := getattr(web, name)) is not None:
            columns[column] = _strings(strings)
    for begin in range(0, web.pages, BATCH):
        end = min(begin + BATCH, web.pages)
        page = np.arange(begin, end, dtype=np.int64)
        yield pa.table({"page": page, **{name: column(begin, end) for name, column in columns.items()}})


def _strings(column: Any) -> Callable[[int, int], Any]:
    if isinstance(column, Texts):
        return lambda begin, end: column.array[begin:end].cast(pa.string())
    return lambda begin, end: pa.array([column[i] for i in range(begin, end)], pa.string())


def _hosts(hosts: Array, names: Any) -> Callable[[int, int], Any]:
    all_names = names.array if isinstance(names, Texts) else pa.array(list(names), pa.string())
    return lambda begin, end: all_names.take(pa.array(hosts[begin:end])).cast(pa.string())


def _counts(counts: Array) -> Callable[[int, int], Any]:
    """Whole numbers where all of them are."""
    whole = all(bool((counts[at : at + BATCH] % 1 == 0).all()) for at in range(0, counts.size, BATCH))
    return lambda begin, end: counts[begin:end].astype(np.int64 if whole else np.float64)
