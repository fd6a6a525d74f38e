"""Exports from start to end: a crawl in, a file or folder out, whole or not there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from frontrank.crawl.journal import check_crawl
from frontrank.errors import InputError, need
from frontrank.exports.columns import chosen_columns, plain
from frontrank.exports.formats import FORMATS, ending_of
from frontrank.exports.options import ExportOptions
from frontrank.exports.reader import PageReader
from frontrank.options import check_options
from frontrank.system.files import IMPORTED, Where, check_target, written_beside

MARK = "export.json"  # in a folder that was exported, which may be replaced
Progress = Callable[[int], None]  # is called with the number of pages written so far


@dataclass(frozen=True)
class Exported:
    """What was written."""

    path: str
    pages: int
    columns: tuple[str, ...]
    withheld: dict[str, int] = field(default_factory=dict)  # pages left out, by what their owners ask
    damaged: int = 0  # pages left out, since their WARC records are damaged
    examples: tuple[str, ...] = ()  # sentences on some of those
    problems: dict[str, int] = field(default_factory=dict)  # what else could not be done, and on how many pages


def export(
    crawl: Where,
    out: Where,
    options: ExportOptions | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
    **asked: Any,
) -> Exported:
    """Write the pages of a crawl in the format that the ending of ``out`` names.

    ``asked``: fields of ``ExportOptions``, such as ``where="status=200"``. ``force`` replaces what is there.
    """
    ending = ending_of(out)
    form = FORMATS[ending]
    options = _options(options, asked, form.text)
    columns = chosen_columns(options.names, options.text)
    folder = _crawl(crawl)
    _check_out(out, ending, force)
    reader = PageReader(folder, options, columns)
    count = 0
    with written_beside(out) as beside:
        writer = form.new(beside, columns, folder)
        try:
            for row in reader.pages():
                writer.write(row)
                count += 1
                if progress is not None:
                    progress(count)
            writer.close()
        finally:
            writer.abandon()
    omitted = reader.omissions
    names = tuple(column.name for column in columns)
    return Exported(
        *(os.fspath(out), count, names, dict(omitted.withheld)),
        damaged=omitted.damaged,
        examples=tuple(omitted.examples),
        problems=dict(reader.content.problems),
    )


def pages(crawl: Where, options: ExportOptions | None = None, **asked: Any) -> Iterator[dict[str, Any]]:
    """The pages of a crawl as dictionaries, one at a time; options as in ``export``."""
    options = _options(options, asked, "")
    columns = chosen_columns(options.names, options.text)
    with closing(PageReader(_crawl(crawl), options, columns).pages()) as rows:  # type: ignore[type-var]
        for row in rows:
            yield {column.name: plain(column.value(row)) for column in columns}


def _options(options: ExportOptions | None, asked: dict[str, Any], text: str) -> ExportOptions:
    check_options(ExportOptions, **asked)
    default = {"text": text} if text else {}
    return ExportOptions(**{**default, **asked}) if options is None else replace(options, **asked)


def _crawl(crawl: Where) -> Path:
    folder = Path(crawl)
    if (folder / IMPORTED).is_file():
        raise InputError(
            f"{folder}: an imported crawl, which has no pages as they arrived; convert {folder} to x.parquet instead"
        )
    check_crawl(folder)
    return folder


def _check_out(out: Where, ending: str, force: bool) -> None:
    """Raise InputError if nothing can be written there, or something would be lost."""
    if FORMATS[ending].folder:
        check_target(out, lambda path: (path / MARK).is_file(), "an export of frontrank")
    else:
        check_target(out)
    if ending == ".parquet":
        need("pyarrow")
    exists = os.path.lexists(out) and not (os.path.isdir(out) and not os.listdir(out))
    if exists and not force:
        raise InputError(f"{os.fspath(out)} exists; give another path, or --force to replace it")
