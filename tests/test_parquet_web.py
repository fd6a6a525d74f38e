"""Webs in Parquet: there and back, in parts, out of order, and every way of being broken."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frontrank.cli.convert import command
from frontrank.errors import InputError, SourceError
from frontrank.sources import convert, load, parquet_rows, parquet_tables, parquet_web, save
from frontrank.system import capacity
from frontrank.web.web import Web
from tests.test_loading import assert_same

quietly = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def webs(draw: st.DrawFn) -> Web:
    pages = draw(st.integers(1, 30))
    page = st.integers(0, pages - 1)
    links = draw(st.lists(st.tuples(page, page), max_size=60))
    columns: dict[str, Any] = {}
    if draw(st.booleans()):
        columns["urls"] = [f"http://h{draw(st.integers(0, 3))}/é{i}" for i in range(pages)]
    if draw(st.booleans()):
        names = draw(st.lists(st.sampled_from(["a", "b", "", "é.example"]), min_size=pages, max_size=pages))
        columns["host_names"] = list(dict.fromkeys(names))
        columns["hosts"] = np.array([columns["host_names"].index(name) for name in names], np.int32)
    elif "urls" in columns:
        names = [url.split("/")[2] for url in columns["urls"]]
        columns["host_names"] = list(dict.fromkeys(names))
        columns["hosts"] = np.array([columns["host_names"].index(name) for name in names], np.int32)
    for impact in ("views", "clicks"):
        if draw(st.booleans()):
            columns[impact] = np.array(draw(st.lists(st.integers(0, 9), min_size=pages, max_size=pages)), np.float64)
    return Web.from_edges([a for a, _ in links], [b for _, b in links], pages, **columns)


def scattered(folder: Path, parts: int, seed: int) -> None:
    """The same tables as Spark may leave them: pages in any order, both in several parts, with a marker."""
    draw = np.random.default_rng(seed)
    links, pages = pq.read_table(folder / "links.parquet"), pq.read_table(folder / "pages.parquet")
    pages = pages.take(pa.array(draw.permutation(pages.num_rows)))
    for name, table in (("links", links), ("pages", pages)):
        (folder / f"{name}.parquet").unlink()
        (folder / name).mkdir()
        (folder / name / "_SUCCESS").touch()
        step = -(-max(table.num_rows, 1) // parts)
        for i in range(parts):
            pq.write_table(table.slice(i * step, step), folder / name / f"part-{i:05}.parquet", row_group_size=3)


@given(webs(), st.integers(1, 4), st.integers(1, 20), st.integers(1, 20))
@quietly
def test_a_web_goes_there_and_back_whole_or_in_scattered_parts(
    tmp_path_factory: Any, web: Web, parts: int, batch: int, span: int
) -> None:
    folder = tmp_path_factory.mktemp("webs")
    save(web, folder / "web")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_web, "BATCH", batch)
        patch.setattr(parquet_rows, "BATCH", batch)
        patch.setattr(parquet_tables, "READ", batch)
        patch.setattr(parquet_rows, "SPAN", span)
        convert(folder / "web", folder / "w.parquet/")
        assert sorted(path.name for path in (folder / "w.parquet").iterdir()) == ["links.parquet", "pages.parquet"]
        assert_same(web, load(folder / "w.parquet"))
        assert_same(web, convert(folder / "w.parquet", folder / "one.web"))
        scattered(folder / "w.parquet", parts, seed=parts)
        assert_same(web, load(folder / "w.parquet"))
        assert_same(web, convert(folder / "w.parquet", folder / "parts.web"))


def tables(folder: Path, links: dict[str, Any], pages: dict[str, Any]) -> Path:
    folder.mkdir()
    pq.write_table(pa.table(links), folder / "links.parquet")
    pq.write_table(pa.table(pages), folder / "pages.parquet")
    return folder


def test_what_is_written_is_the_form_that_is_documented(tmp_path: Path) -> None:
    columns: dict[str, Any] = {"urls": ["http://a/", "http://a/2"], "views": np.array([2.0, 0.0]), "clicks": np.array([0.5, 1])}
    columns |= {"hosts": np.zeros(2, np.int32), "host_names": ["a"], "titles": ["A", "B"], "anchors": ["to B"]}
    save(Web.from_edges([0], [1], 2, **columns), tmp_path / "web")
    said = CliRunner().invoke(command, [f"{tmp_path}/web", f"{tmp_path}/w.parquet"]).stdout.splitlines()
    assert said[0].endswith("w.parquet: 2 pages, 1 links, hosts, urls, titles, views, clicks")
    assert said[1] == "  not written, as this format cannot hold them: anchors"
    links, pages = (pq.read_table(tmp_path / "w.parquet" / f"{name}.parquet") for name in ("links", "pages"))
    assert links.schema == pa.schema({"source": pa.int64(), "target": pa.int64()})
    expected = {"page": pa.int64(), "url": pa.string(), "host": pa.string(), "views": pa.int64(), "clicks": pa.float64()}
    assert pages.schema == pa.schema({**expected, "title": pa.string()})
    assert pages.to_pylist()[0] == {"page": 0, "url": "http://a/", "host": "a", "views": 2, "clicks": 0.5, "title": "A"}


@pytest.mark.parametrize(
    ("links", "pages", "message"),
    [
        (
            {"source": [0], "target": [2]},
            {"page": [0, 1]},
            r"links\.parquet, row 1: page 2 is not in the pages table, which has 0 to 1",
        ),
        ({"source": [0, -1], "target": [1, 1]}, {"page": [0, 1]}, r"links\.parquet, row 2: page -1 is not in the pages table"),
        (
            {"source": [0], "target": [1]},
            {"page": [0, 2]},
            r"pages\.parquet, row 2: there are 2 rows, so pages must be numbered 0 to 1, each once, got 2",
        ),
        ({"source": [0], "target": [1]}, {"page": [1, 1]}, r"pages\.parquet, row 2: page 1 is there twice"),
        (
            {"source": [0], "to": [1]},
            {"page": [0, 1]},
            r"links\.parquet: no column 'target'; it has source, to",
        ),
        ({"source": ["0"], "target": [1]}, {"page": [0, 1]}, r"links\.parquet: column 'source' must be int64, got string"),
        ({"source": [0, None], "target": [1, 1]}, {"page": [0, 1]}, r"links\.parquet, row 2: no source"),
        ({"source": [0], "target": [1]}, {"page": [0, 1], "views": [1, -1]}, r"views must be numbers from 0, got -1"),
        (
            {"source": [0], "target": [1]},
            {"page": [0, 1], "clicks": ["x", "y"]},
            r"column 'clicks' holds string, expected numbers",
        ),
    ],
)
def test_tables_that_are_no_web_are_named_with_the_row(tmp_path: Path, links: Any, pages: Any, message: str) -> None:
    folder = tables(tmp_path / "w", links, pages)
    with pytest.raises(SourceError, match=message):
        load(folder)
    with pytest.raises(SourceError, match=message):
        convert(folder, tmp_path / "w.web")
    assert [path.name for path in tmp_path.iterdir()] == ["w"]


@pytest.mark.parametrize("name", ["links", "pages"])
def test_a_part_cut_off_anywhere_is_never_taken_for_whole(tmp_path: Path, name: str) -> None:
    save(Web.from_edges([0, 1], [1, 2], 9, urls=[f"http://a/{i}" for i in range(9)]), tmp_path / "web")
    convert(tmp_path / "web", tmp_path / "w.parquet")
    scattered(tmp_path / "w.parquet", 2, seed=1)
    part = tmp_path / "w.parquet" / name / "part-00000.parquet"
    whole = part.read_bytes()
    for size in range(0, len(whole), 97):
        part.write_bytes(whole[:size])
        with pytest.raises(SourceError, match=r"part-00000\.parquet: is damaged or cut off, not a whole Parquet file"):
            convert(tmp_path / "w.parquet", tmp_path / "again.web")
    assert not (tmp_path / "again.web").exists()


def test_a_table_that_a_job_is_still_writing_is_refused(tmp_path: Path) -> None:
    folder = tables(tmp_path / "w", {"source": [0], "target": [1]}, {"page": [0, 1]})
    (folder / "links.parquet").unlink()
    (folder / "links.parquet" / "_temporary").mkdir(parents=True)
    with pytest.raises(SourceError, match=r"links\.parquet: half-written \(it holds _temporary\)"):
        load(folder)
    shutil.rmtree(folder / "links.parquet" / "_temporary")
    with pytest.raises(SourceError, match=r"no \*\.parquet files; expected"):
        load(folder)
    shutil.rmtree(folder / "links.parquet")
    with pytest.raises(SourceError, match=r"a directory of no known kind; .* links\.parquet and pages\.parquet"):
        load(folder)


def test_a_table_of_pages_is_needed(tmp_path: Path) -> None:
    folder = tables(tmp_path / "w", {"source": [0], "target": [1]}, {"page": [0, 1]})
    (folder / "pages.parquet").unlink()
    with pytest.raises(SourceError, match=r"w: no pages\.parquet; a web in Parquet is a folder with links\.parquet and pages"):
        load(folder)


def test_one_that_does_not_fit_in_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tables(tmp_path / "w", {"source": [0], "target": [1]}, {"page": [0, 1]})
    monkeypatch.setattr(capacity, "free_memory", lambda: 100)
    with pytest.raises(SourceError, match=r"frontrank convert \S*w w\.web$"):
        load(folder)


def test_what_else_lies_at_the_target_is_never_replaced(tmp_path: Path) -> None:
    target = tmp_path / "w.parquet"
    target.mkdir()
    (target / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=r"w\.parquet exists and does not hold a web in Parquet alone; give another path"):
        convert("synthetic:pages=never", target)
    (target / "thesis.tex").unlink()
    for pages in (2, 3):
        save(Web.from_edges([0], [1], pages), tmp_path / "web")
        convert(tmp_path / "web", target)
    assert load(target).pages == 3


def test_tables_that_somebody_else_made_are_replaced_with_force_alone(tmp_path: Path) -> None:
    web, target = tmp_path / "web", tmp_path / "team.parquet"
    save(Web.from_edges([0], [1], 3), web)
    tables(target, {"source": [0], "target": [1]}, {"page": [0, 1], "owner": ["sales", "press"]})
    with pytest.raises(InputError, match=r"team\.parquet exists and holds tables of your own; .* or --force to replace it$"):
        convert(web, target)
    assert pq.read_table(target / "pages.parquet")["owner"].to_pylist() == ["sales", "press"]
    convert(web, target, force=True)
    assert load(target).pages == 3


def test_a_column_whose_name_is_no_utf8_is_damage(tmp_path: Path) -> None:
    where = tmp_path / "web"
    where.mkdir()
    pq.write_table(pa.table({"source": [0], "target": [0]}), where / "links.parquet")
    pq.write_table(pa.table({"page": [0], "url": ["http://a.example/"]}), where / "pages.parquet", store_schema=False)
    data = (where / "pages.parquet").read_bytes()
    (where / "pages.parquet").write_bytes(data.replace(b"\x03url", b"\x03ur\xec"))
    with pytest.raises(SourceError, match=r"pages\.parquet: is damaged or cut off"):
        load(where)
