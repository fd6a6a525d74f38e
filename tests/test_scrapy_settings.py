"""Settings of a Scrapy project that cannot be: one sentence, no traceback, a code other than 0; and what stays as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from tests.scrapy_crawls import ROOT, SMALL, Crawled, crawl, crawl_one, end_workers, job
from tests.scrapy_project_server import serving


@pytest.fixture(scope="module", autouse=True)
def _end_workers() -> Iterator[None]:
    yield
    end_workers()


def refused(crawled: Crawled) -> str:
    """The one line that says why a crawl did not begin."""
    assert crawled.stats["finish_reason"] == "frontrank_error"
    assert "Traceback" not in crawled.log and not crawled.error and not crawled.noted
    (line,) = [line for line in crawled.log.splitlines() if " ERROR: " in line]
    return line


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"FRONTRANK_POLICY": "ficca"}, "did you mean 'fica'"),
        ({"FRONTRANK_POLICY": "fpr:m=-1"}, "m must be a number above 0, got -1"),
        ({"FRONTRANK_BUDGET": -5}, "FRONTRANK_BUDGET must be a whole number of pages from 1 (0: no budget), got -5"),
        ({"FRONTRANK_BUDGET": "many"}, "got 'many'"),
        ({"FRONTRANK_BUDGET": 2.5}, "got 2.5"),
        ({"FRONTRANK_DIR": "/dev/null/crawl"}, "/dev/null"),
        ({"FRONTRANK_RESCORE": "maybe"}, "FRONTRANK_RESCORE must be True or False, got 'maybe'"),
        ({"FRONTRANK_POLCY": "bfs"}, "unknown setting 'FRONTRANK_POLCY'; did you mean 'FRONTRANK_POLICY'?"),
        (
            {"ADDONS": {}, "SCHEDULER": "frontrank.fetching.addon.Scheduler"},
            'ADDONS = {"frontrank.fetching.addon.Addon": 500}',
        ),
    ],
    ids=["name", "parameter", "budget", "no number", "half a page", "folder", "rescore", "misspelt", "middlewares"],
)
def test_wrong_settings_end_the_crawl_with_a_sentence_before_it_begins(settings: dict[str, object], sentence: str) -> None:
    with serving(SMALL) as site:
        (crawled,) = crawl([job("Follow", site.root + "/", settings)])
        assert not site.asked
    assert sentence in refused(crawled)


def test_another_policy_for_a_directory_is_refused_with_a_sentence_unless_rescored(tmp_path: Path) -> None:
    settings = {"FRONTRANK_DIR": str(tmp_path / "crawl"), "FRONTRANK_BUDGET": 1}
    other = {**settings, "FRONTRANK_POLICY": "fica"}
    with serving(SMALL) as site:
        begun, changed, taken = crawl(
            [
                job("Follow", site.root + "/", settings),
                job("Follow", site.root + "/", other),
                job("Follow", site.root + "/", {**other, "FRONTRANK_BUDGET": 0, "FRONTRANK_RESCORE": True}),
            ]
        )
        assert sorted(site.urls()) == ["/", "/a", "/b", "/c", "/d"]
    assert begun.stats["finish_reason"] == "frontrank_budget"
    sentence = refused(changed)
    assert "FRONTRANK_RESCORE = True" in sentence and "bfs" in sentence and "fica" in sentence
    assert taken.stats["finish_reason"] == "finished" and taken.stats["frontrank/policy"] == "fica"


def test_two_spiders_cannot_share_a_directory_at_a_time(tmp_path: Path) -> None:
    settings = {"FRONTRANK_DIR": str(tmp_path / "crawl")}
    with serving(SMALL) as site:
        first, second = crawl([job("Follow", site.root + "/", settings)] * 2, together=True)
        assert sorted(site.urls()) == ["/", "/a", "/b", "/c", "/d"]
    assert first.stats["finish_reason"] == "finished" and not first.error
    assert second.stats["finish_reason"] == "frontrank_error" and not second.error
    assert "Traceback" not in second.log
    assert second.log.count(" ERROR: ") == 1 and str(tmp_path / "crawl") in second.log


SPIDER = """
import scrapy

class Small(scrapy.Spider):
    name = "small"
    start_urls = ["http://127.0.0.1:9/"]
    custom_settings = {"ADDONS": {"frontrank.fetching.addon.Addon": 500}, "TELNETCONSOLE_ENABLED": False}
    def parse(self, response):
        yield from response.follow_all(css="a")
"""


def test_scrapys_own_command_ends_with_a_line_and_a_code_other_than_0(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text(SPIDER)
    command = [sys.executable, "-m", "scrapy", "runspider", "small.py", "--loglevel", "WARNING", "-s", "FRONTRANK_POLICY=ficca"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "unknown ordering 'ficca'; did you mean 'fica'?" in line


def test_a_scheduler_of_the_project_itself_stays() -> None:
    with serving(SMALL) as site:
        crawled = crawl_one("Follow", site.root + "/", {"SCHEDULER": "scrapy.core.scheduler.Scheduler"})
    assert "frontrank/policy" not in crawled.stats and crawled.stats["finish_reason"] == "finished"
