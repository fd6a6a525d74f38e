"""The table of operations: what is served and what the OpenAPI document says are both made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from frontrank.pages.groups import MAX_HOST_LENGTH
from frontrank.service.http import answers, shapes
from frontrank.service.http.answers import HOSTS_S, WHOLE_S, Asked
from frontrank.service.http.fields import Field

API = "/api/v1"
OF_CRAWL = API + "/crawls/{crawl}"
MAX_REGEX_LENGTH = 1_000
MAX_PAGES = 2**31 - 1  # as frontiers count them


@dataclass(frozen=True)
class Operation:
    name: str
    path: str
    about: str
    answer: Callable[[Asked], Any]
    returns: Any
    fields: tuple[Field, ...] = ()
    method: str = "GET"
    keep_s: float = 0.0  # for how long an answer is kept for others who ask the same
    slow: bool = False  # it takes a replay
    apart: bool = False  # it waits for a process that reads the log

    @property
    def of_crawl(self) -> bool:
        return "{crawl}" in self.path

    @property
    def acts(self) -> bool:
        return self.method == "POST"


def _count(name: str, about: str, default: int, most: int) -> Field:
    return Field(name, "integer", about, default, 1, most)


HOST = Field("host", "string", "the name of a host, or of a queue", longest=MAX_HOST_LENGTH)
PATTERN = Field("pattern", "string", "a regular expression, looked for in URLs", longest=MAX_REGEX_LENGTH, format="regex")
BLOCKED = Field("seconds", "number", "for how long; 0 ends it", least=0, most=1e9)
LIMITS = (
    Field("delay_s", "number", "seconds between two pages", None, 0, 86_400),
    Field("concurrency", "integer", "pages in flight at once; 0: no limit", None, 0, 10_000),
    Field("budget", "integer", "pages to take in all, revisits too; 0: no limit", None, 0, MAX_PAGES),
    Field("limit", "integer", "pages to be done with; 0: no limit", None, 0, MAX_PAGES),
)
QUERY = (
    Field("query", "string", "what is asked", longest=1_000),
    Field("frequency", "number", "how often", 1.0, 0, 1e15),
)
IMPACT = (
    Field("url", "string", "the URL of a page"),
    Field("clicks", "number", "how often it was chosen", None, 0, 1e15),
    Field("views", "number", "how often it was shown", None, 0, 1e15),
)
SEEN = Field("share", "number", "how much of a result at this place searchers see", least=0, most=1)
OPERATIONS = (
    Operation("listCrawls", API + "/crawls", "All crawls, and how far each is.", answers.crawls, shapes.CrawlList, keep_s=1.0),
    Operation(
        "pauseAll",
        API + "/pause",
        "Hand out no page of any crawl until resumed.",
        answers.pause_all,
        shapes.Done,
        method="POST",
    ),
    Operation("resumeAll", API + "/resume", "Hand out pages again.", answers.resume_all, shapes.Done, method="POST"),
    Operation(
        "listOrderings",
        API + "/orderings",
        "The orderings that a crawl can be compared with.",
        answers.orderings,
        shapes.Orderings,
        keep_s=60.0,
    ),
    Operation(
        "getStatus",
        OF_CRAWL + "/status",
        "How far a crawl is: pages by state, rate, time left, hosts, what its ordering measures.",
        answers.status,
        shapes.Status,
    ),
    Operation(
        "getNext",
        OF_CRAWL + "/next",
        "The next pages by priority, whatever politeness says.",
        answers.next_pages,
        shapes.Next,
        (_count("n", "how many pages", 50, 1_000),),
        keep_s=1.0,
    ),
    Operation(
        "getHosts",
        OF_CRAWL + "/hosts",
        "The hosts with most pages in flight and waiting, with their limits.",
        answers.hosts,
        shapes.Hosts,
        (_count("n", "how many hosts", 50, 1_000),),
        keep_s=HOSTS_S,
    ),
    Operation(
        "explain",
        OF_CRAWL + "/explain",
        "Why a page is where it is in the queue: how much each fetched page contributed to its priority. Replays the crawl.",
        answers.explain,
        shapes.Explained,
        (
            Field("url", "string", "the URL of a page that the crawl knows"),
            Field("queue", "string", "its queue; without it, whatever its queue", None, longest=MAX_HOST_LENGTH),
        ),
        keep_s=WHOLE_S,
        slow=True,
    ),
    Operation(
        "search",
        OF_CRAWL + "/search",
        "Known pages whose URL contains a text, in the order in which they became known.",
        answers.search,
        shapes.Search,
        (Field("text", "string", "a part of a URL", longest=500), _count("n", "how many pages", 50, 500)),
        keep_s=HOSTS_S,
        apart=True,
    ),
    Operation(
        "getErrors",
        OF_CRAWL + "/errors",
        "Pages that failed for good, by reason; fetched pages by HTTP status; the last failures.",
        answers.errors,
        shapes.Errors,
        keep_s=HOSTS_S,
        apart=True,
    ),
    Operation(
        "getHistory",
        OF_CRAWL + "/history",
        "Pages fetched and failed over time, in steps of equal length; steps without a page are omitted.",
        answers.history,
        shapes.Series,
        (_count("points", "at most so many steps", 200, 1_000),),
        keep_s=HOSTS_S,
        apart=True,
    ),
    Operation(
        "getFamilies",
        OF_CRAWL + "/families",
        "Families of URLs that are alike but for numbers and ids, largest first, and which of them may be traps.",
        answers.families,
        shapes.Families,
        (_count("n", "how many families", 30, 500),),
        keep_s=WHOLE_S,
        apart=True,
    ),
    Operation(
        "getScores",
        OF_CRAWL + "/scores",
        "How the priorities of waiting pages are distributed.",
        answers.scores,
        shapes.Scores,
        (_count("bins", "how many bins", 40, 200),),
        keep_s=WHOLE_S,
    ),
    Operation(
        "getCoverage",
        OF_CRAWL + "/coverage",
        "How much of what is known was fetched: pages, hosts, pages by depth.",
        answers.coverage,
        shapes.Coverage,
        keep_s=WHOLE_S,
    ),
    Operation(
        "compare",
        OF_CRAWL + "/compare",
        "What another ordering would change at the head of the queue. Takes a replay of the crawl; nothing is changed.",
        answers.compare,
        shapes.Compared,
        (
            Field("policy", "string", "the other ordering, such as opic or fpr:m=100", longest=200),
            _count("n", "how many pages of the head", 50, 500),
        ),
        keep_s=answers.COMPARED_S,
        slow=True,
    ),
    Operation(
        "simulate",
        OF_CRAWL + "/simulate",
        "Crawl what this crawl has fetched once more with other orderings: how soon does each find the important pages?",
        answers.simulate,
        dict[str, Any],
        (
            Field("policies", "string", "orderings to try, with spaces between: surf opic fpr:m=100", "bfs surf", longest=500),
            Field("budget", "number", "share of the pages that each may fetch", 0.3, 0.001, 1.0),
        ),
        keep_s=answers.COMPARED_S,
        slow=True,
    ),
    Operation(
        "recommend",
        OF_CRAWL + "/recommend",
        "Which ordering to take for a crawl like this one: several are tried on what it has fetched.",
        answers.recommend,
        dict[str, Any],
        (Field("for", "string", "importance, coverage, votes or topic:WORDS", "importance", longest=200),),
        keep_s=answers.COMPARED_S,
        slow=True,
    ),
    Operation(
        "block",
        OF_CRAWL + "/block",
        "Fetch nothing from a host for that long.",
        answers.block,
        shapes.Done,
        (HOST, BLOCKED),
        method="POST",
    ),
    Operation(
        "limitHost",
        OF_CRAWL + "/limits",
        "Politeness towards one host; what is not given stays as it is.",
        answers.limit_host,
        shapes.Done,
        (HOST, *LIMITS),
        method="POST",
    ),
    Operation(
        "ask",
        OF_CRAWL + "/queries",
        "What searchers ask from now on, instead of the queries before: later rankings go by it.",
        answers.ask,
        shapes.Done,
        (
            Field("queries", "array", "queries and how often each is asked", most=1_000_000, items=QUERY),
            Field("visibility", "array", "of the first, second, ... result of a query", None, most=1_000, items=SEEN),
        ),
        method="POST",
    ),
    Operation(
        "impacts",
        OF_CRAWL + "/impacts",
        "What searchers made of pages so far, instead of what was told of them before; unknown pages are named and skipped.",
        answers.impacts,
        shapes.Valued,
        (Field("pages", "array", "pages, each with clicks, views or both", most=100_000, items=IMPACT),),
        method="POST",
    ),
    Operation("pause", OF_CRAWL + "/pause", "Take no page until resumed.", answers.pause, shapes.Done, method="POST"),
    Operation("resume", OF_CRAWL + "/resume", "Take pages again.", answers.resume, shapes.Done, method="POST"),
    Operation(
        "boost",
        OF_CRAWL + "/boost",
        "Pages whose URL matches, known or to come, go before all others; below 0, after them. Boosts of patterns add up.",
        answers.boost,
        shapes.Done,
        (PATTERN, Field("by", "integer", "larger is sooner; 0 ends it", least=-1_000_000, most=1_000_000)),
        method="POST",
    ),
    Operation(
        "limitFamily",
        OF_CRAWL + "/families",
        "A budget or a pace for all pages whose URL matches; what is not given stays as it is.",
        answers.limit_family,
        shapes.Done,
        (
            PATTERN,
            Field("budget", "integer", "pages to take in all; 0: no limit", None, 0, MAX_PAGES),
            Field("delay_s", "number", "seconds between two pages; 0: none", None, 0, 86_400),
        ),
        method="POST",
    ),
)
EVENTS = OF_CRAWL + "/events"  # the one that never ends: see stream.py
