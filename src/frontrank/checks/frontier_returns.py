"""The part of the contract of a live frontier that is about pages that return at a given time."""

from __future__ import annotations

from typing import Any

import numpy as np

from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, Frontier
from frontrank.frontiers.politeness import Politeness


class ReturnsContract:
    """What a crawl relies on when pages are scheduled and revisited. ``new`` makes an empty frontier of this politeness."""

    def new(self, politeness: Politeness) -> Any:
        raise NotImplementedError

    def frontier_on(self, hosts: list[int], politeness: Politeness | None = None) -> Frontier:
        """A frontier with room for one page on each of these hosts."""
        frontier: Frontier = self.new(politeness or Politeness())
        frontier.grow(len(hosts), max(hosts) + 1)
        frontier.place(0, np.array(hosts, np.int32))
        return frontier

    def test_a_page_that_is_scheduled_waits_from_its_time_on_wherever_it_was(self) -> None:
        frontier = self.frontier_on([0] * 5)
        for page in range(4):
            frontier.put(page, 1.0)
        frontier.lease(1, 0.0)
        frontier.lease(2, 0.0)
        frontier.settle(2)
        for page, until in ((0, 40.0), (1, 30.0), (2, 20.0), (4, 10.0)):
            frontier.schedule(page, until, 1.0)
        assert frontier.counts.later == 4 and frontier.counts.waiting == 5 and frontier.counts.leased == 0
        assert frontier.take(9, 0.0) == [3] and frontier.next_at() == 10.0
        assert [frontier.take(9, at) for at in (10.0, 20.0, 30.0, 40.0)] == [[4], [2], [1], [0]]

    def test_a_page_waits_for_one_time_the_last_that_was_said(self) -> None:
        frontier = self.frontier_on([0])
        frontier.schedule(0, 10.0, 1.0)
        frontier.schedule(0, 50.0, 1.0)
        assert frontier.take(1, 49.0) == [] and frontier.take(1, 50.0) == [0]
        frontier.later(0, 60.0)
        frontier.lease(0, 55.0)
        frontier.later(0, 90.0)
        assert frontier.take(1, 60.0) == [] and frontier.take(1, 90.0) == [0]

    def test_a_page_that_is_forgotten_is_discovered_anew(self) -> None:
        frontier = self.frontier_on([0] * 4)
        for page in range(3):
            frontier.put(page, float(page))
        frontier.lease(0, 0.0)
        frontier.settle(0)
        frontier.lease(1, 0.0)
        for page in range(4):
            frontier.forget(page)
        assert [frontier.mark(page) for page in range(4)] == [FORGOTTEN] * 3 + [ABSENT]
        assert frontier.take(9, 0.0) == [] and frontier.counts == (3, 0, 0, 0)
        frontier.put(0, 5.0)
        assert frontier.take(9, 0.0) == [0]

    def test_it_says_what_a_page_waits_for(self) -> None:
        frontier = self.frontier_on([0] * 3)
        for page, until in ((0, 40.0), (1, np.inf), (2, 30.0)):
            frontier.schedule(page, until, 1.0)
        assert [frontier.due_at(page) for page in range(3)] == [40.0, np.inf, 30.0]
        frontier.release(35.0)
        assert frontier.due_at(2) == np.inf and frontier.pop(35.0, 3) == [2]

    def test_pages_that_return_can_be_taken_apart_from_the_rest(self) -> None:
        frontier = self.frontier_on([0, 0, 1, 1], Politeness(per_host=1))
        apart = np.array([1, 0, 1, 0], np.uint8)
        for page, until in ((0, 20.0), (2, 10.0), (3, 10.0)):
            frontier.schedule(page, until, 9.0)
        frontier.put(1, 1.0)
        frontier.release(30.0, apart)
        assert frontier.counts.later == 2 and frontier.next_at() <= 30.0
        assert frontier.take_returning(30.0) == 2, "due for longest"
        assert frontier.pop(30.0, 9) == [1], "host 1 is asked already"
        assert frontier.take_returning(30.0) == -1
        frontier.settle(1)
        assert frontier.take_returning(30.0) == 0
        frontier.release(30.0)
        for page in (0, 2):
            frontier.settle(page)
        assert frontier.take(9, 30.0) == [3]

    def test_pages_that_return_can_be_taken_queue_by_queue(self) -> None:
        frontier = self.frontier_on([0, 0, 1, 1, 1], Politeness(delay_s=5.0))
        for page, until in ((0, 20.0), (2, 30.0), (3, 10.0)):
            frontier.schedule(page, until, 9.0)
        frontier.put(1, 1.0)
        frontier.put(4, 2.0)
        frontier.release(40.0, np.array([1, 0, 1, 1, 0], np.uint8))
        assert frontier.take_returning_queue(40.0) == [3, 2], "host 1 has the page due for longest"
        assert frontier.take_returning_queue(40.0, host=1) == [], "host 1 rests"
        assert frontier.pop_queues(40.0) == [1], "page 0 waits apart, page 4 lies on host 1"
        assert frontier.take_returning_queue(45.0, 1) == [], "one page of host 0 is out"
        assert frontier.take_returning_queue(45.0, 2) == [0] and frontier.pop_queues(45.0) == [4]
