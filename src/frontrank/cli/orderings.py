"""frontrank orderings: the orderings with one-line descriptions and parameters."""

from __future__ import annotations

from typing import Any

import click

from frontrank.cli.screen import output_options, say, show_json


@click.command(name="orderings")
@click.argument("name", required=False)
@output_options
def command(name: str | None, as_json: bool, as_csv: bool) -> None:
    """List the orderings, or show all that is known of the one called NAME."""
    from inspect import cleandoc

    from frontrank.orderings.registry import describe, find, orderings

    known = orderings() if name is None else {name: find(name)}
    entries = {key: describe(ordering) for key, ordering in known.items()}
    if as_json:
        show_json(entries)
    elif as_csv:
        from frontrank.lab.frame import Frame, FrameColumn

        said = [entry["description"] for entry in entries.values()]
        given = [_parameters(entry) for entry in entries.values()]
        columns = {"ordering": list(entries), "description": said, "parameters": given}
        print(Frame(tuple(FrameColumn(*column) for column in columns.items())).csv(), end="")
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
