"""What a journal is opened with: its notes and format, and whether its end is there."""

from __future__ import annotations

import json
import logging
import sqlite3
from pathlib import Path
from typing import Any

from frontrank.crawl.integrity import RESTORE, checksum
from frontrank.crawl.journal_file import FILE, FORMAT, TABLES, UNCHECKED, VERSION
from frontrank.crawl.journal_reader import JournalReader
from frontrank.errors import StorageError

logger = logging.getLogger("frontrank.crawl")


def read_notes(folder: Path, db: sqlite3.Connection, column: str) -> dict[str, Any]:
    """Its notes; ``column``: the one that has their checksums."""
    rows = db.execute(f"SELECT key, value, {column} FROM meta").fetchall()
    format_of = {key: value for key, value, _ in rows}
    if format_of.get("format") != json.dumps(FORMAT):
        raise StorageError(f"{folder}/{FILE}: not the trace of a crawl; name the directory of one")
    _check_format(folder, column, format_of.get("version"))
    unchecked = column == "NULL" or UNCHECKED in format_of
    for key, value, crc in rows:
        if crc != checksum((key, value)) and not (crc is None and unchecked):
            raise StorageError(f"{folder}/{FILE}: the note {key!r} is damaged, its checksum does not match; {RESTORE}")
    try:
        return {key: json.loads(value) for key, value, _ in rows}
    except (TypeError, ValueError):
        raise StorageError(f"{folder}/{FILE}: its notes are no JSON; {RESTORE}") from None


def _check_format(folder: Path, crc: str, stored: Any) -> None:
    """A newer format may have other checksums, so this comes first."""
    try:
        version = int(stored)
    except (TypeError, ValueError):
        raise StorageError(f"{folder}/{FILE}: its format is {stored!r}, expected a number; {RESTORE}") from None
    if version > VERSION:
        raise StorageError(
            f"{folder}/{FILE}: written by a newer frontrank (format {version}, this one reads up to "
            f"{VERSION}); use that version"
        )
    if version >= 3 and crc == "NULL":
        raise StorageError(f"{folder}/{FILE}: its tables have no checksums, which format {version} has; {RESTORE}")


def check_end(folder: Path, seq: int, witness: tuple[int, int] | None) -> None:
    """SQLite drops the damaged end of a write-ahead log without a word."""
    if witness is None:
        logger.warning(
            "%s/lock: is damaged, so nothing says how many events there were; if %s-wal is damaged too, the newest events "
            "are lost: the crawl is as it was after event %s",
            folder,
            FILE,
            f"{seq:,}",
        )
        return
    committed, synced = witness
    if seq >= committed:
        return
    ends = f"{folder}/{FILE}: ends with event {seq:,}, but {committed:,} were committed"
    if seq < synced:
        raise StorageError(
            f"{ends}, and {synced:,} of them were on the disk: {FILE} or {FILE}-wal is damaged or of another time. "
            "Restore the directory from a copy; or, to continue with the "
            f"{seq:,} events that are left, remove {folder}/lock"
        )
    logger.warning(
        "%s: the newest %s are lost (%s-wal is damaged, or the machine stopped before they were on the disk); "
        "the crawl is as it was after event %s",
        ends,
        f"{committed - seq:,} events",
        FILE,
        f"{seq:,}",
    )


def add_checksums(reader: JournalReader, notes: dict[str, Any]) -> None:
    """To the tables of an earlier version: rows from now on have them."""
    db = reader.db
    if reader.crc == "crc":
        return
    pages = db.execute("SELECT max(id) + 1 FROM url").fetchone()[0] or 0
    db.execute("BEGIN")
    for table in TABLES:
        if not any(db.execute(f"SELECT 1 FROM pragma_table_info('{table}') WHERE name = 'crc'")):
            db.execute(f"ALTER TABLE {table} ADD COLUMN crc INTEGER")
    reader.crc, reader.unchecked = "crc", (reader.seq, pages)
    added = {UNCHECKED: list(reader.unchecked)} | ({"version": VERSION} if notes["version"] == 2 else {})
    rows = [(key, json.dumps(value)) for key, value in added.items()]
    db.executemany("INSERT OR REPLACE INTO meta VALUES(?, ?, ?)", [(*row, checksum(row)) for row in rows])
    db.execute("COMMIT")
    notes["version"] = VERSION if notes["version"] == 2 else notes["version"]
