"""One canonical form for a URL, by the WHATWG rules (can-ada), for looking pages up and grouping them by host.

>>> canonical("HTTPS://www.Example.org:443")
'https://www.example.org/'
>>> host_of("http://www.example.org:8080/a?b#c")
'www.example.org'
>>> host_of("not a url")
''
"""

from __future__ import annotations

import can_ada


def canonical(url: str) -> str:
    """The URL as a browser would send it, without its fragment; as given if it is no URL."""
    try:
        parsed = can_ada.parse(url.strip())
    except ValueError:
        return url
    href: str = parsed.href
    return href.partition("#")[0]


def host_of(url: str) -> str:
    """The host name of a URL, lower case, without port; empty if it has none."""
    try:
        host: str = can_ada.parse(url.strip()).hostname
    except ValueError:
        return ""
    return host
