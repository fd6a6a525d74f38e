"""Readers of tables, into columns of unchecked text: Parquet, CSV, TSV, SQLite, DuckDB.

A reader asks ``want`` which of the columns it has found to read. ``tables`` checks the values.

DuckDB reads CSV too, but not as docs/import.md promises (docs/decisions.md).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from frontrank.errors import InputError, nearest, need
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.system.lazy import pa, pacsv, pq
from frontrank.system.text_files import chunks, is_gzip, opened

BLOCK_BYTES = 16 * 2**20
FORMATS = "Parquet, .csv or .tsv (also .gz), SQLite or DuckDB"
LINES = ("csv", "tsv")
FIELD_BEGINS, PLAIN, QUOTED, QUOTE_MET = 0, 1, 2, 3  # where a reader of CSV may be
NEWLINE, RETURN, QUOTE = 10, 13, 34
TABLE_NAMES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')",
    "duckdb": "SELECT table_name FROM information_schema.tables",
}
Want = Callable[[list[str], str], dict[str, int]]  # names found, where -> the place of each column that is wanted


class Raw(NamedTuple):
    """Columns as strings or bytes, before they are checked."""

    columns: dict[str, Any]
    rows: int
    malformed: int  # rows with too few or too many fields, left out


def read_raw(path: str, format_: str, table: str, want: Want, skip_bad: bool) -> Raw:
    """The wanted columns of a file of this format; table counts in a database only."""
    if format_ in LINES:
        return _read_lines(path, want, _dialect_of(path, format_), skip_bad)
    if format_ == "parquet":
        return _read_parquet(path, want)
    return _read_database(path, table, want, format_)


def place(path: str, format_: str, row: int) -> str:
    """Where a person finds this row: its line, or its number from 1."""
    if format_ in LINES:
        for at, (line, _) in enumerate(_records(path, _dialect_of(path, format_)), start=-1):
            if at == row:
                return f"line {line}"
    return f"row {row + 1}"


def format_of(path: str) -> str:
    try:
        with open(path, "rb") as file:
            head = file.read(16)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if not head:
        raise InputError(f"{path}: empty; expected a table as {FORMATS}")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head == b"SQLite format 3\0":
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    name = path.lower().removesuffix(".gz")
    if name.endswith((".tsv", ".tab")):
        return "tsv"
    if name.endswith(".csv"):
        return "csv"
    raise InputError(f"{path}: of no known format; expected {FORMATS}")


# --- Parquet ---


def _read_parquet(path: str, want: Want) -> Raw:
    try:
        file = pq.ParquetFile(path)
        names = file.schema_arrow.names
        at = want(names, path)
        table = file.read(columns=[names[i] for i in at.values()])
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: not a whole Parquet file ({str(error).splitlines()[0]})") from None
    columns = {}
    for field, i in at.items():
        try:
            columns[field] = _as_text(table[names[i]])
        except pa.ArrowException:
            raise InputError(f"{path}: column {names[i]!r} holds {table[names[i]].type}, expected text or numbers") from None
    return Raw(columns, table.num_rows, 0)


def _as_text(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        return column.cast(pa.large_binary()).combine_chunks()
    return column.cast(pa.large_string()).combine_chunks()


# --- SQLite and DuckDB ---


def _read_database(path: str, table: str, want: Want, format_: str) -> Raw:
    with (_sqlite if format_ == "sqlite" else _duckdb)(path) as connection:
        tables = [_name(row[0]) for row in connection.execute(TABLE_NAMES[format_]).fetchall()]
        exact = [name for name in tables if name.lower() == table.lower()]
        if not exact:
            raise InputError(f"{path}: no table {table!r}{nearest(table, tables)}; name one as {path}#table")
        name = _quoted(exact[0])
        names = [column[0] for column in connection.execute(f"SELECT * FROM {name} LIMIT 0").description]
        at = want(names, f"{path}, table {exact[0]}")
        listed = ", ".join(_quoted(names[i]) for i in at.values())
        order = _row_order(connection, name) if format_ == "sqlite" else ""
        cursor = connection.execute(f"SELECT {listed} FROM {name}{order}")
        parts: list[list[Any]] = [[] for _ in at]
        rows = 0
        while batch := cursor.fetchmany(65_536):
            rows += len(batch)
            for part, values in zip(parts, zip(*batch, strict=True), strict=True):
                part.append(pa.array([_bytes_of(value) for value in values], pa.large_binary()))
    columns = {field: pa.concat_arrays([*part, pa.array([], pa.large_binary())]) for field, part in zip(at, parts, strict=True)}
    return Raw(columns, rows, 0)


def _name(name: str | bytes) -> str:
    return name.decode(errors="replace") if isinstance(name, bytes) else name


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _bytes_of(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    return str(value).encode(errors="surrogateescape")


def _row_order(connection: Any, name: str) -> str:
    """Without it, an index with all columns of the query would decide the order of SQLite's rows."""
    import sqlite3

    try:
        connection.execute(f"SELECT rowid FROM {name} LIMIT 0")
    except sqlite3.Error:  # a view, or a table without row numbers
        return ""
    return " ORDER BY rowid"


