"""What the notes of a log say that its crawl was started with: ordering, politeness, workload."""

from __future__ import annotations

from pathlib import Path

from frontrank.crawl.journal import Journal
from frontrank.crawl.log import Log
from frontrank.errors import NotTrusted, SpecError, StorageError
from frontrank.frontiers.politeness import Politeness
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import as_policy
from frontrank.orderings.stored import from_data, spec_of, stored_names, to_data
from frontrank.web.view import Workload, workload_from


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


def is_stored(policy: Policy, log: Log) -> bool:
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
