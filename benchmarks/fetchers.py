"""How many pages a second does `frontrank crawl` fetch? Beside stock Scrapy's CrawlSpider, and with several fetchers.

All crawl the same site on loopback: pages of 20 to 60 kB with 50 to 100 links each, made of real titles, texts and anchors if
FRONTRANK_DATA has the crawl of uci-ics, else of made-up words. A server process sends bytes that were built before; what it
can send to a client that only reads is measured first, so that one sees that it is not the bottleneck. CrawlSpider keeps
nothing; frontrank crawl stores its journal and the pages as WARC files, on the local disk.

On a real web a fetcher waits for servers more than it works. So there is a second site, which answers each request after
``WAIT_MS`` milliseconds; there each fetcher has ``EACH`` requests in flight, as a machine of a certain size bears. The
processor is not the limit then, and the clock shows what a second fetcher brings, on two cores as well.

Runs take turns, so that a busy moment of the machine hits all; the best of each counts. Seconds of CPU from the first page on
are told, too: of all the processes of a crawler, and of the busiest one. Two fetchers, the crawl and the server need four cores
to show what they can do; where there are fewer, the ratio is that of what the busiest process allows.

    python -m benchmarks.fetchers [--pages 1500] [--repeats 3]
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import multiprocessing
import os
import random
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, sleep
from typing import NamedTuple

from benchmarks.show import Result, table, verdict

PAGES, REPEATS, SERVED = 1500, 3, 3000
WAIT_MS, EACH = 150, 8  # of the site that is slow to answer; requests in flight of each fetcher
MIN_OF_SCRAPY, MIN_OF_ONE = 2.0, 1.6
TICKS = os.sysconf("SC_CLK_TCK")
FLAGS = ("--allow-private", "--delay", "0", "--per-host", "0", "-q", "--json")
HEAD = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="canonical" href="/{page}">
<link rel="stylesheet" href="/style.css"><style>{style}</style><script>{script}</script></head><body class="page">
<header><div class="logo"><a href="/"><img src="/logo.png" alt="Home"></a></div></header>"""
RESPONSE = """HTTP/1.1 200 OK
Date: Mon, 16 Nov 2026 12:00:00 GMT
Server: bench
Content-Type: text/html; charset=utf-8
Last-Modified: Mon, 02 Nov 2026 12:00:00 GMT
Vary: Accept-Encoding
Content-Length: {}

"""
STYLE = "".join(f".c{i} {{ margin: {i}px auto; padding: 0 {i % 7}em; color: #{i:06x} }}\n" for i in range(60))
SCRIPT = "".join(f"function f{i}(a) {{ return a < {i} ? document.getElementById('n{i}') : null; }}\n" for i in range(60))


# The site --------------------------------------------------------------------------------------------------------------------
def words(draw: random.Random) -> list[str]:
    return [
        "".join(draw.choice("bcdfgklmnprst") + draw.choice("aeiou") for _ in range(draw.randint(1, 4))) for _ in range(5000)
    ]


def texts(pages: int) -> tuple[list[str], list[str], str]:
    """Titles, and running words, of as many pages; and where they are from."""
    folder = Path(os.environ.get("FRONTRANK_DATA", "")) / "uci-ics"
    if os.environ.get("FRONTRANK_DATA") and folder.exists():
        with gzip.open(folder / "pages.tsv.gz", "rt", encoding="utf-8") as file:
            titles = [line.rstrip("\n").split("\t")[3] for _, line in zip(range(pages + 1), file, strict=False)][1:]
        with gzip.open(folder / "text.tsv.gz", "rt", encoding="utf-8") as file:
            bodies = [line.rstrip("\n").partition("\t")[2] for _, line in zip(range(pages + 1), file, strict=False)][1:]
        return titles, bodies, "titles and texts of uci-ics"
    draw = random.Random(5)
    known = words(draw)
    titles = [" ".join(draw.choices(known, k=6)) for _ in range(pages)]
    return titles, [" ".join(draw.choices(known, k=draw.randint(200, 2000))) for _ in range(pages)], "made-up words"


