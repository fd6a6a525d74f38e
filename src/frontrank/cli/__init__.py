"""The command line: a thin layer over the library. One file for each command, read only when it is called."""

from __future__ import annotations

import errno
import signal
import sys
from importlib import import_module
from io import TextIOWrapper

import click

from frontrank.crawl.verbs import COMMAND, verbs_for
from frontrank.errors import EXTRA_OF, FrontrankError, MissingExtra
from frontrank.system import stopping

GROUPS = {
    "Start here": {
        "demo": "The whole story, on a small generated web.",
        "recommend": "Which ordering to use: tried on your web, or from a table.",
        "orderings": "List the orderings with their parameters.",
    },
    "Crawl": {
        "crawl": "Crawl the web politely, durably, in the order of your choice.",
        "status": "How far a crawl is, and what it will fetch next.",
        "export": "The fetched pages as a table, Markdown files or a web archive.",
        "trace": "What happened in a crawl, one event per line.",
        "explain": "Why a page is where it is in the queue.",
        "dashboard": "Watch and control a crawl in a browser.",
        "mcp": "Answer a language model's questions about a crawl.",
        "web": "Serve a known web on loopback, to test crawlers on.",
    },
    "Control a crawl, even while it runs": {verb.command: verb.brief for verb in verbs_for(COMMAND)}
    | {
        "ask": "Tell a crawl what searchers ask from now on.",
        "impact": "Tell a crawl the clicks or views of its pages.",
    },
    "One frontier for many fetchers": {
        "serve": "Serve crawls to fetchers in any language, over gRPC.",
        "fetch": "Fetch pages for a crawl that is served elsewhere.",
    },
    "Compare orderings": {
        "simulate": "Crawl a known web with one or more orderings, and measure them.",
        "report": "Compare orderings in one HTML page.",
        "plot": "Draw the curves of saved runs as a picture.",
        "leaderboard": "All orderings on several webs: which wins where, at what cost.",
        "revisit": "When to fetch pages again: revisit policies on a changing web.",
        "reproduce": "Rerun a paper's comparisons and check its claims.",
        "convert": "Write any web as a web directory, which loads instantly.",
    },
    "Search": {
        "import": "Import crawl tables and search logs into a crawl directory.",
        "rank": "The pages to fetch next, and what each score is made of.",
        "evaluate": "Which ranker finds the pages that searchers will need?",
        "tune": "Choose rw-eg's omega and gamma on pages of known impact.",
    },
    "Extend it": {
        "plugins": "List what installed packages add: orderings, sources, ...",
    },
}
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}
MODULES = {"import": "import_"}
MODULES |= {verb.command: "control:COMMANDS" for verb in verbs_for(COMMAND)}
MODULES |= {name: f"searchers:{name}" for name in ("ask", "impact")}
HIDDEN = {"policies": "orderings"}  # what a command was called before
# Options of other programs, and what they are called here.
MEANT = dict.fromkeys(("--limit", "--pages", "--max-pages", "--count", "-n"), "--budget")


class Commands(click.Group):
    """Commands by name; their modules are imported when they are run, so that --help answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        name = HIDDEN.get(name, name)
        if name not in COMMANDS:
            return None
        module, _, attribute = MODULES.get(name, name).partition(":")
        found = getattr(import_module(f"frontrank.cli.{module}"), attribute or "command")
        command: click.Command = found[name] if isinstance(found, dict) else found
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in (*COMMANDS, *HIDDEN):
            from frontrank.errors import SpecError, nearest

            raise SpecError(f"unknown command {args[0]!r}{nearest(args[0], COMMANDS)}")
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and rest:
            from frontrank.deprecated import current_arguments

            rest = current_arguments(str(command.name), [flag for option in command.params for flag in option.opts], rest)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        longest = max(map(len, COMMANDS))
        for group, commands in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name.ljust(longest), text) for name, text in commands.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "-v", "-V", "--version", package_name="frontrank")
def command() -> None:
    """Which page should a web crawler fetch next? Simulate, compare and explain crawl orderings.

    \b
    frontrank demo
    frontrank simulate WEB --ordering bfs --ordering fpr --budget 0.3
    frontrank orderings

    WEB is a BVGraph base name, an edge list, a directory, or synthetic:pages=100000,seed=7.
    """


def main(args: list[str] | None = None) -> None:
    """Run a command. Bad input: one sentence on standard error, exit code 2. Ctrl-C: 130, SIGTERM: 143."""
    with stopping.watching() as watch:
        try:
            code = _run(args)
            if watch is not None:
                watch.code = code
        except (KeyboardInterrupt, SystemError, RuntimeError) as stop:  # click.Abort is one
            # An interrupt while the compiler hands machine code over is raised as another error, or as one of the interpreter.
            asked = 0 if watch is None else watch.asked
            if not (asked or isinstance(stop, KeyboardInterrupt | click.Abort)):
                raise
            cause = stop.__cause__ if isinstance(stop, click.Abort) else stop if isinstance(stop, KeyboardInterrupt) else None
            code = 128 + (asked or signal.SIGINT)
            if watch is not None:
                watch.code = code  # no interrupt comes after this one
            print(f"frontrank: {str(cause or '') or 'interrupted'}", file=sys.stderr)
    if code:
        sys.exit(code)


def _run(args: list[str] | None) -> int:
    given = sys.argv[1:] if args is None else args
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")  # a terminal without a sign such as ± shows another: "?"
    if given[:1] == ["help"]:
        given = [*given[1:2], "--help"]
    try:
        command.main(args=given or ["--help"], prog_name="frontrank", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        print(f"frontrank: standard output cannot be written: {error.strerror}", file=sys.stderr)
        sys.stdout = None
        return 2
    except FrontrankError as error:
        print(f"frontrank: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module not in EXTRA_OF:
            raise
        print(f"frontrank: {MissingExtra(module)}", file=sys.stderr)
        return 2
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:
        raise
    except click.UsageError as error:
        print(f"frontrank: {_what_is_wrong(error)}; see {_called(given)} --help", file=sys.stderr)
        return 2
    except click.ClickException as error:
        print(f"frontrank: {error.format_message()}", file=sys.stderr)
        return 2
    return 0


def _what_is_wrong(error: click.UsageError) -> str:
    """What click says, or the option that was meant by a name that other programs have for it."""
    flags = [flag for option in error.ctx.command.params for flag in option.opts] if error.ctx else []
    if isinstance(error, click.NoSuchOption) and (meant := MEANT.get(error.option_name)) in flags:
        return f"No such option {error.option_name!r}; how many pages to fetch is {meant}"
    return error.format_message().rstrip(".")


def _called(args: list[str]) -> str:
    """This program and the command that was meant, as they can be typed."""
    from frontrank.cli.screen import own_name

    return f"{own_name()} {args[0]}" if args and args[0] in COMMANDS else own_name()
