"""frontrank crawl on real sockets: order, durability, politeness, and what becomes of everything a server may answer."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import resource
import shlex
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from frontrank.crawl import status
from frontrank.crawl.events import Expired, Fetched, Seeded, Taken
from frontrank.fetching.crawler import run
from frontrank.fetching.crawler.option_checks import AGENT
from frontrank.fetching.crawler.options import Options
from frontrank.lab.webserver import run_in_process
from tests import live_orders
from tests.commands import run_command
from tests.conftest import ROOT
from tests.listening import listening
from tests.patience import PATIENCE_S
from tests.specs import SPECS
from tests.stopped import environment
from tests.tiers import representative

LOCAL = ("--allow-private", "--delay", "0", "--per-host", "0")
WEB = "synthetic:pages=400,links=8,seed=3"


def command(*args: str | Path) -> list[str]:
    return [sys.executable, "-m", "frontrank", "crawl", *map(str, args)]


def crawl(*args: str | Path, code: int = 0, **popen: Any) -> Any:
    """Run the command; its summary, or what it said on standard error if it had to fail."""
    done = subprocess.run(
        command(*args, *(["--json"] if code == 0 else [])),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        **popen,
    )
    assert done.returncode == code, done.stderr
    if code:
        assert "Traceback" not in done.stderr
        return done.stderr.strip()
    return json.loads(done.stdout)


def events(out: Path, *kinds: int) -> list[tuple[str, float, int, str]]:
    """URL, time, status and note of the events of these kinds, in order."""
    db = sqlite3.connect(f"{out.as_uri()}/trace.db?mode=ro", uri=True)
    marks = ", ".join("?" * len(kinds))
    rows = db.execute(
        f"SELECT url, time, status, note FROM event JOIN url ON url.id = page WHERE kind IN ({marks}) ORDER BY seq", kinds
    ).fetchall()
    db.close()
    return rows


def fetched(out: Path) -> list[str]:
    return [row[0] for row in events(out, Fetched.kind)]


def records(out: Path) -> list[tuple[str, int]]:
    """URL and status of every response in the WARC files, read from start to end by another library."""
    found = []
    for path in sorted((out / "warc").glob("*.warc.gz")):
        with open(path, "rb") as file:
            for record in ArchiveIterator(file, check_digests=True):
                record.content_stream().read()
                if record.rec_type == "response":
                    assert record.digest_checker.passed
                    found.append((record.rec_headers["WARC-Target-URI"], int(record.http_headers.get_statuscode())))
    return found


# Orders ----------------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def orders(request: pytest.FixtureRequest) -> dict[str, dict[str, int]]:
    """Of the orderings that this run asks for."""
    asked = {str(item.callspec.params.get("spec")) for item in request.session.items if hasattr(item, "callspec")}
    command = [sys.executable, "-m", "tests.live_orders", *(spec for spec in SPECS if spec in asked)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    told: dict[str, dict[str, int]] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("spec", [*representative(SPECS), *(f"{spec} beside another" for spec in live_orders.BESIDE)])
def test_a_live_crawl_fetches_in_the_simulated_order(orders: dict[str, dict[str, int]], spec: str) -> None:
    told = orders[spec]
    assert told["parts_at"] == -1, f"{spec}: live and simulated orders part at place {told['parts_at']} of {told['simulated']}"


# A served web ----------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def web() -> Iterator[tuple[str, list[str]]]:
    """A proxy that serves a web of 400 pages, and where to start."""
    from frontrank.lab.webserver import ServerOptions as Served
    from frontrank.lab.webserver.site import Site
    from frontrank.sources import load

    with run_in_process(WEB) as url:
        yield url, Site(load(WEB), Served()).seeds()


def on(web: tuple[str, list[str]]) -> list[str]:
    proxy, seeds = web
    return [*seeds, "--proxy", proxy, "--scope", "any", "--no-robots", "--delay", "0", "--per-host", "0"]


def test_the_budget_is_exact_and_a_higher_one_goes_on(web: tuple[str, list[str]], tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    told = crawl(*on(web), "--out", out, "--budget", "75", "--in-flight", "16")
    assert (told["fetched"] + told["failed"], told["ended"]) == (75, "budget")
    assert crawl("--resume", out)["run_pages"] == 0
    told = crawl("--resume", out, "--budget", "140")
    assert (told["fetched"], told["run_pages"]) == (140, 65)
    told = crawl("--resume", out, "--budget", "0")
    assert (told["fetched"], told["ended"], told["waiting"]) == (400, "frontier empty", 0)
    assert len(fetched(out)) == len(set(fetched(out))) == 400
    assert sorted(records(out)) == sorted((url, 200) for url in fetched(out))
    assert "<html" in (out / "report.html").read_text(encoding="utf-8")[:200]


def test_a_killed_crawl_loses_nothing_and_fetches_nothing_twice(web: tuple[str, list[str]], tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    draw = random.Random(11)
    acknowledged: set[str] = set()
    start: list[Any] = [*on(web), "--out", out, "--in-flight", "4"]
    for _ in range(3):
        process = subprocess.Popen(command(*start), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        goal = len(acknowledged) + draw.randint(20, 80)
        until = time.monotonic() + PATIENCE_S
        while process.poll() is None and time.monotonic() < until:
            if (out / "trace.db").exists() and len(fetched(out)) >= goal:
                break
            time.sleep(draw.uniform(0.001, 0.05))
        acknowledged |= set(fetched(out))
        process.kill()
        process.communicate()
        start = ["--resume", out]
    assert len(acknowledged) >= 60
    told = crawl("--resume", out)
    order = fetched(out)
    assert acknowledged <= set(order)
    assert len(order) == len(set(order)) == told["fetched"] == 400
    assert sorted(records(out)) == sorted((url, 200) for url in order)
    taken = Counter(row[0] for row in events(out, Taken.kind))
    expired = Counter(row[0] for row in events(out, Expired.kind))
    assert all(taken[url] == 1 + expired[url] for url in order)
    assert sum(expired.values()) <= 3 * 4, "no more than the pages that were out at a kill are asked for again"


def under_way(web: tuple[str, list[str]], out: Path) -> subprocess.Popen[str]:
    """A slow crawl that has fetched thirty pages and goes on."""
    slowly = [*on(web), "--delay", "0.3", "--per-host", "1"]
    # A busy machine must not cut off what a signal asks for.
    patient = (
        "from frontrank import cli; from frontrank.system import stopping as s; from frontrank.fetching.crawler import run as r"
    )
    start = [sys.executable, "-c", f"{patient}; s.GRACE_S = r.PATIENCE_S = {PATIENCE_S}; cli.main()"]
    args = [*start, *command(*slowly, "--out", out)[3:]]
    process = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and not ((out / "trace.db").exists() and len(fetched(out)) >= 30):
        time.sleep(0.01)
    return process


def test_a_signal_ends_a_crawl_well(web: tuple[str, list[str]], tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    process = under_way(web, out)
    assert "another process is at work on this crawl" in crawl("--resume", out, code=2)
    process.send_signal(signal.SIGTERM)
    said, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    assert f"frontrank crawl --resume {out}" in said and "stopped by request" in said
    before = len(fetched(out))
    assert 30 <= before < 400
    assert crawl("--resume", out, "--budget", str(before + 20))["run_pages"] == 20
    assert not events(out, Expired.kind), "pages that were on their way were waited for"


def test_a_second_signal_ends_it_at_once_and_a_torn_warc_file_is_no_end(web: tuple[str, list[str]], tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    process = under_way(web, out)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode in (0, 130, 143)
    path = out / "warc" / "crawl-00000.warc.gz"
    os.truncate(path, path.stat().st_size - 100)  # as a power cut may leave it
    order = fetched(out)
    assert crawl("--resume", out, "--budget", str(len(order) + 20))["fetched"] == len(order) + 20
    kept = {url for url, _ in records(out)}
    assert kept <= set(fetched(out)) and set(fetched(out)) - kept <= {order[-1]}, "but for the torn record, every page is there"


def test_a_trust_file_is_read_once_and_kept_with_the_crawl(web: tuple[str, list[str]], tmp_path: Path) -> None:
    trust = tmp_path / "trust.tsv"
    trust.write_text("www.h0.example 2\nwww.h1.test 1\n", encoding="utf-8")
    out = tmp_path / "trusting"
    told = crawl(*on(web), "--out", out, "--ordering", f"fpr:trust={trust}", "--budget", "10", "--in-flight", "1")
    assert told["policy"] == f"fpr:trust={trust}"
    trust.unlink()
    assert crawl("--resume", out, "--budget", "15")["fetched"] == 15


def test_time_and_coverage_stop_a_crawl(web: tuple[str, list[str]], tmp_path: Path) -> None:
    slow = [*on(web), "--delay", "0.2", "--per-host", "1"]
    told = crawl(*slow, "--out", tmp_path / "time", "--time", "2s")
    assert told["ended"] == "time" and told["fetched"] < 400 and told["run_s"] >= 2.0
    told = crawl(*on(web), "--out", tmp_path / "mass", "--ordering", "rankmass", "--until", "coverage=0.5", "--in-flight", "1")
    assert told["ended"] == "stopping rule" and told["fetched"] < 400
    assert 0.5 <= told["gauges"]["coverage"] < 0.7
    told = crawl("--resume", tmp_path / "mass", "--until", "coverage=0.6")
    assert told["gauges"]["coverage"] >= 0.6


def test_another_ordering_may_go_on(web: tuple[str, list[str]], tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    crawl(*on(web), "--out", out, "--budget", "50", "--ordering", "bfs", "--no-warc")
    said = crawl("--resume", out, "--ordering", "opic", "--budget", "60", code=2)
    assert "was started with bfs" in said and "--rescore" in said
    assert len(fetched(out)) == 50
    told = crawl("--resume", out, "--ordering", "opic", "--rescore", "--budget", "60")
    assert (told["policy"], told["fetched"]) == ("opic", 60)
    assert crawl("--resume", out, "--budget", "70")["policy"] == "opic"
    assert not (out / "warc").exists()


def test_a_full_disk_stops_a_crawl_and_costs_nothing(web: tuple[str, list[str]], tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    limit = 200_000
    full = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))  # noqa: E731
    said = crawl(*on(web), "-q", "--out", out, code=2, env=environment(), preexec_fn=full)
    assert re.match(r"frontrank: \S+: .*cannot be written", said) and len(said.splitlines()) == 1
    before = set(fetched(out))
    assert crawl("--resume", out)["fetched"] == 400
    order = fetched(out)
    assert before <= set(order) and len(order) == len(set(order)) == 400
    assert {url for url, _ in records(out)} == set(order)


# What a server may answer ----------------------------------------------------------------------------------------------------
def links(*targets: str, head: str = "") -> str:
    return f"<html><head>{head}</head><body>" + "".join(f'<a href="{to}">{to}</a>' for to in targets) + "</body></html>"


class Site(BaseHTTPRequestHandler):
    """One page for each thing a server may do; ``asked`` holds time and path of every request."""

    protocol_version = "HTTP/1.1"
    asked: list[tuple[float, str, str]]
    PAGES = {
        "/": links(
            *("/chain/1", "/moved", "/away", "/mail", "/loop/a", "/gone", "/flaky", "/busy", "/file.bin", "/large", "/bomb"),
            *("/unsaid", "/nofollow", "/nowhere", "/deep/1", "/skip/me", "/x/y/x/y/x/y", "mailto:a@b.example", "/?sid=5"),
            "http://other.example/",
        ),
        "/target": links("/"),
        "/nofollow": links("/not-followed", head='<meta name="robots" content="nofollow">'),
        "/unsaid": links("/found-by-looks"),
        "/found-by-looks": links("/"),
    }

    def do_GET(self) -> None:
        self.asked.append((time.monotonic(), self.path, self.headers["User-Agent"]))
        path = self.path
        before = sum(1 for _, other, _ in self.asked[:-1] if other == path)
        if path.startswith("/chain/"):
            self.answer(302, location=f"/chain/{int(path[7:]) + 1}")
        elif path.startswith("/loop/"):
            self.answer(307, location="/loop/b" if path.endswith("a") else "/loop/a")
        elif path.startswith("/deep/"):
            self.answer(200, links(f"/deep/{int(path[6:]) + 1}"))
        elif path == "/moved":
            self.answer(301, location="target#part")
        elif path in ("/away", "/mail"):
            self.answer(302, location="http://other.example/x" if path == "/away" else "mailto:a@b.example")
        elif path == "/flaky" and not before:
            self.answer(500)
        elif path == "/busy" and not before:
            self.answer(503, headers={"Retry-After": "1"})
        elif path in ("/flaky", "/busy"):
            self.answer(200, links())
        elif path == "/file.bin":
            self.answer(200, '<a href="/not-html">', kind="application/pdf")
        elif path == "/large":
            self.answer(200, "x" * 300_000)
        elif path == "/bomb":
            self.answer(200, gzip.compress(b"x" * 3_000_000), headers={"Content-Encoding": "gzip"})
        elif path in self.PAGES:
            self.answer(200, self.PAGES[path], kind="" if path == "/unsaid" else "text/html; charset=utf-8")
        else:
            self.answer(404, "not here")

    def answer(
        self,
        status: int,
        body: str | bytes = b"",
        kind: str = "text/html",
        location: str = "",
        headers: dict[str, str] | None = None,
    ) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Location": location, **(headers or {})}.items():
            if value:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *given: object) -> None:
        pass


@contextmanager
def served(handler: type[BaseHTTPRequestHandler], port: int = 0) -> Iterator[str]:
    class Own(handler):  # type: ignore[valid-type, misc]
        asked: list[tuple[float, str, str]] = []

    handler.asked = Own.asked  # type: ignore[attr-defined]
    with listening(Own, port) as home:
        yield home


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A crawl of the odd site: its summary, its directory, what the server was asked."""
    out = tmp_path_factory.mktemp("odd") / "crawl"
    with served(Site) as url:
        told = crawl(
            f"{url}/", "--out", out, *LOCAL, "--max-depth", "4", "--max-size", "200kB", "--exclude", "/skip/", "--no-robots"
        )
        return {
            "told": told,
            "out": out,
            "url": url,
            "asked": Counter(path for _, path, _ in Site.asked),
        }


