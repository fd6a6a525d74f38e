"""frontrank demo: the whole story on a small generated web, served on loopback and crawled for real."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from frontrank.cli.screen import Output, output_options, own_name, percent, progress, say, show_csv, show_json, terminal_width
from frontrank.orderings import DEFAULT_ORDERING

if TYPE_CHECKING:
    from frontrank.lab.compare import Runs
    from frontrank.lab.race import Lane, Show

WEB = "synthetic:pages=20000,hosts=200,text=0,trap=2000,seed=7"
RACERS = ("bfs", DEFAULT_ORDERING)
ORDERINGS = ("random", "dfs", "bfs", "backlink", "largest-site", "fica:k=700", "opic", "rankmass", "fpr", "fpr:m=100", "surf")
SHARE = "0.1"
MAX_BAR_LENGTH = 50


@click.command(name="demo")
@click.option("--out", default="frontrank-demo", show_default=True, metavar="DIR", help="Where the results go.")
@output_options
def command(out: str, output: Output) -> None:
    """Serve a web of 20,000 pages on loopback and crawl a tenth of it for real, breadth-first and by surf.

    Then eleven orderings are simulated on the same web, and the report sets all of them side by side.
    """
    from frontrank.errors import need
    from frontrank.lab.saved_runs import check_runs_target
    from frontrank.system.files import written_beside

    need("selectolax", "protego")
    check_runs_target(out)
    signal.signal(signal.SIGHUP, lambda number, frame: sys.exit(128 + number))  # a closed window must not leave a server behind
    try:
        with written_beside(out) as folder:
            folder.mkdir()
            runs = run(folder)
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(f"{str(stop) or 'interrupted'}; nothing was written to {out}") from None
    figures = runs.json()
    if output.as_json:
        show_json({**figures, "report": f"{out}/report.html", "crawls": f"{out}/crawls"})
    elif output.as_csv:
        show_csv(runs.frame())
    else:
        tell_all(runs, figures, out)


def run(folder: Path) -> Runs:
    """Everything, into a directory that is there."""
    from dataclasses import replace

    from frontrank.lab.compare import compare
    from frontrank.lab.race import race
    from frontrank.lab.webserver import run_in_process
    from frontrank.sources import load

    with progress() as tell:
        tell("generating a web of 20,000 pages", 0, 0)
        web = load(WEB)
        runs = compare(web, ORDERINGS, progress=tell, source=WEB, command="frontrank demo")
    with racing(web.pages // 10) as watch, run_in_process(WEB) as proxy:
        crawled = race(web, proxy, RACERS, web.pages // 10, folder / "crawls", float(SHARE), show=watch)
    with progress() as tell:
        tell("writing the report", 0, 0)
        runs = replace(runs, runs=(*crawled, *runs.runs))
        runs.write(folder)
    return runs


def tell_all(runs: Runs, figures: dict[str, Any], out: str) -> None:
    """The result, in a screen of 80 columns and 24 lines; what was really crawled comes last."""
    web = runs.web
    tenth = f"{web.pages // 10:,}"
    hot = {spec: value["hot"][SHARE] or 0.0 for spec, value in figures["policies"].items()}
    say(
        f"A generated web of {web.pages:,} pages on {len(web.host_names or ()):,} hosts. Of its {tenth} best pages, how many "
        f"are among the first {tenth} that a crawl fetches? Eleven orderings, simulated:"
    )
    for spec in sorted(ORDERINGS, key=lambda spec: -hot[spec]):
        show_bar(spec, hot[spec])
    print()
    say("Crawled for real, over HTTP from a server on this machine:")
    for run in runs[: len(RACERS)]:
        show_bar(run.given, hot[run.spec], f"{run.seconds:.0f} s, {run.trace.fetched / run.seconds:.0f} pages/s")
    me, crawl = own_name(), shlex.quote(f"{out}/crawls/{RACERS[-1].replace(':', '-').replace('=', '')}")
    print(f"\nAll figures and curves, for a browser: {out}/report.html")
    print(f"What that crawl would fetch next, and a crawl of your own:\n  {me} status {crawl}")
    print(f"  {me} crawl https://YOUR-SITE/ --out my-crawl --budget 1000")


def show_bar(name: str, share: float, more: str = "") -> None:
    """A name, a bar and a share; the bar is as long as the terminal has room for."""
    width = terminal_width()
    room = MAX_BAR_LENGTH if width is None else max(10, min(MAX_BAR_LENGTH, width - 46))
    print(f"  {name:<14}{bar(share, room)}{percent(share):>6}   {more}".rstrip())


def bar(share: float, room: int = MAX_BAR_LENGTH) -> str:
    return f"{'█' * round(room * share):<{room + 1}}"


@contextmanager
def racing(budget: int) -> Iterator[Show | None]:
    """A live view of the race on standard error; in a pipe a line every ten seconds."""
    if not sys.stderr.isatty():
        with _racing_lines(budget) as watch:
            yield watch
        return
    from rich.console import Console
    from rich.table import Table

    from frontrank.fetching.crawler.display import explained

    console = Console(stderr=True)
    room = max(10, min(MAX_BAR_LENGTH, console.width - 48))
    with explained(console) as show:
        show("starting a server")

        def draw(lanes: list[Lane]) -> None:
            title = f"Crawling for real: {budget:,} pages each; share of the best tenth found. Ctrl-C stops it."
            table = Table(title=title, title_justify="left", box=None, pad_edge=False)
            for name in ("ordering", "pages", "waiting", "found"):
                table.add_column(name, justify="left" if name == "ordering" else "right", no_wrap=True)
            table.add_column("", width=room + 1)
            for lane in lanes:
                waiting = "" if lane.seconds else f"{lane.job.crawl.inspect.waiting:,}"
                table.add_row(lane.spec, f"{len(lane.found):,}", waiting, percent(lane.hot), bar(lane.hot, room))
            show(table)

        yield draw


@contextmanager
def _racing_lines(budget: int) -> Iterator[Show | None]:
    from frontrank.system.waiting import every_s, lines

    if not every_s():
        yield None
        return
    now: list[str] = []

    def note(lanes: list[Lane]) -> None:
        now[:] = [f"{len(lane.found):,} of {budget:,} pages by {lane.spec}" for lane in lanes]

    with lines(lambda: f"crawling for real: {', '.join(now) or 'starting a server'}"):
        yield note
