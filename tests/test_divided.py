"""A query log divided: what drives an ordering is not what judges it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from frontrank.errors import InputError, SpecError
from frontrank.lab.scenario import build_scenario, own_queries
from frontrank.search.divided import halves, load_divided, same
from frontrank.web.dates import AskedOn, SeenOn
from frontrank.web.view import Workload
from frontrank.web.web import Web

DATED = "date,query,frequency\n2024-05-01,bees,3\n2024-05-02,wasps,1\n2024-05-03,bees,2\n2024-05-03,honey,2\n"


def asked(workload: Workload) -> dict[str, float]:
    return dict(zip(workload.queries, workload.frequency.tolist(), strict=True))


@given(st.dictionaries(st.text("abc", min_size=1), st.integers(1, 60) | st.floats(0.1, 9.0), min_size=1), st.integers(0, 5))
def test_halves_add_up_to_the_log_and_neither_holds_a_query_that_was_not_asked(log: dict[str, float], draw: int) -> None:
    workload = Workload(tuple(log), np.array(list(log.values()), np.float64))
    try:
        cut = halves(workload, draw)
    except InputError:  # all tosses fell to one side
        reject()
    sides = [asked(side) for side in (cut.driving, cut.judging)]
    assert all(frequency > 0 for side in sides for frequency in side.values())
    for query, frequency in log.items():
        assert sum(side.get(query, 0.0) for side in sides) == pytest.approx(frequency)
    assert set().union(*sides) == set(log)


def test_halves_are_halves_and_another_draw_is_another_cut() -> None:
    log = Workload(tuple(f"q{i}" for i in range(2000)), np.ones(2000))
    one, other = halves(log), halves(log, 1)
    assert 900 < len(one.driving) < 1100
    assert not set(one.driving.queries) & set(one.judging.queries)
    assert one.driving.queries == halves(log).driving.queries != other.driving.queries == one.again(1).driving.queries


def test_the_same_queries_stay_the_same_in_every_draw() -> None:
    cut = same(Workload(("a",), np.ones(1)))
    assert cut.driving is cut.judging is cut.again(3).driving


@pytest.mark.parametrize(("how", "past"), [("dates", {"bees": 3.0, "wasps": 1.0}), ("dates:2024-05-02", {"bees": 3.0})])
def test_what_was_asked_before_a_day_drives(tmp_path: Path, how: str, past: dict[str, float]) -> None:
    (tmp_path / "log.csv").write_text(DATED, encoding="utf-8")
    cut = load_divided(tmp_path / "log.csv", how)
    assert asked(cut.driving) == past
    assert asked(cut.whole) == {"bees": 5.0, "wasps": 1.0, "honey": 2.0}
    assert sum(asked(cut.judging).values()) == 8.0 - sum(past.values())
    assert cut.asked_for == how


def test_a_row_without_a_frequency_is_a_query_asked_once_and_parquet_holds_dates_too(tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text("query\tdate\nbees\t2024-05-01T10:00\nbees\t2024-05-01T11:00\n", encoding="utf-8")
    table = pa.table({"query": ["bees", "bees"], "date": pa.array([0, 3600], pa.timestamp("s"))})
    pq.write_table(table, tmp_path / "log.parquet")
    for name in ("log.tsv", "log.parquet"):
        cut = load_divided(tmp_path / name, "dates")
        assert asked(cut.driving) == asked(cut.judging) == {"bees": 1.0}


@pytest.mark.parametrize(
    ("text", "how", "says"),
    [
        ("bees\nwasps\n", "dates", "contains no dates to split it by; give a log with a column date"),
        (DATED, "dates:2024-06-01", "nothing was asked from 2024-06-01"),
        (DATED, "dates:2024-01-01", "nothing was asked before 2024-01-01"),
        (DATED, "dates:soon", "date must be like 2024-05-31"),
        (DATED.replace("2024-05-02", "yesterday"), "dates", "line 3: date must be like 2024-05-31"),
        ("query,date\na,2024-05-01\nb,2024-05-01\n", "dates", "all of it is of one date"),
        ("bees\n", "half", "too small to be cut in halves"),
    ],
)
def test_a_log_that_cannot_be_divided_is_told_in_one_sentence(tmp_path: Path, text: str, how: str, says: str) -> None:
    (tmp_path / "log.csv" if "," in text else tmp_path / "log.txt").write_text(text, encoding="utf-8")
    (path,) = tmp_path.iterdir()
    with pytest.raises(InputError, match=says) as error:
        load_divided(path, how)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("how", ["thirds", "half:2", "dates:", "same:1"])
def test_an_unknown_division_is_named(tmp_path: Path, how: str) -> None:
    with pytest.raises(SpecError, match="must be half, same, dates or dates:DAY"):
        load_divided(tmp_path / "log.txt", how)


# Webs that bring their own log -------------------------------------------------------------------------------------------
def searched(dates: bool = True) -> Web:
    """A star of 40 pages; pages with an odd number are clicked on in the past, those with an even one later."""
    pages = np.arange(40)
    time = np.where(pages % 2 == 1, 0.0, 86_400.0)
    asked_on = AskedOn(np.array([0, 1], np.int32), np.array([0.0, 86_400.0]), np.array([3.0, 3.0]))
    urls = [f"http://a/{'odd' if page % 2 else 'even'}/{page}" for page in pages]
    return Web.from_edges(
        np.zeros(39, int),
        pages[1:],
        40,
        urls=urls,
        texts=urls,
        clicks=np.ones(40),
        queries=Workload(("odd", "even"), np.array([3.0, 3.0]), asked_on if dates else None),
        seen_on=SeenOn(pages.astype(np.int32), time, None, np.ones(40)) if dates else None,
    )


def test_clicks_that_have_dates_are_cut_with_the_queries() -> None:
    web = searched()
    queries = own_queries(web, "dates", 0, ())
    assert queries is not None and (asked(queries.driving), asked(queries.judging)) == ({"odd": 3.0}, {"even": 3.0})
    scene = build_scenario(web, queries, "bfs:0.5", [0])
    assert scene.judged_by == "clicks"
    odd = scene.view.pages % 2 == 1
    assert scene.view.impact is not None
    assert scene.view.impact.tolist() == (odd & scene.view.fetched).astype(float).tolist()
    assert scene.impact.tolist() == (~odd).astype(float).tolist()


def test_the_queries_of_a_web_are_used_where_they_are_asked_for_alone() -> None:
    web = searched(dates=False)
    assert own_queries(web, "half", 0, ["rw", "pagerank"]) is None
    assert own_queries(web, "half", 0, ["q-overlap"]) is not None
    with pytest.raises(InputError, match="its queries have no dates"):
        own_queries(web, "dates", 0, ["rw"])
    with pytest.raises(InputError, match="knows no dates of searches"):
        own_queries(Web.from_edges([0], [1], 2), "dates:2024-05-01", 0, ["rw"])
