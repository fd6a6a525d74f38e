"""The OpenAPI 3.1 document of the HTTP side, made of the table that it is served by."""

from __future__ import annotations

from typing import Any

from frontrank import __version__
from frontrank.service.http import shapes
from frontrank.service.http.fields import body_schema
from frontrank.service.http.routes import EVENTS, OPERATIONS, Operation

JSON = "application/json"
REFUSALS = {
    400: "Something that was given cannot be used.",
    401: "The token is missing or wrong.",
    403: "The request came from a page of another origin, or by a name that is not this service's.",
    404: "There is no such crawl, or the crawl does not know the page or group.",
    413: "The body is too long.",
    414: "The URL of the request is too long.",
    415: "The body is not JSON.",
    429: "Too many requests of this kind wait, or there is no room for another rule.",
    503: "The crawl cannot be read or written at the moment.",
}


def document(token: bool) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    paths[EVENTS] = {"get": _stream()}
    paths["/health"] = {"get": _plain("getHealth", "Whether the service is healthy.", JSON, shapes.schema(shapes.Health), 503)}
    paths["/metrics"] = {
        "get": _plain("getMetrics", "Metrics for Prometheus.", "text/plain", {"type": "string"}, 401, 403, 503)
    }
    kinds = [shapes.Error, shapes.Health, *(operation.returns for operation in OPERATIONS)]
    made: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "frontrank", "version": __version__, "description": "Crawls of a frontrank service."},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": shapes.definitions(kinds)},
    }
    if token:
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"token": []}]
    return made


def _operation(operation: Operation) -> dict[str, Any]:
    statuses = [400, 401, 403, 414, 503]
    statuses += [404] if operation.of_crawl else []
    statuses += [413, 415] if operation.acts else []
    statuses += [429] if operation.slow or operation.acts else []
    made: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.about,
        "parameters": _crawl() if operation.of_crawl else [],
        "responses": {"200": _answer("The answer.", JSON, shapes.schema(operation.returns)), **_refusals(*sorted(statuses))},
    }
    if operation.acts:
        made["responses"]["202"] = _answer(
            "It is said to the process that is at work on the crawl, which has not acted on it yet.",
            JSON,
            shapes.schema(operation.returns),
        )
        made["requestBody"] = {"required": True, "content": {JSON: {"schema": body_schema(operation.fields)}}}
    else:
        made["parameters"] += [
            {
                "name": field.name,
                "in": "query",
                "required": field.needed,
                "description": field.about,
                "schema": field.schema(),
            }
            for field in operation.fields
        ]
    return made


def _crawl() -> list[dict[str, Any]]:
    schema = {"type": "string", "minLength": 1, "maxLength": 1000}
    return [{"name": "crawl", "in": "path", "required": True, "description": "the ID of a crawl", "schema": schema}]


def _stream() -> dict[str, Any]:
    made = _plain(
        "getEvents",
        "Live updates, as server-sent events: `status`, with the status as JSON, whenever it changes. The stream never ends.",
        "text/event-stream",
        {"type": "string"},
        *(400, 401, 403, 404, 414, 429, 503),
    )
    return {**made, "parameters": _crawl()}


def _plain(name: str, about: str, media: str, schema: dict[str, Any], *statuses: int) -> dict[str, Any]:
    return {
        "operationId": name,
        "summary": about,
        "responses": {"200": _answer("The answer.", media, schema), **_refusals(*statuses)},
    }


def _refusals(*statuses: int) -> dict[str, Any]:
    return {str(status): _answer(REFUSALS[status], JSON, shapes.schema(shapes.Error)) for status in statuses}


def _answer(about: str, media: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": about, "content": {media: {"schema": schema}}}
