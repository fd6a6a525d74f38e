"""The table of fingerprints gives the numbers that a dict would."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontrank.kernels import hashtable as names
from frontrank.kernels.jit import compiled, interpreted

few = st.integers(-3, 12).map(lambda n: n << 6)  # keys that fall into the same slot, again and again
keys = st.lists(st.lists(few | st.integers(-(2**63), 2**63 - 1), max_size=30), max_size=20)


@pytest.mark.parametrize("link", [compiled, interpreted])
@given(batches=keys)
def test_numbers_are_those_of_a_dict(link: object, batches: list[list[int]]) -> None:
    table = names.new(0)
    number: dict[int, int] = {}
    for batch in batches:
        table = names.with_capacity(table, len(batch))
        given_numbers = np.empty(len(batch), np.int32)
        fresh = link(names.number_all)(table, np.array(batch, np.int64), given_numbers)  # type: ignore[operator]
        before = len(number)
        assert given_numbers.tolist() == [number.setdefault(key, len(number)) for key in batch]
        assert fresh == len(number) - before
    for key in [*number, 1, -1, 2**62]:
        assert link(names.find)(table, key) == number.get(key, -1)  # type: ignore[operator]
    assert 3 * len(number) <= 2 * table.slots.size


def test_a_name_has_one_fingerprint_alone_or_among_others() -> None:
    some = ["http://a.org/", "", "é", "\ud800"]
    assert names.fingerprints(some).tolist() == [names.fingerprint(name) for name in some]
    assert len(set(names.fingerprints(some).tolist())) == 4


def test_slots_that_were_moved_are_given_back() -> None:
    table = names.new(64)
    for begin in range(0, 4096, 16):
        table = names.with_capacity(table, 16)
        some = np.arange(begin, begin + 16, dtype=np.int64) * 0x9E3779B9
        compiled(names.number_all)(table, some, np.empty(16, np.int32))
    table = names.with_capacity(table, 1)
    assert table.old.size == 1  # the last doubling lies far behind
    assert [compiled(names.find)(table, int(n) * 0x9E3779B9) for n in (0, 17, 4095)] == [0, 17, 4095]
