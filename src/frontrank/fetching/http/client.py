"""GET, with one deadline for all of it: the name, the connection, the handshakes, the response.

    Client(agent).get(url)     Response, or NotFetched says why there is none

Connections are kept and used again, but for one that the server has closed meanwhile. A request that was written is never
repeated here, whatever became of its connection: when a page is asked for again is for the frontier to say. Names and
addresses are checked by ``names.Names``: exactly the addresses checked are connected to. Certificates are not verified, as by
crawlers in general: many sites that are worth reading have bad ones, and nothing secret is sent. A request that does send
something secret (``credentials``) has a connection of its own, whose certificate is verified. A proxy gets http requests in
absolute form, and tunnels (CONNECT) for https; names are then looked up by the proxy.
"""

from __future__ import annotations

import asyncio
import base64
import math
import re
import ssl
from asyncio.staggered import staggered_race
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import can_ada

from frontrank.fetching.credentials import CredentialHeaders, Credentials
from frontrank.fetching.failures import PROXY, Cause, NotFetched, Refused, bad, lost, of_network, of_proxy
from frontrank.fetching.http.connection import Connection
from frontrank.fetching.http.message import Headers, Incoming, Response, first
from frontrank.fetching.private import Names, Sockaddr
from frontrank.pages.codings import DECODERS

IDLE_S = 60.0
MAX_IDLE = 512
MAX_MARGIN_S = 1.0  # a connection is closed so long before the server would: a request that meets its end is lost
PROBATION_S = 0.01  # some servers end each connection and do not say so: until one has answered twice, its end is waited for
MAX_PROVEN = 10_000
STAGGER_S = 0.25  # between attempts at several addresses of one name
OP_LEGACY_SERVER_CONNECT = 0x4
TYPES = b"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
NOBODY = Credentials()
PORTS = {"http:": 80, "https:": 443}
_TIMEOUT = re.compile(rb"timeout=\s*([0-9]{1,9})", re.IGNORECASE)


class Place(NamedTuple):
    """Where a connection leads."""

    host: str
    port: int
    tls: bool
    verified: bool = False  # whether its certificate is looked at


