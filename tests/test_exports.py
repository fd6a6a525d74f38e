"""Pages out: every format has the same rows, other tools read them, and what is wrong is said before anything is lost."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow.parquet as pq
import pytest
from warcio.archiveiterator import ArchiveIterator

from frontrank.crawl import status
from frontrank.crawl.crawl import Crawl
from frontrank.errors import FrontrankError, InputError
from frontrank.exports import COLUMNS, FORMATS, export, pages
from frontrank.exports.content import EXTRACTED
from frontrank.frontiers.politeness import Politeness
from frontrank.pages.warc_writer import Warc
from tests.commands import run_command
from tests.conftest import ROOT
from tests.test_docs import blocks, typed

HTML = ("Content-Type", "text/html; charset=utf-8")
ARTICLE = "<p>Bears sleep in winter, in caves and under roots, and wake up hungry in spring. They eat berries.</p>" * 6
MENU = "<div class='menu'><ul><li><a href='/1'>Home</a></li><li><a href='/2'>About</a></li></ul></div>"
START = (
    f'<html lang=en_US><title>Bears, "wild"\n and é 🐻</title><body>{MENU}<article><h1>On bears</h1>{ARTICLE}</article></html>'
)


class Stored(NamedTuple):
    """A page as it came: path, status, headers, body, links."""

    path: str
    status: int
    headers: list[tuple[str, str]]
    body: str | bytes
    links: tuple[str, ...] = ()


SITE = [
    Stored("", 200, [HTML], START, ("1", "2", "old", "secret", "hidden", "plain", "picture")),
    Stored("1", 200, [HTML, ("Content-Language", "de, en")], "<title>Eins</title><p>Some   Text", ("2",)),
    Stored("2", 203, [HTML], "<title>Zwei</title><p>some\ntext"),
    Stored("old", 301, [HTML, ("Location", "/2")], "moved", ("2",)),
    Stored("secret", 200, [HTML], "<meta name=robots content='noindex, follow'><p>not for others"),
    Stored("hidden", 200, [HTML, ("X-Robots-Tag", "none")], "<p>nor this"),
    Stored("plain", 200, [("Content-Type", "text/plain")], "two\n  lines"),
    Stored("picture", 200, [("Content-Type", "image/png")], b"\x89PNG\r\n\x1a\n" + bytes(100)),
]
EXPORTED = [f"http://a.org/{name}" for name in ("", "1", "2", "old", "plain", "picture")]


def crawl_site(folder: Path, site: list[Stored] = SITE) -> dict[str, float]:
    """A crawl of this site; returns the priorities of its pages when they were taken."""
    priorities: dict[str, float] = {}
    with Crawl("opic", folder) as crawl, Warc(folder / "warc") as warc:
        crawl.seed(["http://a.org/"])
        for stored in site:
            (url,) = crawl.take() if not stored.path else [f"http://a.org/{stored.path}"]
            if stored.path and url not in priorities:
                taken = crawl.take(100)
                priorities |= {one: status.priority(crawl.state, crawl.lookup(one)) for one in taken}
            body = stored.body.encode() if isinstance(stored.body, str) else stored.body
            where = warc.write(url, stored.status, stored.headers, body, request_headers=[("Host", "a.org")])
            title = body.decode("utf-8", "replace").partition("<title>")[2].partition("</title>")[0].replace("\n", "")
            links = [f"http://a.org/{name}" for name in stored.links]
            crawl.fetched(url, links, title, status=stored.status, where=where)
    return priorities


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, float]]:
    folder = tmp_path_factory.mktemp("exports") / "crawl"
    return folder, crawl_site(folder)


@pytest.fixture
def crawl(crawled: tuple[Path, dict[str, float]]) -> Path:
    return crawled[0]


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a table, read by other libraries; all values as text."""
    if path.suffix == ".parquet":
        table = pq.read_table(path).to_pylist()
        for row in table:
            row["fetched_at"] = row["fetched_at"].isoformat(timespec="milliseconds").replace("+00:00", "Z")
    elif path.suffix == ".csv":
        table = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    else:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        table = [json.loads(line) for line in data.splitlines()]
    return [{name: "" if value is None else str(value) for name, value in row.items()} for row in table]


