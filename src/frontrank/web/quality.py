"""How good the pages of a web are, by their content: the scores of one scorer for every page, computed once for a web."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.pages.scorers import LOWEST
from frontrank.pages.scoring import Page, Scoring
from frontrank.web.web import Web

log = logging.getLogger("frontrank")


def scores_of(web: Web, scorer: str) -> Array:
    """The score of every page; LOWEST where the scorer has none, which is logged once."""
    key = f"scores {scorer}"
    if key not in web.cache:
        web.cache[key] = _judged(web, scorer)
    found: Array = web.cache[key]
    return found


def _judged(web: Web, scorer: str) -> Array:
    if web.texts is None:
        raise InputError(f"scorer {scorer} needs a web with texts, but {web.name} has none")
    none = [""] * web.pages
    return judged(list(zip(web.urls or none, web.titles or none, web.texts, strict=True)), scorer, web.name_of)


def judged(pages: Sequence[Page], scorer: str, name_of: Callable[[int], str]) -> Array:
    """The scores of these pages (url, title, text); LOWEST where the scorer has none, which is logged once."""
    with Scoring(scorer) as scoring:
        scores = scoring.pages(pages)
    failed = [at for at, value in enumerate(scores) if isinstance(value, str)]
    if failed:
        log.warning(
            "frontrank: scorer %s has no score for %s of %s pages, and they count as the worst; of %s it %s",
            scorer,
            f"{len(failed):,}",
            f"{len(pages):,}",
            name_of(failed[0]),
            scores[failed[0]],
        )
    return np.array([LOWEST if isinstance(value, str) else value for value in scores])


def note_scores(web: Web, scorer: str, scores: Array) -> None:
    """These are the scores of the pages of this web: nobody need judge them."""
    web.cache[f"scores {scorer}"] = scores
