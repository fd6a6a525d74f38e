"""Facts about reading BVGraphs: against a naive encoder and decoder, real graphs, and every kind of damage."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frontrank.errors import SourceError
from frontrank.sources import load
from frontrank.sources.bitstream import CODE_NAMES, read_words
from frontrank.sources.bvgraph import ALLOWED, decode, load_bvgraph, read_shape
from frontrank.sources.bvgraph_stream import FINE, Format, _decode
from frontrank.sources.properties import parse_properties
from tests.oracles import bvgraph as oracle

CNR = "cnr-2000/cnr-2000"
UK = "uk-2007-05@100000/uk-2007-05@100000"


def lists_of(indptr: np.ndarray, targets: np.ndarray) -> list[list[int]]:
    return [targets[a:b].tolist() for a, b in pairwise(indptr.tolist())]


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    """Rows of runs and single numbers, often like a row before, so that blocks and intervals occur."""
    n = draw(st.integers(1, 24))
    rows: list[list[int]] = []
    for x in range(n):
        row = set(draw(st.lists(st.integers(0, n - 1), max_size=6)))
        left, length = draw(st.integers(0, n - 1)), draw(st.integers(0, 8))
        row |= set(range(left, min(n, left + length)))
        if x and draw(st.booleans()):
            row ^= set(rows[draw(st.integers(max(0, x - 4), x - 1))])
        rows.append(sorted(row))
    return rows


@st.composite
def forms(draw: st.DrawFn) -> oracle.Format:
    codes = {part: CODE_NAMES[draw(st.sampled_from(allowed))] for part, allowed in ALLOWED.items() if draw(st.booleans())}
    return oracle.Format(draw(st.integers(0, 9)), draw(st.integers(0, 5)), draw(st.integers(1, 7)), codes)


@given(graphs(), forms(), st.integers(0, 9))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_graph_in_every_flag_decodes_to_itself(
    tmp_path: Path, graph: list[list[int]], form: oracle.Format, seed: int
) -> None:
    base = tmp_path / "a.b@7"
    oracle.write(base, graph, form, seed)
    assert lists_of(*decode(f"{base}.graph", read_shape(f"{base}.properties"))) == graph
    web = load_bvgraph(str(base))
    assert lists_of(web.indptr, web.targets) == [[y for y in row if y != x] for x, row in enumerate(graph)]


@given(st.lists(st.integers(0, 2**40), max_size=30), st.integers(1, 9), st.sampled_from(["GAMMA", "DELTA", "ZETA"]))
@settings(max_examples=50)
def test_the_oracle_reads_what_it_writes(numbers: list[int], k: int, code: str) -> None:
    reader = oracle.Reader("".join(oracle.written(n, code, k) for n in numbers))
    assert [reader.read(code, k) for _ in numbers] == numbers


@pytest.mark.parametrize(
    ("code", "bits"),
    [
        # the first natural numbers as the papers and manuals tabulate them
        ("UNARY", ["1", "01", "001", "0001"]),
        ("GAMMA", ["1", "010", "011", "00100", "00101"]),
        ("DELTA", ["1", "0100", "0101", "01100", "01101"]),
        ("ZETA", ["100", "1010", "1011", "1100", "1101", "1110", "1111", "0100000"]),
        ("NIBBLE", ["1000", "1001", "1010"]),
        ("GOLOMB", ["10", "110", "111", "010"]),
    ],
)
def test_the_oracle_writes_the_published_codes(code: str, bits: list[str]) -> None:
    assert [oracle.written(n, code, 3) for n in range(len(bits))] == bits


def test_long_lists_and_far_gaps_decode(tmp_path: Path) -> None:
    n = 5000
    graph: list[list[int]] = [[] for _ in range(n)]
    graph[0] = [n - 1]
    graph[1] = list(range(n))
    graph[2] = list(range(0, n, 3))
    graph[n - 1] = [0, n - 2]
    oracle.write(tmp_path / "g", graph, oracle.Format(min_interval=0, codes={"RESIDUALS": "GOLOMB"}))
    assert lists_of(*decode(f"{tmp_path}/g.graph", read_shape(f"{tmp_path}/g.properties"))) == graph


@pytest.mark.parametrize("residuals", ["GAMMA", "DELTA", "ZETA", "NIBBLE", "GOLOMB"])
def test_the_decoder_is_the_same_interpreted(tmp_path: Path, residuals: str) -> None:
    graph = [[1, 2, 3, 4, 5, 9], [0, 1, 2, 3, 9, 12], [], [12], list(range(13)), [0, 12], *[[] for _ in range(7)]]
    oracle.write(tmp_path / "g", graph, oracle.Format(codes={"RESIDUALS": residuals}), seed=3)
    shape = read_shape(f"{tmp_path}/g.properties")
    size = (tmp_path / "g.graph").stat().st_size
    words = read_words(f"{tmp_path}/g.graph", 0, size)
    indptr, targets = np.zeros(shape.nodes + 1, np.int64), np.empty(shape.arcs, np.int32)
    ended = _decode(words, 0, 8 * size, Format(shape.nodes, 7, 4, shape.codes, 3), 0, 0, shape.arcs, indptr, targets)
    assert ended[:2] == (FINE, shape.nodes)
    assert lists_of(indptr, targets) == graph


# --- real graphs ---


@pytest.mark.data
@pytest.mark.parametrize(("base", "nodes", "arcs"), [(CNR, 325_557, 3_216_152), (UK, 100_000, 3_050_615)])
def test_real_graphs_have_their_published_size(data_dir: Path, base: str, nodes: int, arcs: int) -> None:
    path = str(data_dir / base)
    indptr, targets = decode(f"{path}.graph", read_shape(f"{path}.properties"))
    assert (len(indptr) - 1, len(targets)) == (nodes, arcs)
    rises = np.diff(targets.astype(np.int64)) > 0
    row_starts = indptr[1:-1]
    rises[row_starts[(row_starts > 0) & (row_starts < arcs)] - 1] = True
    assert rises.all()
    web = load(path)
    own = np.repeat(np.arange(nodes), np.diff(indptr))
    assert web.links == arcs - np.count_nonzero(own == targets)


@pytest.mark.data
@pytest.mark.parametrize("base", [CNR, UK])
def test_first_rows_of_real_graphs_are_as_the_naive_decoder_reads_them(data_dir: Path, base: str) -> None:
    path = str(data_dir / base)
    indptr, targets = decode(f"{path}.graph", read_shape(f"{path}.properties"))
    reader = oracle.Reader(oracle.to_bits(Path(f"{path}.graph").read_bytes()[:20_000]))
    rows: list[list[int]] = []
    for x in range(500):
        rows.append(oracle.decode_row(reader, x, oracle.Format(), rows.__getitem__))
    assert lists_of(indptr[:501], targets) == rows


@pytest.mark.data
def test_last_rows_of_cnr_are_as_the_naive_decoder_reads_them_by_offset(data_dir: Path) -> None:
    path = str(data_dir / CNR)
    indptr, targets = decode(f"{path}.graph", read_shape(f"{path}.properties"))
    nodes = len(indptr) - 1
    gaps = oracle.Reader(oracle.to_bits(Path(f"{path}.offsets").read_bytes()))
    offsets = np.cumsum([gaps.read("GAMMA", 0) for _ in range(nodes + 1)])
    data = Path(f"{path}.graph").read_bytes()
    skipped = offsets[nodes - 200] // 8
    tail = oracle.to_bits(data[skipped:])

    def row_of(x: int) -> list[int]:
        return oracle.decode_row(oracle.Reader(tail, int(offsets[x] - 8 * skipped)), x, oracle.Format(), row_of)

    for x in range(nodes - 100, nodes):
        assert targets[indptr[x] : indptr[x + 1]].tolist() == row_of(x)


# --- URLs and properties ---

SMALL = [[1, 2, 3], [0, 1, 2, 3], [], [0, 2]]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    oracle.write(tmp_path / "it-2004.v1", SMALL, oracle.Format())
    return tmp_path / "it-2004.v1"


@pytest.mark.parametrize("packed", [False, True])
def test_urls_beside_the_graph_give_urls_and_hosts(small: Path, packed: bool) -> None:
    text = b"http://a.it/\nhttp://b.it/x\r\nhttp://a.it/y\nhttp://c.it/\n"
    name = f"{small}.urls.gz" if packed else f"{small}.urls"
    Path(name).write_bytes(gzip.compress(text) if packed else text)
    web = load(small)
    assert web.urls == ["http://a.it/", "http://b.it/x", "http://a.it/y", "http://c.it/"]
    assert web.hosts is not None
    assert web.hosts.tolist() == [0, 1, 0, 2]
    assert web.host_names == ["a.it", "b.it", "c.it"]
    assert web.name == "it-2004.v1"


def test_a_wrong_number_of_urls_is_refused(small: Path) -> None:
    Path(f"{small}.urls").write_text("http://a.it/\n")
    with pytest.raises(SourceError, match=r"it-2004\.v1\.urls: 1 URLs for 4 nodes; expected one line for each"):
        load(small)


def test_missing_properties_have_the_java_defaults(small: Path) -> None:
    properties = Path(f"{small}.properties")
    properties.write_text("graphclass=it.unimi.dsi.webgraph.BVGraph\nnodes=4\narcs=9\n")
    shape = read_shape(str(properties))
    assert (shape.window, shape.min_interval, shape.zeta_k) == (7, 4, 3)
    assert load(small).targets_of(1).tolist() == [0, 2, 3]


def test_java_property_syntax_is_understood() -> None:
    text = "! note\n  # note\na\\:b = c\\=d\r\nkey:value\nspaced   out\nlong=one\\\n    two\nu=\\u00e9\\\\\nempty=\n"
    assert parse_properties(text) == {
        "a:b": "c=d",
        "key": "value",
        "spaced": "out",
        "long": "onetwo",
        "u": "é\\",
        "empty": "",
    }


@pytest.mark.parametrize(
    "given",
    ["class it.unimi.dsi.webgraph.BVGraph", "it.unimi.dsi.big.webgraph.BVGraph", "it.unimi.dsi.webgraph.BVGraph"],
)
def test_all_spellings_of_the_class_are_read(small: Path, given: str) -> None:
    edit(small, "graphclass=it.unimi.dsi.webgraph.BVGraph", f"graphclass={given}")
    assert load(small).pages == 4


def edit(base: Path, old: str, new: str) -> None:
    properties = Path(f"{base}.properties")
    text = properties.read_text()
    assert old in text
    properties.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("webgraph.BVGraph", "webgraph.EFGraph", r"graphclass is it\.unimi\.dsi\.webgraph\.EFGraph, expected it\."),
        ("graphclass=it.unimi.dsi.webgraph.BVGraph\n", "", "graphclass is missing"),
        ("version=0", "version=1", "format version 1, expected 0"),
        ("version=0", "endianness=little", "endianness is little, expected big"),
        ("nodes=4\n", "", "the property nodes is missing"),
        ("arcs=9\n", "", "the property arcs is missing"),
        ("nodes=4", "nodes=four", "nodes is 'four', expected a whole number"),
        ("nodes=4", "nodes=0", "nodes is 0, expected 1 to"),
        ("zetak=3", "zetak=0", "zetak is '0', expected a whole number not less than 1"),
        ("windowsize=7", "windowsize=-1", "windowsize is '-1'"),
        ("flags=", "flags=RESIDUALS_GAMMA | BLOKS_GAMMA", "'BLOKS_GAMMA' is unknown; did you mean 'BLOCKS'"),
        ("flags=", "flags=BLOCKS_GAMA", "'BLOCKS_GAMA' names no code; did you mean 'GAMMA'"),
        ("flags=", "flags=OUTDEGREES_ZETA", "BVGraph codes OUTDEGREES only in GAMMA, DELTA"),
        ("flags=", "flags=RESIDUALS_SKEWED_GOLOMB", "RESIDUALS only in GAMMA, ZETA, DELTA, NIBBLE, GOLOMB"),
        ("arcs=9", "arcs=8", "node 3: there are more arcs than the properties say"),
        ("arcs=9", "arcs=10", "9 arcs decoded, but the properties say 10"),
        ("arcs=9", "arcs=17", "17 arcs are too many for 4 nodes"),
        ("nodes=4", "nodes=400", "bytes cannot hold 400 nodes; the file is truncated"),
    ],
)
def test_properties_that_cannot_be_are_refused(small: Path, old: str, new: str, message: str) -> None:
    edit(small, old, new)
    with pytest.raises(SourceError, match=message):
        load(small)


# --- damage ---


@pytest.mark.data
@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.5, 0.999999])
def test_a_truncated_graph_is_refused_wherever_it_is_cut(data_dir: Path, tmp_path: Path, share: float) -> None:
    data = (data_dir / f"{UK}.graph").read_bytes()
    (tmp_path / "cut.graph").write_bytes(data[: int(len(data) * share)])
    (tmp_path / "cut.properties").write_bytes((data_dir / f"{UK}.properties").read_bytes())
    with pytest.raises(SourceError, match=r"cut\.graph: .*the file is truncated"):
        load(tmp_path / "cut")


@given(graphs(), forms(), st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_stream_without_its_last_bytes_is_refused(
    tmp_path: Path, graph: list[list[int]], form: oracle.Format, data: st.DataObject
) -> None:
    base = tmp_path / "g"
    oracle.write(base, graph, form)
    stream = Path(f"{base}.graph").read_bytes()
    Path(f"{base}.graph").write_bytes(stream[: data.draw(st.integers(0, len(stream) - 1))])
    with pytest.raises(SourceError, match=r"g\.graph: .*truncated"):
        load_bvgraph(str(base))


@given(st.binary(min_size=1, max_size=200), forms(), st.integers(1, 40), st.integers(0, 300))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_noise_is_refused_or_is_a_graph(tmp_path: Path, noise: bytes, form: oracle.Format, nodes: int, arcs: int) -> None:
    base = tmp_path / "g"
    Path(f"{base}.graph").write_bytes(noise)
    Path(f"{base}.properties").write_text(form.properties(nodes, arcs))
    try:
        indptr, targets = decode(f"{base}.graph", read_shape(f"{base}.properties"))
    except SourceError:
        return
    assert len(targets) == arcs
    for row in lists_of(indptr, targets):
        assert row == sorted(set(row))
        assert all(0 <= y < nodes for y in row)


def bits(*numbers: tuple[int, str]) -> bytes:
    return oracle.to_bytes("".join(oracle.written(n, code, 3) for n, code in numbers)) + bytes(8)


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (bits((5, "GAMMA")), "node 0: its outdegree is not possible"),
        (bits((1, "GAMMA"), (1, "UNARY")), "node 0: it refers to a node outside the window"),
        (bits((1, "GAMMA"), (0, "UNARY"), (0, "GAMMA"), (1, "ZETA")), "node 0: its residuals exceed the nodes"),
        (bits((1, "GAMMA"), (0, "UNARY"), (2, "GAMMA")), "node 0: its intervals exceed its outdegree"),
        (
            bits((1, "GAMMA"), (0, "UNARY"), (0, "GAMMA"), (2, "ZETA"), (2, "GAMMA"), (1, "UNARY"), (3, "GAMMA")),
            "node 1: its copy blocks exceed the list they copy from",
        ),
        (
            # node 1 copies 1 from node 0 and has 1 as a residual too
            bits(
                *[(1, "GAMMA"), (0, "UNARY"), (0, "GAMMA"), (2, "ZETA")],
                *[(2, "GAMMA"), (1, "UNARY"), (0, "GAMMA"), (0, "GAMMA"), (0, "ZETA")],
            ),
            "node 1: its successors are not increasing",
        ),
    ],
)
def test_impossible_rows_are_named(tmp_path: Path, stream: bytes, message: str) -> None:
    (tmp_path / "g.graph").write_bytes(stream)
    (tmp_path / "g.properties").write_text(oracle.Format().properties(4, 12))
    with pytest.raises(SourceError, match=rf"g\.graph: {message}"):
        load(tmp_path / "g")


def test_a_missing_graph_file_is_named(small: Path) -> None:
    Path(f"{small}.graph").unlink()
    with pytest.raises(SourceError, match=r"it-2004\.v1\.graph: cannot be read \(No such file"):
        load(small)
