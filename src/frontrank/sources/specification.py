"""The specification of a generated web: ``KIND:key=value,...``. Each kind is a frozen dataclass; its fields are the keys."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

from frontrank.errors import SpecError, nearest

S = TypeVar("S", bound="Specification")


@dataclass(frozen=True)
class Specification:
    kind: ClassVar[str]
    broken: ClassVar[frozenset[str]]  # numbers that need not be whole
    words: ClassVar[frozenset[str]] = frozenset()  # not only numbers

    @classmethod
    def parse(cls: type[S], spec: str) -> S:
        known = [f.name for f in fields(cls)]
        given: dict[str, Any] = {}
        for part in spec.split(",") if spec.strip() else []:
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or not key or not value:
                raise SpecError(f"{cls.kind}: parameters must be key=value, such as pages=100000, got {part!r}")
            if key not in known:
                raise SpecError(f"{cls.kind}: there is no parameter {key!r}{nearest(key, known)}")
            if key in given:
                raise SpecError(f"{cls.kind}: {key} was given twice; give it once")
            given[key] = cls._read(key, value)
        return cls(**given)

    @property
    def name(self) -> str:
        """The specification, without what is at its default."""
        changed = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        return f"{self.kind}:" + ",".join(f"{key}={short(value)}" for key, value in changed)

    @classmethod
    def _read(cls, key: str, value: str) -> int | float | str:
        """A number as people write it: 1000, 1_000, 1e6, 0.5. Whole where it should be and is."""
        if key in cls.words:
            return int(value) if value in ("0", "1") else value
        try:
            number = float(value)
            if math.isfinite(number) and key not in cls.broken and number.is_integer():
                return int(number) if "e" in value.lower() or "." in value else int(value)
        except ValueError:
            raise SpecError(f"{cls.kind}: {key} must be a number, got {value}") from None
        return number

    def _whole(self, key: str, minimum: int, maximum: int, why: str = "") -> None:
        value = getattr(self, key)
        if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
            raise SpecError(f"{self.kind}: {key} must be a whole number from {minimum} to {maximum}{why}, got {short(value)}")

    def _number(self, key: str, minimum: float, maximum: float, why: str = "") -> None:
        value = getattr(self, key)
        if not isinstance(value, int | float) or isinstance(value, bool) or not minimum <= value <= maximum:
            raise SpecError(f"{self.kind}: {key} must be a number from {minimum:g} to {maximum:g}{why}, got {short(value)}")


def short(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
