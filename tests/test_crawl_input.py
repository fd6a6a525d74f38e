"""What a program may give a live crawl by mistake: refused in a sentence before anything is written, and the crawl goes on."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from frontrank import Crawl, FrontrankError, Politeness
from frontrank.crawl.control import Control
from frontrank.crawl.inspect import Inspector
from frontrank.crawl.journal import Journal
from frontrank.crawl.queues import Queues
from frontrank.crawl.status import events
from frontrank.errors import InputError
from frontrank.web.view import Workload

A, B = "http://a.example/", "http://b.example/"

BY_NUMBER: dict[str, Callable[[Crawl, int], Any]] = {
    "prioritise": lambda crawl, page: crawl.control.prioritise(page, 5),
    "seed": lambda crawl, page: crawl.seed([page]),
    "fetched": lambda crawl, page: crawl.fetched(page, [], any_state=True),
    "fetched, links": lambda crawl, page: crawl.fetched(0, [page]),
    "failed": lambda crawl, page: crawl.failed(page),
    "give_back": lambda crawl, page: crawl.give_back([page]),
    "drop": lambda crawl, page: crawl.drop(page),
    "report_page": lambda crawl, page: crawl.queues.report(page),
    "report_failure": lambda crawl, page: crawl.queues.report_failure(page, "gone"),
    "schedule_page": lambda crawl, page: crawl.queues.schedule(page, 10.0),
    "forget_pages": lambda crawl, page: crawl.queues.forget([page]),
}
BY_URL_TOO = {"seed", "fetched", "fetched, links", "failed", "drop"}  # text is a URL
WRONG: dict[str, Callable[[Crawl], Any]] = {
    "now": lambda crawl: crawl.take(now=float("nan")),
    "a priority": lambda crawl: crawl.control.prioritise(0, float("nan")),  # type: ignore[arg-type]
    "a page must be tried again after": lambda crawl: crawl.failed(A, retry=True, retry_s=float("nan")),
    "impact": lambda crawl: crawl.fetched(A, impact=float("nan")),
    "impact of a page": lambda crawl: crawl.fetched(A, impact=-1.0),
    "a seed": lambda crawl: crawl.seed([3.5]),  # type: ignore[list-item]
    "a seed must be a URL": lambda crawl: crawl.seed([""]),
    "a seed must be a URL, got b.http": lambda crawl: crawl.seed(b"http://c.example/"),
    "a link": lambda crawl: crawl.fetched(A, links=[3.5]),  # type: ignore[list-item]
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
        assert (again.inspect.known, again.inspect.fetched_count, again.inspect.waiting) == (3, 1, 2)


NO_PAGES = (-1, 2, 10_000_000, 2**70, 0.5, float("nan"), None, "0", True)


@pytest.mark.parametrize(
    ("call", "page"),
    [(call, page) for call in BY_NUMBER for page in NO_PAGES if not (isinstance(page, str) and call in BY_URL_TOO)],
)
def test_the_number_of_an_unknown_page_is_refused(tmp_path: Path, call: str, page: Any) -> None:
    """``lookup`` says -1 of a page that is not known; written by kernels, it would be another page's memory."""
    crawl = begun(tmp_path / "crawl")
    with pytest.raises(FrontrankError, match=f"(one of the 2 that this crawl knows|must be .*), got {page!r}"):
        BY_NUMBER[call](crawl, page)
    goes_on(crawl, tmp_path / "crawl")


@pytest.mark.parametrize("named", WRONG)
def test_what_is_no_url_time_or_number_is_refused(tmp_path: Path, named: str) -> None:
    crawl = begun(tmp_path / "crawl")
    with pytest.raises(FrontrankError, match=named):
        WRONG[named](crawl)
    goes_on(crawl, tmp_path / "crawl")


NO_TIMES = (float("nan"), float("inf"), -float("inf"), None, "12:00", 10**400, np.complex64(1.0))


