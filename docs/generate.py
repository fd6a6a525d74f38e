"""Write what the docs take from elsewhere: one page for each ordering from its docstring (docs/orderings/NAME.md), their
index, the tables of docs/crawl.md and docs/export.md, the names of the library (docs/api.md), the summary of what was
reproduced (docs/results/README.md), and the address of the project, wherever it is named, from pyproject.toml.

python docs/generate.py            write
python docs/generate.py --check    exit 1 if a page is not what would be written
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import NamedTuple

import frontrank
from frontrank.exports import COLUMNS, FORMATS, ExportOptions
from frontrank.fetching.crawler.options import options
from frontrank.options import Option, options_of
from frontrank.orderings.registry import REGISTRY, Ordering, describe
from frontrank.papers import PAPERS, SEARCH_PAPERS

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
FOLDER = DOCS / "orderings"
PIPE = "\\|"  # within a table


def page(name: str, ordering: Ordering) -> str:
    entry = describe(ordering)
    first, _, rest = cleandoc(ordering.__doc__ or "").partition("\n")
    text, _, example = rest.partition(">>> ")
    lines = [f"# {name}", "", first.strip(), "", _formulas(text.strip("\n").rstrip())]
    if entry["parameters"]:
        lines += ["", "| parameter | type | default |", "|---|---|---|"]
        lines += [f"| `{key}` | {value['type']} | {value['default']} |" for key, value in entry["parameters"].items()]
    if example:
        lines += ["", "```python", f">>> {example.strip()}", "```"]
    module = ordering.__module__.replace(".", "/")
    lines += ["", f"Source: `src/{module}.py`. This page is generated from its docstring by `make docs`."]
    return "\n".join(lines) + "\n"


def _formulas(text: str) -> str:
    """Indented blocks are formulas: fence them, so that they keep their shape."""
    made: list[str] = []
    inside = False
    for line in text.split("\n"):
        formula = line.startswith("    ")
        if formula != inside and (line.strip() or not inside):
            made.append("```" if not inside else "```\n")
            inside = formula
        made.append(line.removeprefix("    ") if formula else line)
    if inside:
        made.append("```")
    return "\n".join(made).replace("\n\n```\n\n", "\n```\n\n")


def index(known: dict[str, Ordering]) -> str:
    rows = [f"| [{name}]({name}.md) | {describe(ordering)['description']} |" for name, ordering in known.items()]
    head = ["# The orderings", "", "Larger priority is fetched sooner; among equals, the page discovered first.", ""]
    return "\n".join([*head, "| name | which page next |", "|---|---|", *rows]) + "\n"


VERDICT = r"\*\*(?P<verdict>agrees|disagrees|cannot be decided|cannot be tested here)\*\*(?P<why>[^|\n]*)"
CLAIM = re.compile(rf"^## (?P<scene>.+)$|^\| (?P<claim>[^|\n]+) \|[^\n]*\| {VERDICT}\|$", re.MULTILINE)
HEAD = """# What holds of the papers

Every claim of a paper that can be measured, on every web at hand. **yes**: it holds, outside the spread of five draws
where figures are compared. **no**: it does not. **open**: the spread lies across the margin, so that draws do not decide
it. **-**: the web lacks what it needs. Where a claim is judged in several scenes that differ, each is named. Each page
names the command that reproduces it. All orderings over all webs: [leaderboard](leaderboard.md); voices
of domains and ranks of hosts: [domains](domains.md); averages of walks: [omega](omega.md).
Generated from the other pages by `make docs`."""
SHORT = {"agrees": "yes", "disagrees": "no", "cannot be decided": "open", "cannot be tested here": "-"}


class Verdict(NamedTuple):
    """What one experiment says of a claim."""

    scene: str  # where it was looked at: the end of the experiment's heading
    short: str
    why: str


def verdicts(text: str) -> dict[str, list[Verdict]]:
    """The verdicts of a page by claim, in the order of its experiments."""
    found: dict[str, list[Verdict]] = {}
    scene = ""
    for match in CLAIM.finditer(text):
        if match["scene"]:
            scene = match["scene"].rpartition(", ")[2]
        else:
            one = Verdict(scene, SHORT[match["verdict"]], match["why"].strip(" :"))
            found.setdefault(match["claim"], []).append(one)
    return found


def cell(told: list[Verdict]) -> str:
    """One word, where all scenes agree."""
    if len({one.short for one in told}) <= 1:
        return told[0].short if told else ""
    return ", ".join(f"{one.scene}: {one.short}" for one in told)


def reproduced() -> str:
    """Of each paper's claims: where they hold, and what is said of those that do not."""
    lines = [HEAD]
    for paper in (*PAPERS, *SEARCH_PAPERS):
        title = import_module(f"frontrank.papers.{paper}").PAPER
        pages = {file.stem.removeprefix(f"{paper}-"): file for file in sorted((DOCS / "results").glob(f"{paper}-*.md"))}
        found = {web: verdicts(file.read_text(encoding="utf-8")) for web, file in pages.items()}
        claims = list(dict.fromkeys(claim for told in found.values() for claim in told))
        lines += ["", f"## {paper}", "", title, ""]
        lines += [
            "| claim | " + " | ".join(f"[{web}]({pages[web].name})" for web in pages) + " |",
            "|---|" + "---|" * len(pages),
        ]
        reasons = []
        for claim in claims:
            lines.append(f"| {claim} | {' | '.join(cell(found[web].get(claim, [])) for web in pages)} |")
            reasons += [f"- {claim} **{web}**: {said}" for web in pages for said in _reasons(found[web].get(claim, []))]
        if reasons:
            lines += ["", "What is said of those that do not hold:", "", *reasons]
    return "\n".join(lines) + "\n"


