"""Spark's scores are the local engine's, whatever the web looks like; and what Spark cannot do is said in a sentence.

One session for all tests. They are skipped where there is no Java.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JNetworkError

from frontrank.errors import EngineError, FrontrankError, InputError, SourceError
from frontrank.lab.best_pages import local_ranking
from frontrank.orderings.batch.fusion import ranks
from frontrank.orderings.batch.ml.links import LinkSums
from frontrank.orderings.registry import parse_ranker
from frontrank.sources.parquet_crawl import open_crawl
from frontrank.spark.local_web import run_locally
from frontrank.spark.ml import _link_sums, _local_sums
from frontrank.spark.places import places_by
from frontrank.spark.rank import check_ranker, open_web, rank
from frontrank.spark.session import check_java, check_master, plain_errors, session, settings_of
from frontrank.spark.web import Cut
from frontrank.system.stopping import watching
from tests.parquet_crawls import write_crawl, write_history, write_queries, write_table
from tests.patience import PATIENCE_S

CUT = Cut(width=64, span=300, bucket=16, reach=256, task=500)  # several of everything
FEW = "alpha=0.3,tolerance=0.001"  # few iterations: both engines stop at the same one
QUICK = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC", "spark.driver.memory": "1g"}


def quiet(*_: Any) -> None:
    """Nobody waits for a test."""


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    try:
        check_java()
    except InputError as error:
        pytest.skip(str(error))
    with session("local[2]", QUICK) as started:
        yield started


@pytest.fixture(scope="module")
def web(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A web that several rankers are tried on: blocks are made once."""
    folder = tmp_path_factory.mktemp("web")
    # A page that all others link to, one that links to all, and a heavy segment.
    hub = np.arange(700)
    write_crawl(folder)
    write_table(folder / "links", "hub", {"source": np.r_[hub, np.full(700, 5)], "target": np.r_[np.full(700, 3), hub]})
    with open_web(spark, str(folder), str(tmp_path_factory.mktemp("work")), quiet, cut=CUT) as opened:
        yield opened


@pytest.mark.parametrize(
    "spec",
    [
        "indegree",
        f"pagerank:{FEW}",
        f"rw:gamma=0.5,{FEW}",
        f"rw-eg:omega=0.6,{FEW}",
        f"rw-eg:{FEW}",
        f"rw-virtual:gamma=0.5,{FEW}",
    ],
)
def test_spark_gives_the_scores_and_the_pages_of_the_local_engine(spec: str, web: Any, tmp_path: Path) -> None:
    ranker = parse_ranker(spec)
    ranking, scores, view = local_ranking(open_crawl(web.tables.path), ranker, None, 50)
    found = rank(web, ranker, 50, str(tmp_path / "scores"))
    assert found.ranking.urls == ranking.urls
    table = pq.read_table(tmp_path / "scores")
    assert sorted(table["page"].to_pylist()) == list(range(700))
    theirs = np.empty(700)
    theirs[table["page"].to_numpy()] = table["score"].to_numpy()
    assert np.abs(theirs - scores).max() < 1e-9
    assert np.abs(theirs / scores - 1.0).max(where=scores > 0, initial=0.0) < 1e-9
    for note in view.notes.values():
        assert found.iterations == note["iterations"]


def test_a_page_that_all_link_to_is_shared_by_several_tasks(web: Any) -> None:
    blocks = web.blocks
    parts = {piece.range: piece.parts for piece in blocks.pieces}
    hub = next(number for number, (begin, end) in enumerate(blocks.ranges) if begin <= 3 < end)
    assert parts[hub] > 1, "the page with 700 inlinks"
    assert min(parts.values()) == 1, "others have a task to themselves"


def test_the_work_folder_is_empty_but_for_what_is_still_read(web: Any) -> None:
    rank(web, parse_ranker(f"pagerank:{FEW}"), 5)  # makes the blocks
    left = [path.name for path in Path(web.folder.path).iterdir()]
    assert not [name for name in left if "-pack-" in name or name.endswith((".sources", ".times"))]
    rank(web, parse_ranker(f"pagerank:{FEW}"), 5)
    now = [path.name for path in Path(web.folder.path).iterdir()]
    assert sorted(name.partition("-")[0] for name in set(now) - set(left)) == ["x"], "each iteration removes the one before"


