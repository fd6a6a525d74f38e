"""Webs in Parquet on this machine: what is read, what is ranked, and what broken tables are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frontrank.cli import main
from frontrank.errors import InputError, SourceError
from frontrank.lab.best_pages import best, local_ranking, local_scores, save_scores
from frontrank.orderings.registry import parse_ranker
from frontrank.sources.parquet_crawl import check_fits, open_crawl
from frontrank.web.importance import importance
from frontrank.web.web import Web
from tests.parquet_crawls import write_crawl, write_table

quietly = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_without_fetched_the_scores_are_the_importance_of_the_whole_web(tmp_path: Path) -> None:
    crawl = open_crawl(str(write_crawl(tmp_path, fetched=False)))
    table = pq.read_table(tmp_path / "links")
    web = Web.from_edges(table["source"].to_numpy(), table["target"].to_numpy(), crawl.pages)
    scores, _ = local_scores(crawl, parse_ranker("pagerank"), None)
    assert np.abs(scores - importance(web)).max() < 1e-12


def test_links_and_worth_of_waiting_pages_count_for_nothing(tmp_path: Path) -> None:
    links = {"source": [0, 0, 2, 2], "target": [1, 2, 1, 3]}
    write_table(tmp_path, "links", links)
    write_table(tmp_path, "pages", {"page": [3, 2, 1, 0], "fetched": [False, False, False, True], "views": [9, 9, 9, 1]})
    crawl = open_crawl(str(tmp_path))
    ranking, scores, view = local_ranking(crawl, parse_ranker("indegree"), None, 10)
    assert scores.tolist() == [0.0, 1.0, 1.0, 0.0]
    assert ranking.urls == ["1", "2", "3"], "among equals the smaller number first; fetched pages do not wait"
    assert view.impact is not None and view.impact.tolist() == [1.0, 0.0, 0.0, 0.0]


@quietly
@given(
    st.integers(2, 12).flatmap(
        lambda pages: st.tuples(
            st.lists(st.tuples(st.integers(0, pages - 1), st.integers(0, pages - 1)), max_size=40),
            st.permutations(range(pages)),
            st.lists(st.booleans(), min_size=pages, max_size=pages).filter(any),
        )
    ),
    st.integers(1, 12),
)
def test_a_view_has_the_links_of_the_pages_fetched_first(
    tmp_path: Path, drawn: tuple[list[tuple[int, int]], list[int], list[bool]], rows: int
) -> None:
    links, order, fetched = drawn
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    write_table(
        folder,
        "links",
        {"source": pa.array([p for p, _ in links], pa.int64()), "target": pa.array([q for _, q in links], pa.int64())},
        parts=2,
    )
    write_table(
        folder, "pages", {"page": order, "fetched": [fetched[page] for page in order], "views": [page + 1 for page in order]}
    )
    crawl = open_crawl(str(folder))
    first = [page for page, done in enumerate(fetched) if done][:rows]
    view = crawl.view(rows=rows)
    assert view.source.tolist() == first and view.known == len(order)
    for at, page in enumerate(first):
        row = view.target[view.indptr[at] : view.indptr[at + 1]].tolist()
        assert row == list(dict.fromkeys(q for p, q in links if p == page and q != p))
    assert view.links == view.indptr[-1]
    assert view.impact is not None
    assert view.impact.tolist() == [page + 1.0 if page in first else 0.0 for page in range(len(order))]


def test_links_are_mapped_and_their_files_are_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    crawl = open_crawl(str(write_crawl(tmp_path / "web")))
    assert all(isinstance(array.base, np.memmap) for array in crawl.rows)
    assert not any((tmp_path / "temporary").iterdir())


def test_engines_that_differ_in_the_last_bits_choose_the_same_pages() -> None:
    one, other = np.array([0.1 + 0.2, 0.3, 0.5]), np.array([0.3, 0.1 + 0.2, 0.5])
    assert best(np.arange(3), one, 3).tolist() == best(np.arange(3), other, 3).tolist() == [2, 0, 1]


def test_all_scores_are_written_whole(tmp_path: Path) -> None:
    write_crawl(tmp_path / "web")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").touch()
    with pytest.raises(SystemExit):
        main(["rank", str(tmp_path / "web"), "--out", str(tmp_path / "n.csv"), "--scores", str(tmp_path / "out")])
    assert (tmp_path / "out" / "mine.txt").exists(), "a folder that is not ours is left alone"
    save_scores(str(tmp_path / "scores"), np.array([0.5, 0.25]))
    assert pq.read_table(tmp_path / "scores").to_pydict() == {"page": [0, 1], "score": [0.5, 0.25]}
    assert (tmp_path / "scores" / "_SUCCESS").exists()


def test_the_command_ranks_tables_as_the_library_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_crawl(tmp_path / "web")
    main(
        [
            "rank",
            str(tmp_path / "web"),
            "--ordering",
            "rw-eg:omega=0.5",
            "--budget",
            "7",
            "--json",
            "--out",
            f"{tmp_path}/n.csv",
        ]
    )
    told = json.loads(capsys.readouterr().out)
    ranking, _, _ = local_ranking(open_crawl(str(tmp_path / "web")), parse_ranker("rw-eg:omega=0.5"), None, 7)
    assert [page["url"] for page in told["next"]] == ranking.urls


# --- bad input ---


def test_a_table_that_a_job_did_not_end_is_not_ranked(tmp_path: Path) -> None:
    write_crawl(tmp_path)
    (tmp_path / "links" / "_temporary").mkdir()
    with pytest.raises(SourceError, match=r"links: half-written \(it holds _temporary\); let the job that writes it end"):
        open_crawl(str(tmp_path))


def test_bytes_that_are_not_what_was_written_are_not_ranked(tmp_path: Path) -> None:
    write_table(tmp_path, "pages", {"page": np.arange(2000)})
    links = pa.table({"source": np.arange(2000), "target": np.zeros(2000, np.int64)})
    whole = tmp_path / "links.parquet"
    pq.write_table(links, whole, compression="none", use_dictionary=False, write_page_checksum=True)
    data = bytearray(whole.read_bytes())
    data[data.index((1500).to_bytes(8, "little") + (1501).to_bytes(8, "little"))] ^= 1  # another page, and a valid one
    whole.write_bytes(data)
    with pytest.raises(SourceError, match=r"links\.parquet: is damaged or cut off"):
        local_ranking(open_crawl(str(tmp_path)), parse_ranker("indegree"), None, 1)


def test_urls_of_the_best_pages_are_found_wherever_they_stand(tmp_path: Path) -> None:
    crawl = open_crawl(str(write_crawl(tmp_path)))
    asked = [699, 3, 3, 250]
    assert crawl.urls_of(asked) == [f"http://h{page % 7}.example/{page}" for page in asked]
    assert crawl.urls_of([]) == []


def test_a_part_that_is_cut_off_is_named_wherever_it_is_cut(tmp_path: Path) -> None:
    write_crawl(tmp_path)
    part = tmp_path / "links" / "part-1.parquet"
    whole = part.read_bytes()
    for size in (0, 3, 4, 100, len(whole) // 2, len(whole) - 1):
        part.write_bytes(whole[:size])
        with pytest.raises(SourceError, match=r"part-1.parquet: is damaged or cut off"):
            open_crawl(str(tmp_path))


def test_a_part_damaged_inside_is_named_too(tmp_path: Path) -> None:
    write_crawl(tmp_path)
    part = tmp_path / "links" / "part-1.parquet"
    whole = bytearray(part.read_bytes())
    whole[4:400] = b"\xff" * 396
    part.write_bytes(whole)
    with pytest.raises(SourceError, match=r"part-1.parquet: is damaged"):
        local_ranking(open_crawl(str(tmp_path)), parse_ranker("pagerank"), None, 1)


@pytest.mark.parametrize(
    ("pages", "links", "said"),
    [
        ({"page": [0, 1]}, {"source": [0], "target": [7]}, "page 7 is not in the pages table, which has 0 to 1"),
        ({"page": [0, 1]}, {"source": [-1], "target": [0]}, "page -1 is not in the pages table"),
        ({"page": [0, 2]}, {"source": [0], "target": [0]}, "pages must be numbered 0 to 1, each once, got 2"),
        ({"page": [0, 0]}, {"source": [0], "target": [1]}, "page 0 is there twice"),
        ({"page": [0, 1], "views": [1, -3]}, {"source": [0], "target": [1]}, "views must be numbers from 0, got -3"),
        ({"page": ["a", "b"]}, {"source": [0], "target": [1]}, "column 'page' must be int64, got string"),
        ({"number": [0, 1]}, {"source": [0], "target": [1]}, "no column 'page'; it has number"),
        ({"page": np.empty(0, np.int64)}, {"source": [0], "target": [1]}, "the pages table is empty"),
        ({"page": [0, 1], "fetched": [True, True]}, {"source": [0], "target": [1]}, "every page is fetched"),
        ({"page": [0, 1], "fetched": [False, False]}, {"source": [0], "target": [1]}, "no page is fetched"),
    ],
)
def test_what_is_wrong_with_tables_is_said(pages: dict[str, Any], links: dict[str, Any], said: str, tmp_path: Path) -> None:
    write_table(tmp_path, "pages", pages)
    write_table(tmp_path, "links", links)
    ranker = parse_ranker("rw" if "views" in pages else "pagerank")
    with pytest.raises(InputError, match=said):
        local_ranking(open_crawl(str(tmp_path)), ranker, None, 1)


def test_a_web_that_does_not_fit_is_told_before_it_is_read(tmp_path: Path) -> None:
    write_crawl(tmp_path)
    crawl, ranker = open_crawl(str(tmp_path)), parse_ranker("rw-eg:omega=0.5")
    check_fits(crawl, ranker, None, 10**9)
    line = rf"frontrank rank {tmp_path} --ordering rw-eg:omega=0\.5 --engine spark$"
    with pytest.raises(
        InputError, match=r"6,000 links and 700 pages need about 0\.0 GB of memory for .* free; free some, or: " + line
    ):
        check_fits(crawl, ranker, 1000, 10**9)
    with pytest.raises(InputError, match=r"need about 0\.0 GB of disk while links are sorted, .* set TMPDIR .*, or: " + line):
        check_fits(crawl, ranker, 10**9, 1000)


@pytest.mark.parametrize(
    ("ranker", "said"),
    [("q-overlap", "has no queries.parquet"), ("rw", "neither"), ("ml", "neither")],
)
def test_a_ranker_says_what_it_lacks(ranker: str, said: str, tmp_path: Path) -> None:
    write_table(tmp_path, "pages", {"page": [0, 1]})
    write_table(tmp_path, "links", {"source": [0], "target": [1]})
    with pytest.raises(InputError, match=said):
        local_ranking(open_crawl(str(tmp_path)), parse_ranker(ranker), None, 1)
