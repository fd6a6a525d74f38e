"""Every example of docs/library.md runs as it stands, in its order, and gives what the page says."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT


def examples() -> Iterator[tuple[ast.stmt, str, str]]:
    """Each statement, as written, with what the comments below it say comes out."""
    text = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        lines = block.split("\n")
        for node in ast.parse(block).body:
            said = []
            for line in lines[node.end_lineno :]:
                if not line.startswith("# "):
                    break
                said.append(line[2:])
            yield node, ast.get_source_segment(block, node) or "", "\n".join(said)


def garden(folder: Path) -> None:
    """The crawl that docs/search-impact.md imports, from the tables that stand there."""
    page = (ROOT / "docs" / "search-impact.md").read_text(encoding="utf-8")
    for name in ("pages", "links", "log"):
        found = re.search(rf"cat (?:> )?{name}\.csv[^\n]*\n(.*?)\n(?=\$|EOF|END)", page, re.DOTALL)
        assert found is not None
        (folder / f"{name}.csv").write_text(found[1] + "\n", encoding="utf-8")
    args = ["import", "--pages", "pages.csv", "--links", "links.csv", "--log", "log.csv", "garden.crawl"]
    subprocess.run([sys.executable, "-m", "frontrank", *args], cwd=folder, check=True, capture_output=True)


def test_every_example_runs_and_gives_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    garden(tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    wrong = []
    for node, source, said in examples():
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            if isinstance(node, ast.Expr):
                value = eval(compile(ast.Expression(node.value), "library.md", "eval", dont_inherit=True), names)
                if value is not None:
                    print(repr(value))
            else:
                exec(compile(ast.Module([node], []), "library.md", "exec", dont_inherit=True), names)
        if said and out.getvalue().strip() != said.strip():
            wrong.append((source, said, out.getvalue()))
    assert wrong == []
