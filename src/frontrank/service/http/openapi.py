"""The OpenAPI 3.1 document of the HTTP side, built from the table of operations that is also served."""

from __future__ import annotations

from typing import Any

import msgspec

from frontrank import __version__
from frontrank.service.http import shapes
from frontrank.service.http.operations import Operation
from frontrank.service.http.params import query_parameters
from frontrank.service.http.routes import EVENTS, OPERATIONS

JSON = "application/json"
REFUSALS = {
    400: "Something that was given cannot be used.",
    401: "The token is missing or wrong.",
    403: "The request came from a page of another origin, or by a name that is not this service's.",
    404: "There is no such crawl, or the crawl does not know the page.",
    413: "The body is too long.",
    414: "The URL of the request is too long.",
    415: "The body is not JSON.",
    429: "Too many requests of this kind wait, or there is no room for another rule.",
    503: "The crawl cannot be read or written at the moment.",
}


def document(token: bool) -> dict[str, Any]:
    kinds = [shapes.Error, shapes.Health, *(one.returns for one in OPERATIONS), *(one.params for one in OPERATIONS if one.acts)]
    schemas, components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    error, health, *others = schemas
    returns, bodies = iter(others[: len(OPERATIONS)]), iter(others[len(OPERATIONS) :])
    refusals = {status: _answer(about, JSON, error) for status, about in REFUSALS.items()}
    paths: dict[str, Any] = {}
    for one in OPERATIONS:
        described = _operation(one, next(returns), next(bodies) if one.acts else None, refusals)
        paths.setdefault(one.path, {})[one.method.lower()] = described
    paths[EVENTS] = {"get": _stream(refusals)}
    paths["/health"] = {"get": _plain("getHealth", "Whether the service is healthy.", JSON, health, refusals, 503)}
    paths["/metrics"] = {
        "get": _plain("getMetrics", "Metrics for Prometheus.", "text/plain", {"type": "string"}, refusals, 401, 403, 503)
    }
    whole: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "frontrank", "version": __version__, "description": "Crawls of a frontrank service."},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": components},
    }
    if token:
        whole["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        whole["security"] = [{"token": []}]
    return whole


def _operation(operation: Operation, returns: Any, body: Any, refusals: dict[int, Any]) -> dict[str, Any]:
    statuses = [400, 401, 403, 414, 503]
    statuses += [404] if operation.of_crawl else []
    statuses += [413, 415] if operation.acts else []
    statuses += [429] if operation.slow or operation.acts else []
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.about,
        "parameters": _crawl() if operation.of_crawl else [],
        "responses": {"200": _answer("The answer.", JSON, returns), **_chosen(refusals, *statuses)},
    }
    if operation.acts:
        sent = "It is sent to the process that is at work on the crawl, which has not acted on it yet."
        described["responses"]["202"] = _answer(sent, JSON, returns)
        described["requestBody"] = {"required": True, "content": {JSON: {"schema": body}}}
    else:
        described["parameters"] += query_parameters(operation.params)
    return described


def _crawl() -> list[dict[str, Any]]:
    schema = {"type": "string", "minLength": 1, "maxLength": 1000}
    return [{"name": "crawl", "in": "path", "required": True, "description": "the ID of a crawl", "schema": schema}]


def _stream(refusals: dict[int, Any]) -> dict[str, Any]:
    about = (
        "Live updates, as server-sent events: `status`, with the status as JSON, whenever it changes. The stream never ends."
    )
    statuses = (400, 401, 403, 404, 414, 429, 503)
    plain = _plain("getEvents", about, "text/event-stream", {"type": "string"}, refusals, *statuses)
    return {**plain, "parameters": _crawl()}


def _plain(name: str, about: str, media: str, schema: Any, refusals: dict[int, Any], *statuses: int) -> dict[str, Any]:
    responses = {"200": _answer("The answer.", media, schema), **_chosen(refusals, *statuses)}
    return {"operationId": name, "summary": about, "responses": responses}


def _chosen(refusals: dict[int, Any], *statuses: int) -> dict[str, Any]:
    return {str(status): refusals[status] for status in sorted(statuses)}


def _answer(about: str, media: str, schema: Any) -> dict[str, Any]:
    return {"description": about, "content": {media: {"schema": schema}}}
