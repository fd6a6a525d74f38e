"""What a hostile server cannot do to a crawl, and where that is seen to.

private networks        private.py: every URL, every address of every name
robots.txt              robots.py
file:, ftp:, data:, s3: private.py: http and https are all there is
endless bodies          http/: a size and a time for the whole response
compression bombs       here: inflated in steps, stopped at the size; at most three codings on top of each other; zstd
                        windows of at most 8 MiB (RFC 9659)
endless headers         http/message.py: 256 KiB for status line and headers, as in Chrome
cookie bombs            no cookies
redirects               not followed: to the crawl they are links, with limits of their own
pages that take minutes parsing.py: read by a worker process with a deadline
"""

from __future__ import annotations

from frontrank.fetching.failures import NotFetched, too_large
from frontrank.fetching.http.message import Headers, every
from frontrank.pages.codings import DECODERS

MAX_CODINGS = 3


def decoded(headers: Headers, body: bytes, max_bytes: int, truncate: bool = False) -> bytes:
    """A body without its content codings, within limits.

    >>> import zlib
    >>> decoded([(b"Content-Encoding", b"x-gzip, identity")], zlib.compress(b"page", wbits=31), 100)
    b'page'
    """
    for name in reversed(codings_of(headers)):
        body = inflated(name, body, max_bytes, truncate)
    return body


def codings_of(headers: Headers) -> list[str]:
    """The content codings of a body, in the order in which they were applied.

    >>> codings_of([(b"Content-Encoding", b"x-gzip, identity")]), codings_of([(b"Content-Encoding", b"br, utf-8, gzip")])
    (['gzip'], ['gzip'])
    """
    codings_named = b",".join(every(headers, b"content-encoding")).decode("latin-1").lower()
    if not codings_named:
        return []
    codings = [name for part in codings_named.split(",") if (name := part.strip().removeprefix("x-")) not in ("", "identity")]
    if len(codings) > MAX_CODINGS:
        raise NotFetched("broken compression", False, f"{len(codings)} codings: {codings_named[:100]}")
    known: list[str] = []
    for name in reversed(codings):
        if name not in DECODERS:
            break  # servers say utf-8, none and the like, and mean nothing by it
        known.insert(0, name)
    return known


def inflated(coding: str, body: bytes, max_bytes: int, truncate: bool = False) -> bytes:
    """A body without its coding. What is broken ends where it breaks; more than ``max_bytes`` is an error, or cut off.

    >>> import zlib
    >>> inflated("gzip", zlib.compress(b"page", wbits=31), 100), inflated("deflate", zlib.compress(b"page"), 2, truncate=True)
    (b'page', b'pa')
    """
    pieces: list[bytes] = []
    size = 0
    try:
        for piece in DECODERS[coding](body):
            pieces.append(piece)
            size += len(piece)
            if max_bytes and size > max_bytes:
                if not truncate:
                    raise too_large(f"more than {max_bytes} bytes when inflated")
                break
    except NotFetched:
        raise
    except Exception as error:  # each library has its own, and none of them matters
        if not size and not truncate:
            raise NotFetched("broken compression", False, str(error)[:200]) from error
    whole = b"".join(pieces)
    return whole[:max_bytes] if truncate else whole
