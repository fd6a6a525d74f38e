"""Facts about reading Wikipedia's dumps and clickstream."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from examples.wikipedia import sql_dump
from examples.wikipedia.sql_dump import Dump
from examples.wikipedia.wikipedia import read_wikipedia
from frontrank.errors import SourceError
from frontrank.sources.imported_crawl import load_crawl

ROOT = Path(__file__).parents[2]


def run(*args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "examples.wikipedia", *args]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


HEAD = "/*M!999999\\- sandbox */ \n-- MariaDB dump 10.19\n--\n-- Host: db1    Database: testwiki\n/*!40101 SET NAMES utf8 */;\n"
PAGE = (
    HEAD + "DROP TABLE IF EXISTS `page`;\nCREATE TABLE `page` (\n  `page_id` int(8) unsigned NOT NULL AUTO_INCREMENT,\n"
    "  `page_namespace` int(11) NOT NULL DEFAULT 0,\n  `page_title` varbinary(255) NOT NULL DEFAULT '',\n"
    "  `page_random` double NOT NULL,\n  `page_lang` varbinary(35) DEFAULT NULL,\n  PRIMARY KEY (`page_id`),\n"
    "  UNIQUE KEY `name` (`page_namespace`,`page_title`)\n) ENGINE=InnoDB AUTO_INCREMENT=9 DEFAULT CHARSET=binary;\n"
    "LOCK TABLES `page` WRITE;\n"
    r"INSERT INTO `page` VALUES (7,0,'Rock_\'n\'_Roll',0.5,NULL),(3,0,'A),(B;',1e-05,'en'),(4,1,'A),(B;',0.1,NULL);"
    "\n"
    r"INSERT INTO `page` VALUES (9,0,'Back\\slash\\',0.25,'x\"y'),(11,0,'',0.1,NULL);"
    "\nUNLOCK TABLES;\n-- Dump completed on 2024-05-01"
)
PAGELINKS = (
    HEAD + "CREATE TABLE `pagelinks` (\n  `pl_from` int(8) unsigned NOT NULL DEFAULT 0,\n"
    "  `pl_from_namespace` int(11) NOT NULL DEFAULT 0,\n  `pl_target_id` bigint(20) unsigned NOT NULL,\n"
    "  PRIMARY KEY (`pl_from`,`pl_target_id`)\n) ENGINE=InnoDB DEFAULT CHARSET=binary;\n"
    "INSERT INTO `pagelinks` VALUES\n(9,0,101),\n(7,0,102),\n(7,0,101),\n(4,1,101),\n(3,0,103),\n(7,0,999);\n"
)
LINKTARGET = (
    HEAD + "CREATE TABLE `linktarget` (\n  `lt_id` bigint(20) unsigned NOT NULL,\n  `lt_namespace` int(11) NOT NULL,\n"
    "  `lt_title` varbinary(255) NOT NULL,\n  PRIMARY KEY (`lt_id`)\n) ENGINE=InnoDB;\n"
    "INSERT INTO `linktarget` VALUES (101,0,'A),(B;'),(102,0,'Missing_élan?'),(103,14,'Category');\n"
)
OLD_PAGELINKS = (
    HEAD + "CREATE TABLE `pagelinks` (\n  `pl_from` int(8) unsigned NOT NULL,\n  `pl_namespace` int(11) NOT NULL,\n"
    "  `pl_title` varbinary(255) NOT NULL,\n  `pl_from_namespace` int(11) NOT NULL\n) ENGINE=InnoDB;\n"
    "INSERT INTO `pagelinks` VALUES (9,0,'A),(B;',0),(7,0,'Missing_élan?',0),(7,0,'A),(B;',0),(4,0,'A),(B;',1),"
    "(3,14,'Category',0);\n"
)
CLICKSTREAM = (
    "other-search\tRock_'n'_Roll\texternal\t120\nother-empty\tRock_'n'_Roll\texternal\t50\n"
    "Rock_'n'_Roll\tA),(B;\tlink\t30\nother-search\tA),(B;\texternal\t11\nother-search\tNowhere\texternal\t10\n"
)


def dumps(where: Path, pagelinks: str = PAGELINKS, packed: bool = True) -> str:
    for name, text in (("page", PAGE), ("pagelinks", pagelinks), ("linktarget", LINKTARGET)):
        (where / f"testwiki-latest-{name}.sql.gz").write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    (where / "clickstream-testwiki-2024-05.tsv").write_text(CLICKSTREAM, encoding="utf-8")
    return str(where / "testwiki-latest-pagelinks.sql.gz")


@pytest.mark.parametrize("pagelinks", [PAGELINKS, OLD_PAGELINKS])
def test_wikipedia_dumps_of_both_kinds_give_the_same_web(tmp_path: Path, pagelinks: str) -> None:
    links = dumps(tmp_path, pagelinks)
    crawl, counts = read_wikipedia(links, clickstream=str(tmp_path / "clickstream-testwiki-2024-05.tsv"))
    assert list(crawl.web.titles or []) == ["Rock 'n' Roll", "A),(B;", "Back\\slash\\", "Missing élan?"]
    assert (crawl.web.urls or [])[3] == "https://test.wikipedia.org/wiki/Missing_%C3%A9lan%3F"
    assert crawl.fetched.tolist() == [0, 1, 2]
    assert [crawl.web.targets_of(page).tolist() for page in range(4)] == [[3, 1], [], [1], []]
    assert crawl.web.clicks is not None
    assert crawl.web.clicks.tolist() == [120, 11, 0, 0]
    assert counts.unknown_clickstream_rows == 1
    assert counts.other_links == (3 if pagelinks is PAGELINKS else 2)


def test_the_clickstream_alone_is_a_crawl_with_a_frontier(tmp_path: Path) -> None:
    dumps(tmp_path)
    done = run("--clickstream", str(tmp_path / "clickstream-testwiki-2024-05.tsv"), str(tmp_path / "w"))
    assert done.stdout.splitlines()[0].endswith("w: 3 pages, 1 fetched, 1 links")
    view = load_crawl(tmp_path / "w").view()
    assert view.impact is not None
    assert dict(zip(view.pages.tolist(), view.impact.tolist(), strict=True)) == {0: 120, 1: 0}


def test_bad_options_end_with_one_sentence_and_no_directory(tmp_path: Path) -> None:
    done = run("--pages", "x", str(tmp_path / "w"))
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("give the links of a Wikipedia: --links, --clickstream or both")
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("piece", [1, 7, 64, 1000])
def test_where_the_stream_is_cut_into_pieces_does_not_matter(
    tmp_path: Path, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dumps(tmp_path, packed=False)
    dump = Dump(str(tmp_path / "testwiki-latest-page.sql.gz"), "page")
    monkeypatch.setattr(sql_dump, "PIECE", piece)
    assert list(dump.rows("page_title", "page_id", "page_lang")) == [
        ("Rock_'n'_Roll", "7", None),
        ("A),(B;", "3", "en"),
        ("A),(B;", "4", None),
        ("Back\\slash\\", "9", 'x"y'),
        ("", "11", None),
    ]
    assert dump.database == "testwiki"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PAGE[: PAGE.index("'x\\")], r"line 18: cannot be read from .*9,0"),
        (PAGE.replace("(3,0,", "(3,"), r"line 17: cannot be read from .,\(3,"),
        (PAGE.replace("`page_title`", "`page_titel`"), "has no column 'page_title'; did you mean 'page_titel'"),
        ("hello", "no CREATE TABLE `page`; expected"),
    ],
)
def test_a_dump_that_is_cut_off_or_broken_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "page.sql"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match=words):
        list(Dump(str(path), "page").rows("page_id", "page_namespace", "page_title"))


def test_a_bad_line_of_the_clickstream_is_told_or_skipped(tmp_path: Path) -> None:
    path = tmp_path / "clickstream-dewiki-2024-05.tsv"
    path.write_text(CLICKSTREAM + "a\tb\tlink\tmany\nonly\ttwo\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"line 6: n is 'many', expected a whole number"):
        read_wikipedia(clickstream=str(path))
    crawl, counts = read_wikipedia(clickstream=str(path), skip_bad=True)
    assert counts.skipped == {"clickstream": 2}
    assert list(crawl.web.host_names or []) == ["de.wikipedia.org"]


def test_dumps_that_are_not_beside_the_links_must_be_named(tmp_path: Path) -> None:
    links = dumps(tmp_path)
    (tmp_path / "testwiki-latest-linktarget.sql.gz").rename(tmp_path / "lt.gz")
    with pytest.raises(SourceError, match="table linktarget is not beside it; name it with --targets"):
        read_wikipedia(links)
    crawl, _ = read_wikipedia(links, targets=str(tmp_path / "lt.gz"))
    assert crawl.web.links == 3
