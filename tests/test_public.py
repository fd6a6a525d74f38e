"""The public face: small, on purpose, and cheap to import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import frontrank as fr
from frontrank.orderings.registry import describe, orderings, parse
from tests.specs import SPECS

ROOT = Path(__file__).parent.parent


def test_all_public_names_are_there() -> None:
    for name in fr.__all__:
        assert getattr(fr, name) is not None


def test_dir_shows_the_public_names() -> None:
    assert dir(fr) == sorted(fr.__all__)


def test_importing_frontrank_imports_nothing_else() -> None:
    code = "import sys, frontrank; print([m for m in ('numpy', 'numba', 'pyarrow', 'click') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_a_specification_says_what_its_policy_is() -> None:
    for spec in SPECS:
        assert parse(parse(spec).spec()) == parse(spec)


def test_every_ordering_describes_itself_in_one_line() -> None:
    for name, ordering in orderings().items():
        assert 10 < len(describe(ordering)["description"]) < 110, name


def test_the_pages_of_the_orderings_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_readme_shows_the_commands_that_do_everything() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme
