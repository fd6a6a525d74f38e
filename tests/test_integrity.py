"""Stored data that is damaged, or was made by somebody: named, refused or passed over, never given to a kernel."""

from __future__ import annotations

import json
import logging
import re
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from frontrank.crawl import status
from frontrank.crawl.crawl import Crawl
from frontrank.crawl.integrity import MIXED, PAIR, Witness, checksum, checksum_of, width_of
from frontrank.crawl.journal import FILE, VERSION, Journal
from frontrank.crawl.log import COLUMNS, Row
from frontrank.errors import StorageError
from frontrank.sources import load
from tests.damages import GOOD, campaign


def page(n: int) -> str:
    return f"http://www.example.org/{n}"


def grown(folder: Path, spec: str = "opic", pages: int = 12, snapshot: bool = False) -> Path:
    with Crawl(spec, folder, sync_s=60.0) as crawl:
        crawl.seed([page(0)])
        for _ in range(pages):
            (url,) = crawl.take()
            n = int(url.rpartition("/")[2])
            crawl.fetched(url, [page(2 * n + 1), page(2 * n + 2)], f"title {n}")
        if snapshot:
            crawl.snapshot()
    return folder


def edit(folder: Path, statement: str, *values: Any) -> None:
    db = sqlite3.connect(folder / FILE)
    db.execute(statement, values)
    db.commit()
    db.close()


def rewrite(folder: Path, seq: int, **columns: Any) -> None:
    """Change a row of the journal as an attacker would: with the checksum that it then has."""
    db = sqlite3.connect(folder / FILE)
    row = Row._make(db.execute(f"SELECT {', '.join(COLUMNS)} FROM event WHERE seq = ?", (seq,)).fetchone())._replace(**columns)
    setting = ", ".join(f"{name} = ?" for name in COLUMNS)
    db.execute(f"UPDATE event SET {setting}, crc = ? WHERE seq = ?", (*row, checksum(tuple(row[: width_of(row)])), seq))
    db.commit()
    db.close()


def fetched_row(folder: Path) -> Row:
    journal = Journal.open(folder, read_only=True)
    try:
        return next(row for rows in journal.rows() for row in rows if row.kind == 3)
    finally:
        journal.close()


# Rows ----------------------------------------------------------------------------------------------------------------------
def test_the_checksum_of_a_row_stays_what_it_is() -> None:
    """marshal promises no format: were it another in a later Python, all directories would seem to be damaged."""
    row = (7, 3, 12, 1.5, 200, b"\1\0\0\0", "ä", "title", 0.25, "a.warc", 2**40, 5, None, "{}")
    assert checksum(row) == checksum_of(row) == 0x6FFD7326


def test_values_are_checked_as_sqlite_gives_them_back(tmp_path: Path) -> None:
    class Code(int): ...

    crawl = Crawl("bfs", tmp_path / "c")
    crawl.seed(page(0), now=0.0)
    odd = [
        Row(0, 4, 0, -0.0, note="x"),
        Row(0, 4, 0, 5, status=Code(404), until=-0.0),
        Row(0, 3, 0, np.float64(2.5), impact=3),
        Row(0, 3, 0, 1e300, 200, b"", title="", until=float("inf")),
    ]
    crawl.state.log.append(odd)
    crawl.state.log.append(odd[:1])
    crawl.state.log.commit()
    assert sum(len(rows) for rows in Journal.open(tmp_path / "c", read_only=True).rows()) == 6
    crawl.abandon()


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"links": np.array([2**31 - 1], "<i4").tobytes()}, "names a page, a time or a note that cannot be"),
        ({"links": np.array([-1], "<i4").tobytes()}, "names a page, a time or a note that cannot be"),
        ({"links": b"\1\0\0"}, "holds what no event writes"),
        ({"links": "text"}, "holds what no event writes"),
        ({"page": 2**31 - 1}, "names a page, a time or a note that cannot be"),
        ({"page": -1}, "names a page, a time or a note that cannot be"),
        ({"page": 2**62}, "names a page, a time or a note that cannot be"),
        ({"time": float("inf")}, "names a page, a time or a note that cannot be"),
        ({"kind": 5, "status": 2**40}, "names a page, a time or a note that cannot be"),
        ({"kind": 12, "page": -1, "note": "[1]"}, "names a page, a time or a note that cannot be"),
        ({"kind": 22, "page": -1, "note": "{"}, "holds what no event writes"),
        ({"kind": 12, "page": -1, "note": '{"delay": "x"}'}, "cannot be replayed"),
        ({"kind": 77}, "kind 77"),
    ],
)
def test_no_kernel_sees_what_no_event_writes(tmp_path: Path, columns: dict[str, Any], says: str) -> None:
    folder = grown(tmp_path / "c")
    rewrite(folder, fetched_row(folder).seq, **columns)
    with pytest.raises(StorageError, match=says) as refused:
        Crawl.recover(folder, read_only=True)
    assert "\n" not in str(refused.value) and str(folder) in str(refused.value)


