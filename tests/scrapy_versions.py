"""The tests of the Scrapy integration on other versions of Scrapy than the installed one: python -m tests.scrapy_versions

    python -m tests.scrapy_versions                     the oldest that pyproject.toml allows
    python -m tests.scrapy_versions 2.14 2.16           the last releases of these
    python -m tests.scrapy_versions 2.13 -- -k delay    what follows -- goes to pytest

Each version has an environment of its own, in .venv-scrapy/VERSION, which is kept: the second time takes seconds to set up.
The newest Scrapy is what `make test` runs on.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def oldest() -> str:
    """The Scrapy that the extra asks for at least.

    >>> oldest()
    '2.13'
    """
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (found,) = [match[1] for asked in extras["scrapy"] if (match := re.fullmatch(r"scrapy>=([\d.]+)", asked))]
    return found


def environment(version: str) -> Path:
    """The Python of an environment with this Scrapy."""
    folder = ROOT / ".venv-scrapy" / version
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    packages = ["-e", f"{ROOT}[scrapy]", f"scrapy=={version}.*", "pytest>=8", "hypothesis>=6.100"]
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages], check=True)
    return python


def main(arguments: list[str]) -> int:
    end = arguments.index("--") if "--" in arguments else len(arguments)
    versions, more = arguments[:end], arguments[end + 1 :]
    files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").glob("test_scrapy*.py"))
    failed = []
    for version in versions or [oldest()]:
        python = environment(version)
        print(f"Scrapy {version}:", flush=True)
        if subprocess.run([python, "-m", "pytest", *files, *more], cwd=ROOT, check=False).returncode:
            failed.append(version)
    print(f"failed: {' '.join(failed)}" if failed else "all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
