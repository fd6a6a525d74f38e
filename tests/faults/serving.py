"""A service under faults: fetchers take pages over its wire and report them, while it is killed and started again."""

from __future__ import annotations

import asyncio
import time
from random import Random
from typing import Any

from frontrank.crawl.crawl import Crawl
from frontrank.errors import FrontrankError
from frontrank.fetching.end_reason import EndReason
from frontrank.fetching.fetcher import FetchOptions
from frontrank.frontiers.politeness import Politeness
from frontrank.service import crawl_factory, fetching, page_source, pool
from frontrank.service.crawl_ids import DEFAULT
from frontrank.service.crawls import Crawls
from frontrank.service.fetching import FetchPlan, FetchRun
from frontrank.service.frontier import FrontierService
from frontrank.service.grpc_server import methods
from frontrank.service.rpc import RpcServer
from tests.faults import disk as disks
from tests.faults.crawling import Crawling
from tests.faults.disk import POWER, Disk
from tests.faults.ledger import Ledger, Rules, WatchedJournal
from tests.faults.simulation import FAULTS, Simulation
from tests.faults.threads import InlineExecutor
from tests.faults.wire import HOST, PORT, Client

IDLE_S, LOOK_S = 120.0, 2.0  # longer than any lease, rest or absence; between two questions to a service that has nothing
MAX_S = 12 * 3600.0


class ServedRules(Rules):
    """Fetchers repeat what was not answered, and may report what is not theirs any more; turns, leases and time are checked."""

    def _settle(self, page: int, host: str, row: Any) -> None:
        self.leased.pop(page, None)

    def see(self, row: Any, host: str) -> None:
        if row.kind in (5, 6):
            self.leased.pop(row.page, None)
        else:
            super().see(row, host)