def test_at_the_usual_parameters_both_engines_iterate_as_often_and_agree(spark: Any, tmp_path: Path) -> None:
    write_crawl(tmp_path / "web", pages=1500, links=9000)
    ranker = parse_ranker("pagerank")
    ranking, _, view = local_ranking(open_crawl(str(tmp_path / "web")), ranker, None, 200)
    with open_web(spark, str(tmp_path / "web"), str(tmp_path), quiet) as web:
        found = rank(web, ranker, 200)
    assert found.ranking.urls == ranking.urls
    assert np.abs(found.ranking.scores / ranking.scores - 1.0).max() < 1e-9
    assert [note["iterations"] for note in view.notes.values()] == [found.iterations] and found.iterations > 15


def test_without_fetched_all_pages_are_ranked(spark: Any, tmp_path: Path) -> None:
    write_crawl(tmp_path / "web", pages=100, links=300, fetched=False)
    with open_web(spark, str(tmp_path / "web"), str(tmp_path), quiet) as web:
        found = rank(web, parse_ranker(f"pagerank:{FEW}"), 1000)
    ranking, _, _ = local_ranking(open_crawl(str(tmp_path / "web")), parse_ranker(f"pagerank:{FEW}"), None, 1000)
    assert (len(ranking.urls), found.ranking.urls) == (100, ranking.urls)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["web"], "the work folder is gone"


