"""Words and query logs: one form for each word and query, and a clear sentence for every broken file."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontrank.errors import InputError
from frontrank.pages.words import url_words, words
from frontrank.search.workload import load_workload


@given(st.text())
def test_words_hold_letters_and_digits_only_and_are_their_own_words(text: str) -> None:
    for word in words(text):
        assert word.isalnum() and words(word) == [word]


def test_a_url_gives_no_scheme_and_no_www_but_keeps_a_later_one() -> None:
    assert url_words("HTTP://WWW.Example.org/www/a_b?id=3") == ["example", "org", "www", "a", "b", "id", "3"]
    assert url_words("") == []


def test_repeated_lines_are_frequencies(tmp_path: Path) -> None:
    path = tmp_path / "log.txt.gz"
    path.write_bytes(gzip.compress(b"New  York\n\nbees, and wasps\nnew york\n"))
    log = load_workload(path)
    assert log.queries == ("new york", "bees, and wasps")
    assert log.frequency.tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tsv", "query\tfrequency\nx y\t2\nz\t0.5\n"),
        ("b.tsv", "x y\t2\nz\t0.5\n"),
        ("c.tsv", "Frequency\tQuery\n2\tx y\n0.5\tz\n"),
        ("d.txt", "x y\t1\nz\t0.5\nX Y\t1\n"),
        ("e.csv", 'query,frequency\n"x y",2\nz,0.5\n'),
        ("f.csv", "\ufeffquery,frequency\r\nx y,2\r\nz,0.5\r\n"),
    ],
)
def test_tables_say_the_same_with_and_without_column_names(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_bytes(text.encode())
    log = load_workload(tmp_path / name)
    assert log.queries == ("x y", "z") and log.frequency.tolist() == [2.0, 0.5]


def test_a_parquet_table_is_a_query_log(tmp_path: Path) -> None:
    pq.write_table(pa.table({"frequency": [2, 1], "query": ["x y", "z"]}), tmp_path / "log.parquet")
    log = load_workload(tmp_path / "log.parquet")
    assert log.queries == ("x y", "z") and log.frequency.tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.tsv", b"x\t1\ny\t-2\n", "line 2: frequency must be a finite number from 0, got -2"),
        ("a.tsv", b"x\t1\ny\tmany\n", "line 2: frequency must be a number from 0, got 'many'"),
        ("a.tsv", b"x\tnan\n", "line 1: frequency must be a finite number from 0, got nan"),
        ("a.tsv", b"x\t1\ny\n", "line 2: must have 2 fields .query, frequency., got 1"),
        ("a.csv", b"x,1\ny,1,1\n", "line 2: must have 2 fields .query, frequency., got 3"),
        ("a.csv", b'x,1\n"y,1\n', "line 2: not comma-separated text"),
        ("a.txt", b"", "no query with a frequency above 0"),
        ("a.txt", b" \n\n", "no query with a frequency above 0"),
        ("a.tsv", b"x\t0\n", "no query with a frequency above 0"),
        ("a.txt", b"ok\n\xff\xfe\n", "line 2: not UTF-8"),
        ("a.parquet", b"PAR1", "cannot be read as a Parquet"),
    ],
)
def test_a_broken_log_is_named_with_its_line(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=says):
        load_workload(tmp_path / name)


def test_a_parquet_log_without_the_right_columns_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"q": ["x"]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="no column 'query'"):
        load_workload(tmp_path / "a.parquet")
    pq.write_table(pa.table({"query": ["x", "y"], "frequency": [1.0, None]}), tmp_path / "b.parquet")
    with pytest.raises(InputError, match="row 2: frequency must be a number from 0, got none"):
        load_workload(tmp_path / "b.parquet")
    pq.write_table(pa.table({"query": ["x", "y"], "frequency": ["1", "b"]}), tmp_path / "c.parquet")
    with pytest.raises(InputError, match="Parquet"):
        load_workload(tmp_path / "c.parquet")


def test_a_missing_log_or_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such query log"):
        load_workload(tmp_path / "none.txt")
    with pytest.raises(InputError):
        load_workload(tmp_path)


@pytest.mark.data
def test_the_real_log_has_its_known_size(data_dir: Path) -> None:
    log = load_workload(data_dir / "queries" / "trec-terabyte-2005.txt.gz")
    assert len(log) == 42_169 and np.sum(log.frequency) == 50_000
