"""Retry-After: how long a server asks to be left alone."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from time import time

MAX_REST_S = 3600.0  # a host that asks for more is asked again after this


def rest_s(status: int, header: bytes | None, pause_s: float) -> float:
    """How long to leave a host alone that answered with this status and this Retry-After.

    One that only says "too many requests" rests for as long as the page waits for its own retry.

    >>> rest_s(503, b"120", 1.0), rest_s(429, None, 1.0), rest_s(503, None, 1.0), rest_s(404, b"120", 1.0)
    (120.0, 1.0, 0.0, 0.0)
    """
    if status not in (429, 503):
        return 0.0
    return retry_after(header) or (pause_s if status == 429 else 0.0)


def retry_after(header: bytes | None, most_s: float = MAX_REST_S) -> float:
    """The seconds that a Retry-After header asks for, given as such or as a date; 0 if it asks for none, or is neither.

    >>> retry_after(b"120"), retry_after(b"99999999"), retry_after(b"soon"), retry_after(None)
    (120.0, 3600.0, 0.0, 0.0)
    >>> retry_after(b"Wed, 21 Oct 2015 07:28:00 GMT")
    0.0
    """
    text = (header or b"").decode("latin-1").strip()
    if text.isascii() and text.isdecimal():
        return min(float(text[:12]), most_s)
    try:
        return min(max(parsedate_to_datetime(text).timestamp() - time(), 0.0), most_s)
    except (ValueError, OverflowError):
        return 0.0
