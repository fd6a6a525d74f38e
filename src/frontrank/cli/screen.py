"""What a person sees: progress while waiting, tables at the end.

Progress is drawn on standard error: a bar on a terminal, lines in a pipe. A table is fitted to the terminal: what does not
fit goes into a further table below with the same names, and no figure is ever cut. In a pipe it is plain and whole.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from frontrank.errors import InputError

if TYPE_CHECKING:
    from frontrank.lab.frame import Frame, FrameColumn, Tabular

Progress = Callable[[str, int, int], None]  # what is being done, how much of it, of how much
COMPILING = ": compiling, first time only"
GAP = 2  # blanks between two columns
BREAKS = ",/ ?&"  # a long name is broken after one of these, if there is one
F = Callable[..., Any]


# Progress --------------------------------------------------------------------------------------------------------------------
@contextmanager
def progress() -> Iterator[Progress]:
    """A bar on standard error for as long as the block runs; in a pipe a line every ten seconds."""
    if not sys.stderr.isatty():
        with _progress_lines() as tell:
            yield tell
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars
    from rich.table import Column

    from frontrank.kernels.compiling import watch_compiling

    what = TextColumn("{task.description}{task.fields[state]}", markup=False, table_column=Column(ratio=1, no_wrap=True))
    columns = (what, BarColumn(12), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True, expand=True) as bars:
        task = bars.add_task("starting", total=None, state="")
        with watch_compiling(lambda begins: bars.update(task, state=COMPILING if begins else "")):
            yield lambda text, done, total: bars.update(task, description=text, completed=done, total=total or None)


@contextmanager
def _progress_lines() -> Iterator[Progress]:
    from frontrank.kernels.compiling import watch_compiling
    from frontrank.system.waiting import lines

    state: dict[str, Any] = {"what": "starting", "done": "", "compiling": ""}

    def tell(text: str, done: int, total: int) -> None:
        state.update(what=text, done=f", {done:,} of {total:,}" if total else "")

    def compiling(begins: bool) -> None:
        state["compiling"] = COMPILING if begins else ""

    with lines(lambda: "{what}{compiling}{done}".format(**state)), watch_compiling(compiling):
        yield tell


# In the form that was asked for -----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Output:
    """The form in which a command prints its result."""

    as_json: bool = False
    as_csv: bool = False

    @property
    def for_people(self) -> bool:
        return not self.as_json and not self.as_csv

    def show(self, result: Tabular) -> None:
        """Print a result as JSON, CSV, or a table for people."""
        if self.as_json:
            show_json(result.json())
        elif self.as_csv:
            show_csv(result.frame())
        else:
            show_frame(result.frame())


def output_options(command: F) -> F:
    """--json and --csv, of every command that prints a table: the command gets them as ``output``."""

    @wraps(command)
    def call(*, as_json: bool, as_csv: bool, **given: Any) -> Any:
        if as_json and as_csv:
            raise InputError("--json and --csv were given together, but only one of them can be printed; drop one")
        return command(output=Output(as_json, as_csv), **given)

    csv = click.option("--csv", "as_csv", is_flag=True, help="Print the table as comma-separated values.")
    return click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")(csv(call))


def show_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


def show_csv(frame: Frame) -> None:
    print(frame.csv(), end="")


# For people ------------------------------------------------------------------------------------------------------------------
def terminal_width() -> int | None:
    """How many columns there are; None if nobody sees them."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def terminal_height() -> int | None:
    """How many lines there are; None if nobody sees them."""
    return shutil.get_terminal_size().lines if sys.stdout.isatty() else None


def styled() -> bool:
    """Whether standard output shows bold letters."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")


def show_table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """A table of texts: the first column to the left, all others to the right."""
    from frontrank.lab.frame import Frame, FrameColumn

    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    show_frame(Frame(tuple(FrameColumn(name, list(values)) for name, values in zip(header, columns, strict=True)), title))


def show_frame(frame: Frame) -> None:
    """A table of figures: sorted, the best of each column marked, fitted to the terminal."""
    width = terminal_width()
    print("\n".join(drawn(frame, width, styled())))


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


def say(text: str, first: str = "", further: str | None = None) -> None:
    """A sentence for people, whole in a pipe; on a terminal broken where that ends, with ``further`` before each new line."""
    width = terminal_width()
    if width is None:
        print(first + text)
        return
    wrapper = textwrap.TextWrapper(max(20, width), first, first if further is None else further, break_on_hyphens=False)
    print(wrapper.fill(printable(text)))


def printable(text: str) -> str:
    """A text from elsewhere without what would steer a terminal."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def percent(share: float | None) -> str:
    """
    >>> percent(0.4267), percent(None)
    ('42.7%', '-')
    """
    return "-" if share is None else f"{100 * share:.1f}%"


def own_name() -> str:
    """How this program was called, as it can be typed again: frontrank, .venv/bin/frontrank, python -m frontrank."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return f"{shlex.quote(_near(Path(sys.executable)))} -m frontrank"
    if called.name in ("", "-c"):  # called from Python
        return "frontrank"
    found = shutil.which(called.name)
    if found is not None and os.path.realpath(found) == os.path.realpath(called):
        return called.name
    return shlex.quote(_near(called))


def _near(path: Path) -> str:
    """A path as short as it can be typed from here."""
    whole = Path(os.path.abspath(path))
    return str(whole.relative_to(Path.cwd())) if whole.is_relative_to(Path.cwd()) else str(whole)


def moment(seconds: float | None) -> str:
    """A time for people, with its zone.

    >>> moment(1e9), moment(None)
    ('2001-09-09T01:46:40Z', '-')
    """
    from datetime import UTC, datetime

    return "-" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
