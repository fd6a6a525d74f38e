"""The report of a comparison: which ordering found the important pages first, by how much, and at what cost."""

from __future__ import annotations

import inspect
import os
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from frontrank.lab.measures import EXHAUSTED, REGISTRY, SHARES, Measure, hot, links_fetched, random_hot_curve
from frontrank.lab.numbers import percent, seconds
from frontrank.lab.report.figures import REFERENCE, FigureLine, Style, bars, lines, styles
from frontrank.lab.report.html import Cell, HtmlTable, Section, Value, page, save
from frontrank.simulation.simulate import Run
from frontrank.web.seeds import find_seeds

if TYPE_CHECKING:
    from frontrank.lab.compare import Runs

SHARE = 0.1  # of the web: where the verdict is given, if the crawls went so far
LISTED = 2000  # seeds that a snippet spells out
FETCHED = "share of the web fetched"
CRAWLED = "dash"
IDEAL, RANDOM = "ideal", "drawn at random"
METRICS = {"pagerank": "PageRank", "backlink": "number of backlinks", "forward": "number of links"}


def write(runs: Runs, path: str | os.PathLike[str]) -> None:
    """Write the report of these runs as one self-contained HTML page."""
    compared = Comparison(runs)
    first, *others = (compared.curves(measure) for measure in REGISTRY.values())
    sections = [first, compared.table(), *others, compared.coverage(), compared.time()]
    text = page(
        f"{compared.subject()} on {runs.web.name}",
        f"{compared.verdict()}\n\n{compared.setting()}",
        [section for section in sections if section is not None],
        compared.facts(),
        runs.command or snippet(runs, os.path.basename(path)),
    )
    save(text, path)


