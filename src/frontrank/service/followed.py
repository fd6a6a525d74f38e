"""Which links of a page a fetcher puts into its service.

The scope is that of the page on which a link was found, since a service knows no seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from frontrank.fetching.crawler.scope import Scope
from frontrank.fetching.fetcher import MAX_HOPS, FetchResult, redirect_target
from frontrank.pages.html import MAX_URL_LENGTH
from frontrank.pages.urls import host_of

if TYPE_CHECKING:
    from frontrank.fetching.loop import FetchTask
    from frontrank.service.client_calls import Page
    from frontrank.service.fetching import FetchCounts, FetchPlan

MAX_SCOPES = 4096  # of hosts, that are kept
MAX_ANCHOR = 1_000  # characters: a page with one link may be all anchor
HOPS = "redirects"  # metadata of a page: how many led to it


class Followed:
    def __init__(self, plan: FetchPlan, counts: FetchCounts) -> None:
        self.counts = counts
        self._scope_of = lru_cache(MAX_SCOPES)(lambda host: Scope((f"http://{host}/",), plan.scope, plan.include, plan.exclude))

    def links(self, task: FetchTask[Page], result: FetchResult) -> tuple[list[tuple[str, str]], Mapping[str, list[str]] | None]:
        """The links of a page that are followed, with their anchors, and the metadata of their pages; others are counted."""
        if result.redirects:
            hops = number_in(task.handle.metadata, HOPS) + 1
            target = redirect_target(task.url, result.location)
            is_usable = target and len(target) <= MAX_URL_LENGTH and hops <= MAX_HOPS
            return self._in_scope(task.url, [(target, "")] if is_usable else []), {HOPS: [str(hops)]}
        found = result.found
        if found is None or result.directives.nofollow:
            return [], None
        return self._in_scope(task.url, found.links), None

    def _in_scope(self, url: str, links: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        scope = self._scope_of(host_of(url))
        kept = []
        for target, anchor in links:
            reason = scope.why_not(target)
            if reason is None:
                kept.append((target, anchor[:MAX_ANCHOR].encode("utf-8", "replace").decode()))
            else:
                self.counts.not_followed[reason] += 1
        return kept


def number_in(metadata: Mapping[str, Sequence[str]], name: str) -> int:
    """A count among the metadata of a page, which may come from anybody: 0 if it is not one."""
    text = next(iter(metadata.get(name, ())), "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 0
