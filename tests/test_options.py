"""Options of commands: made from what describes them, so that a value that cannot be used is refused under its flag."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator

import click
import pytest

from frontrank.cli import COMMANDS, GROUPS
from frontrank.cli import command as commands
from frontrank.cli.click_options import Described
from frontrank.errors import InputError
from frontrank.fetching.crawler.options import Options, fixed_options
from frontrank.lab.evaluate import evaluate
from frontrank.lab.lab_options import EvaluateOptions, LeaderboardOptions, RecommendOptions, RevisitOptions, TuneOptions
from frontrank.lab.leaderboard import leaderboard
from frontrank.lab.recommend import recommend
from frontrank.lab.revisits import compare_revisits
from frontrank.lab.scenario import build_scenario
from frontrank.lab.tune import tune
from frontrank.lab.webserver import ServerOptions as Served
from frontrank.options import NUMBER, NUMBERS, SIZE, TIME, WHOLE, Option, check_options, option, options_of
from tests.conftest import ROOT
from tests.terminal import Terminal

NUMERIC = (WHOLE, NUMBER, NUMBERS, TIME, SIZE)


def command_of(name: str) -> click.Command:
    found = commands.get_command(click.Context(commands), name)
    assert found is not None
    return found


def known_options() -> Iterator[tuple[str, click.Option]]:
    for name in COMMANDS:
        yield from ((name, one) for one in command_of(name).params if isinstance(one, click.Option))


def described(*kinds: str) -> Iterator[tuple[str, Option]]:
    for name, one in known_options():
        if isinstance(one, Described) and one.described.kind in kinds:
            yield name, one.described


def bad_values(one: Option) -> Iterator[str]:
    yield from ("much", "nan", "inf", "", "1,x", "9" * 5_000)
    yield f"{one.minimum - 1:g}"
    if one.above:
        yield f"{one.minimum:g}"
    if one.maximum < float("inf"):
        yield f"{one.maximum + 1:.0f}"
    if one.kind == WHOLE:
        yield from ("1.5", "1e3")


@pytest.mark.parametrize(("name", "one"), [pytest.param(n, o, id=f"{n} {o.flag}") for n, o in described(*NUMERIC)])
def test_a_number_that_cannot_be_used_is_refused_under_its_flag(name: str, one: Option) -> None:
    command = command_of(name)
    for value in bad_values(one):
        with pytest.raises(InputError) as refused:
            command.make_context(name, [f"{one.flag}={value}"])
        assert str(refused.value).startswith(f"{one.flag} must be "), value
        assert ", got " in str(refused.value)


def test_no_number_is_read_in_another_way() -> None:
    for name, one in known_options():
        assert not isinstance(one.type, click.types.IntParamType | click.types.FloatParamType), f"{name} {one.name}"


@pytest.mark.parametrize(("name", "one"), [pytest.param(n, o, id=f"{n} {o.flag}") for n, o in described("text") if o.choices])
def test_a_word_that_is_none_of_the_choices_is_refused_under_its_flag(name: str, one: Option) -> None:
    command = command_of(name)
    with pytest.raises(InputError, match=f"^{one.flag} must be .*{one.choices[0]}.* or {one.choices[-1]}, got 'sundry'"):
        command.make_context(name, [one.flag, "sundry"])


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["simulate", "w", "--budget", "much"], "--budget must be a number of pages or a share such as 0.3, got 'much'"),
        (["recommend", "w", "--budget", "1.5"], "--budget must be a share above 0 and up to 1, or a whole number"),
        (["simulate", "w", "--until", "0.9"], "--until must be RULE=SHARE; write coverage=0.9"),
        (["crawl", "http://a.example/", "--out", "c", "--until", "0.9"], "--until must be RULE=SHARE; write coverage=0.9"),
        (["evaluate", "w", "--crawled", "bfs"], "--crawled must be ORDERING:SHARE, such as bfs:0.3, got 'bfs'"),
        (["tune", "w", "--omega", "0,2"], "--omega must be numbers from 0 to 1, joined by commas, got 0,2"),
        (["revisit", "w", "--a-day", "0"], "--a-day must be a number above 0, got 0"),
    ],
)
def test_sentences(args: list[str], says: str) -> None:
    command = command_of(args[0])
    with pytest.raises(InputError) as refused:
        command.make_context(args[0], args[1:])
    assert str(refused.value).startswith(says)


@pytest.mark.parametrize(
    ("function", "kind", "called"),
    [
        (evaluate, EvaluateOptions, {}),
        (build_scenario, EvaluateOptions, {}),
        (tune, TuneOptions, {"omegas": "omega", "gammas": "gamma", "seed": "draw"}),
        (compare_revisits, RevisitOptions, {"seed": "draw"}),
        (recommend, RecommendOptions, {}),
        (leaderboard, LeaderboardOptions, {}),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_the_library_has_the_defaults_of_the_command_line(function: object, kind: type, called: dict[str, str]) -> None:
    compared = 0
    for name, parameter in inspect.signature(function).parameters.items():  # type: ignore[arg-type]
        one = options_of(kind).get(called.get(name, name))
        if one is not None and parameter.default is not parameter.empty and name != "queries":
            assert parameter.default == one.default, name
            compared += 1
    assert compared >= 2


def test_the_library_refuses_by_the_name_of_the_parameter() -> None:
    with pytest.raises(InputError, match=r"^days must be a number above 0, got -1$"):
        check_options(RevisitOptions, days=-1.0)
    with pytest.raises(InputError, match=r"^crawl_delay must be a number of seconds from 0, got -1$"):
        Served(crawl_delay=-1.0)


def test_a_field_without_help_is_no_option() -> None:
    assert "idle_s" not in options_of(Served) and option(1, "Help.").metadata == {"help": "Help."}


# What --resume cannot change -------------------------------------------------------------------------------------------------
FIXED = [one for one in options_of(Options).values() if not one.changes]


def test_what_stays_is_named_where_it_is_refused_and_on_the_page() -> None:
    page = (ROOT / "docs" / "crawl.md").read_text(encoding="utf-8")
    assert fixed_options("`") in " ".join(page.split())
    other = {"goal": "solar power", "politeness_by": "domain", "sitemaps": True, "warc": False}
    assert {one.field for one in FIXED} == {"seeds", *other}
    crawl = Options(("http://a.example/",))
    for name, value in other.items():
        with pytest.raises(InputError) as refused:
            crawl.with_changes({name: value})
        said = str(refused.value)
        assert (
            all(one.flag in said for one in FIXED if one.field != "seeds") and said.count(options_of(Options)[name].flag) == 2
        )


# Help ------------------------------------------------------------------------------------------------------------------------
ALL_HELP = """
from frontrank.cli import COMMANDS, main
for name in ([], *([name] for name in COMMANDS)):
    main([*name, "--help"])
"""


def test_the_commands_are_listed_by_what_they_are_for() -> None:
    shown = commands.get_help(click.Context(commands, info_name="frontrank"))
    places = [shown.index(f"\n{group}:\n") for group in GROUPS]
    assert places == sorted(places)
    for name in COMMANDS:
        assert len(re.findall(rf"^  {name}  +\S", shown, re.MULTILINE)) == 1


def test_help_fits_a_terminal_of_80_columns() -> None:
    shown = Terminal(columns=80, command=(sys.executable, "-c", ALL_HELP))
    assert shown.end() == 0, shown.text
    assert "Usage: frontrank plugins" in shown.plain
    long = [line.rstrip("\r") for line in shown.plain.split("\n") if len(line.rstrip("\r")) > 80]
    assert not long, "\n".join(long)
