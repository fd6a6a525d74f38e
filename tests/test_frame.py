"""Figures as frames: sorted, marked, and the same in every form they are handed out in."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import frontrank as fr
from frontrank.errors import FrontrankError, InputError
from frontrank.lab.compare import Runs
from frontrank.lab.frame import Frame, FrameColumn
from frontrank.lab.repeats import repeat
from frontrank.lab.text_table import cell_width, drawn
from frontrank.system.lazy import Lazy

cells = st.one_of(st.none(), st.floats(0, 1))


@st.composite
def frames(draw: st.DrawFn) -> Frame:
    rows = draw(st.integers(1, 6))
    names = draw(st.lists(st.text(min_size=1, max_size=60), min_size=rows, max_size=rows))
    figures = []
    for at in range(draw(st.integers(1, 12))):
        values = draw(st.lists(cells, min_size=rows, max_size=rows))
        group = draw(st.sampled_from(["", "hot pages found after", "of the best possible mass after"]))
        figures.append(FrameColumn(f"m{at}", values, "share", draw(st.sampled_from(["", "more", "less"])), group, f"{at}%"))
    return Frame((FrameColumn("name", names), *figures), "a title " * draw(st.integers(0, 30)), ("a note",))


@given(frames(), st.integers(30, 200), st.booleans())
def test_no_line_is_wider_than_the_terminal_and_no_figure_is_lost(frame: Frame, width: int, bold: bool) -> None:
    lines = [line.replace("\x1b[1m", "").replace("\x1b[0m", "") for line in drawn(frame, width, bold)]
    assert max(map(cell_width, lines)) <= width
    shown = sorted(word.rstrip("*") for line in lines for word in line.split() if word.rstrip("*").endswith("%"))
    for column in frame.figures:
        for row, value in enumerate(column.values):
            if value is not None:
                assert column.text(row) in shown


@given(frames())
def test_in_a_pipe_every_row_is_one_line(frame: Frame) -> None:
    lines = drawn(frame, None, bold=False)
    assert len(lines) == bool(frame.title) + 1 + len(frame) + 1 + any(frame.best(column) for column in frame.figures)


@given(frames())
def test_sorting_moves_rows_whole_and_puts_the_best_first(frame: Frame) -> None:
    by = frame.columns[1]
    made = frame.sorted(by.name)
    assert sorted(map(repr, made.records())) == sorted(map(repr, frame.records()))
    held = [value for value in made[by.name].values if value is not None]
    assert held == sorted(held, reverse=by.better != "less")
    assert all(value is None for value in made[by.name].values[len(held) :])


def test_the_best_is_what_people_see_as_best_among_those_that_compete() -> None:
    frame = Frame(
        (FrameColumn("n", "abcd"), FrameColumn("m", [0.90, 0.5004, 0.5001, 0.1], "share", "more")), outside=frozenset({0})
    )
    assert frame.best(frame["m"]) == {1, 2}
    assert Frame((FrameColumn("n", "ab"), FrameColumn("m", [0.5, 0.5], "share", "more"))).best(frame["m"]) != {0, 1}
    alike = FrameColumn("m", [0.5, 0.5], "share", "more")
    assert Frame((FrameColumn("n", "ab"), alike)).best(alike) == frozenset()


def test_a_name_from_elsewhere_cannot_steer_the_terminal() -> None:
    lines = drawn(Frame((FrameColumn("url", ["http://a/\x1b[2J\x07"]), FrameColumn("score", [1.0], "number"))), 80, bold=False)
    assert "\x1b" not in "".join(lines) and "\x07" not in "".join(lines)


# --- results ---


@pytest.fixture(scope="module")
def runs() -> Runs:
    web = fr.load("synthetic:pages=1000,seed=3")
    return fr.compare(web, ["dfs", "fpr:m=100", "oracle", "rankmass:until=0.5"], seeds="random:10@1", budget=0.3)


def test_runs_are_the_same_in_json_csv_pandas_polars_and_arrow(runs: Runs) -> None:
    figures = runs.json()["policies"]
    ordered = sorted(figures, key=lambda spec: -(figures[spec]["hot"]["0.1"] or -1.0))
    table, data, polar = runs.to_arrow(), runs.to_pandas(), runs.to_polars()
    rows = list(csv.DictReader(io.StringIO(runs.frame().csv())))
    assert (
        [row["ordering"] for row in rows]
        == table["ordering"].to_pylist()
        == list(data["ordering"])
        == polar["ordering"].to_list()
    )
    assert table["ordering"].to_pylist() == ordered
    for at, spec in enumerate(ordered):
        value = figures[spec]["mass"]["0.15"]
        assert table["mass@15%"][at].as_py() == polar["mass@15%"][at] == value
        assert data["mass@15%"][at] == value or value is None
        assert rows[at]["mass@15%"] == ("" if value is None else repr(value))
    assert str(table.schema.field("fetched").type) == str(data["fetched"].dtype) == "int64"
    assert str(data["mass@50%"].dtype) == "float64" and data["mass@50%"].isna().all(), "nobody came so far: still numbers"


def test_anything_that_reads_arrow_streams_reads_results(runs: Runs) -> None:
    import polars
    import pyarrow

    assert pyarrow.table(runs).equals(runs.to_arrow())
    done = repeat(runs.web, ["bfs", "fpr"], 2, "random:10@4", budget=0.3)
    assert polars.DataFrame(done).equals(done.to_polars())


def test_notebooks_show_names_escaped_and_the_best_bold(runs: Runs) -> None:
    shown = runs._repr_html_()
    assert "<b>" in shown and "<caption>synthetic:pages=1000,seed=3: 1,000 pages" in shown
    assert "<b>100.0%</b>" not in shown  # the oracle does not compete
    evil = Frame((FrameColumn("<script>", ["<img src=x>"]), FrameColumn("m", [1.0], "number")), "a & b")
    assert "<img" not in evil.html() and "<script>" not in evil.html() and "a &amp; b" in evil.html()


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".json"])
def test_tables_are_written_by_the_ending_of_the_file(runs: Runs, ending: str, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / f"figures{ending}"
    runs.save_table(path)
    if ending == ".csv":
        assert path.read_text() == runs.frame().csv()
    elif ending == ".json":
        assert json.loads(path.read_text()) == runs.json()
    else:
        assert pq.read_table(path).equals(runs.to_arrow())


def test_an_unknown_ending_is_refused(runs: Runs, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"figures\.xlsx: must be a file name that ends in \.csv, \.parquet or \.json"):
        runs.save_table(tmp_path / "figures.xlsx")


def test_what_is_not_installed_is_named_with_the_line_that_installs_it(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontrank.errors.find_spec", lambda name: None)
    monkeypatch.setattr("frontrank.lab.frame.pl", Lazy("polars"))  # that no other test has used
    with pytest.raises(FrontrankError, match="this needs polars, which is not installed; run: pip install polars"):
        runs.to_polars()


def test_csv_needs_no_further_package(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['pyarrow'] = None; from frontrank.cli import main;"
        "main('simulate synthetic:pages=300,seed=1 --ordering bfs --out figures.csv --order-out order.csv'.split())"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "figures.csv").read_text().startswith("ordering,hot@5%,hot@10%,")
    order = (tmp_path / "order.csv").read_text().splitlines()
    assert order[0] == "id,url" and len(order) == 301


# --- repeats ---


def test_repeats_are_means_and_spreads_of_single_comparisons() -> None:
    from statistics import fmean, stdev

    web = fr.load("synthetic:pages=1000,seed=3")
    done = repeat(web, ["bfs", "oracle"], 3, "random:10@4", budget=0.3)
    assert done.seeds == ("random:10@4", "random:10@5", "random:10@6")
    single = [fr.compare(web, ["bfs"], seeds, 0.3).json()["policies"]["bfs"] for seeds in done.seeds]
    told = done.json()
    assert told["repeats"] == 3
    for measure in ("hot", "mass"):
        values = [one[measure]["0.2"] for one in single]
        assert told["policies"]["bfs"][measure]["0.2"] == pytest.approx(fmean(values))
        assert told["policies"]["bfs"]["spread"][measure]["0.2"] == pytest.approx(stdev(values))
    assert told["policies"]["bfs"]["hot"]["0.5"] is None
    frame = done.frame()
    assert frame["ordering"].values == ["oracle", "bfs"] and frame.outside == {0}
    assert "hot@10% sd" in frame.csv().splitlines()[0]


def test_seeds_that_cannot_be_drawn_again_cannot_be_repeated() -> None:
    web = fr.load("synthetic:pages=300,seed=3")
    for seeds, says in ((None, "the web's own seeds"), ("top:5", "'top:5'"), ([1, 2], r"\[1, 2\]")):
        with pytest.raises(InputError, match=f"{says} cannot be drawn again; to repeat, give random seeds"):
            repeat(web, ["bfs"], 3, seeds)
    with pytest.raises(InputError, match="repeats must be at least 2, got 1"):
        repeat(web, ["bfs"], 1, "random:3")
