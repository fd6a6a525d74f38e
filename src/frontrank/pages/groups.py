"""Groups of hosts that share one pace and one budget: a registered domain, or hosts that are known to be one machine.

host      each host by itself (the default)
domain    all hosts of a registered domain: news.bbc.co.uk and www.bbc.co.uk
ip        all hosts at one address; looked up when a host is first to be asked; until then a host is a group by itself
FILE      one group per line, hosts with blanks between them; a host that is in none is a group by itself
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from frontrank.errors import InputError
from frontrank.pages.urls import host_of, registered_domain

HOST, DOMAIN, IP = "host", "domain", "ip"
MAX_HOST_LENGTH = 255
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
