"""Commands, run within this process: one starts in a third of a second, and the tests run some hundred.

What is said about signals, the environment and terminals is tested on processes (``tests.stopped``, ``tests.terminal``).
"""

from __future__ import annotations

from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess

from frontrank.cli import main


def run_command(*args: object, cwd: Path | None = None) -> CompletedProcess[str]:
    """``frontrank ARGS``, with its exit code and what it wrote."""
    words = [str(word) for word in args]
    output, errors, code = StringIO(), StringIO(), 0
    with redirect_stdout(output), redirect_stderr(errors), chdir(cwd or Path.cwd()):
        try:
            main(words)
        except SystemExit as ended:
            code = int(ended.code or 0)
    return CompletedProcess(words, code, output.getvalue(), errors.getvalue())
