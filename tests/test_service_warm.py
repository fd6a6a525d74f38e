"""A service is there at once: it interprets while another process compiles, and goes over to what that has put on disk."""

from __future__ import annotations

import numpy as np
import pytest

from frontrank.kernels import jit
from frontrank.kernels.jit import Array, Lazy, compile_at_once, compile_elsewhere, kernel, load_at_once
from frontrank.orderings.registry import as_policy
from frontrank.service.warm import Compiler
from tests.patience import eventually


@pytest.fixture(autouse=True)
def time_spent(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time for interpreting is spent; what a test changes of it ends with the test."""
    spent = [jit.INTERPRETED_S]
    monkeypatch.setattr(jit, "_interpreted_s", spent)
    monkeypatch.setattr(jit, "_elsewhere", [])
    return spent


@kernel
def tripled(values: Array) -> Array:
    return 3 * values


def test_a_process_that_has_kernels_compiled_elsewhere_interprets_until_they_are_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jit, "code_folder", lambda: None)  # or the kernel would be there from the last run of this test
    begun: list[int] = []
    compile_elsewhere(lambda: begun.append(1))
    lazy = Lazy(tripled)
    for times in (1, 2, 3):
        assert lazy.call(np.ones(2)).tolist() == [3.0, 3.0]
        assert len(begun) == times and lazy.call == lazy._interpret
    compile_at_once()
    assert lazy.call(np.ones(2)).tolist() == [3.0, 3.0]
    assert len(begun) == 3 and lazy.call == jit.compiled(tripled)


def test_code_on_disk_is_loaded_once_interpreting_has_taken_as_long_as_that_takes(time_spent: list[float]) -> None:
    jit.compiled(tripled)(np.ones(2))
    time_spent[0] = 0.0
    lazy = Lazy(tripled)
    assert lazy.call(np.ones(2)).tolist() == [3.0, 3.0] and lazy.call == lazy._interpret
    load_at_once()
    assert lazy.call(np.ones(2)).tolist() == [3.0, 3.0] and lazy.call == jit.compiled(tripled)


def test_the_compiler_starts_one_process_and_then_nothing_is_interpreted(time_spent: list[float]) -> None:
    with Compiler([as_policy("bfs")]) as compiler:
        for _ in range(3):
            compiler.begin()
        eventually(lambda: time_spent[0] == float("inf") and not jit._elsewhere)
        assert compiler._workers.started == 1


def test_a_service_that_ends_while_kernels_are_compiled_compiles_nothing_itself(
    time_spent: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    with Compiler([as_policy("bfs")]) as compiler:
        compiler.begin()
    assert time_spent[0] < float("inf") and not caplog.records
