"""Revisits of a service's pages: what is known of the last copy of a page goes along in its metadata.

    copy      etag, last-modified, digests, visits and changes so far, as JSON: see ``fetching.copies``

So any fetcher can ask whether a page has changed, whoever fetched it before. Metadata may come from anybody who may call the
service: what is not a copy, or could not be part of a request, is ignored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields

from frontrank.fetching.copies import MAX_HEADER, Copy
from frontrank.fetching.crawler.revisiting import visited
from frontrank.fetching.fetcher import FetchResult
from frontrank.orderings.revisits import parse

COPY = "copy"  # the name in metadata
MAX_EXACT = 2**53


class Returning:
    """When pages are fetched again, by a revisit policy."""

    def __init__(self, spec: str) -> None:
        self.policy = parse(spec, live=True)

    def before(self, metadata: Mapping[str, Sequence[str]]) -> Copy | None:
        """The copy in the metadata of a page.

        >>> Returning("fixed").before({"copy": ['{"etag": "\\\\"x\\\\"", "visits": 2}']})
        Copy(etag='"x"', modified='', words='', payload='', record='', date='', first_at=0.0, visits=2, changes=0, wait_s=0.0)
        >>> Returning("fixed").before({"copy": ['{"etag": "x\\\\r\\\\nHost: y"}']}), Returning("fixed").before({})
        (None, None)
        """
        packed = metadata.get(COPY, ())
        try:
            copy = Copy.unpack(packed[0].encode()) if packed else None
        except (ValueError, TypeError):
            return None
        return copy if copy is not None and _is_sound(copy) else None

    def fetched(self, before: Copy | None, result: FetchResult, now: float) -> tuple[float, dict[str, list[str]]]:
        """When a page that arrived is fetched again, and the metadata that go with it."""
        copy = visited(self.policy, result.copy or Copy(), before, result.unchanged, now)
        return now + copy.wait_s, {COPY: [copy.pack().decode()]}


def _is_sound(copy: Copy) -> bool:
    for field in fields(Copy):
        value = getattr(copy, field.name)
        if field.type == "str":
            if not isinstance(value, str) or len(value) > MAX_HEADER or not all(" " <= sign <= "\xff" for sign in value):
                return False
        elif (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not (0 <= value < MAX_EXACT and math.isfinite(value))
        ):
            return False
    return True
