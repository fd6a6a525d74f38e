"""The core does without the packages of the extras: it imports none of them, and says which one is missing when it is needed.

The same is tried with nothing but the core installed in tests/core_install.sh.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from frontrank.errors import EXTRA_OF, MissingExtra, install_line, need
from frontrank.lab.webserver import run_in_process
from tests.conftest import ROOT

SOURCE = ROOT / "src" / "frontrank"
# What runs inside Scrapy may import it.
INSIDE_SCRAPY = SOURCE / "fetching" / "addon"
# By `need` in http/__init__.py and cli/mcp.py.
INSIDE_HTTP = (*(SOURCE / "service" / "http").glob("[!_]*.py"), SOURCE / "service" / "mcp.py")
# By `need` in service/__init__.py and cli/serve.py.
INSIDE_GRPC = (
    *(SOURCE / "service" / "rpc").glob("*.py"),
    *(
        SOURCE / "service" / f"{name}.py"
        for name in (
            "async_client",
            "channel",
            "client",
            "client_calls",
            "counters",
            "frontier",
            "grpc_server",
            "intake",
            "wire",
        )
    ),
)
INSIDE_SPARK = SOURCE / "spark"  # by `need` in session.py and command.py
WITHOUT = "import sys; from frontrank.errors import EXTRA_OF; sys.modules.update(dict.fromkeys(EXTRA_OF))"


def python(program: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=cwd, check=False)


@pytest.mark.parametrize(
    "program",
    [
        "from frontrank import Crawl",
        "import frontrank as fr; crawl = fr.Crawl(fr.parse('fpr')); crawl.seed(['http://a.org/']); crawl.take(1)",
        "from frontrank.cli import main; main(['--help'])",
        "from frontrank.cli import main; main(['crawl', '--help'])",
        "from frontrank.cli import main; main(['simulate', 'edges.txt', '--ordering', 'bfs', '--ordering', 'fpr'])",
    ],
)
def test_the_core_loads_no_package_of_an_extra(program: str, tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n2 0\n")
    heavy = set(EXTRA_OF) - {"scipy"}  # numba itself looks for it
    told = f"import atexit, sys; atexit.register(lambda: print({heavy!r} & sys.modules.keys(), file=sys.stderr))"
    done = python(f"{told}\n{program}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "set()\n")


@pytest.mark.parametrize(
    ("args", "package", "extra"),
    [
        (["crawl", "http://example.org/", "--out", "new"], "selectolax", "crawl"),
        (["demo"], "selectolax", "crawl"),
        (["serve", "new"], "h2", "service"),
        (["report", "edges.txt"], "jinja2", "report"),
        (["simulate", "edges.txt", "--ordering", "bfs", "--out", "new"], "jinja2", "report"),
        (["reproduce", "cho98", "--out", "new"], "jinja2", "report"),
        (["convert", "synthetic:pages=100,seed=1", "new"], "pyarrow", "lab"),
        (["evaluate", "synthetic:pages=200,seed=1", "--queries", "asked.txt", "--judge", "same"], "sklearn", "search"),
    ],
)
def test_a_missing_package_is_one_sentence_with_the_line_that_installs_it(
    args: list[str], package: str, extra: str, tmp_path: Path
) -> None:
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n2 0\n")
    (tmp_path / "asked.txt").write_text("computer\nscience\n")
    done = python(f"{WITHOUT}\nfrom frontrank.cli import main; main({args!r})", tmp_path)
    said = f"frontrank: this needs {package}, which is not installed; run: {install_line(extra)}\n"
    assert (done.returncode, done.stderr) == (2, said)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["asked.txt", "edges.txt"], "nothing is half-written"


@pytest.mark.parametrize(
    ("came_from", "beside", "active", "line"),
    [
        ('{"url": "file:///home/ann/my%20clone", "dir_info": {}}', "", True, "pip install '/home/ann/my clone[lab]'"),
        ('{"url": "file:///clone", "dir_info": {"editable": true}}', "", True, "pip install -e '/clone[lab]'"),
        ('{"url": "file:///clone", "dir_info": {}}', "", False, f"{sys.executable} -m pip install '/clone[lab]'"),
        ('{"url": "file:///clone", "dir_info": {}}', "uv-receipt.toml", False, "uv tool install '/clone[lab]'"),
        ('{"url": "file:///clone", "dir_info": {}}', "pipx_metadata.json", False, "pipx install --force '/clone[lab]'"),
        ("", "", True, "pip install 'frontrank[lab]'"),
    ],
)
def test_the_line_is_for_this_installation(
    came_from: str, beside: str, active: bool, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no such package on PyPI, pip may be another Python's, and tools have an environment of their own."""
    made = tmp_path / "frontrank-0.1.0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: frontrank\nVersion: 0.1.0\n")
    if came_from:
        (made / "direct_url.json").write_text(came_from)
    if beside:
        (tmp_path / beside).touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path) if active else "/elsewhere")
    assert install_line("lab") == line


