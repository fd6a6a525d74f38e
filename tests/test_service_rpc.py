"""gRPC on the wire, with the real client library on the other side, and with bytes that are no gRPC at all."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import grpc
import pytest
from h2.connection import H2Connection
from h2.events import ResponseReceived
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.service.rpc import (
    LEAVING,
    MAX_BUFFERED,
    MAX_BYTES,
    MAX_CONNECTIONS,
    MAX_STREAMS,
    WINDOW,
    CallRefused,
    GrpcStatus,
    Headers,
    Method,
    RpcConnection,
    RpcServer,
    bearer,
    framed,
)
from tests.patience import PATIENCE_S, eventually

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


class Running:
    """A server of four methods in a thread: echo one, echo many, count down, fail."""

    def __init__(self) -> None:
        self.calls: list[int] = []  # messages of each call
        self.may_end = threading.Event()
        methods = {
            "/t.T/One": Method(self._many),
            "/t.T/Many": Method(self._many, streams=True, at_once=7),
            "/t.T/Down": Method(lambda messages: ([str(n).encode()] * 3 for n in range(int(messages[0] or b"0"), 0, -1))),
            "/t.T/Fail": Method(self._fail),
            "/t.T/Long": Method(self._long, slow=True),
        }
        self.server = RpcServer(methods, self._admit)
        self.loop = asyncio.new_event_loop()
        self.port = self.loop.run_until_complete(self.server.start("127.0.0.1", 0))
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()

    def _many(self, messages: Sequence[bytes]) -> list[Sequence[bytes]]:
        self.calls.append(len(messages))
        return [messages]

    def _long(self, messages: Sequence[bytes]) -> list[Sequence[bytes]]:
        self.may_end.wait()
        return [messages]

    def _fail(self, messages: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
        if messages[0] == b"bug":
            raise RuntimeError("/secret/path")
        raise CallRefused(GrpcStatus.NOT_FOUND, "kein Käse: 100% of it\nis gone")

    def _admit(self, headers: Headers) -> None:
        if bearer(headers) == b"wrong":
            raise CallRefused(GrpcStatus.UNAUTHENTICATED, "another token")

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self.server.stop(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


Channel = Any  # of grpc: its stubs want serializers, and bytes need none


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    made = Running()
    yield made
    made.stop()


def connected(running: Running, options: Sequence[tuple[str, int]] = ()) -> Channel:
    return grpc.insecure_channel(f"127.0.0.1:{running.port}", options)


@pytest.fixture
def channel(running: Running) -> Iterator[Channel]:
    options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
    with connected(running, options) as made:
        yield made


def refusal(call: Callable[[], Any]) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return caught.value.code(), caught.value.details() or ""


def test_a_message_goes_and_comes(channel: Channel) -> None:
    one = channel.unary_unary("/t.T/One")
    for message in (b"", b"a", b"x" * 100_000, b"y" * MAX_BYTES):
        assert one(message, timeout=PATIENCE_S) == message


def test_messages_of_a_stream_come_back_in_order_many_in_one_call(running: Running, channel: Channel) -> None:
    running.calls.clear()
    given = [str(n).encode() * (n % 50) for n in range(2_000)]
    assert list(channel.stream_stream("/t.T/Many")(iter(given), timeout=PATIENCE_S)) == given
    assert max(running.calls) <= 7 and sum(running.calls) == 2_000


def test_a_stream_of_more_than_a_window_flows_both_ways(channel: Channel) -> None:
    given = [b"z" * (WINDOW // 3)] * 20
    assert list(channel.stream_stream("/t.T/Many")(iter(given), timeout=PATIENCE_S)) == given


def test_an_empty_stream_ends_well(channel: Channel) -> None:
    assert list(channel.stream_stream("/t.T/Many")(iter([]), timeout=PATIENCE_S)) == []


def test_chunks_are_made_as_they_are_sent(channel: Channel) -> None:
    found = list(channel.unary_stream("/t.T/Down")(b"400", timeout=PATIENCE_S))
    assert found == [str(n).encode() for n in range(400, 0, -1) for _ in range(3)]


def test_a_client_that_leaves_early_leaves_the_server_well(running: Running, channel: Channel) -> None:
    stream = channel.unary_stream("/t.T/Down")(b"1000000", timeout=PATIENCE_S)
    assert next(stream) == b"1000000"
    stream.cancel()
    assert channel.unary_unary("/t.T/One")(b"still", timeout=PATIENCE_S) == b"still"
    eventually(lambda: all(not connection.calls for connection in list(running.server.connections)))


def test_many_calls_at_once(channel: Channel) -> None:
    one = channel.unary_unary("/t.T/One")
    futures = [one.future(str(n).encode(), timeout=PATIENCE_S) for n in range(3 * MAX_STREAMS)]
    assert [future.result() for future in futures] == [str(n).encode() for n in range(3 * MAX_STREAMS)]


def test_nobody_waits_for_calls_that_may_take_long(running: Running, channel: Channel) -> None:
    long = [channel.unary_unary("/t.T/Long").future(b"long", timeout=PATIENCE_S) for _ in range(50)]
    assert channel.unary_unary("/t.T/One")(b"a", timeout=PATIENCE_S) == b"a"
    assert not any(call.done() for call in long)
    running.may_end.set()
    assert {call.result() for call in long} == {b"long"}


def test_refusals_have_a_status_and_a_sentence(channel: Channel, caplog: pytest.LogCaptureFixture) -> None:
    fail = channel.unary_unary("/t.T/Fail")
    assert refusal(lambda: fail(b"", timeout=PATIENCE_S)) == (grpc.StatusCode.NOT_FOUND, "kein Käse: 100% of it\nis gone")
    code, sentence = refusal(lambda: fail(b"bug", timeout=PATIENCE_S))
    assert code == grpc.StatusCode.INTERNAL and "secret" not in sentence
    assert "/secret/path" in caplog.text, "the log has it"


def test_unknown_methods(channel: Channel) -> None:
    code, sentence = refusal(lambda: channel.unary_unary("/t.T/Nothing")(b"", timeout=PATIENCE_S))
    assert (code, sentence) == (grpc.StatusCode.UNIMPLEMENTED, "this service has no such method")


def test_a_message_that_is_too_long(channel: Channel) -> None:
    for call in (
        lambda: channel.unary_unary("/t.T/One")(b"x" * (MAX_BYTES + 1), timeout=PATIENCE_S),
        lambda: list(channel.stream_stream("/t.T/Many")(iter([b"a", b"x" * (MAX_BYTES + 1)]), timeout=PATIENCE_S)),
    ):
        code, sentence = refusal(call)
        assert code == grpc.StatusCode.RESOURCE_EXHAUSTED and "at most 4,194,304 bytes, got one of 4,194,305" in sentence


def test_compressed_messages_are_refused(channel: Channel) -> None:
    one = channel.unary_unary("/t.T/One")
    code, sentence = refusal(lambda: one(b"x" * 1000, compression=grpc.Compression.Gzip, timeout=PATIENCE_S))
    assert code == grpc.StatusCode.UNIMPLEMENTED and "compressed" in sentence


def test_headers_that_are_too_long_are_refused(channel: Channel, running: Running) -> None:
    one = channel.unary_unary("/t.T/One")
    with pytest.raises(grpc.RpcError):
        one(b"", metadata=[("x", "y" * 20_000)], timeout=PATIENCE_S)
    assert one(b"still", timeout=PATIENCE_S) == b"still"


def test_who_does_not_read_holds_up_nobody(channel: Channel, running: Running) -> None:
    lazy = channel.unary_stream("/t.T/Down")(b"10000000", timeout=PATIENCE_S)
    with connected(running) as other:
        for n in range(50):
            assert other.unary_unary("/t.T/One")(str(n).encode(), timeout=PATIENCE_S) == str(n).encode()
    lazy.cancel()


def test_a_stream_that_waits_is_ended_when_the_server_is() -> None:
    running = Running()
    with connected(running) as channel:
        said: queue.Queue[bytes | None] = queue.Queue()
        stream = channel.stream_stream("/t.T/Many")(iter(said.get, None), timeout=PATIENCE_S)
        said.put(b"one")
        assert next(stream) == b"one"
        running.stop()
        assert refusal(lambda: next(stream)) == (grpc.StatusCode.UNAVAILABLE, LEAVING)
        said.put(None)


def test_a_call_may_not_be_admitted(channel: Channel) -> None:
    one, many = channel.unary_unary("/t.T/One"), channel.stream_stream("/t.T/Many")
    wrong = (("authorization", "Bearer wrong"),)
    for call in (
        lambda: one(b"", metadata=wrong, timeout=PATIENCE_S),
        lambda: list(many(iter([b"a"] * 1000), metadata=wrong, timeout=PATIENCE_S)),
    ):
        assert refusal(call) == (grpc.StatusCode.UNAUTHENTICATED, "another token")


def spoken(port: int, data: bytes) -> bytes:
    """What the server says to these bytes, until it closes the connection or we do."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            heard = b""
            while some := connection.recv(65_536):
                heard += some
        except ConnectionError:  # it was cut off while we spoke
            return b""
        return heard


