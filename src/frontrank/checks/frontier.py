"""The contract of a live frontier (``frontrank.frontiers.frontier.Frontier``): a class of facts for pytest."""

from __future__ import annotations

import numpy as np

from frontrank.checks.frontier_returns import ReturnsContract
from frontrank.crawl.crawl import Crawl
from frontrank.frontiers.frontier import ABSENT, GONE, LATER, LEASED, WAITING, Frontier, key_of
from frontrank.frontiers.politeness import Politeness


class FrontierContract(ReturnsContract):
    """What a crawl relies on. ``new`` makes an empty frontier of this politeness."""

    def test_larger_is_sooner_and_among_equals_who_was_put_first(self) -> None:
        frontier = self.frontier_on([0] * 4)
        for page, key in ((2, 1.0), (0, 1.0), (1, 5.0), (3, -1.0)):
            frontier.put(page, key)
        assert frontier.best(9).tolist() == [1, 2, 0, 3]
        assert frontier.take(3, 0.0) == [1, 2, 0]
        assert frontier.take(3, 0.0) == [3]
        assert frontier.take(1, 0.0) == []

    def test_keys_change_up_and_down_and_also_for_many_at_once(self) -> None:
        frontier = self.frontier_on([0, 1, 0])
        frontier.put_all(np.arange(3, dtype=np.int32), np.array([1.0, 2.0, 3.0]))
        frontier.put(0, 9.0)
        frontier.put(2, 0.0)
        assert frontier.best(9).tolist() == [0, 1, 2]
        assert frontier.key(0) == 9.0

    def test_a_page_is_leased_once_and_gone_for_good(self) -> None:
        frontier = self.frontier_on([0, 0])
        assert frontier.mark(0) == ABSENT
        frontier.put(0, 1.0)
        assert frontier.mark(0) == WAITING
        frontier.lease(0, 0.0)
        frontier.lease(0, 0.0)
        assert frontier.mark(0) == LEASED and frontier.counts.leased == 1
        frontier.settle(0)
        frontier.put(0, 7.0)
        assert frontier.mark(0) == GONE and frontier.take(1, 0.0) == []

    def test_a_page_that_comes_back_stands_where_it_stood(self) -> None:
        frontier = self.frontier_on([0, 0, 0])
        for page in range(3):
            frontier.put(page, 1.0)
        assert frontier.take(1, 0.0) == [0]
        frontier.back(0)
        assert frontier.take(3, 0.0) == [0, 1, 2]

    def test_a_retry_waits_for_its_time(self) -> None:
        frontier = self.frontier_on([0])
        frontier.put(0, 1.0)
        frontier.take(1, 0.0)
        frontier.later(0, 10.0)
        assert frontier.mark(0) == LATER and frontier.counts.waiting == 1
        assert frontier.take(1, 9.0) == [] and frontier.next_at() == 10.0
        assert frontier.take(1, 10.0) == [0]

    def test_a_host_rests_between_two_requests_and_others_go_on(self) -> None:
        frontier = self.frontier_on([0, 0, 1], Politeness(delay_s=5.0))
        for page, key in ((0, 3.0), (1, 2.0), (2, 1.0)):
            frontier.put(page, key)
        assert frontier.take(3, 0.0) == [0, 2]
        assert frontier.take(3, 4.9) == [] and frontier.next_at() == 5.0
        assert frontier.take(3, 5.0) == [1]

    def test_limits_of_concurrency_budget_and_in_flight_hold(self) -> None:
        frontier = self.frontier_on([0] * 4, Politeness(per_host=1, host_budget=2, in_flight=3))
        for page in range(4):
            frontier.put(page, -float(page))
        assert frontier.take(4, 0.0) == [0]
        frontier.settle(0)
        assert frontier.take(4, 0.0) == [1]
        frontier.settle(1)
        assert frontier.take(4, 0.0) == [] and frontier.next_at() == np.inf
        frontier.limit(0, concurrency=0, budget=0)
        assert frontier.take(4, 0.0) == [2, 3]

    def test_a_blocked_host_gives_nothing_until_its_time(self) -> None:
        frontier = self.frontier_on([0, 1])
        frontier.block(0, 60.0)
        frontier.put(0, 9.0)
        frontier.put(1, 1.0)
        assert frontier.take(2, 0.0) == [1]
        assert frontier.take(2, 59.0) == [] and frontier.take(2, 60.0) == [0]

    def test_a_block_is_lifted_or_shortened_by_another(self) -> None:
        frontier = self.frontier_on([0, 0], Politeness(delay_s=5.0))
        for page in range(2):
            frontier.put(page, -float(page))
        frontier.block(0, 60.0)
        assert frontier.take(2, 1.0) == []
        frontier.block(0, -np.inf)
        assert frontier.take(2, 1.0) == [0]
        frontier.block(0, -np.inf)
        assert frontier.take(2, 1.0) == [] and frontier.take(2, 6.0) == [1]

    def test_several_pages_of_a_host_go_as_one_request(self) -> None:
        frontier = self.frontier_on([0, 0, 0, 1, 1, 2], Politeness(delay_s=5.0))
        for page in range(6):
            frontier.put(page, -float(page))
        assert frontier.take_queues(0.0, max_hosts=2, each=2) == [0, 1, 3, 4]
        assert frontier.take_queues(0.0, max_hosts=2, each=2) == [5]
        assert frontier.take_queues(4.0) == []
        for page in (0, 1):
            frontier.settle(page)
        assert frontier.take_queues(5.0, host=1) == [] and frontier.take_queues(5.0, host=0) == [2]

    def test_a_host_with_so_many_pages_out_is_passed_over(self) -> None:
        frontier = self.frontier_on([0, 0, 0, 1])
        for page in range(4):
            frontier.put(page, -float(page))
        assert frontier.take_queues(0.0, max_hosts=1, each=2) == [0, 1]
        assert frontier.take_queues(0.0, max_hosts=1, each=2) == [3]
        assert frontier.take_queues(0.0, host=0, each=2) == []
        frontier.settle(0)
        assert frontier.take_queues(0.0, host=0, each=2) == [2]

    def test_a_limit_counts_pages_that_are_done_with(self) -> None:
        frontier = self.frontier_on([0] * 4)
        for page in range(4):
            frontier.put(page, -float(page))
        frontier.limit(0, limit=1)
        assert frontier.take(2, 0.0) == [0, 1]
        frontier.settle(0)
        assert frontier.take(1, 0.0) == []
        assert frontier.hosts()["done"].tolist() == [1] and frontier.hosts()["leased"].tolist() == [1]
        frontier.schedule(0, 100.0, 1.0)
        assert frontier.take(1, 0.0) == [2]

    def test_limits_of_a_host_that_has_no_page_yet_hold_when_it_has(self) -> None:
        frontier: Frontier = self.new(Politeness())
        for host in range(20):
            frontier.grow(16, host + 1)
            frontier.block(host, 60.0)
            frontier.limit(host, delay_s=1.0)
        frontier.grow(20, 20)
        frontier.place(0, np.arange(20, dtype=np.int32))
        for page in range(20):
            frontier.put(page, 1.0)
        assert frontier.take(20, 59.0) == []
        assert sorted(frontier.take(20, 60.0)) == list(range(20))

    def test_a_host_that_joins_a_group_shares_its_pace_and_budget(self) -> None:
        frontier = self.frontier_on([0, 0, 1, 1], Politeness(delay_s=10.0))
        frontier.limit(1, budget=3)
        for page, key in enumerate((1.0, 4.0, 2.0, 3.0)):
            frontier.put(page, key)
        assert frontier.take(9, 0.0) == [1, 3] and not frontier.may_go(1, 5.0)
        frontier.join(0, 1)
        assert frontier.hosts_of(slice(0, 4)).tolist() == [1, 1, 1, 1]
        assert frontier.hosts()["waiting"].tolist() == [0, 2] and frontier.hosts()["taken"].tolist() == [0, 2]
        assert frontier.take(9, 9.0) == [] and frontier.next_at() == 10.0
        assert frontier.take(9, 10.0) == [2]
        frontier.settle(1)
        assert frontier.take(9, 99.0) == [], "its budget of three pages is spent"
        frontier.limit(1, budget=0)
        assert frontier.take(9, 99.0) == [0]

    def test_other_politeness_holds_but_for_what_a_host_has_of_its_own(self) -> None:
        frontier = self.frontier_on([0, 1, 0, 1])
        frontier.limit(0, delay_s=2.0)
        frontier.behave(Politeness(), Politeness(delay_s=8.0))
        for page in range(4):
            frontier.put(page, 1.0)
        assert frontier.take(4, 0.0) == [0, 1]
        assert frontier.take(4, 2.0) == [2] and frontier.take(4, 8.0) == [3]

    def test_a_priority_goes_before_every_key_and_below_zero_after(self) -> None:
        frontier = self.frontier_on([0] * 4)
        for page, key in ((0, 1e9), (1, 2.0), (2, 1.0), (3, -1e9)):
            frontier.put(page, key)
        frontier.prioritise(2, 1)
        frontier.prioritise(1, -1)
        frontier.put(1, 5e9)
        assert frontier.best(4).tolist() == [2, 0, 3, 1]
        frontier.prioritise(1, 0)
        frontier.prioritise(2, 0)
        assert frontier.take(4, 0.0) == [1, 0, 2, 3]

    def test_pages_with_a_priority_can_be_taken_alone(self) -> None:
        frontier = self.frontier_on([0, 0, 1, 1], Politeness(delay_s=5.0))
        for page, priority in enumerate((0, 3, 2, 0)):
            frontier.put(page, float(page))
            frontier.prioritise(page, priority)
        assert frontier.pop_prioritised(0.0, 3, 9) == [1]
        assert frontier.pop_prioritised(0.0, 2, 9) == [2]
        frontier.settle(2)
        assert frontier.pop_prioritised(5.0, 1, 9) == [], "what is left has none"
        assert frontier.take(9, 5.0) == [3, 0]

    def test_marks_keys_and_places_are_told_of_many_pages(self) -> None:
        frontier = self.frontier_on([0, 1, 1, 0])
        frontier.put(2, 5.0)
        frontier.put(0, 7.0)
        frontier.put(1, 6.0)
        frontier.prioritise(1, 2)
        frontier.lease(0, 0.0)
        assert frontier.marks(np.array([2, 0, 3])).tolist() == [WAITING, LEASED, ABSENT]
        assert frontier.marks(slice(0, 4, 2)).tolist() == [LEASED, WAITING]
        assert frontier.keys(np.array([2, 1, 0])).tolist() == [5.0, key_of(2), 7.0] and frontier.key(1) == key_of(2)
        assert (frontier.own_key(1), frontier.own_key(2)) == (6.0, 5.0)
        assert frontier.discovered().tolist() == [2, 0, 1]
        assert frontier.numbers()[[2, 0, 1]].tolist() == [0, 1, 2]
        assert frontier.known_hosts == 2

    def test_it_says_until_when_a_host_is_blocked(self) -> None:
        frontier = self.frontier_on([0, 1])
        assert frontier.blocked(1) == -np.inf
        frontier.block(1, 60.0)
        assert (frontier.blocked(0), frontier.blocked(1)) == (-np.inf, 60.0)

    def test_a_host_may_be_asked_again_earlier_or_later_than_its_delay_says(self) -> None:
        frontier = self.frontier_on([0] * 3, Politeness(delay_s=5.0))
        for page in range(3):
            frontier.put(page, -float(page))
        assert frontier.take(1, 0.0) == [0] and frontier.delays(np.array([0])) == [5.0]
        frontier.rest(0, 1.0)
        assert frontier.take(1, 0.5) == [] and frontier.next_at() == 1.0
        assert frontier.take(1, 1.0) == [1]
        frontier.block(0, 9.0)
        frontier.rest(0, 2.0)
        assert frontier.take(1, 8.0) == [] and frontier.take(1, 9.0) == [2], "a block holds"

    def test_one_made_of_its_arrays_goes_on_as_it_would_have(self) -> None:
        frontier = self.frontier_on([0, 0, 1, 1, 1], Politeness(delay_s=5.0, host_budget=3))
        for page in range(4):
            frontier.put(page, float(page % 2))
        frontier.prioritise(0, 1)
        frontier.schedule(4, 8.0, 2.0)
        frontier.limit(1, delay_s=2.0)
        assert frontier.take(9, 0.0) == [0, 3]
        frontier.settle(3)
        again: Frontier = self.new(Politeness(delay_s=5.0, host_budget=3))
        again.restore({name: array.copy() for name, array in frontier.arrays().items()})
        assert again.counts == frontier.counts and again.known_hosts == 2
        for one in (frontier, again):
            one.put(2, 9.0)
            assert [one.take(9, at) for at in (1.0, 2.0, 5.0, 8.0)] == [[], [2], [1], [4]]
            assert one.hosts()["taken"].tolist() == [2, 3]

    def test_a_crawl_has_the_same_order_with_it(self) -> None:
        for policy in ("fpr", "bfs", "dfs", "pagerank:every=7"):
            orders = []
            for frontier in (None, self.new):
                given = {} if frontier is None else {"frontier": frontier}
                crawl = Crawl(policy, politeness=Politeness(delay_s=1.0), clock=lambda: 0.0, **given)  # type: ignore[arg-type]
                orders.append(_crawled(crawl))
            assert orders[0] == orders[1], policy

    def test_growth_changes_nothing(self) -> None:
        frontier = self.frontier_on([0, 1, 2, 3])
        for page in range(4):
            frontier.put(page, float(page))
        taken = frontier.take(2, 0.0)
        frontier.grow(200_000, 70_000)
        frontier.back(taken[0])
        assert frontier.take(4, 0.0) == [3, 1, 0] and frontier.counts.discovered == 4
        assert len(frontier.hosts()) == 70_000


def _crawled(crawl: Crawl, pages: int = 40) -> list[str]:
    """Take pages of a few hosts as time goes by; each links to others, some fail, and some are to come back."""
    crawl.seed([f"http://h{n}.example/" for n in range(3)], now=0.0)
    crawl.control.limit_host("h1.example", delay_s=2.0, now=0.0)
    order: list[str] = []
    for now in range(1, 400):
        for url in crawl.take(2, now=float(now)):
            at = len(order)
            order.append(url)
            if at % 7 == 3:
                crawl.failed(url, retry=at % 2 == 0, now=float(now))
            else:
                links = [f"http://h{(at * 5 + j) % 4}.example/{(at * 3 + j * j) % 50}" for j in range(6)]
                crawl.fetched(url, links, now=float(now), again_at=now + 30.0 if at % 5 == 0 else None)
        if len(order) >= pages:
            break
    return order
