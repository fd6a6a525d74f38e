"""Facts about web directories, and about which format a path is taken for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frontrank.errors import InputError, SourceError
from frontrank.sources import load, save
from frontrank.sources.web_directory import ROWS
from frontrank.web.web import Web
from tests.oracles import bvgraph as oracle

STRINGS = ("urls", "titles", "texts", "anchors", "host_names")
ARRAYS = ("indptr", "targets", "hosts", "ids", "seeds")
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@st.composite
def webs(draw: st.DrawFn) -> Web:
    pages = draw(st.integers(1, 8))
    page = st.integers(0, pages - 1)
    edges = draw(st.lists(st.tuples(page, page), max_size=20))
    columns: dict[str, Any] = {"name": draw(words)}
    for column in ("urls", "titles", "texts"):
        if draw(st.booleans()):
            columns[column] = draw(st.lists(words, min_size=pages, max_size=pages))
    if draw(st.booleans()):
        columns["anchors"] = draw(st.lists(words, min_size=len(edges), max_size=len(edges)))
    if draw(st.booleans()):
        columns["host_names"] = draw(st.lists(words, min_size=1, max_size=4))
        host = st.integers(0, len(columns["host_names"]) - 1)
        columns["hosts"] = np.array(draw(st.lists(host, min_size=pages, max_size=pages)), np.int32)
    if draw(st.booleans()):
        columns["ids"] = np.array(draw(st.lists(st.integers(0, 2**62), min_size=pages, max_size=pages)), np.int64)
    if draw(st.booleans()):
        columns["seeds"] = np.array(draw(st.lists(page, max_size=3)), draw(st.sampled_from([np.int32, np.int64])))
    return Web.from_edges([a for a, _ in edges], [b for _, b in edges], pages, **columns)


def assert_same(a: Web, b: Web) -> None:
    assert a.name == b.name
    for column in ARRAYS:
        x, y = getattr(a, column), getattr(b, column)
        assert (x is None) == (y is None)
        assert x is None or (x.dtype == y.dtype and x.tolist() == y.tolist())
    for column in STRINGS:
        x, y = getattr(a, column), getattr(b, column)
        assert (x is None) == (y is None)
        assert x is None or list(x) == list(y)


@given(webs())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_saved_web_loads_as_it_was(tmp_path: Path, web: Web) -> None:
    save(web, tmp_path / "web")
    once = load(tmp_path / "web")
    assert_same(web, once)
    save(once, tmp_path / "web")  # onto itself, from its own mapped files
    assert_same(web, load(tmp_path / "web"))
    assert [path.name for path in tmp_path.iterdir()] == ["web"]


def a_web(**columns: Any) -> Web:
    every: dict[str, Any] = {
        "hosts": np.array([0, 1, 0], np.int32),
        "host_names": ["a", "b"],
        "urls": ["http://a/", "http://b/", "http://a/2"],
        "titles": ["A", "B", "C"],
        "texts": ["one", "two", "three"],
        "anchors": ["x", "y", "z"],
        "ids": np.array([5, 7, 9]),
        "seeds": np.array([1]),
        "name": "small",
    }
    return Web.from_edges([0, 0, 2], [1, 2, 0], 3, **{**every, **columns})


def test_arrays_are_mapped_and_of_the_type_that_kernels_are_compiled_for(tmp_path: Path) -> None:
    save(a_web(), tmp_path / "web")
    web = load(tmp_path / "web")
    for column in ARRAYS:
        array = getattr(web, column)
        assert type(array) is np.ndarray
        assert array.flags.writeable
        assert array.flags.aligned
        assert array.flags.c_contiguous
        base = array
        while isinstance(base, np.ndarray) and base.base is not None and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap)


def test_writing_to_a_loaded_array_leaves_the_file_alone(tmp_path: Path) -> None:
    save(a_web(), tmp_path / "web")
    load(tmp_path / "web").targets[0] = 0
    assert load(tmp_path / "web").targets[0] == 1


def test_strings_of_many_row_groups_keep_their_order(tmp_path: Path) -> None:
    n = 2 * ROWS + 3
    save(Web.from_edges([0], [1], n, urls=[f"http://h/{i}" for i in range(n)]), tmp_path / "web")
    urls = load(tmp_path / "web").urls
    assert urls is not None
    for i in (0, ROWS - 1, ROWS, n - 1):
        assert urls[i] == f"http://h/{i}"
    assert urls[-1] == f"http://h/{n - 1}"
    assert list(urls[ROWS - 1 : ROWS + 1]) == [f"http://h/{ROWS - 1}", f"http://h/{ROWS}"]
    assert list(urls) == [f"http://h/{i}" for i in range(n)]


def test_web_json_says_what_is_there(tmp_path: Path) -> None:
    save(a_web(titles=None), tmp_path / "web")
    said = json.loads((tmp_path / "web" / "web.json").read_text())
    assert said.pop("digest") and set(said.pop("digests")) == {entry.name for entry in (tmp_path / "web").iterdir()} - {
        "web.json"
    }
    assert said == {
        "format": "frontrank-web",
        "version": 1,
        "name": "small",
        "pages": 3,
        "links": 3,
        "hosts": 2,
        "columns": ["hosts", "urls", "texts", "anchors", "seeds", "ids"],
    }


# --- where save may write ---


def test_save_replaces_another_web_and_fills_an_empty_directory(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    save(a_web(name="first"), tmp_path / "web")
    save(Web.from_edges([0], [1], 2, name="second"), tmp_path / "web")
    assert load(tmp_path / "web").name == "second"
    assert not (tmp_path / "web" / "pages.parquet").exists()


@pytest.mark.parametrize("content", ["something", '{"format": "other"}'])
def test_save_refuses_a_directory_of_other_things(tmp_path: Path, content: str) -> None:
    (tmp_path / "web.json").write_text(content)
    with pytest.raises(InputError, match="exists and does not hold a frontrank web; give another path"):
        save(a_web(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["web.json"]


def test_save_replaces_an_imported_crawl_or_further_files_only_by_force(tmp_path: Path) -> None:
    for more, says in (("crawl.json", "holds an imported crawl"), ("thesis.tex", r"holds more than a web \(thesis\.tex\)")):
        where = tmp_path / more
        save(a_web(name="kept"), where)
        (where / more).write_text("{}")
        with pytest.raises(InputError, match=says):
            save(a_web(name="new"), where)
        assert load(f"web-directory:{where}").name == "kept" and (where / more).exists()
        save(a_web(name="new"), where, force=True)
        assert load(where).name == "new" and not (where / more).exists()


def test_force_never_replaces_a_directory_without_a_web(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="does not hold a frontrank web"):
        save(a_web(), tmp_path, force=True)


def test_save_refuses_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(InputError, match="file cannot be written: it exists and is not a directory"):
        save(a_web(), tmp_path / "file")
    assert (tmp_path / "file").read_text() == "precious"


def test_save_into_a_missing_directory_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no/web cannot be written: there is no directory"):
        save(a_web(), tmp_path / "no" / "web")


def test_a_save_that_fails_leaves_the_old_web_and_nothing_else(tmp_path: Path) -> None:
    save(a_web(), tmp_path / "web")
    gone = load(tmp_path / "web")
    save(a_web(name="kept", titles=["X", "Y", "Z"]), tmp_path / "web")
    with pytest.raises(SourceError, match=r"pages\.parquet: replaced since the web was opened; load the web again"):
        save(gone, tmp_path / "web")
    assert load(tmp_path / "web").name == "kept"
    assert [path.name for path in tmp_path.iterdir()] == ["web"]


# --- damage ---


DAMAGED = ("web.json", *(f"{name}.npy" for name in (*ARRAYS, "views")), "pages.parquet", "hosts.parquet", "anchors.parquet")


@given(
    st.sampled_from(DAMAGED),
    st.lists(st.tuples(st.floats(0, 0.999), st.integers(1, 255)), min_size=1, max_size=4),
    st.floats(0, 1),
)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whichever_bytes_are_flipped_a_web_loads_or_is_refused_in_one_sentence(
    tmp_path: Path, name: str, flips: list[tuple[float, int]], keep: float
) -> None:
    where = tmp_path / "web"
    if not where.exists():
        save(a_web(views=np.arange(3.0)), where)
    whole = (where / name).read_bytes()
    data = bytearray(whole)
    for at, bits in flips:
        data[int(at * len(data))] ^= bits
    (where / name).write_bytes(data[: len(data) if keep > 0.3 else int(keep / 0.3 * len(data))])
    said = ""
    try:
        web = load(where)
        for column in STRINGS:
            list(getattr(web, column) or ())
    except SourceError as error:
        said = str(error)
    finally:
        (where / name).write_bytes(whole)
    assert "\n" not in said and (not said or str(where) in said)


FLIPPED_FOOTERS = """
import sys
from pathlib import Path
from frontrank.errors import SourceError
from frontrank.sources.parquet_digests import END
from frontrank.sources import load
path = Path(sys.argv[1]) / "hosts.parquet"
whole = path.read_bytes()
for bit in range(8 * (len(whole) - END - int.from_bytes(whole[-END:-4], "little")), 8 * len(whole), 3):
    data = bytearray(whole)
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)
    try:
        list(load(sys.argv[1]).host_names)
        sys.exit(f"bit {bit} was not seen")
    except SourceError as error:
        assert str(path) in str(error), error
