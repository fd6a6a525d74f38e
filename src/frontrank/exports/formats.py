"""The formats of exports by the ending of a file name. Each is a class in a module of its own, imported when it is needed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol

from frontrank.errors import InputError
from frontrank.exports.columns import ExportColumn, PageRow


class Writer(Protocol):
    """Writes pages, one at a time, into a place that does not exist yet."""

    def write(self, row: PageRow) -> None: ...

    def close(self) -> None:
        """All is written: finish the file. It is not called if something failed."""

    def abandon(self) -> None:
        """Let go of what is open; it is called at the end in any case."""


@dataclass(frozen=True)
class Format:
    """A way to write pages."""

    writer: str  # module:class of this package
    help: str
    folder: bool = False  # it is a directory
    text: str = ""  # the text that it has if none is asked for, where that is not the usual one

    def new(self, path: Path, columns: Sequence[ExportColumn], crawl: Path) -> Writer:
        module, _, name = self.writer.partition(":")
        writer: Writer = getattr(import_module(f"frontrank.exports.{module}"), name)(path, columns, crawl)
        return writer


FORMATS = {
    ".jsonl": Format("json_lines:JsonLines", "a JSON object per line"),
    ".jsonl.gz": Format("json_lines:PackedJsonLines", "the same, compressed"),
    ".csv": Format("csv_table:CsvTable", "comma-separated values with a head"),
    ".parquet": Format("parquet_table:ParquetTable", "a Parquet file, for pandas, Polars, DuckDB, Spark"),
    ".md": Format("markdown_files:MarkdownFiles", "a folder of Markdown files with front matter", folder=True, text="markdown"),
    ".wacz": Format("web_archive:WebArchive", "a web archive, for replay tools: WARC records, an index, a list of pages"),
}


def ending_of(path: str | os.PathLike[str]) -> str:
    """The ending of a path that names a format; InputError if it names none."""
    name = os.path.normpath(path).lower()
    for ending in sorted(FORMATS, key=len, reverse=True):
        if name.endswith(ending):
            return ending
    known = list(FORMATS)
    raise InputError(f"{os.fspath(path)}: must end in {', '.join(known[:-1])} or {known[-1]}, which says the format")
