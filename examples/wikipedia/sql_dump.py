"""SQL dumps as mysqldump and mariadb-dump write them, read as a stream of rows.

CREATE TABLE tells where the columns are, INSERT INTO ... VALUES (...), (...); brings rows: many on a line, or one on each.
Strings are quoted with ' and hold backslash escapes (or a doubled quote); all else is a number or NULL.

Cost: one regular expression match a row, about 5 s of processor time for a million; memory is one piece of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from frontrank.errors import SourceError, nearest
from frontrank.system.text_files import opened

PIECE = 2**20
MAX_ROW_LENGTH = 16 * 2**20
ESCAPES = {b"0": b"\0", b"b": b"\b", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a"}

# Atomic, so that a string which does not end is given up at once. (Not as (...)*+: Debian's Python 3.11.2 matches that wrongly
# where the inside begins to match and fails.)
_VALUE = rb"(?:_binary\s+)?'(?>(?:[^'\\]++|\\.|'')*)'|[^\s,()';]++"
_ANY_ROW = rb"(?:" + _VALUE + rb")(?>(?:\s*,\s*(?:" + _VALUE + rb"))*)"
_CREATE = re.compile(rb"\s*CREATE TABLE\s+(?:IF NOT EXISTS\s+)?`?(\w+)`?\s*\((.*?)\)[^();]*;", re.DOTALL | re.IGNORECASE)
_COLUMN = re.compile(rb"^\s*`(\w+)`", re.MULTILINE)
_INSERT = re.compile(rb"\s*INSERT INTO\s+`?(\w+)`?\s*(?:\(([^)]*)\)\s*)?VALUES\s*(?=\()", re.IGNORECASE)
_COMMENT = re.compile(rb"\s*(?:--[^\n]*\n|/\*.*?\*/\s*;?|;)", re.DOTALL)
_STATEMENT = re.compile(rb"\s*(?!CREATE TABLE|INSERT INTO)[A-Za-z][^;']*;", re.IGNORECASE)
_ESCAPED = re.compile(rb"\\(.)|''", re.DOTALL)
_END = re.compile(rb"\s*;")
_DATABASE = re.compile(rb"Database:\s*(\w+)")


class Dump:
    """One table of a dump."""

    def __init__(self, path: str, table: str) -> None:
        self.path = path
        self.table = table
        with opened(path) as file:
            head: bytes = file.read(PIECE)
        named = _DATABASE.search(head)
        self.database = named[1].decode() if named else ""
        created = (found for found in _CREATE.finditer(head) if found[1].decode().lower() == table)
        self.columns = [name.decode().lower() for found in created for name in _COLUMN.findall(found[2])]
        if not self.columns:
            raise SourceError(f"{path}: no CREATE TABLE `{table}`; expected the SQL dump of that table")

    def rows(self, *columns: str) -> Iterator[tuple[str | None, ...]]:
        """These columns (two or more) of every row, as text; NULL is None."""
        with opened(self.path) as file:
            yield from self._rows(file, columns)

    def _rows(self, file: Any, columns: tuple[str, ...]) -> Iterator[tuple[str | None, ...]]:
        rest, line, ended = b"", 1, False
        pattern: re.Pattern[bytes] | None = None  # of a row, while the stream stands inside an INSERT
        groups: tuple[int, ...] = ()
        while not ended:
            piece = file.read(PIECE)
            ended = not piece
            text, at = rest + (piece or b"\n"), 0
            while True:
                if pattern is None:
                    at, insert = _next_insert(text, at)
                    if insert is None:
                        break
                    pattern, groups = self._pattern(insert, columns)
                for row in pattern.finditer(text, at):
                    if row.start() != at:
                        break
                    at = row.end()
                    if groups:
                        yield tuple(map(_unquoted, row.group(*groups)))
                end = _END.match(text, at)
                if end is None:
                    break
                at, pattern = end.end(), None
            line += text.count(b"\n", 0, at)
            rest = text[at:]
            ended |= len(rest) > MAX_ROW_LENGTH
        if rest.strip() or pattern is not None:
            shown = rest.strip()[:40].decode(errors="replace")
            expected = "expected a whole dump as mysqldump writes it, fetch it again"
            raise SourceError(f"{self.path}, line {line}: cannot be read from {shown!r} on; {expected}")

    def _pattern(self, insert: re.Match[bytes], columns: tuple[str, ...]) -> tuple[re.Pattern[bytes], tuple[int, ...]]:
        """What matches one row, and the groups that hold the columns in the order asked for; none for another table."""
        if insert[1].decode().lower() != self.table:
            return _row_of(_ANY_ROW), ()
        found = self.columns
        if insert[2]:
            found = [name.strip(b"` \n").decode().lower() for name in insert[2].split(b",")]
        for column in columns:
            if column not in found:
                raise SourceError(f"{self.path}: table {self.table} has no column {column!r}{nearest(column, found)}")
        values = ((rb"(" if name in columns else rb"(?:") + _VALUE + rb")" for name in found)
        placed = sorted(columns, key=found.index)
        return _row_of(rb"\s*,\s*".join(values)), tuple(placed.index(column) + 1 for column in columns)


def _row_of(values: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"\s*,?\s*\(\s*(?:" + values + rb")\s*\)", re.DOTALL)


def _next_insert(text: bytes, at: int) -> tuple[int, re.Match[bytes] | None]:
    """Pass over other statements; one that may go on behind the end of text is left."""
    while True:
        insert = _INSERT.match(text, at)
        if insert is not None:
            return insert.end(), insert
        other = _COMMENT.match(text, at) or _CREATE.match(text, at) or _STATEMENT.match(text, at)
        if other is None:
            return at, None
        at = other.end()


def _unquoted(value: bytes) -> str | None:
    r"""A value of a row as text.

    >>> _unquoted(rb"'It\'s'"), _unquoted(b"'a''b'"), _unquoted(b"17"), _unquoted(b"NULL")
    ("It's", "a'b", '17', None)
    """
    if not value.endswith(b"'"):
        return None if value.upper() == b"NULL" else value.decode(errors="replace")
    inner = value[value.index(b"'") + 1 : -1]
    if b"\\" in inner or b"'" in inner:
        inner = _ESCAPED.sub(lambda found: ESCAPES.get(found[1], found[1]) if found[1] else b"'", inner)
    return inner.decode(errors="replace")
