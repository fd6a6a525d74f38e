"""One call: a stream of messages each way."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

from h2.exceptions import ProtocolError

from frontrank.service.rpc.messages import CallRefused, GrpcStatus, cut, framed

if TYPE_CHECKING:
    from frontrank.service.rpc.connection import RpcConnection
    from frontrank.service.rpc.server import Method

MAX_BUFFERED = 32 * 2**20  # bytes of all streams of a connection that wait to be processed
FRAME = 2**18
TYPE = b"application/grpc"
HEADERS = [(b":status", b"200"), (b"content-type", TYPE), (b"grpc-accept-encoding", b"identity")]

logger = logging.getLogger("frontrank.service")


class Call:
    """Messages that arrive are answered in a worker thread, some at a time; the answers go out as the client takes them."""

    def __init__(self, connection: RpcConnection, stream: int, method: Method) -> None:
        self.connection, self.stream, self.method = connection, stream, method
        self.task: asyncio.Task[None] | None = None
        self.window_open = asyncio.Event()
        self.is_busy = False  # messages are being answered
        self.headers_sent = False
        self._input_ended = False  # the client has ended its side
        self._received = bytearray()
        self._overflowed = False  # with this call the connection buffered more than it may
        self._unacknowledged = 0
        self._arrived = asyncio.Event()

    def receive(self, data: bytes, counted: int) -> None:
        """Bytes of messages, and how much of the window they used."""
        self._unacknowledged += counted
        self._arrived.set()
        if not self._overflowed:
            self._received += data
            self.connection.buffered += len(data)
            self._overflowed = self.connection.buffered > MAX_BUFFERED

    def end_input(self) -> None:
        self._input_ended = True
        self._arrived.set()

    def release(self) -> None:
        """Drop what has arrived and was not processed."""
        self.connection.buffered -= len(self._received)
        self._received = bytearray()
        self._acknowledge(0)  # or the connection would have less and less room for others

    def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()

    def close(self, end: CallRefused | None) -> None:
        self.connection.close_stream(self.stream, end, headers_sent=self.headers_sent, input_ended=self._input_ended)

    async def run(self) -> None:
        end: CallRefused | None = None
        try:
            await self._answer()
        except CallRefused as refused:
            end = refused
        except asyncio.CancelledError:
            return
        except Exception:  # a defect of ours: the log has it, the client learns nothing of our files
            logger.exception("a call failed")
            end = CallRefused(GrpcStatus.INTERNAL, "the service failed to answer; its log says why")
        self.close(end)

    async def _answer(self) -> None:
        loop, server = asyncio.get_running_loop(), self.connection.server
        pool = server.slow_pool if self.method.slow else server.pool
        self.method.begins()
        while messages := await self._messages():
            self.is_busy = True
            chunks = await loop.run_in_executor(pool, self.method.call, messages)
            if isinstance(chunks, list):
                for chunk in chunks:
                    await self._send(framed(chunk))
            else:
                left = iter(chunks)
                while (chunk := await loop.run_in_executor(pool, next, left, None)) is not None:
                    await self._send(framed(chunk))
            if not self.method.streams:
                return
            self.is_busy = False
        if not self.method.streams:
            raise CallRefused(GrpcStatus.INVALID_ARGUMENT, "a message was expected, and none came")
        self._send_headers()

    async def _messages(self) -> list[bytes]:
        """The messages that have arrived, at least one; none at the end."""
        while True:
            self._arrived.clear()
            if self._overflowed:
                raise CallRefused(
                    GrpcStatus.RESOURCE_EXHAUSTED,
                    f"the calls of a connection may have {MAX_BUFFERED:,} bytes that wait to be processed; make fewer at once",
                )
            before = len(self._received)
            messages = list(cut(self._received, self.method.at_once))
            self.connection.buffered -= before - len(self._received)
            self._acknowledge(len(self._received) if messages else 0)
            if messages:
                return messages
            if self._input_ended:
                if self._received:
                    raise CallRefused(GrpcStatus.INVALID_ARGUMENT, "the stream ended in the middle of a message")
                return []
            await self._arrived.wait()

    def _acknowledge(self, kept: int) -> None:
        """Open the window again, but for what is still kept here."""
        counted = max(0, self._unacknowledged - kept)
        self._unacknowledged -= counted
        if counted:
            with contextlib.suppress(ProtocolError):
                self.connection.h2.acknowledge_received_data(counted, self.stream)
            self.connection.flush()

    def _send_headers(self) -> None:
        if not self.headers_sent:
            self.headers_sent = True
            with contextlib.suppress(ProtocolError):
                self.connection.h2.send_headers(self.stream, HEADERS)

    async def _send(self, data: bytes) -> None:
        self._send_headers()
        h2, view = self.connection.h2, memoryview(data)
        while view:
            while not self.connection.writable.is_set():  # many calls wake at once, and the first may fill the buffer
                await self.connection.writable.wait()
            self.window_open.clear()
            try:
                room = min(h2.local_flow_control_window(self.stream), h2.max_outbound_frame_size, FRAME)
                if room > 0:
                    h2.send_data(self.stream, bytes(view[:room]))
            except ProtocolError:  # the client has closed the stream
                raise asyncio.CancelledError from None
            self.connection.flush()
            if room > 0:
                view = view[room:]
            else:
                await self.window_open.wait()
