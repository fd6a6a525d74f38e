"""One client's connection: frames become calls, and answers become frames."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING
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

from frontrank.service.rpc.call import FRAME, HEADERS, TYPE, Call
from frontrank.service.rpc.messages import CallRefused, GrpcStatus

if TYPE_CHECKING:
    from frontrank.service.rpc.server import RpcServer

MAX_STREAMS = 100  # of one connection
MAX_SENTENCE = 500  # characters of a refusal: what it repeats may be longer than the 8 KiB of headers that clients take
MAX_HEADERS = 16 * 2**10  # bytes
WINDOW = 2**20  # bytes of a stream that may be on their way; they are kept until they are processed
GRACE_S = 1.0
SETTINGS = {
    SettingCodes.MAX_CONCURRENT_STREAMS: MAX_STREAMS,
    SettingCodes.INITIAL_WINDOW_SIZE: WINDOW,
    SettingCodes.MAX_FRAME_SIZE: FRAME,
    SettingCodes.MAX_HEADER_LIST_SIZE: MAX_HEADERS,
    SettingCodes.ENABLE_CONNECT_PROTOCOL: 0,
}

logger = logging.getLogger("frontrank.service")


class RpcConnection(asyncio.Protocol):
    """A connection of a server, from its first byte to its last."""

    def __init__(self, server: RpcServer) -> None:
        self.server = server
        self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding=None))
        self.calls: dict[int, Call] = {}
        self.transport: asyncio.Transport | None = None
        self.writable = asyncio.Event()
        self.writable.set()
        self.is_leaving = False
        self.buffered = 0  # bytes of its calls that wait to be processed
        self.idle_since = 0.0
        self._idle_timer: asyncio.TimerHandle | None = None

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
        self.cancel_idle_timer()
        self.idle_since = asyncio.get_running_loop().time()
        self._idle_timer = asyncio.get_running_loop().call_later(seconds, self._close_idle)

    def cancel_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _close_idle(self) -> None:
        if self.transport is None:
            return
        if self.writable.is_set() and not self.transport.is_closing():
            self.go_away()
        else:  # the client does not read what was written, so it would not read a farewell either
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        try:
            events = self.h2.receive_data(data)
        except Exception:  # bytes that are not HTTP/2, for which the library does not always raise an error of its own
            self.flush()
            self.end()
            return
        for event in events:
            self.handle_event(event)
        self.flush()

    def pause_writing(self) -> None:
        """The client does not read. What it sends meanwhile is not read here: the answers would only pile up."""
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
        self.cancel_idle_timer()
        self.writable.set()
        for call in list(self.calls.values()):
            call.cancel()
        self.calls.clear()

    # What the client sends --------------------------------------------------------------------------------------------------
    def handle_event(self, event: Event) -> None:
        if isinstance(event, DataReceived):
            self._handle_data(event)
        elif isinstance(event, RequestReceived):
            self._handle_request(event)
        elif isinstance(event, StreamEnded | TrailersReceived):
            if event.stream_id in self.calls:
                self.calls[event.stream_id].end_input()
        elif isinstance(event, StreamReset):
            if event.stream_id in self.calls:
                self._remove(event.stream_id).cancel()
        elif isinstance(event, WindowUpdated | RemoteSettingsChanged):
            for call in self.calls.values():
                call.window_open.set()

    def _handle_data(self, event: DataReceived) -> None:
        call = self.calls.get(event.stream_id)
        if call is None:  # it was answered or refused; its bytes still count for the connection
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        else:
            call.receive(event.data, event.flow_controlled_length)

    def _handle_request(self, event: RequestReceived) -> None:
        stream, headers = event.stream_id, dict(event.headers)
        if self.is_leaving or len(self.calls) >= MAX_STREAMS:
            self.h2.reset_stream(stream, ErrorCodes.REFUSED_STREAM)
            return
        if not headers.get(b"content-type", b"").startswith(TYPE) or headers.get(b":method") != b"POST":
            self.h2.send_headers(stream, [(b":status", b"415")], end_stream=True)
            return
        try:
            self.server.admit(headers)
            method = self.server.methods.get(headers.get(b":path", b""))
            if method is None:
                raise CallRefused(GrpcStatus.UNIMPLEMENTED, "this service has no such method")
        except CallRefused as refused:
            self.close_stream(stream, refused, headers_sent=False, input_ended=event.stream_ended is not None)
            return
        call = Call(self, stream, method)
        self.calls[stream] = call
        self.cancel_idle_timer()
        call.task = asyncio.get_running_loop().create_task(call.run())

    # What the service sends -------------------------------------------------------------------------------------------------
    def flush(self) -> None:
        data = self.h2.data_to_send()
        if data and self.transport is not None and not self.transport.is_closing():
            self.transport.write(data)

    def close_stream(self, stream: int, end: CallRefused | None, *, headers_sent: bool, input_ended: bool) -> None:
        """End a stream with its status. ``input_ended``: the client has ended its side of it."""
        status, sentence = (GrpcStatus.OK, "") if end is None else (end.status, end.sentence)
        if end is not None:
            logger.debug("a call is refused: %s, %s", status.name, sentence)
        trailers = [(b"grpc-status", str(int(status)).encode())]
        if sentence:
            trailers.append(
                (b"grpc-message", quote(sentence[:MAX_SENTENCE], safe=" !\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~").encode())
            )
        with contextlib.suppress(ProtocolError):  # the client has closed it
            self.h2.send_headers(stream, trailers if headers_sent else [*HEADERS, *trailers], end_stream=True)
            if not input_ended:
                self.h2.reset_stream(stream, ErrorCodes.NO_ERROR)  # what the client would still send is not needed
        if stream in self.calls:
            self._remove(stream)
        self.flush()

    def _remove(self, stream: int) -> Call:
        """A call is over."""
        call = self.calls.pop(stream)
        call.release()
        if not self.calls and not self.is_leaving:
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
            self.close_in(GRACE_S)  # in case the client does not read the rest
