"""A page that arrives: its links as numbers, each once, and what else is said of it, checked before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from frontrank.crawl import validation
from frontrank.crawl.events import Fetched, Where
from frontrank.crawl.state import CrawlState
from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.pages.scorers import Judged

Link = str | tuple[str, str]
Links = Iterable[Link | int] | Array  # URLs, or URLs and their anchors, or numbers of pages
Targets = Sequence[int] | Array


class Content(NamedTuple):
    """What a fetched page is, besides its links."""

    title: str
    text: str
    impact: float
    status: int
    where: Where | None
    scores: Mapping[str, Judged]
    again_at: float | None
    metadata: Mapping[str, Any]

    def checked(self) -> Content:
        if self.again_at is not None:
            validation.seconds(self.again_at, "a page must be fetched again at")
        if not isinstance(self.scores, Mapping):
            raise InputError(f"scores must be a mapping from scorers to what they say, got {self.scores!r}")
        return Content(
            validation.text(self.title, "a title"),
            validation.text(self.text, "a text"),
            validation.number(self.impact, "the impact of a page"),
            validation.whole(self.status, "the status of a page"),
            validation.where(self.where),
            self.scores,
            None if self.again_at is None else float(self.again_at),
            self.metadata,
        )


def targets_of(state: CrawlState, links: Links, anchors: Sequence[str] | None) -> tuple[Targets, Sequence[str] | None]:
    """The numbers of the pages that links lead to, which are known from now on, and the anchors beside them."""
    if not isinstance(links, Iterable):
        raise InputError(f"links must be URLs, or URLs and their anchors, got {links!r}")
    found: Any = links if isinstance(links, np.ndarray) else [links] if isinstance(links, str) else list(links)
    if not len(found):
        return [], None
    if isinstance(found, np.ndarray) or isinstance(found[0], int | np.integer):
        numbers = state.pages.check_all(found)
        if anchors is not None and len(validation.texts(anchors, "an anchor")) != len(numbers):
            raise InputError(f"there must be one anchor for each of {len(numbers)} targets, got {anchors!r}")
        return numbers, anchors
    if set(map(type, found)) <= {str}:  # most crawls have no anchors to tell: 3 us per page
        return state.intern(found), anchors
    pairs = [(link, "") if isinstance(link, str) else link for link in found]
    for pair in pairs:
        if not (isinstance(pair, Sequence) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
            raise InputError(f"a link must be a URL, or a URL and its anchor, got {pair!r}")
    return state.intern([target for target, _ in pairs]), [anchor for _, anchor in pairs]


def fetched_event(
    state: CrawlState, page: int, targets: Targets | None, anchors: Sequence[str] | None, content: Content, at: float
) -> Fetched:
    """``targets=None``: the links that are pending of the page."""
    if targets is None:
        pending = state.pending.get(page, {})
        targets, anchors = list(pending), list(pending.values())
    links, words = _distinct(page, targets, anchors)
    if content.text and state.reads_texts:
        state.log.keep_text(page, content.text)
    return Fetched(at, page, links, words, *content)


def _distinct(page: int, targets: Targets, anchors: Sequence[str] | None) -> tuple[Array, list[str]]:
    """The targets without repetitions and without the page itself; anchors of one target are joined."""
    pages = targets.tolist() if isinstance(targets, np.ndarray) else targets
    if anchors is None or not any(anchors):
        distinct = dict.fromkeys(pages)
        distinct.pop(page, None)
        if isinstance(targets, np.ndarray) and len(distinct) == len(pages):
            return targets.astype("<i4", copy=False), []
        return np.array(list(distinct), "<i4"), []
    words: dict[int, str] = {}
    for target, anchor in zip(pages, anchors, strict=True):
        if target != page:
            words[target] = f"{words[target]} {anchor}".strip() if target in words else anchor
    return np.array(list(words), "<i4"), [" ".join(anchor.split("\n")) for anchor in words.values()]
