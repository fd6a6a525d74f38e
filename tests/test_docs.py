"""What the documentation tells people to type: every frontrank line is understood, the README's blocks run as they stand."""

from __future__ import annotations

import http.server
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from frontrank.cli import command as commands
from frontrank.errors import FrontrankError
from frontrank.lab.webserver import run_in_process
from tests.conftest import ROOT
from tests.patience import PATIENCE_S

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
ENDS = {"|", ";", "&&", "||", "&", ">", ">>", "<", "2>", "(", ")"}


class Block(NamedTuple):
    page: Path
    line: int
    language: str
    text: str
    needs: str = ""  # what keeps it from being run: the title of the block


def blocks(page: Path) -> Iterator[Block]:
    fence = re.compile(r'^```(\w*)(?: title="([^"\n]*)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
    text = page.read_text(encoding="utf-8")
    for found in fence.finditer(text):
        yield Block(page, text[: found.start()].count("\n") + 1, found[1], found[3], found[2] or "")


def typed(block: Block) -> Iterator[str]:
    """What a person would type: in a transcript the lines after a $, else all lines; continued ones as one."""
    if block.language not in ("", "sh", "console"):
        return
    lines = block.text.replace("\\\n", " ").splitlines()
    if any(line.startswith("$ ") for line in lines):
        yield from (line[2:] for line in lines if line.startswith("$ "))
    elif block.language == "sh" or any(line.startswith("frontrank ") for line in lines):
        yield from (line for line in lines if line.strip())


def frontrank_lines() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for block in blocks(page):
            for line in typed(block):
                if line.startswith("frontrank "):
                    yield f"{page.relative_to(ROOT)}:{block.line}", line


@pytest.mark.parametrize(("where", "line"), [pytest.param(*found, id=" ".join(found)) for found in frontrank_lines()])
def test_every_line_is_understood(where: str, line: str) -> None:
    split = shlex.shlex(re.sub(r"(^|\s)#.*", "", line), posix=True, punctuation_chars="|&;<>()")
    split.whitespace_split, split.commenters = True, ""
    words = list(split)[1:]
    synopsis = "[" in line or "..." in words
    words = words if synopsis else words[: next((at for at, word in enumerate(words) if word in ENDS), len(words))]
    try:
        name, command, rest = commands.resolve_command(click.Context(commands), words)
        assert command is not None
        if synopsis:
            known = {option for parameter in command.params for option in parameter.opts}
            assert set(re.findall(r"--[a-z][\w-]*", line)) <= known, f"{where}: {line}"
        else:
            command.make_context(name, rest)
    except click.exceptions.Exit:
        pass  # --help
    except (click.ClickException, FrontrankError) as error:
        pytest.fail(f"{where}: {line!r} is not understood: {error}")


def test_blocks_can_be_pasted() -> None:
    """A remark behind a command begins with #, no line needs its $ removed, and no word is to be replaced first."""
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for block in blocks(page):
            assert block.language or "/" in block.text.splitlines()[0], f"{page}:{block.line}: of which language?"
            assert not re.search(r"\b[A-Z]+-[A-Z-]+\b", block.text) or block.language != "sh", f"{page}:{block.line}"
            for line in block.text.splitlines() if block.language == "sh" else ():
                assert not line.startswith("$ "), f"{page}:{block.line}: {line}"
                assert not re.search(r"\S {2,}[^#\s]", line.split("#")[0].strip()), f"{page}:{block.line}: {line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[\w-]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page}: {target}"


# The README, run -------------------------------------------------------------------------------------------------------------
# They install, need the Internet, serve until they are stopped, or are tried by other tests.
NOT_HERE = ("make ", "uv ", "uvx ", "pipx ", "pip ", "PATH=", "docker ", "curl ", "frontrank web", "frontrank-demo")
SERVED = "http://127.0.0.1:8080"  # by the block that is not run here


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of somebody who has frontrank on the PATH, and nothing else."""
    return tmp_path_factory.mktemp("reader")


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    (web,) = re.findall(r"^frontrank web (\S+) --port 8080$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    with run_in_process(web) as url:
        yield url


def readme(*languages: str) -> list[Block]:
    found = [block for block in blocks(ROOT / "README.md") if block.language in languages]
    return [block for block in found if not any(word in block.text for word in NOT_HERE)]


def run_shell(text: str, folder: Path, where: str) -> None:
    """What a reader pastes into a shell there."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, f"{where}: {text}: {done.stderr}"


def test_the_blocks_of_the_readme_run_one_after_the_other(reader: Path, site: str) -> None:
    ran = set()
    for block in readme("sh"):
        run_shell(block.text.replace(SERVED, site).replace("--delay 0.1", "--delay 0"), reader, f"README.md:{block.line}")
        ran |= {line.split()[1] for line in typed(block)}
    assert ran == {"recommend", "simulate", "crawl", "status"}


def test_the_library_as_the_readme_shows_it(reader: Path) -> None:
    (block,) = [block for block in readme("python") if "import frontrank" in block.text]
    subprocess.run([sys.executable, "-c", block.text], cwd=reader, check=True, timeout=PATIENCE_S)
    assert (reader / "out.html").stat().st_size > 10_000


# Transcripts, run again ------------------------------------------------------------------------------------------------------
def transcript(page: str) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Blocks of commands with what they printed, by line; those on real webs, which a reader has to get first, left out."""
    for block in blocks(ROOT / "docs" / page):
        if block.language == "sh" and "<<'END'" in block.text:  # files and commands, to be pasted whole
            yield block.line, [(block.text, "")]
        if block.text.startswith("$ ") and not re.search(r"DATA|\.crawl/|examples/|your-site", block.text):
            text = block.text.replace("\\\n", " ")
            yield block.line, [(part.partition("\n")[0], part.partition("\n")[2]) for part in text[2:].split("\n$ ")]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What /usr/share/doc is on a very small machine, served by the command of the tutorial."""
    folder = tmp_path_factory.mktemp("doc")
    for package in ("bash", "git", "python3"):
        (folder / package).mkdir()
        (folder / package / "copyright").write_text("free", encoding="utf-8")
        (folder / package / "index.html").write_text(
            '<a href="copyright">terms</a> <a href="../git/">git</a>', encoding="utf-8"
        )
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize("page", ["tutorial.md", "search-impact.md"])
def test_transcripts_can_be_followed(page: str, tmp_path: Path, site: str, documents: str) -> None:
    ran = 0
    for line, steps in transcript(page):
        for typed_in, printed in steps:
            shown = re.fullmatch(r"cat (\S+)", typed_in)
            if shown and not (tmp_path / shown[1]).exists():
                (tmp_path / shown[1]).write_text(printed if printed.endswith("\n") else printed + "\n", encoding="utf-8")
                continue
            here = typed_in.replace("http://127.0.0.1:8000/", documents).replace(SERVED, site)
            run_shell(here.replace("--scope any", "--scope any --delay 0"), tmp_path, f"docs/{page}:{line}")
            ran += 1
    assert ran >= (12 if page == "tutorial.md" else 2)


def test_the_example_prints_what_its_page_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "own-ordering.md").read_text(encoding="utf-8")
    (said,) = re.findall(r"^\$ python examples/own_ordering.py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    example = [sys.executable, str(ROOT / "examples" / "own_ordering.py")]
    done = subprocess.run(example, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert done.stdout == said
    assert (tmp_path / "own-ordering.html").stat().st_size > 10_000


def test_refusals_are_what_the_page_says(tmp_path: Path) -> None:
    (tmp_path / "web.txt").write_text("0 1\n0 2\n1 2\n", encoding="utf-8")
    refusals = [
        block for block in blocks(ROOT / "docs" / "commands.md") if "frontrank: " in block.text and "web.txt" in block.text
    ]
    for line, says in re.findall(
        r"^\$ frontrank (.+)\n(frontrank: .+)$", "".join(block.text for block in refusals), re.MULTILINE
    ):
        done = subprocess.run(
            [sys.executable, "-m", "frontrank", *shlex.split(line)], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (2, f"{says}\n"), line
    assert len(refusals) == 1
