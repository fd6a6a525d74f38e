"""Ranks of hosts from elsewhere, and the ordering that goes by them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import frontrank as fr
from frontrank.errors import SourceError, SpecError
from frontrank.orderings.registry import parse
from frontrank.orderings.stored import from_data, to_data
from frontrank.orderings.trust import written_out
from frontrank.web.ranks import Ranks, host_ranks

COMMON_CRAWL = (
    "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\n"
    "1\t3.0E7\t2\t0.002\tcom.example.www\n2\t1.5E7\t1\t0.008\torg.example\n"
)


@pytest.mark.parametrize("packed", [False, True])
def test_common_crawls_tables_are_read_by_column_with_hosts_turned_round(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "ranks.txt.gz"
    path.write_bytes(gzip.compress(COMMON_CRAWL.encode()) if packed else COMMON_CRAWL.encode())
    by_centrality, by_pagerank = (host_ranks(str(path), column) for column in ("harmonicc_val", "pr_val"))
    assert (by_centrality.of("www.example.com"), by_centrality.of("example.org")) == (1.0, 0.5)
    assert (by_pagerank.of("www.example.com"), by_pagerank.of("en.example.org")) == (0.25, 1.0)
    assert by_centrality.of("example.com") == by_centrality.least == 0.5


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    import os

    path = tmp_path / "ranks.csv"
    path.write_text("host,rank\na.example,1\nb.example,4\n", encoding="utf-8")
    assert host_ranks(str(path), "pr_val").of("a.example") == 0.25
    path.write_text("a.example 1\nb.example 2\n", encoding="utf-8")
    os.utime(path, ns=(1, 1))
    assert host_ranks(str(path), "pr_val").of("a.example") == 0.5


@given(st.dictionaries(st.from_regex(r"[a-z]{1,3}(\.[a-z]{1,3}){0,2}", fullmatch=True), st.floats(1e-6, 1e9), min_size=1))
def test_weights_are_above_0_and_at_most_1_and_keep_the_order(ranks: dict[str, float]) -> None:
    made = Ranks.of_hosts(ranks)
    for host, rank in ranks.items():
        assert 0.0 < made.of(host) <= 1.0
        assert f"x.{host}" in ranks or made.of(f"x.{host}") == made.of(host)
        assert all(made.of(other) >= made.of(host) for other, larger in ranks.items() if larger >= rank)


ODD = (
    "Example.ORG {}",
    "bücher.example,{}",
    "  a.example   {}  ",
    "b.example {} more",
    "# c.example {}",
    "d.example\t{}\r",
    "",
)
NUMBERS = st.one_of(
    st.floats(1e-300, 1e300).map(repr),
    st.integers(1, 10**25).map(str),
    st.tuples(st.integers(1, 10**9), st.integers(-30, 30)).map(lambda pair: f"{pair[0] / 1000:.3f}E{pair[1]}"),
)


@given(st.lists(st.tuples(st.sampled_from(["x.example {}", "y.example\t{}", "z-1.example,{}", *ODD]), NUMBERS), max_size=9))
def test_lines_are_read_as_one_by_one(tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[str, str]]) -> None:
    """By the kernel or not: what Python's own text and numbers say."""
    path = tmp_path_factory.mktemp("ranks") / "ranks"
    text = "".join(line.format(number) + "\n" for line, number in (("first.example {}", "1"), *lines))
    path.write_text(text, encoding="utf-8", newline="")
    told: dict[str, float] = {}
    for line in text.split("\n"):
        if line.strip() and not line.startswith("#"):
            host, rank = line.replace(",", " ").split()[:2]
            told.setdefault(host.lower(), float(rank))
    made = host_ranks(str(path), "pr_val")
    assert len(made.keys) == len(told)
    for name, expected in told.items():
        assert made.of(name) == pytest.approx(expected / max(told.values()), rel=1e-14)