def test_redirects_are_pages_with_one_link(odd: dict[str, Any]) -> None:
    url = odd["url"]
    statuses = {row[0].removeprefix(url): row[2] for row in events(odd["out"], Fetched.kind)}
    assert (statuses["/moved"], statuses["/target"], statuses["/loop/a"], statuses["/loop/b"]) == (301, 200, 307, 307)
    assert statuses["/away"] == statuses["/mail"] == 302
    assert odd["told"]["not_followed"]["redirect to another scheme"] == 1
    assert odd["asked"]["/target"] == odd["asked"]["/loop/a"] == 1


def test_what_is_not_followed_is_counted_by_reason(odd: dict[str, Any]) -> None:
    counts = odd["told"]["not_followed"]
    assert counts["other host"] == 2  # a link and a redirect
    assert (counts["excluded"], counts["path repeats"], counts["scheme"], counts["nofollow"]) == (1, 1, 1, 1)
    assert counts["depth"] == 2  # the chain of redirects and the chain of pages
    for path in ("/skip/me", "/x/y/x/y/x/y", "/not-followed", "/not-html", "/deep/5", "/chain/5"):
        assert odd["asked"][path] == 0, path
    assert odd["asked"]["/deep/4"] == odd["asked"]["/chain/4"] == odd["asked"]["/found-by-looks"] == 1
    assert odd["told"]["deep_hosts"] == ["127.0.0.1"]


