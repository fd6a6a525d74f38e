"""What a person sees while a crawl runs: a panel on the terminal, once a second; in a pipe, a line every ten.

A first crawl compiles its kernels, some when it begins and some when its first page arrives: seconds, which are explained.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from frontrank.fetching.counting import time_left
from frontrank.fetching.crawler.pace import LOOKS, Pace, spoken
from frontrank.fetching.crawler.summary import ENDS
from frontrank.kernels.compiling import is_compiling
from frontrank.system.waiting import clock, every_s, lines

if TYPE_CHECKING:
    from frontrank.fetching.crawler.job import Job
    from frontrank.fetching.crawler.run import Watch

HOSTS, REASONS, NEXT, RATE_S = 6, 5, 3, 10
ECHO = 4  # columns to the right of the panel: a terminal writes ^C there, and must not wrap, or a line of the panel stays
COMPILING = "compiling, first time only"
LARGE = 200_000  # waiting pages; above, the next URLs are not looked up: sorting them takes too long for each second


@contextmanager
def watching(quiet: bool = False) -> Iterator[Watch | None]:
    """What to call once a second with the crawl's job; None if nobody looks."""
    if quiet or not (sys.stderr.isatty() or every_s()):
        yield None
        return
    pace = Pace()
    if not sys.stderr.isatty():
        progress = ["starting"]
        with lines(lambda: progress[0] + (f"; {COMPILING}" if is_compiling() else "")):
            yield lambda job: progress.__setitem__(0, summed_up(job, pace))
        return
    from rich.console import Console

    console = Console(stderr=True)
    with explained(console) as show:
        yield lambda job: show(panel(job, pace, console.width - ECHO))


@contextmanager
def explained(console: Any) -> Iterator[Callable[[Any], None]]:
    """A picture on the terminal, drawn by calling what this gives; below it stands that the compiler is at work, if it is."""
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    from frontrank.kernels.compiling import watch_compiling

    drawn: list[Any] = []
    since: list[float] = []  # when a compilation began that has not ended

    def picture() -> Any:
        waiting = [Text(f"{COMPILING}, {clock(time.monotonic() - since[0])}", style="dim")] if since else []
        return Group(*drawn, *waiting)

    with Live(console=console, get_renderable=picture, refresh_per_second=2, transient=True) as screen:

        def show(what: Any) -> None:
            drawn[:] = [what]
            screen.refresh()

        def compiling(begins: bool) -> None:
            since[:] = [time.monotonic()] if begins else []
            screen.refresh()

        with watch_compiling(compiling):
            yield show


def summed_up(job: Job, pace: Pace) -> str:
    """How far a crawl is, in a line."""
    inspect = job.crawl.inspect
    pace.note(len(job.crawl.state.progress.order))
    budget = f" of {job.options.budget:,}" if job.options.budget else ""
    return f"{inspect.fetched_count:,}{budget} pages fetched, {inspect.waiting:,} waiting, {pace.over(RATE_S):,.1f} pages/s"


def panel(job: Job, pace: Pace, width: int) -> Any:
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    pace.note(len(job.crawl.state.progress.order))
    parts: list[Any] = [_bar(job, pace), _facts(job, pace), _hosts(job)]
    counted = Counter({f"failed: {reason}": count for reason, count in job.failures.items()}) + job.counts
    if counted:
        parts.append(Text("; ".join(f"{reason} {count:,}" for reason, count in counted.most_common(REASONS)), style="dim"))
    parts += [
        Text(f"possible trap {trap['pattern']}", style="dim", no_wrap=True, overflow="ellipsis")
        for trap in list(job.traps.found.values())[:NEXT]
    ]
    if resting := rests(job.trouble.resting(), len(job.trouble.given_up)):
        parts.append(Text(resting, style="yellow"))
    parts += [Text(f"next {url}", style="dim", no_wrap=True, overflow="ellipsis") for url in _next(job)]
    minutes, seconds = divmod(int(job.elapsed_s), 60)
    title = f"frontrank crawl  {job.crawl.state.policy.spec()}  {minutes}:{seconds:02}"
    shown = [part for part in parts if part is not None]
    return Panel(Group(*shown), title=title, title_align="left", subtitle=_state(job), subtitle_align="left", width=width)


