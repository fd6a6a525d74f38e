"""What a program may give a live crawl by mistake: refused in a sentence before anything is written, and the crawl goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from frontrank import Crawl, FrontrankError
from frontrank.crawl.status import events

A, B = "http://a.example/", "http://b.example/"

BY_NUMBER: dict[str, Callable[[Crawl, int], Any]] = {
    "prioritise": lambda crawl, page: crawl.prioritise(page, 5),
    "seed_pages": lambda crawl, page: crawl.seed_pages([page]),
    "fetched_page": lambda crawl, page: crawl.fetched_page(page, [], any_state=True),
    "fetched_page, links": lambda crawl, page: crawl.fetched_page(0, [page]),
    "failed_page": lambda crawl, page: crawl.failed_page(page),
    "give_back": lambda crawl, page: crawl.give_back([page]),
    "drop_page": lambda crawl, page: crawl.drop_page(page),
    "report_page": lambda crawl, page: crawl.report_page(page),
    "report_failure": lambda crawl, page: crawl.report_failure(page, "gone"),
    "schedule_page": lambda crawl, page: crawl.schedule_page(page, 10.0),
    "forget_pages": lambda crawl, page: crawl.forget_pages([page]),
}
WRONG: dict[str, Callable[[Crawl], Any]] = {
    "now": lambda crawl: crawl.take(now=float("nan")),
    "a priority": lambda crawl: crawl.prioritise(0, float("nan")),  # type: ignore[arg-type]
    "impact": lambda crawl: crawl.fetched(A, impact=float("nan")),
    "impact of a page": lambda crawl: crawl.fetched(A, impact=-1.0),
    "a seed": lambda crawl: crawl.seed([3]),  # type: ignore[list-item]
    "a seed must be a URL": lambda crawl: crawl.seed([""]),
    "a link": lambda crawl: crawl.fetched(A, links=[3]),  # type: ignore[list-item]
    "a link must be a URL": lambda crawl: crawl.fetched(A, links=[("x", "y", "z")]),  # type: ignore[list-item]
    "a URL and its anchor": lambda crawl: crawl.fetched(A, links=[(B, None)]),  # type: ignore[list-item]
}


def begun(folder: Path | None = None) -> Crawl:
    """A is leased, B waits."""
    crawl = Crawl("fpr", folder)
    crawl.seed([A, B], now=1.0)
    assert crawl.take(now=1.0) == [A]
    return crawl


def goes_on(crawl: Crawl, folder: Path) -> None:
    """Nothing has happened but its beginning, and it is read again as it is."""
    assert [event["kind"] for event in events(folder)] == ["seed", "seed", "take"]
    crawl.fetched(A, links=[B, "http://c.example/"])
    assert crawl.take(5) == [B, "http://c.example/"]
    crawl.close()
    with Crawl.recover(folder) as again:
        assert (again.known, again.fetched_count, again.waiting) == (3, 1, 2)


@pytest.mark.parametrize("page", [-1, 2, 10_000_000, 2**70, 0.5, float("nan"), None, "0"])
@pytest.mark.parametrize("call", BY_NUMBER)
def test_the_number_of_an_unknown_page_is_refused(tmp_path: Path, call: str, page: Any) -> None:
    """``find`` says -1 of a page that is not known; written by kernels, it would be another page's memory."""
    crawl = begun(tmp_path / "crawl")
    with pytest.raises(FrontrankError, match=f"one of the 2 that this crawl knows, got {page!r}"):
        BY_NUMBER[call](crawl, page)
    goes_on(crawl, tmp_path / "crawl")


@pytest.mark.parametrize("named", WRONG)
def test_what_is_no_url_time_or_number_is_refused(tmp_path: Path, named: str) -> None:
    crawl = begun(tmp_path / "crawl")
    with pytest.raises(FrontrankError, match=named):
        WRONG[named](crawl)
    goes_on(crawl, tmp_path / "crawl")


def test_one_link_may_be_given_as_it_is() -> None:
    """As one seed may: a text is not taken for its letters."""
    crawl = begun()
    crawl.fetched(A, links="http://c.example/")
    assert crawl.known == 3 and crawl.find("http://c.example/") == 2
