"""Facts about edge lists: all their shapes, the numbering of pages, and every line that cannot be read."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frontrank.errors import SourceError
from frontrank.sources import load
from frontrank.sources.edge_numbers import _parse
from frontrank.sources.edges import load_edges
from frontrank.web.web import Web

SHAPES = {
    "tab": "{}\t{}",
    "blank": "{} {}",
    "blanks": "  {}   {} ",
    "comma": "{},{}",
    "csv": "{} , {}",
    "semicolon": "{};{}",
}
EXTRAS = {"": "", "tab": "\t0.5\tx", "blank": " 17 # note", "comma": ",1.5"}


def edges_of(web: Web) -> list[tuple[int, int]]:
    """Links as the source named their pages."""
    named = web.ids_of(np.arange(web.pages)).tolist()
    return [(named[p], named[int(q)]) for p in range(web.pages) for q in web.targets_of(p)]


def tidied(edges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Distinct, without self-links, by source, in file order: what any loader must make of a list of links."""
    return sorted(dict.fromkeys((a, b) for a, b in edges if a != b), key=lambda edge: edge[0])


def write(tmp_path: Path, text: str | bytes, name: str = "edges.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


numbers = st.one_of(st.integers(0, 12), st.integers(0, 300), st.integers(0, 2**63 - 1))


@given(
    edges=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=40),
    shape=st.sampled_from(sorted(SHAPES)),
    extra=st.sampled_from(sorted(EXTRAS)),
    line_end=st.sampled_from(["\n", "\r\n"]),
    last_line_end=st.booleans(),
    noise=st.sampled_from(["", "# a note\n", "% a note\n\n", "src\tdst\n", "# n\nFromNodeId ToNodeId\n"]),
    packed=st.booleans(),
    chunk=st.sampled_from([8, 64, 2**20]),
)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_shape_of_edge_list_gives_its_links(
    tmp_path: Path,
    edges: list[tuple[int, int]],
    shape: str,
    extra: str,
    line_end: str,
    last_line_end: bool,
    noise: str,
    packed: bool,
    chunk: int,
) -> None:
    text = noise + line_end.join(SHAPES[shape].format(a, b) + EXTRAS[extra] for a, b in edges)
    data = (text + line_end * last_line_end).encode()
    web = load_edges(str(write(tmp_path, gzip.compress(data) if packed else data)), chunk=chunk)
    assert edges_of(web) == tidied(edges)
    named = {number for edge in edges for number in edge}
    if max(named) + 1 <= 2 * len(named) + 16:
        assert web.ids is None
        assert web.pages == max(named) + 1
    else:
        assert web.ids is not None
        assert web.ids.tolist() == sorted(named)


def test_comments_and_blank_lines_may_stand_anywhere(tmp_path: Path) -> None:
    web = load(write(tmp_path, "\ufeff# SNAP\n\n0\t1\n% more\n   \n  # more\n1\t2\n\n"))
    assert edges_of(web) == [(0, 1), (1, 2)]
    assert web.name == "edges.txt"


def test_numbers_nearly_without_gaps_stay_as_they_are(tmp_path: Path) -> None:
    web = load(write(tmp_path, "0 1\n1 19\n"))  # 20 <= 2 * 3 + 16
    assert (web.pages, web.ids) == (20, None)


def test_numbers_with_wide_gaps_are_closed_up_and_kept_as_ids(tmp_path: Path) -> None:
    web = load(write(tmp_path, "22 1\n1 0\n"))  # 23 > 2 * 3 + 16
    assert web.ids is not None
    assert web.ids.tolist() == [0, 1, 22]
    assert [web.targets_of(p).tolist() for p in range(3)] == [[], [0], [1]]
    assert web.page_of("22") == 2


