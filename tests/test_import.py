"""Facts about importing what a search team has: tables in, a crawl directory and a view of the crawl out."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from frontrank.cli.import_ import command
from frontrank.errors import FrontrankError, InputError, MissingExtra, SourceError
from frontrank.sources import load
from frontrank.sources.imported_crawl import CrawlTables, load_crawl, save_crawl
from frontrank.sources.search_team.importing import LINKS as LINKS_TABLE
from frontrank.sources.search_team.importing import LOG as LOG_TABLE
from frontrank.sources.search_team.importing import PAGES as PAGES_TABLE
from frontrank.sources.search_team.importing import QUERIES as QUERIES_TABLE
from frontrank.sources.search_team.importing import RESULTS as RESULTS_TABLE
from frontrank.sources.search_team.searchlog import TeamFiles, read_observed
from frontrank.sources.search_team.tables import Field, Schema, read_table
from frontrank.sources.web_directory import save
from frontrank.web.view import CrawlView
from tests.commands import run_command

PAGES = '''URL,Fetched,Title,Text
http://b.org/,true,"Bees, and ""more""","All about
bees"
http://a.org/,1,Ants,ants
http://c.org/c,0,,
'''
LINKS = """source,target,anchor
http://a.org/,http://d.org/new,honey
http://b.org/,http://c.org/c,sea
http://b.org/,http://a.org/,ants
http://b.org/,http://b.org/,self
http://b.org/,http://c.org/c,see
http://c.org/c,http://e.org/,hidden
"""
QUERIES = "query,frequency\nbees,5\nants,2.5\nnobody asks,0\n"
LOG = "query,url,clicks,views,date\nbees,http://b.org/,2,10,mon\nbees,http://b.org/,1,4,tue\nants,HTTP://A.org,1,3,mon\nx,http://z/,9,9,mon\n"
RESULTS = (
    "query,url,rank,score\nants,http://a.org/,1,0.5\nbees,http://c.org/c,1,9\nbees,http://a.org/,3,1\nbees,http://b.org/,2,4\n"
)
TABLES: dict[str, Any] = {"pages": PAGES, "links": LINKS, "queries": QUERIES, "log": LOG, "results": RESULTS}


def write(where: Path, **tables: str | bytes) -> dict[str, Any]:
    paths = {}
    for name, text in tables.items():
        path = where / f"{name}.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        paths[name] = str(path)
    return paths


def options(paths: dict[str, str]) -> list[str]:
    return [word for name, path in paths.items() for word in (f"--{name}", path)]


def run(*args: str) -> Any:
    done = CliRunner().invoke(command, [*args, "--json"])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture
def imported(tmp_path: Path) -> CrawlTables:
    run(*options(write(tmp_path, **TABLES)), str(tmp_path / "team.crawl"))
    return load_crawl(tmp_path / "team.crawl")


# --- what is read ---


def test_pages_are_numbered_by_rows_then_by_links(imported: CrawlTables) -> None:
    web = imported.web
    assert list(web.urls or []) == ["http://b.org/", "http://a.org/", "http://c.org/c", "http://d.org/new", "http://e.org/"]
    assert imported.fetched.tolist() == [0, 1]
    assert [web.targets_of(page).tolist() for page in range(5)] == [[2, 1], [3], [4], [], []]
    assert list(web.anchors or []) == ["sea see", "ants", "honey", "hidden"]
    assert list(web.titles or []) == ['Bees, and "more"', "Ants", "", "", ""]
    assert (web.texts or [""])[0] == "All about\nbees"
    assert list(web.host_names or []) == ["b.org", "a.org", "c.org", "d.org", "e.org"]
    assert web.name == "team"


def test_impacts_are_summed_from_the_log_by_canonical_url(imported: CrawlTables) -> None:
    assert imported.web.clicks is not None and imported.web.views is not None
    assert imported.web.clicks.tolist() == [3, 1, 0, 0, 0]
    assert imported.web.views.tolist() == [14, 3, 0, 0, 0]


def test_impacts_of_the_pages_win_over_the_log(tmp_path: Path) -> None:
    pages = "url,fetched,clicks\nhttp://b.org/,1,7\nhttp://a.org/,1,\n"
    crawl, _ = read_observed(TeamFiles(**write(tmp_path, pages=pages, links=LINKS, log=LOG)))
    assert crawl.web.clicks is not None and crawl.web.views is not None
    assert crawl.web.clicks[:2].tolist() == [7, 0]
    assert crawl.web.views[:2].tolist() == [14, 3]


def test_what_was_met_on_the_way_is_reported(tmp_path: Path) -> None:
    tables = dict(TABLES)
    tables["pages"] += "http://A.org,0,again,\n"
    tables["queries"] += "bees,1\n"
    tables["results"] += "bees,http://nowhere/,4,0\nwasps,http://a.org/,1,1\nbees,http://b.org/,7,0\n"
    found = run(*options(write(tmp_path, **tables)), str(tmp_path / "t"))
    assert (found["pages"], found["fetched"], found["links"], found["queries"], found["results"]) == (5, 2, 4, 3, 4)
    told = {name: found[name] for name in found if name.startswith(("dup", "unknown", "unasked", "repeated", "unlinked"))}
    assert told == {
        "duplicate_pages": 1,
        "repeated_queries": 1,
        "unknown_log_rows": 1,
        "unknown_result_rows": 1,
        "unasked_result_rows": 1,
        "repeated_results": 1,
        "unlinked_frontier": 1,
    }
    crawl = load_crawl(tmp_path / "t")
    assert crawl.frequency is not None
    assert crawl.frequency.tolist() == [6, 2.5, 0]


def test_without_queries_the_log_tells_how_often_each_was_asked(tmp_path: Path) -> None:
    log = LOG + "bees,http://a.org/,0,12,mon\n"
    crawl, _ = read_observed(TeamFiles(**write(tmp_path, pages=PAGES, links=LINKS, log=log)))
    assert dict(zip(crawl.queries or [], (crawl.frequency if crawl.frequency is not None else []), strict=True)) == {
        "bees": 14,  # b.org on two days; a.org only 12
        "ants": 3,
        "x": 9,
    }


# --- the view ---


def of_pages(view: CrawlView, values: Any) -> dict[int, Any]:
    """What the view says of each page, by the page's number in the crawl directory."""
    return dict(zip(view.pages.tolist(), list(values), strict=True))


def test_the_view_knows_fetched_pages_in_their_order_and_what_they_link_to(imported: CrawlTables) -> None:
    view = imported.view("clicks")
    assert view.pages[view.source].tolist() == [0, 1]
    assert view.impact is not None
    # Page 4 (e.org) is known only to a page that was never fetched.
    assert of_pages(view, view.impact) == {0: 3, 1: 1, 2: 0, 3: 0}


def test_the_frontier_has_no_impact_in_the_view_whatever_the_tables_say(tmp_path: Path) -> None:
    pages = "url,fetched,views\nhttp://b.org/,1,7\nhttp://c.org/c,0,100\n"
    crawl, _ = read_observed(TeamFiles(**write(tmp_path, pages=pages, links=LINKS)))
    save_crawl(tmp_path / "c", crawl)
    view = load_crawl(tmp_path / "c").view()
    assert view.impact is not None
    assert of_pages(view, view.impact) == {0: 7, 1: 0, 2: 0}
    assert load(tmp_path / "c").views.tolist()[:2] == [7, 100]  # type: ignore[union-attr]


def test_the_search_view_shows_fetched_pages_only_best_first(imported: CrawlTables) -> None:
    view = imported.view()
    search = view.search
    assert search is not None
    assert search.workload.queries == ("bees", "ants", "nobody asks")
    pages, scores = search.results.of(0)
    assert (view.pages[pages].tolist(), scores.tolist()) == ([0, 1], [4.0, 1.0])
    assert view.pages[search.results.of(1)[0]].tolist() == [1]
    assert search.results.of(2)[0].tolist() == []
    urls = ["http://b.org/", "http://a.org/", "http://c.org/c", "http://d.org/new"]
    assert of_pages(view, search.urls) == dict(enumerate(urls))
    assert of_pages(view, search.anchors) == {0: "", 1: "ants", 2: "sea see", 3: "honey"}
    assert len(set(search.hosts.tolist())) == 4


def test_without_results_the_embedded_engine_searches_the_fetched_pages(tmp_path: Path) -> None:
    paths = write(tmp_path, **{name: TABLES[name] for name in ("pages", "links", "queries", "log")})
    save_crawl(tmp_path / "c", read_observed(TeamFiles(**paths))[0])
    crawl = load_crawl(tmp_path / "c")
    view = crawl.view()
    assert view.search is not None and view.impact is not None
    assert [view.pages[view.search.results.of(query)[0]].tolist() for query in range(3)] == [[0], [1], []]
    assert of_pages(view, view.impact) == {0: 14, 1: 3, 2: 0, 3: 0}  # what the log says, not what the engine would show
    assert crawl.view(search=False).search is None


def test_a_score_that_is_not_given_falls_with_the_rank(tmp_path: Path) -> None:
    results = "query,url,rank\nbees,http://a.org/,4\nbees,http://b.org/,2\n"
    crawl, _ = read_observed(TeamFiles(**write(tmp_path, **{**TABLES, "results": results})))
    assert crawl.results is not None
    assert (crawl.results.page.tolist(), crawl.results.score.tolist()) == ([0, 1], [0.5, 0.25])


def test_an_impact_that_nobody_knows_is_refused_when_asked_for(tmp_path: Path) -> None:
    crawl, _ = read_observed(TeamFiles(**write(tmp_path, pages=PAGES, links=LINKS)))
    save_crawl(tmp_path / "c", crawl)
    assert load_crawl(tmp_path / "c").view().impact is None
    with pytest.raises(InputError, match="knows no clicks"):
        load_crawl(tmp_path / "c").view("clicks")


# --- formats ---


def as_tsv(text: str) -> str:
    import csv
    import io

    return "".join("\t".join(cell.replace("\n", " ") for cell in row) + "\n" for row in csv.reader(io.StringIO(text)))


def as_rows(text: str) -> list[list[str]]:
    import csv
    import io

    return list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("form", ["tsv", "tsv.gz", "csv.gz", "semicolon", "bom", "parquet", "sqlite", "sqlite#"])
def test_every_format_gives_the_same_crawl(tmp_path: Path, form: str) -> None:
    tables = {**TABLES, "pages": PAGES.replace("All about\nbees", "All about bees")}
    expected, _ = read_observed(TeamFiles(**write(tmp_path, **tables)))
    paths: dict[str, Any] = {name: str(tmp_path / f"{name}.{form}") for name in tables}
    if form.startswith("sqlite"):
        with sqlite3.connect(tmp_path / "crawl.db") as database:
            for name, text in tables.items():
                head, *rows = as_rows(text)
                stored = f"{name}_x" if form.endswith("#") else name
                database.execute(f"CREATE TABLE {stored} ({', '.join(head)})")
                database.executemany(f"INSERT INTO {stored} VALUES ({', '.join('?' * len(head))})", rows)
                paths[name] = f"{tmp_path / 'crawl.db'}{f'#{stored}' if form.endswith('#') else ''}"
            stored = "links_x" if form.endswith("#") else "links"
            database.execute(f"CREATE INDEX covering ON {stored} (target, source, anchor)")
        database.close()
    for name, text in tables.items():
        path = tmp_path / f"{name}.{form}"
        if form == "parquet":
            import pyarrow as pa
            import pyarrow.csv as pacsv
            import pyarrow.parquet as pq

            pq.write_table(pacsv.read_csv(pa.BufferReader(text.encode())), path)  # numbers and booleans, by themselves
        elif form.startswith("tsv"):
            data = as_tsv(text).encode()
            path.write_bytes(gzip.compress(data) if form.endswith("gz") else data)
        elif form == "csv.gz":
            path.write_bytes(gzip.compress(text.encode()))
        elif form in ("semicolon", "bom"):
            path = tmp_path / f"{name}-{form}.csv"
            lines = "".join(";".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\r\n" for row in as_rows(text))
            path.write_bytes(lines.encode() if form == "semicolon" else b"\xef\xbb\xbf" + text.encode())
            paths[name] = str(path)
    found, counts = read_observed(TeamFiles(**paths))
    assert counts.unknown_log_rows == 1
    assert list(found.web.urls or []) == list(expected.web.urls or [])
    assert list(found.web.texts or []) == list(expected.web.texts or [])
    assert list(found.web.titles or []) == list(expected.web.titles or [])
    for array in ("indptr", "targets", "clicks", "views", "hosts"):
        np.testing.assert_array_equal(getattr(found.web, array), getattr(expected.web, array))
    np.testing.assert_array_equal(found.fetched, expected.fetched)
    assert found.results is not None and expected.results is not None
    for array in ("query", "page", "rank", "score"):
        np.testing.assert_array_equal(getattr(found.results, array), getattr(expected.results, array))


def test_a_duckdb_file_needs_the_duckdb_package_or_is_read(tmp_path: Path) -> None:
    path = tmp_path / "crawl.duckdb"
    try:
        import duckdb
    except ImportError:
        path.write_bytes(b"\0" * 8 + b"DUCK" + b"\0" * 100)
        with pytest.raises(MissingExtra, match=r"pip install .*\[duckdb\]'"):
            read_observed(TeamFiles(str(path), str(path)))
        return
    with duckdb.connect(str(path)) as database:
        for name in ("pages", "links", "log"):
            database.execute(f"CREATE TABLE {name} AS SELECT * FROM read_csv('{write(tmp_path, **TABLES)[name]}')")
    found, _ = read_observed(TeamFiles(str(path), str(path), log=str(path)))
    assert found.web.clicks is not None
    assert found.web.clicks.tolist() == [3, 1, 0, 0, 0]


def test_a_view_in_a_duckdb_file_reads_no_other_file(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    named = write(tmp_path, **TABLES)
    with duckdb.connect(str(tmp_path / "crawl.duckdb")) as database:
        for name in ("pages", "links"):
            database.execute(f"CREATE VIEW {name} AS SELECT * FROM read_csv('{named[name]}')")
    with pytest.raises(InputError, match=r"crawl\.duckdb: not a readable DuckDB database \(.*disabled by configuration"):
        read_observed(TeamFiles(str(tmp_path / "crawl.duckdb"), str(tmp_path / "crawl.duckdb")))


# --- bad input ---


@pytest.mark.parametrize(
    ("table", "old", "new", "words"),
    [
        ("pages", "http://a.org/,1", "http://a.org/,maybe", r"pages.csv, line 4, column fetched: 'maybe', expected 0, 1, true"),
        ("pages", "URL,", "address,", r"pages.csv, line 1: no column 'url', which pages need"),
        ("pages", "Fetched", "fetchd", r"no column 'fetched', which pages need; did you mean 'fetchd'\?"),
        ("pages", "Title", "url", r"2 columns named 'url'; expected one"),
        ("links", ",http://a.org/,ants", ",,ants", r"links.csv, line 4, column target: missing, expected a URL"),
        ("links", "/,http://b.org/,self", "/", r"links.csv, line 5: 1 fields, expected 3"),
        ("log", "tue", "tue,wed", r"log.csv, line 3: 6 fields, expected 5"),
        ("log", ",1,4,", ",-1,4,", r"log.csv, line 3, column clicks: '-1', expected a number, finite and not negative"),
        ("log", ",1,4,", ",1,four,", r"log.csv, line 3, column views: 'four'"),
        ("log", ",1,4,", ",1,nan,", r"log.csv, line 3, column views: 'nan'"),
        ("log", "clicks,views", "a,b", r"neither clicks nor views"),
        ("queries", "2.5", "", r"queries.csv, line 3, column frequency: missing"),
        ("queries", "2.5", "inf", r"queries.csv, line 3, column frequency: 'inf'"),
        ("results", ",3,1\n", ",0,1\n", r"results.csv, line 4, column rank: '0', expected a whole number from 1"),
        ("results", ",3,1\n", ",1.5,1\n", r"results.csv, line 4, column rank: '1.5'"),
    ],
)
def test_a_fault_is_told_with_file_line_and_column(tmp_path: Path, table: str, old: str, new: str, words: str) -> None:
    assert old in TABLES[table]
    with pytest.raises(InputError, match=words) as told:
        read_observed(TeamFiles(**write(tmp_path, **{**TABLES, table: TABLES[table].replace(old, new, 1)})))
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ('http://a/,1,"open\nhttp://b/,1,b\nhttp://c/,1,c\n', 2),
        ('http://a/,1,"said ""yes"""\nhttp://b/,1,5" disk\nhttp://c/,1,"two\nlines"\nhttp://d/,1,"open\nhttp://e/,1,e\n', 6),
    ],
)
def test_a_quote_that_is_never_closed_is_told_with_its_line_as_nobody_knows_what_it_swallowed(
    tmp_path: Path, rows: str, line: int, skip: bool
) -> None:
    paths = write(tmp_path, pages="url,fetched,title\n" + rows, links="source,target\n")
    with pytest.raises(InputError, match=rf"pages\.csv, line {line}: a quote is opened and never closed"):
        read_observed(TeamFiles(**paths), skip_bad=skip)


def test_a_quote_inside_a_value_is_part_of_it(tmp_path: Path) -> None:
    paths = write(tmp_path, pages='url,fetched,title\nhttp://a/,1,5" disk\nhttp://b/,1,b\n', links="source,target\n")
    observed, _ = read_observed(TeamFiles(**paths))
    assert list(observed.web.titles or ()) == ['5" disk', "b"]


@pytest.mark.parametrize("what", ["not a url", "example.org/x", "/about", "mailto:a@example.org", "http://"])
def test_what_is_no_url_is_refused_wherever_a_url_is_expected(tmp_path: Path, what: str) -> None:
    pages, links = "url,fetched\nhttp://a/,1\n", "source,target\nhttp://a/,http://b/\n"
    for paths in (
        write(tmp_path, pages=pages + f"{what},1\n", links=links),
        write(tmp_path, pages=pages, links=links + f"http://a/,{what}\n"),
    ):
        with pytest.raises(
            InputError, match=r"(pages|links)\.csv, line 3, column (url|target): .*expected a URL with a scheme"
        ):
            read_observed(TeamFiles(**paths))
        _, counts = read_observed(TeamFiles(**paths), skip_bad=True)
        assert sum(counts.skipped.values()) == 1


def test_a_table_of_pages_without_rows_is_refused(tmp_path: Path) -> None:
    paths = write(tmp_path, pages="url,fetched\n", links=LINKS)
    with pytest.raises(InputError, match=r"pages\.csv: column names and no rows; expected at least one page"):
        read_observed(TeamFiles(**paths))
    paths = write(tmp_path, pages="url,fetched\nnot a url,1\n", links=LINKS)
    with pytest.raises(InputError, match=r"pages\.csv: no row of it can be used"):
        read_observed(TeamFiles(**paths), skip_bad=True)


def test_bad_rows_can_be_skipped_and_are_counted(tmp_path: Path) -> None:
    tables: dict[str, str | bytes] = dict(TABLES)
    tables["links"] = LINKS.replace(",self", ",self,extra").replace("http://c.org/c,see", ",see")
    tables["log"] = LOG.replace(",1,4,", ",-1,4,").encode() + b"caf\xe9,http://b.org/,1,1,mon\n"
    tables["results"] = RESULTS.replace(",3,1\n", ",third,1\n")
    paths = write(tmp_path, **tables)
    found = run(*options(paths), str(tmp_path / "t"), "--skip-bad")
    assert found["skipped"] == {"links": 2, "log": 2, "results": 1}
    crawl = load_crawl(tmp_path / "t")
    assert crawl.web.clicks is not None
    assert crawl.web.clicks.tolist()[:2] == [2, 1]
    with pytest.raises(InputError):
        read_observed(TeamFiles(**paths))


def test_text_that_is_not_utf8_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"queries.csv, line 2, column query: not UTF-8 text"):
        read_observed(TeamFiles(**write(tmp_path, **{**TABLES, "queries": b"query,frequency\ncaf\xe9,1\n"})))


def test_rows_of_a_database_are_told_by_number(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE queries (query TEXT, frequency)")
        database.executemany("INSERT INTO queries VALUES (?, ?)", [("a", 1), ("b", -2.5)])
    database.close()
    schema = Schema("queries", (Field("query", "text"), Field("frequency", "amount")))
    with pytest.raises(InputError, match=r"x.db, row 2, column frequency: '-2.5', expected a number"):
        read_table(str(path), schema)
    assert read_table(str(path), schema, skip_bad=True).skipped == 1
    with pytest.raises(InputError, match=r"no table 'querys'; did you mean 'queries'"):
        read_table(f"{path}#querys", schema)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("pages.csv", b"", "empty; expected a table as Parquet"),
        ("pages.csv", b"\n\n", "no column 'url'"),
        ("pages.xlsx", b"PK\x03\x04 something", "of no known format; expected Parquet"),
        ("pages.parquet", b"PAR1 and then nothing", "not a whole Parquet file"),
        ("pages.csv.gz", gzip.compress(b"url,fetched\n" + b"http://a/,1\n" * 5000, mtime=0)[:-30], "truncated"),
        ("pages.db", b"SQLite format 3\0 but not really", "not a readable SQLite database"),
        ("pages.csv", b"url,fetched\n", "column names and no rows"),
    ],
)
def test_a_file_that_is_no_table_is_told_in_one_sentence(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(data)
    links = write(tmp_path, links="source,target\n")["links"]
    with pytest.raises(FrontrankError, match=words) as told:
        read_observed(TeamFiles(str(tmp_path / name), links))
    assert "\n" not in str(told.value) and str(tmp_path / name) in str(told.value)


def test_options_that_do_not_go_together(tmp_path: Path) -> None:
    paths = write(tmp_path, **TABLES)
    for given, words in (
        (["--links", paths["links"]], "--pages is missing"),
        ([*options({n: paths[n] for n in ("pages", "links", "results")})], "give --queries or --log"),
        (["--pages", paths["pages"]], "--links is missing"),
    ):
        done = CliRunner().invoke(command, [*given, str(tmp_path / "t")])
        assert isinstance(done.exception, InputError)
        assert words in str(done.exception)
    assert not (tmp_path / "t").exists()


# --- dates ---

DATED_LOG = """query,url,clicks,views,date
bees,http://b.org/,2,10,2024-05-01
bees,http://a.org/,0,4,2024-05-01
bees,http://b.org/,1,4,2024-05-03T10:00
ants,http://c.org/c,5,6,2024-05-03
ants,http://a.org/,1,3,2024-05-02
ants,http://a.org/,1,3,
"""


def test_dates_of_a_log_are_kept_and_come_back(tmp_path: Path) -> None:
    found = run(*options(write(tmp_path, pages=PAGES, links=LINKS, log=DATED_LOG)), str(tmp_path / "t"))
    assert found["undated_rows"] == 1
    crawl = load_crawl(tmp_path / "t")
    day = 86_400.0
    first = 19844 * day  # 2024-05-01
    assert crawl.asked_on is not None and crawl.web.queries.asked_on is crawl.asked_on
    rows = list(zip(*(column.tolist() for column in crawl.asked_on), strict=True))
    assert rows == [(0, first, 10.0), (0, first + 2 * day + 36_000, 4.0), (1, first + day, 3.0), (1, first + 2 * day, 6.0)]
    seen = crawl.web.seen_on
    assert seen is not None
    before, after = seen.split("clicks", first + 2 * day, crawl.web.pages) or (None, None)
    assert before is not None and after is not None
    assert before.tolist() == [2, 1, 0, 0, 0] and after.tolist() == [1, 0, 5, 0, 0]
    assert crawl.web.clicks is not None and crawl.web.clicks.tolist() == [3, 2, 5, 0, 0]  # with what has no date


def test_what_pages_are_told_to_be_worth_has_no_dates(tmp_path: Path) -> None:
    pages = "url,fetched,clicks\nhttp://b.org/,1,7\nhttp://a.org/,1,\n"
    crawl, _ = read_observed(TeamFiles(**write(tmp_path, pages=pages, links=LINKS, log=DATED_LOG)))
    assert crawl.web.seen_on is not None and crawl.web.seen_on.clicks is None
    assert crawl.web.seen_on.views is not None


def test_words_for_dates_are_counted_and_no_dates(tmp_path: Path) -> None:
    crawl, counts = read_observed(TeamFiles(**write(tmp_path, pages=PAGES, links=LINKS, log=LOG)))
    assert crawl.asked_on is None and crawl.web.seen_on is None
    assert counts.undated_rows == 4


# --- the crawl directory ---


def test_a_crawl_directory_is_a_web_and_comes_back_as_it_was(tmp_path: Path, imported: CrawlTables) -> None:
    web = load(tmp_path / "team.crawl")
    assert (web.pages, web.links) == (5, 4)
    save_crawl(tmp_path / "again.crawl", imported)
    again = load_crawl(tmp_path / "again.crawl")
    assert again.queries == imported.queries
    for name in ("query", "page", "rank", "score"):
        np.testing.assert_array_equal(getattr(again.results, name), getattr(imported.results, name))
    assert sorted(os.listdir(tmp_path / "again.crawl")) == sorted(os.listdir(tmp_path / "team.crawl"))
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_another_crawl_or_web_is_replaced_by_force_only_and_anything_else_never(tmp_path: Path, imported: CrawlTables) -> None:
    save(imported.web, tmp_path / "web")
    for there, held in (("team.crawl", "an imported crawl"), ("web", "a frontrank web")):
        before = (tmp_path / there / "indptr.npy").stat().st_ino
        with pytest.raises(InputError, match=f"exists and holds {held}; give another path, or --force"):
            save_crawl(tmp_path / there, imported)
        assert (tmp_path / there / "indptr.npy").stat().st_ino == before
        save_crawl(tmp_path / there, imported, force=True)
        assert load_crawl(tmp_path / there).queries == imported.queries
    (tmp_path / "other").mkdir()
    save_crawl(tmp_path / "other", imported)
    (tmp_path / "other" / "diary.txt").write_text("mine")
    for force in (False, True):
        with pytest.raises(InputError, match="does not hold an imported crawl or a frontrank web"):
            save_crawl(tmp_path / "other", imported, force)
    assert "diary.txt" in os.listdir(tmp_path / "other")


def test_import_asks_before_tables_are_read_whether_a_crawl_may_be_replaced(tmp_path: Path, imported: CrawlTables) -> None:
    words = ("--pages", "never.csv", "--links", "never.csv", str(tmp_path / "team.crawl"))
    with pytest.raises(InputError, match="holds an imported crawl; give another path, or --force"):
        run(*words)
    with pytest.raises(InputError, match=r"never\.csv: cannot be read"):
        run(*words, "--force")
    assert load_crawl(tmp_path / "team.crawl").queries == imported.queries


@pytest.mark.parametrize(
    ("file", "data", "words"),
    [
        ("crawl.json", b"{", "not JSON"),
        ("crawl.json", b'{"format": "frontrank-crawl", "version": 2}', "version 2, but this frontrank reads up to 1"),
        ("crawl.json", b'{"format": "frontrank-crawl", "version": 1, "fetched": -1}', "fetched is -1"),
        ("fetched.npy", b"", "fetched.npy"),
        ("queries.parquet", b"PAR1", r"queries.parquet: damaged, the digest of \(footer\)"),
        ("results.parquet", None, "results.parquet: column query, page, rank, score cannot be read"),
    ],
)
def test_a_damaged_crawl_directory_is_refused(
    tmp_path: Path, imported: CrawlTables, file: str, data: bytes | None, words: str
) -> None:
    path = tmp_path / "team.crawl" / file
    path.unlink()
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(SourceError, match=words):
        load_crawl(tmp_path / "team.crawl")


def test_a_web_is_no_crawl(tmp_path: Path) -> None:
    with pytest.raises(
        SourceError, match=r"not a crawl \(crawl.json: No such file or directory\); frontrank crawl and frontrank"
    ):
        load_crawl(tmp_path)
    with pytest.raises(SourceError, match=r"nowhere: not a crawl \(there is no such directory\)"):
        load_crawl("nowhere")


# --- the command ---


def test_the_command_writes_a_crawl_and_says_what_is_in_it(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, [*options(write(tmp_path, **TABLES)), str(tmp_path / "team.crawl")])
    assert done.exit_code == 0
    first, *more = done.stdout.splitlines()
    assert first.endswith("team.crawl: 5 pages, 2 fetched, 4 links, 3 queries, 4 results; clicks and views known")
    assert more == [
        "  1 rows of the log whose URL is not a page of the crawl",
        "  4 rows of queries or of the log whose date cannot be read; they count where no dates are needed",
        "  1 unfetched pages without a link from a fetched page; not yet in the frontier",
    ]


def test_bad_input_leaves_with_code_2_one_sentence_and_no_directory(tmp_path: Path) -> None:
    paths = write(tmp_path, **{**TABLES, "log": LOG.replace(",1,4,", ",-1,4,")})
    done = run_command("import", *options(paths), tmp_path / "t")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "log.csv, line 3, column clicks: '-1'" in done.stderr
    assert not (tmp_path / "t").exists()


def test_the_options_are_documented() -> None:
    text = (Path(__file__).parent.parent / "docs" / "import.md").read_text(encoding="utf-8")
    for parameter in command.params:
        for option in (word for word in parameter.opts if word.startswith("--")):
            assert option in text, option
    for schema in (PAGES_TABLE, LINKS_TABLE, QUERIES_TABLE, LOG_TABLE, RESULTS_TABLE):
        assert all(f"`{field.name}`" in text for field in schema.fields), schema.table
