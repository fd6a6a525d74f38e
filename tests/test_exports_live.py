"""crawl --export: the file has what is acknowledged whenever the crawl is killed, and no row twice after it is resumed."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from frontrank.crawl.events import Fetched
from frontrank.exports import export
from frontrank.lab.webserver import ServerOptions, run_in_process
from frontrank.lab.webserver.site import Site
from frontrank.sources import load
from tests.commands import run_command
from tests.patience import PATIENCE_S

WEB = "synthetic:pages=250,links=8,seed=3"


@pytest.fixture(scope="module")
def web() -> Iterator[list[str]]:
    """The options of a crawl of a served web."""
    with run_in_process(WEB) as proxy:
        seeds = Site(load(WEB), ServerOptions()).seeds()
        yield [*seeds, "--proxy", proxy, "--scope", "any", "--no-robots", "--delay", "0", "--per-host", "0", "-q"]


def crawl(*args: object) -> None:
    done = run_command("crawl", *args)
    assert done.returncode == 0, done.stderr


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def acknowledged(out: Path) -> set[str]:
    db = sqlite3.connect(f"{out.as_uri()}/trace.db?mode=ro", uri=True)
    found = {url for (url,) in db.execute("SELECT url FROM event JOIN url ON url.id = page WHERE kind = ?", (Fetched.kind,))}
    db.close()
    return found


def assert_complete(out: Path, file: Path) -> None:
    """The file is what an export of the whole crawl writes, byte for byte."""
    export(out, file.with_name("whole.jsonl"), force=True)
    assert file.read_bytes() == file.with_name("whole.jsonl").read_bytes()
    assert {row["url"] for row in rows_of(file)} == acknowledged(out)


def test_a_crawl_that_is_killed_at_any_moment_keeps_every_row_and_writes_none_twice(web: list[str], tmp_path: Path) -> None:
    out, file = tmp_path / "crawl", tmp_path / "pages.jsonl"
    draw = random.Random(5)
    start: list[object] = [*web, "--out", out, "--export", file, "--in-flight", "4"]
    goal = 0
    for _ in range(4):
        command = [sys.executable, "-m", "frontrank", "crawl", *map(str, start)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        goal += draw.randint(10, 50)
        until = time.monotonic() + PATIENCE_S
        while process.poll() is None and time.monotonic() < until:
            if file.exists() and file.read_bytes().count(b"\n") >= goal:
                break
            time.sleep(draw.uniform(0.0, 0.01))
        known = acknowledged(out)  # before the kill: the file is at least as far
        process.kill()
        process.communicate()
        assert known <= acknowledged(out) <= {row["url"] for row in rows_of(file)}, "what is acknowledged is in the file"
        start = ["--resume", out, "-q"]
    crawl("--resume", out, "-q")
    assert_complete(out, file)
    assert len(rows_of(file)) == 250 == len({row["url"] for row in rows_of(file)})


@pytest.mark.parametrize("damage", ["torn line", "lost rows", "rows of a lost journal", "removed", "none"])
def test_the_file_is_brought_to_where_the_journal_is(web: list[str], tmp_path: Path, damage: str) -> None:
    """Whatever a kill or a power cut left of it."""
    out, file = tmp_path / "crawl", tmp_path / "pages.jsonl"
    crawl(*web, "--out", out, "--export", file, "--budget", "40")
    data = file.read_bytes()
    lines = data.splitlines(keepends=True)
    if damage == "torn line":
        file.write_bytes(data[:-10])
    elif damage == "lost rows":
        file.write_bytes(b"".join(lines[:20]))
    elif damage == "rows of a lost journal":
        last = json.loads(lines[-1])
        file.write_bytes(data + json.dumps({**last, "event": last["event"] + 1_000, "url": "http://a.org/"}).encode() + b"\n")
    elif damage == "removed":
        file.unlink()
    crawl("--resume", out, "-q", "--budget", "60")
    assert len(rows_of(file)) == 60
    assert_complete(out, file)


def test_a_crawl_that_began_without_a_file_can_get_one(web: list[str], tmp_path: Path) -> None:
    out, file = tmp_path / "crawl", tmp_path / "pages.jsonl"
    crawl(*web, "--out", out, "--budget", "30")
    crawl("--resume", out, "-q", "--budget", "50", "--export", file)
    assert_complete(out, file)


def test_a_crawl_without_warc_files_writes_texts_as_they_come(web: list[str], tmp_path: Path) -> None:
    out, file = tmp_path / "crawl", tmp_path / "pages.jsonl"
    crawl(*web, "--out", out, "--export", file, "--budget", "20", "--no-warc")
    rows = rows_of(file)
    assert len(rows) == 20 and all(row["text"] and row["digest"] and row["warc_file"] is None for row in rows)


def test_a_file_of_somebody_else_is_never_touched(web: list[str], tmp_path: Path) -> None:
    out, file = tmp_path / "crawl", tmp_path / "mine.jsonl"
    file.write_text('{"event": 1, "url": "http://mine.example/"}\n')
    done = run_command("crawl", *web, "--out", out, "--export", file)
    assert done.returncode == 2 and "mine.jsonl exists; give another file" in done.stderr and not out.exists()
    crawl(*web, "--out", out, "--budget", "5")
    done = run_command("crawl", "--resume", out, "-q", "--export", file)
    assert done.returncode == 2 and "does not have the pages of this crawl" in done.stderr
    assert file.read_text() == '{"event": 1, "url": "http://mine.example/"}\n'
    crawl("--resume", out, "-q", "--budget", "8")  # the option was not stored
    done = run_command("crawl", *web, "--out", tmp_path / "other", "--export", tmp_path / "x.csv")
    assert done.returncode == 2 and "--export must be a file name that ends in .jsonl" in done.stderr
