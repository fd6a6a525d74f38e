"""Why a page did not come: in words fit for counting, and whether another try makes sense.

NotFetched(reason, retry)
├── Refused      it was never asked for: a private address, an unusable URL
├── Forbidden    robots.txt does not allow it
└── Unreachable  the host's robots.txt could not be read, so nothing of it may be fetched for now
"""

from __future__ import annotations

import asyncio
import ssl

PRIVATE = "private address"


class NotFetched(Exception):
    """`reason` is for counting, `detail` for a log."""

    def __init__(self, reason: str, retry: bool = False, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason, self.retry, self.detail = reason, retry, detail

    def __reduce__(self) -> tuple[type[NotFetched], tuple[str, bool, str]]:
        return NotFetched, (self.reason, self.retry, self.detail)


class Refused(NotFetched):
    def __init__(self, reason: str = PRIVATE, detail: str = "") -> None:
        super().__init__(reason, False, detail)


class Forbidden(NotFetched):
    def __init__(self, detail: str = "") -> None:
        super().__init__("robots.txt", False, detail)


class Unreachable(NotFetched):
    def __init__(self, retry: bool) -> None:
        super().__init__("robots.txt unreachable", retry)


def bad(detail: str = "") -> NotFetched:
    """What came is no HTTP."""
    return NotFetched("bad response", False, detail)


def lost() -> NotFetched:
    return NotFetched("connection lost", True)


def cut_short() -> NotFetched:
    return NotFetched("cut short", True)


def too_large(detail: str = "") -> NotFetched:
    return NotFetched("too large", False, detail)


def host_not_found(name: str) -> NotFetched:
    return NotFetched("host not found", True, name)


def of_network(error: BaseException) -> NotFetched:
    """What a connection that could not be made, or broke, comes to.

    >>> of_network(ConnectionRefusedError()).reason, of_network(TimeoutError()).reason, of_network(OSError("no route")).reason
    ('connection refused', 'timeout', 'network error')
    """
    if isinstance(error, NotFetched):
        return error
    if isinstance(error, ConnectionRefusedError):
        return NotFetched("connection refused", True)
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        return NotFetched("timeout", True)
    if isinstance(error, ConnectionError) and not isinstance(error, ssl.SSLError):
        return lost()
    return NotFetched("network error", True, str(error)[:200])
