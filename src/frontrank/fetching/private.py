"""Keeps a crawl out of private networks: no page, link, redirect or DNS answer leads it to an address that is not public.

A web page decides where a crawler goes next, so an unguarded crawler is a way into the network it runs in (server-side request
forgery). Two gates, because either alone has a hole:

    Names.usable        sees every URL that is asked for, redirects and robots.txt included: refuses private addresses written
                        in the URL, names reserved for private networks, schemes other than http and https, URLs beyond any use
    Names.addresses     answers lookups: if any address of a name is private the lookup fails, else exactly the addresses
                        checked are handed on and connected to; there is no second lookup for a rebinding name to answer
                        differently

Addresses: the registries of RFC 6890 as a table of our own (Python's `ipaddress` changes its mind between versions), multicast
and reserved ones, and IPv6 addresses that carry a private IPv4 address: mapped, compatible, 6to4, Teredo, NAT64. Names: RFC
6761 (`localhost`), 6762 (`local`), 8375 (`home.arpa`), `internal`, and names without a dot, which only a local search list can
complete.

A proxy is the user's own choice, so its name may resolve to anything. Names are then looked up by the proxy and only what is
written in a URL can be refused. ``allow_private`` opens both gates, for one crawl. Costs one parse of the URL a request; one
lookup a name for ten minutes.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import can_ada

from frontrank.fetching.failures import PRIVATE, Refused, host_not_found
from frontrank.pages.urls import host_of

MAX_URL = 8192  # characters; servers answer longer ones with 414
NAMES_KEPT = 10_000
NAME_KEPT_S = 600.0
LOOKUPS = 32  # at a time: name servers that do not answer hold a thread each
PORTS = {"http:": 80, "https:": 443}

_PRIVATE_SUFFIXES = (".localhost", ".local", ".internal", ".home.arpa")
_NOT_PUBLIC_4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
        *("192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"),
    )
)
_UNICAST_6 = ipaddress.IPv6Network("2000::/3")  # all that is ever assigned to the public; but for:
_NOT_PUBLIC_6 = tuple(ipaddress.IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "3fff::/20"))
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_NAT64_LOCAL = ipaddress.IPv6Network("64:ff9b:1::/48")

Sockaddr = tuple[Any, ...]  # host, port and, for IPv6, flow and scope
Address = tuple[int, Sockaddr]  # family and address
Lookup = Callable[[str], Sequence[Address]]


def is_private(address: str) -> bool:
    """Whether an IP address is anything but a public unicast one; what is not an address counts as private.

    >>> [is_private(a) for a in ("127.0.0.1", "100.64.0.1", "::ffff:10.0.0.1", "fe80::1%eth0", "2002:7f00:1::")]
    [True, True, True, True, True]
    >>> [is_private(a) for a in ("93.184.215.14", "2606:4700::6810:84e5", "64:ff9b::5db8:d70e")]
    [False, False, False]
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return True
    if isinstance(ip, ipaddress.IPv6Address):
        carried = _carried(ip)
        if carried is not None:
            return _not_public(carried) or ip in _NAT64_LOCAL
        return ip.scope_id is not None or ip not in _UNICAST_6 or any(ip in network for network in _NOT_PUBLIC_6)
    return _not_public(ip)


def private_host(host: str) -> bool:
    """Whether a URL's host, in canonical form, is private by its spelling alone.

    >>> [private_host(h) for h in ("localhost", "printer.local", "intranet", "[::1]", "example.org", "example.org.")]
    [True, True, True, True, False, False]
    """
    if _is_literal(host):
        return is_private(host.strip("[]"))
    name = host.rstrip(".").lower()
    return "." not in name or name.endswith(_PRIVATE_SUFFIXES)


def _not_public(ip: ipaddress.IPv4Address) -> bool:
    return any(ip in network for network in _NOT_PUBLIC_4)