@pytest.mark.parametrize("ending", [ending for ending, form in FORMATS.items() if ending not in (".md", ".wacz")])
def test_tables_have_the_same_rows_in_every_format(crawl: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"pages{ending}"
    done = export(crawl, out)
    expected = [{name: "" if value is None else str(value) for name, value in row.items()} for row in pages(crawl)]
    assert rows_of(out) == expected
    assert list(expected[0]) == list(COLUMNS) == list(done.columns)
    assert (done.pages, done.withheld, done.damaged) == (6, {"noindex": 2}, 0)


def test_each_column_says_what_it_promises(crawled: tuple[Path, dict[str, float]]) -> None:
    crawl, priorities = crawled
    rows = {row["url"]: row for row in pages(crawl)}
    assert list(rows) == EXPORTED
    start, one, two, old, plain, picture = rows.values()
    assert start["title"] == 'Bears, "wild" and é 🐻'
    assert "On bears Bears sleep in winter" in start["text"]
    assert [row["status"] for row in rows.values()] == [200, 200, 203, 301, 200, 200]
    assert [row["depth"] for row in rows.values()] == [0, 1, 1, 1, 1, 1]
    assert [row["language"] for row in rows.values()] == ["en-US", "de", None, None, None, None]
    assert [row["links_out"] for row in rows.values()] == [7, 1, 0, 1, 0, 0]
    assert start["reason"] == "seed"
    assert one["reason"] == "linked from http://a.org/"
    assert two["reason"] == "linked from http://a.org/ and 1 more"
    assert {url: row["priority"] for url, row in rows.items() if url in priorities} == {
        url: priority for url, priority in priorities.items() if url in rows
    }
    assert (old["final_url"], old["text"], old["digest"]) == ("http://a.org/2", None, None)
    assert all(row["final_url"] == url for url, row in rows.items() if row is not old)
    assert (one["text"], two["text"]) == ("Eins Some Text", "Zwei some text") or one["text"] == "Some Text"
    assert one["digest"] == two["digest"] != start["digest"]
    assert (one["copy_of"], two["copy_of"]) == (None, "http://a.org/1")
    assert (plain["text"], picture["text"]) == ("two\n  lines", None)
    events = {event["url"]: event for event in status.events(crawl) if event["kind"] == "fetched"}
    for url, row in rows.items():
        about = events[url]
        assert (row["event"], row["warc_file"], row["warc_offset"]) == (about["seq"], about["warc"], about["offset"])
        assert row["fetched_at"].startswith("20") and row["fetched_at"].endswith("Z")


def test_the_score_of_an_ordering_with_a_scorer_is_a_column(tmp_path: Path) -> None:
    with Crawl("quality:scorer=topic:bears", tmp_path / "c") as crawl:
        crawl.seed(["http://a.org/"])
        crawl.take()
        crawl.fetched("http://a.org/", [], "Bears", "all about bears", scores={"topic:bears": 0.75})
    assert [(row["score"], row["title"]) for row in pages(tmp_path / "c", text="none")] == [(0.75, "Bears")]


def test_a_page_that_came_again_is_one_row_of_its_last_content(tmp_path: Path) -> None:
    with Crawl("bfs", tmp_path / "c") as crawl, Warc(tmp_path / "c" / "warc") as warc:
        crawl.seed(["http://a.org/"])
        for body, code in (("first", 200), ("second", 200), ("second", 304)):
            crawl.take()
            where = warc.write("http://a.org/", code, [HTML], f"<p>{body}".encode())
            crawl.fetched("http://a.org/", ["http://a.org/1"], body, status=code, where=where, again_after=0.0)
    assert [(row["title"], row["text"]) for row in pages(tmp_path / "c")] == [("second", "second")]


def test_texts_that_a_crawl_keeps_without_warc_files_are_exported(tmp_path: Path) -> None:
    with Crawl("similarity:topic=moon", tmp_path / "c") as crawl:
        crawl.seed(["http://a.org/"])
        crawl.take()
        crawl.fetched("http://a.org/", [], "A title", "a text about the moon")
    assert [row["text"] for row in pages(tmp_path / "c")] == ["a text about the moon"]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"where": "status=200"}, ["", "1", "plain", "picture"]),
        ({"where": "status=203,status=301"}, ["2", "old"]),
        ({"where": "host=a.org,depth=0"}, [""]),
        ({"where": "host=b.org"}, []),
        ({"since": "2001-01-01"}, ["", "1", "2", "old", "plain", "picture"]),
        ({"since": "2101-01-01T00:00:00+01:00"}, []),
        ({"since": "1h"}, ["", "1", "2", "old", "plain", "picture"]),
    ],
)
def test_filters_choose_pages(crawl: Path, asked: dict[str, Any], expected: list[str]) -> None:
    assert [row["url"].removeprefix("http://a.org/") for row in pages(crawl, **asked)] == expected


