"""What an ordering records while a crawl is replayed, to say later where the priority of a page comes from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from frontrank.kernels.jit import Array

if TYPE_CHECKING:
    from frontrank.orderings.policy import Policy, State

MAX_STARTS = 20  # that are named; sums are of all


class Start(NamedTuple):
    """Part of a priority that began at a page, before links handed it on."""

    page: int
    kind: str  # why it began there
    part: float


class Origins(NamedTuple):
    """Of one page's priority: which pages handed on how much by their links to it, and where all of it began."""

    handed: list[tuple[int, float]]
    starts: list[Start]


class Tracer(Protocol):
    """Whoever replays a crawl with ``policy`` calls ``watch`` before each stretch of events, and ``collect`` after it."""

    policy: Policy  # the same ordering, recording
    events: int  # pages that may be settled in a stretch

    def watch(self, state: State, seeds: Array) -> None:
        """These pages may become seeds in the next stretch; no page is settled in it then."""

    def collect(self, state: State) -> None:
        """Take over what the stretch has recorded."""

    def origins(self, state: State, links: Array, page: int) -> Origins:
        """Where the priority that a page has now comes from; ``links``: the targets of all links ever stored."""


def starts_json(starts: Sequence[Start], url_of: Callable[[int], str]) -> dict[str, Any]:
    """Where a priority began: the pages that it owes most to, and by kind at how many pages which part of it did."""
    sums: dict[str, dict[str, float]] = {}
    for _, kind, part in starts:
        one = sums.setdefault(kind, {"pages": 0, "part": 0.0})
        one["pages"] += 1
        one["part"] += part
    first = sorted(starts, key=lambda start: -abs(start.part))[:MAX_STARTS]
    return {"starts": [{"url": url_of(at), "kind": kind, "part": part} for at, kind, part in first], "started": sums}
