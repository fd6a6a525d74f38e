"""The HTTP client on real sockets, and responses however their bytes are cut into pieces."""

from __future__ import annotations

import asyncio
import datetime
import select
import socket
import ssl
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.fetching.failures import NotFetched
from frontrank.fetching.http.client import PROBATION_S, Client
from frontrank.fetching.http.message import Incoming
from frontrank.fetching.private import Names
from tests.patience import PATIENCE_S

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage"


# Messages --------------------------------------------------------------------------------------------------------------------
def chunked(body: bytes, sizes: list[int]) -> bytes:
    made = b""
    for size in sizes:
        piece, body = body[:size], body[size:]
        made += b"%x;ext=1\r\n%b\r\n" % (len(piece), piece) if piece else b""
    return made + (b"%X\r\n%b\r\n" % (len(body), body) if body else b"") + b"0\r\nTrailer: x\r\n\r\n"


def fed(data: bytes, cuts: list[int], **limits: Any) -> Incoming:
    coming = Incoming(**limits)
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    done = False
    for start, end in pairwise(places):
        assert not done, "it was whole before its last byte"
        done = coming.feed(data[start:end])
    if not done:
        coming.end()
    return coming


FRAMINGS = st.sampled_from(["length", "chunks", "end"])


@settings(deadline=None)
@given(
    st.binary(max_size=300), FRAMINGS, st.lists(st.integers(1, 50), max_size=5), st.lists(st.integers(0, 10_000), max_size=20)
)
def test_a_response_is_the_same_however_its_bytes_come(body: bytes, framing: str, sizes: list[int], cuts: list[int]) -> None:
    head = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-A: b\r\n folded\r\nno header\r\nx-a:c\r\n"
    ends = {
        "length": b"Content-Length: %d\r\n\r\n%b" % (len(body), body),
        "chunks": b"Transfer-Encoding: chunked\r\n\r\n" + chunked(body, sizes),
        "end": b"\r\n" + body,
    }
    coming = fed(head + ends[framing], cuts)
    assert (coming.status, coming.body, coming.headers[:2]) == (200, body, [(b"X-A", b"b folded"), (b"x-a", b"c")])
    assert coming.reusable == (framing != "end")


@settings(deadline=None)
@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=6), st.booleans())
def test_no_bytes_do_more_than_fail_with_a_reason(data: bytes, cuts: list[int], headed: bool) -> None:
    data = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + data if headed else data
    coming, failed = Incoming(max_bytes=200), ""
    try:
        for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(data)], strict=True):
            if coming.feed(data[start:end]):
                break
        coming.end()
    except NotFetched as error:
        failed = error.reason
    assert failed in ("", "bad response", "connection lost", "cut short", "too large")
    assert len(coming.body) <= 200


@pytest.mark.parametrize("framing", ["length", "chunks", "end"])
def test_what_is_too_large_fails_or_is_cut_off(framing: str) -> None:
    ends = {
        "length": b"Content-Length: 50\r\n\r\n" + b"x" * 50,
        "chunks": b"Transfer-Encoding: chunked\r\n\r\n" + chunked(b"x" * 50, [7]),
        "end": b"\r\n" + b"x" * 50,
    }
    data = b"HTTP/1.1 200 OK\r\n" + ends[framing]
    assert fed(data, [], max_bytes=50).body == b"x" * 50
    with pytest.raises(NotFetched, match="too large"):
        fed(data, [], max_bytes=49)
    coming = Incoming(max_bytes=20, truncate=True)
    assert coming.feed(data) and coming.body == b"x" * 20 and not coming.reusable


def test_a_body_that_breaks_off_is_cut_short_unless_a_part_will_do() -> None:
    data = b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n" + b"x" * 30
    with pytest.raises(NotFetched, match="cut short"):
        fed(data, [])
    assert fed(data, [], truncate=True).body == b"x" * 30


def test_what_follows_a_response_is_no_part_of_it() -> None:
    coming = Incoming()
    assert coming.feed(PAGE + PAGE)
    assert coming.body == b"page" and not coming.reusable


