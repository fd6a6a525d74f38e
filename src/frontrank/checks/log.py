"""The contract of a log (``frontrank.crawl.log.Log``): a class of facts for pytest. Subclass it to create a log."""

from __future__ import annotations

from typing import Any

import numpy as np

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.log import Log, Row

SOME = (
    Row(0, 1, 0, 1.0, status=1),
    Row(0, 2, 0, 2.0),
    Row(0, 3, 0, 3.5, 200, np.array([1, 2], "<i4").tobytes(), "one\ntwo", "Überschrift", 0.25, "a.warc.gz", 10, 20),
    Row(0, 5, 1, 4.0, status=2, until=64.5, note="http 503"),
)


class LogContract:
    """What a crawl relies on. ``new`` makes an empty log; ``reopen`` is the same log after the end of its process."""

    def new(self) -> Any:
        raise NotImplementedError

    def reopen(self, log: Any) -> Any:
        raise NotImplementedError

    def test_rows_are_numbered_from_one_and_read_back_as_they_were(self) -> None:
        log: Log = self.new()
        assert log.seq == 0
        log.append(SOME[:2])
        log.append(SOME[2:])
        assert log.seq == len(SOME)
        log.commit()
        log = self.reopen(log)
        assert log.seq == len(SOME)
        assert [row for rows in log.rows() for row in rows] == [row._replace(seq=i) for i, row in enumerate(SOME, 1)]

    def test_reading_begins_after_any_row_in_batches_of_any_size(self) -> None:
        log: Log = self.new()
        log.append(SOME)
        log.commit()
        for after in range(len(SOME) + 1):
            for batch in (1, 3, 100):
                found = [row.seq for rows in log.rows(after, batch) for row in rows]
                assert found == list(range(after + 1, len(SOME) + 1))

    def test_columns_of_some_kinds_can_be_read_alone(self) -> None:
        log: Log = self.new()
        log.append(SOME)
        log.commit()
        assert list(log.select(("page", "note"), (5, 1))) == [(0, None), (1, "http 503")]
        assert list(log.select(("page", "note"), (5, 1), after=1)) == [(1, "http 503")]
        assert list(log.select(("page",), (1, 5), after=len(SOME))) == []

    def test_names_are_kept_in_their_order(self) -> None:
        log: Log = self.new()
        urls = [f"http://example.org/{i}?ü" for i in range(7)]
        log.add_urls(0, urls[:4], [11, 12, -13, 14])
        log.add_urls(4, urls[4:], [15, 16, 17])
        log.commit()
        log = self.reopen(log)
        assert [log.url(page) for page in range(7)] == urls
        found = [pair for names, keys in log.urls(2, 2) for pair in zip(names, keys, strict=True)]
        assert found == list(zip(urls[2:], [-13, 14, 15, 16, 17], strict=True))

    def test_urls_are_found_by_a_part_of_them(self) -> None:
        log: Log = self.new()
        urls = ["http://a.example/Up", "http://a.example/%_?", "http://b.example/up", "http://b.example/Ü"]
        log.add_urls(0, urls, [1, 2, 3, 4])
        log.commit()
        assert log.find_urls("/uP") == [(0, urls[0]), (2, urls[2])]
        assert log.find_urls("UP", first=1) == [(2, urls[2])]
        assert log.find_urls("example", max_urls=2) == list(enumerate(urls))[:2]
        assert [page for page, _ in log.find_urls("%_")] == [1], "no character stands for others"
        assert [page for page, _ in log.find_urls("/Ü")] == [3]
        assert log.find_urls("nowhere") == []
        assert log.find_pages("/uP", 0, 4, True) == [0, 2] and log.find_pages("/up", 0, 4, False) == [2]
        assert log.find_pages("example", 1, 3, False) == [1, 2] and log.find_pages("%_", 0, 4, True) == [1]

    def test_what_is_kept_with_a_page_stays_until_it_is_detached(self) -> None:
        log: Log = self.new()
        assert not log.has_payloads()
        log.attach({3: b"\0payload", 4: b"other"})
        log.keep_text(3, "words")
        log.commit()
        log = self.reopen(log)
        assert log.has_payloads()
        assert log.attached([3, 9]) == {3: b"\0payload"}
        assert log.texts([9, 3]) == ["", "words"]
        log.detach(3)
        log.commit()
        log = self.reopen(log)
        assert log.attached([3, 4]) == {4: b"other"}

    def test_what_is_kept_with_many_pages_is_found_together(self) -> None:
        log: Log = self.new()
        log.attach({page: b"%d" % page for page in range(0, 3_000, 2)})
        log.attach({4: b"other"})
        log.commit()
        log = self.reopen(log)
        assert log.attached([4, 5, 6]) == {4: b"other", 6: b"6"} and log.attached([]) == {}
        assert len(log.attached(range(3_000))) == 1_500

    def test_queues_are_kept_of_pages_that_have_one_of_their_own(self) -> None:
        log: Log = self.new()
        urls = [f"http://example.org/{i}" for i in range(4)]
        log.add_urls(0, urls, [1, 2, 3, 4])
        assert log.queues(0, 4) == {} and log.names([2, 0]) == [(urls[2], None), (urls[0], None)]
        log.place({1: "fast", 3: "ü"})
        log.place({1: "slow"})
        log.commit()
        log = self.reopen(log)
        assert log.queues(0, 4) == {1: "slow", 3: "ü"}
        assert log.queues(2, 4) == {3: "ü"} and log.queues(2, 3) == {}
        assert log.names([3, 0, 1]) == [(urls[3], "ü"), (urls[0], None), (urls[1], "slow")]

    def test_when_pages_became_known_is_kept(self) -> None:
        log: Log = self.new()
        log.add_urls(0, [f"http://example.org/{i}" for i in range(6)], list(range(6)))
        assert (log.born_at(5), log.born_before(9e9)) == (0.0, 6), "nobody said"
        log.born(0, 100.0)
        log.born(3, 102.5)
        log.commit()
        log = self.reopen(log)
        assert [log.born_at(page) for page in range(6)] == [100.0] * 3 + [102.5] * 3
        assert [log.born_before(time) for time in (100.0, 101.0, 102.5, 103.0)] == [0, 3, 3, 6]

    def test_what_is_acknowledged_and_handed_to_the_disk_is_there(self) -> None:
        log: Log = self.new()
        called: list[int] = []
        log.before_sync = lambda: called.append(log.seq)
        assert log.writable and log.broken == ""
        for row in SOME:
            log.append([row])
            log.acknowledge()
        log.sync()
        if log.folder is not None:
            assert called and called[-1] == len(SOME), "files that rows point to go first"
        log.close()
        assert self.reopen(log).seq == len(SOME)

    def test_notes_are_kept_at_once(self) -> None:
        log: Log = self.new()
        log.note("key", {"a": [1, 2.5, None]})
        log.note("key", {"b": "ü"})
        assert self.reopen(log).notes["key"] == {"b": "ü"}

    def test_the_newest_snapshot_comes_first_and_is_what_was_saved(self) -> None:
        log: Log = self.new()
        log.append(SOME)
        log.commit()
        arrays = {"a": np.arange(5), "b": np.array([(1.5, 2)], [("x", "f8"), ("y", "i4")])}
        log.save_snapshot({"seq": len(SOME), "more": 1}, arrays)
        arrays["a"][0] = 99  # a snapshot is of one moment
        head, found = next(self.reopen(log).snapshots())
        assert (head["seq"], head["more"]) == (len(SOME), 1)
        assert found["a"].tolist() == [0, 1, 2, 3, 4]
        assert found["b"].tobytes() == arrays["b"].tobytes()

    def test_a_crawl_goes_on_from_it(self) -> None:
        log: Any = self.new()
        crawl = Crawl("opic", log=log, clock=lambda: 0.0)
        crawl.seed("http://a.example/")
        order = _crawled(crawl, 5)
        crawl.commit()
        again = Crawl.recover(self.reopen(log), clock=lambda: 0.0)
        order += _crawled(again, 5)
        whole = Crawl("opic", clock=lambda: 0.0)
        whole.seed("http://a.example/")
        assert order == _crawled(whole, 10)


def _crawled(crawl: Crawl, pages: int) -> list[str]:
    """Fetch pages of an endless tree."""
    order = []
    for _ in range(pages):
        (url,) = crawl.take()
        crawl.fetched(url, [f"{url}{side}/" for side in ("l", "r")] + ["http://a.example/r/"])
        order.append(url)
    return order
