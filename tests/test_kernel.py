"""Kernels: compiled twins are cached on disk, and never stale."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from frontrank.kernels import jit
from frontrank.kernels.code_folder import code_folder
from frontrank.kernels.jit import Array, Column, Direct, compiled, interpreted, kernel, lean, state_type
from frontrank.kernels.prefetch import prefetch
from tests.conftest import ROOT
from tests.patience import PATIENCE_S

CALLEE = """
from frontrank.kernels.jit import kernel
FACTOR = {factor}
@kernel
def change(x):
    return {body}
"""
CALLER = """
import sys
from callee import change
from frontrank.kernels.jit import compiled, kernel
@kernel
def total(values):
    s = 0.0
    for i in range(values.size):
        s += change(values[i])
    return s
if __name__ == "__main__":
    import numpy as np
    f = compiled(total)
    print(f(np.arange(4.0)), sum(f.stats.cache_hits.values()))
"""


AT_ONCE = """
import subprocess, sys
import numpy as np
from frontrank.kernels.jit import compiled, kernel
@kernel
def double(x):
    return x + x
@kernel
def total(values):
    s = values[0]
    for i in range(1, values.size):
        s += double(values[i])
    return s
if __name__ == "__main__":
    f = compiled(total)
    sys.stdin.readline()
    if sys.argv[1] == "none":
        try:
            f(None)
        except Exception:
            subprocess.run([sys.executable, __file__, "float64"], stdin=subprocess.DEVNULL, check=True)
    else:
        print(f(np.arange(4).astype(sys.argv[1])), sum(f.stats.cache_misses.values()))
"""


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Commands that a test runs find nothing compiled. This process keeps its folder."""
    code_folder()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))


def run(folder: Path) -> tuple[float, int]:
    done = subprocess.run([sys.executable, "caller.py"], cwd=folder, capture_output=True, text=True, check=True)
    value, hits = done.stdout.split()
    return float(value), int(hits)


