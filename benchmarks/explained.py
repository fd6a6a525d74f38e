"""Which share of a priority ``explain`` accounts for, by links and by named starts, over many waiting pages.

    python -m benchmarks.explained WEB... [--pages 2000] [--sample 20]

Each web is crawled by ``surf``, without HTTP, from the seeds that a simulation takes, into a directory that is removed.
Printed for each: the least and the median share of the priorities of pages that wait, the first ones and some of all.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import click
import numpy as np

import frontrank as fr
from frontrank.crawl.crawl import Crawl
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web


@click.command()
@click.argument("webs", nargs=-1, required=True)
@click.option("--pages", default=2000, help="Pages to fetch of each web, of a quarter of it at most.")
@click.option("--sample", default=20, help="Waiting pages to explain: half of them the first ones.")
def command(webs: tuple[str, ...], pages: int, sample: int) -> None:
    for name in webs:
        web = fr.load(name)
        with tempfile.TemporaryDirectory() as folder:
            fetch(web, Path(folder) / "crawl", min(pages, web.pages // 4))
            shares = np.array(explained(Path(folder) / "crawl", sample))
        print(f"{name}: explained {shares.min():.1%} at least, {np.median(shares):.1%} in the median, of {len(shares)} pages")


def fetch(web: Web, folder: Path, pages: int) -> None:
    urls = [web.name_of(page) for page in range(web.pages)]
    urls = urls if "://" in urls[0] else [f"http://h.example/{url}" for url in urls]
    number = {url: page for page, url in enumerate(urls)}
    with Crawl("surf", folder, politeness=fr.Politeness(delay_s=0.0)) as crawl:
        crawl.seed([urls[page] for page in find_seeds(web).tolist()])
        for turn in range(pages):
            for url in crawl.take(now=float(turn)):
                row = slice(*web.indptr[number[url] : number[url] + 2].tolist())
                crawl.fetched(url, [urls[page] for page in web.targets[row].tolist()], now=float(turn))


def explained(folder: Path, sample: int) -> list[float]:
    with Crawl.recover(folder, read_only=True) as crawl:
        waiting = [page["url"] for page in crawl.inspect.next(crawl.inspect.waiting)]
        some = np.linspace(0, len(waiting) - 1, sample // 2).astype(int).tolist()
        found = [crawl.inspect.explain(url) for url in [*waiting[: sample // 2], *(waiting[i] for i in some)]]
    return [1.0 - abs(one["other"] - sum(one.get("parts", {}).values())) / one["priority"] for one in found if one["priority"]]


if __name__ == "__main__":
    command()
