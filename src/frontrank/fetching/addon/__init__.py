"""Scrapy, with frontrank in charge of the order: one line of settings, spiders stay as they are.

    ADDONS = {"frontrank.fetching.addon.Addon": 500}
    FRONTRANK_POLICY = "fica"

The add-on puts four parts in their places:

    Scheduler    which request goes next: a Crawl, in memory or in a directory
    Links        spider middleware, next to the engine: what a callback yields are the links of its page
    Failures     downloader middleware, next to the engine: pages that will not arrive
    Downloads    downloader middleware, inside RetryMiddleware: why pages are tried again, which hosts ask for rest

A page is known by the request fingerprint that Scrapy's own duplicate filter uses (its first 8 bytes). It is leased while its
request is with the engine, and settled when its callback has ended: then the requests of that callback are its links. What
comes from elsewhere (start(), extensions, errbacks of failed downloads) is a seed.

Scrapy 2.13 or later. The docs say what changes for a project: docs/scrapy.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontrank.fetching.addon.middlewares import Downloads, Failures, Links
from frontrank.fetching.addon.scheduler import Scheduler

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

__all__ = ["Addon", "Downloads", "Failures", "Links", "Scheduler"]

OUTERMOST = -1000
INSIDE_RETRY = 560  # RetryMiddleware is at 550


class Addon:
    """Sets what frontrank needs; settings of the project itself are never overruled."""

    def update_settings(self, settings: BaseSettings) -> None:
        settings.set("SCHEDULER", Scheduler, priority="addon")
        settings["SPIDER_MIDDLEWARES"].set(Links, OUTERMOST, priority="addon")
        settings["DOWNLOADER_MIDDLEWARES"].set(Failures, OUTERMOST, priority="addon")
        settings["DOWNLOADER_MIDDLEWARES"].set(Downloads, INSIDE_RETRY, priority="addon")
        # Delays are kept by the scheduler. A random one on top would hold requests inside the downloader, out of order.
        jitter = "DOWNLOAD_DELAY_JITTER" if "DOWNLOAD_DELAY_JITTER" in settings else "RANDOMIZE_DOWNLOAD_DELAY"
        settings.set(jitter, 0, priority="addon")
        # A priority goes before the ordering. A redirect or a retry has that of its request, unless the project says more.
        for adjustment in ("REDIRECT_PRIORITY_ADJUST", "RETRY_PRIORITY_ADJUST"):
            settings.set(adjustment, 0, priority="addon")
