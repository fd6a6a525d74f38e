"""The report of a comparison: which ordering found the important pages first, by how much, and at what cost."""

from __future__ import annotations

import inspect
import os
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.lab.measures import EXHAUSTED, REGISTRY, SHARES, Measure, hot, links_fetched, random_hot_curve
from frontrank.lab.numbers import percent, seconds
from frontrank.lab.report.figures import REFERENCE, Figure, FigureLine, Style, bars, lines, styles
from frontrank.lab.report.html import Cell, HtmlTable, Section, Value, page, save
from frontrank.simulation.simulate import Run
from frontrank.web.seeds import find_seeds

if TYPE_CHECKING:
    from frontrank.lab.compare import Runs

SHARE = 0.1  # of the web: where the verdict is given, if the crawls went so far
LISTED = 2000  # seeds that a snippet spells out
FETCHED = "share of the web fetched"
CRAWLED = "dashed"
FEW = 3  # lines that are all in colour
STORY = 0.3  # of the web: where figures end at first
IDEAL, RANDOM = "ideal", "drawn at random"
METRICS = {"pagerank": "PageRank", "backlink": "number of backlinks", "forward": "number of links"}


def write(runs: Runs, path: str | os.PathLike[str]) -> None:
    """Write the report of these runs as one self-contained HTML page."""
    compared = Comparison(best_first(runs))
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


def best_first(runs: Runs) -> Runs:
    """Real crawls before simulated ones, each the best first: the order of tables, legends and figures."""
    share = verdict_share(runs)
    found = [hot(run.trace, runs.web, [share], runs.metric)[share] or 0.0 for run in runs.runs]
    order = sorted(range(len(found)), key=lambda at: (not runs.runs[at].crawled, -found[at]))
    return replace(runs, runs=tuple(runs.runs[at] for at in order))


def verdict_share(runs: Runs) -> float:
    """Where runs are compared: after 10% of the web, or as much of it as every crawl fetched."""
    return max(min(SHARE, *reaches(runs)), 1 / runs.web.pages)


def reaches(runs: Runs) -> list[float]:
    """How far each crawl can be followed, as a share of the web."""
    return [1.0 if run.trace.ended == EXHAUSTED else run.trace.fetched / runs.web.pages for run in runs.runs]


def hot_figure(runs: Runs) -> Figure:
    """The curves that a comparison is about, to 30% of the web."""
    compared = Comparison(best_first(runs))
    section = compared.curves(REGISTRY["hot"])
    assert section is not None and section.figure is not None
    return section.figure


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
        return reaches(self.runs)

    @cached_property
    def loud(self) -> set[str]:
        """The orderings that figures are about: the best one, and breadth-first, which all know."""
        fair = [name for name, run in zip(self.names, self.crawls, strict=True) if "truth" not in run.policy.needs()]
        return {_base(name) for name in fair[:1]} | {"bfs"} if len(self.names) > FEW else {_base(name) for name in self.names}

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
        for_real, by_rule = self._standings(crawled), self._standings(simulated)
        if [name for name, _ in for_real] != [name for name, _ in by_rule] or len(by_rule) == 1:
            return f"Crawled over HTTP: {self._verdict(crawled)} Simulated: {self._verdict(simulated)}"
        shares = [percent(share) for _, share in by_rule]
        same = shares == [percent(share) for _, share in for_real]
        return f"Crawled over HTTP: {self._verdict(crawled)} Simulated: {'the same' if same else ' and '.join(shares)}."

    def _standings(self, rows: list[int]) -> list[tuple[str, float]]:
        """The best ordering of these, and the one that it is set beside: breadth-first, or the next."""
        share = self._share(rows)
        found = [
            (hot(self.crawls[i].trace, self.runs.web, [share], self.runs.metric)[share] or 0.0, -i, _base(self.names[i]))
            for i in rows
            if "truth" not in self.crawls[i].policy.needs() or len(rows) == 1  # to know the answer is no merit
        ]
        best, *others = sorted(found, reverse=True) or [(1.0, 0, self.names[rows[0]])]
        other = next((one for one in others if one[2] == "bfs"), others[0] if others else None)
        return [(one[2], one[0]) for one in (best, other) if one is not None]

    def _share(self, rows: list[int]) -> float:
        return max(min(SHARE, *(self.reach[i] for i in rows)), 1 / self.runs.web.pages)

    def _verdict(self, rows: list[int]) -> str:
        web, share = self.runs.web, self._share(rows)
        (best, value), *other = self._standings(rows)
        many = f"the {max(1, round(share * web.pages)):,} most important pages"
        leader = f"{best} found {percent(value)} of {many} after {percent(share)} of the web"
        if other:
            return f"{leader}; {other[0][0]} {percent(other[0][1])}."
        chance = random_hot_curve(web, self.runs.metric, points=2, until=share).y[-1]
        return f"{leader}; drawing pages at random would find {percent(float(chance))}."

    def setting(self) -> str:
        many = len(self.names) > 1
        return (
            f"Below, the most important pages are called hot: after k fetches, the k best of the web by {self.importance}. "
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
        series = [self._line(name, *curve) for name, curve in zip(self.names, drawn, strict=True)]
        ideal = FigureLine(IDEAL, *figure.ideal(judged, until), REFERENCE["ideal"])
        chance = FigureLine(RANDOM, *figure.chance(judged, until), REFERENCE["random"])
        text = figure.text(judged, self.importance)
        return Section(figure.title, text, lines([*series, ideal, chance], FETCHED, figure.y, until=min(STORY, until)))

    def _line(self, name: str, x: Array | Sequence[float], y: Array | Sequence[float]) -> FigureLine:
        return FigureLine(name, x, y, self.looks[name], _base(name) not in self.loud)

    def coverage(self) -> Section | None:
        """Of orderings that know how much they have covered."""
        pages = self.runs.web.pages
        series = [
            self._line(name, [k / pages for k, _ in gauge], [value for _, value in gauge])
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
        web = self.runs.web
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
        rows = list(zip(*columns, strict=True))
        table = HtmlTable(header, rows, [*groups, ("the crawl", 4)])
        text = (
            f"After these shares of the web; real crawls first, then the best at {percent(verdict_share(self.runs))}. "
            "A dash: the crawl ended before. The "
            "best of each column is bold, not counting orderings that know the true importance. Click a column to sort. "
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
