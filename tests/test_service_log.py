"""What a service writes to standard error."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import pytest

from frontrank.service.bounded_log import MAX_CHARACTERS, MAX_LINES, MAX_OF_KIND, PERIOD_S, BoundedHandler


class Log:
    """A logger of its own, with a clock of its own."""

    def __init__(self) -> None:
        self.now, self.out = 0.0, io.StringIO()
        self.handler = BoundedHandler(self.out, lambda: self.now)
        self.logger = logging.Logger("test")
        self.logger.addHandler(self.handler)

    @property
    def lines(self) -> list[str]:
        return self.out.getvalue().splitlines()


@pytest.fixture
def log() -> Iterator[Log]:
    made = Log()
    yield made
    made.handler.close()


def test_lines_of_a_kind_are_bounded_and_those_left_out_are_counted(log: Log) -> None:
    for n in range(1_000):
        log.logger.warning("crawl %d is broken", n)
    log.logger.warning("another thing")
    assert len(log.lines) == MAX_OF_KIND + 1 and log.lines[-1].endswith("WARNING another thing")
    log.now = PERIOD_S
    log.logger.warning("crawl %d is broken", 7)
    assert log.lines[-2].endswith(f"WARNING {1_000 - MAX_OF_KIND} more lines like those before were omitted")
    assert log.lines[-1].endswith("crawl 7 is broken")


def test_lines_of_all_kinds_are_bounded_together_also_at_the_end(log: Log) -> None:
    for n in range(1_000):
        log.logger.warning(f"kind {n}")
    assert len(log.lines) == MAX_LINES
    log.handler.close()
    assert log.lines[-1].endswith("900 more lines like those before were omitted")


def test_a_line_has_an_end(log: Log) -> None:
    log.logger.warning("%s", "x" * 10**6)
    assert len(log.out.getvalue()) < MAX_CHARACTERS + 100
