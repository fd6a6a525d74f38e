"""Digests of the parts of a Parquet file: of its footer, and of the chunks of each column, so that one column is checked alone.

The footer is compared before pyarrow is given it: of some damaged ones pyarrow ends the process.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from frontrank.system.files import digest
from frontrank.system.lazy import pq

FOOTER = "(footer)"  # its name among columns
END = 8  # bytes: the length of the footer, and a magic word


def parquet_digests(path: str, columns: Sequence[str] | None = None) -> dict[str, str]:
    """Of the footer, and of each column (or of these columns): what reading them reads."""
    says = pq.read_metadata(path)
    found = {FOOTER: footer_digest(path)}
    groups = [says.row_group(i) for i in range(says.num_row_groups)]
    for at, name in enumerate(says.schema.names):
        if columns is None or name in columns:
            found[name] = digest(path, [_span(group.column(at)) for group in groups])
    return found


def damaged_part(path: str, columns: Sequence[str], expected: Mapping[str, str]) -> str:
    """Which part of a file is not what was written; empty if all are."""
    if footer_digest(path) != expected.get(FOOTER):
        return FOOTER
    found = parquet_digests(path, columns)
    return next((name for name in columns if found.get(name) != expected.get(name)), "")


def footer_digest(path: str) -> str:
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - END, 0))
        footer = min(int.from_bytes(file.read(4), "little") + END, size)
    return digest(path, [(size - footer, footer)])


def _span(chunk: Any) -> tuple[int, int]:
    first = chunk.data_page_offset if chunk.dictionary_page_offset is None else chunk.dictionary_page_offset
    return min(first, chunk.data_page_offset), chunk.total_compressed_size
