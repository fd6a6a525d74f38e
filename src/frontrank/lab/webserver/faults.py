"""What goes wrong, and how long it takes: decided by the hash of a URL, so that every run sees the same web.

chance(what, url) is uniform on [0, 1) and independent from one ``what`` to the next: 64 bits of BLAKE2b.
"""

from __future__ import annotations

from hashlib import blake2b

from frontrank.lab.webserver.server_options import ServerOptions

RESET, HANG = -1, -2  # the connection is cut; no answer ever comes
KINDS = (404, 500, 503, RESET, HANG)


def bits(what: str, url: str) -> int:
    """
    >>> bits("errors", "http://a/") == bits("errors", "http://a/") != bits("flaky", "http://a/")
    True
    """
    digest = blake2b(url.encode("utf-8", "replace"), digest_size=8, person=what.encode()).digest()
    return int.from_bytes(digest, "little")


def chance(what: str, url: str) -> float:
    return (bits(what, url) >> 11) * 2.0**-53


class Faults:
    def __init__(self, options: ServerOptions) -> None:
        self.options = options
        self.failed_once: set[int] = set()

    def of(self, page: int, url: str) -> int:
        """The status a page fails with this time (or RESET or HANG); 0: it does not."""
        if self.options.errors and chance("errors", url) < self.options.errors:
            return KINDS[bits("kind", url) % len(KINDS)]
        if self.options.flaky and page not in self.failed_once and chance("flaky", url) < self.options.flaky:
            self.failed_once.add(page)
            return 503
        return 0

    def always(self, url: str) -> bool:
        return bool(self.options.errors) and chance("errors", url) < self.options.errors

    def latency_s(self, url: str) -> float:
        mean = self.options.latency
        return mean * (0.5 + chance("latency", url)) if mean else 0.0