@pytest.mark.parametrize("time", NO_TIMES, ids=lambda time: f"{time!s:.5}")
def test_a_clock_that_tells_no_time_is_refused_before_there_is_a_directory_and_later(tmp_path: Path, time: Any) -> None:
    said = "a clock must return a time in seconds, got"
    with pytest.raises(FrontrankError, match=said):
        Crawl("fpr", tmp_path / "new", clock=lambda: time)
    assert not (tmp_path / "new").exists()
    told: list[Any] = [1.0]
    crawl = Crawl("fpr", tmp_path / "crawl", clock=lambda: told[-1])
    crawl.seed([A, B])
    assert crawl.take() == [A]
    told.append(time)
    for call in (crawl.take, crawl.control.pause, lambda: crawl.fetched(A, again_after=1.0), lambda: crawl.drop(B)):
        with pytest.raises(FrontrankError, match=said):
            call()
    with pytest.raises(FrontrankError, match="now must be a time in seconds, got"):
        crawl.take(now=time if time is not None else "noon")  # type: ignore[arg-type]
    told.append(2.0)
    goes_on(crawl, tmp_path / "crawl")
    with pytest.raises(FrontrankError, match=said):
        Crawl.recover(tmp_path / "crawl", clock=lambda: time)
    Crawl.recover(tmp_path / "crawl").close()


@pytest.mark.parametrize("clock", [None, 3.0, "now"])
def test_a_clock_is_a_function(tmp_path: Path, clock: Any) -> None:
    for make in (partial(Crawl, "fpr"), Crawl.recover):
        with pytest.raises(FrontrankError, match="clock must be a function, got"):
            make(tmp_path / "new", clock=clock)
    assert not (tmp_path / "new").exists()


NUMBERS = (True, -1, 0, 1.5, float("nan"), float("inf"), -1e308, 2**70, np.int64(1), np.float32(2.5))
TEXTS = ("", "x", "\ud800", B, "a.example", b"x")
MANY: tuple[Any, ...] = ([], [None], ["x", 1], {}, {"x": 1}, np.array([1, 0]), np.array([0.5]))
ANYTHING: tuple[Any, ...] = (None, object(), *NUMBERS, *TEXTS, *MANY)
USUAL: dict[str, Any] = {  # what is given for parameters that must be there
    **dict.fromkeys(("url", "urls"), B),
    **dict.fromkeys(("page", "n", "by", "priority", "value"), 1),
    "pages": [1],
    "targets": [1],
    **dict.fromkeys(("name", "host", "group", "pattern", "key", "reason", "title", "text"), "a.example"),
    **dict.fromkeys(("seconds", "until", "at", "time"), 5.0),
    "politeness": Politeness(),
    "rows": [],
    "payloads": {},
    "share": None,
    "workload": Workload(("a",), np.ones(1)),
}
INNER = {"abandon", "close", "together"}
PARTS = {"": Crawl, "control.": Control, "inspect.": Inspector, "queues.": Queues}
VERBS = [
    part + name
    for part, owner in PARTS.items()
    for name, _ in inspect.getmembers(owner, inspect.isfunction)
    if name[0] != "_" and name not in INNER
]


@pytest.mark.parametrize("verb", VERBS)
def test_whatever_a_call_is_given_the_crawl_can_be_read_again(tmp_path: Path, verb: str) -> None:
    """It is taken, or refused in a sentence; and what the log keeps of it is what happened."""
    crawl = begun(tmp_path / "crawl")
    parameters = list(inspect.signature(attrgetter(verb)(crawl)).parameters.values())
    values = [one for one in parameters if not isinstance(one.default, bool)]  # anything is true or false
    for parameter, value in itertools.product(values, ANYTHING):
        given = {one.name: USUAL[one.name] for one in parameters if one.default is inspect.Parameter.empty}
        with suppress(FrontrankError):
            attrgetter(verb)(crawl)(**{**given, parameter.name: value})
        assert not crawl.inspect.broken, (parameter.name, value)
    shown = [
        crawl.inspect.next(100),
        crawl.inspect.hosts(),
        sorted(crawl.state.leases),
        crawl.state.progress.order,
        crawl.state.progress.paused,
        crawl.notes,
    ]
    crawl.close()
    with Crawl.recover(tmp_path / "crawl", keep_leases=True, clock=lambda: 0.0) as again:
        assert [
            again.inspect.next(100),
            again.inspect.hosts(),
            sorted(again.state.leases),
            again.state.progress.order,
            again.state.progress.paused,
            again.notes,
        ] == shown


