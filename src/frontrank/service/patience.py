"""Calls of a service that may be away for a while: they are made again until it answers, or the fetcher ends.

A call that breaks off is made again ``MAX_BREAKS`` times: a message that the service cannot digest would break it for ever. A
call that is refused is not made again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from frontrank.errors import ServiceAway, ServiceFailed

T = TypeVar("T")

FIRST_WAIT_S, MAX_WAIT_S = 1.0, 30.0  # before a service that is away is called again; doubles
MAX_BREAKS = 3  # of one call


class PatientCalls:
    """``on_error`` gets what goes wrong with calls that are made aside."""

    def __init__(self, on_error: Callable[[BaseException], None]) -> None:
        self._on_error = on_error
        self._ended = asyncio.Event()
        self._asides: set[asyncio.Future[Any]] = set()

    def end(self) -> None:
        """Wait no longer for a service that is away."""
        self._ended.set()

    async def make(self, call: Callable[[], Awaitable[T]]) -> T | None:
        """The answer of the service; None if the fetcher ends while the service is away."""
        wait_s, broken = FIRST_WAIT_S, 0
        while True:
            try:
                return await call()
            except (ServiceAway, ServiceFailed) as error:
                broken += isinstance(error, ServiceFailed)
                if broken > MAX_BREAKS:
                    raise
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._ended.wait()
            if self._ended.is_set():
                return None
            wait_s = min(2 * wait_s, MAX_WAIT_S)

    def make_aside(self, call: Callable[[], Awaitable[Any]]) -> None:
        """Make a call without waiting for its answer."""
        aside = asyncio.ensure_future(self.make(call))
        self._asides.add(aside)
        aside.add_done_callback(self._end_aside)

    def _end_aside(self, aside: asyncio.Future[Any]) -> None:
        self._asides.discard(aside)
        if not aside.cancelled() and (error := aside.exception()) is not None:
            self._on_error(error)

    async def wait_for_asides(self) -> None:
        if self._asides:
            await asyncio.wait(set(self._asides))
