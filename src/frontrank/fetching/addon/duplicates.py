"""Which requests were seen before: as Scrapy's own duplicate filter says, or the project's own DUPEFILTER_CLASS.

Scrapy's RFPDupeFilter does not remember what came with dont_filter. Here it is remembered with its callback, so that a start
page that links to itself is not fetched twice for the same work; another callback still gets it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.dupefilters import RFPDupeFilter
from scrapy.utils.misc import build_from_crawler, load_object

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter


class Duplicates:
    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        chosen = load_object(crawler.settings["DUPEFILTER_CLASS"])
        self.ours = chosen is RFPDupeFilter
        debug = crawler.settings.getbool("DUPEFILTER_DEBUG")
        # the crawl itself remembers: Scrapy's filter is there for its log and its statistics only
        self.filter: BaseDupeFilter = RFPDupeFilter(None, debug) if self.ours else build_from_crawler(chosen, crawler)
        self.unfiltered: dict[int, Any] = {}  # key of a page that came with dont_filter -> its callback

    def seen(self, request: Request, key: int, known: bool, resumed: bool) -> bool:
        """Whether this request is a repeat. ``known``: a page has its fingerprint, ``key``."""
        if request.dont_filter:  # always goes through; but start requests of a resumed crawl were sent already
            again = known and resumed and request.meta.get("is_start_request", False)
            if again:
                self.unfiltered.setdefault(key, self._callback(request))
            return bool(again)
        if not self.ours:
            return self.filter.request_seen(request)
        return known and (key not in self.unfiltered or self.unfiltered[key] == self._callback(request))

    def note(self, request: Request, key: int, known: bool) -> None:
        """This request goes through."""
        if not request.dont_filter:
            self.unfiltered.pop(key, None)
        elif not known:
            self.unfiltered[key] = self._callback(request)

    def _callback(self, request: Request) -> Any:
        return request.callback or getattr(self.crawler.spider, "parse", None)
