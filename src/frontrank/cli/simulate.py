"""frontrank simulate: crawl a known web with one or more orderings, and measure them."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from frontrank.cli.screen import output_options, progress, show
from frontrank.orderings import DEFAULT_ORDERING

if TYPE_CHECKING:
    from frontrank.lab.compare import Runs
    from frontrank.lab.repeats import Repeats

F = Callable[..., Any]


def run_options(f: F) -> F:
    """The options of every command that runs orderings."""
    options = (
        click.option("--policy", "policies", multiple=True, metavar="P", help="NAME or NAME:KEY=VALUE,...; repeatable; all."),
        click.option("--seeds", metavar="SEEDS", help="A URL, a file of ids or URLs, top:160 or random:1000@7."),
        click.option("--budget", metavar="B", help="Pages to fetch: a share such as 0.3, or a count. All if not given."),
        click.option("--until", metavar="RULE", help="Stop rankmass early: coverage=0.9."),
        click.option("--in-flight", type=int, metavar="N", help="Requests at a time, with a clock; default: one, without."),
        click.option("--host-delay", type=float, metavar="S", help="Seconds between two requests to one host, with a clock."),
        click.option("--latency", type=float, metavar="S", help="Seconds that a request takes, with a clock; default: 1."),
        click.option("--impact", type=click.Choice(["views", "clicks"]), help="What pages are worth to searchers."),
        click.option("--metric", help="Importance that pages are judged by: --impact if it is given, else pagerank."),
        click.option("--jobs", type=int, metavar="N", help="Orderings at a time; default: what cores and memory allow."),
    )
    for option in reversed(options):
        f = option(f)
    return f


def run(
    web: str,
    policies: tuple[str, ...],
    seeds: str | None = None,
    budget: str | None = None,
    until: str | None = None,
    in_flight: int | None = None,
    host_delay: float | None = None,
    latency: float | None = None,
    impact: str | None = None,
    metric: str | None = None,
    jobs: int | None = None,
    repeats: int | None = None,
) -> Runs | Repeats:
    """Load the web and run the orderings, with progress on a terminal."""
    from dataclasses import replace

    from frontrank.errors import InputError
    from frontrank.frontiers.politeness import Politeness
    from frontrank.lab.compare import as_crawled, carry_out, runnable
    from frontrank.lab.repeats import repeat_plan
    from frontrank.simulation.plan import Plan, Stop
    from frontrank.sources import load

    named = [name for name in policies or ("bfs", DEFAULT_ORDERING) if name != "all"]
    for flag, value in (("--host-delay", host_delay), ("--latency", latency), ("--in-flight", in_flight)):
        if value is not None and not 0 <= value < math.inf:
            raise InputError(f"{flag} must be a number from 0, got {value:g}")
    if jobs is not None and jobs < 1:
        raise InputError(f"--jobs must be at least 1, got {jobs}")
    clocked = in_flight is not None or host_delay is not None or latency is not None
    politeness = Politeness(delay_s=host_delay or 0.0, in_flight=1 if in_flight is None else in_flight) if clocked else None
    judged_by = metric or impact or "pagerank"
    plan = Plan.of(named, Stop(budget, until), politeness, 1.0 if latency is None else latency, judged_by)
    with progress() as tell:
        loaded = load(web, progress=lambda text: tell(text, 0, 0)).by_impact(impact)
        if "all" in policies:
            plan = plan.adding(policy for policy in runnable(loaded) if policy.spec() not in named)
        command = shlex.join(["frontrank", *sys.argv[1:]])
        if repeats is not None:
            return repeat_plan(loaded, plan, repeats, seeds, tell, jobs)
        runs = carry_out(loaded, plan, seeds, tell, web, command, jobs)
        real = as_crawled(loaded, plan.stop)
        return runs if real is None else replace(runs, runs=(real, *runs.runs))


@click.command(name="simulate")
@click.argument("web")
@run_options
@click.option("--repeat", "repeats", type=int, metavar="N", help="Draw random seeds N times; show means and their spread.")
@click.option("--order-out", metavar="FILE", help="Write the node ids in fetch order: .npy (int64), .csv, .parquet or .json.")
@click.option(
    "--out", metavar="DIR|FILE", help="Write everything and the report to DIR, or the table to a .csv, .parquet or .json."
)
@output_options
def command(
    web: str,
    policies: tuple[str, ...],
    repeats: int | None,
    order_out: str | None,
    out: str | None,
    as_json: bool,
    as_csv: bool,
    **options: Any,
) -> None:
    """Crawl WEB with one or more orderings and show how good they were.

    \b
    frontrank simulate uk-2007-05 --policy fpr --policy bfs --seeds random:1000@7 --budget 0.3
    frontrank simulate edges.txt.gz --policy fica:k=1388 --seeds seeds.txt --order-out order.npy
    frontrank simulate synthetic:pages=100000,seed=7 --policy all --seeds random:100@1 --repeat 10
    frontrank simulate my-crawl --policy fpr --in-flight 16 --host-delay 1
    """
    from frontrank.lab.compare import Runs, save_order

    _check(policies, repeats, order_out, out)
    done = run(web, policies, repeats=repeats, **options)
    if order_out:
        assert isinstance(done, Runs)
        save_order(done.web, done[-1].trace, order_out)
    if out and is_directory(out):
        assert isinstance(done, Runs)
        done.save(out)
    elif out:
        done.save_table(out)
    show(done, as_json, as_csv)
    if out and not as_json and not as_csv:
        print(f"report: {out}/report.html" if is_directory(out) else f"written: {out}")


def _check(policies: tuple[str, ...], repeats: int | None, order_out: str | None, out: str | None) -> None:
    """What can be said against it before any work."""
    from frontrank.errors import InputError
    from frontrank.lab.compare import check_order_target, check_runs_target
    from frontrank.lab.frame import check_table_target

    if order_out:
        if len(policies) != 1 or "all" in policies:
            raise InputError(
                f"--order-out {order_out} takes one ordering, {len(policies) or 2} given; use --out DIR for several"
            )
        if repeats is not None:
            raise InputError(f"--order-out {order_out} takes one crawl, --repeat {repeats} given; drop one of them")
        check_order_target(order_out)
    if out and is_directory(out):
        if repeats is not None:
            raise InputError(f"--out {out} keeps one draw, --repeat {repeats} given; give a .csv, .parquet or .json file")
        check_runs_target(out)
    elif out:
        check_table_target(out)


def is_directory(out: str) -> bool:
    """Whether --out names a directory for everything, not a file for the table."""
    from frontrank.lab.frame import is_table

    return not is_table(out)