def test_a_report_without_its_packages_is_refused_before_the_work(tmp_path: Path) -> None:
    done = python(f"{WITHOUT}\nfrom frontrank.cli import main; main(['report', 'no-such-web'])", tmp_path)
    assert "this needs jinja2" in done.stderr


def test_a_machine_that_only_crawls_needs_no_lab(tmp_path: Path) -> None:
    with run_in_process("synthetic:pages=50,links=3,seed=3") as proxy:
        args = ["crawl", "http://www.h0.example/", "--proxy", proxy, "--out", "new", "--budget", "3", "--delay", "0", "-q"]
        lab = dict.fromkeys(module for module, extra in EXTRA_OF.items() if extra in ("lab", "report", "search"))
        done = python(f"import sys; sys.modules.update({lab!r})\nfrom frontrank.cli import main; main({args!r})", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"no report.html: this needs jinja2, which is not installed; run: {install_line('report')}\n"
    assert done.stdout.startswith("3 pages fetched")


def test_the_extras_are_those_of_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    core = {_name(requirement) for requirement in project["dependencies"]}
    assert core == {"can-ada", "click", "google-re2", "numba", "numpy", "rich"}
    names = packages_distributions()
    for module, extra in EXTRA_OF.items():
        if module in names:  # duckdb and backports need not be here
            brought = {_name(requirement) for requirement in project["optional-dependencies"][extra]}
            assert brought & set(map(_normal, names[module])), f"{module} is not in the extra {extra}"


def _name(requirement: str) -> str:
    return _normal(requirement.split(">=")[0].split("[")[0])


def _normal(name: str) -> str:
    return name.lower().replace("_", "-")


def test_every_import_of_an_extra_is_announced() -> None:
    """Elsewhere than inside these: by ``system.lazy``, or in a function after need(), so that all say the same sentence."""
    paths = [
        path
        for path in sorted(SOURCE.rglob("*.py"))
        if not path.is_relative_to(INSIDE_SCRAPY)
        and not path.is_relative_to(INSIDE_SPARK)
        and path not in INSIDE_HTTP + INSIDE_GRPC
    ]
    found = [(path, *one) for path in paths for one in _imports(ast.parse(path.read_text()), set())]
    assert len(found) > 10
    assert [f"{path}:{line}: {name}" for path, line, name, announced in found if not announced] == []


def _imports(scope: ast.AST, needed: set[str]) -> Iterator[tuple[int, str, bool]]:
    """Line and name of each module of an extra that is imported at run time, and whether need() named it before."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "need":
            needed |= {str(argument.value) for argument in node.args if isinstance(argument, ast.Constant)}
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((node.lineno, name, name in needed) for name in _modules(node) & EXTRA_OF.keys())
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        yield from _imports(node, set() if inside else needed)


def _modules(node: ast.Import | ast.ImportFrom) -> set[str]:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return {name.partition(".")[0] for name in names}


def test_need_names_the_first_that_is_missing() -> None:
    need("json", "sys")
    with pytest.raises(MissingExtra, match="this needs no_such, which is not installed; run: pip install no_such"):
        need("json", "no_such", "nor_this")
