"""Groups of hosts that are made while a crawl runs: a registered domain, an address, a list."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.status import events
from frontrank.errors import InputError
from frontrank.frontiers.politeness import Politeness
from frontrank.pages.groups import read_hosts
from frontrank.service import wire
from frontrank.service.crawls import Crawls
from frontrank.service.frontier import FrontierService
from tests.oracles.frontier import NaiveFrontier

HOSTS = ("www.a.org", "a.org", "x.a.org", "www.b.org", "c.net", "d.net", "192.0.2.7")
GROUPS: tuple[dict[str, Any], ...] = (
    {"domain": "a.org"},
    {"domain": "b.org"},
    {"ip": "192.0.2.7"},
    {"hosts": ["c.net", "www.b.org"]},
    {"hosts": ["d.net", "new.net"]},
)
LIMITS: tuple[dict[str, Any], ...] = (
    {"delay_s": 3.0},
    {"budget": 2},
    {"concurrency": 1, "budget": 0},
    {"limit": 3, "delay_s": 0.0},
)


def url(page: int) -> str:
    return f"http://{HOSTS[page % len(HOSTS)]}/{page}"


def told(crawl: Crawl) -> dict[str, Any]:
    """What can be asked of groups, queues and pages. Whether anybody has looked since a retry was due is no event."""
    crawl.frontier.release(crawl.clock())
    hosts = {row["host"]: row for row in crawl.hosts() if row["waiting"] + row["leased"] + row["later"] + row["done"]}
    return {
        "groups": sorted(crawl.overview()["groups"], key=lambda group: str(group["group"])),
        "joined": dict(sorted(crawl.joined.items())),
        "hosts": {
            name: {key: row[key] for key in row if key not in ("failed", "spare")} for name, row in sorted(hosts.items())
        },
        "queues": sorted(crawl.queues(inactive=True)),
        "counts": [crawl.queue_counts(name) for name in HOSTS],
        "names": crawl.names(range(crawl.known)),
        "paged": [crawl.pages_of(name).tolist() for name in HOSTS],
        "next_at": None if (at := crawl.next_at()) is None else max(at, crawl.clock()),
    }


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["take", "take", "fetched", "fetched", "failed", "find", "limit", "block", "host", "join", "queue", "part", "open"]
        ),
        st.integers(0, 20),
    ),
    max_size=30,
)


def act(crawl: Crawl, action: str, n: int, now: float, out: list[str]) -> Any:
    """One thing that happens, told by a number; what is refused is told too."""
    try:
        if action == "take":
            return crawl.take(n % 4 + 1, now=now)
        if action == "queue":
            return crawl.take_queues(1, 2, queue=HOSTS[n % len(HOSTS)], now=now)
        if action == "find":
            return crawl.discover(
                [url(3 * n), f"http://new{n % 3}.a.org/{n}"], queues=None if n % 2 else ["slow.b.org", None], now=now
            )
        if action == "limit":
            return crawl.limit_group(**GROUPS[n % 5], **LIMITS[n % 4], now=now)
        if action == "block":
            return crawl.block_group(now + n % 4, **GROUPS[n % 5], now=now)
        if action == "part":
            return crawl.ungroup(sorted(crawl.groups)[n % len(crawl.groups)] if crawl.groups else "none", now=now)
        if action == "host":
            return crawl.host(HOSTS[n % len(HOSTS)], **LIMITS[n % 4], now=now)
        if action == "join":
            return crawl.join(HOSTS[n % len(HOSTS)], "192.0.2.7", now=now)
        if action == "fetched" and out:
            return crawl.fetched(out[n % len(out)], [url(n + k) for k in range(n % 3)], now=now)
        if action == "failed" and out:
            return crawl.failed(out[n % len(out)], retry=n % 2 == 0, retry_s=2.0, now=now)
    except InputError as error:
        return str(error)
    return None


@given(actions=ACTIONS, delay=st.sampled_from([0.0, 2.0]))
@settings(max_examples=25, deadline=None)
def test_groups_made_while_a_crawl_runs_are_what_a_search_finds_and_survive_the_process(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[str, int]], delay: float
) -> None:
    folder = tmp_path_factory.mktemp("groups")
    polite = Politeness(delay_s=delay, per_host=2)
    time = [0.0]  # one clock for all three, which never goes back: what it shifts is not what is tested
    crawl = Crawl("fpr", folder / "c", politeness=polite, clock=lambda: time[0])
    naive = Crawl("fpr", politeness=polite, clock=lambda: time[0], frontier=NaiveFrontier)
    out: list[str] = []
    for one in (crawl, naive):
        one.seed([url(page) for page in range(9)], now=0.0)
    for at, (action, n) in enumerate(actions, 1):
        if action == "open":
            before = told(crawl)
            if n % 2:
                crawl.snapshot()
            crawl.abandon()
            crawl = Crawl.recover(folder / "c", clock=lambda: time[0], keep_leases=True)
            assert told(crawl) == before
            continue
        now = time[0] = 0.5 * at
        done = act(crawl, action, n, now, out)
        assert done == act(naive, action, n, now, out), (action, n)
        assert told(crawl) == told(naive)
        if action == "take":
            out += done
        elif action == "queue":
            out += [crawl.url(page) for page in done]
        elif action in ("fetched", "failed") and out:
            out.pop(n % len(out))
    crawl.close()


def test_a_domain_that_is_grouped_at_once_is_as_if_it_had_been_from_the_start() -> None:
    urls = [f"http://{name}.{domain}/" for domain in ("a.org", "b.co.uk") for name in ("www", "news", "m")]
    polite = Politeness(delay_s=4.0, host_budget=2)
    grouped, whole = Crawl("bfs", politeness=polite), Crawl("bfs", politeness=polite, queue_by="domain")
    grouped.group(domain="a.org", now=0.0)
    for crawl in (grouped, whole):
        crawl.seed(urls, now=0.0)
    grouped.group(domain="b.co.uk", now=0.0)
    for now in (0.0, 3.0, 4.0, 8.0):
        assert grouped.take(9, now=now) == whole.take(9, now=now)


def test_a_group_is_told_by_the_log_and_by_the_status(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c", clock=lambda: 0.0)
    crawl.seed(["http://x.a.org/", "http://y.a.org/", "http://b.net/"])
    assert crawl.limit_group(domain="A.org", delay_s=5.0, budget=7) == "a.org"
    assert crawl.limit_group(hosts=["b.net", "c.net"], concurrency=2) == "b.net"
    assert crawl.block_group(50.0, ip="192.0.2.7") == "192.0.2.7"
    assert crawl.limit_group(hosts=["c.net", "e.net"], budget=3) == "b.net", "a host of a list stands for all of it"
    told = {group["group"]: group for group in crawl.overview()["groups"]}
    assert [(name, group["by"], group["hosts"]) for name, group in told.items()] == [
        ("a.org", "domain", 3),
        ("b.net", "list", 3),
        ("192.0.2.7", "ip", 0),
    ]
    assert (told["a.org"]["delay_s"], told["a.org"]["budget"], told["a.org"]["waiting"]) == (5.0, 7, 2)
    assert (told["b.net"]["concurrency"], told["b.net"]["budget"]) == (2, 3) and told["192.0.2.7"]["blocked_until"] == 50.0
    assert sorted(row["host"] for row in crawl.busiest_hosts(9)) == ["a.org", "b.net"]
    seq = crawl.log.seq
    crawl.group(domain="a.org")
    crawl.group(hosts=["b.net", "e.net"])
    assert crawl.log.seq == seq, "nothing has happened"
    crawl.close()
    made = [event for event in events(tmp_path / "c") if event["kind"] == "group"]
    assert [(event["group"], event["by"], event["hosts"]) for event in made] == [
        ("a.org", "domain", ["x.a.org", "y.a.org"]),
        ("b.net", "list", ["c.net"]),
        ("192.0.2.7", "ip", []),
        ("b.net", "list", ["e.net"]),
    ]


def test_a_page_of_a_group_is_known_by_the_queue_that_it_came_with_and_by_the_groups() -> None:
    crawl = Crawl("bfs")
    crawl.discover(["http://x.a.org/1", "http://y.a.org/2"], queues=["x.a.org", "mine"])
    crawl.group(domain="a.org")
    crawl.group(hosts=["mine", "other"])
    crawl.discover(["http://x.a.org/3"], queues=["x.a.org"])
    assert sorted(crawl.queues()) == ["a.org", "mine"] and [queue for _, queue in crawl.names(range(3))] == [
        "x.a.org",
        "mine",
        "x.a.org",
    ]
    for name in ("x.a.org", "a.org"):
        assert crawl.find_page("http://x.a.org/3", name) == 2 and crawl.pages_of(name).tolist() == [0, 2]
    assert crawl.find_page("http://x.a.org/3", "mine") == -1 and crawl.find_page("http://y.a.org/2", "mine") == 1
    assert crawl.discover(["http://x.a.org/1"], queues=["x.a.org"]) == [False]


def test_a_host_that_was_limited_before_it_was_known_has_a_name() -> None:
    crawl = Crawl("bfs")
    crawl.host("late.org", delay_s=9.0)
    crawl.discover(["http://late.org/"])
    assert crawl.queues() == ["late.org"] and crawl.hosts()[0]["host"] == "late.org"


@pytest.mark.parametrize("most", [2**31, 2**32 + 1, 2**62])
def test_a_limit_beyond_what_can_be_counted_holds_nothing_back(most: int) -> None:
    crawl = Crawl("bfs")
    crawl.discover([f"http://a.org/{n}" for n in range(5)])
    crawl.host("a.org", budget=most, limit=most, concurrency=most)
    assert len(crawl.take(9)) == 5


def test_a_group_is_one_queue_of_the_service_and_deleting_one_of_its_hosts_leaves_its_limits(tmp_path: Path) -> None:
    with Crawls(tmp_path / "service", "bfs", Politeness()) as crawls:
        service, crawl = FrontierService(crawls), crawls.made()
        crawl.discover(["http://x.a.org/1", "http://y.a.org/2", "http://b.net/3", "http://c.net/4"])
        crawl.limit_group(domain="a.org", budget=9)
        given = service.get_urls(wire.GetParams(max_queues=3, max_urls_per_queue=5, crawlID="DEFAULT"))
        assert len([info for chunk in given for info in chunk]) == 4, "three queues, one of them with two hosts"
        assert service.delete_queue(wire.QueueWithinCrawlParams(key="x.a.org", crawlID="DEFAULT")).value == 1
        assert crawl.pages_of("a.org").tolist() == [1] and crawl.overview()["groups"][0]["budget"] == 9


def test_a_fetcher_elsewhere_tells_the_address_of_a_host(tmp_path: Path) -> None:
    with Crawls(tmp_path / "service", "bfs", Politeness()) as crawls:
        service, crawl = FrontierService(crawls), crawls.made()
        crawl.discover(["http://a.net/1", "http://b.net/2", "http://a.net/3", "http://b.net/4"])
        crawl.limit_group(ip="192.0.2.7", concurrency=1)
        for name in ("a.net/1", "b.net/2"):
            info = wire.URLInfo(url=f"http://{name}", key=name.partition("/")[0], crawlID="DEFAULT")
            info.metadata["ip"].values.append("192.0.2.7")
            service.put_urls([wire.URLItem(known=wire.KnownURLItem(info=info, refetchable_from_date=0))])
        assert crawl.joined == {"a.net": "192.0.2.7", "b.net": "192.0.2.7"}
        assert len(crawl.take(9)) == 1, "one request at a time to this address"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({}, "must be given by one of domain, ip and hosts"),
        ({"domain": "a.org", "ip": "192.0.2.7"}, "must be given by one of domain, ip and hosts"),
        ({"domain": "www.a.org"}, "must be a registered domain, such as a.org, got 'www.a.org'"),
        ({"domain": "192.0.2.7"}, "must be a registered domain, such as example.org, got '192.0.2.7'"),
        ({"domain": "a org"}, "must be a registered domain, such as example.org, got 'a org'"),
        ({"ip": "a.org"}, "ip must be an address, such as 192.0.2.7, got 'a.org'"),
        ({"hosts": [""]}, "hosts must be 1 to 10,000 names"),
        ({"hosts": ["z.net", "d.net"]}, "d.net is in the group c.net already, and a host may be in one"),
        ({"hosts": ["z.net", "c.net"]}, "c.net is in the group c.net already, and a host may be in one"),
        ({"hosts": ["z.net", "new.b.org"]}, "new.b.org is in the group b.org already, and a host may be in one"),
        ({"hosts": ["b.org", "z.net"]}, "b.org names a group by domain already"),
        ({"domain": "d.net"}, "d.net is in the group c.net already"),
    ],
)
def test_a_group_that_cannot_be_is_told_in_one_sentence_and_leaves_no_event(asked: dict[str, Any], says: str) -> None:
    crawl = Crawl("bfs")
    crawl.discover(["http://d.net/"])
    crawl.group(domain="b.org")
    crawl.group(hosts=["c.net", "d.net"])
    seq = crawl.log.seq
    with pytest.raises(InputError, match=says):
        crawl.limit_group(**asked, delay_s=1.0)
    with pytest.raises(InputError, match="got none"):
        crawl.limit_group(domain="e.org")
    with pytest.raises(InputError, match="whole number from 0, got -1"):
        crawl.limit_group(domain="e.org", budget=-1)
    assert crawl.log.seq == seq


def test_hosts_of_one_group_are_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("a.org B.org # one machine\n\nc.org\na.org\n")
    assert read_hosts(str(tmp_path / "hosts")) == ["a.org", "b.org", "c.org"]
    (tmp_path / "hosts").write_text("# none\n")
    with pytest.raises(InputError, match="names no host"):
        read_hosts(str(tmp_path / "hosts"))
    with pytest.raises(InputError, match="in a file that can be read"):
        read_hosts(str(tmp_path / "none"))


KILLED = """
import sys
from frontrank.crawl.crawl import Crawl
crawl = Crawl.recover(sys.argv[1])
print("begun", flush=True)
if not crawl.groups:
    crawl.limit_group(domain="a.org", budget=40)
    crawl.limit_group(hosts=["b.net", "c.net"], budget=20)
