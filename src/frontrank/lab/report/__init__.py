"""Reports: one self-contained HTML page.

``write`` makes the page of a comparison. ``page`` and its parts make any other: a title, a lead, and sections of text,
figure and table.
"""

from __future__ import annotations

from frontrank.lab.report.comparison import write
from frontrank.lab.report.figures import REFERENCE, FigureLine, Style, bars, lines, styles
from frontrank.lab.report.html import Cell, HtmlTable, Section, page, save

__all__ = [
    "REFERENCE",
    "Cell",
    "FigureLine",
    "HtmlTable",
    "Section",
    "Style",
    "bars",
    "lines",
    "page",
    "save",
    "styles",
    "write",
]
