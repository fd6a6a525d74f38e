"""How soon a command ends after Ctrl-C or SIGTERM: each amid its work, at several moments of its CPU time."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

from tests import stopped

from benchmarks.show import Result, table

MOMENTS = (0.3, 1.0, 2.0, 4.0, 8.0)  # seconds of CPU
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def ending(folder: Path, small: bool = False) -> list[Result]:
    """The longest time from a signal to the end of the process, of each command."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it, and so would the commands
    made = stopped.material(folder / "stopped")
    longest: dict[str, tuple[float, str]] = {}
    for name in stopped.WORKING:
        for at, cpu_s in enumerate(MOMENTS[1:3] if small else MOMENTS):
            process = stopped.working(name, made)
            if stopped.spend(process, cpu_s):
                number = SIGNALS[at % 2]
                longest[name] = max(longest.get(name, (0.0, "")), (_ended(process, number), f"{number.name} at {cpu_s:g} s"))
            else:
                process.communicate()
    for name in stopped.WAITING:
        for number in SIGNALS:
            seconds = _ended(stopped.waiting(name, made), number)
            longest[name] = max(longest.get(name, (0.0, "")), (seconds, f"{number.name} as it waits"))
    rows = [[name, f"{seconds:.2f} s", when] for name, (seconds, when) in sorted(longest.items(), key=lambda one: -one[1][0])]
    table("From a signal to the end of a command, longest", ["command", "longest", "signal"], rows)
    return [Result("longest time to end after a signal", max(seconds for seconds, _ in longest.values()), 5.0, "s", most=True)]


def _ended(process: subprocess.Popen[str], number: signal.Signals) -> float:
    begun = time.perf_counter()
    process.send_signal(number)
    process.communicate()
    return time.perf_counter() - begun


if __name__ == "__main__":
    import tempfile

    from benchmarks.show import verdict

    with tempfile.TemporaryDirectory() as folder:
        verdict(ending(Path(folder)))
