"""Groups of hosts that share one pace and one budget: a registered domain, or hosts that somebody knows to be one machine.

host      each host by itself (the default)
domain    all hosts of a registered domain: news.bbc.co.uk and www.bbc.co.uk
ip        all hosts at one address; it is looked up when a host is first to be asked, and until then the host stands by itself
FILE      one group a line, hosts with blanks between them; a host that is in none stands by itself
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from frontrank.errors import InputError
from frontrank.pages.urls import host_of, is_address, registered_domain

HOST, DOMAIN, IP, LISTED = "host", "domain", "ip", "list"
MAX_HOST_LENGTH, MAX_HOSTS = 255, 10_000  # of a group that is made while a crawl runs
Groups = str | Mapping[str, str]  # host, domain, ip, or the group of each host that has one


def grouping(groups: Groups) -> Callable[[str], str] | None:
    """The group of a URL's host; None if each host stands by itself.

    >>> by = grouping({"a.org": "a.org", "b.org": "a.org"})
    >>> by("http://b.org/1"), by("http://c.org/"), grouping("domain")("http://news.bbc.co.uk/")
    ('a.org', 'c.org', 'bbc.co.uk')
    """
    if groups in (HOST, IP):
        return None
    if groups == DOMAIN:
        return lambda url: registered_domain(host_of(url))
    assert not isinstance(groups, str)

    def of(url: str) -> str:
        host = host_of(url)
        return groups.get(host, host)

    return of


def read_groups(given: str) -> Groups:
    """What an option says: host, domain, ip, or a file of groups. A group is called by its first host."""
    if given in (HOST, DOMAIN, IP):
        return given
    if not Path(given).exists():
        raise InputError(f"groups of hosts must be host, domain, ip, or a file, got {given!r} (there is none of that name)")
    groups: dict[str, str] = {}
    for number, hosts in _lines(given):
        for host in hosts:
            if host in groups:
                raise InputError(f"{given}, line {number}: {host} is in a group already; each host may be in one")
            groups[host] = hosts[0]
    if not groups:
        raise InputError(f"{given}: names no host; write one group per line, hosts separated by blanks")
    return groups


def read_hosts(given: str) -> list[str]:
    """The hosts of a file, with blanks or line ends between them: one group."""
    hosts = list(dict.fromkeys(host for _, hosts in _lines(given) for host in hosts))
    if not hosts:
        raise InputError(f"{given}: names no host; write host names, separated by blanks or one per line")
    return hosts


def _lines(given: str) -> Iterator[tuple[int, list[str]]]:
    try:
        lines = Path(given).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"hosts must be given in a file that can be read, got {given!r} ({why})") from None
    for number, line in enumerate(lines, 1):
        hosts = line.split("#", 1)[0].lower().split()
        for host in hosts:
            if not is_host(host):
                raise InputError(f"{given}, line {number}: {host!r} is not a host name; write names, such as www.example.org")
        yield number, hosts


def is_host(name: str) -> bool:
    return host_of(f"http://{name}/") == name


class Group(NamedTuple):
    """Hosts that are to share one pace and one budget, as they are asked for.

    >>> Group.of(domain="BBC.co.uk"), Group.of(ip="2001:db8:0::1").name
    (Group(by='domain', name='bbc.co.uk', hosts=()), '2001:db8::1')
    >>> Group.of(domain="news.bbc.co.uk")
    Traceback (most recent call last):
    frontrank.errors.InputError: domain must be a registered domain, such as bbc.co.uk, got 'news.bbc.co.uk'
    """

    by: str
    name: str  # of a list: its first host
    hosts: tuple[str, ...] = ()

    @classmethod
    def of(cls, domain: str = "", ip: str = "", hosts: Sequence[str] = ()) -> Group:
        if not (isinstance(domain, str) and isinstance(ip, str)):
            raise InputError(f"a group's domain or ip must be text, got {domain if isinstance(ip, str) else ip!r}")
        if isinstance(hosts, str) or not isinstance(hosts, Sequence):
            raise InputError(f"a group's hosts must be a list of names, got {hosts!r}")
        if sum(map(bool, (domain, ip, hosts))) != 1:
            raise InputError("a group must be given by one of domain, ip and hosts")
        if domain:
            name = domain.lower().strip(".")
            if not is_host(name) or is_address(name) or "." not in name:
                raise InputError(f"domain must be a registered domain, such as example.org, got {domain[:100]!r}")
            if registered_domain(name) != name:
                raise InputError(f"domain must be a registered domain, such as {registered_domain(name)}, got {domain[:100]!r}")
            return cls(DOMAIN, name)
        if ip:
            try:
                return cls(IP, str(ipaddress.ip_address(ip)))
            except ValueError:
                raise InputError(f"ip must be an address, such as 192.0.2.7, got {ip[:100]!r}") from None
        if not all(isinstance(host, str) and 0 < len(host) <= MAX_HOST_LENGTH for host in hosts) or len(hosts) > MAX_HOSTS:
            raise InputError(f"hosts must be 1 to {MAX_HOSTS:,} names of at most {MAX_HOST_LENGTH} characters each")
        return cls(LISTED, hosts[0], tuple(dict.fromkeys(hosts)))
