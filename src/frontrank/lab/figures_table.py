"""The figures of a comparison as JSON and as a table: the same for one draw of seeds and for several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from frontrank.lab.experiment import Key, Measured, Values
from frontrank.lab.frame import Frame, FrameColumn
from frontrank.lab.measures import REGISTRY, Judged, Measure, measured
from frontrank.lab.measures.gap_to_oracle import BASELINE
from frontrank.web.web import Web

SHOWN = (0.05, 0.1, 0.2, 0.3, 0.5)  # shares of the web that people are shown
FETCHED, SECONDS, CLOCK = Key("fetched"), Key("seconds"), Key("clock_s")
MEANING = (
    "hot@10%: share of the 10% most important pages among the first 10% fetched; mass@10%: share of the best possible "
    "importance fetched by then"
)


@dataclass(frozen=True)
class About:
    """What is known of an ordering beside its figures."""

    ended: str
    crawled: bool = False  # over HTTP: its seconds say nothing about deciding
    competes: bool = True  # it does not know the importance of pages


def figures_of(judged: Judged) -> Iterator[Measured]:
    """What all measures say of each run, and what it counts itself."""
    for run, values in zip(judged.runs, measured(judged), strict=True):
        trace = run.trace
        cells: dict[Key, float | None] = {
            Key(name, share): value for name, by_share in values.items() for share, value in by_share.items()
        }
        cells |= {FETCHED: trace.fetched, SECONDS: run.seconds}
        if trace.times is not None:
            cells[CLOCK] = float(trace.times[-1])
        yield cells | {Key(name): gauge[-1][1] for name, gauge in trace.gauges.items()}


def nested(cells: Measured) -> dict[str, Any]:
    """As JSON has it.

    >>> nested({Key("hot", 0.05): 0.5, Key("hot", 0.1): None, Key("fetched"): 7})
    {'hot': {'0.05': 0.5, '0.1': None}, 'fetched': 7}
    """
    found: dict[str, Any] = {}
    for (name, share, _), value in cells.items():
        if share is None:
            found[name] = value
        else:
            found.setdefault(name, {})[f"{share:g}"] = value
    return found


def json_of(values: Values, about: Mapping[str, About], web: Web) -> dict[str, Any]:
    """For programs; of several draws means, and standard deviations as ``spread``."""
    policies = {}
    for spec in values.orderings:
        more: dict[str, Any] = {"ended": about[spec].ended, **({"crawled": True} if about[spec].crawled else {})}
        if len(values.draws) > 1:
            more["spread"] = nested(values.spread(spec))
        policies[spec] = {**nested(values.mean(spec)), **more}
    return {"policies": policies, "web": {"pages": web.pages, "links": web.links}}


def table_of(values: Values, about: Mapping[str, About], web: Web, metric: str) -> Frame:
    """The orderings as a table, the best first; those that know the importance of pages do not compete."""
    specs = values.orderings
    means = [values.mean(spec) for spec in specs]
    spreads = [values.spread(spec) for spec in specs] if len(values.draws) > 1 else []

    def column(name: str, key: Key, **looks: Any) -> FrameColumn:
        spread = [cells.get(key) for cells in spreads]
        known = any(sd is not None for sd in spread)
        return FrameColumn(name, [cells.get(key) for cells in means], spread=spread if known else None, **looks)

    keys = dict.fromkeys(key for spec in specs for key in values.keys(spec))
    measures = [(key, REGISTRY[key.measure]) for key in keys if key.share is not None]
    columns = [FrameColumn("ordering", specs), *(column(_name(key), key, **_looks(key, one)) for key, one in measures)]
    deciding = column("seconds", SECONDS, kind="seconds", better="less")
    real = [about[spec].crawled for spec in specs]
    deciding = replace(deciding, values=[None if real[i] else value for i, value in enumerate(deciding.values)])
    columns += [column("fetched", FETCHED, kind="count"), deciding]
    columns.append(FrameColumn("ended", [about[spec].ended for spec in specs], detail=True))
    others = [key for key in keys if key.share is None and key not in (FETCHED, SECONDS)]
    columns += [column(key.measure, key, kind="number", detail=True) for key in others]
    outside = frozenset(i for i, spec in enumerate(specs) if not about[spec].competes)
    gaps = (_gap(spec, cells) for i, (spec, cells) in enumerate(zip(specs, means, strict=True)) if i not in outside)
    notes = (f"{MEANING}; importance: {metric}", *(line for line in gaps if line))
    title = f"{web.name}: {web.pages:,} pages, {web.links:,} links"
    return Frame(tuple(columns), title, notes, outside).sorted("hot@10%", *(column.name for column in columns[1:7]))


def _name(key: Key) -> str:
    return f"{key.measure}@{key.share:.0%}"


def _looks(key: Key, measure: Measure) -> dict[str, Any]:
    if not measure.shown:
        return {"kind": "share", "detail": True}
    short = f"{key.share:.0%}"
    return {"kind": "share", "better": "more", "group": measure.heading, "short": short, "detail": key.share not in SHOWN}


def _gap(spec: str, cells: Measured) -> str:
    """How much of what could be won over bfs an ordering has won."""
    gaps = {key.share: value for key, value in cells.items() if key.measure == "gap" and value is not None}
    known = [f"{value:.0%} at {share or 0.0:.0%}" for share, value in gaps.items()]
    return f"{spec}: from bfs to the oracle {', '.join(known)} of the web" if known and spec != BASELINE else ""
