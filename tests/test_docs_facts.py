"""What the pages state about the code, held against the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from frontrank.cli import COMMANDS
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.sitemap_file import TOOK_TOO_LONG
from frontrank.fetching.failures import PRIVATE
from frontrank.pages.bounded import FAILED, TOO_LONG
from tests.conftest import ROOT
from tests.test_docs import PAGES

SOURCE = ROOT / "src" / "frontrank"


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def test_decisions_are_numbered_once_and_in_order() -> None:
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", text_of("docs/decisions.md"), re.MULTILINE)]
    assert len(numbers) > 50 and numbers == list(range(1, len(numbers) + 1))


def packages() -> set[str]:
    return {f"{path.name}/" for path in SOURCE.iterdir() if (path / "__init__.py").exists()}


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/design.md"])
def test_every_package_is_listed(page: str) -> None:
    text = text_of(page)
    assert packages() <= set(re.findall(r"\b(\w+/)", text))


def test_modules_beside_the_packages_are_listed() -> None:
    alone = {path.name for path in SOURCE.glob("*.py") if not path.name.startswith("_")}
    assert alone <= set(re.findall(r"\w+\.py", text_of("docs/design.md")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_table_is_cut_in_two(page: Path) -> None:
    """Rows without a head would show as text with bars."""
    lines = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL).split("\n")
    for before, line, after in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
        if line.startswith("|") and not before.startswith("|"):
            assert re.match(r"\|[-|: ]+\|$", after), f"{page}: {line}"


def test_what_make_says_fits_a_terminal_of_80_columns() -> None:
    said = re.findall(r"""echo ["'](.*)["']""", text_of("Makefile"))
    assert len(said) > 15
    for line in said:
        if "make $(MAKECMDGOALS)" not in line:  # a sentence with a command in it
            assert len(re.sub(r"\$\$\(.*?--version\)", "Python 3.11.12", line)) <= 80, line


@pytest.mark.parametrize("page", [".ci/run", "CONTRIBUTING.md", "docs/spark.md", "src/frontrank/spark/session.py"])
def test_the_java_package_has_no_version_that_the_next_debian_drops(page: str) -> None:
    """openjdk-17-jre-headless is in bookworm alone; default-jre-headless is 17 there, and newer in every later Debian."""
    assert set(re.findall(r"[\w-]+-jre-headless", text_of(page))) == {"default-jre-headless"}


COUNTING = ("NotFetched", "Refused", "count", "drop_page")


def counted() -> Iterator[str]:
    """Every reason for which a page or a link is not followed, as the crawler's code counts it."""
    for path in (SOURCE / "fetching").rglob("*.py"):
        if path.is_relative_to(SOURCE / "fetching" / "addon"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if name in ("NotFetched", "Refused", "count", "drop_page") or (
                    path.name == "failures.py" and name == "__init__"
                ):
                    yield from _texts(node.args[0])
            if isinstance(node, ast.FunctionDef) and path.name == "failures.py":
                for default in node.args.defaults:
                    yield from _texts(default)
            if isinstance(node, ast.FunctionDef) and node.name == "_why_not":
                for inside in ast.walk(node):
                    if (
                        isinstance(inside, ast.Return)
                        and inside.value is not None
                        and not isinstance(inside.value, ast.JoinedStr)
                    ):
                        yield from _texts(inside.value)


def _texts(tree: ast.AST) -> Iterator[str]:
    """The beginning of a text that a status follows is none."""
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and len(text) > 2 and text.strip() == text:
            yield text


def test_every_reason_is_on_the_page() -> None:
    listed = set(re.findall(r"`([^`\n]+)`", text_of("docs/crawl.md")))
    found = {*counted(), TOO_LONG, FAILED, TOOK_TOO_LONG, PRIVATE}
    assert {"timeout", "robots.txt", "private address", "excluded", "too many redirects", "fetcher died"} <= found
    assert found <= listed, found - listed


def test_the_default_ordering_is_the_one_that_is_named() -> None:
    assert f"in the order of `{Options.policy}`, the default ordering" in text_of("docs/crawl.md")


def test_every_command_has_its_line_in_the_table_of_commands() -> None:
    page = text_of("docs/commands.md")
    for name in COMMANDS:
        assert re.search(rf"^\| .*`frontrank {name}`", page, re.MULTILINE), name


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_a_heading(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s:]*)#([\w-]+)\)", page.read_text(encoding="utf-8")):
        there = page.parent / target if target else page
        assert there.suffix != ".md" or anchor in anchors(there), f"{target}#{anchor}"