"""


def test_a_damaged_footer_is_refused_before_pyarrow_reads_it(tmp_path: Path) -> None:
    """Of some bits pyarrow ends the process: it throws what nobody catches."""
    save(a_web(views=np.arange(3.0)), tmp_path / "web")
    done = subprocess.run([sys.executable, "-c", FLIPPED_FOOTERS, str(tmp_path / "web")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("damage", [b"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), ", b"(((", b"\xff\xfe" * 20])
def test_a_damaged_header_of_an_array_is_no_traceback(tmp_path: Path, damage: bytes) -> None:
    save(a_web(), tmp_path / "web")
    path = tmp_path / "web" / "seeds.npy"
    data = path.read_bytes()
    path.write_bytes(data[:10] + damage.ljust(len(data) - 10))
    with pytest.raises(SourceError, match=r"seeds\.npy: truncated or not a \.npy array"):
        load(tmp_path / "web")


def test_strings_that_were_changed_on_disk_are_not_read_as_others(tmp_path: Path) -> None:
    """Each page of a Parquet file has a checksum: a flipped bit in a URL would otherwise be another URL."""
    save(a_web(urls=[f"http://a/{'x' * 500}{i}" for i in range(3)]), tmp_path / "web")
    path = tmp_path / "web" / "pages.parquet"
    data = bytearray(path.read_bytes())
    data[data.index(b"http://a/")] ^= 1
    path.write_bytes(data)
    with pytest.raises(SourceError, match=r"pages\.parquet: damaged, the digest of url"):
        list(load(tmp_path / "web").urls or ())
    edit_json(tmp_path / "web")
    with pytest.raises(SourceError, match=r"pages\.parquet: column url cannot be read"):
        list(load(tmp_path / "web").urls or ())


def edit_json(where: Path, **changes: Any) -> None:
    """As an earlier version might have written it: without digests."""
    path = where / "web.json"
    held = json.loads(path.read_text())
    del held["digest"], held["digests"]
    path.write_text(json.dumps({**held, **changes}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, r"web\.json: version 2, but this frontrank reads up to 1; update frontrank"),
        ({"version": "1"}, r"web\.json: version is '1', expected 1"),
        ({"format": "else"}, r'web\.json: not a frontrank web; expected "format": "frontrank-web"'),
        ({"pages": -1}, r"web\.json: pages is -1, expected a whole number"),
        ({"pages": None}, r"web\.json: pages is None"),
        ({"hosts": "2"}, r"web\.json: hosts is '2'"),
        ({"name": 3}, r"web\.json: name is 3"),
        ({"columns": ["colour"]}, r"web\.json: columns is \['colour'\], expected some of hosts, urls"),
        ({"columns": 4}, r"web\.json: columns is 4"),
        ({"pages": 4}, r"indptr\.npy: int64 of shape \(4,\), expected 5 int64"),
        ({"links": 4}, r"targets\.npy: int32 of shape \(3,\), expected 4 int32"),
        ({"hosts": 1}, r"hosts\.npy: a host number is outside 0 to 0"),
    ],
)
def test_a_wrong_web_json_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    save(a_web(), tmp_path / "web")
    edit_json(tmp_path / "web", **changes)
    with pytest.raises(SourceError, match=message):
        load(tmp_path / "web")


def test_a_web_json_that_is_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "web.json").write_text("{")
    with pytest.raises(SourceError, match=r"web\.json: not JSON"):
        load(tmp_path)


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("size", [0, 5, 100, -1])
def test_a_truncated_array_is_refused(tmp_path: Path, name: str, size: int) -> None:
    save(a_web(), tmp_path / "web")
    path = tmp_path / "web" / f"{name}.npy"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(SourceError, match=rf"{name}\.npy: truncated or not a \.npy array; write the web again"):
        load(tmp_path / "web")


@pytest.mark.parametrize(
    "name", ["indptr.npy", "targets.npy", "seeds.npy", "pages.parquet", "anchors.parquet", "hosts.parquet"]
)
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    save(a_web(), tmp_path / "web")
    (tmp_path / "web" / name).unlink()
    with pytest.raises(SourceError, match=rf"{name}: cannot be read \(No such file"):
        load(tmp_path / "web")


@pytest.mark.parametrize("name", ["pages", "anchors", "hosts"])
@pytest.mark.parametrize("size", [0, 3, 100])
def test_a_truncated_string_column_is_refused(tmp_path: Path, name: str, size: int) -> None:
    save(a_web(), tmp_path / "web")
    path = tmp_path / "web" / f"{name}.parquet"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(SourceError, match=rf"{name}\.parquet: "):
        load(tmp_path / "web")


def test_a_damaged_string_column_is_noticed_when_it_is_asked_for(tmp_path: Path) -> None:
    save(a_web(), tmp_path / "web")
    (tmp_path / "web" / "pages.parquet").write_bytes(b"PAR1" + bytes(50) + b"PAR1")
    web = load(tmp_path / "web")
    assert web.urls is not None
    with pytest.raises(SourceError, match=r"pages\.parquet: damaged, the digest of \(footer\)"):
        web.urls[0]


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("indptr", np.array([1, 2, 2, 3]), "expected numbers that go up from 0 to 3"),
        ("indptr", np.array([0, 3, 2, 3]), "expected numbers that go up from 0 to 3"),
        ("indptr", np.array([0, 2, 2, 2]), "expected numbers that go up from 0 to 3"),
        ("indptr", np.array([0, 2, 2, 3], np.int32), r"int32 of shape \(4,\), expected 4 int64"),
        ("targets", np.array([1, 3, 0], np.int32), "a page number is outside 0 to 2"),
        ("targets", np.array([1, -1, 0], np.int32), "a page number is outside 0 to 2"),
        ("targets", np.array([[1], [2], [0]], np.int32), r"shape \(3, 1\), expected 3 int32"),
        ("seeds", np.array([0.5]), "float64 of shape"),
        ("seeds", np.array([3]), "a page number is outside 0 to 2"),
        ("ids", np.array([None, None, None]), "truncated or not a .npy array"),
    ],
)
def test_arrays_that_cannot_be_are_refused(tmp_path: Path, name: str, array: np.ndarray, message: str) -> None:
    save(a_web(), tmp_path / "web")
    np.save(tmp_path / "web" / f"{name}.npy", array, allow_pickle=True)
    with pytest.raises(SourceError, match=rf"{name}\.npy: "):
        load(tmp_path / "web")
    edit_json(tmp_path / "web")
    with pytest.raises(SourceError, match=rf"{name}\.npy: .*{message}"):
        load(tmp_path / "web")


# --- which format a path is taken for ---


def test_a_bvgraph_is_found_by_its_base_name_its_files_or_its_directory(tmp_path: Path) -> None:
    base = tmp_path / "uk-2007.05@10"
    oracle.write(base, [[1], [0, 2], []], oracle.Format())
    for path in (base, f"{base}.graph", f"{base}.properties", tmp_path):
        web = load(path)
        assert (web.pages, web.links, web.name) == (3, 3, "uk-2007.05@10")


def test_a_directory_of_two_graphs_asks_which(tmp_path: Path) -> None:
    for name in ("a", "b"):
        oracle.write(tmp_path / name, [[]], oracle.Format())
    with pytest.raises(SourceError, match=r"2 graphs in it \(a\.properties, b\.properties\); name one"):
        load(tmp_path)


def test_a_graph_file_without_properties_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.graph").write_bytes(b"\x80")
    with pytest.raises(SourceError, match=r"a\.graph: .*a\.properties is missing; a BVGraph needs both files"):
        load(tmp_path / "a.graph")


def test_a_directory_of_no_known_kind_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"expected web\.json, or pages\.tsv and links\.tsv .*or one BVGraph"):
        load(tmp_path)


def test_a_missing_path_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"nothing: no such file; expected .*nothing\.properties does not"):
        load(tmp_path / "nothing")


def test_a_page_is_found_by_its_url_without_a_table_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    urls = ["http://a/", "http://B/x", "http://a/", "http://c/#part"]
    save(Web.from_edges([0], [1], 4, urls=urls), tmp_path / "web")
    names = ("http://a/", "HTTP://A", "http://B/x", "http://b/x", "http://c/")
    assert [load(tmp_path / "web").page_of(name) for name in names] == [0, 0, 1, 1, 3]
    monkeypatch.setattr("frontrank.web.web.MAX_IN_TABLE", 3)
    web = load(tmp_path / "web")
    assert [web.page_of(name) for name in names[:3]] == [0, 0, 1]
    assert "by_url" not in web.cache
