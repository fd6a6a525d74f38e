"""Statuses and refusals of calls, and how messages lie in a stream of bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum

MAX_BYTES = 4 * 2**20  # of one message, as in the grpc libraries
PREFIX = struct.Struct(">?I")  # compressed or not, length
Headers = Mapping[bytes, bytes]


class GrpcStatus(IntEnum):
    """The codes of gRPC that are used here."""

    OK = 0
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    NOT_FOUND = 5
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    UNAUTHENTICATED = 16


class CallRefused(Exception):
    """A call ends with this status, and a sentence for the caller."""

    def __init__(self, status: GrpcStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


def cut(received: bytearray, max_messages: int) -> Iterator[bytes]:
    """Take whole messages, at most so many, from the front of what was received."""
    at = 0
    while max_messages and len(received) - at >= PREFIX.size:
        compressed, length = PREFIX.unpack_from(received, at)
        if compressed:
            raise CallRefused(GrpcStatus.UNIMPLEMENTED, "compressed messages are not understood here; send them as they are")
        if length > MAX_BYTES:
            raise CallRefused(
                GrpcStatus.RESOURCE_EXHAUSTED, f"a message must have at most {MAX_BYTES:,} bytes, got one of {length:,}"
            )
        begin, stop = at + PREFIX.size, at + PREFIX.size + length
        if len(received) < stop:
            break
        yield bytes(received[begin:stop])
        at, max_messages = stop, max_messages - 1
    del received[:at]


def framed(messages: Sequence[bytes]) -> bytes:
    """Messages as they lie in a stream.

    >>> framed([b"ab", b""])
    b'\\x00\\x00\\x00\\x00\\x02ab\\x00\\x00\\x00\\x00\\x00'
    """
    parts: list[bytes] = []
    for message in messages:
        parts.append(PREFIX.pack(False, len(message)))
        parts.append(message)
    return b"".join(parts)


def bearer(headers: Headers) -> bytes:
    """The token that a call brings; empty if it brings none.

    >>> bearer({b"authorization": b"Bearer abc"})
    b'abc'
    """
    kind, _, token = headers.get(b"authorization", b"").partition(b" ")
    return token.strip() if kind.lower() == b"bearer" else b""
