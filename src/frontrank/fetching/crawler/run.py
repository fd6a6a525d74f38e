"""Running a crawl: alone in this process, or several beside each other in one event loop.

crawl(options, out)                      from the seeds to the summary
resume(out, {"budget": 20_000})          the same, for a crawl that has begun
run_loop(main)                           what both stand on: main() is awaited, and signals end its crawls cleanly
await crawl_async(options, out)          one crawl among others in main
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.journal import Journal
from frontrank.crawl.needs import check_asked, check_live
from frontrank.crawl.ranking import BACKGROUND
from frontrank.deprecated import names_of_before
from frontrank.errors import InputError, NotTrusted, StorageError, need
from frontrank.exports.live import LiveExport, check_new
from frontrank.fetching.counting import OUT_OF_REACH
from frontrank.fetching.crawler.job import Job
from frontrank.fetching.crawler.option_checks import stops
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.scope import drop_out_of_reach
from frontrank.fetching.crawler.summary import Summary, given_up_hosts, summarise
from frontrank.fetching.end_reason import PATIENCE_S, EndReason
from frontrank.frontiers.pace import pace_within
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import parse
from frontrank.orderings.stored import stored_names
from frontrank.orderings.trust import written_out
from frontrank.pages.groups import read_groups
from frontrank.pages.warc_writer import Warc
from frontrank.search.workload import load_workload
from frontrank.system import stopping

T = TypeVar("T")
Value = Callable[[str], float]  # of a URL
Watch = Callable[[Job], None]

logger = logging.getLogger("frontrank.fetching.crawler")

WARCS, LOG = "warc", "crawl.log"
LOGGERS = ("asyncio", "py.warnings", "frontrank")
WATCHED_EVERY_S = 1.0
AT_WORK: list[Job] = []  # in this process: what a signal ends

__getattr__ = names_of_before(__name__)


def crawl(
    options: Options,
    out: str | os.PathLike[str],
    *,
    truth: Value | None = None,
    impact: Value | None = None,
    watch: Watch | None = None,
) -> Summary:
    """Crawl into a new directory. ``truth`` and ``impact`` are for laboratories: what a URL is worth, if it is known."""
    job = new_job(options, out, truth=truth, impact=impact)
    return run_loop(lambda: run_job(job, impact=impact, watch=watch))


def resume(
    out: str | os.PathLike[str],
    changes: Mapping[str, Any] | None = None,
    *,
    rescore: bool = False,
    retry_failed: str | None = None,
    truth: Value | None = None,
    impact: Value | None = None,
    watch: Watch | None = None,
) -> Summary:
    """Continue the crawl of a directory, exactly where it stopped.

    ``retry_failed``: with the pages that failed for this reason, or one that begins so; empty: for any.
    """
    job = reopen_job(out, changes, rescore=rescore, retry_failed=retry_failed, truth=truth, impact=impact)
    return run_loop(lambda: run_job(job, impact=impact, watch=watch))


# A job to do -----------------------------------------------------------------------------------------------------------------
def new_job(options: Options, out: str | os.PathLike[str], *, truth: Value | None = None, impact: Value | None = None) -> Job:
    """A new crawl in a new directory."""
    check_installed()
    policy = _checked(options, truth, impact)
    if options.export:
        check_new(options.export)
    workload = load_workload(options.queries) if options.queries else None
    groups = read_groups(options.politeness_by)
    if (whole := written_out(policy)) != policy.spec():  # a file may be another, or elsewhere, when the crawl is resumed
        options = replace(options, policy=whole)
    notes = {"options": options.json()}
    crawl = Crawl(
        policy,
        out,
        politeness=options.politeness,
        truth=truth,
        workload=workload,
        queue_by=groups,
        notes=notes,
        ranking=BACKGROUND,
    )
    try:
        warc = Warc(Path(out) / WARCS) if options.warc else None
        crawl.seed(options.seeds)
        export = _export(crawl, options)
    except BaseException:
        crawl.close()
        raise
    return Job(crawl, options, warc, export)


def _ask_again(crawl: Crawl) -> None:
    """Hosts that were given up may be asked again."""
    with crawl.together():
        for host, _, until in crawl.inspect.history.resting(crawl.state.progress.now):
            if until == math.inf:
                crawl.control.block_until(host, crawl.inspect.clock())


def _keep_pace(crawl: Crawl, options: Options) -> None:
    """What is left of the pages in what is left of the time: the time between two runs does not count."""
    left, pages = options.budget - crawl.inspect.fetched_count, options.budget
    if options.within and 0 < left < pages:
        crawl.control.set_politeness(replace(options.politeness, pace=pace_within(left, options.within * left / pages)))


def reopen_job(
    out: str | os.PathLike[str],
    changes: Mapping[str, Any] | None = None,
    *,
    rescore: bool = False,
    retry_failed: str | None = None,
    truth: Value | None = None,
    impact: Value | None = None,
) -> Job:
    """The crawl of a directory, as it was left; with other options, if they are given, from now on."""
    check_installed()
    _check_links(Path(out))
    before = stored_options(out, (changes or {}).get("policy"))
    options = before.with_changes(changes or {})
    policy = _checked(options, truth, impact)
    asked = None
    if "queries" in (changes or {}):  # the file may be called as before, and have other queries
        check_asked(policy)
        asked = load_workload(options.queries)
    politeness = options.politeness
    crawl = Crawl.recover(out, policy, rescore=rescore, truth=truth, politeness=politeness, ranking=BACKGROUND, workload=asked)
    try:
        export = _export(crawl, options)  # before the options are stored: it may refuse its file
        if retry_failed is not None:
            _retry_failed(crawl, retry_failed)
        if options.reach != before.reach:
            drop_out_of_reach(crawl, options)
        _keep_pace(crawl, options)
        crawl.note("options", options.json())  # after the pages are dropped: a kill before that leaves the old options whole
        if not crawl.inspect.known:  # the first run ended before it had begun
            crawl.seed(options.seeds)
        elif not (crawl.inspect.fetched_count or crawl.inspect.revisits):  # whoever resumes has fixed what failed every page
            crawl.control.retry_failed(but=OUT_OF_REACH)
        _ask_again(crawl)
        warc = Warc.resume(Path(out) / WARCS, _ends(crawl, Path(out) / WARCS)) if options.warc else None
    except BaseException:
        crawl.close()
        raise
    return Job(crawl, options, warc, export)


def _export(crawl: Crawl, options: Options) -> LiveExport | None:
    """The file that pages are written to as they arrive, continued where the crawl is."""
    folder = crawl.inspect.folder
    return LiveExport(options.export, folder, crawl.state.log) if options.export and folder is not None else None


def _check_links(folder: Path) -> None:
    """Raise StorageError if a file that is appended to, or cut, is a link: in a directory from elsewhere, to any file."""
    for path in (folder / LOG, *sorted((folder / WARCS).glob("*"))):
        if path.is_symlink():
            raise StorageError(
                f"{path}: is a symbolic link, and what it points to would be changed; remove it, or copy the file"
            )


def _retry_failed(crawl: Crawl, reason: str) -> None:
    """Have pages that failed wait again, but for those that the options ruled out: they stay so."""
    found = crawl.control.retry_failed(reason, but=OUT_OF_REACH)
    if not found and reason:
        reasons = Counter(why for why in crawl.inspect.history.failed().values() if why not in OUT_OF_REACH).most_common()
        listed = ", ".join(f"{why} ({count:,})" for why, count in reasons) or "no page failed"
        raise InputError(f"--retry-failed: no page failed for a reason that begins with {reason!r}; there are: {listed}")


def _checked(options: Options, truth: Value | None, impact: Value | None) -> Policy:
    """The ordering, if such a crawl has what it needs."""
    policy = parse(options.policy)
    check_live(policy, queries=bool(options.queries), truth=truth is not None, impact=impact is not None)
    return policy


def stored_options(out: str | os.PathLike[str], policy: str | None = None) -> Options:
    """What the crawl of a directory was asked to do. Nothing is changed there.

    ``policy``: the ordering that it is to continue with, instead of the stored one, which then need not be trusted.
    """
    journal = Journal.open(Path(out), read_only=True)
    try:
        stored = journal.notes.get("options")
    finally:
        journal.close()
    if stored is None:
        raise StorageError(f"{os.fspath(out)}: this crawl was not started by frontrank crawl; resume it where it was started")
    if policy is not None:
        parse(policy)  # its code may be loaded: the user has named it
        until = stored.get("until")
        stored = {**stored, "policy": policy, "until": until if stops(policy, until) else None}
    try:
        with stored_names():
            return Options.of(stored)
    except NotTrusted as error:
        raise NotTrusted(f"this crawl was {error}") from None


def _ends(crawl: Crawl, folder: Path) -> dict[str, int]:
    """Up to where each WARC file is known: what lies behind was never acknowledged.

    After a power cut a file may end before that. Then the last whole record before its end counts, and the trace knows a few
    pages whose bytes are lost.
    """
    sizes: dict[str, float] = {}
    ends: dict[str, int] = {}
    for name, start, length in crawl.inspect.history.records():
        if name not in sizes:
            sizes[name] = (folder / name).stat().st_size if (folder / name).exists() else math.inf
            ends[name] = 0
        if start + length <= sizes[name]:
            ends[name] = max(ends[name], start + length)
    return ends


# One crawl among others -----------------------------------------------------------------------------------------
async def crawl_async(
    options: Options,
    out: str | os.PathLike[str],
    *,
    truth: Value | None = None,
    impact: Value | None = None,
    watch: Watch | None = None,
) -> Summary:
    """Crawl into a new directory, beside other crawls."""
    job = new_job(options, out, truth=truth, impact=impact)
    return await run_job(job, impact=impact, watch=watch)


async def run_job(job: Job, *, impact: Value | None = None, watch: Watch | None = None) -> Summary:
    """Run a job until it ends, and leave its directory in order: report, counts, a snapshot for a quick next start."""
    from frontrank.fetching.crawler.source import fetch_pages

    folder = job.crawl.inspect.folder
    assert folder is not None
    job.crawl.state.log.before_sync = job.sync_files
    watcher = asyncio.ensure_future(_watch(job, watch))
    AT_WORK.append(job)
    try:
        with _logged(folder / LOG, job):
            logger.info(
                "crawling with %s, %d pages known", job.crawl.state.policy.spec(), job.crawl.inspect.known, extra={"job": job}
            )
            await fetch_pages(job, impact)
            if not job.ended:
                job.ended = EndReason.GIVEN_UP if given_up_hosts(job.crawl) else EndReason.EMPTY
            logger.info("ended: %s", job.ended, extra={"job": job})
        if job.error is not None:
            raise job.error
        job.note(now=True)
        return summarise(job)
    finally:
        watcher.cancel()
        AT_WORK.remove(job)
        try:
            job.crawl.close()
        finally:
            job.close_files()


async def _watch(job: Job, watch: Watch | None) -> None:
    """Show what happens once a second, and mind the time."""
    while True:
        left = job.options.time_s - job.elapsed_s if job.options.time_s and not job.ended else WATCHED_EVERY_S
        if left <= 0:
            job.end(EndReason.TIME)
        if watch is not None:
            watch(job)
        await asyncio.sleep(min(WATCHED_EVERY_S, max(left, 0.0)))


@contextmanager
def _logged(path: Path, job: Job) -> Iterator[None]:
    """What the crawl has to tell goes to a file; what belongs to a crawl beside this one does not."""
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.addFilter(lambda record: getattr(record, "job", None) in (None, job))
    handler.setLevel(logging.INFO)
    handler.handleError = lambda record: None  # type: ignore[method-assign]  # the journal reports a full disk
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


# An event loop for this process ----------------------------------------------------------------------------------------------
def run_loop(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Await main() in a loop of its own. The first Ctrl-C or SIGTERM ends all its crawls well, the second at once."""
    for name in LOGGERS:
        logging.getLogger(name).addHandler(logging.NullHandler())  # or Python prints their warnings on the terminal
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        with stopping.gracefully(lambda: _soon(loop)):
            return runner.run(main())


def check_installed() -> None:
    """Raise, before anything is stored, if what fetches is missing."""
    need("selectolax", "publicsuffixlist", "lxml", "brotli", "protego")


def _soon(loop: asyncio.AbstractEventLoop) -> None:
    loop.call_soon_threadsafe(_end_all, loop)


def _end_all(loop: asyncio.AbstractEventLoop) -> None:
    """A signal came. Pages in flight have a little time to arrive; nothing is lost with those that do not."""
    for job in AT_WORK:
        job.end(EndReason.INTERRUPTED)
    loop.call_later(PATIENCE_S, lambda: [job.abandon() for job in AT_WORK])
