"""Generated webs for benchmarks, larger than memory, written straight to disk."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from benchmarks.large_web import PIECE, Large, write_large
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.errors import InputError, SpecError
from frontrank.sources import load
from frontrank.sources.imported_crawl import load_crawl
from frontrank.web.web import Web

SMALL = "pages=3000,links=6,frontier=0.25,seed=3"
GOLDEN = 490334076


ROOT = Path(__file__).parent.parent


def build(spec: str) -> Web:
    return Large.parse(spec).build()


def checksum(web: Web) -> int:
    crc = 0
    for array in (web.indptr, web.targets, web.hosts, web.views, web.seeds):
        assert array is not None
        crc = zlib.crc32(array.tobytes(), crc)
    return crc


def test_the_bytes_stay_what_they_were() -> None:
    # Published figures name generated webs by their specification: a change here changes them all.
    assert checksum(build(SMALL)) == GOLDEN


def test_the_bytes_do_not_depend_on_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = Large(pages=2 * PIECE + 5, links=2.0, seed=9)
    made = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(os, "cpu_count", lambda threads=threads: threads)
        made.append(checksum(Large(**vars(spec)).build()))
    assert made[0] == made[1] == made[2]


def test_interpreted_kernels_give_the_same_bytes() -> None:
    code = "import tests.test_large_web as t; print(t.checksum(t.build(t.SMALL)))"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(run.stdout) == checksum(build(SMALL))


def test_on_disk_and_in_memory_are_one_web(tmp_path: Path) -> None:
    write_large(SMALL, tmp_path / "small.crawl")
    assert checksum(load(tmp_path / "small.crawl")) == checksum(build(SMALL))
    assert os.listdir(tmp_path) == ["small.crawl"]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(4, 300), st.floats(1, 20), st.floats(0, 1), st.floats(0, 0.45), st.integers(0, 10), st.integers(0, 2**63 - 1)
)
def test_links_are_distinct_and_none_leads_home(
    pages: int, links: float, locality: float, frontier: float, hosts: int, seed: int
) -> None:
    web = Large(pages, min(links, pages / 4), min(hosts, pages), locality, frontier, 0.5, seed).build()
    for page in range(web.pages):
        row = web.targets_of(page).tolist()
        assert len(set(row)) == len(row)
        assert page not in row
        assert all(0 <= target < pages for target in row)


def test_the_shares_are_as_asked_for() -> None:
    web = build("pages=60000,links=12,locality=0.7,impact=0.1,seed=2")
    assert web.hosts is not None
    assert web.views is not None
    source = np.repeat(np.arange(web.pages), web.out_degree())
    assert web.links / web.pages == pytest.approx(12, rel=0.01)
    assert np.mean(web.hosts[source] == web.hosts[web.targets]) == pytest.approx(0.7, abs=0.02)
    assert np.mean(web.views > 0) == pytest.approx(0.1, rel=0.05)


def test_in_degrees_are_as_uneven_as_those_of_synthetic_webs() -> None:
    shares = []
    spec = "pages=60000,links=12,seed=2"
    for web in (build(spec), load(f"synthetic:{spec}")):
        degrees = np.sort(np.bincount(web.targets, minlength=web.pages))[::-1]
        shares.append(degrees[: web.pages // 100].sum() / web.links)
    assert shares[0] == pytest.approx(shares[1], abs=0.05)


def test_with_a_frontier_it_is_a_crawl(tmp_path: Path) -> None:
    write_large(SMALL, tmp_path / "small.crawl")
    crawl = load_crawl(tmp_path / "small.crawl")
    waiting = np.setdiff1d(np.arange(crawl.web.pages), crawl.fetched)
    assert len(waiting) == pytest.approx(0.25 * crawl.web.pages, rel=0.1)
    assert not crawl.web.out_degree()[waiting].any()
    assert np.isin(waiting, crawl.web.targets).all()


def test_the_command_writes_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.large_web", "large:pages=1000,links=5", str(tmp_path / "some.web")]
    subprocess.run(command, cwd=ROOT, check=True)
    web = load(tmp_path / "some.web")
    assert (web.pages, web.links, web.name) == (1000, 4996, "large:pages=1000,links=5")
    (tmp_path / "some.web" / "diary.txt").write_text("mine")
    again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert again.returncode == 2
    assert "exists and holds more than a web (diary.txt); give another path, or --force" in again.stderr


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("page=10", "there is no parameter 'page'; did you mean 'pages'"),
        ("pages=1", "pages must be a whole number from 2 to 2147483646, got 1"),
        ("pages=100,links=26", "links must be a number from 1 to 25, at most a quarter of pages, got 26"),
        ("links=0.5", "links must be .*, got 0.5"),
        ("pages=10,links=2,hosts=11", "hosts must be a whole number from 0 to 10.*got 11"),
        ("frontier=1", "frontier must be a number from 0 to 0.45, got 1"),
        ("impact=-1", "impact must be a number from 0 to 1, got -1"),
        ("locality=nan", "locality must be .*, got nan"),
        (
            "pages=2e9,links=500",
            " in memory, and .* free; write it to disk, and use that: python -m benchmarks.large_web large:pages=",
        ),
    ],
)
def test_a_bad_specification_is_told_in_one_sentence(spec: str, message: str) -> None:
    with pytest.raises(SpecError) as told:
        build(spec)
    assert re.search(message, str(told.value))
    assert str(told.value).startswith("large:")


def test_a_disk_without_room_is_told_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"links=1000 takes 8,\d+\.\d GB on disk, and .* GB are free there; make it smaller"):
        write_large("pages=2e9,links=1000", tmp_path / "too.large")
    assert os.listdir(tmp_path) == []
