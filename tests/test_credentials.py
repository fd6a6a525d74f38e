"""Headers, cookies and logins: who gets them, who does not, and that nothing of them is kept."""

from __future__ import annotations

import asyncio
import os
import re
import ssl
import time
from pathlib import Path
from typing import Any

import pytest

from frontrank.errors import InputError
from frontrank.fetching.crawler import run
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.credentials import CredentialHeaders, Credentials, parse_header
from frontrank.fetching.failures import NotFetched
from frontrank.fetching.http.client import Client
from frontrank.fetching.private import Names
from frontrank.pages import html
from tests.arrivals import Answer, ArrivalLog, page, text
from tests.commands import run_command
from tests.test_http_client import plainly, serving, tls

__all__ = ["tls"]
SECRETS = ("header-secret", "cookie-secret", "password-secret", "cGFzc3dvcmQ")
COOKIE = "# Netscape HTTP Cookie File\n{domain}\t{sub}\t{path}\t{secure}\t{until}\tname\tcookie-secret\n"


def private(path: Path, content: str) -> str:
    path.write_text(content)
    path.chmod(0o600)
    return str(path)


def cookies(file: Path, **fields: Any) -> str:
    values = {"domain": "127.0.0.1", "sub": "FALSE", "path": "/", "secure": "FALSE", "until": int(time.time()) + 3600, **fields}
    return private(file, COOKIE.format(**values))


def logins(path: Path, host: str = "127.0.0.1") -> str:
    return private(path, f"machine {host} login me password password-secret\n")


