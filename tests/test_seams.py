"""The doors of a live crawl: each implementation of Log and Frontier keeps the contract that is shipped to others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import frontrank
from frontrank.checks import FrontierContract, LogContract
from frontrank.crawl.journal import Journal
from frontrank.crawl.memory_log import MemoryLog
from frontrank.frontiers.polite_frontier import PoliteFrontier
from frontrank.frontiers.politeness import Politeness
from tests.oracles.frontier import NaiveFrontier


class TestMemoryLog(LogContract):
    def new(self) -> Any:
        return MemoryLog()

    def reopen(self, log: Any) -> Any:
        return log


class TestJournal(LogContract):
    @pytest.fixture(autouse=True)
    def _in_a_folder(self, tmp_path: Path) -> Iterator[None]:
        self.folder, self.opened = tmp_path / "crawl", list[Journal]()
        yield
        for log in self.opened:
            log.close()

    def new(self) -> Any:
        self.opened.append(Journal.create(self.folder, {}))
        return self.opened[-1]

    def reopen(self, log: Any) -> Any:
        log.close()
        self.opened.append(Journal.open(self.folder))
        return self.opened[-1]


class TestPoliteFrontier(FrontierContract):
    def new(self, politeness: Politeness) -> Any:
        return PoliteFrontier(politeness)


class TestNaiveFrontier(FrontierContract):
    def new(self, politeness: Politeness) -> Any:
        return NaiveFrontier(politeness)


def replaced_by(trees: list[ast.Module]) -> dict[str, set[str]]:
    """For each method the attributes of its object that it may replace, itself or through other methods it calls."""
    sets: dict[str, set[str]] = {}
    calls: dict[str, set[str]] = {}
    for tree in trees:
        for method in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            for node in ast.walk(method):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                    kind = sets if isinstance(node.ctx, ast.Store) else calls
                    kind.setdefault(method.name, set()).add(node.attr)
    for _ in range(len(calls)):
        before = sum(map(len, sets.values()))
        for name, called in calls.items():
            sets.setdefault(name, set()).update(*(sets.get(other, ()) for other in called))
        if sum(map(len, sets.values())) == before:
            break
    return sets


def stale_reads(tree: ast.Module, replaced: dict[str, set[str]]) -> list[str]:
    """Calls that read ``x.a`` for one argument and call a method of x that may replace ``x.a`` for a later one."""
    found = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        for i, argument in enumerate(given):
            if not (isinstance(argument, ast.Attribute) and isinstance(argument.value, ast.Name)):
                continue
            for node in (node for later in given[i + 1 :] for node in ast.walk(later)):
                method = node.func if isinstance(node, ast.Call) else None
                same = isinstance(method, ast.Attribute) and ast.dump(method.value) == ast.dump(argument.value)
                if same and argument.attr in replaced.get(method.attr, ()):  # type: ignore[union-attr]
                    found.append(f"line {call.lineno}: {ast.unparse(call)}")
    return found


def test_no_state_is_read_before_a_call_that_replaces_it() -> None:
    bad = ast.parse("""
class C:
    def _host(self, name): return self._grow()
    def _grow(self): self.queue = 1
    def block(self, name): limit(self.queue, self._host(name))
    def fine(self, name): limit(self._host(name), self.queue)
""")
    assert [text[:6] for text in stale_reads(bad, replaced_by([bad]))] == ["line 5"]
    root = Path(frontrank.__file__).parent
    trees = {str(file.relative_to(root)): ast.parse(file.read_text(encoding="utf-8")) for file in root.rglob("*.py")}
    replaced = replaced_by(list(trees.values()))
    found = {name: stale_reads(tree, replaced) for name, tree in trees.items()}
    assert {name: calls for name, calls in found.items() if calls} == {}


def test_no_sql_and_no_arrays_of_the_frontier_outside_the_crawl() -> None:
    root = Path(frontrank.__file__).parent
    allowed = ("crawl", "frontiers", "simulation", "kernels", "orderings", "sources/search_team")
    for file in root.rglob("*.py"):
        name = str(file.relative_to(root))
        if not name.startswith(allowed):
            text = file.read_text(encoding="utf-8")
            assert "SELECT " not in text, f"{name} speaks SQL"
            assert not re.search(r"(frontier|crawl)\.queue\b", text), f"{name} reads the frontier's arrays"
