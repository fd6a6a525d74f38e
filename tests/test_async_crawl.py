"""AsyncCrawl: the same verbs, awaited; nothing is lost when a task is cancelled."""

from __future__ import annotations

import asyncio
import inspect
import threading
from pathlib import Path
from typing import Any

import pytest

from frontrank import AsyncCrawl, Crawl, Politeness
from frontrank.errors import InputError, StorageError
from frontrank.simulation.simulate import simulate
from frontrank.sources.synthetic import synthetic
from tests.patience import PATIENCE_S


def run(main: Any) -> Any:
    async def within() -> Any:
        async with asyncio.timeout(PATIENCE_S):
            return await main

    return asyncio.run(within())


@pytest.mark.parametrize("policy", ["surf", "bfs", "opic"])
def test_a_crawl_of_asyncio_has_the_order_of_any_other(policy: str, tmp_path: Path) -> None:
    web = synthetic("pages=200,links=5,seed=3")
    names = [web.name_of(page) for page in range(web.pages)]

    async def crawled() -> list[str]:
        order = []
        async with await AsyncCrawl.begin(policy, tmp_path / "crawl") as crawl:
            await crawl.seed([names[0]])
            async for url in crawl.pages():
                order.append(url)
                await crawl.fetched(url, [names[q] for q in web.targets_of(names.index(url))])
        return order

    from frontrank.orderings.registry import parse

    expected = simulate(web, parse(policy), [0]).trace.order  # type: ignore[arg-type]
    assert run(crawled()) == [names[page] for page in expected]


def test_many_tasks_share_the_pages(tmp_path: Path) -> None:
    """Each page goes to one task; those that wait are told as soon as another has found something."""

    async def crawled() -> tuple[list[str], dict[str, Any]]:
        taken: list[str] = []
        async with await AsyncCrawl.begin("bfs", tmp_path / "crawl") as crawl:

            async def fetch() -> None:
                async for url in crawl.pages():
                    taken.append(url)
                    await asyncio.sleep(0)
                    number = int(url.rpartition("/")[2])
                    await crawl.fetched(url, [f"http://a.example/{2 * number + side}" for side in (1, 2) if number < 63])

            await crawl.seed("http://a.example/0")
            await asyncio.gather(*(fetch() for _ in range(8)))
            return taken, await crawl.inspect.status()

    taken, status = run(crawled())
    assert len(taken) == len(set(taken)) == 127
    assert (status["fetched"], status["leased"]) == (127, 0)
    again = Crawl.recover(tmp_path / "crawl")
    assert again.inspect.fetched_count == 127
    again.close()


def test_pages_that_a_cancelled_task_was_given_wait_again() -> None:
    """However a cancellation meets a take: a page is out only if somebody has it."""

    async def crawled() -> None:
        crawl = await AsyncCrawl.begin("bfs")
        await crawl.seed([f"http://h{i}.example/" for i in range(40)])
        had: list[str] = []

        async def take() -> None:
            had.extend(await crawl.take(2))

        for spins in range(30):
            task = asyncio.ensure_future(take())
            for _ in range(spins % 7):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await crawl.commit()  # all that was asked for before has happened
        assert crawl.crawl.inspect.leased == len(had)
        for url in had:
            await crawl.fetched(url)
        rest = [url async for url in _all(crawl)]
        assert sorted([*had, *rest]) == sorted(f"http://h{i}.example/" for i in range(40))
        await crawl.close()

    async def _all(crawl: AsyncCrawl) -> Any:
        async for url in crawl.pages():
            yield url
            await crawl.fetched(url)

    run(crawled())


def test_a_cancelled_event_has_happened_or_not(tmp_path: Path) -> None:
    async def crawled() -> tuple[int, int]:
        crawl = await AsyncCrawl.begin("bfs", tmp_path / "crawl")
        await crawl.seed([f"http://h{i}.example/" for i in range(20)])
        for url in await crawl.take(20):
            task = asyncio.ensure_future(crawl.fetched(url, [f"{url}next"]))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await crawl.commit()
        fetched, known = crawl.crawl.inspect.fetched_count, crawl.crawl.inspect.known
        await crawl.abandon()
        return fetched, known

    fetched, known = run(crawled())
    assert known == 20 + fetched
    again = Crawl.recover(tmp_path / "crawl")
    assert (again.inspect.fetched_count, again.inspect.known) == (fetched, known)
    again.close()


