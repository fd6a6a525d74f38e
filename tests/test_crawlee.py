"""Crawlee's crawlers in the order of ours: real crawls on loopback."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("crawlee")

from crawlee import ConcurrencySettings, Request
from crawlee.crawlers import HttpCrawler, HttpCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

from frontrank import Crawl, Politeness, Web
from frontrank.crawl.status import status
from frontrank.fetching.crawlee import CrawlRequests
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from frontrank.sources.synthetic import synthetic
from tests.listening import listening
from tests.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parent.parent
SHAPE = synthetic("pages=60,links=4,seed=5,text=0")


@contextmanager
def served(web: Web, broken: dict[str, int] | None = None) -> Iterator[str]:
    """Page N of the web at /N; pages of ``broken`` fail so often."""
    left = dict(broken or {})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = self.path.strip("/").partition("?")[0]
            code = 200
            if left.get(page, 0) > 0:
                left[page] -= 1
                code = 500
            known = page.isdigit() and int(page) < web.pages
            links = web.targets_of(int(page)).tolist() if known else []
            body = "".join(f'<a href="/{q}">to {q}</a>' for q in links).encode()
            self.send_response(code if known else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None: ...

    with listening(Handler) as home:
        yield home


async def crawled(requests: CrawlRequests, home: str, at_once: int = 1, **options: Any) -> list[str]:
    """The paths in the order in which their pages were handled."""
    order: list[str] = []
    crawler = HttpCrawler(
        request_manager=requests,
        concurrency_settings=ConcurrencySettings(max_concurrency=at_once, desired_concurrency=at_once),
        storage_client=MemoryStorageClient(),
        configure_logging=False,
        **options,
    )

    @crawler.router.default_handler
    async def handle(context: HttpCrawlingContext) -> None:
        text = (await context.http_response.read()).decode()
        order.append(context.request.url.removeprefix(home))
        await context.add_requests([f"{home}{path}" for path in re.findall(r'href="([^"]*)"', text)])

    async with asyncio.timeout(PATIENCE_S):
        await crawler.run([f"{home}/0"])
    return order


@pytest.mark.parametrize("policy", ["surf", "backlink"])
def test_crawlee_fetches_in_the_order_of_the_simulation(policy: str, tmp_path: Path) -> None:
    web = replace(SHAPE, hosts=np.zeros(SHAPE.pages, np.int32), host_names=None)  # all of one host, as they are served

    async def main(home: str) -> list[str]:
        async with await CrawlRequests.open(policy, tmp_path / "crawl") as requests:
            return await crawled(requests, home)

    with served(web) as home:
        order = asyncio.run(main(home))
    expected = simulate(web, parse(policy), np.array([0])).trace.order
    assert order == [f"/{page}" for page in expected]
    told = status(tmp_path / "crawl")
    assert (told["fetched"], told["waiting"], told["leased"], told["failed"]) == (len(expected), 0, 0, 0)


def test_several_at_once_fetch_each_page_once() -> None:
    async def main(home: str) -> tuple[list[str], int, int]:
        async with await CrawlRequests.open("surf") as requests:
            order = await crawled(requests, home, at_once=4)
            return order, await requests.get_handled_count(), await requests.get_total_count()

    with served(SHAPE) as home:
        order, handled, total = asyncio.run(main(home))
    assert len(order) == len(set(order)) == handled == total > 40


def test_what_fails_is_tried_again_and_then_given_up() -> None:
    async def main(home: str) -> tuple[list[str], dict[str, Any]]:
        async with await CrawlRequests.open("bfs") as requests:
            order = await crawled(requests, home, max_request_retries=2)
            return order, await requests.crawl.inspect.status()

    first, second = (f"{q}" for q in SHAPE.targets_of(0)[:2])
    with served(SHAPE, {first: 1, second: 99}) as home:
        order, told = asyncio.run(main(home))
    assert f"/{first}" in order
    assert f"/{second}" not in order
    assert told["failed"] == 1
    assert told["waiting"] == told["leased"] == 0


def test_a_crawl_goes_on_with_its_requests_as_they_were(tmp_path: Path) -> None:
    async def begin(home: str) -> None:
        async with await CrawlRequests.open("bfs", tmp_path / "crawl") as requests:
            labelled = Request.from_url(f"{home}/7", label="seven", user_data={"from": "elsewhere"}, headers={"X-Try": "1"})
            added = await requests.add_request(labelled)
            assert added is not None
            assert not added.was_already_present
            again = await requests.add_request(f"{home}/7")
            assert again is not None
            assert again.was_already_present
            taken = await requests.fetch_next_request()
            assert taken is not None  # out when the process ends

    async def go_on(home: str) -> Request:
        async with await CrawlRequests.open("bfs", tmp_path / "crawl") as requests:
            assert not await requests.is_empty()
            taken = await requests.fetch_next_request()
            assert taken is not None
            taken.retry_count += 1
            await requests.reclaim_request(taken)
            again = await requests.fetch_next_request()
            assert again is not None
            assert not await requests.is_finished()
            await requests.mark_request_as_handled(again)
            assert await requests.is_finished()
            assert await requests.fetch_next_request() is None
            return again

    with served(SHAPE) as home:
        asyncio.run(begin(home))
        request = asyncio.run(go_on(home))
    assert (request.label, request.user_data["from"], request.headers["X-Try"]) == ("seven", "elsewhere", "1")
    assert request.retry_count == 1


def test_requests_of_one_url_with_keys_of_their_own_are_pages_of_their_own() -> None:
    async def main() -> tuple[list[str], list[str]]:
        async with await CrawlRequests.open("bfs") as requests:
            posts = [Request.from_url("http://a.example/form", unique_key=f"form {i}") for i in range(2)]
            await requests.add_requests([*posts, Request.from_url("http://a.example/first")], forefront=False)
            await requests.add_request("http://a.example/now", forefront=True)
            taken = [await requests.fetch_next_request() for _ in range(4)]
            hosts = await requests.crawl.inspect.hosts()
            return [request.unique_key for request in taken if request is not None], [host["host"] for host in hosts]

    keys, hosts = asyncio.run(main())
    assert keys == ["http://a.example/now", "form 0", "form 1", "http://a.example/first"]
    assert hosts == ["a.example"]


def test_a_request_that_may_not_go_yet_is_waited_for() -> None:
    async def main() -> list[str]:
        async with await CrawlRequests.open("bfs", politeness=Politeness(delay_s=0.2)) as requests:
            await requests.add_requests([f"http://a.example/{i}" for i in range(3)])
            made = []
            while not await requests.is_finished():
                request = await requests.fetch_next_request()
                if request is not None:
                    made.append(request.url)
                    await requests.mark_request_as_handled(request)
            return made

    assert asyncio.run(main()) == [f"http://a.example/{i}" for i in range(3)]


def test_orderings_that_read_pages_are_told_what_they_say() -> None:
    async def main() -> list[str]:
        async with await CrawlRequests.open("quality:scorer=words") as requests:
            await requests.add_requests(["http://a.example/poor", "http://a.example/rich"])
            for said in ("few words", " ".join(map(str, range(300)))):
                request = await requests.fetch_next_request()
                assert request is not None
                requests.tell(request, text=said)
                await requests.add_request(f"{request.url}/next")
                await requests.mark_request_as_handled(request)
            return [page["url"] for page in await requests.crawl.inspect.next()]

    assert asyncio.run(main()) == ["http://a.example/rich/next", "http://a.example/poor/next"]


def test_a_request_that_was_never_added_settles_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        async with await CrawlRequests.open("bfs", tmp_path / "crawl") as requests:
            await requests.add_requests(["http://a.example/1", "http://a.example/2"])
            (await requests.fetch_next_request(), await requests.fetch_next_request())
            seq = requests.crawl.crawl.state.log.seq
            foreign = Request.from_url("http://b.example/")
            assert await requests.mark_request_as_handled(foreign) is None
            assert await requests.reclaim_request(foreign) is None
            assert requests.crawl.crawl.state.log.seq == seq and requests.crawl.crawl.inspect.leased == 2

    asyncio.run(main())


def test_dropping_removes_the_directory(tmp_path: Path) -> None:
    async def main() -> None:
        requests = await CrawlRequests.open("bfs", tmp_path / "crawl")
        await requests.add_request("http://a.example/")
        await requests.drop()

    asyncio.run(main())
    assert not (tmp_path / "crawl").exists()


def test_the_example_of_the_page_can_be_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("parsel")
    page = (ROOT / "docs" / "crawlee.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CRAWLEE_STORAGE_DIR", str(tmp_path / "storage"))
    with served(SHAPE) as home:
        code = code.replace("https://crawlee.dev/python/", f"{home}/0").replace("delay_s=1.0", "delay_s=0.0")
        exec(compile(code, "docs/crawlee.md", "exec"), {"__name__": "__main__"})
    held = Crawl.recover(tmp_path / "my-crawl", read_only=True)
    assert held.inspect.fetched_count >= 50
    assert len(held.state.links.rows.target) > 0
    held.close()
