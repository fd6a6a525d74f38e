"""The commands of docs/crawl.md, run in their order against a web that is served on loopback, as the page says."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from frontrank.lab.webserver import run_in_process
from tests.conftest import ROOT
from tests.patience import PATIENCE_S
from tests.test_docs import blocks, typed

STEP = 2  # pages between two commands: their budgets are larger than a test has time for, with the delays of the page


def lines() -> list[str]:
    """All that can be tried without a network."""
    found = [line for block in blocks(ROOT / "docs" / "crawl.md") if not block.needs for line in typed(block)]
    first = next(at for at, line in enumerate(found) if "--proxy http://127.0.0.1" in line)
    return [line for line in found[first:] if "--config" not in line]


def test_the_commands_of_the_page_can_be_pasted(tmp_path: Path) -> None:
    (web,) = re.findall(r"^frontrank web (\S+) --port 8080$", (ROOT / "docs" / "crawl.md").read_text(encoding="utf-8"), re.M)
    budget = 0
    said = ""
    with run_in_process(web) as url:
        for line in lines():
            words = shlex.split(line.replace("http://127.0.0.1:8080", url))
            if "--budget" in words:
                budget += STEP
                words[words.index("--budget") + 1] = str(budget)
            done = subprocess.run(
                [sys.executable, "-m", *words], capture_output=True, text=True, timeout=PATIENCE_S, cwd=tmp_path, check=False
            )
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            said = done.stdout
    assert budget >= 4 * STEP and "ordered by opic" in said
    assert (tmp_path / "waiting.csv").stat().st_size > 100