def test_failures_have_reasons_and_those_that_may_pass_are_tried_again(odd: dict[str, Any]) -> None:
    told = odd["told"]
    assert told["failures"] == {"http 404": 2, "too large": 2}  # /gone and /nowhere; /large and /bomb
    assert told["retries"] == 2
    assert (odd["asked"]["/flaky"], odd["asked"]["/busy"], odd["asked"]["/gone"]) == (2, 2, 1)
    assert odd["asked"]["/?sid=5"] == 0, "a session id is no page of its own"


def test_seeds_that_failed_are_tried_again_if_no_page_ever_came(tmp_path: Path) -> None:
    with served(Site) as url:
        port = int(url.rpartition(":")[2])
    out = tmp_path / "crawl"
    asked = (f"{url}/", "--out", out, *LOCAL, "--no-robots", "--retries", "0", "--max-depth", "1")
    assert re.search(rf"try them again with \S+ -m frontrank crawl --resume {re.escape(str(out))}", crawl(*asked, code=1))
    with served(Site, port):
        told = crawl("--resume", out)
    assert "connection refused" not in told["failures"], "its host was given up, and the page waited"
    assert len(fetched(out)) == len(set(fetched(out))) > 3 and fetched(out)[0] == f"{url}/"


class OneAtATime(BaseHTTPRequestHandler):
    """Pages that link to each other, and how many of them were asked for at once."""

    at_once = most = 0
    lock = threading.Lock()

    def do_GET(self) -> None:
        with self.lock:
            OneAtATime.at_once += 1
            OneAtATime.most = max(self.most, self.at_once)
        time.sleep(0.02)
        with self.lock:
            OneAtATime.at_once -= 1
        port = int(self.headers["Host"].rpartition(":")[2])
        links = "".join(f"<a href='http://{host}:{port}/{n}'>x</a>" for host in ("localhost", "127.0.0.1") for n in range(8))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(links.encode())

    def log_message(self, *_: Any) -> None: ...


