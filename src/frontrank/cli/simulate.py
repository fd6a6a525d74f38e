"""frontrank simulate: crawl a known web with one or more orderings, and measure them."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from frontrank.cli.click_options import asked_in, given_of, number
from frontrank.cli.screen import Output, output_options, progress
from frontrank.errors import InputError
from frontrank.frontiers.pace import GREEDY_PACE
from frontrank.lab.lab_options import RunOptions
from frontrank.orderings import DEFAULT_ORDERING

if TYPE_CHECKING:
    from frontrank.frontiers.politeness import Politeness
    from frontrank.lab.compare import Runs
    from frontrank.lab.repeats import Repeats
    from frontrank.simulation.plan import Plan
    from frontrank.web.web import Web

FILES = (".html", ".htm", ".md", ".txt", ".tsv", ".xlsx", ".npy")  # a name that ends like this is not meant to be a directory


def run(web: str, asked: RunOptions, repeats: int | None = None) -> Runs | Repeats:
    """Load the web and run the orderings, with progress on a terminal."""
    from dataclasses import replace

    from frontrank.frontiers.politeness import Politeness
    from frontrank.lab.compare import as_crawled, run_plan, runnable
    from frontrank.lab.repeats import repeat_plan
    from frontrank.simulation.plan import Plan, Stop
    from frontrank.sources import load

    named = [name for name in asked.policy or ("bfs", DEFAULT_ORDERING) if name != "all"]
    clocked = asked.in_flight is not None or asked.host_delay is not None or asked.latency is not None
    if not clocked and (asked.within or asked.pace != GREEDY_PACE):
        raise InputError("a pace needs a clock; give --host-delay, and --in-flight for how many requests at a time")
    in_flight = 1 if asked.in_flight is None else asked.in_flight
    politeness = Politeness(delay_s=asked.host_delay or 0.0, in_flight=in_flight, pace=asked.pace) if clocked else None
    latency = 1.0 if asked.latency is None else asked.latency
    plan = Plan.of(named, Stop(asked.budget, asked.until), politeness, latency, asked.metric or asked.impact or "pagerank")
    with progress() as tell:
        loaded = load(web, progress=lambda text: tell(text, 0, 0)).by_impact(asked.impact)
        if politeness is not None:
            plan = replace(plan, politeness=paced(politeness, loaded, plan, asked.within))
        if "all" in asked.policy:
            plan = plan.adding(policy for policy in runnable(loaded) if policy.spec() not in named)
        command = shlex.join(["frontrank", *sys.argv[1:]])
        if repeats is not None:
            return repeat_plan(loaded, plan, repeats, asked.seeds, tell, asked.jobs)
        runs = run_plan(loaded, plan, asked.seeds, tell, source=web, command=command, jobs=asked.jobs)
        real = as_crawled(loaded, plan.stop)
        return runs if real is None else replace(runs, runs=(real, *runs.runs))


def paced(politeness: Politeness, web: Web, plan: Plan, within_s: float) -> Politeness:
    """The politeness with the pace that was asked for, which this web must be able to give."""
    from dataclasses import replace

    from frontrank.frontiers.pace import check_pace, chosen_pace

    budget = 0 if plan.stop.budget is None else plan.stop.pages(web.pages)
    pace = chosen_pace(politeness.pace, within_s, budget)
    hosts = 1 if web.hosts is None else int(web.hosts.max()) + 1
    check_pace(pace, hosts, politeness.delay_s, politeness.in_flight, plan.latency_s)
    return replace(politeness, pace=pace)


@click.command(name="simulate")
@click.argument("web")
@asked_in(RunOptions)
@number("--repeat", None, "Draw random seeds N times; show means and their spread.", field="repeats", minimum=2)
@click.option("--order-out", metavar="FILE", help="Write the node ids in fetch order: .npy (int64), .csv, .parquet or .json.")
@click.option(
    "--out", metavar="DIR|FILE", help="Write everything and the report to DIR, or the table to a .csv, .parquet or .json."
)
@output_options
def command(web: str, repeats: int | None, order_out: str | None, out: str | None, output: Output, **given: Any) -> None:
    """Crawl WEB with one or more orderings and show how good they were.

    \b
    frontrank simulate uk-2007-05 --ordering fpr --ordering bfs \\
        --seeds random:1000@7 --budget 0.3
    frontrank simulate edges.txt.gz --ordering fica:k=1388 \\
        --seeds seeds.txt --order-out order.npy
    frontrank simulate synthetic:pages=100000,seed=7 --ordering all \\
        --seeds random:100@1 --repeat 10
    frontrank simulate my-crawl --ordering fpr --in-flight 16 --host-delay 1
    """
    from frontrank.lab.compare import Runs
    from frontrank.lab.saved_runs import save_order

    asked = RunOptions(**given_of(given))
    _check(asked.policy, repeats, order_out, out)
    done = run(web, asked, repeats)
    if order_out:
        assert isinstance(done, Runs)
        save_order(done.web, done[-1].trace, order_out)
    if out and is_directory(out):
        assert isinstance(done, Runs)
        done.save(out)
    elif out:
        done.save_table(out)
    output.show(done)
    if out and output.for_people:
        print(f"report: {out}/report.html" if is_directory(out) else f"written: {out}")


def _check(policies: tuple[str, ...], repeats: int | None, order_out: str | None, out: str | None) -> None:
    """Refuse, before any work, what cannot be written."""
    from frontrank.errors import InputError
    from frontrank.lab.frame import check_table_target
    from frontrank.lab.saved_runs import check_order_target, check_runs_target

    if order_out:
        if len(policies) != 1 or "all" in policies:
            given = "all" if "all" in policies else len(policies) or 2
            raise InputError(f"--order-out {order_out} takes one ordering, {given} given; use --out DIR for several")
        if repeats is not None:
            raise InputError(f"--order-out {order_out} takes one crawl, --repeat {repeats} given; drop one of them")
        check_order_target(order_out)
        if out and os.path.abspath(out) == os.path.abspath(order_out):
            raise InputError(f"--out and --order-out both name {out}; give two files")
    if out and is_directory(out):
        if Path(out).suffix.lower() in FILES:
            raise InputError(
                f"--out {out}: must be a directory, or a file that ends in .csv, .parquet or .json; "
                f"frontrank report writes the page alone"
            )
        if repeats is not None:
            raise InputError(f"--out {out} keeps one draw, --repeat {repeats} given; give a .csv, .parquet or .json file")
        check_runs_target(out)
    elif out:
        check_table_target(out)


def is_directory(out: str) -> bool:
    """Whether --out names a directory for everything, not a file for the table."""
    from frontrank.lab.frame import is_table

    return not is_table(out)
