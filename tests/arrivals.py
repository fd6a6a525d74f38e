"""A server that notes when requests arrive, by its own clock, and what a crawl promises of the gaps between them.

    with ArrivalLog({"/": page("/1"), "/robots.txt": Answer(404)}) as server: ...     server.requests

Where the kernel says when the bytes of a request came (SO_TIMESTAMPNS, Linux), that is what is noted: the server's own threads
may be late on a busy machine, and a first request that is noted late makes the gap after it look shorter than it was.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

from tests.patience import PATIENCE_S

TOLERANCE_S = 0.02  # for a server that notes a request late; with time stamps of the kernel it is never used up
SO_TIMESTAMPNS = 35


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: str = ""
    headers: tuple[str, ...] = ()
    after_s: float = 0.0
    closes: bool = False  # without an answer


class Request(NamedTuple):
    at: float
    host: str
    path: str
    connection: int
    head: str


def page(*links: str, **more: object) -> Answer:
    body = "<html>" + "".join(f'<a href="{link}">{link}</a>' for link in links)
    return Answer(body=body, headers=("Content-Type: text/html",), **more)  # type: ignore[arg-type]


def text(*lines: str, **more: object) -> Answer:
    return Answer(body="\n".join(lines), headers=("Content-Type: text/plain",), **more)  # type: ignore[arg-type]


class ArrivalLog:
    """Answers each path with its answers in turn, the last one again and again; others with 404."""

    def __init__(self, answers: Mapping[str, Answer | Iterable[Answer]]) -> None:
        self.answers = {path: [said] if isinstance(said, Answer) else list(said) for path, said in answers.items()}
        self.requests: list[Request] = []
        self.came = threading.Condition()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        with suppress(OSError):
            self.listener.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.connections: list[socket.socket] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for one in (self.listener, *self.connections):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def wait_for(self, count: int, path: str = "") -> None:
        """Until so many requests (of a path) have come."""
        with self.came:
            assert self.came.wait_for(lambda: sum(path in ("", one.path) for one in self.requests) >= count, PATIENCE_S)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.connections.append(connection)
                number = len(self.connections)
                threading.Thread(target=self._serve, args=(connection, number), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with suppress(OSError), connection:
            while True:
                data, at = b"", 0.0
                while b"\r\n\r\n" not in data:
                    some, stamps, _, _ = connection.recvmsg(65536, 256)
                    if not some:
                        return
                    at = at or arrived_at(stamps)
                    data += some
                if not self._answer(connection, self._noted(data, at, number)):
                    return

    def _noted(self, data: bytes, at: float, number: int) -> Answer:
        head = data.decode("latin-1")
        path = head.split(" ")[1]
        host = next(line[6:] for line in head.split("\r\n") if line.lower().startswith("host: "))
        with self.came:
            answers = self.answers.get(path, [Answer(404)])
            times = sum(one.path == path for one in self.requests)
            self.requests.append(Request(at, host, path, number, head))
            self.came.notify_all()
        return answers[min(times, len(answers) - 1)]

    def _answer(self, connection: socket.socket, answer: Answer) -> bool:
        time.sleep(answer.after_s)
        if answer.closes:
            return False
        body = answer.body.replace("{port}", str(self.port)).encode()
        headers = [f"HTTP/1.1 {answer.status} Said", f"Content-Length: {len(body)}", *answer.headers]
        head = "\r\n".join(headers).replace("{port}", str(self.port))
        connection.sendall(f"{head}\r\n\r\n".encode() + body)
        return True

    # What is promised --------------------------------------------------------------------------------------------------------
    def paths(self) -> list[str]:
        return [one.path for one in self.requests]

    def gaps(self) -> list[tuple[float, str, str]]:
        """Seconds between successive requests of any kind, and their paths."""
        requests = sorted(self.requests)
        return [(round(later.at - sooner.at, 4), sooner.path, later.path) for sooner, later in pairwise(requests)]

    def check_gaps(self, delay_s: float, least: int) -> None:
        """No two of at least so many requests came sooner after each other than was asked for."""
        assert len(self.requests) >= least, self.paths()
        short = [gap for gap in self.gaps() if gap[0] < delay_s - TOLERANCE_S]
        assert not short, f"{len(short)} of {len(self.requests)} requests after less than {delay_s} s: {short}"


def arrived_at(stamps: list[tuple[int, int, bytes]]) -> float:
    """When bytes came, by the monotonic clock: as the kernel says, or now."""
    now = time.monotonic()
    for level, kind, value in stamps:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
            seconds, nanoseconds = map(int, struct.unpack_from("qq", value))
            return now - max(0.0, time.time() - (seconds + nanoseconds / 1e9))
    return now