def test_processes_that_start_together_compile_once_and_get_their_own_code(tmp_path: Path) -> None:
    script = tmp_path / "at_once.py"
    script.write_text(AT_ONCE, encoding="utf-8")
    values = {"float64": "12.0", "float32": "12.0", "int64": "12", "complex128": "(12+0j)"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    processes = [
        (kind, subprocess.Popen([sys.executable, str(script), kind], text=True, **pipes))  # type: ignore[call-overload]
        for kind in [*values, *values]
    ]
    for _, process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    said = [(kind, *process.communicate()[0].split()) for kind, process in processes]
    assert sorted((kind, value) for kind, value, _ in said) == sorted([*values.items(), *values.items()])
    assert sum(int(misses) for *_, misses in said) == len(values), "one of each"
    for kind, value in values.items():
        again = subprocess.run([sys.executable, str(script), kind], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert again.stdout.split() == [value, "0"]


def test_a_process_that_cannot_compile_a_kernel_is_not_waited_for(tmp_path: Path) -> None:
    script = tmp_path / "at_once.py"
    script.write_text(AT_ONCE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script), "none"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.stdout.split() == ["12.0", "1"], done.stderr


def test_a_changed_callee_or_constant_in_another_file_is_compiled_anew(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(CALLER, encoding="utf-8")

    def write(factor: int, body: str) -> None:
        (tmp_path / "callee.py").write_text(CALLEE.format(factor=factor, body=body), encoding="utf-8")

    write(2, "x * FACTOR")
    assert run(tmp_path) == (12.0, 0)
    assert run(tmp_path) == (12.0, 1)  # from the cache
    write(3, "x * FACTOR")
    assert run(tmp_path) == (18.0, 0)
    write(3, "x + FACTOR")
    assert run(tmp_path) == (18.0, 0)
    write(2, "x * FACTOR")
    assert run(tmp_path) == (12.0, 1)


weigh: Callable[[float], float]


@kernel
def open_sum(values: np.ndarray) -> float:
    total = 0.0
    for i in range(values.size):
        total += weigh(values[i])  # noqa: F821 - bound when linked
    return total


@kernel
def double(x: float) -> float:
    return 2 * x


@kernel
def square(x: float) -> float:
    return x * x


def test_the_same_source_compiled_in_another_way_is_kept_under_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    name = jit._linked(double, {}, jit=False).__qualname__
    monkeypatch.setattr(jit, "_options", lambda f: {"nogil": True})
    assert jit._linked(double, {}, jit=False).__qualname__ != name


def test_open_names_are_bound_for_each_link() -> None:
    values = np.arange(4.0)
    for link in (compiled, interpreted):
        assert link(open_sum, weigh=double)(values) == 12.0
        assert link(open_sum, weigh=square)(values) == 14.0


def run_caller(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    command = [sys.executable, "caller.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, env={**kept, **environment})


def test_where_no_cache_can_be_written_kernels_run_and_that_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "callee.py").write_text(CALLEE.format(factor=2, body="x * FACTOR"), encoding="utf-8")
    (tmp_path / "caller.py").write_text(CALLER, encoding="utf-8")
    for _ in range(2):
        done = run_caller(tmp_path, HOME="/dev/null")
        assert done.stdout.split() == ["12.0", "0"]
        assert done.stderr.count("\n") == 1
        assert "/dev/null/.cache/frontrank cannot be written" in done.stderr and "NUMBA_CACHE_DIR" in done.stderr


def test_clones_share_compiled_code_and_a_damaged_file_is_compiled_anew(tmp_path: Path) -> None:
    for clone in ("first", "second"):
        (tmp_path / clone).mkdir()
        (tmp_path / clone / "callee.py").write_text(CALLEE.format(factor=2, body="x * FACTOR"), encoding="utf-8")
        (tmp_path / clone / "caller.py").write_text(CALLER, encoding="utf-8")
    home = {"HOME": str(tmp_path)}
    assert [run_caller(tmp_path / clone, **home).stdout for clone in ("first", "second")] == ["12.0 0\n", "12.0 1\n"]
    kept = tmp_path / ".cache" / "frontrank" / "kernels"
    assert kept.stat().st_mode & 0o777 == 0o700 and not list(tmp_path.rglob("__pycache__/*.nbi"))
    for ending in ("nbi", "nbc"):
        for path in kept.glob(f"*.{ending}"):
            path.write_bytes(path.read_bytes()[:-9])
        assert [run_caller(tmp_path / "first", **home).stdout for _ in range(2)] == ["12.0 0\n", "12.0 1\n"]


def test_code_that_nobody_used_for_long_is_deleted(tmp_path: Path) -> None:
    (tmp_path / "callee.py").write_text(CALLEE.format(factor=2, body="x * FACTOR"), encoding="utf-8")
    (tmp_path / "caller.py").write_text(CALLER, encoding="utf-8")
    kept = tmp_path / ".cache" / "frontrank" / "kernels"
    kept.mkdir(parents=True)
    for name, age_s in (("old.py311", 61 * 86400), ("recent.py311", 59 * 86400)):
        for ending in ("nbi", "lock", "1.nbc"):
            (kept / f"{name}.{ending}").write_bytes(b"")
        os.utime(kept / f"{name}.nbi", (time.time() - age_s,) * 2)
    run_caller(tmp_path, HOME=str(tmp_path))
    assert not list(kept.glob("old*")) and len(list(kept.glob("recent*"))) == 3


@kernel
def halves(values: Array) -> float:
    made = values * 0.5
    return float(made.sum())


@lean
def sum_of_halves(values: Array, times: int) -> float:
    total = 0.0
    for i in range(times):
        prefetch(values, i * 1_000_000)  # most of them lie far beyond the end
        total += halves(values)
    return total


@pytest.mark.parametrize("link", [compiled, interpreted])
def test_a_lean_kernel_leaves_arrays_as_it_found_them(link: Any) -> None:
    """It counts no references, and what it calls may make arrays."""
    values = np.arange(5.0)
    before = sys.getrefcount(values)
    assert link(sum_of_halves)(values, 1000) == 5000.0
    assert sys.getrefcount(values) == before
    assert values.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_a_kernel_that_returns_an_array_is_not_lean() -> None:
    def first_half(values: Array) -> Array:
        return values[: values.size // 2]

    with pytest.raises(AssertionError, match="first_half returns an array; mark it @kernel"):
        lean(first_half)


def test_columns_grow_and_keep_what_they_hold() -> None:
    column = Column(np.int32, -1)
    array = column.new(3)
    array[:] = [5, 6, 7]
    assert column.grown(array, 4).tolist() == [5, 6, 7, -1, -1, -1]
    assert column.grown(array, 3) is array
    assert Column(per="crawl", slots=2).new(100).tolist() == [0.0, 0.0]


def test_one_state_class_for_one_set_of_fields() -> None:
    assert state_type(("fetched", "cash")) is state_type(("fetched", "cash"))
    state: Any = state_type(("fetched", "cash"))
    assert state(1, 2).cash == 2


DRIVER = """
from frontrank.kernels.jit import kernel

@kernel
def drive(x):
    return 2 * step(x)
"""
OWN = """
from driver import drive
from frontrank.kernels.jit import compiled, kernel

@kernel
def step(x):
    return x + 1

print(compiled(drive, step=step)(3))
"""


def test_a_kernel_cached_under_one_module_is_not_looked_up_under_another(tmp_path: Path) -> None:
    """A file of one's own is imported, then run: what was cached for the first would import it once more in the second."""
    (tmp_path / "driver.py").write_text(DRIVER, encoding="utf-8")
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    for command in (["-c", "import own"], ["-m", "own"]):
        done = subprocess.run([sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout == "8\n"


@lean
def added_up(values: Array, weight: float) -> float:
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return weight * total


def test_a_direct_call_is_the_compiled_one_whatever_the_size_of_its_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "_interpreted_s", [math.inf])
    direct, values = Direct(added_up), np.arange(40.0)
    for size in (0, 1, 7, 40):
        assert direct.call(values[:size], 0.5) == compiled(added_up)(values[:size], 0.5) == added_up(values[:size], 0.5)
    assert direct.call is not compiled(added_up)
    assert direct.call(values, 2) == 2.0 * values.sum(), "an integer is made a float if the first call had one"
    values.flags.writeable = False
    assert direct.call(values, 0.5) == 390.0


@pytest.mark.parametrize("other", [np.arange(4, dtype=np.int32), [1.0, 2.0], None, 3.0])
def test_a_direct_call_refuses_what_is_no_such_array(other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "_interpreted_s", [math.inf])
    direct = Direct(added_up)
    direct.call(np.arange(4.0), 1.0)
    with pytest.raises(TypeError):
        direct.call(other, 1.0)


@kernel
def first_negative(values: Array, begin: int) -> int:
    for i in range(begin, values.size):
        if values[i] < 0:
            raise ValueError(i)
    return begin


@kernel
def checked(values: Array, at: Array) -> int:
    return first_negative(values, 0) + first_negative(values, at[0]) + first_negative(values, values.size)


def test_a_part_is_compiled_once_for_all_widths_and_raises_what_it_raises_alone(tmp_path: Path) -> None:
    """The command says how many functions numba compiles; kept or not, exceptions have their arguments."""
    program = """
import numpy as np
from numba.core import event
from frontrank.kernels.jit import compiled
from tests.test_kernel import checked
with event.install_recorder("numba:compile") as seen:
    print(compiled(checked)(np.ones(3), np.zeros(1, np.int16)))
print(sum("first_negative" in str(e.data["dispatcher"]) for _, e in seen.buffer if e.is_start))
try:
    compiled(checked)(np.array([1.0, -1.0]), np.zeros(1, np.int16))
except ValueError as error:
    print(error)
"""
    for compiled_parts in (1, 0):
        env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["3", str(compiled_parts), "1"]