def test_columns_are_those_that_are_named_in_their_order(crawl: Path, tmp_path: Path) -> None:
    assert list(next(pages(crawl, columns="title, url"))) == ["title", "url"]
    assert "text" not in next(pages(crawl, text="none"))
    done = run_command("export", crawl, tmp_path / "x.csv", "--columns", "url,text")
    assert (tmp_path / "x.csv").read_text().splitlines()[0] == "url,text" and done.returncode == 0


@pytest.mark.parametrize("text", EXTRACTED)
def test_main_content_leaves_menus_out(crawl: Path, text: str) -> None:
    found = next(pages(crawl, text=text))["markdown" if text == "markdown" else "text"]
    assert "Bears sleep in winter" in found and "Home" not in found
    assert ("# On bears" in found) == (text == "markdown")


def test_markdown_files_have_front_matter_and_names_of_their_own(crawl: Path, tmp_path: Path) -> None:
    done = run_command("export", crawl, tmp_path / "site.md", "--json")
    assert json.loads(done.stdout)["left_out"] == {"noindex": 2, "damaged": 0}, done.stderr
    files = sorted((tmp_path / "site.md").rglob("*.md"))
    assert json.loads((tmp_path / "site.md" / "export.json").read_text())["files"] == len(files) == 4
    found = {}
    for path in files:
        _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
        values = {name: json.loads(value) for name, _, value in (line.partition(": ") for line in head.splitlines())}
        found[values["url"]] = (values, body)
    assert found["http://a.org/"][0]["title"] == 'Bears, "wild" and é 🐻'
    assert "# On bears" in found["http://a.org/"][1]
    assert run_command("export", crawl, tmp_path / "site.md").returncode == 2
    assert run_command("export", crawl, tmp_path / "site.md", "--force").returncode == 0


def test_a_web_archive_is_valid_and_its_index_finds_every_response(crawl: Path, tmp_path: Path) -> None:
    out = tmp_path / "site.wacz"
    export(crawl, out)
    with zipfile.ZipFile(out) as archive:
        package = json.loads(archive.read("datapackage.json"))
        for resource_ in package["resources"]:
            data = archive.read(resource_["path"])
            assert (len(data), f"sha256:{hashlib.sha256(data).hexdigest()}") == (resource_["bytes"], resource_["hash"])
        digest = json.loads(archive.read("datapackage-digest.json"))["hash"]
        assert digest == f"sha256:{hashlib.sha256(archive.read('datapackage.json')).hexdigest()}"
        lines = gzip.decompress(archive.read("indexes/index.cdx.gz")).decode().splitlines()
        records = archive.read("archive/data.warc.gz")
        listed = [json.loads(line) for line in archive.read("pages/pages.jsonl").splitlines()]
    assert lines == sorted(lines) and lines[0].startswith("org,a)/ 20")
    found = []
    for line in lines:
        entry = json.loads(line.split(" ", 2)[2])
        offset, length = int(entry["offset"]), int(entry["length"])
        (record,) = ArchiveIterator(io.BytesIO(records[offset : offset + length]), check_digests="raise")
        record.content_stream().read()
        assert record.rec_headers["WARC-Target-URI"] == entry["url"]
        assert record.http_headers.get_statuscode() == entry["status"]
        assert record.rec_headers["WARC-Payload-Digest"] == entry["digest"]
        found.append(entry["url"])
    assert sorted(found) == sorted(EXPORTED), "pages that ask for noindex are not in it"
    assert [page["url"] for page in listed[1:]] == [f"http://a.org/{name}" for name in ("", "1", "2", "plain")]
    validator = shutil.which("wacz", path=os.path.dirname(sys.executable))
    if validator:
        told = subprocess.run([validator, "validate", "-f", str(out)], capture_output=True, text=True, check=False)
        assert "the passed WACZ is valid" in told.stdout


# What is wrong ---------------------------------------------------------------------------------------------------------------
def damaged(crawl: Path, folder: Path, how: Callable[[Path, dict[str, Any]], None]) -> Path:
    """A copy of a crawl whose third page has a damaged record."""
    copy = folder / "damaged"
    shutil.copytree(crawl, copy)
    event = next(event for event in status.events(copy) if event["kind"] == "fetched" and event["url"] == "http://a.org/2")
    how(copy / "warc" / event["warc"], event)
    return copy


