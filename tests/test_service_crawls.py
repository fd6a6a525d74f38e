"""Crawls by ID: what a service opens, starts, deletes and keeps, whatever the IDs."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.integrity import checksum
from frontrank.errors import BrokenCrawl, InputError, SpecError, StorageError, TooMany, UnknownCrawl
from frontrank.frontiers.politeness import Politeness
from frontrank.service.crawl_ids import DEFAULT, MAX_ID_LENGTH, crawl_id, directory_of
from frontrank.service.crawls import Crawls
from frontrank.service.pool import MAX_UNSAVED
from frontrank.system.files import locked
from tests.patience import eventually

WILD = [
    "../up",
    "/etc/passwd",
    "..",
    ".",
    "a/b",
    "a\0b",
    "CON",
    "ü ✓",
    "x" * 900,
    "~",
    ".deleted-1",
    "%2E",
    "lock",
    "service.json",
]


def test_a_crawl_is_there_from_its_first_use_on_and_after_a_restart(tmp_path: Path) -> None:
    with Crawls(tmp_path / "made") as crawls:
        assert crawls.ids() == []
        crawls.get_or_start("news").seed("http://a.org/")
        assert crawls.get_or_start("news") is crawls.get("news")
        assert crawls.ids() == ["news"]
    with Crawls(tmp_path / "made") as crawls:
        assert crawls.ids() == ["news"]
        assert crawls.get("news").take() == ["http://a.org/"]


def test_blank_is_the_default(tmp_path: Path) -> None:
    with Crawls(tmp_path) as crawls:
        assert crawls.get_or_start("") is crawls.get_or_start(DEFAULT) is crawls.get_or_start("  ")
        assert crawls.ids() == [DEFAULT]
        assert "" in crawls and "other" not in crawls


def test_an_unknown_id_is_said_with_those_that_are_there(tmp_path: Path) -> None:
    with Crawls(tmp_path) as crawls:
        crawls.get_or_start("news")
        with pytest.raises(UnknownCrawl, match="there is no crawl 'newz'; did you mean 'news'"):
            crawls.get("newz")
        assert crawls.find("newz") is None


def test_each_crawl_has_its_own_ordering_and_keeps_it(tmp_path: Path) -> None:
    with Crawls(tmp_path, "bfs", orderings={"news": "opic"}) as crawls:
        for name in ("any", "news"):
            crawls.get_or_start(name)
        crawls.get_or_start("third", "random")
    with Crawls(tmp_path, "surf") as crawls:
        found = {name: crawls.get(name).state.policy.spec() for name in crawls.ids()}
        assert found == {"any": "bfs", "news": "opic", "third": "random"}
        assert crawls.get_or_start("fourth").state.policy.spec() == "surf"


def test_crawls_that_are_there_get_another_ordering_if_that_is_asked_for(tmp_path: Path) -> None:
    with Crawls(tmp_path, "bfs", orderings={"news": "opic"}) as crawls:
        for name in ("any", "news"):
            crawls.get_or_start(name).discover(["http://a.org/", "http://b.org/", "http://c.org/"])
            crawls.get(name).discover(["http://c.org/"], "http://a.org/")
            crawls.get(name).queues.report(0)
        assert crawls.kept == []
    with Crawls(tmp_path, orderings={"any": "fpr"}) as crawls:
        assert crawls.kept == ["crawl 'any' keeps bfs; --rescore would give it fpr"], "nothing was said of the other one"
    with Crawls(tmp_path, orderings={"any": "backlink"}, rescore=True) as crawls:
        assert {name: crawls.get(name).state.policy.spec() for name in crawls.ids()} == {"any": "backlink", "news": "opic"}
        assert crawls.kept == [] and crawls.get("any").inspect.next(1)[0]["url"] == "http://c.org/"
    with Crawls(tmp_path, "fpr", rescore=True) as crawls:
        assert {crawls.get(name).state.policy.spec() for name in crawls.ids()} == {"fpr"}
    with Crawls(tmp_path) as crawls:
        assert {crawls.get(name).state.policy.spec() for name in crawls.ids()} == {"fpr"} and crawls.kept == []


def test_a_delay_and_a_share_that_are_given_hold_for_crawls_that_are_there(tmp_path: Path) -> None:
    with Crawls(tmp_path, "bfs") as crawls:
        crawls.get_or_start().control.limit_host("slow.org", delay_s=30.0)
    for share in (0.25, 0.5):
        with Crawls(tmp_path, revisit_share=share) as crawls:
            crawls.set_delay(5.0)
            assert crawls.get().state.politeness.delay_s == 5.0 and crawls.get().control.revisit_share == share
            assert crawls.get_or_start("new").control.revisit_share == share
    with Crawls(tmp_path) as crawls:
        assert crawls.get().state.politeness.delay_s == 5.0 and crawls.get().control.revisit_share == 0.5
        assert crawls.get().state.frontier.hosts(crawls.get().inspect.host_number("slow.org"))["delay"][0] == 30.0


def test_no_id_leads_out_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "service"
    with Crawls(folder) as crawls:
        for name in WILD:
            crawls.get_or_start(name).seed("http://a.org/")
        assert crawls.ids() == sorted(WILD)
        assert all(crawls.get(name).inspect.folder.parent == folder for name in WILD)  # type: ignore[union-attr]
    assert [path.name for path in tmp_path.iterdir()] == ["service"]
    with Crawls(folder) as crawls:
        assert crawls.ids() == sorted(WILD)
        for name in WILD:
            crawls.delete(name)
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "service.json"]


@given(st.lists(st.text(min_size=1, max_size=MAX_ID_LENGTH), max_size=20))
def test_ids_never_share_a_directory(names: list[str]) -> None:
    distinct = {crawl_id(name) for name in names}
    directories = {directory_of(name) for name in distinct}
    assert len(directories) == len(distinct)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-%~") for name in directories)
    assert all(len(name) <= 120 for name in directories)


@pytest.mark.parametrize("name", ["x" * (MAX_ID_LENGTH + 1), "\ud800"])
def test_ids_that_cannot_be_kept_are_refused(name: str, tmp_path: Path) -> None:
    with Crawls(tmp_path) as crawls, pytest.raises(InputError, match="the ID of a crawl must"):
        crawls.get_or_start(name)


def test_a_deleted_crawl_is_gone_and_may_come_anew(tmp_path: Path) -> None:
    with Crawls(tmp_path) as crawls:
        old = crawls.get_or_start("news")
        old.seed("http://a.org/")
        crawls.delete("news")
        with pytest.raises(StorageError, match="closed"):
            old.seed("http://b.org/")
        with pytest.raises(UnknownCrawl):
            crawls.delete("news")
        assert crawls.get_or_start("news").inspect.waiting == 0


def test_pause_and_politeness_survive_a_restart(tmp_path: Path) -> None:
    with Crawls(tmp_path, politeness=Politeness(delay_s=3.0)) as crawls:
        assert crawls.active
        crawls.active = False
        crawls.set_politeness(Politeness(delay_s=5.0))
    with Crawls(tmp_path) as crawls:
        assert not crawls.active
        assert crawls.get_or_start("later").state.politeness.delay_s == 5.0
        crawls.active = True
    with Crawls(tmp_path, politeness=Politeness(delay_s=7.0)) as crawls:
        assert crawls.active
        assert crawls.get_or_start("last").state.politeness.delay_s == 7.0
        assert crawls.get("later").state.politeness.delay_s == 5.0


def test_the_default_is_a_second_between_two_pages_of_a_host(tmp_path: Path) -> None:
    with Crawls(tmp_path) as crawls:
        assert crawls.get_or_start().state.politeness.delay_s == 1.0


def test_what_a_dead_process_left_half_done_is_removed(tmp_path: Path) -> None:
    with Crawls(tmp_path) as crawls:
        crawls.get_or_start("kept")
    (tmp_path / ".deleted-12").mkdir()
    (tmp_path / ".deleted-12" / "trace.db").write_bytes(b"half")
    (tmp_path / "unborn").mkdir()
    (tmp_path / "unborn" / "trace.db.new").write_bytes(b"half")
    with Crawls(tmp_path) as crawls:
        assert crawls.ids() == ["kept"]
        assert not (tmp_path / ".deleted-12").exists()
        crawls.get_or_start("unborn").seed("http://a.org/")


def test_a_crawl_that_was_moved_in_has_its_directory_as_id(tmp_path: Path) -> None:
    folder = tmp_path / "service"
    with Crawl("bfs", folder / "mine") as crawl:
        crawl.seed("http://a.org/")
    with Crawls(folder) as crawls:
        assert crawls.get("mine").inspect.waiting == 1


def test_two_services_do_not_share_a_folder(tmp_path: Path) -> None:
    with Crawls(tmp_path), pytest.raises(StorageError, match="another service"):
        Crawls(tmp_path)
    Crawls(tmp_path).close()


def test_a_closed_service_starts_no_crawl(tmp_path: Path) -> None:
    crawls = Crawls(tmp_path)
    crawls.close()
    crawls.close()
    with pytest.raises(StorageError, match="closed"):
        crawls.get_or_start("news")
    assert not (tmp_path / "news").exists()


def test_folders_that_are_something_else_are_left_alone(tmp_path: Path) -> None:
    Crawl("bfs", tmp_path / "crawl").close()
    with pytest.raises(StorageError, match="holds one crawl"):
        Crawls(tmp_path / "crawl")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(b"")
    with pytest.raises(StorageError, match=r"is not empty \(it contains a.jpg\)"):
        Crawls(tmp_path / "photos")
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        Crawls(tmp_path / "file")
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["a.jpg"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "other", "version": 1}', '{"format": "frontrank-service", "version": 9}']
)
def test_damaged_settings_are_said(text: str, tmp_path: Path) -> None:
    (tmp_path / "service.json").write_text(text)
    with pytest.raises(StorageError, match=r"service\.json"):
        Crawls(tmp_path)
    assert (tmp_path / "service.json").read_text() == text


def test_the_ordering_is_checked_before_anything_is_written(tmp_path: Path) -> None:
    for policy in ("no-such", "oracle"):
        with pytest.raises((SpecError, InputError)):
            Crawls(tmp_path / "new", policy)
    assert not (tmp_path / "new").exists()


def test_settings_are_readable(tmp_path: Path) -> None:
    with Crawls(tmp_path, "opic"):
        stored = json.loads((tmp_path / "service.json").read_text())
    assert stored["policy"]["name"] == "opic" and stored["active"] is True


def test_there_are_so_many_crawls_and_no_more(tmp_path: Path) -> None:
    with Crawls(tmp_path, "bfs", max_crawls=2) as crawls:
        first = crawls.get_or_start("a")
        crawls.get_or_start("b")
        with pytest.raises(TooMany, match="2 crawls, as many as there may be"):
            crawls.get_or_start("c")
        assert crawls.get_or_start("a") is first and not (tmp_path / "c").exists()
        crawls.delete("b")
        crawls.get_or_start("c")
    with pytest.raises(InputError, match="at least 1 crawl"):
        Crawls(tmp_path, "bfs", max_crawls=0)


def test_a_damaged_crawl_does_not_keep_the_others_from_being_served(tmp_path: Path) -> None:
    with Crawls(tmp_path, "bfs") as crawls:
        for name in ("news/sport", "well"):
            crawls.get_or_start(name).seed("http://a.org/")
    (tmp_path / "news%2Fsport" / "trace.db").write_bytes(b"not a database" * 1000)
    with Crawls(tmp_path, "bfs") as crawls:
        assert crawls.ids() == ["well"] and list(crawls.broken) == ["news/sport"]
        for ask in (crawls.find, crawls.get, crawls.get_or_start):
            with pytest.raises(StorageError, match="'news/sport' could not be opened"):
                ask("news/sport")
        assert crawls.get_or_start("another").inspect.waiting == 0


FEW_FILES = """
import resource, sys
from frontrank.errors import StorageError
from frontrank.service.crawls import Crawls
with Crawls(sys.argv[1], "bfs") as crawls:
    crawls.get_or_start("first")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        crawls.get_or_start("second")
    except StorageError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert crawls.ids() == ["first"]
    crawls.get_or_start("second").seed("http://a.org/")
