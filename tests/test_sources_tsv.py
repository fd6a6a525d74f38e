"""Facts about crawls in tab-separated files."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest

from frontrank.errors import InputError, SourceError
from frontrank.sources import load

PAGES = 'id\turl\thost\ttitle\n0\thttp://a/\ta\tHome "A\n1\thttp://b/é\tb\t\n2\thttp://a/2\ta\tTwo\n'
LINKS = "src\tdst\tanchor\n2\t0\thome\n0\t2\ttwo\n0\t1\t\n0\t2\t\n0\t2\tagain\n1\t1\tself\n"
TEXT = "id\ttext\n0\tWelcome\n1\t\n2\tPage two\n"


def crawl(tmp_path: Path, packed: bool = False, **files: str | bytes | None) -> Path:
    for name, default in {"pages": PAGES, "links": LINKS, "text": TEXT}.items():
        text = files.get(name, default)
        if text is None:
            continue
        data = text.encode() if isinstance(text, str) else text
        path = tmp_path / (f"{name}.tsv.gz" if packed else f"{name}.tsv")
        path.write_bytes(gzip.compress(data) if packed else data)
    return tmp_path


@pytest.mark.parametrize("packed", [False, True])
def test_a_crawl_has_all_its_columns(tmp_path: Path, packed: bool) -> None:
    web = load(crawl(tmp_path, packed))
    assert (web.pages, web.links) == (3, 3)
    assert [web.targets_of(p).tolist() for p in range(3)] == [[2, 1], [], [0]]
    assert web.hosts is not None
    assert web.hosts.tolist() == [0, 1, 0]
    assert web.host_names == ["a", "b"]
    assert list(web.urls or []) == ["http://a/", "http://b/é", "http://a/2"]
    assert list(web.titles or []) == ['Home "A', "", "Two"]
    assert list(web.texts or []) == ["Welcome", "", "Page two"]
    assert list(web.anchors or []) == ["two again", "", "home"]
    assert web.name == tmp_path.name
    assert web.page_of("http://a/2") == 2


def test_a_crawl_may_have_no_text_and_no_links(tmp_path: Path) -> None:
    web = load(crawl(tmp_path, text=None, links="src\tdst\tanchor\n"))
    assert (web.pages, web.links, web.has("texts")) == (3, 0, False)


def test_line_ends_may_be_those_of_windows(tmp_path: Path) -> None:
    web = load(crawl(tmp_path, pages=PAGES.replace("\n", "\r\n"), links=LINKS.replace("\n", "\r\n")))
    assert web.links == 3
    assert web.titles is not None
    assert web.titles[2] == "Two"


def test_text_is_not_touched_before_it_is_asked_for(tmp_path: Path) -> None:
    web = load(crawl(tmp_path))
    assert web.texts is not None
    (tmp_path / "text.tsv").write_text("id\ttext\n0\tlater\n1\t\n2\t\n")
    assert len(web.texts) == 3
    assert web.texts[0] == "later"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"pages": PAGES.replace("id\turl", "id\turi")}, r"pages\.tsv, line 1: column names 'id\\turi.* expected id"),
        ({"links": "0\t1\tx\n"}, r"links\.tsv, line 1: column names .*expected src, dst, anchor"),
        ({"pages": ""}, r"pages\.tsv, line 1: column names ''"),
        ({"pages": "id\turl\thost\ttitle\n"}, r"pages\.tsv: no pages"),
        ({"pages": PAGES + "3\thttp://c/\tc\n"}, r"pages\.tsv, line 5: 3 fields, expected 4 \(id, url, host, title\)"),
        ({"pages": PAGES + "3\thttp://c/\tc\tt\tmore\n"}, r"pages\.tsv, line 5: 5 fields, expected 4"),
        ({"pages": PAGES + "\n"}, r"pages\.tsv, line 5: 1 fields, expected 4"),
        ({"pages": PAGES + "4\thttp://c/\tc\tt\n"}, r"pages\.tsv, line 5: id is 4, expected 3"),
        ({"pages": PAGES.replace("\n1\t", "\none\t")}, r"pages\.tsv, line 3: id is 'one', expected a page number"),
        ({"pages": PAGES.encode("latin-1")}, r"pages\.tsv, line 3: not UTF-8 text"),
        ({"pages": PAGES.replace("Two", "T\rwo")}, r"pages\.tsv, line 4: title holds a carriage return"),
        ({"links": LINKS + "3\t0\tx\n"}, r"links\.tsv, line 8: src is 3, expected a page id, 0 to 2"),
        ({"links": LINKS + "0\t-1\tx\n"}, r"links\.tsv, line 8: dst is -1, expected a page id, 0 to 2"),
        ({"links": LINKS + "0\t\tx\n"}, r"links\.tsv, line 8: dst is '', expected a page number"),
        ({"links": LINKS + f"0\t{2**70}\tx\n"}, r"links\.tsv, line 8: dst is '1180.*', expected a page number"),
        ({"links": LINKS + "0\t1\n"}, r"links\.tsv, line 8: 2 fields, expected 3 \(src, dst, anchor\)"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, files: dict[str, Any], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        load(crawl(tmp_path, **files))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id\ttext\n0\ta\n", r"text\.tsv: 1 rows, expected 3"),
        ("id\ttext\n0\ta\n2\tb\n1\tc\n", r"text\.tsv, line 3: id is 2, expected 1"),
        ("id\ttext\n0\ta\n1\tb\tc\n2\td\n", r"text\.tsv, line 3: 3 fields, expected 2"),
        ("id\tbody\n", r"text\.tsv, line 1: column names"),
    ],
)
def test_wrong_text_is_noticed_when_it_is_first_asked_for(tmp_path: Path, text: str, message: str) -> None:
    web = load(crawl(tmp_path, text=text))
    assert web.texts is not None
    with pytest.raises(SourceError, match=message):
        web.texts[0]


def test_text_that_has_gone_is_noticed(tmp_path: Path) -> None:
    web = load(crawl(tmp_path))
    (tmp_path / "text.tsv").unlink()
    assert web.texts is not None
    with pytest.raises(SourceError, match=r"text\.tsv: cannot be read \(No such file"):
        web.texts[1]


@pytest.mark.parametrize("name", ["pages", "links", "text"])
@pytest.mark.parametrize("share", [0.2, 0.7, 0.99])
def test_a_truncated_gzip_file_is_refused(tmp_path: Path, name: str, share: float) -> None:
    crawl(tmp_path, packed=True)
    path = tmp_path / f"{name}.tsv.gz"
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    with pytest.raises(SourceError, match=rf"{name}\.tsv\.gz: the gzip stream ends early; the file is truncated"):
        list(load(tmp_path).texts or [])


@pytest.mark.data
def test_clicks_and_views_beside_the_pages_are_those_of_the_web(tmp_path: Path) -> None:
    folder = crawl(tmp_path)
    (folder / "clicks.csv").write_text("url,clicks\nhttp://a/2,5\nhttp://A/,1\nhttp://a/2,2\n", encoding="utf-8")
    web = load(folder)
    assert web.views is None and web.clicks is not None
    assert web.clicks.tolist() == [1.0, 0.0, 7.0]
    (folder / "views.tsv.gz").write_bytes(gzip.compress(b"url\tviews\nhttp://a/\t9\n"))
    both = load(folder)
    assert both.views is not None and both.views.tolist() == [9.0, 0.0, 0.0]
    assert both.impact is both.views and both.by_impact("clicks").impact is both.clicks


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("url,clicks\nhttp://a/2,-1\n", "clicks.csv, line 2, column clicks: '-1', expected a number, finite and not negative"),
        ("url,clicks\nhttp://elsewhere/,1\n", "row 1: 'http://elsewhere/' is not a page of pages.tsv; remove that row"),
        ("url,views\nhttp://a/2,1\n", "no column 'clicks'"),
    ],
)
def test_clicks_that_cannot_be_used_are_named(tmp_path: Path, text: str, message: str) -> None:
    (crawl(tmp_path) / "clicks.csv").write_text(text, encoding="utf-8")
    with pytest.raises((SourceError, InputError), match=re.escape(message)):
        load(tmp_path)


def test_the_real_crawl_is_read_whole(data_dir: Path) -> None:
    web = load(data_dir / "uci-ics")
    assert (web.pages, web.links) == (55_381, 674_345)
    assert web.hosts is not None
    assert web.host_names is not None
    assert web.urls is not None
    assert web.anchors is not None
    assert (len(web.host_names), web.hosts.max()) == (88, 87)
    across = sum(int((web.hosts[web.targets_of(p)] != web.hosts[p]).sum()) for p in range(web.pages))
    assert across == 29_283
    with gzip.open(data_dir / "uci-ics" / "pages.tsv.gz", "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    for page in (0, 9, 55_380):
        assert [str(page), web.urls[page], web.host_names[web.hosts[page]], (web.titles or [])[page]] == rows[page]
    with gzip.open(data_dir / "uci-ics" / "text.tsv.gz", "rt", encoding="utf-8") as file:
        first = next(line for line in file if line.startswith("0\t")).rstrip("\n").split("\t")[1]
    assert (web.texts or [])[0] == first
