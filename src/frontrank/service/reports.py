"""What the metadata of a known URL that is sent back say of its visit.

    returned                            it was not fetched: it waits again at once, with the priority that it had
    status                              the HTTP status; 400 and above is a failure
    error                               why it did not arrive
    fetch.error.count, error.cause,     the same from StormCrawler: the first for a URL that will be tried again, the second
    fetch.exception, fetch.statusCode   for one that failed for good; the others say why, if the topology keeps them

A failure with date 0 is for good; with a date, the URL is tried again then. What is about one visit alone (the first three) is
not kept with the URL: the next fetcher to get the URL would send it back as its own.
"""

from __future__ import annotations

from typing import NamedTuple

from frontrank.service import wire

RETURNED, STATUS, ERROR = "returned", "status", "error"
OF_ONE_VISIT = (RETURNED, STATUS, ERROR)
MAX_REASON_LENGTH = 200  # characters


class Report(NamedTuple):
    returned: bool = False
    error: str = ""  # why it failed; empty: it was fetched
    status: int = 200


def read(info: wire.URLInfo) -> Report:
    if not info.metadata:
        return Report()
    if RETURNED in info.metadata:
        return Report(returned=True)
    status = _status(_value(info, STATUS))
    if status:
        return Report(error=_value(info, ERROR) or f"http {status}") if status >= 400 else Report(status=status)
    if ERROR in info.metadata:
        return Report(error=_value(info, ERROR) or "failed")
    return _stormcrawler(info)


def _stormcrawler(info: wire.URLInfo) -> Report:
    """It clears the count and the cause when a page arrives, but not the exception."""
    status, cause = _status(_value(info, "fetch.statusCode")), _value(info, "error.cause")
    failing = cause or _value(info, "fetch.error.count").strip("0")
    if failing or status >= 400:
        reason = f"http {status}" if status >= 400 else _value(info, "fetch.exception")
        return Report(error=cause or reason or "fetch error")
    return Report(status=status or 200)


def strip(info: wire.URLInfo) -> None:
    """Remove what is about one visit alone."""
    for name in OF_ONE_VISIT:
        if name in info.metadata:
            del info.metadata[name]


def _value(info: wire.URLInfo, name: str) -> str:
    values = info.metadata[name].values if name in info.metadata else ()  # reading a missing one would create it
    return " ".join(values[0][:MAX_REASON_LENGTH].split()) if values else ""


def _status(text: str) -> int:
    """An HTTP status, 0 if it is not one.

    >>> [_status(text) for text in ("404", "99", "600", "4o4", "", "²00")]
    [404, 0, 0, 0, 0, 0]
    """
    number = int(text) if text.isascii() and text.isdecimal() and len(text) == 3 else 0
    return number if 100 <= number < 600 else 0
