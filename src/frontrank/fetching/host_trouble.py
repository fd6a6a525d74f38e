"""Whether a failure is the page's or its host's, and how long a host in trouble rests. ``frontrank crawl`` and ``fetch`` ask.

    the page's      404, 500, too large, ...: one of its attempts, if another try makes sense at all
    the host's      refused, no such name, TLS, the proxy, 429, 503; reset, timeout, 502, 504 unless the host answers others
                    meanwhile. The host rests: Retry-After first, else 1, 2, 4, ... s, a little more by chance, and at most
                    ``backoff_most_s``. The page waits a little longer, so that another page shows whether it is the host,
                    and keeps its attempts. An answer ends the trouble

Evidence against a page: the host answered others since the page failed, and the page fails again. From then on its failures
are its own, unless pages without such evidence fail too. Or it alone has failed, again and again for ``DOUBT_S``. While a
host is in trouble, pages that have not failed yet go first (``stand_back_s``): they tell whether it is the host. Otherwise a
few broken pages that rank high would be tried over and over, until their host is given up with all its good pages.

A host that answered once and then does not for ``host_patience_s`` is given up; one that never answered, after one try more
than a page has. Its pages wait.

Only counts are kept here, of at most ``MAX_HOSTS`` hosts: pauses begin anew in a new process.
"""

from __future__ import annotations

import random
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from frontrank.fetching.failures import PROXY, Cause
from frontrank.fetching.retry_after import retry_after

if TYPE_CHECKING:
    from frontrank.fetching.fetcher import FetchResult
    from frontrank.frontiers.politeness import Politeness

BUSY = (429, 503)  # the host asks for patience
GATEWAY = (502, 504)  # what stands before the host cannot reach it, or not for this page
MAY_PASS = (408, 500)  # the page's own

DOUBT_S = 600.0  # before a page that alone gets no answer fails; until then it may be the host
MAX_DOUBTFUL_S = 60.0  # pause of a host while it may be its pages: others are to be tried soon
MAX_TURNS_S = 3600.0  # and how long a page waits for their turns
MIN_TRIES = 4  # of a page, before it fails because it alone gets no answer
MAX_BUSY = 8  # times that a page is answered 429 or 503 while others come, and keeps its attempts
MAX_STANDING_BACK = 20  # pages between two requests to a host in trouble
SETTLED_S = 1.0  # an answer so long after a request was sent says that the host was there meanwhile
JITTER = 0.25  # at most this share more of each pause
MAX_HOSTS = 10_000
FIRST_DELAY_S, SLOWEST_S = 0.1, 1.0  # delays of a host that was busy: from the first, doubled each time, to the second


class Failure(NamedTuple):
    """Why a page did not arrive."""

    reason: str
    cause: Cause
    retry: bool = True  # whether another try makes sense
    rest_s: float = 0.0  # what Retry-After asks for
    detail: str = ""
    answered: bool = False  # the host is well: its answer is about the page


class Verdict(NamedTuple):
    """What a result means for the page and for its host."""

    retry: bool  # the page waits again, if it has attempts left
    attempted: bool = True  # it was one of the page's attempts
    wait_s: float = 0.0  # before the page is tried again, if it was no attempt
    rest_s: float = 0.0  # nothing is asked of the host for so long
    delay_s: float = 0.0  # the host is to be asked no more often than this from now on
    given_up: bool = False  # the host
    revived: bool = False  # the host had been given up, and answers
    reason: str = ""  # why the page did not arrive; empty: it did
    fatal: str = ""  # why nothing can be fetched at all


@dataclass(slots=True)
class Trouble:
    """A host that does not answer, or did not."""

    answered_at: float = float("-inf")
    failures: int = 0  # in a row
    since: float = 0.0  # the first of them
    reason: str = ""  # of the last
    rested_at: float = float("-inf")  # when the last rest began
    until: float = float("-inf")  # when it ends
    pages: set[Hashable] = field(default_factory=set)  # that have failed since the last answer
    strikes: dict[Hashable, tuple[int, float]] = field(default_factory=dict)  # by page: failures, and when the last one was
    suspects: set[Hashable] = field(default_factory=set)  # pages that failed while the host answered others
    stood_back: set[Hashable] = field(default_factory=set)  # pages, since the last outcome
    delay_s: float = 0.0  # between requests, since it was busy


