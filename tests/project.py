"""What a project consists of beside its code fits together: a step of `make lint`.

    python -m tests.project            what does not fit

- workflows, Dependabot, issue templates and CITATION.cff are what GitHub expects (schemas that check-jsonschema ships), and the
  workflows are safe (zizmor: pinned actions, least permissions);
- CHANGELOG.md has the form of Keep a Changelog, one line per entry;
- the version stands in ``frontrank.__version__``, and the changelog and CITATION.cff name the same one;
- constraints.txt has names and versions alone, and every package that pyproject.toml asks for.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import frontrank

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = {
    "github-workflows": ".github/workflows/*.yml",
    "dependabot": ".github/dependabot.yml",
    "github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "citation-file-format": "CITATION.cff",
}
RELEASE = re.compile(r"## \[(Unreleased|\d+\.\d+\.\d+)\](?: - \d{4}-\d\d-\d\d)?")
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def files() -> Iterator[str]:
    """What GitHub would refuse, and what zizmor finds."""
    for schema, pattern in SCHEMAS.items():
        paths = sorted(str(path) for path in ROOT.glob(pattern))
        assert paths, pattern
        yield from _complaints("check_jsonschema", "--builtin-schema", f"vendor.{schema}", *paths)
    yield from _complaints("zizmor", "--offline", "--quiet", str(ROOT / ".github"))
    for hook in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]:
        if not {"id", "name", "entry", "language"} <= set(hook):
            yield f".pre-commit-config.yaml: {hook} lacks what every hook has"


def _complaints(module: str, *arguments: str) -> Iterator[str]:
    tool = [str(Path(sys.executable).with_name("zizmor"))] if module == "zizmor" else [sys.executable, "-m", module]
    done = subprocess.run([*tool, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        yield done.stdout + done.stderr


def changelog() -> Iterator[str]:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = [line for line in text.splitlines() if line.startswith("## ")]
    if not releases or releases[0] != "## [Unreleased]":
        yield "CHANGELOG.md: the first section is not [Unreleased]"
    for number, line in enumerate(text.splitlines(), 1):
        where = f"CHANGELOG.md:{number}"
        if line.startswith("## ") and not RELEASE.fullmatch(line):
            yield f"{where}: {line!r}; a release is ## [1.2.3] - 2026-11-19"
        if line.startswith("### ") and line[4:] not in KINDS:
            yield f"{where}: {line!r}; known: {', '.join(sorted(KINDS))}"
        if line.startswith("  "):
            yield f"{where}: an entry is one line"
    for release in re.findall(r"^## \[(.*?)\]", text, re.MULTILINE):
        if not re.search(rf"^\[{re.escape(release)}\]: https://", text, re.MULTILINE):
            yield f"CHANGELOG.md: [{release}] has no link at the end"


def versions() -> Iterator[str]:
    version = frontrank.__version__
    if f"## [{version}]" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        yield f"CHANGELOG.md has no section for {version}"
    if yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] != version:
        yield f"CITATION.cff is not of version {version}"


def constraints() -> Iterator[str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    yield from (
        f"constraints.txt: {line!r} is not name==version" for line in lines if not re.fullmatch(r"[\w.-]+==[\w.!+-]+", line)
    )
    known = {canonicalize_name(line.partition("==")[0]) for line in lines}
    metadata = project()["project"]
    wanted = [*metadata["dependencies"], *(one for extra in metadata["optional-dependencies"].values() for one in extra)]
    for requirement in map(Requirement, wanted):
        name = canonicalize_name(requirement.name)
        if name != "frontrank" and name not in known and requirement.marker is None:
            yield f"constraints.txt: {name} is missing; make constraints"


def main() -> int:
    wrong = [finding for check in (files, changelog, versions, constraints) for finding in check()]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
