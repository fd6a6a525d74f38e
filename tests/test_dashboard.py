"""The dashboard in a real browser: what it shows is what the crawl says, as text, and what is done there is done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from frontrank.frontiers.politeness import FREE
from frontrank.service.crawls import Crawls
from frontrank.service.http import http_server
from tests.patience import PATIENCE_S
from tests.served import CALENDAR, MARKUP, Asked, grown, serving

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Crawls, Asked]]:
    with grown(tmp_path_factory.mktemp("service") / "crawls") as crawls:
        crawls.get().control.prioritise(crawls.get().lookup("http://c.example/0"), 5)
        with serving(crawls) as asked:
            yield crawls, asked


class Opened:
    """A page, what it complained about, and whom it asked."""

    def __init__(self, browser: Any, url: str, width: int = 1280, scheme: str = "light") -> None:
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page.set_default_timeout(PATIENCE_S * 1000)
        self.trouble: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.trouble.append(message.text))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("dialog", lambda dialog: self.trouble.append(f"a script ran: {dialog.message}"))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(url)

    def whole(self) -> Opened:
        for panel in (
            "#next tbody tr",
            "#families tbody tr",
            "#hosts tbody tr",
            "#errors .track",
            "#coverage .track",
            ".chart svg",
        ):
            self.page.wait_for_selector(panel)
        return self

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.page.locator(selector).all_inner_texts()
        return found


@pytest.fixture
def opened(browser: Any, served: tuple[Crawls, Asked]) -> Iterator[Opened]:
    made = Opened(browser, served[1].url).whole()
    yield made
    assert made.trouble == []
    made.page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_everything_is_shown_and_fits(browser: Any, served: tuple[Crawls, Asked], width: int, scheme: str) -> None:
    crawls, asked = served
    made = Opened(browser, asked.url, width, scheme).whole()
    assert made.page.evaluate("document.documentElement.scrollWidth") <= width
    assert made.texts("#next tbody td:nth-child(2)") == [page["url"] for page in crawls.get().inspect.next(50)]
    facts = dict(zip(made.texts("#facts dt"), made.texts("#facts dd"), strict=True))
    assert facts["fetched"].split()[0] == "6" and facts["known"] == str(crawls.get().inspect.known)
    assert made.texts("#policy") == ["backlink"]
    dark = made.page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (scheme == "dark")
    assert {url.split("/")[2] for url in made.asked} == {asked.url.split("/")[2]}, "nothing is asked of anybody else"
    assert made.trouble == []
    made.page.close()


def test_markup_of_the_web_is_text(opened: Opened) -> None:
    page = opened.page
    page.fill("#search-text", "<script>")
    page.keyboard.press("Enter")
    page.wait_for_selector("#found-body table")
    assert opened.texts("#found-body .link") == [MARKUP]
    page.locator("#found-body .link").click()
    page.wait_for_selector("#page-body .facts")
    assert opened.texts("#page-title") == [MARKUP]
    assert "http 404 <b>" in opened.texts("#errors span:first-child")
    assert page.evaluate("[...document.querySelectorAll('main script, dialog script, main b b')].length") == 0


def test_a_page_is_explained_by_keyboard_alone(served: tuple[Crawls, Asked], opened: Opened) -> None:
    page = opened.page
    first = opened.texts("#next .link")[1]  # the first goes by its own priority
    page.keyboard.press("n")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#page-body .facts")
    assert opened.texts("#page-title") == [first]
    facts = dict(zip(opened.texts("#page-body dt"), opened.texts("#page-body dd"), strict=True))
    assert (facts["state"], facts["place"].split()[0]) == ("waiting", "2")
    page.keyboard.press("Escape")
    page.wait_for_selector("#page", state="hidden")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search-text"


def test_another_ordering_is_tried_before_one_commits_to_it(served: tuple[Crawls, Asked], opened: Opened) -> None:
    page = opened.page
    page.fill("#compare-policy", "dfs")
    page.keyboard.press("Enter")
    page.wait_for_selector("#compared tbody tr")
    _, told = served[1].get("/api/v1/crawls/DEFAULT/compare", policy="dfs", n=50)
    assert opened.texts("#compared .link") == [one["url"] for one in told["head"]]
    assert f"{told['shared']} of the next {told['pages']}" in opened.texts("#compare-note")[0]
    page.locator("#leaving-part summary").click()
    assert opened.texts("#leaving .link") == [one["url"] for one in told["leaving"]] != []
    page.fill("#compare-policy", "nonsense")
    page.keyboard.press("Enter")
    page.wait_for_selector("#compare-hint:has-text('nonsense')")
    opened.trouble = [said for said in opened.trouble if "400" not in said]  # browsers print each refusal


def test_traps_are_marked_once_many_of_their_pages_were_fetched(opened: Opened, browser: Any, tmp_path: Path) -> None:
    first = opened.texts("#families tbody tr:first-child td")
    assert (first[0], first[1], first[4]) == ("a.example/cal/#", str(CALENDAR), "")
    with grown(tmp_path / "crawls") as crawls, serving(crawls) as asked:
        crawl = crawls.get()
        for url in crawl.take(CALENDAR - 15):
            crawl.fetched(url)
        made = Opened(browser, asked.url).whole()
        first = made.texts("#families tbody tr:first-child td")
        made.page.close()
        assert (first[0], first[4]) == ("a.example/cal/#", "possible trap")


def test_what_happens_is_shown_without_a_reload(browser: Any, tmp_path: Path) -> None:
    with grown(tmp_path / "crawls") as crawls, serving(crawls) as asked:
        made = Opened(browser, asked.url).whole()
        crawl = crawls.get()
        crawl.fetched(crawl.take()[0], ["http://new.example/"])
        crawl.control.prioritise(crawl.lookup("http://new.example/"), 9)
        made.page.wait_for_selector("#facts div:first-child dd:has-text('7')")
        made.page.wait_for_selector("#next .link:has-text('http://new.example/')")
        made.page.close()


def test_actions_change_the_crawl(browser: Any, tmp_path: Path) -> None:
    with grown(tmp_path / "crawls") as crawls, serving(crawls) as asked:
        made = Opened(browser, asked.url).whole()
        page, crawl = made.page, crawls.get()
        page.keyboard.press("p")
        page.wait_for_selector("#state:has-text('paused')")
        assert crawl.state.progress.paused
        page.click("#pause")
        page.wait_for_selector("#state:has-text('live')")
        assert not crawl.state.progress.paused
        page.locator("#families button:has-text('Boost')").first.click()
        page.fill("#ask input[name=by]", "2")
        page.keyboard.press("Enter")
        page.wait_for_selector("#rules tbody tr")
        assert "/cal/" in crawl.inspect.next(1)[0]["url"]
        page.wait_for_selector("#next tbody tr:first-child:has-text('before all')")
        page.locator("#rules button").click()
        page.wait_for_selector("#rules", state="hidden")
        page.locator("#hosts button:has-text('Block')").first.click()
        page.keyboard.press("Enter")
        page.wait_for_selector("#hosts:has-text('blocked')")
        assert crawl.inspect.busiest_hosts(1)[0]["blocked"] > crawl.inspect.clock()
        page.click("#boost")
        page.fill("#ask input[name=pattern]", "(")
        page.keyboard.press("Enter")
        page.wait_for_selector("#ask-error:has-text('regular expression')")
        assert [said for said in made.trouble if "400" not in said] == []
        page.close()


def test_a_token_is_asked_for_and_kept_for_the_tab(browser: Any, tmp_path: Path) -> None:
    with grown(tmp_path / "crawls") as crawls, serving(crawls, token="s3cret") as asked:
        made = Opened(browser, asked.url)
        made.page.wait_for_selector("#ask input[type=password]")
        assert made.texts("#next tbody tr") == []
        made.page.fill("#ask input[name=token]", "s3cret")
        made.page.keyboard.press("Enter")
        made.whole()
        made.page.reload()
        made.whole()
        made.page.close()


def test_a_crawl_in_a_directory_is_shown_and_controlled(browser: Any, tmp_path: Path) -> None:
    with grown(tmp_path / "crawls"):
        pass
    with http_server(folders={"mine": tmp_path / "crawls" / "DEFAULT"}, port=0) as server:
        made = Opened(browser, server.url).whole()
        assert made.texts("#state") == ["stopped"]
        assert not made.page.is_visible("#pause"), "nothing is at work that could pause"
        assert made.texts("#stopped") == [
            "This crawl is stopped. To go on, where its directory is: frontrank crawl --resume mine"
        ]
        made.page.evaluate("document.getElementById('pause').click()")  # over REST it can be paused all the same
        made.page.wait_for_selector("#pause:has-text('Resume')")
        assert made.trouble == []
        made.page.close()
    with Crawls(tmp_path / "crawls") as crawls:
        assert crawls.get().state.progress.paused


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("empty", [True, False])
def test_axe_finds_no_barrier(browser: Any, tmp_path: Path, empty: bool, width: int, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with Crawls(tmp_path / "crawls") if empty else grown(tmp_path / "crawls") as crawls, http_server(crawls, port=0) as server:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.goto(server.url)
        page.wait_for_selector("#state:has-text('no crawl yet')" if empty else "#state:has-text('live')")
        found = Axe().run(page).response["violations"]
        page.close()
    assert [(one["id"], one["impact"]) for one in found if one["impact"] in ("serious", "critical")] == []


def test_crawls_that_begin_and_end_are_seen_without_a_reload(browser: Any, tmp_path: Path) -> None:
    with Crawls(tmp_path / "crawls", "bfs", FREE) as crawls, serving(crawls) as asked:
        made = Opened(browser, asked.url)
        made.page.wait_for_selector("#notice:has-text('no crawl yet')")
        crawls.get_or_start("first").seed(["http://a.example/"])
        made.page.wait_for_selector("#next .link:has-text('http://a.example/')")
        crawls.get_or_start("second").seed(["http://b.example/"])
        made.page.wait_for_selector("#crawl option[value=second]", state="attached")
        assert made.page.input_value("#crawl") == "first", "what is looked at stays"
        crawls.delete("first")
        made.page.wait_for_selector("#next .link:has-text('http://b.example/')")
        assert made.texts("#crawl option") == ["second"]
        assert [said for said in made.trouble if "404" not in said] == []
        made.page.close()


def test_the_pause_of_the_service_is_shown_and_ended(browser: Any, tmp_path: Path) -> None:
    with grown(tmp_path / "crawls") as crawls, serving(crawls) as asked:
        crawls.active = False
        made = Opened(browser, asked.url).whole()
        made.page.wait_for_selector("#state:has-text('service paused')")
        made.page.click("#pause:has-text('Resume service')")
        made.page.wait_for_selector("#state:has-text('live')")
        assert crawls.active and not crawls.get().state.progress.paused and made.trouble == []
        made.page.close()


def test_metrics_are_shown_with_the_token(browser: Any, tmp_path: Path) -> None:
    with grown(tmp_path / "crawls") as crawls, serving(crawls, token="s3cret") as asked:
        made = Opened(browser, asked.url)
        made.page.wait_for_selector("#ask input[type=password]")
        made.page.fill("#ask input[name=token]", "s3cret")
        made.page.keyboard.press("Enter")
        made.whole()
        made.page.click("#metrics")
        made.page.wait_for_selector("#found-body pre:has-text('frontrank_active 1')")
        made.page.close()


def test_the_limit_of_a_host_is_seen_and_set(browser: Any, tmp_path: Path) -> None:
    with grown(tmp_path / "crawls") as crawls, serving(crawls) as asked:
        made = Opened(browser, asked.url).whole()
        made.page.locator("#hosts button:has-text('Limits')").first.click()
        made.page.fill("#ask input[name=limit]", "41")
        made.page.keyboard.press("Enter")
        made.page.wait_for_selector("#hosts tbody tr:first-child td:nth-child(7):has-text('41')")
        assert crawls.get().inspect.busiest_hosts(1)[0]["limit"] == 41 and made.trouble == []
        made.page.close()


def test_a_crawl_that_cannot_be_opened_is_named_with_its_reason(browser: Any, tmp_path: Path) -> None:
    with Crawls(tmp_path, "bfs") as crawls:
        crawls.get_or_start("bad <b>").seed("http://a.example/")
        crawls.get_or_start("well").seed("http://a.example/")
    (tmp_path / "bad%20%3Cb%3E" / "trace.db").write_bytes(b"not a database" * 1_000)
    with Crawls(tmp_path, "bfs") as crawls, serving(crawls) as asked:
        opened = Opened(browser, asked.url)
        opened.page.wait_for_selector("#broken:visible")
        reason = "the trace of the crawl cannot be written (file is not a database); fix this and try again"
        assert opened.texts("#broken") == [f"Crawl bad <b> is not served: {reason}."]
        assert opened.texts("#crawl option") == ["well"] and opened.trouble == []
        opened.page.close()
