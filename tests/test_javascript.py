"""docs/javascript.md: its programs, run with a real browser on a site whose links are made by a script."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from frontrank.crawl.status import events, status
from frontrank.sources.synthetic import synthetic
from tests.listening import listening
from tests.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "javascript.md").read_text(encoding="utf-8")
CRAWLEE, SCRAPY = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
WEB = synthetic("pages=40,links=4,seed=5,text=0")
SCRIPT = """<title>Page {page}</title><body></body><script>
for (const page of {links}) {{
    const link = document.createElement("a");
    link.href = "/" + page;
    link.textContent = "page " + page;
    document.body.append(link);
}}
</script>"""

pytestmark = [
    pytest.mark.full,
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("chromium") != "/usr/bin/chromium", reason="Debian's chromium is not installed"),
]


@pytest.fixture
def site() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = self.path.strip("/")
            known = page.isdigit() and int(page) < WEB.pages
            links = WEB.targets_of(int(page)).tolist() or [0] if known else []
            body = SCRIPT.format(page=page, links=links).encode()
            self.send_response(200 if known else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None: ...

    with listening(Handler) as home:
        yield home


def pasted(code: str, home: str) -> str:
    """The program of the page for this site and a container, whose root may not use Chromium's sandbox."""
    code = code.replace("https://your-site.example/", f"{home}/0").replace("delay_s=1.0", "delay_s=0.0")
    code = code.replace('"DOWNLOAD_DELAY": 1.0', '"DOWNLOAD_DELAY": 0.0')
    return code.replace('"/usr/bin/chromium"', '"/usr/bin/chromium", "args": ["--no-sandbox", "--disable-gpu"]')


@pytest.mark.parametrize(
    ("code", "command", "crawl"),
    [(CRAWLEE, ["program.py"], "my-crawl"), (SCRAPY, ["-m", "scrapy", "runspider", "program.py"], "scrapy-crawl")],
    ids=["crawlee", "scrapy"],
)
def test_a_browser_opens_the_pages_that_frontrank_chooses(
    code: str, command: list[str], crawl: str, site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("crawlee")
    pytest.importorskip("scrapy_playwright")
    monkeypatch.setenv("CRAWLEE_STORAGE_DIR", str(tmp_path / "storage"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "program.py").write_text(pasted(code, site), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert ran.returncode == 0, ran.stderr
    fetched = [event["url"] for event in events(tmp_path / crawl) if event["kind"] == "fetched"]
    assert 20 <= len(fetched) <= 22 and len(set(fetched)) == len(fetched), ran.stderr  # Crawlee may have one more on its way
    assert status(tmp_path / crawl)["policy"] == "surf"
    pages = {url.rpartition("/")[2] for url in fetched}
    assert all(page.isdigit() for page in pages)
    followed = {str(link) for page in pages for link in WEB.targets_of(int(page)).tolist()}
    assert pages - {"0"} <= followed, "every page but the first was found through a link that a script made"
