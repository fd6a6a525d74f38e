"""When numba compiles: callers that show it to a person are called at the beginning and at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_watchers: list[Callable[[bool], None]] = []
_listeners: list[Any] = []
_spent_s = [0.0]


def compiling_s() -> float:
    """Seconds that this process has spent on compiling: which no rate counts."""
    return _spent_s[0]


def is_compiling() -> bool:
    return bool(_listeners and _listeners[0].depth)


@contextmanager
def watch_compiling(watcher: Callable[[bool], None]) -> Iterator[None]:
    """Call watcher(True) when a compilation begins, watcher(False) when it ends: it takes seconds, once per machine."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def listen() -> None:
    """Listen to numba's compilations; loading from disk is not a compilation."""
    if _listeners:
        return
    from numba.core import event

    from frontrank.kernels.parts import use_parts

    class Listener(event.Listener):
        depth = 0  # one compilation asks for others
        began = 0.0

        def on_start(self, event: Any) -> None:
            self.depth += 1
            if self.depth == 1:
                self.began = time.monotonic()
                for watcher in _watchers:
                    watcher(True)

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                _spent_s[0] += time.monotonic() - self.began
                for watcher in _watchers:
                    watcher(False)

    _listeners.append(Listener())
    event.register("numba:compile", _listeners[0])  # type: ignore[no-untyped-call]
    use_parts()
