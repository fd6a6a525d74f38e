"""Running a crawl: alone in this process, or several beside each other in one reactor.

    crawl(options, out)                      from the seeds to the summary
    resume(out, {"budget": 20_000})          the same, for a crawl that has begun
    run(main)                                what both stand on: main(process) is awaited in a reactor that is made for it
    await start(options, out, process)       one crawl among others in main

Twisted's reactor starts once in a process, so the first three can be called once.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from frontrank import stopping
from frontrank.crawl.crawl import Crawl
from frontrank.crawl.journal import Journal
from frontrank.crawl.ranking import BACKGROUND
from frontrank.errors import InputError, StorageError, need
from frontrank.fetching.crawler import job as state
from frontrank.fetching.crawler.job import Job
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.scope import drop_out_of_reach, scope_of
from frontrank.fetching.crawler.summary import Summary, summarise
from frontrank.orderings.registry import parse
from frontrank.orderings.trust import trust_of, written_out
from frontrank.pages.warc_writer import Warc
from frontrank.search.workload import load_workload

if TYPE_CHECKING:
    from scrapy.crawler import AsyncCrawlerProcess, AsyncCrawlerRunner, Crawler
    from scrapy.settings import Settings

T = TypeVar("T")
Value = Callable[[str], float]  # of a URL
Watch = Callable[[Job], None]

WARCS, LOG = "warc", "crawl.log"
LOGGERS = ("scrapy", "twisted", "asyncio", "py.warnings", "frontrank")
WATCHED_EVERY_S = 1.0
PATIENCE_S = 2.0  # with pages that are on their way when a signal comes: its end takes time, too, and 5 s are all it has
PROCESS = {  # settings of the reactor rather than of one crawl
    "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "LOG_INSTALL_ROOT_HANDLER": False,
    "LOG_ENABLED": False,
    "REACTOR_THREADPOOL_MAXSIZE": 32,  # name servers that do not answer hold a thread each
}
AT_WORK: list[Job] = []  # in this process: what a signal ends


def crawl(
    options: Options,
    out: str | os.PathLike[str],
    *,
    truth: Value | None = None,
    impact: Value | None = None,
    watch: Watch | None = None,
) -> Summary:
    """Crawl into a new directory. ``truth`` and ``impact`` are for laboratories: what a URL is worth, if it is known."""
    _check_reactor()
    job = begin(options, out, truth=truth, impact=impact)
    return run(lambda process: work(job, process, impact=impact, watch=watch))


def resume(
    out: str | os.PathLike[str],
    changes: Mapping[str, Any] | None = None,
    *,
    rescore: bool = False,
    truth: Value | None = None,
    impact: Value | None = None,
    watch: Watch | None = None,
) -> Summary:
    """Go on with the crawl of a directory, exactly where it stopped."""
    _check_reactor()
    job = again(out, changes, rescore=rescore, truth=truth, impact=impact)
    return run(lambda process: work(job, process, impact=impact, watch=watch))


# A job to do -----------------------------------------------------------------------------------------------------------------
def begin(options: Options, out: str | os.PathLike[str], *, truth: Value | None = None, impact: Value | None = None) -> Job:
    """A new crawl in a new directory."""
    check_installed()
    check_needs(options, truth, impact)
    workload = load_workload(options.queries) if options.queries else None
    policy = parse(options.policy)
    if trust_of(policy):  # the file may be another, or elsewhere, when the crawl is resumed
        options = replace(options, policy=written_out(policy))
    notes = {"options": options.json()}
    crawl = Crawl(
        policy,
        out,
        politeness=options.politeness,
        truth=truth,
        workload=workload,
        notes=notes,
        ranking=BACKGROUND,
    )
    try:
        warc = Warc(Path(out) / WARCS) if options.warc else None
        crawl.seed(options.seeds)
    except BaseException:
        crawl.close()
        raise
    return Job(crawl, options, warc)


def again(
    out: str | os.PathLike[str],
    changes: Mapping[str, Any] | None = None,
    *,
    rescore: bool = False,
    truth: Value | None = None,
    impact: Value | None = None,
) -> Job:
    """The crawl of a directory, as it was left; with other options, if they are given, from now on."""
    check_installed()
    before = stored_options(out)
    options = before.with_changes(changes or {})
    check_needs(options, truth, impact)
    policy, politeness = parse(options.policy), options.politeness
    crawl = Crawl.recover(out, policy, rescore=rescore, truth=truth, politeness=politeness, ranking=BACKGROUND)
    try:
        if options.reach != before.reach:
            drop_out_of_reach(crawl, options)
        crawl.note("options", options.json())  # after the pages are dropped: a kill before that leaves the old options whole
        if not crawl.known:  # the first run ended before it had begun
            crawl.seed(options.seeds)
        warc = Warc.resume(Path(out) / WARCS, _ends(crawl, Path(out) / WARCS)) if options.warc else None
    except BaseException:
        crawl.close()
        raise
    return Job(crawl, options, warc)


def check_needs(options: Options, truth: Value | None = None, impact: Value | None = None) -> None:
    """Refuse an ordering that would have to know what a crawl does not see: it would run, in an order of no meaning."""
    needs = parse(options.policy).needs()
    if "truth" in needs and truth is None:
        raise InputError(
            f"{options.policy} needs the true importance of every page, which is known in simulations only; use it with "
            f"frontrank simulate, or crawl with another ordering, such as fpr"
        )
    if "impact" in needs and "queries" not in needs and impact is None and not options.queries:
        raise InputError(
            f"{options.policy} needs clicks or views of fetched pages, which a crawl does not see; give a query log with "
            f"--queries FILE, or crawl with an ordering that needs links alone, such as fpr or pagerank"
        )


def stored_options(out: str | os.PathLike[str]) -> Options:
    """What the crawl of a directory was asked to do. Nothing is changed there."""
    journal = Journal.open(Path(out), read_only=True)
    try:
        held = journal.notes.get("options")
    finally:
        journal.close()
    if held is None:
        raise StorageError(
            f"{os.fspath(out)}: this crawl was not started by frontrank crawl; go on with it where it was started"
        )
    return Options.of(held)


def _ends(crawl: Crawl, folder: Path) -> dict[str, int]:
    """Up to where each WARC file is known: what lies behind was never acknowledged.

    After a power cut a file may end before that. Then the last whole record before its end counts, and the trace knows a few
    pages whose bytes are lost.
    """
    sizes: dict[str, float] = {}
    ends: dict[str, int] = {}
    for name, start, length in crawl.history.records():
        if name not in sizes:
            sizes[name] = (folder / name).stat().st_size if (folder / name).exists() else math.inf
            ends[name] = 0
        if start + length <= sizes[name]:
            ends[name] = max(ends[name], start + length)
    return ends


# One crawl among others in a reactor -----------------------------------------------------------------------------------------
async def start(
    options: Options,
    out: str | os.PathLike[str],
    runner: AsyncCrawlerRunner,
    *,
    truth: Value | None = None,
    impact: Value | None = None,
    watch: Watch | None = None,
) -> Summary:
    """Crawl into a new directory, beside other crawls."""
    job = begin(options, out, truth=truth, impact=impact)
    return await work(job, runner, impact=impact, watch=watch)


async def work(job: Job, runner: AsyncCrawlerRunner, *, impact: Value | None = None, watch: Watch | None = None) -> Summary:
    """Run a job until it ends, and leave its directory in order: report, counts, a snapshot for a quick next start."""
    from scrapy.crawler import Crawler

    from frontrank.fetching.crawler.spider import PageSpider

    options = job.options
    folder = job.crawl.folder
    assert folder is not None
    scope = scope_of(options, job.crawl.notes.get("moved", ()))
    if job.warc is not None:
        job.crawl.before_sync(job.warc.sync)
    watcher = asyncio.ensure_future(_watch(job, watch))
    AT_WORK.append(job)
    try:
        crawler = Crawler(PageSpider, settings_of(options))
        with _logged(folder / LOG, crawler):
            job.begin()
            await _crawled(job, runner.crawl(crawler, job=job, scope=scope, impact=impact))
        if job.error is not None:
            raise job.error
        if not job.ended:
            job.ended = state.EMPTY
        job.note(now=True)
        return summarise(job)
    finally:
        watcher.cancel()
        AT_WORK.remove(job)
        try:
            job.crawl.close()
        finally:
            if job.warc is not None:
                job.warc.close()


async def _crawled(job: Job, crawl: Awaitable[None]) -> None:
    """Until the crawl has ended, or is not waited for any longer."""
    crawling = asyncio.ensure_future(crawl)
    abandoned = asyncio.get_running_loop().create_future()
    job.abandon = lambda: None if abandoned.done() else abandoned.set_result(None)
    await asyncio.wait([crawling, abandoned], return_when=asyncio.FIRST_COMPLETED)
    job.closed = True
    if crawling.done():
        crawling.result()
    for close in job.closers:
        close()


async def _watch(job: Job, watch: Watch | None) -> None:
    """Show what happens once a second, and mind the time."""
    while True:
        left = job.options.time_s - job.elapsed_s if job.options.time_s and not job.ended else WATCHED_EVERY_S
        if left <= 0:
            job.end(state.TIME)
        if watch is not None:
            watch(job)
        await asyncio.sleep(min(WATCHED_EVERY_S, max(left, 0.0)))


def settings_of(options: Options) -> Settings:
    """Scrapy as a plain downloader: order, politeness, retries and redirects are the crawl's own."""
    from scrapy.settings import Settings

    from frontrank.fetching.limits import HARDENING

    most = 4 * options.in_flight + 16  # the frontier's own limit is lower; robots.txt comes on top
    return Settings(
        {
            **PROCESS,
            **HARDENING,
            "SCHEDULER": "frontrank.fetching.crawler.scheduler.Scheduler",
            "DOWNLOADER_MIDDLEWARES": {
                **HARDENING["DOWNLOADER_MIDDLEWARES"],
                "frontrank.fetching.crawler.proxy.ProxyMiddleware": 40,
            },
            "DOWNLOADER_MIDDLEWARES_BASE": {
                "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": 350,
                "scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware": 400,
                "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": 500,
                "scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware": 750,
            },
            "SPIDER_MIDDLEWARES_BASE": {},
            "EXTENSIONS_BASE": {},
            "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
            "STATS_DUMP": False,
            "CONCURRENT_REQUESTS": most,
            "CONCURRENT_REQUESTS_PER_DOMAIN": most,
            "SCRAPER_SLOT_MAX_ACTIVE_SIZE": most * options.max_size,  # or a large page in its parser stops all others
            "CONCURRENT_ITEMS": 1,  # there are none, yet Scrapy starts so many tasks a page for them
            "DOWNLOAD_DELAY": 0,
            "DOWNLOAD_TIMEOUT": options.timeout,
            "DOWNLOAD_MAXSIZE": options.max_size,
            "USER_AGENT": options.agent,
            "WARN_ON_GENERATOR_RETURN_VALUE": False,
            "LOG_FORMATTER": "frontrank.fetching.crawler.proxy.Silent",
            "FRONTRANK_ALLOW_PRIVATE": options.allow_private,
            "FRONTRANK_ROBOTS": options.robots,
        }
    )


