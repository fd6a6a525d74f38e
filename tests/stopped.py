"""Commands to be stopped amid their work: for the tests, which ask whether they end, and the benchmark, which asks how soon.

A moment of a command is so many seconds of its own CPU time, so that a busy machine changes nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from frontrank.crawl.crawl import Crawl

ROOT = Path(__file__).resolve().parent.parent
LARGE = "synthetic:pages=300000,links=20,text=0,seed=1"
TEXTS = "synthetic:pages=30000,links=10,seed=1"
PAGES, LINKS = 60_000, 6  # of the tables
TICK_S = 1 / os.sysconf("SC_CLK_TCK")

# {} is the folder that ``material`` filled. None of them ends by itself within the first seconds.
WORKING: dict[str, tuple[str, ...]] = {
    "simulate": ("simulate", LARGE, "--ordering", "pagerank:every=1000", "--ordering", "fpr"),
    "report": ("report", LARGE, "--ordering", "all", "--out", "{}/out/report.html"),
    "convert": ("convert", LARGE, "{}/out/web"),
    "reproduce": ("reproduce", "cho98", "--out", "{}/out/paper.html"),
    "demo": ("demo", "--out", "{}/out/demo"),
    "recommend": ("recommend", LARGE),
    "leaderboard": ("leaderboard", "--out", "{}/out/board.md"),
    "revisit": ("revisit", LARGE, "--out", "{}/out/revisits.csv"),
    "evaluate": ("evaluate", TEXTS, "--queries", "{}/asked.txt", "--out", "{}/out/table.csv"),
    "tune": ("tune", TEXTS, "--queries", "{}/asked.txt", "--out", "{}/out/table.csv"),
    "import": ("import", "--pages", "{}/pages.csv", "--links", "{}/links.csv", "{}/out/team.crawl"),
    "rank": ("rank", "{}/team.crawl", "--ordering", "rw-eg", "--out", "{}/out/next.csv"),
    "explain": ("explain", "{}/live.crawl", "http://www.h1.example/1"),
    "export": ("export", "{}/live.crawl", "{}/out/pages.jsonl", "--text", "none"),
    "status": ("status", "{}/live.crawl", "--queue", "{}/out/queue.csv"),
}
# These wait for others, and are stopped when they have said their first line; the words are what they are sent before.
WAITING: dict[str, tuple[tuple[str, ...], str]] = {
    "trace": (("trace", "{}/live.crawl"), ""),
    "dashboard": (("dashboard", "{}/live.crawl", "--port", "0", "--json"), ""),
    "mcp": (("mcp", "{}/live.crawl"), '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'),
    "web": (("web", "synthetic:pages=1000,seed=1", "--port", "0"), ""),
    "serve": (("serve", "{}/out/served", "--port", "0", "--http-port", "0", "--json"), ""),
}


def material(folder: Path) -> Path:
    """Tables, an imported crawl, a live crawl and a query log, for commands that read such."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "out").mkdir()
    (folder / "asked.txt").write_text("".join(f"{word} page\n" for word in ("music", "nature", "weather", "news")) * 50)
    with open(folder / "pages.csv", "w") as pages, open(folder / "links.csv", "w") as links:
        pages.write("url,fetched,views\n")
        links.write("source,target\n")
        for n in range(PAGES):
            is_fetched = n < PAGES // 2
            pages.write(f"{_url(n)},{int(is_fetched)},{n % 50 if is_fetched else ''}\n")
            links.writelines(f"{_url(n)},{_url(m)}\n" for m in _linked(n) if is_fetched)
    tables = ("--pages", str(folder / "pages.csv"), "--links", str(folder / "links.csv"))
    subprocess.run([sys.executable, "-m", "frontrank", "import", *tables, str(folder / "team.crawl"), "--json"], check=True)
    with Crawl("fpr", folder / "live.crawl", group=1_000) as crawl:
        crawl.seed(_url(0))
        for n in range(5_000):
            (page,) = crawl.take(1)
            crawl.fetched(page, [_url(m) for m in _linked(n)])
    return folder


def _url(n: int) -> str:
    return f"http://www.h{n % 97}.example/{n}"


def _linked(n: int) -> Iterator[int]:
    return ((LINKS * n + j + 1) % PAGES for j in range(LINKS))


def environment() -> dict[str, str]:
    """Ours without coverage: it writes files, and waits for ever for a lock of its own if a signal comes while it has it."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


def started(*args: object, **more: object) -> subprocess.Popen[str]:
    """A program of Python, whose output is kept."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment()} | more
    return subprocess.Popen([sys.executable, *map(str, args)], text=True, cwd=ROOT, **options)  # type: ignore[call-overload, no-any-return]


def working(name: str, folder: Path) -> subprocess.Popen[str]:
    return started("-m", "frontrank", *(part.format(folder) for part in WORKING[name]))


def waiting(name: str, folder: Path) -> subprocess.Popen[str]:
    """Started, and as far as it gets by itself."""
    args, said = WAITING[name]
    process = started("-m", "frontrank", *(part.format(folder) for part in args), stdin=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(said)
    process.stdin.flush()
    assert process.stdout.readline(), name
    return process


def spend(process: subprocess.Popen[str], cpu_s: float) -> bool:
    """Wait until a process has had so much CPU time; False if it ended before."""
    while process.poll() is None:
        if cpu_of(process.pid) >= cpu_s:
            return True
        time.sleep(0.01)
    return False


def cpu_of(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) * TICK_S
