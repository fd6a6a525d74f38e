"""tran15: random walks weighted by search impact, with graph enrichment, against orderings that know less.

A crawl by bfs from a start page has fetched 30% of the web, and in a second scenario 60%; each ranker orders what waits then.
Several draws: each starts from another page, halves the query log anew (one half drives, the other judges), and tells the
impact of another 65% of the frontier, on which omega is tuned (the paper's way); all orderings are compared on the rest. The
learned ones also as a live crawl would have them, from earlier moments of its own crawl and on the whole frontier.

Observed impact comes from searching the fetched pages alone, the truth about the frontier from searching all; or both are the
web's own views or clicks. A web with neither, without a query log, gets searchers that are made (``made_queries.searched``):
their fashion spreads along links, which is what the paper starts from.

The paper's data are revisions of Wikipedia and a sample of a large crawl with their search log.

Reference: Tran, Turk, Cambazoglu, Nejdl: A Random Walk Model for Optimization of Search Impact in Web Frontier Ranking,
SIGIR 2015.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from frontrank.lab.drawn import Drawn
from frontrank.lab.measures import Curve
from frontrank.lab.measures.impact import FRONTIER_SHARES, click_through, impact_shares
from frontrank.papers.claims import (
    NOT_KNOWN,
    READING,
    Claim,
    ahead,
    all_hold,
    because,
    decided,
    failed,
    lead,
    leads,
    listing,
    one_holds,
    untested,
)
from frontrank.papers.draws import DRAWS, TRIED, Drawing, at, heads, heights, middle, random_pages
from frontrank.papers.made_queries import lines, searched, told_of, unsearchable
from frontrank.papers.parts import reached, start_page
from frontrank.papers.reproduction import RANDOM, PaperExperiment, Plot, Reproduced, Row, Tell, paper_table, skip
from frontrank.papers.tran15_frontier import ENRICHED, OMEGA, VIEWED, frontier, omega
from frontrank.papers.tran15_learned import LEARNED, learning, promised
from frontrank.papers.tran15_scenario import (
    LEARNERS,
    SHOWN,
    UNTIL,
    WAITS,
    Ordered,
    heights_table,
    in_paper,
    more,
    ordered,
)
from frontrank.search.divided import Divided, halves
from frontrank.web.view import Workload
from frontrank.web.web import Web

PAPER = (
    "Giang Tran, Ata Turk, B. Barla Cambazoglu, Wolfgang Nejdl: A Random Walk Model for Optimization of Search Impact in Web "
    "Frontier Ranking. SIGIR 2015."
)
CRAWLED = (0.3, 0.6)
EXPERIMENTS = 7 * len(CRAWLED)
SAME_REACH = 0.95  # of what the first start page reaches: the others must reach nearly as much
FIRST = 0.01  # of the frontier: "at first"

WALK = "RW finds considerably more impact than PageRank."
EDGES = "RW-EG finds more impact than RW."
LATER = "RW-EG is the best of all once 6% of the frontier is fetched (Wikipedia)."
DRIES = "Q-Overlap is ahead of RW-EG at first (below 5% of the frontier of Wikipedia), then dries up and falls behind."
CHANCE = "A random order is the worst of all."
CLICKS = "Q-Overlap and Q-Hybrid pick pages of the highest click-through rate (Wikipedia)."
RANK = "PageRank is the best in PageRank per page fetched."
LOW = "Pages picked by Q-Overlap have a lower PageRank than those of RW, RW-EG, Q-Hybrid and PageRank."
ALL = (VIEWED, ENRICHED, OMEGA, WALK, EDGES, LATER, DRIES, CHANCE, CLICKS, RANK, LOW, LEARNED)


def reproduce(web: Web, tell: Tell, workload: Workload | Divided | None, impact: str | None) -> Reproduced:
    searchers, draws = "", 0
    experiments: Iterable[PaperExperiment]
    given = workload is not None
    known = web.views is not None or web.clicks is not None
    if reason := "" if known and not given else unsearchable(web):
        experiments = [skip(f"{share:.0%} fetched", reason, ALL) for share in CRAWLED]
    else:
        log = halves(workload) if isinstance(workload, Workload) else workload
        if not given and not known:
            web, asked = searched(web)
            log, impact = halves(asked), impact or "views"
            searchers = (
                "Views, clicks and queries are made, for want of a query log: some pages are in fashion, and fashion spreads "
                f"along links and to pages linked beside them. Impact is {impact}. {log.sentence()}"
            )
        elif log is None:
            searchers = f"Impact is the web's own: {impact or ('views' if web.views is not None else 'clicks')}."
        else:
            own = "" if impact is None or (impact == "views" and web.views is None) else f"Impact is the web's own: {impact}. "
            searchers = f"{own}{told_of(log.whole, given)} {log.sentence()}"
        starts = _starts(web)
        draws = len(starts)
        experiments = (one for share in CRAWLED for one in _scene(web, log, starts, share, impact, tell))
    setting = (
        f"Crawls by bfs have fetched {' or '.join(f'{s:.0%}' for s in CRAWLED)} of the web. {draws} draws: the first starts at "
        f"the web's start page, the others at random pages that reach nearly as much; each halves the log and the frontier "
        f"anew. {searchers} {READING} The paper's webs: Wikipedia, 477 thousand pages fetched and 127 thousand waiting, and a "
        "crawl of 74 and 24 million, with the queries and clicks of their time."
    )
    return setting, experiments


def _starts(web: Web) -> list[tuple[int, int]]:
    """Where the crawls start, and how many pages each reaches."""
    first = start_page(web)
    reach = len(reached(web, first))
    starts = [(first, reach)]
    for _, pages in zip(range(TRIED), random_pages(web, 1), strict=False):
        page = int(pages[0])
        if len(starts) == DRAWS:
            break
        if page not in dict(starts) and (found := len(reached(web, page))) >= SAME_REACH * reach:
            starts.append((page, found))
    return starts


def _scene(
    web: Web, log: Divided | None, starts: Sequence[tuple[int, int]], share: float, impact: str | None, tell: Tell
) -> list[PaperExperiment]:
    name = f"{share:.0%} fetched"
    reach = starts[0][1]
    if round(share * web.pages) >= reach:
        reason = f"the start page reaches {reach:,} pages, which is not more than {share:.0%} of the web: nothing would wait"
        return [skip(name, reason, ALL)]
    drawn = [
        ordered(web, log, start, share, draw, impact=impact, tell=_numbered(tell, f"{name}, draw {draw + 1}"))
        for draw, (start, found) in enumerate(starts)
        if round(share * web.pages) < found
    ]
    of = Drawing(name, drawn)
    return [experiment(of) for experiment in (frontier, omega, impacts, clicked, standing, learning, promised)]


def _numbered(tell: Tell, where: str) -> Tell:
    return lambda text: tell(f"{where}: {text}")


def impacts(of: Drawing[Ordered]) -> PaperExperiment:
    """Figs. 4 and 5."""
    curves = {name: drawn for name, drawn in of.curves(Ordered.impact).items() if name not in LEARNERS}
    means = in_paper(heights(curves, UNTIL))
    late = {name: at(drawn, UNTIL) for name, drawn in in_paper(curves).items()}
    by_chance = {RANDOM: means[RANDOM]}
    beats = {name: ahead(value, means[RANDOM]) for name, value in means.items() if name != RANDOM}
    claims = [
        more(WALK, means, "rw", "pagerank"),
        more(EDGES, means, "rw-eg", "rw"),
        lead(LATER, f"at {UNTIL:.0%} of the frontier it is ahead of all others", late, "rw-eg"),
        _dries(curves),
        decided(
            CHANCE,
            f"in the mean up to {UNTIL:.0%} of the frontier all others are ahead of it",
            listing({**by_chance, **{name: value for name, value in means.items() if name != RANDOM}}),
            all_hold(beats.values()),
            f"not ahead of it: {failed(beats)}; {NOT_KNOWN}",
        ),
    ]
    counted = of.first.scenario.judged_by
    how = (
        f"{counted.capitalize()} of the first pages over that of the ideal order, on the pages of the frontier that omega "
        f"was not tuned on ({len(of.first.trial.tested):,} in the first draw); {RANDOM} is the expectation. rw-eg: omega "
        "and gamma tuned on the other pages; learned: from the crawl itself; rw: gamma tuned alike. Not in the paper, and in "
        "no claim: the rows that say learned, gamma 0 and omega .3."
    )
    plot = Plot(middle(curves), "impact relative to the ideal", WAITS)
    return PaperExperiment(f"Impact, {of.name}", how, _specs(of), plot, heights_table(curves), claims)


def _specs(of: Drawing[Ordered]) -> list[str]:
    return [*dict.fromkeys(of.first.specs.values())]


def _dries(curves: Mapping[str, Sequence[Curve]]) -> Claim:
    if "q-overlap" not in curves:
        return untested(DRIES, "no queries are known")
    first, late = ({one: at(curves[one], share) for one in ("q-overlap", "rw-eg")} for share in (FIRST, UNTIL))
    early, behind_late = ahead(first["q-overlap"], first["rw-eg"]), ahead(late["rw-eg"], late["q-overlap"])
    fact = "it does not fall behind" if early else "it is not ahead at first"
    return decided(
        DRIES,
        f"it is ahead at {FIRST:.0%} of the frontier, and RW-EG at {UNTIL:.0%}",
        f"at {FIRST:.0%} {listing(first)}; at {UNTIL:.0%} {listing(late)}",
        all_hold([early, behind_late]),
        f"{fact}; {because(late, 'rw-eg') if early else because(first, 'q-overlap')}",
    )


def clicked(of: Drawing[Ordered]) -> PaperExperiment:
    """Fig. 6."""
    heading = f"Click-through rate, {of.name}"
    trial = of.first.trial
    if trial.clicks is None or trial.views is None or "q-overlap" not in of.first.scores:
        lacks = "clicks" if trial.clicks is None else "views" if trial.views is None else "queries"
        return skip(heading, f"{trial.web.name} does not know its {lacks}", [CLICKS])
    rates = [_rates(one) for one in of.all]
    drawn = {name: {share: Drawn(tuple(rate[name][share] for rate in rates)) for share in FRONTIER_SHARES} for name in rates[0]}
    late = {name: by_share[UNTIL] for name, by_share in in_paper(drawn).items()}
    driven = ("q-overlap", "q-hybrid")
    others = {name: value for name, value in late.items() if name not in driven}
    claim = decided(
        CLICKS,
        f"at {UNTIL:.0%} of the frontier one of the two is ahead of all others",
        listing(late),
        one_holds(leads({**others, name: late[name]}, name) for name in driven),
        because({**others, "q-overlap": late["q-overlap"]}, "q-overlap"),
    )
    rows: list[Row] = [[name, *map(str, by_share.values())] for name, by_share in drawn.items()]
    header = ["ordering", *heads(FRONTIER_SHARES)]
    how = "Clicks over views of each of the first pages of the frontier, the mean, over that of the pages that have most."
    return PaperExperiment(heading, how, _specs(of), None, paper_table(header, rows), [claim])


def _rates(of: Ordered) -> dict[str, dict[float, float]]:
    trial = of.trial
    assert trial.clicks is not None and trial.views is not None
    rate = click_through(trial.clicks[trial.tested], trial.views[trial.tested])
    return {name: impact_shares(score[trial.tested], rate) for name, score in of.scores.items()}


def standing(of: Drawing[Ordered]) -> PaperExperiment:
    """Fig. 7."""
    curves = of.curves(_standings)
    means = heights(curves, UNTIL)
    rule = f"in the mean up to {UNTIL:.0%} of the frontier"
    others = {name: value for name, value in in_paper(means).items() if name != RANDOM}
    claims = [lead(RANK, f"{rule} it is ahead of all others", others, "pagerank")]
    if "q-overlap" in means:
        higher = {name: means[name] for name in ("rw", "rw-eg", "q-hybrid", "pagerank")}
        verdicts = {name: ahead(value, means["q-overlap"]) for name, value in higher.items()}
        claims.append(
            decided(
                LOW,
                f"{rule} all of these are ahead of it",
                listing({"q-overlap": means["q-overlap"], **higher}),
                all_hold(verdicts.values()),
                f"not ahead of it: {failed(verdicts)}; {NOT_KNOWN}",
            )
        )
    else:
        claims.append(untested(LOW, "no queries are known"))
    how = "PageRank of the first pages, in the whole web, over that of as many pages of the greatest PageRank."
    plot = Plot(middle(curves), "PageRank relative to the ideal", WAITS)
    return PaperExperiment(f"PageRank per page, {of.name}", how, _specs(of), plot, heights_table(curves), claims)


def _standings(of: Ordered) -> dict[str, Curve]:
    tested = of.trial.tested
    return lines({name: score[tested] for name, score in of.scores.items()}, of.trial.pagerank[tested], SHOWN)
