"""Control of a crawl that another process is at work on, by its directory: commands, and what they leave in the log."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest

from frontrank.crawl import inbox
from frontrank.crawl.crawl import Crawl
from frontrank.crawl.status import events
from frontrank.frontiers.politeness import Politeness
from tests.patience import eventually

NAMES = [f"http://h{page % 3}.test/{page}" for page in range(9)]


def frontrank(*args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "frontrank", *map(str, args)], capture_output=True, text=True, check=False)


@pytest.fixture
def crawl(tmp_path: Path) -> Crawl:
    made = Crawl("bfs", tmp_path / "c")
    made.discover(NAMES)
    return made


def test_a_crawl_that_does_not_run_is_told_and_closed(tmp_path: Path, crawl: Crawl) -> None:
    crawl.close()
    folder = tmp_path / "c"
    for words in (
        ("boost", folder, "/[78]$", "+2"),
        ("boost", folder, "h0", "-1"),
        ("limit", folder, "h1.test", "--budget", 1, "--delay", 0.5),
        ("limit", folder, "--pattern", "/8$", "--budget", 0, "--delay", 3),
        ("block", folder, "h2.test", "--for", 1000),
        ("pause", folder),
    ):
        done = frontrank(*words)
        assert (done.returncode, done.stdout) == (0, f"{folder}: done\n"), done.stderr
    told = [event for event in events(folder) if event["kind"] in ("rule", "host", "block", "pause")]
    assert [event["kind"] for event in told] == ["rule", "rule", "host", "rule", "block", "pause"]
    assert told[2]["host"] == "h1.test" and told[2]["budget"] == 1 and told[2]["delay_s"] == 0.5
    crawl = Crawl.recover(folder)
    assert crawl.state.progress.paused and crawl.take(9) == []
    crawl.control.resume()
    assert crawl.take(9) == [NAMES[7], NAMES[0], NAMES[3], NAMES[6]]
    crawl.close()


def test_a_crawl_that_runs_heeds_what_is_said_in_its_order(tmp_path: Path, crawl: Crawl) -> None:
    crawl.take(1)
    script = "from pathlib import Path; from frontrank.crawl.inbox import send_command; import sys\n"
    script += "print([send_command(Path(sys.argv[1]), 'boost', pattern='/8$', by=b) for b in (1, 5, 3)])"
    saying = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "c")], stdout=subprocess.PIPE, text=True)
    eventually(lambda: saying.poll() is not None)  # nothing is taken meanwhile: its slots are busy, or its hosts rest
    assert saying.communicate()[0] == "[True, True, True]\n"
    assert crawl.state.rules.json()[0]["boost"] == 3 and crawl.take() == [NAMES[8]]
    assert list((tmp_path / "c" / "control").iterdir()) == []
    crawl.close()


def test_a_crawl_that_nobody_has_any_more_listens_no_more(crawl: Crawl) -> None:
    before = set(threading.enumerate())  # crawls of other tests may not be gone yet
    crawl.take(1)
    (listening,) = [thread for thread in set(threading.enumerate()) - before if thread.name == "frontrank-control"]
    crawl.close()
    eventually(lambda: not listening.is_alive())
    before = set(threading.enumerate())
    in_memory = Crawl("bfs")
    in_memory.discover(NAMES)
    assert in_memory.take(1) and set(threading.enumerate()) <= before


def test_a_crawl_that_is_left_open_is_not_kept_by_its_listener(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "left")
    crawl.seed(NAMES)
    crawl.take(1)
    log, left = crawl.state.log, weakref.ref(crawl)
    del crawl
    eventually(lambda: gc.collect() >= 0 and left() is None)
    log.close()


def test_what_cannot_be_heeded_is_passed_over(tmp_path: Path, crawl: Crawl) -> None:
    folder = tmp_path / "c" / "control"
    folder.mkdir()
    said: tuple[Any, ...] = (
        {"verb": "close", "given": {}},
        {"verb": "boost", "given": {"pattern": "["}},
        {"verb": "pause", "given": {"x": 1}},
        [],
    )
    for number, one in enumerate(said):
        (folder / f"{number}.json").write_text(json.dumps(one))
    (folder / "4.json").write_bytes(b"\xff{")
    (folder / "5.json").write_text(json.dumps({"verb": "pause", "given": {}}))
    inbox.apply_commands(crawl, inbox.waiting(tmp_path / "c"))
    assert crawl.state.progress.paused and inbox.waiting(tmp_path / "c") == []
    crawl.close()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("boost", "C", "[", "+1"), "pattern must be a regular expression, got '['"),
        (("boost", "C", "a", "1.5"), "BY must be a whole number from -1,000,000 to 1,000,000, got '1.5'"),
        (("boost", "C", "(?=a)(b|b)*c", "+1"), "look-around, back references and possessive repeats are not known"),
        (("boost", "missing", "a", "1"), "missing: not a crawl (there is no such directory)"),
        (("limit", "C", "--budget", "1"), "limit needs either HOST or --pattern REGEX"),
        (("limit", "C", "--pattern", "a", "b", "--delay", "1"), "limit needs either HOST or --pattern REGEX"),
        (("block", "C"), "Missing argument 'HOST'"),
        (("limit", "C", "a"), "limit needs at least one of --budget, --delay, --concurrency"),
        (("limit", "C", "a", "--delay", "-1"), "--delay must be a number of seconds from 0 to 1,000,000,000, got -1"),
        (("limit", "C", "--pattern", "a", "--concurrency", "1"), "--concurrency does not apply to --pattern REGEX"),
        (("block", "C", "a", "--for", "-1"), "--for must be a number of seconds from 0 to 1,000,000,000, got -1"),
        (("pause", "127.0.0.1:1"), "127.0.0.1:1: cannot be asked"),
        (("pause", "127.0.0.1:1", "--token-file", "none"), "none: the token cannot be read"),
    ],
)
def test_bad_words_are_told_in_one_sentence(tmp_path: Path, crawl: Crawl, words: tuple[str, ...], says: str) -> None:
    done = frontrank(*(str(tmp_path / "c") if word == "C" else word for word in words))
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1 and crawl.state.log.seq == 1
    crawl.close()


def test_searchers_are_told_of_by_files_whether_the_crawl_runs_or_not(tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text("bees\t3\nwasps\t1\n")
    (tmp_path / "seen.csv").write_text(f"url,clicks\n{NAMES[1]},5\nhttp://nowhere.test/,2\n{NAMES[1]},1\n")
    folder = tmp_path / "c"
    crawl = Crawl("rw:every=2", folder)
    crawl.seed(NAMES)
    crawl.close()
    done = frontrank("impact", folder, tmp_path / "seen.csv")
    assert (done.returncode, done.stdout) == (0, f"{folder}: told of 2 pages\n"), done.stderr
    assert "1 of 2 pages with an impact are not known to this crawl: http://nowhere.test/" in done.stderr
    crawl = Crawl.recover(folder)
    assert crawl.state.demand.impacts[crawl.lookup(NAMES[1])] == 6.0
    command = [sys.executable, "-m", "frontrank", "ask", str(folder), str(tmp_path / "log.tsv"), "--json"]
    saying = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    eventually(lambda: crawl.take(0) == [] and saying.poll() is not None)
    assert json.loads(saying.communicate()[0]) == {"target": str(folder), "told": "2 queries", "done": True}
    assert crawl.state.demand.searchers is not None and crawl.state.demand.searchers.workload.queries == ("bees", "wasps")
    crawl.close()


def test_what_searchers_do_is_refused_in_a_sentence_where_it_cannot_be_used(tmp_path: Path, crawl: Crawl) -> None:
    (tmp_path / "log.tsv").write_text("bees\t3\n")
    (tmp_path / "seen.csv").write_text(f"url,likes\n{NAMES[1]},5\n")
    for words, says in (
        (("ask", tmp_path / "c", tmp_path / "log.tsv"), "bfs does not use any"),  # it runs
        (("ask", tmp_path / "c", tmp_path / "none.tsv"), "there is no such query log"),
        (("impact", tmp_path / "c", tmp_path / "seen.csv"), "neither clicks nor views"),
    ):
        done = frontrank(*words)
        assert done.returncode == 2 and says in done.stderr, done.stderr
    crawl.close()


def test_what_a_host_asks_for_never_shortens_the_delay_that_an_operator_set(tmp_path: Path, crawl: Crawl) -> None:
    def delay() -> float:
        return float(next(host["delay"] for host in crawl.inspect.hosts() if host["host"] == "h0.test"))

    crawl.control.limit_host("h0.test", delay_s=30.0)
    events_before = crawl.state.log.seq
    crawl.control.limit_host("h0.test", delay_s=2.0, at_least=True)
    crawl.control.limit_host("unknown.test", delay_s=0.0, at_least=True)
    assert delay() == 30.0 and crawl.state.log.seq == events_before, "nothing has happened"
    crawl.control.limit_host("h0.test", delay_s=40.0, at_least=True)
    assert delay() == 40.0
    crawl.control.limit_host("h0.test", delay_s=1.0)
    assert delay() == 1.0, "the operator may"
    crawl.control.limit_host("h0.test", delay_s=0.5, concurrency=3, at_least=True)
    crawl.close()
    with Crawl.recover(tmp_path / "c", read_only=True) as crawl:
        (host,) = [host for host in crawl.inspect.hosts() if host["host"] == "h0.test"]
        assert (host["delay"], host["concurrency"]) == (1.0, 3)


def test_robots_txt_read_again_leaves_a_limit_alone() -> None:
    from frontrank.fetching.robots import Robots

    crawl = Crawl("bfs")
    crawl.discover(NAMES)
    crawl.control.limit_host("h0.test", delay_s=30.0)
    robots = Robots("me/1.0", None, crawl.control)  # type: ignore[arg-type]
    for host in ("h0.test", "h1.test"):
        robots._slow_down(f"http://{host}", 5.0)
    assert {host["host"]: host["delay"] for host in crawl.inspect.hosts()} == {"h0.test": 30.0, "h1.test": 5.0, "h2.test": 0.0}


def test_a_host_rests_from_when_its_last_request_was_sent_and_so_it_does_after_the_process(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "crawl", politeness=Politeness(delay_s=5.0), clock=lambda: 100.0)
    crawl.seed(["http://a.test/1", "http://a.test/2"])
    assert crawl.take(2) == ["http://a.test/1"] and crawl.next_at() == 105.0
    crawl.control.rest("a.test", 7.5)
    crawl.control.rest("a.test", 1.0)
    assert crawl.next_at() == 107.5 and crawl.inspect.pace_of("a.test") == ("a.test", 5.0)
    crawl.abandon()
    crawl = Crawl.recover(tmp_path / "crawl", clock=lambda: 100.0)
    assert crawl.next_at() == 107.5 and crawl.take(2, now=107.5) == ["http://a.test/1"]
    crawl.close()
