"""When a request may be sent: after the delay of its host, counted from the moment the last request to it was sent.

    Pacer(crawl.inspect.pace_of).send(url, request)     awaits request(sent) in the turn of the URL's host

Every request of a crawl goes through one of these: pages, robots.txt and where it redirects to, sitemaps, retries. A frontier
counts the delay from the moment it hands out a page, but before the page is asked for there may be a robots.txt to read, a name
to look up, a connection to make: seconds by which the gap at the server would be shorter. Hosts of one queue have one turn.

``sent`` is called after the bytes were written, and the next request is written after the delay that begins then: whatever
holds up this process makes gaps longer, never shorter. Times are monotonic: no change of the system's clock shortens a delay.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from math import inf
from typing import TypeVar

from frontrank.fetching.robots import MAX_DELAY_S
from frontrank.pages.urls import host_of

T = TypeVar("T")
Sent = Callable[[], None]
Request = Callable[[Sent | None], Awaitable[T]]

MAX_WAIT_S = 0.25  # a page that would wait longer for its turn waits in the frontier, not among those in flight
MAX_LOOK_S = 1.0  # a delay may be changed while a request waits
MIN_PRUNED = 1_000  # queues; those that may be asked again are forgotten


class NotYet(Exception):
    """The host of a page may not be asked for some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Turns:
    """Whose turn it is in one queue, and when the last request was sent to it."""

    __slots__ = ("lock", "sent", "users")

    def __init__(self) -> None:
        self.sent, self.users, self.lock = -inf, 0, asyncio.Lock()


class Pacer:
    """``pace_of`` gives the queue of a host and its delay. ``resumed``: another process may have sent requests until now."""

    def __init__(
        self,
        pace_of: Callable[[str], tuple[str, float]],
        *,
        resumed: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.pace_of, self.clock = pace_of, clock
        self.begun = clock() if resumed else -inf
        self._turns: dict[str, Turns] = {}
        self._prune_at = MIN_PRUNED

    @property
    def resumed(self) -> bool:
        return self.begun > -inf

    def _wait_s(self, host: str) -> float:
        """How long a host still rests; at most 0: it does not."""
        queue, delay_s = self.pace_of(host)
        own = self._turns.get(host)
        last = max(self._of(queue).sent, self.begun, own.sent if own is not None else -inf)
        return last + delay_s - self.clock()

    def check(self, url: str, max_wait_s: float) -> None:
        """Raise NotYet if the host of a URL rests for longer than that."""
        wait = self._wait_s(host_of(url))
        if wait > max_wait_s:
            raise NotYet(wait)

    def sent_ago(self, url: str) -> float:
        """How many seconds ago the last request to the queue of a URL was sent; infinity if none was."""
        host = host_of(url)
        return self.clock() - self._of(self.pace_of(host)[0]).sent

    def rest_s(self, delay_s: float) -> float:
        """The same for all hosts of this delay: a resumed crawl waits, since it does not know what was sent last."""
        return self.begun + delay_s - self.clock()

    async def send(self, url: str, request: Request[T], max_wait_s: float = inf) -> T:
        """Make a request when its host may be asked. The next one waits until this one was sent, or came to nothing.

        Raises NotYet if the host rests for longer than ``max_wait_s``.
        """
        host = host_of(url)
        queue, delay_s = self.pace_of(host)
        if delay_s <= 0:
            try:  # fetchers need not tell; should there be a delay soon, it begins when the answer came
                return await request(None)
            finally:
                self._note(queue, host)
        self.check(url, max_wait_s)
        turns = self._of(queue)
        turns.users += 1
        try:
            await turns.lock.acquire()
        except BaseException:
            turns.users -= 1
            raise
        done = False

        def end_turn() -> None:
            nonlocal done
            if not done:
                done = True
                turns.users -= 1
                turns.lock.release()

        def sent() -> None:
            self._note(queue, host)
            end_turn()

        try:
            while (wait := self._wait_s(host)) > 0:
                if wait > max_wait_s:
                    raise NotYet(wait)
                await asyncio.sleep(min(wait, MAX_LOOK_S))
            return await request(sent)
        finally:
            end_turn()

    def _note(self, queue: str, host: str) -> None:
        """A request was sent. A host may join a group, or leave one: what was sent to it is noted for both."""
        now = self.clock()
        self._of(queue).sent = now
        if host != queue:
            self._of(host).sent = now

    def _of(self, queue: str) -> Turns:
        turns = self._turns.get(queue)
        if turns is None:
            self._prune()
            turns = self._turns[queue] = Turns()
        return turns

    def _prune(self) -> None:
        if len(self._turns) < self._prune_at:
            return
        now = self.clock()
        for name, turns in list(self._turns.items()):
            # A Crawl-delay may come of a robots.txt that was asked for so long ago.
            if not turns.users and turns.sent + max(self.pace_of(name)[1], MAX_DELAY_S) <= now:
                del self._turns[name]
        self._prune_at = max(MIN_PRUNED, 2 * len(self._turns))