def rests(resting: list[tuple[str, str, float]], given_up: int = 0) -> str:
    """
    >>> rests([("a.example", "timeout", 40.2), ("b.example", "http 429", 3.0), ("c.example", "timeout", 9.0)], 1)
    '3 hosts rest: timeout (2), http 429 (1), next try in 3 s; 1 host given up'
    """
    reasons = Counter(reason for _, reason, _ in resting)
    why = ", ".join(f"{reason} ({count:,})" if len(resting) > 1 else reason for reason, count in reasons.most_common(REASONS))
    parts = []
    if resting:
        soon = spoken(min(left for _, _, left in resting))
        parts.append(f"{len(resting):,} host{'s rest' if len(resting) > 1 else ' rests'}: {why}, next try in {soon}")
    if given_up:
        parts.append(f"{given_up:,} host{'s' * (given_up > 1)} given up")
    return "; ".join(parts)


def _state(job: Job) -> str:
    if job.ended:
        return (
            f"{ENDS.get(job.ended, job.ended)}; waiting for {job.crawl.inspect.leased:,} pages in flight (Ctrl-C: stop at once)"
        )
    return "reading sitemaps" if job.reading else "Ctrl-C: stop within seconds; nothing is lost"


def _bar(job: Job, pace: Pace) -> Any:
    """How much of the budget or of the time is spent, and what is left; nothing if the crawl has no such end."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    ends = []
    if job.options.budget:
        asked, budget = job.asked, job.options.budget
        ends.append((time_left(budget - asked, pace.over(LOOKS)), asked / budget, f"{asked:,} of {budget:,} pages"))
    if job.options.time_s:
        spent, limit = min(job.elapsed_s, job.options.time_s), job.options.time_s
        ends.append((limit - spent, spent / limit, f"{spoken(spent)} of {spoken(limit)}"))
    if not ends:
        return None
    left, share, text = min(ends, key=lambda end: (end[0] is None, end[0]))
    more = "" if left is None or job.ended else f", about {spoken(left)} left"
    row = Table.grid(padding=(0, 1), expand=True)
    row.add_column(ratio=1)
    row.add_column(no_wrap=True)
    row.add_row(ProgressBar(1.0, min(share, 1.0)), f"{share:4.0%}  {text}{more}")
    return row


def _facts(job: Job, pace: Pace) -> Any:
    from rich.table import Table

    crawl = job.crawl
    facts = Table.grid(padding=(0, 2))
    for _ in range(3):
        facts.add_column(style="dim")
        facts.add_column(justify="right")
    facts.add_row(
        "fetched",
        f"{crawl.inspect.fetched_count:,}",
        "failed",
        f"{crawl.inspect.failed_count:,}",
        "in flight",
        f"{crawl.inspect.leased:,}",
    )
    facts.add_row(
        "waiting", f"{crawl.inspect.waiting:,}", "known", f"{crawl.inspect.known:,}", "pages/s", f"{pace.over(RATE_S):,.1f}"
    )
    if crawl.inspect.revisits:
        facts.add_row("revisits", f"{crawl.inspect.revisits:,}")
    for name, value in crawl.inspect.gauges().items():
        facts.add_row(name, f"{value:.4f}")
    return facts


def _hosts(job: Job) -> Any:
    """The hosts with most pages waiting, and what holds them."""
    from rich.table import Table

    crawl = job.crawl
    now = crawl.inspect.now()
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("host", "waiting", "in flight", "taken", "delay", "ready in"):
        table.add_column(name, justify="left" if name == "host" else "right", overflow="ellipsis", no_wrap=True)
    for host in crawl.inspect.busiest_hosts(HOSTS):
        wait = host["ready_at"] - now
        free = f"{wait:.1f} s" if wait > 0 else "spent" if 0 < host["budget"] <= host["taken"] else "now"
        table.add_row(
            host["host"], f"{host['waiting']:,}", str(host["leased"]), f"{host['taken']:,}", f"{host['delay']:g} s", free
        )
    return table


def _next(job: Job) -> list[str]:
    """The pages that come next, if their hosts may be asked."""
    crawl = job.crawl
    return [] if crawl.inspect.waiting > LARGE else [page["url"] for page in crawl.inspect.next(NEXT)]
