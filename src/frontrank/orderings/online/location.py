"""Location: from the URL alone, fewer slashes first."""

from __future__ import annotations

from dataclasses import dataclass

from frontrank.kernels.jit import kernel
from frontrank.orderings.policy import Out, Policy, State
from frontrank.pages.urls import host_of
from frontrank.web.importance import location_value
from frontrank.web.links import Links, row


@dataclass(frozen=True)
class Location(Policy):
    """Location: from the URL alone, fewer slashes first.

        key(q) = -slashes * (number of "/" in the URL) + suffix_bonus * [host ends with suffix] + word_bonus * [word in URL]

    Parameters: ``slashes``, the weight of a slash; ``suffix`` and ``word`` with their bonuses, which are off (0) unless
    given, as in ``location:suffix=.com,suffix_bonus=1,word=home,word_bonus=2``.

    Reference: cho98, metric IL(p). Cost: O(log n) for each discovery.

    >>> from frontrank import Web, order
    >>> urls = ["http://a.org/", "http://a.org/x/y", "http://a.org/z", "http://b.com/home/x/y"]
    >>> web = Web.from_edges([0, 0, 0], [1, 2, 3], pages=4, urls=urls)
    >>> order(web, "location", seeds=[0])
    [0, 2, 1, 3]
    >>> order(web, "location:suffix=.com,suffix_bonus=5", seeds=[0])
    [0, 3, 2, 1]
    """

    slashes: float = 1.0
    suffix: str = ".com"
    suffix_bonus: float = 0.0
    word: str = "home"
    word_bonus: float = 0.0
    name = "location"
    needs_past_links = False

    def needs(self) -> frozenset[str]:
        return frozenset({"urls"})

    def url_value(self, url: str) -> float:
        value = self.slashes * location_value(url)
        if self.suffix_bonus and host_of(url).endswith(self.suffix.lower()):
            value += self.suffix_bonus
        if self.word_bonus and self.word.lower() in url.lower():
            value += self.word_bonus
        return value

    @staticmethod
    @kernel
    def on_seed(state: State, page: int, weight: float) -> float:
        return float(state.url_value[page])

    @staticmethod
    @kernel
    def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
        targets = row(links, page)
        for j in range(targets.size):
            out.page[j] = targets[j]
            out.key[j] = state.url_value[targets[j]]
        return targets.size

    on_revisit = on_fetch
