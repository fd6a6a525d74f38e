"""A request of Scrapy as bytes in the journal of its crawl, and back.

    (nothing)                 a plain GET to the spider's parse
    {"callback": ..., ...}    JSON: what differs from that. Reading it runs no code, whoever wrote it
    signed MAC PICKLE         what JSON cannot hold (objects in meta, a Request class of the project), signed (``keys``)
    lost                      a request that was in the memory of a process
    PICKLE                    as frontrank 0.1 wrote every request; it is read if the directory is trusted

In JSON, {"$bytes": BASE64}, {"$tuple": [...]} and {"$dict": [[KEY, VALUE], ...]} stand for what JSON cannot express. As in
Scrapy's own disk queues, callbacks are kept by name, so they must be methods of the spider.
"""

from __future__ import annotations

import base64
import inspect
import json
import pickle
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.utils.request import request_from_dict

from frontrank.errors import InputError
from frontrank.fetching.addon.keys import MAC_BYTES, find_key, is_signed, make_key, sign

if TYPE_CHECKING:
    from scrapy import Spider

LOST = b"lost"
SIGNED = b"signed\0"
PICKLE = b"\x80"  # how a pickle of any protocol since 2 begins
PLAIN = Request("http://plain.invalid/").to_dict()
EXACT = frozenset((str, int, float, bool, type(None)))  # not subclasses: they would be read back as another type
OF_SCRAPY = "scrapy.http.request."  # Request classes that any JSON may name
NOT_JSON = (TypeError, ValueError, RecursionError)
_encode = json.JSONEncoder(separators=(",", ":")).encode  # made once: that takes as long as a request
CANNOT_PACK = (ValueError, TypeError, AttributeError, RecursionError, pickle.PicklingError, InputError)


class Damaged(Exception):
    """What is stored is not a request."""


def pack(request: Request, spider: Spider) -> bytes:
    """Raises one of CANNOT_PACK if a part of it cannot be stored."""
    parts = {name: value for name, value in request.to_dict(spider=spider).items() if value != PLAIN.get(name)}
    del parts["url"]
    if not parts:
        return b""
    try:
        if not str(parts.get("_class", OF_SCRAPY)).startswith(OF_SCRAPY):
            raise TypeError("a class of the project")
        return _encode(_as_json(parts)).encode()
    except NOT_JSON:
        return signed(pickle.dumps(parts, protocol=5))


def signed(body: bytes) -> bytes:
    """A pickle that this user's add-on will read again; InputError if there can be no key."""
    return SIGNED + sign(body, make_key()) + body


def pickle_in(payload: object) -> bytes:
    """The pickle of a payload; nothing if it is not one. A database from elsewhere may have any value there."""
    if not isinstance(payload, bytes):
        return b""
    if payload.startswith(SIGNED):
        return payload[len(SIGNED) + MAC_BYTES :]
    return payload if payload.startswith(PICKLE) else b""


def is_ours(payload: object) -> bool:
    """Whether a payload may be read: it is not a pickle, or one that this user signed."""
    body = pickle_in(payload)
    if not (body and isinstance(payload, bytes)):
        return True
    key = find_key() if payload.startswith(SIGNED) else None
    return key is not None and is_signed(body, payload[len(SIGNED) : len(SIGNED) + MAC_BYTES], key)


def unpack(url: str, payload: object, spider: Spider) -> Request:
    """The request of a payload that may be read; Damaged if it cannot be read, InputError if it is not one of this spider."""
    if not isinstance(payload, bytes):
        raise Damaged("not bytes")
    try:
        body = pickle_in(payload)
        parts = pickle.loads(body) if body else _from_json(json.loads(payload)) if payload else {}
        if not body and not str(parts.get("_class", OF_SCRAPY)).startswith(OF_SCRAPY):
            raise Damaged("a Request class outside of Scrapy, unsigned")
        _check_callbacks(url, parts, spider)
        return request_from_dict({**parts, "url": url}, spider=spider)
    except (InputError, Damaged):
        raise
    except Exception as error:  # whatever bytes can raise: in a pickle anything
        raise Damaged(f"{type(error).__name__}: {error}"[:200]) from None


def _check_callbacks(url: str, parts: dict[str, Any], spider: Spider) -> None:
    for kind in ("callback", "errback"):
        name = parts.get(kind)
        if name is None:
            continue
        if not isinstance(name, str) or name.startswith("__") or not inspect.ismethod(getattr(spider, name, None)):
            raise InputError(
                f"the stored request of {url} has the {kind} {name!r}, which is no method of the spider {spider.name!r}; "
                f"bring it back, or start a new crawl in another directory"
            )


def _as_json(value: Any) -> Any:
    """The same in types of JSON; TypeError if something in it would not come back as it is."""
    kind = type(value)
    if kind in EXACT:
        return value
    if kind is list:
        return [_as_json(one) for one in value]
    if kind is dict:
        for key in value:
            if type(key) is not str or key[:1] == "$":
                break
        else:
            return {key: one if type(one) in EXACT else _as_json(one) for key, one in value.items()}
        return {"$dict": [[_as_json(key), _as_json(one)] for key, one in value.items()]}
    if kind is tuple:
        return {"$tuple": [_as_json(one) for one in value]}
    if kind is bytes:
        return {"$bytes": base64.b64encode(value).decode("ascii")}
    raise TypeError(f"JSON cannot hold a {kind.__name__}")


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_json(one) for one in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        if "$bytes" in value:
            return base64.b64decode(value["$bytes"], validate=True)
        if "$tuple" in value:
            return tuple(map(_from_json, value["$tuple"]))
        if "$dict" in value:
            return {_from_json(key): _from_json(one) for key, one in value["$dict"]}
    return {key: one if type(one) in EXACT else _from_json(one) for key, one in value.items()}
