"""Crawls as Parquet tables, small and random: what both engines of ``frontrank rank`` are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def write_crawl(folder: Path, pages: int = 700, links: int = 6000, seed: int = 0, fetched: bool = True, **more: Any) -> Path:
    """A crawl with repeated links, links to oneself, pages in any order, and tables in several parts."""
    rng = np.random.default_rng(seed)
    source = rng.integers(0, pages, links)
    target = (rng.random(links) ** 2 * pages).astype(np.int64)
    page = rng.permutation(pages)
    columns: dict[str, Any] = {
        "page": page,
        "url": [f"http://h{number % 7}.example/{number}" for number in page],
        "views": rng.integers(0, 40, pages),
    }
    if fetched:
        columns["fetched"] = rng.random(pages) < 0.6
    write_table(folder, "links", {"source": source, "target": target}, parts=3)
    write_table(folder, "pages", columns | more)
    return folder


def write_history(folder: Path, pages: int = 400, seed: int = 3) -> Path:
    """A crawl to learn from: fetched pages come before waiting ones, as they were fetched, and link to pages after them, most
    of them waiting. Votes of most pages count for little, so walks need few iterations."""
    rng = np.random.default_rng(seed)
    source = rng.integers(0, pages // 2, 8 * pages)
    target = np.minimum(source + 1 + pages // 4 + (rng.random(8 * pages) ** 2 * pages).astype(np.int64), pages - 1)
    worth = np.zeros(pages, np.int64)
    worth[::5] = rng.integers(1, 4, len(worth[::5]))
    worth[:2] = 1000  # votes of others count for little, so walks are short
    page = rng.permutation(pages)
    columns = {"page": page, "url": [f"http://a.example/{number}" for number in page], "views": worth[page]}
    write_table(folder, "links", {"source": source, "target": target}, parts=2)
    write_table(folder, "pages", columns | {"fetched": page < pages // 2})
    return folder


def write_table(folder: Path, name: str, columns: dict[str, Any], parts: int = 1) -> None:
    """A table as one file, or as a folder of parts."""
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.table(columns)
    if parts == 1:
        pq.write_table(table, folder / f"{name}.parquet")
        return
    (folder / name).mkdir(exist_ok=True)
    cuts = [len(table) * i // parts for i in range(parts + 1)]
    for part in range(parts):
        pq.write_table(table.slice(cuts[part], cuts[part + 1] - cuts[part]), folder / name / f"part-{part}.parquet")


def write_queries(folder: Path, pages: int = 400, seed: int = 1) -> Path:
    """A crawl with queries and results. Fetched pages link to waiting ones, a few of them to other
    fetched ones: PageRank needs few iterations."""
    rng = np.random.default_rng(seed)
    words = np.array(["apple", "pear", "plum", "cherry", "quince", "fig", "date", "lemon", "lime", "grape", "melon", "kiwi"])
    fetched = np.arange(pages) < pages // 8
    said = [" ".join(rng.choice(words, 2)) for _ in range(pages)]
    write_table(
        folder,
        "pages",
        {
            "page": np.arange(pages),
            "url": [f"http://h{page % 9}.example/{text.split()[0]}/{page}" for page, text in enumerate(said)],
            "anchors": [f"{text}\n{rng.choice(words)}" if page % 3 else "" for page, text in enumerate(said)],
            "fetched": fetched,
            "views": rng.integers(0, 50, pages),
        },
    )
    source = rng.integers(0, pages // 8, 2000)
    target = np.where(source < 10, rng.integers(10, pages // 4, 2000), rng.integers(pages // 8, pages, 2000))
    write_table(folder, "links", {"source": source, "target": target})
    queries = [*words, *(f"{a} {b}" for a, b in rng.choice(words, (30, 2)))]
    write_table(folder, "queries", {"query": queries, "frequency": rng.integers(1, 100, len(queries)).astype(float)})
    shown = [(query, int(page)) for query in queries for page in rng.choice(pages // 8, rng.integers(0, 12), replace=False)]
    asked, found = zip(*shown, strict=True)
    write_table(folder, "results", {"query": asked, "page": found, "score": rng.random(len(shown)).round(2)})
    return folder
