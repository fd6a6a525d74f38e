"""``frontrank crawl`` under faults: begun, ended by whatever comes, resumed, until it has nothing more to do."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from frontrank.crawl import recorder
from frontrank.errors import FrontrankError
from frontrank.fetching import fetcher
from frontrank.fetching.crawler import run
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.end_reason import EndReason
from frontrank.fetching.private import Address
from frontrank.pages import warc_writer
from tests.faults import clock as clocks
from tests.faults.ledger import SLACK, Ledger, Rules, WatchedJournal
from tests.faults.simulation import FAULTS, Simulation
from tests.faults.sites import Serving, make_sites

OUT = "crawl"
ORDERINGS = ("surf", "surf", "opic", "bfs", "pagerank:every=5")
MAX_S = 4 * 3600.0


class Crawling:
    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        random = self.random = sim.random
        clocks.use(sim.clock)
        self.sites = make_sites(random, sim.clock.now)
        self.by_address = {site.address: site for site in self.sites.values()}
        self.options = self._options(random)
        self.ledger = Ledger(sim.fail, lambda fail: Rules(fail, self.options.politeness, self.options.budget), sim.log)
        WatchedJournal.ledgers[OUT] = self.ledger
        self.sent: dict[str, float] = {}  # when a host was last asked for anything
        self.checks = random.choice((0, 1, 1, 2))
        self.summary: Any = None
        for address in self.by_address:
            sim.network.listeners[address, 80] = lambda address=address: Serving(sim.loop, self.by_address[address])  # type: ignore[misc]
        sim.network.refuses, sim.network.on_send = self._refuses, self._sent
        fetcher.Fetcher.__init__.__defaults__ = (self.look_up,)

    def _options(self, random: Random) -> Options:
        first = next(iter(self.sites))
        seeds = {f"http://{random.choice(list(self.sites))}/p{random.randrange(3)}" for _ in range(random.choice((1, 1, 3)))}
        return Options(
            seeds=(f"http://{first}/p0", *sorted(seeds)),
            policy=random.choice(ORDERINGS),
            budget=random.choice((0, 0, 0, random.randint(1, 30))),
            host_budget=random.choice((0, 0, 0, random.randint(1, 8))),
            delay=random.choice((0.0, 0.5, 1.0, 1.0)),
            per_host=random.choice((1, 1, 2, 0)),
            in_flight=random.choice((1, 4, 16)),
            scope="any",
            robots=random.random() < 0.8,
            sitemaps=random.random() < 0.1,
            timeout=random.choice((2.0, 10.0)),
            retries=random.choice((0, 2)),
            warc=random.random() < 0.5,
        )

    def look_up(self, name: str) -> list[Address]:
        site = self.sites.get(name)
        if site is None or (site.trouble and self.sim.network.random.random() < 0.05):
            return []
        return [(2, (site.address, 0))]

    def _refuses(self, host: str, port: int) -> Exception | float | None:
        site = self.by_address.get(host)
        if site is not None and site.is_down(self.sim.clock.now):
            return self.sim.network.random.choice(
                (ConnectionRefusedError(111, "Connection refused"), 100.0, OSError(113, "No route"))
            )
        return None

    def _sent(self, address: str, data: bytes) -> None:
        sim = self.sim
        if sim.dead or address not in self.by_address:
            return
        host = self.by_address[address].name
        sim.log("sent", host, data.split(b" ", 2)[1].decode())
        if host in self.sent and sim.clock.now - self.sent[host] < self.options.delay - SLACK:
            sim.fail(
                "pace", f"{host} was asked {sim.clock.now - self.sent[host]:.3f} s ago, its delay is {self.options.delay} s"
            )
        self.sent[host] = sim.clock.now

    def _choose_snapshots(self) -> None:
        """How often there is one; of each run, since it would be that of the run before in this process."""
        intervals = ((8, 8, 0.0), (20, 30, 1.0), (1000, 50_000, 300.0))
        recorder.SNAPSHOT_ROWS, recorder.SNAPSHOT_WORK, recorder.SNAPSHOT_S = self.random.choice(intervals)
        recorder.SNAPSHOT_PAUSE_S = 0.0

    # Lives --------------------------------------------------------------------------------------------------------------------
    def run(self) -> None:
        sim, random = self.sim, self.random
        self._choose_snapshots()
        sim.root.mkdir(parents=True)
        faults = [random.choice(FAULTS) for _ in range(random.choice((0, 1, 1, 2, 4)))]
        for fault in [*faults, ""]:
            self._one_life(fault)
            if sim.violations:
                return
            if self.summary is not None and self.summary.ended != EndReason.INTERRUPTED:
                break
            sim.clock.advance(random.choice((0.0, 0.1, 5.0)))
        self._check_end()

    def _one_life(self, fault: str) -> None:
        sim = self.sim
        self.summary = None
        before = self.ledger
        sim.live(self._main, fault)
        before.log("looking at what is left")
        sim.check_directory(sim.root / OUT, self.ledger, sim.disk.fault == "power cut")

    async def _main(self) -> None:
        sim = self.sim
        out = sim.root / OUT
        sim.disk.on_sync = self.ledger.sync
        try:
            job = run.reopen_job(out) if (out / "trace.db").exists() else run.new_job(self.options, out)
            self._disturb(job)
            summary = await run.run_job(job)
            if not sim.dead:
                self.summary = summary
                sim.log("ended", summary.ended)
        except FrontrankError as error:
            sim.log("ended with", type(error).__name__, error)
            if not sim.disk.refused and not sim.dead:
                sim.fail("ends", f"the crawl ended, and no disk had refused anything: {error!r}")

    def _disturb(self, job: Any) -> None:
        sim, random, loop = self.sim, self.random, self.sim.loop
        if random.random() < 0.15:
            loop.call_later(random.uniform(0, 30), self._jump, random.choice((-3600.0, -2.0, 2.0, 3600.0, 10_000.0)))
        if random.random() < 0.1:
            loop.call_later(random.uniform(0, 30), run._end_all, loop)
        begun = sim.clock.now

        def look() -> None:
            if sim.violations:
                loop.ended = True
            if sim.clock.now - begun > MAX_S:
                sim.fail("ends", f"the crawl goes on after {MAX_S:,.0f} s")
            if self.checks and not job.closed and not job.crawl.inspect.broken and random.random() < 0.002:
                self.checks -= 1
                sim.check_live(job.crawl)

        loop.on_turn = look

    def _jump(self, seconds: float) -> None:
        self.sim.log("the clock jumps", seconds)
        self.sim.clock.offset += seconds

    # The end ------------------------------------------------------------------------------------------------------------------
    def _check_end(self) -> None:
        sim, summary = self.sim, self.summary
        if summary is None:
            sim.fail("ends", "the last life did not end by itself")
            return
        if summary.ended != EndReason.EMPTY or self.options.host_budget:
            return
        urls, rows = self.ledger.urls, self.ledger.rows
        settled = {urls[page] for page in self.ledger.rules.settled}
        fetched = {urls[row[1]] for row in rows if row[0] == 3 and row[3] == 200}
        wanted = {link for url in fetched for link in self._links(url)} | set(self.options.seeds)
        missing = wanted - settled
        if missing:
            sim.fail("complete", f"the crawl has nothing more to do, but {sorted(missing)[:5]} were never settled")
        if self.options.warc:
            self._check_warc(sim.root / OUT / run.WARCS, rows, urls)

    def _links(self, url: str) -> list[str]:
        host, _, path = url.removeprefix("http://").partition("/")
        return self.sites[host].pages[f"/{path}"].links

    def _check_warc(self, folder: Path, rows: list[tuple[Any, ...]], urls: list[str]) -> None:
        for place, row in enumerate(rows):
            if row[0] == 3 and row[8] and place not in self.ledger.loose:
                try:
                    status, _, _ = warc_writer.read(folder, (row[8], row[9], row[10]))
                except FrontrankError as error:
                    self.sim.fail("records", f"the record of {urls[row[1]]} cannot be read: {error}")
                    return
                if status != row[3]:
                    self.sim.fail("records", f"the record of {urls[row[1]]} has status {status}, the event {row[3]}")
