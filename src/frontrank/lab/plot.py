"""Curves of runs as a picture: what ``Runs.plot`` and ``frontrank plot`` draw, as reports do."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from frontrank.errors import InputError, need
from frontrank.lab.frame import check_ending
from frontrank.lab.measures import Curve
from frontrank.lab.report.comparison import FETCHED, SHARE, STORY
from frontrank.lab.report.figures import FigureLine, draw, lines, styles
from frontrank.lab.saved_runs import is_saved
from frontrank.system.files import check_target, written_beside
from frontrank.system.lazy import pq

PICTURES = (".svg", ".png", ".pdf")
HOT = "hot pages among those fetched"
CRAWLED = " (crawled)"
NO_CURVES = "no curves; give a directory, .parquet or .csv file that frontrank simulate --out wrote"


def plot(curves: Mapping[str, Curve], path: str | os.PathLike[str] | None = None) -> Any:
    """The curves, to 30% of the web, as a figure of matplotlib; saved if there is a path."""
    if path is not None:
        check_picture_target(path)
    looks = styles([name.removesuffix(CRAWLED) for name in curves])
    series = [
        FigureLine(name, *curve, looks[plain]._replace(dash="dashed") if name != plain else looks[plain])
        for name, curve in curves.items()
        for plain in [name.removesuffix(CRAWLED)]
    ]
    drawing = draw(lines(series, FETCHED, HOT, until=STORY))
    if path is not None:
        with written_beside(path) as beside:
            drawing.savefig(beside, format=Path(path).suffix[1:].lower(), dpi=150)
    return drawing


def check_picture_target(path: str | os.PathLike[str]) -> None:
    """Raise an InputError if no picture can be written there."""
    need("matplotlib")
    check_ending(path, *PICTURES)
    check_target(path)


def read_curves(path: str | os.PathLike[str]) -> dict[str, Curve]:
    """The curves of runs that were saved, real crawls first, then the best.

    ``path`` is a directory, its curves.parquet, or a table with columns such as hot@10%.
    """
    name = os.fspath(path)
    if is_saved(name):
        name = os.path.join(name, "curves.parquet")
    if not os.path.isfile(name):
        raise InputError(f"{name}: {NO_CURVES}")
    columns = _columns(name)
    curves = _curves(columns) if "measure" in columns else _points(columns)
    if not curves:
        raise InputError(f"{name}: {NO_CURVES}")

    def place(one: tuple[str, Curve]) -> tuple[bool, float]:
        return not one[0].endswith(CRAWLED), -float(np.interp(SHARE, *one[1]))

    return dict(sorted(curves.items(), key=place))


def _columns(name: str) -> dict[str, list[Any]]:
    ending = check_ending(name, ".parquet", ".csv")
    try:
        if ending == ".parquet":
            columns: dict[str, list[Any]] = pq.read_table(name).to_pydict()
            return columns
        with open(name, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{name}: cannot be read ({str(error).splitlines()[0]})") from None
    return {key: [row[key] for row in rows] for key in rows[0]} if rows else {}


def _curves(columns: dict[str, list[Any]]) -> dict[str, Curve]:
    found: dict[str, tuple[list[float], list[float]]] = {}
    for name, measure, share, value in zip(
        *(columns.get(key, []) for key in ("policy", "measure", "share", "value")), strict=True
    ):
        if measure == "hot":
            x, y = found.setdefault(str(name), ([], []))
            x.append(float(share))
            y.append(float(value))
    return {name: Curve(np.array(x), np.array(y)) for name, (x, y) in found.items()}


def _points(columns: dict[str, list[Any]]) -> dict[str, Curve]:
    """Of a table: the shares after which it has a value."""
    shares = {key: float(key[4:-1]) / 100 for key in columns if key.startswith("hot@") and key.endswith("%")}
    found = {}
    for row, name in enumerate(columns.get("ordering", [])):
        known = [(share, float(columns[key][row])) for key, share in shares.items() if columns[key][row] not in (None, "")]
        if known:
            found[str(name)] = Curve(*np.array(sorted(known)).T)
    return found
