"""Tests that share what takes long to make run in one process."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def shared() -> str:
    return "by all tests of this module"


def test_pytest_xdist_knows_the_groups(shared: str, request: pytest.FixtureRequest) -> None:
    """With some versions of pytest it loses them, and the suite passes as well, in twice the time."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("this run spreads no tests over processes")
    assert request.node.nodeid.endswith("@tests/test_tiers.py")
