"""Every block of the documentation that a reader would type is run, here or by the test of its page, or says what it needs.

Commands run in this process, in a folder that has what their pages speak of, on smaller webs than the pages name.
"""

from __future__ import annotations

import ast
import asyncio
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import frontrank as fr
from frontrank.cli import command
from frontrank.lab.measures import REGISTRY
from frontrank.pages.warc_writer import Warc
from frontrank.sources import save
from tests.conftest import ROOT
from tests.patience import PATIENCE_S
from tests.test_docs import ENDS, Block, blocks, typed

RUN_BY = {  # pages with a test of their own, which runs their blocks in order
    "crawl.md": "test_crawl_docs.py",
    "crawlee.md": "test_crawlee.py",
    "export.md": "test_exports.py",
    "import.md": "test_import.py",
    "javascript.md": "test_javascript.py",
    "library.md": "test_library_docs.py",
    "own-ordering.md": "test_docs.py",
    "plugins.md": "plugins.py",
    "scrapy.md": "test_scrapy_docs.py",
    "search-impact.md": "test_docs.py",
    "tutorial.md": "test_docs.py",
}
TITLES = {"needs the Internet", "needs DATA", "needs a cluster", "until Ctrl-C", "an example", "in a clone", "refused"}
SMALLER = (
    ("pages=100000", "pages=400"),
    ("pages=20000", "pages=400"),
    ("pages=5000", "pages=400"),
    ("pages=2000", "pages=400"),
)


def synopsis(line: str) -> bool:
    return "[" in line or "..." in line or bool(re.search(r"\b(DIR|TABLE|SOURCE)\b", line))


def unmarked() -> Iterator[tuple[Block, str]]:
    """The lines of blocks that this file has to run."""
    for page in sorted((ROOT / "docs").glob("*.md")):
        if page.name in RUN_BY:
            continue
        for block in blocks(page):
            lines = list(typed(block))
            if not block.needs and lines and not synopsis(lines[0]):
                yield from ((block, line) for line in lines)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the pages speak of."""
    folder = tmp_path_factory.mktemp("reader")
    web = fr.load("synthetic:pages=400,hosts=8,seed=7,searchers=1")
    save(web, folder / "uci.web")
    assert web.urls is not None
    (folder / "start.txt").write_text(f"{web.urls[0]}\n", encoding="utf-8")
    (folder / "edges.txt.gz").write_text("0 1\n0 2\n1 2\n", encoding="utf-8")
    (folder / "ranks.txt").write_text("www.h1.test 5\n", encoding="utf-8")
    for name in ("my-crawl", "few"):
        with fr.Crawl(fr.parse("fpr"), str(folder / name)) as crawl, Warc(folder / name / "warc") as warc:
            crawl.seed(["http://www.h10.example/"])
            (page,) = crawl.take(1)
            where = warc.write(page, 200, [("Content-Type", "text/html")], b"<p>A page.")
            crawl.fetched(page, ["http://www.h10.example/nature-7/", "http://www.h11.example/"], where=where)
    return folder


LINES = list(unmarked())


@pytest.mark.parametrize(("block", "line"), [pytest.param(*one, id=f"{one[0].page.name}:{one[1]}"[:90]) for one in LINES])
def test_a_command_of_the_docs_runs(block: Block, line: str, reader: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(reader)
    for larger, smaller in SMALLER:
        line = line.replace(larger, smaller)
    split = shlex.shlex(re.sub(r"(^|\s)#.*", "", line), posix=True, punctuation_chars="|&;<>()")
    split.whitespace_split, split.commenters = True, ""
    words = list(split)
    words = words[: next((at for at, word in enumerate(words) if word in ENDS), len(words))]
    where = f"{block.page.name}:{block.line}: {line}; if it cannot be run here, the title of its block says why"
    if words[0] == "printf":
        subprocess.run(["bash", "-euc", line], check=True, timeout=PATIENCE_S)
        return
    assert words[0] == "frontrank", where
    done = CliRunner().invoke(command, words[1:])
    assert done.exit_code == 0, f"{where}\n{done.output}\n{done.exception!r}"


def test_titles_say_what_a_block_needs() -> None:
    found = {block.needs for page in (ROOT / "docs").glob("*.md") for block in blocks(page) if block.needs}
    assert found <= TITLES, found - TITLES
    assert len(LINES) > 15


@pytest.fixture
def own_measures() -> Iterator[None]:
    """A page registers a measure of its own."""
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


@pytest.mark.usefixtures("own_measures")
@pytest.mark.parametrize("page", ["measures.md", "revisits.md", "web.md", "sources.md"])
def test_python_of_the_docs_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "docs"}
    for block in blocks(ROOT / "docs" / page):
        if block.language == "python" and not block.needs:
            text = block.text.replace("pages=5000", "pages=400")
            code = compile(text, page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            waiting = eval(code, names)
            if waiting is not None:
                asyncio.run(waiting)
