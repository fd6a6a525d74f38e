"""frontrank status: how far a crawl is, and what it would fetch next."""

from __future__ import annotations

import click

from frontrank.cli.screen import percent, show_json, show_table


@click.command(name="status")
@click.argument("directory", metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print it for a program.")
def command(directory: str, as_json: bool) -> None:
    """Show the state of the crawl in DIR: fetched, waiting, leased, failed by reason, hosts, the next 20 URLs.

    The crawl may be running; nothing is changed.
    """
    from frontrank.crawl.status import status

    told = status(directory)
    if as_json:
        show_json(told)
        return
    hosts = told["hosts"]
    print(f"{directory}: ordered by {told['policy']}, {told['events']:,} events")
    for name in ("fetched", "waiting", "leased", "failed", "known"):
        print(f"  {name:<10}{told[name]:>12,}")
    print(
        f"  {'hosts':<10}{hosts['known']:>12,}   {hosts['with_waiting']:,} with pages that wait, {hosts['resting']:,} resting"
    )
    for name, value in told["gauges"].items():
        print(f"  {name:<10}{percent(value) if 0 <= value <= 1 else f'{value:g}':>12}")
    if told["failed_by_reason"]:
        show_table(["failed", "pages"], [[reason, f"{count:,}"] for reason, count in told["failed_by_reason"].items()])
    if told["next"]:
        print()
        show_table(["next", "priority", "depth"], [[p["url"], f"{p['priority']:.4g}", str(p["depth"])] for p in told["next"]])
    else:
        print("  nothing waits")
