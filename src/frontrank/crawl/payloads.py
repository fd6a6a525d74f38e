"""What an integration keeps with pages, usually until they are settled: its requests, or the metadata of URLs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from frontrank.crawl.log import Log

KEEP_ALL = "keeps_payloads"  # a note of the crawl: also those of pages that are done with


class Payloads:
    """It is acknowledged with the next event."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._used = log.has_payloads()
        self.keeps_all = bool(log.notes.get(KEEP_ALL))

    def attach(self, payloads: Mapping[int, bytes]) -> None:
        if payloads:
            self._used = True
            self._log.attach(payloads)

    def of(self, pages: Sequence[int]) -> dict[int, bytes]:
        return self._log.attached(pages)

    def settle(self, page: int) -> None:
        """A page is done with."""
        if self._used and not self.keeps_all:
            self._log.detach(page)

    def forget(self, pages: Sequence[int]) -> None:
        if self._used:
            for page in pages:
                self._log.detach(page)
