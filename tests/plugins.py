"""The package of docs/plugins.md, written out and made known to commands that are run with its folder on PYTHONPATH."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE_S

ROOT = Path(__file__).parent.parent
FILE = re.compile(r"`(shop/[\w./]+)`[^`]*(?:`[^`\n]+`[^`]*)*\n\n```\w+\n(.*?)```", re.DOTALL)
PAGES = (
    "http://s.example/ http://s.example/a/ http://s.example/b\nhttp://s.example/a/ http://s.example/a/x http://s.example/b\n"
)


def write_package(folder: Path) -> Path:
    """The files of the package, as the docs print them."""
    text = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    for name, content in FILE.findall(text):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder / "shop"


def announce(site: Path, package: str, entries: dict[str, dict[str, str]]) -> None:
    """What an installer leaves of a package's entry points."""
    info = site / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
    lines = []
    for group, names in entries.items():
        lines += [f"[frontrank.{group}]", *(f"{name} = {value}" for name, value in names.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def environment(site: Path) -> dict[str, str]:
    """That of a process for which the packages of a folder are installed, too."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))}


def run(site: Path, *args: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A command of frontrank where the packages of a folder are installed, too."""
    command, env = [sys.executable, "-m", "frontrank", *map(str, args)], environment(site)
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=PATIENCE_S, check=False, env=env)
