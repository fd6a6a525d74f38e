"""Who may call the service, and where: checked once, before anything is opened.

on loopback     anybody on this machine; with a token, those who have it
elsewhere       those who have the token, over TLS; anything less is refused, unless --insecure is given
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

from frontrank.errors import InputError

MIN_TOKEN_LENGTH = 16  # characters
SYSTEM = "system"  # instead of the file of a certificate: those that this machine trusts
TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")  # what may stand in a header
MAKE_TOKEN = "python3 -c 'import secrets; print(secrets.token_urlsafe(32))' > token"


@dataclass(frozen=True)
class Security:
    """A token that calls must bring (empty: none), and the files of a TLS certificate and its key."""

    token: str = ""
    tls: tuple[str, str] | None = None

    def context(self) -> ssl.SSLContext | None:
        """TLS of a gRPC server."""
        if self.tls is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["h2"])
        context.load_cert_chain(*self.tls)
        return context


def security(host: str, token_file: str = "", tls_cert: str = "", tls_key: str = "", insecure: bool = False) -> Security:
    """What protects a service at this address; InputError if that is not enough."""
    if bool(tls_cert) != bool(tls_key):
        given, missing = ("--tls-cert", "--tls-key") if tls_cert else ("--tls-key", "--tls-cert")
        raise InputError(f"{given} was given without {missing}; TLS needs both files")
    protection = Security(read_token(token_file) if token_file else "", (tls_cert, tls_key) if tls_cert else None)
    lacking = [] if protection.token else ["a token (--token-file)"]
    lacking += [] if protection.tls else ["TLS (--tls-cert, --tls-key)"]
    if lacking and not insecure and not is_loopback(host):
        raise InputError(
            f"{host} can be reached from other machines, so the service needs {' and '.join(lacking)}; "
            f"give that, or --insecure if the network itself is safe, or --host 127.0.0.1 to serve this machine alone"
        )
    try:
        protection.context()
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        why = getattr(error, "strerror", None) or error
        raise InputError(f"the certificate {tls_cert} or its key {tls_key} cannot be used ({why}); give PEM files") from None
    return protection


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone. Names but localhost may lead anywhere.

    >>> [is_loopback(host) for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost", "0.0.0.0", "::", "example.org")]
    [True, True, True, True, False, False, False]
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_token_is_safe(address: str, token: str, encrypted: bool, insecure: bool) -> None:
    """Raise InputError if a token would go over a network that anybody may listen to.

    >>> check_token_is_safe("localhost:7071", "secret", encrypted=False, insecure=False)
    >>> check_token_is_safe("crawler.example.org:7071", "secret", encrypted=False, insecure=False)
    Traceback (most recent call last):
    frontrank.errors.InputError: crawler.example.org:7071 is another machine, and the token would go there unencrypted; ...
    """
    if token and not encrypted and not insecure and not is_loopback(host_in(address)):
        raise InputError(
            f"{address} is another machine, and the token would go there unencrypted; speak TLS "
            "(--tls-ca FILE, or --tls-ca system for a certificate that everybody trusts), "
            "or give --insecure if the network itself is safe"
        )


def host_in(address: str) -> str:
    """The host of an address, with or without a port and a scheme.

    >>> [host_in(address) for address in ("a.org:7071", "http://[::1]:80/", "::1", "dns:///a.org:1", "localhost")]
    ['a.org', '::1', '::1', 'a.org', 'localhost']
    """
    place = address.rpartition("//")[2].partition("/")[0] if "//" in address[:-1] else address
    place = place.lstrip("/").partition("/")[0]
    if place.startswith("["):
        return place[1:].partition("]")[0]
    return place if place.count(":") > 1 else place.partition(":")[0]


def check_address(host: str, port: int) -> None:
    """Raise InputError if nobody can listen there: to be asked before the work, not after."""
    try:
        if not 0 <= port < 2**16:  # the system would take the rest of a division
            raise OverflowError("a port must be from 0 to 65,535")
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(family, kind, protocol) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
    except (OSError, OverflowError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"cannot listen at {host}:{port} ({why}); give another address or port") from None


def read_token(path: str) -> str:
    """The token in a file."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(4096).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: the token cannot be read ({getattr(error, 'strerror', None) or 'not text'})") from None
    if len(text) < MIN_TOKEN_LENGTH or not TOKEN.fullmatch(text):
        raise InputError(
            f"{path}: a token must be one word of at least {MIN_TOKEN_LENGTH} letters, digits and ._~+/=- signs; "
            f"make one: {MAKE_TOKEN}"
        )
    if os.stat(path).st_mode & 0o004 and Path(path).is_file():
        raise InputError(f"{path}: everybody on this machine can read the token; run: chmod 600 {path}")
    return text
