"""Figures of the docs on real webs, measured again: those that take seconds, digit by digit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import frontrank as fr
from frontrank.lab.compare import compare
from frontrank.lab.evaluate import evaluate
from frontrank.lab.tune import tune

ROOT = Path(__file__).parent.parent
START = "https://wiki.example/wiki/United_States"
pytestmark = pytest.mark.data


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def row(text: str, name: str) -> list[str]:
    """The cells of the row of a table that begins with a name."""
    found = re.search(rf"^\| \**`?{re.escape(name)}`?\**(?: \(mean\))? \|(.*)\|$", text, re.MULTILINE)
    assert found, name
    return [cell.strip(" *") for cell in found[1].split("|")]


def dotted(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


@pytest.mark.parametrize(("crawled", "first"), [(0.3, 0), (0.6, 5)])
def test_rankers_on_wikispeedia_by_clicks(crawled: float, first: int, data_dir: Path) -> None:
    text = page("results/ml.md").partition("## wikispeedia")[2]
    rankers = ["indegree", "pagerank", "rw", "rw-eg", "rw-eg:omega=0.3"]
    told = evaluate(fr.load(data_dir / "wikispeedia"), None, rankers, f"bfs:{crawled}", START, impact="clicks")
    for finding in told.findings:
        assert row(text, finding.name)[first : first + 5] == [*map(dotted, finding.impact.values())], finding.name


def test_the_choice_of_omega_on_wikispeedia(data_dir: Path) -> None:
    from frontrank.lab.scenario import build_scenario

    web = fr.load(data_dir / "wikispeedia")
    tuned = tune(build_scenario(web, None, "bfs:0.3", START, "split", impact="clicks"), omegas=(0.6, 0.9))
    text = page("search-impact.md")
    for one in tuned:
        shown = re.search(rf"^{one.omega:g} +0 +([\d.]+)%\*? +([\d.]+)%\*? +([\d.]+)%", text, re.MULTILINE)
        assert shown and [*shown.groups()] == [f"{100 * v:.1f}" for v in (one.estimate, one.training, one.test or 0.0)]


@pytest.mark.parametrize(("scorer", "column"), [("words", 0), ("topic:research", 4)])
def test_orderings_by_what_pages_say_on_uci_ics(scorer: str, column: int, data_dir: Path) -> None:
    text = page("quality.md").partition("## Oracle and what can be deployed")[2]
    policies = {"bfs": "bfs", "quality": f"quality:scorer={scorer}", "group": f"group:scorer={scorer}"}
    runs = compare(
        fr.load(data_dir / "uci-ics"), [*policies.values()], "https://www.ics.uci.edu", 0.1, f"quality:scorer={scorer}"
    )
    measured = runs.json()["policies"]
    for name, spec in policies.items():
        at = [dotted(measured[spec]["mass"][share]) for share in ("0.05", "0.1")]
        assert row(text, name)[column].split()[:2] == at, name
