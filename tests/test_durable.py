"""What a crawl's directory survives: killed processes, torn files, full disks, other programs, clocks that run back."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from frontrank.crawl import inbox
from frontrank.crawl.crawl import Crawl
from frontrank.crawl.events import Fetched
from frontrank.crawl.journal import FILE, Journal
from frontrank.crawl.journal_file import checkpoint
from frontrank.errors import InputError, StorageError
from frontrank.frontiers.politeness import Politeness
from frontrank.orderings.registry import parse
from frontrank.pages.warc_writer import Warc
from frontrank.service.crawls import Crawls
from tests.patience import PATIENCE_S

KILLS = int(os.environ.get("FRONTRANK_KILLS", "25"))


def page(n: int) -> str:
    return f"http://www.example.org/{n}"


def links(n: int) -> list[tuple[str, str]]:
    return [(page(2 * n + 1), "left"), (page(2 * n + 2), "right"), (page(n // 2), "up")]


def number(url: str) -> int:
    return int(url.rpartition("/")[2])


def grow(crawl: Crawl, pages: int) -> list[str]:
    order = []
    for _ in range(pages):
        (url,) = crawl.take()
        crawl.fetched(url, links(number(url)))
        order.append(url)
    return order


def grow_until_refused(crawl: Crawl, sentence: str) -> int:
    """How many pages were acknowledged before the crawl said that it cannot go on."""
    said = ""
    acknowledged = 0
    while not said:
        try:
            grow(crawl, 1)
            acknowledged += 1
        except StorageError as error:
            said = str(error)
    assert re.search(sentence, said), said
    return acknowledged


def begun(folder: Path, pages: int = 0, policy: str = "opic") -> Crawl:
    crawl = Crawl(parse(policy), folder, sync_s=60.0)
    crawl.seed([page(0)])
    grow(crawl, pages)
    return crawl


def events(folder: Path) -> list[tuple[Any, ...]]:
    db = sqlite3.connect(folder / FILE)
    rows = db.execute("SELECT * FROM event ORDER BY seq").fetchall()
    db.close()
    return rows


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    folder = tmp_path_factory.mktemp("killed")
    for way in ("one", "many"):
        (folder / way).mkdir()
    ran = subprocess.run(
        [sys.executable, "-m", "tests.killed", str(folder), str(KILLS), "1"], capture_output=True, timeout=PATIENCE_S
    )
    assert ran.returncode == 0, ran.stderr.decode()
    found: dict[str, dict[str, object]] = json.loads(ran.stdout)
    return found


def test_killed_again_and_again_with_one_page_in_flight_the_order_is_that_of_a_crawl_never_killed(
    killed: dict[str, dict[str, object]],
) -> None:
    assert killed["one"]["wrong"] == []
    assert killed["one"]["deaths"] == KILLS and int(str(killed["one"]["amid crawling"])) > KILLS // 4


def test_killed_with_many_pages_in_flight_nothing_acknowledged_is_lost_and_nothing_settled_is_fetched_again(
    killed: dict[str, dict[str, object]],
) -> None:
    assert killed["many"]["wrong"] == []
    assert int(str(killed["many"]["amid crawling"])) > KILLS // 4


def test_the_leases_of_a_dead_process_return_at_once(tmp_path: Path) -> None:
    crawl = begun(tmp_path / "c", 5)
    taken = crawl.take(3)
    crawl.abandon()
    with Crawl.recover(tmp_path / "c") as again:
        assert again.inspect.leased == 0
        assert again.take(3) == taken


@pytest.mark.parametrize("cut", [1, 100, 4000, 4096 + 24, 30_000])
def test_a_torn_log_loses_the_torn_commits_and_nothing_before_them(tmp_path: Path, cut: int) -> None:
    crawl = begun(tmp_path / "c", 60)
    before = events(tmp_path / "c")
    torn = tmp_path / "torn"
    shutil.copytree(tmp_path / "c", torn)  # as a power cut leaves it: the log is still apart from the database
    crawl.abandon()
    wal = torn / (FILE + "-wal")
    assert wal.stat().st_size > cut
    with open(wal, "r+b") as file:
        file.truncate(wal.stat().st_size - cut)
    with Crawl.recover(torn) as again:
        kept = events(torn)
        assert kept[: len(before) - 30] == before[: len(before) - 30]
        grow(again, 30)
        assert again.inspect.leased == 0
    order = [row[2] for row in events(torn) if row[1] == Fetched.kind]
    with Crawl(parse("opic"), tmp_path / "whole") as whole:
        whole.seed([page(0)])
        grow(whole, len(order))
    assert order == [row[2] for row in events(tmp_path / "whole") if row[1] == Fetched.kind]


def test_a_garbled_last_frame_is_left_out(tmp_path: Path) -> None:
    crawl = begun(tmp_path / "c", 40)
    torn = tmp_path / "torn"
    shutil.copytree(tmp_path / "c", torn)
    crawl.abandon()
    wal = torn / (FILE + "-wal")
    data = bytearray(wal.read_bytes())
    data[-2000:] = os.urandom(2000)
    wal.write_bytes(data)
    with Crawl.recover(torn) as again:
        assert 38 <= again.inspect.fetched_count <= 40
        grow(again, 5)


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "other"])
def test_a_torn_snapshot_is_passed_over(tmp_path: Path, damage: str) -> None:
    crawl = begun(tmp_path / "c", 50)
    crawl.snapshot()
    grow(crawl, 10)
    crawl.snapshot()
    expected = crawl.state.frontier.best(50).tolist()
    crawl.abandon()
    newest = max((tmp_path / "c" / "snapshots").iterdir())
    data = bytearray(newest.read_bytes())
    if damage == "flip":
        data[len(data) // 2] ^= 0xFF
    damaged = {"cut": bytes(data[:-700]), "flip": bytes(data), "empty": b"", "other": b"PK nonsense"}
    newest.write_bytes(damaged[damage])
    with Crawl.recover(tmp_path / "c") as again:
        assert again.inspect.fetched_count == 60
        assert again.state.frontier.best(50).tolist() == expected


EDITED = """
from dataclasses import dataclass
import numpy as np
from frontrank.crawl.crawl import Crawl
from frontrank.kernels.jit import Column, kernel
from frontrank.orderings.policy import Policy

