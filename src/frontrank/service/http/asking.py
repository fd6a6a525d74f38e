"""Asking the HTTP side of a service, by its address: for commands and for tools of a language model."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlencode

from frontrank.errors import InputError

TIMEOUT_S = 600.0  # a replay of a large crawl takes minutes
LONGEST_ERROR = 65_536


def ask(address: str, path: str, token: str = "", given: dict[str, Any] | None = None, *, post: bool = False) -> Any:
    """What a service answers. What is given goes as the query, or as the body of an action; a refusal is an InputError."""
    base = (address if "://" in address else f"http://{address}").rstrip("/")
    heads = {"Authorization": f"Bearer {token}"} if token else {}
    body = None
    if post:
        body = json.dumps(given or {}).encode()
        heads["Content-Type"] = "application/json"
    elif given:
        path += f"?{urlencode(given)}"
    try:
        request = urllib.request.Request(base + path, body, heads)
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        try:
            said = str(json.loads(error.read(LONGEST_ERROR))["error"])
        except (ValueError, KeyError, TypeError):
            said = f"the service answered with status {error.code}"
        raise InputError(f"{address}: {said}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{address}: cannot be asked ({getattr(error, 'reason', error)}); is the service running?") from None
