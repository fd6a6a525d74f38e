"""Wikipedia as it is published: its page and link tables as SQL dumps, and the monthly clickstream, a public search log.

    XXwiki-DATE-page.sql.gz          page_id, page_namespace, page_title, ...
    XXwiki-DATE-pagelinks.sql.gz     pl_from, pl_target_id; in older dumps pl_from, pl_namespace, pl_title
    XXwiki-DATE-linktarget.sql.gz    lt_id, lt_namespace, lt_title: what pl_target_id points to
    clickstream-XXwiki-MONTH.tsv.gz  prev, curr, type, n without column names: n readers came from prev to the article curr

Only articles (namespace 0) are kept. With the dumps, the articles of the page table have been fetched, in its order, and
link targets that it lacks ("red links") are the frontier. Without them, the clickstream's own rows of type ``link`` are the
links: articles that readers left by a link have been fetched, the others are the frontier. Clicks of an article are the n of
its rows whose prev is ``other-search``: readers who came from a search engine. A redirect is an article with one link.

Cost: that of ``sql_dump``, plus all titles in memory. Formats: www.mediawiki.org/wiki/Manual:Pagelinks_table,
meta.wikimedia.org/wiki/Research:Wikipedia_clickstream.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import numpy as np

from examples.wikipedia.sql_dump import Dump
from frontrank.errors import InputError, SourceError
from frontrank.kernels.jit import Array
from frontrank.sources.search_team.searchlog import Observed
from frontrank.system.text_files import opened
from frontrank.web.web import Web

ARTICLE = "0"  # the namespace
FROM_SEARCH = "other-search"
URL_SAFE = "/:@!$*(),;~'"
Tell = Callable[[str], None]


@dataclass
class WikipediaCounts:
    """What was left out."""

    skipped: dict[str, int] = field(default_factory=dict)  # bad lines of the clickstream
    other_links: int = 0  # from or to pages that are no articles
    unknown_clickstream_rows: int = 0  # from search engines to articles that the dumps lack

    def json(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass
class _Articles:
    """Articles by title, numbered as they come, and the links between them."""

    number: dict[str, int] = field(default_factory=dict)
    source: array[int] = field(default_factory=lambda: array("i"))
    target: array[int] = field(default_factory=lambda: array("i"))

    def of(self, title: str) -> int:
        return self.number.setdefault(title, len(self.number))

    def link(self, source: int, target: int) -> None:
        self.source.append(source)
        self.target.append(target)


def read_wikipedia(
    links: str | None = None,
    pages: str | None = None,
    targets: str | None = None,
    clickstream: str | None = None,
    skip_bad: bool = False,
    progress: Tell | None = None,
) -> tuple[Observed, WikipediaCounts]:
    """Wikipedia from its dumps, its clickstream or both. Dumps that are not named are looked for beside pagelinks."""
    tell, counts, articles = progress or (lambda _: None), WikipediaCounts(), _Articles()
    if links is None and clickstream is None:
        raise InputError("give the links of a Wikipedia: --links, --clickstream or both")
    database, fetched = "", np.empty(0, np.int32)
    if links is not None:
        database, existing = _read_dumps(links, pages, targets, articles, counts, tell)
        fetched = np.arange(existing, dtype=np.int32)
    clicks = None
    if clickstream is not None:
        clicks = _read_clickstream(clickstream, articles, counts, links is None, skip_bad, tell)
    if links is None:
        fetched = np.unique(np.array(articles.source, np.int32))
    if not articles.number:
        raise SourceError(f"{links or clickstream}: no articles; expected at least one")
    name = database or _database_in(os.path.basename(links or clickstream or ""))
    return Observed(_web(articles, name, clicks), fetched), counts


def _web(articles: _Articles, name: str, clicks: Array | None) -> Web:
    language = name.removesuffix("wiki").replace("_", "-")
    host = f"{language}.wikipedia.org" if language else "wikipedia.org"
    return Web.from_edges(
        np.array(articles.source, np.int32),
        np.array(articles.target, np.int32),
        len(articles.number),
        urls=[f"https://{host}/wiki/{quote(title, safe=URL_SAFE)}" for title in articles.number],
        titles=[title.replace("_", " ") for title in articles.number],
        hosts=np.zeros(len(articles.number), np.int32),
        host_names=[host],
        clicks=clicks,
        name=name or "wikipedia",
    )


def _database_in(file_name: str) -> str:
    """
    >>> _database_in("clickstream-enwiki-2024-05.tsv.gz"), _database_in("simplewiki-latest-page.sql"), _database_in("a.tsv")
    ('enwiki', 'simplewiki', '')
    """
    named = re.search(r"(?<![a-z])[a-z_]+wiki(?![a-z])", file_name)
    return named[0] if named else ""


# --- the dumps ---


def _read_dumps(
    links: str, pages: str | None, targets: str | None, articles: _Articles, counts: WikipediaCounts, tell: Tell
) -> tuple[str, int]:
    """Read articles and links; gives the database's name and how many articles exist."""
    dump = Dump(links, "pagelinks")
    tell("reading pages")
    page_of = {}
    for page_id, namespace, title in Dump(pages or _beside(links, "page"), "page").rows(
        "page_id", "page_namespace", "page_title"
    ):
        if namespace == ARTICLE and title:
            page_of[page_id] = articles.of(title)
    existing = len(articles.number)
    if "pl_target_id" in dump.columns:
        tell("reading link targets")
        found = Dump(targets or _beside(links, "linktarget"), "linktarget").rows("lt_id", "lt_namespace", "lt_title")
        title_of = {target: title for target, namespace, title in found if namespace == ARTICLE and title}
        rows = ((source, title_of.get(target)) for source, target in dump.rows("pl_from", "pl_target_id"))
    else:
        found = dump.rows("pl_from", "pl_namespace", "pl_title")
        rows = ((source, title if namespace == ARTICLE else None) for source, namespace, title in found)
    tell("reading links")
    for source, title in rows:
        page = page_of.get(source)
        if page is None or not title:
            counts.other_links += 1
        else:
            articles.link(page, articles.of(title))
    return dump.database, existing


