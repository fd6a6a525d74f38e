"""frontrank plugins: all orderings, sources, importance metrics and scorers by name, and which package brings them."""

from __future__ import annotations

from inspect import cleandoc, isclass, isfunction, ismodule
from typing import Any

import click

from frontrank.cli.screen import show_json, show_table

BUILT_IN = "built in"


@click.command(name="plugins")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def command(as_json: bool) -> None:
    """List everything that has a name, built in or from installed packages: orderings, sources, importance metrics, scorers.

    How to add your own: docs/plugins.md.
    """
    from frontrank.orderings.registry import REGISTRY as orderings
    from frontrank.pages.scorers import REGISTRY as scorers
    from frontrank.sources.kinds import REGISTRY as sources
    from frontrank.web import importance  # noqa: F401 - names the built-in metrics
    from frontrank.web.measures import REGISTRY as measures

    listed: dict[str, dict[str, dict[str, str]]] = {}
    for title, registry in (("orderings", orderings), ("sources", sources), ("measures", measures), ("scorers", scorers)):
        listed[title] = {
            name: {"package": registry.origin(name) or BUILT_IN, "description": _first_line(thing)}
            for name, thing in registry.items()
        }
    if as_json:
        show_json(listed)
        return
    for title, entries in listed.items():
        outside = [[name, entry["package"]] for name, entry in entries.items() if entry["package"] != BUILT_IN]
        print(f"{title}: {', '.join(entries)}")
        if outside:
            show_table(["  from packages", ""], [[f"  {name}", package] for name, package in outside])


def _first_line(thing: Any) -> str:
    """What its docstring says of it; built-in sources and metrics are described in the docs."""
    text = cleandoc(thing.__doc__ or "") if isclass(thing) or isfunction(thing) or ismodule(thing) else ""
    first = text.splitlines()[0] if text else ""
    return first.partition(": ")[2] or first