class Serving(Crawling):
    """The same web as for a crawl; the journal is that of the service's crawl."""

    def __init__(self, sim: Simulation) -> None:
        super().__init__(sim)
        random = self.random
        self.politeness = Politeness(delay_s=random.choice((0.0, 0.5, 1.0)))
        self.ledger = Ledger(sim.fail, lambda fail: ServedRules(fail, self.politeness, revisits=True), sim.log)
        WatchedJournal.ledgers = {DEFAULT: self.ledger}
        disks.patch(crawl_factory, Journal=WatchedJournal)
        disks.patch(pool, ThreadPoolExecutor=InlineExecutor)
        self.options = self.options.with_changes({"delay": self.politeness.delay_s})
        self.faults = [random.choice(FAULTS[:-1]) for _ in range(random.choice((0, 1, 2, 3)))]
        self.starts = 0
        self.crawls: Crawls | None = None
        self.server: RpcServer | None = None
        self.lost_power = False  # once
        self.runs: list[FetchRun] = []
        self.died = asyncio.Event()

    # The service --------------------------------------------------------------------------------------------------------------
    @property
    def folder(self) -> Any:
        return self.sim.root / f"service{self.starts}"

    def _start(self) -> None:
        """A process of the service, on what the one before it left."""
        sim, random = self.sim, self.random
        fault = self.faults.pop(0) if self.faults else ""
        at = int(2 ** random.uniform(3, 10))
        self.folder.mkdir(parents=True, exist_ok=True)
        sim.disk = Disk(self.folder, Random(random.random()), fault, at, self._killed)
        sim.disk.on_pause, sim.disk.on_sync = sim.loop.threads.pause, self.ledger.sync
        disks.use(sim.disk)
        sim.log("service", self.starts, fault or "no fault", at if fault else "")
        self.crawls = Crawls(self.folder, self.options.policy, self.politeness, clock=time.time)
        frontier = FrontierService(self.crawls, clock=time.time)
        self.server = RpcServer(methods(frontier))

    def _killed(self, why: str) -> None:
        self.sim.log("the service ends:", why)
        self.sim.disk.copy_to(self.sim.root / f"service{self.starts + 1}")
        self.ledger.frozen = True
        for connection in self.server.connections if self.server is not None else ():
            if connection.transport is not None:
                connection.transport.silence()  # type: ignore[attr-defined]
        self.died.set()

    async def _serve(self) -> None:
        """Started, killed, started again. A disk that refuses is mended, and the service started anew."""
        sim = self.sim
        while True:
            self.died.clear()
            try:
                self._start()
                assert self.server is not None
                await self.server.start(HOST, PORT)
                await self._until_over()
            except (FrontrankError, OSError) as error:
                if not sim.disk.refused and not self.died.is_set():
                    sim.fail("serves", f"the service cannot start: {error!r}")
            lost_power = sim.disk.fault == POWER and self.died.is_set()
            self.lost_power = self.lost_power or lost_power
            if not self.died.is_set():
                self._killed("its disk refused")
            self._bury()
            await asyncio.sleep(self.random.choice((0.1, 3.0, 20.0)))
            self.starts += 1
            self.ledger.frozen = False
            sim.check_directory(self.folder / DEFAULT, self.ledger, lost_power)

    async def _until_over(self) -> None:
        while not self.died.is_set() and not self.sim.disk.refused:
            with_time = asyncio.ensure_future(self.died.wait())
            await asyncio.wait([with_time], timeout=5.0)
            with_time.cancel()

    def _bury(self) -> None:
        """Nobody hears of the old process any more."""
        sim, threads = self.sim, self.sim.loop.threads
        sim.disk.over = True
        sim.network.listeners.pop((HOST, PORT), None)
        lines: list[Any] = [one.transport for one in self.server.connections if one.transport] if self.server else []
        for line in sorted(lines, key=lambda line: line.number):
            line.abort()
        for one in WatchedJournal.all:
            one.ledger, one.broken = None, one.broken or "the process is gone"
        if self.crawls is not None:
            self.crawls.close()
        threads.end_named("frontrank-")
        WatchedJournal.all.clear()
        self.crawls = self.server = None

    # Its clients --------------------------------------------------------------------------------------------------------------
    def run(self) -> None:
        self._choose_snapshots()
        self.sim.root.mkdir(parents=True)
        disks.patch(fetching, AsyncClient=lambda address, crawl, **_: Client(self.sim.loop, self.random, crawl))
        page_source.LOOK_S = LOOK_S
        self.sim.live(self._main, "")

    def _plan(self, budget: int = 0) -> FetchPlan:
        options = FetchOptions("simulated/1.0", timeout_s=2.0)
        random = self.random
        return FetchPlan(
            options, f"{HOST}:{PORT}", scope="any", in_flight=random.choice((1, 4)), per_host=1, idle_s=IDLE_S, budget=budget
        )

    async def _main(self) -> None:
        sim, loop, random = self.sim, self.sim.loop, self.random
        self.died = asyncio.Event()
        begun = sim.clock.now

        def look() -> None:
            if sim.violations or sim.clock.now - begun > MAX_S:
                loop.ended = True
            if self.checks and self.crawls is not None and not sim.disk.over and random.random() < 0.002:
                crawl = next(iter(self.crawls.open_crawls()), None)
                if isinstance(crawl, Crawl) and not crawl.inspect.broken and crawl.state.lock.owner is None:  # type: ignore[attr-defined]
                    self.checks -= 1
                    sim.check_live(crawl)

        loop.on_turn = look
        serving = asyncio.ensure_future(self._serve())
        seeds = list(self.options.seeds)
        working = [
            asyncio.ensure_future(self._fetch(FetchRun(self._plan(random.choice((0, 0, 5)))), seeds))
            for _ in range(random.choice((1, 2, 3)))
        ]
        if random.random() < 0.3:
            loop.call_later(random.uniform(0, 20), self._kill_fetcher)
        await asyncio.gather(*working)
        await self._check_service()
        serving.cancel()
        await asyncio.wait([serving])
        if not sim.violations and serving.done() and not serving.cancelled() and serving.exception() is not None:
            raise serving.exception()  # type: ignore[misc]
        self._bury()

    async def _fetch(self, run: FetchRun, seeds: list[str]) -> None:
        self.runs.append(run)
        while True:
            try:
                counts = await run.run(seeds)
                self.sim.log("fetcher", counts.ended, counts.fetched)
                return
            except FrontrankError as error:
                client: Any = run.client
                if client._channel.lost:
                    return
                self.sim.log("fetcher", "ends with", error)
                await asyncio.sleep(5.0)
                run = FetchRun(self._plan())
                self.runs.append(run)

    def _kill_fetcher(self) -> None:
        """One of them is gone, and what it had taken waits for the end of its leases; another one takes its place."""
        run = self.runs[0]
        self.sim.log("a fetcher is killed")
        client: Any = run.client
        client._channel.lost = True
        run.end(EndReason.FAILED)
        run.loop.abandon()

    # The end ------------------------------------------------------------------------------------------------------------------
    async def _check_service(self) -> None:
        """The last fetcher had nothing to do for longer than any lease: everything that is linked is done with."""
        await self._fetch(FetchRun(self._plan()), [])
        client = Client(self.sim.loop, self.random, DEFAULT)
        for _ in range(50):
            try:
                stats = await client.stats()
                break
            except FrontrankError:
                await asyncio.sleep(5.0)
        if self.crawls is None or self.sim.violations:
            return
        if not self.crawls.ids():  # the disk failed, or the fetchers were killed, before any URL was acknowledged
            if self.ledger.acknowledged_urls and not self.lost_power:
                self.sim.fail("acknowledged", f"the service has no crawl, {self.ledger.acknowledged_urls} URLs were stored")
            return
        crawl = self.crawls.get()
        hosts = crawl.state.frontier.hosts()  # one that is blocked was given up by a fetcher, and is asked again an hour later
        left = (hosts["waiting"] + hosts["later"] + hosts["leased"]) * (hosts["blocked"] <= time.time() + crawl.inspect.shift)
        if left.any():
            self.sim.fail("complete", f"nobody has anything to do, but {crawl.queues.counts()} are left, {stats}")
        fetched = {self.ledger.urls[row[1]] for row in self.ledger.rows if row[0] == 3 and row[3] == 200}
        missing = {link for url in fetched for link in self._links(url)} - set(self.ledger.urls)
        if missing and not self.lost_power:  # a power cut takes what fetchers were told is kept, if it was not synced
            self.sim.fail("complete", f"{sorted(missing)[:5]} are linked from pages that were fetched, and not known")
