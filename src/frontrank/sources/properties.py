"""Java property files: ``key=value``, ``key: value`` or ``key value``, comments after # or !, backslash escapes."""

from __future__ import annotations

import re

from frontrank.errors import SourceError

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ENTRY = re.compile(r"((?:\\.|[^\\=:\s])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_properties(path: str) -> dict[str, str]:
    try:
        with open(path, encoding="latin-1", newline="") as file:
            return parse_properties(file.read())
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror or error})") from None


def parse_properties(text: str) -> dict[str, str]:
    r"""
    >>> parse_properties("# note\nnodes=3\nflags: A_B | \\\n  C\\:D\nk\\ ey v\\u0061l")
    {'nodes': '3', 'flags': 'A_B | C:D', 'k ey': 'val'}
    """
    entries: dict[str, str] = {}
    pending = ""
    for line in re.split(r"\r\n|\r|\n", text):
        line = line.lstrip(" \t\f")
        if not pending and (not line or line[0] in "#!"):
            continue
        line = pending + line
        if (len(line) - len(line.rstrip("\\"))) % 2:  # an odd number of backslashes: the entry goes on
            pending = line[:-1]
            continue
        pending = ""
        found = _ENTRY.match(line)
        assert found is not None  # every part of the pattern may be empty
        entries[_plain(found[1])] = _plain(found[2])
    return entries


def _plain(text: str) -> str:
    return _ESCAPE.sub(_unescaped, text)


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _CONTROL.get(code, code)
