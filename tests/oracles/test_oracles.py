"""The oracles themselves: the papers' worked examples, conserved mass, and keys counted anew before every fetch."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.oracles import measures
from tests.oracles.orderings import (
    ORDERINGS,
    Crawl,
    FractionalPageRank,
    Opic,
    Queue,
    first_wrong,
    make,
    order,
    play,
    rank_mass,
)

Rows = list[list[int]]
SEEDS = range(30)


def random_web(seed: int, pages: int = 40, most: int = 6) -> Rows:
    """Rows of distinct targets, some empty, low pages linked to more often."""
    draw = random.Random(seed)
    rows = []
    for p in range(pages):
        drawn = [int(pages * draw.random() ** 2) for _ in range(draw.randint(0, most))]
        rows.append([q for q in dict.fromkeys(drawn) if q != p])
    return rows


def by_definition(rows: Rows, seeds: Sequence[int], key: Callable[[int, list[int]], Any]) -> list[int]:
    """A crawl that asks key(q, fetched so far) of every waiting page before every fetch."""
    known, fetched = list(dict.fromkeys(seeds)), list[int]()
    while waiting := [q for q in known if q not in fetched]:
        p = max(waiting, key=lambda q: (key(q, fetched), -known.index(q)))
        fetched.append(p)
        known += [q for q in rows[p] if q not in known]
    return fetched


def test_fica_crawls_figure_1_in_the_order_of_the_paper() -> None:
    p, q, r, s, t, u, v, w = range(8)
    rows = [[q, r], [s, t, u], [v, w], [8, 9, 10, 11], [], [], [], [], [], [], [], []]
    for schedule in ("exp", "sum"):
        assert order("fica", rows, [p], 8, schedule=schedule) == [p, q, r, v, w, s, t, u]
    distance = [-key for key in play("fica", rows, [p], 8, {"schedule": "sum"}).key]
    assert distance[t] == math.log10(2) + math.log10(3)
    assert distance[v] == math.log10(2) + math.log10(2)


def test_fica_takes_the_shorter_way_by_equation_2() -> None:
    rows: Rows = [[*range(1, 11)], *[[] for _ in range(10)]]
    fica = make("fica", Crawl(rows, [0]), schedule="sum")
    fica.key[0], fica.key[1] = -0.4, -2.3
    fica.learn(0)
    assert fica.key[1] == -1.4


def test_fica_learns_more_slowly_with_every_k_pages() -> None:
    rows = [[1, 2], [3, 4, 5], [], [], [], []]
    fica = play("fica", rows, [0], 2, {"k": 1, "beta": 0.5})
    first, second = math.exp(-0.5), math.exp(-1.0)
    at_1 = first * math.log10(2) + (1 - first) * 0.0
    assert -fica.key[1] == at_1
    assert -fica.key[3] == second * math.log10(3) + (1 - second) * at_1


@pytest.mark.parametrize(
    ("schedule", "rate"),
    [("exp", math.exp(-2.0)), ("inverse", 0.5), ("power", 2.0**-2.1), ("linear", 0.0)],
)
def test_fica_schedules_are_functions_of_beta_t(schedule: str, rate: float) -> None:
    fica = play("fica", [[1, 2, 3], [], [], []], [0], 1, {"k": 1, "beta": 2.0, "schedule": schedule})
    assert -fica.key[1] == rate * math.log10(3)


def test_fpr_crawls_figure_2_in_the_order_and_with_the_values_of_the_paper() -> None:
    a, b, c, d, e = range(5)
    rows = [[b, c], [d, e], [e], [], []]
    values = []
    fpr = make("fpr", Crawl(rows, [a]))
    queue = Queue(fpr)
    while (p := queue.best()) is not None:
        values.append((p, fpr.key[p]))
        queue.fetch(p)
        if p == b:
            assert fpr.key[e] == pytest.approx(0.02709375, abs=1e-15)
    assert [p for p, _ in values] == [a, b, c, e, d]
    assert [f for _, f in values] == pytest.approx([0.15, 0.06375, 0.06375, 0.08128125, 0.02709375], abs=1e-15)


def test_fpr_gives_a_link_to_another_host_m_times_as_much() -> None:
    rows: Rows = [[1, 2, 3], [], [], []]
    fpr = FractionalPageRank(Crawl(rows, [0], hosts=[0, 0, 0, 1]), m=100.0)
    fpr.learn(0)
    assert fpr.key[3] == pytest.approx(100 * fpr.key[1])
    assert fpr.key[1] == fpr.key[2]
    assert sum(fpr.key) == pytest.approx(0.85 * 0.15)


@pytest.mark.parametrize("seed", SEEDS)
def test_fpr_with_m_1_does_not_ask_for_hosts(seed: int) -> None:
    rows = random_web(seed)
    hosts = [p % 5 for p in range(len(rows))]
    assert order("fpr", rows, [0, 1], 40) == order("fpr", rows, [0, 1], 40, hosts=hosts, m=1)
    assert order("fpr", rows, [0, 1], 40) == order("fpr", rows, [0, 1], 40, hosts=[0] * 40, m=100)


@pytest.mark.parametrize("seed", SEEDS)
def test_opic_keeps_the_cash_that_the_seeds_brought(seed: int) -> None:
    rows = random_web(seed)
    opic = play("opic", rows, [0, 1, 2], 25, {})
    assert isinstance(opic, Opic)
    ended = sum(opic.history[p] for p in opic.crawl.order if not rows[p])
    assert sum(opic.key) + ended == pytest.approx(1.0)


@pytest.mark.parametrize("window", [None, 0.05, 0.3])
@pytest.mark.parametrize("seed", SEEDS)
def test_rank_mass_is_covered_waiting_or_lost_to_pages_without_links(seed: int, window: float | None) -> None:
    made = rank_mass(Crawl(random_web(seed), [0, 1, 2]), 25, window)
    # A page with mass r covers r, and will yet cover r * d / (1 - d) through the links that pass it on.
    assert made.covered + sum(made.r) / 0.15 + made.left / 0.15 == pytest.approx(1.0)


def personalised_pagerank(rows: Rows, seeds: Sequence[int]) -> list[float]:
    x, seeded = [0.0] * len(rows), [0.15 / len(seeds) if p in seeds else 0.0 for p in range(len(rows))]
    for _ in range(300):
        new = list(seeded)
        for p, row in enumerate(rows):
            for q in row:
                new[q] += 0.85 * x[p] / len(row)
        x = new
    return x


@pytest.mark.parametrize("seed", SEEDS)
def test_rank_mass_covers_no_more_than_the_fetched_pages_have(seed: int) -> None:
    rows, seeds = random_web(seed), [0, 1, 2]
    truth = personalised_pagerank(rows, seeds)
    for budget in (3, 10, 25):
        made = rank_mass(Crawl(rows, seeds), budget, epsilon=1e-12)
        held = sum(truth[p] for p in made.crawl.order)
        assert made.covered <= held + 1e-12
    made.cascade()
    assert made.covered <= held + 1e-12


@pytest.mark.parametrize("epsilon", [1e-3, 1e-7])
@pytest.mark.parametrize("seed", SEEDS)
def test_rank_mass_takes_the_largest_mass_by_a_full_scan(seed: int, epsilon: float) -> None:
    rows = random_web(seed)
    known, fetched = [0, 1], list[int]()
    r = dict.fromkeys(known, (1.0 - 0.85) * (1.0 / 2))
    while any(q not in fetched for q in known):
        p = max(known, key=lambda q: (r[q], -known.index(q)))
        if p in fetched and r[p] <= epsilon:
            p = max((q for q in known if q not in fetched), key=lambda q: (r[q], -known.index(q)))
        if p not in fetched:
            fetched.append(p)
        known += [q for q in rows[p] if q not in known]
        mass, r[p] = r[p], 0.0
        for q in rows[p]:
            r[q] = r.get(q, 0.0) + (0.85 * mass) / len(rows[p])
    assert order("rankmass", rows, [0, 1], 40, epsilon=epsilon) == fetched


def test_rank_mass_with_a_whole_window_goes_level_by_level() -> None:
    rows: Rows = [[1, 2], [3], [4], [0], [0, 5], []]
    assert order("rankmass", rows, [0], 6, window=1.0) == [0, 1, 2, 3, 4, 5]


def test_rank_mass_windows_use_the_mass_at_the_turn() -> None:
    # Round 2 has the batch 1, 2 of r = (0.06375, 0.06375, 0); 1 gives to 2 before 2 is handled.
    made = rank_mass(Crawl([[1, 2], [2], [3, 4], [], []], [0]), 3, 0.7)
    assert made.crawl.order == [0, 1, 2]
    assert made.covered == pytest.approx(0.15 + 0.06375 + 0.06375 + 0.85 * 0.06375)


@pytest.mark.parametrize("seed", SEEDS)
def test_keys_counted_anew_before_every_fetch_give_the_same_orders(seed: int) -> None:
    rows, seeds = random_web(seed), [3, 0, 3, 1]

    def backlinks(q: int, fetched: list[int]) -> int:
        return sum(q in rows[p] for p in fetched)

    def out_of_parents(q: int, fetched: list[int]) -> float:
        parents = [len(rows[p]) for p in fetched if q in rows[p]]
        return sum(parents) / len(parents) if parents else 0.0

    def cash(q: int, fetched: list[int]) -> float:
        held = dict.fromkeys(seeds, 1.0 / 3)
        for p in fetched:
            for t in rows[p]:
                held[t] = held.get(t, 0.0) + held[p] / len(rows[p])
            held[p] = 0.0
        return held[q]

    for name, key in (("backlink", backlinks), ("forward", out_of_parents), ("opic", cash)):
        assert order(name, rows, seeds, 40) == by_definition(rows, seeds, key), name
    assert order("bfs", rows, seeds, 40) == by_definition(rows, seeds, lambda q, fetched: 0)
    assert order("indegree", rows, seeds, 40, every=1) == order("backlink", rows, seeds, 40)


@pytest.mark.parametrize("seed", SEEDS)
def test_breadth_first_is_a_queue_and_depth_first_a_stack(seed: int) -> None:
    rows = random_web(seed)
    queue = [0, 1, 2]
    for p in queue:
        queue += [q for q in rows[p] if q not in queue]
    assert order("bfs", rows, [0, 1, 2], 40) == queue
    stack, known, fetched = [0, 1, 2], {0, 1, 2}, []
    while stack:
        fetched.append(stack.pop())
        for q in rows[fetched[-1]]:
            if q not in known:
                known.add(q)
                stack.append(q)
    assert order("dfs", rows, [0, 1, 2], 40) == fetched


@pytest.mark.parametrize("seed", SEEDS)
def test_the_heap_of_hosts_equals_the_scan_of_pages(seed: int) -> None:
    rows = random_web(seed, pages=80)
    hosts = [p % 7 for p in range(80)]
    fast = order("largest-site", rows, [5, 1, 5, 9], 60, hosts=hosts)
    assert fast == order("largest-site-scan", rows, [5, 1, 9], 60, hosts=hosts)


def test_the_largest_site_is_counted_after_the_last_fetch() -> None:
    # Host 1 has two pages waiting, host 0 one; after one of them went it is a tie, and 1 was found first.
    rows: Rows = [[1, 2, 3], [], [], []]
    assert order("largest-site", rows, [0], 4, hosts=[0, 0, 1, 1]) == [0, 2, 1, 3]


def test_location_prefers_few_slashes_and_adds_bonuses() -> None:
    urls = ["http://a.org/x/y/", "http://a.org/x", "http://b.com/x/y/z/home", "http://b.com/q"]
    rows: Rows = [[], [], [], []]
    assert order("location", rows, range(4), 4, urls=urls) == [1, 3, 0, 2]
    assert order("location", rows, range(4), 4, urls=urls, suffix=".com", suffix_bonus=1.5) == [3, 1, 2, 0]
    assert order("location", rows, range(4), 4, urls=urls, word="home", word_bonus=9.0) == [2, 1, 3, 0]


def test_similarity_puts_links_with_the_topic_in_anchor_or_url_first() -> None:
    rows: Rows = [[1, 2, 3, 4], [], [], [], []]
    anchors = [["news", "Chess club", "", ""], [], [], [], []]
    urls = ["http://a/", "http://a/1", "http://a/2", "http://a/CHESS", "http://a/4"]
    assert order("similarity", rows, [0], 5, topic="chess", anchors=anchors, urls=urls) == [0, 2, 3, 1, 4]


def test_similarity_follows_hot_pages_for_the_given_distance() -> None:
    rows: Rows = [[1, 5], [2], [3], [4], [], [6], [7], [8], []]
    titles = ["", "", "", "", "", "On chess", "", "", ""]
    hot = order("similarity", rows, [0], 9, topic="chess", titles=titles, distance=2)
    assert hot == [0, 1, 5, 6, 7, 2, 8, 3, 4]
    assert order("similarity", rows, [0], 9, topic="chess", titles=titles, parents=False) == order("bfs", rows, [0], 9)


def test_similarity_counts_the_topic_in_the_body() -> None:
    rows: Rows = [[3], [4], [], [], []]
    for times, expected in ((9, [0, 1, 2, 3, 4]), (10, [0, 1, 4, 2, 3])):
        texts = ["", "Chess " * times, "", "", ""]
        assert order("similarity", rows, [0, 1, 2], 5, topic="chess", texts=texts, distance=1) == expected


def hot_by_definition(rows: Rows, named: set[tuple[int, int]], content: set[int], distance: int) -> Callable[..., bool]:
    def hot(q: int, fetched: list[int]) -> bool:
        if any((p, q) in named for p in fetched if q in rows[p]):
            return True
        reached = {p for p in fetched if p in content}
        for _ in range(distance):
            reached |= {t for p in reached if p in fetched for t in rows[p]}
        return q in reached

    return hot


@pytest.mark.parametrize("distance", [1, 2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_similarity_is_by_state_however_late_a_hot_page_is_found(seed: int, distance: int) -> None:
    rows, draw = random_web(seed, pages=60, most=4), random.Random(seed)
    content = {p for p in range(60) if draw.random() < 0.08}
    named = {(p, q) for p, row in enumerate(rows) for q in row if draw.random() < 0.05}
    titles = ["Topic" if p in content else "" for p in range(60)]
    anchors = [["a topic" if (p, q) in named else "" for q in row] for p, row in enumerate(rows)]
    hot = hot_by_definition(rows, named, content, distance)
    given: dict[str, Any] = {"topic": "topic", "titles": titles, "anchors": anchors, "distance": distance}
    assert order("similarity", rows, [0, 1], 60, **given) == by_definition(rows, [0, 1], hot)

    def hot_then_backlinks(q: int, fetched: list[int]) -> tuple[bool, int]:
        return hot(q, fetched), sum(q in rows[p] for p in fetched)

    inner = order("similarity", rows, [0, 1], 60, inner="backlink", **given)
    assert inner == by_definition(rows, [0, 1], hot_then_backlinks)


def test_new_pages_wait_behind_ranked_ones_until_the_next_ranking() -> None:
    # 3 has two links after the third fetch, more than 4 and 5, but was discovered after them.
    rows: Rows = [[1, 2, 4, 5], [3], [3], [], [], []]
    assert order("indegree", rows, [0], 6, every=3) == [0, 1, 2, 3, 4, 5]
    assert order("indegree", rows, [0], 6, every=4) == [0, 1, 2, 4, 3, 5]
    assert order("pagerank", rows, [0], 6, every=3) == [0, 1, 2, 3, 4, 5]
    assert order("pagerank", rows, [0], 6, every=4) == [0, 1, 2, 4, 3, 5]


@pytest.mark.parametrize("seed", range(10))
def test_the_ranking_of_pagerank_equals_a_dense_solve_on_known_pages(seed: int) -> None:
    rows = random_web(seed)
    ranked = play("pagerank", rows, [0, 1], 12, {"every": 12})
    crawl = ranked.crawl
    seen = [[crawl.number[q] for q in rows[p]] if crawl.fetched[p] else [] for p in crawl.known]
    truth = measures.pagerank(seen)
    for q in crawl.known:
        if not crawl.fetched[q]:
            assert ranked.key[q] == pytest.approx(truth[crawl.number[q]], abs=1e-11)


@pytest.mark.parametrize("name", ["backlink", "pagerank", "fica", "fpr"])
def test_an_ordering_finds_its_own_order_right(name: str) -> None:
    for seed in SEEDS:
        rows, params = random_web(seed), ({"every": 5} if name == "pagerank" else {})
        right = play(name, rows, [0, 1], 30, params).crawl.order
        assert first_wrong(name, rows, [0, 1], right, params=params) is None


def test_an_order_from_elsewhere_is_wrong_where_it_passes_over_a_better_page() -> None:
    rows: Rows = [[1, 2, 3], [3], [4], [], []]
    assert order("backlink", rows, [0], 4) == [0, 1, 3, 2]
    assert first_wrong("backlink", rows, [0], [0, 1, 2, 3]) == 2
    assert first_wrong("backlink", rows, [0], [0, 1, 2, 3], slack=1.0) is None
    assert first_wrong("backlink", rows, [0], [0, 2, 1, 3]) is None, "2 and 1 are equal"
    assert first_wrong("backlink", rows, [0], [0, 4], slack=9.0) == 1, "4 is not known yet"
    assert first_wrong("backlink", rows, [0], [0, 1, 0], slack=9.0) == 2, "0 was fetched before"


def test_a_sum_of_one_part_is_that_part() -> None:
    for seed in SEEDS:
        rows = random_web(seed)
        for name in ("backlink", "forward", "fica", "opic", "fpr"):
            assert order("combine", rows, [0, 1], 40, parts=[(2.0, name, {})]) == order(name, rows, [0, 1], 40)


@pytest.mark.parametrize("seed", range(10))
def test_a_sum_adds_weighted_keys(seed: int) -> None:
    rows = random_web(seed)
    urls = [f"http://a/{'x/' * (p % 4)}{p}" for p in range(40)]

    def key(q: int, fetched: list[int]) -> float:
        parents = [len(rows[p]) for p in fetched if q in rows[p]]
        return 2.0 * len(parents) + 0.5 * (sum(parents) / len(parents) if parents else 0.0) - 1.5 * urls[q].count("/")

    parts = [(2.0, "backlink", dict[str, Any]()), (0.5, "forward", {}), (1.5, "location", {})]
    assert order("combine", rows, [0, 1], 40, urls=urls, parts=parts) == by_definition(rows, [0, 1], key)


@pytest.mark.parametrize("name", [*sorted(set(ORDERINGS) - {"combine"}), "rankmass", "largest-site"])
def test_every_ordering_fetches_each_reachable_page_once_and_heeds_the_budget(name: str) -> None:
    rows = random_web(11)
    asked: dict[str, dict[str, Any]] = {
        "similarity": {"topic": "x"},
        "similarity-to-query": {"query": "x"},
        "prior": {"ranks": {"a": 1.0}},
    }
    given = asked.get(name, {})
    columns: dict[str, Any] = {"hosts": [p % 3 for p in range(40)], "urls": ["http://a/"] * 40, "truth": [1.0] * 40}
    if name == "similarity-to-query":
        columns |= {"titles": [""] * 40, "texts": [""] * 40, "anchors": [[""] * len(row) for row in rows]}
    whole = order(name, rows, [7, 0, 7], 1000, **columns, **given)
    assert sorted(whole) == sorted(order("bfs", rows, [7, 0], 1000))
    assert len(whole) == len(set(whole))
    assert order(name, rows, [7, 0], 9, **columns, **given) == whole[:9]


def test_an_ideal_crawler_has_all_hot_pages_at_every_moment() -> None:
    rows = random_web(2)
    truth = measures.pagerank(rows)
    ideal = order("oracle", rows, range(40), 40, truth=truth)
    assert all(measures.crawl_and_stop(ideal, truth, k) == 1.0 for k in range(1, 41))
    assert all(measures.relative_mass(ideal, truth, k) == pytest.approx(1.0) for k in range(1, 41))
    assert measures.mass(ideal, truth, 40) == pytest.approx(1.0)


def test_a_random_crawler_reaches_k_of_n_in_expectation() -> None:
    truth, draw, pages = [float(p) for p in range(50)], random.Random(1), list(range(50))
    for k in (5, 20, 40):
        runs = [measures.crawl_and_stop(draw.sample(pages, 50), truth, k) for _ in range(2000)]
        assert sum(runs) / len(runs) == pytest.approx(k / 50, abs=0.02)


def test_ties_at_the_threshold_are_all_hot() -> None:
    importance = [3.0, 1.0, 1.0, 0.0]
    assert measures.crawl_and_stop([0, 2], importance, 2) == 1.0
    assert measures.crawl_and_stop([0, 3], importance, 2) == 0.5
    assert measures.crawl_with_threshold([0, 3, 1], importance, 1.0, 3) == pytest.approx(2 / 3)


def test_kendall_tau_b_by_hand() -> None:
    assert measures.kendall_tau_b([1, 2, 3], [10, 20, 30]) == 1.0
    assert measures.kendall_tau_b([1, 2, 3], [3, 2, 1]) == -1.0
    # Pairs: five differ in x and five in y, four in both, all of those four agree.
    assert measures.kendall_tau_b([1, 1, 2, 3], [1, 2, 2, 3]) == pytest.approx(4 / 5)
    assert math.isnan(measures.kendall_tau_b([1, 1], [1, 2]))


def test_pagerank_by_dense_solve_has_closed_forms() -> None:
    assert measures.pagerank([[1], [2], [0]]) == pytest.approx([1 / 3] * 3)
    # Two pages, 0 -> 1, 1 leads nowhere, so to both: x0 = .075 + .425 x1, x1 = 1 - x0.
    x0 = 0.5 / 1.425
    assert measures.pagerank([[1], []]) == pytest.approx([x0, 1 - x0])