def test_a_long_table_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontrank.web.ranks.PIECE", 1000)
    head = "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\n"
    rows = "".join(f"{i}\t{2000 - i}.5\t{i}\t0.001\torg.example.h{i}\n" for i in range(1, 1001))
    (tmp_path / "ranks").write_text(head + rows)
    ranks = host_ranks(str(tmp_path / "ranks"), "harmonicc_val")
    assert [ranks.of(f"h{i}.example.org") for i in (1, 500, 1000)] == [1.0, 1500.5 / 1999.5, 1000.5 / 1999.5]
    assert (len(ranks.keys), ranks.least) == (1000, 1000.5 / 1999.5)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "contains no host with its rank"),
        ("# nothing\n\n", "contains no host with its rank"),
        ("a.example 1\nb.example\n", "line 2: must be a host and its rank, got 'b.example'"),
        ("a.example 1\nb.example -1\n", "line 2: a rank must be a number above 0, got '-1'"),
        ("a.example 1\nb.example nan\n", "line 2: a rank must be a number above 0, got 'nan'"),
        ("a.example 1\nb.example many\n", "line 2: a rank must be a number above 0, got 'many'"),
        ("#harmonicc_pos\t#host_rev\n1\torg.example\n", "columns must be host_rev and harmonicc_val"),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "ranks").write_text(content, encoding="utf-8")
    with pytest.raises(SourceError, match=says):
        fr.parse(f"prior:file={tmp_path / 'ranks'}")


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("prior", "no file given; write prior:file=FILE"),
        ("prior:file=FILE,inner=dfs", "inner must be fpr, opic, backlink or bfs"),
        ("prior:file=FILE,column=pr_pos", "column must be harmonicc_val or pr_val; did you mean 'pr_val'"),
        ("prior:file=FILE,power=-1", "power must be a number from 0, got -1"),
        ("prior:file=FILE,budget=-1", "budget must be a number of pages from 0, got -1"),
    ],
)
def test_parameters_out_of_range_are_refused(spec: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        fr.parse(spec.replace("FILE", "tests/assets/ranks.tsv"))


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(SourceError, match="no-such-file: the ranks of hosts cannot be read"):
        fr.parse("prior:file=no-such-file")


def test_a_host_goes_beyond_its_share_only_where_no_other_has_a_page_within_its_own() -> None:
    web = fr.load("synthetic:pages=600,links=6,seed=5")
    assert web.hosts is not None and web.host_names is not None and web.seeds is not None
    ranks = host_ranks("tests/assets/ranks.tsv", "pr_val")
    share = [max(1, int(100 * ranks.of(name))) for name in web.host_names]
    taken = [0] * len(share)
    known, fetched = set(web.seeds.tolist()), set[int]()
    beyond = 0
    for page in fr.order(web, "prior:file=tests/assets/ranks.tsv,budget=100"):
        host = int(web.hosts[page])
        if taken[host] >= share[host]:
            beyond += 1
            assert all(taken[web.hosts[other]] >= share[web.hosts[other]] for other in known - fetched)
        taken[host] += 1
        fetched.add(page)
        known |= set(web.targets_of(page).tolist())
    assert beyond > 0


def test_a_crawl_keeps_the_ranks_that_it_began_with(tmp_path: Path) -> None:
    path = tmp_path / "ranks.txt"
    path.write_text("b.example 4\na.example 1\n", encoding="utf-8")
    policy = parse(f"prior:file={path}")
    assert policy.spec() == f"prior:file={path}"
    assert from_data(json.loads(json.dumps(to_data(policy)))) == policy == parse(written_out(policy))
    crawl = fr.Crawl(policy, tmp_path / "crawl")
    crawl.seed(["http://a.example/"])
    crawl.take()
    crawl.fetched("http://a.example/", links=["http://a.example/1", "http://b.example/"])
    crawl.abandon()
    path.unlink()
    with fr.Crawl.recover(tmp_path / "crawl") as again:
        assert again.take() == ["http://b.example/"]


def test_a_large_file_must_stay_what_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontrank.orderings.rank_file.STORED", 1)
    path = tmp_path / "ranks.txt"
    path.write_text("b.example 4\na.example 1\n", encoding="utf-8")
    stored = json.loads(json.dumps(to_data(parse(f"prior:file={path}"))))
    assert stored["fields"]["file"]["fields"]["hosts"] == []
    assert from_data(stored) == parse(f"prior:file={path}")
    path.write_text("b.example 400\na.example 1\n", encoding="utf-8")
    with pytest.raises(SpecError, match="is not what it was when the crawl began"):
        from_data(stored)
