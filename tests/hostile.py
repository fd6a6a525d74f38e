"""A web server that does everything wrong, one path an evil: raw asyncio on loopback addresses, in a thread of its own.

    with HostileServer() as server:
        server.url("/")            a page that links to every evil and to GOOD good pages
        server.seen                requests as (address, path), in their order

It is a proxy, too: asked for http://any.name/path, it answers as for /path, and `seen` has the whole URL.
Evils that concern a whole host (robots.txt, Retry-After) have an address of their own: 127.0.0.2 and up.
"""

from __future__ import annotations

import asyncio
import gzip
import threading
import zlib
from collections.abc import Awaitable, Callable, Iterable
from functools import cache
from typing import Any

import brotli

try:
    from compression import zstd
except ImportError:
    from backports import zstd

GOOD = 20
MAIN = "127.0.0.1"
HUGE_ROBOTS, BROKEN_ROBOTS, HANGING_ROBOTS, BOMB_ROBOTS, LOOPING_ROBOTS, GARBAGE_ROBOTS, BUSY, TRAPS = (
    f"127.0.0.{n}" for n in range(2, 10)
)
ADDRESSES = (MAIN, HUGE_ROBOTS, BROKEN_ROBOTS, HANGING_ROBOTS, BOMB_ROBOTS, LOOPING_ROBOTS, GARBAGE_ROBOTS, BUSY, TRAPS)
ZEROS = bytes(2**20)
MEGABYTES = 1_800  # of zeros in a bomb, which takes a thousandth on the wire

Send = Callable[[bytes], Awaitable[None]]
Serve = Callable[[Send, str], Awaitable[None]]


def response(body: bytes | str = b"", status: str = "200 OK", kind: str = "text/html", *more: str) -> bytes:
    body = body.encode() if isinstance(body, str) else body
    head = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close", *more]
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body


def page(links: Iterable[str], words: str = "") -> str:
    return (
        f"<html><title>page</title><body>{words}" + " ".join(f"<a href='{link}'>link</a>" for link in links) + "</body></html>"
    )


def fixed(whole: bytes | Callable[[], bytes]) -> Serve:
    async def serve(send: Send, path: str) -> None:
        await send(whole() if callable(whole) else whole)

    return serve


def redirect(location: str) -> Serve:
    return fixed(response(b"", "302 Found", "text/html", f"Location: {location}"))


def endless(head: bytes, piece: bytes, pause_s: float = 0.0) -> Serve:
    async def serve(send: Send, path: str) -> None:
        await send(head)
        while True:
            await send(piece)
            await asyncio.sleep(pause_s)

    return serve