@contextmanager
def _logged(path: Path, crawler: Crawler) -> Iterator[None]:
    """What Scrapy and the crawl have to tell goes to a file; what belongs to a crawl beside this one does not."""
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.addFilter(lambda record: getattr(record, "spider", None) in (None, crawler.spider))
    handler.setLevel(logging.INFO)
    handler.handleError = lambda record: None  # type: ignore[method-assign]  # a full disk is told by the journal
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    loggers = [logging.getLogger(name) for name in LOGGERS]
    logging.getLogger("frontrank").setLevel(logging.INFO)
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        handler.close()


# A reactor for this process --------------------------------------------------------------------------------------------------
def run(main: Callable[[AsyncCrawlerProcess], Coroutine[Any, Any, T]]) -> T:
    """Await main(process) in a reactor of its own. The first Ctrl-C or SIGTERM ends all its crawls well, the second at once."""
    from scrapy.crawler import AsyncCrawlerProcess

    _check_reactor()
    for name in LOGGERS:
        logging.getLogger(name).addHandler(logging.NullHandler())  # or Python prints their warnings on the terminal
    process = AsyncCrawlerProcess(dict(PROCESS))
    from twisted.internet import reactor as installed

    reactor: Any = installed
    ended: list[T] = []
    failed: list[BaseException] = []

    async def whole() -> None:
        try:
            ended.append(await main(process))
        except BaseException as error:
            failed.append(error)
        finally:
            reactor.stop()

    tasks: list[asyncio.Future[None]] = []
    reactor.callWhenRunning(lambda: tasks.append(asyncio.ensure_future(whole())))
    with stopping.gracefully(lambda: reactor.callFromThread(_end_all, reactor)):
        process.start(stop_after_crawl=False, install_signal_handlers=False)
    if failed:
        raise failed[0]
    return ended[0]


def check_installed() -> None:
    """Raise, before anything is made, if what fetches is missing or too old."""
    need("scrapy", "selectolax", "publicsuffixlist", "brotli")
    import scrapy

    if scrapy.version_info < (2, 14):
        raise InputError(
            f"Scrapy {scrapy.__version__} is installed, frontrank crawl needs 2.14 or later; run: pip install -U scrapy"
        )


def _check_reactor() -> None:
    reactor: Any = sys.modules.get("twisted.internet.reactor")
    if reactor is not None and reactor._startedBefore:
        raise InputError("a second crawl in this process, where Twisted's reactor starts once; await all of them in one run()")


def _end_all(reactor: Any) -> None:
    """A signal came. Pages that are on their way have a little time to arrive; nothing is lost with those that do not."""
    for job in AT_WORK:
        job.end(state.INTERRUPTED)
    reactor.callLater(PATIENCE_S, lambda: [job.abandon() for job in AT_WORK])
