"""Keeps a crawl out of private networks: no page, link, redirect or DNS answer leads it to an address that is not public.

A web page decides where a crawler goes next, so an unguarded crawler is a way into the network it runs in (server-side request
forgery). Two gates, because either alone has a hole:

    GuardMiddleware     sees every request, redirects and robots.txt included: refuses private addresses written in the URL,
                        names reserved for private networks, schemes other than http and https, URLs beyond any use
    Resolver            answers the reactor's lookups: if any address of a name is private the lookup fails, else exactly the
                        addresses checked are handed on and connected to; there is no second lookup for a rebinding name to
                        answer differently

Addresses: the registries of RFC 6890 as a table of our own (Python's `ipaddress` changes its mind between versions), multicast
and reserved ones, and IPv6 addresses that carry a private IPv4 address: mapped, compatible, 6to4, Teredo, NAT64. Names: RFC
6761 (`localhost`), 6762 (`local`), 8375 (`home.arpa`), `internal`, and names without a dot, which only a local search list can
complete.

A proxy is the user's own choice, so its name may resolve to anything. Names are then looked up by the proxy and only what is
written in a URL can be refused. The setting FRONTRANK_ALLOW_PRIVATE opens both gates. Costs one parse of the URL a request; one
lookup a name for ten minutes.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import can_ada
from scrapy.exceptions import CannotResolveHostError, IgnoreRequest
from scrapy.resolver import HostResolution
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver
from twisted.internet.threads import deferToThreadPool
from zope.interface import implementer  # type: ignore[import-untyped]

from frontrank.pages.urls import host_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

PRIVATE = "private address"
URL_MOST = 8192  # characters; servers answer longer ones with 414
NAMES_KEPT = 10_000
NAME_KEPT_S = 600.0

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
Lookup = Callable[[str], Sequence[tuple[int, Sockaddr]]]


class Refused(IgnoreRequest):
    """A request that is not made; `reason` says why, in words fit for counting."""

    retry = False

    def __init__(self, reason: str = PRIVATE, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


def is_private(address: str) -> bool:
    """Whether an IP address is anything but a public unicast one; what is no address counts as private.

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


def getaddrinfo(name: str) -> Sequence[tuple[int, Sockaddr]]:
    """The system's addresses of a name; none if it has none or cannot be one (labels of over 63 letters raise UnicodeError)."""
    try:
        found = socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return []
    return [(int(family), sockaddr) for family, _, _, _, sockaddr in found]


@implementer(IHostnameResolver)
class Resolver:
    """Scrapy's TWISTED_DNS_RESOLVER: hands on the addresses of a name only if all of them are public."""

    lookup: Lookup = staticmethod(getaddrinfo)

    def __init__(self, reactor: Any, allow_private: bool) -> None:
        self._reactor = reactor
        self.allow_private = allow_private
        self._known: OrderedDict[str, tuple[float, list[tuple[int, Sockaddr]], bool]] = OrderedDict()
        self.trusted: set[str] = set()  # names of the user's proxies

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: Any) -> Resolver:
        return cls(reactor, crawler.settings.getbool("FRONTRANK_ALLOW_PRIVATE"))

    def install_on_reactor(self) -> None:
        self._reactor.installNameResolver(self)

    def open_up(self) -> None:
        self.allow_private = True
        self._known.clear()

    def refuses(self, name: str) -> bool:
        """Whether the last lookup of this name found a private address."""
        known = self._known.get(_ascii_name(name))
        return known is not None and known[2]

    def resolveHostName(
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type] | None = None,
        transportSemantics: str = "TCP",
    ) -> Any:
        resolution: Any = HostResolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)
        name = _ascii_name(hostName)

        def answer(addresses: Sequence[tuple[int, Sockaddr]]) -> None:
            for family, sockaddr in addresses:
                kind = IPv6Address if family == socket.AF_INET6 else IPv4Address
                if addressTypes is None or kind in addressTypes:
                    resolutionReceiver.addressResolved(kind("TCP", sockaddr[0], portNumber, *sockaddr[2:]))
            resolutionReceiver.resolutionComplete()

        known = self._known.get(name)
        if not name:
            answer([])
        elif known is not None and known[0] > time.monotonic():
            answer(known[1])
        else:
            found = deferToThreadPool(self._reactor, self._reactor.getThreadPool(), type(self).lookup, name)
            found.addCallbacks(lambda all_of: self._checked(name, all_of), lambda _: [])
            found.addCallback(answer)
        return resolution

    def _checked(self, name: str, found: Sequence[tuple[int, Sockaddr]]) -> list[tuple[int, Sockaddr]]:
        addresses = list(dict.fromkeys(a for a in found if a[0] in (socket.AF_INET, socket.AF_INET6)))
        open_to_all = self.allow_private or name in self.trusted
        refused = not open_to_all and any(is_private(str(sockaddr[0])) for _, sockaddr in addresses)
        if refused:
            addresses = []
        if addresses or refused:
            self._known[name] = (time.monotonic() + NAME_KEPT_S, addresses, refused)
            self._known.move_to_end(name)
            while len(self._known) > NAMES_KEPT:
                self._known.popitem(last=False)
        return addresses


class GuardMiddleware:
    """Refuses requests that a crawl must not make, whoever asks: a link, a redirect, a robots.txt."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._allow_private = crawler.settings.getbool("FRONTRANK_ALLOW_PRIVATE")
        self._proxies = {name for proxy in getproxies().values() if (name := _proxy_name(proxy))}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> GuardMiddleware:
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        proxy = request.meta.get("proxy")
        if proxy:
            self._proxies.add(_proxy_name(proxy))
        resolver = self._resolver()
        resolver.trusted |= self._proxies
        reason = self._objection(request.url)
        if reason:
            raise Refused(reason, request.url[:200])

    def process_exception(self, request: Request, exception: Exception) -> None:
        """A failed lookup gives no reason of its own: the resolver remembers which names it refused."""
        if isinstance(exception, CannotResolveHostError) and self._resolver().refuses(host_of(request.url).strip("[]")):
            raise Refused(PRIVATE, request.url[:200]) from exception

    def _objection(self, url: str) -> str:
        if len(url) > URL_MOST:
            return "url too long"
        try:
            parsed = can_ada.parse(url)
        except (ValueError, TypeError):
            return "bad url"
        if parsed.protocol not in ("http:", "https:"):
            return "unsupported scheme"
        # A proxy's name is exempt from the resolver's check, so no page may be fetched from it.
        if not self._allow_private and (private_host(parsed.hostname) or parsed.hostname in self._proxies):
            return PRIVATE
        return ""

    def _resolver(self) -> Resolver:
        """The reactor's resolver; installed here if the way the crawl was started did not."""
        from twisted.internet import reactor

        resolver = reactor.nameResolver
        if not isinstance(resolver, Resolver):
            resolver = Resolver.from_crawler(self._crawler, reactor)
            resolver.install_on_reactor()
        elif self._allow_private and not resolver.allow_private:
            # Lookups do not say which crawl of the process they are for.
            resolver.open_up()
        return resolver


def _proxy_name(proxy: str) -> str:
    try:
        return _ascii_name(urlsplit(proxy if "://" in proxy else f"http://{proxy}").hostname or "")
    except ValueError:
        return ""
