"""How the crawls of a service are started and recovered: with which ordering, and in which directory."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from frontrank.crawl import validation
from frontrank.crawl.crawl import Crawl
from frontrank.crawl.journal import Journal
from frontrank.crawl.needs import check_live
from frontrank.crawl.ranking import BACKGROUND
from frontrank.errors import StorageError
from frontrank.frontiers.politeness import Politeness
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import as_policy
from frontrank.orderings.stored import trusted, trusting
from frontrank.service.crawl_ids import crawl_id, id_of
from frontrank.service.serve_options import ServeOptions


class CrawlFactory:
    """``policy`` is the ordering of new crawls, ``orderings`` has others for some IDs.

    An existing crawl keeps the ordering that it was started with, unless ``rescore`` is set: then it gets the one that was
    chosen for it, which sees everything that happened.
    """

    def __init__(
        self,
        policy: Policy | str | None,
        orderings: Mapping[str, Policy | str] | None,
        *,
        rescore: bool = False,
        revisit_share: float | None = None,
        clock: Callable[[], float] = time.time,
        sync_s: float = 1.0,
    ) -> None:
        self.policy = as_policy(policy or ServeOptions.policy)
        self.orderings = {crawl_id(given): as_policy(ordering) for given, ordering in (orderings or {}).items()}
        for ordering in self.all_orderings():
            check_live(ordering)
        self.rescore = rescore
        self.revisit_share = None if revisit_share is None else validation.share(revisit_share, "revisit_share")
        self.clock, self.sync_s = clock, sync_s
        self._is_chosen = policy is not None
        self._trusted = trusted()  # crawls may be opened in another thread

    def all_orderings(self) -> list[Policy]:
        return [self.policy, *self.orderings.values()]

    def ordering_for(self, name: str) -> Policy:
        """The ordering of a new crawl."""
        return self.orderings.get(name, self.policy)

    def chosen_for(self, name: str) -> Policy | None:
        """The ordering that was chosen for a crawl, by its ID or for all crawls; None if nothing was chosen."""
        return self.orderings.get(name, self.policy if self._is_chosen else None)

    def start(self, name: str, folder: Path, ordering: Policy, politeness: Politeness) -> Crawl:
        try:
            return Crawl(
                ordering,
                folder,
                politeness=politeness,
                revisit_share=self.revisit_share,
                notes={"crawl_id": name},
                clock=self.clock,
                sync_s=self.sync_s,
                ranking=BACKGROUND,
            )
        except OSError as error:
            raise StorageError(f"{folder}: a crawl cannot be started there ({error.strerror or error})") from None

    def recover(self, folder: Path) -> Crawl:
        log = Journal.open(folder, sync_s=self.sync_s)
        try:
            chosen = self.chosen_for(id_of(log.notes, folder))  # refuses an ID that cannot be used
            policy = chosen if self.rescore else None
            with trusting(self._trusted):
                crawl = Crawl.recover(log, policy, rescore=self.rescore, clock=self.clock, ranking=BACKGROUND, keep_leases=True)
            if self.revisit_share is not None and crawl.control.revisit_share != self.revisit_share:
                crawl.control.share_revisits(self.revisit_share)
        except BaseException:
            log.close()
            raise
        return crawl
