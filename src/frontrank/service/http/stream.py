"""Live updates: server-sent events. ``status`` is sent whenever it changes, and a comment now and then, so that a connection
whose other end is gone is noticed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable

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

    async def of(self, status: Callable[[], Awaitable[shapes.Status]]) -> AsyncIterator[bytes]:
        self.open += 1
        try:
            sent, quiet = "", 0.0
            while not self.closed:
                try:
                    told = json.dumps(await status(), separators=(",", ":"))
                except (FrontrankError, TooLong, Died, Closed):  # it is gone, or cannot be read: who asks again is told
                    return
                if told != sent:
                    yield f"event: status\ndata: {told}\n\n".encode()
                    sent, quiet = told, 0.0
                elif quiet >= COMMENT_S:
                    yield b": still here\n\n"
                    quiet = 0.0
                await asyncio.sleep(LOOK_S)
                quiet += LOOK_S
        finally:
            self.open -= 1

    def close(self) -> None:
        self.closed = True
