"""What a known URL that is sent back says of its visit, by its metadata.

    returned                            nobody fetched it: it waits again at once, where it stood
    status                              the HTTP status; 400 and above is a failure
    error                               why it did not arrive
    ip                                  the address it was fetched from
    fetch.error.count, error.cause,     the same as StormCrawler tells it: the first for a URL that will be tried again, the
    fetch.exception, fetch.statusCode   second for one that failed for good; the others say why, if the topology keeps them

A failure with date 0 is for good; with a date, the URL is tried again then. What tells of one visit alone (the first four) is
not kept with the URL: whoever gets it next and sends its metadata back would say it again.
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
    status = _status(_said(info, STATUS))
    if status:
        return Report(error=_said(info, ERROR) or f"http {status}") if status >= 400 else Report(status=status)
    if ERROR in info.metadata:
        return Report(error=_said(info, ERROR) or "failed")
    return _stormcrawler(info)


def _stormcrawler(info: wire.URLInfo) -> Report:
    """It clears the count and the cause when a page arrives, but not what was said of an exception."""
    status, cause = _status(_said(info, "fetch.statusCode")), _said(info, "error.cause")
    failing = cause or _said(info, "fetch.error.count").strip("0")
    if failing or status >= 400:
        said = f"http {status}" if status >= 400 else _said(info, "fetch.exception")
        return Report(error=cause or said or "fetch error")
    return Report(status=status or 200)


def strip(info: wire.URLInfo) -> None:
    """Leave out what tells of one visit alone."""
    for name in OF_ONE_VISIT:
        if name in info.metadata:
            del info.metadata[name]


def _said(info: wire.URLInfo, name: str) -> str:
    values = info.metadata[name].values if name in info.metadata else ()  # asking for one that is not there would make it
    return " ".join(values[0][:MAX_REASON_LENGTH].split()) if values else ""


def _status(text: str) -> int:
    """An HTTP status, 0 if it is none.

    >>> [_status(text) for text in ("404", "99", "600", "4o4", "", "²00")]
    [404, 0, 0, 0, 0, 0]
    """
    number = int(text) if text.isascii() and text.isdecimal() and len(text) == 3 else 0
    return number if 100 <= number < 600 else 0
