"""Figures: lines and bars as data, and as SVG by matplotlib, which is how reports, ``runs.plot`` and ``frontrank plot`` draw.

An ordering has the same colour everywhere, by its name. Colours are those of Okabe and Ito (2008), without their yellow, which
is lost on white, and four of Tol's: people with any colour vision can distinguish them. More orderings than there are colours
differ by dashes. Lines that are ``quiet`` are grey until a reader asks for them.
"""

from __future__ import annotations

import html
import io
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frontrank.errors import need
from frontrank.kernels.jit import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B07D00", "#56B4E9", "#882255", "#5A50B8", "#117733", "#7A7A1F")
DASHES = ("solid", "dotted", "dashdot", "dashed")  # the last stands for a crawl where a simulation has the same colour
FIRST = (  # orderings whose looks are fixed: ten colours, then the same ten dotted
    *("surf", "bfs", "fpr", "opic", "pagerank", "rankmass", "backlink", "fica", "random", "dfs"),
    *("largest-site", "indegree", "rw", "rw-eg", "quality", "similarity", "prior", "group", "fusion", "oracle"),
)
INK, FAINT, GRID, QUIET = "#1b1f24", "#57606a", "#e4e7eb", "#b6bcc4"
THEMED = {INK: "currentColor", FAINT: "var(--faint)", GRID: "var(--line)", QUIET: "var(--quiet)"}  # in a page of HTML
MANY_PERCENT = 0.05  # of the web: below, ticks have decimals
BAR, AROUND_BARS = 0.36, 0.75  # inches


class Style(NamedTuple):
    """How a series looks, in every figure of a page."""

    colour: str
    dash: str = "solid"
    width: float = 2.0


REFERENCE = {"ideal": Style("#7d8590", "dashed", 1.3), "random": Style("#7d8590", "dotted", 1.5)}


class FigureLine(NamedTuple):
    """One line: its name, its points, its looks."""

    name: str
    x: Array | Sequence[float]
    y: Array | Sequence[float]
    style: Style
    quiet: bool = False  # grey beside those that the figure is about


@dataclass(frozen=True)
class Figure:
    """Lines over one x axis, or bars if there are ``labels``: one for each line, of its last value."""

    series: tuple[FigureLine, ...]
    x: str
    y: str = ""
    percent: bool = True  # both axes are shares
    unit_range: bool = True  # y goes from 0 to 1
    until: float | None = None  # where the x axis ends
    labels: tuple[str, ...] = field(default=())


def styles(names: Sequence[str]) -> dict[str, Style]:
    """A look for each name: that of its ordering, unless another name has it by now; then one that follows from the name.

    >>> styles(["bfs", "surf"])["surf"] == styles(["surf"])["surf"]
    True
    """
    looks = [Style(colour, dash) for dash, colour in product(DASHES[:-1], COLOURS)]
    free = dict.fromkeys(looks)
    found: dict[str, Style] = {}
    for name in sorted(dict.fromkeys(names), key=lambda name: name not in FIRST):
        plain = name.partition(":")[0]
        first = FIRST.index(plain) if plain in FIRST else zlib.crc32(name.encode()) % len(looks)
        probed = (looks[(first + step) % len(looks)] for step in range(len(looks)))
        found[name] = next((look for look in probed if look in free), looks[first])
        free.pop(found[name], None)
    return {name: found[name] for name in names}


def lines(
    series: Sequence[FigureLine],
    x: str,
    y: str,
    percent: bool = True,
    unit_range: bool = True,
    until: float | None = None,
) -> Figure:
    """Lines over one x axis. ``percent``: both axes are shares; ``unit_range``: y goes from 0 to 1."""
    return Figure(tuple(series), x, y, percent, unit_range, until)


def bars(names: Sequence[str], values: Sequence[float], labels: Sequence[str], looks: Sequence[Style], x: str) -> Figure:
    """Horizontal bars, the first on top, each with its label."""
    series = [FigureLine(name, (0.0,), (value,), look) for name, value, look in zip(names, values, looks, strict=True)]
    return Figure(tuple(series), x, labels=tuple(labels), percent=False)


