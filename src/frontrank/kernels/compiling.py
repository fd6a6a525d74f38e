"""When numba compiles: callers that show it to a person are called at the beginning and at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_watchers: list[Callable[[bool], None]] = []
_listeners: list[Any] = []


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

        def on_start(self, event: Any) -> None:
            self.depth += 1
            if self.depth == 1:
                for watcher in _watchers:
                    watcher(True)

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                for watcher in _watchers:
                    watcher(False)

    _listeners.append(Listener())
    event.register("numba:compile", _listeners[0])  # type: ignore[no-untyped-call]
    use_parts()
