"""The reason that a caller gets when a crawl cannot be read or written, without a path of this machine. Clients know these
sentences, to tell a service that refuses from one that does not answer.
"""

from __future__ import annotations

from frontrank.errors import BrokenCrawl, DiskFull, StorageError

DISK_FULL = (
    "the disk of the service is full: what was acknowledged is safe, nothing else is taken in or handed out; "
    "it goes on by itself once there is room"
)
BROKEN = "the crawl cannot be read or written at the moment; the service's own output says why"
SENTENCES = (DISK_FULL, BROKEN)


def sentence_for(error: StorageError) -> str:
    """
    >>> sentence_for(StorageError("/srv/crawls/news: the trace cannot be read (disk I/O error)")) == BROKEN
    True
    """
    if isinstance(error, BrokenCrawl):  # its reason is meant for callers
        return str(error)
    return DISK_FULL if isinstance(error, DiskFull) else BROKEN


def reason_for(error: StorageError) -> str:
    """The same beside the name of the crawl.

    >>> reason_for(BrokenCrawl("news", "it is of a newer version"))
    'it is of a newer version'
    """
    return error.reason if isinstance(error, BrokenCrawl) else sentence_for(error)
