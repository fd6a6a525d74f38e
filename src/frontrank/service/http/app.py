"""The HTTP side as an ASGI application. What an operation does is in ``answers``; here is how it is called, and what an error
becomes: a status and one sentence, without a path of this machine, without a traceback."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.resources import files
from typing import Any, TypeVar

import msgspec
from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from frontrank import __version__
from frontrank.errors import FrontrankError, InputError, NotFound, StorageError, TooMany
from frontrank.service.counters import Counters
from frontrank.service.http import answers, guard, metrics, openapi
from frontrank.service.http.answers import NotKnown
from frontrank.service.http.operations import API, Operation, Target
from frontrank.service.http.params import Params, from_json, from_query
from frontrank.service.http.reader import Busy, CrawlReader
from frontrank.service.http.routes import EVENTS, OPERATIONS
from frontrank.service.http.shapes import Error, Health
from frontrank.service.http.stream import Streams
from frontrank.service.refusals import sentence_for
from frontrank.system.workers import Closed, Died, TooLong

logger = logging.getLogger("frontrank.service")
T = TypeVar("T")
Endpoint = Callable[[Request], Awaitable[Response]]
QUICK, APART, SLOW = 8, 8, 8  # threads
MAX_WAITING = 48  # questions of a kind that wait for a thread: all kinds together leave connections for others
BODY_S = 30.0  # for the body of an action to come
PAGE = {
    "dashboard.html": "text/html; charset=utf-8",
    "dashboard.css": "text/css; charset=utf-8",
    "dashboard.js": "text/javascript; charset=utf-8",
    "ask.js": "text/javascript; charset=utf-8",
    "draw.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
STATUSES: tuple[tuple[type[Exception], int], ...] = (  # the first that fits
    (NotFound, 404),
    (NotKnown, 404),
    (Busy, 429),
    (TooMany, 429),
    (StorageError, 503),
    (FrontrankError, 400),
)


class App:
    """``app`` is the application; ``close`` ends what it has started."""

    def __init__(self, reader: CrawlReader, token: str = "", counters: Counters | None = None) -> None:
        self.reader, self.counters = reader, counters or Counters()
        self.streams = Streams()
        self.document = openapi.document(bool(token))
        self._quick, self._apart, self._slow = CapacityLimiter(QUICK), CapacityLimiter(APART), CapacityLimiter(SLOW)
        handlers: dict[Any, Any] = {HTTPException: _http_error, Exception: _unexpected}
        routed = Starlette(routes=self._routes(), exception_handlers=handlers)
        routed.router.redirect_slashes = False
        self.app = guard.Guard(routed, token)

    def close(self) -> None:
        self.streams.close()
        self.reader.close()

    def _routes(self) -> list[Route]:
        routes = [Route(_path(one.path), self._endpoint(one), methods=[one.method]) for one in OPERATIONS]
        routes.append(Route(_path(EVENTS), self._refusing(self.events)))
        routes += [Route("/health", self._refusing(self.health)), Route("/metrics", self._refusing(self.metrics))]
        routes += [Route("/openapi.json", self._refusing(self.openapi)), Route("/", self._refusing(self.root))]
        return routes + [Route(f"/{name}", partial(_file, name), methods=["GET"]) for name in PAGE]

    # Operations -----------------------------------------------------------------------------------------------------------
    def _endpoint(self, operation: Operation) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            params = await _params(operation, request)
            answer = await self._answer(operation, _crawl(request), params)
            return _json(answer, 202 if operation.acts and not answer.applied else 200)

        return self._refusing(endpoint)

    async def _answer(self, operation: Operation, crawl: str, params: Params) -> Any:
        make = partial(operation.answer, Target(self.reader, crawl), params)
        if operation.keep_s:
            make = partial(self.reader.cached, (crawl, operation.name, msgspec.json.encode(params)), operation.keep_s, make)
        limiter = self._slow if operation.slow else self._apart if operation.apart else self._quick
        if limiter.statistics().tasks_waiting >= MAX_WAITING:
            raise Busy("too many questions wait to be answered; ask again in a while")
        return await to_thread.run_sync(make, limiter=limiter)

    def _refusing(self, endpoint: Endpoint) -> Endpoint:
        """The same endpoint, which answers an error with its status and sentence."""

        async def refusing(request: Request) -> Response:
            try:
                return await endpoint(request)
            except FrontrankError as error:
                status = next(status for kind, status in STATUSES if isinstance(error, kind))
                if status == 503:
                    logger.error("a crawl cannot be read or written: %s", error)
                return _error(status, sentence_for(error) if isinstance(error, StorageError) else str(error))
            except (TooLong, Died, Closed):
                return _error(503, "the answer took too long, and was given up; ask for less")

        return refusing

    # The rest -------------------------------------------------------------------------------------------------------------
    async def events(self, request: Request) -> Response:
        name = _crawl(request)

        async def status() -> Any:
            return await to_thread.run_sync(answers.status_of, self.reader, name, limiter=self._quick)

        await status()  # an unknown crawl is refused before the stream begins
        if self.streams.full():
            return _error(429, "too many live streams are open; close a dashboard")
        return StreamingResponse(self.streams.of(status), media_type="text/event-stream")

    async def health(self, request: Request) -> Response:
        if self.reader.trouble():  # here, in no thread: it is answered whatever threads wait for
            return _error(
                503, "a crawl could not be opened, or its journal cannot be written; the service's own output says why"
            )
        return _json(Health(status="ok", version=__version__, crawls=len(self.reader.ids())))

    async def metrics(self, request: Request) -> Response:
        def text() -> bytes:
            return metrics.text(self.counters, answers.statuses(self.reader), self.reader.active)

        return Response(await to_thread.run_sync(text, limiter=self._quick), media_type=metrics.MEDIA)

    async def openapi(self, request: Request) -> Response:
        return _json(self.document)

    async def root(self, request: Request) -> Response:
        return RedirectResponse("/dashboard.html", 307)


class AnyText(Convertor[str]):
    """An ID of a crawl may contain slashes and line ends. What follows it is fixed, so no path can be read in two ways."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("any", AnyText())