def test_the_event_loop_goes_on_while_a_call_takes_its_time() -> None:
    async def crawled() -> int:
        crawl = await AsyncCrawl.begin("bfs")
        gate = threading.Event()
        slow = asyncio.ensure_future(crawl.run(lambda: gate.wait(PATIENCE_S)))
        turns = 0
        while turns < 100:
            await asyncio.sleep(0)
            turns += 1
        assert not slow.done()
        gate.set()
        assert await slow
        await crawl.close()
        return turns

    assert run(crawled()) == 100


def test_a_page_is_waited_for_until_its_host_may_be_asked() -> None:
    async def crawled() -> list[str]:
        crawl = await AsyncCrawl.begin("bfs", politeness=Politeness(delay_s=0.05))
        await crawl.seed([f"http://a.example/{i}" for i in range(4)])
        order = []
        async for url in crawl.pages():
            order.append(url)
            await crawl.fetched(url)
        await crawl.close()
        return order

    assert run(crawled()) == [f"http://a.example/{i}" for i in range(4)]


def test_it_goes_on_where_another_stopped_and_lets_its_directory_go(tmp_path: Path) -> None:
    async def crawled() -> list[str]:
        async with await AsyncCrawl.begin("bfs", tmp_path / "crawl") as crawl:
            await crawl.seed(["http://a.example/", "http://b.example/"])
            (url,) = await crawl.take()
            await crawl.fetched(url, ["http://c.example/"])
            with pytest.raises(InputError, match="not leased"):
                await crawl.fetched("http://b.example/")
            with pytest.raises(StorageError):
                await AsyncCrawl.recover(tmp_path / "crawl")
        async with await AsyncCrawl.recover(tmp_path / "crawl") as crawl:
            return [page["url"] for page in await crawl.inspect.next()]

    assert run(crawled()) == ["http://b.example/", "http://c.example/"]


def test_it_has_all_verbs_of_a_crawl() -> None:
    inner = {"together", "recover"}

    def verbs(kind: type) -> dict[str, str]:
        found = inspect.getmembers(kind, inspect.isfunction)
        return {name: str(inspect.signature(verb)) for name, verb in found if name[0] != "_" and name not in inner}

    async def crawled() -> None:
        crawl = await AsyncCrawl.begin("bfs")
        for name, signature in verbs(Crawl).items():
            assert f"(self, {str(inspect.signature(getattr(crawl, name)))[1:]}".replace("self, )", "self)") == signature, name
            assert name in dir(crawl)
        for part in ("control", "inspect", "queues"):
            of_crawl, awaited = getattr(crawl.crawl, part), getattr(crawl, part)
            for name, signature in verbs(type(of_crawl)).items():
                assert (
                    f"(self, {str(inspect.signature(getattr(awaited, name)))[1:]}".replace("self, )", "self)") == signature
                ), name
                assert name in dir(awaited)
        assert crawl.inspect.known == 0
        for name in ("together", "recovered", "state"):
            with pytest.raises(AttributeError):
                getattr(crawl, name)
        await crawl.close()

    assert set(verbs(AsyncCrawl)) - set(verbs(Crawl)) == {"take_page", "pages", "run"}
    run(crawled())


def test_pages_of_queues_that_a_cancelled_task_was_given_wait_again() -> None:
    async def crawled() -> list[int]:
        crawl = await AsyncCrawl.begin("bfs")
        await crawl.queues.discover(["http://a.example/1", "http://a.example/2"], queues=["slow", "slow"])
        hold, held = threading.Event(), asyncio.ensure_future(crawl.run(lambda: hold.wait(PATIENCE_S)))
        taking = asyncio.ensure_future(crawl.queues.take(1, 1, lease_s=1000.0))
        await asyncio.sleep(0)
        taking.cancel()
        hold.set()
        await held
        with pytest.raises(asyncio.CancelledError):
            await taking
        taken: list[int] = await crawl.queues.take(queue="slow", lease_s=1000.0)
        assert (await crawl.queues.counts_of("slow")).leased == 2
        await crawl.queues.report(taken[0])
        await crawl.control.block_until("slow", 1e12)
        assert await crawl.queues.listed() == [] and (await crawl.inspect.overview())["fetched"] == 1
        await crawl.close()
        return taken

    assert run(crawled()) == [0, 1]
