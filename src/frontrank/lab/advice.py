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
        "surf .761 (uci-ics .356), pagerank ranked 20 times .588 (.335), fpr:m=100 .571 (.283), bfs .380 (.245)",
        f"frontrank recommend {TRY} --for importance",
    ),
    Advice(
        "importance",
        "Important pages first",
        "links of one host, or no hosts (LAW and SNAP graphs)",
        "surf; pagerank:every=100 on tens of thousands of pages of one host",
        "uk-2007-05@100000: surf .648, rankmass .626, pagerank .476, bfs .270; 20,000 of one host: pagerank .863, surf .857",
        "frontrank recommend synthetic:pages=20000,hosts=1,seed=1",
    ),
    Advice(
        "quality",
        "Good text first, by any scorer",
        "texts of fetched pages: any live crawl",
        "group:scorer=words",
        "a directory is as good as what was fetched from it: .861 of the best possible on uci-ics, quality .837, bfs .657",
        "frontrank recommend my-crawl --for quality",
    ),
    Advice(
        "votes",
        "Pages that other sites link to",
        "links of several domains",
        "domains; fpr:m=100 where all hosts are of one domain",
        "a domain has one voice: .921 on a generated web, fpr:m=100 .906, bfs .818; ties on uci-ics, which is one domain (.94)",
        f"frontrank recommend {TRY} --for votes",
    ),
    Advice(
        "topic",
        "Pages about a topic",
        "titles, texts and anchors",
        "quality:scorer=topic:WORDS,anchor=1",
        "links that name it, on pages about it: .876 of those about 'computer' on uci-ics, similarity .855, bfs .312",
        f"frontrank recommend {TRY} --for topic:computer",
    ),
    Advice(
        "searchers",
        "What searchers will be shown",
        "a query log and texts",
        "fusion",
        "queries and walks err on different pages: fusion .243 on uci-ics, rw-eg .184, q-overlap .170, pagerank .114",
        "frontrank recommend team.crawl --for searchers",
    ),
    Advice(
        "searchers",
        "What searchers will be shown",
        "clicks or views of fetched pages, no queries",
        "rw-eg",
        "votes of pages that are shown count more: rw-eg .184 on uci-ics, rw .171, indegree .123, pagerank .114",
        "frontrank recommend team.crawl --for searchers",
    ),
    Advice(
        "coverage",
        "To know how much is covered, and stop there",
        "links",
        "rankmass with --until coverage=0.9",
        "the only one with a lower bound: .71 of the mass that can be covered is proven after 10% of uk-2007-05@100000",
        f"frontrank simulate {TRY} --ordering rankmass --until coverage=0.5 --seeds random:20@1",
    ),
    Advice(
        "importance",
        "A crawl without surprises, or the first of a site",
        "nothing yet",
        "bfs, a few hundred pages; then recommend on what it fetched",
        "none is the best everywhere: backlink is third on wikispeedia (.709), and the last on cnr-2000 (.103)",
        "frontrank recommend my-crawl",
    ),
)


def advice_for(purpose: Purpose | None) -> list[Advice]:
    return [row for row in ADVICE if purpose is None or row.purpose == purpose.name]