def _beside(links: str, table: str) -> str:
    """The dump of another table that lies beside that of pagelinks, by the name that it is published under."""
    directory, name = os.path.split(links)
    other = os.path.join(directory, name.replace("pagelinks", table))
    if "pagelinks" not in name or not os.path.isfile(other):
        option = {"page": "--pages", "linktarget": "--targets"}[table]
        raise SourceError(f"{links}: the dump of table {table} is not beside it; name it with {option}")
    return other


# --- the clickstream ---


def _read_clickstream(
    path: str, articles: _Articles, counts: WikipediaCounts, with_links: bool, skip_bad: bool, tell: Tell
) -> Array:
    """The clicks of each article; with_links also takes articles and links from the clickstream."""
    tell("reading the clickstream")
    clicks: dict[int, float] = {}
    line = 0
    with opened(path) as file:
        for line, raw in enumerate(file, start=1):
            fault, fields = _fields(raw)
            if fault and line == 1 and raw.lower().split() == [b"prev", b"curr", b"type", b"n"]:
                continue
            if fault and skip_bad:
                counts.skipped["clickstream"] = counts.skipped.get("clickstream", 0) + 1
                continue
            if fault:
                raise SourceError(f"{path}, line {line}: {fault}")
            prev, curr, kind, n = fields
            if with_links and kind == "link":
                source = articles.of(prev)
                articles.link(source, articles.of(curr))
            if prev != FROM_SEARCH:
                continue
            page = articles.of(curr) if with_links else articles.number.get(curr)
            if page is None:
                counts.unknown_clickstream_rows += 1
            else:
                clicks[page] = clicks.get(page, 0.0) + int(n)
    if not line:
        raise SourceError(f"{path}: empty; expected a clickstream of prev, curr, type, n")
    found = np.zeros(len(articles.number))
    found[list(clicks)] = list(clicks.values())
    return found


def _fields(raw: bytes) -> tuple[str, list[str]]:
    """What is wrong with a line (nothing: empty), and its fields."""
    try:
        fields = raw.decode().rstrip("\r\n").split("\t")
    except UnicodeDecodeError:
        return "not UTF-8 text", []
    if len(fields) != 4:
        return f"{len(fields)} fields, expected 4 (prev, curr, type, n) separated by tabs", []
    if not (fields[3].isascii() and fields[3].isdigit()):
        return f"n is {fields[3][:40]!r}, expected a whole number of readers", []
    return "", fields
