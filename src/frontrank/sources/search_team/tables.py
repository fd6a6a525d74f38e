"""Tables as search teams keep them, read by name: Parquet, CSV or TSV (plain or gzip), SQLite, DuckDB.

A ``Schema`` lists the fields a table may have and of what kind each is. ``read_table`` finds the columns (their names in any
case), checks every value and gives

    url, text     an Arrow array of strings; a url has a scheme and a host, a missing text is ""
    flag          bool: 0, 1, true or false in any case
    amount        float64, finite, not negative; missing is 0 unless the field is required
    rank          float64, a whole number from 1
    number        float64, finite
    date          float64, seconds since 1970; NaN where there is none, or none that can be read

A value that does not fit, or a row with too few or too many fields, is told with file, line and column. With ``skip_bad``
such rows are left out and counted. CSV has quotes as RFC 4180 has them, and lines may end inside them; TSV has none. A quote
that is never closed is told with the line it is on: nobody knows which rows it swallowed.

Cost: Arrow's readers; the line of a fault is found by reading the file once more. All of a table is in memory at once.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from frontrank.errors import InputError, nearest
from frontrank.kernels.jit import Array
from frontrank.pages.urls import host_of
from frontrank.sources.search_team.tablefiles import Raw, format_of, place, read_raw
from frontrank.system.lazy import pa, pc
from frontrank.web.dates import seconds_of

Kind = Literal["url", "text", "flag", "amount", "rank", "number", "date"]
EXPECTED = {
    "url": "a URL with a scheme and a host, such as https://example.org/page",
    "text": "UTF-8 text",
    "flag": "0, 1, true or false",
    "amount": "a number, finite and not negative",
    "rank": "a whole number from 1",
    "number": "a finite number",
    "date": "a date such as 2024-05-31, or a date and a time",
}


class Field(NamedTuple):
    name: str
    kind: Kind
    required: bool = True


@dataclass(frozen=True)
class Schema:
    """What a table is called and which fields it may have."""

    table: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, eq=False)
class TeamTable:
    """A checked table: one array for each field that is there."""

    path: str
    rows: int
    columns: dict[str, Any]
    skipped: int = 0

    def get(self, name: str) -> Any:
        return self.columns.get(name)


def read_table(given: str | os.PathLike[str], schema: Schema, skip_bad: bool = False) -> TeamTable:
    """The table at a path, or ``file#table`` in a database; checked against the schema."""
    path, named = _split(os.fspath(given))
    format_ = format_of(path)
    if named is not None and format_ not in ("sqlite", "duckdb"):
        raise InputError(f"{path}#{named}: #{named} names a table in a database, but {path} is not one; drop it")
    raw = read_raw(path, format_, named or schema.table, partial(_wanted, schema), skip_bad)
    return _checked(path, format_, raw, schema, skip_bad)


def _split(given: str) -> tuple[str, str | None]:
    """A file and perhaps a table in it. A # that is part of an existing file's name is no separator."""
    if not os.path.exists(given) and "#" in given:
        path, _, table = given.rpartition("#")
        return path, table
    return given, None


# --- which columns ---


def _wanted(schema: Schema, found: list[str], where: str) -> dict[str, int]:
    """The place of each field among the column names found there."""
    names = [name.strip().lower() for name in found]
    at: dict[str, int] = {}
    for field in schema.fields:
        if names.count(field.name) > 1:
            raise InputError(f"{where}: {names.count(field.name)} columns named {field.name!r}; expected one")
        if field.name in names:
            at[field.name] = names.index(field.name)
        elif field.required:
            raise InputError(f"{where}: no column {field.name!r}, which {schema.table} need{nearest(field.name, names)}")
    return at


# --- values ---


def _checked(path: str, format_: str, raw: Raw, schema: Schema, skip_bad: bool) -> TeamTable:
    good = np.ones(raw.rows, bool)
    columns: dict[str, Any] = {}
    for field in schema.fields:
        if field.name not in raw.columns:
            continue
        text, decoded = _decoded(raw.columns[field.name])
        values, fits = _values(text, field)
        fits &= decoded
        if not skip_bad and not fits.all():
            row = int(np.flatnonzero(~fits)[0])
            given = text[row].as_py()
            shown = "not UTF-8 text" if not decoded[row] else "missing" if not given else repr(given[:60])
            where = place(path, format_, row)
            raise InputError(f"{path}, {where}, column {field.name}: {shown}, expected {EXPECTED[field.kind]}")
        good &= fits
        columns[field.name] = values
    bad = int(raw.rows - good.sum())
    if bad:
        mask = pa.array(good)
        columns = {n: v[good] if isinstance(v, np.ndarray) else v.filter(mask) for n, v in columns.items()}
    return TeamTable(path, raw.rows - bad, columns, bad + raw.malformed)


def _decoded(column: Any) -> tuple[Any, Array]:
    """A column as strings without nulls or blanks around them, and which rows were text at all."""
    text = np.ones(len(column), bool)
    try:
        strings = column.cast(pa.large_string())
    except pa.ArrowInvalid:
        given = [value if value is None or _is_text(value) else None for value in column.to_pylist()]
        strings = pa.array([None if value is None else value.decode() for value in given], pa.large_string())
        text = pc.equal(pc.is_valid(strings), pc.is_valid(column)).to_numpy(zero_copy_only=False)
    return pc.utf8_trim_whitespace(pc.fill_null(strings, "")), text


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _values(text: Any, field: Field) -> tuple[Any, Array]:
    """A column in the form of its kind, and which rows fit."""
    missing = pc.equal(text, "").to_numpy(zero_copy_only=False)
    if field.kind == "text":
        return text, ~missing if field.required else np.ones(len(text), bool)
    if field.kind == "url":
        encoded = text.dictionary_encode()
        hosted = np.array([bool(host_of(url)) for url in encoded.dictionary.to_pylist()], bool)
        return text, hosted[encoded.indices.to_numpy(zero_copy_only=False)] if len(text) else ~missing
    if field.kind == "flag":
        lower = pc.utf8_lower(text)
        true, known = (
            pc.is_in(lower, value_set=pa.array(names, pa.large_string())).to_numpy(zero_copy_only=False)
            for names in (["1", "true"], ["0", "1", "true", "false"])
        )
        return true, np.array(known)
    if field.kind == "date":
        encoded = text.dictionary_encode()
        times = np.array([seconds_of(date) for date in encoded.dictionary.to_pylist()], np.float64)
        return times[encoded.indices.to_numpy(zero_copy_only=False)] if len(text) else np.empty(0), np.ones(len(text), bool)
    numbers = _numbers(text, missing)
    fits = np.isfinite(numbers)
    if field.kind == "amount":
        fits &= numbers >= 0
    elif field.kind == "rank":
        fits &= (numbers >= 1) & (numbers == np.floor(numbers))
    if not field.required:
        numbers[missing] = 0 if field.kind == "amount" else np.nan
        fits |= missing
    return numbers, fits


def _numbers(text: Any, missing: Array) -> Array:
    """The strings as float64; nan for what is not a number."""
    given = pc.if_else(pa.array(missing), "nan", text)
    try:
        return np.array(given.cast(pa.float64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        return np.array([_number(value) for value in given.to_pylist()], np.float64)


def _number(text: str) -> float:
    try:
        return float(text.replace("_", "?"))  # 1_000 is a number in Python but not in a table
    except ValueError:
        return float("nan")
