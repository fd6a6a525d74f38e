"""The OpenAPI document against the service that it describes: what schemathesis makes of it, all answered as it says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance

from frontrank.service.http import openapi
from frontrank.service.http.routes import EVENTS, OPERATIONS
from tests.patience import PATIENCE_S
from tests.served import Asked, grown, serving


@pytest.fixture(scope="module")
def document() -> BaseSchema:
    return schemathesis.openapi.from_dict(openapi.document(token=False))


# What to ask is made up when the test runs: for half of the time of collecting all tests, in every process.
schema = schemathesis.pytest.from_fixture("document").exclude(operation_id="getEvents")  # which never ends


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with grown(tmp_path_factory.mktemp("secret-place") / "service") as crawls, serving(crawls) as made:
        pages, _ = crawls.get().queues.discover(["http://gone.example/1", "http://a.example/own"], queues=[None, "own"])
        crawls.get().queues.forget(pages[:1].tolist())
        yield made


@schema.parametrize()
@settings(
    max_examples=25,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
def test_whatever_is_asked_is_answered_as_the_document_says(case: schemathesis.Case[Any], asked: Asked) -> None:
    if "crawl" in case.path_parameters and crc32(repr((case.query, case.body)).encode()) % 3:
        case.path_parameters["crawl"] = "DEFAULT"  # else almost all would end with 404
    answer = case.call(base_url=asked.url, timeout=PATIENCE_S)  # a replay starts a process, and may compile
    assert answer.status_code < 500
    assert "secret-place" not in answer.text and "Traceback" not in answer.text and "/tmp" not in answer.text
    case.validate_response(answer, checks=[status_code_conformance, content_type_conformance, response_schema_conformance])


def test_every_operation_is_in_the_document_once() -> None:
    made = openapi.document(token=True)
    named = [one["operationId"] for path in made["paths"].values() for one in path.values()]
    assert sorted(named) == sorted([*(one.name for one in OPERATIONS), "getEvents", "getHealth", "getMetrics"])
    assert EVENTS in made["paths"] and made["security"] == [{"token": []}]


def test_all_that_is_referred_to_is_defined() -> None:
    made = openapi.document(token=False)
    referred = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(made)))
    assert referred <= set(made["components"]["schemas"])
    assert sorted(made["components"]["schemas"]["Bin"]["required"]) == ["from", "pages", "to"]
