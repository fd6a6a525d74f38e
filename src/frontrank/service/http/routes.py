"""The table of operations: what is served and what the OpenAPI document says are both made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from frontrank.service.http import actions, answers
from frontrank.service.http.operations import API, OF_CRAWL, Operation, operation

LISTED_S, HOSTS_S, WHOLE_S, REPLAYED_S = 1.0, 2.0, 5.0, 60.0  # for how long answers are kept
EVENTS = OF_CRAWL + "/events"  # the one that never ends: see stream.py


def _get(name: str, path: str, function: Callable[..., Any], keep_s: float = 0.0, **how: bool) -> Operation:
    return operation(name, "GET", path, function, keep_s=keep_s, **how)


OPERATIONS = (
    _get("listCrawls", API + "/crawls", answers.crawls, LISTED_S),
    operation("pauseAll", "POST", API + "/pause", actions.pause_all),
    operation("resumeAll", "POST", API + "/resume", actions.resume_all),
    _get("listOrderings", API + "/orderings", answers.orderings, REPLAYED_S),
    _get("getStatus", OF_CRAWL + "/status", answers.status),
    _get("getNext", OF_CRAWL + "/next", answers.next_pages, LISTED_S),
    _get("getHosts", OF_CRAWL + "/hosts", answers.hosts, HOSTS_S),
    _get("explain", OF_CRAWL + "/explain", answers.explain, WHOLE_S, slow=True),
    _get("search", OF_CRAWL + "/search", answers.search, HOSTS_S, apart=True),
    _get("getErrors", OF_CRAWL + "/errors", answers.errors, HOSTS_S, apart=True),
    _get("getHistory", OF_CRAWL + "/history", answers.history, HOSTS_S, apart=True),
    _get("getFamilies", OF_CRAWL + "/families", answers.families, WHOLE_S, apart=True),
    _get("getScores", OF_CRAWL + "/scores", answers.scores, WHOLE_S),
    _get("getCoverage", OF_CRAWL + "/coverage", answers.coverage, WHOLE_S),
    _get("compare", OF_CRAWL + "/compare", answers.compare, REPLAYED_S, slow=True),
    _get("simulate", OF_CRAWL + "/simulate", answers.simulate, REPLAYED_S, slow=True),
    _get("recommend", OF_CRAWL + "/recommend", answers.recommend, REPLAYED_S, slow=True),
    *actions.ACTIONS,
)
