"""Opening somebody else's directory runs none of the code that its files name, unless --trust, or ``trust=True``, says so."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest

import frontrank as fr
from frontrank.cli import COMMANDS, command, main
from frontrank.crawl.integrity import checksum
from frontrank.crawl.stored import stored_spec
from frontrank.errors import BrokenCrawl, FrontrankError, NotTrusted
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.run import stored_options
from frontrank.lab.compare import Runs
from frontrank.orderings.stored import from_data, trusting
from frontrank.service.crawls import Crawls
from frontrank.service.http import replays
from frontrank.service.http.reader import CrawlReader
from tests.patience import PATIENCE_S

URL = "http://a.example/"
SAYS = "was made with the ordering pwn:X, code that is not part of frontrank; if you trust this directory, pass --trust"
PWN = """
from dataclasses import dataclass
from pathlib import Path

from frontrank import Policy, Ranker

with open(Path(__file__).with_name("pwned"), "a") as file:
    file.write("imported\\n")


@dataclass(frozen=True)
class X(Policy):
    "X: code of somebody else."


def score(url, title, text):
    return 1.0


def measure(web):
    return [1.0] * web.pages
"""
X = {"name": "pwn:X", "fields": {}}
LIVE: dict[str, Callable[[Path], list[Any]]] = {  # commands that need the ordering of a crawl
    "status": lambda it: [it],
    "explain": lambda it: [it, URL + "1"],
    "dashboard": lambda it: [it],
    "mcp": lambda it: [it, "--json"],
    "boost": lambda it: [it, "/x/", "+1"],
    "limit": lambda it: [it, "a.example", "--delay", "2"],
    "block": lambda it: [it, "a.example"],
    "pause": lambda it: [it],
    "resume": lambda it: [it],
    "ask": lambda it: [it, _file(it, "queries.tsv", "solar energy\t2\n")],
    "impact": lambda it: [it, _file(it, "impact.csv", f"url,clicks\n{URL},2\n")],
    "crawl": lambda it: ["--resume", it, "-q"],
    "export": lambda it: [it, it.parent / "pages.jsonl", "--text", "none"],
}
WEBS: dict[str, Callable[[Path], list[Any]]] = {  # commands that take its pages as a web, whatever its ordering was
    "trace": lambda it: [it],
    "simulate": lambda it: [it, "--ordering", "bfs"],
    "recommend": lambda it: [it, "--ordering", "bfs", "--draws", "1"],
    "revisit": lambda it: [it, "--revisit", "fixed"],
    "evaluate": lambda it: [it, "--ordering", "random", "--crawled", "bfs:0.5"],
    "rank": lambda it: [it, "--ordering", "pagerank", "--out", it.parent / "next.csv"],
    "tune": lambda it: [it],
    "convert": lambda it: [it, it.parent / "made.web"],
}
APART = {"serve", "report", "web", "leaderboard"}  # tested below; the last reads webs as simulate does, and takes minutes
NEVER = {"demo", "orderings", "plot", "plugins", "fetch", "reproduce", "import"}  # open no directory of somebody else


def _file(beside: Path, name: str, text: str) -> Path:
    path = beside.parent / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A current directory, on the path of modules, with code that leaves a mark when it is imported."""
    (tmp_path / "pwn.py").write_text(PWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    yield tmp_path
    sys.modules.pop("pwn", None)


@pytest.fixture(autouse=True)
def _nobody_named_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    from frontrank.orderings.registry import REGISTRY as orderings
    from frontrank.pages.scorers import REGISTRY as scorers
    from frontrank.web.measures import REGISTRY as measures

    for registry in (orderings, scorers, measures):
        monkeypatch.setattr(registry, "_requested", set())


def made_by(policy: Any, where: Path, spec: str = "pwn:X") -> Path:
    """The directory of a crawl that says it was made by this ordering."""
    options = Options(seeds=(URL,), policy="bfs", budget=2).json() | {"policy": spec}
    with fr.Crawl("bfs", where, notes={"options": options}) as crawl:
        crawl.seed([URL])
        crawl.take()
        crawl.fetched(URL, [URL + "1", URL + "2"])
        crawl.take()
        crawl.fetched(URL + "1", [URL, URL + "3"])
    db = sqlite3.connect(where / "trace.db")
    with db:
        row = ("policy", json.dumps(policy))
        db.execute("INSERT OR REPLACE INTO meta VALUES(?, ?, ?)", (*row, checksum(row)))
    db.close()
    return where


def run(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, str]:
    """The exit code of a command, and what it says on standard error."""
    capsys.readouterr()
    try:
        main([str(arg) for arg in args])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    else:
        code = 0
    return code, capsys.readouterr().err


def trust_options(name: str) -> int:
    found = command.get_command(click.Context(command), name)
    assert found is not None
    return sum("--trust" in one.opts for one in found.params)


def test_every_command_is_known_here() -> None:
    assert {*LIVE, *WEBS, *APART, *NEVER} == set(COMMANDS)
    with_option = {name for name in COMMANDS if trust_options(name)}
    assert with_option == {*LIVE, "serve", "report"}
    assert all(trust_options(name) == 1 for name in with_option)


@pytest.mark.parametrize("name", LIVE)
def test_a_command_that_needs_the_ordering_refuses_code_unless_it_is_trusted(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = LIVE[name](made_by(X, here / "crawl"))
    code, said = run(capsys, name, *args)
    assert (code, said.count("\n")) == (2, 1)
    assert f"this crawl {SAYS}" in said
    assert not (here / "pwned").exists() and "pwn" not in sys.modules
    if name != "dashboard":  # it would go on
        _, said = run(capsys, name, *args, "--trust")
        assert "--trust" not in said
        assert (here / "pwned").exists()


@pytest.mark.parametrize("name", WEBS)
def test_a_command_that_needs_no_ordering_does_without(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, said = run(capsys, name, *WEBS[name](made_by(X, here / "crawl")))
    assert "pwn" not in said
    assert not (here / "pwned").exists() and "pwn" not in sys.modules


def test_what_was_crawled_is_shown_under_the_stored_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made_by(X, here / "crawl")
    assert run(capsys, "simulate", "crawl", "--ordering", "bfs", "--out", "runs.json") == (0, "")
    assert "pwn:X" in (here / "runs.json").read_text(encoding="utf-8")
    assert not (here / "pwned").exists()


def test_a_served_web_loads_no_code(here: Path) -> None:
    made_by(X, here / "crawl")
    ask = [sys.executable, "-m", "frontrank", "web", "crawl", "--port", "0", "--until-eof", "--json"]
    done = subprocess.run(ask, input="", capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout.splitlines()[0])["pages"] == 2
    assert not (here / "pwned").exists()


def test_a_service_leaves_such_a_crawl_out_and_serves_the_others(here: Path) -> None:
    (here / "served").mkdir()
    made_by(X, here / "served" / "theirs")
    made_by({"name": "bfs", "fields": {}}, here / "served" / "ours")
    with Crawls(here / "served") as crawls:
        assert crawls.ids() == ["ours"]
        assert f"this crawl {SAYS}" in crawls.broken["theirs"]
    assert not (here / "pwned").exists()
    with trusting(), Crawls(here / "served") as crawls:
        assert (crawls.ids(), crawls.broken) == (["ours", "theirs"], {})


def test_what_the_operator_of_a_service_names_is_loaded(here: Path) -> None:
    made_by(X, here / "served" / "theirs")
    with Crawls(here / "served", orderings={"theirs": "pwn:X"}) as crawls:
        assert crawls.ids() == ["theirs"]


def test_processes_that_answer_questions_trust_what_the_one_that_asks_has_trusted(here: Path) -> None:
    made_by(X, here / "served" / "theirs")
    with Crawls(here / "served", orderings={"theirs": "pwn:X"}) as crawls, closing(CrawlReader(crawls)) as reader:
        theirs = reader.source("theirs")
        told = reader.slowly(theirs, replays.explain, theirs.folder, URL + "2", None)
        assert told is not None and told["policy"] == "pwn:X"
    folders = {"theirs": here / "served" / "theirs"}
    with closing(CrawlReader(folders=folders)) as reader, pytest.raises(BrokenCrawl, match=SAYS):
        reader.source("theirs").ask("overview")
    with trusting(), closing(CrawlReader(folders=folders)) as reader:
        assert reader.source("theirs").ask("overview")["policy"] == "pwn:X"


@pytest.mark.parametrize(
    "policy",
    [
        X,
        "pwn:X",  # of format 1
        {"name": "periodic", "fields": {"ranker": X, "every": 10}},
        {"name": "combine", "fields": {"a": X, "b": X, "weight_a": 1.0, "weight_b": 1.0}},
        {"name": "quality", "fields": {"scorer": "pwn:score"}},
        {"name": "group", "fields": {"scorer": "pwn:score"}},
        {"name": "quality", "fields": {"scorer": "os:system"}},  # loaded already, but no ordering
        {"name": "oracle", "fields": {"truth": "2*pwn:measure+1*pagerank"}},
        "quality:scorer=pwn:score",
    ],
    ids=str,
)
def test_no_stored_name_is_imported(policy: Any, here: Path) -> None:
    folder = made_by(policy, here / "crawl")
    given: tuple[dict[str, Any], ...] = ({"read_only": True}, {}, {"policy": "fica"})
    for how in given:
        with pytest.raises(FrontrankError):
            fr.Crawl.recover(folder, **how)
    with fr.Crawl.recover(folder, "bfs", rescore=True) as crawl:
        assert crawl.inspect.waiting == 2
    assert not (here / "pwned").exists()


@pytest.mark.parametrize(
    ("policy", "what"),
    [
        (X, "ordering pwn:X"),
        ("pwn:X", "ordering pwn:X"),
        ({"name": "quality", "fields": {"scorer": "pwn:score"}}, "scorer pwn:score"),
        ({"name": "\x1b[2Jpwn:X", "fields": {}}, r"ordering '\\x1b\[2Jpwn:X'"),
    ],
)
def test_the_sentence_names_what_would_be_loaded(policy: Any, what: str, here: Path) -> None:
    folder = made_by(policy, here / "crawl")
    with pytest.raises(NotTrusted, match=f"this crawl was made with the {what}, code that is not part of frontrank"):
        fr.Crawl.recover(folder)


def test_trust_and_a_policy_of_ones_own_are_consent(here: Path) -> None:
    folder = made_by({"name": "tests.test_opening:Own", "fields": {}}, here / "own")
    with fr.Crawl.recover(folder) as crawl:  # loaded already: by this test
        assert crawl.state.policy == Own()
    folder = made_by(X, here / "crawl")
    with fr.Crawl.recover(folder, trust=True) as crawl:
        assert crawl.state.policy.spec() == "pwn:X"
    sys.modules.pop("pwn")
    with pytest.raises(NotTrusted):  # trust ends with the call
        from_data({"name": "pwn:Y", "fields": {}})


def test_the_policy_that_is_given_is_consent_for_this_one(here: Path) -> None:
    folder = made_by(X, here / "crawl")
    with fr.Crawl.recover(folder, "pwn:X") as crawl:
        assert crawl.state.policy.spec() == "pwn:X"
    with pytest.raises(NotTrusted):
        fr.Crawl.recover(made_by({"name": "other:X", "fields": {}}, here / "other"))


@dataclass(frozen=True)
class Own(fr.Policy):
    """Own: an ordering of this test."""


def test_options_that_are_stored_load_no_code_unless_the_user_names_it(here: Path) -> None:
    folder = made_by(X, here / "crawl")
    with pytest.raises(NotTrusted, match=SAYS):
        stored_options(folder)
    assert stored_options(folder, "opic").policy == "opic"  # to go on with another
    assert not (here / "pwned").exists()
    assert stored_options(folder, "pwn:X").policy == "pwn:X"


def saved_runs(here: Path, **changes: Any) -> Path:
    web = "synthetic:pages=50,seed=1"
    fr.compare(fr.load(web), "bfs", source=web).save(here / "runs")
    record = json.loads((here / "runs" / "runs.json").read_text(encoding="utf-8"))
    record["runs"][0] |= changes.pop("run", {})
    (here / "runs" / "runs.json").write_text(json.dumps(record | changes), encoding="utf-8")
    return here / "runs"


@pytest.mark.parametrize("changes", [{"run": {"ordering": X}}, {"metric": "pwn:measure"}], ids=["ordering", "metric"])
def test_saved_runs_load_no_code_unless_they_are_trusted(
    changes: dict[str, Any], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = saved_runs(here, **changes)
    code, said = run(capsys, "report", folder, "--out", "page.html")
    assert code == 2 and "these runs were made with the" in said and "pass --trust" in said
    assert not (here / "pwned").exists() and not (here / "page.html").exists()
    assert run(capsys, "report", folder, "--out", "page.html", "--trust") == (0, "")
    assert (here / "pwned").exists()


def test_a_policy_of_saved_runs_as_earlier_versions_wrote_it_loads_no_code(here: Path) -> None:
    folder = saved_runs(here)
    record = json.loads((folder / "runs.json").read_text(encoding="utf-8"))
    record["runs"][0] = {**record["runs"][0], "policy": "pwn:X"}
    del record["runs"][0]["ordering"]
    (folder / "runs.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(NotTrusted):
        Runs.load(folder)


def test_a_ranker_or_nonsense_in_place_of_the_ordering_is_a_sentence(here: Path) -> None:
    for at, policy in enumerate(({"name": "pagerank", "fields": {}}, [1], {"name": "fpr", "fields": 3}, {"name": "fpr"}, 7)):
        folder = made_by(policy, here / f"crawl{at}")
        with pytest.raises(FrontrankError, match="the ordering of this crawl cannot be made again"):
            fr.Crawl.recover(folder)
        with pytest.raises(FrontrankError, match="was started with"):
            fr.Crawl.recover(folder, "opic")
        assert fr.load(folder).pages == 2


def test_stored_spec_needs_no_code(here: Path) -> None:
    from frontrank.crawl.journal import Journal

    journal = Journal.open(made_by({"name": "pwn:X", "fields": {"weight": 2.0}}, here / "crawl"), read_only=True)
    try:
        assert stored_spec(journal) == "pwn:X:weight=2"
    finally:
        journal.close()
    assert not (here / "pwned").exists()


@pytest.mark.parametrize("name", ["crawl.log", "warc/crawl-00000.warc.gz"])
def test_a_resumed_crawl_changes_no_file_outside_of_its_directory(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made_by({"name": "bfs", "fields": {}}, here / "crawl", "bfs")
    (folder / "warc").mkdir()
    (here / "profile").write_text("export A=1\n", encoding="utf-8")
    (folder / name).symlink_to(here / "profile")
    code, said = run(capsys, "crawl", "--resume", folder, "-q")
    assert code == 2 and f"{name}: is a symbolic link" in said
    assert (here / "profile").read_text(encoding="utf-8") == "export A=1\n"
