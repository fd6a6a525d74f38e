"""How results are printed: tables, and at the end each promise with what was measured."""

from __future__ import annotations

from typing import NamedTuple

from frontrank.cli.screen import show_table


class Result(NamedTuple):
    """A measured number and its bound: at least, or at most if most is set."""

    what: str
    value: float
    bound: float
    unit: str
    most: bool = False

    @property
    def met(self) -> bool:
        return self.value <= self.bound if self.most else self.value >= self.bound


def table(title: str, header: list[str], rows: list[list[str]]) -> None:
    print(f"\n## {title}\n")
    show_table(header, rows)


def verdict(results: list[Result]) -> None:
    rows = [
        [r.what, f"{r.value:.3g} {r.unit}", f"{'at most' if r.most else 'at least'} {r.bound:g}", "met" if r.met else "NOT MET"]
        for r in results
    ]
    table("Promises", ["what", "measured", "promised", ""], rows)
