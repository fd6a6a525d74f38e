"""URLs: one canonical form by the WHATWG rules (can-ada), and what a crawler must know of a URL before it requests it.

    canonical, host_of      for looking pages up and grouping them by host
    clean                   canonical, without session and tracking parameters: one page, one URL
    registered_domain       the part of a host that one owner registered (public suffix list, bundled: no network)
    usable_seed             a URL that a crawl can start from, or a sentence that says why not
    repeats, pattern        the marks of a crawler trap: a path that goes round, many URLs that differ in numbers only

>>> canonical("HTTPS://www.Example.org:443")
'https://www.example.org/'
>>> host_of("http://www.example.org:8080/a?b#c")
'www.example.org'
>>> host_of("not a url")
''
>>> clean("http://example.org/shop;jsessionid=1F?b=2&PHPSESSID=77&a=%7e1&utm_source=mail#top")
'http://example.org/shop?b=2&a=%7e1'
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import can_ada

from frontrank.errors import InputError, need

SESSION = (  # names of parameters in lower case; a star at the end stands for any rest
    *("phpsessid", "jsessionid", "aspsessionid*", "asp.net_sessionid", "sid", "sessid", "sessionid", "session_id"),
    *("cfid", "cftoken", "oscsid", "zenid"),
    *("utm_*", "gclid", "dclid", "fbclid", "msclkid", "yclid", "igshid", "mc_cid", "mc_eid", "_ga", "_gl"),
)
ROUNDS = 3  # a path that holds a run of segments so often, one after another, goes in circles
MAX_RUN_LENGTH = 3
MAX_OF_ONE = 3  # or one segment more often than this in all
HASH = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|(?<![0-9a-z])(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{8,}(?![0-9a-z])",
    re.IGNORECASE,
)
DIGITS = re.compile(r"[0-9]+")


def canonical(url: str) -> str:
    """The URL as a browser would send it, without its fragment; as given if it is not a URL."""
    try:
        parsed = can_ada.parse(url.strip())
    except (ValueError, TypeError):
        return url
    href: str = parsed.href
    return href.partition("#")[0]


def host_of(url: str) -> str:
    """The host name of a URL, lower case, without port; empty if it has none."""
    try:
        host: str = can_ada.parse(url.strip()).hostname
    except (ValueError, TypeError):  # no URL; or half a character in it, which no encoding holds
        return ""
    return host


def clean(url: str, drop_params: Iterable[str] = SESSION) -> str:
    """The canonical URL without these parameters, whether in the query or behind a semicolon in the path.

    All else stays as it is: the order of the other parameters, empty ones, the spelling of percent-encoded characters.

    >>> clean("http://example.org/?sid=1")
    'http://example.org/'
    """
    href = canonical(url)
    if "?" not in href and ";" not in href:
        return href
    names, stems, in_path = _dropped(drop_params if isinstance(drop_params, tuple) else tuple(drop_params))
    path, mark, query = href.partition("?")
    if ";" in path:
        path = in_path.sub("", path)
    if not query:
        return path + mark
    fields = query.split("&")
    kept = []
    for field in fields:
        name = field.partition("=")[0].lower()
        if name not in names and not name.startswith(stems):
            kept.append(field)
    if len(kept) == len(fields):
        return path + mark + query
    return f"{path}?{'&'.join(kept)}" if kept else path


@lru_cache(maxsize=16)
def _dropped(params: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...], re.Pattern[str]]:
    """Names to drop, beginnings of such names, and what matches them as parameters in a path."""
    lower = [name.lower() for name in params if name]
    names, stems = [n for n in lower if not n.endswith("*")], [n[:-1] for n in lower if n.endswith("*")]
    either = "|".join([*map(re.escape, names), *(re.escape(stem) + "[^=;/?]*" for stem in stems)]) or "(?!)"
    return frozenset(names), tuple(stems), re.compile(rf";(?:{either})=[^/;?]*", re.IGNORECASE)


@lru_cache(maxsize=2**16)
def registered_domain(host: str) -> str:
    """The name that one owner registered under a public suffix; an address, or a bare suffix, is its own.

    >>> registered_domain("news.bbc.co.uk"), registered_domain("127.0.0.1"), registered_domain("co.uk")
    ('bbc.co.uk', '127.0.0.1', 'co.uk')
    """
    if is_address(host):
        return host
    found: str | None = _suffixes().privatesuffix(host.strip(".").lower())
    return found or host


def is_address(host: str) -> bool:
    """Whether a canonical host is an IP address; the WHATWG rules make every other last label contain a letter."""
    return host.startswith("[") or host.rpartition(".")[2].isdigit()


@lru_cache(maxsize=1)
def _suffixes() -> Any:
    need("publicsuffixlist")
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


def usable_seed(url: str) -> str:
    """The canonical URL of a page that a crawl can start from.

    >>> usable_seed(" HTTP://Example.org ")
    'http://example.org/'
    >>> usable_seed("example.org")
    Traceback (most recent call last):
    frontrank.errors.InputError: seed 'example.org' has no scheme; expected an http or https URL, such as https://example.org
    """
    given, expected = url.strip(), "expected an http or https URL, such as https://example.org/"
    if not given:
        raise InputError(f"seed {url!r} is empty; {expected}")
    if re.search(r"\s", given):
        raise InputError(f"seed {url!r} holds a blank; expected one URL at a time, with %20 for a blank in it")
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", given)
    named_port = re.match(r"[\w.-]+:\d+(/|$)", given)  # localhost:8000 looks like a scheme but is not one
    if scheme is None or named_port:
        raise InputError(f"seed {url!r} has no scheme; expected an http or https URL, such as https://{given.lstrip('/')}")
    if scheme[1].lower() not in ("http", "https"):
        raise InputError(f"seed {url!r} has the scheme {scheme[1].lower()}; {expected}")
    try:
        parsed = can_ada.parse(given)
    except (ValueError, TypeError):
        raise InputError(f"seed {url!r} is not a URL; {expected}") from None
    if not parsed.hostname.strip("."):
        raise InputError(f"seed {url!r} has no host; {expected}")
    if parsed.username or parsed.password:
        raise InputError(
            f"seed {_hidden(given)!r} holds a user name or password; expected a URL without, since URLs are recorded"
        )
    if parsed.port == "0":
        raise InputError(f"seed {url!r} has port 0, on which nothing can listen; expected 1 to 65535, or none")
    href: str = parsed.href
    return href.partition("#")[0]


def _hidden(url: str) -> str:
    return re.sub(r"//[^/]*@", "//...@", url)


def repeats(url: str) -> bool:
    """Whether the path goes in circles: one to three segments three times in a row, or one four times in all.

    Segments of digits alone do not count by themselves: dates and coordinates repeat.

    >>> repeats("http://example.org/a/b/a/b/a/b/"), repeats("http://example.org/2020/2020/2020/2020")
    (True, False)
    """
    if url.count("/") < ROUNDS + 2:
        return False
    parts = [part for part in url.partition("?")[0].split("/")[3:] if part]
    if len(parts) < ROUNDS or len(set(parts)) > len(parts) - ROUNDS + 1:
        return False
    count: dict[str, int] = {}
    for part in parts:
        count[part] = count.get(part, 0) + 1
    if any(times > MAX_OF_ONE and not part.isdigit() for part, times in count.items()):
        return True
    return any(_goes_round(parts, length) for length in range(1, MAX_RUN_LENGTH + 1))


def _goes_round(parts: list[str], length: int) -> bool:
    same = 0  # how many segments in a row equal the one a run earlier
    for at in range(length, len(parts)):
        same = same + 1 if parts[at] == parts[at - length] else 0
        if same >= (ROUNDS - 1) * length and not all(part.isdigit() for part in parts[at - length + 1 : at + 1]):
            return True
    return False


def pattern(url: str) -> str:
    """What is alike in the pages of a trap: host and path with digits as ``#`` and hexadecimal ids as ``*``, query keys.

    >>> pattern("http://example.org/cal/2026-11-15/p7?day=3&view=0cc175b9c0f1b6a8#x")
    'example.org/cal/#-#-#/p#?day&view'
    """
    path, _, query = url.partition("#")[0].partition("?")
    path = path.partition("://")[2] or path
    host, slash, path = path.partition("/")
    shape = host + slash + DIGITS.sub("#", HASH.sub("*", path))
    return f"{shape}?{'&'.join(field.partition('=')[0] for field in query.split('&'))}" if query else shape


def directory(url: str, depth: int) -> str:
    """Where a page lies: its host and the first directories of its path, runs of digits as ``#``.

    >>> directory("http://Example.org/2026/news/p7.html", 1), directory("http://example.org/p7.html", 1)
    ('example.org/#', 'example.org')
    """
    place = url.partition("#")[0].partition("?")[0].partition("://")[2] or url
    host, *path = place.split("/")
    return "/".join([host.lower(), *(DIGITS.sub("#", part) for part in path[:-1][:depth])])
