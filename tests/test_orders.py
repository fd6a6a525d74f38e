"""The engine fetches page by page what an independent plain implementation fetches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frontrank as fr
from frontrank.web.importance import importance
from frontrank.web.web import Web
from tests.oracles import orderings
from tests.scorers import by_url
from tests.webs import random_web, rows_of

ON_EVERY_WEB: dict[str, tuple[str, dict[str, Any]]] = {
    "bfs": ("bfs", {}),
    "dfs": ("dfs", {}),
    "oracle": ("oracle", {}),
    "backlink": ("backlink", {}),
    "forward": ("forward", {}),
    "opic": ("opic", {}),
    "opic:start=all": ("opic", {"start": "all"}),
    "fica:k=5": ("fica", {"k": 5, "beta": 0.1}),
    "fica:k=3,beta=0.7,schedule=inverse": ("fica", {"k": 3, "beta": 0.7, "schedule": "inverse"}),
    "fica:k=3,beta=0.7,schedule=power": ("fica", {"k": 3, "beta": 0.7, "schedule": "power"}),
    "fica:k=3,beta=0.1,schedule=linear": ("fica", {"k": 3, "beta": 0.1, "schedule": "linear"}),
    "fica:alpha=0.3": ("fica", {"alpha": 0.3}),
    "fica:alpha=1": ("fica", {"alpha": 1.0}),
    "fica:schedule=sum": ("fica", {"k": 250_000, "beta": 0.1, "schedule": "sum"}),
    "fpr": ("fpr", {}),
    "fpr:d=0.5": ("fpr", {"damping": 0.5}),
    "rankmass": ("rankmass", {"epsilon": 1e-7}),
    "rankmass:epsilon=0.001": ("rankmass", {"epsilon": 1e-3}),
    "rankmass:window=0.05": ("rankmass", {"window": 0.05}),
    "rankmass:window=0.4": ("rankmass", {"window": 0.4}),
    "surf": ("surf", {}),
    "surf:l=0.5,eps=0.01": ("surf", {"local": 0.5, "eps": 0.01}),
    "surf:l=1,g=0,m=1": ("surf", {"local": 1.0, "g": 0.0, "m": 1.0}),
    "indegree:every=1": ("indegree", {"every": 1}),
    "indegree:every=7": ("indegree", {"every": 7}),
}
SLOW = (
    "rankmass:epsilon=0.001",
    "indegree:every=1",
    *(spec for spec in ON_EVERY_WEB if spec.startswith("surf")),
)  # of the oracle
RANKS = Path(__file__).parent / "assets" / "ranks.tsv"
RANKED = {host: float(rank) for host, rank in (line.split() for line in RANKS.read_text(encoding="utf-8").splitlines()[1:])}
WITH_HOSTS: dict[str, tuple[str, dict[str, Any]]] = {
    "fpr:m=100": ("fpr", {"m": 100.0}),
    "fpr:m=2": ("fpr", {"m": 2.0}),
    "fpr:m=0.1": ("fpr", {"m": 0.1}),
    "largest-site": ("largest-site", {}),
    "domains": ("domains", {}),
    f"prior:file={RANKS}": ("prior", {"ranks": RANKED}),
    f"prior:file={RANKS},inner=backlink,budget=9": ("prior", {"ranks": RANKED, "inner": "backlink", "most": 9.0}),
    f"prior:file={RANKS},inner=bfs,power=0.3,budget=12": (
        "prior",
        {"ranks": RANKED, "inner": "bfs", "power": 0.3, "most": 12.0},
    ),
    "location": ("location", {}),
    "location:suffix=.com,suffix_bonus=1.5,word=d,word_bonus=0.5": (
        "location",
        {"suffix": ".com", "suffix_bonus": 1.5, "word": "d", "word_bonus": 0.5},
    ),
    "combine:backlink=1,location=0.3": (
        "combine",
        {"parts": [(1.0, "backlink", {}), (0.3, "location", {})]},
    ),
    "combine:opic=2,fica=0.5,fica.k=4,fpr=1,fpr.m=10": (
        "combine",
        {"parts": [(2.0, "opic", {}), (0.5, "fica", {"k": 4, "beta": 0.1}), (1.0, "fpr", {"m": 10.0})]},
    ),
}
WITH_TEXT: dict[str, tuple[str, dict[str, Any]]] = {
    "similarity:topic=computer": ("similarity", {"topic": "computer"}),
    "similarity:topic=computer,parents=off": ("similarity", {"topic": "computer", "parents": False}),
    "similarity:topic=computer,distance=1": ("similarity", {"topic": "computer", "distance": 1}),
    "similarity:topic=computer,inner=backlink": ("similarity", {"topic": "computer", "inner": "backlink"}),
    "similarity:query=computer shop": ("similarity-to-query", {"query": "computer shop"}),
    'similarity:query="shop, h2 d",title=0': ("similarity-to-query", {"query": "shop h2 d", "title": 0.0}),
    "combine:similarity=10,similarity.topic=computer,backlink=1": (
        "combine",
        {"parts": [(10.0, "similarity", {"topic": "computer"}), (1.0, "backlink", {})]},
    ),
}
WITH_SCORES: dict[str, tuple[str, dict[str, Any]]] = {
    **{
        f"quality:scorer=by_url,inherit={inherit}": ("quality", {"inherit": inherit})
        for inherit in ("mean", "max", "first", "min")
    },
    "quality:scorer=by_url,prior=0": ("quality", {"prior": 0.0}),
    "quality:scorer=by_url,inherit=own": ("oracle", {}),
    "group:scorer=by_url": ("group", {}),
    "group:scorer=by_url,depth=1,inner=bfs": ("group", {"depth": 1, "inner": "bfs"}),
    "group:scorer=by_url,depth=3,inner=backlink": ("group", {"depth": 3, "inner": "backlink"}),
    "group:scorer=by_url,depth=0,prior=0.9,strength=3": ("group", {"depth": 0, "prior": 0.9, "strength": 3.0}),
    "group:scorer=by_url,depth=3,strength=0": ("group", {"depth": 3, "strength": 0.0}),
}
REAL_HOSTS = [spec for spec in WITH_HOSTS if not spec.startswith(("domains", "prior"))]  # whose oracle is for small webs
ALL = {**ON_EVERY_WEB, **WITH_HOSTS, **WITH_TEXT, **WITH_SCORES}


def plain_order(web: Web, spec: str, seeds: list[int], budget: int) -> list[int]:
    name, params = ALL[spec]
    rows = rows_of(web)
    columns: dict[str, Any] = {}
    if spec in WITH_SCORES:
        columns["truth"] = [by_url(url, "", "") for url in web.urls or ()]
    elif name == "oracle":
        columns["truth"] = importance(web).tolist()
    if web.hosts is not None:
        columns["hosts"] = web.hosts.tolist()
    for column in ("urls", "titles", "texts"):
        if getattr(web, column) is not None and (column == "urls" or spec in WITH_TEXT):
            columns[column] = list(getattr(web, column))
    if spec in WITH_TEXT:
        assert web.anchors is not None
        flat = list(web.anchors)
        columns["anchors"] = [flat[web.indptr[p] : web.indptr[p + 1]] for p in range(web.pages)]
    return orderings.order(name, rows, seeds, budget, **columns, **params)


@pytest.mark.parametrize("spec", ALL)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), pages=st.integers(1, 60), density=st.floats(0.2, 8), starts=st.integers(1, 5))
def test_random_webs(spec: str, seed: int, pages: int, density: float, starts: int) -> None:
    web = random_web(pages, int(density * pages), seed)
    seeds = np.random.default_rng(seed).integers(0, pages, starts).tolist()
    assert fr.order(web, spec, seeds) == plain_order(web, spec, seeds, web.pages)


@pytest.mark.data
@pytest.mark.parametrize("spec", [s for s in ON_EVERY_WEB if s not in SLOW])
def test_real_graphs_without_hosts(spec: str, uk: Web) -> None:
    spec_here = {"fica:k=5": "fica:k=1388", "indegree:every=7": "indegree:every=5000"}.get(spec, spec)
    ALL[spec_here] = (ALL[spec][0], {**ALL[spec][1]})
    if spec_here == "fica:k=1388":
        ALL[spec_here][1]["k"] = 1388
    if spec_here == "indegree:every=5000":
        ALL[spec_here][1]["every"] = 5000
    seeds = np.random.default_rng(7).choice(uk.pages, 1000, replace=False).tolist()
    assert fr.order(uk, spec_here, seeds, 20_000) == plain_order(uk, spec_here, seeds, 20_000)


@pytest.mark.data
@pytest.mark.parametrize(
    "spec",
    # of a real vocabulary some words share a slot, which the plain implementation does not know
    ["backlink", "opic", "fpr", "rankmass", *REAL_HOSTS, *(spec for spec in WITH_TEXT if "query" not in spec)],
)
def test_real_site_with_hosts_and_text(spec: str, uci: Web) -> None:
    seeds = [uci.page_of("https://www.ics.uci.edu")]
    assert fr.order(uci, spec, seeds, 15_000) == plain_order(uci, spec, seeds, 15_000)


@pytest.fixture(scope="session")
def uk(data_dir: Path) -> Web:
    return fr.load(data_dir / "uk-2007-05@100000" / "uk-2007-05@100000")


@pytest.fixture(scope="session")
def uci(data_dir: Path) -> Web:
    return fr.load(data_dir / "uci-ics")


@pytest.mark.parametrize(
    ("spec", "name", "params"),
    [
        ("pagerank:every=1", "pagerank", {"every": 1}),
        ("pagerank:every=7,alpha=0.9", "pagerank", {"every": 7, "alpha": 0.9}),
        (
            "similarity:topic=computer,inner=pagerank,every=5",
            "similarity",
            {"topic": "computer", "inner": "pagerank", "every": 5},
        ),
    ],
)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), pages=st.integers(1, 50), density=st.floats(0.2, 8))
def test_pagerank_never_passes_over_a_better_page(
    spec: str, name: str, params: dict[str, Any], seed: int, pages: int, density: float
) -> None:
    """Two correct solvers round ties differently, so the order is right if no page passed over was better by more than that."""
    web = random_web(pages, int(density * pages), seed)
    columns: dict[str, Any] = {}
    if name == "similarity":
        flat = list(web.anchors or ())
        columns = {column: list(getattr(web, column)) for column in ("urls", "titles", "texts")}
        columns["anchors"] = [flat[web.indptr[p] : web.indptr[p + 1]] for p in range(web.pages)]
    seeds = [0, pages // 2]
    order = fr.order(web, spec, seeds)
    assert (
        orderings.first_wrong(name, rows_of(web), list(dict.fromkeys(seeds)), order, slack=1e-9, params=params, **columns)
        is None
    )
