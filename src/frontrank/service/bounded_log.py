"""What a service writes to standard error, bounded: callers can make it write something, but not fill a disk.

In each period at most ``MAX_LINES`` lines are written, and at most ``MAX_OF_KIND`` of a kind; a kind is a sentence before
values are put in. The first line after a period says how many were omitted.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import TextIO

PERIOD_S = 60.0
MAX_LINES, MAX_OF_KIND = 100, 10
MAX_CHARACTERS = 4_000  # of a line, or of a traceback


class BoundedHandler(logging.StreamHandler[TextIO]):
    """Log lines to a stream, standard error if none is given."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream)
        self.clock = clock
        self._ends = 0.0
        self._kinds: Counter[str] = Counter()
        self._omitted = 0
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        if self.clock() >= self._ends:
            self._report_omitted()
            self._ends = self.clock() + PERIOD_S
            self._kinds.clear()
        kind = str(record.msg)
        if self._kinds[kind] >= MAX_OF_KIND or self._kinds.total() >= MAX_LINES:
            self._omitted += 1
            return
        self._kinds[kind] += 1
        super().emit(record)

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]} ... ({len(text):,} characters)"

    def close(self) -> None:
        self.acquire()
        try:
            self._report_omitted()
        finally:
            self.release()
        super().close()

    def _report_omitted(self) -> None:
        if self._omitted:
            sentence = f"{self._omitted:,} more lines like those before were omitted"
            self._omitted = 0
            super().emit(logging.LogRecord("frontrank.service", logging.WARNING, "", 0, sentence, None, None))
