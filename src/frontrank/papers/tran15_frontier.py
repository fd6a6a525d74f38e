"""tran15, Tables 1 to 3 and Fig. 3: what waits behind the pages that were seen, and which omega finds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.lab.drawn import Drawn
from frontrank.lab.measures import Curve
from frontrank.lab.scenario import ranker_of
from frontrank.lab.tune import SHARES
from frontrank.papers.claims import Claim, ahead, all_hold, decided, listing, one_holds
from frontrank.papers.draws import Drawing
from frontrank.papers.impact_ratio import behind, links_within
from frontrank.papers.reproduction import PaperExperiment, Plot, Row, paper_table
from frontrank.papers.tran15_scenario import GAMMAS, LEARNED_WALK, Ordered

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


def frontier(of: Drawing[Ordered]) -> PaperExperiment:
    """Tables 1 to 3: what is fetched, what waits, and how the two are linked."""
    done, counted = ("clicked", "clicks") if of.first.scenario.judged_by == "clicks" else ("viewed", "views")
    r = f"r_{counted[0]}"
    rows: list[Row] = []
    ratio: dict[str, Drawn] = {}
    for label in (done, f"not {done}"):
        for when, enriched in (("links", False), ("links and virtual edges", True)):
            found = [behind(o.scenario.view, _partition(o)[label == done], o.scenario.impact, enriched) for o in of.all]
            ratio[f"{label}, {when}"] = Drawn(tuple(one.ratio for one in found))
            one = found[0]
            rows.append([label, when, one.pages, one.linked, f"{one.impact:,.0f}", ratio[f"{label}, {when}"]])
    view, impact = of.first.scenario.view, of.first.scenario.impact
    inside, outside = links_within(view)
    waits = ~view.fetched
    seen = int(_partition(of.first)[True].sum())
    how = (
        f"In the first draw {len(view.source):,} pages are fetched (D), {int(waits.sum()):,} wait (F); {inside:,} links lead "
        f"from D to D, {outside:,} from D to F. {done.capitalize()}: {seen:,} of D and {int((impact[waits] > 0).sum()):,} of "
        f"F, which is {float((impact[waits] > 0).mean()):.1%} of it (the paper: {PAPER_SHARE[counted]}). {r}: the {counted} of "
        "all pages of F that some pages of D lead to, for each of these pages of D; over all draws."
    )
    header = ["pages of D", "lead on by", "how many", "pages of F they lead to", f"{counted} of these", f"{r}, all draws"]
    return PaperExperiment(
        f"Frontier impact ratio, {of.name}", how, (), None, paper_table(header, rows), _claims(of, ratio, done, counted)
    )


def _claims(of: Drawing[Ordered], ratio: Mapping[str, Drawn], done: str, counted: str) -> list[Claim]:
    view, impact, r = of.first.scenario.view, of.first.scenario.impact, f"r_{counted[0]}"
    waits = ~view.fetched
    few = behind(view, _partition(of.first)[False], impact)
    before, after, others = (ratio[k] for k in (f"{done}, links", f"{done}, links and virtual edges", f"not {done}, links"))
    return [
        decided(
            VIEWED,
            f"{r} of {done} pages is ahead of {MUCH:g} times that of the others",
            listing({done: before, f"not {done}": others}),
            ahead(before, others.scaled(MUCH)),
            f"the {few.pages:,} pages of D that are not {done} lead to {few.impact / max(1.0, impact[waits].sum()):.0%} of the "
            f"{counted} of F, so each has much",
        ),
        decided(
            ENRICHED,
            f"{r} of {done} pages after enrichment is ahead of {RAISED:g} times that before",
            listing({"links": before, "with virtual edges": after}),
            ahead(after, before.scaled(RAISED)),
            "what stands beside these pages is mostly linked from them too",
        ),
    ]


def _partition(of: Ordered) -> dict[bool, Array]:
    """The fetched pages with impact, and those without."""
    view = of.scenario.view
    assert view.impact is not None
    seen = view.fetched & (view.impact > 0)
    return {True: seen, False: view.fetched & ~seen}


def omega(of: Drawing[Ordered]) -> PaperExperiment:
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
    rows: list[Row] = [[f"{x:g}", *(column[x] for column in columns.values())] for x in omegas]
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
    shares, counted = " and ".join(f"{share:.0%}" for share in SHARES), of.first.scenario.judged_by
    how = (
        f"Share of the ideal {counted} among the first {shares} of the frontier, the mean, as the .632+ bootstrap expects "
        "it from the 65% of the frontier whose impact is told, and as it is on the rest. Omega 1: links alone, which is RW; 0: "
        "virtual edges alone. Gamma 1 favours pages with many links (the paper's for Wikipedia), 0 does not (its crawl). "
        f"Tuned, draw by draw, omega / gamma: {_pairs((o.tuning[0].omega, o.tuning[0].gamma) for o in of.all)}. What rw-eg "
        f"learns from the crawl itself: {_pairs(_auto(o) for o in of.all)}."
    )
    plot = Plot(curves, "share of the ideal impact", "omega")
    header = ["omega", *(f"{LABELS[name]}, gamma {g:g}" for name, g in columns)]
    return PaperExperiment(f"Omega, {of.name}", how, (), plot, paper_table(header, rows), [claim])


LABELS = {"estimate": ".632+", "test": "test"}


def _setting(of: Ordered, omega: float, gamma: float, name: str) -> float:
    found = next(one for one in of.tuning if (one.omega, one.gamma) == (omega, gamma))
    return float(getattr(found, name) or 0.0)


def _auto(of: Ordered) -> tuple[float, float]:
    """What the walk that learns has chosen."""
    note = of.scenario.view.notes[f"rw-eg {ranker_of(of.specs[LEARNED_WALK])}"]
    return note["omega"], note["gamma"]


def _pairs(chosen: Iterable[tuple[float, float]]) -> str:
    return ", ".join(f"{omega:g} / {gamma:g}" for omega, gamma in chosen)
