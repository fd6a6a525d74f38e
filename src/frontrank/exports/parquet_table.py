"""One Parquet file, compressed with zstd, written in groups of rows of a few megabytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from frontrank.exports.columns import ExportColumn, PageRow
from frontrank.system.lazy import pa, pq

ROWS, BYTES = 5_000, 16 * 2**20  # of a group: one of them is reached first
TYPES = {"text": "string", "whole": "int64", "number": "float64"}


def arrow_schema(columns: Sequence[ExportColumn]) -> Any:
    """The schema of these columns."""
    fields = [
        pa.field(
            column.name,
            pa.timestamp("us", "UTC") if column.kind == "time" else pa.type_for_alias(TYPES[column.kind]),
            metadata={"description": column.help},
        )
        for column in columns
    ]
    return pa.schema(fields)


class ParquetTable:
    def __init__(self, path: Path, columns: Sequence[ExportColumn], crawl: Path) -> None:
        self._columns, self._schema = columns, arrow_schema(columns)
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd", write_page_checksum=True)
        self._rows: list[dict[str, Any]] = []
        self._bytes = 0

    def write(self, row: PageRow) -> None:
        self._rows.append({column.name: _storable(column.value(row)) for column in self._columns})
        self._bytes += len(row.text or "")
        if len(self._rows) >= ROWS or self._bytes >= BYTES:
            self._flush()

    def _flush(self) -> None:
        self._writer.write_table(pa.Table.from_pylist(self._rows, self._schema))
        self._rows, self._bytes = [], 0

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()

    def abandon(self) -> None:
        if self._writer.is_open:
            self._writer.is_open = False  # else it would write a footer
            self._writer.file_handle and self._writer.file_handle.close()


def _storable(value: Any) -> Any:
    """Arrow has no lone surrogates."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) and not value.isascii() else value
