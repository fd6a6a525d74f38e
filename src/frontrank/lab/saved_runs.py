"""Runs that are saved: a directory with the orders (.npy), the curves (Parquet, or CSV without pyarrow), the figures (JSON) and
the report."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from frontrank.errors import InputError, NotTrusted, need
from frontrank.lab.frame import Frame, FrameColumn, check_table_target, write_table
from frontrank.lab.measures import REGISTRY
from frontrank.orderings.registry import as_policy
from frontrank.orderings.stored import from_data, stored_names, to_data
from frontrank.simulation.simulate import Run
from frontrank.simulation.trace import Trace
from frontrank.system.files import check_target, written_beside
from frontrank.web.importance import parse_metric
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web

if TYPE_CHECKING:
    from frontrank.lab.compare import Runs

RECORD = "runs.json"


def save_order(web: Web, trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write the source's node ids in fetch order by the ending of the path: .npy (int64), or a table, with URLs if known."""
    ids = web.ids_of(trace.order)
    if check_order_target(path) == ".npy":
        with written_beside(path) as beside, open(beside, "wb") as file:
            np.save(file, ids)
        return
    urls = () if web.urls is None else (FrameColumn("url", [web.urls[page] for page in trace.order.tolist()]),)
    write_table(Frame((FrameColumn("id", ids.tolist(), "count"), *urls)), path)


def check_order_target(path: str | os.PathLike[str]) -> str:
    """The ending that says how an order is written; InputError if it cannot be."""
    return check_table_target(path, ".npy")


def check_runs_target(path: str | os.PathLike[str]) -> None:
    """Raise InputError if no runs can be saved there: to be asked before they are run."""
    need("jinja2", "matplotlib")
    check_target(path, is_saved, "saved runs")


def is_saved(path: str | os.PathLike[str]) -> bool:
    """Whether a directory holds runs that were saved."""
    return (Path(path) / RECORD).is_file()


def write_runs(runs: Runs, folder: Path) -> None:
    """All files, into a directory that is there."""
    for at, run in enumerate(runs):
        save_order(runs.web, run.trace, folder / f"order-{at}.npy")
    np.save(folder / "seeds.npy", runs.web.ids_of(runs[0].trace.seeds))
    write_table(_curves(runs), folder / f"curves.{'csv' if find_spec('pyarrow') is None else 'parquet'}")
    (folder / RECORD).write_text(json.dumps(_record(runs), indent=2), encoding="utf-8")
    runs.report(folder / "report.html")


def _record(runs: Runs) -> dict[str, Any]:
    stored = [
        {
            "spec": run.given or run.policy.spec(),
            "policy": run.policy.spec(),
            "ordering": to_data(run.policy),
            "crawled": run.crawled,
            "seconds": run.seconds,
            "ended": run.trace.ended,
            "gauges": run.trace.gauges,
        }
        for run in runs
    ]
    source = runs.source if runs.source.startswith("synthetic:") else os.path.abspath(runs.source)
    return {"source": source, "metric": runs.metric, "command": runs.command, "runs": stored, **runs.json()}


def _curves(runs: Runs) -> Frame:
    """The curves of the measures that tables have too."""
    orderings: list[str] = []
    measures: list[str] = []
    shares: list[float] = []
    values: list[float] = []
    for run in runs:
        for measure in REGISTRY.values():
            if measure.heading and measure.figure is not None:
                curve = measure.figure.curve(run, runs.judged)
                orderings += [run.spec] * len(curve.x)
                measures += [measure.name] * len(curve.x)
                shares += curve.x.tolist()
                values += curve.y.tolist()
    return Frame(
        (
            FrameColumn("policy", orderings),
            FrameColumn("measure", measures),
            FrameColumn("share", shares, "number"),
            FrameColumn("value", values, "number"),
        )
    )


def read_runs(path: str | os.PathLike[str]) -> tuple[Web, tuple[Run, ...], str, str, str]:
    """Web, runs, metric, source and command of runs that were saved; the web must still be where it was."""
    from frontrank.sources import load

    if not is_saved(path):
        raise InputError(f"{os.fspath(path)}: no saved runs ({RECORD} is missing); name a directory that simulate --out wrote")
    try:
        record = json.loads((Path(path) / RECORD).read_text(encoding="utf-8"))
        web = load(record["source"])
        seeds = find_seeds(web, np.load(Path(path) / "seeds.npy").tolist())
        runs = []
        for at, one in enumerate(record["runs"]):
            ids = np.load(Path(path) / f"order-{at}.npy").tolist()
            order = np.array([web.page_of(str(page)) for page in ids], np.int32)
            trace = Trace(seeds, order, one["ended"], one["gauges"])
            with stored_names():
                policy = as_policy(from_data(one["ordering"]) if "ordering" in one else one["policy"])
            given = one["spec"].removesuffix(" (crawled)")  # in older directories only the name says it
            crawled = one.get("crawled", given != one["spec"])
            runs.append(Run(policy, trace, None, one["seconds"], given, crawled))
        with stored_names():
            parse_metric(record["metric"])
    except NotTrusted as error:
        raise NotTrusted(f"{os.fspath(path)}: these runs were {error}") from None
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{os.fspath(path)}: the saved runs cannot be read ({error})") from None
    return web, tuple(runs), record["metric"], record["source"], record["command"]
