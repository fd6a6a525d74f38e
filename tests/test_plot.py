"""Curves as pictures, and runs as text: from the library and from the command."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import frontrank as fr
from frontrank.lab.compare import Runs
from tests.commands import run_command


@pytest.fixture(scope="module")
def runs() -> Runs:
    web = fr.load("synthetic:pages=1000,text=0,seed=2")
    return fr.compare(web, ["dfs", "bfs", "surf"], budget=0.4, source="synthetic:pages=1000,text=0,seed=2")


@pytest.fixture(scope="module")
def saved(runs: Runs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plot")
    runs.save(folder / "runs")
    for ending in ("csv", "parquet"):
        runs.save_table(folder / f"runs.{ending}")
    return folder


def test_the_picture_has_a_line_for_each_run_and_ends_at_30_percent(runs: Runs, tmp_path: Path) -> None:
    axes = runs.plot(tmp_path / "curve.svg").axes[0]
    assert ET.parse(tmp_path / "curve.svg").getroot().tag.endswith("svg")
    assert axes.get_xlim() == (0.0, 0.3)
    drawn = {line.get_label(): line.get_ydata()[-1] for line in axes.get_lines()}
    assert drawn == {run.spec: pytest.approx(runs.curves()[run.spec].y[-1]) for run in runs}


@pytest.mark.parametrize("name", ["runs", "runs/curves.parquet", "runs.parquet", "runs.csv"])
@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_what_simulate_wrote_can_be_drawn(saved: Path, tmp_path: Path, name: str, ending: str) -> None:
    done = run_command("plot", saved / name, f"curve.{ending}", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"picture: curve.{ending}\n", "")
    assert (tmp_path / f"curve.{ending}").stat().st_size > 1_000


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["nowhere", "c.svg"], "nowhere: no curves; give a directory"),
        (["runs.json", "c.svg"], "must be a file name that ends in .parquet or .csv"),
        (["empty.csv", "c.svg"], "empty.csv: no curves"),
        (["bad.parquet", "c.svg"], "bad.parquet: cannot be read"),
        (["runs.csv", "c.gif"], "must be a file name that ends in .svg, .png or .pdf"),
        (["runs.csv", "no/such/c.svg"], "no/such"),
    ],
)
def test_what_cannot_be_drawn_is_refused(saved: Path, args: list[str], says: str) -> None:
    for name, text in (("runs.json", "{}"), ("empty.csv", ""), ("bad.parquet", "PAR1")):
        (saved / name).write_text(text)
    done = run_command("plot", *args, cwd=saved)
    assert done.returncode == 2 and says in done.stderr
    assert not list(saved.glob("c.*"))


def test_runs_print_as_a_table(runs: Runs) -> None:
    assert str(runs) == str(runs.frame())
    assert "hot@10%" in str(runs) and "surf" in str(runs)
    assert repr(runs.frame()).startswith("<Frame of 3 rows: ordering, hot@5%")
