"""Live updates: server-sent events. ``status`` is sent whenever it changes, and a comment now and then, so that a closed
connection is noticed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import msgspec

from frontrank.errors import FrontrankError
from frontrank.service.http import shapes
from frontrank.system.workers import Closed, Died, TooLong

LOOK_S, COMMENT_S = 1.0, 15.0
MAX_STREAMS = 64  # streams at once


class Streams:
    """The streams that are open. ``close`` ends them."""

    def __init__(self) -> None:
        self.open = 0
        self.closed = False

    def full(self) -> bool:
        return self.open >= MAX_STREAMS

    async def of(self, status: Callable[[], Awaitable[shapes.CrawlStatus]]) -> AsyncIterator[bytes]:
        self.open += 1
        try:
            sent, quiet = b"", 0.0
            while not self.closed:
                try:
                    update = msgspec.json.encode(await status())
                except (FrontrankError, TooLong, Died, Closed):  # deleted, or unreadable: the next request says so
                    return
                if update != sent:
                    yield b"event: status\ndata: %b\n\n" % update
                    sent, quiet = update, 0.0
                elif quiet >= COMMENT_S:
                    yield b": still here\n\n"
                    quiet = 0.0
                await asyncio.sleep(LOOK_S)
                quiet += LOOK_S
        finally:
            self.open -= 1

    def close(self) -> None:
        self.closed = True
