"""Webs that go to disk without being in memory: the same as through memory, whole or not at all."""

from __future__ import annotations

import gzip
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frontrank.crawl.crawl import Crawl
from frontrank.errors import InputError, SourceError, StorageError
from frontrank.orderings.registry import parse
from frontrank.pages.urls import host_of
from frontrank.sources import bvgraph_stream, convert, edges, load, spilled
from frontrank.sources.edges import load_edges, write_edges
from frontrank.sources.names import HostTable, NameTable, SameKey
from frontrank.sources.spilled import SpilledLinks
from frontrank.system import capacity
from frontrank.web.strings import Packed
from frontrank.web.web import Web, hosts_from_urls
from tests.oracles import bvgraph as oracle
from tests.test_sources_bvgraph import forms, graphs

COLUMNS = ("indptr", "targets", "ids", "hosts", "seeds", "views", "clicks")
NAMES = ("urls", "host_names")
quietly = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def assert_same(a: Web, b: Web) -> None:
    for column in COLUMNS:
        x, y = getattr(a, column), getattr(b, column)
        assert (x is None) == (y is None), column
        assert x is None or (x.dtype == y.dtype and x.tolist() == y.tolist()), column
    for column in NAMES:
        x, y = getattr(a, column), getattr(b, column)
        assert (x is None) == (y is None), column
        assert x is None or list(x) == list(y), column


def packed(strings: list[str]) -> Packed:
    encoded = [string.encode() for string in strings]
    ends = np.cumsum([0, *map(len, encoded)])
    return Packed(np.frombuffer(b"".join(encoded), np.uint8), ends.astype(np.int64))


class TestSpilledLinks:
    @given(st.data())
    @quietly
    def test_links_sorted_on_disk_are_those_sorted_in_memory(self, tmp_path_factory: Any, data: st.DataObject) -> None:
        pages = data.draw(st.integers(1, 60))
        page = st.integers(0, pages - 1)
        links = data.draw(st.lists(st.tuples(page, page), max_size=200))
        if data.draw(st.booleans()):
            links.sort(key=lambda link: link[0])
        source, target = (np.array([link[i] for link in links], np.int64) for i in (0, 1))
        folder = tmp_path_factory.mktemp("spill")
        with pytest.MonkeyPatch.context() as patch:
            for name, most in (("PIECE", 50), ("BUCKET", 50), ("GROUPS", 30), ("MAX_BUCKETS", 5)):
                patch.setattr(spilled, name, data.draw(st.integers(1, most), name))
            step = data.draw(st.integers(1, 80))
            with SpilledLinks(folder, "web") as links_:
                for at in range(0, len(links), step):
                    links_.add(source[at : at + step], target[at : at + step])
                count = links_.write(pages)
        web = Web.from_edges(source, target, pages)
        assert np.load(folder / "indptr.npy").tolist() == web.indptr.tolist()
        assert np.load(folder / "targets.npy").tolist() == web.targets.tolist()
        assert count == web.links
        assert sorted(path.name for path in folder.iterdir()) == ["indptr.npy", "targets.npy"]

    def test_a_page_with_many_links_out_of_order_keeps_each_once(self, tmp_path: Path) -> None:
        draw = np.random.default_rng(2)
        source, target = draw.integers(0, 3, 5000), draw.integers(0, 900, 5000)
        with SpilledLinks(tmp_path, "web") as links:
            links.add(source, target)
            links.write(900)
        assert np.load(tmp_path / "targets.npy").tolist() == Web.from_edges(source, target, 900).targets.tolist()


numbers = st.one_of(st.integers(0, 12), st.integers(0, 300), st.integers(0, 2**63 - 1))
urls = st.builds(
    "{}://{}{}".format,
    st.sampled_from(["http", "https", "HTTP", "ftp"]),
    st.sampled_from(
        ["a", "b.c", "B.c", "xn--bcher-kva.example", "bücher.example", "a:80", "a:8080", "1.2", "u@a", "a..b", "_x.a"]
    ),
    st.sampled_from(["", "/", "/1,2", "/é", "?q", "#f", '/"']),
)


