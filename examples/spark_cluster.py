"""A standalone Spark cluster on this machine: a master and two workers, from the package pyspark alone.

    python examples/spark_cluster.py                     start it, print its address, and wait for Ctrl-C
    python examples/spark_cluster.py --try               rank a small web on it, and compare with this machine's scores
    python examples/spark_cluster.py --try --kill        the same, with one of the workers killed in mid-job

Processes listen on loopback only, on ports of their own, and end with this one.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

WAIT_S = 300.0


class Cluster:
    """A master and workers; ``url`` is what --master takes."""

    def __init__(self, folder: Path, workers: int = 2, memory: str = "1g") -> None:
        self.folder, self.memory = folder, memory
        self.processes: list[subprocess.Popen[bytes]] = []
        port, page = free_port(), free_port()
        self.url = f"spark://127.0.0.1:{port}"
        place = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page)]
        self._start("master", "org.apache.spark.deploy.master.Master", *place)
        answers("127.0.0.1", port)
        for number in range(workers):
            self._worker(number)

    def _worker(self, number: int) -> None:
        work = self.folder / f"worker-{number}"
        work.mkdir()
        place = ["--host", "127.0.0.1", "--port", str(free_port()), "--webui-port", str(free_port()), "--work-dir", str(work)]
        self._start(f"worker-{number}", "org.apache.spark.deploy.worker.Worker", "-c", "1", "-m", self.memory, *place, self.url)

    def _start(self, name: str, of: str, *args: str) -> None:
        import pyspark

        home = os.path.dirname(pyspark.__file__)
        java = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
        opens = ["java.lang", "java.lang.invoke", "java.io", "java.net", "java.nio", "java.util", "java.util.concurrent"]
        more = ["sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar", "java.util.concurrent.atomic"]
        flags = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in opens + more]
        scala = next(Path(home, "jars").glob("spark-core_*.jar")).name.split("_")[1].split("-")[0]
        here = {
            "SPARK_HOME": home,
            "SPARK_SCALA_VERSION": scala,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.folder),
        }
        env = os.environ | here | {"PYSPARK_PYTHON": sys.executable}
        with open(self.folder / f"{name}.log", "wb") as log:
            command = [java, "-Xmx512m", *flags, "-cp", os.path.join(home, "jars", "*"), of, *args]
            self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=env, start_new_session=True))

    def kill_worker(self, number: int) -> None:
        """As a machine that loses its power: the worker, and its executors with their Python."""
        os.kill(self.processes[1 + number].pid, signal.SIGKILL)
        for pid in executors_of(self.folder / f"worker-{number}"):
            os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def executors_of(work: Path) -> Iterator[int]:
    """The processes that run in a worker's folder."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.readlink(entry / "cwd").startswith(str(work)):
                    yield int(entry.name)
            except OSError:  # gone, or another's
                continue


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def answers(host: str, port: int) -> None:
    until = time.monotonic() + WAIT_S
    while True:
        try:
            socket.create_connection((host, port), 1).close()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
        else:
            return


@contextmanager
def cluster(folder: Path, workers: int = 2, memory: str = "1g") -> Iterator[Cluster]:
    """A cluster for as long as the block runs."""
    made = Cluster(folder, workers, memory)
    try:
        yield made
    finally:
        made.close()


def write_web(folder: Path, pages: int, links: int) -> Path:
    """A random web as Parquet tables."""
    rng = np.random.default_rng(1)
    folder.mkdir()
    target = (rng.random(links) ** 2 * pages).astype(np.int64)
    pq.write_table(pa.table({"source": rng.integers(0, pages, links), "target": target}), folder / "links.parquet")
    pq.write_table(pa.table({"page": np.arange(pages), "fetched": rng.random(pages) < 0.7}), folder / "pages.parquet")
    return folder


class Kill:
    """Kills a worker while the tasks of an iteration run; its executors are seen to go."""

    def __init__(self, made: Cluster, spark: Any) -> None:
        self.made, self.spark, self.done = made, spark, False

    def __call__(self) -> None:
        tracker = self.spark.sparkContext.statusTracker()
        until = time.monotonic() + WAIT_S
        while not any(info.numActiveTasks for info in map(tracker.getStageInfo, tracker.getActiveStageIds()) if info):
            if time.monotonic() > until:
                return
            time.sleep(0.002)
        self.made.kill_worker(0)
        self.done = True
        print("worker 0 killed, with tasks running", flush=True)


def executors(spark: Any) -> int:
    """How many there are; the driver counts as one."""
    return int(spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size()) - 1


def try_it(made: Cluster, folder: Path, kill: bool, policy: str, pages: int) -> bool:
    """Rank a web on the cluster and here; whether both say the same."""
    from frontrank.lab.best_pages import local_ranking
    from frontrank.orderings.registry import parse_ranker
    from frontrank.sources.parquet_crawl import open_crawl
    from frontrank.spark.rank import open_web, rank
    from frontrank.spark.session import session

    web = write_web(folder / "web", pages, 10 * pages)
    ranker = parse_ranker(policy)
    settings = {"spark.executor.memory": "768m", "spark.executor.cores": "1", "spark.driver.host": "127.0.0.1"}
    with session(made.url, settings) as spark:
        killer = Kill(made, spark)

        def tell(what: str, done: int, _: int) -> None:
            print(f"{what} {done}", flush=True)
            if kill and done == 2:
                threading.Thread(target=killer).start()

        before = both(spark, len(made.processes) - 1)
        with open_web(spark, str(web), str(folder), tell) as opened:
            found = rank(opened, ranker, 1000)
        after = executors(spark)
    ranking, _, _ = local_ranking(open_crawl(str(web)), ranker, None, 1000)
    apart = float(np.abs(found.ranking.scores - ranking.scores).max())
    print(f"executors: {before}, at the end {after}; {found.iterations} iterations; scores at most {apart:.1e} apart")
    same = found.ranking.urls == ranking.urls and apart < 1e-9
    return same and (not kill or (killer.done and after < before))


def both(spark: Any, wanted: int) -> int:
    """Wait for the executors of all workers: one that is not there cannot be killed."""
    until = time.monotonic() + WAIT_S
    while executors(spark) < wanted and time.monotonic() < until:
        time.sleep(0.1)
    return executors(spark)


def main() -> None:
    parser = argparse.ArgumentParser(description="A standalone Spark cluster on this machine.")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--try", dest="trying", action="store_true", help="rank a small web, and compare")
    parser.add_argument("--kill", action="store_true", help="kill a worker in mid-job")
    parser.add_argument("--policy", default="pagerank:alpha=0.5,tolerance=1e-4")
    parser.add_argument("--pages", type=int, default=200_000, help="of the small web")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spark-cluster-") as name, cluster(Path(name), given.workers) as made:
        print(f"--master {made.url}", flush=True)
        if given.trying:
            same = try_it(made, Path(name), given.kill, given.policy, given.pages)
            print("the same pages and scores as here" if same else "NOT the same as here")
            sys.exit(0 if same else 1)
        try:
            signal.pause()
        except KeyboardInterrupt:
            print("stopping")


if __name__ == "__main__":
    main()
