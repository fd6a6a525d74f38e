"""Kernels: plain functions over arrays, interpreted as they stand or compiled by numba.

``@kernel`` only marks a function: it stays the Python function it was, so calling it *is* the interpreted driver, the
oracle of every compiled run. ``compiled(f)`` gives the machine-code twin: all kernels that f calls are compiled
with it, and the result is kept on disk (``cache``).

Habits of numba that are met here, once for all kernels (callers need to know one more: a read-only array, or an integer for a
float, is another type, for which a kernel is compiled anew):

- A jitted function that arrives as an argument or through a closure cannot be kept on disk. So a function that
  needs others is rebuilt with them as *globals* (``types.FunctionType``) before it is jitted.
- Code that is kept goes stale silently when a callee in another file changes. So a checksum of the sources of all
  kernels involved is part of the rebuilt function's qualified name.
- State travels as a namedtuple, and a cached kernel remembers the classes it was called with, by name. So the name of a
  state class lists its fields, and this module makes any such class when it is asked for.
- Machine code is made for each function. Of those that only kernels call it is not (``parts``).
- Every array that a function is given or gives on has its references counted, atomically, unless the function is marked
  ``@lean``: then it makes no arrays and returns none. Such a function becomes a part of its caller, as handing over the seven
  numbers that an array is to numba, of a dozen arrays, took a tenth of the time of a simulation.
- numba takes half a second to import. Nothing here imports it before the first ``compiled``.
"""

from __future__ import annotations

import linecache
import math
import sys
import time
import types
import zlib
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from frontrank.kernels.code_folder import code_folder, is_kept
from frontrank.kernels.compiling import listen
from frontrank.kernels.growing import grown

LOADING_S = 0.6  # of processor time of a process: interpreted for as long as loading numba and machine code from disk takes
INTERPRETED_S = 6.0  # of processor time of a process; then kernels of live crawls are compiled, which takes as long
INTERPRETED_ITEMS = 2_000  # at most in one call, of pages and URLs
INTERPRETED_STEPS = 200_000  # the same where an item takes a microsecond, such as a link that is copied

_interpreted_s = [0.0]
_elsewhere: list[Callable[[], None]] = []  # what has kernels compiled by another process

F = TypeVar("F", bound=Callable[..., Any])
Kernel = Callable[..., Any]
Array = np.ndarray[Any, np.dtype[Any]]


def kernel(f: F) -> F:
    """Mark f as a kernel: free of closures, default arguments and Python objects."""
    f.__kernel__ = True  # type: ignore[attr-defined]
    return f


def lean(f: F) -> F:
    """Mark f as a kernel that makes no array and returns none: its machine code counts no references to those it is given.

    For what runs once a link or page: counting took a third of the time of a simulation.
    """
    assert f.__annotations__.get("return") not in ("Array", Array), f"{f.__qualname__} returns an array; mark it @kernel"
    f.__lean__ = True  # type: ignore[attr-defined]
    return kernel(f)


def machine_code(make: Callable[[], Kernel]) -> Callable[[F], F]:
    """The kernel's machine code is not compiled from it, but is what ``make()`` returns; interpreted, it runs as it is."""

    def mark(f: F) -> F:
        f.__machine_code__ = make  # type: ignore[attr-defined]
        return f

    return mark


class Column(NamedTuple):
    """One array of a policy's state: the engine allocates, grows and saves it.

    ``per`` says what it is indexed by: a page, a host, or (``"crawl"``) nothing: then it has ``slots`` of its own.
    """

    dtype: Any = np.float64
    fill: Any = 0
    per: Literal["page", "host", "crawl"] = "page"
    slots: int = 1

    def new(self, size: int) -> Array:
        array = np.zeros(self.slots if self.per == "crawl" else size, dtype=self.dtype)
        if isinstance(self.fill, dict):
            for name, value in self.fill.items():
                array[name] = value
        elif np.ndim(self.fill) or self.fill != 0:
            array[:] = self.fill
        return array

    def grown(self, array: Array, size: int) -> Array:
        """The same array with room for size slots; new slots hold the fill value."""
        return array if self.per == "crawl" else grown(array, size, self.fill)


def state_type(fields: tuple[str, ...]) -> type[tuple[Any, ...]]:
    """The namedtuple class with these fields, one for all who ask."""
    state: type[tuple[Any, ...]] = getattr(sys.modules[__name__], "__".join(("State", *fields)))
    return state


