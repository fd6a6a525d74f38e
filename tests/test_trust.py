"""Trust: the restart vector of a file, in every ordering that takes one; and what can be covered at all."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import frontrank as fr
from frontrank.cli.simulate import command
from frontrank.crawl.crawl import Crawl
from frontrank.errors import FrontrankError, InputError
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.orderings.online.fpr import FractionalPageRank
from frontrank.orderings.online.rankmass import RankMass
from frontrank.orderings.online.surf import Surf
from frontrank.orderings.ranker import Periodic
from frontrank.orderings.registry import parse
from frontrank.orderings.stored import from_data, to_data
from frontrank.orderings.trust import NO_TRUST, Trust, written_out
from frontrank.simulation.simulate import simulate
from frontrank.sources.synthetic import synthetic
from frontrank.web.view import CrawlView
from frontrank.web.web import Web
from tests.oracles import orderings
from tests.webs import random_web, rows_of

URLS = ["http://a.org/", "http://a.org/x", "http://b.org/", "http://b.org/y", "http://c.org/z"]


def chain() -> Web:
    """0 -> 1 -> 2 -> 3 -> 4 and 0 -> 4, on three hosts."""
    return Web.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 4, 4], pages=5, urls=URLS)


def written(folder: Path, text: str) -> str:
    path = folder / "trust.tsv"
    path.write_text(text, encoding="utf-8")
    return str(path)


# Against plain implementations -----------------------------------------------------------------------------------------
@st.composite
def trusted_webs(draw: Any) -> tuple[Web, dict[str, float]]:
    web = random_web(draw(st.integers(2, 50)), draw(st.integers(1, 250)), draw(st.integers(0, 10**6)))
    urls = list(web.urls or ())
    hosts = sorted({url.split("/")[2] for url in urls})
    names = draw(st.lists(st.sampled_from([*urls, *hosts, "nowhere.example"]), min_size=1, max_size=6, unique=True))
    weights = draw(st.lists(st.floats(0.1, 9.0), min_size=len(names), max_size=len(names)))
    return web, dict(zip(names, weights, strict=True))


@pytest.mark.parametrize(
    ("make", "name", "params"),
    [
        (lambda trust: FractionalPageRank(trust=trust), "fpr", {}),
        (lambda trust: FractionalPageRank(m=20.0, trust=trust), "fpr", {"m": 20.0}),
        (lambda trust: RankMass(trust=trust), "rankmass", {"epsilon": 1e-7}),
        (lambda trust: RankMass(window=0.2, trust=trust), "rankmass", {"window": 0.2}),
        (lambda trust: Surf(trust=trust), "surf", {}),
        (lambda trust: Surf(l=0.0, trust=trust), "surf", {"local": 0.0}),
    ],
)
@settings(max_examples=25, deadline=None)
@given(trusted_webs())
def test_trust_is_paid_to_pages_as_they_are_discovered(
    make: Any, name: str, params: dict[str, Any], given: tuple[Web, dict[str, float]]
) -> None:
    web, weights = given
    trust = Trust("given", tuple(weights), tuple(weights.values()))
    if len(trust.unknown(web)) == len(weights):
        return
    seeds = [0, web.pages // 2]
    shares = dict(zip(trust.names, trust.shares.tolist(), strict=True))
    assert web.hosts is not None
    plain = orderings.order(
        name, rows_of(web), seeds, web.pages, urls=list(web.urls or ()), hosts=web.hosts.tolist(), trust=shares, **params
    )
    assert fr.order(web, make(trust), seeds) == plain


@settings(max_examples=20, deadline=None)
@given(trusted_webs())
def test_pagerank_restarts_at_trusted_pages_alone(given: tuple[Web, dict[str, float]]) -> None:
    web, weights = given
    trust = Trust("given", tuple(weights), tuple(weights.values()))
    if len(trust.unknown(web)) == len(weights):
        return
    shares = dict(zip(trust.names, trust.shares.tolist(), strict=True))
    seeds = list(dict.fromkeys([0, web.pages // 2]))
    order = fr.order(web, Periodic(PageRank(trust=trust), 3), seeds)
    columns: dict[str, Any] = {"urls": list(web.urls or ()), "trust": shares}
    wrong = orderings.first_wrong("pagerank", rows_of(web), seeds, order, slack=1e-9, params={"every": 3}, **columns)
    assert wrong is None


def test_trust_in_all_pages_alike_is_plain_pagerank() -> None:
    web = random_web(40, 200, 3)
    trust = Trust("all", tuple(web.urls or ()), (1.0,) * web.pages)
    view = CrawlView.of(web, np.array([0, 5]), np.arange(20))
    same = PageRank(trust=trust).score(view)
    assert same == pytest.approx(PageRank().score(CrawlView.of(web, np.array([0, 5]), np.arange(20))), abs=1e-9)


def test_trust_in_the_seeds_alike_is_the_default() -> None:
    web = random_web(60, 300, 4)
    seeds = [3, 7]
    assert web.urls is not None
    trust = Trust("seeds", tuple(web.urls[s] for s in seeds), (1.0, 1.0))
    for make in (FractionalPageRank, RankMass):
        assert fr.order(web, make(trust=trust), seeds) == fr.order(web, make(), seeds)


# Files -------------------------------------------------------------------------------------------------------------------
def test_a_file_has_pages_hosts_and_weights(tmp_path: Path) -> None:
    text = "\ufeffurl,weight\n# good ones\nHTTP://A.org/x, 3\nb.ORG\t1\n\nc.org\n"
    trust = Trust.read(written(tmp_path, text))
    assert trust.names == ("http://a.org/x", "b.org", "c.org")
    assert trust.weights == (3.0, 1.0, 1.0)
    assert trust.shares.tolist() == [0.6, 0.2, 0.2]
    assert [trust.line_of(url) for url in URLS] == [0.0, 1.0, 2.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a.org -1\n", "line 1: a weight must be a finite number from 0, got -1"),
        ("a.org 1\nb.org much\n", "line 2: a weight must be a finite number from 0, got much"),
        ("a.org inf\n", "got inf"),
        ("a.org nan\n", "got nan"),
        ("a.org 1 2\n", "a line must be a URL or host and a weight, got 'a.org 1 2'"),
        ("a.org 1\nA.org 2\n", "line 2: 'a.org' must be given once, got it twice"),
        ("", "names no page; it must have one URL or host, and its weight, per line"),
        ("# nobody\n", "names no page"),
        ("a.org 0\n", "at least one weight must be above 0, got none"),
    ],
)
@pytest.mark.parametrize("ordering", ["fpr", "rankmass", "pagerank"])
def test_a_bad_file_is_refused_with_a_sentence(tmp_path: Path, ordering: str, text: str, says: str) -> None:
    with pytest.raises(InputError) as error:
        parse(f"{ordering}:trust={written(tmp_path, text)}")
    assert says in str(error.value)
    assert "trust.tsv" in str(error.value)


def test_a_missing_file_is_said() -> None:
    with pytest.raises(FrontrankError, match=r"there is no trust file 'none\.tsv'"):
        parse("fpr:trust=none.tsv")


def test_names_that_a_web_does_not_have_are_told_and_nothing_but_such_names_is_refused(tmp_path: Path) -> None:
    web = chain()
    some = written(tmp_path, "b.org 1\nelsewhere.example 1\nhttp://a.org/none 1\n")
    runs = fr.compare(web, f"fpr:trust={some}", seeds=[0])
    assert f"{some}: 2 of 3 names are not in web: elsewhere.example, http://a.org/none" in runs.frame().notes
    none = written(tmp_path, "elsewhere.example 1\n")
    for ordering in ("fpr", "rankmass", "pagerank"):
        with pytest.raises(InputError, match=r"must name pages or hosts of web, got none of them: elsewhere\.example"):
            fr.order(web, f"{ordering}:trust={none}", seeds=[0])


def test_a_web_without_urls_is_refused(tmp_path: Path) -> None:
    web = Web.from_edges([0], [1], pages=2)
    for ordering in ("fpr", "rankmass", "pagerank"):
        with pytest.raises(InputError, match="needs a web with urls"):
            fr.order(web, f"{ordering}:trust={written(tmp_path, 'a.org 1')}", seeds=[0])


def test_the_command_refuses_a_bad_file(tmp_path: Path) -> None:
    spec = f"fpr:trust={written(tmp_path, 'a.org -1')}"
    result = CliRunner().invoke(command, ["synthetic:pages=50", "--ordering", spec])
    assert "a weight must be a finite number from 0, got -1" in str(result.exception)


# What is stored ------------------------------------------------------------------------------------------------------------
def test_a_crawl_keeps_the_trust_it_began_with(tmp_path: Path) -> None:
    path = written(tmp_path, "b.org 3\nhttp://a.org/ 1\n")
    policy = parse(f"rankmass:trust={path}")
    assert from_data(json.loads(json.dumps(to_data(policy)))) == policy
    crawl = Crawl(policy, tmp_path / "crawl")
    crawl.seed([URLS[0]])
    crawl.take()
    crawl.fetched(URLS[0], links=[URLS[4], URLS[2]])
    crawl.abandon()
    Path(path).unlink()
    again = Crawl.recover(tmp_path / "crawl")
    assert again.state.policy == policy
    assert again.inspect.gauges()["trust"] == 1.0
    assert again.take() == [URLS[2]]  # .75 of all trust, before the page that is linked to first
    again.abandon()
    Path(path).write_text("c.org 1\n", encoding="utf-8")
    with pytest.raises(FrontrankError, match="crawl"):
        Crawl.recover(tmp_path / "crawl", f"rankmass:trust={path}")


@settings(max_examples=30, deadline=None)
@given(trusted_webs())
def test_what_is_written_out_needs_no_file(given: tuple[Web, dict[str, float]]) -> None:
    _, weights = given
    trust = Trust("some, where.tsv", tuple(weights), tuple(weights.values()))
    for policy in (FractionalPageRank(m=2.5, trust=trust), RankMass(trust=trust), Periodic(PageRank(trust=trust), 7)):
        assert parse(written_out(policy)) == policy
        assert parse(written_out(policy)).spec() == policy.spec()


def test_no_trust_is_written_nowhere() -> None:
    assert parse("fpr").spec() == "fpr"
    assert FractionalPageRank(trust=NO_TRUST) == parse("fpr:trust=")


# What can be covered --------------------------------------------------------------------------------------------------------
def test_all_that_can_be_covered_is_when_everything_is_fetched() -> None:
    """Half of the mass that leaves the seed ends at a page without links; 90% of what does not is soon covered."""
    web = Web.from_edges([0, 0, 1], [1, 2, 0], pages=3)
    run = simulate(web, parse("rankmass:epsilon=1e-12"), np.array([0]))
    told = {name: values[-1][1] for name, values in run.trace.gauges.items()}
    # x0 = .15 + .85 x1, x1 = x2 = .425 x0: what page 2 has is not handed on
    x0 = 0.15 / (1 - 0.85 * 0.425)
    assert told["reachable"] == pytest.approx(x0 * (1 + 2 * 0.425), abs=1e-9)
    assert told["coverage"] == pytest.approx(1.0, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.floats(0.3, 4.0))
def test_coverage_only_grows_and_ends_at_one(seed: int, pages: int, density: float) -> None:
    web = random_web(pages, int(density * pages), seed)
    gauges = simulate(web, parse("rankmass:epsilon=1e-12"), np.array([0, pages // 2])).trace.gauges
    coverage = [value for _, value in gauges["coverage"]]
    assert all(a <= b + 1e-12 for a, b in itertools.pairwise(coverage))
    assert coverage[-1] == pytest.approx(1.0, abs=1e-6)
    reachable = [value for _, value in gauges["reachable"]]
    assert all(a >= b - 1e-12 for a, b in itertools.pairwise(reachable))


def test_a_crawl_that_leaks_still_reaches_its_coverage() -> None:
    web = synthetic("pages=2000,seed=3,text=0")
    run = simulate(web, parse("rankmass:until=0.99"), np.array([0]))
    assert run.trace.ended == "stopping rule"
    assert run.trace.gauges["reachable"][-1][1] < 0.99
