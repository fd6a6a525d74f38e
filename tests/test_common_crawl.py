"""Common Crawl's graphs of hosts and domains: names turned round, parts in order, and what is wrong with a file."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frontrank.errors import InputError, SourceError
from frontrank.sources import common_crawl, convert, load
from frontrank.web.ranks import host_ranks
from frontrank.web.web import Web
from tests.test_loading import assert_same

HOSTS = ["com.example", "com.example.shop", "org.example", "org.xn--bcher-kva"]


def domains(folder: Path, hosts: list[str] = HOSTS, links: str = "0\t1\n2\t0\n0\t3\n", third: str = "\t7") -> Path:
    """As cc-main-2026-jan-feb-mar/domain/ is fetched: two files."""
    folder.mkdir()
    vertices = "".join(f"{i}\t{host}{third}\n" for i, host in enumerate(hosts))
    (folder / "cc-main-2026-domain-vertices.txt.gz").write_bytes(gzip.compress(vertices.encode()))
    (folder / "cc-main-2026-domain-edges.txt.gz").write_bytes(gzip.compress(links.encode()))
    return folder


labels = st.text("abc-0é", min_size=1, max_size=4)


@given(st.lists(st.lists(labels, min_size=1, max_size=4).map(".".join), min_size=1, max_size=20), st.data())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hosts_in_parts_are_read_in_order_and_turned_round(tmp_path_factory: Any, hosts: list[str], data: Any) -> None:
    folder = tmp_path_factory.mktemp("cc")
    page = st.integers(0, len(hosts) - 1)
    links = data.draw(st.lists(st.tuples(page, page), max_size=40))
    lines = {
        "vertices": [f"{i}\t{host}" for i, host in enumerate(hosts)],
        "edges": [f"{a}\t{b}" for a, b in links],
    }
    for what, held in lines.items():
        (folder / what).mkdir()
        cut = data.draw(st.integers(0, len(held)))
        for part, some in enumerate((held[:cut], held[cut:])):
            text = "".join(f"{line}\n" for line in some).encode()
            (folder / what / f"part-{part:05}-c000.txt.gz").write_bytes(gzip.compress(text))
    names = [".".join(reversed(host.split("."))) for host in hosts]
    expected = Web.from_edges(
        [a for a, _ in links],
        [b for _, b in links],
        len(hosts),
        urls=[f"https://{name}/" for name in names],
        hosts=np.arange(len(hosts), dtype=np.int32),
        host_names=names,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(common_crawl, "CHUNK", data.draw(st.sampled_from([16, 64, 2**20])))
        assert_same(expected, load(folder))
        assert_same(expected, convert(folder, folder / "hosts.web"))


def test_a_graph_of_domains_is_a_web_that_ranks_of_hosts_can_order(tmp_path: Path) -> None:
    web = convert(domains(tmp_path / "domain"), tmp_path / "domain.web")
    assert web.name == "domain"
    assert list(web.urls or ()) == [
        "https://example.com/",
        "https://shop.example.com/",
        "https://example.org/",
        "https://xn--bcher-kva.org/",
    ]
    assert web.page_of("https://example.org/") == 2
    head = "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\t#n_hosts\n"
    ranks = tmp_path / "cc-main-2026-domain-ranks.txt.gz"
    ranks.write_bytes(gzip.compress(f"{head}1\t9e7\t1\t0.1\torg.xn--bcher-kva\t1\n2\t1e7\t2\t0.01\tcom.example\t3\n".encode()))
    weights = host_ranks(str(ranks), "harmonicc_val")
    assert [weights.of(host) for host in web.host_names or ()] == pytest.approx([1 / 9, 1 / 9, 1 / 9, 1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"links": "0\t1\n\n1\t4\n"}, r"edges\.txt\.gz, line 3: 4 is not a vertex; ids are 0 to 3"),
        ({"links": "0\t1\n1 x\n"}, r"edges\.txt\.gz, line 2: '1 x': not a page number"),
        ({"hosts": ["a", ""]}, r"vertices\.txt\.gz, line 2: .*only one column"),
        ({"hosts": []}, r"contains no vertices"),
    ],
)
def test_a_line_that_cannot_be_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    folder = domains(tmp_path / "d", **change)
    works: tuple[Callable[[], object], ...] = (lambda: load(folder), lambda: convert(folder, tmp_path / "d.web"))
    for work in works:
        with pytest.raises(SourceError, match=message):
            work()
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


@pytest.mark.parametrize(
    ("vertices", "message"),
    [
        ("0\ta\n2\tb\n", r"line 2: '2\\tb': its id must be 1; vertices are numbered 0, 1, 2"),
        ("0\ta\nb\n", r"line 2: 'b': not an id"),
        ("0\ta\n1 b\n", r"line 2: '1 b': only one column"),
        (b"0\t\xff\n", r"line 1: not UTF-8 text"),
    ],
)
def test_vertices_out_of_turn_are_refused(tmp_path: Path, vertices: str | bytes, message: str) -> None:
    folder = domains(tmp_path / "d")
    data = vertices if isinstance(vertices, bytes) else vertices.encode()
    (folder / "cc-main-2026-domain-vertices.txt.gz").write_bytes(gzip.compress(data))
    with pytest.raises(SourceError, match=message):
        load(folder)


def test_a_part_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    folder = domains(tmp_path / "d", links="0\t1\n" * 5000)
    edges = folder / "cc-main-2026-domain-edges.txt.gz"
    whole = edges.read_bytes()
    for size in (5, 20, len(whole) - 3):
        edges.write_bytes(whole[:size])
        with pytest.raises(SourceError, match=r"edges\.txt\.gz: the gzip stream (ends early|is damaged)"):
            convert(folder, tmp_path / "d.web")
    assert not (tmp_path / "d.web").exists()


def test_a_disk_without_room_is_told_before_the_work(tmp_path: Path) -> None:
    folder = tmp_path / "graph"
    folder.mkdir()
    (folder / "vertices.txt").write_text("0\torg.example\n1\torg.other\n")
    (folder / "edges.txt").write_text("0\t1\n")
    os.truncate(folder / "edges.txt", 4000 * 2**30)  # a hole, which takes no room
    with pytest.raises(
        InputError, match=r"graph: writing about [\d,]+ links takes 2,\d+\.\d GB on disk, and .* are free there"
    ):
        convert(folder, tmp_path / "graph.web")
    assert os.listdir(tmp_path) == ["graph"]
