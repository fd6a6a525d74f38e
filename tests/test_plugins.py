"""Packages of other people: what they add is found by name in every command, and what is broken in them breaks nothing else."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from frontrank.errors import SpecError
from frontrank.plugins import Registry
from tests.listening import listening
from tests.patience import PATIENCE_S
from tests.plugins import PAGES, announce, environment, run, write_package

SMALL = "synthetic:pages=200,links=4,seed=1"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the package of the docs is installed, beside the file that its source reads."""
    folder = tmp_path_factory.mktemp("installed")
    package = write_package(folder)
    shutil.copytree(package / "frontrank_shop", folder / "site" / "frontrank_shop")
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    entries = {group.removeprefix("frontrank."): names for group, names in project["entry-points"].items()}
    assert set(entries) == {"orderings", "sources", "measures", "scorers"}
    announce(folder / "site", project["name"], entries)
    (folder / "site" / "catalogue.shop").write_text(PAGES, encoding="utf-8")
    return folder / "site"


def told(site: Path, *args: object) -> Any:
    done = run(site, *args, "--json", cwd=site)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def run_code(site: Path, code: str, given: str) -> subprocess.CompletedProcess[str]:
    command, env = [sys.executable, "-c", code], environment(site)
    return subprocess.run(
        command, input=given, env=env, cwd=site, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def started(site: Path, *args: object) -> dict[str, Any]:
    """A command that serves, and what it said of itself."""
    command = [sys.executable, "-m", "frontrank", *map(str, args), "--json"]
    process = subprocess.Popen(command, env=environment(site), cwd=site, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return {**json.loads(process.stdout.readline()), "process": process}


MANY = "".join(f"http://s.example/{n}/ http://s.example/{2 * n}/ http://t.example/{2 * n + 1}/\n" for n in range(1, 60))
COMMANDS = {  # that run an ordering, read a web or score by name, and are not tried below; one process for all of them
    "recommend": ["recommend", "many.shop", "--ordering", "shelf", "--draws", "1", "--seeds", "2"],
    "recommend for searchers": [
        "recommend",
        "TEXTS",
        "--for",
        "searchers",
        "--queries",
        "asked.txt",
        "--ordering",
        "shelf",
        "--draws",
        "1",
    ],
    "recommend by a scorer": ["recommend", "TEXTS", "--for", "quality:brevity", "--draws", "1", "--budget", "30"],
    "tune": ["tune", "TEXTS", "--queries", "asked.txt", "--crawled", "shelf:0.3", "--judge", "same", "--omega", "0.5"],
    "leaderboard": ["leaderboard", "many.shop", "--ordering", "shelf", "--draws", "1", "--budget", "0.02"],
    "revisit": ["revisit", "many.shop", "--ordering", "shelf", "--metric", "depth", "--revisit", "uniform", "--days", "3"],
    "reproduce": ["reproduce", "fpr10", "--web", "many.shop"],
}
RUN = """
import contextlib, io, json, sys
from frontrank.cli import main
said = {}
for name, args in json.load(sys.stdin).items():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        main([*args, "--json"])
    said[name] = json.loads(out.getvalue())
print(json.dumps(said))
"""


class TestEveryCommandKnowsThem:
    def test_in_one_process(self, site: Path) -> None:
        (site / "many.shop").write_text(MANY, encoding="utf-8")
        (site / "asked.txt").write_text("a\nthe\npage\nexample\n" * 20, encoding="utf-8")
        texts = "synthetic:pages=300,links=5,text=1,seed=5"
        given = {name: [texts if word == "TEXTS" else word for word in args] for name, args in COMMANDS.items()}
        done = run_code(site, RUN, json.dumps(given))
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)
        assert "shelf" in said["recommend"]["orderings"] and "shelf" in said["recommend for searchers"]["orderings"]
        assert "quality:scorer=brevity" in said["recommend by a scorer"]["orderings"]
        assert said["tune"]["best"] == {"omega": 0.5, "gamma": 0.0}
        assert "shelf" in said["leaderboard"]["orderings"]
        assert [row["revisits"] for row in said["revisit"]["rows"]] == ["uniform"]
        assert said["reproduce"]["paper"] == "fpr10"

    def test_web_and_serve_with_fetch(self, site: Path, tmp_path: Path, server: str) -> None:
        """The source is served; the ordering orders a crawl of the service."""
        served = started(site, "web", "shop:catalogue.shop", "--port", "0")
        crawls = started(site, "serve", tmp_path / "served", "--ordering", "shelf", "--port", "0", "--no-http")
        try:
            assert served["pages"] == 4
            args = ("--from", crawls["grpc"], "--allow-private", "--no-robots", "--budget", "2")
            assert told(site, "fetch", server, *args)["fetched"] == 2
        finally:
            for one in (served, crawls):
                one["process"].terminate()
                one["process"].communicate(timeout=PATIENCE_S)
        assert told(site, "status", tmp_path / "served" / "DEFAULT")["policy"] == "shelf"

    def test_simulate(self, site: Path) -> None:
        found = told(
            site, "simulate", "catalogue.shop", "--ordering", "shelf:strength=2", "--ordering", "bfs", "--metric", "depth"
        )
        assert set(found["policies"]) == {"shelf:strength=2", "bfs"}
        assert found["web"] == {"pages": 4, "links": 4}
        metric = "0.5*pagerank+1*depth:weight=2"
        everything = told(site, "simulate", "shop:catalogue.shop", "--ordering", "all", "--metric", metric)
        assert "shelf" in everything["policies"]

    def test_report_and_a_report_of_saved_runs(self, site: Path, tmp_path: Path) -> None:
        told(site, "simulate", SMALL, "--ordering", "shelf:strength=0.1", "--metric", "depth", "--out", tmp_path / "runs")
        for source in ([tmp_path / "runs"], ["catalogue.shop", "--ordering", "shelf"]):
            told(site, "report", *source, "--out", tmp_path / "page.html")
            assert "shelf" in (tmp_path / "page.html").read_text(encoding="utf-8")

    def test_convert(self, site: Path, tmp_path: Path) -> None:
        assert told(site, "convert", "catalogue.shop", tmp_path / "c.web")["web"] == {"pages": 4, "links": 4}

    def test_evaluate(self, site: Path, tmp_path: Path) -> None:
        (tmp_path / "asked.txt").write_text("".join(f"{word}\n" for word in ("a", "the", "page", "example")), encoding="utf-8")
        args = (
            "synthetic:pages=300,links=5,text=1,seed=5",
            "--queries",
            tmp_path / "asked.txt",
            "--crawled",
            "shelf:0.3",
            "--judge",
            "same",
        )
        found = told(site, "evaluate", *args, "--ordering", "shelf", "--ordering", "indegree")["rankers"]
        assert set(found) == {"shelf", "indegree"}

    def test_rank_and_explain(self, site: Path, tmp_path: Path) -> None:
        (tmp_path / "pages.csv").write_text("url,fetched\nhttp://a/,1\nhttp://a/b,0\nhttp://a/c,0\n", encoding="utf-8")
        (tmp_path / "links.csv").write_text("source,target\nhttp://a/,http://a/b\nhttp://a/,http://a/c\n", encoding="utf-8")
        told(site, "import", "--pages", tmp_path / "pages.csv", "--links", tmp_path / "links.csv", tmp_path / "crawl")
        ranked = told(site, "rank", tmp_path / "crawl", "--ordering", "shelf", "--out", tmp_path / "next.parquet")
        assert [page["url"] for page in ranked["next"]] == ["http://a/b", "http://a/c"]
        assert "shelf" in told(site, "explain", tmp_path / "crawl", "http://a/c", "--ordering", "shelf")["rankers"]

    def test_crawl_status_and_resume(self, site: Path, tmp_path: Path, server: str) -> None:
        out = tmp_path / "crawl"
        args = ("--ordering", "shelf:strength=0.1", "--allow-private", "--no-robots", "--delay", "0", "--budget", "2", "-q")
        assert told(site, "crawl", server, *args, "--out", out)["fetched"] == 2
        assert told(site, "status", out)["policy"] == "shelf:strength=0.1"
        assert told(site, "crawl", "--resume", out, "--budget", "4", "-q")["fetched"] == 4
        assert set(told(tmp_path, "simulate", out, "--ordering", "bfs")["policies"]) == {"shelf:strength=0.1 (crawled)", "bfs"}
        without = run(tmp_path, "status", out)
        assert (without.returncode, without.stderr.count("\n")) == (2, 1)
        assert "unknown ordering 'shelf'" in without.stderr

    def test_lists(self, site: Path) -> None:
        listed = told(site, "plugins")
        for kind, name in (("orderings", "shelf"), ("sources", "shop"), ("measures", "depth"), ("scorers", "brevity")):
            assert listed[kind][name]["package"] == "frontrank-shop 1.0"
        assert listed["scorers"]["words"]["package"] == "built in"
        assert listed["measures"]["depth"]["description"] == "pages near the root of their host."
        assert "frontrank-shop 1.0" in run(site, "plugins").stdout
        for name in ("shelf", "frontrank_shop.ordering:Shelf"):
            assert told(site, "orderings", name)[name]["parameters"]["strength"] == {"type": "float", "default": 1.0}
        assert "shelf" in told(site, "orderings")

    def test_names_of_modules_and_classes(self, site: Path) -> None:
        spec, metric = "frontrank_shop.ordering:Shelf:strength=2", "frontrank_shop:depth:weight=3"
        assert set(told(site, "simulate", SMALL, "--ordering", spec, "--metric", metric)["policies"]) == {spec}

    def test_suggestions_know_them(self, site: Path) -> None:
        assert "did you mean 'shelf'" in run(site, "simulate", SMALL, "--ordering", "shelff").stderr
        assert "did you mean 'depth'" in run(site, "simulate", SMALL, "--ordering", "bfs", "--metric", "dept").stderr
        assert "did you mean 'weight'" in run(site, "simulate", SMALL, "--ordering", "bfs", "--metric", "depth:wight=2").stderr
        assert "did you mean 'shop'" in run(site, "convert", "shopp:x", "there").stderr


@pytest.fixture
def server() -> Iterator[str]:
    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"<title>t</title><a href='/a'>a</a><a href='/b'>b</a><a href='/c'>c</a>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    with listening(Pages) as home:
        yield f"{home}/"


BROKEN = {
    "orderings": {
        "fpr": "odd.good:Good",
        "unimportable": "odd.missing:Thing",
        "crashes": "odd.crashes:Thing",
        "exits": "odd.exits:Thing",
        "wrong": "odd.good:number",
        "misnamed": "odd.good:Good",
        "untyped": "odd.good:Untyped",
        "good": "odd.good:Good",
    },
    "sources": {"sourceless": "odd.good:number", "synthetic": "odd.good:number"},
    "measures": {"short": "odd.good:short", "number": "odd.good:number"},
    "scorers": {"number": "odd.good:number"},
}
ODD = {
    "__init__.py": "",
    "crashes.py": "raise RuntimeError('in the middle of it')\n",
    "exits.py": "import sys\nsys.exit(7)\n",
    "good.py": """from __future__ import annotations
from dataclasses import dataclass
from typing import TYPE_CHECKING
from frontrank import Policy
if TYPE_CHECKING:
    from nowhere import Nothing
number = 7
def short(web): return [1.0]
@dataclass(frozen=True)
class Good(Policy):
    name = "good"
@dataclass(frozen=True)
class Untyped(Policy):
    what: Nothing = None
    name = "untyped"
""",
}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    (folder / "odd").mkdir()
    for name, content in ODD.items():
        (folder / "odd" / name).write_text(content, encoding="utf-8")
    announce(folder, "odd", BROKEN)
    announce(folder, "odder", {"orderings": {"good": "odd.good:Good2"}})
    return folder


class TestBrokenPackages:
    def test_are_named_and_passed_over(self, odd: Path) -> None:
        done = run(odd, "plugins", "--json")
        assert done.returncode == 0
        listed = json.loads(done.stdout)
        assert listed["orderings"]["good"]["package"] == "odd 1.0"
        assert listed["orderings"]["fpr"]["package"] == "built in"
        assert set(listed["orderings"]).isdisjoint(["unimportable", "crashes", "exits", "wrong", "misnamed", "untyped"])
        said = done.stderr
        assert "Traceback" not in said
        assert "the plug-in 'fpr' of odd 1.0 (odd.good:Good) is not used: 'fpr' is a built-in ordering" in said
        assert "the plug-in 'good' of odder 1.0 (odd.good:Good2) is not used: the plug-in 'good' of odd 1.0" in said
        assert "'unimportable' of odd 1.0 (odd.missing:Thing) cannot be loaded: ModuleNotFoundError" in said
        assert "in the middle of it" in said
        assert "'exits' of odd 1.0 (odd.exits:Thing) cannot be loaded: SystemExit: 7" in said
        assert "must name a subclass of Policy or Ranker, got 7" in said
        assert "the class attribute name of Good must be 'misnamed', got 'good'" in said
        assert "name 'Nothing' is not defined" in said
        assert "'sourceless' of odd 1.0" in said

    def test_help_knows_nothing_of_them(self, odd: Path) -> None:
        for args in (["--help"], ["simulate", "--help"], ["plugins", "--help"]):
            done = run(odd, *args)
            assert (done.returncode, done.stderr) == (0, "")

    def test_built_in_names_need_no_look_at_packages(self, odd: Path) -> None:
        for args in (["simulate", SMALL, "--ordering", "bfs", "--ordering", "fpr"], ["orderings", "fpr"]):
            done = run(odd, *args, "--json")
            assert (done.returncode, done.stderr) == (0, "")

    @pytest.mark.parametrize(
        ("args", "says"),
        [
            (["--ordering", "crashes"], "cannot be loaded: RuntimeError: in the middle of it"),
            (["--ordering", "odd.crashes:Thing"], "odd.crashes cannot be imported: RuntimeError: in the middle of it"),
            (["--ordering", "good:odd"], "must be KEY=VALUE, got 'odd'"),
            (["--ordering", "bfs", "--metric", "short:odd"], "must be KEY=VALUE, got 'odd'"),
            (["--ordering", "odd.good:Godo"], "did you mean 'Good'"),
            (["--ordering", "no_such.module:Thing"], "set PYTHONPATH=."),
            (
                ["--ordering", "bfs", "--metric", "short"],
                "must give one value for each of 200 pages, got an array of shape (1,)",
            ),
            (["--ordering", "bfs", "--metric", "number"], "must be a function of a web"),
        ],
    )
    def test_the_one_that_is_asked_for_is_refused_with_a_sentence(self, odd: Path, args: list[str], says: str) -> None:
        done = run(odd, "simulate", SMALL, *args)
        assert done.returncode == 2
        assert says in done.stderr.splitlines()[-1]
        assert done.stderr.splitlines()[-1].startswith("frontrank: ")
        assert "Traceback" not in done.stderr


def test_a_name_is_registered_once_and_must_be_writable() -> None:
    registry: Registry[int] = Registry("number", "frontrank.numbers", lambda name, thing: int(thing))
    registry.register("seven", 7)
    registry.register("seven", 7)
    with pytest.raises(SpecError, match="'seven' is taken by 7"):
        registry.register("seven", 8)
    for name in ("a:b", "a.b", "a,b", "a=b", "a#2", "a+b", "", "-a", "a b"):
        with pytest.raises(SpecError, match="letters, digits"):
            registry.register(name, 1)


@pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="hatchling builds it, and is not installed")
def test_the_package_of_the_docs_can_be_installed(tmp_path: Path) -> None:
    package = write_package(tmp_path)
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
    install = [sys.executable, "-m", "pip", "install", *options, "--target", str(tmp_path / "site"), str(package)]
    done = subprocess.run(install, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    assert [one.name for one in importlib.metadata.distributions(path=[str(tmp_path / "site")])] == ["frontrank-shop"]
    found = told(tmp_path / "site", "simulate", SMALL, "--ordering", "shelf", "--metric", "depth")["policies"]
    assert found["shelf"]["fetched"] > 0


def test_the_ordering_of_the_docs_keeps_every_contract(site: Path) -> None:
    code = "from frontrank.checks import yield_checks; from frontrank_shop.ordering import Shelf\n"
    code += "for check in yield_checks(Shelf(strength=2.0)): check()\n"
    code += "from frontrank.pages.scorers import scored; print(scored('brevity', 'http://a/', '', 'abc'))"
    (site / "lab.py").write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, site / "lab.py"], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stdout) == (0, "0.25\n"), done.stderr
