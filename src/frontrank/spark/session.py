"""A Spark session for one ranking: Java, the master, settings that the blocks rely on, and errors as sentences.

Some things are checked before Spark is started, as Spark itself would report them late or never: PySpark is installed, Java is
there and new enough, a master answers. A master that answers but has no executors yet is given ``EXECUTORS_S`` to get one.

Spark reports an error of a task as pages of text. ``plain_errors`` finds the sentence in it: ours, if a task raised one; that
the disk is full; that a Parquet part is damaged.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from frontrank.errors import EngineError, FrontrankError, InputError, SourceError, SpecError, need
from frontrank.system.capacity import free_memory
from frontrank.system.stopping import asked

MIN_JAVA = 17
ASSUMED_MEMORY = 6 << 30  # free bytes, where the system does not say
ANSWER_S = 10.0  # for a master to answer
EXECUTORS_S = 60.0  # for it to give a first executor
TIDY_S = 2.0  # for Java to remove its files when it is interrupted
JAVA_HINT = "install one, on Debian: apt-get install default-jre-headless; or set JAVA_HOME"
FIXED = {  # what jobs rely on, and what a ranking needs to be quiet
    "spark.sql.adaptive.enabled": "false",  # would change partitions: a task would no longer return to its machine
    "spark.sql.autoBroadcastJoinThreshold": "-1",  # a broadcast goes through the driver
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 18),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
    "spark.sql.execution.arrow.useLargeVarTypes": "true",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.ui.showConsoleProgress": "false",
}
DEFAULTS = {  # which a user may override
    "spark.app.name": "frontrank",
    "spark.shuffle.compress": "false",  # doubles hardly compress
    "spark.locality.wait": "200ms",  # for a task's own machine; then any is right
}
OURS = re.compile(r"frontrank\.errors\.(\w+): ([^\n]*)")
FULL = ("No space left on device", "Disk quota exceeded", "File too large")
BROKEN = re.compile(r"([^\s'\"]+\.parquet)[^\n]*?(?:is not a Parquet file|not a Parquet file|is corrupt|corrupted)", re.I)
UNREADABLE = re.compile(
    r"(?:FAILED_READ_FILE|Encountered error while reading file|Could not read footer)[^\n]*?([^\s'\"]+\.parquet)"
)


def java_version() -> int:
    """The major version of the Java that Spark would use; InputError if there is none."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if java is None:
        raise InputError(f"Spark needs Java {MIN_JAVA} or newer, and there is no java on the PATH; {JAVA_HINT}")
    try:
        version = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"Spark needs Java {MIN_JAVA} or newer, and {java} does not run ({error}); {JAVA_HINT}") from None
    found = re.search(r'version "(?:1\.)?(\d+)', version)
    if found is None:
        raise InputError(f"Spark needs Java {MIN_JAVA} or newer, and {java} does not print its version; {JAVA_HINT}")
    return int(found[1])


def check_java() -> None:
    """InputError if Java is missing or too old."""
    version = java_version()
    if version < MIN_JAVA:
        raise InputError(f"Spark needs Java {MIN_JAVA} or newer, got Java {version}; {JAVA_HINT}")


def check_master(master: str, wait_s: float = ANSWER_S) -> None:
    """InputError for a master of a kind that Spark does not know, or that does not answer."""
    if re.fullmatch(r"local(\[(\*|\d+)(,\d+)?\])?|local-cluster\[\d+,\d+,\d+\]", master):
        return
    if master == "yarn":
        if not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
            raise InputError("--master yarn: the cluster's address is in its configuration; set HADOOP_CONF_DIR")
        return
    if not re.match(r"(spark|k8s)://", master):
        raise InputError(f"--master must be local[N], spark://HOST:PORT, yarn or k8s://URL, got {master!r}")
    addresses = list(_addresses(master))
    for host, port in addresses:
        try:
            socket.create_connection((host, port), wait_s).close()
        except OSError as error:
            problem = f"no master answers at {host}:{port} ({error.strerror or error})"
        else:
            return
    raise InputError(f"--master {master}: {problem}; start it, or give another") from None


def _addresses(master: str) -> Iterator[tuple[str, int]]:
    """Where a master listens; standalone masters may be several, joined by commas."""
    rest = master.removeprefix("k8s://").removeprefix("spark://")
    for one in rest.split(","):
        try:
            parts = urlsplit(one if "://" in one else f"//{one}")
            port = parts.port or (443 if master.startswith("k8s") else None)
        except ValueError:
            parts, port = urlsplit(""), None
        if not parts.hostname or not port:
            raise InputError(f"--master must be spark://HOST:PORT or k8s://https://HOST:PORT, got {master!r}")
        yield parts.hostname, port


def settings_of(pairs: tuple[str, ...]) -> dict[str, str]:
    """The settings of --conf KEY=VALUE.

    >>> settings_of(("spark.executor.memory=4g",))
    {'spark.executor.memory': '4g'}
    """
    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.startswith("spark."):
            raise SpecError(f"--conf must be spark.KEY=VALUE, got {pair!r}")
        settings[key] = value
    return settings


