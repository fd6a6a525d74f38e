"""The key that signs what only the add-on may read back: one of each user, outside of every crawl directory.

    $XDG_STATE_HOME/frontrank/scrapy.key    (or ~/.local/state/frontrank/scrapy.key), 32 random bytes, mode 600

It is created when it is first needed. A crawl directory that is passed on does not contain the key, so a pickle in a
directory from elsewhere is never signed with it.
"""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from frontrank.errors import InputError
from frontrank.system.portable import sync

BYTES = 32
MAC_BYTES = 32
PURPOSE = b"frontrank: a request of Scrapy\0"


def key_path() -> Path:
    """Where the key of this user is."""
    given = os.environ.get("XDG_STATE_HOME", "")
    try:
        state = Path(given) if os.path.isabs(given) else Path.home() / ".local" / "state"
    except RuntimeError:  # no home directory
        raise InputError(
            "there is no home directory for the key that signs stored requests; set XDG_STATE_HOME to one of your own"
        ) from None
    return state / "frontrank" / "scrapy.key"


def sign(body: bytes, key: bytes) -> bytes:
    return hmac.digest(key, PURPOSE + body, "sha256")


def is_signed(body: bytes, signature: bytes, key: bytes) -> bool:
    return hmac.compare_digest(sign(body, key), signature)


def find_key() -> bytes | None:
    """The key of this user; None if none was made yet. InputError if it is there and cannot be relied on."""
    path = key_path()
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: the key that signs stored requests cannot be read ({error.strerror or error})") from None
    try:
        about = os.fstat(file)
        fine = stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid() and not about.st_mode & 0o077
        key = os.read(file, BYTES + 1) if fine else b""
    finally:
        os.close(file)
    if len(key) != BYTES:
        raise InputError(
            f"{path}: expected {BYTES} bytes in a file that you own and nobody else can read (mode 600); remove it, and a new "
            f"key is made (requests that were signed with the old one then need FRONTRANK_TRUST = True once)"
        )
    return key


def make_key() -> bytes:
    """The key of this user, made now if there is none."""
    found = find_key()
    if found is not None:
        return found
    path = key_path()
    beside = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with open(file, "wb") as writing:
                writing.write(secrets.token_bytes(BYTES))
                writing.flush()
                sync(writing.fileno())
            with suppress(FileExistsError):  # another process was first
                os.link(beside, path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"{path}: the key that signs stored requests cannot be made ({error.strerror or error}); "
            f"set XDG_STATE_HOME to a directory that you can write to"
        ) from None
    key = find_key()
    assert key is not None
    return key
