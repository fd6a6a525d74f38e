"""docs/scrapy.md: its blocks can be pasted, from an empty folder."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

from tests.scrapy_crawls import ROOT

BIN = str(Path(sys.executable).parent)


def blocks(heading: str) -> list[str]:
    """The commands below a heading."""
    text = (ROOT / "docs" / "scrapy.md").read_text()
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```", section, re.M | re.S)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def test_the_spider_of_the_docs_crawls_as_they_say(tmp_path: Path) -> None:
    port = str(free_port())
    serve, crawl = (block.replace("8080", port) for block in blocks("Try it in an empty folder"))
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    with subprocess.Popen(shlex.split(serve), cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            assert "1,000 pages" in server.stdout.readline()
            for pages in (100, 200):
                script = crawl.replace("FRONTRANK_BUDGET=100", f"FRONTRANK_BUDGET={pages}")
                done = subprocess.run(
                    ["bash", "-e", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
                )
                assert done.returncode == 0, done.stderr
                assert not done.stderr, done.stderr
                assert re.search(rf"fetched\D*{pages}\b", done.stdout), done.stdout
                parsed = (tmp_path / "pages.csv").read_text().split()[1:]
                assert len(parsed) == len(set(parsed)) == 100
        finally:
            server.terminate()
            server.communicate()