class TestEdgeLists:
    @given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=60), st.sampled_from([8, 64, 2**20]))
    @quietly
    def test_page_numbers(self, tmp_path_factory: Any, links: list[tuple[int, int]], chunk: int) -> None:
        folder = tmp_path_factory.mktemp("edges")
        (folder / "e.txt").write_text("".join(f"{a} {b}\n" for a, b in links))
        (folder / "web").mkdir()
        write_edges(str(folder / "e.txt"), folder / "web", chunk=chunk)
        assert_same(load_edges(str(folder / "e.txt")), load(folder / "web"))

    @given(st.lists(st.tuples(urls, urls), min_size=1, max_size=40), st.sampled_from(["\t", " ", ","]), st.booleans())
    @quietly
    def test_urls(self, tmp_path_factory: Any, links: list[tuple[str, str]], separator: str, small: bool) -> None:
        folder = tmp_path_factory.mktemp("edges")

        if separator == " ":  # a comma would be taken for what divides columns
            links = [(a.replace(",", ""), b.replace(",", "")) for a, b in links]

        def field(url: str) -> str:
            return '"' + url.replace('"', '""') + '"' if separator == "," else url

        (folder / "e.txt").write_text("".join(f"{field(a)}{separator}{field(b)}\n" for a, b in links))
        (folder / "web").mkdir()
        write_edges(str(folder / "e.txt"), folder / "web", chunk=64 if small else 2**20)
        web = load(folder / "web")
        seen = list(dict.fromkeys(url for link in links for url in link))
        assert list(web.urls or ()) == seen
        assert list(web.host_names or ()) == list(dict.fromkeys(map(host_of, seen)))
        assert_same(load_edges(str(folder / "e.txt")), web)

    def test_convert_reads_them_packed_and_leaves_nothing_else(self, tmp_path: Path) -> None:
        (tmp_path / "e.txt.gz").write_bytes(gzip.compress(b"# note\n2 1\n0 1\n0 2\n0 1\n"))
        told: list[str] = []
        web = convert(tmp_path / "e.txt.gz", tmp_path / "e.web", progress=told.append)
        assert_same(load(tmp_path / "e.txt.gz"), web)
        assert web.name == "e.txt.gz"
        assert told == ["e.txt.gz: 4 links read", "e.txt.gz: 3 links sorted"]
        assert sorted(path.name for path in (tmp_path / "e.web").iterdir()) == ["indptr.npy", "targets.npy", "web.json"]

    @pytest.mark.parametrize("bad", ["0 1\n1 2\n2 x\n", "http://a/ http://b/\nhttp://a/ c\n"])
    def test_a_bad_line_is_named_and_nothing_is_left(self, tmp_path: Path, bad: str) -> None:
        (tmp_path / "e.txt").write_text(bad)
        with pytest.raises(SourceError, match=r"e\.txt, line [23]: "):
            convert(tmp_path / "e.txt", tmp_path / "e.web")
        assert [path.name for path in tmp_path.iterdir()] == ["e.txt"]

    def test_one_that_does_not_fit_in_memory_is_refused_with_the_command_that_does(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "large.txt"
        path.write_text("".join(f"{i} {i + 1}\n" for i in range(1000)))
        monkeypatch.setattr(edges, "SMALL", 100)
        monkeypatch.setattr(capacity, "free_memory", lambda: 5000)
        with pytest.raises(
            SourceError, match=r"about 1,000 links take .* free; .*: frontrank convert \S*large\.txt large\.web$"
        ):
            load(path)
        assert convert(path, tmp_path / "large.web").links == 1000

    def test_a_disk_without_room_is_told_before_the_work(self, tmp_path: Path) -> None:
        path = tmp_path / "edges.txt"
        path.write_text("0 1\n" * 2**20)
        free = shutil.disk_usage(tmp_path).free
        os.truncate(path, 1000 * 2**30)  # with a hole in it, so that it takes no room
        assert free < 12 * 250 * 2**30
        with pytest.raises(
            InputError, match=r"edges.txt: writing about [\d,]+ links takes .* GB on disk, and .* are free there"
        ):
            convert(path, tmp_path / "a.web")
        assert os.listdir(tmp_path) == ["edges.txt"]

    def test_a_full_disk_leaves_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "e.txt"
        np.savetxt(path, np.random.default_rng(1).integers(0, 50_000, (200_000, 2)), "%d")
        program = (
            "import resource, sys; from frontrank.cli import main;"
            f"resource.setrlimit(resource.RLIMIT_FSIZE, ({1 << 20}, {resource.RLIM_INFINITY}));"
            "main(sys.argv[1:])"
        )
        args = [sys.executable, "-c", program, "convert", "e.txt", "e.web"]
        ran = subprocess.run(args, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert ran.returncode == 2, ran.stderr
        assert ran.stderr.startswith("frontrank: e.web cannot be written: ") and ran.stderr.count("\n") == 1
        assert list(tmp_path.iterdir()) == [path]


class TestBVGraphs:
    @given(graphs(), forms(), st.data())
    @quietly
    def test_they_are_decoded_piece_by_piece(
        self, tmp_path_factory: Any, graph: list[list[int]], form: oracle.Format, data: st.DataObject
    ) -> None:
        base = tmp_path_factory.mktemp("graph") / "g"
        oracle.write(base, graph, form, 1)
        if data.draw(st.booleans()):
            Path(f"{base}.urls").write_text("".join(f"http://h{i % 3}/{i}\r\n" for i in range(len(graph))))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bvgraph_stream, "PIECE", 8 * data.draw(st.integers(1, 4)))
            patch.setattr(bvgraph_stream, "ROWS", data.draw(st.integers(1, 8)))
            patch.setattr(bvgraph_stream, "LINKS", data.draw(st.integers(1, 20)))
            web = convert(base, f"{base}.web")
        assert_same(load(base), web)
        assert [web.targets_of(x).tolist() for x in range(web.pages)] == [
            [y for y in row if y != x] for x, row in enumerate(graph)
        ]

    @pytest.mark.parametrize("urls", [3, 5])
    def test_a_url_too_few_or_too_many_is_refused_and_nothing_is_left(self, tmp_path: Path, urls: int) -> None:
        oracle.write(tmp_path / "g", [[1], [2], [0], []], oracle.Format(), 1)
        (tmp_path / "g.urls").write_text("http://a/\n" * urls)
        before = sorted(tmp_path.iterdir())
        with pytest.raises(SourceError, match=rf"g\.urls: {urls} URLs for 4 nodes"):
            convert(tmp_path / "g", tmp_path / "g.web")
        assert sorted(tmp_path.iterdir()) == before

    def test_a_disk_without_room_is_told_before_the_work(self, tmp_path: Path) -> None:
        (tmp_path / "g.graph").write_bytes(b"\xff" * 2**17)  # no node has a link: each is one bit
        of = f"graphclass=it.unimi.dsi.webgraph.BVGraph\nnodes={2**20}\narcs={2**39}\n"
        (tmp_path / "g.properties").write_text(of)
        with pytest.raises(InputError, match=r"g: writing 549,755,813,888 links takes 2,\d+\.\d GB on disk"):
            convert(tmp_path / "g", tmp_path / "g.web")
        assert not (tmp_path / "g.web").exists()

    def test_one_that_does_not_fit_in_memory_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        oracle.write(tmp_path / "g", [[1], [2], [0], []], oracle.Format(), 1)
        monkeypatch.setattr(capacity, "free_memory", lambda: 30)
        with pytest.raises(SourceError, match=r"about 3 links .*: frontrank convert \S*g g\.web$"):
            load(tmp_path / "g")


class TestNames:
    @given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=60))
    @quietly
    def test_names_are_numbered_in_order_of_first_appearance(self, strings: list[str]) -> None:
        given_ = packed(strings)
        names = NameTable()
        found, fresh = names.numbers(given_.data, given_.offsets[:-1], given_.offsets[1:])
        known = list(dict.fromkeys(strings))
        assert found.tolist() == [known.index(string) for string in strings]
        assert [strings[i] for i in fresh.tolist()] == known
        assert len(names) == len(known)

    @given(st.lists(urls, max_size=40), st.lists(urls, max_size=40))
    @quietly
    def test_hosts_are_those_that_a_browser_would_ask(self, first: list[str], more: list[str]) -> None:
        hosts = HostTable()
        numbers_, names = [], []
        for batch in (first, more):
            found, fresh = hosts.numbers(packed(batch))
            numbers_ += found.tolist()
            names += fresh.strings()
        expected, known = hosts_from_urls(first + more)
        assert (numbers_, names) == (expected.tolist(), known)

    def test_two_names_with_one_key_are_never_taken_for_one(self) -> None:
        names = NameTable()
        given_ = packed(["one", "two"])
        names.numbers(given_.data, given_.offsets[:1], given_.offsets[1:2])
        names.checks[0] ^= 1  # as if another name had come before, with the same key
        with pytest.raises(SameKey):
            names.numbers(given_.data, given_.offsets[:1], given_.offsets[1:2])