@dataclass(frozen=True)
class Counting(Policy):
    "Pages last discovered first."
    name = "counting"
    columns = {"seen": Column(np.int64, per="crawl", slots=SLOTS)}

    @staticmethod
    @kernel
    def on_seed(state, page, weight):
        return 0.0

    @staticmethod
    @kernel
    def on_fetch(state, links, page, out):
        state.seen[SLOTS - 1] += 1
        for j in range(links.start[page], links.stop[page]):
            out.page[j - links.start[page]] = links.target[j]
            out.key[j - links.start[page]] = state.seen[SLOTS - 1]
        return links.stop[page] - links.start[page]

"""


def test_a_snapshot_of_an_ordering_that_was_edited_since_is_passed_over(tmp_path: Path) -> None:
    """Its arrays fit other kernels: these would read and write beyond them. Events alone restore the crawl."""

    def told(slots: int, script: str) -> str:
        (tmp_path / "own.py").write_text(EDITED.replace("SLOTS", str(slots)), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", "from own import *\n" + script],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    begun = """
crawl = Crawl(Counting(), "c")
crawl.seed(["http://a.example/0"])
for n in range(30):
    (url,) = crawl.take()
    crawl.fetched(url, [f"http://a.example/{2 * n + 1}", f"http://a.example/{2 * n + 2}"])
crawl.snapshot()
crawl.close()
"""
    ended = """