def __getattr__(name: str) -> Any:
    """State classes are made when first asked for, by a policy or by a cached kernel that is loaded: the name says all."""
    first, *fields = name.split("__")
    if first != "State" or not fields:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    state = namedtuple(name, fields)  # type: ignore[misc]
    state.__module__ = __name__
    globals()[name] = state
    return state


PART = "__frontrank_part"  # ends the names of kernels that only kernels call

_twins: dict[tuple[Any, ...], Kernel] = {}


def compiled(f: Kernel, **bind: Kernel) -> Kernel:
    """The machine-code twin of kernel f. ``bind`` fills names that f leaves open (as the drivers leave ``on_fetch``)."""
    key = ("compiled", f, *bind.items())
    if key not in _twins:
        given: Callable[[], Kernel] | None = getattr(f, "__machine_code__", None)
        _twins[key] = _jit(_linked(f, bind, jit=True)) if given is None else given()
    return _twins[key]


def _part(f: Kernel) -> Kernel:
    """The twin of kernel f for kernels that call it: it cannot be called from Python (``parts``)."""
    key = ("part", f)
    if key not in _twins:
        given: Callable[[], Kernel] | None = getattr(f, "__machine_code__", None)
        _twins[key] = _jit(_linked(f, {}, jit=True, part=True)) if given is None else given()
    return _twins[key]


class Lazy:
    """A kernel for a live crawl: a small crawl does not compile it.

    Compiling what an ordering and a frontier need takes some 6 s of processor time, loading it from disk, with numba, 0.6, and
    interpreting a page about a millisecond. So a kernel is interpreted until the process has spent as much on interpreting:
    ``LOADING_S`` if its machine code is on disk, ``INTERPRETED_S`` if not. Then a crawl of any size costs at most twice of what
    the better of the two does. The order is the same.
    """

    __slots__ = ("_bind", "_kernel", "_looked", "call")

    def __init__(self, f: Kernel, **bind: Kernel) -> None:
        self._kernel, self._bind, self._looked = f, bind, False
        self.call: Kernel = self._interpret

    def _interpret(self, *args: Any) -> Any:
        spent = _interpreted_s[0]
        if (spent >= LOADING_S and not self._looked and self._is_kept()) or (spent >= INTERPRETED_S and not _elsewhere):
            self.call = self._compile
            return self.call(*args)
        if spent >= INTERPRETED_S:
            _elsewhere[0]()
        began = time.thread_time()
        found = interpreted(self._kernel, **self._bind)(*args)
        _interpreted_s[0] += time.thread_time() - began
        return found.item() if isinstance(found, np.generic) else found

    def _is_kept(self) -> bool:
        self._looked = True
        return code_folder() is not None and is_kept(_linked(self._kernel, self._bind, jit=False))

    def _compile(self, *args: Any) -> Any:
        self.call = compiled(self._kernel, **self._bind)
        return self.call(*args)


class Direct(Lazy):
    """The same for a caller whose arguments have the same types at every call: not to be shared by crawls.

    numba finds out the types of all arguments at each call: 2 us for a frontier of 11 arrays, where the call itself takes
    0.2 if the kernel is ``@lean``. Here it asks at the first compiled call alone. After that only the size of an array's
    elements is looked at: arrays must be contiguous, and whoever may be given an integer for a float makes it one.
    """

    __slots__ = ()

    def _compile(self, *args: Any) -> Any:
        from numba import typeof

        twin = compiled(self._kernel, **self._bind)
        found = twin(*args)
        overload = getattr(twin, "overloads", {}).get(tuple(map(typeof, args)))
        self.call = twin if overload is None else overload.entry_point
        return found


def load_at_once() -> None:
    """Load machine code that is on disk when it is first needed."""
    _interpreted_s[0] = max(_interpreted_s[0], LOADING_S)


def compile_at_once() -> None:
    """Interpret no more: machine code is loaded, or made, when it is first needed."""
    _interpreted_s[0] = math.inf
    _elsewhere.clear()


def compile_elsewhere(begin: Callable[[], None]) -> None:
    """Once the time for interpreting is spent, call ``begin`` at each call of a kernel, and go on interpreting.

    Another process is then to put the machine code on disk, and ``compile_at_once`` to be called: in a process that answers
    others nobody waits for the compiler.
    """
    _elsewhere[:] = [begin]


@cache
def lazy(f: Kernel) -> Lazy:
    """One ``Lazy`` for all who call kernel f."""
    return Lazy(f)


