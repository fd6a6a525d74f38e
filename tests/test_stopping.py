"""Ctrl-C and SIGTERM: any command ends soon, at any moment, without a traceback, and nothing is lost.

How soon is not asserted here, where machines may be busy: each test hangs if a command does not end by itself.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from frontrank.cli import COMMANDS
from frontrank.crawl.events import Expired
from frontrank.lab.webserver import ServerOptions, run_in_process
from frontrank.lab.webserver.site import Site as Served
from frontrank.sources import load
from frontrank.sources.imported_crawl import load_crawl
from tests import stopped
from tests.patience import PATIENCE_S, eventually
from tests.stopped import started
from tests.test_bounded import HOSTILE, running
from tests.test_crawler import LOCAL, Site, crawl, events, fetched, links, on, served
from tests.test_parsing import SITEMAPS
from tests.tiers import full

ENDED = {signal.SIGINT: (130, -signal.SIGINT), signal.SIGTERM: (143, -signal.SIGTERM)}
both = pytest.mark.parametrize("number", ENDED)


def ends(process: subprocess.Popen[str], *codes: int) -> str:
    said, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode in codes, (process.returncode, said, errors)
    assert "Traceback" not in errors and "frontrank: \n" not in errors and "frontrank: ;" not in errors, errors
    return errors


# At any moment of the start --------------------------------------------------------------------------------------------------
@both
@pytest.mark.parametrize("imports", [2, 40, 150, 400])
def test_a_signal_amid_the_imports_ends_it_without_a_traceback(number: signal.Signals, imports: int) -> None:
    """Python says what it has imported; the signal comes after so many modules."""
    process = started("-X", "importtime", "-m", "frontrank", "simulate", "synthetic:pages=500,seed=1", "--ordering", "pagerank")
    assert process.stderr is not None
    counted = 0
    for line in process.stderr:
        counted += counted > 0 or line.rstrip().endswith("| signal")
        if counted > imports:
            break
    process.send_signal(number)
    ends(process, *ENDED[number])


# Amid what Python cannot interrupt -------------------------------------------------------------------------------------------
ENDLESS = """
import sys
import threading
from frontrank.system import stopping
from frontrank.kernels.jit import compiled, kernel

stopping.GRACE_S = float(sys.argv[1])

@kernel
def endless(n):
    while n > 0:
        n += 2
    return n

with stopping.watching():
    compiled(endless)(0)
    threading.Timer(1.0, print, ["ready"], {"flush": True}).start()  # by then the kernel is running
    while True:
        try:
            compiled(endless)(1)
        except KeyboardInterrupt:  # or the signal came before it was
            pass
"""


@both
@pytest.mark.parametrize(("grace_s", "times"), [(0.1, 1), (1e6, 2)])
def test_a_kernel_is_ended_after_the_grace_or_by_a_second_signal(
    number: signal.Signals, grace_s: float, times: int, tmp_path: Path
) -> None:
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    process = started(script, grace_s)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for _ in range(times):
        process.send_signal(number)
        eventually(lambda: process.poll() is not None or not pending(process.pid, number))  # two at once count as one
    assert "frontrank: interrupted" in ends(process, 128 + number)


def pending(pid: int, number: signal.Signals) -> bool:
    """Whether a signal has been sent to a process, but not taken by any of its threads."""
    found = re.findall(r"^(?:Shd|Sig)Pnd:\s*(\w+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return any(int(signals, 16) >> (number - 1) & 1 for signals in found)


CALLBACK = """
import ctypes, os, signal, time
from frontrank.system import stopping

@ctypes.CFUNCTYPE(None)
def callback():
    os.kill(os.getpid(), NUMBER)
    time.sleep(0.5)

class Last:
    def __del__(self):
        callback()

stopping.GRACE_S = 1e6
try:
    with stopping.watching():
        WHAT
        while True:
            time.sleep(0.01)
except KeyboardInterrupt:
    print("interrupted")
"""


@both
@pytest.mark.parametrize("what", ["callback()", "Last()"])
def test_an_interrupt_amid_a_callback_from_c_gets_through(number: signal.Signals, what: str) -> None:
    """Python prints what is raised there, and goes on."""
    process = started("-c", CALLBACK.replace("NUMBER", str(int(number))).replace("WHAT", what))
    assert process.stdout is not None and process.stdout.readline() == "interrupted\n"
    ends(process, 0)


@both
def test_an_interrupt_amid_generated_code_ends_with_the_code_of_its_signal(number: signal.Signals, tmp_path: Path) -> None:
    """CPython remembers that it passed there, and would end by SIGINT."""
    script = f"""
import frontrank.cli
frontrank.cli._run = lambda args: exec("import os, time; os.kill(os.getpid(), {int(number)}); time.sleep(9)")
frontrank.cli.main([])
"""
    (tmp_path / "interrupted.py").write_text(script)
    ends(started("-m", "interrupted", env={**stopped.environment(), "PYTHONPATH": str(tmp_path)}), 128 + number)


@both
def test_what_the_compiler_says_of_a_lost_interrupt_is_no_traceback(number: signal.Signals, tmp_path: Path) -> None:
    """It asks a callback for machine code, which the interrupt has kept from writing it."""
    script = f"""
