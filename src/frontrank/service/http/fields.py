"""What a request may say: each field is defined once, and documents and checks what is given by that definition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from frontrank.errors import InputError
from frontrank.service.limits import MAX_URL_LENGTH

NEEDED: Any = object()  # the default of a field that must be given
KINDS: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float), "array": (list,)}
CALLED = {"string": "text", "integer": "a whole number", "number": "a number", "array": "a list"}


@dataclass(frozen=True)
class Field:
    name: str
    kind: str  # string, integer, number or array; an array is for bodies
    about: str
    default: Any = NEEDED
    least: float | None = None
    most: float | None = None
    longest: int = MAX_URL_LENGTH
    format: str = ""
    items: Field | tuple[Field, ...] = ()  # of an array: what each of them is, a value or an object; ``most`` is how many

    @property
    def needed(self) -> bool:
        return self.default is NEEDED

    def schema(self) -> dict[str, Any]:
        made: dict[str, Any] = {"type": self.kind}
        if self.kind == "array":
            row = self.items.schema() if isinstance(self.items, Field) else body_schema(self.items)
            return made | {"items": row, "minItems": 1, "maxItems": self.most}
        if self.kind == "string":
            made |= {"maxLength": self.longest, **({"minLength": 1} if self.needed else {})}
        limits = {"minimum": self.least, "maximum": self.most, "format": self.format or None}
        made |= {key: value for key, value in limits.items() if value is not None}
        if not self.needed and self.default is not None:
            made["default"] = self.default
        return made

    def read(self, text: str) -> Any:
        """The value of a field of a query."""
        if self.kind == "string":
            return self.check(text)
        try:
            value = int(text) if self.kind == "integer" else float(text)
        except ValueError:
            raise InputError(f"{self.name} must be {CALLED[self.kind]}, got {shown(text)}") from None
        return self.check(value)

    def check(self, value: Any) -> Any:
        if not isinstance(value, KINDS[self.kind]) or isinstance(value, bool):
            raise InputError(f"{self.name} must be {CALLED[self.kind]}, got {shown(value)}")
        if isinstance(value, list):
            return self._list(value)
        return self._text(value) if isinstance(value, str) else self._number(value)

    def _list(self, values: list[Any]) -> list[Any]:
        if not 0 < len(values) <= self._most:
            raise InputError(f"{self.name} must be a list of 1 to {self._most:,g}, got {len(values):,}")
        made = []
        for place, value in enumerate(values, 1):
            try:
                made.append(self.items.check(value) if isinstance(self.items, Field) else read_body(self.items, value, "it"))
            except InputError as error:
                raise InputError(f"number {place:,} of {self.name}: {error}") from None
        return made

    def _number(self, value: Any) -> Any:
        if not (self._least <= value <= self._most) or abs(value) == math.inf:
            raise InputError(f"{self.name} must be {self._range()}, got {shown(value)}")
        return value

    def _text(self, value: str) -> str:
        if len(value) > self.longest:
            raise InputError(f"{self.name} must have at most {self.longest:,} characters, got {len(value):,}")
        if self.needed and not value:
            raise InputError(f"{self.name} must not be empty")
        try:
            value.encode()
        except UnicodeEncodeError:  # half of a pair of surrogates
            raise InputError(f"{self.name} must be valid Unicode, got {shown(value)}") from None
        return value

    @property
    def _least(self) -> float:
        return -math.inf if self.least is None else self.least

    @property
    def _most(self) -> float:
        return math.inf if self.most is None else self.most

    def _range(self) -> str:
        if self.most is None:
            return f"at least {self.least:g}" if self.least is not None else "a finite number"
        return f"from {self._least:,g} to {self._most:,g}"


def shown(value: Any) -> str:
    """What was given, shortened.

    >>> shown("a" * 100), shown([1])
    ("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'", 'a list')
    """
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:40] + "...")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value) if abs(value) < 1e16 else f"{float(value):g}" if abs(value) < 1e300 else "a huge number"
    return {list: "a list", dict: "an object", type(None): "null", bool: "a truth value"}.get(type(value), "something else")


def read_query(fields: Sequence[Field], given: Mapping[str, str]) -> dict[str, Any]:
    return _all(fields, {field.name: field.read(given[field.name]) for field in fields if field.name in given})


def body_schema(fields: Sequence[Field]) -> dict[str, Any]:
    """The JSON schema of an object with these fields."""
    return {
        "type": "object",
        "properties": {field.name: field.schema() | {"description": field.about} for field in fields},
        "required": [field.name for field in fields if field.needed],
        "additionalProperties": False,
    }


def read_body(fields: Sequence[Field], given: Any, called: str = "the body") -> dict[str, Any]:
    if not isinstance(given, dict):
        raise InputError(f"{called} must be a JSON object, got {shown(given)}")
    known = {field.name: field for field in fields}
    for name in given:
        if name not in known:
            takes = ", ".join(known) or "none"
            raise InputError(f"{called} has an unknown field {shown(name)}; fields: {takes}")
    return _all(fields, {name: known[name].check(value) for name, value in given.items()})


def _all(fields: Sequence[Field], found: dict[str, Any]) -> dict[str, Any]:
    for field in fields:
        if field.name not in found:
            if field.needed:
                raise InputError(f"{field.name} must be given: {field.about}")
            found[field.name] = field.default
    return found
