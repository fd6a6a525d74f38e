"""The kernels of a service are compiled by another process, so that no caller waits for the compiler.

A service that has machine code on disk loads it before it listens. One that has none interprets its kernels, about a
millisecond for each page. When it has spent some seconds on that, a process of low priority compiles what crawls of its
orderings need, and puts it on disk; then the service loads it from there.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Sequence
from importlib import import_module

from frontrank.crawl.crawl import Crawl
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.code_folder import code_folder
from frontrank.kernels.jit import compile_at_once, compile_elsewhere, load_at_once
from frontrank.orderings.policy import Policy
from frontrank.orderings.stored import Trusted, trusted, trusting
from frontrank.system.workers import Closed, Died, TooLong, Workers

COMPILE_S = 600.0  # of the processor
MAX_BYTES = 2**46  # of address space: growing arrays reserve much more than they use
NICENESS = 10

logger = logging.getLogger("frontrank.service")


class Compiler:
    """Compiles for crawls of some orderings, in a process of its own that starts when it is needed."""

    def __init__(self, policies: Sequence[Policy]) -> None:
        self._policies, self._trusted = policies, trusted()
        self._begun = self._closed = False
        self._lock = threading.Lock()
        self._workers = Workers(1, COMPILE_S, MAX_BYTES)
        if code_folder() is None:  # machine code cannot be shared
            compile_at_once()
        else:
            load_at_once()
            compile_elsewhere(self.begin)
        for policy in policies:
            warm(policy)

    def begin(self) -> None:
        """Have the kernels compiled; once."""
        with self._lock:
            if self._begun:
                return
            self._begun = True
        threading.Thread(target=self._run, name="frontrank-compile", daemon=True).start()

    def _run(self) -> None:
        try:
            self._workers.call(_compile, self._trusted, self._policies)
            import_module("numba")  # half a second that no caller waits for
        except (Closed, TooLong, Died) as error:
            if self._closed:
                return
            logger.warning("kernels could not be compiled in a process of their own (%s); the service compiles them", error)
        compile_at_once()

    def close(self) -> None:
        self._closed = True
        self._workers.close()

    def __enter__(self) -> Compiler:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _compile(what: Trusted, policies: Sequence[Policy]) -> None:
    os.nice(NICENESS)
    compile_at_once()
    with trusting(what):
        for policy in policies:
            warm(policy)


def warm(policy: Policy) -> None:
    """Do once all that a service does with a crawl of this ordering."""
    crawl = Crawl(policy, politeness=Politeness(delay_s=1.0))
    crawl.discover(["http://a.example/", "http://b.example/"], now=0.0)
    for page in crawl.queues.take(1, 1, lease_s=5.0, now=1.0):
        crawl.queues.discover(["http://a.example/1", "http://b.example/2"], page, ("one", "two"), now=2.0)
        crawl.fetched(page, None, any_state=True, again_at=5.0, scores={}, now=3.0)
    crawl.control.limit_host("a.example", delay_s=2.0, limit=5, now=4.0)
    crawl.control.block_until("a.example", 4.5, now=4.0)
    for page in crawl.queues.take(now=10.0):
        crawl.fetched(page, None, any_state=True, scores={}, now=11.0)
    crawl.queues.take(queue="a.example", now=12.0)
    crawl.queues.schedule(0, 13.0, now=12.0)
    crawl.queues.forget([0, 1], now=14.0)
    crawl.close()
