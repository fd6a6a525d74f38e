"""cho98, importance IS: pages similar to a query of several words are important.

The paper defines IS (section 2) and proposes as its ordering metric the similarity of anchor and URL to the query, without
measuring it; it concludes that such URLs should be visited early. Here it is measured: the share of all IS (of the most that
as many pages can have) that has been fetched.
"""

from __future__ import annotations

import numpy as np

from frontrank.errors import InputError
from frontrank.lab.drawn import Drawn
from frontrank.lab.measures import ideal_mass_curve, mass_curve, random_mass_curve
from frontrank.papers.claims import Claim, lead
from frontrank.papers.draws import Draws, at, at_shares, heads, middle
from frontrank.papers.reproduction import IDEAL, RANDOM, PaperExperiment, Plot, Row, paper_table, skip
from frontrank.specs import write
from frontrank.web.importance import importance
from frontrank.web.web import Web

QUERIES = ("machine learning database", "computer admission")
MIN_HOLDING = 20  # pages that hold a word of the query
HEADING = "Importance IS, a query of several words"
USEFUL = "URLs whose anchor or URL is similar to the driving query should be visited early (the paper's conclusion)."
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5)
JUDGED = 0.05
NAME = "IS'"
NEEDS = ("urls", "anchors", "texts")


def several_words(draws: Draws, pagerank: str) -> PaperExperiment:
    """The ordering by IS', or why there is none."""
    web = draws.web
    missing = [need for need in NEEDS if not web.has(need)]
    if missing:
        return skip(HEADING, f"{web.name} does not know its {', '.join(missing)}", [USEFUL])
    draws.tell("importance IS")
    query = next((query for query in QUERIES if _holding(web, query) >= MIN_HOLDING), None)
    if query is None:
        asked = " or ".join(repr(query) for query in QUERIES)
        return skip(HEADING, f"fewer than {MIN_HOLDING} pages of {web.name} hold a word of {asked}", [USEFUL])
    metric = _metric(query)
    specs = {
        "bfs": "bfs",
        "pagerank": pagerank,
        "one word": write("similarity", {"topic": query.split()[0]}),
        NAME: write("similarity", {"query": query}),
    }
    curves = draws.collect(specs, lambda run: mass_curve(run.trace, web, metric))
    values = {name: at(drawn, JUDGED) for name, drawn in curves.items()}
    rows: list[Row] = [[name, specs[name], *at_shares(drawn, SHARES)] for name, drawn in curves.items()]
    how = (
        f"IS of a page is the cosine of its TF-IDF vector and that of the query {query!r}, IDF of the whole web; "
        f"{_holding(web, query):,} pages have some. The ordering knows the IDF of the pages fetched so far alone. Shown is IS "
        f"gathered, as a share of the most that as many pages can have. One word: the second similarity crawler, with the "
        f"first word of the query as its topic."
    )
    lines = {IDEAL: ideal_mass_curve(web, metric), **middle(curves), RANDOM: random_mass_curve(web, metric)}
    table = paper_table(["ordering", "as run", *heads(SHARES)], rows)
    plot = Plot(lines, "IS gathered, of the ideal")
    return PaperExperiment(HEADING, how, list(specs.values()), plot, table, [_useful(values)])


def _metric(query: str) -> str:
    return write("similarity", {"query": query})


def _holding(web: Web, query: str) -> int:
    try:
        return int(np.count_nonzero(importance(web, _metric(query))))
    except InputError:  # no page has a word of it
        return 0


def _useful(values: dict[str, Drawn]) -> Claim:
    compared = {name: values[name] for name in ("bfs", "pagerank", NAME)}
    rule = (
        f"after {JUDGED:.0%} of the web the ordering by IS' has gathered more IS than bfs and pagerank, by more than the spread"
    )
    return lead(USEFUL, rule, compared, NAME)
