"""Make the pictures of the documentation: the demo is run, and its result, its report and a dashboard are drawn.

    python docs/pictures.py            all of them (`make pictures`); needs Debian's chromium
    python docs/pictures.py DEMO       the same, from a folder in which `frontrank demo --json > demo.json` was run

docs/pictures/demo.svg        the two crawls of the demo
docs/pictures/report.png      its report
docs/pictures/dashboard.png   the dashboard of its crawl by surf
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PICTURES = Path(__file__).parent / "pictures"
FRONTRANK = [sys.executable, "-m", "frontrank"]
WIDTH, BAR, LEFT = 760, 500, 136  # of the picture, of a bar of 100%, and where bars begin
BARS = (("bfs", "breadth-first", "#8a97a8"), ("surf", "surf", "#0b7a75"))


def demo_svg(shares: dict[str, float], pages: int) -> str:
    """The bars of the demo; shares of the best pages, by ordering."""
    results = ", ".join(f"{name} {shares[spec]:.1%}" for spec, name, _ in BARS)
    title = f"Of the {pages:,} best pages of a web of {10 * pages:,}, how many are among the first {pages:,} fetched?"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} 172" width="{WIDTH}" height="172" role="img" '
        'aria-labelledby="title desc" font-family="system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif">',
        f'<title id="title">{title}</title>',
        f'<desc id="desc">{results}</desc>',
        f'<rect width="{WIDTH}" height="172" rx="8" fill="#ffffff" stroke="#d0d7de"/>',
        f'<text x="24" y="34" font-size="15" fill="#1f2328">{title}</text>',
    ]
    for row, (spec, name, colour) in enumerate(BARS):
        y = 58 + 44 * row
        length = round(BAR * shares[spec])
        lines += [
            f'<text x="24" y="{y + 20}" font-size="15" fill="#1f2328">{name}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{BAR}" height="30" rx="4" fill="#f0f2f4"/>',
            f'<rect x="{LEFT}" y="{y}" width="{length}" height="30" rx="4" fill="{colour}"/>',
            f'<text x="{LEFT + BAR + 12}" y="{y + 21}" font-size="16" fill="#1f2328">{shares[spec]:.1%}</text>',
        ]
    lines.append(
        '<text x="24" y="156" font-size="12" fill="#59636e">Two crawls over HTTP of a generated web, side by side: the demo, '
        "which runs on your machine.</text>"
    )
    return "\n".join([*lines, "</svg>"]) + "\n"


@contextmanager
def dashboard(folder: Path, crawl: str) -> Iterator[str]:
    command = [*FRONTRANK, "dashboard", crawl, "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[0]
        process.terminate()


def screenshots(folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, dashboard(folder, "frontrank-demo/crawls/surf") as url:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        view = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
        view.goto((folder / "frontrank-demo" / "report.html").as_uri())
        view.wait_for_load_state("networkidle")
        view.screenshot(path=PICTURES / "report.png")
        view.goto(url)
        view.wait_for_selector("#next tbody tr")
        view.wait_for_selector(".chart svg")
        view.wait_for_timeout(2_000)
        view.screenshot(path=PICTURES / "dashboard.png")
        browser.close()


def draw(folder: Path) -> None:
    figures = json.loads((folder / "demo.json").read_text(encoding="utf-8"))["policies"]
    crawled = {spec: figures[f"{spec} (crawled)"] for spec, _, _ in BARS}
    shares = {spec: run["hot"]["0.1"] for spec, run in crawled.items()}
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / "demo.svg").write_text(demo_svg(shares, crawled["surf"]["fetched"]), encoding="utf-8")
    screenshots(folder)


def main() -> None:
    if len(sys.argv) > 1:
        draw(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*FRONTRANK, "demo", "--json"], cwd=folder, stdout=subprocess.PIPE, check=True)
        Path(folder, "demo.json").write_bytes(done.stdout)
        draw(Path(folder))


if __name__ == "__main__":
    main()
