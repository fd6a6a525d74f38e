"""What a crawl keeps as WARC files, read back by other people's readers; and webs read from WARC and WAT files."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import subprocess
import sys
import threading
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from frontrank.errors import InputError, SourceError
from frontrank.pages.warc_writer import Warc, read
from frontrank.sources import load, save
from frontrank.sources.captured import load_warc
from frontrank.web.web import Web
from tests.patience import PATIENCE_S

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it warns of its own old names when it is imported
    import fastwarc

URL = "http://example.org/a?b=1"
HEADERS = [("Content-Type", "text/html"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]
ASKED = [("Host", "example.org"), ("User-Agent", "frontrank")]


def kept(path: Path) -> list[dict[str, Any]]:
    """All records of a file by warcio, digests checked."""
    found = []
    with open(path, "rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            http = record.http_headers
            found.append(
                {
                    "type": record.rec_type,
                    "head": dict(record.rec_headers.headers),
                    "first": http and f"{http.protocol} {http.statusline}",
                    "http": http and http.headers,
                    "body": record.content_stream().read(),
                }
            )
    return found


# --- writing ---


def test_a_thread_may_sync_while_files_are_rotated(tmp_path: Path) -> None:
    """The journal's thread does; the descriptor that it syncs must be its own."""
    errors: list[BaseException] = []
    syncs = 0
    ended = threading.Event()

    def sync(warc: Warc) -> None:
        nonlocal syncs
        while not ended.is_set():
            try:
                warc.sync()
            except BaseException as error:
                errors.append(error)
            syncs += 1

    descriptors = len(os.listdir("/proc/self/fd"))
    with Warc(tmp_path, max_bytes=1) as warc:  # every record opens another file
        threads = [threading.Thread(target=sync, args=(warc,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        wheres = [warc.write(URL, 200, HEADERS, b"%d" % number) for number in range(300)]
        ended.set()
        for thread in threads:
            thread.join()
    assert errors == [] and syncs > 100
    assert [read(tmp_path, where)[2] for where in wheres] == [b"%d" % number for number in range(300)]
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_a_page_is_kept_as_request_and_response_that_others_can_read(tmp_path: Path) -> None:
    with Warc(tmp_path) as warc:
        where = warc.write(URL, 200, HEADERS, b"<p>\r\n\r\nbody", request_headers=ASKED, address="192.0.2.7", now=0.0)
    info, request, response = kept(tmp_path / "crawl-00000.warc.gz")
    assert info["type"] == "warcinfo" and b"software: frontrank/" in info["body"]
    assert (request["type"], request["first"], request["http"]) == ("request", "GET /a?b=1 HTTP/1.1", ASKED)
    assert (response["type"], response["first"], response["http"]) == ("response", "HTTP/1.1 200 OK", HEADERS)
    assert response["body"] == b"<p>\r\n\r\nbody"
    head = response["head"]
    assert request["head"]["WARC-Concurrent-To"] == head["WARC-Record-ID"]
    assert head["WARC-Warcinfo-ID"] == info["head"]["WARC-Record-ID"]
    assert (head["WARC-Target-URI"], head["WARC-IP-Address"], head["WARC-Date"]) == (URL, "192.0.2.7", "1970-01-01T00:00:00Z")
    assert read(tmp_path, where) == (200, HEADERS, b"<p>\r\n\r\nbody")


def test_a_decoded_body_is_not_decoded_again(tmp_path: Path) -> None:
    sent = [("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked"), ("Content-Length", "7"), ("X", "y")]
    with Warc(tmp_path) as warc:
        where = warc.write(URL, 200, sent, b"plain body")
    kept_as = [
        ("X-Crawler-Content-Encoding", "gzip"),
        ("X-Crawler-Transfer-Encoding", "chunked"),
        ("X-Crawler-Content-Length", "7"),
        ("Content-Length", "10"),
        ("X", "y"),
    ]
    assert read(tmp_path, where) == (200, kept_as, b"plain body")
    assert kept(tmp_path / where[0])[-1]["body"] == b"plain body"
    records = fastwarc.ArchiveIterator(str(tmp_path / where[0]), auto_decode="all")
    assert [record.reader.read() for record in records][-1] == b"plain body"


def test_digests_hold_for_fastwarc_too(tmp_path: Path) -> None:
    with Warc(tmp_path) as warc:
        for number in range(20):
            warc.write(f"http://example.org/{number}", 200, HEADERS, b"x" * number * 1000, request_headers=ASKED)
    path = str(tmp_path / "crawl-00000.warc.gz")
    assert all(record.verify_block_digest() for record in fastwarc.ArchiveIterator(path, parse_http=False))
    responses = fastwarc.ArchiveIterator(path, record_types=fastwarc.WarcRecordType.response)
    assert [record.verify_payload_digest() for record in responses] == [True] * 20


def test_a_cut_body_is_marked(tmp_path: Path) -> None:
    with Warc(tmp_path) as warc:
        warc.write(URL, 200, [], b"half", truncated="length")
        with pytest.raises(InputError, match="truncated is 'size', expected length, time"):
            warc.write(URL, 200, [], b"half", truncated="size")
    assert kept(tmp_path / "crawl-00000.warc.gz")[-1]["head"]["WARC-Truncated"] == "length"


def test_a_header_cannot_begin_another(tmp_path: Path) -> None:
    with Warc(tmp_path) as warc:
        where = warc.write(
            "http://example.org/\r\nWARC-Type: x", 299, [(b"A", b"1\r\n\r\nB: 2"), ("C", "ü")], b"body", reason="a\nb"
        )
    record = kept(tmp_path / where[0])[-1]
    assert (record["type"], record["body"], record["first"]) == ("response", b"body", "HTTP/1.1 299 a b")


def test_files_are_numbered_and_a_new_one_begins_when_one_is_large(tmp_path: Path) -> None:
    with Warc(tmp_path, prefix="x", max_bytes=1500) as warc:
        places = [warc.write(f"http://example.org/{i}", 200, [], bytes(range(256)) * 4) for i in range(6)]
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"x-{i:05d}.warc.gz" for i in range(len(names))] and len(names) > 1
    assert [kept(tmp_path / name)[0]["type"] for name in names] == ["warcinfo"] * len(names)
    assert all(read(tmp_path, where)[2] == bytes(range(256)) * 4 for where in places)
    with Warc(tmp_path, prefix="x") as warc:
        assert warc.write(URL, 200, [], b"")[0] == f"x-{len(names):05d}.warc.gz", "what is there is never written over"


@settings(max_examples=30, deadline=None)
@given(pages=st.lists(st.tuples(st.binary(max_size=300), st.integers(100, 599)), min_size=1, max_size=8), data=st.data())
def test_a_torn_tail_is_cut_off_wherever_it_tore(
    pages: list[tuple[bytes, int]], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("warc")
    with Warc(folder) as warc:
        places = [warc.write(URL, status, HEADERS, body, request_headers=ASKED) for body, status in pages]
    known = data.draw(st.integers(0, len(pages)), "responses that the trace knows")
    ends = {places[known - 1][0]: places[known - 1][1] + places[known - 1][2]} if known else {}
    path = folder / places[0][0]
    whole = path.read_bytes()
    least = sum(ends.values())
    reached = data.draw(st.floats(0, 1), "share of the rest that reached the disk")
    path.write_bytes(whole[: least + round(reached * (len(whole) - least))])
    with Warc.resume(folder, ends) as warc:
        after = warc.write(URL, 200, HEADERS, b"after")
    assert after[0] == "crawl-00001.warc.gz"
    assert path.exists() == bool(known)
    if known:
        assert [record["type"] for record in kept(path)] == ["warcinfo"] + ["request", "response"] * known
        assert [read(folder, where)[::2] for where in places[:known]] == [(status, body) for body, status in pages[:known]]
    assert read(folder, after)[2] == b"after"


def test_a_file_that_lost_known_records_is_told_and_a_file_that_was_moved_is_not_missed(tmp_path: Path) -> None:
    with Warc(tmp_path) as warc:
        name, offset, length = warc.write(URL, 200, [], b"body")
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-1])
    with pytest.raises(
        InputError, match=f"{name}: has .* bytes, but the crawl knows a record in it that ends at {offset + length}"
    ):
        Warc.resume(tmp_path, {name: offset + length})
    (tmp_path / name).unlink()
    (tmp_path / "other.warc.gz").write_bytes(b"not ours")
    with Warc.resume(tmp_path, {name: offset + length}) as warc:
        assert warc.write(URL, 200, [], b"body")[0] == "crawl-00001.warc.gz"
    assert (tmp_path / "other.warc.gz").read_bytes() == b"not ours"


def test_a_place_where_no_response_lies_is_a_source_error(tmp_path: Path) -> None:
    with Warc(tmp_path) as warc:
        name, offset, length = warc.write(URL, 200, [], b"body")
    for wrong in (
        (name, offset + 1, length),
        (name, offset, length - 9),
        (name, 0, offset),
        ("no.warc.gz", 0, 1),
        (name, -1, 5),
    ):
        with pytest.raises(SourceError):
            read(tmp_path, wrong)


FULL = """
import resource, signal, sys
from frontrank.pages.warc_writer import Warc, read
from frontrank.errors import InputError
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
body, places = bytes(range(256)) * 4, []
warc = Warc(sys.argv[1])
try:
    while True:
        places.append(warc.write("http://example.org/", 200, [], body))
except InputError as error:
    print(error)
assert places and all(read(sys.argv[1], where)[2] == body for where in places)
print(sum(places[-1][1:]))
"""


def test_a_full_disk_is_one_sentence_and_leaves_whole_records(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    sentence, end = done.stdout.splitlines()
    assert re.fullmatch(r".*crawl-00000\.warc\.gz: cannot be written \(File too large\); make room .* then resume", sentence)
    path = tmp_path / "crawl-00000.warc.gz"
    assert path.stat().st_size == int(end) and kept(path)[-1]["type"] == "response"


def test_a_disk_too_full_for_a_new_file_leaves_none(tmp_path: Path) -> None:
    script = (
        FULL.replace("20_000, 20_000", "100, 100")
        .replace("assert places", "assert not places")
        .replace("places[-1][1:]", "places")
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    assert "crawl-00000.warc.gz: cannot be written" in done.stdout and list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot store WARC files"):
        Warc(tmp_path / "file" / "warc")


# --- reading webs ---


def page(title: str, links: str, text: str) -> bytes:
    return f"<title>{title}</title><nav>{links}</nav><main>{text}</main>".encode()


HTML = ("Content-Type", "text/html; charset=utf-8")
PAGES: list[tuple[str, int, list[tuple[str, str]], bytes]] = [
    ("http://a.example/robots.txt", 200, [("Content-Type", "text/plain")], b"User-agent: *"),
    (
        "http://a.example/",
        200,
        [HTML],
        page("Home", "<a href=/b>to b</a><a href=/gone>x</a><a href=old>old</a><a href=/f.pdf>f</a>", "hi"),
    ),
    ("http://a.example/old", 301, [("Location", "http://b.example/new#part")], b""),
    ("http://a.example/gone", 404, [HTML], page("Not found", "<a href=/>home</a>", "error")),
    (
        "http://a.example/b",
        200,
        [HTML],
        page("B", "<a href=/>home</a><a href=/b>self</a><a href=//c.example/>c</a>", "the text of b"),
    ),
    ("http://a.example/logo.png", 200, [("Content-Type", "image/png")], b"\x89PNG"),
    ("http://a.example/f.pdf", 200, [("Content-Type", "application/pdf")], b"%PDF"),
    ("http://a.example/b", 200, [HTML], page("B again", "", "later")),
    ("http://b.example/new", 200, [HTML], page("New", "", "news")),
    ("http://b.example/lost", 200, [("Content-Type", "text/html")], b"\x89PNG labelled as HTML"),
]
CAPTURED = ["a.example/", "a.example/old", "a.example/b", "a.example/f.pdf", "b.example/new"]


def by_hand(path: Path, pages: list[tuple[str, int, list[tuple[str, str]], bytes]], packed: bool = True) -> Path:
    """A WARC 1.0 file as small crawlers write them, bodies as they were sent."""
    records = [b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 4\r\n\r\na: b\r\n\r\n"]
    for url, status, headers, body in pages:
        head = "".join(f"{name}: {value}\r\n" for name, value in headers)
        block = f"HTTP/1.1 {status} Reason\r\n{head}\r\n".encode() + body
        fields = f"WARC-Type: response\r\nWARC-Target-URI: <{url}>\r\nContent-Type: application/http; msgtype=response"
        records.append(f"WARC/1.0\r\n{fields}\r\nContent-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n")
    path.write_bytes(b"".join(map(gzip.compress, records) if packed else records))
    return path


def edges(web: Web) -> dict[str, dict[str, str]]:
    """Links as {from: {to: anchor}}."""
    assert web.urls is not None and web.anchors is not None
    return {
        web.urls[p].removeprefix("http://"): {
            web.urls[web.targets[j]].removeprefix("http://"): web.anchors[j] for j in range(web.indptr[p], web.indptr[p + 1])
        }
        for p in range(web.pages)
    }


@pytest.mark.parametrize("packed", [True, False])
def test_a_warc_file_is_a_web_of_the_pages_captured(tmp_path: Path, packed: bool) -> None:
    web = load(by_hand(tmp_path / ("x.warc.gz" if packed else "x.warc"), PAGES, packed))
    assert edges(web) == {
        "a.example/": {"a.example/b": "to b", "a.example/old": "old", "a.example/f.pdf": "f"},
        "a.example/old": {"b.example/new": ""},
        "a.example/b": {"a.example/": "home"},
        "a.example/f.pdf": {},
        "b.example/new": {},
    }
    assert list(web.titles or ()) == ["Home", "", "B", "", "New"]
    assert list(web.texts or ()) == ["hi", "", "the text of b", "", "news"]
    assert (
        web.hosts is not None
        and web.hosts.tolist() == [0, 0, 0, 0, 1]
        and list(web.host_names or ()) == ["a.example", "b.example"]
    )
    assert web.seeds is not None and web.seeds.tolist() == [0]


def test_targets_that_were_not_captured_are_pages_if_asked_for(tmp_path: Path) -> None:
    path = by_hand(tmp_path / "x.warc.gz", PAGES)
    web = load(path, uncaptured=True)
    assert [url.removeprefix("http://") for url in web.urls or ()] == [*CAPTURED, "a.example/gone", "c.example/"]
    assert edges(web)["a.example/b"] == {"a.example/": "home", "c.example/": "c"}
    assert edges(web)["c.example/"] == {} and list(web.texts or ())[-2:] == ["", ""]
    (tmp_path / "edges.tsv").write_text("0 1\n")
    with pytest.raises(SourceError, match="no WARC or WAT file"):
        load(tmp_path / "edges.tsv", uncaptured=True)


def test_what_the_crawler_wrote_is_a_web_and_survives_conversion(tmp_path: Path) -> None:
    with Warc(tmp_path / "warc", max_bytes=900) as warc:
        for url, status, headers, body in PAGES:
            warc.write(url, status, headers, body, request_headers=ASKED)
    assert len(list((tmp_path / "warc").iterdir())) > 1
    web = load(tmp_path / "warc")
    assert edges(web) == edges(load(by_hand(tmp_path / "x.warc.gz", PAGES)))
    save(web, tmp_path / "web")
    again = load(tmp_path / "web")
    assert edges(again) == edges(web) and list(again.texts or ()) == list(web.texts or ())
    assert again.seeds is not None and web.seeds is not None and again.seeds.tolist() == web.seeds.tolist()


def chunked(body: bytes) -> bytes:
    return (
        b"".join(b"%x;x=y\r\n%b\r\n" % (len(body[i : i + 20]), body[i : i + 20]) for i in range(0, len(body), 20))
        + b"0\r\n\r\n"
    )


def by_fastwarc(writer: str, body: bytes) -> bytes:
    packed = io.BytesIO()
    stream = getattr(fastwarc.stream_io, writer)(packed)
    stream.write(body)
    stream.close()
    return packed.getvalue()


@pytest.mark.parametrize(
    ("headers", "encode"),
    [
        ([("Content-Encoding", "gzip")], gzip.compress),
        ([("Content-Encoding", "deflate")], zlib.compress),
        ([("Content-Encoding", "deflate")], lambda body: zlib.compress(body)[2:-4]),
        ([("Content-Encoding", "br")], lambda body: by_fastwarc("BrotliWriter", body)),
        ([("Content-Encoding", "zstd")], lambda body: by_fastwarc("ZstdWriter", body)),
        ([("Content-Encoding", "br")], lambda body: body),
        ([("Transfer-Encoding", "chunked")], chunked),
        ([("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")], lambda body: chunked(gzip.compress(body))),
        ([("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")], lambda body: body),
    ],
)
def test_bodies_kept_as_they_were_sent_are_decoded(
    tmp_path: Path, headers: list[tuple[str, str]], encode: Callable[[bytes], bytes]
) -> None:
    body = page("T", "<a href=/b>b</a>", "words")
    web = load(by_hand(tmp_path / "x.warc.gz", [("http://a.example/", 200, [HTML, *headers], encode(body))]))
    assert list(web.titles or ()) == ["T"] and list(web.texts or ()) == ["words"]


def wat(
    url: str, status: int, head: dict[str, Any], links: list[dict[str, Any]], headers: dict[str, str] | None = None
) -> bytes:
    http = {
        "Response-Message": {"Status": str(status), "Version": "HTTP/1.1"},
        "Headers": headers or {"Content-Type": "text/html"},
        "HTML-Metadata": {"Head": head, "Links": links},
    }
    about = {"WARC-Target-URI": url, "WARC-Type": "response"}
    envelope = {"Envelope": {"WARC-Header-Metadata": about, "Payload-Metadata": {"HTTP-Response-Metadata": http}}}
    block = json.dumps(envelope).encode()
    fields = f"WARC-Type: metadata\r\nContent-Type: application/json\r\nContent-Length: {len(block)}"
    return gzip.compress(f"WARC/1.0\r\n{fields}\r\n\r\n".encode() + block + b"\r\n\r\n")


def test_a_wat_file_is_a_web_without_texts(tmp_path: Path) -> None:
    links = [
        {"path": "IMG@/src", "url": "/i.png"},
        {"path": "A@/href", "url": "x#f", "text": "an  x"},
        {"path": "A@/href", "url": "mailto:a@a.example"},
        {"path": "A@/href", "url": "x", "text": "again"},
        {"path": "A@/href"},
        {"path": "A@/href", "url": "\ud800", "text": "\ud800"},
        {"path": "LINK@/href", "url": "/y"},
    ]
    records = [
        wat("http://a.example/", 200, {"Title": " The\n title ", "Base": "http://a.example/d/"}, links),
        wat("http://a.example/d/x", 302, {}, [], {"location": "/y"}),
        wat("http://a.example/y", 200, {}, []),
        wat("http://a.example/e", 500, {}, []),
        wat("http://\ud800/", 200, {}, []),
    ]
    (tmp_path / "x.warc.wat.gz").write_bytes(b"".join(records))
    web = load(tmp_path / "x.warc.wat.gz")
    assert edges(web) == {
        "a.example/": {"a.example/d/x": "an x again"},
        "a.example/d/x": {"a.example/y": ""},
        "a.example/y": {},
    }
    assert list(web.titles or ()) == ["The title", "", ""] and web.texts is None


def test_seeds_are_the_first_page_and_those_nobody_links_to(tmp_path: Path) -> None:
    def one(name: str, *targets: str) -> tuple[str, int, list[tuple[str, str]], bytes]:
        return f"http://a.example/{name}", 200, [HTML], page(name, "".join(f"<a href=/{t}>t</a>" for t in targets), "")

    web = load(by_hand(tmp_path / "x.warc", [one("a", "b"), one("b", "a"), one("c", "c", "a"), one("d", "b")], packed=False))
    assert web.seeds is not None and web.seeds.tolist() == [0, 2, 3]


@pytest.mark.parametrize("packed", [True, False])
def test_a_truncated_file_is_refused_wherever_it_was_cut(tmp_path: Path, packed: bool) -> None:
    path = by_hand(tmp_path / ("x.warc.gz" if packed else "x.warc"), PAGES[:3], packed)
    whole = path.read_bytes()
    last = whole.rfind(b"\x1f\x8b\x08") if packed else whole.rfind(b"WARC/1.")
    for cut in [*range(last + 1, len(whole) - 4, 7), len(whole) - (1 if packed else 5)]:
        path.write_bytes(whole[:cut])
        with pytest.raises(SourceError, match=r"x\.warc(, record 4|\.gz, at record [45])") as raised:
            load(path)
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "contains no captured page"),
        (b"hello\nworld", "record 1 (byte 0): begins with b'hello\\n', expected WARC/1.0"),
        (gzip.compress(b"hello", mtime=0), "record 1 (byte 0 unpacked): begins with b'hello'"),
        (b"\x1f\x8b\x08broken", "at record 1: the gzip stream"),
        (b"WARC/1.0\r\nContent-Length: many\r\n\r\n", "Content-Length is 'many', expected a number of bytes"),
        (b"WARC/1.0\r\nWARC-Type: response\r\n\r\n", "Content-Length is '', expected a number of bytes"),
        (b"WARC/1.0\r\nX: " + b"y" * 100_000, "its headers do not end"),
        (b"WARC/1.0\r\nContent-Length: 999999999999999\r\n\r\nabc", "999,999,999,999,999 bytes announced, 3 there"),
        (
            b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{]",
            "not the JSON of a WAT",
        ),
        (
            b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]",
            "contains no captured page",
        ),
    ],
)
def test_what_is_no_warc_file_is_refused_in_one_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=re.escape(sentence)):
        load(path)


