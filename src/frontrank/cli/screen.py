"""What a person sees: progress while waiting, tables at the end.

Progress is drawn on standard error: a bar on a terminal, lines in a pipe. Tables are drawn by ``lab.text_table``.
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
    from frontrank.lab.frame import Frame, Tabular

Progress = Callable[[str, int, int], None]  # what is being done, how much of it, of how much
COMPILING = ": compiling, first time only"
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
    from frontrank.lab.text_table import drawn

    print("\n".join(drawn(frame, terminal_width(), styled())))


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