import ctypes, os, time
import frontrank.cli

@ctypes.CFUNCTYPE(None)
def callback():
    os.kill(os.getpid(), {int(number)})
    time.sleep(0.5)

def run(args):
    callback()
    raise RuntimeError("no compiled object yet")

frontrank.cli._run = run
frontrank.cli.main([])
"""
    (tmp_path / "compiled.py").write_text(script)
    ends(started("-m", "compiled", env={**stopped.environment(), "PYTHONPATH": str(tmp_path)}), 128 + number)


def test_a_signal_that_the_shell_ignores_is_ignored(tmp_path: Path) -> None:
    script = "import os; from frontrank.system.stopping import watching\nwith watching(): os.kill(os.getpid(), 2)"
    process = started("-c", script, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    ends(process, 0)


def test_signals_mean_what_they_meant_when_nothing_is_watched_any_more() -> None:
    script = """
import os, signal
from frontrank.system import stopping
stopping.GRACE_S = 0.2
heard = []
with stopping.gracefully(lambda: heard.append(1)):
    os.kill(os.getpid(), signal.SIGTERM)
    while not heard: pass
signal.signal(signal.SIGTERM, lambda number, frame: heard.append(2))
os.kill(os.getpid(), signal.SIGTERM)
import time; time.sleep(0.5)
assert heard == [1, 2]
try: os.kill(os.getpid(), signal.SIGINT); time.sleep(60)
except KeyboardInterrupt: print("ended")
"""
    process = started("-c", script)
    ends(process, 0)


@both
def test_a_signal_to_a_command_that_has_ended_interrupts_nothing(number: signal.Signals) -> None:
    script = f"""
import os, sys
from frontrank import cli
from frontrank.system import stopping
class Late(list):
    def remove(self, watch):  # the last thing before signals mean what they meant
        os.kill(os.getpid(), {int(number)})
        super().remove(watch)
