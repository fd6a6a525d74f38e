"""A client of the HTTP side of a service: for commands and for tools of a language model."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from frontrank.errors import InputError
from frontrank.service.security import SYSTEM, check_token_is_safe

TIMEOUT_S = 600.0  # a replay of a large crawl takes minutes
MAX_ERROR_LENGTH = 65_536


@dataclass(frozen=True)
class RestClient:
    """A service's HTTP side at an address. Without a scheme that is http, or https with ``tls_ca``: the file of a certificate
    (PEM) that is trusted, or "system". A token is sent over TLS or loopback only."""

    address: str
    token: str = ""
    tls_ca: str = ""
    insecure: bool = False

    @property
    def base(self) -> str:
        scheme = "" if "://" in self.address else "https://" if self.tls_ca else "http://"
        return (scheme + self.address).rstrip("/")

    def request(self, path: str, params: dict[str, Any] | None = None, *, post: bool = False) -> Any:
        """The answer to a request. Parameters go into the query, or into the body of an action; a refusal is an InputError."""
        base = self.base
        check_token_is_safe(self.address, self.token, base.startswith("https://"), self.insecure)
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        body = None
        if post:
            body = json.dumps(params or {}).encode()
            headers["Content-Type"] = "application/json"
        elif params:
            path += f"?{urlencode(params)}"
        try:
            request = urllib.request.Request(base + path, body, headers)
            with self._opener().open(request, timeout=TIMEOUT_S) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise InputError(f"{self.address}: {_reason(error)}") from None
        except (OSError, ValueError) as error:
            why = getattr(error, "reason", error)
            raise InputError(f"{self.address}: cannot be asked ({why}); is the service running?") from None

    def _opener(self) -> urllib.request.OpenerDirector:
        handlers: list[urllib.request.BaseHandler] = [_NoRedirects()]
        if self.base.startswith("https://"):
            handlers.append(urllib.request.HTTPSHandler(context=self._trust()))
        return urllib.request.build_opener(*handlers)

    def _trust(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=None if self.tls_ca in ("", SYSTEM) else self.tls_ca)
        except (OSError, ValueError) as error:  # an SSLError is an OSError
            why = error.strerror if isinstance(error, FileNotFoundError | PermissionError) else "no PEM file"
            raise InputError(f"{self.tls_ca}: the certificate cannot be read ({why})") from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A token is never sent on to another address: a redirect is an error like any other."""

    def redirect_request(self, *args: Any) -> None:
        return None


def _reason(error: urllib.error.HTTPError) -> str:
    if 300 <= error.code < 400:
        return f"sends elsewhere (status {error.code}); give the address of the service itself"
    try:
        return str(json.loads(error.read(MAX_ERROR_LENGTH))["error"])
    except (ValueError, KeyError, TypeError):
        return f"the service answered with status {error.code}"
