"""A web in Parquet: what Spark, DuckDB, pandas and Polars write and read.

    links.parquet     source, target                      whole numbers: pages of the pages table
    pages.parquet     page [, url, host, views, clicks]   page is 0 .. n - 1, each once, in any order

Each is a file, a folder of that name with parts (*.parquet) in it, or such a folder called ``links`` or ``pages``
(``parquet_tables``). Parts are read by name, so the links of a page keep their order.

Both ways are streams of record batches: nothing of a web is whole in memory (``write_from_parquet``, ``write_parquet``), but
for ``load_parquet``, which makes a web there. Pages out of order are read in passes over ranges of pages, row groups without
any of them left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import SourceError, need
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.sources.names import Hosts
from frontrank.sources.parquet_tables import BATCH, SUFFIX, UNDONE, batches_of, opened_part, parts_of, table_path
from frontrank.sources.spilled import SpilledLinks
from frontrank.sources.url_files import HostFiles, UrlFiles
from frontrank.sources.web_directory import write_manifest
from frontrank.web.files import NpyFile, Progress
from frontrank.web.links import MAX_PAGES
from frontrank.web.room import check_room
from frontrank.web.strings import Packed, Texts
from frontrank.web.web import IMPACTS, Web

LINKS, PAGES = "links", "pages"
SPAN = 2**22  # pages put in order at a time
BYTES_A_LINK = 12
WRITTEN = ("hosts", "urls", "views", "clicks")  # the columns of a web that this form has


# --- what lies there ---


def is_parquet_web(path: str) -> bool:
    parts = os.path.join(path, LINKS)
    if os.path.isdir(parts):
        return any(name.endswith(SUFFIX) or name == UNDONE for name in os.listdir(parts))
    return os.path.exists(parts + SUFFIX)


def is_parquet_target(path: str | os.PathLike[str]) -> bool:
    """Whether a web that is to be written there is wanted in this form."""
    return os.path.normpath(path).endswith(SUFFIX)


class ParquetTable(NamedTuple):
    """The parts of a table, and what they say of themselves."""

    parts: list[str]
    rows: int
    columns: list[str]


class Tables(NamedTuple):
    """A web's."""

    path: str
    links: ParquetTable
    pages: ParquetTable
    in_order: bool  # pages stand as 0, 1, 2, ...

    @property
    def name(self) -> str:
        return os.path.basename(os.path.normpath(self.path)).removesuffix(SUFFIX)


def looked_at(path: str) -> Tables:
    """The tables of a folder, whole and with the columns they must have."""
    need("pyarrow")
    links, pages = _table(path, LINKS, ["source", "target"]), _table(path, PAGES, ["page"])
    if not 0 < pages.rows <= MAX_PAGES:
        raise SourceError(f"{path}: {pages.rows:,} rows of {PAGES}, expected 1 to {MAX_PAGES:,}")
    return Tables(path, links, pages, _check_numbers(pages))


def _table(path: str, name: str, wanted: list[str]) -> ParquetTable:
    parts = _parts(path, name)
    rows, columns = 0, None
    for part in parts:
        with opened_part(part) as file:
            rows += file.metadata.num_rows
            found = list(file.schema_arrow.names)
            missing = [column for column in wanted if column not in found]
            if missing:
                raise SourceError(f"{part}: no column {missing[0]!r}, expected {', '.join(wanted)}; it has {', '.join(found)}")
            columns = found if columns is None else [column for column in columns if column in found]
    return ParquetTable(parts, rows, columns or [])


def _parts(path: str, name: str) -> list[str]:
    there = table_path(path, name)
    if not os.path.exists(there):
        raise SourceError(f"{path}: no {name}{SUFFIX}; a web in Parquet is a folder with {LINKS}{SUFFIX} and {PAGES}{SUFFIX}")
    parts = parts_of(path, name)
    if not parts:
        raise SourceError(f"{there}: no *{SUFFIX} files; expected the parts of a table")
    return parts


