"""What is known of the last copy of a page: enough to ask whether the page has changed, to refer to the copy in a WARC file,
and to say when the page comes back.

Two copies are the same page if their words are the same: a page whose markup alone differs, as on every visit of some sites,
has not changed. What has no words is compared byte by byte.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields, replace

from frontrank.fetching.http.message import Headers, Response
from frontrank.pages import html
from frontrank.pages.warc_records import Original

MAX_HEADER = 1_000  # bytes of a header that is sent back


@dataclass(frozen=True)
class Copy:
    """The copy, and the visits so far."""

    etag: str = ""
    modified: str = ""  # as the server wrote it
    words: str = ""  # a hash of what stands there
    payload: str = ""  # the digest of its bytes
    record: str = ""  # of the WARC file that holds them
    date: str = ""
    first_at: float = 0.0  # when the page was first fetched
    visits: int = 0  # since then, at which it could be compared
    changes: int = 0  # how often it was another then
    wait_s: float = 0.0  # how long it was to wait after the last visit

    def headers(self) -> Headers:
        """What asks a server to answer only if the page is another by now."""
        given = [(b"If-None-Match", self.etag), (b"If-Modified-Since", self.modified)]
        return [(name, value.encode("latin-1")) for name, value in given if value]

    def seen_again(self, response: Response) -> Copy:
        """The same copy, of a page that is what it was; what the server calls it may be new."""
        etag, modified = header_of(response, b"etag"), header_of(response, b"last-modified")
        return replace(self, etag=etag or self.etag, modified=modified or self.modified)

    @property
    def original(self) -> Original | None:
        return Original(self.record, self.date, self.payload) if self.record else None

    def pack(self) -> bytes:
        """
        >>> Copy.unpack(Copy(etag='"x"', visits=2).pack()) == Copy(etag='"x"', visits=2)
        True
        """
        empty = Copy()
        return json.dumps({k: v for k, v in asdict(self).items() if v != getattr(empty, k)}).encode()

    @classmethod
    def unpack(cls, packed: bytes) -> Copy:
        values = json.loads(packed)
        return cls(**{f.name: values[f.name] for f in fields(cls) if f.name in values})


def header_of(response: Response, name: bytes) -> str:
    """A header that can be sent back as it came; empty if there is none, or it is no plain line."""
    value = response.header(name) or b""
    return value.decode("latin-1").strip() if len(value) <= MAX_HEADER and not set(value) & set(b"\r\n\0") else ""


def words_of(found: html.Page | None, rest: bytes) -> str:
    """A hash of what a page says; of its bytes if it has no words."""
    content = f"{found.title}\0{found.text}".encode("utf-8", "replace") if found is not None and found.text else rest
    return hashlib.blake2b(content, digest_size=16).hexdigest()