# Connections -----------------------------------------------------------------------------------------------------------------
@asynccontextmanager
async def serving(serve: Serve, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    under_way: dict[asyncio.Task[Any], asyncio.StreamWriter] = {}

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        under_way[task] = writer
        with suppress(asyncio.CancelledError):
            await serve(reader, writer)

    server = await asyncio.start_server(one, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task, writer in under_way.items():
            task.cancel()
            writer.transport.abort()
        await asyncio.gather(*under_way, return_exceptions=True)
        await asyncio.sleep(0.05)


def client(**more: Any) -> Client:
    return Client("robin/1.0", names=Names(allow_private=True), **more)


class Counted:
    """Answers PAGE, so many times on each connection; what it was asked, by connection."""

    def __init__(self, most: int = 1000) -> None:
        self.most, self.page = most, PAGE
        self.asked: list[list[bytes]] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        mine: list[bytes] = []
        self.asked.append(mine)
        try:
            for _ in range(self.most):
                mine.append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(self.page)
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


def run(main: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(main)


def test_a_connection_is_used_again_and_replaced_when_the_server_has_closed_it() -> None:
    async def main() -> None:
        for most, connections in ((1000, 1), (2, 3)):
            serve, own = Counted(most), client()
            async with serving(serve) as port:
                for n in range(5):
                    response = await own.get(f"http://127.0.0.1:{port}/{n}?q=1")
                    assert (response.status, response.body, response.address) == (200, b"page", "127.0.0.1")
                    await asyncio.sleep(0.05)
                own.close()
            assert [len(mine) for mine in serve.asked] == ([5] if connections == 1 else [2, 2, 1])
            first = serve.asked[0][0].split(b"\r\n")
            assert first[0] == b"GET /0?q=1 HTTP/1.1" and f"Host: 127.0.0.1:{port}".encode() in first
            assert b"User-Agent: robin/1.0" in first and b"Accept-Encoding: gzip, deflate, br, zstd" in first

    run(main())


def test_a_request_that_was_sent_is_never_repeated() -> None:
    """The second one on each connection is read, and gets no answer."""

    async def main() -> None:
        asked: list[bytes] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(PAGE)
            with suppress(asyncio.IncompleteReadError):
                asked.append(await reader.readuntil(b"\r\n\r\n"))
            writer.close()

        own = client()
        async with serving(serve) as port:
            url = f"http://127.0.0.1:{port}/"
            await asyncio.gather(*(own.get(url) for _ in range(4)))
            await asyncio.sleep(PROBATION_S)
            with pytest.raises(NotFetched, match="connection lost"):
                await own.get(url)
            own.close()
        assert len(asked) == 5

    run(main())


def test_a_connection_that_ended_while_nobody_looked_is_not_used() -> None:
    async def main() -> None:
        asked: list[bytes] = []
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def serve() -> None:
                for _ in range(2):
                    line, _ = listener.accept()
                    with line:
                        asked.append(line.recv(4096))
                        line.sendall(PAGE)

            server = threading.Thread(target=serve)
            server.start()
            own, url = client(), f"http://127.0.0.1:{listener.getsockname()[1]}/"
            told: list[int] = []
            await own.get(url, sent=lambda: told.append(len(asked)))
            time.sleep(PROBATION_S)
            transport = next(iter(own._idle)).transport
            assert transport is not None
            select.select([transport.get_extra_info("socket")], [], [], PATIENCE_S)  # its end came; the loop has not seen it
            assert (await own.get(url, sent=lambda: told.append(len(asked)))).status == 200
            own.close()
            server.join()
        assert len(asked) == len(told) == 2

    run(main())


def test_a_connection_is_given_up_before_the_server_ends_it() -> None:
    async def main() -> None:
        serve, own = Counted(), client()
        async with serving(serve) as port:
            for keep in (b"timeout=0", b"timeout=9"):
                serve.page = PAGE.replace(b"\r\n", b"\r\nKeep-Alive: " + keep + b"\r\n", 1)
                for _ in range(2):
                    await own.get(f"http://127.0.0.1:{port}/")
                    await asyncio.sleep(PROBATION_S)
            own.close()
        assert [len(mine) for mine in serve.asked] == [1, 1, 2]

    run(main())


def test_servers_that_end_connections_without_a_word_lose_no_request() -> None:
    """At once after each answer; the end of the connection may still be under way when the next request is made."""

    async def main() -> None:
        serve, own = Counted(1), client()
        async with serving(serve) as port:
            for _ in range(10):
                assert (await own.get(f"http://127.0.0.1:{port}/")).status == 200
            own.close()
        assert len(serve.asked) == 10

    run(main())


def test_requests_side_by_side_have_connections_of_their_own() -> None:
    async def main() -> None:
        serve, own = Counted(), client()
        async with serving(serve) as port:
            responses = await asyncio.gather(*(own.get(f"http://127.0.0.1:{port}/{n}") for n in range(10)))
            assert [response.body for response in responses] == [b"page"] * 10
            own.close()
        assert len(serve.asked) == 10

    run(main())


def test_the_first_of_several_addresses_that_answers_is_taken() -> None:
    async def main() -> None:
        serve = Counted()
        async with serving(serve) as port:
            names = Names(True, lambda name: [(2, ("127.0.0.9", 0)), (2, ("127.0.0.1", 0))])
            own = Client("robin/1.0", names=names)
            assert (await own.get(f"http://two.example:{port}/")).address == "127.0.0.1"
            own.close()

    run(main())


# TLS and proxies -------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """A certificate that nobody has signed, for another name, and out of date: crawlers read such sites, too."""
    folder: Path = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "other.example")])
    then = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(7).not_valid_before(then).not_valid_after(then + datetime.timedelta(days=1))
    (folder / "cert.pem").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