def _carried(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address an IPv6 address leads to."""
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    if ip.sixtofour is not None:
        return ip.sixtofour
    if ip.teredo is not None:
        return ip.teredo[1]
    if ip in _NAT64 or ip in _NAT64_LOCAL or (ip in _COMPATIBLE and int(ip) > 1):
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return None


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _ascii_name(name: str) -> str:
    """The one spelling of a host name: lower case, punycode, numbers as dotted addresses; empty if it is no host name."""
    literal = f"[{name}]" if ":" in name else name
    return host_of(f"http://{literal}/").strip("[]").rstrip(".")


def getaddrinfo(name: str) -> Sequence[Address]:
    """The system's addresses of a name; none if it has none or cannot be one (labels of over 63 letters raise UnicodeError)."""
    try:
        found = socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return []
    return [(int(family), sockaddr) for family, _, _, _, sockaddr in found]


class Names:
    """Where the URLs of one crawl lead, and whether it may go there."""

    def __init__(self, allow_private: bool = False, lookup: Lookup = getaddrinfo) -> None:
        self.allow_private, self.lookup = allow_private, lookup
        self.trusted: set[str] = set()  # names that may lead to private addresses
        self.proxies: set[str] = set()
        self._known: OrderedDict[str, tuple[float, list[Address], bool]] = OrderedDict()
        self._asked: dict[str, asyncio.Future[list[Address]]] = {}
        self._room = asyncio.Semaphore(LOOKUPS)

    def add_proxy(self, name: str) -> None:
        """This name may lead anywhere, so no page may be fetched from it."""
        self.trusted.add(_ascii_name(name))
        self.proxies.add(_ascii_name(name))

    def usable(self, url: str) -> tuple[can_ada.URL, tuple[str, int, bool]]:
        """The URL in its parts, and host, port and whether TLS; raises Refused."""
        if len(url) > MAX_URL:
            raise Refused("url too long", url[:200])
        try:
            parsed = can_ada.parse(url)
        except (ValueError, TypeError):
            raise Refused("bad url", url[:200]) from None
        if parsed.protocol not in PORTS:
            raise Refused("unsupported scheme", url[:200])
        host: str = parsed.hostname.strip("[]")
        if not self.allow_private and (private_host(parsed.hostname) or host in self.proxies):
            raise Refused(PRIVATE, url[:200])
        return parsed, (host, int(parsed.port or PORTS[parsed.protocol]), parsed.protocol == "https:")

    async def addresses(self, host: str) -> list[Address]:
        """The addresses of a host, all of them checked, or NotFetched."""
        if _is_literal(host):  # a URL that spells a private one was refused before; a proxy may be anywhere
            return [(socket.AF_INET6 if ":" in host else socket.AF_INET, (host, 0))]
        name = _ascii_name(host)
        known = self._known.get(name)
        if known is None or known[0] <= time.monotonic():
            if name:
                await self._ask(name)
            known = self._known.get(name, (0.0, [], False))
        if known[2]:
            raise Refused(PRIVATE, host[:200])
        if not known[1]:
            raise host_not_found(host[:200])
        return known[1]

    async def _ask(self, name: str) -> None:
        """Once, however many wait."""
        asked = self._asked.get(name)
        if asked is not None:
            await asyncio.shield(asked)
            return
        asked = self._asked[name] = asyncio.get_running_loop().create_future()
        try:
            async with self._room:
                self._check(name, await _in_thread(self.lookup, name))
        finally:
            del self._asked[name]
            asked.set_result([])

    def _check(self, name: str, found: Sequence[Address]) -> None:
        addresses = list(dict.fromkeys(a for a in found if a[0] in (socket.AF_INET, socket.AF_INET6)))
        open_to_all = self.allow_private or name in self.trusted
        refused = not open_to_all and any(is_private(str(sockaddr[0])) for _, sockaddr in addresses)
        self._known.pop(name, None)
        if addresses or refused:
            self._known[name] = (time.monotonic() + NAME_KEPT_S, [] if refused else addresses, refused)
            while len(self._known) > NAMES_KEPT:
                self._known.popitem(last=False)


async def _in_thread(lookup: Lookup, name: str) -> Sequence[Address]:
    """A thread that no one waits for when the process ends: a name server may take half a minute not to answer."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Sequence[Address]] = loop.create_future()

    def tell(found: Sequence[Address]) -> None:
        if not answer.done():
            answer.set_result(found)

    def ask() -> None:
        try:
            found = lookup(name)
        except Exception:  # whatever it is: there is no address
            found = []
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(tell, found)

    threading.Thread(target=ask, name=f"lookup {name[:40]}", daemon=True).start()
    return await answer