class TestLinksOfALiveCrawl:
    @pytest.mark.parametrize(
        ("spec", "kept"),
        [("fpr", False), ("combine:opic=1,backlink=1", False), ("combine:backlink=1,similarity=1,similarity.topic=a", True)],
    )
    def test_they_are_kept_only_for_orderings_that_read_them_again(self, tmp_path: Path, spec: str, kept: bool) -> None:
        with Crawl(parse(spec), tmp_path / "crawl") as crawl:
            crawl.seed(["http://a/"])
            for n in range(3):
                (url,) = crawl.take()
                crawl.fetched(url, [f"http://a/{n}-{i}" for i in range(4)])
            assert crawl.state.links.keeps == kept
            assert crawl.state.links.used == (12 if kept else 4)

    def test_more_than_can_be_kept_are_refused_in_a_sentence(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("frontrank.crawl.link_store.MAX_LINKS", 2000)
        with Crawl(parse("surf"), tmp_path / "crawl") as crawl:
            with pytest.raises(StorageError, match="surf reads links again, and at most 2,000 of them are kept; resume with"):
                crawl.state.links.reserve(2001)
            crawl.state.links.reserve(2000)


def test_a_pipe_is_not_called_missing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "links")
    with pytest.raises(SourceError, match="links: not a file but a pipe or a device, which can be read once only"):
        load(tmp_path / "links")
