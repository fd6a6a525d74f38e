"""Work in a process of its own, so that its memory and its machine code are its own.

What a process took at its peak is VmHWM of its status. Its ru_maxrss is no less than what the process had that started it,
so of a small child of a large parent it tells the parent's size.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def peak_gb() -> float:
    """The most memory that this process has had, in GB of 2^30 bytes."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024**2 for line in status if line.startswith("VmHWM:"))


def figures(code: str, *arguments: Any) -> dict[str, Any]:
    """What a program prints as JSON; nothing if it prints nothing."""
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout)) if done.stdout else {}


def converted(spec: str, path: Path) -> Path:
    """A web of this source as a directory; one that is there already stays."""
    if not path.exists():
        subprocess.run([sys.executable, "-m", "frontrank", "convert", spec, str(path)], check=True, stdout=subprocess.DEVNULL)
    return path