def test_hosts_at_one_address_are_one_server(tmp_path: Path) -> None:
    asked = ("--allow-private", "--delay", "0", "--no-robots", "--scope", "any", "--politeness-by")
    with served(OneAtATime) as url:
        seeds = (f"{url}/", f"{url.replace('127.0.0.1', 'localhost')}/")
        told = crawl(*seeds, "--out", tmp_path / "ip", *asked, "ip")
        assert (told["fetched"], OneAtATime.most) == (18, 1)
    said = crawl("http://a.example/", "--out", tmp_path / "proxied", "--politeness-by", "ip", "--proxy", url, code=2)
    assert "--politeness-by ip needs the addresses of hosts, but the proxy" in said
    assert not (tmp_path / "proxied").exists()


def test_retry_after_holds_the_whole_host_back(tmp_path: Path) -> None:
    with served(Site) as url:
        crawl(
            f"{url}/busy",
            f"{url}/target",
            "--out",
            tmp_path / "crawl",
            *LOCAL,
            "--no-robots",
            "--in-flight",
            "1",
            "--budget",
            "2",
        )
        assert Site.asked[0][1] == "/busy"
    trace = [event for event in status.events(tmp_path / "crawl") if event["kind"] in ("take", "block")]
    assert [event["kind"] for event in trace][:2] == ["take", "block"]
    assert trace[1]["host"] == "127.0.0.1" and trace[1]["until"] - trace[1]["time"] == pytest.approx(1.0)
    assert min(event["time"] for event in trace[2:]) >= trace[1]["until"]