"""


def test_a_crawl_for_which_no_file_can_be_opened_is_a_sentence(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FEW_FILES, str(tmp_path)], capture_output=True, text=True, check=True)
    assert "oo many open files" in done.stdout or "unable to open" in done.stdout


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("politeness", '{"no": 1}', "TypeError"),
        ("policy", '{"name": 5, "fields": 7}', ""),
        ("crawl_id", '"' + "x" * 2_000 + '"', "at most 1,000 characters"),
        ("revisit_share", "{", "its notes are no JSON"),
    ],
)
def test_whatever_is_wrong_with_a_crawl_the_others_are_served(tmp_path: Path, key: str, value: str, reason: str) -> None:
    with Crawls(tmp_path, "bfs") as crawls:
        for name in ("bad", "well"):
            crawls.get_or_start(name).seed("http://a.org/")
    with closing(sqlite3.connect(tmp_path / "bad" / "trace.db")) as db, db:
        before = {note: (text, crc) for note, text, crc in db.execute("SELECT * FROM meta")}
        db.execute("INSERT OR REPLACE INTO meta VALUES(?, ?, ?)", (key, value, checksum((key, value))))
    with Crawls(tmp_path, "bfs") as crawls:
        assert crawls.ids() == ["well"] and list(crawls.broken) == ["bad"]
        assert reason in crawls.broken["bad"] and str(tmp_path) not in crawls.broken["bad"]
        with pytest.raises(BrokenCrawl, match="crawl 'bad' could not be opened"):
            crawls.get("bad")
        with closing(sqlite3.connect(tmp_path / "bad" / "trace.db")) as db, db:
            text, crc = before.get(key, ("null", checksum((key, "null"))))
            db.execute("INSERT OR REPLACE INTO meta VALUES(?, ?, ?)", (key, text, crc))
        eventually(lambda: opens(crawls, "bad"))
        assert crawls.get("bad").inspect.waiting == 1 and crawls.ids() == ["bad", "well"] and not crawls.broken, (
            "it is tried again"
        )


def test_a_broken_crawl_is_deleted_unless_another_process_has_it(tmp_path: Path) -> None:
    with Crawls(tmp_path, "bfs") as crawls:
        for name in ("damaged", "news", "elsewhere"):
            crawls.get_or_start(name).seed("http://a.org/")
    shutil.copytree(tmp_path / "news", tmp_path / "news-old")
    (tmp_path / "damaged" / "trace.db").write_bytes(b"not a database" * 1_000)
    lock = locked(tmp_path / "elsewhere" / "lock", "busy")
    with Crawls(tmp_path, "bfs") as crawls:
        assert list(crawls.broken) == ["damaged", "elsewhere", "news-old"]
        with pytest.raises(BrokenCrawl, match="another process is at work"):
            crawls.delete("elsewhere")
        assert [crawls.delete(name) for name in ("damaged", "news-old")] == [0, 0]
        with pytest.raises(UnknownCrawl, match="no crawl 'damaged'"):
            crawls.delete("damaged")
        assert list(crawls.broken) == ["elsewhere"] and crawls.get("news").inspect.waiting == 1
        os.close(lock)
        assert crawls.delete("elsewhere") == 0
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["news"]


def opens(crawls: Crawls, name: str) -> bool:
    with suppress(BrokenCrawl):
        return crawls.find(name) is not None
    return False


def test_a_copy_of_a_crawl_does_not_keep_the_others_from_being_served(tmp_path: Path) -> None:
    with Crawls(tmp_path, "bfs") as crawls:
        crawls.get_or_start("news").seed("http://a.org/")
    shutil.copytree(tmp_path / "news", tmp_path / "news-old")
    with Crawls(tmp_path, "bfs") as crawls:
        assert crawls.ids() == ["news"] and "second crawl of ID 'news'" in crawls.broken["news-old"]
        assert crawls.get("news").inspect.waiting == 1


def test_idle_crawls_are_closed_and_come_back_with_their_leases_and_delays(tmp_path: Path) -> None:
    now = [1_000.0]
    with Crawls(tmp_path, "bfs", Politeness(delay_s=50.0), clock=lambda: now[0], max_open=2) as crawls:
        for name in "abcd":
            with crawls.use_or_start(name) as crawl:
                crawl.discover([f"http://{name}.org/{n}" for n in range(3)])
                assert crawl.queues.take(1, 1, lease_s=100.0) == [0]
                crawl.control.pause() if name == "b" else None
        assert len(crawls.open_crawls()) == 2 and crawls.ids() == list("abcd")
        summary = crawls.summary("a")
        assert summary is not None and summary.overview["leased"] == 1 and summary.ready_at == 1_050.0
        for name in "abcd":
            with crawls.use(name) as found:
                assert found is not None and found.queues.counts().leased == 1 and found.queues.take(1, 1) == [], (
                    "the delay holds"
                )
        now[0] = 1_060.0
        assert [crawls.get(name).take() for name in "abd"] == [["http://a.org/1"], [], ["http://d.org/1"]], "so does the pause"
        now[0] = 1_200.0
        assert crawls.get("a").take() == ["http://a.org/0"], "its lease has run out"
        crawls.set_delay(7.0)
        assert {crawls.get(name).state.politeness.delay_s for name in "abcd"} == {7.0}
        with crawls.use("a") as used:
            assert all(crawls.get(name) for name in "bcd") and used in crawls.open_crawls(), "what is used stays open"
        crawls.get("b"), crawls.get("c")
        crawls.delete("a")
        assert crawls.ids() == list("bcd") and not (tmp_path / "a").exists()


def test_a_delay_for_all_opens_no_crawl_and_holds_for_each_when_it_is_used(tmp_path: Path) -> None:
    with Crawls(tmp_path, "bfs", Politeness(delay_s=1.0), max_open=1) as crawls:
        for name in "abc":
            crawls.get_or_start(name)
        crawls.get("b").control.set_politeness(Politeness(delay_s=1.0, per_host=3))
        opened = crawls.open_crawls()
        crawls.set_delay(7.0)
        assert crawls.open_crawls() == opened
        assert crawls.get("b").state.politeness == Politeness(delay_s=7.0, per_host=3)
        assert crawls.get_or_start("d").state.politeness.delay_s == 7.0
        crawls.get("b").control.set_politeness(Politeness(delay_s=9.0))
    with Crawls(tmp_path) as crawls:
        assert [crawls.get(name).state.politeness.delay_s for name in "abcd"] == [7.0, 9.0, 7.0, 7.0]
        stored = json.loads((tmp_path / "service.json").read_text(encoding="utf-8"))
        assert stored["delays"] == {}


def test_a_large_crawl_is_closed_with_a_snapshot(tmp_path: Path) -> None:
    with Crawls(tmp_path, "bfs", max_open=1) as crawls:
        crawls.get_or_start("large").discover([f"http://a.org/{n}" for n in range(MAX_UNSAVED + 1)])
        for _ in range(2):
            crawls.get_or_start("small")
            assert len(list((tmp_path / "large" / "snapshots").iterdir())) == 1, "of one event; nothing has happened since"
            assert crawls.get("large").inspect.known == MAX_UNSAVED + 1
        assert not (tmp_path / "small" / "snapshots").exists()


def test_many_who_use_more_crawls_than_are_open_lose_nothing(tmp_path: Path) -> None:
    """Some are closed while others want them; one is deleted and begun anew meanwhile."""
    found: list[str] = []
    deleting = threading.Lock()  # of two who delete a crawl, the second finds none
    with Crawls(tmp_path, "bfs", Politeness(), max_open=2) as crawls, ThreadPoolExecutor(6) as threads:

        def put(turn: int) -> None:
            with crawls.use_or_start(f"c{turn % 5}") as crawl:
                crawl.discover([f"http://h{turn}.org/"])

        def get(turn: int) -> None:
            with crawls.use(f"c{turn % 5}") as crawl:
                found.extend(url for url, _ in crawl.queues.names(crawl.queues.take())[:1]) if crawl else None

        def delete(_: int) -> None:
            with deleting:
                crawls.get_or_start("other").discover(["http://a.org/"])
                crawls.delete("other")

        done = [threads.submit(work, turn) for turn in range(60) for work in (put, put, get, delete)[: 3 + (turn % 20 == 0)]]
        for one in done:
            one.result()
        left = [url for n in range(5) for url in urls_of(crawls.get(f"c{n}"))]
        assert len(crawls.open_crawls()) <= 2
    assert sorted(left) == sorted(f"http://h{turn}.org/" for turn in range(60))
    assert set(found) <= set(left)


def urls_of(crawl: Crawl) -> list[str]:
    return [url for url, _ in crawl.queues.names(crawl.queues.pages().tolist())]


FEW_FILES_MANY_CRAWLS = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
from frontrank.service import wire
from frontrank.service.crawls import Crawls
from frontrank.service.frontier import FrontierService
names = [f"c{n}" for n in range(24)]
with Crawls(sys.argv[1], "bfs", clock=lambda: 1.8e9) as crawls:
    frontier = FrontierService(crawls)
    for name in names:
        info = wire.URLInfo(url=f"http://{name}.org/", crawlID=name)
        (answer,) = frontier.put_urls([wire.URLItem(discovered=wire.DiscoveredURLItem(info=info))])
        assert answer.status == wire.AckMessage.OK
    for name in names + names:
        found = [one for some in frontier.get_urls(wire.GetParams(crawlID=name)) for one in some]
        print(*(wire.URLInfo.FromString(one).url for one in found))
    assert len(frontier.list_crawls(wire.Local()).values) == 24 and len(crawls.open_crawls()) <= 4
with Crawls(sys.argv[1]) as crawls:
    assert crawls.ids() == sorted(names) and not crawls.broken
"""


