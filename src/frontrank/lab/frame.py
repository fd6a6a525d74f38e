"""Figures as a frame: named columns, the best row first, the best of each column known.

Every result of the lab (runs of orderings, evaluations, tunings, rankings) gives one, so that all of them are printed, written
by the ending of a file name, shown in a notebook and handed to pandas, Polars or Arrow in the same way. pandas, Polars and
pyarrow are imported only when they are asked for.
"""

from __future__ import annotations

import csv
import html
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from frontrank.errors import InputError, need
from frontrank.lab.drawn import Drawn
from frontrank.lab.text_table import drawn
from frontrank.system.files import Where, check_target, written_beside
from frontrank.system.lazy import pa, pd, pl, pq

Kind = Literal["text", "share", "count", "seconds", "number"]
ARROW = {"text": "string", "share": "float64", "count": "int64", "seconds": "float64", "number": "float64"}
ENDINGS = (".csv", ".parquet", ".json")


@dataclass(frozen=True)
class FrameColumn:
    """One column: its name in files and programs, its values, and how people are shown it."""

    name: str
    values: Sequence[Any]
    kind: Kind = "text"
    better: Literal["", "more", "less"] = ""  # which values are best, if any are
    group: str = ""  # what columns side by side have in common, as a heading above them
    short: str = ""  # the name under that heading
    spread: Sequence[float | None] | None = None  # standard deviation over repeats
    detail: bool = False  # for files and programs only

    @classmethod
    def of(cls, name: str, drawn: Sequence[Drawn], better: Literal["more", "less"] = "more") -> FrameColumn:
        """Shares that were measured in several draws: their means and spreads."""
        return cls(name, [one.mean for one in drawn], "share", better, spread=[one.spread for one in drawn])

    def text(self, row: int) -> str:
        """A cell for people.

        >>> FrameColumn("hot", [0.4267, None], "share").text(0), FrameColumn("hot", [0.4267], "share", spread=[0.013]).text(0)
        ('42.7%', '42.7±1.3%')
        """
        value, spread = self.values[row], None if self.spread is None else self.spread[row]
        if value is None:
            return "-"
        if self.kind == "share":
            return f"{100 * value:.1f}%" if spread is None else f"{100 * value:.1f}±{100 * spread:.1f}%"
        if self.kind == "count":
            return f"{value:,.0f}" if not spread else f"{value:,.0f}±{spread:,.0f}"
        if self.kind == "seconds":
            return f"{value:.2f}" if spread is None else f"{value:.2f}±{spread:.2f}"
        if self.kind == "number":
            return f"{value:.4g}"
        return "".join(c if c.isprintable() else "\ufffd" for c in str(value))  # a URL must not steer a terminal


