"""What requests may say: a struct for each operation, whose types check and document what is given.

``msgspec`` reads a request into its struct and says what is wrong in its own words, without the value that was given. Of those
words the place and the kind of error are taken, and the sentence is made of the struct's types and of the value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from frontrank.errors import InputError

PLACE = re.compile(r" - at `\$(.*)`$", re.DOTALL)
STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
MISSING = re.compile(r"Object missing required field `(\w+)`")
UNKNOWN = "Object contains unknown field"
NULL = {"type": "null"}


class Params(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The parameters of an operation. This class itself has none."""


P = TypeVar("P", bound=Params)


# Reading --------------------------------------------------------------------------------------------------------------------
def from_query(kind: type[P], query: Mapping[str, str]) -> P:
    """The parameters in the query of a URL, which may have others too."""
    known = [field for field in _fields(kind) if field.encode_name in query]
    return from_data(kind, {field.encode_name: _number_in(field.type, query[field.encode_name]) for field in known})


def from_json(kind: type[P], body: bytes) -> P:
    try:
        return msgspec.json.decode(body, type=kind)
    except (ValueError, RecursionError):  # what is wrong with it is found out below
        pass
    try:
        data = json.loads(body.decode())
    except (ValueError, RecursionError):
        raise InputError("the body must be a JSON object, got something that is not JSON") from None
    return from_data(kind, data)


def from_data(kind: type[P], data: Any) -> P:
    """The parameters in what JSON was read as."""
    try:
        params = msgspec.convert(data, kind)
        msgspec.json.encode(data)
    except msgspec.ValidationError as error:
        raise InputError(_sentence(kind, data, str(error))) from None
    except UnicodeEncodeError:
        raise InputError("text must be valid Unicode, got half of a pair of surrogates") from None
    return params


def _number_in(info: inspect.Type, text: str) -> Any:
    """The value of a field in a query: its text, or the number that is there."""
    reads = {inspect.IntType: int, inspect.FloatType: float}.get(type(_bare(info)), str)
    try:
        return reads(text)
    except ValueError:
        return text


# Refusals -------------------------------------------------------------------------------------------------------------------
def _sentence(kind: type[Params], data: Any, error: str) -> str:
    """What was given, and what was expected, of an error in the words of ``msgspec``."""
    where = PLACE.search(error)
    info, value, name, before = _located(kind, data, where[1] if where and not error.startswith(UNKNOWN) else "")
    if error.startswith(UNKNOWN):
        info, value, name, before = next(found for found in _objects(kind, data) if _unknown(found[0], found[1]))
        fields = ", ".join(field.encode_name for field in info.fields) or "none"
        return f"{before}{name} has an unknown field {shown(_unknown(info, value)[0])}; fields: {fields}"
    missing = MISSING.match(error)
    if missing:
        (field,) = (field for field in info.fields if field.encode_name == missing[1])
        return f"{before}{missing[1]} must be given: {_description(field.type)}"
    return f"{before}{name} must be {_expected(info)}, got {shown(value)}"


def _located(kind: type[Params], data: Any, path: str) -> tuple[Any, Any, str, str]:
    """The type and value at a place of what was given, how it is called, and what leads to it."""
    info, name, before = _bare(inspect.type_info(kind)), "the body", ""
    for field, index in STEP.findall(path):
        if index:
            before += f"number {int(index) + 1:,} of {name}: "
            info, data, name = _bare(info.item_type), data[int(index)], "it"
        else:
            (found,) = (one for one in info.fields if one.encode_name == field)
            info, data, name = _bare(found.type), data[field], field
    return info, data, name, before


def _objects(kind: type[Params], data: Any) -> list[tuple[Any, Any, str, str]]:
    """What was given, and the objects in its lists."""
    lists = [name for name, value in data.items() if name in kind.__struct_encode_fields__ and isinstance(value, list)]
    paths = [f".{name}[{place}]" for name in lists for place in range(len(data[name]))]
    found = [_located(kind, data, path) for path in ("", *paths)]
    return [one for one in found if isinstance(one[0], inspect.StructType) and isinstance(one[1], dict)]


def _unknown(info: Any, value: dict[str, Any]) -> list[str]:
    known = {field.encode_name for field in info.fields}
    return [name for name in value if name not in known]


def _expected(info: Any) -> str:
    if isinstance(info, inspect.IntType | inspect.FloatType):
        called = "a whole number" if isinstance(info, inspect.IntType) else "a number"
        minimum, maximum = info.ge, info.le
        return called + ("" if minimum is None else f" from {minimum:,g}" + ("" if maximum is None else f" to {maximum:,g}"))
    if isinstance(info, inspect.StrType):
        return "text" if info.max_length is None else f"text of {info.min_length or 0} to {info.max_length:,} characters"
    if isinstance(info, inspect.ListType):
        return f"a list of {info.min_length or 0} to {info.max_length:,}"
    return "a JSON object"


def shown(value: Any) -> str:
    """What was given, shortened.

    >>> shown("a" * 100), shown([1]), shown("")
    ("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' (100 characters)", 'a list of 1', 'an empty text')
    """
    if isinstance(value, str):
        return (
            repr(value)
            if 0 < len(value) <= 40
            else f"{value[:40] + '...'!r} ({len(value):,} characters)"
            if value
            else "an empty text"
        )
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "a huge number" if abs(value) >= 1e16 else str(value)
    return {dict: "an object", type(None): "null", bool: "a truth value"}.get(type(value), "something else")


# Documents ------------------------------------------------------------------------------------------------------------------
def schema_of(kind: type[Params]) -> dict[str, Any]:
    """The JSON schema of parameters: an object, with all that it refers to."""
    _, parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    schema = parts.pop(kind.__name__)
    return {**schema, "$defs": parts} if parts else schema


def query_parameters(kind: type[Params]) -> list[dict[str, Any]]:
    """The parameters of a query, as an OpenAPI document has them."""
    _, parts = msgspec.json.schema_components([kind])
    schema = parts[kind.__name__]
    return [
        {
            "name": name,
            "in": "query",
            "required": name in schema["required"],
            "description": _description(field.type),
            "schema": _without_null(schema["properties"][name]),
        }
        for name, field in ((field.encode_name, field) for field in _fields(kind))
    ]


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """No text of a query means null; a parameter may be omitted instead."""
    choices = [one for one in schema.get("anyOf", []) if one != NULL]
    if not choices:
        return schema
    (choice,) = choices
    return dict(choice)


def _fields(kind: type[Params]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return info.fields


def _bare(info: inspect.Type) -> Any:
    """A type without its description, and without None as an alternative."""
    while isinstance(info, inspect.Metadata):
        info = info.type
    if isinstance(info, inspect.UnionType):
        return next(_bare(one) for one in info.types if not isinstance(one, inspect.NoneType))
    return info


def _description(info: inspect.Type) -> str:
    if isinstance(info, inspect.UnionType):
        return next(filter(None, map(_description, info.types)), "")
    return str((info.extra_json_schema or {}).get("description", "")) if isinstance(info, inspect.Metadata) else ""
