"""limit_host(queue_cap=...): how many pages of a host may wait, whichever way they are discovered."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.queue_caps import OVER_QUEUE_CAP
from frontrank.crawl.status import events
from frontrank.errors import InputError
from frontrank.fetching.counting import requested_pages
from frontrank.fetching.crawler.status import status

A = [f"http://a.example/{n}" for n in range(10)]
B = [f"http://b.example/{n}" for n in range(3)]


def waiting(crawl: Crawl) -> list[str]:
    return [row["url"] for row in crawl.inspect.next(100)]


def seen(crawl: Crawl) -> Any:
    """All that a crawl shows, but for its clock."""
    return crawl.inspect.next(100), {**crawl.inspect.overview(), "last_event": 0}, crawl.inspect.busiest_hosts(5)


def frontrank(*args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "frontrank", *map(str, args)], capture_output=True, text=True, check=False)


def crawl_of(folder: Path) -> Crawl:
    """A page of a.example was fetched whose links are beyond the cap of its host, and not of another."""
    crawl = Crawl("bfs", folder)
    crawl.seed([A[0]])
    crawl.control.limit_host("a.example", queue_cap=2)
    crawl.take()
    crawl.fetched(A[0], [A[1], B[0], A[2], A[3], B[1], A[4]])
    return crawl


def test_pages_beyond_the_cap_of_their_host_do_not_wait(tmp_path: Path) -> None:
    crawl = crawl_of(tmp_path / "c")
    assert waiting(crawl) == [A[1], B[0], A[2], B[1]]
    assert crawl.inspect.known == 7, "those that do not wait are known all the same"
    assert crawl.inspect.history.reasons() == {OVER_QUEUE_CAP: 2}
    crawl.take()
    crawl.fetched(A[1], [A[3], A[5], A[6]])
    assert waiting(crawl) == [B[0], A[2], B[1], A[5]], "one place was free; a page that was dropped does not return"
    crawl.close()


def test_a_lower_cap_drops_nothing_that_waits_and_none_ends_it(tmp_path: Path) -> None:
    crawl = crawl_of(tmp_path / "c")
    crawl.control.limit_host("a.example", queue_cap=1)
    assert waiting(crawl) == [A[1], B[0], A[2], B[1]]
    crawl.take()
    crawl.fetched(A[1], [A[5]])
    assert waiting(crawl) == [B[0], A[2], B[1]]
    crawl.control.limit_host("a.example", queue_cap=0)
    crawl.take()
    crawl.fetched(B[0], A[6:9])
    assert waiting(crawl) == [A[2], B[1], *A[6:9]]
    assert crawl.control.retry_failed(OVER_QUEUE_CAP) == 3 and len(crawl.take(20)) == 8
    crawl.close()


def test_seeds_and_revisits_always_wait(tmp_path: Path) -> None:
    crawl = crawl_of(tmp_path / "c")
    crawl.seed(A[7:9])
    crawl.take()
    crawl.fetched(A[1], [], again_at=0.0)
    assert {A[1], *A[7:9]} <= {*waiting(crawl), *crawl.take(10)}
    crawl.close()


@pytest.mark.parametrize("ordering", ["bfs", "opic", "surf"])
@pytest.mark.parametrize("snapshot", [False, True])
def test_a_recovered_crawl_is_the_same(tmp_path: Path, ordering: str, snapshot: bool) -> None:
    crawl = Crawl(ordering, tmp_path / "c")
    crawl.seed([A[0]])
    crawl.control.limit_host("a.example", queue_cap=2)
    crawl.take()
    crawl.fetched(A[0], A[1:6] + B)
    crawl.take()
    if snapshot:
        crawl.snapshot()
    crawl.fetched(crawl.url(next(iter(crawl.state.leases))), [A[6], A[7], B[0]])
    before = seen(crawl)
    crawl.abandon()
    again = Crawl.recover(tmp_path / "c", keep_leases=True)
    assert seen(again) == before
    assert again.inspect.overview()["limits"] == [{"host": "a.example", "limits": {"queue_cap": 2}}]
    again.close()


def test_links_that_fetchers_of_a_service_report_are_capped_too(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c")
    crawl.discover(A[:3])
    crawl.control.limit_host("a.example", queue_cap=4)
    assert crawl.discover(A[3:7], parent=A[0]) == [True] * 4, "they are new"
    assert waiting(crawl) == A[:4]
    assert crawl.discover(A[7:9]) == [True] * 2
    assert waiting(crawl) == [*A[:4], *A[7:9]], "URLs without a parent are seeds"
    crawl.close()


def test_the_cap_of_a_host_holds_for_the_group_that_it_joins(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c")
    crawl.seed([A[0], B[0]])
    crawl.control.limit_host("a.example", queue_cap=2)
    crawl.control.join("a.example", "192.0.2.1")
    crawl.take()
    crawl.fetched(A[0], A[1:5])
    assert waiting(crawl) == [B[0], *A[1:3]]
    crawl.close()


def test_an_operator_sets_it_and_the_status_counts_what_was_dropped(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c")
    crawl.seed([A[0]])
    crawl.close()
    done = frontrank("limit", tmp_path / "c", "a.example", "--queue-cap", 1)
    assert done.returncode == 0, done.stderr
    crawl = Crawl.recover(tmp_path / "c")
    crawl.take()
    crawl.fetched(A[0], A[1:5])
    crawl.close()
    assert status(str(tmp_path / "c"))["failed_by_reason"] == {OVER_QUEUE_CAP: 3}
    assert Counter(event["kind"] for event in events(tmp_path / "c"))["failed"] == 3
    assert requested_pages(1, 0, {OVER_QUEUE_CAP: 3}) == 1, "they use up no budget"


@pytest.mark.parametrize("cap", [-1, 1.5, True])
def test_a_cap_that_is_none_is_refused(tmp_path: Path, cap: Any) -> None:
    crawl = Crawl("bfs")
    with pytest.raises(InputError):
        crawl.control.limit_host("a.example", queue_cap=cap)
