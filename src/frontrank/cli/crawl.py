"""frontrank crawl: a polite, durable crawl of the real web, in the order of any ordering.

Its options are those of ``fetching.crawler.options``, which is the only place that knows their defaults, limits and help.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from frontrank.cli.click_options import asked_in, given_of, trust_option
from frontrank.cli.screen import own_name, show_json
from frontrank.fetching.crawler.options import Options, options

if TYPE_CHECKING:
    from frontrank.fetching.crawler.summary import Summary

HINT = "hint: --contact URL_OR_EMAIL tells site owners how to reach you (-q hides this)"


class Grouped(click.Command):
    """A command whose help lists its options by what they are about."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {"The crawl": []}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if row is not None:
                known = options().get(parameter.name or "")
                groups.setdefault(known.group if known else "The crawl", []).append(row)
        for group, rows in groups.items():
            with formatter.section(group):
                formatter.write_dl(rows)


@click.command(name="crawl", cls=Grouped)
@click.argument("seeds", nargs=-1, metavar="URL...")
@click.option("--out", metavar="DIR", help="A new directory for the crawl: trace, pages (WARC), log, report.")
@click.option("--resume", "resume_dir", metavar="DIR", help="Resume the crawl in this directory where it stopped.")
@click.option("--config", metavar="FILE", help="Read options from a TOML file, under the same names; flags override it.")
@click.option("--seeds", "seed_file", metavar="FILE", help="More URLs to start from, one per line.")
@asked_in(Options, without=("seeds",))
@click.option("--rescore", is_flag=True, help="With --resume and --ordering: continue with another ordering.")
@click.option(
    "--retry-failed",
    is_flag=False,
    flag_value="",
    metavar="[REASON]",
    help="With --resume: try pages that failed again, all or those of a reason such as 'connection refused'.",
)
@trust_option
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Show nothing while the crawl runs.")
def command(
    seeds: tuple[str, ...],
    *,
    out: str | None,
    resume_dir: str | None,
    config: str | None,
    seed_file: str | None,
    rescore: bool,
    retry_failed: str | None,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Crawl the web from these URLs, politely and durably, in the order of your choice. Every crawl can be resumed.

    \b
    frontrank crawl https://example.org/ --out crawl --budget 1000 \\
        --contact you@example.org
    frontrank crawl https://example.org/ --out crawl --ordering opic \\
        --scope domain --exclude '/login' --time 2h
    frontrank crawl https://example.org/ --out crawl --budget 40 \\
        --goal "solar energy at home"
    frontrank crawl --config crawl.toml --out crawl
    frontrank crawl --resume crawl --budget 5000 --delay 2

    Ctrl-C stops the crawl within seconds, a second Ctrl-C at once. Nothing is lost either way.
    """
    from frontrank.errors import InputError
    from frontrank.fetching.crawler.config import read_config, read_seeds
    from frontrank.system.files import raise_file_limit

    raise_file_limit()
    if rescore and not resume_dir:
        raise InputError("--rescore was given without --resume; it changes the ordering of a crawl that has begun")
    if retry_failed is not None and not resume_dir:
        raise InputError("--retry-failed was given without --resume; it is about the pages of a crawl that has begun")
    if out and resume_dir:
        raise InputError("--out and --resume were both given; a crawl is resumed in its own directory: drop --out")
    if not out and not resume_dir:
        raise InputError("no directory given; name a new one with --out DIR, or resume a crawl with --resume DIR")
    filed = read_config(config) if config else {}
    chosen = given_of(given)
    if seeds or seed_file:
        chosen["seeds"] = (*seeds, *(read_seeds(seed_file) if seed_file else ()))
    if resume_dir:
        changes = {"rescore": rescore, "retry_failed": retry_failed}
        summary = _resume(resume_dir, filed, chosen, changes, quiet)
    else:
        summary = _start(str(out), filed, chosen, quiet)
    _show(summary, as_json)


def _over(base: dict[str, Any], chosen: dict[str, Any]) -> dict[str, Any]:
    """What the command line says goes before; its expressions are added to those there are."""
    longer = {name: (*base[name], *chosen[name]) for name in ("include", "exclude") if name in base and name in chosen}
    return {**base, **chosen, **{name: tuple(dict.fromkeys(texts)) for name, texts in longer.items()}}


def _start(out: str, filed: dict[str, Any], chosen: dict[str, Any], quiet: bool) -> Summary:
    from frontrank.errors import InputError
    from frontrank.fetching.crawler import run
    from frontrank.fetching.crawler.display import watching
    from frontrank.pages.scorers import goal_words

    given = _over(filed, chosen)
    if "goal" in given:
        goal_words(given["goal"])
    if given.get("goal") and "policy" in given:
        raise InputError("--goal and --ordering were both given; a goal chooses its own ordering: drop one of them")
    asked = Options(**given)
    with watching(quiet) as watch:
        job = run.new_job(asked, out)
        if not (quiet or asked.contact or asked.user_agent or asked.allow_private):  # the last: your own site
            print(HINT, file=sys.stderr)
        return run.run_loop(lambda: run.run_job(job, watch=watch))


def _resume(folder: str, filed: dict[str, Any], chosen: dict[str, Any], changes: dict[str, Any], quiet: bool) -> Summary:
    from frontrank.errors import InputError
    from frontrank.fetching.crawler import run
    from frontrank.fetching.crawler.display import watching

    stored = run.stored_options(folder, {**filed, **chosen}.get("policy"))
    if changes["rescore"] and "policy" not in {**filed, **chosen}:
        raise InputError("--rescore was given without --ordering; name the ordering to continue with")
    base = {"include": stored.include, "exclude": stored.exclude, **filed}
    with watching(quiet) as watch:
        return run.resume(folder, _over(base, chosen), **changes, watch=watch)


def _show(summary: Summary, as_json: bool) -> None:
    from frontrank.errors import MissingExtra
    from frontrank.fetching.crawler.summary import REPORT
    from frontrank.lab.report.crawl_report import write_crawl_report

    try:
        write_crawl_report(summary, os.path.join(summary.folder, REPORT))
    except MissingExtra as missing:  # a machine that only crawls can do without
        print(f"no {REPORT}: {missing}", file=sys.stderr)
    if as_json:
        show_json(summary.json())
    else:
        click.echo(summary.text(own_name()))
    if message := summary.no_pages_message(own_name()):
        print(f"frontrank: {message}", file=sys.stderr)
        sys.exit(1)
