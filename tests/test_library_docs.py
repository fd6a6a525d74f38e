"""docs/library.md is true: its Python runs from top to bottom in an empty folder, and prints what the comments say."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def said_after(lines: list[str], last: int) -> list[str]:
    """The comment lines that follow a statement: what it prints, or is."""
    said = []
    for line in lines[last:]:
        if not line.startswith("# "):
            break
        said.append(line[2:])
    return said


def played(code: str, names: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Run a block; for each statement with a comment behind it: the statement, what was said, what it gave."""
    differ, lines = [], code.splitlines()
    for node in ast.parse(code).body:
        text, out = "\n".join(lines[node.lineno - 1 : node.end_lineno]), io.StringIO()
        with contextlib.redirect_stdout(out):
            if isinstance(node, ast.Expr):
                value = eval(compile(ast.Expression(node.value), "docs", "eval"), names)
                printed = out.getvalue() or ("" if value is None else f"{value!r}\n")
            else:
                exec(compile(ast.Module([node], []), "docs", "exec"), names)
                printed = out.getvalue()
        said = said_after(lines, node.end_lineno or 0)
        if said and said != printed.rstrip("\n").split("\n"):
            differ.append((text, "\n".join(said), printed))
    return differ


def test_every_example_of_the_library_runs_and_says_what_it_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "docs"}
    differ = []
    for block in BLOCK.findall((ROOT / "docs" / "library.md").read_text(encoding="utf-8")):
        if "garden.crawl" not in block:  # a directory that another page makes
            differ += played(block, names)
    assert differ == []


def test_the_python_of_the_tutorial_gives_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from frontrank.cli import command

    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    (links,) = re.findall(r"^\$ cat shop\.txt\n(.*?)^\$", page, re.M | re.S)
    (order,) = re.findall(r"^\$ frontrank (simulate shop\.txt .*)$", page, re.M)
    Path("shop.txt").write_text(links, encoding="utf-8")
    Path("home.txt").write_text("https://example.org\n", encoding="utf-8")
    assert CliRunner().invoke(command, order.split()).exit_code == 0
    (block,) = BLOCK.findall(page)
    assert played(block, {"__name__": "docs"}) == []
