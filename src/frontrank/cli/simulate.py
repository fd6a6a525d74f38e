"""frontrank simulate: crawl a known web with one or more orderings, and measure them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from frontrank.cli.screen import percent, progress, show_json, show_table

if TYPE_CHECKING:
    from frontrank.lab.compare import Runs

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
        click.option("--metric", default="pagerank", show_default=True, help="Importance that pages are judged by."),
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
    metric: str = "pagerank",
) -> Runs:
    """Load the web and run the orderings, with progress on a terminal."""
    from dataclasses import replace

    from frontrank.frontiers.politeness import Politeness
    from frontrank.lab.compare import as_crawled, carry_out, runnable
    from frontrank.simulation.plan import Plan, Stop
    from frontrank.sources import load

    named = [name for name in policies or ("bfs", "fpr") if name != "all"]
    clocked = in_flight is not None or host_delay is not None or latency is not None
    politeness = Politeness(delay_s=host_delay or 0.0, in_flight=1 if in_flight is None else in_flight) if clocked else None
    plan = Plan.of(named, Stop(budget, until), politeness, 1.0 if latency is None else latency, metric)
    with progress() as tell:
        loaded = load(web, progress=lambda text: tell(text, 0, 0))
        if "all" in policies:
            plan = plan.adding(policy for policy in runnable(loaded) if policy.spec() not in named)
        command = shlex.join(["frontrank", *sys.argv[1:]])
        runs = carry_out(loaded, plan, seeds, tell, web, command)
        real = as_crawled(loaded, plan.stop)
        return runs if real is None else replace(runs, runs=(real, *runs.runs))


def show(runs: Runs) -> None:
    """The table that a person reads."""
    values = runs.json()["policies"]
    shares = ["0.05", "0.1", "0.2", "0.3", "0.5"]
    header = ["ordering", *(f"hot@{float(s):.0%}" for s in shares), *(f"mass@{float(s):.0%}" for s in shares), "fetched", "s"]
    rows = []
    for spec, value in values.items():
        cells = [percent(value[measure][s]) for measure in ("hot", "mass") for s in shares]
        rows.append([spec, *cells, f"{value['fetched']:,}", f"{value['seconds']:.2f}"])
    web = runs.web
    show_table(header, rows, f"{web.name}: {web.pages:,} pages, {web.links:,} links")
    print("hot@10%: share of the 10% most important pages among the first 10% fetched; mass@10%: share of the best")
    print(f"possible importance fetched by then; importance: {runs.metric}")
    for run_ in runs:
        if run_.trace.times is not None and len(run_.trace.times):
            fetched, clock = run_.trace.fetched, run_.trace.times[-1]
            print(f"{run_.spec}: {fetched:,} pages in {clock:,.0f} s of the clock, {fetched / max(clock, 1e-9):,.1f} a second")
        if "coverage" in run_.trace.gauges:
            covered = run_.trace.gauges["coverage"][-1][1]
            print(f"{run_.spec}: at least {percent(covered)} of the personalised PageRank mass is covered ({run_.trace.ended})")


@click.command(name="simulate")
@click.argument("web")
@run_options
@click.option("--order-out", metavar="FILE.npy", help="Write the node ids in fetch order (int64); for one ordering.")
@click.option("--out", metavar="DIR", help="Write orders, curves (Parquet), figures as JSON and the report.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures for a program.")
def command(
    web: str,
    policies: tuple[str, ...],
    order_out: str | None,
    out: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Crawl WEB with one or more orderings and show how good they were.

    \b
    frontrank simulate uk-2007-05 --policy fpr --policy bfs --seeds random:1000@7 --budget 0.3
    frontrank simulate edges.txt.gz --policy fica:k=1388 --seeds seeds.txt --order-out order.npy
    frontrank simulate synthetic:pages=100000,seed=7 --policy all
    frontrank simulate my-crawl --policy fpr --in-flight 16 --host-delay 1
    """
    from frontrank.errors import InputError
    from frontrank.lab.compare import check_runs_target, save_order
    from frontrank.web.files import check_target

    if order_out and (len(policies) != 1 or "all" in policies):
        raise InputError(f"--order-out {order_out} takes one ordering, {len(policies) or 2} given; use --out DIR for several")
    if order_out:
        check_target(order_out)
    if out:
        check_runs_target(out)
    runs = run(web, policies, **options)
    if order_out:
        save_order(runs.web, runs[-1].trace, order_out)
    if out:
        runs.save(out)
    if as_json:
        show_json(runs.json())
        return
    show(runs)
    if out:
        print(f"report: {out}/report.html")
