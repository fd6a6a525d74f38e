"""A folder of Markdown files, one for each page with text: HOST/PATH-EVENT.md, with the other columns as YAML front matter.

export.json says how many there are and of which crawl; a folder with it may be replaced by another export.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from frontrank.exports.columns import TEXT, ExportColumn, PageRow, plain
from frontrank.exports.export import MARK
from frontrank.pages.urls import host_of

MAX_NAME = 80  # characters of a URL's path in a file name
OUTSIDE = re.compile(r"[^A-Za-z0-9]+")
OUTSIDE_HOST = re.compile(r"[^A-Za-z0-9.-]+")


def file_name(url: str, event: int) -> str:
    """Where the file of a page lies.

    >>> file_name("http://a.org:80/x/../Y.html?q=1", 7), file_name("http://../", 8)
    ('a.org/x-Y-html-q-1-7.md', '_/8.md')
    """
    host = OUTSIDE_HOST.sub("_", host_of(url))[:MAX_NAME]
    rest = url.partition("://")[2].partition("/")[2]
    name = OUTSIDE.sub("-", rest)[:MAX_NAME].strip("-")
    return f"{host if host.strip('.') else '_'}/{name}{'-' * bool(name)}{event}.md"


class MarkdownFiles:
    def __init__(self, path: Path, columns: Sequence[ExportColumn], crawl: Path) -> None:
        self._path, self._crawl, self._files = path, crawl, 0
        self._columns = [column for column in columns if column.name not in (TEXT, "markdown")]
        self._path.mkdir()

    def write(self, row: PageRow) -> None:
        if not row.text:
            return
        values = [(column.name, plain(column.value(row))) for column in self._columns]
        head = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values if value is not None]
        path = self._path / file_name(row.url, row.event)
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(["---", *head, "---", "", row.text, ""]), encoding="utf-8", errors="replace")
        self._files += 1

    def close(self) -> None:
        about = {"crawl": self._crawl.resolve().name, "files": self._files}
        (self._path / MARK).write_text(json.dumps(about) + "\n", encoding="utf-8")

    def abandon(self) -> None:
        pass