def test_damage_in_the_middle_is_told_with_its_record(tmp_path: Path) -> None:
    path = by_hand(tmp_path / "x.warc.gz", PAGES)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + b"damage" + whole[len(whole) // 2 + 6 :])
    with pytest.raises(SourceError, match=r"x\.warc\.gz, (at )?record \d+"):
        load(path)


@settings(max_examples=60, deadline=None)
@given(rest=st.binary(max_size=300), start=st.sampled_from([b"", b"WARC/1.0\r\n", b"WARC/1.0\r\nContent-Length: 5\r\n\r\n"]))
def test_any_bytes_are_a_web_or_a_source_error(rest: bytes, start: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("any") / "x.warc"
    path.write_bytes(start + rest)
    with pytest.raises(SourceError):
        load_warc(path)


def test_a_file_is_known_as_warc_by_its_content_too(tmp_path: Path) -> None:
    by_hand(tmp_path / "x.warc.gz", PAGES).rename(tmp_path / "capture")
    assert load(tmp_path / "capture").pages == len(CAPTURED)


def test_convert_and_simulate_take_warc_files(tmp_path: Path) -> None:
    path = by_hand(tmp_path / "x.warc.gz", PAGES)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "frontrank", *arguments], capture_output=True, text=True, timeout=PATIENCE_S
        )

    done = run("convert", str(path), str(tmp_path / "web"), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["web"] == {"pages": 5, "links": 5}
    done = run("convert", str(path), str(tmp_path / "open"), "--uncaptured", "--json")
    assert json.loads(done.stdout)["web"] == {"pages": 7, "links": 7}
    assert run("simulate", str(path), "--ordering", "bfs", "--json").returncode == 0
    path.write_bytes(path.read_bytes()[:-20])
    done = run("convert", str(path), str(tmp_path / "torn"))
    assert done.returncode == 2 and "truncated" in done.stderr and not (tmp_path / "torn").exists()
