"""frontrank boost, limit, block, pause, resume: control of a crawl, by its directory or by the address of a service.

A crawl that runs heeds what is written into its directory; one that does not is opened, told, and closed again. A service is
told by its HTTP side.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from frontrank.cli.options import number, trust_option
from frontrank.options import TIME

ADDRESS = re.compile(r"(https?://)?[^/\\]+:\d+/?$")


def to_target(command: Callable[..., None]) -> Any:
    options = (
        click.argument("target", metavar="DIR|ADDRESS"),
        click.option("--crawl", default="DEFAULT", metavar="ID", help="Which crawl of a service.", show_default=True),
        click.option("--token-file", metavar="FILE", help="The token of a service."),
        click.option("--tls-ca", default="", metavar="FILE", help="Certificate (PEM) of a service to trust, or: system."),
        click.option("--insecure", is_flag=True, help="Send the token beyond this machine without TLS."),
        trust_option,
        click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON."),
    )

    @functools.wraps(command)
    def with_target(
        target: str, crawl: str, token_file: str | None, tls_ca: str, insecure: bool, as_json: bool, **given: Any
    ) -> Any:
        return command(said=Said(target, crawl, token_file, tls_ca, insecure, as_json), **given)

    made: Any = with_target
    for option in reversed(options):
        made = option(made)
    return made


@click.command(name="boost", context_settings={"ignore_unknown_options": True})
@to_target
@click.argument("pattern", metavar="REGEX")
@click.argument("by", metavar="BY")
def boost(said: Said, pattern: str, by: str) -> None:
    """Move pages whose URL matches REGEX before all others, known or yet to be found; a BY below 0 moves them behind.

    DIR is a crawl, running or not; ADDRESS is the HTTP address of a service, such as 127.0.0.1:7072. Boosts of several
    patterns add up; 0 removes the boost of a pattern.

    \b
    frontrank boost my-crawl '/news/' +2
    frontrank boost my-crawl '[.]pdf$' -1
    frontrank boost 127.0.0.1:7072 '/news/' 0
    """
    from frontrank.errors import InputError

    if not re.fullmatch(r"[+-]?\d{1,9}", by):
        raise InputError(f"BY must be a whole number, such as +2 or -1, got {by!r}")
    _tell(said, "boost", pattern=pattern, by=int(by))


@click.command(name="limit")
@to_target
@click.option("--host", metavar="NAME", help="The host, or queue, to limit.")
@click.option("--family", metavar="REGEX", help="Limit all pages whose URL matches, on any host.")
@number("--budget", None, "How many pages may be fetched; 0: any number.", metavar="PAGES")
@number("--delay", None, "Seconds between two requests.", metavar="SECONDS", kind=TIME)
@number("--concurrency", None, "Requests in flight to the host; 0: any number.")
def limit(
    said: Said,
    host: str | None,
    family: str | None,
    budget: int | None,
    delay: float | None,
    concurrency: int | None,
) -> None:
    """Limit a host or a family of pages: budget, delay, concurrency. Limits not given stay as they are.

    \b
    frontrank limit my-crawl --host www.example.org --delay 5
    frontrank limit my-crawl --family '[?&]page=' --budget 1000
    """
    from frontrank.errors import InputError

    if (host is None) == (family is None):
        raise InputError("limit needs one of --host NAME and --family REGEX")
    given: dict[str, Any] = {"budget": budget, "delay_s": delay, "concurrency": concurrency}
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        raise InputError("limit needs at least one of --budget, --delay and --concurrency")
    if host is not None:
        _tell(said, "limit_host", host=host, **given)
    elif concurrency is not None:
        raise InputError("--concurrency applies to a host; a family can have --budget and --delay: drop --concurrency")
    else:
        _tell(said, "limit_pattern", pattern=family, **given)


@click.command(name="block")
@to_target
@click.argument("host", metavar="HOST")
@number(
    "--for", 3600.0, "For how long, or 30m, 2h, 1d; 0 ends the block.", field="seconds", metavar="SECONDS", kind=TIME, most=1e9
)
def block(said: Said, host: str, seconds: float) -> None:
    """Fetch nothing from HOST for a while; --for 0 ends a block.

    \b
    frontrank block my-crawl www.example.org --for 7200
    """
    import time

    if is_address(said.target):
        _post(said, "block", {"host": host, "seconds": seconds})
    else:
        _tell(said, "block_until", host=host, until=time.time() + seconds if seconds else 0.0)


ALL = click.option("--all", "whole", is_flag=True, help="All crawls of a service at once.")


@click.command(name="pause")
@to_target
@ALL
def pause(said: Said, whole: bool) -> None:
    """Pause a crawl until it is resumed. Pages in flight still arrive."""
    _tell_all(said, "pause") if whole else _tell(said, "pause")


@click.command(name="resume")
@to_target
@ALL
def resume(said: Said, whole: bool) -> None:
    """Resume a paused crawl. If the whole service was paused, --all resumes it."""
    _tell_all(said, "resume") if whole else _tell(said, "resume")


def is_address(target: str) -> bool:
    return bool(ADDRESS.match(target)) and not Path(target).exists()


class Said(NamedTuple):
    """To whom something is said, and how the answer is shown."""

    target: str
    crawl: str
    token_file: str | None
    tls_ca: str
    insecure: bool
    as_json: bool

    def show(self, done: bool) -> None:
        from frontrank.cli.screen import show_json

        if self.as_json:
            show_json({"target": self.target, "done": done})
        elif done:
            print(f"{self.target}: done")
        else:
            print(f"{self.target}: noted; the running process will act on it when it takes its next page")


def _tell(said: Said, verb: str, **given: Any) -> None:
    from frontrank.crawl.inbox import send_command

    if is_address(said.target):
        path = {"limit_host": "limits", "limit_pattern": "families"}.get(verb, verb)
        _post(said, path, given)
    else:
        said.show(send_command(Path(said.target), verb, **given))


def _tell_all(said: Said, verb: str) -> None:
    from frontrank.errors import InputError

    if not is_address(said.target):
        raise InputError(f"--all is for the address of a service, got the directory {said.target}; drop --all")
    said.show(bool(_asked(said, verb, {}).get("applied", True)))


def _post(said: Said, path: str, body: dict[str, Any]) -> None:
    said.show(bool(post(said, path, body).get("applied", True)))


def post(said: Said, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """What a service answers to an action on one of its crawls."""
    from urllib.parse import quote

    return _asked(said, f"crawls/{quote(said.crawl, safe='')}/{path}", body)


def _asked(said: Said, path: str, body: dict[str, Any]) -> dict[str, Any]:
    from frontrank.service.http.rest_client import RestClient
    from frontrank.service.security import read_token

    token = read_token(said.token_file) if said.token_file else ""
    client = RestClient(said.target, token, said.tls_ca, said.insecure)
    answer: dict[str, Any] = client.request(f"/api/v1/{path}", body, post=True)
    return answer
