"""Work in a process of its own, so that its memory and its machine code are its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def figures(code: str, *arguments: Any) -> dict[str, Any]:
    """What a program prints as JSON; nothing if it prints nothing."""
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout)) if done.stdout else {}


def converted(spec: str, path: Path) -> Path:
    """A web of this source as a directory; one that is there already stays."""
    if not path.exists():
        subprocess.run([sys.executable, "-m", "frontrank", "convert", spec, str(path)], check=True, stdout=subprocess.DEVNULL)
    return path
