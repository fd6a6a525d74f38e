"""IDs of crawls, and the directories that are named by them.

An ID is any text, and comes from anybody who may call the service. So a directory is named by a code of it, in which nothing
but letters, digits, "_" and "-" stand for themselves: no ID leads out of the folder, and two IDs never share a directory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from frontrank.errors import InputError

DEFAULT = "DEFAULT"
MAX_ID_LENGTH = 1_000  # characters
MAX_NAME_LENGTH = 120  # of a directory; file systems hold 255 bytes


def crawl_id(given: str) -> str:
    """An ID as it is kept: blank is "DEFAULT".

    >>> crawl_id(""), crawl_id("news")
    ('DEFAULT', 'news')
    """
    name = given if given.strip() else DEFAULT
    if len(name) > MAX_ID_LENGTH:
        raise InputError(f"the ID of a crawl must have at most {MAX_ID_LENGTH:,} characters, got {len(name):,}")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(f"the ID of a crawl must be valid Unicode, got {name!r}") from None
    return name


def id_in(notes: Mapping[str, Any], path: Path) -> str:
    """The ID of the crawl in a directory: noted in it, unless it was moved there from elsewhere."""
    return crawl_id(str(notes.get("crawl_id", unquote(path.name))))


def directory_of(name: str) -> str:
    """The name of the directory of a crawl's ID. Long ones end in a digest.

    >>> directory_of("news/sport"), directory_of(".."), directory_of("Ü")
    ('news%2Fsport', '%2E%2E', '%C3%9C')
    """
    coded = quote(name, safe="").replace(".", "%2E").replace("~", "%7E")
    if len(coded) <= MAX_NAME_LENGTH:
        return coded
    digest = hashlib.sha256(name.encode()).hexdigest()
    return f"{coded[: MAX_NAME_LENGTH - len(digest) - 1]}~{digest}"
