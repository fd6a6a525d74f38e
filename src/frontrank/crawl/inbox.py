"""Commands to a crawl that another process is at work on: files in a folder of its directory, applied within a second.

    DIR/control/1700000000000000000-3f.json    {"verb": "boost", "given": {"pattern": "/news/", "by": 2}}

A file is written beside and renamed, acted on in the order of names, and removed once the event is stored: a crawl that dies in
between applies it again, which changes nothing. Whoever may write to the directory may control the crawl.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import threading
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frontrank.crawl.journal import Journal, check_crawl, is_locked
from frontrank.crawl.verbs import methods
from frontrank.errors import FrontrankError, InputError, StorageError
from frontrank.system.files import PRIVATE_FOLDER, private, replaced
from frontrank.web.view import workload_from

if TYPE_CHECKING:
    from frontrank.crawl.crawl import Crawl

logger = logging.getLogger("frontrank.crawl")

FOLDER = "control"
LOOK_S = 0.5  # how often a crawl looks
PATIENCE_S = 10.0  # for a crawl to apply it
MAX_BYTES = 2**26  # bytes of a file: a query log may be long


def send_command(folder: Path, verb: str, **values: Any) -> bool:
    """Say something to the crawl of a directory, running or not. False if it runs, and has not acted on it yet."""
    from frontrank.crawl.crawl import Crawl

    check_crawl(folder)
    if not is_locked(folder):
        crawl = Crawl.recover(folder)
        try:
            do(crawl, verb, values)
        finally:
            crawl.close()
        return True
    _check(folder, verb, values)
    file = _write(folder / FOLDER, {"verb": verb, "given": values})
    until = time.monotonic() + PATIENCE_S
    while file.exists() and time.monotonic() < until:
        time.sleep(0.05)
    return not file.exists()


def do(crawl: Crawl, verb: str, values: dict[str, Any]) -> None:
    """A verb of a crawl, with what is given as JSON can hold it."""
    if verb == "ask":
        values = {"workload": workload_from(values)}
    getattr(crawl.control, verb)(**values)


def _check(folder: Path, verb: str, values: dict[str, Any]) -> None:
    """Refuse here what the crawl would refuse, as far as that can be told without it."""
    from frontrank.crawl.crawl import Crawl
    from frontrank.crawl.needs import check_asked
    from frontrank.crawl.stored import stored_policy

    if verb == "ask":
        journal = Journal.open(folder, read_only=True)
        try:
            if "workload" not in journal.notes:
                check_asked(stored_policy(journal))
        finally:
            journal.close()
    elif verb != "impacts":  # which pages there are, only the crawl knows
        getattr(Crawl("bfs").control, verb)(**values)


def _write(folder: Path, command: dict[str, Any]) -> Path:
    try:
        folder.mkdir(PRIVATE_FOLDER, exist_ok=True)
        name = f"{time.time_ns():020d}-{secrets.token_hex(4)}"
        text = json.dumps(command)
        if len(text) > MAX_BYTES:
            raise InputError(
                f"a message to a running crawl must have at most {MAX_BYTES:,} bytes, got {len(text):,}; send it in parts"
            )
        with replaced(folder / f"{name}.json") as beside, open(beside, "w", encoding="utf-8", opener=private) as file:
            file.write(text)
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written ({error.strerror}); run it as the user whose crawl it is") from None
    return folder / f"{name}.json"


def waiting(folder: Path) -> list[Path]:
    """Commands that were not applied yet, in their order."""
    try:
        return sorted(folder / FOLDER / name for name in os.listdir(folder / FOLDER) if name.endswith(".json"))
    except OSError:
        return []


def start_listening(crawl: Crawl, ended: threading.Event) -> None:
    """Act on what other processes tell a crawl, from now on, beside it: some of it takes a while."""
    log = crawl.state.log
    if log.folder is not None and log.writable:
        listener = (weakref.ref(crawl), log.folder, ended)
        threading.Thread(target=listen, args=listener, name="frontrank-control", daemon=True).start()


def listen(crawl: weakref.ref[Crawl], folder: Path, ended: threading.Event) -> None:
    """Apply commands until the crawl has ended, or nobody has it any more: a look at a folder that is seldom there."""
    while not ended.wait(LOOK_S):
        alive = crawl()
        if alive is None:
            return
        if files := waiting(folder):
            apply_commands(alive, files)
        del alive  # not while it waits


def apply_commands(crawl: Crawl, files: list[Path]) -> None:
    """Apply commands in their order. What cannot be done is logged and skipped."""
    for file in files:
        try:
            verb, values = _read(file)
            do(crawl, verb, values)
            with crawl.together():  # never in the middle of what another thread does together
                pass
        except StorageError:
            return  # the crawl has ended: the next one applies it
        except (FrontrankError, TypeError, ValueError, OSError) as error:
            logger.warning("%s cannot be carried out (%s)", file.name, error)
        file.unlink(missing_ok=True)


def _read(file: Path) -> tuple[str, dict[str, Any]]:
    if file.stat().st_size > MAX_BYTES:
        raise InputError(f"must have at most {MAX_BYTES:,} bytes")
    command = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(command, dict) or command.get("verb") not in methods() or not isinstance(command.get("given"), dict):
        raise InputError(f"must be one of {', '.join(sorted(methods()))}, with what is given")
    return command["verb"], command["given"]
