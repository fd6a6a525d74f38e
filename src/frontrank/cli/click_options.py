"""Options of commands, made from the dataclasses that describe them: defaults, limits and help.

A value is checked as it is read, so that it is refused under its flag, before any work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import click

from frontrank.options import SWITCH, TEXTS, WHOLE, Option, options_of

F = TypeVar("F", bound=Callable[..., Any])


class Described(click.Option):
    """An option of a command, with its description."""

    def __init__(self, *args: Any, described: Option, **more: Any) -> None:
        super().__init__(*args, **more)
        self.described = described


def asked_in(kind: type, *, without: Iterable[str] = ()) -> Callable[[F], F]:
    """Add an option to a command for every option of a dataclass."""
    return asked([one for name, one in options_of(kind).items() if name not in without])


def asked(options: Iterable[Option]) -> Callable[[F], F]:
    """Add these options to a command. Those not given have the value None, repeatable ones ()."""
    known = list(options)

    def added(command: F) -> F:
        for one in reversed(known):
            command = click_option(one)(command)
        return command

    return added


def given_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in values.items() if value is not None and value != ()}


def number(flag: str, default: float | None, help: str, **more: Any) -> Callable[[F], F]:
    """A number that only a command knows, such as a port; ``more`` as in ``Option``."""
    name = flag.removeprefix("--")
    usual = {"field": name.replace("-", "_"), "kind": WHOLE, "metavar": "N"}
    return click_option(Option(name=name, default=default, help=help, **(usual | more)), default)


def click_option(one: Option, default: Any = None) -> Callable[[F], F]:
    """An option of a command, as it is described."""
    text = f"{one.help}  [default: {one.shown()}]" if one.shown() else one.help

    def read(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        given = value is not None and value != () and value is not default
        return one.read(value, one.flag) if given else value

    about: dict[str, Any] = {"default": default, "help": text, "cls": Described, "described": one}
    if one.kind == SWITCH:
        return click.option(one.usage, one.field, is_flag=True, **about)
    about |= {"metavar": one.metavar or "|".join(one.choices), "multiple": one.kind == TEXTS, "type": click.UNPROCESSED}
    return click.option(one.flag, one.field, callback=read, **about)


def trust_option(command: F) -> F:
    """``--trust``, for a command that opens what somebody else may have written; it holds until the command has ended."""

    def read(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value:
            from frontrank.orderings.stored import trusting

            ctx.with_resource(trusting())

    text = "Load the code that DIR names for its ordering. Only for directories of people you trust."
    return click.option("--trust", is_flag=True, expose_value=False, callback=read, help=text)(command)


def listening_port(flag: str, default: int, what: str) -> Callable[[F], F]:
    """Where a command listens."""
    return number(flag, default, f"{what}; 0 picks a free one.", maximum=65_535)
