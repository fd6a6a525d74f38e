"""What a person sees: progress while waiting, tables at the end. Progress is drawn on a terminal only."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

Progress = Callable[[str, int, int], None]  # what is being done, how much of it, of how much


@contextmanager
def progress() -> Iterator[Progress]:
    """A bar on standard error for as long as the block runs; nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda text, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("", total=None)
        yield lambda text, done, total: bars.update(task, description=text, completed=done, total=total or None)


def show_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


def show_table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """A plain table: the first column to the left, all others to the right."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table

        table = Table(title=title or None, title_justify="left")
        for i, name in enumerate(header):
            table.add_column(name, justify="left" if i == 0 else "right", no_wrap=i == 0)
        for row in rows:
            table.add_row(*row)
        Console().print(table)
        return
    widths = [max(len(str(row[i])) for row in (header, *rows)) for i in range(len(header))]
    if title:
        print(title)
    for row in (header, *rows):
        first, *others = (text.ljust(widths[0]) if i == 0 else text.rjust(widths[i]) for i, text in enumerate(row))
        print("  ".join((first, *others)).rstrip())


def percent(share: float | None) -> str:
    """
    >>> percent(0.4267), percent(None)
    ('42.7%', '-')
    """
    return "-" if share is None else f"{100 * share:.1f}%"
