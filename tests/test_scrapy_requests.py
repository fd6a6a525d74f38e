"""Requests of Scrapy in the journal of a crawl: JSON where it can hold them, else pickles that are signed."""

from __future__ import annotations

import datetime
import json
import logging
import pickle
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scrapy")

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import FormRequest, JsonRequest, Response
from scrapy.statscollectors import MemoryStatsCollector

import frontrank as fr
from frontrank.crawl.integrity import checksum
from frontrank.errors import InputError, NotTrusted
from frontrank.fetching.addon.keys import key_path, make_key
from frontrank.fetching.addon.packing import Damaged, pack, unpack
from frontrank.fetching.addon.requests import Missing, Requests
from tests.scrapy_crawls import ASYNCIO, Crawled, Worker, job
from tests.scrapy_project_server import Site, page, serving

URL = "http://a.example/"
MOMENT = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)


class Own(Request):
    """A class of the project."""


class Reads(Spider):
    name = "reads"

    def parse(self, response: Response, **kwargs: Any) -> None: ...
    def _detail(self, response: Response) -> None: ...
    def failed(self, failure: object) -> None: ...


class Hostile:
    """Unpickled, it leaves a mark."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where keys are: not those of whoever runs the tests."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture(scope="module")
def spider() -> Reads:
    return Reads()


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[fr.Crawl]:
    with fr.Crawl("bfs", tmp_path / "crawl") as crawl:
        crawl.seed([URL])
        yield crawl


def requests(crawl: fr.Crawl, spider: Spider, trust: bool = False) -> Requests:
    return Requests(crawl, spider, MemoryStatsCollector(Crawler(Spider)), durable=True, debug=False, trust=trust)


def with_objects(spider: Reads, mark: object = MOMENT) -> Request:
    return Request(URL, spider._detail, meta={"seen": mark})


def made(spider: Reads) -> list[Request]:
    return [
        Request(URL),
        Request(URL, spider.parse),
        Request(URL, spider._detail, errback=spider.failed, cb_kwargs={"number": 7, "of": None}, priority=-3),
        Request(URL, method="POST", body=bytes(range(256)), headers={"X-Many": ["a", "b"]}, flags=["one"], dont_filter=True),
        Request(URL, cookies={"a": "b"}, encoding="latin-1"),
        Request(URL, cookies=[{"name": "a", "value": "b", "domain": "a.example"}]),
        Request(URL, meta={"deep": {"list": [1, {"x": [True, 1e-300]}]}, "text": "\ud800 ü", "big": 10**400}),
        Request(URL, meta={"tuple": (1, (b"\0", ())), "numbers": {1: "a", (2, 3): b"c"}, "$bytes": "no bytes", "empty": {}}),
        Request(URL, meta={"one": {"$tuple": [1]}, "infinite": float("inf")}),
        FormRequest(URL, formdata={"a": "1"}),
        JsonRequest(URL, data={"a": [1]}, dumps_kwargs={"sort_keys": True}),
    ]


def test_what_json_can_hold_is_json_and_comes_back_as_it_was(spider: Reads, state: Path) -> None:
    for request in made(spider):
        payload = pack(request, spider)
        assert payload == b"" or isinstance(json.loads(payload), dict)
        again = unpack(URL, payload, spider)
        assert type(again) is type(request)
        assert again.to_dict(spider=spider) == request.to_dict(spider=spider)
        assert repr(again.to_dict(spider=spider)) == repr(request.to_dict(spider=spider))  # types, too
    assert not state.exists()  # no key was needed


@pytest.mark.parametrize("what", [MOMENT, {1, 2}, type("Text", (str,), {"__module__": "builtins"}), object])
def test_what_json_cannot_hold_is_not_json(what: Any, spider: Reads) -> None:
    try:
        payload = pack(with_objects(spider, what), spider)
    except (pickle.PicklingError, AttributeError):
        return
    assert payload.startswith(b"signed\0")
    assert unpack(URL, payload, spider).meta == {"seen": what}


def test_other_pickles_are_signed_with_a_key_that_its_owner_alone_can_read(
    crawl: fr.Crawl, spider: Reads, state: Path, tmp_path: Path
) -> None:
    for request in (with_objects(spider), Own(URL, meta={"a": 1})):
        kept = requests(crawl, spider)
        kept.put(0, request)
        again = requests(crawl, spider).take(0)
        assert type(again) is type(request) and again.meta == request.meta
    key = key_path()
    assert key == state / "frontrank" / "scrapy.key" and len(key.read_bytes()) == 32
    assert (key.stat().st_mode & 0o777, key.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert list(key.parent.iterdir()) == [key]
    assert make_key() == key.read_bytes()


def test_a_pickle_that_nobody_signed_is_not_read(crawl: fr.Crawl, spider: Reads, tmp_path: Path) -> None:
    """As in a directory of frontrank 0.1, or of somebody else."""
    mark = tmp_path / "unpickled"
    body = pickle.dumps({"meta": {"mark": Hostile(mark)}}, protocol=5)
    make_key()
    for payload in (body, b"signed\0" + bytes(32) + body, pickle.dumps({"meta": {"mark": Hostile(mark)}}, protocol=2)):
        crawl.attach({0: payload})
        with pytest.raises(NotTrusted, match=r"not signed with your key.* set FRONTRANK_TRUST = True"):
            requests(crawl, spider).take(0)
        assert not mark.exists()
    assert requests(crawl, spider, trust=True).take(0).url == URL
    assert mark.exists()


def test_the_key_of_somebody_else_signs_nothing_here(
    crawl: fr.Crawl, spider: Reads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests(crawl, spider).put(0, with_objects(spider))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    with pytest.raises(NotTrusted):
        requests(crawl, spider).take(0)
    make_key()
    with pytest.raises(NotTrusted):
        requests(crawl, spider).take(0)


def test_a_directory_needs_to_be_trusted_once(crawl: fr.Crawl, spider: Reads) -> None:
    crawl.seed([URL + str(i) for i in range(3)])
    body = pickle.dumps({"meta": {"seen": MOMENT}}, protocol=5)
    for number, payload in enumerate((body, b'{"priority":3}', b"lost", b"signed\0" + bytes(32) + body)):
        crawl.attach({number: payload})
    requests(crawl, spider, trust=True).sign_all()
    kept = requests(crawl, spider)
    assert [kept.take(number).meta for number in (0, 1, 3)] == [{"seen": MOMENT}, {}, {"seen": MOMENT}]
    with pytest.raises(Missing, match="in the memory of an earlier process"):
        kept.take(2)


def test_without_a_place_for_a_key_such_requests_stay_in_memory(
    crawl: fr.Crawl, spider: Reads, read_only: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(read_only))
    kept = requests(crawl, spider)
    with caplog.at_level(logging.WARNING):
        kept.put(0, with_objects(spider))
        kept.put(0, with_objects(spider))
    (said,) = [record.getMessage() for record in caplog.records]
    assert "requests that JSON cannot hold are not stored" in said and "set XDG_STATE_HOME to a directory" in said
    assert kept.stats.get_value("scheduler/unserializable") == 2
    assert kept.take(0).meta == {"seen": MOMENT}
    with pytest.raises(Missing):
        requests(crawl, spider).take(0)


def test_a_key_that_others_can_read_is_not_used(crawl: fr.Crawl, spider: Reads, tmp_path: Path) -> None:
    kept = requests(crawl, spider)
    kept.put(0, with_objects(spider))
    key_path().chmod(0o644)
    with pytest.raises(InputError, match=r"scrapy\.key: expected 32 bytes in a file that you own.* remove it"):
        requests(crawl, spider).take(0)
    key_path().unlink()
    (tmp_path / "bytes").write_bytes(bytes(32))
    key_path().symlink_to(tmp_path / "bytes")
    with pytest.raises(InputError, match="cannot be read"):
        requests(crawl, spider).take(0)


def test_json_names_no_code(spider: Reads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pwn.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("pwn.X", "os.system", "scrapy.http.request.NO_CALLBACK", "scrapy.http.request.pwn.X", 7, "pwn"):
        with pytest.raises(Damaged):
            unpack(URL, json.dumps({"_class": name}).encode(), spider)
    assert "pwn" not in sys.modules
    for kind in ("callback", "errback"):
        for method in ("gone", "__init__", "__setattr__", "name", "custom_settings", 7, ["parse"]):
            with pytest.raises(InputError, match=rf"has the {kind} .* no method of the spider 'reads'; bring it back"):
                unpack(URL, json.dumps({kind: method}).encode(), spider)


def test_damaged_payloads_end_in_a_sentence(crawl: fr.Crawl, spider: Reads) -> None:
    whole = [pack(request, spider) for request in (made(spider)[2], made(spider)[3], with_objects(spider))]
    payloads = [payload[:end] for payload in whole for end in range(1, len(payload), 3)]
    payloads += [payload[:at] + b"\xff" + payload[at + 1 :] for payload in whole for at in range(0, len(payload), 5)]
    payloads += [b"[]", b"7", b'{"$dict":[[[],1]]}', b'{"$bytes":"x"}', b'{"priority":"a"}', b"[" * 100_000, b'{"url":[]}']
    kept = requests(crawl, spider)
    for payload in payloads:
        crawl.attach({0: payload})
        with suppress(Missing, InputError):  # NotTrusted is one
            assert kept.take(0).url == URL


def test_a_value_that_is_no_payload_is_damage(crawl: fr.Crawl, spider: Reads, tmp_path: Path) -> None:
    for value in (10**12, 1.5, "{}"):
        crawl.commit()
        db = sqlite3.connect(tmp_path / "crawl" / "trace.db")
        with db:
            db.execute("INSERT OR REPLACE INTO payload VALUES(0, ?, ?)", (value, checksum((0, value))))
        db.close()
        with pytest.raises(Missing, match="damaged"):
            requests(crawl, spider).take(0)


@pytest.fixture
def worker(state: Path) -> Iterator[Worker]:
    """A process of a project, with the key of this test."""
    worker = Worker(ASYNCIO)
    yield worker
    worker.end()


def as_before(folder: Path, mark: Path) -> None:
    """Store requests as frontrank 0.1 did: every one a pickle."""
    db = sqlite3.connect(folder / "trace.db")
    with db:
        for at, payload in db.execute("SELECT page, data FROM payload").fetchall():
            if payload.startswith(b"{"):
                body = pickle.dumps({"callback": "parse", "meta": {"mark": Hostile(mark)}}, protocol=5)
                db.execute("UPDATE payload SET data = ?, crc = ? WHERE page = ?", (body, checksum((at, body)), at))
    db.close()


def test_a_crawl_of_an_earlier_version_goes_on_after_it_was_trusted_once(worker: Worker, tmp_path: Path) -> None:
    folder, mark = tmp_path / "crawl", tmp_path / "unpickled"

    def crawled(site: Site, **settings: Any) -> Crawled:
        every = {"CONCURRENT_REQUESTS": 1, "FRONTRANK_DIR": str(folder), **settings}
        worker.begin([job("Carries", site.root + "/", every)])
        (told,) = worker.results()
        return told

    with serving({"/": page(), "/local": page(), **{f"/kept/{i}": page() for i in range(6)}}) as site:
        crawled(site, STOP_SOON=True)
        as_before(folder, mark)
        before = len(site.urls())
        refused = crawled(site)
        assert refused.stats["finish_reason"] == "frontrank_error"
        assert "set FRONTRANK_TRUST = True" in refused.log and "Traceback" not in refused.log
        assert len(site.urls()) == before and not mark.exists()
        some = crawled(site, FRONTRANK_TRUST=True, FRONTRANK_BUDGET=3)
        assert some.stats["finish_reason"] == "frontrank_budget" and mark.exists()
        rest = crawled(site)
        assert rest.stats["finish_reason"] == "finished" and rest.stats["frontrank/leased"] == 0
        assert len(set(site.urls())) == 7
