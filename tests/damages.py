"""Damaged directories and files: what is read from them is what was written, or a sentence says what is wrong.

    python -m tests.damages 2000 [FIRST]              so many seeds, from this one on
    python -m tests.damages 2000 FIRST crafted        numbers of crawls that somebody made, with checksums that fit

A seed is one damage (flipped bits, a truncated, deleted or zeroed part, two files in each other's place) to one of the
subjects: live crawls by seven orderings, killed or closed, with snapshots or without; web directories, imported crawls, webs
in Parquet, BVGraphs. A forked child reads it, so that a signal is seen as one. It ends as

    same        what was read is what was written
    sentence    a FrontrankError, whose text is one line and names the directory
    lost        the newest events are gone, a warning says so, and those before them are as they were
    other       a file of another program without checksums is another valid one (only where ``foreign``, or crafted)

and everything else is wrong: a traceback, a signal, a hang, or other data without a word.
"""

from __future__ import annotations

import logging
import os
import pickle
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from frontrank.crawl import status
from frontrank.crawl.crawl import Crawl
from frontrank.crawl.integrity import checksum, width_of
from frontrank.crawl.journal import FILE, Journal
from frontrank.crawl.log import COLUMNS, Row
from frontrank.errors import FrontrankError
from frontrank.frontiers.politeness import Politeness
from frontrank.sources import load
from frontrank.sources.imported_crawl import CrawlTables, load_crawl, save_crawl
from frontrank.sources.parquet_web import write_parquet
from frontrank.sources.search_team.searchers import ResultTable
from frontrank.sources.synthetic import synthetic
from frontrank.sources.web_directory import save
from frontrank.web.dates import AskedOn
from frontrank.web.web import Web
from tests.oracles import bvgraph

ORDERINGS = ("bfs", "opic", "fpr", "surf", "rankmass", "similarity:topic=left", "pagerank:every=20")
ENDS = ("killed", "killed with a snapshot", "closed")
PAGES = 70
MAX_S = 60  # of one reading
NOW = 2e9
GOOD = ("same", "sentence", "lost", "other")


class Subject(NamedTuple):
    name: str
    build: Callable[[Path], None]
    readers: tuple[Callable[[Path], Any], ...]
    foreign: bool = False  # files of others, which have no checksums


# Live crawls ---------------------------------------------------------------------------------------------------------------
def url(n: int) -> str:
    return f"http://h{n % 5}.example/{n}"


