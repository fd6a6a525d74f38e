"""frontrank trace: the events of a crawl, one per line."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from frontrank.cli.screen import moment, printable


@click.command(name="trace")
@click.argument("directory", metavar="DIR")
@click.option(
    "--kind",
    multiple=True,
    metavar="KIND",
    help="Only events of this kind: seed, take, fetched, failed, retry, ...; repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line; times are seconds since 1970, UTC.")
def command(directory: str, kind: tuple[str, ...], as_json: bool) -> None:
    """Show what happened in the crawl of DIR, in order. The crawl may be running.

    \b
    frontrank trace my-crawl
    frontrank trace my-crawl --kind fetched --json | head
    """
    from frontrank.crawl.events import NAMES
    from frontrank.crawl.status import events
    from frontrank.errors import SpecError, nearest

    for name in kind:
        if name not in NAMES:
            raise SpecError(f"unknown kind of event {name!r}{nearest(name, NAMES)}")
    try:
        for event in events(directory):
            if kind and event["kind"] not in kind:
                continue
            print(json.dumps(event) if as_json else _line(event))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, such as head
        sys.stdout = None


def _line(event: dict[str, Any]) -> str:
    apart = ("seq", "kind", "url", "time", "warc", "offset", "length", "title")
    rest = {key: value for key, value in event.items() if key not in apart}
    for key in ("again_at", "until"):
        if key in rest:
            rest[key] = moment(rest[key])
    more = " ".join(f"{key}={value}" for key, value in rest.items() if value is not None)
    line = f"{event['seq']:>8}  {moment(event['time'])}  {event['kind']:<8} {event['url'] or ''}  {more}"
    return printable(line.rstrip())
