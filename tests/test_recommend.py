"""recommend: tries what the web can feed, tells ties from differences, and prints what can be pasted."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import frontrank as fr
from frontrank.errors import InputError, SpecError
from frontrank.lab.advice import ADVICE
from frontrank.lab.experiment import Measured, Values
from frontrank.lab.purpose import Purpose, candidates
from frontrank.lab.recommend import LIMIT_S, MIN_DRAWS, REACHED, SECONDS, Recommendation, ranked, recommend
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from frontrank.web.importance import importance
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web
from tests.test_cli import frontrank, good
from tests.webs import random_web

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def web() -> Web:
    return fr.load("synthetic:pages=1500,links=8,text=1,seed=4")


def test_figures_are_those_of_crawls_from_the_drawn_seeds(web: Web) -> None:
    """The naive way: crawl, count."""
    done = recommend(web, "importance", draws=3, budget=150, seeds=10)
    best = set(np.argsort(-importance(web), kind="stable")[:150].tolist())
    tried = next(one for one in done.tried if one.spec == "opic")
    for draw, value in enumerate(tried.reached.values, 1):
        order = simulate(web, parse("opic"), find_seeds(web, f"random:10@{draw}"), 150).trace.order
        assert value == pytest.approx(len(best.intersection(order.tolist())) / 150, abs=0.01)  # ties at the 150th place
    assert tried.reached.mean == pytest.approx(np.mean(tried.reached.values))
    assert tried.reached.spread == pytest.approx(np.std(tried.reached.values, ddof=1))


def test_quality_sums_the_scores_of_what_was_fetched(web: Web) -> None:
    done = recommend(web, "quality:rules", draws=1, budget=100, seeds=5)
    scores = importance(web, "quality:scorer=rules")
    for one in done.tried:
        order = simulate(web, parse(one.spec), find_seeds(web, "random:5@1"), 100).trace.order
        assert one.reached.values == pytest.approx((scores[order].sum() / np.sort(scores)[-100:].sum(),))
    assert {one.spec for one in done.tried} >= {"bfs", "group:scorer=rules", "quality:scorer=rules"}
    with pytest.raises(InputError, match="knows no texts"):
        recommend(Web.from_edges([0], [1], 2), "quality")
    with pytest.raises(SpecError, match="unknown scorer 'rule'; did you mean 'rules'"):
        Purpose.of("quality:rule")


def test_votes_count_links_from_other_hosts(web: Web) -> None:
    done = recommend(web, "votes", draws=1, budget=100, seeds=5)
    (value,) = next(one for one in done.tried if one.spec == "bfs").reached.values
    order = simulate(web, parse("bfs"), find_seeds(web, "random:5@1"), 100).trace.order.tolist()
    assert web.hosts is not None
    votes = [0] * web.pages
    for page in range(web.pages):
        for target in web.targets_of(page).tolist():
            votes[target] += int(web.hosts[page] != web.hosts[target])
    assert value == pytest.approx(sum(votes[page] for page in order) / sum(sorted(votes)[-100:]))


def recommended(**reached: list[float]) -> Recommendation:
    draws: list[dict[str, Measured]] = [
        {spec: {REACHED: values[at], SECONDS: 0.0} for spec, values in reached.items()} for at in range(2)
    ]
    return Recommendation(random_web(), Purpose("importance"), ranked(Values("web", draws)), {}, "", 2, 2, 1, ())


def test_what_lies_within_the_spread_of_the_best_is_a_tie_and_the_cheapest_tie_is_taken() -> None:
    told = recommended(rankmass=[0.5, 0.6], opic=[0.49, 0.5], bfs=[0.4, 0.41])  # spread of the best: .0707
    assert [(one.spec, one.tie) for one in told.tried] == [("rankmass", True), ("opic", True), ("bfs", False)]
    assert told.recommended.spec == "opic" and "within the spread of the best (rankmass)" in told.why()
    clear = recommended(rankmass=[0.6, 0.6], opic=[0.5, 0.5])
    assert clear.recommended.spec == "rankmass" and "0.100 above the next" in clear.why()
    equal = recommended(opic=[0.5, 0.6], backlink=[0.5, 0.58])
    assert equal.recommended.spec == "opic" and "none of them cheaper" in equal.why()


def test_webs_without_hosts_or_with_one_are_served_and_told_what_is_left_out() -> None:
    source, target = np.random.default_rng(1).integers(0, 60, (2, 300))
    bare = Web.from_edges(source, target, 60)
    one = replace(bare, hosts=np.zeros(60, np.int32), host_names=["h"])
    for web, says in ((bare, "needs a web with hosts"), (one, "one host")):
        done = recommend(web, draws=2, budget=20, seeds=3)
        assert set(done.left_out) == {"fpr:m=100", "largest-site"} and all(says in why for why in done.left_out.values())
        assert done.recommended.spec not in done.left_out
        with pytest.raises(InputError, match="ask --for importance"):
            recommend(web, "votes")


def test_searchers_need_what_they_did_or_asked(web: Web) -> None:
    with pytest.raises(InputError, match="knows neither views nor clicks nor queries"):
        recommend(web, "searchers")
    clicked = replace(web, clicks=np.random.default_rng(1).pareto(1.0, web.pages))
    done = recommend(clicked, "searchers", draws=2)
    assert {"q-overlap", "q-hybrid", "fusion"} == set(done.left_out)
    assert {one.spec for one in done.tried} == {"indegree", "pagerank", "rw", "rw-eg"}


def test_a_topic_is_asked_for_with_the_words_it_has() -> None:
    web = random_web(200, 900, seed=2, topic="new york, ny")
    done = recommend(web, "topic:new york, ny", draws=2, budget=40, seeds=5)
    asked = [parse(one.spec) for one in done.tried if one.spec.startswith("similarity:")]
    assert [policy.topic for policy in asked] == ["new york, ny"] * 3  # type: ignore[attr-defined]
    assert any(value > 0 for one in done.tried for value in one.reached.values)
    with pytest.raises(InputError, match="no page of web is about the topic"):
        recommend(web, "topic:opera")


@pytest.mark.parametrize("text", ["speed", "topic", "topic:", "quality:", "importance:x", ""])
def test_a_wish_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match="--for"):
        Purpose.of(text)


def test_a_slow_web_gets_fewer_draws_but_two() -> None:
    ticks = iter(range(0, 10**9, int(LIMIT_S)))  # each look at the clock is a minute later
    done = recommend(random_web(60, 300), draws=9, budget=10, seeds=2, clock=lambda: float(next(ticks)))
    assert done.draws == MIN_DRAWS
    assert all(len(one.reached.values) == MIN_DRAWS for one in done.tried)
    assert recommend(random_web(60, 300), draws=4, budget=10, seeds=2, clock=lambda: 0.0).draws == 4


def test_every_candidate_is_an_ordering(web: Web) -> None:
    for wish in ("importance", "quality", "quality:topic:x", "votes", "coverage", "topic:x"):
        for spec in candidates(web, Purpose.of(wish), 100):
            assert parse(spec).spec()


def test_orderings_can_be_added_to_the_candidates() -> None:
    web = random_web(60, 300)
    done = recommend(web, draws=1, budget=20, seeds=3, policies=["dfs", "bfs", "dfs"])
    assert [one.spec for one in done.tried].count("dfs") == 1 and [one.spec for one in done.tried].count("bfs") == 1
    covered = recommend(web, "coverage", draws=1, budget=20, seeds=3, policies=["bfs"])
    assert covered.left_out == {"bfs": "does not guarantee a coverage"}
    with pytest.raises(SpecError, match="did you mean 'bfs'"):
        recommend(web, policies=["bsf"])


class TestCommand:
    def test_the_table_names_orderings_and_commands_that_parse(self) -> None:
        text = good("recommend")
        rows = json.loads(good("recommend", "--json"))
        assert len(rows) == len(ADVICE)
        for row in rows:
            assert row["why"] in text and row["command"] in text
            assert shlex.split(row["command"])[:1] == ["frontrank"]
            first = re.match(r"[\w-]+(:[^; ]+)?", row["ordering"])
            assert first and parse(first[0])
        assert {row["wish"] for row in json.loads(good("recommend", "--for", "topic:x", "--json"))} == {"topic"}

    def test_on_a_web_the_next_command_can_be_pasted(self, tmp_path: Path) -> None:
        spec = "synthetic:pages=600,seed=2"
        told = json.loads(good("recommend", spec, "--draws", "2", "--seeds", "5", "--json"))
        assert told["recommended"] in told["orderings"] and told["orderings"][told["recommended"]]["tie"]
        assert told["draws"] == 2 and all(len(one["values"]) == 2 for one in told["orderings"].values())
        text = good("recommend", spec, "--draws", "2", "--seeds", "5")
        assert told["next"][0] in text and f"Take {told['recommended']}: " in text
        program, *args = shlex.split(told["next"][0])
        assert program == "frontrank" and "hot@10%" in good(*args, cwd=tmp_path)

    def test_on_a_live_crawl_the_next_command_goes_on_with_it(self, tmp_path: Path) -> None:
        with fr.Crawl(fr.parse("bfs"), tmp_path / "live") as crawl:
            crawl.seed(["http://a.example/"])
            while urls := crawl.take():
                page = int(urls[0].rpartition("/")[2] or 0)
                crawl.fetched(urls[0], links=[f"http://a.example/{n}" for n in (page * 2 + 1, page * 2 + 2) if n < 60])
        text = good("recommend", "live", "--draws", "2", cwd=tmp_path)
        assert "frontrank crawl --resume live --ordering" in text
        assert "pages it did not fetch cannot be judged" in text

    @pytest.mark.parametrize(
        ("args", "says"),
        [
            (["--for", "speed"], "known: coverage, importance"),
            (["--for", "quality:wrds"], "did you mean 'words'"),
            (["--draws", "3"], "no WEB"),
            (["no-such-web"], "no-such-web"),
            (["synthetic:pages=50", "--draws", "0"], "--draws must be a whole number from 1, got 0"),
            (["synthetic:pages=50", "--seeds", "0"], "--seeds must be a whole number from 1, got 0"),
            (["synthetic:pages=50", "--for", "searchers"], "--queries FILE"),
        ],
    )
    def test_bad_input_is_one_sentence(self, args: list[str], says: str) -> None:
        done = frontrank("recommend", *args)
        assert done.returncode == 2 and says in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


def test_the_page_holds_every_row_of_the_table() -> None:
    page = (DOCS / "which-ordering.md").read_text(encoding="utf-8")
    for row in ADVICE:
        assert f"| {row.want} | {row.have} | `{row.ordering}` | {row.why} |" in page
        assert row.command in page
