"""A reproduction as one page of HTML: all claims first, then each experiment with its figure, table and claims."""

from __future__ import annotations

import os
from collections.abc import Sequence

from frontrank.lab.report import REFERENCE, Cell, FigureLine, HtmlTable, Section, lines, page, save, styles
from frontrank.lab.report.figures import Figure
from frontrank.lab.report.html import Value
from frontrank.papers.claims import AGREES, DISAGREES, Claim
from frontrank.papers.reproduction import IDEAL, RANDOM, Plot, Reproduction, shown

COLOURS = {AGREES: "#009E73", DISAGREES: "#D55E00"}
OPEN = "#8c959f"


def written(reproduction: Reproduction, path: str | os.PathLike[str]) -> None:
    """Write the page of a reproduction."""
    sections = [Section("Claims and verdicts", "", table=_verdicts(reproduction))]
    for one in reproduction.experiments:
        text = f"Not run: {one.skipped}." if one.skipped else one.how
        table = HtmlTable(one.table.header, [[_cell(v) for v in row] for row in one.table.rows]) if one.table else None
        figure = _figure(one.plot) if one.plot else None
        sections.append(Section(one.heading, text, figure, table, code="\n".join(one.orderings)))
        if one.claims:
            sections.append(Section(f"{one.heading}: claims", "", table=_claims(one.claims)))
    facts = [(name, value if isinstance(value, str) else f"{value:,}") for name, value in reproduction.web.items()]
    lead = f"{reproduction.summary()}\n\n{reproduction.paper}\n\n{reproduction.setting.replace('`', '')}"
    save(page(reproduction.title, lead, sections, facts, reproduction.command), path)


def _figure(plot: Plot) -> Figure:
    looks = {
        **styles([name for name in plot.lines if name not in (IDEAL, RANDOM)]),
        IDEAL: REFERENCE["ideal"],
        RANDOM: REFERENCE["random"],
    }
    series = [FigureLine(name, *curve, looks[name]) for name, curve in plot.lines.items()]
    return lines(series, plot.x, plot.y, percent=plot.shares, unit_range=plot.shares)


def _cell(value: str | int | float | None) -> Cell | None:
    if value is None:
        return None
    try:
        return Cell(shown(value), float(value.partition("±")[0] if isinstance(value, str) else value))
    except ValueError:
        return Cell(str(value), str(value))


def _verdicts(reproduction: Reproduction) -> HtmlTable:
    rows: list[list[Value]] = [
        [_verdict(claim), claim.says, one.heading] for one in reproduction.experiments for claim in one.claims
    ]
    return HtmlTable(["verdict", "the paper", "experiment"], rows)


def _claims(claims: Sequence[Claim]) -> HtmlTable:
    rows: list[list[Value]] = [[_verdict(claim), claim.says, claim.rule or None, claim.measured or None] for claim in claims]
    return HtmlTable(["verdict", "the paper", "holds here if", "measured"], rows)


def _verdict(claim: Claim) -> Cell:
    return Cell(claim.verdict, claim.verdict, claim.reason, strong=True, colour=COLOURS.get(claim.verdict, OPEN))
