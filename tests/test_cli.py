"""The command line as a person or a program meets it, on real files; in processes of their own where the environment counts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import frontrank as fr
from frontrank.cli import COMMANDS
from tests.commands import run_command
from tests.patience import PATIENCE_S

SHARES = ["0.05", "0.1", "0.15", "0.2", "0.3", "0.5"]
SMALL = "synthetic:pages=500,links=5,seed=1"


def frontrank(*args: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    if not environment:
        return run_command(*args, cwd=cwd)
    command, env = [sys.executable, "-m", "frontrank", *map(str, args)], {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=env, timeout=PATIENCE_S, check=False)


def good(*args: object, cwd: Path | None = None, **environment: str) -> str:
    done = frontrank(*args, cwd=cwd, **environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    path = tmp_path / "edges.txt"
    path.write_text("# a small web\n0 1\n0 2\n1 3\n1 4\n2 4\n", encoding="utf-8")
    return path


class TestSimulate:
    def test_json_has_the_promised_shape(self) -> None:
        figures = json.loads(good("simulate", SMALL, "--ordering", "bfs", "--ordering", "fpr:m=100", "--json"))
        assert set(figures["policies"]) == {"bfs", "fpr:m=100"}
        for value in figures["policies"].values():
            assert list(value["hot"]) == list(value["mass"]) == SHARES
            assert all(0 <= x <= 1 for measure in ("hot", "mass") for x in value[measure].values())
            assert value["fetched"] == 500
            assert value["seconds"] > 0
        assert figures["web"] == {"pages": 500, "links": fr.load(SMALL).links}

    def test_figures_beyond_the_budget_are_null(self) -> None:
        figures = json.loads(good("simulate", SMALL, "--ordering", "bfs", "--budget", "0.15", "--json"))
        hot = figures["policies"]["bfs"]["hot"]
        assert [share for share in SHARES if hot[share] is not None] == ["0.05", "0.1", "0.15"]
        assert figures["policies"]["bfs"]["fetched"] == 75

    def test_order_out_holds_node_ids_in_fetch_order(self, edges: Path, tmp_path: Path) -> None:
        seeds = tmp_path / "seeds.txt"
        seeds.write_text("0\n", encoding="utf-8")
        good("simulate", edges, "--ordering", "fpr", "--seeds", seeds, "--order-out", "o.npy", cwd=tmp_path)
        order = np.load(tmp_path / "o.npy")
        assert order.dtype == np.int64
        assert order.tolist() == [0, 1, 2, 4, 3]

    def test_ids_of_a_sparse_edge_list_are_its_own(self, tmp_path: Path) -> None:
        (tmp_path / "sparse.txt").write_text("1000000 5000000\n5000000 70\n", encoding="utf-8")
        (tmp_path / "seeds.txt").write_text("1000000\n", encoding="utf-8")
        good("simulate", "sparse.txt", "--ordering", "bfs", "--seeds", "seeds.txt", "--order-out", "o.npy", cwd=tmp_path)
        assert np.load(tmp_path / "o.npy").tolist() == [1000000, 5000000, 70]

    def test_all_runs_every_ordering_the_web_allows(self, edges: Path) -> None:
        with_hosts = json.loads(good("simulate", SMALL, "--ordering", "all", "--budget", "50", "--json"))["policies"]
        links_only = json.loads(good("simulate", edges, "--ordering", "all", "--json"))["policies"]
        assert {"bfs", "fpr", "rankmass", "pagerank", "largest-site", "location"} <= set(with_hosts)
        assert "largest-site" not in links_only
        assert "fpr" in links_only

    def test_out_holds_orders_curves_figures_and_report(self, tmp_path: Path) -> None:
        good("simulate", SMALL, "--ordering", "bfs", "--ordering", "opic", "--out", "runs", cwd=tmp_path)
        names = {path.name for path in (tmp_path / "runs").iterdir()}
        assert names == {"order-0.npy", "order-1.npy", "seeds.npy", "curves.parquet", "runs.json", "report.html"}
        good("report", "runs", "--out", "again.html", cwd=tmp_path)
        assert "opic" in (tmp_path / "again.html").read_text(encoding="utf-8")

    def test_coverage_stops_rankmass(self) -> None:
        done = json.loads(good("simulate", SMALL, "--ordering", "rankmass", "--until", "coverage=0.5", "--json"))
        (value,) = done["policies"].values()
        assert value["ended"] == "stopping rule"
        assert 0.5 <= value["coverage"] < 0.6
        assert value["fetched"] < 500


class TestOtherCommands:
    def test_convert_writes_a_web_that_crawls_alike(self, tmp_path: Path) -> None:
        good("convert", SMALL, "small.web", cwd=tmp_path)
        web, again = fr.load(SMALL), fr.load(tmp_path / "small.web")
        assert fr.order(web, "fpr:m=100") == fr.order(again, "fpr:m=100")

    def test_policies_lists_every_ordering_with_its_parameters(self) -> None:
        listed = json.loads(good("policies", "--json"))
        assert listed["fpr"]["parameters"]["m"] == {"type": "float", "default": 1.0}
        assert all(entry["description"] for entry in listed.values())
        assert "Fractional PageRank" in good("policies", "fpr")

    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_command_has_help_and_json(self, command: str) -> None:
        text = good(command, "--help")
        assert "--json" in text

    def test_no_command_at_all_is_a_question(self) -> None:
        assert good() == good("--help")

    def test_every_command_is_documented(self) -> None:
        page = (Path(__file__).parent.parent / "docs" / "commands.md").read_text(encoding="utf-8")
        for command in COMMANDS:
            assert f"frontrank {command}" in page


class TestBadInput:
    """One clear sentence, exit code 2, no traceback, nothing left behind."""

    def refused(self, tmp_path: Path, *args: object) -> str:
        before = sorted(path.name for path in tmp_path.iterdir())
        done = frontrank(*args, cwd=tmp_path)
        assert done.returncode == 2, done.stderr
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        assert done.stderr.startswith("frontrank: ")
        assert len(done.stderr.strip().splitlines()) == 1
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        return done.stderr

    @pytest.mark.parametrize(
        ("args", "says"),
        [
            (["missing.txt", "--ordering", "bfs"], ["missing.txt"]),
            (["empty.txt", "--ordering", "bfs"], ["empty.txt"]),
            (["short.gz", "--ordering", "bfs"], ["short.gz"]),
            (["bad-line.txt", "--ordering", "bfs"], ["bad-line.txt", "line 2"]),
            (["negative.txt", "--ordering", "bfs"], ["negative.txt", "line 1"]),
            (["other", "--ordering", "bfs"], ["ImmutableGraph"]),
            (["edges.txt", "--ordering", "bsf"], ["'bsf'", "did you mean 'bfs'"]),
            (["edges.txt", "--policy", "bfs,surf"], ["--ordering bfs --ordering surf"]),
            (["edges.txt", "--ordering", "best"], ["frontrank recommend WEB"]),
            (["edges.txt", "--limit", "5"], ["'--limit'", "is --budget"]),
            (["edges.txt", "--pages=5"], ["'--pages'", "is --budget"]),
            (["named.csv", "--ordering", "bfs"], ["line 2", "'a.html,b.html'", "https://site.example/page"]),
            (["edges.txt", "--ordering", "fica:kk=3"], ["'kk'", "did you mean 'k'"]),
            (["edges.txt", "--ordering", "fica:k=x"], ["got x", "whole number"]),
            (["edges.txt", "--ordering", "fica:k=0"], ["got 0"]),
            (["edges.txt", "--ordering", "fica:beta=nan"], ["got nan"]),
            (["edges.txt", "--ordering", "fica:schedule=expp"], ["expp", "did you mean 'exp'"]),
            (["edges.txt", "--ordering", "combine:backlink=nan"], ["got nan"]),
            (["edges.txt", "--ordering", "combine:largest-site=1"], ["largest-site"]),
            (["edges.txt", "--ordering", "similarity"], ["topic"]),
            (["edges.txt", "--ordering", "similarity:topic=x"], ["anchors", "texts", "urls"]),
            (["edges.txt", "--ordering", "fpr:m=100"], ["fpr:m=100", "hosts", "edges"]),
            (["edges.txt", "--ordering", "bfs", "--budget", "-5"], ["-5"]),
            (["edges.txt", "--ordering", "bfs", "--budget", "0"], ["0"]),
            (["edges.txt", "--ordering", "bfs", "--budget", "nan"], ["nan"]),
            (["edges.txt", "--ordering", "bfs", "--budget", "many"], ["many"]),
            (["edges.txt", "--ordering", "bfs", "--seeds", "none.txt"], ["none.txt"]),
            (["edges.txt", "--ordering", "bfs", "--seeds", "outside.txt"], ["outside.txt", "line 2", "99"]),
            (["edges.txt", "--ordering", "bfs", "--seeds", "urls.txt"], ["http://nowhere/", "line 1"]),
            (["edges.txt", "--ordering", "bfs", "--seeds", "blank.txt"], ["blank.txt"]),
            (["edges.txt", "--ordering", "bfs", "--seeds", "top:99"], ["top:99"]),
            (["edges.txt", "--ordering", "bfs", "--seeds", "random:x"], ["random:x"]),
            (["edges.txt", "--ordering", "bfs", "--metric", "pagerang"], ["pagerang", "did you mean 'pagerank'"]),
            (["edges.txt", "--ordering", "bfs", "--until", "coverage=0.5"], ["rankmass"]),
            (["edges.txt", "--ordering", "rankmass", "--until", "coverage=2"], ["got 2"]),
            (["edges.txt", "--ordering", "rankmass", "--until", "0.9"], ["RULE=SHARE", "write coverage=0.9"]),
            (["edges.txt", "--ordering", "bfs", "--host-delay", "-1"], ["--host-delay must be a number from 0, got -1"]),
            (["edges.txt", "--ordering", "bfs", "--order-out", "no/such/o.npy"], ["no/such"]),
            (["edges.txt", "--ordering", "bfs", "--ordering", "dfs", "--order-out", "o.npy"], ["o.npy", "one ordering"]),
            (["edges.txt", "--ordering", "all", "--order-out", "o.npy"], ["one ordering, all given"]),
            (["synthetic:pages=-1", "--ordering", "bfs"], ["got -1"]),
            (["synthetic:pagse=10", "--ordering", "bfs"], ["'pagse'", "did you mean 'pages'"]),
        ],
    )
    def test_simulate(self, tmp_path: Path, edges: Path, args: list[str], says: list[str]) -> None:
        files = {
            "empty.txt": b"",
            "short.gz": b"\x1f\x8b\x08\x00\x00",
            "bad-line.txt": b"0 1\n2 x\n",
            "negative.txt": b"-1 2\n",
            "named.csv": b"from,to\na.html,b.html\nb.html,c.html\n",
            "other.properties": b"graphclass=it.unimi.dsi.webgraph.ImmutableGraph\nnodes=3\narcs=2\n",
            "other.graph": b"",
            "outside.txt": b"0\n99\n",
            "urls.txt": b"http://nowhere/\n",
            "blank.txt": b"\n# nothing\n",
        }
        for name, content in files.items():
            (tmp_path / name).write_bytes(content)
        sentence = self.refused(tmp_path, "simulate", *args)
        for part in says:
            assert part in sentence

    def test_what_click_refuses_names_the_help(self, tmp_path: Path) -> None:
        for args in (("status",), ("status", "a", "--bogus"), ("crawl", "http://a.example/", "--budget"), ("--bogus",)):
            named = "" if args[0].startswith("--") else f" {args[0]}"
            done = frontrank(*args, cwd=tmp_path, PYTHONUTF8="1")  # a process knows how it was called
            assert done.returncode == 2 and done.stderr.endswith(f"-m frontrank{named} --help\n")

    def test_other_commands(self, tmp_path: Path, edges: Path) -> None:
        assert "did you mean 'simulate'" in self.refused(tmp_path, "simulat", "x")
        assert "did you mean 'fpr'" in self.refused(tmp_path, "policies", "fprr")
        assert "--polcy" in self.refused(tmp_path, "simulate", "edges.txt", "--polcy", "bfs")
        assert "cho98" in self.refused(tmp_path, "reproduce", "cho99")
        (tmp_path / "taken").mkdir()
        (tmp_path / "taken" / "thesis.tex").write_text("years of work", encoding="utf-8")
        assert "taken" in self.refused(tmp_path, "convert", "edges.txt", "taken")
        assert "taken" in self.refused(tmp_path, "simulate", "edges.txt", "--out", "taken")
        assert (tmp_path / "taken" / "thesis.tex").read_text(encoding="utf-8") == "years of work"

    @pytest.mark.parametrize(("option", "name"), [("--order-out", "new.npy"), ("--out", "new"), ("--out", "new.csv")])
    def test_a_read_only_directory(self, tmp_path: Path, edges: Path, read_only: Path, option: str, name: str) -> None:
        said = self.refused(tmp_path, "simulate", "edges.txt", "--ordering", "bfs", option, str(read_only / name))
        assert f"{read_only} is read-only" in said


@pytest.mark.parametrize(
    ("args", "same"),
    [(["help"], ["--help"]), (["help", "crawl"], ["crawl", "--help"]), (["-v"], ["--version"]), (["-V"], ["--version"])],
)
def test_other_words_for_help_and_version(args: list[str], same: list[str]) -> None:
    assert good(*args) == good(*same) != ""


MAKE, MAKEFILE = shutil.which("make") or "", Path(__file__).parent.parent / "Makefile"


@pytest.mark.skipif(not MAKE, reason="no make")
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["demo", "PYTHON=python3.99"], "There is no python3.99 on this machine"),
        (["demo", "PYTHON=./old"], "and ./old is not. Name one that is"),
        (["demo", f"PYTHON={sys.executable}", "PIP=false"], "check the network"),
        (["tests", "--dry-run", f"PYTHON={sys.executable}"], "pytest"),
    ],
)
def test_make_says_what_stops_it(tmp_path: Path, options: list[str], says: str) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "tests").mkdir()
    (tmp_path / "old").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "old").chmod(0o755)
    done = subprocess.run(
        [MAKE, "-f", MAKEFILE, *options], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert says in done.stdout + done.stderr
    assert done.returncode == (0 if "--dry-run" in options else 2)


class TestStartUp:
    """What makes the start quick; `make bench` measures how quick it is."""

    def test_help_imports_nothing_heavy(self) -> None:
        listed = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "frontrank", "--help"], capture_output=True, text=True, check=True
        ).stderr
        for heavy in ("numpy", "numba", "pyarrow", "matplotlib", "scipy", "rich"):
            assert f" {heavy}\n" not in listed


def test_figures_stand_under_the_specification_as_it_was_written() -> None:
    spec = "fica:k=250000,beta=0.10"
    assert list(json.loads(good("simulate", SMALL, "--ordering", spec, "--json"))["policies"]) == [spec]
