"""frontrank status: how far a crawl is, and what it would fetch next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from frontrank.cli.options import trust_option
from frontrank.cli.screen import moment, percent, printable, show_json, show_table, terminal_height

if TYPE_CHECKING:
    from frontrank.lab.frame import Frame, Kind

MIN_ROWS = 5  # of the next pages, however low the terminal is
AROUND = 5  # lines that are neither facts nor pages: the first, blanks, the head of a table, the prompt


@click.command(name="status")
@click.argument("directory", metavar="DIR")
@click.option("--queue", metavar="FILE", help="Write all waiting pages in order: .csv, .parquet or .json.")
@trust_option
@click.option("--json", "as_json", is_flag=True, help="Print the status as JSON.")
def command(directory: str, queue: str | None, as_json: bool) -> None:
    """Show the state of the crawl in DIR: budget, rate, time left, pages by state, failures by reason, the next URLs.

    The crawl may be running; nothing is changed.

    \b
    frontrank status my-crawl
    frontrank status my-crawl --queue waiting.csv
    """
    from frontrank.fetching.crawler.status import status
    from frontrank.lab.frame import check_table_target, write_table

    if queue:
        check_table_target(queue)
    told = status(directory, with_queue=queue is not None)
    if queue:
        rows = told.pop("queue")
        write_table(_queue(rows), queue)
        told["queue"] = {"path": queue, "pages": len(rows)}
    if as_json:
        show_json(told)
        return
    print(f"{directory}: {'running' if told['running'] else 'stopped'}, ordered by {told['policy']}")
    facts = _facts(told)
    for name, text in facts:
        print(f"  {name:<12}{text}")
    if told["failed_by_reason"]:
        print()
        show_table(["failed", "pages"], [[reason, f"{count:,}"] for reason, count in told["failed_by_reason"].items()])
    if told["unscored"]:
        print()
        show_table(["no score", "pages"], [[reason, f"{count:,}"] for reason, count in told["unscored"].items()])
    if told["next"]:
        print()
        most = _room(told, len(facts))
        rows = [[printable(page["url"]), f"{page['priority']:.4g}", str(page["depth"])] for page in told["next"][:most]]
        show_table(["next", "priority", "depth"], rows)
    if queue:
        print(f"written: {told['queue']['path']}, {told['queue']['pages']:,} pages")


def _room(told: dict[str, Any], facts: int) -> int | None:
    """How many of the next pages a terminal has lines for: the facts, which come first, are not to scroll away."""
    height = terminal_height()
    if height is None:
        return None
    tables = sum(len(told[name]) + 2 for name in ("failed_by_reason", "unscored") if told[name])
    return max(MIN_ROWS, height - AROUND - facts - tables)


def _queue(rows: list[dict[str, Any]]) -> Frame:
    from frontrank.lab.frame import Frame, FrameColumn

    kinds: dict[str, Kind] = {"url": "text", "host": "text", "priority": "number", "depth": "count", "state": "text"}
    return Frame(tuple(FrameColumn(name, [row[name] for row in rows], kind) for name, kind in kinds.items()))


def _facts(told: dict[str, Any]) -> list[tuple[str, str]]:
    from frontrank.fetching.crawler.display import rests
    from frontrank.fetching.crawler.pace import spoken

    hosts, rate = told["hosts"], told["pages_per_s"]
    lately = "in the last 5 min" if told["running"] else "in its last 5 min"
    made = [("fetched", f"{told['fetched']:,}"), ("failed", f"{told['failed']:,}"), ("waiting", f"{told['waiting']:,}")]
    made += [("in flight", f"{told['leased']:,}"), ("known", f"{told['known']:,}")]
    if told["revisits"]:
        made.append(("revisits", f"{told['revisits']:,}; {told['scheduled']:,} pages scheduled"))
    made.append(("hosts", f"{hosts['known']:,}; {hosts['with_waiting']:,} with waiting pages, {hosts['resting']:,} resting"))
    for row in told["limits"]:
        said = ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in row["limits"].items())
        made.append(("limited", f"{printable(row['host'])}: {said}"))
    resting = [(row["host"], row["reason"], row["next_try_s"]) for row in told["trouble"] if row["next_try_s"] is not None]
    if trouble := rests(resting, len(told["trouble"]) - len(resting)):
        made.append(("trouble", trouble))
    if told["budget"]:
        left = f", about {spoken(told['left_s'])} left" if told["left_s"] is not None else ""
        spent = told["asked"] / told["budget"]
        made.append(("budget", f"{told['asked']:,} of {told['budget']:,} pages ({spent:.0%}){left}"))
    made.append(("rate", f"{rate['lately']:,.1f} pages/s {lately}, {rate['overall']:,.1f} overall"))
    made += [(name, percent(value) if 0 <= value <= 1 else f"{value:g}") for name, value in told["gauges"].items()]
    made.append(("started", moment(told["started"])))
    made.append(("last event", f"{moment(told['last_event'])}, {told['events']:,} events"))
    return made
