"""One self-contained HTML page: a title, a lead, facts, and sections of text, figure and table.

Figures are SVG, drawn by matplotlib for a wide and for a narrow screen; nothing is loaded from anywhere. A key above each
figure shows a line in its colour or in grey, in all figures at once; a click on a column head sorts a table. The page prints,
fits a phone, and is dark where the reader's system is.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.resources import files
from itertools import accumulate
from typing import Any, NamedTuple

import frontrank
from frontrank.errors import InputError, need
from frontrank.lab.report.figures import Figure, svg
from frontrank.system.files import check_target, written_beside

TEMPLATE = "page.html.jinja"
WIDE, NARROW = (11.3, 4.4), (4.4, 3.8)  # inches


class Cell(NamedTuple):
    """One cell of a table: what it says, what it is sorted by (its text if None), and how it stands out."""

    text: str
    value: float | str | None = None
    note: str = ""  # a second, smaller line
    strong: bool = False
    fill: float | None = None  # 0 to 1: a bar behind the text
    colour: str = ""  # a mark before the text
    link: str = ""  # where a click leads


Value = Cell | str | int | float | None


@dataclass(frozen=True)
class HtmlTable:
    """A head and rows; numbers are aligned right, None is a dash. ``groups`` name runs of columns above the head."""

    header: Sequence[str]
    rows: Sequence[Sequence[Value]]
    groups: Sequence[tuple[str, int]] = ()  # title, number of columns

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise InputError(f"a table row of {len(row)} cells given for {len(self.header)} columns")

    def cells(self) -> list[list[Cell]]:
        return [[cell(value) for value in row] for row in self.rows]

    def numeric(self) -> list[bool]:
        """Whether a column holds numbers."""
        columns = zip(*self.cells(), strict=True) if self.rows else [()] * len(self.header)
        return [any(isinstance(c.value, float) for c in column) for column in columns]

    def edges(self) -> list[int]:
        """The columns at which a group begins, but the first."""
        return list(accumulate(width for _, width in self.groups))[:-1]


@dataclass(frozen=True)
class Section:
    """A heading and, as far as given, text (paragraphs apart by an empty line), a figure, a table, code to copy."""

    heading: str
    text: str = ""
    figure: Figure | None = None
    table: HtmlTable | None = None
    code: str = ""


class Legend(NamedTuple):
    """An entry of the legend."""

    name: str
    colour: str
    dash: str
    quiet: bool


def cell(value: Value) -> Cell:
    """A plain value as a cell.

    >>> cell(1234), cell(0.12345).text, cell(None).text
    (Cell(text='1,234', value=1234.0, note='', strong=False, fill=None, colour='', link=''), '0.1235', '–')
    """
    if isinstance(value, Cell):
        return value
    if value is None:
        return Cell("–")
    if isinstance(value, bool):
        return Cell("yes" if value else "no", "yes" if value else "no")
    if isinstance(value, str):
        return Cell(value, value)
    return Cell(f"{value:,}" if isinstance(value, int) else f"{value:.4g}", float(value))


def page(title: str, lead: str, sections: Sequence[Section], facts: Sequence[tuple[str, str]] = (), command: str = "") -> str:
    """The whole page as text. The first paragraph of the lead is what a hurried reader takes away."""
    need("jinja2", "matplotlib")
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"paragraphs": paragraphs, "drawn": drawn, "keys": keys, "whole": whole}
    template = environment.from_string((files("frontrank.lab.report") / TEMPLATE).read_text(encoding="utf-8"))
    return template.render(
        title=title,
        lead=lead,
        facts=facts,
        sections=sections,
        command=command,
        version=frontrank.__version__,
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def save(text: str, path: str | os.PathLike[str]) -> None:
    """Write a page: a reader sees the old one or the new one, whole."""
    check_target(path)
    with written_beside(path) as beside:
        beside.write_text(text, encoding="utf-8", errors="backslashreplace")  # it may name a file whose name is not UTF-8


def paragraphs(text: str) -> list[str]:
    return [part.strip() for part in text.split("\n\n") if part.strip()]


def keys(figure: Figure) -> list[Legend]:
    """The legend of a figure of lines."""
    named = () if figure.labels else figure.series
    return [Legend(one.name, one.style.colour, one.style.dash, one.quiet) for one in named]


def drawn(figure: Figure, name: str) -> Any:
    """The SVG for a wide screen and for a narrow one."""
    from markupsafe import Markup

    sizes = (("wide-screen", WIDE), ("narrow-screen", NARROW))
    parts = (f'<div class="{kind}" aria-hidden="true">{svg(figure, f"{name}-{kind}", *size)}</div>' for kind, size in sizes)
    return Markup("\n".join(parts))  # matplotlib escapes texts


def whole(figure: Figure) -> Figure | None:
    """The same figure to the end of its lines, if it stops before."""
    if figure.until is None or all(one.x[-1] <= figure.until for one in figure.series if len(one.x)):
        return None
    return replace(figure, until=None)


def page_link(url: str) -> str:
    """Where a click on a URL of a table leads: to pages of the web alone, whatever is stored."""
    return url if url.startswith(("http://", "https://")) else ""
