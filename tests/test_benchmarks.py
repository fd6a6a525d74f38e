"""What benchmarks measure with."""

from __future__ import annotations

import numpy as np
from benchmarks.process import figures, peak_gb

CHILD = """
import json
from benchmarks.process import peak_gb
print(json.dumps({"peak": peak_gb()}))
"""


def test_a_small_process_that_a_large_one_starts_has_a_peak_of_its_own() -> None:
    held = np.ones(40_000_000)
    assert peak_gb() > held.nbytes / 2**30 > 2 * figures(CHILD)["peak"]
