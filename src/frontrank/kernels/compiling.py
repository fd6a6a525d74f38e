"""Who wants to know when machine code is being made: a person in front of a screen waits for seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_listeners: list[Callable[[bool], None]] = []


@contextmanager
def watch_compiling(listener: Callable[[bool], None]) -> Iterator[None]:
    """Call listener(True) when machine code begins to be made, listener(False) when it is there."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def listen() -> None:
    """Hear of numba's compilations, from now on; what is loaded from disk is none."""
    from numba.core import event

    class Listener(event.Listener):
        depth = 0  # one compilation asks for others

        def on_start(self, event: Any) -> None:
            self.depth += 1
            if self.depth == 1:
                self.tell(True)

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                self.tell(False)

        def tell(self, begins: bool) -> None:
            for listener in _listeners:
                listener(begins)

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]
