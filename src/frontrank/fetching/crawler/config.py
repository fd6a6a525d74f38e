"""What a person writes in files for a crawl: its options in TOML, its seeds one per line.

Keys of the TOML file are the names of the options, with dashes or underscores. A value that cannot be used is refused with its
file and line.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from frontrank.deprecated import ALIASES
from frontrank.errors import InputError, SourceError, nearest
from frontrank.fetching.crawler.options import options
from frontrank.options import SWITCH
from frontrank.pages.urls import usable_seed
from frontrank.system.text_files import read_lines

ON_THE_LINE = ("out", "resume", "rescore", "config", "json", "quiet")  # of one run; only the command takes them


def read_config(path: str) -> dict[str, Any]:
    """The options in a TOML file, by the names of their fields."""
    lines = read_lines(path)
    try:
        table = tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not TOML: {error}; expected lines such as delay = 2.5") from None
    by_name = {one.name: one for one in options().values()}
    values: dict[str, Any] = {}
    for key, value in table.items():
        name, where = key.replace("_", "-"), f"{path}{_line(lines, key)}"
        name = ALIASES.get(f"--{name}", name).removeprefix("--")
        negated = name not in by_name and name.removeprefix("no-") in by_name
        one = by_name.get(name.removeprefix("no-") if negated else name)
        if name in ON_THE_LINE:
            raise InputError(f"{where}: {key} is not for a file; give --{name} on the command line")
        if one is None or (negated and one.kind != SWITCH):
            raise InputError(f"{where}: unknown option {key!r}{nearest(name, by_name)}")
        if one.field in values:
            raise InputError(f"{where}: {one.name} is given twice; keep one of the two")
        given = one.read(value, f"{where}: {key}")
        values[one.field] = not given if negated else given
        if one.field == "seeds":
            values["seeds"] = _seeds(given, where)
    return values


def read_seeds(path: str) -> list[str]:
    """The URLs of a file, one per line; empty lines and lines that begin with # are skipped."""
    found: list[str] = []
    bad: list[str] = []
    try:
        lines = read_lines(path)
    except SourceError as error:
        raise InputError(f"{error}; expected a text file with one URL per line") from None
    for number, line in enumerate(lines, 1):
        url = line.strip()
        if url and not url.startswith("#"):
            try:
                found.append(usable_seed(url))
            except InputError as error:
                bad.append(f"{path}, line {number}: {error}")
    if bad:
        raise InputError(bad[0] + (f" (lines that are not seeds: {len(bad):,})" if len(bad) > 1 else ""))
    if not found:
        raise InputError(f"{path}: contains no seeds; expected one URL per line")
    return found


def _seeds(given: tuple[str, ...], where: str) -> tuple[str, ...]:
    try:
        return tuple(usable_seed(url) for url in given)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _line(lines: list[str], key: str) -> str:
    for number, line in enumerate(lines, 1):
        if re.match(rf"""\s*["']?{re.escape(key)}["']?\s*[=.\]]""", line) or re.match(rf"\s*\[+\s*{re.escape(key)}", line):
            return f", line {number}"
    return ""