@pytest.mark.parametrize("reader", [Crawl.recover, load, lambda folder: list(status.events(folder))])
def test_a_flipped_bit_in_an_event_is_named_with_its_row(tmp_path: Path, reader: Callable[[Path], Any]) -> None:
    folder = grown(tmp_path / "c")
    row = fetched_row(folder)
    edit(folder, "UPDATE event SET title = 'other' WHERE seq = ?", row.seq)
    with pytest.raises(StorageError, match=rf"event {row.seq} is damaged.*the {row.seq - 1} before it can still be read"):
        reader(folder)


def test_a_text_that_is_no_utf8_is_one_sentence_that_does_not_quote_it(tmp_path: Path) -> None:
    folder = grown(tmp_path / "crawl")
    edit(folder, "UPDATE event SET title = CAST(? AS TEXT) WHERE title IS NOT NULL", b"private\nti\xfftle")
    with pytest.raises(StorageError, match=f"^{re.escape(str(folder))}: .*'title'.*; .*$") as caught:
        Crawl.recover(folder, read_only=True)
    assert "private" not in str(caught.value)


def test_a_missing_event_is_named(tmp_path: Path) -> None:
    folder = grown(tmp_path / "c")
    edit(folder, "DELETE FROM event WHERE seq = 7")
    with pytest.raises(StorageError, match="event 7 is missing"):
        Crawl.recover(folder)


def test_reports_read_no_damaged_row_though_a_snapshot_spares_replaying_it(tmp_path: Path) -> None:
    folder = grown(tmp_path / "c", snapshot=True)
    row = fetched_row(folder)
    edit(folder, "UPDATE event SET kind = 4 WHERE seq = ?", row.seq)
    with Crawl.recover(folder, read_only=True) as crawl:
        assert crawl.inspect.fetched_count == 12
        with pytest.raises(StorageError, match=f"event {row.seq} is damaged"):
            crawl.inspect.history.statuses()


@pytest.mark.parametrize("keyed", [False, True])
def test_a_flipped_bit_in_a_url_is_named_and_not_served(tmp_path: Path, keyed: bool) -> None:
    with Crawl("bfs", tmp_path / "c") as crawl:
        crawl.seed([page(0), page(1)])
        if keyed:
            crawl.seed([crawl.intern(page(2), 12345)])
    number = 2 if keyed else 1
    with Crawl.recover(tmp_path / "c", read_only=True) as crawl:
        assert crawl.url(number) == page(number)
    edit(tmp_path / "c", "UPDATE url SET url = 'http://www.example.org/9' WHERE id = ?", number)
    with pytest.raises(StorageError, match=rf"URL of page {number} is damaged.*its fingerprint: 'http://www.example.org/9'"):
        Crawl.recover(tmp_path / "c")
    journal = Journal.open(tmp_path / "c", read_only=True)
    for asked in (lambda: journal.url(number), lambda: journal.names([number]), lambda: journal.find_urls("org/9")):
        with pytest.raises(StorageError, match="is damaged"):
            asked()
    journal.close()


def test_pages_in_queues_of_their_own_have_their_queue_in_their_key(tmp_path: Path) -> None:
    with Crawl("bfs", tmp_path / "c") as crawl:
        crawl.discover([page(0), page(1), "http://www.example.org/\udc80"], queues=["slow", None, "slow"])
    with Crawl.recover(tmp_path / "c", read_only=True) as crawl:
        assert crawl.inspect.known == 3
    edit(tmp_path / "c", "UPDATE place SET queue = 'fast' WHERE page = 0")
    with pytest.raises(StorageError, match="row 0 of table place is damaged"):
        Crawl.recover(tmp_path / "c")


@pytest.mark.parametrize("key", ["politeness", "policy", "version", "format"])
def test_a_damaged_note_is_named(tmp_path: Path, key: str) -> None:
    folder = grown(tmp_path / "c")
    edit(folder, "UPDATE meta SET value = replace(replace(value, '0', '1'), 'a', 'b') WHERE key = ?", key)
    edit(folder, "UPDATE meta SET value = '-3' WHERE key = 'version' AND key = ?", key)
    with pytest.raises(StorageError, match=r"note '\w+' is damaged|not the trace of a crawl"):
        Crawl.recover(folder)


