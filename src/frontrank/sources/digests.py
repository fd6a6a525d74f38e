"""Digests of the files of a directory, in its manifest: damage is found before it is read as data.

A Parquet file has a digest for its footer and one for each column, so that a column can be checked without reading the others.
The manifest has a digest of itself. A manifest of an earlier version, without digests, is not checked.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable
from typing import Any

from frontrank.errors import SourceError
from frontrank.sources.parquet_digests import parquet_digests
from frontrank.system.files import digest

AGAIN = "restore it from a copy, or write it again"


def write_digested(path: str, manifest: dict[str, Any], names: Iterable[str]) -> None:
    """Write a manifest, with digests of these files, as far as they exist, and of itself."""
    folder = os.path.dirname(path)
    there = sorted(name for name in names if name.endswith((".npy", ".parquet")) and os.path.exists(os.path.join(folder, name)))
    manifest = {**manifest, "digests": {name: _digests_of(os.path.join(folder, name)) for name in there}}
    manifest["digest"] = _own_digest(manifest)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=2)
        file.write("\n")


def _digests_of(path: str) -> str | dict[str, str]:
    return parquet_digests(path) if path.endswith(".parquet") else digest(path)


def _own_digest(manifest: dict[str, Any]) -> str:
    content = json.dumps({key: value for key, value in manifest.items() if key != "digest"}, sort_keys=True)
    return f"{zlib.crc32(content.encode()):08x}"


def check_digest(path: str, manifest: dict[str, Any]) -> None:
    """Raise SourceError if a manifest is not what was written; one without digests is of an earlier version."""
    digests = manifest.setdefault("digests", {})
    if ("digest" in manifest or digests) and manifest.get("digest") != _own_digest(manifest):
        raise SourceError(f"{path}: damaged, its digest does not match what it says; {AGAIN}")


def check_file(path: str, digests: dict[str, Any]) -> None:
    expected = digests.get(os.path.basename(path))
    if expected is not None and digest(path) != expected:
        raise SourceError(f"{path}: damaged, its digest is not that of the file that was written; {AGAIN}")
