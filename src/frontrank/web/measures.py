"""Measures of other packages: what makes a page important, as a function of a whole web.

    def depth(web, weight: float = 1.0):          one number for each page, larger is more important
        return [-weight * url.count("/") for url in web.urls]

An entry point ``frontrank.measures`` gives it a name (``frontrank.plugins``); then it can be used wherever an importance
metric is named, alone or in a sum: ``--metric depth:weight=2``, ``0.5*pagerank+1*depth``. Its parameters are those of the
function; ``package.module:function`` does without a name.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, get_type_hints

import numpy as np

from frontrank.errors import InputError, SpecError, nearest
from frontrank.kernels.jit import Array
from frontrank.plugins import Registry
from frontrank.specs import split, value_of
from frontrank.web.web import Web

Measure = Callable[..., Any]


def _accept(name: str, thing: Any) -> Measure:
    if not callable(thing) or isinstance(thing, type):
        raise SpecError(f"importance metric {name!r} must be a function of a web, got {thing!r}")
    measure: Measure = thing
    return measure


REGISTRY: Registry[Measure] = Registry("importance metric", "frontrank.measures", _accept)


def parameters(measure: Measure) -> dict[str, tuple[Any, Any]]:
    """The parameters of a measure beside the web: name to (type, default)."""
    hints = get_type_hints(measure)
    _, *own = signature(measure).parameters.values()
    return {one.name: (hints.get(one.name, str), one.default) for one in own if one.kind is not Parameter.VAR_KEYWORD}


def parse_measure(spec: str) -> tuple[str, dict[str, Any]]:
    """The name of a measure and its parameters."""
    name, texts = split(spec)
    known = parameters(REGISTRY.find(name))
    for key in texts:
        if key not in known:
            raise SpecError(f"importance {spec!r}: unknown parameter {key!r}{nearest(key, known)}")
    missing = [key for key, (_, default) in known.items() if default is Parameter.empty and key not in texts]
    if missing:
        raise SpecError(f"importance {spec!r}: no {missing[0]} given; write {name}:{missing[0]}=VALUE")
    return name, {key: value_of(name, key, text, known[key][0]) for key, text in texts.items()}


def measured(web: Web, name: str, given: dict[str, Any]) -> Array:
    """What a measure says of every page of a web."""
    values: Array = np.asarray(REGISTRY.find(name)(web, **given), np.float64)
    if values.shape != (web.pages,):
        raise InputError(
            f"importance {name} must give one value for each of {web.pages:,} pages, got an array of shape {values.shape}"
        )
    if not np.isfinite(values).all():
        raise InputError(f"importance {name} gave a value that is not finite")
    return values