@dataclass(frozen=True)
class Comparison:
    """What the report says of some runs, piece by piece."""

    runs: Runs

    @property
    def crawls(self) -> tuple[Run, ...]:
        return self.runs.runs

    @cached_property
    def names(self) -> list[str]:
        """The specifications; equal ones are numbered, so that each run has a name of its own."""
        specs = [run.spec for run in self.crawls]
        before = [specs[:i].count(spec) for i, spec in enumerate(specs)]
        return [f"{spec} ({n + 1})" if n else spec for spec, n in zip(specs, before, strict=True)]

    @cached_property
    def looks(self) -> dict[str, Style]:
        """A colour for each ordering: solid where it was simulated, dashed where it crawled."""
        bases = dict.fromkeys(_base(name) for name in self.names)
        plain = styles(list(bases))
        looks = {}
        for name, run in zip(self.names, self.crawls, strict=True):
            look = plain[_base(name)]
            looks[name] = look._replace(dash=CRAWLED) if run.crawled else look
        return looks

    @cached_property
    def reach(self) -> list[float]:
        """How far each crawl can be followed, as a share of the web."""
        pages = self.runs.web.pages
        return [1.0 if run.trace.ended == EXHAUSTED else run.trace.fetched / pages for run in self.crawls]

    @property
    def importance(self) -> str:
        return METRICS.get(self.runs.metric, self.runs.metric)

    # Words ------------------------------------------------------------------------------------------------------------
    def subject(self) -> str:
        names = {_base(name) for name in self.names}
        return f"{len(names)} orderings" if len(names) > 1 else self.names[0]

    def verdict(self) -> str:
        """The best ordering and by how much, after 10% of the web or as much of it as every crawl fetched."""
        simulated = [i for i, run in enumerate(self.crawls) if not run.crawled]
        crawled = [i for i, run in enumerate(self.crawls) if run.crawled]
        if not simulated or not crawled:
            return self._verdict(simulated or crawled)
        # What crawled had requests in flight and pages that failed: it is set beside its like only.
        by_rule, for_real = self._verdict(simulated), self._verdict(crawled)
        return f"{by_rule} Crawled over HTTP: {'the same.' if for_real == by_rule else for_real}"

    def _verdict(self, rows: list[int]) -> str:
        web, metric = self.runs.web, self.runs.metric
        share = max(min(SHARE, *(self.reach[i] for i in rows)), 1 / web.pages)
        found = [
            (hot(self.crawls[i].trace, web, [share], metric)[share] or 0.0, -i, _base(self.names[i]))
            for i in rows
            if "truth" not in self.crawls[i].policy.needs() or len(rows) == 1  # to know the answer is no merit
        ]
        best, *others = sorted(found, reverse=True) or [(1.0, 0, self.names[rows[0]])]
        leader = f"{best[2]} found {percent(best[0])} of the hot pages after {percent(share)} of the web"
        if others:
            other = next((one for one in others if one[2] == "bfs"), others[0])
            return f"{leader}; {other[2]} {percent(other[0])}."
        chance = random_hot_curve(web, metric, points=2, until=share).y[-1]
        return f"{leader}; drawing pages at random would find {percent(float(chance))}."

    def setting(self) -> str:
        many = len(self.names) > 1
        return (
            f"After k fetches the hot pages are the k most important of the whole web, by {self.importance}. "
            f"{'Every ordering' if many else 'The ordering'} started from the same seeds and knew only the links on pages "
            f"it had fetched."
        )

    def facts(self) -> list[tuple[str, str]]:
        web = self.runs.web
        limits = [run.trace.fetched for run in self.crawls if run.trace.ended == "budget"]
        budget = "not reached" if not limits else f"{max(limits):,} pages" if max(limits) < web.pages else "the whole web"
        known = [("pages", f"{web.pages:,}"), ("links", f"{web.links:,}")]
        if web.hosts is not None:
            known.append(("hosts", f"{len(np.unique(web.hosts)):,}"))
        seeds = max(len(run.trace.seeds) for run in self.crawls)
        return [*known, ("seeds", f"{seeds:,}"), ("budget", budget), ("importance", self.importance)]

    # Figures ----------------------------------------------------------------------------------------------------------
    def curves(self, measure: Measure) -> Section | None:
        """A measure all along the crawls, between what is possible and what chance gives; None if it has no figure here."""
        judged, until, figure = self.runs.judged, max(self.reach), measure.figure
        if figure is None or not measure.applies(judged):
            return None
        drawn = [figure.curve(run, judged) for run in self.crawls]
        if not any(len(curve.x) for curve in drawn):
            return None  # importances below zero cannot be added up
        series = [FigureLine(name, *curve, self.looks[name]) for name, curve in zip(self.names, drawn, strict=True)]
        ideal = FigureLine(IDEAL, *figure.ideal(judged, until), REFERENCE["ideal"])
        chance = FigureLine(RANDOM, *figure.chance(judged, until), REFERENCE["random"])
        text = figure.text(judged, self.importance)
        return Section(figure.title, text, lines([ideal, *series, chance], FETCHED, figure.y))

    def coverage(self) -> Section | None:
        """Of orderings that know how much they have covered."""
        pages = self.runs.web.pages
        series = [
            FigureLine(name, [k / pages for k, _ in gauge], [value for _, value in gauge], self.looks[name])
            for name, run in zip(self.names, self.crawls, strict=True)
            if (gauge := run.trace.gauges.get("coverage"))
        ]
        if not series:
            return None
        text = (
            "What the ordering itself knew while it ran: at least this share of the personalised PageRank (random "
            "jumps go to the seeds) that can be fetched at all is in the pages fetched. A crawl can stop on it."
        )
        return Section("Coverage that is certain", text, lines(series, FETCHED, "covered, at least"))

    # Numbers ----------------------------------------------------------------------------------------------------------
    def table(self) -> Section:
        web, metric = self.runs.web, self.runs.metric
        header, groups, columns = ["ordering"], [("", 1)], [self._name_cells()]
        for measure in (one for one in REGISTRY.values() if one.shown and one.applies(self.runs.judged)):
            values = [measure.values(run, self.runs.judged) for run in self.crawls]
            shares = [share for share in SHARES if any(one.get(share) is not None for one in values)]
            header += [percent(share) for share in shares]
            columns += [self._share_cells([one.get(share) for one in values]) for share in shares]
            groups += [(measure.heading, len(shares))] if shares else []
        header += ["fetched", "ended by", "time", "links/s"]
        columns.append([run.trace.fetched for run in self.crawls])
        columns.append([ended(run, web.pages) for run in self.crawls])
        columns.append([None if run.crawled else Cell(seconds(run.seconds), run.seconds) for run in self.crawls])
        columns.append([self._speed_cell(run) for run in self.crawls])
        share = max(min(SHARE, *self.reach), 1 / web.pages)
        found = [hot(run.trace, web, [share], metric)[share] or 0.0 for run in self.crawls]
        rows = list(zip(*columns, strict=True))
        best_first = sorted(range(len(rows)), key=lambda i: -found[i])
        table = HtmlTable(header, [rows[i] for i in best_first], [*groups, ("the crawl", 4)])
        text = (
            f"After these shares of the web, the best at {percent(share)} first. A dash: the crawl ended before. The "
            "best of each column is bold, not counting orderings that were told the true importance. Click a column to sort. "
            "Time and links per second are those of deciding."
        )
        return Section("All numbers", text, table=table)

    def time(self) -> Section | None:
        simulated = [(name, run) for name, run in zip(self.names, self.crawls, strict=True) if not run.crawled]
        if not simulated:
            return None
        by_time = sorted(simulated, key=lambda one: one[1].seconds)
        names = [name for name, _ in by_time]
        times = [run.seconds for _, run in by_time]
        figure = bars(names, times, [seconds(t) for t in times], [self.looks[name] for name in names], "seconds")
        return Section("Time spent deciding", "The whole simulated crawl, without compiling or loading.", figure)

    def _name_cells(self) -> list[Value]:
        return [
            Cell(name, name, about(run), colour=self.looks[name].colour)
            for name, run in zip(self.names, self.crawls, strict=True)
        ]

    def _share_cells(self, values: list[float | None]) -> list[Value]:
        fair = [
            value
            for value, run in zip(values, self.crawls, strict=True)
            if value is not None and "truth" not in run.policy.needs()
        ]
        best = max(fair) if len(fair) > 1 else None
        return [
            None
            if value is None
            else Cell(percent(value), value, fill=value, strong=value == best and "truth" not in run.policy.needs())
            for value, run in zip(values, self.crawls, strict=True)
        ]

    def _speed_cell(self, run: Run) -> Cell | None:
        links = links_fetched(run.trace, self.runs.web)
        if run.seconds <= 0.0 or run.crawled:  # of HTTP
            return None
        speed = links / run.seconds
        return Cell(f"{speed / 1e6:.3g} M" if speed >= 1e6 else f"{speed:,.0f}", speed)


