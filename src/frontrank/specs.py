"""Specifications: orderings, webs and measures as a person writes them, and as they are written back.

    NAME                                fpr
    NAME:KEY=VALUE,KEY=VALUE            fpr:m=100
    NAME:KEY="TEXT"                     similarity:topic="new york, ny"       TEXT as in JSON, for commas and quotes
    package.module:Class:KEY=VALUE      shop.orderings:Margin:weight=2        a class that has no name here
    NAME.KEY, NAME#2.KEY                combine:fpr=1,fpr#2=0.5,fpr#2.m=100   parameters of parts; the second of a name

What ``write`` writes, ``split`` and ``value_of`` read back exactly: floats by the shortest digits that give the same float.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from frontrank.errors import SpecError

YES, NO = ("on", "true", "yes", "1"), ("off", "false", "no", "0")
CLASS = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
KEY = re.compile(r"\s*([^,=\s][^,=]*?)\s*=\s*")
_json = json.JSONDecoder(strict=False)


def split(spec: str) -> tuple[str, dict[str, str]]:
    """The name and the parameters of a specification, still as text.

    >>> split('similarity:topic="new york, ny",body=5')
    ('similarity', {'topic': 'new york, ny', 'body': '5'})
    >>> split("shop.orderings:Margin:weight=2")
    ('shop.orderings:Margin', {'weight': '2'})
    """
    if not isinstance(spec, str):
        raise SpecError(f"a specification must be text, such as 'fpr:m=100', got {spec!r}")
    name, _, rest = spec.strip().partition(":")
    inside, _, more = rest.partition(":")
    if CLASS.fullmatch(inside.strip()):
        name, rest = f"{name.strip()}:{inside.strip()}", more
    return name.strip(), _pairs(spec, rest)


def _pairs(spec: str, rest: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    at = 0
    while at <= len(rest) and rest:
        key = KEY.match(rest, at)
        if key is None:
            raise SpecError(f"{spec}: parameters must be KEY=VALUE, got {rest[at:].partition(',')[0]!r}")
        if key[1] in pairs:
            raise SpecError(f"{spec}: parameter {key[1]!r} given twice")
        pairs[key[1]], at = _value(spec, rest, key.end())
    return pairs


def _value(spec: str, rest: str, at: int) -> tuple[str, int]:
    """The value that begins here, and where the next pair begins."""
    if not rest.startswith('"', at):
        end = rest.find(",", at) if "," in rest[at:] else len(rest)
        return rest[at:end].strip(), end + 1
    try:
        value, end = _json.raw_decode(rest, at)
    except ValueError:
        value, end = "", at
    after = rest[end:].lstrip()
    if end == at or (after and not after.startswith(",")):
        raise SpecError(f'{spec}: text must be "TEXT", with \\" for a quote inside, got {rest[at:]}')
    return value, len(rest) - len(after) + 1


def write(name: str, parameters: Mapping[str, str]) -> str:
    """
    >>> write("similarity", {"topic": "new york, ny", "body": "5"})
    'similarity:topic="new york, ny",body=5'
    """
    pairs = ",".join(f"{key}={_quoted(text)}" for key, text in parameters.items())
    return f"{name}:{pairs}" if pairs else name


def _quoted(text: str) -> str:
    plain = "," not in text and not text.startswith('"') and text == text.strip() and text.isprintable()
    return text if plain else json.dumps(text, ensure_ascii=False)


def text_of(value: object) -> str:
    """A parameter's value as it is written.

    >>> text_of(0.8500049), text_of(100.0), text_of(1e-7), text_of(True)
    ('0.8500049', '100', '1e-07', 'on')
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return repr(value).removesuffix(".0") if value else repr(value)  # -0.0 keeps its sign
    return str(value)


def value_of(name: str, key: str, text: str, kind: Any) -> Any:
    """What a text means for a parameter of this type."""
    if hasattr(kind, "read"):  # the value is what a file has
        return kind.read(text)
    if kind == float | str:  # a number, or a word that stands for one
        try:
            return float(text)
        except ValueError:
            return text
    try:
        if kind is bool:
            if text.lower() not in YES + NO:
                raise ValueError
            return text.lower() in YES
        if kind is int:
            return _whole(text)
        if kind in (float, str):
            return kind(text)
    except (ValueError, OverflowError):
        expected = {bool: "on or off", int: "a whole number", float: "a number"}.get(kind, "text")
        raise SpecError(f"{name}: {key} must be {expected}, got {text}") from None
    raise SpecError(f"{name}: parameter {key}={text} given, but it is not a number, word or switch; set it in Python")


SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def with_unit(text: str, units: Mapping[str, float]) -> float | None:
    """A number and its unit as a number; None if it is no such thing.

    >>> with_unit("1.5h", SECONDS), with_unit("2w", SECONDS)
    (5400.0, None)
    """
    match = re.fullmatch(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))\s*([a-z]*)", text.strip().lower())
    if match is None or match[2] not in units or not abs(value := float(match[1]) * units[match[2]]) < 1e15:
        return None
    return value


class Duration(float):
    """Seconds that a person writes with a unit: 90, 30m, 1.5h, 1d.

    >>> Duration.read("1d"), Duration.read("1.5h"), float(Duration.read("90"))
    (1d, 90m, 90.0)
    """

    written = "duration"

    @classmethod
    def read(cls, text: str) -> Duration:
        value = with_unit(text, SECONDS)
        if value is None:
            raise SpecError(f"a duration must be seconds, or a number with s, m, h or d, such as 12h, got {text!r}")
        return cls(value)

    def __repr__(self) -> str:
        """As short as it can be read back exactly."""
        ways = [f"{text_of(float(self) / SECONDS[unit])}{unit}" for unit in "dhms"]
        exact = [way for way in ways if with_unit(way, SECONDS) == float(self)]
        return min(exact, key=len, default=float.__repr__(self))

    __str__ = __repr__


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        number = float(text)  # 1e6
        if not number.is_integer():
            raise ValueError from None
        return int(number)


def labels(names: Iterable[str]) -> list[str]:
    """Distinct labels for parts of the same name.

    >>> labels(["fpr", "opic", "fpr"])
    ['fpr', 'opic', 'fpr#2']
    """
    seen: dict[str, int] = {}
    labelled = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        labelled.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return labelled


def of_parts(parts: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The parameters of labelled parts, as parameters of the whole."""
    return {f"{label}.{key}": text for label, given in parts.items() for key, text in given.items()}


def per_part(outer: str, labels: Iterable[str], given: Mapping[str, str]) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """What is given for each labelled part, and what is left for the whole."""
    parts: dict[str, dict[str, str]] = {label: {} for label in labels}
    own = {}
    for key, text in given.items():
        label, dot, parameter = key.partition(".")
        if not dot:
            own[key] = text
        elif label not in parts:
            raise SpecError(f"{outer}: parameter {key!r} given, but {label!r} is not a part; parts are {', '.join(parts)}")
        else:
            parts[label][parameter] = text
    return parts, own
