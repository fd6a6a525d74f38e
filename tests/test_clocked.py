"""A simulated crawl with a clock: the politeness of a live crawl, and what they cost."""

from __future__ import annotations

import json

import numpy as np
import pytest

from frontrank.checks import searched
from frontrank.cli import main
from frontrank.crawl.crawl import Crawl
from frontrank.errors import InputError
from frontrank.frontiers.politeness import FREE, Politeness
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from frontrank.sources.synthetic import synthetic
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web
from tests.specs import SPECS

WEB = searched(synthetic("pages=300,links=6,hosts=12,text=1,seed=5"))
SEEDS = find_seeds(WEB)


@pytest.mark.parametrize("spec", SPECS)
def test_one_request_at_a_time_and_no_politeness_is_the_plain_simulation(spec: str) -> None:
    plain = simulate(WEB, parse(spec), SEEDS)
    # Interpreted: the clock's machine code, seconds of compiling for each ordering, is set beside it in the next test.
    clocked = simulate(WEB, parse(spec), SEEDS, politeness=Politeness(in_flight=1), latency_s=0.5, jit=False)
    assert clocked.trace.order.tolist() == plain.trace.order.tolist()
    assert clocked.trace.times is not None
    assert np.allclose(clocked.trace.times, 0.5 * np.arange(1, len(plain.trace.order) + 1))


@pytest.mark.parametrize(
    "politeness",
    [
        Politeness(in_flight=4, delay_s=3.0),
        Politeness(in_flight=7, per_host=2, host_budget=9),
        Politeness(in_flight=4, delay_s=3.0, pace="half"),
        Politeness(in_flight=9, per_host=1, delay_s=2.0, pace="1.5/s"),
        Politeness(in_flight=9, per_host=1, delay_s=2.0, host_budget=20, pace="200 in 180"),
    ],
)
@pytest.mark.parametrize("spec", ["bfs", "opic", "dfs", "pagerank:every=20"])
def test_the_order_is_that_of_a_live_crawl_with_the_same_clock(spec: str, politeness: Politeness) -> None:
    run = simulate(WEB, parse(spec), SEEDS, politeness=politeness, latency_s=1.0)
    assert run.trace.order.tolist() == live(spec, politeness, 1.0)
    interpreted = simulate(WEB, parse(spec), SEEDS, politeness=politeness, latency_s=1.0, jit=False)
    assert interpreted.trace.order.tolist() == run.trace.order.tolist()


def live(spec: str, politeness: Politeness, latency_s: float) -> list[int]:
    """The same crawl, event by event, with a queue of requests kept here."""
    assert WEB.urls is not None
    number = {url: page for page, url in enumerate(WEB.urls)}
    crawl = Crawl(parse(spec), politeness=politeness)
    now = 0.0
    crawl.seed([WEB.urls[page] for page in SEEDS], now=now)
    flying: list[tuple[float, str]] = []
    order = []
    while True:
        flying += [(now + latency_s, url) for url in crawl.take(WEB.pages, now=now)]
        ready = crawl.next_at()
        if flying and (ready is None or not now < ready < flying[0][0]):
            now, url = flying.pop(0)
            order.append(number[url])
            crawl.fetched(url, [WEB.urls[q] for q in WEB.targets_of(number[url])], now=now)
        elif ready is None:
            return order
        else:
            now = max(now, ready)


def test_no_host_is_asked_more_often_than_its_delay_allows() -> None:
    trace = simulate(WEB, parse("fpr"), SEEDS, politeness=Politeness(in_flight=50, delay_s=2.0), latency_s=0.25).trace
    assert trace.times is not None and WEB.hosts is not None and trace.fetched == WEB.pages
    for host in range(12):
        gaps = np.diff(trace.times[WEB.hosts[trace.order] == host])
        assert (gaps >= 2.0 - 1e-9).all()


def test_a_web_without_hosts_cannot_be_treated_politely() -> None:
    web = Web.from_edges([0, 1], [1, 2], 3)
    assert simulate(web, parse("bfs"), np.array([0]), politeness=FREE).trace.order.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="has no hosts"):
        simulate(web, parse("bfs"), np.array([0]), politeness=Politeness(delay_s=1.0))


def test_the_command_tells_the_time_of_the_clock(capsys: pytest.CaptureFixture[str]) -> None:
    web = "synthetic:pages=200,links=4,seed=1"
    main(["simulate", web, "--ordering", "bfs", "--in-flight", "2", "--latency", "0.5", "--json"])
    assert json.loads(capsys.readouterr().out)["policies"]["bfs"]["clock_s"] == pytest.approx(50.0, abs=3.0)
    main(["simulate", web, "--ordering", "bfs", "--host-delay", "1"])
    assert "200 pages in" in capsys.readouterr().out
