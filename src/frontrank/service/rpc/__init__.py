"""gRPC over HTTP/2, for methods that take and give many small messages.

The grpc library for Python hands over one message at a time, from thread to thread: 6,000 to 8,000 URLs per second, on two
cores where the reference service in Java gives 14,000. HTTP/2 does not require that. Messages lie one after another in a stream
of bytes; here one call answers all that have arrived, and a thousand URLs leave in one write.

    messages.py     statuses, refusals, and messages as bytes
    server.py       methods by path, on one port
    connection.py   bytes in -> h2 (frames, flow control) -> calls; bytes out <- h2, as far as the client's window is open
    call.py         messages of a stream -> one call in a worker thread for all that have arrived -> chunks of messages

A slow client delays only itself: HTTP/2 acknowledges what it sends when that is processed, a call continues when its answers
have left, and a client that does not read is not read from. Messages beyond ``MAX_BYTES`` end their stream
(RESOURCE_EXHAUSTED); a connection has ``MAX_STREAMS`` streams, which buffer ``MAX_BUFFERED`` bytes together. A connection on
which no call was admitted is closed after ``ADMITTED_S``, one without a call under way after ``IDLE_S``: clients open another
when they need it. Compressed messages are refused, as the protocol allows; every answer says so.

gRPC over HTTP/2: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
"""

from frontrank.service.rpc.call import MAX_BUFFERED
from frontrank.service.rpc.connection import MAX_STREAMS, WINDOW, RpcConnection
from frontrank.service.rpc.messages import MAX_BYTES, PREFIX, CallRefused, GrpcStatus, Headers, bearer, framed
from frontrank.service.rpc.server import LEAVING, MAX_CONNECTIONS, Method, RpcServer

__all__ = [
    "LEAVING",
    "MAX_BUFFERED",
    "MAX_BYTES",
    "MAX_CONNECTIONS",
    "MAX_STREAMS",
    "PREFIX",
    "WINDOW",
    "CallRefused",
    "GrpcStatus",
    "Headers",
    "Method",
    "RpcConnection",
    "RpcServer",
    "bearer",
    "framed",
]
