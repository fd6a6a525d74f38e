"""Retry-After: how long a server asks to be left alone."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from time import time


def retry_after(header: bytes | None, most_s: float) -> float:
    """The seconds that a Retry-After header asks for, given as such or as a date; 0 if it asks for none, or is neither.

    >>> retry_after(b"120", 3600.0), retry_after(b"99999999", 3600.0), retry_after(b"soon", 3600.0), retry_after(None, 3600.0)
    (120.0, 3600.0, 0.0, 0.0)
    >>> retry_after(b"Wed, 21 Oct 2015 07:28:00 GMT", 3600.0)
    0.0
    """
    text = (header or b"").decode("latin-1").strip()
    if text.isascii() and text.isdecimal():
        return min(float(text[:12]), most_s)
    try:
        return min(max(parsedate_to_datetime(text).timestamp() - time(), 0.0), most_s)
    except (ValueError, OverflowError):
        return 0.0