def _path(path: str) -> str:
    return path.replace("{crawl}", "{crawl:any}")


def _crawl(request: Request) -> str:
    return str(request.path_params.get("crawl", ""))


async def _params(operation: Operation, request: Request) -> Params:
    if not operation.acts:
        return from_query(operation.params, request.query_params)
    try:
        async with asyncio.timeout(BODY_S):
            body = await request.body()
    except TimeoutError:
        raise InputError(f"the body must come within {BODY_S:g} s") from None
    except guard.BodyTooLong:
        longest = guard.longest_body(request.url.path)
        raise HTTPException(413, f"the body must have at most {longest:,} bytes") from None
    except ClientDisconnect:
        raise InputError("the body ended early") from None
    if len(body) <= guard.MAX_BODY_LENGTH:
        return from_json(operation.params, body)
    return await to_thread.run_sync(from_json, operation.params, body)  # megabytes take a while: others are answered meanwhile


async def _file(name: str, request: Request) -> Response:
    file = files("frontrank.service.http") / "page" / name
    return Response(file.read_bytes(), media_type=PAGE[name])


def _json(value: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def _error(status: int, sentence: str) -> Response:
    headers = {"Retry-After": "5"} if status in (429, 503) else None
    return Response(msgspec.json.encode(Error(error=sentence)), status, headers, "application/json")


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentences = {404: f"there is nothing at this path; {API} and /openapi.json say what there is"}
    sentences[405] = f"this path does not take {request.method}"
    answer = _error(error.status_code, sentences.get(error.status_code, str(error.detail)))
    answer.headers.update(error.headers or {})
    return answer


async def _unexpected(request: Request, error: Exception) -> Response:
    logger.error("a request failed", exc_info=error)
    return _error(500, "something went wrong in the service; its own output says what")