async def plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(PAGE)
    await reader.read()


def test_https(tls: ssl.SSLContext) -> None:
    async def main() -> None:
        serve, own = Counted(), client()
        async with serving(serve, tls) as port, serving(plainly) as plain:
            for n in range(3):
                assert (await own.get(f"https://localhost:{port}/{n}")).body == b"page"
                await asyncio.sleep(PROBATION_S)
            with pytest.raises(NotFetched, match="TLS failure"):
                await own.get(f"https://127.0.0.1:{plain}/")
            own.close()
        assert [len(mine) for mine in serve.asked] == [3]

    run(main())


class Relay:
    """A proxy: answers http requests with PAGE, and relays CONNECT to a port on this machine."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.asked: list[bytes] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            writer.close()
            return
        self.asked.append(head)
        if not head.startswith(b"CONNECT"):
            writer.write(PAGE)
            writer.close()
            return
        if b"refused.example" in head:
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            writer.close()
            return
        there, out = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(self._pass(reader, out), self._pass(there, writer))

    async def _pass(self, one: asyncio.StreamReader, other: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError):
                while data := await one.read(65_536):
                    other.write(data)
        finally:
            other.transport.abort()


@pytest.mark.parametrize("outer", [False, True], ids=["plain", "tls"])
def test_a_proxy_gets_http_whole_and_tunnels_https(tls: ssl.SSLContext, outer: bool) -> None:
    async def main() -> None:
        serve = Counted()
        async with serving(serve, tls) as port:
            relay = Relay(port)
            async with serving(relay, tls if outer else None) as proxy:
                own = client(proxy=f"http{'s' * outer}://me:pass@127.0.0.1:{proxy}", timeout_s=PATIENCE_S)
                assert (await own.get("http://public.example/a?b")).body == b"page"
                for n in range(2):
                    response = await own.get(f"https://public.example/{n}")
                    assert response.body == b"page" and response.address is None
                    await asyncio.sleep(PROBATION_S)
                with pytest.raises(NotFetched, match=r"proxy: http 403"):
                    await own.get("https://refused.example/")
                own.close()
        assert relay.asked[0].startswith(b"GET http://public.example/a?b HTTP/1.1\r\n")
        assert relay.asked[1].startswith(b"CONNECT public.example:443 HTTP/1.1\r\n")
        assert all(b"Proxy-Authorization: Basic bWU6cGFzcw==" in head for head in relay.asked)
        assert [len(mine) for mine in serve.asked] == [2], "one tunnel, used twice"
        assert b"Proxy-Authorization" not in serve.asked[0][0]

    run(main())
