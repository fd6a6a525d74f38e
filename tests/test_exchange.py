"""Webs come from networkx, scipy and pandas and go back as they were."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from frontrank.errors import InputError
from frontrank.web.web import Web

networkx = pytest.importorskip("networkx", reason="pip install '.[dev]'")
pd = pytest.importorskip("pandas", reason="pip install '.[dev]'")

FAIR = settings(deadline=None, max_examples=100)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@st.composite
def webs(draw: st.DrawFn) -> Web:
    """Links, and any of the columns that travel."""
    pages = draw(st.integers(1, 7))
    page = st.integers(0, pages - 1)
    edges = draw(st.lists(st.tuples(page, page), max_size=20))
    columns: dict[str, Any] = {}
    names = draw(st.sampled_from(["numbers", "ids", "urls", "words"]))
    if names == "ids":
        columns["ids"] = np.array(draw(st.lists(st.integers(0, 2**62), min_size=pages, max_size=pages, unique=True)), np.int64)
    elif names == "urls":
        columns["urls"] = [f"http://h{page % 3}.example/{page}" for page in range(pages)]
    elif names == "words":
        columns["urls"] = [f"node {page}" for page in range(pages)]
    for column in ("titles", "texts"):
        if draw(st.booleans()):
            columns[column] = draw(st.lists(words, min_size=pages, max_size=pages))
    if draw(st.booleans()):
        columns["anchors"] = draw(st.lists(words, min_size=len(edges), max_size=len(edges)))
    if draw(st.booleans()):
        columns["hosts"] = np.array([page % 2 for page in range(pages)], np.int32)
        columns["host_names"] = ["a", "b"][: min(2, pages)]
    for column in ("views", "clicks"):
        if draw(st.booleans()):
            columns[column] = np.array(draw(st.lists(st.floats(0, 1e6), min_size=pages, max_size=pages)))
    return Web.from_edges([a for a, _ in edges], [b for _, b in edges], pages, **columns)


def assert_same(one: Web, other: Web) -> None:
    assert other.indptr.tolist() == one.indptr.tolist() and other.targets.tolist() == one.targets.tolist()
    for column in ("ids", "urls", "titles", "texts", "views", "clicks"):
        x, y = getattr(one, column), getattr(other, column)
        if column == "ids" and x is not None and x.tolist() == list(range(one.pages)):
            x = None  # numbers that say nothing are not kept
        assert (None if x is None else list(x)) == (None if y is None else list(y)), column
    assert (list(one.anchors) if one.anchors and one.links else None) == (
        list(other.anchors) if other.anchors and other.links else None
    )
    if one.hosts is not None:
        assert other.hosts is not None and other.host_names is not None and one.host_names is not None
        assert [one.host_names[h] for h in one.hosts] == [other.host_names[h] for h in other.hosts]


@FAIR
@given(webs())
def test_to_networkx_and_back(web: Web) -> None:
    assert_same(web, Web.from_networkx(web.to_networkx()))


@FAIR
@given(webs())
def test_to_pandas_and_back(web: Web) -> None:
    assert_same(web, Web.from_pandas(*web.to_pandas()))


@FAIR
@given(webs())
def test_to_scipy_and_back(web: Web) -> None:
    other = Web.from_scipy(web.to_scipy())
    assert other.indptr.tolist() == web.indptr.tolist() and other.targets.tolist() == web.targets.tolist()


class TestNetworkx:
    def test_urls_bring_hosts_and_attributes_become_columns(self) -> None:
        graph = networkx.DiGraph()
        graph.add_node("http://a.example/", title="A", clicks=3)
        graph.add_edge("http://a.example/", "http://b.example/x", anchor="see")
        web = Web.from_networkx(graph, name="two")
        assert (list(web.urls or ()), web.host_names) == (
            ["http://a.example/", "http://b.example/x"],
            ["a.example", "b.example"],
        )
        assert (list(web.titles or ()), list(web.anchors or ()), web.name) == (["A", ""], ["see"], "two")
        assert web.clicks is not None and web.clicks.tolist() == [3, 0]

    def test_links_of_an_undirected_graph_lead_both_ways(self) -> None:
        web = Web.from_networkx(networkx.path_graph(3))
        assert [web.targets_of(page).tolist() for page in range(3)] == [[1], [2, 0], [1]]
        assert web.ids is None

    def test_a_multigraph_has_one_link_with_all_anchors(self) -> None:
        graph = networkx.MultiDiGraph()
        graph.add_edges_from([(5, 7, {"anchor": "one"}), (5, 7, {"anchor": "two"}), (5, 5, {})])
        web = Web.from_networkx(graph)
        assert web.links == 1 and list(web.anchors or ()) == ["one two"]
        assert web.ids is not None and web.ids.tolist() == [5, 7]

    def test_pages_that_share_a_url_are_called_by_number(self) -> None:
        web = Web.from_edges([0, 1], [1, 2], 3, urls=["http://a/", "http://a/", "http://b/"])
        graph = web.to_networkx()
        assert list(graph.nodes) == [0, 1, 2] and graph.nodes[1]["url"] == "http://a/"
        assert_same(web, Web.from_networkx(graph))


class TestScipy:
    def test_any_matrix_will_do_and_stored_zeros_are_no_links(self) -> None:
        stored = sparse.coo_array((np.array([2.5, 0.0, -1.0]), ([0, 0, 2], [1, 2, 0])), shape=(3, 3))
        for matrix in (stored, stored.tocsc(), stored.toarray()):
            assert [Web.from_scipy(matrix).targets_of(page).tolist() for page in range(3)] == [[1], [], [0]]

    def test_a_matrix_that_is_not_square_is_refused(self) -> None:
        with pytest.raises(InputError, match=r"must be square.* got shape \(2, 3\)"):
            Web.from_scipy(np.ones((2, 3)))


class TestPandas:
    def test_the_first_two_columns_are_source_and_target_unless_named(self) -> None:
        web = Web.from_pandas(pd.DataFrame({"from": [10, 10], "to": [30, 20]}))
        assert web.ids is not None and web.ids.tolist() == [10, 30, 20]
        assert web.targets_of(0).tolist() == [1, 2]
        named = pd.DataFrame({"weight": [1, 2], "target": ["b", "c"], "source": ["a", "a"]})
        assert list(Web.from_pandas(named).urls or ()) == ["a", "b", "c"]

    def test_pages_are_numbered_by_their_table_and_further_ones_by_links(self) -> None:
        pages = pd.DataFrame({"url": ["http://b/", "http://a/"], "title": ["B", None], "views": [4.0, np.nan]})
        web = Web.from_pandas(pd.DataFrame({"source": ["http://a/"], "target": ["http://c/"]}), pages)
        assert list(web.urls or ()) == ["http://b/", "http://a/", "http://c/"]
        assert list(web.titles or ()) == ["B", "", ""]
        assert web.views is not None and web.views.tolist() == [4, 0, 0]

    @pytest.mark.parametrize(
        ("edges", "pages", "says"),
        [
            ({"source": [1]}, None, "must have two columns, source and target, got 1"),
            ({"source": ["a", None], "target": ["b", "c"]}, None, "every link needs a source and a target"),
            ({"source": [1], "target": [2]}, {"id": [1, 1]}, "names a page twice"),
            ({"source": [1], "target": [2]}, {"title": ["x"]}, "must have a column id or url, got title"),
            ({"source": [], "target": []}, None, "no pages"),
        ],
    )
    def test_bad_tables_are_refused_in_one_sentence(self, edges: Any, pages: Any, says: str) -> None:
        with pytest.raises(InputError, match=says) as told:
            Web.from_pandas(pd.DataFrame(edges), None if pages is None else pd.DataFrame(pages))
        assert "\n" not in str(told.value)


def test_none_of_them_is_imported_before_it_is_asked_for() -> None:
    code = "import sys, frontrank as fr; fr.Web.from_edges([0], [1], 2); print({'networkx', 'pandas'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: Web.from_networkx(networkx.DiGraph([(10**30, 2)])), "below 2**63, got 1000000000000000000000000000000"),
        (lambda: Web.from_networkx(shown("many")), "views of a page must be a number, got 'many'"),
        (lambda: Web.from_pandas(pd.DataFrame([[1, 2, 3]], columns=["source", "target", "target"])), "each column once"),
        (lambda: Web.from_pandas(pd.DataFrame({"source": [1], "target": [2]}), pd.DataFrame()), "a column id or url"),
    ],
)
def test_what_is_no_graph_is_refused_in_a_sentence(made: Any, says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        made()


def shown(views: Any) -> Any:
    graph = networkx.DiGraph([(0, 1)])
    graph.nodes[0]["views"] = views
    return graph


def test_whole_numbers_that_a_table_holds_as_floats_are_ids() -> None:
    table = pd.DataFrame({"source": [10, None, 30], "target": [20, 10, 10]}).dropna()
    assert table["source"].dtype == np.float64
    web = Web.from_pandas(table)
    assert web.ids is not None and web.ids.tolist() == [10, 20, 30] and web.urls is None
