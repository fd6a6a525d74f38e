"""The documentation as a site: built strictly, nothing loaded from elsewhere, no dead link, and everybody can read it."""

from __future__ import annotations

import functools
import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from lxml import html  # type: ignore[import-untyped]

from tests.conftest import ROOT
from tests.patience import PATIENCE_S

HOST = "site.invalid"
LOADED = "//script/@src | //img/@src | //iframe/@src | //link[@rel='stylesheet' or @rel='icon' or @rel='preload']/@href"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make site` builds; a dead link between pages, or a page that is not in the navigation, would end it."""
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@functools.cache
def parsed(file: Path) -> Any:
    return html.parse(str(file), parser=html.HTMLParser(encoding="utf-8")).getroot()


def pages(site: Path) -> list[Path]:
    found = [file for file in sorted(site.rglob("*.html")) if file.name != "404.html"]
    assert len(found) > 80
    return found


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    for page in pages(site):
        for address in parsed(page).xpath(LOADED):
            assert not urlsplit(address).netloc, f"{page.relative_to(site)} loads {address}"
    for sheet in site.rglob("*.css"):
        assert "url(http" not in sheet.read_text(encoding="utf-8") and "@import" not in sheet.read_text(encoding="utf-8")


def test_no_link_within_the_site_is_dead(site: Path) -> None:
    followed = 0
    for page in pages(site):
        here = f"http://{HOST}/{page.relative_to(site).as_posix().removesuffix('index.html')}"
        for link in parsed(page).xpath("//a/@href | //img/@src | //link/@href | //script/@src"):
            to = urlsplit(urljoin(here, link))
            if to.netloc != HOST:
                continue
            target = site / unquote(to.path).lstrip("/")
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), f"{page.relative_to(site)}: {link}"
            if to.fragment and target.suffix == ".html" and not to.fragment.startswith("__"):
                assert parsed(target).xpath("//*[@id=$name or @name=$name]", name=unquote(to.fragment)), f"{page}: {link}"
            followed += 1
    assert followed > 5_000


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    import frontrank

    text = parsed(site / "api" / "index.html").text_content()
    assert [name for name in frontrank.__all__ if name not in text and not name.startswith("_")] == []


# In a browser ----------------------------------------------------------------------------------------------------------------
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *values: object) -> None:
        pass


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


READ = [
    "",
    "install/",
    "tutorial/",
    "which-ordering/",
    "crawl/",
    "commands/",
    "api/",
    "orderings/surf/",
    "results/leaderboard/",
]


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_everybody_can_read_it(browser: Any, served: str, width: int, scheme: str) -> None:
    """axe-core finds nothing serious, nobody else is asked, and no page is wider than the window."""
    from axe_playwright_python.sync_playwright import Axe

    view = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    view.set_default_timeout(PATIENCE_S * 1000)
    asked: list[str] = []
    view.on("request", lambda request: asked.append(request.url))
    for path in READ:
        view.goto(f"{served}/{path}")
        found = [one for one in Axe().run(view).response["violations"] if one["impact"] in ("serious", "critical")]
        assert not found, [(path, one["id"], one["nodes"][0]["html"], one["nodes"][0]["failureSummary"]) for one in found]
        assert view.evaluate("document.documentElement.scrollWidth") <= width, path
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(served).netloc}
    view.close()


@pytest.mark.browser
def test_the_search_finds_a_page(browser: Any, served: str) -> None:
    view = browser.new_page()
    view.set_default_timeout(PATIENCE_S * 1000)
    view.goto(served)
    view.fill(".md-search__input", "calendar trap")
    view.wait_for_selector(".md-search-result__link")
    assert "crawl" in " ".join(view.locator(".md-search-result__link").evaluate_all("links => links.map(one => one.href)"))
    view.close()
