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
