"""The delays of a service's queues, as its fetcher knows them."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable

from frontrank.frontiers.politeness import Politeness
from frontrank.pages.urls import host_of
from frontrank.service.client_calls import Page

MAX_HOSTS = 10_000


class QueuePaces:
    """Delays come with pages, and from robots.txt files; ``tell`` passes the latter on to the service, in whole seconds."""

    def __init__(self, politeness: Politeness, tell: Callable[[str, int, bool], None]) -> None:
        self.politeness, self.tell = politeness, tell
        self._paces: OrderedDict[str, tuple[str, float]] = OrderedDict()  # queue and delay by host, in the order last seen
        self._some_delay = False

    @property
    def may_have_delays(self) -> bool:
        """Whether the service has named a delay, or has not had an opportunity to."""
        return self._some_delay or not self._paces

    def pace_of(self, host: str) -> tuple[str, float]:
        """The queue of a host, and the seconds between two requests to it."""
        return self._paces.get(host, (host, 0.0))

    def see(self, page: Page) -> None:
        """A page was handed out, with the delay of its queue; other services than frontrank's name none."""
        host = host_of(page.url)
        self._some_delay = self._some_delay or page.delay_s > 0
        self._paces[host] = page.queue, page.delay_s or self.pace_of(host)[1]
        self._paces.move_to_end(host)
        if len(self._paces) > MAX_HOSTS:
            self._paces.popitem(last=False)

    def limit_host(self, host: str, *, delay_s: float, at_least: bool) -> None:
        queue, before = self.pace_of(host)
        self._paces[host] = queue, max(delay_s, before)
        self.tell(host, math.ceil(delay_s), at_least)
