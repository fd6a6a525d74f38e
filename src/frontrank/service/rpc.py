"""gRPC over HTTP/2, for methods that take and give many small messages.

The grpc library for Python hands over one message at a time, from thread to thread: 6,000 to 8,000 URLs a second, on two cores
where the reference service in Java gives 14,000. HTTP/2 does not ask for that. Messages lie one after another in a stream of
bytes; here all that have come are answered by one call, and a thousand URLs leave in one write.

    bytes in  -> h2 (frames, flow control) -> messages of a stream -> one call in a worker thread for all that are there
    bytes out <- h2, as far as the client's window is open        <- chunks of messages, each a prefix and its bytes

A slow client holds up itself alone: what it sends is acknowledged to HTTP/2 when it is worked on, a call goes on when what it
gave has left, and who does not read is not read from. Messages beyond ``MAX_BYTES`` end their stream (RESOURCE_EXHAUSTED);
a connection has ``MAX_STREAMS`` streams, which hold ``MAX_HELD`` bytes together. A connection on which no call was admitted
is closed after ``ADMITTED_S``, one without a call under way after ``IDLE_S``: clients open another when they need it.
Compressed messages are refused, as the protocol allows; every answer says so.

gRPC over HTTP/2: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import IntEnum
from urllib.parse import quote

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    DataReceived,
    Event,
    RemoteSettingsChanged,
    RequestReceived,
    StreamEnded,
    StreamReset,
    TrailersReceived,
    WindowUpdated,
)
from h2.exceptions import H2Error, ProtocolError
from h2.settings import SettingCodes, Settings

logger = logging.getLogger("frontrank.service")

MAX_BYTES = 4 * 2**20  # of one message, as in the grpc libraries
MAX_STREAMS = 100  # of one connection
MAX_CONNECTIONS = 1_000
MAX_SENTENCE = 500  # characters of a refusal: what it repeats may be longer than the 8 KiB of headers that clients take
MAX_HEADERS = 16 * 2**10  # bytes
WINDOW = 2**20  # bytes of a stream that may be on their way; they are kept until they are worked on
FRAME = 2**18
AT_ONCE = 1_024  # messages of a stream that are answered by one call
READ = 2**16
THREADS_APART = 2  # for calls that may take long
GRACE_S = 1.0
MAX_HELD = 32 * 2**20  # bytes of all streams of a connection that wait to be worked on
ADMITTED_S, IDLE_S = 10.0, 300.0
SETTINGS = {
    SettingCodes.MAX_CONCURRENT_STREAMS: MAX_STREAMS,
    SettingCodes.INITIAL_WINDOW_SIZE: WINDOW,
    SettingCodes.MAX_FRAME_SIZE: FRAME,
    SettingCodes.MAX_HEADER_LIST_SIZE: MAX_HEADERS,
    SettingCodes.ENABLE_CONNECT_PROTOCOL: 0,
}
PREFIX = struct.Struct(">?I")  # compressed or not, length
TYPE = b"application/grpc"
LEAVING = "the service is ending; call it again when it is back"


class Status(IntEnum):
    """Codes of gRPC, as far as they are used here."""

    OK = 0
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    NOT_FOUND = 5
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    UNAUTHENTICATED = 16


class Refused(Exception):
    """A call ends with this status, and a sentence for whoever called."""

    def __init__(self, status: Status, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


@dataclass(frozen=True)
class Method:
    """What a call of one path does: messages that came, as bytes, to chunks of messages. It runs in a worker thread.

    One that streams is called again and again, with some messages each time; others once, with one. ``begins``: for counting.
    ``apart``: it may take long, and those that are not do not wait for it.
    """

    call: Callable[[Sequence[bytes]], Iterable[Sequence[bytes]]]
    streams: bool = False
    at_once: int = AT_ONCE
    begins: Callable[[], None] = lambda: None
    apart: bool = False


Headers = Mapping[bytes, bytes]


class Server:
    """Methods by path (``/package.Service/Method``), served on one port.

    ``admit`` looks at the headers of each call first, and may raise ``Refused``.
    """

    def __init__(
        self, methods: Mapping[str, Method], admit: Callable[[Headers], None] = lambda _: None, threads: int = 8
    ) -> None:
        self.methods = {path.encode(): method for path, method in methods.items()}
        self.admit = admit
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="frontrank-rpc")
        self.apart = ThreadPoolExecutor(THREADS_APART, thread_name_prefix="frontrank-rpc-apart")
        self.connections: set[Connection] = set()
        self.admitted_s, self.idle_s = ADMITTED_S, IDLE_S
        self.max_connections = MAX_CONNECTIONS
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> int:
        """Listen; the port is told, which is another one if 0 was asked for."""
        loop = asyncio.get_running_loop()
        within = ADMITTED_S if tls is not None else None
        self._server = await loop.create_server(
            lambda: Connection(self), host, port, ssl=tls, backlog=128, ssl_handshake_timeout=within
        )
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self, grace_s: float = GRACE_S) -> None:
        """No new calls; those that are being answered may end within the grace, those that wait for messages end now."""
        if self._server is not None:
            self._server.close()
        for connection in list(self.connections):
            connection.leaving = True
            for call in [call for call in connection.calls.values() if not call.at_work]:
                call.cancel()
                connection.close_stream(call.stream, Refused(Status.UNAVAILABLE, LEAVING), call.begun, call.ended)
        under_way = [call.task for connection in self.connections for call in connection.calls.values() if call.task]
        if under_way:
            await asyncio.wait(under_way, timeout=grace_s)
        for connection in list(self.connections):
            connection.go_away()
        for pool in (self.pool, self.apart):
            pool.shutdown(wait=True, cancel_futures=True)


class Connection(asyncio.Protocol):
    """One client's connection: frames to calls, and answers to frames."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding=None))
        self.calls: dict[int, Call] = {}
        self.transport: asyncio.Transport | None = None
        self.writable = asyncio.Event()
        self.writable.set()
        self.leaving = False
        self.held = 0  # bytes of its calls
        self.idle_since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    # The transport's side -----------------------------------------------------------------------------------------------
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if len(self.server.connections) >= self.server.max_connections and not self._replace_idle():
            transport.abort()
            return
        self.server.connections.add(self)
        self.h2.local_settings = Settings(client=False, initial_values=SETTINGS)
        self.h2.max_inbound_frame_size = FRAME
        self.h2.decoder.max_header_list_size = MAX_HEADERS
        self.h2.initiate_connection()
        self.h2.increment_flow_control_window(16 * WINDOW)
        self.flush()
        self.close_in(self.server.admitted_s)

    def _replace_idle(self) -> bool:
        """Close the connection that has been without a call for longest; False if all have calls."""
        idle = min((other for other in self.server.connections if not other.calls), key=lambda it: it.idle_since, default=None)
        if idle is None or idle.transport is None:
            return False
        self.server.connections.discard(idle)
        idle.transport.abort()
        return True

    def close_in(self, seconds: float) -> None:
        """Close the connection after so long, unless a call is admitted before."""
        self.stay()
        self.idle_since = asyncio.get_running_loop().time()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._leave)

    def stay(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _leave(self) -> None:
        if self.transport is None:
            return
        if self.writable.is_set() and not self.transport.is_closing():
            self.go_away()
        else:  # what lies there is not read, so a farewell would not be either
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        try:
            events = self.h2.receive_data(data)
        except Exception:  # bytes that are no HTTP/2, of which the library does not always speak in its own errors
            self.flush()
            self.end()
            return
        for event in events:
            self.hear(event)
        self.flush()

    def pause_writing(self) -> None:
        """The client does not read: what it sends meanwhile could only make more that is not read."""
        self.writable.clear()
        if self.transport is not None and not self.transport.is_closing():
            self.transport.pause_reading()

    def resume_writing(self) -> None:
        self.writable.set()
        if self.transport is not None and not self.transport.is_closing():
            self.transport.resume_reading()

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, error: Exception | None) -> None:
        self.server.connections.discard(self)
        self.stay()
        self.writable.set()
        for call in list(self.calls.values()):
            call.cancel()
        self.calls.clear()

    # What comes -------------------------------------------------------------------------------------------------------------
    def hear(self, event: Event) -> None:
        if isinstance(event, DataReceived):
            self._hear_data(event)
        elif isinstance(event, RequestReceived):
            self._hear_request(event)
        elif isinstance(event, StreamEnded | TrailersReceived):
            if event.stream_id in self.calls:
                self.calls[event.stream_id].half_closed()
        elif isinstance(event, StreamReset):
            if event.stream_id in self.calls:
                self.forget(event.stream_id).cancel()
        elif isinstance(event, WindowUpdated | RemoteSettingsChanged):
            for call in self.calls.values():
                call.window_open.set()

    def _hear_data(self, event: DataReceived) -> None:
        call = self.calls.get(event.stream_id)
        if call is None:  # it is answered, or was refused; the bytes still count for the connection
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        else:
            call.receive(event.data, event.flow_controlled_length)

    def _hear_request(self, event: RequestReceived) -> None:
        stream, given = event.stream_id, dict(event.headers)
        if self.leaving or len(self.calls) >= MAX_STREAMS:
            self.h2.reset_stream(stream, ErrorCodes.REFUSED_STREAM)
            return
        if not given.get(b"content-type", b"").startswith(TYPE) or given.get(b":method") != b"POST":
            self.h2.send_headers(stream, [(b":status", b"415")], end_stream=True)
            return
        try:
            self.server.admit(given)
            method = self.server.methods.get(given.get(b":path", b""))
            if method is None:
                raise Refused(Status.UNIMPLEMENTED, "this service has no such method")
        except Refused as refused:
            self.close_stream(stream, refused, begun=False, ended=event.stream_ended is not None)
            return
        call = Call(self, stream, method)
        self.calls[stream] = call
        self.stay()
        call.task = asyncio.get_running_loop().create_task(call.run())

    # What goes ----------------------------------------------------------------------------------------------------------------
    def flush(self) -> None:
        data = self.h2.data_to_send()
        if data and self.transport is not None and not self.transport.is_closing():
            self.transport.write(data)

    def close_stream(self, stream: int, end: Refused | None, begun: bool, ended: bool) -> None:
        """The last of a stream: its status. ``begun``: answers went before; ``ended``: the client has no more to say."""
        status, sentence = (Status.OK, "") if end is None else (end.status, end.sentence)
        if end is not None:
            logger.debug("a call is refused: %s, %s", status.name, sentence)
        trailers = [(b"grpc-status", str(int(status)).encode())]
        if sentence:
            trailers.append(
                (b"grpc-message", quote(sentence[:MAX_SENTENCE], safe=" !\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~").encode())
            )
        if not begun:
            trailers = [(b":status", b"200"), (b"content-type", TYPE), (b"grpc-accept-encoding", b"identity"), *trailers]
        with contextlib.suppress(ProtocolError):  # the client has closed it
            self.h2.send_headers(stream, trailers, end_stream=True)
            if not ended:
                self.h2.reset_stream(stream, ErrorCodes.NO_ERROR)  # what it would send is not wanted
        if stream in self.calls:
            self.forget(stream)
        self.flush()

    def forget(self, stream: int) -> Call:
        """A call is over."""
        call = self.calls.pop(stream)
        call.let_go()
        if not self.calls and not self.leaving:
            self.close_in(self.server.idle_s)
        return call

    def go_away(self) -> None:
        with contextlib.suppress(H2Error):
            self.h2.close_connection()
        self.flush()
        self.end()

    def end(self) -> None:
        if self.transport is not None:
            self.transport.close()
            self.close_in(GRACE_S)  # if what is left is not read


