"""What an export costs beside reading the WARC files that it is made from, in seconds of the processor.

python -m benchmarks.exports [PAGES]

Reading: each record is found, unpacked, and its HTML parsed into text and links (``frontrank.load`` of the WARC files). The
same without parsing HTML is shown too. Main content by trafilatura is measured on fewer pages, and shown per page.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.process import figures
from benchmarks.show import Result, table, verdict

PAGES, EXTRACTED = 20_000, 500
MAX_RATIO = 1.5

CRAWL = """
import sys
from pathlib import Path
from frontrank.crawl.crawl import Crawl
from frontrank.lab.webserver import ServerOptions
from frontrank.lab.webserver.site import Site
from frontrank.pages.warc_writer import Warc
from frontrank.sources.synthetic import synthetic
folder, pages = Path(sys.argv[1]), int(sys.argv[2])
web = synthetic(f"pages={pages},links=20,seed=1")
site = Site(web, ServerOptions())
number = {url: page for page, url in enumerate(web.urls)}
with Crawl("surf", folder, group=1_000) as crawl, Warc(folder / "warc") as warc:
    crawl.seed([web.urls[0], *site.seeds()])
    while taken := crawl.take():
        for url in taken:
            body = site.answer(url).body
            where = warc.write(url, 200, [("Content-Type", "text/html; charset=utf-8")], body, request_headers=[("Host", "a")])
            crawl.fetched(url, [web.urls[to] for to in web.targets_of(number[url])], title="A page", where=where)
"""
READ = """
import json, sys, time
from frontrank.pages.warc_reader import find, records
files = find(sys.argv[1])
begun = time.process_time()
count = sum(1 for path in files for record in records(path) if record.head["warc-type"] == "response")
print(json.dumps({"seconds": time.process_time() - begun, "pages": count}))
"""
PARSE = """
import json, sys, time
from frontrank.sources.captured import load_warc
begun = time.process_time()
web = load_warc(sys.argv[1])
print(json.dumps({"seconds": time.process_time() - begun, "pages": web.pages}))
"""
EXPORT = """
import json, resource, sys, time
from benchmarks.process import peak_gb
from frontrank.exports import export
asked = json.loads(sys.argv[3])
begun = time.process_time()
done = export(sys.argv[1], sys.argv[2], **asked)
workers = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = time.process_time() - begun + workers.ru_utime + workers.ru_stime
print(json.dumps({"seconds": seconds, "pages": done.pages, "peak": peak_gb()}))
"""


def exports(folder: Path, pages: int = PAGES) -> list[Result]:
    crawl, small = folder / "crawl", folder / "small"
    for place, count in ((crawl, pages), (small, EXTRACTED)):
        figures(CRAWL, place, count)
    parsed = figures(PARSE, crawl / "warc")
    rows = [("reading the WARC files, HTML parsed", parsed), ("the same, HTML not parsed", figures(READ, crawl / "warc"))]
    cheap = '{"columns": "event,url,final_url,title,text,status,fetched_at,depth,reason,links_out,digest,copy_of"}'
    whole = figures(EXPORT, crawl, folder / "pages.jsonl", "{}")
    rows.append((".jsonl, visible text, all columns", whole))
    rows.append((".jsonl, without priority", figures(EXPORT, crawl, folder / "some.jsonl", cheap)))
    for ending in (".csv", ".parquet", ".jsonl.gz", ".wacz"):
        rows.append((f"{ending}, visible text", figures(EXPORT, crawl, folder / f"pages{ending}", "{}")))
    rows.append((".jsonl, main content", figures(EXPORT, small, folder / "main.jsonl", '{"text": "main"}')))
    base = parsed["seconds"] / parsed["pages"]
    table(
        f"Export of {whole['pages']:,} pages",
        ["what", "ms of CPU a page", "times reading", "peak MB"],
        [
            [
                name,
                f"{1000 * one['seconds'] / one['pages']:.3f}",
                f"{one['seconds'] / one['pages'] / base:.2f}",
                f"{1024 * one['peak']:.0f}" if "peak" in one else "-",
            ]
            for name, one in rows
        ],
    )
    ratio = whole["seconds"] / whole["pages"] / base
    return [Result("export to .jsonl beside reading the WARC files", ratio, MAX_RATIO, "times", most=True)]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as where:
        verdict(exports(Path(where), int(sys.argv[1]) if len(sys.argv) > 1 else PAGES))
