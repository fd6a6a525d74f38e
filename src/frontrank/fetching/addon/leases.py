"""Pages whose requests are with Scrapy's engine, and seeds that wait for others of their kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from frontrank.pages.html import Page
    from frontrank.pages.scorers import Judged

PATIENCE_S = 5.0  # how long a callback may keep everything else waiting
GATHER_S = 0.5  # how long seeds are gathered while start() continues
QUIET_S = 0.1  # start() has paused: what it gave so far are the seeds


@dataclass(slots=True, eq=False)
class Lease:
    """A page whose request is with the engine, and what is known of its links."""

    page: int
    request: Request
    response: Response | None = None
    reason: str = ""  # why its last download failed
    read: Page | None = None  # its title and text, where the ordering asks for them
    scores: dict[str, Judged] | None = None  # what the ordering's scorers say of it
    arrived: float = 0.0
    late: float = 0.0  # when its callback was first found to take too long
    targets: list[int] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    expected: list[Request] = field(default_factory=list)  # what its callback yielded
    missing: int = 0  # how many of these have not come in
    ended: bool = False
    settled: bool = False

    @property
    def complete(self) -> bool:
        """Its callback has ended, and all that it yielded has come in."""
        return self.ended and not self.missing and not self.settled

    def due(self) -> float:
        """When its callback is next looked at, if all else waits for it. Twice, as a busy process may be late itself."""
        return self.late + QUIET_S if self.late else self.arrived + PATIENCE_S


class GatheredSeeds:
    """What start() gives without a pause shares one unit of weight; nothing waits for it longer than GATHER_S."""

    def __init__(self) -> None:
        self.pages: list[int] = []
        self.reading = False  # start() continues
        self._since = self._until = 0.0

    def add(self, page: int) -> None:
        self._until = monotonic()
        self._since = self._since if self.pages else self._until
        self.pages.append(page)

    def due(self) -> float:
        return min(self._until + QUIET_S, self._since + GATHER_S) if self.reading else 0.0

    def gathered(self) -> list[int]:
        """All of them; they are kept no longer."""
        pages, self.pages = self.pages, []
        return pages
