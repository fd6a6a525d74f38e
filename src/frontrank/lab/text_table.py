"""A table as text: fitted to a terminal, plain and whole elsewhere.

What does not fit goes into a further table below with the same names, and no figure is ever cut.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frontrank.lab.frame import Frame, FrameColumn

GAP = 2  # blanks between two columns
BREAKS = ",/ ?&"  # a long name is broken after one of these, if there is one


def drawn(frame: Frame, width: int | None, bold: bool) -> list[str]:
    """The lines of a table; without a width in full, on one line a row."""
    lines = _wrapped(frame.title, width)
    figures = list(frame.figures)
    if width is not None:  # what no row has is only in the way
        figures = [column for column in figures if any(value is not None for value in column.values)] or figures[:1]
    names = [frame.columns[0].name, *(frame.columns[0].text(row) for row in range(len(frame)))]
    headed = width is not None and max((len(column.group) for column in figures), default=0) + GAP <= width - width // 3
    taken = [_Drawn(frame, column, headed, bold) for column in figures]
    limit = max(map(cell_width, names))
    if width is not None:
        limit = min(limit, max(width - _span(taken), width // 3))
    for at, block in enumerate(_blocks(taken, None if width is None else width - limit)):
        if at:
            lines.append("")
        lines += _block(names, limit, block, bold)
    marked = any(frame.best(column) for column in figures)
    best = f"{'bold' if bold else '*'}: the best of its column" if marked else ""
    by = f"sorted by {frame.sorted_by}" if frame.sorted_by and len(frame) > 1 else ""
    notes = [line for note in (*frame.notes, "; ".join(filter(None, (by, best)))) for line in _wrapped(note, width)]
    return [*lines, "", *notes] if notes and width is not None else [*lines, *notes]


class _Drawn:
    """A column as it will be printed: its head, its cells, its width."""

    def __init__(self, frame: Frame, column: FrameColumn, headed: bool, bold: bool) -> None:
        best = frame.best(column)
        self.group = column.group if headed else ""
        self.head = column.short if self.group else column.name
        self.cells = [column.text(row) for row in range(len(frame))]
        self.bold = best if bold else frozenset[int]()
        if best and not bold:
            self.cells = [f"{cell}{'*' if row in best else ' '}" for row, cell in enumerate(self.cells)]
            self.head += " "
        self.width = max(map(cell_width, (self.head, *self.cells)))


def _blocks(columns: list[_Drawn], room: int | None) -> Iterator[list[_Drawn]]:
    """Columns that stand side by side. Those of one group stay together, in the first block that has room for them all."""
    if room is None:
        yield columns
        return
    blocks: list[list[_Drawn]] = [[]]
    for group in _groups(columns):
        fitting = next((block for block in blocks if _span([*block, *group]) <= room), None)
        if fitting is not None:
            fitting += group
            continue
        if blocks[-1]:
            blocks.append([])
        for column in group:
            if blocks[-1] and _span([*blocks[-1], column]) > room:
                blocks.append([])
            blocks[-1].append(column)
    yield from (block for block in blocks if block)


def _groups(columns: Sequence[_Drawn]) -> list[list[_Drawn]]:
    """Neighbours under one heading; each column without a heading is by itself."""
    groups: list[list[_Drawn]] = []
    for column in columns:
        if groups and column.group and groups[-1][0].group == column.group:
            groups[-1].append(column)
        else:
            groups.append([column])
    return groups


def _span(columns: Sequence[_Drawn]) -> int:
    return sum(max(sum(GAP + column.width for column in group), GAP + len(group[0].group)) for group in _groups(columns))


def _block(names: list[str], limit: int, columns: list[_Drawn], bold: bool) -> list[str]:
    groups = _groups(columns)
    above = " " * limit
    widths: dict[int, int] = {}
    for group in groups:
        width = sum(GAP + column.width for column in group)
        missing = max(0, GAP + len(group[0].group) - width)
        widths |= {id(column): column.width for column in group} | {id(group[0]): group[0].width + missing}
        above += group[0].group.rjust(width + missing)
    head = _padded(names[0], limit) + "".join(" " * GAP + c.head.rjust(widths[id(c)]) for c in columns)
    lines = [above.rstrip()] if above.strip() else []
    lines.append(_bold(head, bold))
    for row, name in enumerate(names[1:]):
        first, *rest = _folded(name, limit)
        line = _padded(first, limit)
        for column in columns:
            blanks = " " * (GAP + widths[id(column)] - cell_width(column.cells[row]))
            line += blanks + _bold(column.cells[row], row in column.bold)
        lines += [line.rstrip(), *(f"  {part}" for part in rest)]
    return [line.rstrip() for line in lines]


def _folded(name: str, limit: int) -> list[str]:
    """A long name over several lines; all but the first will be set in by two.

    >>> _folded("fica:k=250000,beta=0.1", 16)
    ['fica:k=250000,', 'beta=0.1']
    """
    lines = []
    while cell_width(name) > limit:
        cut = limit
        while cell_width(name[:cut]) > limit:
            cut -= 1
        cut = max((name.rfind(c, limit // 2, cut) + 1 for c in BREAKS), default=0) or cut
        lines.append(name[:cut])
        name, limit = name[cut:], max(1, limit - (2 if len(lines) == 1 else 0))
    return [*lines, name]


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_width(text))


def _bold(text: str, bold: bool) -> str:
    return f"\x1b[1m{text}\x1b[0m" if bold and text.strip() else text


def cell_width(text: str) -> int:
    """How many columns a text takes; letters of East Asia take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _wrapped(text: str, width: int | None) -> list[str]:
    if not text:
        return []
    return [text] if width is None else textwrap.wrap(text, max(20, width), break_on_hyphens=False)