def by_size(f: Kernel, items: int, max_interpreted: int = INTERPRETED_ITEMS, *, few: Lazy | None = None) -> Kernel:
    """Kernel f for a call that goes through so many items: ``few``, or the one of all callers, for a few, compiled for many."""
    return compiled(f) if items > max_interpreted else (few or lazy(f)).call


def interpreted(f: Kernel, **bind: Kernel) -> Kernel:
    """Kernel f as plain Python, with the open names filled: itself a kernel."""
    key = ("interpreted", f, *bind.items())
    if key not in _twins:
        _twins[key] = _linked(f, bind, jit=False) if bind else f
    return _twins[key]


def _linked(f: Kernel, bind: Mapping[str, Kernel], jit: bool, part: bool = False) -> types.FunctionType:
    assert isinstance(f, types.FunctionType)
    callees = dict(_callees(f, bind))
    names = dict(f.__globals__)
    for name, callee in callees.items():
        names[name] = _part(callee) if jit else callee
    rebuilt = types.FunctionType(f.__code__, names, f.__name__, f.__defaults__)
    rebuilt.__module__ = f.__module__
    tag = "_".join(g.__qualname__ for g in bind.values())
    readable = f"{f.__qualname__}_{tag}".replace("<locals>.", "")[:80]  # it becomes part of a file name
    rebuilt.__qualname__ = f"{readable}_{_fingerprint(f, bind):08x}{PART if part else ''}"
    rebuilt.__annotations__ = f.__annotations__
    return lean(rebuilt) if hasattr(f, "__lean__") else kernel(rebuilt)


def _callees(f: types.FunctionType, bind: Mapping[str, Kernel]) -> Iterator[tuple[str, Kernel]]:
    """The kernels that f calls by a global name or an open name."""
    for name in f.__code__.co_names:
        callee = bind.get(name, f.__globals__.get(name))
        if isinstance(callee, types.FunctionType) and getattr(callee, "__kernel__", False):
            yield name, callee


def _fingerprint(f: Kernel, bind: Mapping[str, Kernel]) -> int:
    """A checksum of the sources of f and of every kernel it reaches, how they are compiled, and the constants they read."""
    seen: dict[Kernel, None] = {}
    crc = 0
    stack: list[tuple[Kernel, Mapping[str, Kernel]]] = [(f, bind)]
    while stack:
        g, bound = stack.pop()
        if g in seen:
            continue
        seen[g] = None
        assert isinstance(g, types.FunctionType)
        # A cached caller looks its callees up by module: the same source under another module is another kernel.
        instead = getattr(g, "__machine_code__", g)
        crc = zlib.crc32(f"{g.__module__} {_options(g)} {_source(g)} {_source(instead)}".encode(), crc)
        for name in g.__code__.co_names:
            value = g.__globals__.get(name)
            if _is_constant(value):
                crc = zlib.crc32(f"{name}={value!r}".encode(), crc)
            elif isinstance(value, np.ndarray):
                crc = zlib.crc32(value.tobytes(), crc)
        stack.extend((callee, {}) for _, callee in _callees(g, bound))
    return crc


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    return isinstance(value, int | float | str | bytes | np.generic)


@cache
def fingerprint(f: Kernel) -> int:
    """A checksum that changes with what a kernel does."""
    return _fingerprint(f, {})


@cache
def _source(f: types.FunctionType) -> str:
    """The lines of a function, as the compiler knows them: ``inspect`` reads them token by token, for half a second in all."""
    code = f.__code__
    lines = linecache.getlines(code.co_filename)
    if not lines:  # typed in at a prompt: the byte code stands for it
        return code.co_code.hex() + repr(code.co_consts)
    last = max(line for _, _, line in code.co_lines() if line)
    return "".join(lines[code.co_firstlineno - 1 : last])


def _options(f: Kernel) -> dict[str, Any]:
    """How numba compiles a kernel. A setting that is not given would be the caller's, so each is."""
    is_lean = hasattr(f, "__lean__")
    return {"nogil": True, "_nrt": not is_lean, "forceinline": is_lean}


def _jit(f: types.FunctionType) -> Kernel:
    from numba import njit

    listen()
    part = f.__qualname__.endswith(PART)
    options = _options(f) | {"no_cpython_wrapper": part, "no_cfunc_wrapper": True}
    twin: Kernel = njit(**options)(f)
    if not hasattr(twin, "py_func"):  # with NUMBA_DISABLE_JIT it is the function itself
        return twin
    if code_folder() is not None:
        from frontrank.kernels.cache import keep

        keep(twin)
    if part:
        from frontrank.kernels.parts import widen_integers

        widen_integers(twin)
    return twin
