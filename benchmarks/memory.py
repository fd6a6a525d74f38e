"""Bytes a link at the peak while a web is read, beyond what the process had before; each in a process of its own.

Peaks are those of the resident set (VmHWM), so pages of arrays that are never touched do not count.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.show import Result, table

PEAK = """
import sys, numpy as np
def resident(which):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(which))
from frontrank.web.web import Web
from frontrank.web.links import tidy
from frontrank.sources.edges import load_edges
what, pages, links, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
draw = np.random.default_rng(1)
Web.from_edges(np.array([0], np.int32), np.array([1], np.int32), 2)  # kernels are compiled or loaded before
small = path + ".small"
open(small, "w").write("0 1\\n1 0\\n")
load_edges(small)
if what != "edge list":
    source, target = (draw.integers(0, pages, links, dtype=np.int32) for _ in range(2))
    indptr = np.linspace(0, links, pages + 1).astype(np.int64)
open("/proc/self/clear_refs", "w").write("5")
before = resident("VmRSS")
if what == "from_edges":
    web = Web.from_edges(source, target, pages)
elif what == "tidy":
    web = tidy(indptr, target)
else:
    web = load_edges(path)
print((resident("VmHWM") - before) / links)
"""
MOST = {"from_edges": 8.0, "tidy": 2.0, "edge list": 22.0}  # bytes a link; from_edges and tidy are given 8 and 4 of them


def reading(folder: Path, pages: int = 1_000_000, links: int = 20_000_000) -> list[Result]:
    path = folder / "edges.txt"
    write = "import sys, numpy as np; p, n = int(sys.argv[2]), int(sys.argv[3])\n"
    write += "np.savetxt(sys.argv[1], np.random.default_rng(1).integers(0, p, (n, 2)), '%d')"
    subprocess.run([sys.executable, "-c", write, str(path), str(pages), str(links)], check=True)
    rows, results = [], []
    for what, most in MOST.items():
        given = [sys.executable, "-c", PEAK, what, str(pages), str(links), str(path)]
        peak = float(subprocess.run(given, check=True, capture_output=True, text=True).stdout)
        rows.append([what, f"{peak:.1f}", f"{most:.0f}"])
        results.append(Result(f"{what}: memory at the peak", peak, most, "bytes a link", most=True))
    table(f"Memory while a web of {links:,} links is read", ["", "bytes a link", "at most"], rows)
    return results


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory(prefix="frontrank-bench-") as made:
        reading(Path(made), 200_000, 4_000_000)
