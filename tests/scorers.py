"""Scorers that tests name: as ``tests.scorers:NAME`` they are asked in a worker process; ``by_url`` also here, by its name."""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence

from frontrank.pages.scorers import REGISTRY, in_batches


def by_url(url: str, title: str, text: str) -> float:
    """A score that looks like chance, with some ties."""
    return zlib.crc32(url.encode()) % 97 / 97


REGISTRY.register("by_url", by_url)


def picky(url: str, title: str, text: str) -> float:
    """Fails in every way, by what stands on the page."""
    said = text.split()
    if "raise" in said:
        raise ValueError("this page is not for me")
    if "loop" in said:
        while True:
            pass
    if "sleep" in said:
        time.sleep(3600)
    return {"nan": float("nan"), "word": "seven"}.get(text, len(text) / 100)  # type: ignore[return-value]


def slow(url: str, title: str, text: str) -> float:
    time.sleep(3600)
    return 1.0


@in_batches
def lengths(urls: Sequence[str], titles: Sequence[str], texts: Sequence[str]) -> list[float]:
    if "raise" in texts:
        raise ValueError("one spoils it for all")
    return [float(len(text)) for text in texts]


def starting_with(url: str, title: str, text: str, letter: str = "a") -> float:
    return float(text.startswith(letter))
