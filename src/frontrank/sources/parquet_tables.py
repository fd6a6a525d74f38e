"""The parts of a table in Parquet, and whether they are complete; every reader of Parquet here uses it.

A table is a file ``NAME.parquet``, or a folder of parts (*.parquet) called so or ``NAME``. Parts are read by name. A folder
that a job is still writing, or did not end (``_temporary``), is refused; so is a part without a footer, one whose pages do not
have the checksum they say, and one that has other than the rows its footer promises.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from frontrank.errors import SourceError
from frontrank.system.lazy import pa, pq

SUFFIX = ".parquet"
UNDONE = "_temporary"  # what Spark leaves of a table until it is whole
BATCH = 2**20  # rows of a group that is written
READ = 2**16  # rows read at a time
BUFFER = 2**18  # bytes of a column read at a time: pyarrow would have all columns of a part in memory, as they lie there


def table_path(path: str, table: str) -> str:
    """The file of a table, or the folder of its parts."""
    one = os.path.join(path, table + SUFFIX)
    return one if os.path.exists(one) else os.path.join(path, table)


def parts_of(path: str, table: str) -> list[str]:
    """The files of a table; none if there is no such table, or no part of it."""
    where = table_path(path, table)
    if os.path.isfile(where):
        return [where]
    if not os.path.isdir(where):
        return []
    names = sorted(os.listdir(where))
    if UNDONE in names:
        raise SourceError(half_written(where))
    return [os.path.join(where, name) for name in names if name.endswith(SUFFIX) and name[0] not in "._"]


def half_written(where: str) -> str:
    """What is said of a table that a job is still writing, or did not end."""
    return f"{where}: half-written (it holds {UNDONE}); let the job that writes it end, or run it again"


@contextmanager
def opened_part(part: str) -> Iterator[Any]:
    """A part; whatever is wrong with its bytes is a SourceError that names it."""
    try:
        with pq.ParquetFile(part, page_checksum_verification=True, pre_buffer=False, buffer_size=BUFFER) as file:
            yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise SourceError(f"{part}: is damaged or cut off, not a whole Parquet file ({why}); write it again") from None


def batches_of(parts: Iterable[str], columns: list[str]) -> Iterator[tuple[str, int, Any]]:
    """(part, rows of it before, record batch) of all rows in order."""
    for part in parts:
        with opened_part(part) as file:
            row = 0
            for batch in file.iter_batches(READ, columns=columns):
                yield part, row, batch
                row += batch.num_rows
            if row != file.metadata.num_rows:
                raise SourceError(f"{part}: {row:,} rows read, but it says {file.metadata.num_rows:,}; write it again")
