"""What the settings of a Scrapy project mean for its crawl: where it is kept, its ordering, its politeness."""

from __future__ import annotations

import gc
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.journal import FILE
from frontrank.crawl.ranking import BACKGROUND
from frontrank.errors import InputError, nearest
from frontrank.frontiers.politeness import Politeness
from frontrank.orderings import DEFAULT_ORDERING
from frontrank.orderings.registry import parse

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.settings import BaseSettings

    from frontrank.orderings.policy import Policy


GROUP = 1000  # events to a commit; each take commits too
FOREVER_S = 1e9  # leases end when the engine lets a request go, not by the clock
WITHOUT_END = 1_000_000  # Scrapy's RetryMiddleware decides how often
KNOWN = ("FRONTRANK_POLICY", "FRONTRANK_BUDGET", "FRONTRANK_DIR", "FRONTRANK_RESCORE", "FRONTRANK_TRUST")
UNASKED = "scrapy_unasked"  # a note of the crawl: how many of its pages were taken and never asked for


def check_names(settings: BaseSettings) -> None:
    """Refuse a misspelt setting, which would have no effect."""
    for name in settings:
        if str(name).startswith("FRONTRANK_") and name not in KNOWN:
            raise InputError(f"unknown setting {name!r}{nearest(str(name), KNOWN)}")


def policy_of(settings: BaseSettings) -> Policy:
    return parse(settings.get("FRONTRANK_POLICY", DEFAULT_ORDERING))


def directory_of(settings: BaseSettings) -> Path | None:
    """Where the crawl is kept: FRONTRANK_DIR, or a folder in JOBDIR, or nowhere."""
    if settings.get("FRONTRANK_DIR"):
        return Path(settings["FRONTRANK_DIR"])
    return Path(settings["JOBDIR"]) / "frontrank" if settings.get("JOBDIR") else None


def budget_of(settings: BaseSettings) -> int:
    """How many pages the crawl may take, all its runs together; 0 is any number."""
    given = settings.get("FRONTRANK_BUDGET")
    try:
        pages = int(str(given or 0))  # as text: neither 2.5 nor True is a number of pages
    except (TypeError, ValueError):
        pages = -1
    if pages < 0:
        raise InputError(f"FRONTRANK_BUDGET must be a whole number of pages from 1 (0: no budget), got {given!r}")
    return pages


def rescore_of(settings: BaseSettings) -> bool:
    """Whether a crawl may continue with another ordering."""
    return _switch(settings, "FRONTRANK_RESCORE")


def trust_of(settings: BaseSettings) -> bool:
    """Whether requests may be read that somebody else has pickled into the directory."""
    return _switch(settings, "FRONTRANK_TRUST")


def _switch(settings: BaseSettings, name: str) -> bool:
    try:
        return settings.getbool(name)
    except ValueError:
        raise InputError(f"{name} must be True or False, got {settings[name]!r}") from None


def priority_of(request: Request, settings: BaseSettings) -> int:
    """The priority that the spider gave a request, without what DEPTH_PRIORITY added: depth is for the ordering to judge."""
    adjusted = settings.getint("DEPTH_PRIORITY")
    return request.priority + (adjusted * request.meta.get("depth", 0) if adjusted else 0)


def politeness_of(settings: BaseSettings) -> Politeness:
    return Politeness(
        delay_s=settings.getfloat("DOWNLOAD_DELAY"),
        per_host=settings.getint("CONCURRENT_REQUESTS_PER_IP") or settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN"),
        in_flight=settings.getint("CONCURRENT_REQUESTS"),
        retries=WITHOUT_END,
        lease_s=FOREVER_S,
    )


def open_crawl(settings: BaseSettings) -> tuple[Crawl, bool]:
    """The crawl, and whether it was started earlier."""
    check_names(settings)
    policy, folder, politeness = policy_of(settings), directory_of(settings), politeness_of(settings)
    rescore = rescore_of(settings)
    warm(policy)
    if folder is None or not (folder / FILE).exists():
        return Crawl(policy, folder, politeness=politeness, group=GROUP, ranking=BACKGROUND), False
    try:
        crawl = Crawl.recover(folder, policy, rescore=rescore, politeness=politeness, group=GROUP, ranking=BACKGROUND)
    except InputError as error:
        if rescore or "rescore" not in str(error):
            raise
        raise InputError(f"{error}; in a Scrapy project this is FRONTRANK_RESCORE = True") from None
    return crawl, True


def warm(policy: Policy) -> None:
    """Load the kernels of an ordering now, rather than in the middle of the crawl."""
    trial = Crawl(policy)
    trial.seed(["a"])
    trial.take()
    trial.fetched("a", [("b", "its anchor")])
    trial.next_at()
    spare_collector()


@cache
def spare_collector() -> None:
    """Keep the compiler's hundred thousand objects, which live as long as the process, from the garbage collector, which would
    visit them again and again: five percent of a crawl."""
    gc.collect()
    gc.freeze()
