"""Web servers with a mood: what they serve follows from the seed, and they keep a log of what they were asked, and when."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.faults.network import Line, Loop

FAULTS = ("reset", "reset amid", "cut short", "stall", "slow", "500", "503", "429", "404", "garbage", "close")
ROBOTS = ("none", "none", "allows", "forbids", "delays", "slow", "500", "reset")


@dataclass
class Page:
    path: str
    links: list[str]  # URLs
    moved: str = ""  # where it leads, if it is a redirect


@dataclass
class Site:
    """One host."""

    name: str
    address: str
    random: Random
    pages: dict[str, Page] = field(default_factory=dict)
    robots: str = "none"
    trouble: float = 0.0  # share of requests that go wrong
    down: tuple[float, float] = (0.0, 0.0)  # refuses connections meanwhile
    idle_s: float = 1e9  # closes a connection that is idle for so long
    crawl_delay: int = 0
    asked: list[tuple[float, str]] = field(default_factory=list)  # when a request had come, and for what

    def is_down(self, now: float) -> bool:
        return self.down[0] <= now < self.down[1]

    def answer(self, path: str) -> tuple[bytes, str]:
        """What is sent, and what goes wrong with it."""
        if path == "/robots.txt":
            return self._robots()
        wrong = self.random.choice(FAULTS) if self.random.random() < self.trouble else ""
        page = self.pages.get(path)
        if wrong in ("500", "503", "429", "404"):
            after = self.random.choice((b"", b"", b"Retry-After: 7\r\n", b"Retry-After: soon\r\n"))
            return _response(int(wrong), b"no", after), ""
        if wrong == "garbage":
            return b"\x00\x01SSH-2.0\r\n\r\n", "close"
        if page is None:
            return _response(404, b"none"), wrong
        if page.moved:
            return _response(301, b"", b"Location: " + page.moved.encode() + b"\r\n"), wrong
        links = "".join(f'<a href="{link}">to {link[-3:]}</a> ' for link in page.links)
        body = f"<html><head><title>{page.path}</title></head><body>{links}</body></html>".encode()
        return _response(200, body, b"Content-Type: text/html\r\n", chunked=self.random.random() < 0.3), wrong

    def _robots(self) -> tuple[bytes, str]:
        if self.robots in ("allows", "forbids", "delays"):
            rule = {"allows": "Allow: /", "forbids": "Disallow: /p3", "delays": f"Crawl-delay: {self.crawl_delay}"}[self.robots]
            return _response(200, f"User-agent: *\n{rule}\n".encode(), b"Content-Type: text/plain\r\n"), ""
        if self.robots == "500":
            return _response(503 if self.random.random() < 0.6 else 404, b"no"), ""
        return _response(404, b"none"), {"slow": "slow", "reset": "reset"}.get(
            self.robots if self.random.random() < 0.6 else "", ""
        )


def _response(status: int, body: bytes, more: bytes = b"", chunked: bool = False) -> bytes:
    if chunked:
        half = len(body) // 2
        parts = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:half], body[half:]) if part)
        return b"HTTP/1.1 %d X\r\n%bTransfer-Encoding: chunked\r\n\r\n%b0\r\n\r\n" % (status, more, parts)
    return b"HTTP/1.1 %d X\r\n%bContent-Length: %d\r\n\r\n%b" % (status, more, len(body), body)


class Serving(asyncio.Protocol):
    """A connection to a site."""

    def __init__(self, loop: Loop, site: Site) -> None:
        self.loop, self.site = loop, site
        self.line: Line
        self._held = b""
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.line = transport  # type: ignore[assignment]
        self._wait()

    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self.site.idle_s < 1e6:
            self._timer = self.loop.call_later(self.site.idle_s, self.line.close)

    def data_received(self, data: bytes) -> None:
        self._held += data
        while b"\r\n\r\n" in self._held:
            head, _, self._held = self._held.partition(b"\r\n\r\n")
            self._wait()
            path = head.split(b" ", 2)[1].decode()
            self.site.asked.append((self.loop.time(), path))
            self._send(*self.site.answer(path))

    def _send(self, data: bytes, wrong: str) -> None:
        random, line = self.site.random, self.line
        if wrong == "reset":
            line.abort()
        elif wrong == "stall":
            line.write(data[: random.randrange(len(data))])
        elif wrong in ("reset amid", "cut short"):
            line.write(data[: random.randrange(len(data))])
            self.loop.call_later(random.random(), line.abort if wrong == "reset amid" else line.close)
        elif wrong == "slow":
            self.loop.call_later(random.choice((1.0, 4.0, 9.0)), line.write, data)
        else:
            line.write(data)
            if wrong == "close":
                line.close()

    def connection_lost(self, error: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()


def make_sites(random: Random, now: float) -> dict[str, Site]:
    """A small web: hosts, pages, links among them, redirects, links to nowhere."""
    names = [f"h{number}.example" for number in range(random.choice((1, 2, 2, 3, 4)))]
    urls = [f"http://{name}/p{page}" for name in names for page in range(random.randint(3, 10))]
    sites = {}
    for number, name in enumerate(names):
        site = sites[name] = Site(name, f"93.184.215.{number + 10}", Random(random.random()))
        site.robots = random.choice(ROBOTS)
        site.crawl_delay = random.choice((1, 3))
        site.trouble = random.choice((0.0, 0.05, 0.2, 0.5))
        site.idle_s = random.choice((1e9, 0.3, 2.0))
        if random.random() < 0.2:
            begin = now + random.uniform(0, 60)
            site.down = (begin, begin + random.uniform(1, 60))
        for url in urls:
            if url.startswith(f"http://{name}/"):
                links = random.sample(urls, min(len(urls), random.randint(0, 6)))
                links += [f"http://{name}/gone"] * (random.random() < 0.1)
                path = url.removeprefix(f"http://{name}")
                site.pages[path] = Page(path, links, random.choice(urls) if random.random() < 0.1 else "")
    return sites
