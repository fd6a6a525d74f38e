"""How a crawl comes to be: begun with an empty log, or recovered from one, as its log has it.

To recover, the newest good snapshot is loaded, then the events after it are applied.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from frontrank.crawl.events import Expired, PolitenessChanged, Reordered
from frontrank.crawl.integrity import sentences
from frontrank.crawl.journal import VERSION, Journal
from frontrank.crawl.log import Log
from frontrank.crawl.memory_log import MemoryLog
from frontrank.crawl.needs import check_live
from frontrank.crawl.recorder import Recorder
from frontrank.crawl.replay import COUNTED, COUNTLESS, no_collections, replay
from frontrank.crawl.saving import from_snapshot
from frontrank.crawl.setup import CrawlSetup, NewCrawl
from frontrank.crawl.state import CrawlState
from frontrank.crawl.stored import first_workload, is_stored, stored_policy, stored_politeness, stored_spec
from frontrank.errors import InputError
from frontrank.orderings.policy import Policy
from frontrank.orderings.stored import to_data
from frontrank.web.view import Workload, workload_notes

SMALL = 64  # pages: what is allocated before a snapshot brings its own arrays


def begin(policy: Policy, folder: Path | None, log: Log | None, setup: CrawlSetup, new: NewCrawl) -> Recorder:
    """A new crawl; without a log or a folder, in memory."""
    check_live(policy, queries=setup.workload is not None, truth=setup.truth is not None)
    stored = new.stored(policy, setup)
    if folder is not None and log is None:
        log = Journal.create(folder, stored, setup.group, setup.sync_s)
    else:
        log = log or MemoryLog(keep=False)
        for key, value in stored.items():
            log.note(key, value)
    return Recorder(CrawlState(policy, log, setup), log, setup.clock)


def recover(log: Log, policy: Policy | None, setup: CrawlSetup, **how: Any) -> Recorder:
    """As ``restore``; what the setup says of politeness and queries holds from now on. A log that fails is closed."""
    try:
        recorder = restore(log, policy, setup, **how)
        if setup.workload is not None:
            recorder.ask(setup.workload)
        if setup.politeness is not None and setup.politeness != recorder.state.politeness:
            recorder.write(PolitenessChanged, None, setup.politeness)
            log.commit()
    except BaseException:
        log.broken = log.broken or "recovery failed"
        log.close()
        raise
    return recorder


def restore(
    log: Log,
    policy: Policy | None,
    setup: CrawlSetup,
    *,
    rescore: bool = False,
    read_only: bool = False,
    keep_leases: bool = False,
    names_of: CrawlState | None = None,
) -> Recorder:
    """The state that a log tells of, and what writes its next events.

    ``setup.workload``: for an ordering that needs queries, if there were none so far.
    """
    with sentences(log):
        wanted = stored_policy(log) if policy is None else policy
        changed = policy is not None and not is_stored(policy, log)
        politeness, stored_workload = stored_politeness(log), first_workload(log)
    if changed and not rescore:
        raise _other_ordering(stored_spec(log), wanted.spec())
    asked = setup.workload
    workload = stored_workload or (asked if changed or "queries" in wanted.needs() else None)
    if not read_only:
        check_live(wanted, queries=workload is not None, truth=setup.truth is not None)
    at_first = replace(setup, politeness=politeness, workload=workload, capacity=SMALL)

    def new_state() -> CrawlState:
        with sentences(log):
            return CrawlState(wanted, log, at_first)

    state, after = (new_state(), 0) if changed else from_snapshot(log, new_state)
    state.replaying = True
    with no_collections(), sentences(log):
        replay(state, log, after, names_of=names_of)
    state.replaying = False
    recorder = Recorder(state, log, setup.clock)
    recorder.mark_saved(after)
    if not read_only:
        fresh = asked if workload is asked else None  # the ordering has seen everything with these queries
        with sentences(log):
            _continue(recorder, wanted, changed, keep_leases, fresh)
    return recorder


def _other_ordering(stored: str, given: str) -> InputError:
    return InputError(
        f"this crawl was started with {stored}, {given} given; continue with {stored}, or allow rescore (--rescore) to rank "
        f"everything that waits by {given}"
    )


def _continue(recorder: Recorder, policy: Policy, changed: bool, keep_leases: bool, asked: Workload | None) -> None:
    """Let the crawl of a process that is dead be that of this one."""
    state, log = recorder.state, recorder.log
    if log.notes.get("version", VERSION) < COUNTLESS:
        for key, value in (
            (COUNTED, log.seq),
            ("policy", to_data(policy)),
            ("politeness", state.politeness.json()),
            ("version", VERSION),
        ):
            log.note(key, value)
    now = recorder.tick(None)
    if changed:
        log.note("policy", to_data(policy))
        recorder.record(Reordered(now, policy.spec()))
    if asked is not None:
        log.note("workload", workload_notes(asked))
    if not keep_leases:
        for page in list(state.leases):  # the process that had them is dead: we have its lock
            recorder.record(Expired(now, page))
    recorder.apply_ranking()  # one that was under way when the process ended
    log.commit()