class Call:
    """One call: a stream of messages each way."""

    def __init__(self, connection: Connection, stream: int, method: Method) -> None:
        self.connection, self.stream, self.method = connection, stream, method
        self.task: asyncio.Task[None] | None = None
        self.window_open = asyncio.Event()
        self.begun = False  # headers are sent
        self.ended = False  # the client has no more to say
        self.at_work = False  # messages are being answered
        self._bytes = bytearray()
        self._full = False  # with this call the connection held more than it may
        self._unacknowledged = 0
        self._arrived = asyncio.Event()

    def receive(self, data: bytes, counted: int) -> None:
        self._unacknowledged += counted
        self._arrived.set()
        if not self._full:
            self._bytes += data
            self.connection.held += len(data)
            self._full = self.connection.held > MAX_HELD

    def let_go(self) -> None:
        """What has come and was not worked on is not wanted any more."""
        self.connection.held -= len(self._bytes)
        self._bytes = bytearray()
        self._acknowledge(0)  # or the connection would have less and less room for others

    def half_closed(self) -> None:
        self.ended = True
        self._arrived.set()

    def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()

    async def run(self) -> None:
        end: Refused | None = None
        try:
            await self._answer()
        except Refused as refused:
            end = refused
        except asyncio.CancelledError:
            return
        except Exception:  # a defect of ours: the log has it, the client learns nothing of our files
            logger.exception("a call failed")
            end = Refused(Status.INTERNAL, "the service failed to answer; its log says why")
        self.connection.close_stream(self.stream, end, self.begun, self.ended)

    async def _answer(self) -> None:
        loop, server = asyncio.get_running_loop(), self.connection.server
        pool = server.apart if self.method.apart else server.pool
        self.method.begins()
        while messages := await self._messages():
            self.at_work = True
            chunks = await loop.run_in_executor(pool, self.method.call, messages)
            if isinstance(chunks, list):
                for chunk in chunks:
                    await self._send(framed(chunk))
            else:
                made = iter(chunks)
                while (chunk := await loop.run_in_executor(pool, next, made, None)) is not None:
                    await self._send(framed(chunk))
            if not self.method.streams:
                return
            self.at_work = False
        if not self.method.streams:
            raise Refused(Status.INVALID_ARGUMENT, "a message was expected, and none came")
        self._begin()

    async def _messages(self) -> list[bytes]:
        """Messages that have come, at least one; none at the end."""
        while True:
            self._arrived.clear()
            if self._full:
                raise Refused(
                    Status.RESOURCE_EXHAUSTED,
                    f"the calls of a connection may hold {MAX_HELD:,} bytes that are not worked on; make fewer at once",
                )
            taken = list(self._cut(self.method.at_once))
            self._acknowledge(len(self._bytes) if taken else 0)
            if taken:
                return taken
            if self.ended:
                if self._bytes:
                    raise Refused(Status.INVALID_ARGUMENT, "the stream ended in the middle of a message")
                return []
            await self._arrived.wait()

    def _cut(self, most: int) -> Iterator[bytes]:
        at, held = 0, self._bytes
        while most and len(held) - at >= PREFIX.size:
            packed, length = PREFIX.unpack_from(held, at)
            if packed:
                raise Refused(Status.UNIMPLEMENTED, "compressed messages are not understood here; send them as they are")
            if length > MAX_BYTES:
                raise Refused(
                    Status.RESOURCE_EXHAUSTED, f"a message must have at most {MAX_BYTES:,} bytes, got one of {length:,}"
                )
            begin, stop = at + PREFIX.size, at + PREFIX.size + length
            if len(held) < stop:
                break
            yield bytes(held[begin:stop])
            at, most = stop, most - 1
        del held[:at]
        self.connection.held -= at

    def _acknowledge(self, held: int) -> None:
        """The client may send more, while no more than this is held back."""
        counted = max(0, self._unacknowledged - held)
        self._unacknowledged -= counted
        if counted:
            with contextlib.suppress(ProtocolError):
                self.connection.h2.acknowledge_received_data(counted, self.stream)
            self.connection.flush()

    def _begin(self) -> None:
        if not self.begun:
            self.begun = True
            headers = [(b":status", b"200"), (b"content-type", TYPE), (b"grpc-accept-encoding", b"identity")]
            with contextlib.suppress(ProtocolError):
                self.connection.h2.send_headers(self.stream, headers)

    async def _send(self, data: bytes) -> None:
        self._begin()
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


def framed(messages: Sequence[bytes]) -> bytes:
    """Messages as they lie in a stream.

    >>> framed([b"ab", b""])
    b'\\x00\\x00\\x00\\x00\\x02ab\\x00\\x00\\x00\\x00\\x00'
    """
    parts: list[bytes] = []
    for message in messages:
        parts.append(PREFIX.pack(False, len(message)))
        parts.append(message)
    return b"".join(parts)


def bearer(headers: Headers) -> bytes:
    """The token that a call brings; empty if none.

    >>> bearer({b"authorization": b"Bearer abc"})
    b'abc'
    """
    kind, _, token = headers.get(b"authorization", b"").partition(b" ")
    return token.strip() if kind.lower() == b"bearer" else b""