def _reasons(told: list[Verdict]) -> list[str]:
    """Why a claim does not hold, in every scene where it does not."""
    short = [(one, one.why or "why is not known") for one in told if one.short in ("no", "open")]
    return [f"{one.scene}: {why}" if len(told) > 1 else why for one, why in short]


def with_options(text: str) -> str:
    """The page on crawls with its tables of options as they are now."""
    for group in dict.fromkeys(one.group for one in options().values()):
        rows = [one for one in options().values() if one.group == group and one.field != "seeds"]
        text = put(text, f"options: {group}", table_of(rows))
    return text


def with_exports(text: str) -> str:
    """The page on exports with its tables as they are now."""
    formats = [f"| `{ending}` | {form.help} |" for ending, form in FORMATS.items()]
    text = put(text, "formats", ["| ending | what is written |", "|---|---|", *formats])
    columns = [f"| `{column.name}` | {column.kind} | {column.help} |" for column in COLUMNS.values()]
    text = put(text, "columns", ["| column | type | what it is |", "|---|---|---|", *columns])
    return put(text, "options", table_of(options_of(ExportOptions).values()))


def table_of(rows: Iterable[Option]) -> list[str]:
    """Options as a table."""
    lines = [f"| `{one.usage.replace('|', PIPE)}` | {one.shown()} | {one.help.replace('|', PIPE)} |" for one in rows]
    return ["| option | default | |", "|---|---|---|", *lines]


def put(text: str, name: str, table: list[str]) -> str:
    """The text with this table behind the mark of this name."""
    head, mark, rest = text.partition(f"<!-- {name} -->\n")
    assert mark, f"there is no place for {name!r}"
    return f"{head}{mark}{chr(10).join(table)}\n<!-- end -->{rest.partition('<!-- end -->')[2]}"


API = """# Python API

Every name of `frontrank.__all__`, from its docstring. These names are stable; [the library](library.md) shows them at work.
Generated by `make docs`; the site shows signatures and docstrings.
"""


def api() -> str:
    """What mkdocstrings fills in."""
    return API + "".join(f"\n::: frontrank.{name}\n" for name in frontrank.__all__ if not name.startswith("_"))


ADDRESSED = ("*.md", "*.cff", "mkdocs.yml", "docs/*.md", ".github/**/*.yml", "pyproject.toml")
ADDRESS = re.compile(r"https://github\.com/[\w-]+/frontrank\b")
FILES = re.compile(r"https://raw\.githubusercontent\.com/[\w-]+/frontrank\b")


def with_address(path: Path) -> str:
    """A file of the project with its address as pyproject.toml has it."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    files = urls["Source"].replace("https://github.com/", "https://raw.githubusercontent.com/")
    return FILES.sub(files, ADDRESS.sub(urls["Source"], path.read_text(encoding="utf-8")))


def generated() -> dict[Path, str]:
    """Every generated file as it should be."""
    known = REGISTRY.built_in()
    pages = {FOLDER / f"{name}.md": page(name, ordering) for name, ordering in known.items()}
    pages[FOLDER / "README.md"] = index(known)
    pages[DOCS / "results" / "README.md"] = reproduced()
    pages[DOCS / "api.md"] = api()
    addressed = {path: with_address(path) for pattern in ADDRESSED for path in ROOT.glob(pattern)}
    crawl = {DOCS / "crawl.md": with_options(addressed[DOCS / "crawl.md"])}
    exports = {DOCS / "export.md": with_exports(addressed[DOCS / "export.md"])}
    return addressed | pages | crawl | exports


def main() -> int:
    wanted = generated()
    if "--check" in sys.argv[1:]:
        stale = [path for path, text in wanted.items() if not _is(path, text)]
        stale += [path for path in FOLDER.glob("*.md") if path not in wanted]
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not up to date: run `make docs`")
        return 1 if stale else 0
    FOLDER.mkdir(exist_ok=True)
    for path, text in wanted.items():
        if not _is(path, text):
            path.write_text(text, encoding="utf-8")
    return 0


def _is(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
