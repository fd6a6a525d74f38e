"""Everything that can go wrong at a border of frontrank, as one tree.

    FrontrankError            any of the below; the command line prints its sentence and exits with code 2
    ├── InputError            a file, line, seed or number that was given cannot be used
    │   ├── SourceError       a web cannot be read: missing, truncated, of another format
    │   ├── SeedError         a seed is not a page of the web
    │   └── StorageError      a crawl's directory cannot be written, read or shared
    └── SpecError             an ordering, parameter or web specification is not understood

A message says what was given, what was expected, and what to do. Kernels never raise.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FrontrankError(Exception):
    """Base of all errors that are a user's to mend."""


class InputError(FrontrankError):
    """A file, line, seed or number that was given cannot be used."""


class SourceError(InputError):
    """A web cannot be read."""


class SeedError(InputError):
    """A seed is not a page of the web."""


class StorageError(InputError):
    """A crawl's directory cannot be written, read or shared."""


class SpecError(FrontrankError):
    """An ordering, parameter or web specification is not understood."""


def nearest(given: str, known: Iterable[str]) -> str:
    """A suggestion to append to a message about an unknown name.

    >>> nearest("pagernk", ["pagerank", "opic"])
    "; did you mean 'pagerank'? Known: opic, pagerank"
    >>> nearest("zzz", ["pagerank", "opic"])
    '; known: opic, pagerank'
    """
    names = sorted(known)
    close = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
    listed = ", ".join(names) if names else "none"
    return f"; did you mean {close[0]!r}? Known: {listed}" if close else f"; known: {listed}"