# --- rows ---


def _numbers(part: str, row: int, batch: Any, column: str) -> Array:
    """A column of whole numbers as int64."""
    need("pyarrow")
    import pyarrow as pa

    array = batch.column(batch.schema.get_field_index(column))
    if not pa.types.is_integer(array.type):
        raise SourceError(f"{part}: column {column!r} holds {array.type}, expected whole numbers (int64)")
    if array.null_count:
        at = int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
        raise SourceError(f"{part}, row {row + at + 1}: no {column}; expected a page number")
    try:
        found: Array = array.cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:  # an unsigned one beyond
        raise SourceError(f"{part}: column {column!r} holds numbers beyond 64 bits with sign; expected page numbers") from None
    return found


def _check_numbers(pages: ParquetTable) -> bool:
    """Whether pages stand in order; raise SourceError if a page is missing, or there twice."""
    seen = np.zeros(pages.rows, np.bool_)
    before, in_order = 0, True
    for part, row, batch in batches_of(pages.parts, ["page"]):
        numbers = _numbers(part, row, batch, "page")
        at, ordered = compiled(_enter)(numbers, before, seen)
        if at >= 0:
            wrong = int(numbers[at])
            why = "is there twice" if 0 <= wrong < pages.rows else f"is outside 0 to {pages.rows - 1:,}"
            raise SourceError(
                f"{part}, row {row + at + 1}: page {wrong} {why}; expected {pages.rows:,} pages from 0 on, each once"
            )
        before += numbers.size
        in_order = in_order and bool(ordered)
    return in_order


def _link_pieces(tables: Tables, progress: Progress | None) -> Iterator[tuple[Array, Array]]:
    links = 0
    for part, row, batch in batches_of(tables.links.parts, ["source", "target"]):
        source, target = (_numbers(part, row, batch, column) for column in ("source", "target"))
        at = compiled(_outside)(source, target, tables.pages.rows)
        if at >= 0:
            wrong = int(source[at]) if not 0 <= source[at] < tables.pages.rows else int(target[at])
            raise SourceError(
                f"{part}, row {row + at + 1}: page {wrong} is not in the pages table, which has 0 to {tables.pages.rows - 1:,}"
            )
        yield source, target
        links += source.size
        if progress is not None:
            progress(f"{tables.name}: {links:,} links read")


def _page_pieces(tables: Tables, columns: list[str]) -> Iterator[Any]:
    """The columns of all pages, in order of their numbers, as Arrow tables."""
    need("pyarrow")
    import pyarrow as pa

    if tables.in_order:
        for _, _, batch in batches_of(tables.pages.parts, columns):
            yield pa.table(batch)
        return
    for begin in range(0, tables.pages.rows, SPAN):
        held = []
        for part in tables.pages.parts:
            with opened_part(part) as file:
                held += [_between(file, group, columns, begin) for group in _groups(file, begin)]
        found = pa.concat_tables(held)
        order = np.argsort(found.column("page").to_numpy(), kind="stable")
        for at in range(0, order.size, BATCH):
            yield found.select(columns).take(pa.array(order[at : at + BATCH]))


def _groups(file: Any, begin: int) -> Iterator[int]:
    """The row groups that may hold pages of the span that begins there."""
    at = file.schema_arrow.names.index("page")
    for group in range(file.metadata.num_row_groups):
        says = file.metadata.row_group(group).column(at).statistics
        if says is None or not says.has_min_max or (says.max >= begin and says.min < begin + SPAN):
            yield group


def _between(file: Any, group: int, columns: list[str], begin: int) -> Any:
    need("pyarrow")
    import pyarrow as pa

    found = file.read_row_group(group, columns=["page", *columns])
    numbers = found.column("page").to_numpy()
    return found.filter(pa.array((numbers >= begin) & (numbers < begin + SPAN)))


