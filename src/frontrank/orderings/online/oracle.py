"""Oracle: the page of the greatest true importance first."""

from __future__ import annotations

from dataclasses import dataclass

from frontrank.errors import SpecError
from frontrank.kernels.jit import kernel
from frontrank.orderings.policy import Out, Policy, State
from frontrank.web.importance import parse_metric
from frontrank.web.links import Links, row


@dataclass(frozen=True)
class Oracle(Policy):
    """Oracle: of the pages discovered so far, the one of the greatest true importance first.

        key(q) = importance of q in the whole web

    It needs to know the web before crawling it, so it exists in simulations only. It is not the ideal line of a plot: even an
    oracle can fetch only what it has discovered. And it is greedy: it never takes a poor page for the sake of what lies
    behind it.

    Parameters: ``truth``, the importance metric: pagerank, backlink, forward, location, similarity:topic=WORD, or a weighted
    sum such as 0.5*pagerank+2*backlink.

    Cost: O(log n) for each discovery, after the metric has been computed.

    >>> from frontrank import Web, order
    >>> web = Web.from_edges([0, 0, 1, 3], [1, 2, 2, 2], pages=4)
    >>> order(web, "oracle:truth=backlink", seeds=[0])
    [0, 2, 1]
    """

    truth: str = "pagerank"
    name = "oracle"
    needs_past_links = False

    def validate(self) -> None:
        try:
            parse_metric(self.truth)
        except SpecError as error:
            raise SpecError(f"oracle: {error}") from None

    def needs(self) -> frozenset[str]:
        return frozenset({"truth"})

    @staticmethod
    @kernel
    def on_seed(state: State, page: int, weight: float) -> float:
        return float(state.truth[page])

    @staticmethod
    @kernel
    def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
        targets = row(links, page)
        for j in range(targets.size):
            out.page[j] = targets[j]
            out.key[j] = state.truth[targets[j]]
        return targets.size

    on_revisit = on_fetch
