"""Query logs: what searchers asked and how often.

    NAME.txt[.gz]        one query per line; a query on several lines was asked that often
    NAME.tsv[.gz]        query, frequency, separated by a tab (any file whose first line has a tab is read so)
    NAME.csv[.gz]        query, frequency, separated by a comma, quoted where needed
    NAME.parquet         columns query, frequency

Tables may begin with a line of column names, in any order; with names they may also have a column ``date`` (2024-05-31, or a
date and a time), beside ``frequency`` or instead of it: a row without a frequency is a query asked once. Queries are
lower-cased and stripped, and blanks inside them become one; queries that are then empty are dropped, equal ones are added up.
Queries keep the order of their first appearance.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.system.lazy import pa, pq
from frontrank.system.text_files import read_lines
from frontrank.web.view import Workload

COLUMNS = ("query", "frequency")
DATE = "date"
QueryRow = tuple[str, str, float]  # its place in the file, the query, its frequency


class LogEntry(NamedTuple):
    """A row of a log."""

    place: str
    query: str
    frequency: float
    date: str | None = None


def load_workload(path: str | os.PathLike[str]) -> Workload:
    """The queries of a log file."""
    return workload_of((entry[:3] for entry in read_entries(path)), os.fspath(path))


def read_entries(path: str | os.PathLike[str]) -> Iterator[LogEntry]:
    """The rows of a log file, as they are."""
    file = os.fspath(path)
    if not os.path.exists(file):
        raise InputError(f"{file}: there is no such query log; give a file with one query per line, or a table of them")
    name = file.lower().removesuffix(".gz")
    return _parquet(file) if name.endswith(".parquet") else _text(file, name.endswith(".csv"), name.endswith(".tsv"))


def workload_of(asked: Iterable[QueryRow], name: str = "query log") -> Workload:
    """A workload from (place, query, frequency); the place is named in errors.

    >>> log = workload_of([("line 1", " New  York ", 1), ("line 2", "new york", 2), ("line 3", "", 5)])
    >>> log.queries, log.frequency.tolist()
    (('new york',), [3.0])
    """
    total: dict[str, float] = {}
    for place, query, frequency in asked:
        if not math.isfinite(frequency) or frequency < 0:
            raise InputError(f"{name}, {place}: frequency must be a finite number from 0, got {frequency:g}")
        if words := normalised(query):
            total[words] = total.get(words, 0.0) + frequency
    if not any(total.values()):
        raise InputError(f"{name}: no query with a frequency above 0 in it; a workload needs at least one")
    return Workload(tuple(total), np.fromiter(total.values(), np.float64, len(total)))


def normalised(query: str) -> str:
    """One form for each query.

    >>> normalised("  Web\\t Crawler ")
    'web crawler'
    """
    return " ".join(query.lower().split())


def _text(path: str, comma: bool, tab: bool) -> Iterator[LogEntry]:
    lines = read_lines(path)
    if not comma and not tab and not (lines and "\t" in lines[0]):
        return (LogEntry(f"line {number}", query, 1.0) for number, query in enumerate(lines, 1))
    rows = csv.reader(lines, strict=True) if comma else iter([line.split("\t") for line in lines])
    return _table(_numbered(rows, path), path)


def _numbered(rows: Any, path: str) -> Iterator[tuple[int, list[str]]]:
    number = 0
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(f"{path}, line {rows.line_num}: not comma-separated text ({error})") from None
        number = getattr(rows, "line_num", number + 1)
        yield number, row


def _table(rows: Iterator[tuple[int, list[str]]], path: str) -> Iterator[LogEntry]:
    columns: tuple[str, ...] = COLUMNS
    first = True
    for number, row in rows:
        if not row or row == [""]:
            continue
        names = tuple(field.strip().lower() for field in row)
        if first and _are_columns(names):
            columns, first = names, False
            continue
        first = False
        if len(row) != len(columns):
            raise InputError(f"{path}, line {number}: must have {len(columns)} fields ({', '.join(columns)}), got {len(row)}")
        field = dict(zip(columns, row, strict=True))
        frequency = _number(field["frequency"], f"{path}, line {number}") if "frequency" in field else 1.0
        yield LogEntry(f"line {number}", field["query"], frequency, field.get(DATE))


def _are_columns(names: tuple[str, ...]) -> bool:
    """Whether a line names the columns of a log: the query, and a frequency, a date or both."""
    return "query" in names and len(names) > 1 and len(set(names)) == len(names) and set(names) <= {*COLUMNS, DATE}


def _number(text: str, place: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{place}: frequency must be a number from 0, got {text.strip()[:40]!r}") from None


def _parquet(path: str) -> Iterator[LogEntry]:
    try:
        table = pq.read_table(path)
        dated = DATE in table.column_names
        missing = [column for column in COLUMNS if column not in table.column_names and not (dated and column != "query")]
        if missing:
            raise InputError(f"{path}: no column {missing[0]!r}; a query log has the columns query and frequency")
        queries = table["query"].cast(pa.string()).to_pylist()
        counted = "frequency" in table.column_names
        frequencies = table["frequency"].cast(pa.float64()).to_pylist() if counted else [1.0] * len(queries)
        dates = table[DATE].cast(pa.string()).to_pylist() if dated else [None] * len(queries)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: cannot be read as a Parquet query log ({error})") from None
    for row, (query, frequency, date) in enumerate(zip(queries, frequencies, dates, strict=True), 1):
        if frequency is None:
            raise InputError(f"{path}, row {row}: frequency must be a number from 0, got none")
        yield LogEntry(f"row {row}", query or "", frequency, date)
