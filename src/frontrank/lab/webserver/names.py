"""Hosts by name, or each host an address of its own.

By name, a URL is shown as it is: http://www.h0.example/. By address, host i is 127.0.0.(i + 2), and URLs carry the port:
http://127.0.0.2:8080/. ``own`` takes a URL that was asked for back to the web's.
"""

from __future__ import annotations

from frontrank.errors import InputError
from frontrank.lab.webserver.addresses import SCHEME, Addresses, netloc_of, served_url

HOME = "127.0.0.1"
MAX_HOSTS = 200


class ByName:
    def __init__(self, found: Addresses) -> None:
        self.found = found
        self.binds = [HOME]  # the addresses to listen at, HOME first
        self.port = 0

    def shown(self, url: str) -> str:
        return url

    def own(self, url: str) -> str:
        """As a proxy the URL is the web's own; a client that connects itself may add the server's port."""
        url = served_url(url)
        netloc = netloc_of(url)
        if netloc.endswith(f":{self.port}") and self.found.host(netloc) < 0:
            return SCHEME + netloc.rpartition(":")[0] + url[len(SCHEME) + len(netloc) :]
        return url


class ByAddress:
    def __init__(self, found: Addresses) -> None:
        count = len(found.sizes())
        if count > MAX_HOSTS:
            raise InputError(
                f"the web has {count:,} hosts, and at most {MAX_HOSTS} get addresses; serve them with --hosts name"
            )
        self.found = found
        self.binds = [HOME, *(f"127.0.0.{host + 2}" for host in range(count))]
        self.port = 0

    def shown(self, url: str) -> str:
        netloc = netloc_of(url)
        host = self.found.host(netloc)
        return url if host < 0 else f"http://127.0.0.{host + 2}:{self.port}{url[len(SCHEME) + len(netloc) :]}"

    def own(self, url: str) -> str:
        url = served_url(url)
        netloc = netloc_of(url)
        address, _, port = netloc.partition(":")
        if address not in self.binds[1:] or (port or "80") != str(self.port):
            return url
        return SCHEME + self.found.netloc(self.binds.index(address) - 1) + url[len(SCHEME) + len(netloc) :]


HostNames = ByName | ByAddress
