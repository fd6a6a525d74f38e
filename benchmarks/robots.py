"""The longest that a robots.txt within the limit takes to be read and asked about one long URL: seconds of the processor.

Other hosts are served meanwhile, by the event loop in another thread; what is measured is a bound on what they lose.
"""

from __future__ import annotations

import time

from benchmarks.show import Result, table
from frontrank.fetching.robots_file import MAX_BYTES, read_robots

NEEDLE = "a" * 48 + "b" + "a" * 48
FILES = {
    "rules of one star": "Disallow: /*ab*\n",
    "rules of twenty stars": f"Disallow: /{'*a' * 20}b\n",
    "long rules": f"Disallow: /*{NEEDLE}\n",
    "escapes": f"Disallow: /{'%e9' * 30}*\n",
    "blanks": " " * 400,
}
URL = "http://example.org/" + "a" * 1_980
HELD_UP_S = 2.0


def reading() -> list[Result]:
    rows, worst = [], 0.0
    for name, line in FILES.items():
        body = ("User-agent: *\n" + line * (MAX_BYTES // len(line))).encode()
        begun = time.process_time()
        file = read_robots(body, "frontrank")
        read = time.process_time()
        file.allows(URL)
        asked = time.process_time()
        rows.append([name, f"{read - begun:.3f}", f"{asked - read:.3f}"])
        worst = max(worst, asked - begun)
    table("robots.txt of 500 KiB", ["of", "read, s", "asked, s"], rows)
    return [Result("robots.txt: read and asked, the worst", worst, HELD_UP_S, "s", most=True)]
