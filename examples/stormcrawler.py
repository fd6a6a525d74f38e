"""A StormCrawler topology crawls a generated web through ``frontrank serve``, in the order of an ordering.

    python examples/stormcrawler.py JARS --web synthetic:pages=5000,links=8,seed=7 --pages 1000 --policy surf

JARS is a folder with StormCrawler (core and external/urlfrontier), Storm (storm-client, storm-server), flux-core and all that
they need, as released. It needs Java 17.

The web is served on loopback by ``frontrank web``, and StormCrawler reaches it as a proxy. The topology is the one of
StormCrawler's own archetype, without its sitemaps, feeds and Tika; nothing in it is ours. Printed is what the service saw:
how many pages arrived, and how much of the whole web's PageRank they have, beside breadth-first and ideal orders of as many.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import frontrank as fr
from frontrank.service import Client
from frontrank.web.importance import importance

PACKAGE = "org.apache.stormcrawler"
BOLTS = {
    "partitioner": f"{PACKAGE}.bolt.URLPartitionerBolt",
    "fetcher": f"{PACKAGE}.bolt.FetcherBolt",
    "parse": f"{PACKAGE}.bolt.JSoupParserBolt",
    "index": f"{PACKAGE}.indexing.DummyIndexer",
    "status": f"{PACKAGE}.urlfrontier.StatusUpdaterBolt",
}
CHAIN = ["spout", "partitioner", "fetcher", "parse", "index"]


def topology(frontier: str, proxy: str, crawl: str) -> dict[str, Any]:
    """The topology as Flux reads it: YAML, of which JSON is a part."""
    host, _, port = frontier.rpartition(":")
    proxy_host, _, proxy_port = proxy.removeprefix("http://").rpartition(":")
    config = {
        "urlfrontier.host": host,
        "urlfrontier.port": int(port),
        "urlfrontier.crawlid": crawl,
        "urlfrontier.max.buckets": 4,
        "urlfrontier.max.urls.per.bucket": 1,
        "urlfrontier.delay.requestable": 60,
        "spout.min.delay.queries": 100,
        "metadata.track.path": True,
        "status.updater.use.cache": False,  # else a link to a page that was found before is never told
        "http.agent.name": "frontrank-example",
        "http.agent.version": "1.0",
        "http.agent.description": "a crawl of a generated web on loopback",
        "http.agent.url": "http://localhost/",
        "http.agent.email": "nobody@localhost",
        "http.proxy.host": proxy_host,
        "http.proxy.port": int(proxy_port),
        "fetcher.server.delay": 0.0,
        "fetcher.threads.number": 20,
        "topology.workers": 1,
        "topology.max.spout.pending": 8,
        "topology.message.timeout.secs": 60,
        "topology.kryo.register": [f"{PACKAGE}.Metadata", f"{PACKAGE}.persistence.Status"],
    }
    streams: list[dict[str, Any]] = [
        {"from": before, "to": after, "grouping": {"type": "LOCAL_OR_SHUFFLE"}} for before, after in pairwise(CHAIN)
    ]
    told = {"type": "FIELDS", "args": ["url"], "streamId": "status"}
    streams += [{"from": bolt, "to": "status", "grouping": told} for bolt in ("fetcher", "parse", "index")]
    return {
        "name": "crawler",
        "includes": [{"resource": True, "file": "/crawler-default.yaml", "override": False}],
        "config": config,
        "spouts": [{"id": "spout", "className": f"{PACKAGE}.urlfrontier.Spout", "parallelism": 1}],
        "bolts": [{"id": name, "className": kind, "parallelism": 1} for name, kind in BOLTS.items()],
        "streams": streams,
    }


@contextmanager
def started(*args: str) -> Iterator[dict[str, Any]]:
    """A frontrank command that serves, and what it says of where."""
    with subprocess.Popen([sys.executable, "-m", "frontrank", *args, "--json"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()


@contextmanager
def storm(jars: str, flux: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The topology in a Storm cluster within one Java process."""
    main = ["org.apache.storm.LocalCluster", "org.apache.storm.flux.Flux", str(flux)]
    some_jar = next(Path(jars).glob("stormcrawler-core*.jar"), None)  # what would be sent to the other nodes of a cluster
    if some_jar is None:
        sys.exit(f"{jars}: there is no stormcrawler-core*.jar; name the folder that has it and all that it needs")
    command = ["java", "-Xmx1g", "-Dstorm.local.sleeptime=86400", f"-Dstorm.jar={some_jar}", "-cp", f"{jars}/*", *main]
    with open(log, "wb") as out, subprocess.Popen(command, stdout=out, stderr=out, cwd=flux.parent) as process:
        try:
            yield process
        finally:
            process.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("jars", help="folder with the jars of StormCrawler and Storm")
    parser.add_argument("--web", default="synthetic:pages=5000,links=8,seed=7")
    parser.add_argument("--pages", type=int, default=1_000, help="to fetch")
    parser.add_argument("--policy", default="surf")
    parser.add_argument("--seconds", type=float, default=600.0, help="at most")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fetched = crawl(given, Path(folder))
    report(given, fetched)


def crawl(given: argparse.Namespace, folder: Path) -> list[str]:
    """The URLs that were fetched."""
    flux, log = folder / "crawler.flux", folder / "storm.log"
    serve = ("serve", str(folder / "frontier"), "--ordering", given.policy, "--delay", "0", "--port", "0", "--no-http")
    with (
        started("web", given.web, "--port", "0") as web,
        started(*serve) as service,
        Client(service["grpc"], "storm") as client,
    ):
        client.put(web["seeds"][:1])
        flux.write_text(json.dumps(topology(service["grpc"], web["url"], "storm"), indent=1))
        end = time.monotonic() + given.seconds
        with storm(given.jars, flux, log) as process:
            while (arrived := done(client)) < given.pages and time.monotonic() < end and process.poll() is None:
                print(f"\r{arrived:,} pages fetched", end="", file=sys.stderr, flush=True)
                time.sleep(0.5)
        print(file=sys.stderr)
        if not arrived:
            sys.exit(f"nothing was fetched; the end of Storm's log:\n{log.read_text()[-3000:]}")
        return [one.url for one in client.urls(size=10**7) if one.again_at == 0 or one.again_at > time.time() + 3600]


def done(client: Client) -> int:
    """Pages that were fetched: StormCrawler schedules them for another day."""
    return sum(one.again_at == 0 or one.again_at > time.time() + 3600 for one in client.urls(size=10**7))


def report(given: argparse.Namespace, fetched: list[str]) -> None:
    """The share of the web's importance that the fetched pages have, beside other orders of as many pages."""
    web = fr.load(given.web)
    worth = importance(web, "pagerank")
    number = {url: page for page, url in enumerate(web.urls)}
    pages = [number[url] for url in fetched if url in number]
    seeds = [number[url] for url in fetched[:1] if url in number]
    print(f"{len(pages):,} pages of {web.pages:,} fetched by StormCrawler through frontrank serve, ordered by {given.policy}")
    print(f"  {100 * worth[pages].sum() / worth.sum():5.1f}% of the web's PageRank")
    for policy in (given.policy, "bfs"):
        order = fr.order(web, policy, seeds=seeds)[: len(pages)]
        print(f"  {100 * worth[order].sum() / worth.sum():5.1f}% {policy}, simulated, one page in flight")
    print(f"  {100 * np.sort(worth)[::-1][: len(pages)].sum() / worth.sum():5.1f}% the ideal order")


if __name__ == "__main__":
    main()