crawl = Crawl.recover("c", policy=Counting())
seen = crawl.state.ordering.columns.seen
print(crawl.inspect.fetched_count, seen[-1], len(seen))
"""
    told(1, begun)
    assert told(1, ended).split() == ["30", "30", "1"]
    assert told(5000, ended).split() == ["30", "30", "5000"]


def test_a_snapshot_that_is_ahead_of_a_cut_log_is_not_trusted_later_either(tmp_path: Path) -> None:
    """After a power cut event numbers are given anew; a snapshot of the lost ones must not come back when they are passed."""
    crawl = begun(tmp_path / "c", 20)
    early = tmp_path / "early"
    shutil.copytree(tmp_path / "c", early)
    grow(crawl, 20)
    crawl.snapshot()
    crawl.abandon()
    shutil.copytree(tmp_path / "c" / "snapshots", early / "snapshots")
    other = Crawl.recover(early)
    (url,) = other.take()
    other.failed(url, "gone")  # history takes another way
    grow(other, 19)
    expected = other.state.frontier.best(99).tolist()
    other.abandon()
    with Crawl.recover(early) as again:
        assert (again.inspect.fetched_count, again.inspect.failed_count) == (39, 1)
        assert again.state.frontier.best(99).tolist() == expected


def test_only_one_process_writes(tmp_path: Path) -> None:
    with begun(tmp_path / "c", 3):
        with pytest.raises(StorageError, match="this process has this crawl open already; close it first"):
            Crawl.recover(tmp_path / "c")
        with Crawl.recover(tmp_path / "c", read_only=True) as seen:
            assert seen.inspect.fetched_count == 3 and seen.inspect.waiting > 0


def test_a_directory_with_a_crawl_is_not_taken_for_another(tmp_path: Path) -> None:
    begun(tmp_path / "c", 3).close()
    before = events(tmp_path / "c")
    with pytest.raises(StorageError, match="already contains a crawl; resume it"):
        Crawl(parse("bfs"), tmp_path / "c")
    assert events(tmp_path / "c") == before


def test_a_directory_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(StorageError, match=r"is not empty \(it contains thesis.txt\)"):
        Crawl(parse("bfs"), tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.txt"]


def opened() -> list[str]:
    """The files that this process has open."""
    links = []
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            links.append(os.readlink(f"/proc/self/fd/{number}"))
    return links


def test_a_newer_format_is_refused_with_the_way_out(tmp_path: Path) -> None:
    begun(tmp_path / "c", 3).close()
    db = sqlite3.connect(tmp_path / "c" / FILE)
    db.execute("UPDATE meta SET value = '99' WHERE key = 'version'")
    db.commit()
    db.close()
    with pytest.raises(StorageError, match=r"written by a newer frontrank.*format 99") as refused:
        Crawl.recover(tmp_path / "c")
    assert not [link for link in opened() if str(tmp_path) in link], "lock and database are closed"
    with pytest.raises(StorageError, match="written by a newer frontrank"):
        Crawl.recover(tmp_path / "c")  # though the error of before, and what it holds, is still there
    assert refused.value


@pytest.mark.parametrize("content", [b"", b"not a database at all, but quite long" * 100])
def test_a_file_that_is_no_trace_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(StorageError, match="trace"):
        Crawl.recover(tmp_path)
    assert (tmp_path / FILE).read_bytes() == content


def test_another_ordering_is_refused_unless_what_waits_may_be_ranked_anew(tmp_path: Path) -> None:
    begun(tmp_path / "c", 30, "bfs").close()
    with pytest.raises(InputError, match=r"was started with bfs, backlink given.*--rescore"):
        Crawl.recover(tmp_path / "c", parse("backlink"))
    with Crawl.recover(tmp_path / "c", parse("backlink"), rescore=True) as again:
        counts = {q: sum(q in {u for u, _ in links(n)} - {page(n)} for n in range(30)) for q in map(page, range(61))}
        waiting = [again.url(p) for p in again.state.frontier.best(99).tolist()]
        assert [counts[url] for url in waiting] == sorted((counts[url] for url in waiting), reverse=True)
        rest = grow(again, 10)
    with Crawl.recover(tmp_path / "c") as once_more:
        assert once_more.state.policy.spec() == "backlink"
        assert once_more.inspect.fetched_count == 40 and rest


def test_time_never_runs_back(tmp_path: Path) -> None:
    crawl = Crawl(parse("bfs"), tmp_path / "c", politeness=Politeness(delay_s=10.0, lease_s=100.0))
    crawl.seed([page(0)], now=1000.0)
    crawl.take(now=1000.0)
    crawl.fetched(page(0), links(0), now=1001.0)
    assert crawl.take(now=1009.0) == []
    assert crawl.take(now=500.0) == []  # the clock was set back by more than eight minutes
    assert crawl.take(now=500.5) == []
    assert crawl.take(now=501.5) == [page(1)]  # 1000 + 10 s, not 500 s later
    times = [row[3] for row in events(tmp_path / "c")]
    assert times == sorted(times)
    crawl.abandon()
    again = Crawl.recover(tmp_path / "c", clock=lambda: 42.0)  # and once more, while nothing ran
    assert again.take(now=43.0) == []
    assert again.take(now=52.5) == [page(1)]
    again.close()


def test_a_lease_that_runs_out_returns_the_page(tmp_path: Path) -> None:
    with Crawl(parse("bfs"), tmp_path / "c", politeness=Politeness(lease_s=60.0)) as crawl:
        crawl.seed([page(0)], now=0.0)
        assert crawl.take(now=1.0) == [page(0)]
        assert crawl.take(now=60.0) == []
        assert crawl.take(now=61.0) == [page(0)]
        crawl.fetched(page(0), now=62.0)
        with pytest.raises(InputError, match="is not leased"):
            crawl.fetched(page(0), now=63.0)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)], capture_output=True).returncode:
        pytest.skip("no file system of a given size can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_said_and_nothing_acknowledged_is_lost(small_disk: Path) -> None:
    crawl = begun(small_disk / "c")
    acknowledged = grow_until_refused(crawl, r"cannot be written .*full.*safe.*resume")
    with pytest.raises(StorageError, match="cannot be written"):
        crawl.take()  # it does not go on as if nothing had been
    crawl.abandon()
    assert acknowledged > 100
    subprocess.run(["mount", "-o", "remount,size=50m", str(small_disk)], check=True)
    with Crawl.recover(small_disk / "c") as again:
        assert acknowledged <= again.inspect.fetched_count <= acknowledged + 1
        grow(again, 50)


def test_a_read_only_directory_is_said(small_disk: Path) -> None:
    begun(small_disk / "c", 5).close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(StorageError, match="cannot be written"):
        Crawl.recover(small_disk / "c")
    with pytest.raises(StorageError, match="cannot be written"):
        Crawl(parse("bfs"), small_disk / "other")
    assert not (small_disk / "other").exists()


def test_a_file_that_may_not_grow_is_said(tmp_path: Path) -> None:
    """The same as a full disk, where nothing can be mounted: a limit on the size of files."""
    crawl = begun(tmp_path / "c")
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, old[1]))
        acknowledged = grow_until_refused(crawl, "cannot be written")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, ignored)
    crawl.abandon()
    with Crawl.recover(tmp_path / "c") as again:
        assert again.inspect.fetched_count >= acknowledged


def test_a_snapshot_taken_before_any_link_serves_orderings_that_read_anchors(tmp_path: Path) -> None:
    crawl = begun(tmp_path / "c", 0, "similarity:topic=left")
    crawl.snapshot()
    crawl.abandon()
    with Crawl.recover(tmp_path / "c") as again:
        assert again.state.links.rows.value.size == 0 and again.state.links.reads_anchors
        assert grow(again, 3) == [page(0), page(1), page(3)]


SNAPSHOT_THEN_KILLED = """
import os, sys, time
from pathlib import Path
from frontrank.crawl import snapshots
from frontrank.crawl.crawl import Crawl
folder = Path(sys.argv[1])
def slowly(*given):
    (folder.parent / "writing").touch()
    time.sleep(20)
