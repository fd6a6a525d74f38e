"""Every registered ordering keeps every contract."""

from __future__ import annotations

import pytest

from frontrank.checks import CHECKS, searched, yield_checks
from frontrank.orderings.registry import REGISTRY, parse
from frontrank.sources.synthetic import synthetic
from frontrank.web.web import Web
from tests.specs import SPECS
from tests.tiers import representative


@pytest.fixture(scope="session")
def web() -> Web:
    return searched(synthetic("pages=300,links=6,text=1,seed=5"))


@pytest.mark.parametrize("spec", representative(SPECS))
@pytest.mark.parametrize("at", range(len(CHECKS)), ids=[check.__name__ for check in CHECKS])
def test_contract(spec: str, at: int, web: Web) -> None:
    list(yield_checks(parse(spec), web))[at]()


def test_no_ordering_is_left_out() -> None:
    assert {spec.partition(":")[0] for spec in SPECS} == set(REGISTRY.built_in())
