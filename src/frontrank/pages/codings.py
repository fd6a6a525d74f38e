"""Content codings decoded piece by piece, so that the caller can stop: a few bytes may decode to gigabytes.

>>> import zlib
>>> b"".join(DECODERS["gzip"](zlib.compress(b"page", wbits=31)))
b'page'
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator

from frontrank.errors import need

STEP = 64 * 1024
MAX_PARTS = 100  # gzip files or zstd frames in one body: each costs a copy of what follows
MAX_ZSTD_WINDOW_LOG = 23  # 8 MiB (RFC 9659)


def _zlib(body: bytes, wbits: int) -> Iterator[bytes]:
    for _ in range(MAX_PARTS):
        decoder = zlib.decompressobj(wbits)
        while not decoder.eof:
            piece = decoder.decompress(body, STEP)
            body = decoder.unconsumed_tail
            if piece:
                yield piece
            elif not body:
                return
        body = decoder.unused_data  # gzip files may follow each other
        if not body or wbits != 31:
            return


def _deflate(body: bytes) -> Iterator[bytes]:
    """With zlib's header, as the standard has it, or raw, as some servers do."""
    try:
        zlib.decompressobj().decompress(body[:STEP], 1)
    except zlib.error:
        return _zlib(body, -15)
    return _zlib(body, 15)


def _brotli(body: bytes) -> Iterator[bytes]:
    need("brotli")
    import brotli

    decoder = brotli.Decompressor()
    piece = decoder.process(body, output_buffer_limit=STEP)
    while piece:
        yield piece
        if decoder.is_finished():
            return
        piece = decoder.process(b"", output_buffer_limit=STEP)


def _zstd(body: bytes) -> Iterator[bytes]:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        need("backports")
        from backports import zstd

    for _ in range(MAX_PARTS):
        decoder = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: MAX_ZSTD_WINDOW_LOG})
        while not decoder.eof:
            piece = decoder.decompress(body, STEP)
            body = b""
            if piece:
                yield piece
            elif decoder.needs_input:
                return
        body = decoder.unused_data
        if not body:
            return


DECODERS: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "gzip": lambda body: _zlib(body, 31),
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
