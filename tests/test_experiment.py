"""One experiment: its table of values, and measures that are added to it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import frontrank as fr
from frontrank.errors import SpecError
from frontrank.lab.compare import prepared
from frontrank.lab.experiment import Key, draws_of
from frontrank.lab.figures_table import figures_of
from frontrank.lab.measures import REGISTRY, SHARES, Curve, Figure, Judged, Measure, hot, register
from frontrank.lab.repeats import repeat
from frontrank.simulation.plan import Plan, Stop
from frontrank.simulation.simulate import simulate
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web


@pytest.fixture(scope="module")
def web() -> Web:
    return fr.load("synthetic:pages=300,text=0,seed=3")


DIAGONAL = Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
FETCHED = Measure(
    "arrived",
    "of the web fetched after",
    lambda run, judged: {share: min(share, run.trace.fetched / judged.web.pages) for share in SHARES},
    figure=Figure(
        "Pages fetched",
        "fetched",
        lambda run, judged: DIAGONAL,
        lambda judged, until: DIAGONAL,
        lambda judged, until: DIAGONAL,
        lambda judged, importance: "",
    ),
)


@pytest.fixture
def registered() -> Iterator[Measure]:
    yield register(FETCHED)
    del REGISTRY["arrived"]


def test_a_measure_that_is_registered_appears_in_json_tables_repeats_reports_and_what_is_saved(
    web: Web, registered: Measure, tmp_path: object
) -> None:
    from pathlib import Path

    import pyarrow.parquet as pq

    runs = fr.compare(web, ["bfs", "opic"], "random:3@1", 0.2, source="synthetic:pages=300,text=0,seed=3")
    assert runs.json()["policies"]["bfs"]["arrived"]["0.1"] == 0.1
    assert runs.frame()["arrived@10%"].values == [0.1, 0.1]
    assert repeat(web, ["bfs"], 2, "random:3", 0.2).json()["policies"]["bfs"]["spread"]["arrived"]["0.1"] == 0.0
    folder = Path(str(tmp_path)) / "saved"
    runs.save(folder)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Pages fetched" in page and "of the web fetched after" in page
    assert "arrived" in pq.read_table(folder / "curves.parquet")["measure"].to_pylist()


def test_two_measures_have_two_names() -> None:
    with pytest.raises(SpecError, match="the name 'hot' is taken by another measure"):
        register(Measure("hot"))


def test_the_table_has_a_value_for_each_ordering_draw_measure_and_share(web: Web) -> None:
    draws = draws_of(web, "random:3@5", 2)
    experiment = prepared(web, Plan.of(["bfs", "opic"], Stop(0.3)), draws, 1)
    values = experiment.values(lambda runs: figures_of(Judged(web, "pagerank", runs)))
    for at, seeds in enumerate(draws):
        trace = simulate(web, fr.parse("opic"), find_seeds(web, seeds), 0.3).trace
        for share, value in hot(trace, web).items():
            assert values.draws[at]["opic"][Key("hot", share)] == value
    assert values.drawn("opic", Key("hot", 0.5)) is None  # no crawl came so far
    rows = values.to_pandas()
    assert list(rows.columns) == ["web", "ordering", "measure", "by", "draw", "share", "value"]
    assert len(rows) == 2 * 2 * (2 * len(SHARES) + 2)
    assert set(rows.draw) == {1, 2} and set(rows.ordering) == {"bfs", "opic"}


def test_no_draw_is_begun_when_there_are_enough(web: Web) -> None:
    said: list[str] = []
    experiment = prepared(web, Plan.of("bfs", Stop(10)), draws_of(web, "random:2", 9), 1)
    values = experiment.values(
        lambda runs: figures_of(Judged(web, "pagerank", runs)),
        lambda text, done, total: said.append(text),
        lambda done: done == 3,
    )
    assert len(values.draws) == 3 and said[0] == "draw 1 of 9: bfs" and not any("draw 4" in text for text in said)