@dataclass(frozen=True, repr=False)
class Frame:
    """Columns of equal length; the first names the rows."""

    columns: tuple[FrameColumn, ...]
    title: str = ""
    notes: tuple[str, ...] = ()  # what the figures mean, a paragraph each
    outside: frozenset[int] = frozenset()  # rows that do not compete: they were told the answer
    sorted_by: str = ""

    def __str__(self) -> str:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        return "\n".join(drawn(self, width, bold=False))

    def __repr__(self) -> str:
        return f"<Frame of {len(self)} rows: {', '.join(column.name for column in self.columns)}>"

    def __len__(self) -> int:
        return len(self.columns[0].values)

    def __getitem__(self, name: str) -> FrameColumn:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    @property
    def figures(self) -> tuple[FrameColumn, ...]:
        """The columns for people but the first."""
        return tuple(column for column in self.columns[1:] if not column.detail)

    def sorted(self, *names: str) -> Frame:
        """The rows by the first of these columns that holds any value, the best first, what has none last."""
        known = [self[name] for name in names if any(value is not None for value in self[name].values)]
        if not known:
            return self
        by = known[0]
        sign = 1 if by.better == "less" else -1
        rows = sorted(range(len(self)), key=lambda row: _place(by.values[row], sign))
        moved = tuple(
            replace(column, values=[column.values[i] for i in rows], spread=column.spread and [column.spread[i] for i in rows])
            for column in self.columns
        )
        return replace(self, columns=moved, outside=frozenset(rows.index(i) for i in self.outside), sorted_by=by.name)

    def head(self, rows: int) -> Frame:
        """The first rows."""
        cut = [replace(c, values=c.values[:rows], spread=c.spread and c.spread[:rows]) for c in self.columns]
        return replace(self, columns=tuple(cut), outside=frozenset(i for i in self.outside if i < rows))

    def best(self, column: FrameColumn) -> frozenset[int]:
        """The rows that hold a column's best value, as people see it, among those that compete; none where all are equal."""
        known = {i: v for i, v in enumerate(column.values) if v is not None and i not in self.outside}
        if not column.better or len(set(known.values())) < 2:
            return frozenset()
        best = (max if column.better == "more" else min)(known, key=lambda i: known[i])
        seen = column.text(best)
        alike = frozenset(i for i in known if column.text(i) == seen)
        return alike if len(alike) < len(known) else frozenset()

    def flat(self) -> Iterator[tuple[str, Kind, list[Any]]]:
        """All columns for programs: name, kind, values; spreads are columns of their own."""
        for column in self.columns:
            yield column.name, column.kind, [plain(value) for value in column.values]
            if column.spread is not None:
                kind: Kind = "number" if column.kind == "count" else column.kind
                yield f"{column.name} sd", kind, [plain(value) for value in column.spread]

    # For programs -------------------------------------------------------------------------------------------------------------
    def csv(self) -> str:
        """Comma-separated values with a head; what is not known is empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = list(self.flat())
        writer.writerow([name for name, _, _ in columns])
        writer.writerows(zip(*(values for _, _, values in columns), strict=True))
        return text.getvalue()

    def records(self) -> list[dict[str, Any]]:
        columns = list(self.flat())
        return [{name: values[row] for name, _, values in columns} for row in range(len(self))]

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        columns = list(self.flat())
        arrays = [pa.array(values, pa.type_for_alias(_arrow(kind, values))) for _, kind, values in columns]
        return pa.table(arrays, names=[name for name, _, _ in columns])

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        # A column of which nothing is known is one of numbers too, not of objects.
        floats = {name: "float64" for name, kind, values in self.flat() if kind != "text" and None in values}
        return pd.DataFrame({name: pd.Series(values, dtype=floats.get(name)) for name, _, values in self.flat()})

    def to_polars(self) -> Any:
        """A polars.DataFrame."""
        types = {"string": pl.String, "float64": pl.Float64, "int64": pl.Int64}
        columns = list(self.flat())
        schema = {name: types[_arrow(kind, values)] for name, kind, values in columns}
        return pl.DataFrame({name: values for name, _, values in columns}, schema=schema)

    def markdown(self) -> str:
        """A table for pages of text; the best of each column is bold."""
        best = [self.best(column) for column in self.columns]
        rows = [
            [
                f"**{column.text(row)}**" if row in known else column.text(row)
                for column, known in zip(self.columns, best, strict=True)
            ]
            for row in range(len(self))
        ]
        return "\n\n".join([markdown_table([column.name for column in self.columns], rows), *self.notes])

    def html(self) -> str:
        """A table for notebooks; the best of each column is bold."""
        head = "".join(f"<th>{html.escape(column.name)}</th>" for column in (self.columns[0], *self.figures))
        best = [self.best(column) for column in self.figures]
        rows = []
        for row in range(len(self)):
            cells = [html.escape(column.text(row)) for column in self.figures]
            marked = [f"<b>{cell}</b>" if row in rows_ else cell for cell, rows_ in zip(cells, best, strict=True)]
            named = html.escape(self.columns[0].text(row))
            rows.append(f"<tr><th>{named}</th>{''.join(f'<td>{cell}</td>' for cell in marked)}</tr>")
        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """
    >>> print(markdown_table(["a|b", "c"], [["1", "2"]]))
    | a\\|b | c |
    | --- | --- |
    | 1 | 2 |
    """

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(header), line(["---"] * len(header)), *map(line, rows)])


class Tabular:
    """What a result offers beside its own figures: give it ``frame`` (and ``json``), and it has the rest."""

    def frame(self) -> Frame:
        raise NotImplementedError

    def json(self) -> Any:
        """Everything, for programs."""
        return self.frame().records()

    def to_arrow(self) -> Any:
        """A pyarrow.Table of the figures."""
        return self.frame().to_arrow()

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of the figures."""
        return self.frame().to_pandas()

    def to_polars(self) -> Any:
        """A polars.DataFrame of the figures."""
        return self.frame().to_polars()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return self.frame().html()

    def save_table(self, path: Where) -> None:
        """Write the figures by the ending of the path: .csv, .parquet, or .json, which holds all that ``json`` does."""
        write_table(self.frame(), path, self.json)


def write_table(frame: Frame, path: Where, whole: Callable[[], Any] | None = None) -> None:
    """Write a frame by the ending of the path; ``whole`` is what a .json file contains instead of its rows."""
    ending = check_table_target(path)
    with written_beside(path) as beside:
        if ending == ".csv":
            beside.write_text(frame.csv(), encoding="utf-8")
        elif ending == ".json":
            beside.write_text(json.dumps(frame.records() if whole is None else whole(), indent=2) + "\n", encoding="utf-8")
        else:
            pq.write_table(frame.to_arrow(), beside)


def is_table(path: Where) -> bool:
    """Whether the ending of a path names one of the ways to write a table."""
    return Path(path).suffix.lower() in ENDINGS


def check_table_target(path: Where, *further: str) -> str:
    """The ending that says how a table is written; InputError if it says nothing, or nothing can be written there."""
    ending = check_ending(path, *further, *ENDINGS)
    check_target(path)
    if ending == ".parquet":
        need("pyarrow")
    return ending


def check_ending(path: Where, *known: str) -> str:
    """The ending of a path, if it is one of these; else InputError: nothing is written into a file of another kind."""
    ending = Path(path).suffix.lower()
    if ending not in known:
        raise InputError(
            f"{os.fspath(path)}: must be a file name that ends in {', '.join(known[:-1])}{' or ' * (len(known) > 1)}{known[-1]}"
        )
    return ending


def plain(value: Any) -> Any:
    """A value of NumPy as one of Python."""
    return value.item() if hasattr(value, "item") else value


def _place(value: Any, sign: int) -> tuple[bool, float]:
    return (value is None, 0.0 if value is None else sign * float(value))


def _arrow(kind: Kind, values: list[Any]) -> str:
    """Means of counts are no longer whole."""
    return "float64" if kind == "count" and any(isinstance(value, float) for value in values) else ARROW[kind]
