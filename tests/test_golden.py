"""One line for each ordering: the crawl it made on one fixed web when the line was written.

An ordering that is new, or changes on purpose: ``python -m tests.test_golden`` writes the lines anew; read the difference.
"""

from __future__ import annotations

import zlib
from importlib.metadata import version
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


@pytest.fixture(scope="session")
def web() -> Web:
    return searched(fr.load(WEB))


def key(spec: str) -> str:
    """What a golden line is filed under. A learned ordering depends on scikit-learn: 1.9 grows other trees than 1.8."""
    release = ".".join(version("scikit-learn").split(".")[:2])
    return f"{spec} (scikit-learn {release})" if spec.startswith("ml") else spec


def golden() -> dict[str, str]:
    return dict(text.split("\t", 1) for text in GOLDEN.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("spec", SPECS)
def test_golden_order(spec: str, web: Web) -> None:
    lines = golden()
    if key(spec) != spec and key(spec) not in lines:
        pytest.skip(f"no golden line for {key(spec)}")
    assert line(web, spec) == f"{spec}\t{lines.get(key(spec), 'has no golden line')}"


if __name__ == "__main__":
    made = searched(fr.load(WEB))
    lines = golden() | dict(f"{key(spec)}\t{line(made, spec).split(chr(9), 1)[1]}".split("\t", 1) for spec in SPECS)
    GOLDEN.write_text("".join(f"{name}\t{rest}\n" for name, rest in lines.items()), encoding="utf-8")
