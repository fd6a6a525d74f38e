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
from frontrank.search.divided import halves, load_divided, same
from frontrank.web.view import Workload

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
