"""Which ordering to use when: the table that ``frontrank recommend`` prints without a web. Its reasons are measured.

The runs behind each reason are in docs/which-ordering.md, with the commands that repeat them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frontrank.lab.purpose import Purpose


@dataclass(frozen=True)
class Advice:
    """One row: what is wanted and known, what follows, why, and a command to see it."""

    purpose: str
    want: str
    have: str
    ordering: str
    why: str
    command: str

    def json(self) -> dict[str, str]:
        row = asdict(self)
        return {"wish": row.pop("purpose"), **row}


TRY = "synthetic:pages=20000,seed=1"
ADVICE = (
    Advice(
        "importance",
        "Important pages first",
        "links of several hosts",
        "surf; fpr:m=100 where deciding must be cheapest",
        "surf finds 76% of the top pages, bfs 38%",
        f"frontrank recommend {TRY} --for importance",
    ),
    Advice(
        "importance",
        "Important pages first",
        "links of one host, or no hosts (LAW and SNAP graphs)",
        "surf; pagerank:every=100 on tens of thousands of pages of one host",
        "surf finds 65% of the top pages of uk-2007-05@100000, bfs 27%; on 20,000 pages of one host both find 86%",
        "frontrank recommend synthetic:pages=20000,hosts=1,seed=1",
    ),
    Advice(
        "quality",
        "Good text first, by any scorer",
        "texts of fetched pages: any live crawl",
        "group:scorer=words",
        "judges a directory by what was fetched from it: 86% of the best possible on uci-ics, bfs 66%",
        "frontrank recommend my-crawl --for quality",
    ),
    Advice(
        "votes",
        "Pages that other sites link to",
        "links of several domains",
        "domains; fpr:m=100 where all hosts are of one domain",
        "counts each linking domain once: 92% on a generated web, bfs 82%; no difference where all hosts share a domain",
        f"frontrank recommend {TRY} --for votes",
    ),
    Advice(
        "topic",
        "Pages about a topic",
        "titles, texts and anchors",
        "quality:scorer=topic:WORDS,anchor=1",
        "follows links that name the topic: 88% of the pages about 'computer' on uci-ics, bfs 31%",
        f"frontrank recommend {TRY} --for topic:computer",
    ),
    Advice(
        "searchers",
        "What searchers will be shown",
        "a query log and texts",
        "fusion",
        "combines queries and walks, which err on different pages: 24% of the ideal on uci-ics, pagerank 11%",
        "frontrank recommend team.crawl --for searchers",
    ),
    Advice(
        "searchers",
        "What searchers will be shown",
        "clicks or views of fetched pages, no queries",
        "rw-eg",
        "links from pages that searchers see count more: 18% of the ideal on uci-ics, pagerank 11%",
        "frontrank recommend team.crawl --for searchers",
    ),
    Advice(
        "coverage",
        "To know how much is covered, and stop there",
        "links",
        "rankmass with --until coverage=0.9",
        "the only one that knows a lower bound: at least 71% is covered after 10% of uk-2007-05@100000",
        f"frontrank simulate {TRY} --ordering rankmass --until coverage=0.5 --seeds random:20@1",
    ),
    Advice(
        "importance",
        "A crawl without surprises, or the first of a site",
        "nothing yet",
        "bfs, a few hundred pages; then recommend on what it fetched",
        "no ordering is the best everywhere: backlink is third on wikispeedia and last on cnr-2000",
        "frontrank recommend my-crawl",
    ),
)


def advice_for(purpose: Purpose | None) -> list[Advice]:
    return [row for row in ADVICE if purpose is None or row.purpose == purpose.name]