class HostTrouble:
    """The hosts of one crawl. ``host`` is whatever has a pace of its own: a host, a group of hosts, a queue of a service.

    ``has_answered`` says whether a host has ever answered, in an earlier run too.
    """

    def __init__(
        self,
        politeness: Callable[[], Politeness],
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
        has_answered: Callable[[str], bool] = lambda host: False,
    ) -> None:
        self.politeness, self.clock, self.chance, self.has_answered = politeness, clock, chance, has_answered
        self.given_up: dict[str, str] = {}  # hosts, and why
        self.answers = False  # whether any host has answered
        self._hosts: OrderedDict[str, Trouble] = OrderedDict()

    def judge(self, host: str, page: Hashable, result: FetchResult, asked_at: float) -> Verdict:
        """What the result of a page means that was asked for at ``asked_at``."""
        failure = failure_of(result)
        revived = (failure is None or failure.answered) and self.answered(host)
        if failure is None:
            return Verdict(False, revived=revived)
        if failure.cause is Cause.PROXY and not self.answers:
            reason = failure.reason.removeprefix(PROXY)
            sentence = f"the proxy {failure.detail} cannot be reached: {reason}; start it, or name another one with --proxy"
            return Verdict(True, reason=failure.reason, fatal=sentence)
        return self.failed(host, page, failure, asked_at)._replace(revived=revived, reason=failure.reason)

    def answered(self, host: str) -> bool:
        """A page came, or an answer that is the page's own. True if the host had been given up."""
        trouble = self._of(host)
        trouble.answered_at, trouble.failures = self.clock(), 0
        trouble.pages.clear()
        trouble.stood_back.clear()
        self.answers = True
        return self.given_up.pop(host, None) is not None

    def has_failed(self, host: str, page: Hashable) -> bool:
        """Whether a host is in trouble, and this page failed on it."""
        trouble = self._hosts.get(host)
        return trouble is not None and trouble.failures > 0 and page in trouble.strikes

    def stand_back_s(self, host: str, page: Hashable) -> float:
        """How long a page that was just taken waits, so that a page that has not failed goes first; 0: it goes now."""
        if not self.has_failed(host, page):
            return 0.0
        trouble = self._hosts[host]
        if page in trouble.stood_back or len(trouble.stood_back) >= MAX_STANDING_BACK:
            return 0.0
        if len(trouble.strikes) == 1 and trouble.answered_at == float("-inf"):  # perhaps the host's only page
            return 0.0
        trouble.stood_back.add(page)
        politeness, pause = self.politeness(), self._pause(trouble.failures)
        left = trouble.since + (politeness.host_patience_s or float("inf")) - self.clock()  # before the host is given up
        return min(pause + max(pause, 2 * politeness.delay_s), max(left, 1.0))

    def settled(self, host: str, page: Hashable) -> None:
        """A page is done with, whatever became of it."""
        if host in self._hosts:
            self._hosts[host].strikes.pop(page, None)
            self._hosts[host].suspects.discard(page)
            self._hosts[host].pages.discard(page)

    def failed(self, host: str, page: Hashable, failure: Failure, asked_at: float) -> Verdict:
        """A page that was asked for at ``asked_at`` did not arrive."""
        if failure.cause is Cause.PAGE:
            return Verdict(failure.retry)
        now, trouble = self.clock(), self._of(host)
        trouble.stood_back.clear()
        strikes, last = trouble.strikes.get(page, (0, now))
        trouble.strikes[page] = strikes + 1, now
        if self._is_the_page(trouble, page, failure, asked_at, strikes, last):
            trouble.suspects.add(page)
            rest = 0.0 if failure.cause is Cause.EITHER else failure.rest_s or self._pause(1)
            if failure.cause is Cause.BUSY and strikes < MAX_BUSY:
                return Verdict(True, False, rest + self._pause(strikes), rest, self._slower(trouble, failure))
            return Verdict(failure.cause is not Cause.BUSY, rest_s=rest)
        trouble.reason = failure.reason
        trouble.pages.add(page)
        grows = not trouble.failures or asked_at >= trouble.rested_at  # else it was on its way when the rest began
        if grows:
            trouble.failures += 1
            trouble.since = trouble.since if trouble.failures > 1 else now
        known = trouble.answered_at > float("-inf") or self.has_answered(host)
        return self._rest(host, trouble, failure, strikes + 1, grows, known)

    def resting(self) -> list[tuple[str, str, float]]:
        """Hosts that do not answer, why, and in how many seconds they are asked again."""
        now = self.clock()
        found = ((host, trouble.reason, trouble.until - now) for host, trouble in self._hosts.items() if trouble.failures)
        return [row for row in found if row[2] > 0 and row[0] not in self.given_up]

    def _is_the_page(
        self, trouble: Trouble, page: Hashable, failure: Failure, asked_at: float, strikes: int, last: float
    ) -> bool:
        """Whether the host answered others between two failures of the page, or while it was waited for."""
        if strikes and trouble.answered_at > last:
            return True
        if failure.cause not in (Cause.EITHER, Cause.BUSY):
            return False
        only_suspects = page in trouble.suspects and trouble.pages <= trouble.suspects
        late = failure.cause is Cause.EITHER and not strikes and trouble.answered_at > asked_at + SETTLED_S
        return only_suspects or late

    def _rest(self, host: str, trouble: Trouble, failure: Failure, strikes: int, grows: bool, known: bool) -> Verdict:
        now, patience = self.clock(), self.politeness().host_patience_s
        lasts, sent = now - trouble.since, failure.cause in (Cause.EITHER, Cause.BUSY)
        if known and sent and lasts >= DOUBT_S and len(trouble.pages) == 1 and strikes >= MIN_TRIES:
            trouble.failures = 0
            trouble.pages.clear()
            return Verdict(False)
        left = patience - lasts if known and patience else float("inf")
        if left <= 0 or (not known and trouble.failures >= self.politeness().retries + 2):
            self.given_up[host] = failure.reason
            return Verdict(True, False, given_up=True)
        if grows:
            again = trouble.failures > 1 or not failure.rest_s  # at first Retry-After alone holds
            doubtful = failure.cause is Cause.EITHER or trouble.pages <= trouble.suspects
            pause = self._pause(trouble.failures, MAX_DOUBTFUL_S if doubtful else float("inf"))
            rest = max(min(pause, left) if again else 0.0, failure.rest_s)
            trouble.rested_at, trouble.until = now, now + rest
        else:
            rest = max(trouble.until - now, failure.rest_s)
            trouble.until = now + rest
        turns = rest * len(trouble.pages) if failure.cause is Cause.EITHER else 0.0  # of as many others as have failed
        wait = max(min(rest + max(self._pause(strikes), min(turns, MAX_TURNS_S)), left), rest)
        return Verdict(True, False, wait, rest, self._slower(trouble, failure) if grows and trouble.failures == 1 else 0.0)

    def _slower(self, trouble: Trouble, failure: Failure) -> float:
        """A longer delay for a host that is asked more often than it can answer; 0: none."""
        before = trouble.delay_s or self.politeness().delay_s
        if failure.cause is not Cause.BUSY or before >= SLOWEST_S:
            return 0.0
        trouble.delay_s = min(max(2 * before, FIRST_DELAY_S), SLOWEST_S)
        return trouble.delay_s

    def _pause(self, failures: int, max_s: float = float("inf")) -> float:
        politeness = self.politeness()
        return min(politeness.pause(failures) * (1 + JITTER * self.chance()), politeness.backoff_most_s, max_s)

    def _of(self, host: str) -> Trouble:
        trouble = self._hosts.get(host)
        if trouble is None:
            trouble = self._hosts[host] = Trouble()
            if len(self._hosts) > MAX_HOSTS:
                self._hosts.popitem(last=False)
        else:
            self._hosts.move_to_end(host)
        return trouble


def failure_of(result: FetchResult) -> Failure | None:
    """Why there is no page in this result; None if there is one."""
    error, status = result.error, result.status
    if error is not None:
        return Failure(error.reason, error.cause, error.retry, retry_after(error.retry_after), error.detail)
    if 200 <= status < 400:
        return None
    reason = f"http {status}"
    if status in BUSY:
        return Failure(reason, Cause.BUSY, True, retry_after(result.retry_after))
    if status in GATEWAY:
        return Failure(reason, Cause.EITHER)
    return Failure(reason, Cause.PAGE, status in MAY_PASS, answered=True)