class Leaky:
    """A crawl with all credentials of a site that redirects to another one, and links there."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.out = folder / "crawl"
        with ArrivalLog({"/": page(), "/elsewhere": page()}) as other:
            there = other.url.replace("127.0.0.1", "localhost")
            moved = Answer(302, headers=(f"Location: {there}/elsewhere",))
            site = {
                "/": page("/moved", "/private/a", f"{there}/"),
                "/moved": moved,
                "/private/a": page(),
                "/robots.txt": text(""),
            }
            with ArrivalLog(site) as own:
                asked: dict[str, Any] = {
                    "header": ("X-Key: header-secret",),
                    "cookie_file": cookies(folder / "cookies", path="/private"),
                    "auth_file": logins(folder / "netrc"),
                    "allow_private": True,
                    "delay": 0.0,
                    "scope": "any",
                    **more,
                }
                run.crawl(Options(seeds=(f"{own.url}/",), accept_language="de, en;q=0.5", **asked), self.out)
        self.own = {one.path: one.head for one in own.requests}
        self.other = {one.path: one.head for one in other.requests}


@pytest.fixture(scope="module", params=[1, 2], ids=["alone", "two fetchers"])
def leaky(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Leaky:
    return Leaky(tmp_path_factory.mktemp("leaky"), fetchers=request.param)


def test_the_hosts_that_are_meant_get_credentials_in_requests_of_every_kind(leaky: Leaky) -> None:
    assert {"/", "/robots.txt", "/moved", "/private/a"} <= leaky.own.keys()
    for path, head in leaky.own.items():
        assert "X-Key: header-secret\r\n" in head, path
        assert "Authorization: Basic bWU6cGFzc3dvcmQtc2VjcmV0\r\n" in head, path
        assert ("Cookie: name=cookie-secret\r\n" in head) == path.startswith("/private"), path
        assert "Accept-Language: de, en;q=0.5\r\n" in head, path


def test_no_other_host_gets_them_by_a_redirect_or_a_link(leaky: Leaky) -> None:
    assert {"/", "/elsewhere"} <= leaky.other.keys()
    for head in leaky.other.values():
        assert not re.search("X-Key|Authorization|Cookie|secret", head)
        assert "Accept-Language: de, en;q=0.5\r\n" in head


def test_nothing_secret_is_kept_in_the_directory_of_the_crawl(leaky: Leaky) -> None:
    from frontrank.pages.warc_reader import records

    files = [path for path in leaky.out.rglob("*") if path.is_file()]
    kept = b"".join(path.read_bytes() for path in files)
    kept += b"".join(record.block for path in files if path.name.endswith(".warc.gz") for record in records(str(path)))
    assert b"Accept-Language: de" in kept
    for secret in (*SECRETS, "bWU6"):
        assert secret.encode() not in kept, secret
    assert "secret" not in repr(run.stored_options(leaky.out))


def test_credentials_are_archived_if_that_is_asked_for(tmp_path: Path) -> None:
    from frontrank.pages.warc_reader import records

    crawl = Leaky(tmp_path, archive_credentials=True)
    requests = [record.block for path in (crawl.out / "warc").iterdir() for record in records(str(path))]
    assert any(b"X-Key: header-secret" in block for block in requests)


def test_a_resumed_crawl_asks_for_them_again(tmp_path: Path) -> None:
    with ArrivalLog({"/": page("/a", "/b"), "/a": page(), "/b": page()}) as server:
        given = ("--allow-private", "--delay", "0", "-q")
        first = run_command(
            "crawl", f"{server.url}/", "--out", tmp_path / "c", "--header", "X-Key: abc", "--budget", "1", *given
        )
        assert first.returncode == 0, first.stderr
        refused = run_command("crawl", "--resume", tmp_path / "c", "--budget", "2", "-q")
        assert refused.returncode == 2
        assert refused.stderr == (
            "frontrank: this crawl was started with --header, which is not stored with it; give it again, "
            "or continue without it: --header ''\n"
        )
        assert run_command("crawl", "--resume", tmp_path / "c", "--budget", "2", "-q", "--header", "X-Key: d").returncode == 0
        assert run_command("crawl", "--resume", tmp_path / "c", "--budget", "3", "-q", "--header", "").returncode == 0
        assert run_command("crawl", "--resume", tmp_path / "c", "-q").returncode == 0, "it is no longer part of the crawl"
    keys = [re.findall("X-Key: (.*)\r", one.head) for one in server.requests if one.path != "/robots.txt"]
    assert keys == [["abc"], ["d"], []]


# Who gets what ---------------------------------------------------------------------------------------------------------------
def sent(credentials: Credentials, url: str) -> dict[str, str]:
    parsed = html.parsed(url)
    assert parsed is not None
    return {name.decode(): value.decode() for name, value in CredentialHeaders(credentials).of(parsed)}


@pytest.mark.parametrize(
    ("url", "gets"),
    [
        ("https://example.org/a", True),
        ("https://www.example.org/a", True),
        ("https://example.org:8443/", True),
        ("http://example.org/", False),  # the seed is https: a link to http must not give it away
        ("https://sub.example.org/", False),
        ("https://example.org.evil.example/", False),
        ("https://plain.example/", True),
        ("http://plain.example/", True),
    ],
)
def test_headers_go_to_the_hosts_of_the_seeds(url: str, gets: bool) -> None:
    credentials = Credentials.read(["https://example.org/", "http://plain.example/x"], ["X-Key: a:b"])
    assert sent(credentials, url) == ({"X-Key": "a:b"} if gets else {})


@pytest.mark.parametrize(
    ("fields", "url", "gets"),
    [
        ({"domain": ".example.org", "sub": "TRUE"}, "http://a.example.org/", True),
        ({"domain": ".example.org", "sub": "TRUE"}, "http://example.com/", False),
        ({"domain": "example.org", "secure": "TRUE"}, "http://example.org/", False),
        ({"domain": "example.org", "secure": "TRUE"}, "https://example.org/", True),
        ({"domain": "example.org", "path": "/in"}, "http://example.org/in/side", True),
        ({"domain": "example.org", "path": "/in"}, "http://example.org/out", False),
        ({"domain": "example.org", "until": 1}, "http://example.org/", False),
        ({"domain": "example.org", "until": 0}, "http://example.org/", True),  # until the browser is closed
    ],
)
def test_cookies_go_where_a_browser_sends_them(tmp_path: Path, fields: dict[str, Any], url: str, gets: bool) -> None:
    credentials = Credentials.read(cookie_file=cookies(tmp_path / "cookies", **fields))
    assert sent(credentials, url) == ({"Cookie": "name=cookie-secret"} if gets else {})


def test_a_header_of_ones_own_goes_before_what_files_say(tmp_path: Path) -> None:
    headers = ["Authorization: Bearer x", "cookie: a=b"]
    files = {"cookie_file": cookies(tmp_path / "c", domain="example.org"), "auth_file": logins(tmp_path / "n", "example.org")}
    credentials = Credentials.read(["https://example.org/"], headers, **files)
    assert sent(credentials, "https://example.org/") == {"Authorization": "Bearer x", "cookie": "a=b"}


def test_a_certificate_that_proves_nothing_gets_no_secret(tls: ssl.SSLContext) -> None:
    """One that a public crawl takes: the request with a secret fails before it is sent."""

    async def main() -> None:
        async with serving(plainly, tls) as port:
            url = f"https://127.0.0.1:{port}/"
            own = {"names": Names(allow_private=True), "timeout_s": 20.0}
            plain = Client("robin/1.0", **own)  # type: ignore[arg-type]
            assert (await plain.get(url)).status == 200
            plain.close()
            secret = Client("robin/1.0", credentials=Credentials.read([url], ["X-Key: secret"]), **own)  # type: ignore[arg-type]
            with pytest.raises(NotFetched) as failure:
                await secret.get(url)
            secret.close()
            assert failure.value.reason == "TLS failure"

    asyncio.run(main())


# Bad input -------------------------------------------------------------------------------------------------------------------
NETSCAPE = "# Netscape HTTP Cookie File\n"
FILES = [
    ("--cookie-file", None, 0o600, "cannot be read (No such file or directory)"),
    ("--cookie-file", NETSCAPE, 0o644, "others can read it; make it yours alone with: chmod 600"),
    ("--cookie-file", NETSCAPE, 0o660, "others can read it"),
    ("--cookie-file", "name=cookie-secret", 0o600, "not in Netscape's format"),
    ("--cookie-file", NETSCAPE + "one\tcookie-secret\n", 0o600, "not in Netscape's format"),
    ("--auth-file", "machine a login b password password-secret", 0o604, "others can read it"),
    ("--auth-file", "machine a login b\npasword password-secret", 0o600, "expected lines such as: machine HOST login USER"),
    ("--auth-file", "default login a password password-secret", 0o600, "has a default entry, which every host would get"),
]


@pytest.mark.parametrize(("flag", "content", "mode", "sentence"), FILES)
def test_a_file_that_cannot_be_used_is_refused_before_the_crawl(
    tmp_path: Path, flag: str, content: str | None, mode: int, sentence: str
) -> None:
    file = tmp_path / "file"
    if content is not None:
        file.write_text(content)
        os.chmod(file, mode)
    ended = run_command("crawl", "https://a.example/", "--out", tmp_path / "crawl", flag, file)
    assert ended.returncode == 2 and sentence in ended.stderr and str(file) in ended.stderr
    assert "secret" not in ended.stderr + ended.stdout and not (tmp_path / "crawl").exists()


@pytest.mark.parametrize(
    "header", ["secret", "two words: secret", ": secret", "Host: secret", "User-Agent: secret", "X: a\nsecret"]
)
def test_a_header_that_cannot_be_sent_is_refused_without_being_shown(header: str) -> None:
    with pytest.raises(InputError, match="--header") as refusal:
        parse_header(header)
    assert "secret" not in str(refusal.value).replace("it may be secret", "")
