"""A web archive (WACZ 1.1.1): what replay tools such as ReplayWeb.page open.

    archive/data.warc.gz      the responses of the exported pages, as the crawl stored them
    indexes/index.cdx.gz      where each of them is (CDXJ), sorted, in blocks
    indexes/index.idx         the first line of each block
    pages/pages.jsonl         the pages with their titles and texts
    datapackage.json          digests and sizes of these files; datapackage-digest.json has the digest of that

The index is sorted in runs, which lie in files beside the archive until it is closed, so that memory does not grow with the
number of pages.
"""

from __future__ import annotations

import gzip
import heapq
import json
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import IO, Any

from frontrank.exports.columns import ExportColumn, PageRow
from frontrank.exports.reader import WARCS
from frontrank.exports.records import StoredRecords, unpack
from frontrank.pages.urls import host_of, is_address
from frontrank.pages.warc_records import GZIP, RecordFields, date_of, new_id, pack_record

ARCHIVE = "data.warc.gz"
BLOCK = 3_000  # lines of the index in one gzip member
RUN = 100_000  # lines that are sorted in memory
DATAPACKAGE = "datapackage.json"
COPIED = 2**20  # bytes at a time


def sort_key(url: str) -> str:
    """A URL with its host turned round (SURT), by which indexes of archives are sorted.

    >>> sort_key("https://www.Example.org:8080/A?b=1"), sort_key("http://example.org")
    ('org,example:8080)/a?b=1', 'org,example)/')
    >>> sort_key("http://127.0.0.1/x")
    '127.0.0.1)/x'
    """
    host = host_of(url)
    rest = url.partition("://")[2]
    netloc = rest.partition("/")[0].partition("?")[0]
    port = netloc.rpartition("@")[2].lower().removeprefix(host) if ":" in netloc else ""
    turned = host if is_address(host) else ",".join(reversed(host.removeprefix("www.").split(".")))
    return "%20".join(f"{turned}{port}){rest[len(netloc) :].lower() or '/'}".split())  # a blank ends the key


class _Digested:
    """A file that is written once, from start to end, and its digest and size."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.hash, self.size = file, sha256(), 0

    def write(self, data: bytes) -> int:
        self.file.write(data)
        self.hash.update(data)
        self.size += len(data)
        return len(data)


class _SortedLines:
    """Lines that are added in any order and read in theirs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: list[str] = []
        self._runs: list[IO[str]] = []

    def add(self, line: str) -> None:
        self._lines.append(line)
        if len(self._lines) >= RUN:
            run = open(self._folder / f"run-{len(self._runs)}", "w+", encoding="utf-8", errors="replace", newline="\n")  # noqa: SIM115
            self._runs.append(run)
            run.writelines(sorted(self._lines))
            self._lines = []

    def __iter__(self) -> Iterator[str]:
        for run in self._runs:
            run.seek(0)
        return heapq.merge(*self._runs, sorted(self._lines))

    def close(self) -> None:
        for run in self._runs:
            run.close()


