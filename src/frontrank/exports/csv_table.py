"""Comma-separated values (RFC 4180) with a head, UTF-8; what is not known is empty."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from frontrank.exports.columns import ExportColumn, PageRow, plain


class CsvTable:
    def __init__(self, path: Path, columns: Sequence[ExportColumn], crawl: Path) -> None:
        self._columns = columns
        self._file = open(path, "x", 2**18, encoding="utf-8", errors="replace", newline="")  # noqa: SIM115
        self._writer = csv.writer(self._file)
        self._writer.writerow([column.name for column in columns])

    def write(self, row: PageRow) -> None:
        self._writer.writerow([plain(column.value(row)) for column in self._columns])

    def close(self) -> None:
        self._file.close()

    def abandon(self) -> None:
        self._file.close()