def test_error_pages_are_kept_too(odd: dict[str, Any]) -> None:
    kept = Counter(status for _, status in records(odd["out"]))
    assert (kept[404], kept[500], kept[503]) == (2, 1, 1)


def test_a_chain_of_redirects_ends(tmp_path: Path) -> None:
    with served(Site) as url:
        told = crawl(f"{url}/chain/1", "--out", tmp_path / "crawl", *LOCAL, "--no-robots")
        assert told["not_followed"] == {"too many redirects": 1}
        assert told["fetched"] == 11


class Moved(Site):
    """A site that has moved to another host, and links back to where it was."""

    PAGES = {"/": links("/a", "/b", "http://other.example/"), "/a": "", "/b": ""}

    def do_GET(self) -> None:
        host, _, port = self.headers["Host"].partition(":")
        if host == "localhost":
            self.answer(301, location=f"http://127.0.0.1:{port}{self.path}")
        else:
            self.answer(200 if self.path in self.PAGES else 404, self.PAGES.get(self.path, ""))


def test_a_seed_that_moved_takes_the_scope_along_also_when_the_crawl_is_resumed(tmp_path: Path) -> None:
    with served(Moved) as url:
        seed = url.replace("127.0.0.1", "localhost")
        (tmp_path / "seeds.txt").write_text(f"# where it was\n\n{seed}/\n", encoding="utf-8")
        out = tmp_path / "crawl"
        crawl("--seeds", tmp_path / "seeds.txt", "--out", out, *LOCAL, "--no-robots", "--budget", "2", "--in-flight", "1")
        told = crawl("--resume", out, "--budget", "0")
    assert fetched(out) == [f"{seed}/", f"{url}/", f"{url}/a", f"{url}/b"]
    assert told["not_followed"] == {"other host": 1}


class Mapped(Site):
    """A site with robots.txt, sitemaps (an index, one file packed) and a page that nothing links to."""

    PAGES = {"/": links("/a", "/private/b"), "/a": "", "/lonely": "", "/packed": ""}

    def do_GET(self) -> None:
        self.asked.append((time.monotonic(), self.path, self.headers["User-Agent"]))
        home = f"http://{self.headers['Host']}"
        loc, url = f"<sitemap><loc>{home}{{}}</loc></sitemap>", f"<url><loc>{home}{{}}</loc></url>"
        files: dict[str, str | bytes] = {
            "/robots.txt": f"User-agent: *\nDisallow: /private/\nCrawl-delay: 0.4\nSitemap: {home}/map.xml\n",
            "/map.xml": f"<sitemapindex>{loc.format('/one.xml')}{loc.format('/two.xml.gz')}</sitemapindex>",
            "/one.xml": f"<urlset>{url.format('/lonely')}<url><loc>http://other.example/</loc></url></urlset>",
            "/two.xml.gz": gzip.compress(f"<urlset>{url.format('/packed')}</urlset>".encode()),
        }
        body = files.get(self.path, self.PAGES.get(self.path))
        self.answer(404 if body is None else 200, body or b"", kind="text/html" if self.path in self.PAGES else "text/plain")


