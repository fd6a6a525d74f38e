"""One thread at a time: what reads or changes the state of a crawl holds its lock.

Any thread may call any method at any time; no two calls of ``take`` give the same page. Nothing slow happens while the lock is
held: arrays grow in place, snapshots are written by a child process, the disk is a thread's work, and so are rankings with
``ranking="background"``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from frontrank.crawl.state import CrawlState

YIELD_S = 0.001  # between two parts of what takes long: a lock that is taken again at once is never free for others
F = TypeVar("F", bound=Callable[..., Any])


class HasState(Protocol):
    state: CrawlState


def locked(method: F) -> F:
    """A method of something that has a crawl's ``state``."""

    @wraps(method)
    def call(self: HasState, *args: Any, **kwargs: Any) -> Any:
        with self.state.lock:
            return method(self, *args, **kwargs)

    return cast(F, call)
