"""The table of operator verbs: each row is a method, an event, a command, a route, a tool, and known to a running crawl."""

from __future__ import annotations

from typing import Any

import pytest

from frontrank import AsyncCrawl, Crawl
from frontrank.cli import COMMANDS, command
from frontrank.crawl.events import KINDS
from frontrank.crawl.verbs import VERBS, Verb, methods
from frontrank.service.http.openapi import document
from frontrank.service.mcp import tools_of_service

SOME: dict[str, Any] = {"text": "a.example", "whole": 2, "seconds": 5.0}  # a value of each kind


@pytest.fixture(params=VERBS, ids=lambda verb: verb.method)
def verb(request: pytest.FixtureRequest) -> Verb:
    found: Verb = request.param
    return found


def given(verb: Verb) -> dict[str, Any]:
    return {one.field: SOME[one.kind] for one in verb.parameters}


def test_a_verb_is_a_method_that_leaves_its_event(verb: Verb) -> None:
    crawl = Crawl("bfs")
    crawl.seed(["http://a.example/"])
    happened: list[str] = []
    crawl.state.log.append = lambda rows: happened.extend(KINDS[row.kind].name for row in rows)  # type: ignore[method-assign]
    if verb.method == "resume":
        crawl.control.pause()
    getattr(crawl.control, verb.method)(**verb.arguments(given(verb), 100.0))
    assert verb.event in happened and callable(getattr(AsyncCrawl(crawl).control, verb.method))
    assert verb.outcome(given(verb))


def test_a_verb_is_a_command_with_its_parameters(verb: Verb) -> None:
    assert verb.command in COMMANDS
    made = command.get_command(None, verb.command)  # type: ignore[arg-type]
    assert made is not None
    assert {one.field for one in verb.parameters} <= {one.name for one in made.params}


def test_a_verb_is_a_route_with_its_parameters(verb: Verb) -> None:
    described = document(False)
    operation = described["paths"][f"/api/v1/crawls/{{crawl}}/{verb.path}"]["post"]
    assert operation["operationId"] == verb.name and operation["summary"] == verb.about
    (schema,) = (body["schema"] for body in operation["requestBody"]["content"].values())
    while "$ref" in schema:
        schema = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    assert list(schema.get("properties", {})) == [one.field for one in verb.parameters]
    assert sorted(schema.get("required", [])) == sorted(one.field for one in verb.parameters if one.needed)


def test_a_verb_is_a_tool_if_tools_may_control(verb: Verb) -> None:
    tools = {tool.name: tool for tool in tools_of_service(None, "DEFAULT", True)}  # type: ignore[arg-type]
    assert not tools[verb.method].reads and tools["status"].reads
    assert verb.method not in {tool.name for tool in tools_of_service(None, "DEFAULT")}  # type: ignore[arg-type]


def test_a_running_crawl_accepts_a_verb(verb: Verb) -> None:
    assert verb.method in methods()