snapshots._write = slowly
crawl = Crawl("bfs", folder)
crawl.seed("http://a.example/")
crawl.snapshot(wait=False)
while not (folder.parent / "writing").exists():
    time.sleep(0.01)
os.kill(os.getpid(), 9)
"""


def test_a_child_that_writes_a_snapshot_does_not_lock_the_crawl_of_its_dead_parent(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", SNAPSHOT_THEN_KILLED, str(tmp_path / "c")])
    assert done.returncode == -signal.SIGKILL
    with Crawl.recover(tmp_path / "c") as again:
        assert again.take() == ["http://a.example/"]


def test_the_log_is_moved_into_the_database_while_the_crawl_goes_on(tmp_path: Path) -> None:
    crawl = begun(tmp_path / "c", 200)
    log = crawl.state.log
    assert isinstance(log, Journal)
    move = partial(checkpoint, log.folder, log._writing, lambda: False)
    mover = threading.Thread(target=move)
    mover.start()
    grow(crawl, 100)
    mover.join()
    move()
    grow(crawl, 1)  # the first commit after a whole checkpoint begins the log anew
    _, frames, _ = log.db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    assert frames < 50
    crawl.abandon()
    with Crawl.recover(tmp_path / "c") as again:
        assert again.inspect.fetched_count == 301


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777 & ~0o700])
def test_a_crawl_is_its_owners_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with Crawls(tmp_path / "service", "bfs") as crawls:
            crawl = crawls.get_or_start("news")
            crawl.seed([page(0)])
            crawl.snapshot()
            crawls.set_delay(2.0)
            inbox._write(tmp_path / "service" / "news" / inbox.FOLDER, {"verb": "pause", "given": {}})
            warc = Warc(tmp_path / "service" / "news" / "warc")
            warc.write(page(0), 200, [], b"body")
            warc.close()
            made = [tmp_path / "service", *sorted((tmp_path / "service").rglob("*"))]
            modes = {path.name: (path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in made}
    finally:
        os.umask(before)
    assert {path.name for path in made} >= {".lock", "service.json", "lock", "trace.db", "trace.db-wal", "trace.db-shm"}
    assert {path.suffix for path in made} >= {".npz", ".gz", ".json"}
    assert all(mode == (0o700 if is_folder else 0o600) for is_folder, mode in modes.values()), modes


def test_a_crawl_killed_just_after_its_creation_can_be_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A switch to WAL later would go through a journal that only a writer can undo."""

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("frontrank.crawl.journal.connect", killed)
        with pytest.raises(KeyboardInterrupt):
            Journal.create(tmp_path / "c", {})
    assert (tmp_path / "c" / FILE).read_bytes()[18:20] == b"\2\2", "not in WAL mode"


