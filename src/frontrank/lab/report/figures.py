"""Figures as plotly.js takes them: plain dictionaries of traces and a layout, without plotly objects.

Colours are those of Okabe and Ito (2008), without their yellow, which is lost on white, and two of Tol's: people with any
colour vision can distinguish them. After eight orderings the colours repeat with another dash. Reference lines are grey.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from frontrank.kernels.jit import Array

Figure = dict[str, Any]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#332288")
DASHES = ("solid", "dot", "dashdot", "dash")  # the last stands for a crawl where a simulation has the same colour
INK, FAINT, GRID = "#1b1f24", "#57606a", "#e4e7eb"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
UNIFIED = 8  # up to so many series one box tells all values at x; more would not fit
BAR, AROUND_BARS = 30, 56  # pixels


class Style(NamedTuple):
    """How a series looks, in every figure of a page."""

    colour: str
    dash: str = "solid"
    width: float = 2.2


REFERENCE = {"ideal": Style("#3d444d", "dash", 1.6), "random": Style("#8c959f", "dot", 1.8)}


class FigureLine(NamedTuple):
    """One line: its name, its points, its looks."""

    name: str
    x: Array | Sequence[float]
    y: Array | Sequence[float]
    style: Style
    markers: bool = False


def styles(names: Sequence[str]) -> dict[str, Style]:
    """A look for each name, no two alike among the first 32.

    >>> styles(["bfs", "fpr"])["fpr"]
    Style(colour='#D55E00', dash='solid', width=2.2)
    """
    return {name: Style(COLOURS[i % len(COLOURS)], DASHES[i // len(COLOURS) % len(DASHES)]) for i, name in enumerate(names)}


def lines(series: Sequence[FigureLine], x: str, y: str, percent: bool = True, unit_range: bool = True) -> Figure:
    """Lines over one x axis. ``percent``: both axes are shares; ``unit_range``: y goes from 0 to 1."""
    form = ".2~%" if percent else "~g"
    value = "%{y:.1%}" if percent else "%{y:.4~g}"
    unified = len(series) <= UNIFIED
    hover = value if unified else f"{value} at %{{x:{'.1%' if percent else '~g'}}}"
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers" if one.markers else "lines",
            "name": html.escape(one.name),  # plotly reads a few tags in texts
            "meta": one.name,
            "x": rounded(one.x),
            "y": rounded(one.y),
            "line": {"color": one.style.colour, "dash": one.style.dash, "width": one.style.width},
            "hovertemplate": hover if unified else f"<b>%{{fullData.name}}</b><br>{hover}<extra></extra>",
        }
        for one in series
    ]
    layout = _layout(y)
    layout["hovermode"] = "x unified" if unified else "closest"
    layout["xaxis"] = {**_axis(x, form), "rangemode": "tozero"}
    layout["yaxis"] = {**_axis("", form), "rangemode": "tozero"}
    if percent:
        layout["xaxis"]["hoverformat"] = ".1%"
        layout["xaxis"]["range"] = [0, 1.004 * max((max(one.x, default=0.0) for one in series), default=1.0) or 1.0]
    if unit_range:
        layout["yaxis"]["range"] = [0, 1.02]
    return {"data": traces, "layout": layout}


def bars(names: Sequence[str], values: Sequence[float], labels: Sequence[str], looks: Sequence[Style], x: str) -> Figure:
    """Horizontal bars, the first on top, each with its label."""
    layout = _layout("")
    layout["xaxis"] = {**_axis(x, "~g"), "rangemode": "tozero", "range": [0, max([*values, 1e-12]) * 1.3]}
    layout["yaxis"] = {**_axis("", ""), "autorange": "reversed", "showgrid": False, "type": "category"}
    layout["yaxis"]["tickvals"], layout["yaxis"]["ticktext"] = list(range(len(names))), [html.escape(n) for n in names]
    layout["height"] = AROUND_BARS + BAR * len(names)
    layout["margin"] = {"l": 8, "r": 8, "t": 4, "b": 44}
    trace = {
        "type": "bar",
        "orientation": "h",
        "x": rounded(values),
        "y": list(range(len(names))),
        "text": [html.escape(label) for label in labels],
        "textposition": "outside",
        "cliponaxis": False,
        "hoverinfo": "skip",
        "marker": {"color": [look.colour for look in looks]},
        "width": 0.62,
    }
    return {"data": [trace], "layout": layout}


def rounded(values: Array | Sequence[float]) -> list[float | None]:
    """Five digits are more than a screen shows; what is not finite leaves a gap."""
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in np.asarray(values, np.float64).tolist()]


def _axis(title: str, form: str) -> dict[str, Any]:
    return {
        "title": {"text": title, "standoff": 8, "font": {"size": 13, "color": FAINT}},
        "tickformat": form,
        "gridcolor": GRID,
        "zeroline": False,
        "linecolor": "#afb8c1",
        "automargin": True,
    }


def _layout(y: str) -> dict[str, Any]:
    """The y axis is named above it, not along it: on a phone there is no room beside."""
    above = {
        "text": html.escape(y),
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 6,
        "showarrow": False,
        "font": {"size": 13, "color": FAINT},
    }
    return {
        "font": {"family": FONT, "size": 13, "color": INK},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 44, "r": 12, "t": 30, "b": 48},
        "height": 420,
        "showlegend": False,
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#8c959f", "activecolor": INK},
        "hoverlabel": {"bgcolor": "#ffffff", "bordercolor": GRID, "font": {"size": 12, "color": INK}},
        "annotations": [above] if y else [],
    }