def links(n: int) -> list[tuple[str, str]]:
    return [(url(2 * n + 1), "left"), (url(2 * n + 2), "right"), (url(n // 2), "up")]


def drive(crawl: Crawl, pages: int, now: float) -> list[str]:
    order: list[str] = []
    while len(order) < pages and (taken := crawl.take(2, now=now)):
        now += 1.0
        for page in taken:
            n = int(page.rpartition("/")[2])
            if n % 11 == 5:
                crawl.failed(page, "http 503", retry=n % 2 == 0, now=now)
            else:
                crawl.fetched(page, links(n), f"page {n}", "some words", impact=n % 3, now=now)
            order.append(page)
    return order


def crawled(spec: str, end: str, folder: Path) -> None:
    ways = Politeness(delay_s=0.5, per_host=2)
    crawl = Crawl(spec, folder.with_name("at work"), politeness=ways, clock=lambda: 1e9, sync_s=60.0, notes={"mine": 7})
    crawl.seed([url(0), url(3)], now=1e9)
    drive(crawl, PAGES // 2, 1e9)
    crawl.control.limit_host("h1.example", delay_s=3.0, now=1e9)
    crawl.discover(url(1000), now=1e9 + 40)
    crawl.intern(url(2000), 77)
    if end == "closed":
        drive(crawl, PAGES // 2, 1e9 + 50)
        crawl.snapshot()
        crawl.close()
        shutil.copytree(crawl.state.log.folder or "", folder)
    else:
        if end == "killed with a snapshot":
            crawl.snapshot()
            crawl.sync()
        drive(crawl, PAGES // 2, 1e9 + 50)
        time.sleep(0.02)  # the lock file is told of commits once in a hundredth of a second
        crawl.intern(url(3000))
        crawl.seed([url(3000)], now=1e9 + 90)
        crawl.commit()
        shutil.copytree(crawl.state.log.folder or "", folder)  # as it lies there amid the crawl
        crawl.abandon()
    shutil.rmtree(folder.with_name("at work"))


def recovered(folder: Path) -> Any:
    with Crawl.recover(folder, read_only=True, clock=lambda: NOW) as crawl:
        crawl.state.frontier.release(NOW)  # retries whose time has come wait again from the next take on, which is no event
        hosts = [{name: value for name, value in host.items() if name != "ready_in"} for host in crawl.inspect.hosts()]
        return (
            list(crawl.state.progress.order),
            crawl.inspect.failed_count,
            crawl.inspect.next(100),
            hosts,
            crawl.notes,
            crawl.state.politeness,
            crawl.state.leases.attempts,
        )


def resumed(folder: Path) -> Any:
    with Crawl.recover(folder, clock=lambda: NOW, sync_s=60.0) as crawl:
        return drive(crawl, 20, NOW), crawl.inspect.known, list(crawl.state.progress.order)


def traced(folder: Path) -> Any:
    return list(status.events(folder))


def shown(folder: Path) -> Any:
    said = status.status(folder)
    return {name: said[name] for name in ("known", "fetched", "waiting", "failed", "leased") if name in said}


# Webs ----------------------------------------------------------------------------------------------------------------------
def a_web() -> Web:
    web = synthetic("pages=400,links=5,text=1,seed=5")
    return replace(
        web, views=np.arange(400.0), clicks=np.arange(400.0) / 2, ids=np.arange(400) * 7, seeds=np.arange(3, dtype=np.int32)
    )


def all_of(web: Web) -> Any:
    arrays = [web.indptr, web.targets, *(getattr(web, name) for name in ("hosts", "ids", "views", "clicks", "seeds"))]
    strings = [getattr(web, name) for name in ("urls", "titles", "texts", "anchors", "host_names")]
    return [None if one is None else one.tolist() for one in arrays], [None if one is None else list(one) for one in strings]


def read_web(folder: Path) -> Any:
    return all_of(load(folder))


def read_base(folder: Path) -> Any:
    return all_of(load(folder / "graph"))


def write_web(folder: Path) -> None:
    save(a_web(), folder)


def write_imported(folder: Path) -> None:
    web = a_web()
    rng = np.random.default_rng(3)
    queries = tuple(f"word{n} other{n}" for n in range(20))
    results = ResultTable(
        np.repeat(np.arange(20, dtype=np.int32), 5),
        rng.integers(0, 400, 100, dtype=np.int32),
        np.tile(np.arange(1, 6, dtype=np.int32), 20),
        rng.random(100),
    )
    asked_on = AskedOn(np.arange(20, dtype=np.int32), np.arange(20.0) + 1e9, np.ones(20))
    save_crawl(folder, CrawlTables(web, np.arange(300, dtype=np.int32)[::-1].copy(), queries, np.ones(20), results, asked_on))


def read_imported(folder: Path) -> Any:
    crawl = load_crawl(folder)
    results = crawl.results and {name: value.tolist() for name, value in vars(crawl.results).items()}
    asked = crawl.asked_on and [None if column is None else column.tolist() for column in crawl.asked_on]
    frequency = None if crawl.frequency is None else crawl.frequency.tolist()
    return all_of(crawl.web), crawl.fetched.tolist(), crawl.queries, frequency, results, asked


def write_parquet_web(folder: Path) -> None:
    folder.mkdir()
    write_parquet(a_web(), folder)


def write_bvgraph(folder: Path) -> None:
    folder.mkdir()
    web = a_web()
    rows = [sorted(web.targets[a:b].tolist()) for a, b in zip(web.indptr[:-1], web.indptr[1:], strict=True)]
    bvgraph.write(folder / "graph", rows, bvgraph.Format())


def subjects() -> list[Subject]:
    readers = (recovered, resumed, traced, read_web, shown)
    found = [Subject(f"{spec}, {end}", partial(crawled, spec, end), readers) for spec in ORDERINGS for end in ENDS]
    for _ in range(2):  # as many damages in all as to crawls, about
        found += [
            Subject("web directory", write_web, (read_web,)),
            Subject("imported crawl", write_imported, (read_imported, read_web)),
            Subject("Parquet web", write_parquet_web, (read_web,), foreign=True),
            Subject("BVGraph", write_bvgraph, (read_base,), foreign=True),
        ]
    return found


# Damages -------------------------------------------------------------------------------------------------------------------
def damage(folder: Path, random: Random) -> str:
    """Damage one file, or two; says which and how."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    file = random.choice(files)
    name, size = str(file.relative_to(folder)), file.stat().st_size
    how = random.choices(("flip", "truncate", "delete", "swap", "zero"), (60, 15, 10, 10, 5))[0]
    if how == "delete":
        file.unlink()
        return f"delete {name}"
    if how == "swap" and len(files) > 1:
        other = random.choice([one for one in files if one != file])
        between = file.with_name("between")
        file.rename(between)
        other.rename(file)
        between.rename(other)
        return f"swap {name} and {other.relative_to(folder)}"
    data = bytearray(file.read_bytes())
    if how == "truncate" or not size:
        at = random.randrange(size) if size else 0
        file.write_bytes(data[:at])
        return f"truncate {name} to {at} of {size}"
    if how == "zero":
        at, length = random.randrange(size), random.randrange(1, 600)
        data[at : at + length] = bytes(len(data[at : at + length]))
        file.write_bytes(data)
        return f"zero {name} at {at}, {length} bytes"
    bits = [random.randrange(8 * size) for _ in range(random.choice((1, 1, 1, 2, 8)))]
    for bit in bits:
        data[bit // 8] ^= 1 << bit % 8
    file.write_bytes(data)
    return f"flip {name} of {size} at {', '.join(map(str, bits))}"


def craft(folder: Path, random: Random) -> str:
    """Give a row of the journal or an array of a snapshot another value, with a checksum that fits: what an attacker can do."""
    snapshots = sorted(folder.glob("snapshots/*.npz"))
    wrong = random.choice((-1, -(2**31), 2**31 - 1, 2**31, 2**62, 1000, 0, 1))
    if snapshots and random.random() < 0.7:
        with np.load(snapshots[-1]) as held:
            arrays = dict(held)
        name = random.choice([name for name, array in arrays.items() if array.size and name != "head"])
        field = random.choice(arrays[name].dtype.names or (None,))
        part = arrays[name] if field is None else arrays[name][field]
        places = random.choice((slice(None), slice(0, 1), slice(-1, None)))
        part[places] = np.array([wrong], np.int64).astype(part.dtype)
        np.savez(snapshots[-1], **arrays)
        return f"craft {name}.{field} {places} {wrong}"
    db = sqlite3.connect(folder / FILE)
    seq = random.randrange(1, db.execute("SELECT max(seq) FROM event").fetchone()[0] + 1)
    column = random.choice(COLUMNS[1:])
    value: Any = wrong
    if column == "links":
        value = np.array([wrong, 3], np.int64).astype("<i4").tobytes()
    elif random.random() < 0.3:
        value = random.choice(("text", b"bytes", None if column not in COLUMNS[:4] else 7, 1e300, "{}", "[1]"))
    elif column == "kind":
        value = random.randrange(0, 32)
    db.execute(f"UPDATE event SET {column} = ? WHERE seq = ?", (value, seq))
    row = Row._make(db.execute(f"SELECT {', '.join(COLUMNS)} FROM event WHERE seq = ?", (seq,)).fetchone())
    db.execute("UPDATE event SET crc = ? WHERE seq = ?", (checksum(tuple(row[: width_of(row)])), seq))
    db.commit()
    db.close()
    return f"craft {column} of event {seq} (of kind {row.kind}): {value!r}"


# Reading in a child ---------------------------------------------------------------------------------------------------------
class Reading(NamedTuple):
    outcome: str  # read, sentence, traceback, signal or hang
    value: Any
    warned: str = ""


class _Warnings(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


def read(reader: Callable[[Path], Any], folder: Path, result: Path) -> Reading:
    """What a reader makes of a folder, in a child: whatever happens to it is seen."""
    child = os.fork()
    if not child:
        try:
            _read(reader, folder, result)
        finally:
            os._exit(0)
    until = time.monotonic() + MAX_S
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return Reading("hang", None)
        time.sleep(0.001)
    if os.WIFSIGNALED(ended[1]):
        return Reading("signal", os.WTERMSIG(ended[1]))
    with open(result, "rb") as file:
        return Reading(*pickle.load(file))


def _read(reader: Callable[[Path], Any], folder: Path, result: Path) -> None:
    heard = _Warnings()
    logging.getLogger("frontrank").handlers[:] = [heard]
    logging.getLogger("frontrank").propagate = False
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        reading = Reading("read", reader(folder))
    except FrontrankError as error:
        reading = Reading("sentence", str(error))
    except BaseException as error:
        import traceback

        reading = Reading("traceback", "".join(traceback.format_exception(error))[-1500:])
    with open(result, "wb") as file:
        pickle.dump(tuple(reading._replace(warned="\n".join(heard.said))), file)


def events_of(folder: Path) -> list[tuple[Any, ...]]:
    journal = Journal.open(folder, read_only=True)
    try:
        return [tuple(row) for rows in journal.rows() for row in rows]
    finally:
        journal.close()


class Campaign:
    """The pristine subjects in a folder, made when they are needed, and what their readers read of them."""

    def __init__(self, folder: Path, crafted: bool = False) -> None:
        self.folder, self.crafted = folder, crafted
        self.subjects = [one for one in subjects() if not crafted or one.readers[0] is recovered]
        self._read: dict[tuple[str, str], Any] = {}

    def pristine(self, subject: Subject) -> Path:
        where = self.folder / subject.name.replace(" ", "-")
        if not where.exists():
            subject.build(where)
        return where

    def copied(self, subject: Subject) -> Path:
        where = self.folder / "damaged"
        shutil.rmtree(where, ignore_errors=True)
        shutil.copytree(self.pristine(subject), where)
        return where

    def expected(self, subject: Subject, reader: Callable[[Path], Any]) -> Any:
        key = subject.name, reader.__name__
        if key not in self._read:
            reader(self.copied(subject))  # kernels are loaded before the first fork
            reading = read(reader, self.copied(subject), self.folder / "result")
            assert reading.outcome == "read" and not reading.warned, (key, reading)
            self._read[key] = pickle.dumps(reading.value)
        return pickle.loads(self._read[key])

    def run(self, seed: int) -> tuple[str, str]:
        """How the damage of this seed ends, and what it was."""
        random = Random(seed)
        subject = random.choice(self.subjects)
        reader = random.choice(subject.readers)
        expected = self.expected(subject, reader)
        where = self.copied(subject)
        what = f"{subject.name}: {(craft if self.crafted else damage)(where, random)}, {reader.__name__}"
        reading = read(reader, where, self.folder / "result")
        return self._judged(subject, expected, reading, where), f"{what}\n        {reading.warned} {reading.outcome}: " + (
            "" if reading.outcome == "read" else str(reading.value)
        )

    def _judged(self, subject: Subject, expected: Any, reading: Reading, where: Path) -> str:
        if reading.outcome == "sentence":
            return "sentence" if "\n" not in reading.value and str(where) in reading.value else "no good sentence"
        if reading.outcome != "read":
            return reading.outcome
        if repr(reading.value) == repr(expected):
            return "same"
        if "are lost" in reading.warned:
            before, left = events_of(self.pristine(subject)), events_of(where)
            kept = int(re.findall(r"after event ([\d,]+)", reading.warned)[0].replace(",", ""))
            return "lost" if left[:kept] == before[:kept] and kept <= len(before) else "lost more"
        return "other" if subject.foreign or self.crafted else "silently different"


def campaign(count: int, first: int, folder: Path, show: Callable[[str], None], crafted: bool = False) -> Counter[str]:
    """Run so many seeds from this one on; tell of each that is wrong, and how many ended how."""
    runs, found = Campaign(folder, crafted), Counter[str]()
    for seed in range(first, first + count):
        outcome, what = runs.run(seed)
        found[outcome] += 1
        if outcome not in GOOD:
            show(f"seed {seed}: {outcome}\n    {what}")
    return found


def main(count: str, first: str = "0", *crafted: str) -> int:
    logging.getLogger("frontrank").addHandler(logging.NullHandler())
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        found = campaign(int(count), int(first), Path(folder), lambda said: print(said, flush=True), bool(crafted))
        print(f"{count} damages in {time.monotonic() - begun:.0f} s: {dict(found.most_common())}")
    return int(bool(found.keys() - set(GOOD)))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
