"""How a command ends on Ctrl-C (SIGINT) or SIGTERM: within five seconds, whatever it is doing.

    the first signal    interrupts it (KeyboardInterrupt); inside ``gracefully(stop)`` it calls stop() instead
    GRACE_S later       the process is ended, if it has not ended itself
    the second signal   ends it at once

An immediate end loses nothing: events of a crawl are stored before they are acknowledged, results are written beside their
target and renamed.

Python runs signal handlers in the main thread, between two of its own instructions: not while a kernel runs. So a thread
receives signals too, through the pipe to which the interpreter writes them as they arrive (signal.set_wakeup_fd); kernels run
without the interpreter's lock.

An interrupt that is raised inside a callback from C (the compiler's cache has one) or a finalizer does not leave it: the
interpreter prints it and continues. Such an interrupt is raised again, until it gets through. One that passed through generated
code (of namedtuple or numba) makes the interpreter end as if by SIGINT, whatever the exit code: so the last thing that a
process does after a signal is to end with its code.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

GRACE_S = 4.0
AGAIN_S = 0.01
SIGNALS = (signal.SIGINT, signal.SIGTERM)
ENOUGH = b"\0"  # through the pipe: the watch has ended

Stop = Callable[[], None]


class Watch:
    """The signals of this process, from now until ``end``."""

    def __init__(self) -> None:
        self.asked = 0  # the first signal that came
        self.code: int | None = None  # what the process ends with, once that is known
        self.stops: list[Stop] = []
        reading, self.writing = os.pipe()
        os.set_blocking(self.writing, False)
        self.before: dict[int, Any] = {}
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as set by nohup and shells
                self.before[number] = signal.signal(number, self._came)
        self.wakeup = signal.set_wakeup_fd(self.writing, warn_on_full_buffer=False)
        self.unraisable = sys.unraisablehook
        sys.unraisablehook = self._lost
        atexit.register(self._last)
        threading.Thread(target=self._mind, args=(reading,), name="signals", daemon=True).start()

    def _came(self, number: int, frame: FrameType | None) -> None:
        """The signal handler, in the main thread: it may run late."""
        if self.asked or self.code is not None:  # a command that has ended has nothing left to interrupt
            return
        self.asked = number
        if not self.stops:
            raise KeyboardInterrupt
        self.stops[-1]()

    def _lost(self, what: sys.UnraisableHookArgs) -> None:
        """An exception that did not leave the place where it was raised."""
        if self.asked and issubclass(what.exc_type, KeyboardInterrupt):
            again = threading.Timer(AGAIN_S, self._interrupt, [threading.get_ident()])
            again.daemon = True
            again.start()
        else:
            self.unraisable(what)

    def _interrupt(self, thread: int) -> None:
        if self in _watches and self.code is None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))

    def _mind(self, reading: int) -> None:
        """The thread that receives signals at once."""
        first, until = 0, 0.0
        while True:
            heard = select.select([reading], [], [], max(0.0, until - time.monotonic()) if first else None)[0]
            if not heard:
                self._leave(first)
            for number in os.read(reading, 64):
                if number == ENOUGH[0]:
                    os.close(reading)
                    return
                if number in SIGNALS:
                    if first:
                        self._leave(number)
                    first, until = number, time.monotonic() + GRACE_S

    def _leave(self, number: int) -> None:
        if os.isatty(2):
            os.write(2, b"\x1b[?25h\n")  # a display may have hidden the cursor
        if self.code is None:
            with suppress(OSError):
                os.write(2, b"frontrank: interrupted\n")
        os._exit(128 + number if self.code is None else self.code)

    def _last(self) -> None:
        if self.asked and self.code:
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):
                    stream.flush()
            os._exit(self.code)

    def end(self, code: int | None = None) -> None:
        """Restore the signal handlers. A process that got a signal still ends, with this code."""
        self.code = code
        for number, handler in self.before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self.wakeup)
        sys.unraisablehook = self.unraisable
        if not self.asked or code is None:
            os.write(self.writing, ENOUGH)
            os.close(self.writing)


_watches: list[Watch] = []


@contextmanager
def watching() -> Iterator[Watch | None]:
    """Have this process end on signals. Only the main thread receives signals; in others this does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield None
        return
    watch = Watch()
    _watches.append(watch)
    try:
        yield watch
    finally:
        _watches.remove(watch)
        watch.end(watch.code)


def asked() -> bool:
    """Whether this process got a signal to end. Failures from then on are due to that."""
    return any(watch.asked for watch in _watches)


@contextmanager
def gracefully(stop: Stop) -> Iterator[None]:
    """Have the first signal call ``stop``, which must end the block soon."""
    if not _watches:
        with watching() as watch:
            if watch is not None:
                watch.stops.append(stop)
            yield
        return
    _watches[-1].stops.append(stop)
    try:
        yield
    finally:
        _watches[-1].stops.remove(stop)
