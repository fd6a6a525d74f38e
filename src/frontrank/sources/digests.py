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


def read_manifest(
    path: str, formats: tuple[str, ...], version: int, counts: Iterable[str], optional: Iterable[str] = ()
) -> dict[str, Any]:
    """A manifest of one of these formats, up to this version. Its ``counts`` are whole numbers, ``optional`` ones may be null.

    SourceError if it is anything else, or not what was written; one without digests is of an earlier version.
    """
    try:
        with open(path, encoding="utf-8") as file:
            manifest = json.load(file)
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror or error})") from None
    except ValueError:
        raise SourceError(f"{path}: not JSON; expected what frontrank wrote there") from None
    if not isinstance(manifest, dict) or manifest.get("format") not in formats:
        raise SourceError(f'{path}: not a {formats[0].replace("-", " ")}; expected "format": "{formats[0]}"')
    stored: Any = manifest.get("version")
    if not _is_count(stored):
        raise SourceError(f"{path}: version is {stored!r}, expected {version}")
    if stored > version:
        raise SourceError(f"{path}: version {stored}, but this frontrank reads up to {version}; update frontrank")
    digests = manifest.setdefault("digests", {})
    if ("digest" in manifest or digests) and manifest.get("digest") != _own_digest(manifest):
        raise SourceError(f"{path}: damaged, its digest does not match what it says; {AGAIN}")
    for key in optional:
        manifest.setdefault(key, None)
    for key in (*counts, *(key for key in optional if manifest[key] is not None)):
        if not _is_count(manifest.get(key)):
            raise SourceError(f"{path}: {key} is {manifest.get(key)!r}, expected a whole number")
    return manifest


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def check_file(path: str, digests: dict[str, Any]) -> None:
    expected = digests.get(os.path.basename(path))
    if expected is not None and digest(path) != expected:
        raise SourceError(f"{path}: damaged, its digest is not that of the file that was written; {AGAIN}")