def _base(name: str) -> str:
    """An ordering without the way in which it was run.

    >>> _base("bfs (crawled)"), _base("bfs (2)")
    ('bfs', 'bfs (2)')
    """
    return name.replace(" (crawled)", "")


def about(run: Run) -> str:
    """The first line of what the ordering's class says of itself."""
    ordering = getattr(run.policy, "ranker", run.policy)
    text = inspect.getdoc(type(ordering)) or ""
    return "" if text.startswith(f"{type(ordering).__name__}(") else text.partition("\n")[0]


def ended(run: Run, pages: int) -> str:
    """How the crawl came to its end, for people."""
    return "whole web" if run.trace.fetched == pages else run.trace.ended


def snippet(runs: Runs, name: str) -> str:
    """Python that makes these runs again; seeds are spelled out unless they are the web's usual ones."""
    web = runs.web
    given = ["web", _listed([run.spec for run in runs.runs])]
    note = ""
    seeds = max((run.trace.seeds for run in runs.runs), key=len)
    if not np.array_equal(seeds, find_seeds(web)):
        note = f"# Only the first {LISTED:,} of {len(seeds):,} seeds are listed.\n" if len(seeds) > LISTED else ""
        given.append(f"seeds={_listed(web.ids_of(seeds[:LISTED]).tolist())}")
    limits = [run.trace.fetched for run in runs.runs if run.trace.ended == "budget"]
    if limits and max(limits) < web.pages:
        given.append(f"budget={max(limits)}")
    if runs.metric != "pagerank":
        given.append(f"metric={runs.metric!r}")
    arguments = "".join(f"    {one},\n" for one in given)
    return (
        f"import frontrank as fr\n\nweb = fr.load({(runs.source or web.name)!r})\n"
        f"{note}runs = fr.compare(\n{arguments})\nruns.report({name!r})"
    )


def _listed(values: Sequence[object]) -> str:
    """A list as it stands in a program, broken between its items only."""
    whole = repr(list(values))
    if len(whole) <= 90:
        return whole
    items = ", ".join(repr(value).replace(" ", "\0") for value in values) + ","
    indent = " " * 8
    rows = textwrap.fill(
        items, 100, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )
    return "[\n" + rows.replace("\0", " ") + "\n    ]"