@kernel
def _enter(numbers: Array, before: int, seen: Array) -> tuple[int, bool]:
    """(the first that is outside or seen already, or -1; whether all stand at their place)."""
    in_order = True
    for j in range(numbers.size):
        number = numbers[j]
        if number < 0 or number >= seen.size or seen[number]:
            return j, False
        seen[number] = True
        in_order = in_order and number == before + j
    return -1, in_order


@kernel
def _outside(source: Array, target: Array, pages: int) -> int:
    for j in range(source.size):
        if source[j] < 0 or source[j] >= pages or target[j] < 0 or target[j] >= pages:
            return j
    return -1


# --- in ---


def load_parquet(path: str, progress: Progress | None = None) -> Web:
    """The web in memory; refused if it does not fit."""
    need("pyarrow")
    import pyarrow as pa

    tables = looked_at(path)
    check_room(path, tables.links.rows, BYTES_A_LINK * tables.links.rows + 100 * tables.pages.rows)
    sources, targets = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for source, target in _link_pieces(tables, progress):
        sources.append(source.astype(np.int32))
        targets.append(target.astype(np.int32))
    columns = [column for column in ("url", "host", *IMPACTS) if column in tables.pages.columns]
    pieces = list(_page_pieces(tables, columns)) if columns else []
    known: dict[str, Any] = {}
    if "url" in columns:
        known["urls"] = Texts(pa.chunked_array([Packed.of(piece["url"]).arrow() for piece in pieces]))
    if "url" in columns or "host" in columns:
        hosts, numbers, names = Hosts(), [], []
        for piece in pieces:
            given = Packed.of(piece["host"] if "host" in columns else piece["url"])
            found, fresh = hosts.of_names(given) if "host" in columns else hosts.numbers(given)
            numbers.append(found)
            names.append(fresh)
        known["hosts"], known["host_names"] = np.concatenate(numbers), Packed.joined(names).strings()
    for impact in IMPACTS:
        if impact in columns:
            known[impact] = np.concatenate([_impact(path, piece, impact) for piece in pieces])
    return Web.from_edges(np.concatenate(sources), np.concatenate(targets), tables.pages.rows, name=tables.name, **known)


def write_from_parquet(path: str, where: Path, progress: Progress | None = None) -> None:
    """The web, written into a folder as a web directory, however large it is."""
    tables = looked_at(path)
    with SpilledLinks(where, tables.name, progress) as spilled:
        for source, target in _link_pieces(tables, progress):
            spilled.add(source, target)
        links = spilled.write(tables.pages.rows)
    columns = [column for column in ("url", "host", *IMPACTS) if column in tables.pages.columns]
    hosts = _write_pages(tables, columns, where) if columns else None
    known = {"hosts": hosts is not None, "urls": "url" in columns, **{impact: impact in columns for impact in IMPACTS}}
    write_manifest(where, tables.name, tables.pages.rows, links, hosts, [column for column in known if known[column]])


def _write_pages(tables: Tables, columns: list[str], where: Path) -> int | None:
    """Returns the number of hosts, if they are known."""
    with ExitStack() as files:
        urls = files.enter_context(UrlFiles(where)) if "url" in columns else None
        hosts = files.enter_context(HostFiles(where)) if urls is None and "host" in columns else None
        impacts = {name: files.enter_context(NpyFile(where / f"{name}.npy", np.float64)) for name in IMPACTS if name in columns}
        for piece in _page_pieces(tables, columns):
            names = Packed.of(piece["host"]) if "host" in columns else None
            if urls is not None:
                urls.append(Packed.of(piece["url"]), names)
            elif hosts is not None and names is not None:
                hosts.append_names(names)
            for name, file in impacts.items():
                file.append(_impact(tables.path, piece, name))
    if urls is not None:
        return urls.hosts
    return None if hosts is None else hosts.count


