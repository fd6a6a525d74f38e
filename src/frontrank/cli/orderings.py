"""frontrank orderings: the orderings with one-line descriptions and parameters."""

from __future__ import annotations

from typing import Any

import click

from frontrank.cli.screen import Output, output_options, say, show_csv, show_json


@click.command(name="orderings")
@click.argument("name", required=False)
@output_options
def command(name: str | None, output: Output) -> None:
    """List the orderings, or show all that is known of the one called NAME."""
    from inspect import cleandoc

    from frontrank.orderings.registry import describe, find, orderings

    known = orderings() if name is None else {name: find(name)}
    entries = {key: describe(ordering) for key, ordering in known.items()}
    if output.as_json:
        show_json(entries)
    elif output.as_csv:
        from frontrank.lab.frame import Frame, FrameColumn

        descriptions = FrameColumn("description", [entry["description"] for entry in entries.values()])
        parameters = FrameColumn("parameters", [_parameters(entry) for entry in entries.values()])
        show_csv(Frame((FrameColumn("ordering", list(entries)), descriptions, parameters)))
    elif name is not None:
        print(cleandoc(known[name].__doc__ or ""))
    else:
        width = max(len(key) for key in entries)
        for key, entry in entries.items():
            say(entry["description"], f"{key.ljust(width)}  ", " " * (width + 2))
            if entry["parameters"]:
                say(_parameters(entry), " " * (width + 4), " " * (width + 4))


def _parameters(entry: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value['default']}" for name, value in entry["parameters"].items())