def frame(kind: int, flags: int, stream: int, body: bytes) -> bytes:
    return struct.pack(">I", len(body))[1:] + bytes([kind, flags]) + struct.pack(">I", stream & 0x7FFFFFFF) + body


frames = st.lists(
    st.builds(frame, st.integers(0, 12), st.integers(0, 255), st.sampled_from([0, 1, 3, 5, 2]), st.binary(max_size=60)),
    max_size=12,
)


@settings(max_examples=150)
@given(
    st.one_of(
        st.binary(max_size=400), st.binary(max_size=400).map(PREFACE.__add__), frames.map(lambda some: PREFACE + b"".join(some))
    )
)
def test_bytes_that_are_nothing_harm_nobody(running: Running, data: bytes) -> None:
    spoken(running.port, data)
    assert b"Traceback" not in spoken(running.port, data)
    assert running.thread.is_alive()


@settings(max_examples=100)
@given(st.lists(st.binary(max_size=50), max_size=20), st.binary(max_size=20))
def test_framed_messages_are_cut_where_they_were_joined(running: Running, messages: list[bytes], rest: bytes) -> None:
    with connected(running) as channel:
        assert list(channel.stream_stream("/t.T/Many")(iter(messages), timeout=PATIENCE_S)) == messages
    assert len(framed(messages)) == sum(5 + len(message) for message in messages)