# Drawn -----------------------------------------------------------------------------------------------------------------------
def draw(figure: Figure, width: float = 9.0, height: float = 4.2, legend: bool = True) -> Drawing:
    """A figure of matplotlib, of so many inches. It can be saved by any ending that matplotlib knows."""
    need("matplotlib")
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Drawing

    size = (width, AROUND_BARS + BAR * len(figure.labels) if figure.labels else height)
    with rc_context({"text.parse_math": False}):  # a name with two dollar signs is no formula
        drawing = Drawing(figsize=size, layout="constrained")
        axes = drawing.subplots()
        axes.patch.set_alpha(0.0)
        (_bars if figure.labels else _lines)(axes, figure)
        for side in ("top", "right", "left", "bottom"):
            axes.spines[side].set_visible(side == "bottom")
        axes.spines["bottom"].set_color(FAINT)
        axes.tick_params(colors=FAINT, labelsize=9, length=0)
        axes.set_xlabel(figure.x, color=FAINT, fontsize=9.5)
        axes.set_axisbelow(True)
        if legend and not figure.labels:
            drawing.legend(*_handles(axes), loc="outside right upper", frameon=False, fontsize=9)
    return drawing


def _lines(axes: Any, figure: Figure) -> None:
    need("matplotlib")
    from matplotlib.ticker import PercentFormatter

    for at, one in sorted(enumerate(figure.series), key=lambda one: not one[1].quiet):
        style = Style(QUIET, one.style.dash, 1.0) if one.quiet else one.style
        x, y = np.asarray(one.x, np.float64), np.asarray(one.y, np.float64)
        axes.plot(x, y, color=style.colour, linestyle=style.dash, linewidth=style.width, gid=f"series-{at}", label=one.name)
    last = max((float(np.max(one.x)) for one in figure.series if len(one.x)), default=1.0) or 1.0
    end = last if figure.until is None else min(figure.until, last)
    axes.set_xlim(0, end)
    axes.set_ylim(0, 1.02 if figure.unit_range else None)
    if figure.percent:
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, 0 if end > MANY_PERCENT else None))
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, 0 if figure.unit_range else None))
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_title(figure.y, loc="left", color=FAINT, fontsize=9.5)


def _handles(axes: Any) -> tuple[list[Any], list[str]]:
    """Lines and their names as the figure has them, which were drawn in another order."""
    handles = sorted(axes.get_lines(), key=lambda line: int(line.get_gid().rpartition("-")[2]))
    return handles, [line.get_label() for line in handles]


def _bars(axes: Any, figure: Figure) -> None:
    values = [float(one.y[-1]) for one in figure.series]
    for at, one in enumerate(figure.series):
        axes.barh(at, values[at], 0.62, color=QUIET if one.quiet else one.style.colour)
        axes.text(values[at], at, f"  {figure.labels[at]}", va="center", color=INK, fontsize=9)
    axes.set_yticks(list(range(len(values))), [one.name for one in figure.series])
    axes.invert_yaxis()
    axes.set_xlim(0, max([*values, 1e-12]) * 1.3)


# In a page of HTML -----------------------------------------------------------------------------------------------------------
def svg(figure: Figure, name: str, width: float, height: float) -> str:
    """An SVG whose text is text, in the page's colours. Each line is a group with its name, so that a page can quieten it."""
    need("matplotlib")
    from matplotlib import rc_context

    loud = replace(shortened(figure), series=tuple(one._replace(quiet=False) for one in shortened(figure).series))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        written = io.StringIO()
        drawing = draw(loud, width, height, legend=False)
        drawing.savefig(written, format="svg", transparent=True, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = written.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<(metadata|style)\b.*?</\1>|font-family: [^;]*;", "", text, flags=re.DOTALL)
    text = re.sub(r' (?:width|height)="[\d.]+pt"', "", text, count=2)
    for colour, themed in THEMED.items():
        text = text.replace(colour, themed)
    for at, one in enumerate(figure.series):
        quiet = " quiet" if one.quiet else ""
        label = html.escape(one.name)
        opened = f'<g class="series{quiet}" data-name="{label}"><title>{label}</title>'
        text = text.replace(f'<g id="series-{at}">', opened)
    return re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", text)


def shortened(figure: Figure) -> Figure:
    """Without the points far beyond the end of the axis."""
    if figure.until is None:
        return figure
    kept = []
    for one in figure.series:
        end = int(np.searchsorted(np.asarray(one.x, np.float64), figure.until, side="right")) + 1
        kept.append(one._replace(x=one.x[:end], y=one.y[:end]))
    return replace(figure, series=tuple(kept))
