"""One line for each ordering: the crawl it made on one fixed web when the line was written.

An ordering that is new, or changes on purpose: ``python -m tests.test_golden`` writes the lines anew; read the difference.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

import frontrank as fr
from frontrank.checks import searched
from frontrank.web.web import Web
from tests.specs import SPECS

GOLDEN = Path(__file__).with_name("golden.tsv")
WEB = "synthetic:pages=1000,links=8,text=1,seed=11"


def line(web: Web, spec: str) -> str:
    order = fr.order(web, spec)
    crc = zlib.crc32(",".join(map(str, order)).encode())
    return f"{spec}\t{len(order)}\t{crc:08x}\t{' '.join(map(str, order[:12]))}"


@pytest.fixture(scope="module")
def web() -> Web:
    return searched(fr.load(WEB))


@pytest.mark.parametrize("spec", SPECS)
def test_golden_order(spec: str, web: Web) -> None:
    lines = dict(text.split("\t", 1) for text in GOLDEN.read_text(encoding="utf-8").splitlines())
    assert line(web, spec) == f"{spec}\t{lines.get(spec, 'has no golden line')}"


if __name__ == "__main__":
    made = searched(fr.load(WEB))
    GOLDEN.write_text("".join(f"{line(made, spec)}\n" for spec in SPECS), encoding="utf-8")
