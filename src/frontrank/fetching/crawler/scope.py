"""Which of the URLs that are found belong to a crawl.

    reach = host      the hosts of the seeds; example.org and www.example.org count as one
    reach = domain    every host under the registered domains of the seeds (public suffix list)
    reach = any       the whole web
    include           of these regular expressions at least one must be found in the URL (none given: all URLs)
    exclude           none of these may be found

A path that goes in circles (``urls.repeats``) is never followed. The first reason in this order is told: "not http",
"other host" or "other domain", "not included", "excluded", "path repeats".

Cost: the verdict on a host is kept, so most URLs cost one dictionary lookup and the expressions that were given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from frontrank.errors import InputError, nearest
from frontrank.pages.patterns import Search, searcher
from frontrank.pages.urls import host_of, registered_domain, repeats, usable_seed

if TYPE_CHECKING:
    from frontrank.crawl.crawl import Crawl
    from frontrank.fetching.crawler.options import Options

REACHES = ("host", "domain", "any")
HOSTS_KEPT = 2**17
ANSWERS_KEPT = 2**14  # pages of a site link to the same pages again and again


@dataclass(frozen=True)
class Scope:
    """What a crawl from these seeds may fetch.

    >>> scope = Scope(["https://www.example.org/"], exclude=[r"/private/"])
    >>> scope.why_not("https://example.org/a"), scope.why_not("https://example.com/")
    (None, 'other host')
    >>> scope.why_not("https://example.org/private/x")
    'excluded'
    """

    seeds: Sequence[str]
    reach: str = "host"
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    _homes: frozenset[str] = field(init=False, repr=False, compare=False)
    _include: tuple[Search, ...] = field(init=False, repr=False, compare=False)
    _exclude: tuple[Search, ...] = field(init=False, repr=False, compare=False)
    _inside: dict[str, bool] = field(init=False, repr=False, compare=False, default_factory=dict)
    _answers: Callable[[str], str | None] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.reach not in REACHES:
            raise InputError(f"reach must be host, domain or any, got {self.reach!r}{nearest(self.reach, REACHES)}")
        for name in ("seeds", "include", "exclude"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        homes = frozenset(self._home(host_of(usable_seed(seed))) for seed in self.seeds)
        object.__setattr__(self, "_homes", homes)
        object.__setattr__(self, "_include", _expressions("include", self.include))
        object.__setattr__(self, "_exclude", _expressions("exclude", self.exclude))
        object.__setattr__(self, "_answers", lru_cache(ANSWERS_KEPT)(self._why_not))

    def why_not(self, url: str) -> str | None:
        """Why this canonical URL is not fetched; None if it is."""
        return self._answers(url)

    def _why_not(self, url: str) -> str | None:
        if not url.startswith(("http://", "https://")):
            return "not http"
        if self.reach != "any" and not self._is_inside(url):
            return f"other {self.reach}"
        if self._include and not any(found(url) for found in self._include):
            return "not included"
        if self._exclude and any(found(url) for found in self._exclude):
            return "excluded"
        return "path repeats" if repeats(url) else None

    def _is_inside(self, url: str) -> bool:
        place = url.split("/", 3)[2]
        inside = self._inside.get(place)
        if inside is None:
            if len(self._inside) >= HOSTS_KEPT:
                self._inside.clear()
            inside = self._inside[place] = self._home(host_of(url)) in self._homes
        return inside

    def _home(self, host: str) -> str:
        return registered_domain(host) if self.reach == "domain" else host.removeprefix("www.")


def scope_of(options: Options, moved: Sequence[str] = ()) -> Scope:
    """The scope of a crawl; moved: where its seeds redirected to."""
    return Scope((*options.seeds, *moved), options.scope, options.include, options.exclude)


def drop_out_of_reach(crawl: Crawl, options: Options) -> int:
    """Drop the waiting pages that do not belong to the crawl any more, each with the reason; returns how many.

    They are dropped now rather than when their turn comes: a host would rest after each of them as after a request.
    """
    scope = scope_of(options, crawl.notes.get("moved", ()))
    seeds = frozenset(options.seeds)  # these were named by a person, whatever the rules say
    dropped = 0
    for page in crawl.inspect.waiting_pages():
        url = crawl.url(page)
        reason = "depth" if crawl.inspect.depth(page) > options.max_depth else scope.why_not(url)
        if reason is not None and url not in seeds:
            crawl.drop(page, reason)
            dropped += 1
    return dropped


def _expressions(name: str, given: Iterable[str]) -> tuple[Search, ...]:
    found = []
    for text in given:
        try:
            re.compile(text)
        except (re.error, OverflowError, RecursionError) as error:
            raise InputError(f"{name} {text!r} is not a regular expression ({error}); a literal dot is written \\.") from None
        found.append(searcher(text))
    return tuple(found)
