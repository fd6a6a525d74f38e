"""What both kinds of edge list share: reading lines, and the message for one that cannot be read."""

from __future__ import annotations

from typing import NamedTuple

from frontrank.kernels.jit import Array, kernel
from frontrank.system.files import Progress

CHUNK = 8 * 2**20
TAB, NEWLINE, RETURN, BLANK = 9, 10, 13, 32
COMMA, SEMICOLON, MINUS, HASH, PERCENT, QUOTE = 44, 59, 45, 35, 37, 34
NO_COLUMN, NO_NUMBER, NEGATIVE, TOO_LARGE, NO_URL, ALIKE = -1, -2, -3, -4, -5, -6

COMPLAINTS = {
    NO_COLUMN: "only one column; expected a source and a target",
    NO_NUMBER: "not a page number; expected two whole numbers",
    NEGATIVE: "a page number is negative; expected 0 or more",
    TOO_LARGE: "a page number is larger than 9223372036854775807, the largest that fits in 64 bits",
}


class Edges(NamedTuple):
    """An edge list, as its first lines show it."""

    path: str
    name: str
    header: int  # the line of column names, or 0
    chunk: int  # bytes read at a time
    progress: Progress | None


def shown(text: bytes) -> str:
    line = text.decode(errors="replace").strip()
    return repr(line if len(line) <= 60 else line[:57] + "...")


@kernel
def is_end(data: Array, at: int) -> bool:
    return at >= data.size or data[at] == NEWLINE