OPTIONS = ("policy", "politeness", "capacity", "workload", "impact_by", "revisit_share", "queue_by", "notes", "group", "sync_s")


@pytest.mark.parametrize("option", [*OPTIONS, "ranking"])
def test_whatever_a_crawl_is_made_with_it_is_made_or_refused_in_a_sentence(option: str, tmp_path: Path) -> None:
    for number, value in enumerate(ANYTHING):
        with suppress(FrontrankError), Crawl(**{"policy": "bfs", "path": tmp_path / str(number), option: value}) as crawl:
            crawl.seed(A)
            assert crawl.take() == [A]
    for path in sorted(tmp_path.iterdir()):
        with Crawl.recover(path) as again:
            assert again.inspect.known == 1
        for value in ANYTHING if option in inspect.signature(Crawl.recover).parameters else ():
            with suppress(FrontrankError):
                Crawl.recover(path, **{option: value}).close()


@pytest.mark.parametrize("option", ["path", "truth", "clock", "frontier"])
def test_what_is_no_path_or_function_is_refused_in_a_sentence(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Crawl("bfs", "there").close()
    for value in ANYTHING:
        with suppress(FrontrankError):
            Crawl(**{"policy": "bfs", option: value}).close()
        with suppress(FrontrankError):
            Crawl.recover(**{"path": "there", option: value}).close()


def test_a_file_is_no_place_for_a_crawl(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(InputError, match=r"notes\.txt: is a file; give a new directory for the crawl"):
        Crawl("bfs", file)
    with pytest.raises(InputError, match=r"notes\.txt: not a crawl \(it is a file\)"):
        Crawl.recover(file)
    assert file.read_text() == "mine"


@pytest.mark.parametrize("verb", ["seed", "take", "fetched", "failed", "discover", "intern"])
def test_a_closed_crawl_does_not_change(tmp_path: Path, verb: str) -> None:
    crawl = begun(tmp_path / "crawl")
    crawl.close()
    before = (crawl.inspect.known, crawl.inspect.waiting, crawl.inspect.leased, crawl.inspect.fetched_count, crawl.next_at())
    given: Any = {"take": 1, "discover": ["http://new.example/"], "fetched": A, "failed": A}.get(verb, "http://new.example/")
    with pytest.raises(FrontrankError, match="this crawl is closed; recover it to continue"):
        getattr(crawl, verb)(given)
    assert (
        crawl.inspect.known,
        crawl.inspect.waiting,
        crawl.inspect.leased,
        crawl.inspect.fetched_count,
        crawl.next_at(),
    ) == before


def test_an_event_that_fails_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the reason: a log that cannot be read again would lose the whole crawl."""
    crawl = begun(tmp_path / "crawl")
    monkeypatch.setattr(crawl.state.frontier, "limit", lambda *given, **limits: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        crawl.control.limit_host("a.example", delay_s=1.0)
    with pytest.raises(FrontrankError, match=r"the event 'host' failed .*; recover the crawl to continue without it"):
        crawl.fetched(A)
    crawl.close()
    goes_on_from(Crawl.recover(tmp_path / "crawl"))


def test_a_crawl_whose_disk_refused_can_be_recovered_in_the_same_process(tmp_path: Path) -> None:
    """Its transaction must not lock the file on."""
    crawl = begun(tmp_path / "crawl")
    assert isinstance(crawl.state.log, Journal)
    crawl.state.log.db.execute("PRAGMA max_page_count = 1")  # as if the disk were full
    with pytest.raises(FrontrankError, match=r"the trace cannot be written \(.*full\)"):
        crawl.discover([f"http://c.example/{n}" for n in range(10_000)])
    crawl.close()
    goes_on_from(Crawl.recover(tmp_path / "crawl"))


def goes_on_from(crawl: Crawl) -> None:
    with crawl:
        assert crawl.take() == [A]
        crawl.fetched(A, links=[B])
        assert crawl.inspect.fetched_count == 1


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    """SQLite keeps them as their bytes: such a crawl could not be recovered."""
    crawl = begun(tmp_path / "crawl")
    whole: Any = np.int64
    number: Any = np.float32
    links: Any = np.array([1])
    crawl.fetched(whole(0), links, status=whole(200), now=number(2.0), where=("f", whole(1), whole(2)))
    for page in crawl.queues.pages():
        crawl.control.prioritise(page, whole(5))
        crawl.queues.schedule(page, np.float64(9.0))
    crawl.control.limit_host("a.example", budget=whole(5), delay_s=number(1.5))
    crawl.close()
    assert [event["links"] for event in events(tmp_path / "crawl") if event["kind"] == "fetched"] == [1]
    with Crawl.recover(tmp_path / "crawl") as again:
        assert (again.inspect.fetched_count, again.inspect.waiting) == (1, 2)
        assert next(row for row in again.inspect.hosts() if row["host"] == "a.example")["delay"] == 1.5


def test_one_link_may_be_given_as_it_is() -> None:
    """As one seed may: a text is not taken for its letters."""
    crawl = begun()
    crawl.fetched(A, links="http://c.example/")
    assert crawl.inspect.known == 3 and crawl.lookup("http://c.example/") == 2


@pytest.mark.parametrize(
    ("queries", "frequency", "says"),
    [
        ("bees", [1.0], "queries must be a list of texts, got 'bees'"),
        ([3], [1.0], "queries must be a list of texts"),
        (("bees", "ants"), [1.0], "a number from 0 for each of 2 queries"),
        (("bees",), [-1.0], "a number from 0 for each of 1 queries"),
        (("bees",), ["often"], "a number from 0 for each of 1 queries, got .'often'"),
    ],
)
def test_queries_have_a_frequency_each(queries: Any, frequency: Any, says: str) -> None:
    """With one too few, every ranking of a crawl failed, and its pages stayed as they were."""
    with pytest.raises(InputError, match=says):
        Workload(queries, frequency)


def test_queries_and_frequencies_may_be_lists(tmp_path: Path) -> None:
    with Crawl("q-overlap", tmp_path / "crawl", workload=Workload(["bees", "ants"], [1, 2])) as crawl:  # type: ignore[arg-type]
        crawl.seed([A])
    with Crawl.recover(tmp_path / "crawl") as again:
        assert again.take() == [A]


@pytest.mark.parametrize("pages", [[[]], [[0], [0, 0]], np.zeros((1, 1), int)])
def test_pages_in_nested_lists_are_refused(tmp_path: Path, pages: Any) -> None:
    crawl = begun(tmp_path / "c")
    with pytest.raises(InputError, match="pages must be a flat list of numbers of pages, got"):
        crawl.give_back(pages)
    goes_on(crawl, tmp_path / "c")


@pytest.mark.parametrize("spec", ["pagerank:every=7", "rw:every=7", "rw-eg:every=7"])
def test_an_empty_crawl_has_nothing_to_rank(caplog: pytest.LogCaptureFixture, spec: str) -> None:
    crawl = Crawl(spec)
    crawl.control.rescore()
    assert crawl.take() == [] and caplog.messages == []