def deflated_zeros(wbits: int, megabytes: int) -> bytes:
    """A fully flushed block stands for itself, so its compressed form can be repeated without compressing anything more."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    first = packer.compress(ZEROS) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(ZEROS) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + again * (megabytes - 2) + packer.flush()


@cache
def bomb(coding: str) -> bytes:
    """Gigabytes of zeros in less than two megabytes."""
    if coding == "gzip":
        return deflated_zeros(31, MEGABYTES)
    if coding == "deflate":
        return deflated_zeros(15, MEGABYTES)
    if coding == "br":
        packer = brotli.Compressor(quality=1)
        return b"".join([*(packer.process(ZEROS) for _ in range(1_000)), packer.finish()])
    if coding == "zstd":
        return bytes(zstd.compress(ZEROS * 64)) * 64
    if coding == "gzip, gzip":
        return gzip.compress(deflated_zeros(31, MEGABYTES), 1)
    body = b"page"
    for _ in range(1_000):
        body = gzip.compress(body, 0)
    return body


def bombing(coding: str) -> Serve:
    codings = ", ".join(["gzip"] * 1_000) if coding == "matryoshka" else coding
    return fixed(lambda: response(bomb(coding), "200 OK", "text/html", f"Content-Encoding: {codings}"))


OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n"
HTML = b"<html><body><a href='/good/0'>good</a></body></html>"


async def cut_off(send: Send, path: str) -> None:
    await send(OK + b"Content-Length: 1000\r\n\r\n" + HTML)
    await asyncio.sleep(0.5)  # a reset discards what the client has not read yet, and then nothing had come
    raise ConnectionResetError


async def numbered(send: Send, path: str) -> None:
    """/r/7 leads to /r/8."""
    await redirect(f"/r/{int(path.rpartition('/')[2]) + 1}")(send, path)


EVILS: dict[str, Serve] = {
    "/r/1": numbered,
    "/loop": redirect("/loop"),
    "/loop/a": redirect("/loop/b"),
    "/to/file": redirect("file:///etc/passwd"),
    "/to/ftp": redirect("ftp://127.0.0.1/"),
    "/to/script": redirect("javascript:alert(1)"),
    "/to/nonsense": redirect("http://[::1:::/%%%\\\x00\xff"),
    "/to/nowhere": redirect(""),
    "/to/long": redirect("/" + "x" * 100_000),
    "/big/said": endless(OK + b"Content-Length: 10000000000\r\n\r\n", ZEROS),
    "/big/unsaid": endless(OK + b"\r\n", ZEROS),
    "/big/chunked": endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"100000\r\n" + ZEROS + b"\r\n"),
    "/bomb/gzip": bombing("gzip"),
    "/bomb/deflate": bombing("deflate"),
    "/bomb/br": bombing("br"),
    "/bomb/zstd": bombing("zstd"),
    "/bomb/nested": bombing("gzip, gzip"),
    "/bomb/matryoshka": bombing("matryoshka"),
    "/bomb/broken": fixed(response(b"no gzip at all", "200 OK", "text/html", "Content-Encoding: gzip")),
    "/bomb/unknown": fixed(response(HTML, "200 OK", "text/html", "Content-Encoding: rot13")),
    "/slow/body": endless(OK + b"Content-Length: 100000\r\n\r\n", b"x", 1.0),
    "/slow/headers": endless(OK, b"X", 1.0),
    "/slow/silence": endless(b"", b"", 1.0),
    "/status/words": fixed(b"HELLO I AM A TEAPOT\r\n\r\n"),
    "/status/binary": fixed(bytes(range(256)) * 100 + b"\r\n\r\n"),
    "/status/999": fixed(response(HTML, "999 Odd")),
    "/status/zero": fixed(response(HTML, "000 Nothing")),
    "/status/huge": fixed(response(HTML, f"{'9' * 4000} Odd")),
    "/status/negative": fixed(response(HTML, "-200 OK")),
    "/status/continue": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    "/status/none": fixed(b""),
    "/headers/no-colon": fixed(OK + b"this is no header\r\n" + b"Content-Length: %d\r\n\r\n" % len(HTML) + HTML),
    "/headers/fold": fixed(b"HTTP/1.1 200 OK\r\n folded: first\r\n\r\n" + HTML),
    "/headers/nul": fixed(OK + b"X-Nul: a\0b\r\n\0: x\r\nContent-Length: %d\r\n\r\n" % len(HTML) + HTML),
    "/headers/long": fixed(OK + b"X: " + b"y" * 2**20 + b"\r\n\r\n" + HTML),
    "/headers/many": fixed(OK + b"X: y\r\n" * 100_000 + b"\r\n" + HTML),
    "/headers/endless": endless(OK, b"X: y\r\n" * 10_000),
    "/headers/cookies": fixed(OK + b"Set-Cookie: a=%s\r\n" % (b"b" * 100) * 10_000 + b"\r\n" + HTML),
    "/headers/type": fixed(response(HTML, "200 OK", "text/html; " + "charset=" * 2_000)),
    "/headers/types": fixed(OK + b"Content-Type: image/png\r\n" * 1_000 + b"\r\n" + HTML),
    "/headers/encoding": fixed(b"HTTP/1.1 200 OK\r\nContent-Type: \xff\xfe\xfd/\x80\r\n\r\n" + HTML),
    "/headers/disposition": fixed(
        OK + b"Content-Disposition: attachment; filename*=\xff''%%%\0\r\nContent-Type:\r\n\r\n" + HTML
    ),
    "/length/long": fixed(OK + b"Content-Length: 1000\r\n\r\n" + HTML),
    "/length/short": fixed(OK + b"Content-Length: 10\r\n\r\n" + HTML * 100),
    "/length/two": fixed(OK + b"Content-Length: 10\r\nContent-Length: 20\r\n\r\n" + HTML),
    "/length/word": fixed(OK + b"Content-Length: many\r\n\r\n" + HTML),
    "/length/negative": fixed(OK + b"Content-Length: -5\r\n\r\n" + HTML),
    "/chunked/garbage": fixed(OK + b"Transfer-Encoding: chunked\r\n\r\nzzzz\r\nnot a chunk\r\n"),
    "/chunked/huge": fixed(OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 5_000 + b"\r\n"),
    "/chunked/cut": fixed(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
    "/chunked/odd": fixed(OK + b"Transfer-Encoding: quantum\r\n\r\n" + HTML),
    "/reset": cut_off,
    "/charset/unknown": fixed(response(HTML, "200 OK", "text/html; charset=klingon")),
    "/charset/base64": fixed(response(HTML, "200 OK", "text/html; charset=base64_codec")),
    "/charset/utf-7": fixed(response(b"+ADw-a href=+ACI-/secret+ACIAPg-", "200 OK", "text/html; charset=utf-7")),
    "/charset/idna": fixed(response(HTML * 100, "200 OK", "text/html; charset=idna")),
    "/charset/invalid": fixed(response(b"\xff\xfe\xc3\x28\x80" + HTML, "200 OK", "text/html; charset=utf-8")),
    "/charset/utf-16": fixed(response(HTML.decode().encode("utf-16-le"), "200 OK", "text/html; charset=utf-16")),
    "/charset/utf-16-unsaid": fixed(response(HTML.decode().encode("utf-16-be"))),
    "/charset/nul": fixed(response(HTML, "200 OK", "text/html; charset=\0\0")),
    "/html/links": fixed(lambda: response(page(f"/many/{n}" for n in range(100_000)))),
    "/html/long-urls": fixed(lambda: response(page([f"/{letter * 2**20}" for letter in "abc"]))),
    "/html/image": fixed(lambda: response(f"<img src='data:image/png;base64,{'A' * 200_000}'>" + page(["/behind/image"]))),
    "/html/schemes": fixed(
        response(
            page(["javascript:alert(1)", "data:text/html,x", "mailto:a@b.c", "file:///etc/passwd", "tel:1", "about:blank"])
        )
    ),
    "/html/bad-urls": fixed(
        response(
            page(
                [
                    "http://[",
                    "http://" + "a" * 300 + ".com/",
                    "http://%00/",
                    "http://a b/",
                    "http://1.2.3.4.5.6/",
                    "//",
                    "///",
                    "http:",
                ]
            )
        )
    ),
    "/html/private": fixed(lambda: response(page(["http://2130706433/", "http://0x7f.1/", "http://[::ffff:127.0.0.1]/"]))),
    "/html/binary": fixed(response(bytes(range(256)) * 1_000)),
    "/html/deep": fixed(response("<div>" * 200_000)),
    "/html/tables": fixed(response("<table><tr><td>" * 20_000)),
    "/html/formatting": fixed(response("<b><i><a href='/x'><p>" * 20_000)),
    "/html/attributes": fixed(
        lambda: response("<a " + " ".join(f"a{n}='x'" for n in range(100_000)) + " href='/good/0'>x</a>")
    ),
    "/html/unclosed": fixed(response("<!--" * 100_000 + "<a href='" + "x" * 500_000)),
    "/html/base": fixed(response("<base href='javascript:alert(1)'>" + HTML.decode())),
    "/html/nul": fixed(response(b"<a\0 href='/good/1\0'>x\0</a>" * 100)),
    "/html/surrogates": fixed(response("<a href='http://&#xD800;/&#xDFFF;'>&#xD800;</a><title>&#xD800;</title>")),
    "/html/empty": fixed(response(b"")),
}


def robots(address: str) -> Serve:
    if address == HUGE_ROBOTS:
        rules = b"User-agent: *\nDisallow: /secret\nSitemap: http://127.0.0.1/map.xml\n"
        return endless(OK + b"Content-Length: 50000000\r\n\r\n" + rules, b"Disallow: /%d\n" % 10**9 * 5_000)
    if address == BROKEN_ROBOTS:
        return fixed(response(b"", "500 Broken"))
    if address == HANGING_ROBOTS:
        return endless(b"", b"", 1.0)
    if address == BOMB_ROBOTS:
        rules = gzip.compress(b"User-agent: *\nDisallow: /secret\n")
        return fixed(lambda: response(rules + bomb("gzip"), "200 OK", "text/plain", "Content-Encoding: gzip"))
    if address == LOOPING_ROBOTS:
        return redirect("/robots.txt")
    if address == GARBAGE_ROBOTS:
        return fixed(response(b"\xff\xfe\0\x80User-agent" + bytes(range(256)) * 100, "200 OK", "image/png"))
    return fixed(response(b"", "404 Not Found"))


async def busy(send: Send, path: str) -> None:
    after = {"/long": "Retry-After: 99999999999", "/word": "Retry-After: tomorrow"}.get(path, "X: y")
    await send(response(b"", "429 Too Many Requests", "text/html", after))


async def trap(send: Send, path: str) -> None:
    """An endless calendar, session ids that never end, paths that grow by themselves."""
    number = int("".join(c for c in path if c.isdigit()) or 0) + 1
    if path.startswith("/calendar"):
        await send(response(page([f"/calendar/{number}", f"/calendar/{number + 1}"])))
    elif path.startswith("/session"):
        await send(response(page([f"/session?PHPSESSID={number}", f"/session;jsessionid={number}"])))
    else:
        await send(response(page(["again/", "again/and/"])))


GOOD_PAGE = response(page(["/good/0"], "a good page"))


class HostileServer:
    """All of the above, on all addresses, at one port."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        self.port = 0
        self._servers: list[asyncio.Server] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> HostileServer:
        self._thread.start()
        for address in ADDRESSES:
            starting = asyncio.run_coroutine_threadsafe(asyncio.start_server(self._serve, address, self.port), self._loop)
            self._servers.append(starting.result(10))
            self.port = self._servers[0].sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _end(self) -> None:
        for server in self._servers:
            server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def url(self, path: str, address: str = MAIN) -> str:
        return f"http://{address}:{self.port}{path}"

    def asked(self, path: str, address: str = MAIN) -> int:
        return self.seen.count((address, path))

    def index(self) -> str:
        others = [
            *(self.url(path, address) for address in ADDRESSES[1:7] for path in ("/page", "/secret")),
            *(self.url(path, BUSY) for path in ("/long", "/word", "/unsaid")),
            *(self.url(path, TRAPS) for path in ("/calendar/1", "/session", "/again/")),
        ]
        return page([*EVILS, *(f"/good/{n}" for n in range(GOOD)), *others])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def send(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        try:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode("latin-1")
            address = writer.get_extra_info("sockname")[0]
            self.seen.append((address, path))
            if path.startswith("http://"):
                path = "/" + path[7:].partition("/")[2]
            await self._answer(send, address, path)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            writer.transport.abort()
        finally:
            writer.close()

    async def _answer(self, send: Send, address: str, path: str) -> Any:
        if path == "/robots.txt":
            return await robots(address)(send, path)
        if address == BUSY:
            return await busy(send, path)
        if address == TRAPS:
            return await trap(send, path)
        if address != MAIN:
            return await send(GOOD_PAGE)
        if path == "/":
            return await send(response(self.index()))
        if path == "/inward":
            ways = [
                self.url("/good/1"),
                f"http://localhost:{self.port}/good/2",
                f"http://2130706433:{self.port}/good/3",
                "/inward/redirect",
            ]
            return await send(response(page([*ways, "http://[::1]/", "http://169.254.169.254/latest", "/good/4"])))
        if path == "/inward/redirect":
            return await redirect(self.url("/good/5"))(send, path)
        if path in EVILS:
            return await EVILS[path](send, path)
        if path.startswith("/r/"):
            return await numbered(send, path)
        if path == "/loop/b":
            return await redirect("/loop/a")(send, path)
        return await send(GOOD_PAGE)