def built(pages: int) -> tuple[dict[bytes, bytes], str]:
    """Whole responses by path."""
    titles, bodies, source = texts(pages)
    draw = random.Random(7)
    made: dict[bytes, bytes] = {}
    for page in range(pages):
        body = html(page, titles, bodies, draw).encode()
        made[b"/%d" % page] = RESPONSE.format(len(body)).replace("\n", "\r\n").encode() + body
    made[b"/"] = made[b"/0"]
    return made, source


def html(page: int, titles: list[str], bodies: list[str], draw: random.Random) -> str:
    pages = len(titles)
    parts = [HEAD.format(title=escaped(titles[page]), page=page, style=STYLE, script=SCRIPT)]
    parts.append('<nav><ul class="menu">' + "".join(item(other, titles) for other in range(1, 16)) + "</ul></nav><main>")
    run = (bodies[page] or titles[page] or "empty").split()
    links = draw.randint(35, 84)
    goal = draw.randint(20_000, 60_000)
    at = size = 0
    for number in range(links):
        target = draw.randrange(pages)
        before = " ".join(run[(at + i) % len(run)] for i in range(goal // links // 8))
        at += goal // links // 8
        paragraph = f'<div class="c{number % 60}" id="n{number}"><p>{escaped(before)} {item(target, titles)}</p></div>\n'
        size += len(paragraph)
        parts.append(paragraph)
        if size > goal:
            break
    parts.append("</main><footer><p>All of this is for measuring.</p></footer></body></html>")
    return "".join(parts)


def item(target: int, titles: list[str]) -> str:
    return f'<li class="item"><a class="link" href="/{target}" rel="next">{escaped(titles[target][:60])}</a></li>'


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


# The server ------------------------------------------------------------------------------------------------------------------
class Answers(asyncio.Protocol):
    """As much HTTP as a crawler on loopback needs."""

    def __init__(self, made: dict[bytes, bytes], wait_s: float) -> None:
        self.made, self.wait_s = made, wait_s

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.held = transport, b""

    def data_received(self, data: bytes) -> None:
        self.held += data
        while b"\r\n\r\n" in self.held:
            head, _, self.held = self.held.partition(b"\r\n\r\n")
            path = head.split(b" ", 2)[1]
            answer = self.made.get(path, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            if self.wait_s:
                asyncio.get_running_loop().call_later(self.wait_s, self.transport.write, answer)
            else:
                self.transport.write(answer)


def serve(told: Connection, pages: int, wait_s: float) -> None:
    made, source = built(pages)

    async def forever() -> None:
        server = await asyncio.get_running_loop().create_server(lambda: Answers(made, wait_s), "127.0.0.1", 0)
        sizes = [len(response) for response in made.values()]
        told.send((server.sockets[0].getsockname()[1], source, sum(sizes) / len(sizes)))
        await server.serve_forever()

    asyncio.run(forever())


@contextmanager
def serving(pages: int, wait_s: float = 0.0) -> Iterator[tuple[int, str, float]]:
    hears, tells = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(tells, pages, wait_s), daemon=True)
    server.start()
    try:
        yield hears.recv()
    finally:
        server.terminate()
        server.join()


def could_send(port: int, pages: int = 3000) -> float:
    """Pages a second that the server sends to one client that does nothing but read."""
    with socket.create_connection(("127.0.0.1", port)) as line:
        begun = perf_counter()
        for page in range(pages):
            line.sendall(b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n" % (page % SERVED))
            data = line.recv(65_536)
            head, _, body = data.partition(b"\r\n\r\n")
            left = int(head.rpartition(b"Content-Length: ")[2]) - len(body)
            while left:
                left -= len(line.recv(min(left, 2**20)))
        return pages / (perf_counter() - begun)


# The crawlers ----------------------------------------------------------------------------------------------------------------
def stock(url: str, pages: int) -> None:
    """In a process of its own: Scrapy's CrawlSpider as it comes; prints pages, and seconds from the first page to the end."""
    from scrapy.crawler import CrawlerProcess
    from scrapy.linkextractors import LinkExtractor
    from scrapy.spiders import CrawlSpider, Rule

    class All(CrawlSpider):
        name = "all"
        start_urls = [url]
        rules = (Rule(LinkExtractor(), callback="arrived", follow=True),)
        pages = 0
        begun = 0.0

        def parse_start_url(self, response: object, **_: object) -> list[object]:
            self.begun = perf_counter()
            return self.arrived(response)

        def arrived(self, response: object) -> list[object]:
            self.pages += 1
            return []

        def closed(self, reason: str) -> None:
            print(json.dumps({"pages": self.pages, "seconds": perf_counter() - self.begun}))

    process = CrawlerProcess(
        {
            "LOG_LEVEL": "ERROR",
            "TELNETCONSOLE_ENABLED": False,
            "CONCURRENT_REQUESTS": 32,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
            "CLOSESPIDER_PAGECOUNT": pages,
        }
    )
    process.crawl(All)
    process.start()


def ours(url: str, pages: int, fetchers: int = 1, in_flight: int = 32) -> list[str]:
    many = ("--in-flight", str(in_flight), "--fetchers", str(fetchers))
    return [sys.executable, "-m", "frontrank", "crawl", url, "--budget", str(pages), *FLAGS, *many]


class Run(NamedTuple):
    """What one run of a crawler came to."""

    pages_per_s: float
    cpu_ms: float  # a page, of all its processes
    busiest_ms: float  # a page, of the one process that had most to do: what bounds it where cores are free


def measured(command: list[str], pages: int) -> Run:
    with tempfile.TemporaryDirectory(prefix="frontrank-bench-") as folder:
        out = ["--out", f"{folder}/crawl"] if "frontrank" in command else []
        process = subprocess.Popen([*command, *out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        used: dict[int, list[float]] = {}  # of each process: seconds of CPU when it was at work first, and last
        while process.poll() is None:
            at_work = not out or any(Path(folder).glob("crawl/warc/*"))
            for pid, seconds in family(process.pid):
                first, _ = used.get(pid, [0.0, 0.0])
                used[pid] = [first if at_work and pid in used else seconds if pid == process.pid else 0.0, seconds]
            sleep(0.05)
        said, errors = process.communicate()
    assert process.returncode == 0, errors
    told = json.loads(said[said.index("{") :])
    count, seconds = (told["pages"], told["seconds"]) if "pages" in told else (told["fetched"], told["run_s"])
    assert count >= pages, f"only {count} of {pages} pages were crawled: {errors}"
    worked = [1000 * (last - first) / count for first, last in used.values()]
    return Run(count / seconds, sum(worked), max(worked))


def family(pid: int) -> Iterator[tuple[int, float]]:
    """A process and those that it has started, each with the seconds of CPU that it has used."""
    parents: dict[int, tuple[int, float]] = {}
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            parents[int(entry.name)] = int(fields[1]), (int(fields[11]) + int(fields[12])) / TICKS
        except (OSError, ValueError, IndexError):
            continue
    members = {pid}
    while more := {child for child, (parent, _) in parents.items() if parent in members} - members:
        members |= more
    return ((member, parents[member][1]) for member in members if member in parents)


def throughput(pages: int = PAGES, repeats: int = REPEATS, fetchers: tuple[int, ...] = (2,)) -> list[Result]:
    """Pages per second of stock Scrapy, of one fetcher and of several."""
    with serving(SERVED) as (port, source, size):
        url = f"http://127.0.0.1:{port}/"
        scrapy = [sys.executable, "-m", "benchmarks.fetchers", "--stock", url, "--pages", str(pages)]
        commands = {"Scrapy's CrawlSpider": scrapy, "frontrank crawl": ours(url, pages)}
        commands |= {f"--fetchers {count}": ours(url, pages, count) for count in fetchers}
        measured(commands["frontrank crawl"], pages)  # compiles what is not in the cache yet
        runs: dict[str, list[Run]] = {name: [] for name in commands}
        sent = 0.0
        for _ in range(repeats):
            sent = max(sent, could_send(port))
            for name, command in commands.items():
                runs[name].append(measured(command, pages))
    best = {
        name: Run(max(r.pages_per_s for r in found), min(r.cpu_ms for r in found), min(r.busiest_ms for r in found))
        for name, found in runs.items()
    }
    stocks, one = best["Scrapy's CrawlSpider"], best["frontrank crawl"]
    table(
        f"{pages:,} pages of {size / 1000:.0f} kB on loopback ({source}); the server alone sends {sent:,.0f} a second",
        ["crawler", "pages/s", "of CrawlSpider", "ms of CPU a page", "of its busiest process", "pages/s it allows"],
        [
            [
                name,
                f"{run.pages_per_s:.0f}",
                f"{run.pages_per_s / stocks.pages_per_s:.2f}",
                f"{run.cpu_ms:.2f}",
                f"{run.busiest_ms:.2f}",
                f"{1000 / run.busiest_ms:.0f}",
            ]
            for name, run in best.items()
        ],
    )
    results = [
        Result("frontrank crawl against CrawlSpider", one.pages_per_s / stocks.pages_per_s, MIN_OF_SCRAPY, "of its pages/s")
    ]
    for count in fetchers:
        several = best[f"--fetchers {count}"]
        if (os.cpu_count() or 1) > count + 1:
            share, what = several.pages_per_s / one.pages_per_s, "of its pages/s"
        else:  # they would wait for each other and for the server
            share, what = one.busiest_ms / several.busiest_ms, "of its pages/s, were there cores for all"
        results.append(Result(f"{count} fetchers against one", share, MIN_OF_ONE, what))
    return results


def waiting(pages: int = PAGES, repeats: int = REPEATS, fetchers: tuple[int, ...] = (2,)) -> list[Result]:
    """The same by the clock, on a site that is slow to answer."""
    with serving(SERVED, WAIT_MS / 1000) as (port, _, size):
        url = f"http://127.0.0.1:{port}/"
        commands = {count: ours(url, pages, count, EACH * count) for count in (1, *fetchers)}
        runs: dict[int, list[Run]] = {count: [] for count in commands}
        for _ in range(repeats):
            for count, command in commands.items():
                runs[count].append(measured(command, pages))
    best = {count: max(found, key=lambda run: run.pages_per_s) for count, found in runs.items()}
    table(
        f"{pages:,} pages of {size / 1000:.0f} kB, each sent after {WAIT_MS} ms; {EACH} requests in flight for each fetcher",
        ["fetchers", "pages/s", "of one", "pages/s if nothing but the site took time", "ms of CPU a page"],
        [
            [
                str(count),
                f"{run.pages_per_s:.0f}",
                f"{run.pages_per_s / best[1].pages_per_s:.2f}",
                f"{1000 * EACH * count / WAIT_MS:.0f}",
                f"{run.cpu_ms:.2f}",
            ]
            for count, run in best.items()
        ],
    )
    return [
        Result(
            f"{count} fetchers against one, {WAIT_MS} ms a request",
            best[count].pages_per_s / best[1].pages_per_s,
            MIN_OF_ONE,
            "of its pages/s",
        )
        for count in fetchers
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fetchers")
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--stock", metavar="URL", help="crawl this with stock Scrapy; for the benchmark itself")
    given = parser.parse_args()
    if given.stock:
        stock(given.stock, given.pages)
        return
    verdict([*throughput(given.pages, given.repeats), *waiting(given.pages, given.repeats)])


if __name__ == "__main__":
    main()
