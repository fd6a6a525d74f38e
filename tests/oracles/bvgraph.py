"""A naive BVGraph, after Boldi and Vigna's paper: bits are a string of '0' and '1', every choice is the caller's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

CODES = ("UNARY", "GAMMA", "DELTA", "ZETA", "NIBBLE", "GOLOMB")
DEFAULTS = {
    "OUTDEGREES": "GAMMA",
    "REFERENCES": "UNARY",
    "BLOCK_COUNT": "GAMMA",
    "BLOCKS": "GAMMA",
    "RESIDUALS": "ZETA",
}


def fold(x: int) -> int:
    return 2 * x if x >= 0 else -2 * x - 1


def unfold(n: int) -> int:
    return n // 2 if n % 2 == 0 else -(n + 1) // 2


def low_bits(x: int, n: int) -> str:
    return format(x, f"0{n}b")[-n:] if n else ""


def minimal_binary(x: int, bound: int) -> str:
    """x < bound in floor(log2 bound) bits, or one more."""
    bits = bound.bit_length() - 1
    short = 2 ** (bits + 1) - bound
    return low_bits(x, bits) if x < short else low_bits(x + short, bits + 1)


def written(n: int, code: str, k: int) -> str:
    m, b = n + 1, (n + 1).bit_length() - 1
    if code == "UNARY":
        return "0" * n + "1"
    if code == "GAMMA":
        return written(b, "UNARY", k) + low_bits(m, b)
    if code == "DELTA":
        return written(b, "GAMMA", k) + low_bits(m, b)
    if code == "ZETA":
        h = b // k
        return written(h, "UNARY", k) + minimal_binary(m - 2 ** (h * k), 2 ** (h * k + k) - 2 ** (h * k))
    if code == "GOLOMB":
        return written(n // k, "UNARY", k) + minimal_binary(n % k, k)
    digits = format(n, "o")
    return "".join(("1" if i == len(digits) - 1 else "0") + low_bits(int(d), 3) for i, d in enumerate(digits))


class Reader:
    def __init__(self, bits: str, at: int = 0) -> None:
        self.bits, self.at = bits, at

    def take(self, n: int) -> int:
        self.at += n
        return int(self.bits[self.at - n : self.at] or "0", 2)

    def minimal_binary(self, bound: int) -> int:
        bits = bound.bit_length() - 1
        short = 2 ** (bits + 1) - bound
        x = self.take(bits)
        return x if x < short else 2 * x + self.take(1) - short

    def read(self, code: str, k: int) -> int:
        if code == "UNARY":
            start, self.at = self.at, self.bits.index("1", self.at) + 1
            return self.at - start - 1
        if code == "GAMMA":
            b = self.read("UNARY", k)
            return (1 << b) + self.take(b) - 1
        if code == "DELTA":
            b = self.read("GAMMA", k)
            return (1 << b) + self.take(b) - 1
        if code == "ZETA":
            h = self.read("UNARY", k)
            return (1 << h * k) + self.minimal_binary((1 << h * k + k) - (1 << h * k)) - 1
        if code == "GOLOMB":
            return self.read("UNARY", k) * k + self.minimal_binary(k)
        n, last = 0, 0
        while not last:
            last, n = self.take(1), 8 * n + self.take(3)
        return n


@dataclass
class Format:
    window: int = 7
    min_interval: int = 4
    zeta_k: int = 3
    codes: dict[str, str] = field(default_factory=dict)

    def code(self, part: str) -> str:
        return self.codes.get(part, DEFAULTS[part])

    def properties(self, nodes: int, arcs: int) -> str:
        flags = " | ".join(f"{part}_{code}" for part, code in self.codes.items())
        return (
            f"#BVGraph properties\ngraphclass=it.unimi.dsi.webgraph.BVGraph\nversion=0\nnodes={nodes}\narcs={arcs}\n"
            f"windowsize={self.window}\nminintervallength={self.min_interval}\nzetak={self.zeta_k}\nmaxrefcount=3\n"
            f"compressionflags={flags}\n"
        )


def split_intervals(extra: Sequence[int], least: int) -> tuple[list[tuple[int, int]], list[int]]:
    """Maximal runs of at least two and at least ``least`` numbers as (left, length), and the rest."""
    runs: list[tuple[int, int]] = []
    for x in extra:
        if runs and sum(runs[-1]) == x:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((x, 1))
    spans = [r for r in runs if least and r[1] >= max(2, least)]
    return spans, [x for left, n in runs if (left, n) not in spans for x in range(left, left + n)]


def copy_blocks(listed: Sequence[int], wanted: set[int]) -> list[int]:
    """Lengths of runs copied and skipped by turns, copied first, without the last run."""
    blocks, copying = [0], True
    for x in listed:
        if (x in wanted) != copying:
            blocks.append(0)
            copying = not copying
        blocks[-1] += 1
    return blocks[:-1]


def encode(graph: Sequence[Sequence[int]], form: Format, choose: Random) -> str:
    """The bit stream; which of the possible references a node takes is drawn."""
    out: list[str] = []

    def put(n: int, part: str) -> None:
        out.append(written(n, form.code(part), form.zeta_k))

    for x, successors in enumerate(graph):
        put(len(successors), "OUTDEGREES")
        if not successors:
            continue
        extra = list(successors)
        if form.window:
            back = choose.randint(0, min(x, form.window))
            put(back, "REFERENCES")
            if back:
                listed = graph[x - back]
                blocks = copy_blocks(listed, set(successors))
                put(len(blocks), "BLOCK_COUNT")
                for i, block in enumerate(blocks):
                    put(block - (i > 0), "BLOCKS")
                extra = [y for y in successors if y not in set(listed)]
        if not extra:
            continue
        spans, residuals = split_intervals(extra, form.min_interval)
        if form.min_interval:
            out.append(written(len(spans), "GAMMA", 0))
            end = 0
            for i, (left, n) in enumerate(spans):
                out.append(written(fold(left - x) if i == 0 else left - end - 1, "GAMMA", 0))
                out.append(written(n - form.min_interval, "GAMMA", 0))
                end = left + n
        for i, y in enumerate(residuals):
            put(fold(y - x) if i == 0 else y - residuals[i - 1] - 1, "RESIDUALS")
    return "".join(out)


def decode_row(reader: Reader, x: int, form: Format, row_of: Callable[[int], list[int]]) -> list[int]:
    """The successors of x, at whose place the reader stands."""

    def get(part: str) -> int:
        return reader.read(form.code(part), form.zeta_k)

    degree = get("OUTDEGREES")
    found: list[int] = []
    if degree and form.window and (back := get("REFERENCES")):
        blocks = [get("BLOCKS") + (i > 0) for i in range(get("BLOCK_COUNT"))]
        listed, copying = list(row_of(x - back)), True
        for block in blocks:
            found += listed[:block] if copying else []
            listed, copying = listed[block:], not copying
        found += listed if copying else []
    if len(found) < degree and form.min_interval:
        end = None
        for _ in range(reader.read("GAMMA", 0)):
            gap = reader.read("GAMMA", 0)
            left = x + unfold(gap) if end is None else end + gap + 1
            end = left + reader.read("GAMMA", 0) + form.min_interval
            found += range(left, end)
    last = None
    for _ in range(degree - len(found)):
        gap = get("RESIDUALS")
        last = x + unfold(gap) if last is None else last + gap + 1
        found.append(last)
    return sorted(found)


def to_bytes(bits: str) -> bytes:
    padded = bits + "0" * (-len(bits) % 8)
    return int(padded or "0", 2).to_bytes(len(padded) // 8, "big")


def to_bits(data: bytes) -> str:
    return format(int.from_bytes(data, "big"), f"0{8 * len(data)}b") if data else ""


def write(base: Path, graph: Sequence[Sequence[int]], form: Format, seed: int = 0) -> None:
    arcs = sum(map(len, graph))
    Path(f"{base}.graph").write_bytes(to_bytes(encode(graph, form, Random(seed))))
    Path(f"{base}.properties").write_text(form.properties(len(graph), arcs))
