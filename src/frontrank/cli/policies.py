"""frontrank policies: the orderings with one-line descriptions and parameters."""

from __future__ import annotations

import click

from frontrank.cli.screen import show_json


@click.command(name="policies")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the list for a program.")
def command(name: str | None, as_json: bool) -> None:
    """List the orderings, or show all that is known of one of them."""
    from inspect import cleandoc

    from frontrank.errors import SpecError, nearest
    from frontrank.orderings.registry import describe, orderings

    known = orderings()
    if name is not None and name not in known:
        raise SpecError(f"unknown ordering {name!r}{nearest(name, known)}")
    entries = {key: describe(ordering) for key, ordering in known.items() if name in (None, key)}
    if as_json:
        show_json(entries)
    elif name is not None:
        print(cleandoc(known[name].__doc__ or ""))
    else:
        width = max(len(key) for key in entries)
        for key, entry in entries.items():
            given = ", ".join(f"{p}={v['default']}" for p, v in entry["parameters"].items())
            print(f"{key.ljust(width)}  {entry['description']}")
            if given:
                print(f"{' ' * width}  {given}")
