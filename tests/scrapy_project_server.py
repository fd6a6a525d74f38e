"""A web on loopback for tests of the Scrapy integration, which notes every request that reaches it.

It answers as a proxy as well as directly, so that one server is as many hosts as a test likes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Answer = str | tuple[int, dict[str, str], str]
Pages = Mapping[str, Answer | Callable[["Asked"], Answer]]


class Asked(NamedTuple):
    url: str
    method: str
    body: str
    headers: dict[str, str]
    at: float
    times: int  # how often this URL was asked for, this time included


class Site:
    """pages: by URL, or by path for any host. What is not there is a 404."""

    def __init__(self, pages: Pages, port: int) -> None:
        self.pages = pages
        self.root = f"http://127.0.0.1:{port}"
        self.asked: list[Asked] = []
        self.lock = threading.Lock()

    def urls(self) -> list[str]:
        """What was asked for, in order; paths only if it was this host."""
        return [asked.url.removeprefix(self.root) for asked in self.asked]

    def answer(self, url: str, method: str, body: str, headers: dict[str, str]) -> tuple[int, dict[str, str], str]:
        with self.lock:
            times = 1 + sum(asked.url == url for asked in self.asked)
            asked = Asked(url, method, body, headers, time.monotonic(), times)
            self.asked.append(asked)
        path = "/" + url.split("/", 3)[3]
        found = self.pages.get(url, self.pages.get(path, (404, {}, "nothing here")))
        answer = found(asked) if callable(found) else found
        return (200, {}, answer) if isinstance(answer, str) else answer


def page(*links: str, title: str = "", text: str = "", anchors: tuple[str, ...] = ()) -> str:
    words = anchors or ("more",) * len(links)
    rows = "".join(f'<a href="{link}">{text}</a> ' for link, text in zip(links, words, strict=True))
    return f"<html><head><title>{title}</title></head><body>{text}{rows}</body></html>"


@contextmanager
def serving(pages: Pages) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet
        disable_nagle_algorithm = True

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            url = self.path if self.path.startswith("http") else site.root + self.path
            status, headers, text = site.answer(url, self.command, body, dict(self.headers.items()))
            if status == 0:  # hang up
                self.close_connection = True
                self.connection.close()
                return
            data = text.encode()
            self.send_response(status)
            for name, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = answer

        def log_message(self, *_: Any) -> None:
            pass

        def handle(self) -> None:
            with suppress(OSError):  # the crawler was killed, as the test wanted
                super().handle()

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        site = Site(pages, server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
