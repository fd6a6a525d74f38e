"""What a hostile server cannot do to a crawl, in one dictionary of Scrapy settings: HARDENING, merged into a crawl's own.

    private networks        GuardMiddleware and Resolver (private.py)
    robots.txt              RobotsMiddleware (robots.py)
    file:, ftp:, data:, s3: no handler at all
    endless bodies          DOWNLOAD_MAXSIZE, DOWNLOAD_TIMEOUT: both hold for the whole response
    compression bombs       ResponseMiddleware: inflated in steps, stopped at DOWNLOAD_MAXSIZE; at most three codings on top of
                            each other; zstd windows of at most 8 MiB (RFC 9659)
    endless headers         HttpHandler: 256 KiB for status line and headers, as in Chrome; Twisted by itself limits a line
                            but not their number
    cookie bombs            no cookies
    redirects               not followed here: to the crawl they are links, with limits of their own

`reason_of(error)` names what went wrong in words fit for counting, and says whether another try makes sense.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from scrapy import exceptions
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import IgnoreRequest
from scrapy.responsetypes import responsetypes
from scrapy.settings import default_settings
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.python.failure import Failure
from twisted.web.client import ResponseFailed, ResponseNeverReceived

from frontrank.fetching import robots
from frontrank.pages.codings import DECODERS

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

HEAD_MOST = 256 * 1024
CODINGS_MOST = 3

_SCRAPY = "scrapy.downloadermiddlewares"
_HANDLER = "frontrank.fetching.limits.HttpHandler"
_RESOLVER = "TWISTED_DNS_RESOLVER" if hasattr(default_settings, "TWISTED_DNS_RESOLVER") else "DNS_RESOLVER"

HARDENING: dict[str, Any] = {
    "DOWNLOADER_MIDDLEWARES": {
        "frontrank.fetching.private.GuardMiddleware": 50,
        "frontrank.fetching.robots.RobotsMiddleware": 100,
        f"{_SCRAPY}.robotstxt.RobotsTxtMiddleware": None,
        f"{_SCRAPY}.retry.RetryMiddleware": None,
        f"{_SCRAPY}.redirect.MetaRefreshMiddleware": None,
        f"{_SCRAPY}.redirect.RedirectMiddleware": None,
        f"{_SCRAPY}.cookies.CookiesMiddleware": None,
        f"{_SCRAPY}.httpcompression.HttpCompressionMiddleware": None,
        "frontrank.fetching.limits.ResponseMiddleware": 590,
    },
    "DOWNLOAD_HANDLERS": {"http": _HANDLER, "https": _HANDLER, "data": None, "file": None, "ftp": None, "s3": None},
    "DOWNLOAD_FAIL_ON_DATALOSS": True,
    "DOWNLOAD_WARNSIZE": 0,
    "COOKIES_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REACTOR_THREADPOOL_MAXSIZE": 32,  # name servers that do not answer hold a thread each
    _RESOLVER: "frontrank.fetching.private.Resolver",
}


class Unusable(IgnoreRequest):
    """A response that is no page; `reason` says why, in words fit for counting."""

    retry = False

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason


class HeadTooLarge(Exception):
    """Status line and headers of a response go beyond HEAD_MOST."""


class HttpHandler(HTTP11DownloadHandler):
    """Scrapy's handler, on connections that give up on endless headers."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool._factory = _bounded(self._pool._factory)


def _bounded(factory: Any) -> Any:
    class Bounded(factory):  # type: ignore[misc]
        def buildProtocol(self, addr: Any) -> Any:
            protocol = super().buildProtocol(addr)
            base: Any = type(protocol)
            protocol.__class__ = _with_bounded_head(base)
            return protocol

    return Bounded


@cache
def _with_bounded_head(protocol: Any) -> Any:
    return type("BoundedProtocol", (_BoundedHead, protocol), {})


class _BoundedHead:
    """Mixed into Twisted's client protocol: counts what comes before a body."""

    _head = 0
    _parser: Any
    transport: Any

    def request(self, request: Any) -> Any:
        self._head = 0
        response = super().request(request)  # type: ignore[misc]
        if self._parser is not None:
            # Lines of up to 16 KiB are Twisted's limit, and real sites send longer policies.
            self._parser.MAX_LENGTH = 2 * HEAD_MOST
        return response

    def dataReceived(self, data: bytes) -> None:
        super().dataReceived(data)  # type: ignore[misc]
        parser = self._parser
        if parser is None or getattr(parser, "state", "BODY") not in ("STATUS", "HEADER"):
            self._head = 0
            return
        self._head += len(data)
        if self._head > HEAD_MOST:
            error: Any = HeadTooLarge(f"more than {HEAD_MOST} bytes of headers")
            self._giveUp(Failure(error))  # type: ignore[attr-defined,no-untyped-call]
            self.transport.abortConnection()


