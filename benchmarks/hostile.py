"""How long a healthy host waits beside one whose pages, sitemap or robots.txt take their reader minutes.

One crawl asks two hosts on loopback, without delays. The healthy one is a chain, each page found on the one before it, so
that nothing of it is fetched ahead; the gap between two of its pages is what the other host costs it.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path

from tests.test_bounded import HOSTILE
from tests.test_parsing import SITEMAPS

from benchmarks.show import Result, table
from frontrank.crawl.events import Fetched

CHAIN = 600  # pages of the healthy host: they last longer than any deadline of a parser
KIB = 1024
ROBOTS = {  # of 500 KiB, which is as much as is read
    "rules": "User-agent: *\n" + "".join(f"Disallow: /*{n}*\n" for n in range(30_000)),
    "stars": "User-agent: *\nDisallow: /" + "*a" * (250 * KIB),
    "agents": "".join(f"User-agent: a{n}\n" for n in range(15_000)) + "User-agent: *\n" + "Disallow: /x\n" * 18_000,
    "blanks": "user-agent" + " " * (500 * KIB),
    "backtracking": "User-agent: *\nDisallow: /" + "*a" * 30 + "*b\n",
}
OPTIONS = (
    "--allow-private",
    "--max-depth",
    str(2 * CHAIN),
    "--delay",
    "0",
    "--scope",
    "any",
    "--timeout",
    "100",
    "--json",
    "-q",
)


class Hosts(BaseHTTPRequestHandler):
    """127.0.0.1 is healthy; localhost answers ``hostile``, by its path, and to everything else with a page of long links."""

    protocol_version = "HTTP/1.1"
    hostile: dict[str, bytes] = {}

    def do_GET(self) -> None:
        if self.headers["Host"].startswith("localhost"):
            links = "".join(f"<a href='/{'a' * 1_000}{n}'>" for n in range(20))
            body = self.hostile.get(self.path, b"" if self.path in ("/robots.txt", "/sitemap.xml") else links.encode())
        elif self.path.startswith("/chain/") and int(self.path[7:]) < CHAIN:
            body = f"<a href='/chain/{int(self.path[7:]) + 1}'>next</a>".encode()
        else:
            body = b""
        self.send_response(200)
        self.send_header("Content-Type", "text/plain" if self.path == "/robots.txt" else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def served(hostile: dict[str, bytes]) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Hosts,), {"hostile": hostile}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def gap(out: Path, hostile: dict[str, bytes], *more: str) -> float:
    """The longest time between two pages of the healthy host."""
    with served(hostile) as port:
        seeds = (f"http://127.0.0.1:{port}/chain/1", f"http://localhost:{port}/page")
        command = [sys.executable, "-m", "frontrank", "crawl", *seeds, "--out", str(out), *OPTIONS, *more]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert json.loads(done.stdout)["fetched"] >= CHAIN
    with sqlite3.connect(f"{out.as_uri()}/trace.db?mode=ro", uri=True) as db:
        asked = "SELECT time FROM event JOIN url ON url.id = page WHERE kind = ? AND url LIKE 'http://127.0.0.1:%' ORDER BY seq"
        times = [time for (time,) in db.execute(asked, (Fetched.kind,))]
    return max(after - before for before, after in pairwise(times))


def gaps(folder: Path, small: bool = False) -> list[Result]:
    """The healthy host beside each hostile page, sitemap and robots.txt."""
    trials: list[tuple[str, str, dict[str, bytes], tuple[str, ...]]] = [("alone", "", {}, ("--no-robots",))]
    trials += [("page", name, {"/page": body}, ("--no-robots",)) for name, body in HOSTILE.items()]
    trials += [("sitemap", name, {"/sitemap.xml": body}, ("--no-robots", "--sitemaps")) for name, body in SITEMAPS.items()]
    trials += [("robots.txt", name, {"/robots.txt": body.encode()}, ()) for name, body in ROBOTS.items()]
    kept = [one for one in trials if not small or one[1] in ("", "attributes of body", "elements", "rules")]
    measured = [(kind, name, gap(folder / f"gap-{at}", hostile, *more)) for at, (kind, name, hostile, more) in enumerate(kept)]
    rows = [[f"{kind} {name}".strip(), f"{1e3 * seconds:,.0f} ms"] for kind, name, seconds in measured]
    table("Longest gap between two pages of a healthy host", ["beside", "gap"], rows)
    beside = [(kind, seconds) for kind, _, seconds in measured if kind != "alone"]
    return [
        Result(
            f"longest gap beside a hostile {kind}", max(seconds for of, seconds in beside if of == kind), 2.0, "s", most=True
        )
        for kind in ("page", "sitemap", "robots.txt")
    ]


if __name__ == "__main__":
    import tempfile

    from benchmarks.show import verdict

    with tempfile.TemporaryDirectory() as here:
        verdict(gaps(Path(here), small="--small" in sys.argv))
