"""Pages out: what a crawl fetched, as a table, as Markdown files, or as a web archive.

    from frontrank.exports import export, pages

    export("my-crawl", "pages.parquet")                      one row for each page, with its text
    for page in pages("my-crawl", where="status=200"): ...   the same as dictionaries, one at a time

Each format is a module; ``formats`` lists them by the ending of a file name. ``columns`` is the one table of columns,
``reader`` makes their values from the log of a crawl and its WARC files, one page at a time, ``live`` while a crawl runs.
The package imports ``crawl``, ``pages`` and ``system``; ``fetching`` and ``cli`` import it.
"""

from __future__ import annotations

from frontrank.exports.columns import COLUMNS
from frontrank.exports.export import Exported, export, pages
from frontrank.exports.formats import FORMATS
from frontrank.exports.options import ExportOptions

__all__ = ["COLUMNS", "FORMATS", "ExportOptions", "Exported", "export", "pages"]