stopping._watches = Late()
cli.main(["--version"])
"""
    ends(started("-c", script), 0)


# Commands --------------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stopped.material(tmp_path_factory.mktemp("stopped") / "material")


OFTEN = ("simulate", "report", "convert", "reproduce", "demo")  # in several states: the others are stopped once


def moments() -> Iterator[Any]:
    for at, name in enumerate(stopped.WORKING):
        yield pytest.param(name, 1.5, (signal.SIGINT, signal.SIGTERM)[at % 2], id=f"{name}-1.5")
        if name in OFTEN:
            other = (signal.SIGTERM, signal.SIGINT)[at % 2]
            yield pytest.param(name, 0.3, other, id=f"{name}-0.3")
            yield pytest.param(name, 4.0, other, id=f"{name}-4.0", marks=pytest.mark.full)


def whole(written: Path) -> bool:
    """The signal came after the last of the work."""
    if written.name == "web":
        return load(str(written)).pages == load(stopped.LARGE).pages
    if written.name == "team.crawl":
        return load_crawl(written).web.pages == stopped.PAGES
    if written.name == "pages.jsonl":
        return len(written.read_bytes().splitlines()) == 5_000
    return written.name == "report.html" and written.read_text().rstrip().endswith("</html>")


SHORT = {
    "convert": True,
    "explain": False,
    "export": True,
    "report": True,
    "status": False,
}  # may be over by then: whether they write a file


@pytest.mark.parametrize(("name", "cpu_s", "number"), list(moments()))
def test_any_command_ends(name: str, cpu_s: float, number: signal.Signals, folder: Path) -> None:
    out = folder / "out"
    shutil.rmtree(out)
    out.mkdir()
    process = stopped.working(name, folder)
    if came := stopped.spend(process, cpu_s):
        process.send_signal(number)
    over = (0,) if name in SHORT or not came else ()  # also if it ended in the moment before the signal
    ends(process, *ENDED[number], *over)
    there = [path.name for path in out.iterdir() if not path.name.startswith(".")]
    assert not there or name == "status" or whole(out / there[0]), "nothing is there half"
    if process.returncode == 0:
        assert name in SHORT or not came, "the others have more to do than that when a signal comes"
        assert there or not SHORT.get(name, True), "what has ended has done its work"


@pytest.mark.parametrize(("at", "name"), list(enumerate(stopped.WAITING)), ids=list(stopped.WAITING))
def test_a_command_that_waits_ends(at: int, name: str, folder: Path) -> None:
    number = (signal.SIGINT, signal.SIGTERM)[at % 2]
    process = stopped.waiting(name, folder)
    process.send_signal(number)
    ends(process, *ENDED[number], *((0,) if name in ("dashboard", "web", "serve") else ()))


def test_every_command_is_stopped_somewhere() -> None:
    """What is not here has tests of its own, or is over before a person can stop it."""
    elsewhere = {"crawl", "fetch"}
    at_once = {"boost", "limit", "block", "pause", "resume", "ask", "impact", "orderings", "plot", "plugins"}
    assert {*stopped.WORKING, *stopped.WAITING, *elsewhere, *at_once} == set(COMMANDS)


def test_a_served_web_ends_with_the_process_that_started_it() -> None:
    script = "import sys, subprocess; from frontrank.lab.webserver import run_in_process; from pathlib import Path\n"
    script += "with run_in_process('synthetic:pages=50,seed=1'): print(Path('/proc/self/task').exists(), flush=True); input()"
    owner = started("-c", script, stdin=subprocess.PIPE)
    assert owner.stdout is not None and owner.stdout.readline()
    (server,) = map(int, Path(f"/proc/{owner.pid}/task/{owner.pid}/children").read_text().split())
    owner.kill()
    owner.communicate(timeout=PATIENCE_S)
    until = time.monotonic() + PATIENCE_S
    while running(server) and time.monotonic() < until:
        time.sleep(0.01)
    assert not running(server)


# Crawls ----------------------------------------------------------------------------------------------------------------------
class Held(Site):
    """/hang never answers, /slow and /sitemap.xml take minutes to read."""

    free: threading.Event
    sent: threading.Event
    BODIES: dict[str, Callable[[], bytes | str]] = {
        "/": lambda: links(*(f"/{n}" for n in range(5))),
        "/slow": HOSTILE["attributes of body"],
        "/sitemap.xml": SITEMAPS["elements"],
    }

    def do_GET(self) -> None:
        if self.path == "/hang":
            self.sent.set()
            self.free.wait(PATIENCE_S)
            return
        self.answer(200, self.BODIES.get(self.path, links)())
        if self.path in ("/slow", "/sitemap.xml"):
            self.sent.set()


def enough(out: Path, pages: int) -> Callable[[], bool]:
    return lambda: (out / "trace.db").exists() and len(fetched(out)) >= pages


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("/hang", signal.SIGINT),
        ("/slow", signal.SIGTERM),
        ("/sitemap.xml", signal.SIGINT),
        full("/hang", signal.SIGTERM),
        full("/slow", signal.SIGINT),
        full("/sitemap.xml", signal.SIGTERM),
    ],
)
def test_a_crawl_ends_whatever_is_on_its_way(path: str, number: signal.Signals, tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    Held.free, Held.sent = threading.Event(), threading.Event()
    with served(Held) as url:
        seeds = [f"{url}/", *([f"{url}{path}"] if path != "/sitemap.xml" else ["--sitemaps"])]
        process = started("-m", "frontrank", "crawl", *seeds, "--out", out, *LOCAL, "--no-robots", "--timeout", "1000")
        assert Held.sent.wait(PATIENCE_S)
        until = time.monotonic() + PATIENCE_S
        ready = enough(out, 6 if path != "/sitemap.xml" else 0)
        while not ready() and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(number)
        ends(process, 0, 128 + number)
        Held.free.set()
        before = fetched(out)
        told = crawl("--resume", out, "--timeout", "1", "--give-up-after", "2") if path == "/hang" else None
    assert len(before) == (6 if path != "/sitemap.xml" else 0)
    if told is not None:
        assert fetched(out)[:6] == before and told["failed"] == 0 and told["given_up"], "a page alone may be its host's trouble"
        assert [row[0] for row in events(out, Expired.kind)] == [f"{url}/hang"], "what was on its way is asked for again"


RANKINGS = {  # all of the web after each page; by threads of scikit-learn now and then
    "pagerank:every=1": ("synthetic:pages=3000,links=10,text=0,seed=1", 100),
    "ml:every=20": ("synthetic:pages=1500,links=10,seed=1", 45),
}


@pytest.mark.parametrize("policy", [full(policy) if policy.startswith("ml") else policy for policy in RANKINGS])
def test_a_crawl_that_ranks_for_long_ends(policy: str, tmp_path: Path) -> None:
    """It does nothing else, and loses nothing."""
    out = tmp_path / "crawl"
    web, pages = RANKINGS[policy]
    (tmp_path / "asked.txt").write_text("music page\nnature page\nweather news\n" * 5)
    queries = ["--queries", str(tmp_path / "asked.txt")] if policy.startswith("ml") else []
    with run_in_process(web) as proxy:
        seeds = Served(load(web), ServerOptions()).seeds()
        process = started("-m", "frontrank", "crawl", *on((proxy, seeds)), "--out", out, "--ordering", policy, *queries)
        until = time.monotonic() + PATIENCE_S
        while not enough(out, pages)() and time.monotonic() < until and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        ends(process, 0, 143)
        before = fetched(out)
        told = crawl("--resume", out, "--budget", str(len(before) + 5))
    assert len(before) >= pages and told["fetched"] == len(before) + 5 and fetched(out)[: len(before)] == before
