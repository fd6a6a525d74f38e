"""The verbs of clients, on one crawl of a service: each is a call to make, and how to read its answers.

``Client`` and ``AsyncClient`` have a method for each, which makes the call, and waits for it or is awaited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

from google.protobuf.message import Message

from frontrank.errors import InputError
from frontrank.service import wire

BATCH, BATCH_BYTES = 100, 2**20  # URLs of one message, and their bytes: services take 4 MiB
STREAM = 50_000  # URLs of one call
MAX_INT = 2**31 - 1
T = TypeVar("T")
Metadata = Mapping[str, Sequence[str]]
Link = str | tuple[str, str]  # a URL, or a URL and its anchor


class Page(NamedTuple):
    """A URL to fetch, and what its crawl keeps with it."""

    url: str
    queue: str
    metadata: dict[str, list[str]]
    crawl: str
    delay_s: float = 0.0  # between two requests to its queue; 0 if the service does not say
    lease: float = 0.0  # which one; 0 if the service does not say


class Stats(NamedTuple):
    """URLs of a queue, or of a crawl."""

    active: int  # waiting, scheduled or leased
    leased: int
    completed: int
    queues: int
    active_queues: int


class KnownUrl(NamedTuple):
    """What is known of a URL. ``again_at``: from when on it may be fetched, in seconds since 1970; 0: never again."""

    url: str
    queue: str
    metadata: dict[str, list[str]]
    again_at: int
    since: int  # when it became known


@dataclass(frozen=True)
class ClientCall(Generic[T]):
    """A call of one method, with one message or a stream of them, and what its answers mean."""

    method: str
    message: Message | Iterator[Message]
    read: Callable[[list[Any]], T]


# URLs in and out --------------------------------------------------------------------------------------------------------------
def put(urls: Iterable[Link], crawl: str, parent: str, queue: str, metadata: Metadata | None) -> ClientCall[list[bool]]:
    infos = _infos(urls, crawl, parent, queue, metadata)
    batches = (wire.DiscoveredBatch(ID=str(number), items=part) for number, part in enumerate(_parts(infos)))
    return ClientCall("PutDiscovered", batches, _news)


def _parts(infos: Sequence[wire.URLInfo]) -> Iterator[Sequence[wire.URLInfo]]:
    """URLs that go in one message: few if they are long."""
    first = size = 0
    for place, info in enumerate(infos):
        length = info.ByteSize()
        if place > first and (place - first == BATCH or size + length > BATCH_BYTES):
            yield infos[first:place]
            first, size = place, 0
        size += length
    if first < len(infos):
        yield infos[first:]


def streams(urls: Iterable[Link]) -> Iterator[list[Link]]:
    """URLs that go in one call: each call has a deadline, whatever their number."""
    left = iter([urls] if isinstance(urls, str) else urls)
    while some := list(islice(left, STREAM)):
        yield some


def _news(answers: list[wire.BatchAck]) -> list[bool]:
    in_order = sorted(answers, key=lambda answer: int(answer.ID))
    return [status == wire.AckMessage.OK for answer in in_order for status in answer.statuses]


def fetched(
    crawl: str,
    url: str,
    links: Iterable[Link] = (),
    *,
    again_at: float = 0,
    queue: str = "",
    metadata: Metadata | None = None,
    sent_ago: float = 0.0,
    lease: float = 0.0,
) -> ClientCall[list[bool]]:
    """A URL was fetched, and has these links; True for each that is new.

    ``again_at``: when it is to be fetched again. ``sent_ago``: as for ``known``. ``lease``: that of the page as it was handed
    out.
    """
    if not 0 <= again_at <= 2**62:
        raise InputError(f"again_at must be 0 (never) or a time in seconds since 1970, got {again_at}")
    found = [wire.DiscoveredURLItem(info=info) for info in _infos(links, crawl, url, "", None)]
    about = _info(url, queue, crawl, metadata or {})
    page = wire.KnownURLItem(info=about, refetchable_from_date=int(again_at), sent_ago=sent_ago, lease=lease)
    items = [wire.URLItem(discovered=item, ID=str(place)) for place, item in enumerate(found)]
    items.append(wire.URLItem(known=page, ID=str(len(items))))

    def read(answers: list[wire.AckMessage]) -> list[bool]:
        taken = [answer.status == wire.AckMessage.OK for answer in sorted(answers, key=lambda answer: int(answer.ID))]
        if not taken.pop():
            raise InputError(f"the service did not take {url!r}: a URL needs a host or a queue, and a length that fits")
        return taken

    return ClientCall("PutURLs", iter(items), read)


def known(
    crawl: str,
    url: str,
    again_at: float = 0,
    *,
    queue: str = "",
    metadata: Metadata | None = None,
    sent_ago: float = 0.0,
    lease: float = 0.0,
) -> ClientCall[None]:
    """A URL is completed (0), or is to be fetched again at a time, in seconds since 1970. It need not be known or leased.

    ``sent_ago``: how many seconds ago the last request to its queue was sent; the delay begins then, not when the URL was
    handed out. 0: unknown. ``lease``: that of the page as it was handed out. A late or repeated report that names it does not
    take the URL from a fetcher that has got it since.
    """
    call = fetched(crawl, url, again_at=again_at, queue=queue, metadata=metadata, sent_ago=sent_ago, lease=lease)

    def read(answers: list[Any]) -> None:
        call.read(answers)

    return ClientCall(call.method, call.message, read)


def get(crawl: str, queues: int = 0, per_queue: int = 1, lease_s: float = 30.0, queue: str = "") -> ClientCall[list[Page]]:
    """URLs to fetch, best first, of so many queues (0: all), so many of each; or of one ``queue``.

    They are leased to this client for ``lease_s`` seconds; those not reported by then wait again.
    """
    for name, value in (("queues", queues), ("per_queue", per_queue), ("lease_s", lease_s)):
        if not 0 <= value <= MAX_INT:
            raise InputError(f"{name} must be a number from 0 on, got {value}")
    seconds = max(1, round(lease_s)) if lease_s else 0
    message = wire.GetParams(
        max_queues=queues, max_urls_per_queue=per_queue, delay_requestable=seconds, key=queue, crawlID=crawl
    )
    return ClientCall("GetURLs", message, lambda found: [_page(one) for one in found])


# What is known ----------------------------------------------------------------------------------------------------------------
def stats(crawl: str, queue: str = "") -> ClientCall[Stats]:
    """How many URLs a queue has, or the whole crawl."""

    def read(found: list[wire.Stats]) -> Stats:
        (one,) = found
        return Stats(one.size, one.inProcess, one.counts["completed"], one.numberOfQueues, one.counts["active_queues"])

    return ClientCall("GetStats", wire.QueueWithinCrawlParams(key=queue, crawlID=crawl), read)


def status(crawl: str, url: str, queue: str = "") -> ClientCall[KnownUrl]:
    """What is known of a URL; NotFound if nothing."""
    return ClientCall("GetURLStatus", wire.URLStatusRequest(url=url, key=queue, crawlID=crawl), lambda found: _known(found[0]))


def queues(crawl: str, start: int = 0, size: int = 100, inactive: bool = False) -> ClientCall[list[str]]:
    """Names of queues that have URLs to hand out; with ``inactive``, of all."""
    message = wire.Pagination(start=start, size=size, include_inactive=inactive, crawlID=crawl)
    return ClientCall("ListQueues", message, lambda found: list(found[0].values))


def urls(crawl: str, queue: str = "", start: int = 0, size: int = 100, containing: str = "") -> ClientCall[list[KnownUrl]]:
    """URLs (of a queue), completed ones included."""
    message = wire.ListUrlParams(start=start, size=size, key=queue, crawlID=crawl, filter=containing)
    return ClientCall("ListURLs", message, lambda found: [_known(one) for one in found])


def count(crawl: str, queue: str = "", containing: str = "") -> ClientCall[int]:
    """The number of URLs, completed ones included."""
    return ClientCall("CountURLs", wire.CountUrlParams(key=queue, crawlID=crawl, filter=containing), _value)


def crawls(crawl: str) -> ClientCall[list[str]]:
    """The IDs of all crawls of the service that have URLs."""
    return ClientCall("ListCrawls", wire.Local(), lambda found: list(found[0].values))


# Control ----------------------------------------------------------------------------------------------------------------------
def block(crawl: str, queue: str, until: float) -> ClientCall[None]:
    """Hand out nothing from a queue before this time, in seconds since 1970; 0 ends the block."""
    if not 0 <= until <= 2**62:
        raise InputError(f"a queue must be blocked until a time in seconds since 1970, got {until}")
    return ClientCall("BlockQueueUntil", wire.BlockQueueParams(key=queue, time=int(until), crawlID=crawl), _nothing)


def delay(crawl: str, seconds: int, queue: str = "", *, at_least: bool = False) -> ClientCall[None]:
    """Set the seconds between two answers from a queue; without one, from all queues without a delay of their own.

    ``at_least``: a queue whose delay is longer keeps it (only our service knows this).
    """
    if not 0 <= seconds <= MAX_INT:
        raise InputError(f"a delay must be a number of seconds from 0 on, got {seconds}")
    message = wire.QueueDelayParams(key=queue, delay_requestable=int(seconds), crawlID=crawl, at_least=at_least)
    return ClientCall("SetDelay", message, _nothing)


def limit(crawl: str, queue: str, completed: int) -> ClientCall[None]:
    """Hand out nothing more from a queue once so many of its URLs are completed; 0 is any number."""
    if not 0 <= completed <= MAX_INT:
        raise InputError(f"a limit must be a number of URLs from 0 on, got {completed}")
    return ClientCall("SetCrawlLimit", wire.CrawlLimitParams(key=queue, limit=completed, crawlID=crawl), _nothing)


def active(crawl: str) -> ClientCall[bool]:
    """Whether the service hands out URLs."""
    return ClientCall("GetActive", wire.Local(), lambda found: bool(found[0].state))


def pause(crawl: str) -> ClientCall[None]:
    """Hand out nothing from any crawl of the service, until ``resume``."""
    return ClientCall("SetActive", wire.Active(state=False), _nothing)


def resume(crawl: str) -> ClientCall[None]:
    """Hand out URLs again."""
    return ClientCall("SetActive", wire.Active(state=True), _nothing)


def delete_queue(crawl: str, queue: str) -> ClientCall[int]:
    """Forget all URLs of a queue; returns how many were active."""

    def read(found: list[wire.Long]) -> int:
        return 0 if found[0].value >= 2**63 else int(found[0].value)  # some services answer -1: there was no queue

    return ClientCall("DeleteQueue", wire.QueueWithinCrawlParams(key=queue, crawlID=crawl), read)


def delete_crawl(crawl: str) -> ClientCall[int]:
    """Remove the whole crawl; returns how many URLs were active."""
    return ClientCall("DeleteCrawl", wire.DeleteCrawlMessage(value=crawl), _value)


def purge(crawl: str, days: int, queue: str = "") -> ClientCall[int]:
    """Forget URLs that are known for longer than this; returns how many."""
    if not 0 <= days <= MAX_INT:
        raise InputError(f"an age must be a number of days from 0 on, got {days}")
    return ClientCall("PurgeURLs", wire.PurgeUrlParams(key=queue, crawlID=crawl, days=days), _value)


# ------------------------------------------------------------------------------------------------------------------------------
def _infos(urls: Iterable[Link], crawl: str, parent: str, queue: str, metadata: Metadata | None) -> list[wire.URLInfo]:
    infos = []
    for link in [urls] if isinstance(urls, str) else urls:
        url, anchor = link if isinstance(link, tuple) else (link, "")
        about = {**(metadata or {}), **({"parent": [parent]} if parent else {}), **({"anchor": [anchor]} if anchor else {})}
        infos.append(_info(url, queue, crawl, about))
    return infos


def _info(url: str, queue: str, crawl: str, metadata: Metadata) -> wire.URLInfo:
    try:
        info = wire.URLInfo(url=url, key=queue, crawlID=crawl)
        for name, values in metadata.items():
            info.metadata[name].values.extend([values] if isinstance(values, str) else values)
    except (TypeError, ValueError) as error:  # bytes, a number, a lone surrogate
        raise InputError(
            f"a URL, its queue and its metadata must be text; {url!r} came with something else ({error})"
        ) from None
    return info


def _known(found: wire.URLItem) -> KnownUrl:
    info = found.known.info
    return KnownUrl(info.url, info.key, _lists(info), found.known.refetchable_from_date, found.creation_date)


def _page(found: wire.URLInfo) -> Page:
    return Page(found.url, found.key, _lists(found), found.crawlID, found.delay, found.lease)


def _lists(found: wire.URLInfo) -> dict[str, list[str]]:
    return {name: list(values.values) for name, values in found.metadata.items()}


def _value(found: list[wire.Long]) -> int:
    return int(found[0].value)


def _nothing(found: list[Any]) -> None:
    return None