@contextmanager
def session(master: str, settings: Mapping[str, str] | None = None) -> Iterator[Any]:
    """A Spark session with our settings, stopped at the end."""
    need("pyspark", "pyarrow", "pandas")
    check_java()
    check_master(master)
    quiet = logging.NullHandler()  # py4j logs an interrupt as an error of the program
    logging.getLogger().addHandler(quiet)
    spark = _start(master, dict(settings or {}))
    try:
        _wait_for_executors(spark, master)
        yield spark
    except Exception:
        spark.stop()
        raise
    except BaseException:  # Ctrl-C in the middle of a call to Java: the connection is broken
        _stop_java(spark)
        raise
    else:
        spark.stop()
    finally:
        logging.getLogger().removeHandler(quiet)


def _stop_java(spark: Any) -> None:
    listening = getattr(spark.sparkContext, "_accumulatorServer", None)
    if listening is not None:
        listening.handle_error = lambda *_: None  # it would print that Java is gone
    process = getattr(spark.sparkContext._gateway, "proc", None)
    if process is not None:
        process.terminate()  # it removes its files
        try:
            process.wait(TIDY_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _start(master: str, settings: dict[str, str]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, which PySpark asks for and nothing here uses
        from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master)
    if master.startswith("local"):
        here = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false"}
        settings = {**here, "spark.driver.memory": _heap(), **settings}
    for key, value in (DEFAULTS | settings | FIXED).items():
        builder = builder.config(key, value)
    interrupted = signal.getsignal(signal.SIGINT)
    with plain_errors(), _output_discarded(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spark = builder.getOrCreate()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, interrupted)  # PySpark's own handler talks to Java in the middle of a call
    spark.sparkContext.setLogLevel("OFF")
    if "spark.sql.shuffle.partitions" not in settings:  # Spark's default is 200, however small the job
        spark.conf.set("spark.sql.shuffle.partitions", 2 * spark.sparkContext.defaultParallelism)
    return spark


@contextmanager
def _output_discarded() -> Iterator[None]:
    """Discard what a process that is started here prints: Java warns before it has read any setting. Errors are exceptions."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        for number, copy in enumerate(kept, 1):
            os.dup2(copy, number)
            os.close(copy)


def _heap() -> str:
    """The heap of a local JVM: a third of the free memory, from 1 to 32 GB. The rest is for Python and the page cache."""
    return f"{min(32 << 10, max(1 << 10, (free_memory() or ASSUMED_MEMORY) // 3 >> 20))}m"


def _wait_for_executors(spark: Any, master: str) -> None:
    """Wait for a first executor."""
    if master.startswith("local") and not master.startswith("local-cluster"):
        return
    until = time.monotonic() + EXECUTORS_S
    while spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() < 2:  # the driver counts as one
        if time.monotonic() > until:
            raise InputError(
                f"--master {master}: gave no executor within {EXECUTORS_S:.0f} s; are its workers up, and have they the memory"
                " and cores that spark.executor.memory and spark.executor.cores ask for?"
            )
        time.sleep(0.1)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise one of our errors for what Spark raises, where a person can do something about it."""
    try:
        yield
    except FrontrankError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        if asked():  # an interrupt in the middle of an answer breaks the connection: calls to Java fail after that
            raise KeyboardInterrupt from None
        raise plain(error) from None


def plain(error: Exception) -> FrontrankError:
    """One sentence for what Spark raised."""
    text = str(error)
    java = getattr(error, "java_exception", None)
    if java is not None:
        text += f"\n{java.toString()}"
    if ours := OURS.search(text):
        kinds = {"SourceError": SourceError, "SpecError": SpecError, "EngineError": EngineError}
        return kinds.get(ours[1], InputError)(ours[2].strip())
    if any(message in text for message in FULL):
        return InputError(
            "the disk is full: Spark could not write; free some, or give spark.local.dir a larger disk"
            " (--conf spark.local.dir=DIR)"
        )
    if found := BROKEN.search(text) or UNREADABLE.search(text):
        return SourceError(f"{found[1]}: is damaged or cut off, not a whole Parquet file; write the part again")
    if "stopped SparkContext" in text:
        return InputError("the master gave up on the application, as its executors fail at once; its workers' logs say why")
    if "No module named 'frontrank'" in text or "No module named 'numba'" in text:
        return InputError("the executors' Python has no frontrank; install it there, or send an environment (docs/spark.md)")
    if "Python in worker has different version" in text or "PYTHON_VERSION_MISMATCH" in text:
        return InputError("the executors' Python is of another version than the driver's; set PYSPARK_PYTHON to the same")
    if "OutOfMemoryError" in text or "exit code 137" in text:
        return InputError("an executor ran out of memory; give it more (--conf spark.executor.memory=8g), or more executors")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by:").removeprefix(": ") for line in lines if line.startswith(("Caused by:", ": "))]
    first = (causes[-1:] or lines[:1] or [type(error).__name__])[0].strip()
    return InputError(f"Spark could not finish: {first[:300]}")