class WebArchive:
    def __init__(self, path: Path, columns: Sequence[ExportColumn], crawl: Path) -> None:
        self._crawl = crawl
        self._has_text = any(column.name == "text" for column in columns)
        self._records = StoredRecords(crawl / WARCS)
        self._work = tempfile.TemporaryDirectory(prefix=f"{path.name}.", dir=path.parent)
        work = Path(self._work.name)
        self._index = _SortedLines(work)
        self._pages = open(work / "pages", "w+b")  # noqa: SIM115
        self._pages.write(_line({"format": "json-pages-1.0", "id": "pages", "title": "All pages", "hasText": self._has_text}))
        self._resources: list[dict[str, Any]] = []
        self._zip = zipfile.ZipFile(path, "x")
        self._data = _Digested(self._zip.open(f"archive/{ARCHIVE}", "w", force_zip64=True))
        fields = RecordFields(b"warcinfo", new_id(), date_of(None), [(b"WARC-Filename", ARCHIVE.encode())])
        self._data.write(pack_record(fields, b"application/warc-fields", b"", f"software: {_software()}\r\n".encode()))

    def write(self, row: PageRow) -> None:
        if row.warc is None:
            return
        record = self._records.raw(row.warc)
        self._index.add(self._index_line(row, record))
        self._data.write(record)
        if 200 <= row.status < 300 and (row.title or row.digest):
            text = {"text": row.text} if self._has_text and row.text else {}
            page = {"id": str(row.event), "url": row.url, "ts": date_of(row.fetched_at).decode(), "title": row.title, **text}
            self._pages.write(_line(page))

    def _index_line(self, row: PageRow, record: bytes) -> str:
        """The line of a record that is written next, which begins with its sort key."""
        head = zlib.decompressobj(GZIP).decompress(record, 2**16).partition(b"\r\n\r\n")[0].decode("utf-8", "replace")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head.split("\r\n"))}
        date = "".join(filter(str.isdigit, fields.get("warc-date", "")))[:14]
        response = unpack(record)
        about = {
            "url": row.url,
            "mime": response.header("content-type").partition(";")[0].strip() or "unk",
            "status": str(response.status),
            "digest": fields.get("warc-payload-digest", ""),
            "length": str(len(record)),
            "offset": str(self._data.size),
            "filename": ARCHIVE,
        }
        return f"{sort_key(row.url)} {date} {json.dumps(about)}\n"

    # The end ------------------------------------------------------------------------------------------------------------------
    def close(self) -> None:
        self._data.file.close()
        self._add_resource(f"archive/{ARCHIVE}", self._data)
        self._write_index()
        self._pages.seek(0)
        with self._entry("pages/pages.jsonl") as out:
            shutil.copyfileobj(self._pages, out, COPIED)
        package = {
            "profile": "data-package",
            "wacz_version": "1.1.1",
            "title": self._crawl.resolve().name,
            "software": _software(),
            "created": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            "resources": self._resources,
        }
        data = json.dumps(package, indent=2).encode()
        self._zip.writestr(DATAPACKAGE, data)
        digest = {"path": DATAPACKAGE, "hash": f"sha256:{sha256(data).hexdigest()}"}
        self._zip.writestr("datapackage-digest.json", json.dumps(digest))
        self._zip.close()

    def _write_index(self) -> None:
        first_lines: list[str] = []
        lines = iter(self._index)
        with self._entry("indexes/index.cdx.gz") as out:
            while block := list(islice(lines, BLOCK)):
                packed = gzip.compress("".join(block).encode("utf-8", "replace"))
                place = {"offset": out.size, "length": len(packed), "digest": f"sha256:{sha256(packed).hexdigest()}"}
                key = " ".join(block[0].split(" ", 2)[:2])
                first_lines.append(f"{key} {json.dumps({**place, 'filename': 'index.cdx.gz'})}\n")
                out.write(packed)
        with self._entry("indexes/index.idx") as out:
            meta = {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}
            out.write(f"!meta 0 {json.dumps(meta)}\n{''.join(first_lines)}".encode("utf-8", "replace"))

    @contextmanager
    def _entry(self, path: str) -> Iterator[_Digested]:
        with self._zip.open(path, "w", force_zip64=True) as file:
            written = _Digested(file)
            yield written
        self._add_resource(path, written)

    def _add_resource(self, path: str, written: _Digested) -> None:
        digest = f"sha256:{written.hash.hexdigest()}"
        self._resources.append({"name": path.rpartition("/")[2], "path": path, "hash": digest, "bytes": written.size})

    def abandon(self) -> None:
        with suppress(OSError, ValueError):
            self._data.file.close()
            self._zip.close()
        self._pages.close()
        self._index.close()
        self._records.__exit__(None, None, None)
        self._work.cleanup()


def _line(values: dict[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _software() -> str:
    import frontrank

    return f"frontrank/{frontrank.__version__}"
