"""Messages, help and pages in the words of the field: phrases that were found in reviews do not return."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from frontrank.cli import COMMANDS
from frontrank.cli import command as commands
from tests.conftest import ROOT
from tests.test_docs import PAGES

BANNED = {  # what it read like, and what to write
    r"\bleave (\S+ ){0,3}(out|away)\b": "drop X",
    r"(?<!there )\b(is|are) none\b(?! of)": "is not one",
    r"(?<!there )\bis no (page|copy|folder|part|vertex|node|number|url|warc|address|kernel|article|crawl)\b": "is not a ...",
    r"\bno \S+( \S+)? in it\b": "contains no ...",
    r"\bfor a program\b": "as JSON",
    r"\bpolic(y|ies) of revisits\b": "revisit policy",
    r"\bpages that come back\b": "revisits",
    r"\bone( \w+){0,3} a line\b": "one ... per line",
    r"\bstands? where\b": "is where it is in the queue",
    r"\bto go on\b": "to continue, to resume",
    r"\bmend(s|ed)?\b": "fix",
    r"\bheed(s|ed)?\b": "act on, carry out",
    r"\bbeforehand\b": "in advance",
    r"\bat hand\b": "available",
    r"\bpassed over\b": "skipped, ignored",
    r"\bwhat came of\b": "the result",
    r"\bin place of\b": "instead of",
    r"\bfor those who come\b": "upgrading",
    r"\bstops? it well\b": "stops it cleanly",
    r"\bmake it again\b": "recreate it",
    r"\bno crawl is here\b": "is not a crawl",
    r"\bat which cost\b": "at what cost",
}


def found(text: str) -> list[str]:
    plain = re.sub(r"\s+", " ", text)
    return [
        f"{match[0]!r}: {better}" for phrase, better in BANNED.items() if (match := re.search(phrase, plain, re.IGNORECASE))
    ]


def messages() -> Iterator[tuple[Path, int, str]]:
    """Every text in the code but docstrings; what is filled in is {}."""
    for path in sorted((ROOT / "src" / "frontrank").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        parts |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                yield (
                    path,
                    node.lineno,
                    "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values),
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
                yield path, node.lineno, node.value


def test_messages() -> None:
    wrong = [f"{path.relative_to(ROOT)}:{line}: {said}" for path, line, text in messages() for said in found(text)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help(name: str) -> None:
    context = click.Context(commands, info_name="frontrank")
    command = commands.get_command(context, name) if name else commands  # type: ignore[attr-defined]
    assert not found(command.get_help(click.Context(command, info_name=name)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages(page: Path) -> None:
    wrong = found(page.read_text(encoding="utf-8"))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("text", ["drop --out, or leave --out away", "x is none", "no seeds\n in it", "one URL a line"])
def test_the_phrases_are_recognised(text: str) -> None:
    assert found(text)
