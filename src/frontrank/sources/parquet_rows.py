"""The rows of a web's two tables in Parquet, links and pages, as streams; webs and crawls are both read through it.

In memory is only a mark for each page, while numbers are checked. Pages out of order are read in passes over ranges of pages,
skipping row groups without any of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import SourceError
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.sources.parquet_tables import BATCH, SUFFIX, batches_of, opened_part, parts_of, table_path
from frontrank.system.files import Progress
from frontrank.system.lazy import pa
from frontrank.web.links import MAX_PAGES

LINKS, PAGES = "links", "pages"
SPAN = 2**22  # pages put in order at a time
WHOLE = ("int64", "int32", "int16", "int8", "uint32", "uint16", "uint8", "uint64")
LINK_COLUMNS = {"source": WHOLE, "target": WHOLE}
PAGE_COLUMNS = {"page": WHOLE}


# --- what lies there ---


class ParquetTable(NamedTuple):
    """The parts of a table, and what their footers say."""

    parts: list[str]
    rows: int
    columns: list[str]  # that all parts have


class ParquetTables(NamedTuple):
    """A web's."""

    path: str
    links: ParquetTable
    pages: ParquetTable

    @property
    def name(self) -> str:
        return os.path.basename(os.path.normpath(self.path)).removesuffix(SUFFIX)


def looked_at(path: str) -> ParquetTables:
    """The tables of a folder, each part whole by its footer and with the columns it must have; no row is read yet."""
    links, pages = table_of(path, LINKS, LINK_COLUMNS), table_of(path, PAGES, PAGE_COLUMNS)
    if pages.rows == 0:
        raise SourceError(f"{path}: the pages table is empty; a web has at least one page")
    if pages.rows > MAX_PAGES:
        raise SourceError(f"{path}: {pages.rows:,} pages, and one machine takes {MAX_PAGES:,}; rank them with --engine spark")
    return ParquetTables(path, links, pages)


def table_of(path: str, name: str, needed: Mapping[str, tuple[str, ...]]) -> ParquetTable:
    """A table with the columns that are needed (name: kinds that will do)."""
    there = table_path(path, name)
    if not os.path.exists(there):
        raise SourceError(no_table(path, name))
    parts = parts_of(path, name)
    if not parts:
        raise SourceError(f"{there}: no *{SUFFIX} files; expected the parts of a table")
    rows, columns = 0, None
    for part in parts:
        with opened_part(part) as file:
            rows += file.metadata.num_rows
            kinds = {field.name: str(field.type) for field in file.schema_arrow}
        check_columns(part, kinds, needed)
        columns = list(kinds) if columns is None else [column for column in columns if column in kinds]
    return ParquetTable(parts, rows, columns or [])


def no_table(path: str, name: str) -> str:
    """What is said where a table is missing."""
    return f"{path}: no {name}{SUFFIX}; a web in Parquet is a folder with {LINKS}{SUFFIX} and {PAGES}{SUFFIX}"


def check_columns(where: str, kinds: Mapping[str, str], needed: Mapping[str, tuple[str, ...]]) -> None:
    """SourceError if a needed column is missing, or any is of another kind than it must be."""
    for name, known in needed.items():
        if name not in kinds:
            raise SourceError(f"{where}: no column {name!r}; it has {', '.join(kinds) or 'none'}")
        if kinds[name] not in known:
            raise SourceError(f"{where}: column {name!r} must be {known[0]}, got {kinds[name]}")


def not_known(page: int, pages: int) -> str:
    """What is said of a link to or from a page that is not there."""
    return f"page {page} is not in the pages table, which has 0 to {pages - 1}; add it, or drop the link"


def not_numbered(page: int, pages: int) -> str:
    """What is said of a page whose number is none of 0 .. n - 1."""
    return f"there are {pages} rows, so pages must be numbered 0 to {pages - 1}, each once, got {page}"


def there_twice(page: int) -> str:
    """What is said of a page number that two rows have."""
    return f"page {page} is there twice; pages must be numbered, each once"


# --- rows ---


def numbers_of(part: str, row: int, batch: Any, column: str) -> Array:
    """A column of whole numbers as int64."""
    array = batch.column(batch.schema.get_field_index(column))
    if array.null_count:
        at = int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
        raise SourceError(f"{part}, row {row + at + 1}: no {column}; expected a page number")
    try:
        found: Array = array.cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:  # an unsigned one beyond
        raise SourceError(f"{part}: column {column!r} holds numbers beyond 64 bits with sign; expected page numbers") from None
    return found


def are_in_order(pages: ParquetTable) -> bool:
    """Whether pages stand as 0, 1, 2, ...; raise SourceError if a page is missing, or there twice."""
    seen = np.zeros(pages.rows, np.bool_)
    before, in_order = 0, True
    for part, row, batch in batches_of(pages.parts, ["page"]):
        numbers = numbers_of(part, row, batch, "page")
        at, ordered = compiled(_enter)(numbers, before, seen)
        if at >= 0:
            wrong = int(numbers[at])
            why = there_twice(wrong) if 0 <= wrong < pages.rows else not_numbered(wrong, pages.rows)
            raise SourceError(f"{part}, row {row + at + 1}: {why}")
        before += numbers.size
        in_order = in_order and bool(ordered)
    return in_order


def link_pieces(tables: ParquetTables, progress: Progress | None = None) -> Iterator[tuple[Array, Array]]:
    """Sources and targets, as they stand."""
    links = 0
    for part, row, batch in batches_of(tables.links.parts, ["source", "target"]):
        source, target = (numbers_of(part, row, batch, column) for column in ("source", "target"))
        # Seen as unsigned, a negative number is larger than every limit: one pass each finds both faults.
        ends = [numbers.view(np.uint64) for numbers in (source, target)]
        if source.size and max(int(numbers.max()) for numbers in ends) >= tables.pages.rows:
            at = min(int(np.argmax(numbers >= tables.pages.rows)) for numbers in ends if numbers.max() >= tables.pages.rows)
            wrong = int(source[at]) if not 0 <= source[at] < tables.pages.rows else int(target[at])
            raise SourceError(f"{part}, row {row + at + 1}: {not_known(wrong, tables.pages.rows)}")
        yield source, target
        links += source.size
        if progress is not None:
            progress(f"{tables.name}: {links:,} links read")


def numbered_pieces(tables: ParquetTables, column: str) -> Iterator[tuple[Array, Any]]:
    """Page numbers, and a column of these pages, as they stand."""
    for part, row, batch in batches_of(tables.pages.parts, ["page", column]):
        yield numbers_of(part, row, batch, "page"), batch.column(batch.schema.get_field_index(column))


def page_pieces(tables: ParquetTables, columns: list[str], in_order: bool) -> Iterator[Any]:
    """The columns of all pages, in order of their numbers, as Arrow tables."""
    if in_order:
        for _, _, batch in batches_of(tables.pages.parts, columns):
            yield pa.table(batch)
        return
    for begin in range(0, tables.pages.rows, SPAN):
        parts = []
        for part in tables.pages.parts:
            with opened_part(part) as file:
                parts += [_between(file, group, columns, begin) for group in _groups(file, begin)]
        found = pa.concat_tables(parts)
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


def impact_of(path: str, column: Any, name: str) -> Array:
    """Views or clicks; pages without are 0."""
    try:
        found: Array = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        raise SourceError(f"{path}: column {name!r} holds {column.type}, expected numbers") from None
    if found.size and not (np.isfinite(found).all() and found.min() >= 0):
        raise SourceError(f"{path}: {name} must be numbers from 0, got {found.min():g}")
    return found