def _impact(path: str, piece: Any, name: str) -> Array:
    """Views or clicks; pages without are 0."""
    need("pyarrow")
    import pyarrow as pa

    try:
        column = piece[name].cast(pa.float64()).fill_null(0.0)
    except pa.ArrowException:
        raise SourceError(f"{path}: column {name!r} holds {piece[name].type}, expected numbers") from None
    found: Array = column.to_numpy()
    if found.size and not (np.isfinite(found).all() and found.min() >= 0):
        raise SourceError(f"{path}: {name} of a page are {found.min():g}, expected 0 or more")
    return found


# --- out ---


def is_ours(path: Path) -> bool:
    """Whether a folder holds nothing but what ``write_parquet`` writes."""
    return {entry.name for entry in path.iterdir()} <= {LINKS + SUFFIX, PAGES + SUFFIX}


def write_parquet(web: Web, where: Path, progress: Progress | None = None) -> None:
    """Write links.parquet and pages.parquet into a folder. Columns that this form has not are left out."""
    need("pyarrow")
    _write_table(where / (LINKS + SUFFIX), _link_tables(web), progress, "links")
    _write_table(where / (PAGES + SUFFIX), _page_tables(web), progress, "pages")


def _write_table(path: Path, pieces: Iterator[Any], progress: Progress | None, what: str) -> None:
    need("pyarrow")
    import pyarrow.parquet as pq

    first = next(pieces)
    rows = 0
    with pq.ParquetWriter(path, first.schema, compression="zstd", use_dictionary=False, write_page_checksum=True) as writer:
        for piece in _after(first, pieces):
            writer.write_table(piece, row_group_size=BATCH)
            rows += piece.num_rows
            if progress is not None:
                progress(f"{path.parent.name}: {rows:,} {what} written")


def _after(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


def _link_tables(web: Web) -> Iterator[Any]:
    """Never empty: a table of no links has columns too."""
    need("pyarrow")
    import pyarrow as pa

    for begin in range(0, max(web.links, 1), BATCH):
        end = min(begin + BATCH, web.links)
        first, last = np.searchsorted(web.indptr, [begin, end], side="right") - 1
        bounds = np.clip(web.indptr[first : last + 2], begin, end)
        source = np.repeat(np.arange(first, first + bounds.size - 1, dtype=np.int64), np.diff(bounds))
        yield pa.table({"source": source, "target": web.targets[begin:end].astype(np.int64)})


def _page_tables(web: Web) -> Iterator[Any]:
    need("pyarrow")
    import pyarrow as pa

    columns: dict[str, Callable[[int, int], Any]] = {}
    if web.urls is not None:
        columns["url"] = _strings(web.urls)
    if web.hosts is not None and web.host_names is not None:
        columns["host"] = _hosts(web.hosts, web.host_names)
    for impact in IMPACTS:
        if (held := getattr(web, impact)) is not None:
            columns[impact] = _counts(held)
    for begin in range(0, web.pages, BATCH):
        end = min(begin + BATCH, web.pages)
        page = np.arange(begin, end, dtype=np.int64)
        yield pa.table({"page": page, **{name: column(begin, end) for name, column in columns.items()}})


def _strings(held: Any) -> Callable[[int, int], Any]:
    need("pyarrow")
    import pyarrow as pa

    if isinstance(held, Texts):
        return lambda begin, end: held.array[begin:end].cast(pa.string())
    return lambda begin, end: pa.array([held[i] for i in range(begin, end)], pa.string())


def _hosts(hosts: Array, names: Any) -> Callable[[int, int], Any]:
    need("pyarrow")
    import pyarrow as pa

    all_names = names.array if isinstance(names, Texts) else pa.array(list(names), pa.string())
    return lambda begin, end: all_names.take(pa.array(hosts[begin:end])).cast(pa.string())


def _counts(held: Array) -> Callable[[int, int], Any]:
    """Whole numbers where all of them are."""
    whole = all(bool((held[at : at + BATCH] % 1 == 0).all()) for at in range(0, held.size, BATCH))
    return lambda begin, end: held[begin:end].astype(np.int64 if whole else np.float64)