class Proxy:
    """The user's proxy, as --proxy names it.

    >>> proxy = Proxy("http://me:secret@127.0.0.1:3128")
    >>> proxy.place, proxy.headers
    (Place(host='127.0.0.1', port=3128, tls=False, verified=False), [(b'Proxy-Authorization', b'Basic bWU6c2VjcmV0')])
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        tls = parts.scheme == "https"
        self.place = Place(parts.hostname or "", parts.port or (443 if tls else 80), tls)
        self.headers: Headers = []
        if parts.username:
            given = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            self.headers = [(b"Proxy-Authorization", b"Basic " + base64.b64encode(given))]


class Client:
    def __init__(
        self,
        agent: str,
        *,
        names: Names,
        proxy: str = "",
        timeout_s: float = 30.0,
        language: str = "en",
        credentials: Credentials = NOBODY,
        archive_credentials: bool = False,
    ) -> None:
        self.names, self.timeout_s = names, timeout_s
        self.proxy = Proxy(proxy) if proxy else None
        if self.proxy is not None:
            names.add_proxy(self.proxy.place.host)
        self.headers: Headers = [
            (b"User-Agent", agent.encode("latin-1", "replace")),
            (b"Accept", TYPES),
            (b"Accept-Language", language.encode("latin-1", "replace")),
            (b"Accept-Encoding", ", ".join(DECODERS).encode()),
        ]
        self._idle: OrderedDict[Connection, tuple[Place, asyncio.TimerHandle]] = OrderedDict()
        self._by_place: dict[Place, list[Connection]] = {}
        self._proven: set[Place] = set()  # they have answered twice on one connection
        self._tls: dict[bool, ssl.SSLContext] = {}  # by whether certificates are verified
        self._credentials = CredentialHeaders(credentials) if credentials else None
        self._archive_credentials = archive_credentials

    async def get(
        self,
        url: str,
        *,
        max_bytes: int = 0,
        truncate: bool = False,
        extra_headers: Headers | None = None,
        sent: Callable[[], None] | None = None,
        sink: Callable[[bytes], object] | None = None,
    ) -> Response:
        """The answer to a GET. Over ``max_bytes`` it is too large, or truncated there.

        ``sent`` is called once the request is written. ``sink`` gets the body piece by piece; the response then has none.
        """
        parsed, (host, port, tls) = self.names.usable(url)
        secret = self._credentials.of(parsed) if self._credentials is not None else []
        place = Place(host, port, tls, tls and bool(secret))
        asked = [(b"Host", parsed.host.encode()), *self.headers, *(extra_headers or ())]
        try:
            async with asyncio.timeout(self.timeout_s):
                coming = Incoming(max_bytes, truncate, sink)
                connection = await self._ask(parsed, place, [*asked, *secret], coming, sent)
        except NotFetched:
            raise
        except (OSError, ssl.SSLError) as error:  # a timeout is an OSError
            raise of_network(error) from error
        address = None if self.proxy is not None else connection.address
        if self._archive_credentials:
            asked += secret
        return Response(url, coming.status, coming.headers, coming.body, coming.protocol, address, asked)

    async def _ask(
        self, url: can_ada.URL, place: Place, asked: Headers, coming: Incoming, sent: Callable[[], None] | None
    ) -> Connection:
        via, absolute = place, False
        if self.proxy is not None and not place.tls:
            via, absolute = self.proxy.place, True
        target = f"http://{url.host}{url.pathname}{url.search}" if absolute else f"{url.pathname}{url.search}"
        extra = self.proxy.headers if absolute and self.proxy is not None else []
        request = head_of(b"GET", target, [*asked, *extra])
        connection = await self._kept(via) or await self._connected(via)
        await connection.ask(request, coming, sent)
        self._keep(via, connection, idle_s(coming.headers))
        return connection

    # Connections -----------------------------------------------------------------------------------------------------------
    async def _kept(self, place: Place) -> Connection | None:
        """An idle connection, if there is one that can be used. One of a server on probation may be about to end: its taker
        waits, and others open connections of their own, so that the order of pages stays."""
        while idle := self._by_place.get(place):
            proven = place in self._proven
            connection = idle.pop(-1 if proven else 0)
            if not idle:
                del self._by_place[place]
            _, timer = self._idle.pop(connection)
            timer.cancel()
            wait = connection.idle_since + PROBATION_S - asyncio.get_running_loop().time()
            if not proven and connection.open and wait > 0:
                try:
                    await asyncio.sleep(wait)
                except asyncio.CancelledError:
                    connection.abort()
                    raise
            if connection.is_usable():
                return connection
            connection.abort()
        return None

    def _keep(self, place: Place, connection: Connection, seconds: float) -> None:
        if not connection.open:
            return
        loop = asyncio.get_running_loop()
        if connection.used > 1:
            if len(self._proven) >= MAX_PROVEN:
                self._proven.clear()
            self._proven.add(place)
        connection.idle_since = loop.time()
        timer = loop.call_later(seconds, self._drop, connection)
        self._idle[connection] = (place, timer)
        self._by_place.setdefault(place, []).append(connection)
        while len(self._idle) > MAX_IDLE:
            self._drop(next(iter(self._idle)))

    def _drop(self, connection: Connection) -> None:
        place, timer = self._idle.pop(connection)
        timer.cancel()
        idle = self._by_place[place]
        idle.remove(connection)
        if not idle:
            del self._by_place[place]
        connection.abort()

    def close(self) -> None:
        for connection in list(self._idle):
            self._drop(connection)

    async def _connected(self, place: Place) -> Connection:
        if self.proxy is None:
            return await self._direct(place)
        return await (self._to_proxy() if place == self.proxy.place else self._tunnel(place))

    async def _to_proxy(self) -> Connection:
        assert self.proxy is not None
        place = self.proxy.place
        try:
            return await self._direct(place)
        except (NotFetched, OSError) as error:
            raise of_proxy(error, f"{place.host}:{place.port}") from error

    async def _direct(self, place: Place) -> Connection:
        addresses = await self.names.addresses(place.host)
        attempts = [partial(self._at, place, address) for _, address in addresses]
        return await attempts[0]() if len(attempts) == 1 else await first_of(attempts)

    async def _at(self, place: Place, address: Sockaddr) -> Connection:
        loop = asyncio.get_running_loop()
        tls = self._context(place.verified) if place.tls else None
        name = place.host if place.tls else None
        _, connection = await loop.create_connection(Connection, str(address[0]), place.port, ssl=tls, server_hostname=name)
        return connection

    async def _tunnel(self, place: Place) -> Connection:
        """A connection through the proxy, on which TLS begins when the proxy has agreed."""
        assert self.proxy is not None
        to_proxy = await self._to_proxy()
        where = f"{place.host}:{place.port}"
        coming = Tunnel()
        try:
            await to_proxy.ask(head_of(b"CONNECT", where, [(b"Host", where.encode()), *self.proxy.headers]), coming)
            if not 200 <= coming.status < 300:
                raise NotFetched(f"{PROXY}http {coming.status}", True, where, Cause.HOST)
            assert to_proxy.transport is not None
            connection = Connection()
            loop = asyncio.get_running_loop()
            through = await loop.start_tls(
                to_proxy.transport, connection, self._context(place.verified), server_hostname=place.host
            )
            if through is None:
                raise lost()
            connection.connection_made(through)
        except BaseException:
            to_proxy.abort()
            raise
        return connection

    def _context(self, verified: bool) -> ssl.SSLContext:
        context = self._tls.get(verified)
        if context is None:
            context = self._tls[verified] = (
                ssl.create_default_context() if verified else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            )
            if not verified:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
                context.options |= OP_LEGACY_SERVER_CONNECT
        return context


def idle_s(headers: Headers) -> float:
    """How long a connection is kept: less than the server says that it does, if it says so.

    >>> idle_s([(b"Keep-Alive", b"timeout=5, max=100")]), idle_s([(b"Keep-Alive", b"timeout=1")]), idle_s([])
    (4.0, 0.5, 60.0)
    """
    named = _TIMEOUT.search(first(headers, b"keep-alive") or b"")
    seconds = float(named[1]) if named else math.inf
    return min(IDLE_S, seconds - min(MAX_MARGIN_S, seconds / 2))


class Tunnel(Incoming):
    """A proxy's answer to CONNECT: its head alone."""

    def _frame(self) -> None:
        self._finish(reusable=True)


async def first_of(attempts: Sequence[Callable[[], Coroutine[Any, Any, Connection]]]) -> Connection:
    """The first connection that stands; further attempts begin when one fails, or has not come soon (RFC 8305)."""
    if not attempts:
        raise OSError("no address")
    connection, _, errors = await staggered_race(attempts, STAGGER_S)
    if isinstance(connection, Connection):
        return connection
    raise next((error for error in errors if error is not None), OSError("no address answers"))


def head_of(method: bytes, target: str, headers: Headers) -> bytes:
    """A request without a body."""
    try:
        first = b"%b %b HTTP/1.1\r\n" % (method, target.encode("ascii"))
    except UnicodeEncodeError:
        raise Refused("bad url", target[:200]) from None
    if any(b"\n" in value or b"\r" in value for _, value in headers) or b" " in target.encode():
        raise bad("a header of more than one line")
    return first + b"".join(b"%b: %b\r\n" % pair for pair in headers) + b"\r\n"
