"""frontrank serve as a process: how it starts, ends, and is killed."""

from __future__ import annotations

import json
import re
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from frontrank.errors import FrontrankError, NotFound, ServiceError
from frontrank.service import Client, wire
from frontrank.service.client_calls import ClientCall
from frontrank.service.crawls import Crawls
from frontrank.system.files import MAX_FILES
from tests.patience import PATIENCE_S, eventually
from tests.test_service_security import TOKEN

COMMAND = [sys.executable, "-m", "frontrank", "serve"]


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """A server, and where it listens. It is killed at the end, if it has not ended."""
    command = [*COMMAND, str(folder), "--ordering", "bfs", "--port", "0", "--json", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None and server.stderr is not None
            line = server.stdout.readline()
            assert line, server.stderr.read()
            yield server, json.loads(line)
        finally:
            server.kill()


def test_it_serves_both_sides_until_it_is_asked_to_end(tmp_path: Path) -> None:
    with serving(tmp_path / "served", "--http-port", "0", "--crawl", "news=opic") as (server, where):
        assert where["grpc"].startswith("127.0.0.1:") and where["http"].startswith("http://127.0.0.1:")
        assert where["crawls"] == []
        with Client(where["grpc"], "news") as client:
            assert client.put(["http://a.org/"]) == [True]
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE_S) == 0
    with Crawls(tmp_path / "served") as crawls:
        assert crawls.get("news").state.policy.spec() == "opic" and crawls.get("news").inspect.waiting == 1