def flip(path: Path, event: dict[str, Any]) -> None:
    data = bytearray(path.read_bytes())
    data[event["offset"] + event["length"] // 2] ^= 0xFF
    path.write_bytes(data)


def cut(path: Path, event: dict[str, Any]) -> None:
    os.truncate(path, event["offset"] + 20)


@pytest.mark.parametrize(("how", "left"), [(flip, 5), (cut, 2), (lambda path, event: os.truncate(path, 0), 0)])
@pytest.mark.parametrize("ending", [".jsonl", ".wacz"])
def test_damaged_records_are_named_and_counted_and_the_rest_is_exported(
    crawl: Path, tmp_path: Path, how: Callable[[Path, dict[str, Any]], None], left: int, ending: str
) -> None:
    done = run_command("export", damaged(crawl, tmp_path, how), tmp_path / f"x{ending}", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 0 and told["pages"] == left
    assert sum(told["left_out"].values()) + left == len(SITE)
    assert "crawl-00000.warc.gz" in done.stderr and "left out: " in done.stderr


BAD = [
    (["x.xlsx"], "x.xlsx: must end in .jsonl, .jsonl.gz, .csv, .parquet, .md or .wacz, which says the format"),
    (["x.csv", "--columns", "url,titel"], "--columns: unknown column 'titel'; did you mean 'title'?"),
    (["x.csv", "--columns", "url,url"], "--columns must name each column once"),
    (["x.csv", "--columns", "text", "--text", "none"], "--columns names the text, but --text none leaves it out"),
    (["x.csv", "--where", "state=200"], "--where must be KEY=VALUE,..., got the unknown key 'state'"),
    (["x.csv", "--where", "status=ok"], "--where must have a whole number for status, got 'ok'"),
    (["x.csv", "--where", "status"], "--where must be KEY=VALUE,... with the keys host, status, depth, got 'status'"),
    (["x.csv", "--since", "yesterday"], "--since must be a date such as 2026-01-31, or a time ago such as 2h or 7d"),
    (["x.csv", "--text", "all"], "--text must be visible, main, markdown or none, got 'all'"),
    (["no-folder/x.csv"], "no-folder/x.csv cannot be written: there is no directory"),
    (["there.csv"], "there.csv exists; give another path, or --force to replace it"),
    (["mine.md"], "mine.md exists and does not hold an export of frontrank"),
    (["mine.md", "--force"], "mine.md exists and does not hold an export of frontrank"),
]


@pytest.mark.parametrize(("args", "says"), BAD)
def test_what_cannot_be_exported_is_said_in_a_sentence(crawl: Path, tmp_path: Path, args: list[str], says: str) -> None:
    (tmp_path / "there.csv").write_text("mine")
    (tmp_path / "mine.md").mkdir()
    (tmp_path / "mine.md" / "notes.md").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    done = run_command("export", crawl, *args, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert says in done.stderr and done.stderr.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before and (tmp_path / "there.csv").read_text() == "mine"


def test_force_replaces_a_file(crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("mine")
    assert run_command("export", crawl, "there.csv", "--force", cwd=tmp_path).returncode == 0
    assert len(rows_of(tmp_path / "there.csv")) == 6


def test_a_crawl_without_texts_says_what_can_be_exported(tmp_path: Path) -> None:
    with Crawl("bfs", tmp_path / "c") as crawl:
        crawl.seed(["http://a.org/"])
        crawl.take()
        crawl.fetched("http://a.org/", [], "A title")
    with pytest.raises(InputError, match=r"has stored no texts .* export the other columns with --text none"):
        export(tmp_path / "c", tmp_path / "x.jsonl")
    assert not (tmp_path / "x.jsonl").exists()
    assert export(tmp_path / "c", tmp_path / "x.jsonl", text="none").pages == 1


def test_an_imported_crawl_is_refused_with_another_way(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "crawl.json").write_text("{}")
    with pytest.raises(InputError, match=r"an imported crawl, which has no pages as they arrived; convert .* to x.parquet"):
        export(tmp_path / "c", tmp_path / "x.jsonl")


@pytest.mark.parametrize("ending", [".jsonl", ".parquet", ".wacz", ".md"])
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, ending: str) -> None:
    text = " ".join(hashlib.sha256(b"%d" % number).hexdigest() for number in range(8_000))  # does not compress
    crawl_site(tmp_path / "c", [Stored("", 200, [HTML], f"<p>{text}")])
    (tmp_path / "out").mkdir()
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, {resource.RLIM_INFINITY}))"
    code = f"{limit}; from frontrank.cli import main; main()"
    asked = [tmp_path / "c", tmp_path / "out" / f"x{ending}", "--text", "visible"]
    done = subprocess.run([sys.executable, "-c", code, "export", *map(str, asked)], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and re.search("cannot be written: .*[Ff]ile too large\n", done.stderr), done.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_a_read_only_folder_is_refused_before_the_work(crawl: Path, read_only: Path) -> None:
    with pytest.raises(InputError, match="read-only"):
        export(crawl, read_only / "x.jsonl")


def test_a_crawl_that_runs_is_exported_up_to_a_moment(tmp_path: Path) -> None:
    with Crawl("bfs", tmp_path / "c", politeness=Politeness(), sync_s=60.0) as crawl, Warc(tmp_path / "c" / "warc") as warc:
        crawl.seed(["http://a.org/0"])
        reading = None
        for number in range(20):
            (url,) = crawl.take()
            where = warc.write(url, 200, [HTML], b"<p>page %d" % number)
            crawl.fetched(url, [f"http://a.org/{number + 1}"], where=where)
            if number == 9:
                reading = pages(tmp_path / "c")
                assert next(reading)["text"] == "page 0"
        assert reading is not None
        assert [row["text"] for row in reading] == [f"page {number}" for number in range(1, 10)]
        assert len(list(pages(tmp_path / "c"))) == 20


def test_names_in_a_log_lead_to_no_file_outside_the_crawl(tmp_path: Path) -> None:
    with Crawl("bfs", tmp_path / "c") as crawl, Warc(tmp_path / "other") as warc:
        crawl.seed(["http://a.org/"])
        crawl.take()
        name, offset, length = warc.write("http://a.org/", 200, [HTML], b"<p>elsewhere")
        (tmp_path / "c" / "warc").mkdir()
        (tmp_path / "c" / "warc" / "crawl-00000.warc.gz").touch()
        crawl.fetched("http://a.org/", [], where=(f"../../other/{name}", offset, length))
    done = export(tmp_path / "c", tmp_path / "x.jsonl")
    assert (done.pages, done.damaged) == (0, 1) and "outside this folder" in done.examples[0]


def test_python_callers_get_the_same_sentences(crawl: Path, tmp_path: Path) -> None:
    with pytest.raises(FrontrankError, match="text must be visible, main, markdown or none"):
        export(crawl, tmp_path / "x.csv", text="all")
    with pytest.raises(FrontrankError, match="no-crawl: not a crawl"):
        list(pages(tmp_path / "no-crawl"))


def test_the_blocks_of_the_page_run_in_order(crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(crawl, tmp_path / "my-crawl")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "docs"}
    found = [block for block in blocks(ROOT / "docs" / "export.md") if not block.needs]
    for block in found:
        if block.language == "python":
            exec(compile(block.text, "export.md", "exec"), names)
        elif block.language == "sql":
            assert duckdb.execute(block.text).fetchall()
        for line in typed(block):
            done = run_command(*shlex.split(line)[1:])
            assert done.returncode == 0, f"{line}: {done.stderr}"
    assert len(found) == 5


# Tables of webs --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("target", ["x.csv", "x.jsonl", "x.json"])
def test_convert_makes_no_directory_with_the_name_of_a_table(crawl: Path, tmp_path: Path, target: str) -> None:
    done = run_command("convert", crawl, target, cwd=tmp_path)
    assert done.returncode == 2 and "frontrank export CRAWL pages.csv" in done.stderr
    assert not (tmp_path / target).exists()


def test_parquet_keeps_titles_and_texts_there_and_back(crawl: Path, tmp_path: Path) -> None:
    from frontrank.sources import convert, load

    web = load(crawl)
    for again in (convert(crawl, tmp_path / "w.parquet"), convert(tmp_path / "w.parquet", tmp_path / "w.web")):
        assert list(again.titles or ()) == list(web.titles or ())
        assert list(again.texts or ()) == list(web.texts or ()) != [""] * web.pages


def test_a_crawl_is_a_table_of_pages_and_one_of_links_in_three_libraries(crawl: Path) -> None:
    from frontrank.sources import load

    web = load(crawl)
    pandas, polars, arrow = web.to_pandas(), web.to_polars(), web.to_arrow()
    assert list(pandas.pages.columns) == polars.pages.columns == arrow.pages.column_names == ["url", "title", "text", "host"]
    assert pandas.pages["title"].tolist() == polars.pages["title"].to_list() == arrow.pages["title"].to_pylist()
    links = arrow.links.to_pylist()
    assert links == polars.links.to_dicts() == pandas.links.to_dict("records")
    assert {"source": "http://a.org/1", "target": "http://a.org/2"} in links


def test_trace_has_titles_where_they_are_known(crawl: Path) -> None:
    lines = run_command("trace", crawl, "--kind", "fetched", "--json").stdout.splitlines()
    assert [json.loads(line).get("title") for line in lines][:4] == ['Bears, "wild" and é 🐻', "Eins", "Zwei", None]
