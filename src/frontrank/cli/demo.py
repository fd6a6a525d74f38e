"""frontrank demo: the whole story on a small generated web, served on loopback and crawled for real."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from frontrank.cli.screen import percent, progress, show_json
from frontrank.cli.simulate import show

if TYPE_CHECKING:
    from frontrank.lab.compare import Runs
    from frontrank.lab.race import Lane, Show

WEB = "synthetic:pages=20000,hosts=200,text=0,trap=2000,seed=7"
RACERS = ("bfs", "fpr:m=100")
ORDERINGS = ("random", "dfs", "bfs", "backlink", "largest-site", "fica:k=700", "opic", "rankmass", "fpr", "fpr:m=100")
SHARE = "0.1"


@click.command(name="demo")
@click.option("--out", default="frontrank-demo", show_default=True, metavar="DIR", help="Where the results go.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures for a program.")
def command(out: str, as_json: bool) -> None:
    """Serve a web of 20,000 pages on loopback and crawl a tenth of it for real, breadth-first and by fpr:m=100.

    Then ten orderings are simulated on the same web, and the report sets all of them side by side.
    """
    from dataclasses import replace

    from frontrank.errors import need
    from frontrank.lab.compare import check_runs_target, compare
    from frontrank.lab.race import race
    from frontrank.lab.webserver import run_in_process
    from frontrank.sources import load
    from frontrank.web.files import written_beside

    need("scrapy", "selectolax")
    check_runs_target(out)
    with written_beside(out) as made:
        made.mkdir()
        with progress() as tell:
            tell("generating a web of 20,000 pages", 0, 0)
            web = load(WEB)
            runs = compare(web, ORDERINGS, progress=tell, source=WEB, command="frontrank demo")
        with run_in_process(WEB) as proxy, racing(web.pages // 10) as watch:
            crawled = race(web, proxy, RACERS, web.pages // 10, made / "crawls", float(SHARE), watch)
        with progress() as tell:
            tell("writing the report", 0, 0)
            runs = replace(runs, runs=(*crawled, *runs.runs))
            runs.write(made)
    figures = runs.json()
    if as_json:
        show_json({**figures, "report": f"{out}/report.html", "crawls": f"{out}/crawls"})
        return
    tell_all(runs, figures, out)


def tell_all(runs: Runs, figures: dict[str, Any], out: str) -> None:
    web = runs.web
    hot = {spec: value["hot"][SHARE] or 0.0 for spec, value in figures["policies"].items()}
    print(f"A web of {web.pages:,} pages on {len(web.host_names or ()):,} hosts, one of them a trap of 2,000 calendar pages,")
    print(f"was served on loopback and crawled for real: {web.pages // 10:,} pages over HTTP with each of two orderings.")
    print(f"How many of the {web.pages // 10:,} best pages did they get?\n")
    for run in runs[: len(RACERS)]:
        rate = run.trace.fetched / run.seconds
        print(f"  {run.spec:<21}{bar(hot[run.spec])}{percent(hot[run.spec]):>6}   {run.seconds:.0f} s, {rate:.0f} pages/s")
    print("\nThe same in simulation, with ten orderings:\n")
    for spec in sorted(ORDERINGS, key=lambda spec: -hot[spec]):
        print(f"  {spec:<21}{bar(hot[spec])}{percent(hot[spec]):>6}")
    print()
    show(runs)
    print(f"\nThe report with all curves: {out}/report.html (open it in a browser)")
    print(f"The crawls: frontrank status {out}/crawls/bfs; frontrank trace {out}/crawls/bfs; the pages themselves in WARC")
    print("Next: frontrank crawl https://YOUR-SITE/ --out my-crawl --budget 1000    (docs/tutorial.md)")


def bar(share: float) -> str:
    return f"{'█' * round(50 * share):<51}"


@contextmanager
def racing(budget: int) -> Iterator[Show | None]:
    """A live view of the race on standard error, on a terminal; nothing in a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as screen:

        def draw(lanes: list[Lane]) -> None:
            table = Table(
                title=f"Crawling for real: {budget:,} pages each; share of the best tenth found", title_justify="left"
            )
            for name in ("ordering", "pages", "waiting", "found"):
                table.add_column(name, justify="left" if name == "ordering" else "right")
            table.add_column("", width=51)
            for lane in lanes:
                waiting = "" if lane.seconds else f"{lane.job.crawl.waiting:,}"
                table.add_row(lane.spec, f"{len(lane.found):,}", waiting, percent(lane.hot), bar(lane.hot))
            screen.update(table, refresh=True)

        yield draw
