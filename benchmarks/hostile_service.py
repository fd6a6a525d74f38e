"""How long a service keeps anybody waiting while callers send it whatever they like: random gRPC, HTTP, JSON and bytes.

    python -m benchmarks.hostile_service                           three minutes, seed 1
    python -m benchmarks.hostile_service --minutes 20 --seed 7     what a caller sends follows from the seed alone

Each caller is a process of its own, which sends one call after another. ``/health`` is asked for all the while, over new
connections. A machine that is busy with other things makes every call longer: a process beside burns the same 10 ms of CPU
time again and again, and what a call took is divided by how much longer than that it took meanwhile. Operations that replay a
crawl are asked for too, and say themselves that they take a while: they have a bound of their own, the queue that refuses them.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import multiprocessing
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import grpc
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from benchmarks.show import Result, table, verdict
from frontrank.service import Client, wire
from frontrank.service.http.params import schema_of
from frontrank.service.http.routes import OPERATIONS

MAX_S, TIMEOUT_S = 1.0, 60.0
BURN_S, REST_S = 0.01, 0.09
SERVICE = wire.DESCRIPTOR.services_by_name["URLFrontier"]
CRAWLS = ["DEFAULT", "", "news", "a/b", "../up", "x" * 900, "ü ✓", "gone"]
HOSTS = [f"h{n}.example" for n in range(50)]
TEXTS = ["", " ", "\0", "http://", "parent", "error", "x" * 300, "x" * 20_000, "é" * 500, "<script>", "200", "a b\nc"]
PATTERNS = ["page", r"/\d+/", "(a+)+$", "(x|y)*z", ".*page.*1", "[", "^http", "(a{1,9}){1,9}b", "(a|a)*(?!x)b", "s" * 900]
NUMBERS = [0, 1, 2, 10, 60, 2**31 - 1]
REPLAYS = {one.name for one in OPERATIONS if one.slow}
FORGETTING = {"DeleteCrawl", "DeleteQueue", "PurgeURLs", "BlockQueueUntil", "SetDelay"}
LOADED = 50_000  # URLs that are there before
SILENT = 150  # connections that a caller keeps in the middle of a request


class Took(NamedTuple):
    kind: str
    begun: float
    seconds: float
    answer: str


class Caller:
    """Random things to send; the same for the same seed."""

    def __init__(self, seed: str) -> None:
        self.draw = random.Random(seed)

    def url(self) -> str:
        if self.draw.random() < 0.05:
            return self.draw.choice(TEXTS)
        return f"http://{self.draw.choice(HOSTS)}/section/{self.draw.randrange(20_000)}/page{'a' * self.draw.randrange(40)}"

    def text(self, name: str) -> str:
        if name == "url":
            return self.url()
        if name == "crawlID":
            return self.draw.choice(CRAWLS) if self.draw.random() < 0.2 else "DEFAULT"
        if name == "key":
            return "" if self.draw.random() < 0.5 else self.draw.choice(HOSTS)
        return self.draw.choice(TEXTS)

    def message(self, message: Message, many: int = 100) -> Message:
        for field in message.DESCRIPTOR.fields:
            chosen = field.containing_oneof and message.WhichOneof(field.containing_oneof.name)
            if chosen or self.draw.random() < 0.2:
                continue
            if field.message_type is not None and field.message_type.GetOptions().map_entry:
                for _ in range(self.draw.randrange(3)):
                    getattr(message, field.name)[self.draw.choice(TEXTS)].SetInParent()
            elif field.message_type is not None and field.is_repeated:
                for _ in range(self.draw.randrange(many)):
                    self.message(getattr(message, field.name).add())
            elif field.message_type is not None:
                self.message(getattr(message, field.name))
            elif not field.is_repeated:
                setattr(message, field.name, self.value(field))
        return message

    def value(self, field: Any) -> Any:
        if field.type == FieldDescriptor.TYPE_STRING:
            return self.text(field.name)
        if field.type == FieldDescriptor.TYPE_BOOL:
            return field.name == "state" or self.draw.random() < 0.5
        if field.type == FieldDescriptor.TYPE_ENUM:
            return self.draw.choice(field.enum_type.values).number
        return self.draw.choice(NUMBERS)

    def json(self, name: str, schema: dict[str, Any]) -> Any:
        """For a field of an HTTP operation; sometimes of another kind."""
        if self.draw.random() < 0.1:
            return self.draw.choice([None, -1, 1e300, "", [], {}, "x" * 70_000, True])
        kind = schema.get("type") or schema["anyOf"][0]["type"]
        if kind == "array":
            return [{"query": "a", "frequency": 1.0, "url": self.url()} for _ in range(self.draw.randrange(100))]
        if name == "pattern":
            return self.draw.choice(PATTERNS) + str(self.draw.randrange(300))
        if kind in ("integer", "number"):
            return self.draw.choice(NUMBERS)
        return {"host": self.draw.choice(HOSTS), "url": self.url(), "policy": "opic"}.get(name, self.draw.choice(TEXTS))


# Callers: each yields what it has done, until it is ended -------------------------------------------------------------------
def call_grpc(caller: Caller, grpc_at: str, http_at: str) -> Iterator[tuple[str, Callable[[], str]]]:
    channel = grpc.insecure_channel(grpc_at, [("grpc.max_receive_message_length", -1)])
    while True:
        method = caller.draw.choice(list(SERVICE.methods))
        if method.name in FORGETTING and caller.draw.random() < 0.98:  # else nothing would ever be there
            continue
        made = getattr(wire, method.input_type.name)
        count = caller.draw.randrange(20) if method.client_streaming else 1
        sent = [caller.message(made()).SerializeToString() for _ in range(count)]
        if caller.draw.random() < 0.05:
            sent = [caller.draw.randbytes(caller.draw.randrange(1000)) for _ in sent]
        kinds = ("stream" if method.client_streaming else "unary", "stream" if method.server_streaming else "unary")
        call = getattr(channel, "_".join(kinds))(f"/{SERVICE.full_name}/{method.name}")
        asked: Any = iter(sent) if method.client_streaming else sent[0]
        yield f"gRPC {method.name}", lambda call=call, asked=asked: ask_grpc(call, asked)


def ask_grpc(call: Any, asked: Any) -> str:
    try:
        answers = call(asked, timeout=TIMEOUT_S)
        if not isinstance(answers, bytes):
            for place, _ in enumerate(answers):
                if place >= 5_000:  # the rest of a long list is not wanted
                    answers.cancel()
                    break
        return "OK"
    except grpc.RpcError as error:
        return str(error.code().name)


def call_http(caller: Caller, grpc_at: str, http_at: str) -> Iterator[tuple[str, Callable[[], str]]]:
    while True:
        operation = caller.draw.choice(OPERATIONS)
        path = operation.path.replace("{crawl}", quote(caller.text("crawlID"), safe=""))
        properties = schema_of(operation.params)["properties"]
        given = {name: caller.json(name, properties[name]) for name in properties if caller.draw.random() < 0.9}
        body = b""
        if operation.acts:
            body = json.dumps(given).encode() if caller.draw.random() < 0.9 else caller.draw.randbytes(300)
        else:
            path += "?" + "&".join(f"{name}={quote(str(value)[:500])}" for name, value in given.items())
        kind = f"replay {operation.name}" if operation.name in REPLAYS else f"HTTP {operation.name}"
        yield kind, lambda method=operation.method, path=path, body=body: ask_http(http_at, method, path, body)


def ask_http(http_at: str, method: str, path: str, body: bytes = b"") -> str:
    line = http.client.HTTPConnection(http_at, timeout=TIMEOUT_S)
    try:
        line.request(method, path, body, {"Content-Type": "application/json"})
        answer = line.getresponse()
        answer.read()
        return str(answer.status)
    except (OSError, http.client.HTTPException) as error:
        return type(error).__name__
    finally:
        line.close()


def call_raw(caller: Caller, grpc_at: str, http_at: str) -> Iterator[tuple[str, Callable[[], str]]]:
    """Bytes that are nothing, and requests that never end."""
    kept: list[socket.socket] = []

    def send() -> str:
        host, port = caller.draw.choice((grpc_at, http_at)).split(":")
        with contextlib.suppress(OSError):
            line = socket.create_connection((host, int(port)), TIMEOUT_S)
            kept.append(line)
            half = b"POST /api/v1/pause HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            half += b"Content-Length: 99\r\n\r\n{"
            line.sendall(
                caller.draw.choice([half, half[:40], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", caller.draw.randbytes(2_000), b""])
            )
        while len(kept) > SILENT:
            kept.pop(0).close()
        time.sleep(0.01)
        return "sent"

    while True:
        yield "bytes", send


def ask_health(caller: Caller, grpc_at: str, http_at: str) -> Iterator[tuple[str, Callable[[], str]]]:
    while True:
        yield "/health", lambda: ask_http(http_at, "GET", "/health")
        time.sleep(0.05)


def burn(caller: Caller, grpc_at: str, http_at: str) -> Iterator[tuple[str, Callable[[], str]]]:
    """The same work again and again: how much longer it takes says how busy the machine is."""

    def work() -> str:
        end = time.thread_time() + BURN_S
        while time.thread_time() < end:
            pass
        return "burnt"

    while True:
        yield "machine", work
        time.sleep(REST_S)


CALLERS = (call_grpc, call_grpc, call_http, call_http, call_raw, call_raw, ask_health, burn)


def run(place: int, seed: int, grpc_at: str, http_at: str, seconds: float, results: Any) -> None:
    found, end = [], time.monotonic() + seconds
    for kind, do in CALLERS[place](Caller(f"{seed}-{place}"), grpc_at, http_at):
        begun = time.monotonic()
        answer = do()
        found.append(Took(kind, begun, time.monotonic() - begun, answer))
        if time.monotonic() > end:
            break
    results.put(found)


# The service and the verdict ------------------------------------------------------------------------------------------------
def served(folder: str, seed: int, minutes: float) -> tuple[list[Took], float, float, int]:
    """All calls, the memory at the start and at its peak in MB, and the bytes that were written to standard error."""
    command = [sys.executable, "-m", "frontrank", "serve", f"{folder}/served", "--port", "0", "--http-port", "0", "--json"]
    context, said = multiprocessing.get_context("spawn"), Path(folder) / "stderr"
    with said.open("wb") as errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as server:
        assert server.stdout is not None
        where = json.loads(server.stdout.readline())
        addresses = where["grpc"], where["http"].removeprefix("http://")
        with Client(where["grpc"]) as client:
            client.put([f"http://{HOSTS[n % 50]}/page/{n}" for n in range(LOADED)])
        begun, results = memory_mb(server.pid, "VmRSS"), context.Queue()
        given = [(place, seed, *addresses, 60 * minutes, results) for place in range(len(CALLERS))]
        callers = [context.Process(target=run, args=one) for one in given]
        for one in callers:
            one.start()
        calls = [took for _ in callers for took in results.get(timeout=60 * minutes + 3 * TIMEOUT_S)]
        for one in callers:
            one.join()
        peak = memory_mb(server.pid, "VmHWM")
        server.terminate()
    return calls, begun, peak, said.stat().st_size


def memory_mb(pid: int, name: str) -> float:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def adjusted(took: Took, machine: list[Took]) -> float:
    """Its seconds on a machine that has nothing else to do."""
    beside = [one.seconds / BURN_S for one in machine if took.begun - 1 <= one.begun <= took.begun + took.seconds + 1]
    return took.seconds / max(1.0, statistics.fmean(beside)) if beside else took.seconds


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile_service")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="frontrank-bench-") as folder:
        calls, begun, peak, written = served(folder, given.seed, given.minutes)
    machine = [took for took in calls if took.kind == "machine"]
    rows, longest = [], Counter[str]()
    for kind in sorted({took.kind for took in calls}):
        some = [took for took in calls if took.kind == kind]
        worst = max(some, key=lambda took: took.seconds)
        longest[kind] = max(adjusted(took, machine) for took in some if took.seconds >= worst.seconds / 4)  # type: ignore[assignment]
        answers = ", ".join(f"{answer} {count:,}" for answer, count in Counter(took.answer for took in some).most_common(4))
        rows.append([kind, f"{len(some):,}", f"{1e3 * worst.seconds:,.0f}", f"{1e3 * longest[kind]:,.0f}", answers])
    table(
        f"Calls in {given.minutes:g} minutes, seed {given.seed}", ["kind", "calls", "longest, ms", "adjusted", "answers"], rows
    )
    slowdown = statistics.fmean(took.seconds for took in machine) / BURN_S
    print(
        f"\nThe machine was {slowdown:.1f} times slower than idle; memory {begun:,.0f} MB at the start; log {written:,} bytes"
    )
    quick = max(seconds for kind, seconds in longest.items() if not kind.startswith(("replay", "machine")))
    unanswered = sum(took.answer not in ("200", "503") for took in calls if took.kind == "/health")
    verdict(
        [
            Result("longest /health", longest["/health"], MAX_S, "s", most=True),
            Result("longest other call", quick, MAX_S, "s", most=True),
            Result("/health without an answer", unanswered, 0, "calls", most=True),
            Result("memory at its peak, above the start", peak - begun, 32.0 * len(CALLERS) + 256, "MB", most=True),
            Result("log", written / given.minutes / 2**10, 100 * 4, "KiB a minute", most=True),
        ]
    )


if __name__ == "__main__":
    main()
