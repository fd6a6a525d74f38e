"""Links that are no <a>: rel=canonical, feeds, <meta http-equiv=refresh>, and the same in an HTTP Link header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

CANONICAL, FEED = "canonical", "feed"
FEED_TYPES = ("application/rss+xml", "application/atom+xml")
MAX_REFRESH = 4_096  # characters of a refresh that are read
MAX_HEADER = 16_384  # characters of Link headers that are read
_REFRESH = re.compile(
    r"\s*[0-9.]+\s*[;,\s]\s*(?:url\s*=\s*)?(?!url\s*=)(?:\"([^\"]*)|'([^']*)|([^\s;,].*))", re.IGNORECASE | re.DOTALL
)
_LINK = re.compile(r"<([^<>]*)>([^<]*)")
_PARAM = re.compile(r";\s*([a-z*]+)\s*=\s*(?:\"([^\"]*)\"|([^\s;,\"]+))", re.IGNORECASE)


def relation_of(attributes: Mapping[str, str | None]) -> str:
    """What a <link> is to a crawler: CANONICAL, FEED, or nothing.

    >>> relation_of({"rel": "alternate", "type": "application/rss+xml"}), relation_of({"rel": "stylesheet"})
    ('feed', '')
    """
    words = (attributes.get("rel") or "").lower().split()
    if CANONICAL in words:
        return CANONICAL
    kind = (attributes.get("type") or "").partition(";")[0].strip().lower()
    return FEED if "alternate" in words and kind in FEED_TYPES else ""


def refresh_target(attributes: Mapping[str, str | None]) -> str:
    """Where a <meta http-equiv=refresh> leads; empty if it leads nowhere else.

    >>> refresh_target({"http-equiv": "Refresh", "content": "0; URL='/b'"}), refresh_target({"content": "3;url=/b"})
    ('/b', '')
    """
    if (attributes.get("http-equiv") or "").strip().lower() != "refresh":
        return ""
    found = _REFRESH.match((attributes.get("content") or "")[:MAX_REFRESH])
    return (found[1] or found[2] or found[3] or "").strip() if found else ""


def links_of_header(value: str) -> Iterator[tuple[str, str]]:
    """The links of a Link header that a crawler follows: what each is, and where it leads.

    >>> list(links_of_header('</style.css>; rel=preload, </b>; rel="canonical"; title="x, y"'))
    [('canonical', '/b')]
    """
    for target, rest in _LINK.findall(value[:MAX_HEADER]):
        attributes = {name.lower(): quoted or bare for name, quoted, bare in _PARAM.findall(rest)}
        if relation := relation_of(attributes):
            yield relation, target.strip()
