"""Why a page did not come: in words fit for counting, whether another try makes sense, and whose trouble it is.

NotFetched(reason, retry, detail, cause)
├── Refused      it was never asked for: a private address, an unusable URL
├── Forbidden    robots.txt does not allow it, or not for this purpose
└── Unreachable  the host's robots.txt was answered with an error, so nothing of it may be fetched for now

What a failure means for the host is decided by ``host_trouble``, from its cause.
"""

from __future__ import annotations

import asyncio
import ssl
from enum import Enum

PRIVATE = "private address"
REFUSED, NO_NAME, NO_TLS, NETWORK = "connection refused", "host not found", "TLS failure", "network error"
CONTENT_SIGNAL = "content signal: "  # before what robots.txt says no to
PROXY = "proxy: "  # before any of these, where it is the proxy that cannot be reached
NEVER_SENT = tuple(f"{prefix}{reason}" for prefix in ("", PROXY) for reason in (REFUSED, NO_NAME, NO_TLS, NETWORK))


class Cause(Enum):
    """What a failure may say something about."""

    PAGE = "page"
    EITHER = "page or host"  # the request was sent, and no whole answer came
    BUSY = "busy host"  # the host itself asks for patience: 429, 503
    HOST = "host"  # no request for the page was sent
    PROXY = "proxy"


class NotFetched(Exception):
    """`reason` is for counting, `detail` for a log."""

    def __init__(self, reason: str, retry: bool = False, detail: str = "", cause: Cause = Cause.PAGE) -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason, self.retry, self.detail, self.cause = reason, retry, detail, cause
        self.retry_after: bytes | None = None  # what a server said that answered for the host

    def __reduce__(self) -> tuple[type[NotFetched], tuple[str, bool, str, Cause]]:
        return NotFetched, (self.reason, self.retry, self.detail, self.cause)


class Refused(NotFetched):
    def __init__(self, reason: str = PRIVATE, detail: str = "") -> None:
        super().__init__(reason, False, detail)


class Forbidden(NotFetched):
    def __init__(self, detail: str = "", reason: str = "robots.txt") -> None:
        super().__init__(reason, False, detail)


class Unreachable(NotFetched):
    def __init__(self, detail: str = "", retry_after: bytes | None = None) -> None:
        super().__init__("robots.txt unreachable", True, detail, Cause.HOST)
        self.retry_after = retry_after


def bad(detail: str = "") -> NotFetched:
    """What came is no HTTP."""
    return NotFetched("bad response", False, detail)


def lost() -> NotFetched:
    return NotFetched("connection lost", True, cause=Cause.EITHER)


def cut_short() -> NotFetched:
    return NotFetched("cut short", True, cause=Cause.EITHER)


def too_large(detail: str = "") -> NotFetched:
    return NotFetched("too large", False, detail)


def host_not_found(name: str) -> NotFetched:
    return NotFetched(NO_NAME, True, name, Cause.HOST)


def of_network(error: BaseException) -> NotFetched:
    """What a connection that could not be made, or broke, comes to.

    >>> of_network(ConnectionRefusedError()).reason, of_network(TimeoutError()).reason, of_network(OSError("no route")).reason
    ('connection refused', 'timeout', 'network error')
    """
    if isinstance(error, NotFetched):
        return error
    if isinstance(error, ConnectionRefusedError):
        return NotFetched(REFUSED, True, cause=Cause.HOST)
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        return NotFetched("timeout", True, cause=Cause.EITHER)
    if isinstance(error, ssl.SSLError):
        return NotFetched(NO_TLS, True, str(error)[:200], Cause.HOST)
    if isinstance(error, ConnectionError):
        return lost()
    return NotFetched(NETWORK, True, str(error)[:200], Cause.HOST)


def of_proxy(error: BaseException, proxy: str) -> NotFetched:
    """What it comes to where the proxy could not be reached.

    >>> str(of_proxy(ConnectionRefusedError(), "127.0.0.1:9"))
    'proxy: connection refused: 127.0.0.1:9'
    """
    return NotFetched(PROXY + of_network(error).reason, True, proxy, Cause.PROXY)
