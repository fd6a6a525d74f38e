"""How much of src the tests have run (`make coverage`), by lines and by branches; fails below a floor by lines.

Kernels are not counted: numba compiles them, so no line of theirs is seen. They are tested with bounds checks, and against
oracles (pyproject.toml: tool.coverage.report).
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from coverage import Coverage

MIN_LINES = 92.0  # per cent


def main() -> int:
    measured = Coverage()
    measured.load()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "coverage.json")
        measured.json_report(outfile=str(path))
        report = json.loads(path.read_text(encoding="utf-8"))
    totals = report["totals"]
    lines = 100 * totals["covered_lines"] / totals["num_statements"]
    branches = 100 * totals["covered_branches"] / totals["num_branches"]
    print(f"covered: {lines:.1f}% of {totals['num_statements']:,} lines,", end=" ")
    print(f"{branches:.1f}% of {totals['num_branches']:,} branches")
    print("least covered:")
    missing = sorted(report["files"].items(), key=lambda file: -file[1]["summary"]["missing_lines"])
    for name, file in missing[:10]:
        print(f"  {file['summary']['missing_lines']:5} lines of {name}")
    if lines < MIN_LINES:
        print(f"at least {MIN_LINES:g}% of the lines must be covered: test more of them, or delete them", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