def test_a_crawl_that_could_not_be_created_can_be_tried_again(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        Journal.create(tmp_path / "c", {"no JSON": object()})
    Journal.create(tmp_path / "c", {}).close()


def test_a_table_that_cannot_be_read_when_a_crawl_is_recovered_is_a_sentence(tmp_path: Path) -> None:
    begun(tmp_path / "c", 3).close()
    db = sqlite3.connect(tmp_path / "c" / FILE)
    (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'payload'").fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    db.close()
    with open(tmp_path / "c" / FILE, "r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)
    with pytest.raises(StorageError, match=r"trace of the crawl cannot be read .*malformed"):
        Crawl.recover(tmp_path / "c")


@pytest.mark.parametrize("pages", [10_000, 20_000, 40_000])
def test_a_snapshot_is_read_however_many_pages_are_known(pages: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Arrays that are large grow by other steps than small ones."""
    with Crawl("fpr", tmp_path / "crawl") as crawl:
        crawl.seed("http://a.org/0")
        for first in range(1, pages, 500):
            crawl.fetched(crawl.take()[0], [f"http://a.org/{n}" for n in range(first, first + 500)])
        crawl.snapshot()
    with Crawl.recover(tmp_path / "crawl", read_only=True) as read:
        assert read.inspect.known == pages + 1 and not caplog.records