def test_robots_delays_and_sitemaps_are_kept(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with served(Mapped) as url:
        told = crawl(f"{url}/", "--out", out, "--allow-private", "--delay", "0.3", "--sitemaps", "--user-agent", "robin/1.0")
        asked = [path for _, path, _ in Mapped.asked if path in (*Mapped.PAGES, "/private/b")]
        assert {agent for _, _, agent in Mapped.asked} == {"robin/1.0"}
    assert sorted(asked) == ["/", "/a", "/lonely", "/packed"]
    assert [row[0].removeprefix(url) for row in events(out, Seeded.kind)] == ["/", "/lonely", "/packed"]
    assert told["failures"] == {"robots.txt": 1} and told["not_followed"] == {"other host": 1}
    limits = [event for event in status.events(out) if event["kind"] == "host"]
    assert [(event["host"], event["delay_s"]) for event in limits] == [("127.0.0.1", 0.4)], (
        "robots.txt asks for more than --delay"
    )
    taken = [time for _, time, _, _ in events(out, Taken.kind) if time > limits[0]["time"]]
    assert min(later - sooner for sooner, later in pairwise(taken)) > 0.4 - 1e-6, "by the frontier's own clock"


def test_what_robots_forbids_uses_up_no_budget(tmp_path: Path) -> None:
    with served(Mapped) as url:
        told = crawl(
            f"{url}/private/b", f"{url}/", "--out", tmp_path / "crawl", "--allow-private", "--budget", "2", "--delay", "0"
        )
    assert (told["fetched"], told["failures"], told["ended"]) == (2, {"robots.txt": 1}, "budget")


def test_private_addresses_are_not_asked(tmp_path: Path) -> None:
    with served(Site) as url:
        said = crawl(f"{url}/", "--out", tmp_path / "crawl", code=1)
        assert Site.asked == []
    assert "private address (1)" in said


# What cannot be done ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["example.org", "--out", "new"], r"seed 'example.org' has no scheme"),
        (["ftp://example.org/", "--out", "new"], r"scheme ftp"),
        (["--out", "new"], r"no seeds given"),
        (["http://example.org/"], r"no directory given"),
        (["http://example.org/", "--out", "new", "--ordering", "bsf"], r"did you mean 'bfs'"),
        (["http://example.org/", "--out", "new", "--ordering", "q-overlap:every=9"], r"driven by queries"),
        (
            ["http://example.org/", "--out", "new", "--until", "coverage=0.9"],
            r"surf: stopping rule coverage=0.9 given, but it has none; rankmass has",
        ),
        (["http://example.org/", "--out", "new", "--budget", "-1"], r"--budget must be a whole number from 0, got -1"),
        (
            ["http://example.org/", "--out", "new", "--in-flight", "0"],
            r"--in-flight must be a whole number from 1 to 10,000, got 0",
        ),
        (["http://example.org/", "--out", "new", "--time", "soon"], r"--time must be seconds, or a number with .*, got 'soon'"),
        (["http://example.org/", "--out", "new", "--max-size", "big"], r"--max-size must be bytes, or .*, got 'big'"),
        (["http://example.org/", "--out", "new", "--scope", "planet"], r"--scope must be host, domain or any, got 'planet'"),
        (["http://example.org/", "--out", "new", "--exclude", "("], r"--exclude must be a regular expression, got"),
        (["http://example.org/", "--out", "new", "--proxy", "here"], r"--proxy must be http://HOST:PORT, got 'here'"),
        (["http://example.org/", "--out", "new", "--rescore"], r"without --resume"),
        (["http://example.org/", "--out", "new", "--queries", "none.tsv"], r"none.tsv: there is no such query log"),
        (["--seeds", "none.txt", "--out", "new"], r"none.txt: cannot be read .*; expected a text file with one URL per line"),
        (["--config", "none.toml", "--out", "new"], r"none.toml: cannot be read"),
        (["http://example.org/", "--out", "new", "--delay", "-1"], r"--delay must be a number of seconds from 0, got -1$"),
        (["http://example.org/", "--out", "new", "--contact", "me"], r"--contact must be a URL or an e-mail address"),
        (
            ["http://example.org/", "--out", "new", "--ordering", "oracle"],
            r"oracle needs the true importance .* frontrank simulate",
        ),
        (["http://example.org/", "--out", "new", "--ordering", "combine:fpr=1,oracle=2"], r"needs the true importance"),
        (
            ["http://example.org/", "--out", "new", "--ordering", "rw-eg"],
            r"rw-eg needs clicks or views .* --queries FILE, .* fpr",
        ),
        (["http://example.org/", "--out", "new", "--ordering", "rw-virtual"], r"needs clicks or views"),
        (["http://example.org/", "--out", "new", "--ordering", "ml:every=50"], r"needs clicks or views"),
        (["--resume", "missing"], r"not a crawl"),
        (["--resume", "missing", "--out", "new"], r"both given"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing_behind(args: list[str], sentence: str, tmp_path: Path) -> None:
    done = run_command("crawl", *args, cwd=tmp_path)
    said = done.stderr.strip()
    assert done.returncode == 2
    assert re.search(sentence, said) and said.startswith("frontrank: ") and len(said.splitlines()) == 1, said
    assert list(tmp_path.iterdir()) == []


def test_other_queries_may_come_when_a_crawl_goes_on(web: tuple[str, list[str]], tmp_path: Path) -> None:
    out, log = tmp_path / "crawl", tmp_path / "log.tsv"
    log.write_text("science\t3\n")
    crawl(*on(web), "--out", out, "--budget", "6", "--ordering", "q-overlap:every=3", "--queries", log)
    log.write_text("music\t2\nfilm\t1\n")  # the same file, with other queries
    told = crawl("--resume", out, "--budget", "12", "--queries", log)
    assert told["fetched"] == 12
    from frontrank.sources import load

    assert load(out).queries.queries == ("music", "film")
    plain = tmp_path / "plain"
    crawl(*on(web), "--out", plain, "--budget", "5", "--ordering", "bfs")
    before = (plain / "trace.db").read_bytes()
    assert re.search(r"bfs does not use any", crawl("--resume", plain, "--queries", log, code=2))
    assert (plain / "trace.db").read_bytes() == before
    told = crawl("--resume", plain, "--budget", "10", "--queries", log, "--ordering", "q-overlap:every=3", "--rescore")
    assert (told["fetched"], told["policy"]) == (10, "q-overlap:every=3")


def test_a_crawl_keeps_what_it_was_started_with(web: tuple[str, list[str]], tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    crawl(*on(web), "--out", out, "--budget", "5", "--no-warc")
    before = (out / "trace.db").read_bytes()
    refused: tuple[tuple[list[Any], str], ...] = (
        (["--resume", out, "--warc"], r"--warc was given with --resume, .* start a new crawl"),
        (["--resume", out, "--sitemaps"], r"--sitemaps was given with --resume"),
        (["--resume", out, "http://example.org/"], r"another seed was given with --resume"),
        (["--resume", out, "--exclude", "("], r"--exclude must be a regular expression"),
        (["--resume", out, "--ordering", "oracle", "--rescore"], r"oracle needs the true importance"),
        (["--resume", out, "--rescore"], r"without --ordering"),
        (["http://example.org/", "--out", out], r"already contains a crawl"),
        (["http://example.org/", "--out", tmp_path], r"is not empty"),
    )
    for args, sentence in refused:
        assert re.search(sentence, crawl(*args, code=2)), args
    assert (out / "trace.db").read_bytes() == before
    db = sqlite3.connect(out / "trace.db")
    db.execute("UPDATE meta SET value = '99' WHERE key = 'version'")
    db.commit()
    db.close()
    assert "written by a newer frontrank" in crawl("--resume", out, code=2)


# Other options from now on ---------------------------------------------------------------------------------------------------
class Wide(Site):
    """A home page that links to two hundred pages in two folders, and each of them to one page more."""

    PAGES = {"/": links(*(f"/{'ab'[i % 2]}/{i}" for i in range(200)))}

    def do_GET(self) -> None:
        self.asked.append((time.monotonic(), self.path, self.headers["User-Agent"]))
        self.answer(200, self.PAGES.get(self.path) or links(f"/more{self.path}"))


def test_a_resumed_crawl_takes_other_options_and_keeps_them(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with served(Wide) as url:
        crawl(f"{url}/", "--out", out, *LOCAL, "--no-robots", "--ordering", "bfs", "--budget", "3", "--exclude", "/b/7")
        told = crawl("--resume", out, "--exclude", "^http://[^/]*/a/", "--budget", "10", "--contact", "owner@example.org")
        assert told["failures"] == {"excluded": 99}, "all of the hundred pages of /a/ but the one that had been fetched"
        asked = [path for _, path, _ in Wide.asked]
        assert len(asked) == 10, "pages that are left out use up no budget"
        assert [path for path in asked[3:] if path.startswith("/a/")] == []
        assert {agent for _, _, agent in Wide.asked[3:]} == {f"{AGENT} (+mailto:owner@example.org)"}
        told = crawl("--resume", out, "--budget", "0", "--max-depth", "1", "--no-warc", code=2)
        assert "--warc was given with --resume" in told
        told = crawl("--resume", out, "--budget", "0", "--max-depth", "1")
        asked = [path for _, path, _ in Wide.asked]
    assert told["waiting"] == 0 and told["ended"] == "frontier empty"
    assert [path for path in asked if path.startswith(("/a/", "/b/7")) and path not in asked[:3]] == [], "both exclusions hold"
    assert told["failures"]["depth"] == len([path for path in asked[:10] if path.startswith(("/a/", "/b/"))])
    assert not [path for path in asked[10:] if path.startswith("/more")]


def test_other_politeness_holds_from_now_on_and_survives_a_kill(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with served(Wide) as url:
        crawl(f"{url}/", "--out", out, *LOCAL, "--no-robots", "--budget", "30")
        process = subprocess.Popen(
            command("--resume", out, "--budget", "0", "--delay", "0.25", "--per-host", "1"), stdout=subprocess.DEVNULL
        )
        until = time.monotonic() + PATIENCE_S
        while len(fetched(out)) < 32 and time.monotonic() < until:
            time.sleep(0.01)
        process.kill()
        process.communicate()
        before = len(fetched(out))
        crawl("--resume", out, "--budget", str(before + 3))
    gaps = [later[1] - sooner[1] for sooner, later in pairwise(events(out, Taken.kind))]
    assert min(gaps[-2:]) > 0.249, "the delay of the killed run is the delay of the crawl"


def test_options_in_a_file(web: tuple[str, list[str]], tmp_path: Path) -> None:
    proxy, seeds = web
    config = tmp_path / "crawl.toml"
    config.write_text(
        f"""# a comment
seeds = {json.dumps(seeds)}
ordering = "bfs"
budget = 12
scope = "any"
no-robots = true
delay = 0
per_host = 0
proxy = "{proxy}"
""",
        encoding="utf-8-sig",
    )
    out = tmp_path / "crawl"
    told = crawl("--config", config, "--out", out, "--budget", "7")
    assert (told["policy"], told["fetched"]) == ("bfs", 7), "the command line wins"
    config.write_text(config.read_text(encoding="utf-8-sig") + "in-flight = 2\n", encoding="utf-8")
    told = crawl("--resume", out, "--config", config)
    assert told["fetched"] == 12, "options that say the same as before are no change"


def test_a_crawl_that_comes_to_nothing_says_so_and_fails(tmp_path: Path) -> None:
    out = tmp_path / "it's private"
    with served(Wide) as url:
        said = crawl(f"{url}/", "--out", out, "-q", "--budget", "1", "--delay", "0", "--no-robots", code=1)
        assert "private address (1)" in said
        assert Wide.asked == []
        advice = shlex.split(said.rpartition("to fetch from private addresses: ")[2])
        assert crawl(*advice[advice.index("crawl") + 1 :])["statuses"] == {"200": 1}, "what is advised works"
        assert crawl("--resume", out, "--budget", "3")["statuses"] == {"200": 3}
        assert [path for _, path, _ in Wide.asked].count("/") == 1, "a seed that came is not asked for again"
    said = crawl("http://127.0.0.1:9/", "--out", tmp_path / "closed", "--allow-private", "--retries", "0", code=1)
    assert "no page was fetched, every seed failed" in said and "try them again with" in said


# Parts -----------------------------------------------------------------------------------------------------------------------
def test_crawls_follow_each_other_in_one_process(web: tuple[str, list[str]], tmp_path: Path) -> None:
    proxy, seeds = web
    asked = Options(tuple(seeds), "bfs", 5, scope="any", delay=0.0, per_host=0, robots=False, proxy=proxy)
    assert [run.crawl(asked, tmp_path / name).fetched for name in ("one", "two")] == [5, 5]
    assert run.resume(tmp_path / "one", {"budget": 8}).fetched == 8


def test_nothing_is_drawn_in_a_pipe(web: tuple[str, list[str]], tmp_path: Path) -> None:
    args = command(*on(web), "--out", tmp_path / "crawl", "--budget", "5")
    done = subprocess.run(args, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert "--contact" in done.stderr and len(done.stderr.splitlines()) == 1
    assert done.stdout.startswith("5 pages fetched")
    assert os.path.getsize(tmp_path / "crawl" / "crawl.log") > 0