@contextmanager
def _sqlite(path: str) -> Iterator[Any]:
    import sqlite3

    try:
        with closing(sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)) as connection:
            connection.text_factory = bytes  # text that is not UTF-8 is one bad row, not the end
            connection.execute("PRAGMA query_only = 1")
            yield connection
    except sqlite3.Error as error:
        raise InputError(f"{path}: not a readable SQLite database ({error})") from None


@contextmanager
def _duckdb(path: str) -> Iterator[Any]:
    need("duckdb")
    import duckdb

    try:
        # A view of somebody else's file could read other files, or install extensions from the network.
        with duckdb.connect(path, read_only=True, config={"enable_external_access": False}) as connection:
            yield connection
    except duckdb.Error as error:
        raise InputError(f"{path}: not a readable DuckDB database ({str(error).splitlines()[0]})") from None


# --- CSV and TSV ---


class _Dialect(NamedTuple):
    delimiter: str
    quotes: bool


def _dialect_of(path: str, format_: str) -> _Dialect:
    if format_ == "tsv":
        return _Dialect("\t", quotes=False)
    with opened(path) as file:
        first = file.readline(2**16).decode(errors="replace")
    return _Dialect(max(",;\t", key=first.count), quotes=True)  # commas, unless another is more frequent in the head


def _read_lines(path: str, want: Want, dialect: _Dialect, skip_bad: bool) -> Raw:
    if dialect.quotes:
        _check_quotes(path, dialect)
    _, head = next(_records(path, dialect), (1, [""]))
    at = want(head, f"{path}, line 1")
    malformed: list[int] = []

    def on_malformed(row: Any) -> str:
        malformed.append(row.actual_columns)
        return "skip" if skip_bad else "error"

    names, types = [str(i) for i in range(len(head))], {str(i): pa.large_binary() for i in at.values()}
    quoting = {"quote_char": '"' if dialect.quotes else False, "newlines_in_values": dialect.quotes}
    try:
        table = read_csv(path, names, types, dialect.delimiter, invalid_row_handler=on_malformed, **quoting)
    except (pa.ArrowInvalid, OSError) as error:
        return _without_rows(path, dialect, len(head), at, str(error))
    return Raw({field: table[str(i)].combine_chunks() for field, i in at.items()}, table.num_rows, len(malformed))


def read_csv(path: str, names: list[str], types: dict[str, Any], delimiter: str, **parsing: Any) -> Any:
    """The columns that have a type, of lines of text, plain or gzip, behind a line of column names."""
    with pa.input_stream(path, compression="gzip" if is_gzip(path) else None) as stream:
        return pacsv.read_csv(
            stream,
            read_options=pacsv.ReadOptions(column_names=names, skip_rows=1, block_size=BLOCK_BYTES),
            parse_options=pacsv.ParseOptions(delimiter=delimiter, **parsing),
            convert_options=pacsv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[]),
        )


def _without_rows(path: str, dialect: _Dialect, width: int, at: dict[str, int], error: str) -> Raw:
    """An empty table if there are no rows; otherwise say what is wrong, and where."""
    for _ in chunks(path, 2**20):  # a broken gzip file is told as such
        pass
    rows = -1
    for rows, (line, record) in enumerate(_records(path, dialect)):  # noqa: B007
        if len(record) != width:
            raise InputError(f"{path}, line {line}: {len(record)} fields, expected {width} as in the line of column names")
    if rows > 0:
        raise InputError(f"{path}: {error.splitlines()[0]}")
    return Raw({field: pa.array([], pa.large_binary()) for field in at}, 0, 0)


def _check_quotes(path: str, dialect: _Dialect) -> None:
    """InputError if a quote is never closed: readers take all that follows for one value."""
    at = np.array([FIELD_BEGINS, 1, 1], np.int64)
    for piece in chunks(path, BLOCK_BYTES):
        compiled(_follow_quotes)(np.frombuffer(piece, np.uint8), ord(dialect.delimiter), at)
    if at[0] == QUOTED:
        raise InputError(f"{path}, line {at[2]}: a quote is opened and never closed; close it, or double it in a value")


@kernel
def _follow_quotes(data: Array, delimiter: int, at: Array) -> None:
    """Where the data ends as CSV: at[0], in line at[1]; the last quoted value began in line at[2]."""
    state, line, begin = at[0], at[1], at[2]
    for i in range(data.size):
        c = data[i]
        if c == NEWLINE:
            line += 1
        if state == QUOTED:
            if c == QUOTE:
                state = QUOTE_MET  # the end, or the first of two
        elif state == QUOTE_MET and c == QUOTE:
            state = QUOTED
        elif c in (delimiter, NEWLINE, RETURN):
            state = FIELD_BEGINS
        elif state == FIELD_BEGINS and c == QUOTE:
            state = QUOTED
            begin = line
        else:
            state = PLAIN
    at[0], at[1], at[2] = state, line, begin


def _records(path: str, dialect: _Dialect) -> Iterator[tuple[int, list[str]]]:
    """Each record with the line on which it begins; the first holds the column names."""
    limit = csv.field_size_limit(2**31 - 1)  # the text of a page may be long
    try:
        with opened(path) as file:
            lines = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
            quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if dialect.quotes else csv.QUOTE_NONE
            reader = csv.reader(lines, delimiter=dialect.delimiter, quoting=quoting)
            begin = 1
            for record in reader:
                if record:
                    yield begin, record
                begin = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}: not a table of lines ({error})") from None
    finally:
        csv.field_size_limit(limit)
