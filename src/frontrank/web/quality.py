"""How good the pages of a web are, by what stands on them: one scorer's judgement of every page, made once for a web."""

from __future__ import annotations

import logging

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.pages.scorers import LOWEST
from frontrank.pages.scoring import Scoring
from frontrank.web.web import Web

log = logging.getLogger("frontrank")


def scores_of(web: Web, scorer: str) -> Array:
    """The score of every page; LOWEST where the scorer has none, which is told once."""
    key = f"scores {scorer}"
    if key not in web.cache:
        web.cache[key] = _judged(web, scorer)
    found: Array = web.cache[key]
    return found


def _judged(web: Web, scorer: str) -> Array:
    if web.texts is None:
        raise InputError(f"scorer {scorer} needs a web with texts, but {web.name} has none")
    none = [""] * web.pages
    pages = list(zip(web.urls or none, web.titles or none, web.texts, strict=True))
    with Scoring(scorer) as scoring:
        judged = scoring.pages(pages)
    failed = [page for page, value in enumerate(judged) if isinstance(value, str)]
    if failed:
        log.warning(
            "frontrank: scorer %s has no score for %s of %s pages, and they count as the worst; of %s it %s",
            scorer,
            f"{len(failed):,}",
            f"{web.pages:,}",
            web.name_of(failed[0]),
            judged[failed[0]],
        )
    return np.array([LOWEST if isinstance(value, str) else value for value in judged])
