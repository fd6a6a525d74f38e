"""Kernels are compiled when they are first called, which takes seconds the very first time: here, before anybody waits."""

from __future__ import annotations

from frontrank.crawl.crawl import Crawl
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.jit import compile_at_once
from frontrank.orderings.policy import Policy


def warm(policy: Policy) -> None:
    """Go once through all that a service does with a crawl of this ordering."""
    compile_at_once()
    crawl = Crawl(policy, politeness=Politeness(delay_s=1.0))
    crawl.discover(["http://a.example/", "http://b.example/"], now=0.0)
    for page in crawl.take_queues(1, 1, lease_s=5.0, now=1.0):
        crawl.discover_pages(["http://a.example/1", "http://b.example/2"], page, ("one", "two"), now=2.0)
        crawl.fetched_page(page, None, any_state=True, again_at=5.0, scores={}, now=3.0)
    crawl.limit_host("a.example", delay_s=2.0, limit=5, now=4.0)
    crawl.block_until("a.example", 4.5, now=4.0)
    for page in crawl.take_queues(now=10.0):
        crawl.fetched_page(page, None, any_state=True, scores={}, now=11.0)
    crawl.take_queues(queue="a.example", now=12.0)
    crawl.schedule_page(0, 13.0, now=12.0)
    crawl.forget_pages([0, 1], now=14.0)
    crawl.close()