def test_a_directory_without_checksums_has_them_from_now_on(tmp_path: Path) -> None:
    folder = without_checksums(grown(tmp_path / "c"))
    with Crawl.recover(folder, read_only=True) as crawl:
        before = crawl.inspect.next(9)
    with Crawl.recover(folder) as crawl:
        assert crawl.inspect.next(9) == before and crawl.notes["version"] == VERSION
        (url,) = crawl.take()
        crawl.fetched(url, [page(500)])
    with Crawl.recover(folder, read_only=True) as crawl:
        last = crawl.state.log.seq
    shutil.copytree(folder, tmp_path / "other")
    edit(folder, "UPDATE event SET title = 'other' WHERE seq = ?", last)
    with pytest.raises(StorageError, match=f"event {last} is damaged"):
        Crawl.recover(folder)
    edit(tmp_path / "other", "UPDATE event SET crc = NULL WHERE seq = ?", last)
    with pytest.raises(StorageError, match=f"event {last} is damaged"):
        Crawl.recover(tmp_path / "other")


def without_checksums(folder: Path) -> Path:
    """As format 2 wrote it."""
    for table in ("meta", "url", "event", "payload", "body", "place", "born"):
        edit(folder, f"ALTER TABLE {table} DROP COLUMN crc")
    edit(folder, "UPDATE meta SET value = '2' WHERE key = 'version'")
    (folder / "lock").write_bytes(b"")
    return folder


# The end of the journal ------------------------------------------------------------------------------------------------------
def killed(tmp_path: Path, synced: bool) -> Path:
    crawl = Crawl("bfs", tmp_path / "c", sync_s=60.0)
    crawl.seed([page(0)])
    crawl.sync()
    for n in range(20):
        crawl.take()
        crawl.fetched(page(n), [page(n + 1)])
    if synced:
        crawl.sync()
    else:
        crawl.state.log._witness.committed(crawl.state.log.seq)  # type: ignore[attr-defined]
    shutil.copytree(tmp_path / "c", tmp_path / "killed")
    crawl.abandon()
    return tmp_path / "killed"


