"""tran15: random walks weighted by search impact, with graph enrichment, against orderings that know less.

A crawl by bfs from a start page has fetched 30% of the web, and in a second scene 60%; each ranker orders what waits then.
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
from functools import partial

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.lab.drawn import Drawn
from frontrank.lab.evaluate import ranker_of
from frontrank.lab.measures import Curve
from frontrank.lab.measures.impact import FRONTIER_SHARES, click_through, impact_shares
from frontrank.lab.tune import SHARES
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
from frontrank.papers.draws import DRAWS, TRIED, at, heads, heights, middle, random_pages
from frontrank.papers.impact_ratio import behind, links_within
from frontrank.papers.made_queries import lines, searched, told_of, unsearchable
from frontrank.papers.parts import reached, start_page
from frontrank.papers.reproduction import RANDOM, Experiment, Plot, Reproduction, Tell, Value, describe, paper_table, skip
from frontrank.papers.tran15_learned import LEARNED, learning, promised
from frontrank.papers.tran15_scene import (
    GAMMAS,
    LEARNED_WALK,
    LEARNERS,
    SHOWN,
    UNTIL,
    WAITS,
    Drawing,
    Ordered,
    heights_table,
    in_paper,
    more,
    ordered,
)
from frontrank.search.divided import Divided, halves
from frontrank.simulation.side_by_side import Progress
from frontrank.web.view import Workload
from frontrank.web.web import Web

PAPER = (
    "Giang Tran, Ata Turk, B. Barla Cambazoglu, Wolfgang Nejdl: A Random Walk Model for Optimization of Search Impact in Web "
    "Frontier Ranking. SIGIR 2015."
)
CRAWLED = (0.3, 0.6)
SAME_REACH = 0.95  # of what the first start page reaches: the others must reach nearly as much
FIRST = 0.01  # of the frontier: "at first"
MUCH = 2.0  # "significantly higher"
RAISED = 1.05  # by enrichment; the paper: 1.07 and 1.09

PAPER_SHARE = {"views": "35.5% and 0.8%", "clicks": "27.4% and 0.4%"}
VIEWED = (
    "Viewed (clicked) pages that are fetched lead to far more impact each than others: r_v 13.68 against 3.15, and 137.99 "
    "against 0.06 (r_c 5.76 against 1.07, and 162.17 against 0.03)."
)
ENRICHED = (
    "Virtual edges raise what viewed (clicked) pages lead to: r_v from 13.68 to 14.67, and from 137.99 to 150.59 (r_c from "
    "5.76 to 6.17, and from 162.17 to 207.63)."
)
OMEGA = "The best omega mixes both kinds of links: 0.2 and 0.8 for views, 0.1 and 0.9 for clicks."
WALK = "RW finds considerably more impact than PageRank."
EDGES = "RW-EG finds more impact than RW."
LATER = "RW-EG is the best of all once 6% of the frontier is fetched (Wikipedia)."
DRIES = "Q-Overlap is ahead of RW-EG at first (below 5% of the frontier of Wikipedia), then dries up and falls behind."
CHANCE = "A random order is the worst of all."
CLICKS = "Q-Overlap and Q-Hybrid pick pages of the highest click-through rate (Wikipedia)."
RANK = "PageRank is the best in PageRank per page fetched."
LOW = "Pages picked by Q-Overlap have a lower PageRank than those of RW, RW-EG, Q-Hybrid and PageRank."
ALL = (VIEWED, ENRICHED, OMEGA, WALK, EDGES, LATER, DRIES, CHANCE, CLICKS, RANK, LOW, LEARNED)


def reproduce(web: Web, workload: Workload | Divided | None, progress: Progress, impact: str | None = None) -> Reproduction:
    steps = 7 * len(CRAWLED)
    done: list[Experiment] = []

    def tell(text: str) -> None:
        progress(f"tran15: {text}", min(len(done), steps - 1), steps)

    searchers, draws = "", 0
    given = workload is not None
    known = web.views is not None or web.clicks is not None
    if reason := "" if known and not given else unsearchable(web):
        done += [skip(f"{share:.0%} fetched", reason, ALL) for share in CRAWLED]
    else:
        log = halves(workload) if isinstance(workload, Workload) else workload
        if not given and not known:
            web, asked = searched(web)
            log, impact = halves(asked), impact or "views"
            searchers = (
                "Views, clicks and queries are made, for want of a query log: some pages are in fashion, and fashion spreads "
                f"along links and to pages linked beside them. Impact is {impact}. {log.told()}"
            )
        elif log is None:
            searchers = f"Impact is the web's own: {impact or ('views' if web.views is not None else 'clicks')}."
        else:
            own = "" if impact is None or (impact == "views" and web.views is None) else f"Impact is the web's own: {impact}. "
            searchers = f"{own}{told_of(log.whole, given)} {log.told()}"
        starts = _starts(web)
        draws = len(starts)
        for share in CRAWLED:
            done += _scene(web, log, starts, share, impact, tell)
    setting = (
        f"Crawls by bfs have fetched {' or '.join(f'{s:.0%}' for s in CRAWLED)} of the web. {draws} draws: the first starts at "
        f"the web's start page, the others at random pages that reach nearly as much; each halves the log and the frontier "
        f"anew. {searchers} {READING} The paper's webs: Wikipedia, 477 thousand pages fetched and 127 thousand waiting, and a "
        "crawl of 74 and 24 million, with the queries and clicks of their time."
    )
    return Reproduction("tran15", f"tran15 on {web.name}", PAPER, describe(web), setting, done)


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
) -> list[Experiment]:
    name = f"{share:.0%} fetched"
    reach = starts[0][1]
    if round(share * web.pages) >= reach:
        reason = f"the start page reaches {reach:,} pages, which is not more than {share:.0%} of the web: nothing would wait"
        return [skip(name, reason, ALL)]
    made = [
        ordered(web, log, start, share, draw, impact, partial(_told_in, tell, f"{name}, draw {draw + 1}"))
        for draw, (start, found) in enumerate(starts)
        if round(share * web.pages) < found
    ]
    of = Drawing(name, made)
    return [experiment(of) for experiment in (frontier, omega, impacts, clicked, standing, learning, promised)]


def _told_in(tell: Tell, where: str, text: str) -> None:
    tell(f"{where}: {text}")


def frontier(of: Drawing) -> Experiment:
    """Tables 1 to 3: what is fetched, what waits, and how the two are linked."""
    done, counted = ("clicked", "clicks") if of.judged_by == "clicks" else ("viewed", "views")
    r = f"r_{counted[0]}"
    rows: list[list[Value | Drawn]] = []
    ratio: dict[str, Drawn] = {}
    for label in (done, f"not {done}"):
        for when, enriched in (("links", False), ("links and virtual edges", True)):
            found = [behind(o.scene.view, _partition(o)[label == done], o.scene.impact, enriched) for o in of.all]
            ratio[f"{label}, {when}"] = Drawn(tuple(one.ratio for one in found))
            one = found[0]
            rows.append([label, when, one.pages, one.linked, f"{one.impact:,.0f}", ratio[f"{label}, {when}"]])
    view, impact = of.first.scene.view, of.first.scene.impact
    inside, outside = links_within(view)
    waits = ~view.fetched
    seen = int(_partition(of.first)[True].sum())
    how = (
        f"In the first draw {len(view.source):,} pages are fetched (D), {int(waits.sum()):,} wait (F); {inside:,} links lead "
        f"from D to D, {outside:,} from D to F. {done.capitalize()}: {seen:,} of D and {int((impact[waits] > 0).sum()):,} of "
        f"F, which is {float((impact[waits] > 0).mean()):.1%} of it (the paper: {PAPER_SHARE[counted]}). {r}: the {counted} of "
        "all pages of F that some pages of D lead to, for each of these pages of D; over all draws."
    )
    few = behind(view, _partition(of.first)[False], impact)
    before, after, others = (ratio[k] for k in (f"{done}, links", f"{done}, links and virtual edges", f"not {done}, links"))
    much, raised = (Drawn(tuple(times * v for v in one.values)) for one, times in ((others, MUCH), (before, RAISED)))
    claims = [
        decided(
            VIEWED,
            f"{r} of {done} pages is ahead of {MUCH:g} times that of the others",
            listing({done: before, f"not {done}": others}),
            ahead(before, much),
            f"the {few.pages:,} pages of D that are not {done} lead to {few.impact / max(1.0, impact[waits].sum()):.0%} of the "
            f"{counted} of F, so each has much",
        ),
        decided(
            ENRICHED,
            f"{r} of {done} pages after enrichment is ahead of {RAISED:g} times that before",
            listing({"links": before, "with virtual edges": after}),
            ahead(after, raised),
            "what stands beside these pages is mostly linked from them too",
        ),
    ]
    header = ["pages of D", "lead on by", "how many", "pages of F they lead to", f"{counted} of these", f"{r}, all draws"]
    return Experiment(f"Frontier impact ratio, {of.name}", how, (), None, paper_table(header, rows), claims)


def _partition(of: Ordered) -> dict[bool, Array]:
    """The fetched pages with impact, and those without."""
    view = of.scene.view
    assert view.impact is not None
    seen = view.fetched & (view.impact > 0)
    return {True: seen, False: view.fetched & ~seen}


def omega(of: Drawing) -> Experiment:
    """Fig. 3."""
    omegas = sorted({one.omega for one in of.first.tuning})
    columns = {
        (name, gamma): {x: of.drawn(partial(_setting, omega=x, gamma=gamma, name=name)) for x in omegas}
        for name in ("estimate", "test")
        for gamma in GAMMAS
    }
    best, gamma = max(((x, g) for g in GAMMAS for x in omegas), key=lambda at_: columns["estimate", at_[1]][at_[0]].mean)
    estimate = columns["estimate", gamma]
    ends = (estimate[0.0], estimate[1.0])
    rows: list[list[Value | Drawn]] = [[f"{x:g}", *(column[x] for column in columns.values())] for x in omegas]
    x = np.array(omegas)
    curves = {
        f"{LABELS[name]}, gamma {g:g}": Curve(x, np.array([column[one].mean for one in omegas]))
        for (name, g), column in columns.items()
    }
    measured = f"gamma {gamma:g}: {listing({f'{best:g}': estimate[best], '0': ends[0], '1': ends[1]})}"
    claim = decided(
        OMEGA,
        "with the best gamma the mean estimate is highest for an omega between 0 and 1, where it is ahead of one of the ends",
        measured,
        all_hold([0 < best < 1, one_holds(ahead(estimate[best], end) for end in ends)]),
        f"the best is {best:g}" if best in (0.0, 1.0) else "the curve is flat",
    )
    shares = " and ".join(f"{share:.0%}" for share in SHARES)
    how = (
        f"Share of the ideal {of.judged_by} among the first {shares} of the frontier, the mean, as the .632+ bootstrap expects "
        "it from the 65% of the frontier whose impact is told, and as it is on the rest. Omega 1: links alone, which is RW; 0: "
        "virtual edges alone. Gamma 1 favours pages with many links (the paper's for Wikipedia), 0 does not (its crawl). "
        f"Tuned, draw by draw, omega / gamma: {_pairs((o.tuning[0].omega, o.tuning[0].gamma) for o in of.all)}. What rw-eg "
        f"learns from the crawl itself: {_pairs(_auto(o) for o in of.all)}."
    )
    plot = Plot(curves, "share of the ideal impact", "omega")
    header = ["omega", *(f"{LABELS[name]}, gamma {g:g}" for name, g in columns)]
    return Experiment(f"Omega, {of.name}", how, (), plot, paper_table(header, rows), [claim])


LABELS = {"estimate": ".632+", "test": "test"}


def _setting(of: Ordered, omega: float, gamma: float, name: str) -> float:
    found = next(one for one in of.tuning if (one.omega, one.gamma) == (omega, gamma))
    return float(getattr(found, name) or 0.0)


def _auto(of: Ordered) -> tuple[float, float]:
    """What the walk that learns has chosen."""
    note = of.scene.view.notes[f"rw-eg {ranker_of(of.specs[LEARNED_WALK])}"]
    return note["omega"], note["gamma"]


def _pairs(chosen: Iterable[tuple[float, float]]) -> str:
    return ", ".join(f"{omega:g} / {gamma:g}" for omega, gamma in chosen)


def impacts(of: Drawing) -> Experiment:
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
    how = (
        f"{of.judged_by.capitalize()} of the first pages over that of the ideal order, on the pages of the frontier that omega "
        f"was not tuned on ({len(of.first.trial.tested):,} in the first draw); {RANDOM} is the expectation. rw-eg: omega "
        "and gamma tuned on the other pages; learned: from the crawl itself; rw: gamma tuned alike. Not in the paper, and in "
        "no claim: the rows that say learned, gamma 0 and omega .3."
    )
    plot = Plot(middle(curves), "impact relative to the ideal", WAITS)
    return Experiment(f"Impact, {of.name}", how, _specs(of), plot, heights_table(curves), claims)


def _specs(of: Drawing) -> list[str]:
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


def clicked(of: Drawing) -> Experiment:
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
    rows: list[list[Value | Drawn]] = [[name, *map(str, by_share.values())] for name, by_share in drawn.items()]
    header = ["ordering", *heads(FRONTIER_SHARES)]
    how = "Clicks over views of each of the first pages of the frontier, the mean, over that of the pages that have most."
    return Experiment(heading, how, _specs(of), None, paper_table(header, rows), [claim])


def _rates(of: Ordered) -> dict[str, dict[float, float]]:
    trial = of.trial
    assert trial.clicks is not None and trial.views is not None
    rate = click_through(trial.clicks[trial.tested], trial.views[trial.tested])
    return {name: impact_shares(score[trial.tested], rate) for name, score in of.scores.items()}


def standing(of: Drawing) -> Experiment:
    """Fig. 7."""
    curves = of.curves(_standings)
    means = heights(curves, UNTIL)
    rule = f"in the mean up to {UNTIL:.0%} of the frontier"
    others = {name: value for name, value in in_paper(means).items() if name != RANDOM}
    claims = [lead(RANK, f"{rule} it is ahead of all others", others, "pagerank")]
    if "q-overlap" in means:
        higher = {name: means[name] for name in ("rw", "rw-eg", "q-hybrid", "pagerank")}
        held = {name: ahead(value, means["q-overlap"]) for name, value in higher.items()}
        claims.append(
            decided(
                LOW,
                f"{rule} all of these are ahead of it",
                listing({"q-overlap": means["q-overlap"], **higher}),
                all_hold(held.values()),
                f"not ahead of it: {failed(held)}; {NOT_KNOWN}",
            )
        )
    else:
        claims.append(untested(LOW, "no queries are known"))
    how = "PageRank of the first pages, in the whole web, over that of as many pages of the greatest PageRank."
    plot = Plot(middle(curves), "PageRank relative to the ideal", WAITS)
    return Experiment(f"PageRank per page, {of.name}", how, _specs(of), plot, heights_table(curves), claims)


def _standings(of: Ordered) -> dict[str, Curve]:
    tested = of.trial.tested
    return lines({name: score[tested] for name, score in of.scores.items()}, of.trial.pagerank[tested], SHOWN)