def test_many_numbers_far_apart_are_closed_up(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    pool = rng.choice(2**40, 5000, replace=False)
    edges = [(int(a), int(b)) for a, b in rng.choice(pool, (20_000, 2))]
    web = load(write(tmp_path, "".join(f"{a}\t{b}\n" for a, b in edges)))
    assert edges_of(web) == tidied(edges)


def test_links_of_a_page_keep_the_order_of_the_file(tmp_path: Path) -> None:
    web = load(write(tmp_path, "2 5\n0 3\n2 1\n2 4\n2 5\n"))
    assert web.targets_of(2).tolist() == [5, 1, 4]


@pytest.mark.parametrize("chunk", [8, 2**20])
@pytest.mark.parametrize(
    "text",
    [
        "http://b/\thttp://a/x\nhttp://a/x\thttp://b/\textra\n",
        "http://b/ http://a/x\nhttp://a/x   http://b/ extra",
        '"http://b/","http://a/x"\r\nhttp://a/x, "http://b/",extra\r\n',
        "# note\nsource,target\nhttp://b/,http://a/x\n\nhttp://a/x,http://b/,extra\n",
    ],
)
def test_urls_are_numbered_as_they_appear(tmp_path: Path, text: str, chunk: int) -> None:
    web = load_edges(str(write(tmp_path, text)), chunk=chunk)
    assert web.urls == ["http://b/", "http://a/x"]
    assert edges_of(web) == [(0, 1), (1, 0)]
    assert web.hosts is not None
    assert web.hosts.tolist() == [0, 1]
    assert web.host_names == ["b", "a"]


def test_a_quoted_url_may_hold_a_comma(tmp_path: Path) -> None:
    web = load(write(tmp_path, '"http://a/1,2",http://b/\n'))
    assert web.urls == ["http://a/1,2", "http://b/"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "edges.txt: no links; expected lines of a source and a target"),
        ("# only\n% comments\n\n", "edges.txt: no links; expected"),
        ("0 1\n2\n", "edges.txt, line 2: '2': only one column; expected a source and a target"),
        ("5\n0 1\n", "edges.txt, line 1: '5': only one column"),
        ("0 1\n# note\n2 x\n", "edges.txt, line 3: '2 x': not a page number"),
        ("0 1\n1,,2\n", "line 2: '1,,2': not a page number"),
        ("0 1\n1.5 2\n", "line 2: '1.5 2': not a page number"),
        ("0 1\n3 4x\n", "line 2: '3 4x': not a page number"),
        ("src dst\n0 1\nsrc dst\n", "line 3: 'src dst': not a page number"),
        ("0 1\n-1 2\n", "line 2: '-1 2': a page number is negative"),
        ("-1 2\n", "line 1: '-1 2': a page number is negative"),
        ("0 1\n2 9223372036854775808\n", "line 2: .*larger than 9223372036854775807"),
        ("0 99999999999999999999999\n", "line 1: .*larger than"),
        ("alpha beta\ngamma delta\n", "line 2: 'gamma delta': neither page numbers nor URLs"),
        ("src dst\n", "line 1: 'src dst': neither page numbers nor URLs"),
        ("http://a/\thttp://b/\nhttp://a/\n", "line 2: 'http://a/': only one column"),
        ("http://a/\thttp://b/\n\nhttp://a/\tb\n", "line 3: 'b' is not a URL"),
        (b"http://a/\thttp://b/\nhttp://a/\thttp://\xff/\n", "line 2: .*not UTF-8"),
        (b"\x00\x01\x02\xff\n", "line 1: .*neither page numbers nor URLs"),
        ("%%MatrixMarket matrix coordinate\n3 3 1\n1 2\n", "edges.txt: a Matrix Market file"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, text: str | bytes, message: str) -> None:
    for chunk in (8, 2**20):
        with pytest.raises(SourceError, match=message):
            load_edges(str(write(tmp_path, text)), chunk=chunk)


def test_the_largest_number_of_64_bits_is_a_page(tmp_path: Path) -> None:
    web = load(write(tmp_path, f"0 {2**63 - 1}\n"))
    assert web.ids is not None
    assert web.ids.tolist() == [0, 2**63 - 1]


@pytest.mark.parametrize("lines", [10, 50_000])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_gzip_file_is_refused(tmp_path: Path, lines: int, share: float) -> None:
    data = gzip.compress("".join(f"{i}\t{i * 7 % lines}\n" for i in range(lines)).encode())
    with pytest.raises(SourceError, match=r"cut\.gz: the gzip stream ends early; the file is truncated"):
        load(write(tmp_path, data[: int(len(data) * share)], "cut.gz"))


def test_a_damaged_gzip_file_is_refused(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(b"0\t1\n" * 1000))
    data[20] ^= 0xFF
    with pytest.raises(SourceError, match=r"the gzip stream is damaged|ends early"):
        load(write(tmp_path, bytes(data)))


def test_progress_is_told_how_many_links_were_read(tmp_path: Path) -> None:
    told: list[str] = []
    load(write(tmp_path, "0 1\n1 2\n"), progress=told.append)
    assert told == ["edges.txt: 2 links read"]


def test_the_parser_is_the_same_interpreted(tmp_path: Path) -> None:
    data = np.frombuffer(b"# x\n0 1\n22,33\n\n7\t8 9\n5 -5\n", np.uint8)
    src, dst = np.zeros(8, np.int64), np.zeros(8, np.int64)
    assert _parse(data, 0, src, dst) == (5, 3, -3)
    assert src.tolist()[:3] == [0, 22, 7]
    assert dst.tolist()[:3] == [1, 33, 8]
