"""Names of before: each row of the table works, and says the new name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from frontrank.cli import COMMANDS, command
from frontrank.crawl.crawl import Crawl
from frontrank.deprecated import (
    ALIASES,
    CRAWL,
    NAMES,
    OPTIONS,
    PARAMETERS,
    Renamed,
    current_arguments,
    names_of_before,
    parameters_of_before,
)
from frontrank.orderings.revisits import from_data
from frontrank.orderings.revisits import parse as parse_revisit


def flags(name: str) -> list[str]:
    found = command.get_command(None, name)  # type: ignore[arg-type]
    assert found is not None, name
    return [flag for option in found.params for flag in option.opts]


@pytest.mark.parametrize(("name", "old"), OPTIONS)
def test_an_option_of_before_is_taken_and_its_new_name_said_once(
    name: str, old: str, capsys: pytest.CaptureFixture[str]
) -> None:
    new = OPTIONS[name, old]
    words = current_arguments(name, flags(name), [old, "1", f"{old}=2", "x", "--", old])
    assert old not in flags(name)
    if new.startswith("-"):
        assert new in flags(name) and words == [new, "1", f"{new}=2", "x", "--", old]
    else:
        assert words == ["x", "1", "2", "--", old], "after the arguments that were there"
    said = capsys.readouterr().err
    assert said.startswith(f"frontrank: {old} ") and f" {new} " in said and said.count("\n") == 1


@pytest.mark.parametrize("name", [name for name in COMMANDS if "--ordering" in flags(name)])
def test_other_words_for_an_ordering_are_taken_in_silence(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for other, flag in ALIASES.items():
        assert current_arguments(name, flags(name), [other, "bfs"]) == [flag, "bfs"]
    assert capsys.readouterr().err == ""


def test_a_command_line_of_before_runs(tmp_path: Path) -> None:
    words = ("simulate", "synthetic:pages=100,seed=1", "--policy", "bfs", "--ranker=dfs", "--csv")
    done = subprocess.run([sys.executable, "-m", "frontrank", *words], capture_output=True, text=True, check=True)
    assert [line.partition(",")[0] for line in done.stdout.splitlines()[1:]] == ["bfs", "dfs"] and done.stderr == ""
    (tmp_path / "crawl.toml").write_text('policy = "fpr"\n')
    from frontrank.fetching.crawler.config import read_config

    assert read_config(str(tmp_path / "crawl.toml")) == {"policy": "fpr"}


@pytest.mark.parametrize(("name", "old"), PARAMETERS)
def test_a_parameter_of_before_is_taken_and_its_new_name_said(name: str, old: str) -> None:
    new = PARAMETERS[name, old]
    with pytest.warns(DeprecationWarning, match=f"^{name}:{old}= is called {new}= now$"):
        assert parse_revisit(f"{name}:{old}=2d") == parse_revisit(f"{name}:{new}=2d")
    stored = {"name": name, "fields": {old: 2 * 86400.0}}
    assert from_data(stored) == parse_revisit(f"{name}:{new}=2d"), "what an older version stored is read in silence"


def test_a_word_of_before_that_a_command_never_had_is_unknown() -> None:
    assert current_arguments("status", flags("status"), ["--policy", "bfs"]) == ["--policy", "bfs"]


HOLDERS = {CRAWL: lambda: Crawl("bfs")}  # of owners that are classes


@pytest.mark.parametrize("row", NAMES, ids=lambda row: row.old)
def test_a_python_name_of_before_is_the_new_one_and_warns(row: Renamed) -> None:
    holder: Any = HOLDERS[row.owner]() if ":" in row.owner else import_module(row.owner)
    with pytest.warns(DeprecationWarning, match=f"^{row.old} is called {row.new} now$") as warned:
        assert getattr(holder, row.old) == attrgetter(row.new)(holder)
    assert [one.filename for one in warned] == [__file__]


def test_a_name_of_before_in_a_module_is_the_new_one_and_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontrank.deprecated.NAMES", (Renamed("frontrank.deprecated", "BEFORE", "OPTIONS"),))
    before = names_of_before("frontrank.deprecated")
    with pytest.warns(DeprecationWarning, match="^BEFORE is called OPTIONS now$"):
        assert before("BEFORE") is OPTIONS
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        before("nothing")


def test_a_crawl_has_no_fallback_for_attributes() -> None:
    """CPython 3.11 looks up each attribute of such an object anew: 5% of a live crawl."""
    assert not hasattr(Crawl, "__getattr__")


def test_a_parameter_of_before_is_the_new_one_and_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(*, max_bytes: int) -> int:
        return max_bytes

    owner = f"{fetch.__module__}:{fetch.__qualname__}"
    monkeypatch.setattr("frontrank.deprecated.NAMES", (Renamed(owner, "most", "max_bytes"),))
    renamed: Callable[..., int] = parameters_of_before(fetch)
    assert renamed(max_bytes=3) == 3
    with pytest.warns(DeprecationWarning, match="^most= is called max_bytes= now$"):
        assert renamed(most=5) == 5
