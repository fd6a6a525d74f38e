"""Write what the docs take from the code: one page for each ordering from its docstring (docs/orderings/NAME.md), their
index, the tables of options in docs/crawl.md, and the summary of what was reproduced (docs/results/README.md).

python docs/generate.py            write
python docs/generate.py --check    exit 1 if a page is not what would be written
"""

from __future__ import annotations

import re
import sys
from inspect import cleandoc
from pathlib import Path

from frontrank.fetching.crawler.options import options
from frontrank.orderings.registry import REGISTRY, Ordering, describe

DOCS = Path(__file__).parent
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


PAPERS = {
    "cho98": "Cho, Garcia-Molina, Page 1998: backlinks, PageRank, similarity",
    "fica07": "Zareh Bidoki, Yazdani, Ghodsnia 2007: FICA",
    "fpr10": "Fractional PageRank 2010",
    "pandey08": "Pandey, Olston 2008: query sketches",
    "tran15": "Tran, Dang, Anand 2015: impact-aware walks",
}
VERDICT = r"\*\*(?P<verdict>agrees|disagrees|cannot be tested here)\*\*(?P<why>[^|\n]*)"
CLAIM = re.compile(rf"^\| (?P<claim>[^|]+) \|[^\n]*\| {VERDICT}\|$", re.MULTILINE)
HEAD = """# What holds of the papers

Every claim of a paper that can be measured, on every web at hand. **yes**: it holds, outside the spread of five draws
where figures are compared. **no**: it does not. **-**: the web lacks what it needs. Each page names the command that
reproduces it. All orderings over all webs: [leaderboard](leaderboard.md). Generated from the other pages by `make docs`."""
SHORT = {"agrees": "yes", "disagrees": "no", "cannot be tested here": "-"}


def reproduced() -> str:
    """Of each paper's claims: where they hold, and what is said of those that do not."""
    lines = [HEAD]
    for paper, title in PAPERS.items():
        pages = {file.stem.removeprefix(f"{paper}-"): file for file in sorted((DOCS / "results").glob(f"{paper}-*.md"))}
        found = {web: {m["claim"]: m for m in CLAIM.finditer(file.read_text(encoding="utf-8"))} for web, file in pages.items()}
        claims = list(dict.fromkeys(claim for told in found.values() for claim in told))
        lines += ["", f"## {paper}", "", f"{title}.", ""]
        lines += [
            "| claim | " + " | ".join(f"[{web}]({pages[web].name})" for web in pages) + " |",
            "|---|" + "---|" * len(pages),
        ]
        reasons = []
        for claim in claims:
            verdicts = [SHORT[found[web][claim]["verdict"]] if claim in found[web] else "" for web in pages]
            lines.append(f"| {claim} | {' | '.join(verdicts)} |")
            for web in pages:
                if claim in found[web] and found[web][claim]["verdict"] == "disagrees":
                    why = found[web][claim]["why"].strip(" :") or "why is not known"
                    reasons.append(f"- {claim} **{web}**: {why}")
        if reasons:
            lines += ["", "What is said of those that do not hold:", "", *reasons]
    return "\n".join(lines) + "\n"


def with_options(text: str) -> str:
    """The page on crawls with its tables of options as they are now."""
    for group in dict.fromkeys(one.group for one in options().values()):
        rows = [one for one in options().values() if one.group == group and one.field != "seeds"]
        lines = [f"| `{one.usage.replace('|', PIPE)}` | {one.shown()} | {one.help.replace('|', PIPE)} |" for one in rows]
        table = "\n".join(["| option | default | |", "|---|---|---|", *lines])
        head, mark, rest = text.partition(f"<!-- options: {group} -->\n")
        assert mark, f"docs/crawl.md has no place for the options of {group!r}"
        text = f"{head}{mark}{table}\n<!-- end -->{rest.partition('<!-- end -->')[2]}"
    return text


def main() -> int:
    known = REGISTRY.built_in()
    pages = {f"{name}.md": page(name, ordering) for name, ordering in known.items()}
    pages["README.md"] = index(known)
    crawl = with_options((DOCS / "crawl.md").read_text(encoding="utf-8"))
    if "--check" in sys.argv[1:]:
        stale = [name for name, text in pages.items() if not _is(FOLDER / name, text)]
        stale += [path.name for path in FOLDER.glob("*.md") if path.name not in pages]
        stale += [] if _is(DOCS / "crawl.md", crawl) else ["../crawl.md"]
        stale += [] if _is(DOCS / "results" / "README.md", reproduced()) else ["../results/README.md"]
        for name in stale:
            print(f"docs/orderings/{name} is not up to date: run `make docs`")
        return 1 if stale else 0
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    (DOCS / "crawl.md").write_text(crawl, encoding="utf-8")
    (DOCS / "results" / "README.md").write_text(reproduced(), encoding="utf-8")
    return 0


def _is(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
