"""A client of the service over connections in memory: gRPC as the service speaks it, without the grpc library."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, DataReceived, ResponseReceived, StreamEnded, StreamReset, TrailersReceived
from h2.exceptions import H2Error

from frontrank.errors import InputError, NotFound, ServiceAway, ServiceError, ServiceFailed
from frontrank.service import wire
from frontrank.service.async_client import AsyncClient
from frontrank.service.client_calls import ClientCall
from frontrank.service.grpc_server import SERVICE
from frontrank.service.rpc import PREFIX, GrpcStatus, framed

HOST, PORT = "service", 7071
TIMEOUT_S = 60.0
FRAME = 16_000
KINDS = {GrpcStatus.INVALID_ARGUMENT: InputError, GrpcStatus.NOT_FOUND: NotFound, GrpcStatus.UNAVAILABLE: ServiceAway}
KINDS |= {GrpcStatus.INTERNAL: ServiceFailed, GrpcStatus.UNKNOWN: ServiceFailed}


class Client(AsyncClient):
    """The real verbs, on calls of our own."""

    def __init__(self, loop: Any, random: Random, crawl: str) -> None:
        self.crawl = crawl
        self._channel = Calls(loop, random)  # type: ignore[assignment]


class Calls:
    """What a client uses of ``ServiceChannel``; connections break off, before or after the service has acted."""

    def __init__(self, loop: Any, random: Random) -> None:
        self.loop, self.random = loop, random
        self.connection: Connection | None = None
        self.channel = self
        self.lost = False  # the process of this client is gone

    async def answers_async(self, ask: ClientCall[Any]) -> list[Any]:
        method = SERVICE.methods_by_name[ask.method]
        message: Any = ask.message
        asked = list(message) if method.client_streaming else [message]
        messages = [one.SerializeToString() for one in asked]
        try:
            async with asyncio.timeout(TIMEOUT_S):
                answers = await self._called(f"/{SERVICE.full_name}/{method.name}", messages)
        except TimeoutError:
            raise ServiceAway("the service did not answer in time") from None
        kind = getattr(wire, method.output_type.name)
        return [kind.FromString(answer) for answer in answers]

    async def _called(self, path: str, messages: list[bytes]) -> list[bytes]:
        if self.lost:
            raise ServiceAway("this client is gone")
        if self.connection is None or not self.connection.open:
            try:
                _, self.connection = await self.loop.create_connection(Connection, HOST, PORT)
            except OSError:
                raise ServiceAway("the service is away") from None
        connection = self.connection
        assert connection is not None
        if self.random.random() < 0.03:
            self.loop.call_later(self.random.choice((0.0, 0.02, 0.1)), connection.line.abort)
        return await connection.call(path, messages)

    async def close(self) -> None:
        if self.connection is not None:
            self.connection.line.close()


class Connection(asyncio.Protocol):
    def __init__(self) -> None:
        self.h2 = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self.open = False
        self.line: Any = None
        self._waiting: dict[int, asyncio.Future[list[bytes]]] = {}
        self._bodies: dict[int, bytearray] = {}
        self._ends: dict[int, dict[str, str]] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.line, self.open = transport, True
        self.h2.initiate_connection()
        self._flush()

    def _flush(self) -> None:
        if data := self.h2.data_to_send():
            self.line.write(data)

    async def call(self, path: str, messages: list[bytes]) -> list[bytes]:
        try:
            stream = self.h2.get_next_available_stream_id()
            start = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", HOST)]
            self.h2.send_headers(stream, [*start, ("content-type", "application/grpc"), ("te", "trailers")])
            data = framed(messages)
            for begin in range(0, len(data), FRAME):
                self.h2.send_data(stream, data[begin : begin + FRAME])
            self.h2.end_stream(stream)
        except H2Error:
            raise ServiceAway("the connection is closed") from None
        self._waiting[stream] = asyncio.get_running_loop().create_future()
        self._bodies[stream], self._ends[stream] = bytearray(), {}
        self._flush()
        return await self._waiting[stream]

    def data_received(self, data: bytes) -> None:
        try:
            events = self.h2.receive_data(data)
        except H2Error:
            self.line.abort()
            return
        for event in events:
            stream = getattr(event, "stream_id", 0) or 0
            if isinstance(event, ResponseReceived | TrailersReceived):
                self._ends[stream].update((str(name), str(value)) for name, value in event.headers)
            elif isinstance(event, DataReceived):
                self._bodies[stream] += event.data
                self.h2.acknowledge_received_data(event.flow_controlled_length, stream)
            elif isinstance(event, StreamEnded | StreamReset):
                self._end(stream)
            elif isinstance(event, ConnectionTerminated):
                self.connection_lost(None)
        self._flush()

    def _end(self, stream: int) -> None:
        waiting = self._waiting.pop(stream, None)
        if waiting is None or waiting.done():
            return
        said, body = self._ends[stream], bytes(self._bodies[stream])
        status = GrpcStatus(int(said.get("grpc-status", GrpcStatus.UNAVAILABLE)))
        if status != GrpcStatus.OK:
            waiting.set_exception(KINDS.get(status, ServiceError)(said.get("grpc-message", status.name)))
            return
        found, at = [], 0
        while at < len(body):
            _, length = PREFIX.unpack_from(body, at)
            found.append(body[at + PREFIX.size : at + PREFIX.size + length])
            at += PREFIX.size + length
        waiting.set_result(found)

    def connection_lost(self, error: Exception | None) -> None:
        self.open = False
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ServiceAway("the connection broke off"))
        self._waiting.clear()