def opened(running: Running) -> tuple[socket.socket, RpcConnection]:
    """A connection that speaks HTTP/2, and the server's end of it."""
    made = socket.create_connection(("127.0.0.1", running.port), timeout=PATIENCE_S)
    made.sendall(PREFACE + frame(4, 0, 0, b""))
    found: list[RpcConnection] = []

    def is_there() -> bool:
        ends = [(one, one.transport) for one in list(running.server.connections)]
        found[:] = [one for one, end in ends if end is not None and end.get_extra_info("peername") == made.getsockname()]
        return bool(found)

    eventually(is_there)
    return made, found[0]


def test_who_sends_and_never_reads_fills_no_memory(running: Running) -> None:
    made, other = opened(running)
    pings = frame(6, 0, 0, bytes(8)) * 1_000
    assert other.transport is not None
    with made:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        made.setblocking(False)
        while other.transport.is_reading():
            try:
                made.send(pings)
            except BlockingIOError:
                time.sleep(0.001)
        assert other.transport.get_write_buffer_size() < 2**20
    eventually(lambda: other not in running.server.connections)


def test_connections_without_a_call_are_closed(running: Running, channel: Channel) -> None:
    server = running.server
    server.admitted_s, server.idle_s = 0.05, 0.1
    try:
        quiet, greeting = (socket.create_connection(("127.0.0.1", running.port), timeout=PATIENCE_S) for _ in range(2))
        with quiet, greeting:
            greeting.sendall(PREFACE + frame(4, 0, 0, b""))
            for one in (quiet, greeting):
                while one.recv(65_536):
                    pass
        server.admitted_s = 10.0
        said: queue.Queue[bytes | None] = queue.Queue()
        stream = channel.stream_stream("/t.T/Many")(iter(said.get, None), timeout=PATIENCE_S)
        for word in (b"one", b"two", b"three"):
            said.put(word)
            assert next(stream) == word
            time.sleep(3 * server.idle_s)  # a call that is under way keeps its connection, however long it is silent
        said.put(None)
        assert list(stream) == []
        eventually(lambda: not server.connections)
        assert channel.unary_unary("/t.T/One")(b"again", timeout=PATIENCE_S) == b"again", "the client opens another"
    finally:
        server.admitted_s, server.idle_s = 10.0, 300.0


