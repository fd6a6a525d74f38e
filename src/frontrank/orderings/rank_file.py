"""Ranks of hosts as a parameter of an ordering: read from a file once, and stored with a crawl.

Up to ``STORED`` hosts the content is part of the ordering, and the file is not read again; instead of its name its lines can
be given. Of a larger file a digest is stored: it is read again when a crawl is resumed, and must not have changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from frontrank.errors import SpecError
from frontrank.orderings.parameters import Parameters
from frontrank.web.ranks import Ranks, host_ranks, named_ranks, read_ranks

STORED = 20_000


@dataclass(frozen=True)
class RankFile(Parameters):
    """Hosts with ranks; ``resolved`` fills in what a file says."""

    source: str = field(default="", compare=False)  # the file, as it was named
    column: str = field(default="", compare=False)  # of Common Crawl's tables
    digest: str = ""  # of hosts and ranks
    hosts: tuple[str, ...] = ()  # none, of a large file
    weights: tuple[float, ...] = ()
    name = "ranks"
    written = "file"  # as a parameter of an ordering

    @classmethod
    def read(cls, given: str) -> RankFile:
        """A file that is not looked at yet, or these lines, of which the first, ``# NAME``, keeps its name."""
        if "\n" not in given:
            return cls(given)
        lines = given.splitlines()
        name = lines[0].removeprefix("# ") if lines[0].startswith("# ") else "ranks"
        return cls.of(name, "", read_ranks(lines, name))

    @classmethod
    def of(cls, source: str, column: str, ranks: dict[str, float]) -> RankFile:
        return cls(source, column, Ranks.of_hosts(ranks).digest(), tuple(ranks), tuple(ranks.values()))

    def resolved(self, column: str) -> RankFile:
        """The same with what the file says; SpecError if that is not what it said when it was stored."""
        if self.hosts:
            return self
        whole = host_ranks(self.source, column)
        if whole.keys.size <= STORED:
            found = RankFile.of(self.source, column, named_ranks(self.source, column))
        else:
            found = RankFile(self.source, column, whole.digest())
        if self.digest and found.digest != self.digest:
            raise SpecError(
                f"{self.source} is not what it was when the crawl began; bring the old file back, or rank all that waits "
                f"by the new one (--ordering prior:file={self.source} --rescore)"
            )
        return found

    @cached_property
    def ranks(self) -> Ranks:
        if not self.hosts:
            return host_ranks(self.source, self.column)
        return Ranks.of_hosts(dict(zip(self.hosts, self.weights, strict=True)))

    def content(self) -> str:
        """Lines that ``read`` makes the same of again; of a large file its name."""
        if not self.hosts:
            return self.source
        rows = (f"{host} {rank!r}" for host, rank in zip(self.hosts, self.weights, strict=True))
        return "\n".join([f"# {' '.join(self.source.split())}", *rows])

    def __bool__(self) -> bool:
        return bool(self.source or self.hosts)

    def __str__(self) -> str:
        return self.source


NO_RANKS = RankFile()
