"""A real pseudo-terminal for tests: the command runs in it, and what a person would see is read off an emulated screen."""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyte

from tests.patience import PATIENCE_S

LINES = 400  # so tall that nothing scrolls away
ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[()][A-Z0-9]|[=>])")


class Terminal:
    """A command in a terminal of so many columns, as ``frontrank ARGS`` unless a whole command is given."""

    def __init__(
        self,
        *args: object,
        columns: int,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        command: Sequence[str] = (sys.executable, "-m", "frontrank"),
    ) -> None:
        self.columns = columns
        self.screen = pyte.Screen(columns, LINES)
        self.stream = pyte.ByteStream(self.screen)
        self.written = b""
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, columns, 0, 0))
        clean = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
        self.process = subprocess.Popen(
            [*command, *map(str, args)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=cwd,
            env={**clean, "TERM": "xterm-256color", **(env or {})},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C becomes a signal
        )
        os.close(theirs)
        self.ours = ours

    def read(self, timeout_s: float) -> bool:
        """Take in what was written; False at its end."""
        if not select.select([self.ours], [], [], timeout_s)[0]:
            return True
        try:
            data = os.read(self.ours, 65536)
        except OSError:  # nobody holds the other side any more
            return False
        self.stream.feed(data)
        self.written += data
        return bool(data)

    def wait_for(self, text: str, timeout_s: float = PATIENCE_S) -> None:
        """Until this is on the screen, or was written."""
        end = time.monotonic() + timeout_s
        while text not in self.text and text not in self.plain:
            assert self.read(1.0) and time.monotonic() < end, f"{text!r} did not appear:\n{self.text}"

    def type(self, keys: str) -> None:
        os.write(self.ours, keys.encode())

    def end(self, timeout_s: float = PATIENCE_S) -> int:
        """Until the command ends; its exit code."""
        end = time.monotonic() + timeout_s
        while self.read(1.0):
            assert time.monotonic() < end, f"the command does not end:\n{self.text}"
        os.close(self.ours)
        return self.process.wait(timeout=PATIENCE_S)

    @property
    def lines(self) -> list[str]:
        """What stands on the screen, line by line."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip().split("\n")

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def plain(self) -> str:
        """All that was ever written, without what only moves or colours."""
        return ESCAPES.sub("", self.written.decode(errors="replace"))

    @property
    def widest(self) -> int:
        """The longest line that was written, also if the screen broke it in two."""
        return max(len(part) for line in self.plain.split("\n") for part in line.split("\r"))

    def bold(self) -> list[str]:
        """The words that stand out."""
        words = []
        for y in range(len(self.lines)):
            row = self.screen.buffer[y]
            text = "".join(row[x].data if row[x].bold else " " for x in range(self.columns))
            words += text.split()
        return words


def seen(*args: object, columns: int, cwd: Path | None = None, code: int = 0, **more: Any) -> Terminal:
    """The terminal after a command has ended with this exit code."""
    terminal = Terminal(*args, columns=columns, cwd=cwd, **more)
    assert terminal.end() == code, terminal.text
    return terminal
