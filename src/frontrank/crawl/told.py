"""Links told of pages that have not arrived yet, and what they say: each link of a page once.

The page that links were found on may never be reported. So at most ``MAX_PENDING`` of them are kept, and beyond that the
links of the pages that have waited longest are given up: an event, counted in ``Crawl.links_given_up``. The pages they lead
to stay behind all ranked pages until another page links to them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

MAX_PENDING = 1_000_000  # links in all: about 100 MB
KEPT = 900_000  # so many are left when there are too many: giving up a few each time would take a look at all pages each time
MAX_WORDS = 1_000  # characters that are kept of what links of one page to another say, if they are told one by one
WORDS = 100  # characters that count as a further link


class Told(Mapping[int, dict[int, str]]):
    """By page, what it links to and what the links say.

    >>> told = Told()
    >>> told.tell(3, [7, 8], ["seven", "eight"]), told.tell(3, [7], ["again"]), told.tell(5, [7])
    (None, None, None)
    >>> told[3], told.size, told.end(3), told.size
    ({7: 'seven again', 8: 'eight'}, 3, {7: 'seven again', 8: 'eight'}, 1)
    """

    def __init__(self) -> None:
        self._links: dict[int, dict[int, str]] = {}
        self.size = 0

    def __getitem__(self, page: int) -> dict[int, str]:
        return self._links[page]

    def __iter__(self) -> Iterator[int]:
        return iter(self._links)

    def __len__(self) -> int:
        return len(self._links)

    def tell(self, page: int, targets: Iterable[int], words: Iterable[str] = ()) -> None:
        """A page links to these."""
        links = self._links.setdefault(page, {})
        if not words:  # as most clients tell them, and a third of the time
            had = len(links)
            for target in targets:
                links.setdefault(target, "")
            self.size += len(links) - had
            return
        for target, said in zip(targets, words, strict=True):
            before = links.get(target)
            links[target] = said if before is None else _joined(before, said)
            self.size += _weight(links[target]) - (0 if before is None else _weight(before))

    def end(self, page: int) -> dict[int, str]:
        """What was told of a page; nothing is from now on."""
        links = self._links.pop(page, {})
        self.size -= sum(map(_weight, links.values()))
        return links

    def excess(self, leased: Collection[int]) -> list[int]:
        """Pages whose links are to be given up, if there are too many: those that have waited longest.

        Pages that are being fetched only if there is nothing else.
        """
        left = self.size - KEPT if self.size > MAX_PENDING else 0
        found: list[int] = []
        for out in (False, True):
            for page in self._links:
                if left <= 0:
                    break
                if (page in leased) == out:
                    found.append(page)
                    left -= sum(map(_weight, self._links[page].values()))
        return found


def _weight(words: str) -> int:
    return 1 + len(words) // WORDS


def _joined(before: str, words: str) -> str:
    """What a link says that is told once more: a client that repeats itself adds nothing."""
    return before if words in before or len(before) >= MAX_WORDS else f"{before} {words}".strip()
