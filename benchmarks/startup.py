"""How long a person waits for --help and a second start, and the CPU time of first commands, which find no compiled code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from benchmarks.show import Result
from frontrank.crawl.crawl import Crawl
from frontrank.lab.webserver import ServerOptions, run_in_process
from frontrank.lab.webserver.site import Site
from frontrank.service.client import Client
from frontrank.sources import load
from frontrank.web.web import Web

SMALL = "synthetic:pages=1000,seed=3"
PAGES = 500  # of a first crawl, live or served
LARGER = "synthetic:pages=10000,seed=3"
MORE_PAGES = 5_000
FRONTRANK = (sys.executable, "-m", "frontrank")


def start_up() -> list[Result]:
    simulate = ("simulate", SMALL, "--ordering", "fpr", "--json")
    seconds(*simulate, repeats=1)  # kernels are compiled once for all
    return [
        Result("frontrank --help", seconds("--help"), 0.3, "s", most=True),
        Result("second start of simulate on a small web", seconds(*simulate), 2.5, "s", most=True),
        *first_commands(),
    ]


def seconds(*args: str, repeats: int = 5) -> float:
    """The median of some starts."""
    taken = []
    for _ in range(repeats):
        begun = perf_counter()
        subprocess.run([*FRONTRANK, *args], check=True, stdout=subprocess.DEVNULL)
        taken.append(perf_counter() - begun)
    return sorted(taken)[repeats // 2]


def first_commands() -> list[Result]:
    """CPU seconds of the first command that somebody types, each with an empty folder of compiled code."""
    small, larger = first_crawls(SMALL, PAGES), first_crawls(LARGER, MORE_PAGES)
    simulate = cpu_s("simulate", SMALL, "--ordering", "surf")
    rows = [
        ("crawl", small["crawl"], 8.0),
        (f"crawl of {MORE_PAGES:,} pages", larger["crawl"], 8.0),
        ("status", max(small["status"], larger["status"]), 1.5),
        ("simulate", simulate, 8.0),
        ("serve", small["serve"], 10.0),
        (f"serve of {MORE_PAGES:,} pages", larger["serve"], 10.0),
        ("trace or convert", max(larger["trace"], larger["convert"]), 1.5),
        ("explain", small["explain"], 1.5),
        (f"explain of {MORE_PAGES:,} pages", larger["explain"], 1.5),
    ]
    return [Result(f"CPU of the first {name}", cost, bound, "s", most=True) for name, cost, bound in rows]


def first_crawls(spec: str, pages: int) -> dict[str, float]:
    """CPU seconds of a crawl of so many pages, of what reads it, and of a service that hands out as many."""
    web = load(spec)
    seeds = Site(web, ServerOptions()).seeds()
    with tempfile.TemporaryDirectory() as name, run_in_process(spec) as proxy:
        out = Path(name, "crawl")
        options = f"--proxy {proxy} --scope any --no-robots --delay 0 --per-host 0 --in-flight 16 --budget {pages}"
        return {
            "crawl": cpu_s("crawl", *seeds, "--out", out, *options.split()),
            "status": cpu_s("status", out),
            "trace": cpu_s("trace", out),
            "explain": cpu_s("explain", out, waiting(out)),
            "convert": cpu_s("convert", out, f"{out}.web"),
            "serve": served_s(Path(name, "served"), web, pages),
        }


def waiting(crawl: Path) -> str:
    with Crawl.recover(crawl, read_only=True) as read:
        return str(read.inspect.next(1)[0]["url"])


@contextmanager
def first(*args: object) -> Iterator[subprocess.Popen[bytes]]:
    """A command on a machine that has compiled nothing yet."""
    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, "NUMBA_CACHE_DIR": empty}
        yield subprocess.Popen(
            [*FRONTRANK, *map(str, args)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )


def ended(process: subprocess.Popen[bytes]) -> float:
    """CPU seconds of a process and its children, once it has ended."""
    if process.stdout is not None:
        process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, -signal.SIGTERM):
        raise SystemExit(f"{process.args!r} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


def cpu_s(*args: object) -> float:
    with first(*args) as process:
        return ended(process)


def served_s(folder: Path, web: Web, limit: int) -> float:
    """A service with a fetcher, which puts in the links of every page that it is given."""
    urls = list(web.urls or ())
    page_of = {url: page for page, url in enumerate(urls)}
    with first("serve", folder, "--port", 0, "--no-http", "--delay", 0, "--json") as process:
        assert process.stdout is not None
        with Client(json.loads(process.stdout.readline())["grpc"]) as client:
            client.put(urls[:10])
            fetched = 0
            while fetched < limit and (pages := client.get(per_queue=10)):
                for page in pages:
                    client.put([urls[target] for target in web.targets_of(page_of[page.url])], parent=page.url)
                    client.known(page.url)
                fetched += len(pages)
        process.terminate()
        return ended(process)