def test_it_may_open_as_many_files_as_the_system_lets_it(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1] - 100, before[1]))
    try:
        with serving(tmp_path / "served", "--no-http") as (server, _):
            assert resource.prlimit(server.pid, resource.RLIMIT_NOFILE) == (min(before[1], MAX_FILES), before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_what_the_service_says_of_itself_follows_the_level_that_is_set(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(0o600)
    with serving(tmp_path / "served", "--no-http", "--token-file", str(tmp_path / "token")) as (server, where):
        for name, level in (("quiet", None), ("told", wire.LogLevelParams.INFO), ("quiet again", wire.LogLevelParams.ERROR)):
            with Client(where["grpc"], name, token=TOKEN, timeout_s=PATIENCE_S) as client:
                if level is not None:
                    client._do(ClientCall("SetLogLevel", wire.LogLevelParams(level=level), lambda found: None))
                client.put(["http://a.org/"])
        server.send_signal(signal.SIGTERM)
        said = server.communicate(timeout=PATIENCE_S)[1]
    assert "INFO crawl 'told' begins with bfs" in said and "quiet" not in said


def test_the_log_level_is_not_for_callers_without_a_token_and_the_log_does_not_grow_without_bound(tmp_path: Path) -> None:
    with serving(tmp_path / "served", "--no-http", "--log-level", "debug") as (server, where):
        with Client(where["grpc"], timeout_s=PATIENCE_S) as client:
            with pytest.raises(ServiceError, match="--log-level, or with --token-file"):
                client._do(ClientCall("SetLogLevel", wire.LogLevelParams(level=wire.LogLevelParams.TRACE), lambda found: None))
            for _ in range(300):
                with pytest.raises(NotFound):
                    client.status("http://unknown.example/")
        server.send_signal(signal.SIGTERM)
        said = server.communicate(timeout=PATIENCE_S)[1]
    omitted = sum(int(count) for count in re.findall(r"(\d+) more lines like those before were omitted", said))
    assert said.count("a call is refused: NOT_FOUND") + omitted == 300 and "PERMISSION_DENIED" in said


def test_a_damaged_crawl_is_named_and_the_others_are_served(tmp_path: Path) -> None:
    with Crawls(tmp_path / "served", "bfs") as crawls:
        for name in ("bad", "well"):
            crawls.get_or_start(name).seed("http://a.org/")
    (tmp_path / "served" / "bad" / "trace.db").write_bytes(b"not a database" * 1000)
    with serving(tmp_path / "served", "--no-http", "--max-crawls", "2") as (server, where):
        with Client(where["grpc"], "well", timeout_s=PATIENCE_S) as client:
            assert client.count() == 1
        refused = pytest.raises(
            ServiceError, match=r"could not be opened: the trace of the crawl cannot be .*FAILED_PRECONDITION"
        )
        with Client(where["grpc"], "bad", timeout_s=PATIENCE_S) as client, refused:
            client.put(["http://a.org/"])
        full = pytest.raises(ServiceError, match="as many as there may be")
        with Client(where["grpc"], "third", timeout_s=PATIENCE_S) as client, full:
            client.put(["http://a.org/"])
        server.send_signal(signal.SIGTERM)
        said = server.communicate(timeout=PATIENCE_S)[1]
    assert "crawl 'bad' is not served, the others are" in said and "Traceback" not in said


class Load:
    """Clients at work on a service until it is gone, and what was acknowledged to them."""

    def __init__(self) -> None:
        self.put: dict[str, list[str]] = {"a": [], "b": []}  # by queue
        self.done: list[str] = []

    def run(self, address: str, server: subprocess.Popen[str], per_queue: int) -> None:
        """Kill the server in the middle of it."""
        before, done = len(self.put["a"]), len(self.done)
        works = [lambda name=name: self._putting(address, name) for name in self.put]
        threads = [threading.Thread(target=work) for work in [*works, lambda: self._fetching(address, per_queue)]]
        for thread in threads:
            thread.start()
        eventually(lambda: len(self.put["a"]) > before + 300 and len(self.done) > done + 20)
        server.send_signal(signal.SIGKILL)
        for thread in threads:
            thread.join()

    def _putting(self, address: str, name: str) -> None:
        with Client(address, timeout_s=PATIENCE_S) as client, suppress(FrontrankError):
            while True:
                first = len(self.put[name])
                urls = [f"http://{name}.org/{n}" for n in range(first, first + 20)]
                client.put(urls)
                self.put[name] += urls

    def _fetching(self, address: str, per_queue: int) -> None:
        with Client(address, timeout_s=PATIENCE_S) as client, suppress(FrontrankError):
            while True:
                for page in client.get(per_queue=per_queue, lease_s=3600):
                    client.fetched(page.url)
                    self.done.append(page.url)


def test_what_was_acknowledged_survives_a_kill_under_load_in_order(tmp_path: Path) -> None:
    load = Load()
    for per_queue in (2, 4):  # leases outlive a kill: as many as before could all be taken
        with serving(tmp_path / "served", "--no-http", "--delay", "0") as (server, where):
            load.run(where["grpc"], server, per_queue)
    with serving(tmp_path / "served", "--no-http") as (_, where), Client(where["grpc"], timeout_s=PATIENCE_S) as client:
        known = {one.url: one for one in client.urls(size=10**6)}
        assert {url for urls in load.put.values() for url in urls} <= set(known)
        assert all(known[url].again_at == 0 for url in load.done)
        for name, urls in load.put.items():
            left = [page.url for page in client.get(queue=f"{name}.org", per_queue=10_000)]
            assert len(left) > 100 and left == sorted(left, key=lambda url: int(url.rpartition("/")[2]))
            assert set(urls[-100:]) <= set(left)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--host", "0.0.0.0"],
            "0.0.0.0 can be reached from other machines, so the service needs a token (--token-file) and TLS",
        ),
        (["--ordering", "no-such"], "unknown ordering 'no-such'"),
        (["--ordering", "oracle"], "only a simulation knows"),
        (["--crawl", "news"], "--crawl must be ID=ORDERING, such as news=opic, got 'news'"),
        (["--delay", "-1"], "--delay must be a number of seconds from 0, got -1"),
        (["--revisit-share", "2"], "--revisit-share must be a number from 0 to 1, got 2"),
        (["--tls-cert", "missing"], "--tls-cert was given without --tls-key"),
        (["--token-file", "missing"], "missing: the token cannot be read"),
        (["--host", "no.such.host.invalid", "--insecure"], "cannot listen at no.such.host.invalid:7071"),
        (["--port", "99999"], "--port must be a whole number from 0 to 65,535, got 99999"),
    ],
)
def test_bad_input_is_one_sentence(options: list[str], sentence: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "new", "--ordering", "bfs", *options], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "new").exists()


def test_what_does_not_hold_for_a_crawl_that_is_there_is_said_at_the_start(tmp_path: Path) -> None:
    with Crawls(tmp_path, "opic") as crawls:
        crawls.get_or_start("news")
    with serving(tmp_path, "--no-http") as (server, _):
        server.send_signal(signal.SIGTERM)
        assert server.stderr is not None and server.wait(PATIENCE_S) == 0
        assert server.stderr.read() == "frontrank: crawl 'news' keeps opic; --rescore would give it bfs\n"
    with serving(tmp_path, "--no-http", "--rescore", "--delay", "7", "--revisit-share", "0.5") as (server, _):
        server.send_signal(signal.SIGTERM)
        assert server.stderr is not None and server.wait(PATIENCE_S) == 0
        assert server.stderr.read() == ""
    with Crawls(tmp_path) as crawls:
        news = crawls.get("news")
        assert (news.state.policy.spec(), news.state.politeness.delay_s, news.control.revisit_share) == ("bfs", 7.0, 0.5)
    done = subprocess.run([*COMMAND, str(tmp_path), "--rescore"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--rescore needs an ordering" in done.stderr


def test_a_folder_that_is_served_is_not_served_twice(tmp_path: Path) -> None:
    with Crawls(tmp_path):
        done = subprocess.run([*COMMAND, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "another service is at work on this folder" in done.stderr
