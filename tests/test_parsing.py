"""A crawl of servers whose pages and sitemaps take their reader minutes: all others are served meanwhile."""

from __future__ import annotations

import threading
from pathlib import Path

from frontrank.crawl import journal as log
from frontrank.pages.bounded import TOO_LONG
from tests.test_bounded import HOSTILE
from tests.test_crawler import LONG_S, Site, crawl, events, links, records, served

CHAIN = 40  # pages of the host beside the hostile one, each found on the one before it


class Slow(Site):
    """/slow takes minutes to parse. /chain/1 is answered when /slow was sent, /chain/2 is found on it, and so on."""

    body = links("/found").encode() + HOSTILE["attributes of body"]
    sent: threading.Event

    def do_GET(self) -> None:
        if self.path == "/slow":
            self.answer(200, self.body)
            self.sent.set()
        elif self.path.startswith("/chain/"):
            self.sent.wait(LONG_S)
            number = int(self.path[7:])
            self.answer(200, links(*([f"/chain/{number + 1}"] if number < CHAIN else [])))
        else:
            self.answer(200, links())


def test_other_hosts_are_served_while_a_page_is_in_its_parser(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    Slow.sent = threading.Event()
    with served(Slow) as url:
        beside = url.replace("127.0.0.1", "localhost")
        seeds = [f"{beside}/slow", f"{url}/chain/1"]
        told = crawl(*seeds, "--out", out, "--allow-private", "--delay", "0", "--no-robots", "--scope", "any")
    order = [row[0] for row in events(out, log.FETCHED)]
    meanwhile = order.index(seeds[0])
    assert meanwhile >= 10, "a page takes milliseconds, the deadline is two seconds"
    assert set(order) == {*seeds, f"{beside}/found", *(f"{url}/chain/{n}" for n in range(2, CHAIN + 1))}
    assert told["not_followed"][TOO_LONG] == 1
    assert sorted(records(out)) == sorted((url, 200) for url in order), "it is stored like any other"