@pytest.fixture(scope="module")
def asked(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A web with queries."""
    folder = write_queries(tmp_path_factory.mktemp("asked"))
    with open_web(spark, str(folder), str(tmp_path_factory.mktemp("work")), quiet, cut=Cut(width=64, bucket=32)) as opened:
        yield opened


def test_query_overlap_is_the_local_engines(asked: Any) -> None:
    ranking, _, _ = local_ranking(open_crawl(asked.tables.path), parse_ranker("q-overlap"), None, 60)
    found = rank(asked, parse_ranker("q-overlap"), 60)
    assert len(np.unique(ranking.scores)) > 20
    assert (found.ranking.urls, found.ranking.scores.tolist()) == (ranking.urls, ranking.scores.tolist())


@pytest.mark.parametrize("fit", ["isotonic", "quadratic"])
def test_query_hybrid_is_the_local_engines(fit: str, asked: Any) -> None:
    ranker = parse_ranker(f"q-hybrid:fit={fit}")
    ranking, _, _ = local_ranking(open_crawl(asked.tables.path), ranker, None, 60)
    found = rank(asked, ranker, 60)
    assert found.ranking.urls == ranking.urls
    assert np.abs(found.ranking.scores - ranking.scores).max() < 1e-9


@pytest.fixture(scope="module")
def remembered(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A web to learn from, cut into two tasks: a hundred iterations of it are made."""
    folder = write_history(tmp_path_factory.mktemp("remembered"))
    with open_web(spark, str(folder), str(tmp_path_factory.mktemp("work")), quiet, cut=Cut(width=128, bucket=32)) as opened:
        yield opened


@pytest.mark.parametrize("alone", [0, 20_000_000], ids=["a job a step", "a task a ranker"])
def test_learned_scores_are_the_local_engines(
    alone: int, remembered: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("frontrank.spark.ml.MAX_LOCAL", alone)
    ranking, scores, _ = local_ranking(open_crawl(remembered.tables.path), parse_ranker("ml"), None, 60)
    found = rank(remembered, parse_ranker("ml"), 60, str(tmp_path / "scores"))
    assert len(np.unique(scores)) > 100
    assert found.ranking.urls == ranking.urls
    table = pq.read_table(tmp_path / "scores").sort_by("page")
    assert np.abs(table["score"].to_numpy() - scores).max() < 1e-9
    left = {path.name for path in Path(remembered.folder.path).parent.iterdir()}
    assert left == {Path(remembered.folder.path).name}, "the folders of earlier moments are gone"


def test_a_task_that_has_a_web_for_itself_finds_what_many_find(web: Any) -> None:
    """Links in many ranges and spans, and a page that several tasks pull at otherwise."""
    names = [web.name("alone") for _ in LinkSums._fields]
    told = run_locally(web, [partial(_local_sums, tuple(names))])
    found, usual = _link_sums(web)
    assert abs(told.mass - usual) < 1e-12 and usual > 0
    for ours, theirs in zip(names, found, strict=True):
        here, there = (web.folder.vector(name, np.float64, web.pages) for name in (ours, theirs))
        assert there.any() and np.abs(here - there).max() < 1e-9
    web.drop(*names, *found)


def test_ml_with_queries_says_what_to_take(asked: Any) -> None:
    with pytest.raises(InputError, match="Spark does not read; take ml:features=links"):
        rank(asked, parse_ranker("ml"), 1)


# Keys of three kinds, so few that many are equal, in more partitions than there are keys.
@pytest.mark.parametrize("part", [7, 10_000])
def test_places_are_those_of_a_sort_wherever_equals_lie(part: int, remembered: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontrank.spark.places.PART", part)
    rng = np.random.default_rng(part)
    assert remembered.fetched
    waits = remembered.folder.vector("fetched", np.uint8, remembered.pages) == 0
    scores = [rng.integers(0, most, remembered.pages).astype(np.float64) for most in (1, 3, 1000)]
    names = [remembered.name("score") for _ in scores]
    for name, values in zip(names, scores, strict=True):
        remembered.folder.place(name, 0, values)
    for values, into in zip(scores, places_by(remembered, names), strict=True):
        found = remembered.folder.vector(into, np.float64, remembered.pages)
        assert found[waits].tolist() == ranks(values[waits]).tolist()
        assert not found[~waits].any()


# --- bad input ---


@pytest.mark.parametrize(
    ("pages", "links", "said"),
    [
        ({"page": [0, 1]}, {"source": [0], "target": [7]}, "page 7 is not in the pages table, which has 0 to 1"),
        ({"page": [0, 2]}, {"source": [0], "target": [0]}, "pages must be numbered 0 to 1, each once, got 2"),
        ({"page": [0, 0]}, {"source": [0], "target": [1]}, "page 0 is there twice"),
        ({"page": [0, 1], "fetched": [True, True]}, {"source": [0], "target": [1]}, "every page is fetched"),
    ],
)
def test_spark_says_of_wrong_tables_what_the_local_engine_says(
    pages: dict[str, Any], links: dict[str, Any], said: str, spark: Any, tmp_path: Path
) -> None:
    write_table(tmp_path, "pages", pages)
    write_table(tmp_path, "links", links)
    with open_web(spark, str(tmp_path), str(tmp_path), quiet) as web, pytest.raises(InputError, match=said):
        rank(web, parse_ranker("indegree"), 1, str(tmp_path / "scores"))
    assert not (tmp_path / "scores").exists()


def test_a_part_that_is_cut_off_or_damaged_is_named(spark: Any, tmp_path: Path) -> None:
    folder = write_crawl(tmp_path / "web", pages=100, links=300)
    part = folder / "links" / "part-1.parquet"
    whole = part.read_bytes()
    part.write_bytes(whole[:-3])
    with (
        pytest.raises(SourceError, match=r"part-1.parquet: is damaged or cut off"),
        open_web(spark, str(folder), str(tmp_path), quiet),
    ):
        pass
    part.write_bytes(b"PAR1" + b"\xff" * 396 + whole[400:])  # its footer is whole
    with open_web(spark, str(folder), str(tmp_path), quiet) as web, pytest.raises(SourceError, match=r"part-1.parquet"):
        rank(web, parse_ranker("indegree"), 1)


def test_a_full_disk_is_a_sentence_and_leaves_nothing(spark: Any, tmp_path: Path) -> None:
    write_crawl(tmp_path / "web", pages=20_000, links=900_000)
    (tmp_path / "work").mkdir()
    limit = 1_000_000  # bytes of a file, in place of a disk: links are packed into three of 1.4 MB

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [*_command(tmp_path), "--work", str(tmp_path / "work"), "--scores", str(tmp_path / "scores")]
    done = subprocess.run(command, preexec_fn=limited, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "cannot be written: File too large; free some room, or give another folder as --work" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["web", "work"]
    assert not any((tmp_path / "work").iterdir())


def test_a_full_disk_of_sparks_own_is_a_sentence(spark: Any) -> None:
    from frontrank.spark.session import plain_errors

    with pytest.raises(InputError, match="the disk is full"), plain_errors():
        spark.sql("select raise_error('java.io.IOException: No space left on device')").collect()


def test_scores_that_go_elsewhere_replace_nothing_but_scores(spark: Any, tmp_path: Path) -> None:
    write_crawl(tmp_path / "web", pages=50, links=100)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").touch()
    with open_web(spark, str(tmp_path / "web"), f"file://{tmp_path}", quiet) as web:
        with pytest.raises(InputError, match="does not contain scores of an earlier ranking"):
            rank(web, parse_ranker("indegree"), 1, f"file://{tmp_path}/mine")
        for _ in range(2):  # the second replaces the first
            rank(web, parse_ranker("indegree"), 1, f"file://{tmp_path}/scores")
    assert len(pq.read_table(tmp_path / "scores")) == 50 and (tmp_path / "scores" / "_SUCCESS").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "scores", "web"], "and nothing lies beside"
    assert (tmp_path / "mine" / "letter.txt").exists()


def test_in_a_work_folder_that_only_libraries_reach_scores_are_the_same(spark: Any, tmp_path: Path) -> None:
    write_crawl(tmp_path / "web", pages=300, links=2000)
    ranker = parse_ranker(f"rw-eg:omega=0.5,{FEW}")
    with open_web(spark, str(tmp_path / "web"), f"file://{tmp_path}", quiet, cut=Cut(bucket=32, width=64, span=200)) as web:
        found = rank(web, ranker, 40)
    ranking, _, _ = local_ranking(open_crawl(str(tmp_path / "web")), ranker, None, 40)
    assert found.ranking.urls == ranking.urls
    assert np.abs(found.ranking.scores / ranking.scores - 1.0).max() < 1e-9
    assert [path.name for path in tmp_path.iterdir()] == ["web"], "the work folder is gone"


def test_a_part_of_what_tasks_tell_is_not_taken_for_the_whole(spark: Any, tmp_path: Path) -> None:
    write_crawl(tmp_path / "web", pages=300, links=500)
    with open_web(spark, str(tmp_path / "web"), str(tmp_path), quiet, cut=Cut(width=64)) as web:
        web.stretches = web.stretches._replace(bounds=web.stretches.bounds[:-1])  # as if a machine had not reported
        with pytest.raises(EngineError, match=r"what came back ends at page 192 of 300; rank again"):
            rank(web, parse_ranker("indegree"), 1)


def test_a_table_that_a_job_did_not_end_is_not_ranked(spark: Any, tmp_path: Path) -> None:
    write_crawl(tmp_path / "web", pages=50, links=100)
    (tmp_path / "web" / "links" / "_temporary").mkdir()
    for path in (f"{tmp_path}/web", f"file://{tmp_path}/web"):
        with pytest.raises(SourceError, match="half-written"), open_web(spark, path, str(tmp_path), quiet):
            pass


def test_what_spark_does_not_rank_is_said_before_it_starts() -> None:
    wrong = {
        "fusion": "which has indegree",
        "pagerank:bits=32": "adds up in 64 bits",
        "ml:features=table4": "features=table4 is for the local engine; take ml",
    }
    for spec, said in wrong.items():
        with pytest.raises(InputError, match=said):
            check_ranker(parse_ranker(spec))
    check_ranker(parse_ranker("rw-eg"))


def test_a_master_that_does_not_answer_or_is_none(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and not listening
        with pytest.raises(InputError, match=r"no master answers at 127\.0\.0\.1"):
            check_master(f"spark://127.0.0.1:{taken.getsockname()[1]}")
    for master in ("http://a:1", "local[x]", "spark://nohost", "spark://h:port", ""):
        with pytest.raises(InputError, match="--master must be"):
            check_master(master)
    check_master("local[*]")


def test_the_command_tells_at_once_of_a_master_that_does_not_answer(tmp_path: Path) -> None:
    write_crawl(tmp_path / "web", pages=20, links=30)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        master = f"spark://127.0.0.1:{taken.getsockname()[1]}"
        command = [*_command(tmp_path), "--master", master, "--work", str(tmp_path), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert "no master answers at 127.0.0.1" in done.stderr or "Java" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["web"]


def test_the_command_says_the_same_as_json_on_both_engines(spark: Any, tmp_path: Path) -> None:
    write_crawl(tmp_path / "web", pages=100, links=400)
    told = []
    for engine in ("local", "spark"):
        command = [sys.executable, "-m", "frontrank", "rank", str(tmp_path / "web"), "--engine", engine]
        more = ["--ordering", f"rw-eg:{FEW}", "--budget", "9", "--json", "--out", str(tmp_path / "next.csv")]
        done = subprocess.run([*command, *more], capture_output=True, text=True, check=True)
        told.append(json.loads(done.stdout))
    here, there = told
    assert [page["url"] for page in there["next"]] == [page["url"] for page in here["next"]] and len(here["next"]) == 9
    assert (there["ranker"], there["pages"]) == (here["ranker"], here["pages"])
    for ours, theirs in zip(here["next"], there["next"], strict=True):
        assert abs(theirs["score"] - ours["score"]) < 1e-9
    took = [[note["iterations"] for note in one["convergence"].values()] for one in told]
    assert took[0] == took[1] and took[0][0] > 1


def test_settings_are_sparks() -> None:
    for given in ("memory=8g", "spark.x"):
        with pytest.raises(FrontrankError, match=r"--conf must be spark\.KEY=VALUE"):
            settings_of((given,))


@pytest.mark.parametrize(
    ("java", "said"),
    [
        (None, "there is no java on the PATH"),
        ("echo 'openjdk version \"11.0.2\"' >&2", "got Java 11"),
        ("true", "does not print"),
    ],
)
def test_java_that_is_missing_or_too_old_is_told_at_once(java: str | None, said: str, tmp_path: Path) -> None:
    write_crawl(tmp_path / "web", pages=20, links=30)
    (tmp_path / "bin").mkdir()
    if java is not None:
        (tmp_path / "bin" / "java").write_text(f"#!/bin/sh\n{java}\n")
        (tmp_path / "bin" / "java").chmod(0o755)
    env = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"} | {"PATH": str(tmp_path / "bin")}
    done = subprocess.run(_command(tmp_path), env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "next.csv").exists()


def test_a_cluster_needs_a_folder_that_all_reach(tmp_path: Path) -> None:
    write_crawl(tmp_path / "web", pages=20, links=30)
    done = subprocess.run([*_command(tmp_path), "--master", "spark://h:1"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "give --work" in done.stderr


def test_ctrl_c_ends_it_and_leaves_nothing(spark: Any, tmp_path: Path) -> None:
    write_crawl(tmp_path / "web", pages=200, links=900)
    (tmp_path / "work").mkdir()
    command = [*_command(tmp_path), "--work", str(tmp_path / "work"), "--ordering", "pagerank:alpha=0.99,tolerance=1e-12"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not any((tmp_path / "work").glob("*/give-*")) and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, said.strip()) == (130, "frontrank: interrupted")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["web", "work"]


def test_what_fails_once_it_is_interrupted_is_no_failure_of_spark() -> None:
    broken = Py4JNetworkError("Answer from Java side is empty")
    with pytest.raises(InputError, match="Spark could not finish: Answer from Java"), plain_errors():
        raise broken
    with watching() as watch:
        assert watch is not None
        watch.asked = signal.SIGINT
        with pytest.raises(KeyboardInterrupt), plain_errors():
            raise broken


def _command(folder: Path) -> list[str]:
    out = str(folder / "next.csv")
    return [sys.executable, "-m", "frontrank", "rank", str(folder / "web"), "--engine", "spark", "--out", out]
