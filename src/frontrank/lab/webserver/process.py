"""A web served by a process of its own, for as long as a block runs: for tests, benchmarks and demonstrations."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from frontrank.errors import InputError

START_S = 120.0
STOP_S = 5.0


@contextmanager
def run_in_process(spec: str, **options: Any) -> Iterator[str]:
    """The base URL of ``frontrank web SPEC``, started in a process that ends with the block.

    ``options`` are those of the command line: ``crawl_delay=2`` is --crawl-delay 2, ``traps=True`` is --traps.
    """
    command = [sys.executable, "-m", "frontrank", "web", spec, "--json", "--until-eof", *_arguments({"port": 0, **options})]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        # A group of its own: Ctrl-C is for the block, which still has answers under way, and ends the server after it. The
        # input that never comes ends with this process, however that ends, and with it the server.
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=output, stdin=subprocess.PIPE, start_new_session=True
        )
        assert process.stdout is not None
        try:
            line = _first_line(process.stdout, START_S)
            if not line:
                process.kill()
                process.wait()
                output.seek(0)
                why = output.read().strip().removeprefix("frontrank: ")
                raise InputError(why or f"frontrank web {spec} did not start within {START_S:g} s")
            yield json.loads(line)["url"]
        finally:
            _stop(process)


def _arguments(options: dict[str, Any]) -> list[str]:
    """
    >>> _arguments({"crawl_delay": 2, "traps": True, "sitemaps": False})
    ['--crawl-delay', '2', '--traps']
    """
    arguments = []
    for name, value in options.items():
        if value is not False:
            arguments.append("--" + name.replace("_", "-"))
            arguments += [] if value is True else [str(value)]
    return arguments


def _first_line(pipe: IO[bytes], seconds: float) -> bytes:
    """The first line that comes; empty if the process ends, or takes longer."""
    until, line = time.monotonic() + seconds, b""
    with selectors.DefaultSelector() as ready:
        ready.register(pipe, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            if not ready.select(max(0.0, until - time.monotonic())):
                return b""
            data = os.read(pipe.fileno(), 65_536)
            if not data:
                return b""
            line += data
    return line


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.communicate(timeout=STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
