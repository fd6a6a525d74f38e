"""The gRPC side at work: URLFrontier's methods on a port, in a thread of its own, beside whatever else the process does."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import DecodeError, Message

from frontrank.errors import BrokenCrawl, CrawlClosed, FrontrankError, InputError, NotFound, StorageError, TooMany
from frontrank.service import wire
from frontrank.service.frontier import FrontierService
from frontrank.service.refusals import sentence_for
from frontrank.service.rpc import CallRefused, GrpcStatus, Headers, Method, RpcServer, bearer
from frontrank.service.security import Security

PORT = 7071
logger = logging.getLogger("frontrank.service")
SERVICE = wire.DESCRIPTOR.services_by_name["URLFrontier"]
BATCHES, ITEMS = 2, 200  # of discovered URLs, and URLs alone, which one call answers: others wait meanwhile
SLOW = ("ListURLs", "CountURLs")  # they may look at all URLs of a crawl
STATUSES: tuple[tuple[type[Exception], GrpcStatus], ...] = (  # the first that fits
    (NotFound, GrpcStatus.NOT_FOUND),
    (TooMany, GrpcStatus.RESOURCE_EXHAUSTED),
    (BrokenCrawl, GrpcStatus.FAILED_PRECONDITION),
    (StorageError, GrpcStatus.UNAVAILABLE),
    (FrontrankError, GrpcStatus.INVALID_ARGUMENT),
)


class GrpcServer:
    """Serving from ``start`` to ``stop``; ``address`` says where. Port 0 is a free one."""

    def __init__(
        self, frontier: FrontierService, host: str = "127.0.0.1", port: int = PORT, security: Security | None = None
    ) -> None:
        self.frontier, self.host, self.port = frontier, host, port
        self.security = security or Security()
        self._loop = asyncio.new_event_loop()
        self._server = RpcServer(methods(frontier, bool(self.security.token)), self._admit)
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"{shown}:{self.port}"

    def start(self) -> GrpcServer:
        try:
            started = self._server.start(self.host, self.port, self.security.context())
            self.port = self._loop.run_until_complete(started)
        except (OSError, OverflowError, UnicodeError) as error:
            self._loop.close()
            why = getattr(error, "strerror", None) or error
            raise InputError(f"cannot listen at {self.address} ({why}); give another address or port") from None
        self.frontier.address = self.address
        self._thread = threading.Thread(target=self._loop.run_forever, name="frontrank-grpc", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Let calls that are under way end, and wait for it."""
        if self._thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._server.stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._thread = None

    def __enter__(self) -> GrpcServer:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _admit(self, headers: Headers) -> None:
        token = self.security.token
        if token and not hmac.compare_digest(bearer(headers), token.encode()):
            raise CallRefused(GrpcStatus.UNAUTHENTICATED, "a token is needed: send it as metadata authorization: Bearer TOKEN")


def methods(frontier: FrontierService, has_token: bool = False) -> dict[str, Method]:
    """All methods of the protocol, by their path. Where no token is needed anybody may call: nobody sets the log level then."""
    by_path = {f"/{SERVICE.full_name}/{method.name}": _method(frontier, method) for method in SERVICE.methods}
    if not has_token:
        by_path[f"/{SERVICE.full_name}/SetLogLevel"] = Method(_refuse_log_level)
    return by_path


def _refuse_log_level(messages: Sequence[bytes]) -> list[list[bytes]]:
    raise CallRefused(
        GrpcStatus.PERMISSION_DENIED,
        "the log level is set by whoever has the service's token, and this service has none; "
        "start it with --log-level, or with --token-file",
    )


def verb(name: str) -> str:
    """What a method is called in Python.

    >>> [verb(name) for name in ("GetURLs", "BlockQueueUntil", "GetURLStatus", "SetDelay")]
    ['get_urls', 'block_queue_until', 'get_url_status', 'set_delay']
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=URL)(?=S[a-z])", "_", name).lower()


def _method(frontier: FrontierService, method: MethodDescriptor) -> Method:
    call = getattr(frontier, verb(method.name))
    asked: type[Message] = getattr(wire, method.input_type.name)
    if method.client_streaming:
        counters = frontier.counters
        batched = method.name == "PutDiscovered"
        at_once, calls = (BATCHES, counters.put_discovered_calls) if batched else (ITEMS, counters.put_calls)
        return Method(lambda messages: _many(call, asked, messages), True, at_once, calls.inc)
    if method.server_streaming:
        return Method(lambda messages: _stream(call(_parsed(asked, messages[0]))), slow=method.name in SLOW)
    return Method(lambda messages: _one(call, asked, messages), slow=method.name in SLOW)


def _many(call: Callable[[list[Any]], Sequence[Message]], asked: type[Message], messages: Sequence[bytes]) -> list[list[bytes]]:
    with _sentences():
        return [[answer.SerializeToString() for answer in call([_parsed(asked, message) for message in messages])]]


def _one(call: Callable[[Any], Message], asked: type[Message], messages: Sequence[bytes]) -> list[list[bytes]]:
    message = _parsed(asked, messages[0])
    with _sentences():
        try:
            answer = call(message)
        except CrawlClosed:  # it was deleted, or opened again, since it was found
            answer = call(message)
        return [[answer.SerializeToString()]]


def _stream(chunks: Iterable[Sequence[bytes]]) -> Iterator[Sequence[bytes]]:
    with _sentences(), contextlib.suppress(CrawlClosed):  # of a crawl that is deleted meanwhile, nothing is left to tell
        yield from chunks


def _parsed(asked: type[Message], message: bytes) -> Message:
    try:
        return asked.FromString(message)
    except DecodeError:
        raise CallRefused(
            GrpcStatus.INVALID_ARGUMENT, f"a {asked.DESCRIPTOR.name} was expected, but these bytes are not one"
        ) from None


@contextlib.contextmanager
def _sentences() -> Iterator[None]:
    """Errors that a caller can fix become statuses; of our own files it learns nothing."""
    try:
        yield
    except FrontrankError as error:
        status = next(status for kind, status in STATUSES if isinstance(error, kind))
        if status == GrpcStatus.UNAVAILABLE:
            logger.error("a crawl cannot be read or written: %s", error)
        raise CallRefused(status, sentence_for(error) if isinstance(error, StorageError) else str(error)) from None
