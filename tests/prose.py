"""Phrases and names that were found in reviews do not return: a step of `make lint`.

    python -m tests.prose              what is wrong, by file and line

Docstrings, comments and messages of src, and the pages of docs, are searched for ``PHRASES``, the code of src for ``NAMES``.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
UNCHECKED = ("CHANGELOG.md", "docs/results/")  # what was said, and what is generated from src

PHRASES = {  # what it read like, and what to write
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
    # of the later reviews
    r"\b(pages|urls|requests|links|bytes|events) a (second|page|host|line|minute|day)\b": "per second, per page",
    r"\bms a page\b": "ms per page",
    r"\bcrawls? is told\b": "name what it gets",
    r"\b(a|the|no) desk\b": "reader, client",
    r"\bnudg(e|es|ed)\b": "wake",
    r"\bas (well|good) as nothing\b": "almost nothing",
    r"\bfruitless\b": "found no pages",
    r"\bwho waits?\b": "the pages that wait",
    r"\bwho (comes|stands|goes) (next|first|there)\b": "the page that ...",
    r"\bnobody knew\b": "not known before",
    r"\bone's own\b": "your own",
}
NAMES = {  # of classes, functions, parameters and local variables, and what to call it
    r"(Known|Shown|Told|Held|Ruled|Behaved|Valued|Asked|Retold|Elsewhere|Wish|Desk|How|Answer)": "a noun that says what it is",
    r"(MOST|LONGEST|LARGEST|LEAST|FEWEST|SHORTEST)_\w+": "MAX_..., MIN_...",
    r"(heed|nudge|told|goes_on|fruitless|alone|let_go)": "what it does, in the words of the field",
    r"(most|least)": "max_..., min_...",
    r"(made|held|said|wish|desk)": "the name of the thing",
}


class Finding(NamedTuple):
    file: str
    line: int
    phrase: str
    text: str


def phrases_in(text: str) -> Iterator[tuple[str, str]]:
    """Each phrase that the text contains, and how it reads there."""
    plain = re.sub(r"\s+", " ", text)
    for phrase in PHRASES:
        for match in re.finditer(phrase, plain, re.IGNORECASE):
            yield phrase, match[0]


def texts_of(source: str) -> Iterator[tuple[int, str]]:
    """Docstrings, messages and comments; what is filled in is {}."""
    tree = ast.parse(source)
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def names_in(source: str) -> Iterator[tuple[int, str, str]]:
    """Each name that is bound and that NAMES has."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = node.name
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        else:
            continue
        for pattern in NAMES:
            if re.fullmatch(f"_?{pattern}", name):
                yield node.lineno, pattern, name


def findings() -> Iterator[Finding]:
    for path in sorted((ROOT / "src").rglob("*.py")):
        file, source = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        for line, text in texts_of(source):
            yield from (Finding(file, line, phrase, found) for phrase, found in phrases_in(text))
        yield from (Finding(file, *found) for found in names_in(source))
    for path in [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]:
        file = str(path.relative_to(ROOT))
        if not file.startswith(UNCHECKED):
            yield from (Finding(file, 1, phrase, found) for phrase, found in phrases_in(path.read_text(encoding="utf-8")))


def main() -> int:
    wrong = list(findings())
    for file, line, phrase, text in wrong:
        print(f"{file}:{line}: {text!r}; better: {(PHRASES | NAMES)[phrase]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
