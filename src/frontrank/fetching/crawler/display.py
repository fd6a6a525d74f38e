"""What a person sees while a crawl runs: a panel on the terminal, once a second. In a pipe, nothing."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frontrank.fetching.crawler.job import Job
    from frontrank.fetching.crawler.run import Watch

HOSTS, REASONS, NEXT, RATE_S = 6, 5, 3, 10
LARGE = 200_000  # waiting pages; above, the next URLs are not looked up: sorting them takes too long for each second


@contextmanager
def watching(quiet: bool = False) -> Iterator[Watch | None]:
    """What to call once a second with the crawl's job; None if nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    pace = Pace()
    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as screen:
        yield lambda job: screen.update(panel(job, pace), refresh=True)


class Pace:
    """Pages a second, over the last few seconds."""

    def __init__(self) -> None:
        self.seen: deque[tuple[float, int]] = deque(maxlen=RATE_S + 1)

    def of(self, pages: int) -> float:
        self.seen.append((time.monotonic(), pages))
        (first, before), (last, now) = self.seen[0], self.seen[-1]
        return (now - before) / (last - first) if last > first else 0.0


def panel(job: Job, pace: Pace) -> Any:
    from rich.console import Group
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    crawl = job.crawl
    facts = Table.grid(padding=(0, 2))
    of = f" of {job.options.budget:,}" if job.options.budget else ""
    facts.add_row(
        "pages", f"{crawl.fetched_count:,}{of}", "failed", f"{crawl.failed_count:,}", "in flight", f"{crawl.leased:,}"
    )
    rate = pace.of(len(crawl.order))
    facts.add_row("waiting", f"{crawl.waiting:,}", "known", f"{crawl.known:,}", "a second", f"{rate:,.1f}")
    for name, value in crawl.gauges().items():
        facts.add_row(name, f"{value:.4f}")
    parts: list[Any] = [facts, _hosts(job)]
    told = Counter({f"failed: {reason}": count for reason, count in job.failures.items()}) + job.counts
    if told:
        parts.append(Text("; ".join(f"{reason} {count:,}" for reason, count in told.most_common(REASONS)), style="dim"))
    parts += [Text(f"next {url}", style="dim", no_wrap=True, overflow="ellipsis") for url in _next(job)]
    minutes, seconds = divmod(int(job.elapsed_s), 60)
    state = f"ending: {job.ended}" if job.ended else "reading sitemaps" if job.reading else "Ctrl-C stops it well"
    title = f"frontrank crawl  {crawl.policy.spec()}  {minutes}:{seconds:02}  {state}"
    return Panel(Group(*parts), title=title, title_align="left")


def _hosts(job: Job) -> Any:
    """The hosts with most pages waiting, and what holds them."""
    from rich.table import Table

    crawl = job.crawl
    now = crawl.clock() + crawl.shift
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("host", "waiting", "out", "taken", "delay", "free in"):
        table.add_column(name, justify="left" if name == "host" else "right", overflow="ellipsis", no_wrap=True)
    for host in crawl.busiest_hosts(HOSTS):
        wait = host["ready_at"] - now
        free = f"{wait:.1f} s" if wait > 0 else "spent" if 0 < host["budget"] <= host["taken"] else "now"
        table.add_row(
            host["host"], f"{host['waiting']:,}", str(host["leased"]), f"{host['taken']:,}", f"{host['delay']:g} s", free
        )
    return table


def _next(job: Job) -> list[str]:
    """The pages that come next, if their hosts may be asked."""
    crawl = job.crawl
    return [] if crawl.waiting > LARGE else [page["url"] for page in crawl.next(NEXT)]
