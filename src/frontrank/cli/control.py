"""frontrank boost, limit, block, pause, resume: control of a crawl, by its directory or by the address of a service.

The commands are made from the table of operator verbs. A crawl that runs applies what is written into its directory; one that
does not is opened, changed and closed again. A service is asked over HTTP.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from frontrank.cli.click_options import click_option, trust_option
from frontrank.crawl.verbs import COMMAND, VERBS, Parameter, Verb, verbs_for
from frontrank.errors import InputError

ADDRESS = re.compile(r"(https?://)?[^/\\]+:\d+/?$")
HELP = {
    "boost": """Move pages whose URL matches REGEX before all others, known or yet to be found; a BY below 0 moves them behind.

    DIR is a crawl, running or not; ADDRESS is the HTTP address of a service, such as 127.0.0.1:7072. Boosts of several
    patterns add up; 0 removes the boost of a pattern.

    \b
    frontrank boost my-crawl '/news/' +2
    frontrank boost my-crawl '[.]pdf$' -1
    frontrank boost 127.0.0.1:7072 '/news/' 0
    """,
    "limit": """Limit hosts, or all pages whose URL matches a pattern. Limits not given stay as they are.

    \b
    frontrank limit my-crawl www.example.org www.example.net --delay 5
    frontrank limit my-crawl --pattern '[?&]page=' --budget 1000
    """,
    "block": """Fetch nothing from HOST for a while; --for 0 ends a block.

    \b
    frontrank block my-crawl www.example.org --for 7200
    """,
    "pause": "Pause a crawl until it is resumed. Pages in flight still arrive.",
    "resume": "Resume a paused crawl. If the whole service was paused, --all resumes it.",
}
F = Callable[..., Any]


class Recipient(NamedTuple):
    """The crawl that a command is for, and how the outcome is printed."""

    target: str
    crawl: str
    token_file: str | None
    tls_ca: str
    insecure: bool
    as_json: bool

    @property
    def is_service(self) -> bool:
        return bool(ADDRESS.match(self.target)) and not Path(self.target).exists()

    def send(self, method: str, given: dict[str, Any]) -> bool:
        """Have the crawl of a directory do something. False if it runs, and has not done it yet."""
        from frontrank.crawl.inbox import send_command

        return send_command(Path(self.target), method, **given)

    def post(self, path: str, body: dict[str, Any], for_all: bool = False) -> dict[str, Any]:
        """What a service answers to an action on one of its crawls, or on all."""
        from urllib.parse import quote

        from frontrank.service.http.rest_client import RestClient
        from frontrank.service.security import read_token

        token = read_token(self.token_file) if self.token_file else ""
        of = "" if for_all else f"crawls/{quote(self.crawl, safe='')}/"
        client = RestClient(self.target, token, self.tls_ca, self.insecure)
        answer: dict[str, Any] = client.request(f"/api/v1/{of}{path}", body, post=True)
        return answer

    def show(self, done: bool, text: str = "done", later: str = "", **figures: Any) -> None:
        from frontrank.cli.screen import show_json

        if self.as_json:
            show_json({"target": self.target, **figures, "done": done})
        else:
            late = later or "noted; the running process will act on it when it takes its next page"
            print(f"{self.target}: {text if done else late}")


def to_recipient(command: F) -> Any:
    """A command for a crawl in a directory, or for one of a service."""
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
    def with_recipient(
        target: str, crawl: str, token_file: str | None, tls_ca: str, insecure: bool, as_json: bool, **given: Any
    ) -> Any:
        return command(to=Recipient(target, crawl, token_file, tls_ca, insecure, as_json), **given)

    decorated: Any = with_recipient
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


# The commands of the table --------------------------------------------------------------------------------------------------
def command_of(name: str) -> click.Command:
    """The command of the verbs that share this name."""
    verbs = [verb for verb in verbs_for(COMMAND) if verb.command == name]

    def run(to: Recipient, **given: Any) -> None:
        if given.pop("for_all", False):
            _for_all(to, verbs[0])
            return
        verb, subjects = _chosen(verbs, given)
        values = {key: value for key, value in given.items() if value is not None}
        verb.check(values, _written)
        done = [_call(to, verb, {**subject, **values}) for subject in subjects]
        to.show(all(done))

    several = len(verbs) > 1
    parameters = list({one.field: one for verb in verbs for one in verb.parameters}.values())
    decorated: Any = run
    if any(verb.for_all for verb in verbs):
        decorated = click.option("--all", "for_all", is_flag=True, help="All crawls of a service at once.")(decorated)
    for one in reversed(parameters):
        decorated = _click_parameter(one, several, verbs)(decorated)
    lenient = {"ignore_unknown_options": any(one.argument and one.minimum < 0 for one in parameters)}  # -1 is no option
    return click.command(name=name, help=HELP.get(name, verbs[0].about), context_settings=lenient)(to_recipient(decorated))


def _click_parameter(one: Parameter, several: bool, verbs: list[Verb]) -> Callable[[F], F]:
    first = one is verbs[0].parameters[0]
    if one.argument or (first and not several):
        shown = f"[{one.metavar}]..." if several else one.metavar
        return click.argument(one.field, metavar=shown, nargs=-1 if several else 1, callback=_reader(one))
    return click_option(one, one.default)


def _reader(one: Parameter) -> Callable[..., Any]:
    def read(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        read_one = functools.partial(one.read, written=one.metavar)
        return tuple(map(read_one, value)) if isinstance(value, tuple) else read_one(value)

    return read


def _chosen(verbs: list[Verb], given: dict[str, Any]) -> tuple[Verb, list[dict[str, Any]]]:
    """The verb that is meant, and each host or pattern that it is about; ``given`` keeps the rest."""
    if not verbs[0].parameters:
        return verbs[0], [{}]
    subjects = {verb.parameters[0].field: given.pop(verb.parameters[0].field) for verb in verbs}
    named = [verb for verb in verbs if subjects[verb.parameters[0].field]]
    if len(named) != 1:
        ways = " or ".join(_written(verb.parameters[0]) for verb in verbs)
        raise InputError(f"{verbs[0].command} needs either {ways}")
    (verb,) = named
    own = {one.field for one in verb.parameters}
    rest = [one for other in verbs for one in other.parameters if one.field not in own]
    for other in (one for one in rest if given.get(one.field) is not None):
        can = " and ".join(one.flag for one in verb.parameters[1:])
        raise InputError(f"{other.flag} does not apply to {_written(verb.parameters[0])}; it can have {can}: drop {other.flag}")
    subject = subjects[verb.parameters[0].field]
    return verb, [{verb.parameters[0].field: one} for one in (subject if isinstance(subject, tuple) else (subject,))]


def _written(one: Parameter) -> str:
    return one.metavar if one.argument else f"{one.flag} {one.metavar}" if one.needed else one.flag


def _call(to: Recipient, verb: Verb, given: dict[str, Any]) -> bool:
    if to.is_service:
        return bool(to.post(verb.path, given).get("applied", True))
    return to.send(verb.method, verb.arguments(given, time.time()))


def _for_all(to: Recipient, verb: Verb) -> None:
    if not to.is_service:
        raise InputError(f"--all is for the address of a service, got the directory {to.target}; drop --all")
    to.show(bool(to.post(verb.path, {}, for_all=True).get("applied", True)))


COMMANDS = {name: command_of(name) for name in dict.fromkeys(verb.command for verb in VERBS if COMMAND in verb.callers)}
