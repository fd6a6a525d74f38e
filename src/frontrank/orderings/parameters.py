"""Parameters of an ordering: the fields of a frozen dataclass, checked when a value is made, and written as a specification."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, TypeVar, get_type_hints

import numpy as np

from frontrank.errors import SpecError, nearest
from frontrank.specs import text_of, value_of, write


@dataclass(frozen=True)
class Parameters:
    """What policies and rankers have in common: a name, and fields that are checked when a value is made."""

    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, np.generic):
                value = value.item()
            if f.type in ("float", float, "float | str") and isinstance(value, int) and abs(value) < 2**1023:
                value = float(value)  # kernels are compiled for the type of a parameter
            if isinstance(value, float) and not math.isfinite(value):
                raise SpecError(f"{self.name}: {f.name} must be a finite number, got {value}")
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise SpecError(f"{self.name}: {f.name} must fit 64 bits, got {value}")
            object.__setattr__(self, f.name, value)
        self.validate()

    def validate(self) -> None:
        """Raise SpecError if a parameter is out of range."""

    def require(self, holds: bool, parameter: str, expected: str) -> None:
        if not holds:
            raise SpecError(f"{self.name}: {parameter} must be {expected}, got {getattr(self, parameter)}")

    def given(self) -> dict[str, str]:
        """The parameters that differ from their defaults, as they are written in a specification."""
        values = {f.name: (getattr(self, f.name), f.default) for f in fields(self)}
        return {name: text_of(value) for name, (value, default) in values.items() if value != default}

    def spec(self) -> str:
        """How this ordering is written on the command line; ``orderings.stored`` is for programs."""
        return write(self.called(), self.given())

    def called(self) -> str:
        """Its name in specifications; a class without one is found by its module."""
        return self.name or f"{type(self).__module__}:{type(self).__qualname__}"


P = TypeVar("P", bound=Parameters)


def from_texts(kind: type[P], given: Mapping[str, str], more: tuple[str, ...] = ()) -> P:
    """What a specification says: parameters by name, as text. ``more`` are names that could be meant, too."""
    name, known, hints = kind.name or kind.__name__, [f.name for f in fields(kind)], get_type_hints(kind)
    for key in given:
        if key not in known:
            raise SpecError(f"{name}: unknown parameter {key!r}{nearest(key, [*known, *more])}")
    return kind(**{key: value_of(name, key, text, hints[key]) for key, text in given.items()})