class ResponseMiddleware:
    """Asks for content codings and undoes them within limits; a response that is none goes no further."""

    def __init__(self, most: int) -> None:
        self._most = most

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ResponseMiddleware:
        return cls(crawler.settings.getint("DOWNLOAD_MAXSIZE"))

    def process_request(self, request: Request) -> None:
        request.headers.setdefault("Accept-Encoding", ", ".join(DECODERS))

    def process_response(self, request: Request, response: Response) -> Response:
        if not 100 <= response.status <= 999:
            raise Unusable("bad response", f"status {str(response.status)[:20]}")
        said = b",".join(response.headers.getlist("Content-Encoding")).decode("latin-1").lower()
        codings = [name for part in said.split(",") if (name := part.strip().removeprefix("x-")) not in ("", "identity")]
        if not codings:
            return response
        is_robots = robots.ROBOTS in request.meta
        body = response.body
        if len(codings) > CODINGS_MOST:
            raise Unusable("broken compression", f"{len(codings)} codings: {said[:100]}")
        for name in reversed(codings):
            if name not in DECODERS:
                break  # servers say utf-8, none and the like, and mean nothing by it
            body = inflated(name, body, robots.MOST_BYTES if is_robots else self._most, cut=is_robots)
        headers = response.headers.copy()
        del headers["Content-Encoding"]
        kind: Any = responsetypes.from_args(headers=headers, url=response.url, body=body)
        replaced: Response = response.replace(cls=kind, headers=headers, body=body)
        return replaced


def inflated(coding: str, body: bytes, most: int, cut: bool = False) -> bytes:
    """A body without its coding. What is broken ends where it breaks; more than most is an error, or cut off.

    >>> import zlib
    >>> inflated("gzip", zlib.compress(b"page", wbits=31), 100), inflated("deflate", zlib.compress(b"page"), 2, cut=True)
    (b'page', b'pa')
    """
    pieces: list[bytes] = []
    size = 0
    try:
        for piece in DECODERS[coding](body):
            pieces.append(piece)
            size += len(piece)
            if most and size > most:
                if not cut:
                    raise Unusable("too large", f"more than {most} bytes when inflated")
                break
    except Unusable:
        raise
    except Exception as error:  # each library has its own, and none of them matters
        if not size and not cut:
            raise Unusable("broken compression", str(error)[:200]) from error
    whole = b"".join(pieces)
    return whole[:most] if cut else whole


def reason_of(error: BaseException) -> tuple[str, bool]:
    """Why a page did not come, in words, and whether another try makes sense.

    >>> reason_of(Unusable("too large", "")), reason_of(exceptions.DownloadTimeoutError())
    (('too large', False), ('timeout', True))
    """
    said = getattr(error, "reason", None)
    if isinstance(error, IgnoreRequest):
        return (said if isinstance(said, str) else "ignored"), bool(getattr(error, "retry", False))
    for kind, reason, retry in _REASONS:
        if isinstance(error, kind):
            return reason, retry
    if isinstance(error, exceptions.DownloadFailedError):
        return _of_failed(error.__cause__)
    return _of_failed(error)


_REASONS: tuple[tuple[type[BaseException], str, bool], ...] = (
    (exceptions.DownloadTimeoutError, "timeout", True),
    (exceptions.DownloadCancelledError, "too large", False),
    (exceptions.CannotResolveHostError, "host not found", True),
    (exceptions.DownloadConnectionRefusedError, "connection refused", True),
    (exceptions.ResponseDataLossError, "cut short", True),
    (exceptions.UnsupportedURLSchemeError, "unsupported scheme", False),
    (exceptions.NotSupported, "unsupported scheme", False),
)


def _of_failed(error: BaseException | None) -> tuple[str, bool]:
    """Twisted wraps what went wrong in lists of failures."""
    causes = [f.value for f in error.reasons] if isinstance(error, ResponseFailed | ResponseNeverReceived) else [error]
    if any(isinstance(cause, HeadTooLarge) for cause in causes):
        return "headers too large", False
    if any(isinstance(cause, ConnectionLost | ConnectionDone) for cause in causes):
        return "connection lost", True
    if isinstance(error, OSError) or type(causes[0]).__module__.startswith(("OpenSSL", "twisted.internet", "service_identity")):
        return "network error", True
    return "bad response", False