def test_where_there_are_many_connections_a_new_one_takes_the_place_of_an_idle_one(running: Running) -> None:
    server = running.server
    eventually(lambda: not server.connections)
    server.max_connections = 2
    try:
        with contextlib.ExitStack() as lines:
            quiet = []
            for _ in range(2):
                quiet.append(lines.enter_context(socket.create_connection(("127.0.0.1", running.port), timeout=PATIENCE_S)))
                eventually(lambda: len(server.connections) == len(quiet))
            with connected(running) as channel:
                assert channel.unary_unary("/t.T/One")(b"one", timeout=PATIENCE_S) == b"one"
            with contextlib.suppress(ConnectionError):
                while quiet[0].recv(65_536):
                    pass  # the older one is closed
    finally:
        server.max_connections = MAX_CONNECTIONS


HEADS = [(":method", "POST"), (":scheme", "http"), (":path", "/t.T/Many"), (":authority", "x")]
HEADS += [("content-type", "application/grpc"), ("te", "trailers")]


def test_what_the_streams_of_a_connection_hold_together_is_bounded(running: Running) -> None:
    unfinished = struct.pack(">?I", False, MAX_BYTES) + bytes(MAX_BYTES - 100)
    client = H2Connection()
    client.initiate_connection()
    refused: list[int] = []
    held = [0]
    with socket.create_connection(("127.0.0.1", running.port), timeout=PATIENCE_S) as made:

        def hear() -> None:
            for event in client.receive_data(made.recv(65_536)):
                if isinstance(event, ResponseReceived):
                    assert dict(event.headers)[b"grpc-status"] == b"8"
                    refused.append(event.stream_id)
            held.append(sum(connection.buffered for connection in list(running.server.connections)))

        for stream in range(1, 4 * MAX_BUFFERED // MAX_BYTES, 2):
            client.send_headers(stream, HEADS)
            rest = memoryview(unfinished)
            while rest and stream not in refused:
                room = min(client.local_flow_control_window(stream), client.max_outbound_frame_size)
                client.send_data(stream, bytes(rest[:room]))
                rest = rest[room:]
                made.sendall(client.data_to_send())
                if not client.local_flow_control_window(stream):
                    hear()
                    made.sendall(client.data_to_send())
        while not refused:
            hear()
    assert max(held) <= MAX_BUFFERED + 2**18


def test_calls_that_end_early_leave_room_for_others(channel: Channel) -> None:
    many = channel.stream_stream("/t.T/Many")
    for _ in range(40):  # each leaves bytes that nobody worked on
        code, _ = refusal(lambda: list(many(iter([b"x" * (MAX_BYTES + 1)]), timeout=PATIENCE_S)))
        assert code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert channel.unary_unary("/t.T/One")(b"y" * MAX_BYTES, timeout=PATIENCE_S) == b"y" * MAX_BYTES


def test_after_all_that_the_server_answers(running: Running, channel: Channel) -> None:
    assert channel.unary_unary("/t.T/One")(b"well", timeout=PATIENCE_S) == b"well"
