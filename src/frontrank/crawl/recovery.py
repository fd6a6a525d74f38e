"""Recovery: a crawl as its journal tells it. The newest good snapshot is loaded, then the events after it are replayed.

Replay runs the kernels of the ordering over many events at a time. What it restores is bit for bit what the crawl had:
columns of state, priorities, who waits and who is leased, delays of hosts, attempts and retries.
"""

from __future__ import annotations

import gc
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

import frontrank
from frontrank.crawl import journal as log
from frontrank.crawl import snapshots
from frontrank.crawl.journal import Event, Journal
from frontrank.crawl.kernels import arrive
from frontrank.errors import InputError
from frontrank.frontiers import polite
from frontrank.frontiers.polite import PUTS, back, later
from frontrank.frontiers.polite import take as take_polite
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels import hashtable as names
from frontrank.kernels.jit import Array, Kernel, compiled, interpreted, kernel
from frontrank.orderings.policy import Out, Policy, State
from frontrank.orderings.registry import parse
from frontrank.web.links import Links
from frontrank.web.view import workload_from

if TYPE_CHECKING:
    from frontrank.crawl.crawl import Crawl

BATCH = 20_000  # events replayed together, URLs read together
SMALL = 64  # pages: what is allocated before a snapshot brings its own arrays
QUICK = (log.TAKE, log.FETCHED, log.FAILED, log.RETRY, log.EXPIRED)  # what the kernel replays


def settle_again(state: State, queue: polite.Polite, links: Links, depth: Array, page: int, out: Out) -> None:
    raise NotImplementedError  # an open name: arrive, bound to the policy


@kernel
def replay(
    state: State, queue: polite.Polite, links: Links, depth: Array, kinds: Array, pages: Array, times: Array, out: Out
) -> None:
    for i in range(kinds.size):
        if kinds[i] == log_take:
            take_polite(queue, pages[i], times[i])
        elif kinds[i] == log_retry:
            later(queue, pages[i])
        elif kinds[i] == log_expired:
            back(queue, pages[i])
        else:
            settle_again(state, queue, links, depth, pages[i], out)


log_take, log_retry, log_expired = log.TAKE, log.RETRY, log.EXPIRED


def restore(
    crawl: Crawl,
    journal: Journal,
    policy: Policy | None,
    rescore: bool,
    truth: Callable[[str], float] | None,
    clock: Callable[[], float],
    read_only: bool,
) -> None:
    """Make crawl what the journal says it was."""
    given = journal.notes["policy"]
    wanted = parse(given) if policy is None else policy
    changed = wanted.spec() != given
    if changed and not rescore:
        raise InputError(
            f"{journal.folder}: was crawled with {given}, {wanted.spec()} given; go on with {given}, or allow rescore "
            f"(--rescore) to rank everything that waits by {wanted.spec()}"
        )
    workload = workload_from(journal.notes["workload"]) if "workload" in journal.notes else None
    crawl._begin(wanted, journal, Politeness(**journal.notes["politeness"]), SMALL, truth, workload, clock)
    after = 0
    if not changed:
        for head, arrays in snapshots.load(journal.folder, journal.seq, _wanted(wanted)):
            if head["stamp"] == journal.stamp(head["seq"]):
                after = _load(crawl, head, arrays)
                break
    with _no_collections():
        Replay(crawl).run(journal, after)
    crawl.snapshot_seq = after
    if read_only:
        return
    if changed:
        journal.note("policy", wanted.spec())
        journal.add(log.POLICY, -1, crawl._tick(None), note=wanted.spec())
    now = crawl._tick(None)
    for page in list(crawl.leases):  # the process that held them is dead: we have its lock
        crawl._expire(page, now)
    journal.commit()


