"""The public face: small, on purpose, and cheap to import."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frontrank as fr
from frontrank.orderings.registry import describe, orderings, parse
from tests.specs import SPECS
from tests.test_crawl_input import ANYTHING

ROOT = Path(__file__).parent.parent


def test_all_public_names_are_there() -> None:
    for name in fr.__all__:
        assert getattr(fr, name) is not None


def test_dir_shows_the_public_names() -> None:
    assert dir(fr) == sorted(fr.__all__)


def test_importing_frontrank_imports_nothing_else() -> None:
    code = "import sys, frontrank; print([m for m in ('numpy', 'numba', 'pyarrow', 'click') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


TINY = fr.Web.from_edges([0], [1], pages=2)
MISTAKES: dict[str, Callable[[], Any]] = {  # beginnings of what is said
    "an ordering must be a specification": lambda: fr.compare(TINY, None),  # type: ignore[arg-type]
    "an ordering must be a class": lambda: fr.register(3),  # type: ignore[arg-type]
    "web must be a Web": lambda: fr.order("x", "bfs"),  # type: ignore[arg-type]
    "web must be a Web, such as": lambda: fr.compare("x", "bfs"),  # type: ignore[arg-type]
    "seeds must be a list of pages": lambda: fr.order(TINY, "bfs", seeds=5),  # type: ignore[arg-type]
    "a web must be given by its path": lambda: fr.load(3),  # type: ignore[arg-type]
    "a web must be given by its path or specification": lambda: fr.load(""),
    "politeness must be a Politeness": lambda: fr.Crawl("bfs", politeness=3),  # type: ignore[arg-type]
    "group must be a whole number of events from 1, got 0": lambda: fr.Crawl("bfs", group=0),
    "sync_s must be a number of seconds from 0, got nan": lambda: fr.Crawl("bfs", sync_s=float("nan")),
    "a ranker must be a Ranker, got 'pagerank'": lambda: fr.Periodic("pagerank"),  # type: ignore[arg-type]
    "delay_s must be a number of seconds from 0, got -1": lambda: fr.Politeness(delay_s=-1),
    "nowhere: no saved runs": lambda: fr.Runs.load("nowhere"),
    "n must be a whole number of pages": lambda: fr.Crawl("bfs").take("a"),  # type: ignore[arg-type]
    "a seed must be a URL, got None": lambda: fr.Crawl("bfs").seed(None),  # type: ignore[arg-type]
    "a page must be a URL, got None": lambda: fr.Crawl("bfs").fetched(None),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("says", MISTAKES)
def test_a_mistake_in_a_call_is_answered_in_a_sentence(says: str) -> None:
    with pytest.raises(fr.FrontrankError, match=f"^{says}"):
        MISTAKES[says]()


def test_webs_and_runs_are_shown_in_a_line() -> None:
    web = fr.load("synthetic:pages=50,seed=1")
    assert repr(web).startswith("<Web synthetic:pages=50,seed=1: 50 pages, ")
    assert repr(fr.compare(web, ["bfs", "fpr"])).endswith(">: bfs, fpr>")


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


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        (None, "a specification must be text, such as 'fpr:m=100', got None"),
        (3, "a specification must be text"),
        ("fusion:of=", "fusion: a part has no name; write fusion:of=NAME"),
        ("fusion:of=rw+", "fusion: a part has no name"),
    ],
)
def test_what_is_no_specification_is_said_to_be_none(spec: str, wrong: str) -> None:
    with pytest.raises(fr.FrontrankError, match=wrong):
        fr.parse(spec)


def test_runs_are_found_by_what_names_them() -> None:
    runs = fr.compare(fr.Web.from_edges([0, 1], [1, 2], pages=3), ["bfs", "fpr"], seeds=[0])
    named: list[Any] = ["bfs", runs["fpr"], "opic"]
    assert [one in runs for one in named] == [True, True, False]


RING: dict[str, Any] = {"source": [0, 1, 2], "target": [1, 2, 0], "pages": 3}
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {  # with what must be given
    "compare": (fr.compare, {"web": fr.Web.from_edges(**RING), "policies": ["bfs"]}),
    "order": (fr.order, {"web": fr.Web.from_edges(**RING), "policy": "bfs"}),
    "Web": (fr.Web, {"indptr": np.array([0, 1]), "targets": np.array([0], np.int32)}),
    "from_edges": (fr.Web.from_edges, RING),
    "from_networkx": (fr.Web.from_networkx, {"graph": None}),
    "from_scipy": (fr.Web.from_scipy, {"matrix": None}),
    "from_pandas": (fr.Web.from_pandas, {"edges": None}),
    "parse": (fr.parse, {"spec": None}),
}
FREE = (
    "progress",
    "source",
    "command",
    "columns",
    "name",
    "crawled_with",
    "queries",
    "seen_on",
)  # functions, and what is shown


@pytest.mark.parametrize("name", CALLS)
def test_whatever_a_call_is_given_it_is_taken_or_refused_in_a_sentence(name: str) -> None:
    call, usual = CALLS[name]
    for parameter in inspect.signature(call).parameters:
        for value in ANYTHING if parameter not in FREE or (name == "from_edges" and parameter == "source") else ():
            with suppress(fr.FrontrankError):
                call(**{**usual, parameter: value})


def test_no_more_crawls_run_at_a_time_than_there_are() -> None:
    assert len(fr.compare(fr.Web.from_edges(**RING), ["bfs", "dfs"], seeds=[0], jobs=10**12)) == 2
