"""What is sent to some hosts alone: headers of --header, cookies, logins. Never logged, never stored with a crawl.

    headers    to the hosts of the seeds, with or without www.
    cookies    as a browser sends them: by the domain, the path and the secure flag of each (Netscape's format)
    logins     to the hosts that a file in netrc's format names: basic authentication

Every request is looked at by its own URL, robots.txt and sitemaps included, so that a redirect or a link takes nothing to
another host. Headers and logins go over plain http only to hosts of which a seed is an http URL. A certificate is verified
before anything of this is sent (http/client.py), though not before other requests.
"""

from __future__ import annotations

import base64
import netrc
import os
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http.cookiejar import Cookie, CookieJar, LoadError, MozillaCookieJar
from urllib.request import Request

import can_ada

from frontrank.errors import InputError
from frontrank.fetching.http.message import Headers
from frontrank.pages.urls import host_of

OWN = {  # headers that the crawler sets by itself, and how to change them
    "user-agent": "use --user-agent",
    "accept-language": "use --accept-language",
    **dict.fromkeys(("host", "connection", "content-length", "transfer-encoding", "accept-encoding"), "the crawler sets it"),
    **dict.fromkeys(("if-none-match", "if-modified-since", "range", "expect", "upgrade"), "the crawler sets it if needed"),
    "proxy-authorization": "put user and password into the URL of --proxy",
}
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True)
class Credentials:
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    hosts: frozenset[str] = frozenset()  # of the seeds, without www.
    plain: frozenset[str] = frozenset()  # of them, those that are asked over http
    cookies: tuple[Cookie, ...] = field(default=(), repr=False)
    logins: Mapping[str, str] = field(default_factory=dict, repr=False)  # by host, as Authorization has it

    @classmethod
    def read(
        cls, seeds: Iterable[str] = (), headers: Iterable[str] = (), cookie_file: str = "", auth_file: str = ""
    ) -> Credentials:
        """Raises InputError, which says nothing of what is secret."""
        sites = [(_site(host_of(seed)), seed.startswith("http://")) for seed in seeds]
        return cls(
            tuple(parse_header(text) for text in headers if text),
            frozenset(site for site, _ in sites),
            frozenset(site for site, is_plain in sites if is_plain),
            read_cookies(cookie_file) if cookie_file else (),
            read_logins(auth_file) if auth_file else {},
        )

    def __bool__(self) -> bool:
        return bool(self.headers or self.cookies or self.logins)


class CredentialHeaders:
    """The headers of requests, made of credentials."""

    def __init__(self, credentials: Credentials) -> None:
        self.credentials = credentials
        self._jar = CookieJar()
        for cookie in credentials.cookies:
            self._jar.set_cookie(cookie)

    def of(self, url: can_ada.URL) -> Headers:
        given, host = self.credentials, url.hostname
        site = _site(host)
        found: Headers = []
        if url.protocol == "https:" or site in given.plain:
            if site in given.hosts:
                found += [(name.encode(), value.encode()) for name, value in given.headers]
            if (login := given.logins.get(host)) and not _has(found, b"authorization"):
                found.append((b"Authorization", login.encode()))
        if given.cookies and not _has(found, b"cookie"):
            request = Request(url.href)
            self._jar.add_cookie_header(request)
            if cookie := request.get_header("Cookie"):
                found.append((b"Cookie", cookie.encode("utf-8", "replace")))
        return found


def _has(headers: Headers, name: bytes) -> bool:
    return any(known.lower() == name for known, _ in headers)


def _site(host: str) -> str:
    return host.removeprefix("www.")


def parse_header(text: str) -> tuple[str, str]:
    """
    >>> parse_header("X-Key: secret")
    ('X-Key', 'secret')
    """
    name, colon, value = text.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or not _NAME.fullmatch(name):
        raise InputError("--header must be NAME:VALUE, such as 'X-Key: abc'; what was given is not shown, as it may be secret")
    if why := OWN.get(name.lower()):
        raise InputError(f"--header cannot set {name}; {why}")
    if not value.isprintable():
        raise InputError(f"--header {name}: its value must be one line of printable characters")
    return name, value


def read_cookies(path: str) -> tuple[Cookie, ...]:
    _check_private("--cookie-file", path)
    jar = MozillaCookieJar()
    try:
        with warnings.catch_warnings(action="ignore"):
            jar.load(path, ignore_discard=True, ignore_expires=True)
    except (LoadError, ValueError, OSError):
        raise InputError(
            f"--cookie-file {path}: not in Netscape's format; expected '# Netscape HTTP Cookie File' and lines of seven fields "
            f"with tabs between, as browsers' extensions and curl -c write them"
        ) from None
    for cookie in jar:
        cookie.expires = cookie.expires or None  # 0: until the browser is closed
    return tuple(jar)


def read_logins(path: str) -> dict[str, str]:
    """By host, what its Authorization header is."""
    _check_private("--auth-file", path)
    try:
        hosts = netrc.netrc(path).hosts
    except netrc.NetrcParseError as error:
        where = f", line {error.lineno}" if error.lineno else ""
        raise InputError(f"--auth-file {path}{where}: expected lines such as: machine HOST login USER password WORD") from None
    except (OSError, ValueError):
        raise InputError(f"--auth-file {path}: cannot be read as text in UTF-8") from None
    if "default" in hosts:
        raise InputError(f"--auth-file {path}: has a default entry, which every host would get; name the hosts with machine")
    logins = {}
    for host, (user, _, password) in hosts.items():
        packed = base64.b64encode(f"{user}:{password or ''}".encode()).decode()
        logins[host_of(f"http://{host}/")] = f"Basic {packed}"
    return logins


def _check_private(flag: str, path: str) -> None:
    """Raise InputError if a file is missing, or others can read it."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not the name of a file"
        raise InputError(f"{flag} {path}: cannot be read ({why}); name a file of your own") from None
    if os.name == "posix" and mode & 0o077:
        raise InputError(f"{flag} {path}: others can read it; make it yours alone with: chmod 600 {path}")
