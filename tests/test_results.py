"""What docs/generate.py reads from pages of results: every scene of a claim, and what is said of it."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = """# tran15 on a web

## Impact, 30% fetched

| the paper | holds here if | measured | verdict |
| --- | --- | --- | --- |
| RW-EG finds more. | ahead | .5, .4 | **agrees** |
| Random is worst. | ahead | .1 | **agrees** |

## Impact, 60% fetched

| the paper | holds here if | measured | verdict |
| --- | --- | --- | --- |
| RW-EG finds more. | ahead | .4, .4 | **cannot be decided**: within the spread of rw |
| Random is worst. | ahead | .1 | **agrees** |
| Nothing changes. | alike | .004±.012 | **cannot be decided**: the spread lies across the margin |
"""


@pytest.fixture(scope="module")
def generate() -> object:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        return import_module("generate")
    finally:
        sys.path.remove(str(ROOT / "docs"))


def test_a_claim_judged_in_two_scenes_is_told_of_both(generate) -> None:  # type: ignore[no-untyped-def]
    found = generate.verdicts(PAGE)
    assert generate.cell(found["RW-EG finds more."]) == "30% fetched: yes, 60% fetched: open"
    assert generate.cell(found["Random is worst."]) == "yes"
    assert generate.cell(found["Nothing changes."]) == "open"
    assert generate._reasons(found["RW-EG finds more."]) == ["60% fetched: within the spread of rw"]


def test_every_verdict_of_every_page_is_read(generate) -> None:  # type: ignore[no-untyped-def]
    for page in (ROOT / "docs" / "results").glob("*-*.md"):
        text = page.read_text(encoding="utf-8")
        told = sum(map(len, generate.verdicts(text).values()))
        assert told == sum(text.count(f"| **{verdict}**") for verdict in generate.SHORT), page.name


def test_whatever_does_not_agree_has_a_reason(generate) -> None:  # type: ignore[no-untyped-def]
    for page in (ROOT / "docs" / "results").glob("*-*.md"):
        for claim, found in generate.verdicts(page.read_text(encoding="utf-8")).items():
            for one in found:
                assert one.short == "yes" or one.why, (page.name, claim)


def test_each_page_of_results_names_the_command_that_repeats_it() -> None:
    for page in (ROOT / "docs" / "results").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert any(call in text for call in ("frontrank ", "python -m ", "make ")), page.name


def test_the_summary_names_the_authors(generate) -> None:  # type: ignore[no-untyped-def]
    summary = (ROOT / "docs" / "results" / "README.md").read_text(encoding="utf-8")
    assert "Giang Tran, Ata Turk, B. Barla Cambazoglu, Wolfgang Nejdl" in summary