print("limited", flush=True)
while urls := crawl.take(3):
    for at, url in enumerate(urls):
        number = 7 * int(url.rsplit("/", 1)[1]) + at
        hosts = ("h%d.a.org" % (number % 90), "b.net", "c.net")
        crawl.fetched(url, [f"http://{host}/{number % 5000}" for host in hosts])
        print("fetched", url, flush=True)
    if len(urls) == 2:
        crawl.snapshot()
"""


def test_after_kill_9_a_group_gives_what_its_budget_has_left_and_no_more(tmp_path: Path) -> None:
    folder, draw = tmp_path / "c", random.Random(5)
    with Crawl("bfs", folder) as crawl:
        crawl.seed([f"http://h{n}.a.org/{n}" for n in range(4)] + ["http://b.net/8", "http://c.net/9"])
    heard: list[str] = []
    for life in range(6):
        child = subprocess.Popen([sys.executable, "-c", KILLED, str(folder)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        lines = draw.randint(1, 9) if life < 5 else None
        for place, line in enumerate(child.stdout):
            heard.append(line.strip())
            if lines is not None and place >= lines:
                child.send_signal(signal.SIGKILL)
                break
        heard += [line.strip() for line in child.stdout]
        child.wait()
        child.stdout.close()
    crawl = Crawl.recover(folder)
    told = {group["group"]: group for group in crawl.overview()["groups"]}
    crawl.close()
    fetched = [event["url"] for event in events(folder) if event["kind"] == "fetched"]
    assert len(fetched) == len(set(fetched)), "what was acknowledged is not fetched again"
    assert {line.split()[1] for line in heard if line.startswith("fetched")} <= set(fetched)
    assert sum(".a.org/" in name for name in fetched) == 40 == told["a.org"]["taken"]
    assert sum(".net/" in name for name in fetched) == 20 == told["b.net"]["taken"]
    assert heard.count("limited") >= 1 and told["a.org"]["waiting"] > 0 and told["b.net"]["waiting"] > 0


def test_hosts_that_leave_a_group_have_what_they_had_but_no_shorter_delay(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c", politeness=Politeness(delay_s=1.0, per_host=3), clock=lambda: 0.0)
    crawl.seed([f"http://{host}/{n}" for n in range(4) for host in ("a.net", "b.net")], now=0.0)
    crawl.host("b.net", budget=3)
    crawl.group(hosts=["a.net", "b.net"])
    crawl.host("b.net", delay_s=20.0, at_least=True)  # as a Crawl-delay asks for
    crawl.limit_group(hosts=["a.net"], budget=2, concurrency=1)
    crawl.block("a.net", 50.0, now=0.0)
    assert crawl.take(9, now=60.0) == ["http://a.net/0"]
    crawl.ungroup("a.net", now=61.0)
    crawl.abandon()
    crawl = Crawl.recover(tmp_path / "c", clock=lambda: 61.0, keep_leases=True)
    told = {row["host"]: (row["delay"], row["concurrency"], row["budget"], row["taken"]) for row in crawl.busiest_hosts(9)}
    assert told == {"a.net": (20.0, 3, 0, 1), "b.net": (20.0, 3, 3, 0)}
    assert crawl.take(9, now=79.0) == [], "each rests as the group did"
    assert crawl.take(9, now=80.0) == ["http://b.net/0", "http://a.net/1"]
    crawl.close()


class Between:
    """The lock of a crawl; each time that it is let go, somebody else calls."""

    def __init__(self, crawl: Crawl, calls: list[Callable[[], Any]]) -> None:
        self.lock, self.calls, self.held, self.longest, self.calling = crawl._lock, calls, 0, 0, False
        self.read, crawl.log.names = crawl.log.names, self.names  # type: ignore[method-assign]
        self.asked = 0  # names that were read since the lock was taken

    def names(self, pages: Sequence[int]) -> list[tuple[str, str | None]]:
        self.asked += len(pages)
        return self.read(pages)

    def __enter__(self) -> None:
        self.lock.__enter__()
        self.held += 1

    def __exit__(self, *error: object) -> None:
        self.held -= 1
        self.lock.__exit__(None, None, None)
        if not self.held:
            self.longest, self.asked = max(self.longest, self.asked), 0
            if self.calls and not self.calling:
                self.calling = True
                self.calls.pop(0)()
                self.calling = False


def test_hosts_of_a_large_group_part_without_holding_anybody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of its pages are read a few at a time; what others do meanwhile counts, and is read again as it was."""
    monkeypatch.setattr("frontrank.crawl.control.PART", 5)
    time = [0.0]
    crawl = Crawl("fpr", tmp_path / "c", clock=lambda: time[0])
    naive = Crawl("fpr", clock=lambda: time[0], frontier=NaiveFrontier)
    for one in (crawl, naive):
        one.seed([url(page) for page in range(40)])
        one.group(hosts=["c.net", "www.b.org", "d.net"])
        one.discover(["http://c.net/later", "http://e.net/"], queues=["slow", None])

    def calls(one: Crawl) -> list[Callable[[], Any]]:
        """What happens while the names are read, or, where they are read at once, before."""
        return [
            lambda: one.discover([f"http://{host}/new{n}" for n in range(9) for host in ("c.net", "e.net")]),
            lambda: one.group(hosts=["c.net", "e.net"]),
            lambda: one.fetched_page(one.take_pages(1)[0], []),
            lambda: one.failed(one.take(2)[0]),
        ]

    others = Between(crawl, calls(crawl))
    crawl._lock = others  # type: ignore[assignment]
    crawl.ungroup("c.net")
    crawl._lock = others.lock
    assert not others.calls and others.longest == 5
    for call in calls(naive):
        call()
    naive.ungroup("c.net")
    before = told(crawl)
    assert before == told(naive)
    crawl.abandon()
    crawl = Crawl.recover(tmp_path / "c", clock=lambda: 0.0, keep_leases=True)
    assert told(crawl) == before
    crawl.close()


def test_a_group_that_somebody_else_ends_meanwhile_is_there_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontrank.crawl.control.PART", 5)
    crawl = Crawl("bfs", clock=lambda: 0.0)
    crawl.seed([url(page) for page in range(40)])
    crawl.group(hosts=["c.net", "www.b.org"])
    lock = crawl._lock
    crawl._lock = Between(crawl, [lambda: None, lambda: crawl.ungroup("c.net")])  # type: ignore[assignment]
    with pytest.raises(InputError, match=r"there is no group 'c\.net'"):
        crawl.ungroup("c.net")
    crawl._lock = lock
    assert crawl.groups == {} == crawl.joined


def test_a_block_that_is_over_is_not_told_though_nothing_has_happened_since() -> None:
    time = [0.0]
    crawl = Crawl("bfs", clock=lambda: time[0])
    crawl.seed(["http://a.net/"])
    crawl.block_group(9.0, hosts=["a.net", "b.net"])
    assert (crawl.overview()["groups"][0]["blocked_until"], crawl.overview()["hosts"]["resting"]) == (9.0, 1)
    time[0] = 10.0
    assert (crawl.overview()["groups"][0]["blocked_until"], crawl.overview()["hosts"]["resting"]) == (None, 0)
