"""What it costs to check stored data before it is used: rows of a journal, names, and the files of a web directory.

python -m benchmarks.integrity
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.show import Result, table
from frontrank.crawl.integrity import check_checksums, check_rows, checksum_of, width_of, wrong_urls
from frontrank.crawl.log import Row
from frontrank.kernels.hashtable import fingerprints
from frontrank.system.files import digest

ROWS, LINKS = 20_000, 20  # of a batch; of a page


def checks(folder: Path) -> list[Result]:
    draw = np.random.default_rng(1)
    blobs = [draw.integers(0, ROWS, LINKS).astype("<i4").tobytes() for _ in range(ROWS)]
    rows = [Row(n + 1, 3, n, 1e9 + n, 200, blob, None, "the title of a page") for n, blob in enumerate(blobs)]
    stored = [(*row, checksum_of(tuple(row[: width_of(row)]))) for row in rows]
    bare = [row._replace(links=None) for row in rows]
    urls = [f"http://www.h{n % 2011}.example/section-{n % 97}/an-article-about-something/{n}.html" for n in range(ROWS)]
    keys = fingerprints(urls).tolist()
    file = folder / "array"
    file.write_bytes(draw.bytes(2**28))
    whole, without = _least(lambda: check_rows("", rows, ROWS)), _least(lambda: check_rows("", bare, ROWS))
    measured = [
        ("an event against its checksum, when it is read", _least(lambda: check_checksums(file, stored, 0, 0)) / ROWS, 2000),
        ("a row's numbers and types", without / ROWS, 2000),
        ("a link's range", (whole - without) / ROWS / LINKS, 20),
        ("a URL against its key", _least(lambda: wrong_urls(urls, keys)) / ROWS, 2000),
        ("a link of a web directory against its digest", _least(lambda: digest(file)) / 2**26, 5),
    ]
    table("Stored data, checked", ["what", "ns"], [[name, f"{seconds * 1e9:,.1f}"] for name, seconds, _ in measured])
    return [Result(f"checking {name}", seconds * 1e9, limit, "ns", most=True) for name, seconds, limit in measured]


def _least(work: Callable[[], object], runs: int = 7) -> float:
    """Seconds of the processor, the least of several runs."""
    found = []
    for _ in range(runs):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as where:
        checks(Path(where))