@contextmanager
def _no_collections() -> Iterator[None]:
    """Millions of rows come and go, none in a cycle: looking for cycles among them takes a quarter of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


class Replay:
    """Stretches of events that the kernel replays, and between them what needs Python."""

    def __init__(self, crawl: Crawl) -> None:
        self.crawl = crawl
        self.relive = compiled(replay, settle_again=_bound(crawl.policy))
        self.interval = crawl.policy.interval()
        self.seeds: list[int] = []

    def run(self, journal: Journal, after: int) -> None:
        crawl = self.crawl
        for urls, keys in journal.urls_from(crawl.known, BATCH):
            first = crawl.known
            crawl.table = names.roomy(crawl.table, len(urls))
            compiled(names.number_all)(crawl.table, np.array(keys, np.int64), np.empty(len(urls), np.int32))
            crawl._meet(first, urls)
        for rows in journal.events_after(after, BATCH):
            self._batch(rows)
        crawl.leases = dict(sorted(crawl.leases.items(), key=lambda lease: lease[1]))

    def _batch(self, rows: list[Event]) -> None:
        """Replay these events: the kernel's in stretches that end where the ordering ranks anew, or Python is needed."""
        kinds = np.array([event[1] for event in rows], np.int64)
        settles = (kinds == log.FETCHED) | (kinds == log.FAILED)
        settled = len(self.crawl.order) + np.cumsum(settles)
        ranks = settles & (settled % self.interval == 0) if self.interval else np.zeros(len(rows), bool)
        slow = ~np.isin(kinds, QUICK)
        begin = 0
        for end in np.flatnonzero(ranks | slow).tolist():
            if slow[end]:
                self._stretch(rows[begin:end], kinds[begin:end])
                self._slow(rows[end])
            else:
                self._stretch(rows[begin : end + 1], kinds[begin : end + 1])
                self.crawl._rank()
            begin = end + 1
        self._stretch(rows[begin:], kinds[begin:])
        self.crawl.now = max(self.crawl.now, rows[-1].time)

    def _slow(self, event: Event) -> None:
        crawl = self.crawl
        if event.kind == log.SEED:
            self.seeds.append(event.page)
            if len(self.seeds) == event.status:
                crawl._plant(self.seeds)
                self.seeds = []
        elif event.kind == log.RESCORE and self.interval:
            crawl._rank()
        elif event.kind == log.HOST:
            wanted = log.read(event.note)
            crawl._limit(wanted.pop("host"), wanted)
        elif event.kind == log.PRIORITY:
            crawl._prioritise(event.page, event.status or 0)
        elif event.kind == log.BLOCK:
            compiled(polite.block)(crawl.queue, crawl._host(event.note or ""), event.until)

    def _stretch(self, rows: list[Event], kinds: Array) -> None:
        if not rows:
            return
        crawl = self.crawl
        pages = np.array([event[2] for event in rows], np.int32)
        times = np.array([event[3] for event in rows], np.float64)
        fetched = np.flatnonzero(kinds == log.FETCHED)
        self._take_in([rows[place] for place in fetched.tolist()], pages[fetched])
        self._remember(rows, kinds, pages)
        self.relive(crawl.state, crawl.queue, crawl.links, crawl.depths, kinds, pages, times, crawl.out)

    def _take_in(self, fetched: list[Event], pages: Array) -> None:
        """What the fetched pages held."""
        crawl = self.crawl
        blobs = [event.links or b"" for event in fetched]
        target = np.frombuffer(b"".join(blobs), "<i4")
        lengths = np.array([len(blob) // 4 for blob in blobs], np.int64)
        ends = crawl.used + np.cumsum(lengths)
        last = crawl.used + len(target)
        if last > crawl.links.target.size:
            crawl._grow_links(last)
        crawl.links.target[crawl.used : last] = target
        if crawl.reads_anchors:
            words = [word for event, length in zip(fetched, lengths.tolist(), strict=True) for word in _words(event, length)]
            crawl.links.value[crawl.used : last] = [crawl.policy.anchor_value(word) for word in words]
        crawl.links.start[pages], crawl.links.stop[pages] = ends - lengths, ends
        crawl.used = last
        crawl._out_for(int(lengths.max(initial=0)))
        if crawl.searches is not None:
            for event, length in zip(fetched, lengths.tolist(), strict=True):
                crawl.searches.note(event.page, event.title or "", _words(event, length), length)
        if "texts" in crawl.needs:
            for event, text in zip(fetched, crawl.journal.texts(pages.tolist()), strict=True):
                crawl.policy.see_text(crawl.state, event.page, event.title or "", text)
        if crawl.impact.size:
            crawl.impact[pages] = [event.impact or 0.0 for event in fetched]

    def _remember(self, rows: list[Event], kinds: Array, pages: Array) -> None:
        """Leases, attempts, retries and the order, as these events leave them."""
        crawl = self.crawl
        for place in np.flatnonzero(kinds == log.RETRY).tolist():
            event = rows[place]
            assert event.until is not None
            crawl._try_later(event.page, event.status or 1, event.until)
        last = dict(zip(pages.tolist(), range(len(rows)), strict=True))
        for page, place in last.items():
            if rows[place][1] == log.TAKE:
                crawl.leases[page] = rows[place].time + crawl.politeness.lease_s
            elif page in crawl.leases:
                del crawl.leases[page]
        settled = (kinds == log.FETCHED) | (kinds == log.FAILED)
        crawl.order.frombytes(pages[settled].tobytes())
        crawl.failed_count += int((kinds == log.FAILED).sum())
        if crawl.attempts:
            for page in pages[settled].tolist():
                crawl.attempts.pop(page, None)


def _bound(policy: Policy) -> Kernel:
    return interpreted(arrive, put=PUTS[policy.queue], on_fetch=policy.kernels()["on_fetch"])


def _words(event: Event, length: int) -> list[str]:
    return event.anchors.split("\n") if event.anchors else [""] * length


# Snapshots ----------------------------------------------------------------------------------------------------------------
def snapshot(crawl: Crawl, least: int = 0) -> None:
    """Save the arrays of the crawl, if at least so many events happened since the last time."""
    journal = crawl.journal
    assert isinstance(journal, Journal)
    if "history" in crawl.needs or crawl.searches is not None or journal.seq - crawl.snapshot_seq < max(least, 1):
        return
    journal.commit()
    head = {
        **_wanted(crawl.policy),
        "seq": journal.seq,
        "stamp": journal.stamp(journal.seq),
        "used": crawl.used,
        "now": crawl.now,
        "failed": crawl.failed_count,
        "viewed": crawl.viewed,
        "shared": snapshots.shared(crawl.state),
    }
    leaves = enumerate(snapshots.leaves(crawl.state))
    arrays: dict[str, Array] = {f"state{i}": leaf for i, leaf in leaves if head["shared"][i] == i}
    arrays |= {f"queue_{name}": value for name, value in crawl.queue._asdict().items()}
    arrays |= {f"table_{name}": value for name, value in crawl.table._asdict().items()}
    arrays |= {f"hosts_{name}": value for name, value in crawl.host_table._asdict().items()}
    arrays |= {f"score_{name}": value for name, value in crawl.view.scores.items()}
    arrays |= {
        "start": crawl.links.start,
        "stop": crawl.links.stop,
        "target": crawl.links.target[: crawl.used],
        "value": crawl.links.value[: crawl.used],
        "host_page": crawl.host_page,
        "depths": crawl.depths,
        "impact": crawl.impact,
        "order": np.array(crawl.order, np.int32),
        "leased": np.array(list(crawl.leases), np.int32),
        "lease_ends": np.array(list(crawl.leases.values()), np.float64),
        "retry_at": np.array([due for due, _ in crawl.retries], np.float64),
        "retry_page": np.array([page for _, page in crawl.retries], np.int32),
        "tried": np.array(list(crawl.attempts), np.int32),
        "attempts": np.array(list(crawl.attempts.values()), np.int32),
    }
    snapshots.save(journal.folder, journal.seq, head, arrays)
    crawl.snapshot_seq = journal.seq


def _wanted(policy: Policy) -> dict[str, Any]:
    """What a snapshot must agree on to be of use."""
    return {"format": 2, "frontrank": frontrank.__version__, "policy": policy.spec()}


def _load(crawl: Crawl, head: dict[str, Any], held: dict[str, Array]) -> int:
    """Take over the arrays of a snapshot; returns the event it was made after."""
    leaves = iter([held[f"state{first}"] for first in head["shared"]])
    crawl.state = snapshots.with_leaves(crawl.state, leaves)
    crawl.queue = polite.Polite(**{name: held[f"queue_{name}"] for name in polite.Polite._fields})
    crawl.table = names.Table(**{name: held[f"table_{name}"] for name in names.Table._fields})
    crawl.host_table = names.Table(**{name: held[f"hosts_{name}"] for name in names.Table._fields})
    crawl.links = Links(held["start"], held["stop"], held["target"], held["value"])
    crawl.used = head["used"]
    crawl.host_page, crawl.depths, crawl.impact = held["host_page"], held["depths"], held["impact"]
    crawl.order = array("i", held["order"].tobytes())
    crawl.failed_count, crawl.now = head["failed"], head["now"]
    crawl.leases = dict(zip(held["leased"].tolist(), held["lease_ends"].tolist(), strict=True))
    crawl.retries = list(zip(held["retry_at"].tolist(), held["retry_page"].tolist(), strict=True))
    crawl.attempts = dict(zip(held["tried"].tolist(), held["attempts"].tolist(), strict=True))
    longest = int((crawl.links.stop - crawl.links.start).max(initial=0))
    crawl._out_for(longest)
    if head["viewed"]:
        fetched = held["order"][: head["viewed"]]
        crawl.view.extend(crawl.links, fetched, polite.discovered(crawl.queue), crawl.queue.node["seq"])
        crawl.viewed = head["viewed"]
        crawl.view.scores = {name.removeprefix("score_"): held[name] for name in held if name.startswith("score_")}
    return int(head["seq"])