def test_newest_events_that_were_not_on_the_disk_are_lost_by_name(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = killed(tmp_path, synced=False)
    wal = folder / (FILE + "-wal")
    wal.write_bytes(wal.read_bytes()[:-30_000])
    with Crawl.recover(folder) as crawl:
        (said,) = (record.getMessage() for record in caplog.records)
        assert (
            f"the newest {41 - crawl.state.log.seq} events are lost" in said.replace(str(crawl.state.log.seq + 1), said)
            or "are lost" in said
        )
        assert 0 < crawl.inspect.fetched_count < 20
        crawl.take()
    caplog.clear()
    Crawl.recover(folder).close()
    assert not caplog.records


def test_events_that_were_on_the_disk_are_not_lost_in_silence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = killed(tmp_path, synced=True)
    (folder / (FILE + "-wal")).unlink()
    with pytest.raises(StorageError, match=r"ends with event 0, but 41 were committed, and 41 of them were on the disk.*lock"):
        Crawl.recover(folder)
    (folder / "lock").unlink()
    with Crawl.recover(folder) as crawl:  # as the sentence says
        assert crawl.inspect.known == 0


def test_a_damaged_lock_file_says_nothing_of_events(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = grown(tmp_path / "c")
    assert Witness.read(folder / "lock") == (25, 25)
    (folder / "lock").write_bytes(PAIR.pack(99, 98 ^ MIXED))
    assert Witness.read(folder / "lock") is None
    with caplog.at_level(logging.WARNING), Crawl.recover(folder) as crawl:
        assert crawl.inspect.fetched_count == 12
    assert "lock: is damaged" in caplog.text


# Snapshots -------------------------------------------------------------------------------------------------------------------
def array_of(folder: Path, name: str, change: Callable[[Any], Any]) -> None:
    """Change an array of the snapshot of a folder as an attacker would."""
    (file,) = (folder / "snapshots").glob("*.npz")
    with np.load(file) as held:
        arrays = dict(held)
    arrays[name] = change(arrays[name])
    np.savez(file, **arrays)


def first_field(field: str, value: Any) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array[field][0] = value
        return array

    return change


def first_value(value: Any) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array[0] = value
        return array

    return change


CRAFTED = {
    "links_target": first_value(2**31 - 1),
    "links_stop": first_value(2**30),
    "progress_order": first_value(-5),
    "pages_slots": lambda array: np.ones_like(array),
    "pages_counts": first_value(2**40),
    "hosts_keys": lambda array: array[:0],
    "hosts_first_page": first_value(2**30),
    "pages_depths": lambda array: array[:1],
    "frontier_node": first_field("child", 2**30),
    "frontier_hosts": first_field("top", 2**30),
    "frontier_host": first_value(2**30),
    "frontier_mark": lambda array: array[:1],
    "frontier_counts": first_value(2**40),
    "frontier_ready_items": first_value(-7),
    "ordering_1": lambda array: array.astype(np.float32) if array.dtype.kind == "f" else array[:0],
}


@pytest.mark.parametrize("name", CRAFTED)
def test_a_crafted_snapshot_is_passed_over(tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture) -> None:
    folder = grown(tmp_path / "c", "surf", snapshot=True)
    with Crawl.recover(folder, read_only=True) as crawl:
        expected = crawl.inspect.next(99)
        assert crawl.inspect.snapshot_seq > 0
    array_of(folder, name, CRAFTED[name])
    with Crawl.recover(folder, read_only=True) as crawl:
        assert crawl.inspect.snapshot_seq == 0 and crawl.inspect.next(99) == expected
    assert "is skipped" in caplog.text


@pytest.mark.parametrize("name", ["met", "count", "region"])
def test_no_kernel_sees_an_ordering_s_column_that_is_out_of_range(tmp_path: Path, name: str) -> None:
    folder = grown(tmp_path / "c", "surf", snapshot=True)
    with Crawl.recover(folder, read_only=True) as crawl:
        place = crawl.state.ordering.columns._fields.index(name)
    array_of(folder, f"ordering_{place}", lambda array: np.full_like(array, 2**30))
    with Crawl.recover(folder, read_only=True) as crawl:
        assert crawl.inspect.snapshot_seq == 0


def test_waiting_pages_in_a_circle_are_seen(tmp_path: Path) -> None:
    folder = grown(tmp_path / "c", snapshot=True)

    def circle(node: Any) -> Any:
        page = int(np.flatnonzero(node["child"] > 0)[0])
        node["child"][node["child"][page]] = page
        return node

    array_of(folder, "frontier_node", circle)
    with Crawl.recover(folder, read_only=True) as crawl:
        assert crawl.inspect.snapshot_seq == 0 and crawl.inspect.next(3)


@pytest.mark.parametrize("damage", ["name", "header", "flag"])
def test_a_snapshot_that_cannot_be_read_for_whatever_reason_is_passed_over(tmp_path: Path, damage: str) -> None:
    folder = grown(tmp_path / "c", snapshot=True)
    (file,) = (folder / "snapshots").glob("*.npz")
    data = file.read_bytes()
    if damage == "name":
        data = data.replace(b"leases_", b"leeses_")
    elif damage == "header":
        data = data.replace(b"{'descr': ", b"{'descr\n((", 1)
    else:
        with zipfile.ZipFile(file) as held:
            at = data.rindex(b"PK\1\2" if held.infolist() else b"")
        data = data[: at + 8] + bytes([data[at + 8] | 1]) + data[at + 9 :]
    file.write_bytes(data)
    with Crawl.recover(folder, read_only=True) as crawl:
        assert crawl.inspect.snapshot_seq == 0 and crawl.inspect.fetched_count == 12


def test_every_column_of_a_snapshot_is_taken_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A check that is too strict would make every start slow, and nothing else."""
    for spec in (
        "surf",
        "domains",
        "group",
        "rankmass:window=0.05",
        "prior:file=tests/assets/ranks.tsv",
        "combine:surf=1,backlink=0.1",
    ):
        folder = grown(tmp_path / spec.replace("/", "-"), spec, snapshot=True)
        with Crawl.recover(folder, read_only=True) as crawl:
            assert crawl.inspect.snapshot_seq == 25, spec
    assert not caplog.records


# At random -------------------------------------------------------------------------------------------------------------------
def test_damaged_at_random_it_is_the_same_or_a_sentence_or_a_named_loss(tmp_path: Path) -> None:
    """``python -m tests.damages 2000`` tries more."""
    wrong: list[str] = []
    found = campaign(25, 0, tmp_path, wrong.append)
    assert not wrong and set(found) <= set(GOOD)


def test_a_web_json_that_was_changed_is_refused(tmp_path: Path) -> None:
    from frontrank.errors import SourceError
    from frontrank.sources.synthetic import synthetic
    from frontrank.sources.web_directory import save

    save(synthetic("pages=20,seed=1"), tmp_path / "web")
    path = tmp_path / "web" / "web.json"
    said = json.loads(path.read_text())
    path.write_text(json.dumps({**said, "name": "other"}))
    with pytest.raises(SourceError, match=r"web\.json: damaged, its digest"):
        load(tmp_path / "web")
