"""frontrank status: how far a crawl is, and what it would fetch next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from frontrank.cli.click_options import trust_option
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
    figures = status(directory, with_queue=queue is not None)
    if queue:
        rows = figures.pop("queue")
        write_table(_queue(rows), queue)
        figures["queue"] = {"path": queue, "pages": len(rows)}
    if as_json:
        show_json(figures)
        return
    print(f"{directory}: {'running' if figures['running'] else 'stopped'}, ordered by {figures['policy']}")
    facts = _facts(figures)
    for name, text in facts:
        print(f"  {name:<12}{text}")
    if figures["failed_by_reason"]:
        print()
        show_table(["failed", "pages"], [[reason, f"{count:,}"] for reason, count in figures["failed_by_reason"].items()])
    if figures["withheld"]:
        print()
        show_table(["not to be used", "pages"], [[reason, f"{count:,}"] for reason, count in figures["withheld"].items()])
    if figures["unscored"]:
        print()
        show_table(["no score", "pages"], [[reason, f"{count:,}"] for reason, count in figures["unscored"].items()])
    if figures["next"]:
        print()
        rows_left = _room(figures, len(facts))
        rows = [[printable(page["url"]), f"{page['priority']:.4g}", str(page["depth"])] for page in figures["next"][:rows_left]]
        show_table(["next", "priority", "depth"], rows)
    if queue:
        print(f"written: {figures['queue']['path']}, {figures['queue']['pages']:,} pages")


def _room(figures: dict[str, Any], facts: int) -> int | None:
    """How many of the next pages a terminal has lines for: the facts, which come first, are not to scroll away."""
    height = terminal_height()
    if height is None:
        return None
    tables = sum(len(figures[name]) + 2 for name in ("failed_by_reason", "withheld", "unscored") if figures[name])
    return max(MIN_ROWS, height - AROUND - facts - tables)


def _queue(rows: list[dict[str, Any]]) -> Frame:
    from frontrank.lab.frame import Frame, FrameColumn

    kinds: dict[str, Kind] = {"url": "text", "host": "text", "priority": "number", "depth": "count", "state": "text"}
    return Frame(tuple(FrameColumn(name, [row[name] for row in rows], kind) for name, kind in kinds.items()))


def _facts(figures: dict[str, Any]) -> list[tuple[str, str]]:
    from frontrank.fetching.crawler.display import rests
    from frontrank.fetching.crawler.pace import spoken

    hosts, rate = figures["hosts"], figures["pages_per_s"]
    lately = "in the last 5 min" if figures["running"] else "in its last 5 min"
    facts = [
        ("fetched", f"{figures['fetched']:,}"),
        ("failed", f"{figures['failed']:,}"),
        ("waiting", f"{figures['waiting']:,}"),
    ]
    facts += [("in flight", f"{figures['leased']:,}"), ("known", f"{figures['known']:,}")]
    if figures["revisits"]:
        facts.append(("revisits", f"{figures['revisits']:,}; {figures['scheduled']:,} pages scheduled"))
    facts.append(("hosts", f"{hosts['known']:,}; {hosts['with_waiting']:,} with waiting pages, {hosts['resting']:,} resting"))
    for row in figures["limits"]:
        limits = ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in row["limits"].items())
        facts.append(("limited", f"{printable(row['host'])}: {limits}"))
    resting = [(row["host"], row["reason"], row["next_try_s"]) for row in figures["trouble"] if row["next_try_s"] is not None]
    if trouble := rests(resting, len(figures["trouble"]) - len(resting)):
        facts.append(("trouble", trouble))
    if figures["budget"]:
        left = f", about {spoken(figures['left_s'])} left" if figures["left_s"] is not None else ""
        spent = figures["asked"] / figures["budget"]
        facts.append(("budget", f"{figures['asked']:,} of {figures['budget']:,} pages ({spent:.0%}){left}"))
    facts.append(("rate", f"{rate['lately']:,.1f} pages/s {lately}, {rate['overall']:,.1f} overall"))
    facts += [(name, percent(value) if 0 <= value <= 1 else f"{value:g}") for name, value in figures["gauges"].items()]
    facts.append(("started", moment(figures["started"])))
    facts.append(("last event", f"{moment(figures['last_event'])}, {figures['events']:,} events"))
    return facts
