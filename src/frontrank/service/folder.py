"""The folder of a service: its lock, its settings, and a directory for each crawl.

DIR/service.json          ordering and politeness of new crawls; whether pages are handed out at all
DIR/.lock                 locked by the one process that serves it
DIR/DEFAULT/trace.db      the crawl of ID "DEFAULT": see ``frontrank.crawl.journal``
DIR/news%2Fsport/...      that of ID "news/sport": see ``crawl_ids``
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from frontrank.crawl.journal import FILE, UNBORN, is_disk_full
from frontrank.errors import DiskFull, StorageError
from frontrank.service.crawl_ids import DEFAULT
from frontrank.system.files import PRIVATE_FOLDER, locked, private, replaced

SETTINGS, LOCK = "service.json", ".lock"  # a directory of a crawl has no dot in its name
FORMAT, VERSION = "frontrank-service", 1
DELETED = ".deleted-"


class ServiceFolder:
    """The folder at a path, locked until it is closed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = self._locked()

    def _locked(self) -> int:
        if (self.path / FILE).exists():
            raise StorageError(
                f"{self.path}: holds one crawl, but a service needs a folder of many; "
                f"move the crawl one level down, to {self.path}/{DEFAULT}, or give another folder"
            )
        try:
            self.path.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
            foreign = [entry.name for entry in self.path.iterdir() if entry.name not in (LOCK, SETTINGS)]
            if foreign and not (self.path / SETTINGS).exists() and not all(map(self._is_crawl, foreign)):
                raise StorageError(f"{self.path}: is not empty (it contains {sorted(foreign)[0]}); give a new folder")
            busy = f"{self.path}: another service is at work on this folder; stop it, or give another"
            return locked(self.path / LOCK, busy)
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be written ({error.strerror or error}); give another folder") from None

    def _is_crawl(self, name: str) -> bool:
        return (self.path / name / FILE).is_file()

    def check_open(self) -> None:
        if self._lock < 0:
            raise StorageError(f"{self.path}: this service is closed; open it again to continue")

    def close(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    # Settings ---------------------------------------------------------------------------------------------------------------
    def read_settings(self) -> dict[str, Any]:
        """What ``write_settings`` wrote; nothing in a new folder."""
        path = self.path / SETTINGS
        if not path.exists():
            return {}
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            if stored["format"] != FORMAT:
                raise ValueError("of another format")
            version = int(stored["version"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StorageError(
                f"{path}: cannot be read ({error}); restore it, or remove it to continue with defaults"
            ) from None
        if version > VERSION:
            raise StorageError(
                f"{path}: written by a newer frontrank (format {version}, this one reads up to {VERSION}); use that version"
            )
        return dict(stored)

    def write_settings(self, **settings: Any) -> None:
        path = self.path / SETTINGS
        try:
            with replaced(path, durable=True) as beside, open(beside, "w", encoding="utf-8", opener=private) as file:
                json.dump({"format": FORMAT, "version": VERSION, **settings}, file, indent=1)
        except OSError as error:
            kind = DiskFull if is_disk_full(error) else StorageError
            raise kind(f"{path}: cannot be written ({error.strerror or error})") from None

    # Crawls -----------------------------------------------------------------------------------------------------------------
    def crawl_directories(self) -> Iterator[Path]:
        """The directories that may hold a crawl. What a process left that died while it deleted one is removed."""
        for path in sorted(self.path.iterdir()):
            if path.name.startswith(DELETED):
                shutil.rmtree(path, ignore_errors=True)
            elif path.is_dir() and not path.is_symlink() and not path.name.startswith("."):
                yield path

    def discard(self, path: Path) -> Path:
        """Rename the directory of a crawl, which is done or not; the next start removes what is left of it."""
        discarded = self.path / f"{DELETED}{secrets.token_hex(8)}"
        os.rename(path, discarded)
        return discarded


def holds_crawl(path: Path) -> bool:
    """Whether a crawl was created in this directory. What a process left that died while it created one is removed."""
    names = {entry.name for entry in path.iterdir()}
    if FILE in names:
        return True
    if names <= UNBORN:
        shutil.rmtree(path)
    return False
