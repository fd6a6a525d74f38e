"""The doors of a live crawl: each implementation of Log and Frontier keeps the contract that is shipped to others."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import frontrank
from frontrank.checks import FrontierContract, LogContract
from frontrank.crawl.crawl import Crawl
from frontrank.crawl.journal import Journal
from frontrank.crawl.log import Log
from frontrank.crawl.memory_log import MemoryLog
from frontrank.frontiers.frontier import Frontier
from frontrank.frontiers.polite_frontier import PoliteFrontier
from frontrank.frontiers.politeness import Politeness
from tests import bounds
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


@pytest.mark.parametrize("snapshot", [False, True])
def test_a_crawl_with_another_frontier_is_recovered_and_told_of(tmp_path: Path, snapshot: bool) -> None:
    told = []
    for name, frontier in (("polite", PoliteFrontier), ("naive", NaiveFrontier)):
        path = tmp_path / name
        given: dict[str, Any] = {"clock": lambda: 0.0, "frontier": frontier}
        crawl = Crawl("fpr", path, politeness=Politeness(delay_s=1.0), **given)
        crawl.seed("http://a.example/")
        for now in range(6):
            for url in crawl.take(2, now=float(now)):
                crawl.fetched(url, [f"{url}{n}/" for n in range(3)] + [f"http://h{now}.example/"], now=float(now))
        crawl.control.boost("/1/$", 1)
        if snapshot:
            crawl.snapshot()
        crawl.abandon()
        crawl = Crawl.recover(path, **given)
        assert type(crawl.state.frontier) is frontier and (crawl.inspect.snapshot_seq > 0) == snapshot
        status, waiting = crawl.inspect.status(), crawl.inspect.next(1)[0]["url"]
        shown = [
            status,
            crawl.inspect.coverage(),
            crawl.inspect.hosts(),
            crawl.inspect.score_distribution(),
            crawl.inspect.explain(waiting),
        ]
        told.append((crawl.take(9, now=9.0), crawl.state.progress.order.tolist(), shown))
        crawl.abandon()
    assert repr(told[0]).replace("polite", "naive") == repr(told[1])


def test_a_snapshot_of_another_frontier_is_passed_over(tmp_path: Path) -> None:
    naive: Any = NaiveFrontier
    with Crawl("bfs", tmp_path / "crawl", frontier=naive) as crawl:
        crawl.seed(["http://a.example/", "http://b.example/"])
        crawl.snapshot()
    with Crawl.recover(tmp_path / "crawl") as again:
        assert again.inspect.snapshot_seq == 0 and again.take(2) == ["http://a.example/", "http://b.example/"]


ROOT = Path(frontrank.__file__).parent
SOURCES = {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in sorted(ROOT.rglob("*.py"))}


@pytest.mark.parametrize(("protocol", "contract"), [(Frontier, FrontierContract), (Log, LogContract)])
def test_a_contract_asks_for_all_of_its_protocol(protocol: type, contract: type) -> None:
    public = {name for name in (*vars(protocol), *protocol.__annotations__) if not name.startswith("_")}
    asked = set(re.findall(r"\.(\w+)", "".join(map(inspect.getsource, contract.__mro__[:-1]))))
    assert len(public) > 20 and public - asked == set()


def test_a_crawl_asks_its_log_and_not_for_its_class() -> None:
    asked = {name for name, text in SOURCES.items() if re.search(r"isinstance\([^)]*\b(Journal|MemoryLog)\b", text)}
    assert asked == set()


def test_no_sql_and_no_arrays_of_the_frontier_outside_the_crawl() -> None:
    allowed = ("crawl", "frontiers", "simulation", "kernels", "orderings", "sources/search_team")
    for name, text in SOURCES.items():
        if not name.startswith(allowed):
            assert "SELECT " not in text, f"{name} speaks SQL"
            assert not re.search(r"(frontier|crawl)\.queue\b", text), f"{name} reads the frontier's arrays"


def test_bounds_checks_reach_the_kernels_of_every_module() -> None:
    kernels = {
        name.removesuffix(".py") for name, text in SOURCES.items() if re.search(r"^\s*@(kernel|lean)\b", text, re.MULTILINE)
    }
    run = [module for modules in bounds.TESTS.values() for module in modules]
    assert set(run) == kernels, "name the tests of a module with kernels in tests/bounds.py"
    files = {f"test_{name}.py" for name in bounds.TESTS}
    assert files <= {file.name for file in bounds.HERE.iterdir()}
    assert "python -m tests.bounds" in (bounds.HERE.parent / "Makefile").read_text(encoding="utf-8")
