"""What an ordering needs and a live crawl may not have: asked once, before anything is written."""

from __future__ import annotations

from frontrank.errors import InputError
from frontrank.orderings.policy import Policy


def check_asked(policy: Policy) -> None:
    """Refuse queries where nothing goes by them."""
    if not policy.needs() & {"queries", "impact"}:
        raise InputError(
            f"this crawl was started without queries, and {policy.spec()} does not use any; resume it with an ordering that "
            f"does (crawl --resume DIR --ordering q-overlap --queries FILE --rescore)"
        )


def check_live(policy: Policy, *, queries: bool = False, truth: bool = False, impact: bool = True) -> None:
    """Refuse an ordering that would run, but in an order of no meaning.

    Said is what there will be: queries of searchers; the true importance of pages; what pages are worth to searchers, which
    whoever drives a crawl may tell at any time (``Crawl.fetched``, ``crawl.control.impact``), and an engine makes of queries.
    """
    needs = policy.needs()
    if "queries" in needs and not queries:
        raise InputError(
            f"{policy.spec()} is driven by queries and none are given; give a workload (--queries FILE), or another ordering"
        )
    if "truth" in needs and not truth:
        raise InputError(
            f"{policy.spec()} needs the true importance of every page, which only a simulation knows; use it with "
            f"frontrank simulate, tell Crawl(truth=...) in Python, or crawl with another ordering, such as fpr"
        )
    if "impact" in needs and not (impact or queries):
        raise InputError(
            f"{policy.spec()} needs clicks or views of fetched pages, which a crawl does not see; give a query log with "
            f"--queries FILE, or crawl with an ordering that needs links alone, such as fpr or pagerank"
        )
