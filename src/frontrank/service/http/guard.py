"""Checks before every request, and headers of every answer.

another page in the same browser        actions take JSON alone, which no form can send, and an Origin must be this service's
a name that leads here (DNS rebinding)  without a token, the Host must be an address or localhost
anybody on the network                  a token, if one is set: for reads and actions alike; the page itself has no data
text from the web in the page           a strict content policy: no script but ours, nothing from elsewhere
long requests                           URLs, bodies: refused by a sentence before they are read
"""

from __future__ import annotations

import hmac
import ipaddress
from urllib.parse import urlsplit

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_TARGET_LENGTH = 65_536  # path and query, as they are sent: three signs for one of a URL that is asked about
MAX_BODY_LENGTH = 65_536
LONGER_BODIES = {"queries": 2**24, "impacts": 2**24}  # by the last part of a path
CONTENT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = [
    (b"content-security-policy", CONTENT.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
PRIVATE = ("/api/", "/metrics")


class Guard:
    def __init__(self, app: ASGIApp, token: str = "") -> None:
        self.app, self.token = app, token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            status, sentence = refusal
            heads = {"WWW-Authenticate": "Bearer"} if status == 401 else None
            await JSONResponse({"error": sentence}, status, heads)(scope, receive, _guarded(send))
            return
        await self.app(scope, _bounded(receive, longest_body(scope["path"])), _guarded(send))

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        heads = dict(scope["headers"])
        target = len(scope.get("raw_path", b"")) + len(scope.get("query_string", b""))
        if target > MAX_TARGET_LENGTH:
            return 414, f"the URL of a request must have at most {MAX_TARGET_LENGTH:,} bytes, got {target:,}"
        host = heads.get(b"host", b"").decode("latin-1")
        if not self.token and not is_address(host):
            return 403, "the host of a request must be an address or localhost, unless the service has a token"
        if self.token and scope["path"].startswith(PRIVATE) and not self._is_token(heads.get(b"authorization", b"")):
            return 401, "a token is needed: send it as Authorization: Bearer TOKEN"
        if scope["method"] == "POST":
            return _unsafe(heads, host, longest_body(scope["path"]))
        return None

    def _is_token(self, given: bytes) -> bool:
        kind, _, token = given.partition(b" ")
        return kind.lower() == b"bearer" and hmac.compare_digest(token.strip(), self.token)


class BodyTooLong(Exception):
    """A body is longer than it may be: raised where it is read."""


def longest_body(path: str) -> int:
    """Of an action: lists of pages, queries or hosts may be long."""
    return LONGER_BODIES.get(path.rpartition("/")[2], MAX_BODY_LENGTH)


def _unsafe(heads: dict[bytes, bytes], host: str, longest: int) -> tuple[int, str] | None:
    origin = heads.get(b"origin", b"").decode("latin-1")
    if origin and _authority(origin) != host.lower():
        return 403, "actions must come from a page of this service; this one came from another origin"
    kind = heads.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
    if kind != "application/json":
        return 415, "the body of an action must be JSON: send it with Content-Type: application/json"
    length = heads.get(b"content-length", b"0")
    if not length.isdigit() or len(length) > 15 or int(length) > longest:
        return 413, f"the body must have at most {longest:,} bytes"
    return None


def _authority(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def is_address(host: str) -> bool:
    """Whether a Host header names an address, or this machine: any other name could lead anywhere.

    >>> [is_address(host) for host in ("127.0.0.1:7072", "[::1]:7072", "localhost", "evil.example", "")]
    [True, True, True, False, False]
    """
    name = host.partition("]")[0][1:] if host.startswith("[") else host.partition(":")[0]
    if name.lower() == "localhost":
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _bounded(receive: Receive, longest: int) -> Receive:
    read = 0

    async def receive_bounded() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > longest:
            raise BodyTooLong
        return message

    return receive_bounded


def _guarded(send: Send) -> Send:
    async def send_guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return send_guarded
