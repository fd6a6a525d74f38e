"""The options of a crawl: one description of each, for Python, the command line, TOML files and the docs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from frontrank.cli.crawl import command
from frontrank.errors import InputError, SpecError
from frontrank.fetching.crawler.config import read_config, read_seeds
from frontrank.fetching.crawler.option_checks import AGENT, contact_of
from frontrank.fetching.crawler.options import Options, options
from frontrank.fetching.url_families import UrlFamily
from frontrank.options import duration, size
from frontrank.pages.urls import pattern

SEED = ("http://a.example/",)
DOCS = Path(__file__).parent.parent / "docs"


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "crawl.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


# One description -------------------------------------------------------------------------------------------------------------
def test_every_option_is_on_the_command_line_in_toml_and_in_the_docs() -> None:
    parameters = {parameter.name: parameter for parameter in command.params}
    text = (DOCS / "crawl.md").read_text(encoding="utf-8")
    for one in options().values():
        assert one.field in parameters
        if one.field != "seeds":
            assert f"| `{one.usage.replace('|', chr(92) + '|')}` |" in text, one.flag


def test_defaults_are_values_that_pass_their_own_check() -> None:
    for one in options().values():
        one.check(one.default, one.flag)


def test_the_default_on_the_command_line_is_that_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Options] = []

    def note(options: Options, *given: Any, **more: Any) -> None:
        asked.append(options)
        raise InputError("enough")

    monkeypatch.setattr("frontrank.fetching.crawler.run.new_job", note)
    CliRunner().invoke(command, [*SEED, "--out", "nowhere", "-q"])
    assert asked == [Options(seeds=SEED)]


def test_options_survive_being_stored() -> None:
    asked = Options(seeds=("HTTP://Example.org",), exclude=("a", "b"), budget=7, until="coverage=0.5", policy="rankmass")
    assert Options.of(json.loads(json.dumps(asked.json()))) == asked
    assert asked.seeds == ("http://example.org/",)
    assert asked.with_changes({"budget": 9}).budget == 9
    assert asked.with_changes({"policy": "opic"}).until is None
    sought = Options(seeds=SEED, goal="the sun")
    assert sought.policy == "quality:scorer=topic:sun,inherit=max,anchor=1"
    assert sought.with_changes({"policy": options()["policy"].default}).policy == options()["policy"].default


def test_options_that_a_later_version_stored_are_passed_over() -> None:
    assert Options.of({"seeds": list(SEED), "telepathy": True}) == Options(seeds=SEED)


@pytest.mark.parametrize("name", options())
def test_a_crawl_can_be_resumed_with_any_option_but_those_of_its_start(name: str) -> None:
    other: dict[str, Any] = {
        "seeds": ("http://b.example/",), "policy": "opic", "until": None, "scope": "any", "include": ("x",), "exclude": ("y",),
        "user_agent": "robin/1.0", "contact": "a@b.example", "proxy": "http://127.0.0.1:1", "queries": "log.tsv",
        "goal": "solar energy", "politeness_by": "domain", "revisit": "fixed", "revisit_share": 0.5, "trap_share": 0.5,
        "purpose": "train", "accept_language": "de", "header": ("X-Key: abc",), "cookie_file": "", "auth_file": "",
        "export": "/pages.jsonl",
        "pace": "2/s",
    }  # fmt: skip
    asked, one = Options(seeds=SEED, budget=9), options()[name]
    value = other[name] if name in other else not one.default if isinstance(one.default, bool) else 7
    if one.changes:
        assert getattr(asked.with_changes({name: value}), name) == value
    else:
        with pytest.raises(InputError, match="with --resume"):
            asked.with_changes({name: value})
    assert asked.with_changes({name: getattr(asked, name)}) == asked


# Values ----------------------------------------------------------------------------------------------------------------------
def test_units_are_read() -> None:
    assert [duration(text) for text in ("1", "0.5m", "1.5h", "2 d", "0")] == [1.0, 30.0, 5400.0, 172800.0, 0.0]
    assert [size(text) for text in ("1", "1kB", "2.5mb")] == [1, 1000, 2_500_000]
    for bad in ("", "1y", "nan", "1e999", "1,5"):
        with pytest.raises(InputError, match="must be seconds"):
            duration(bad)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ({"max_depth": 70_000}, "max_depth must be a whole number from 0 to 65,533, got 70000"),
        ({"delay": -1.0}, "delay must be a number of seconds from 0, got -1"),
        ({"delay": float("nan")}, "delay must be a number of seconds from 0, got nan"),
        ({"budget": True}, "budget must be a whole number from 0, got True"),
        ({"timeout": 0.0}, "timeout must be a number of seconds from 0.001, got 0"),
        ({"scope": "hosts"}, "scope must be host, domain or any, got 'hosts'; did you mean 'host'?"),
        ({"robots": 1}, "robots must be true or false, got 1"),
        ({"exclude": "abc"}, "exclude must be a list of texts, got 'abc'"),
        ({"contact": "me and you"}, "contact must be a URL or an e-mail address"),
        ({"user_agent": "räuber"}, "user_agent must be a name in plain ASCII"),
    ],
)
def test_bad_values_are_named(bad: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        Options(seeds=SEED, **bad)


def test_a_stopping_rule_belongs_to_its_ordering() -> None:
    with pytest.raises(SpecError):
        Options(seeds=SEED, until="coverage=0.9")


@pytest.mark.parametrize(
    "bad", ["me", "http://", "http://localhost/", "a@b", "https://a.example/(x)", "a b@c.de", "ftp://a.example/"]
)
def test_what_is_no_contact(bad: str) -> None:
    assert contact_of(bad) == ""


def test_the_contact_is_sent_with_the_user_agent() -> None:
    assert Options(seeds=SEED).agent == AGENT
    assert Options(seeds=SEED, contact="https://a.example/bot").agent == f"{AGENT} (+https://a.example/bot)"
    assert Options(seeds=SEED, contact="me@a.example", user_agent="robin/2").agent == "robin/2 (+mailto:me@a.example)"
    whole = "robin/2 (+https://a.example/bot)"
    assert Options(seeds=SEED, contact="https://a.example/bot", user_agent=whole).agent == whole


# Files -----------------------------------------------------------------------------------------------------------------------
def test_toml_has_the_names_of_the_options(tmp_path: Path) -> None:
    text = 'time = "2h"\nmax-size = "1MB"\nmax_depth = 3\nno-robots = true\nexclude = "/a"\nseeds = ["http://A.example"]\n'
    assert read_config(written(tmp_path, f"{text}delay = 2")) == {
        "time_s": 7200.0,
        "max_size": 1_000_000,
        "max_depth": 3,
        "robots": False,
        "exclude": ("/a",),
        "seeds": SEED,
        "delay": 2.0,
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("dealy = 2", r"crawl.toml, line 1: unknown option 'dealy'; did you mean 'delay'\?"),
        ("\n\nbudget = '1k'", r"line 3: budget must be a whole number from 0, got '1k'"),
        ("delay = true", r"line 1: delay must be a number of seconds from 0, got True"),
        ("robots = 'no'", r"line 1: robots must be true or false, got 'no'"),
        ("# x\nexclude = ['ok', '(']", r"line 2: exclude must be a regular expression"),
        ("exclude = [1]", r"line 1: exclude must be a list of texts"),
        ("seeds = ['example.org']", r"line 1: seed 'example.org' has no scheme"),
        ("robots = true\nno-robots = true", r"line 2: robots is given twice"),
        ("no-delay = true", r"unknown option 'no-delay'"),
        ("[crawl]\ndelay = 2", r"line 1: unknown option 'crawl'"),
        ("budget = 1\ndelay = , 2\n", r"is not TOML: .*line 2"),
        ("out = 'x'", r"line 1: out is not for a file; give --out on the command line"),
    ],
)
def test_bad_toml_is_named_with_its_line(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_config(written(tmp_path, text))


def test_seeds_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_bytes(b"\xef\xbb\xbfhttp://a.example\r\n\r\n# remark\r\n  http://b.example/x \r\n")
    assert read_seeds(str(path)) == ["http://a.example/", "http://b.example/x"]
    path.write_text("http://a.example\nnonsense\nftp://c.example\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"seeds.txt, line 2: seed 'nonsense' has no scheme.* \(lines that are not seeds: 2\)"):
        read_seeds(str(path))
    path.write_text("# nothing\n", encoding="utf-8")
    with pytest.raises(InputError, match="contains no seeds"):
        read_seeds(str(path))


def test_the_example_in_the_docs_is_read(tmp_path: Path) -> None:
    text = (DOCS / "crawl.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert Options(**read_config(written(tmp_path, example))).contact


# Traps -----------------------------------------------------------------------------------------------------------------------
parts = st.text("abc019-._*+()[]$ ", max_size=8)
urls = st.builds(
    lambda path, query: f"http://a.example:81/{path}" + (f"?{query}" if query else ""),
    st.lists(parts, max_size=4).map("/".join),
    st.lists(st.tuples(st.text("ab1[", min_size=1, max_size=3), st.text("01ab", max_size=3)), max_size=3).map(
        lambda pairs: "&".join(f"{key}={value}" for key, value in pairs)
    ),
)


@given(url=urls)
def test_the_expression_of_a_family_finds_its_urls(url: str) -> None:
    assert re.search(UrlFamily(pattern(url), 50, 1.0).exclude, url)


def test_the_expression_of_a_family_finds_no_others() -> None:
    family = UrlFamily(pattern("http://a.example/cal/2026/3?day=1"), 50, 1.0).exclude
    for other in ("http://b.example/cal/2026/3?day=1", "http://a.example/cal/2026/3", "http://a.example/cal/2026/3?day=1&b=2"):
        assert not re.search(family, other)