def test_there_may_be_more_crawls_than_files_for_them(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FEW_FILES_MANY_CRAWLS, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [f"http://c{n}.org/" for n in range(24)], "each once: then it is leased"


def test_what_is_put_into_a_crawl_that_was_just_deleted_begins_it_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Crawls(tmp_path, "bfs") as crawls:
        old, use = crawls.get_or_start("news"), crawls.use_or_start
        found_before = iter([nullcontext(old)])  # by whoever puts: it is deleted before the first event
        monkeypatch.setattr(crawls, "use_or_start", lambda name: next(found_before, None) or use(name))
        crawls.delete("news")
        with crawls.put_into("news") as crawl:
            crawl.discover(["http://a.org/"])
        assert crawl is not old and crawls.get("news").inspect.waiting == 1


def test_a_crawl_begins_anew_once_the_one_before_is_deleted(tmp_path: Path) -> None:
    with Crawls(tmp_path, "bfs") as crawls:
        old = crawls.get_or_start("news")
        with old.together():  # nobody else gets to it
            deleting = threading.Thread(target=crawls.delete, args=("news",))
            deleting.start()
            eventually(lambda: crawls.find("news") is None)
            putting = threading.Thread(target=lambda: crawls.get_or_start("news").seed("http://a.org/"))
            putting.start()
            crawls.get_or_start("other").seed("http://b.org/")  # nor does anybody wait but for this one
        deleting.join()
        putting.join()
        assert crawls.get("news") is not old and crawls.get("news").inspect.waiting == 1


def test_snapshots_that_take_too_long_are_given_up_and_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontrank.crawl.snapshots._write", lambda *_: threading.Event().wait())
    monkeypatch.setattr("frontrank.crawl.recorder.SNAPSHOT_ROWS", 1)
    crawls = Crawls(tmp_path, "bfs")
    for name in ("a", "b", "c"):
        crawls.get_or_start(name).seed(["http://a.org/", "http://b.org/"])
    crawls.close(max_s=0.1)
    with Crawls(tmp_path) as crawls:
        assert [crawls.get(name).inspect.waiting for name in crawls.ids()] == [2, 2, 2]
        monkeypatch.undo()
    assert not list(tmp_path.rglob("*.npz"))
