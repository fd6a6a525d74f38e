"""What does frontrank cost a Scrapy crawl? The same spider on the same web on loopback, with stock Scrapy and with the add-on.

The server has a process of its own and answers from memory; all that is measured is the crawler. Runs take turns, so that a
busy moment of the machine hits all; the best of each counts. The directory of the durable crawl lies on the local disk.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import subprocess
import sys
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.show import Result, table

PAGES, LINKS, REPEATS = 2000, 20, 3
ADDON = {"ADDONS": {"frontrank.fetching.addon.Addon": 500}, "FRONTRANK_POLICY": "fpr"}
MIN_RATIO, MIN_DURABLE_RATIO = 0.9, 0.8  # of stock Scrapy's pages per second


class Answers(asyncio.Protocol):
    """As much HTTP as a crawler on loopback needs: every page links to 20 others."""

    def __init__(self, pages: int) -> None:
        self.pages = pages

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.held = transport, b""

    def data_received(self, data: bytes) -> None:
        self.held += data
        while b"\r\n\r\n" in self.held:
            head, self.held = self.held.split(b"\r\n\r\n", 1)
            path = head.split(b" ", 2)[1]
            self.transport.write(answer(int(path[1:]), self.pages))


def answer(page: int, pages: int) -> bytes:
    links = "".join(
        f'<p>Some words beside <a href="/{(page * 7 + j * j * 31 + 1) % pages}">link {j}</a>.</p>' for j in range(LINKS)
    )
    body = f"<html><head><title>Page {page}</title></head><body>{links}</body></html>".encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def serve(told: Connection, pages: int) -> None:
    async def forever() -> None:
        server = await asyncio.get_running_loop().create_server(lambda: Answers(pages), "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


def crawl(url: str, settings: dict[str, Any]) -> None:
    """In a process of its own: crawl, and print pages, seconds and seconds of CPU from the first page to the end."""
    import scrapy
    from scrapy.crawler import CrawlerProcess
    from scrapy.http import HtmlResponse

    class All(scrapy.Spider):
        name = "all"
        start_urls = [url]
        pages = 0
        begun = worked = 0.0

        def parse(self, response: HtmlResponse, **_: Any) -> Any:
            self.begun = self.begun or perf_counter()
            self.worked = self.worked or process_time()
            self.pages += 1
            for href in response.css("a::attr(href)").getall():
                yield scrapy.Request(response.urljoin(href))

        def closed(self, reason: str) -> None:
            print(json.dumps([self.pages, perf_counter() - self.begun, process_time() - self.worked]))

    every = {"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, "CONCURRENT_REQUESTS": 16}
    process = CrawlerProcess({**every, "CONCURRENT_REQUESTS_PER_DOMAIN": 16, **settings})
    process.crawl(All)
    process.start()


def measured(url: str, least: int, settings: dict[str, Any]) -> tuple[float, float]:
    """Pages per second, and per second of CPU."""
    command = [sys.executable, "-m", "benchmarks.scrapy_throughput", url, json.dumps(settings)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    pages, seconds, worked = json.loads(done.stdout.splitlines()[-1])
    assert pages >= least, f"only {pages} pages were crawled: {done.stderr}"
    return pages / seconds, pages / worked


def throughput(pages: int = PAGES) -> list[Result]:
    """Pages per second with the add-on, in memory and durable, against stock Scrapy."""
    hears, tells = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(tells, pages), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{hears.recv()}/0"
    with tempfile.TemporaryDirectory(prefix="frontrank-bench-") as folder:
        measured(url, pages // 2, ADDON)  # compiles what is not in the cache yet
        runs: dict[str, list[tuple[float, float]]] = {"stock": [], "frontrank in memory": [], "frontrank, durable": []}
        for turn in range(REPEATS):
            durable = {**ADDON, "FRONTRANK_DIR": str(Path(folder) / str(turn))}
            for found, settings in zip(runs.values(), ({}, ADDON, durable), strict=True):
                found.append(measured(url, pages // 2, settings))
    server.terminate()
    server.join()
    best = {name: [max(rate) for rate in zip(*found, strict=True)] for name, found in runs.items()}
    share = {name: [rate / stock for rate, stock in zip(rates, best["stock"], strict=True)] for name, rates in best.items()}
    table(
        f"A Scrapy crawl of {pages:,} pages with {LINKS} links each, on loopback",
        ["scheduler", "pages/s", "of stock", "pages/s of CPU", "of stock"],
        [
            [name, f"{best[name][0]:.0f}", f"{share[name][0]:.2f}", f"{best[name][1]:.0f}", f"{share[name][1]:.2f}"]
            for name in best
        ],
    )
    return [
        Result(f"Scrapy with {name} against stock", share[name][0], least, "of its pages/s")
        for name, least in (("frontrank in memory", MIN_RATIO), ("frontrank, durable", MIN_DURABLE_RATIO))
    ]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        crawl(sys.argv[1], json.loads(sys.argv[2]))
    else:
        throughput()
