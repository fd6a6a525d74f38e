"""Recovery: a crawl as its log has it. The newest good snapshot is loaded, then the events after it are applied.

``replay`` is a loop over ``Crawl.apply``. Stretches of the most frequent events run as one kernel over many rows, which is an
optimisation of the same: both restore, bit for bit, what the crawl had: columns of state, priorities, who waits and who is
leased, delays of hosts, attempts and retries.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import frontrank
from frontrank.crawl import events, snapshots
from frontrank.crawl.drivers import Fused
from frontrank.crawl.events import Expired, Failed, Fetched, Reordered, Rescored, Retried, Taken
from frontrank.crawl.integrity import check_rows, sentences
from frontrank.crawl.journal import VERSION, Journal
from frontrank.crawl.log import Log, Row, Snapshot
from frontrank.crawl.needs import check_live
from frontrank.crawl.snapshot_checks import check_snapshot
from frontrank.errors import InputError, NotTrusted, SpecError, StorageError
from frontrank.frontiers.frontier import Frontier
from frontrank.frontiers.polite_frontier import PoliteFrontier
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels import hashtable as names
from frontrank.kernels.growing import reserve
from frontrank.kernels.jit import Array, by_size, fingerprint
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import as_policy
from frontrank.orderings.stored import from_data, spec_of, stored_names, to_data
from frontrank.web.links import Links
from frontrank.web.view import Workload, workload_from, workload_notes

if TYPE_CHECKING:
    from frontrank.crawl.live import Live

logger = logging.getLogger("frontrank.crawl")

BATCH = 20_000  # rows applied together, URLs read together
SMALL = 64  # pages: what is allocated before a snapshot brings its own arrays
QUICK = (Taken.kind, Fetched.kind, Failed.kind, Retried.kind, Expired.kind)  # what the kernel applies
_paused, _pausing = 0, threading.Lock()  # replays under way without collections: threads of a service open crawls at once
COUNTLESS = 2  # the first format in which each ranking is a row
COUNTED = "rankings_by_count_until"  # a note: format 1 has no rows for rankings, they follow from counting


def restore(
    crawl: Live,
    log: Log,
    policy: Policy | None,
    rescore: bool,
    truth: Callable[[str], float] | None,
    clock: Callable[[], float],
    read_only: bool,
    ranking: str,
    keep_leases: bool = False,
    frontier: Callable[[Politeness], Frontier] = PoliteFrontier,
    asked: Workload | None = None,
    names_of: Live | None = None,
) -> None:
    """Make crawl what the log says it was. ``asked``: for an ordering that needs queries, if there were none so far."""
    with sentences(log):
        wanted = stored_policy(log) if policy is None else policy
        changed = policy is not None and not _is_stored(policy, log)
        politeness, stored_workload = stored_politeness(log), first_workload(log)
    if changed and not rescore:
        given = stored_spec(log)
        raise InputError(
            f"this crawl was started with {given}, {wanted.spec()} given; continue with {given}, or allow rescore "
            f"(--rescore) to rank everything that waits by {wanted.spec()}"
        )
    workload = stored_workload or (asked if changed or "queries" in wanted.needs() else None)
    if not read_only:
        check_live(wanted, queries=workload is not None, truth=truth is not None)

    def begin() -> None:
        with sentences(log):
            crawl._begin(wanted, log, politeness, SMALL, truth, workload, clock, ranking, frontier)

    begin()
    after = 0 if changed else _from_snapshot(crawl, log, begin)
    crawl.replaying = True
    with _no_collections(), sentences(log):
        replay(crawl, log, after, names_of=names_of)
    crawl.replaying = False
    crawl.snapshot_seq, crawl.snapshot_known = after, crawl.known
    crawl.resumed = not read_only
    if not read_only:
        fresh = asked if workload is asked else None  # the ordering has seen everything with these queries
        with sentences(log):
            _go_on(crawl, log, wanted, changed, keep_leases, fresh)


def _go_on(crawl: Live, log: Log, policy: Policy, changed: bool, keep_leases: bool, asked: Workload | None = None) -> None:
    if log.notes.get("version", VERSION) < COUNTLESS:
        for key, value in (
            (COUNTED, log.seq),
            ("policy", to_data(policy)),
            ("politeness", crawl.politeness.json()),
            ("version", VERSION),
        ):
            log.note(key, value)
    now = crawl._tick(None)
    if changed:
        log.note("policy", to_data(policy))
        crawl._do(Reordered(now, policy.spec()))
    if asked is not None:
        log.note("workload", workload_notes(asked))
    if not keep_leases:
        for page in list(crawl.leases):  # the process that had them is dead: we have its lock
            crawl._do(Expired(now, page))
    crawl._ranked()  # one that was under way when the process ended
    log.commit()


def stored_policy(log: Log) -> Policy:
    """The ordering that a crawl was started with. Format 1 has its specification."""
    stored = log.notes.get("policy")
    try:
        if isinstance(stored, str):
            with stored_names(stored):
                return as_policy(stored)
        policy = from_data(stored or {})
    except NotTrusted as error:
        raise NotTrusted(f"this crawl was {error}") from None
    except SpecError as error:
        raise StorageError(f"the ordering of this crawl cannot be made again: {error}") from None
    if not isinstance(policy, Policy):
        raise StorageError(f"the ordering of this crawl cannot be made again: {policy.spec()} is a Ranker, expected a Policy")
    return policy


def check_trusted(folder: Path) -> None:
    """Raise NotTrusted if the ordering of a crawl is code that may not be loaded here."""
    journal = Journal.open(folder, read_only=True)
    try:
        stored_policy(journal)
    except NotTrusted:
        raise
    except StorageError:  # it is said when the ordering is needed
        pass
    finally:
        journal.close()


def _is_stored(policy: Policy, log: Log) -> bool:
    if to_data(policy) == log.notes.get("policy"):
        return True
    try:
        return policy == stored_policy(log)
    except StorageError:  # a class of a package that is not installed here, or not trusted
        return False


def stored_spec(log: Log) -> str:
    """How the ordering of a crawl is written, be its package installed here or not."""
    stored = log.notes.get("policy")
    return stored if isinstance(stored, str) else spec_of(stored or {})


def first_workload(log: Log) -> Workload | None:
    """What searchers asked when the crawl was started; events tell what they ask since."""
    return workload_from(log.notes["workload"]) if "workload" in log.notes else None


def stored_politeness(log: Log) -> Politeness:
    stored = dict(log.notes.get("politeness") or log.notes.get("manners") or {})
    if "at_once" in stored:
        stored["per_host"] = stored.pop("at_once")
    return Politeness(**stored)


@contextmanager
def _no_collections() -> Iterator[None]:
    """Millions of rows come and go, none in a cycle: looking for cycles among them takes a quarter of the time."""
    global _paused
    with _pausing:
        if gc.isenabled() or _paused:  # else somebody else has turned it off, and it stays so
            _paused += 1
        counted = _paused > 0
        gc.disable()
    try:
        yield
    finally:
        with _pausing:
            _paused -= counted
            if counted and not _paused:
                gc.enable()


def replay(crawl: Live, log: Log, after: int = 0, fused: bool = True, names_of: Live | None = None) -> None:
    """Apply all events after this row; without ``fused``, one by one."""
    take_names(crawl, log, names_of)
    player = LogReplay(crawl, log.notes, fused)
    for rows in log.rows(after, BATCH):
        player.batch(rows)
    crawl.leases = dict(sorted(crawl.leases.items(), key=lambda lease: lease[1]))
    crawl.restore_leases()


def replay_names(crawl: Live, log: Log) -> None:
    """Number all pages that became known since."""
    for urls, keys in log.urls(crawl.known, BATCH):
        first = crawl.known
        crawl.table = names.with_capacity(crawl.table, len(urls))
        by_size(names.number_all, len(urls))(crawl.table, np.array(keys, np.int64), np.empty(len(urls), np.int32))
        crawl._meet(first, urls, log.queues(first, first + len(urls)))


def take_names(crawl: Live, log: Log, other: Live | None) -> None:
    """Number all pages as another crawl of the same log has them: reading their names is most of what a replay costs.

    Orderings that read URLs, and pages in queues of their own, need the names all the same.
    """
    needed = crawl.needs | crawl.policy.optional_needs()
    plain = not needed & {"urls", "truth"} and type(crawl.policy).see_pages is Policy.see_pages
    if other is not None and plain and not (crawl.known or other.joined or other.log.queues(0, other.known)):
        known, queues = other.known, other.frontier.hosts_of(slice(0, other.known))
        crawl.table, crawl.host_table = (
            names.HashTable(*(reserve(column.copy()) for column in table)) for table in (other.table, other.host_table)
        )
        crawl.host_page = reserve(other.host_page.copy())
        crawl._grow(known)
        crawl.frontier.place(0, queues)
        if "hosts" in needed:
            crawl.state.host[:known] = queues
    replay_names(crawl, log)


class LogReplay:
    """Stretches of rows that the kernel applies, and between them what needs Python."""

    def __init__(self, crawl: Live, notes: dict[str, Any], fused: bool) -> None:
        self.crawl = crawl
        driver = crawl.driver
        self.fused = driver if fused and isinstance(driver, Fused) and not crawl.policy.stepwise() else None
        self.interval = crawl.policy.interval()
        self.counted = notes.get(COUNTED, 0) if notes.get("version", VERSION) >= COUNTLESS else np.inf
        self.seeds: list[Row] = []

    def batch(self, rows: list[Row]) -> None:
        """Apply these rows: the kernel's in stretches that end where Python is needed, or a ranking follows by counting."""
        check_rows(self.crawl.log.folder or "the log", rows, self.crawl.known)
        rows = events.apart(rows)
        kinds = np.array([row[1] for row in rows], np.int64)
        ranks = self._ranks(rows, kinds)
        slow = ~np.isin(kinds, QUICK) | self._again(rows, kinds) if self.fused else np.ones(len(rows), bool)
        begin = 0
        for end in np.flatnonzero(ranks | slow).tolist():
            if slow[end]:
                self._stretch(rows[begin:end], kinds[begin:end])
                self._slow(rows[end])
            else:
                self._stretch(rows[begin : end + 1], kinds[begin : end + 1])
            if ranks[end]:
                self.crawl.apply(Rescored(rows[end].time))
            begin = end + 1
        self._stretch(rows[begin:], kinds[begin:])
        self.crawl.now = max(self.crawl.now, rows[-1].time)

    def _again(self, rows: list[Row], kinds: Array) -> Array:
        """Pages that were there before or will be again, and all while rules count what is taken: one by one."""
        settles = np.flatnonzero((kinds == Fetched.kind) | (kinds == Failed.kind))
        pages = np.array([rows[place].page for place in settles.tolist()], np.int64)
        found = np.zeros(len(rows), bool)
        if self.crawl.rules or events.Ruled.kind in kinds:
            found[:] = True
        elif len(pages):
            _, first = np.unique(pages, return_index=True)
            later = np.ones(len(pages), bool)
            later[first] = False
            later |= self.crawl.state.fetched[pages] > 0
            later |= np.array([rows[place].until is not None for place in settles.tolist()])
            found[settles] = later
        return found

    def _ranks(self, rows: list[Row], kinds: Array) -> Array:
        """After which rows a ranking follows although no row says so."""
        settles = (kinds == Fetched.kind) | (kinds == Failed.kind)
        if not self.interval or rows[0].seq > self.counted:
            return np.zeros(len(rows), bool)
        settled = len(self.crawl.order) + np.cumsum(settles)
        early = np.array([row.seq for row in rows]) <= self.counted
        return np.asarray(settles & early & (settled % self.interval == 0))

    def _slow(self, row: Row) -> None:
        self.seeds.append(row)
        for event in events.read_events(self.seeds):
            if not (isinstance(event, Rescored) and not self.interval):
                self.crawl.apply(event)
            self.seeds = []
        if row.kind != events.Seeded.kind:
            self.seeds = []

    def _stretch(self, rows: list[Row], kinds: Array) -> None:
        if not rows:
            return
        crawl, fused = self.crawl, self.fused
        assert fused is not None
        pages = np.array([row[2] for row in rows], np.int32)
        times = np.array([row[3] for row in rows], np.float64)
        fetched = np.flatnonzero(kinds == Fetched.kind)
        self._take_in([rows[place] for place in fetched.tolist()], pages[fetched])
        self._remember(fused.frontier, rows, kinds, pages)
        fused.relive(crawl, kinds, pages, times)

    def _take_in(self, fetched: list[Row], pages: Array) -> None:
        """What the fetched pages had."""
        crawl = self.crawl
        if not crawl.keeps_links:
            crawl.used = 0
        blobs = [row.links or b"" for row in fetched]
        target = np.frombuffer(b"".join(blobs), "<i4")
        crawl.state = crawl.policy.expect(crawl.state, len(target))
        lengths = np.array([len(blob) // 4 for blob in blobs], np.int64)
        ends = crawl.used + np.cumsum(lengths)
        last = crawl.used + len(target)
        if last > crawl.links.target.size:
            crawl._grow_links(last)
        crawl.links.target[crawl.used : last] = target
        if crawl.reads_anchors:
            words = [word for row, length in zip(fetched, lengths.tolist(), strict=True) for word in _words(row, length)]
            crawl.links.value[crawl.used : last] = [crawl.policy.anchor_value(word) for word in words]
        crawl.links.start[pages], crawl.links.stop[pages] = ends - lengths, ends
        crawl.used = last
        crawl._out_for(int(lengths.max(initial=0)))
        if crawl.searchers is not None:
            for row, length in zip(fetched, lengths.tolist(), strict=True):
                crawl.searchers.note(row.page, row.title or "", _words(row, length), length)
        if "texts" in crawl.needs:
            for row, text in zip(fetched, crawl.log.texts(pages.tolist()), strict=True):
                crawl.policy.see_text(crawl.state, row.page, row.title or "", text)
        if "scores" in crawl.needs:
            for row in fetched:
                crawl.policy.see_scores(crawl.state, row.page, events.read_note(row))
        if crawl.worth.size:
            told = {row.page: row.impact for row in fetched if row.impact}  # others keep what they were told to be worth
            crawl.worth[list(told)] = list(told.values())

    def _remember(self, frontier: PoliteFrontier, rows: list[Row], kinds: Array, pages: Array) -> None:
        """Leases, attempts, retries and the order, as these rows leave them."""
        crawl = self.crawl
        for place in np.flatnonzero(kinds == Retried.kind).tolist():
            event = Retried.of(rows[place])
            crawl.attempts[event.page] = event.attempt
            frontier.due.put(event.page, event.until)
        last = dict(zip(pages.tolist(), range(len(rows)), strict=True))
        for page, place in last.items():
            row = rows[place]
            if row.kind != Retried.kind:
                frontier.undue(page)
            if row.kind == Taken.kind:
                crawl.leases[page] = row.time + crawl.politeness.lease_s if row.until is None else row.until
            elif page in crawl.leases:
                del crawl.leases[page]
        settled = (kinds == Fetched.kind) | (kinds == Failed.kind)
        crawl.order.frombytes(pages[settled].tobytes())
        crawl.failed_count += int((kinds == Failed.kind).sum())
        if crawl.attempts or crawl.pending:
            for page in pages[settled].tolist():
                crawl.attempts.pop(page, None)
                crawl.pending.end(page)


def _words(row: Row, length: int) -> list[str]:
    return events.anchors_of(row) or [""] * length


# Snapshots ----------------------------------------------------------------------------------------------------------------
def snapshot(crawl: Live, wait: bool = True) -> None:
    """Save the arrays of the crawl. Not for orderings whose past is more than arrays, nor amid a ranking."""
    log = crawl.log
    crawl.snapshot_time = time.monotonic()
    if "history" in crawl.needs or crawl.searchers is not None or crawl.ranking.under_way or log.seq == crawl.snapshot_seq:
        return
    log.commit()
    head = {
        **_wanted(crawl),
        "seq": log.seq,
        "used": crawl.used,
        "now": crawl.now,
        "failed": crawl.failed_count,
        "viewed": crawl.ranking.viewed,
        "politeness": crawl.politeness.json(),
        "impact_by": crawl.impact_by,
        "revisits": crawl.revisits,
        "links_given_up": crawl.links_given_up,
        "paused": crawl.paused,
        "rules": crawl.rules.saved(),
        "joined": crawl.joined,
        "shared": snapshots.shared(crawl.state),
    }
    leaves = enumerate(snapshots.leaves(crawl.state))
    arrays: dict[str, Array] = {f"state{i}": leaf for i, leaf in leaves if head["shared"][i] == i}
    arrays |= {f"frontier_{name}": value for name, value in crawl.frontier.arrays().items()}
    arrays |= {f"table_{name}": value for name, value in crawl.table._asdict().items()}
    arrays |= {f"hosts_{name}": value for name, value in crawl.host_table._asdict().items()}
    arrays |= {f"elsewhere_{name}": value for name, value in crawl.elsewhere.arrays().items()}
    arrays |= {f"score_{name}": value for name, value in crawl.ranking.view.scores.items()}
    arrays |= {
        "start": crawl.links.start,
        "stop": crawl.links.stop,
        "target": crawl.links.target[: crawl.used],
        "value": crawl.links.value[: crawl.used],
        "host_page": crawl.host_page,
        "depths": crawl.depths,
        "impact": crawl.worth,
        "order": np.array(crawl.order, np.int32),
        "leased": np.array(list(crawl.leases), np.int32),
        "lease_ends": np.array(list(crawl.leases.values()), np.float64),
        "held_up": np.array(sorted(crawl.held_up), np.int32),
        "reopened": np.array(sorted(crawl.reopened), np.int32),
        "tried": np.array(list(crawl.attempts), np.int32),
        "attempts": np.array(list(crawl.attempts.values()), np.int32),
        **_pending(crawl),
    }
    if log.save_snapshot(head, arrays, wait):
        crawl.snapshot_seq, crawl.snapshot_known = log.seq, crawl.known


def _pending(crawl: Live) -> dict[str, Array]:
    """Links that were told of pages that have not arrived."""
    told = crawl.pending.values()
    words = "\n".join(words for links in told for words in links.values()).encode("utf-8", "surrogatepass")
    return {
        "pending_parent": np.array(list(crawl.pending), np.int32),
        "pending_length": np.array([len(links) for links in told], np.int64),
        "pending_target": np.array([page for links in told for page in links], np.int32),
        "pending_words": np.frombuffer(words, np.uint8),
    }


def _restore_pending(crawl: Live, held: dict[str, Array]) -> None:
    words = held["pending_words"].tobytes().decode("utf-8", "surrogatepass").split("\n")
    targets, begin = held["pending_target"].tolist(), 0
    for parent, length in zip(held["pending_parent"].tolist(), held["pending_length"].tolist(), strict=True):
        end = begin + length
        crawl.pending.tell(parent, targets[begin:end], words[begin:end])
        begin = end


def _wanted(crawl: Live) -> dict[str, Any]:
    """What a snapshot must agree on to be of use. Kernels that were changed would read what others wrote, or beyond it."""
    kind = type(crawl.frontier)
    return {
        "format": 10,
        "frontrank": frontrank.__version__,
        "policy": to_data(crawl.policy),
        "kernels": [fingerprint(kernel) for kernel in crawl.policy.kernels().values()],
        "state": [str(leaf.dtype) for leaf in snapshots.leaves(crawl.state)],
        "frontier": None if kind is PoliteFrontier else f"{kind.__module__}.{kind.__qualname__}",
    }


def _from_snapshot(crawl: Live, log: Log, begin: Callable[[], None]) -> int:
    """Take over the newest snapshot that is of use; returns the row it was made after, 0 if there is none.

    ``begin`` makes the crawl as it was before: one that fails midway leaves nothing behind.
    """
    wanted = _wanted(crawl)
    for head, arrays in log.snapshots():
        if all(head.get(key) == value for key, value in wanted.items()):
            try:
                check_snapshot(crawl, head, arrays)
                _load(crawl, (head, arrays))
                return int(head["seq"])
            except Exception as error:  # whatever is wrong with it: the journal has all that it has
                logger.warning("a snapshot of event %s is skipped (%s: %s)", head["seq"], type(error).__name__, error)
                begin()
    return 0


def _load(crawl: Live, saved: Snapshot) -> None:
    head, held = saved
    held = {name: reserve(value) for name, value in held.items()}
    leaves = iter([held[f"state{first}"] for first in head["shared"]])
    crawl.state = snapshots.with_leaves(crawl.state, leaves)
    crawl.frontier.restore(_of("frontier_", held))
    crawl.table = names.HashTable(**_of("table_", held))
    crawl.host_table = names.HashTable(**_of("hosts_", held))
    crawl.elsewhere.restore(_of("elsewhere_", held))
    crawl.links = Links(held["start"], held["stop"], held["target"], held["value"])
    crawl.used = head["used"]
    crawl.host_page, crawl.depths, crawl.worth = held["host_page"], held["depths"], held["impact"]
    crawl.order = array("i", held["order"].tobytes())
    crawl.failed_count, crawl.now = head["failed"], head["now"]
    crawl.politeness = Politeness(**head["politeness"])
    crawl.impact_by = head.get("impact_by", crawl.impact_by)
    crawl.revisits, crawl.paused = head["revisits"], head["paused"]
    crawl.links_given_up = head["links_given_up"]
    crawl.rules.restore(head["rules"])
    crawl.joined = head["joined"]
    _restore_pending(crawl, held)
    crawl.leases = dict(zip(held["leased"].tolist(), held["lease_ends"].tolist(), strict=True))
    crawl.held_up = set(held["held_up"].tolist())
    crawl.reopened = set(held["reopened"].tolist()) if "reopened" in held else set()
    crawl.attempts = dict(zip(held["tried"].tolist(), held["attempts"].tolist(), strict=True))
    # one more than there is room for: numbers that count from 1 may be as large as that
    crawl.state = crawl.policy.enlarge(crawl.state, crawl.links.start.size + 1, crawl.host_page.size + 1)
    longest = int((crawl.links.stop[: crawl.known] - crawl.links.start[: crawl.known]).max(initial=0))
    crawl._out_for(longest)
    if head["viewed"]:
        view, frontier = crawl.ranking.view, crawl.frontier
        view.extend(crawl.links, held["order"][: head["viewed"]], frontier.discovered(), frontier.numbers())
        crawl.ranking.viewed = head["viewed"]
        view.scores = _of("score_", held)


def _of(prefix: str, held: dict[str, Array]) -> dict[str, Array]:
    return {name.removeprefix(prefix): value for name, value in held.items() if name.startswith(prefix)}
