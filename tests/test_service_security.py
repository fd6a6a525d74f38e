"""Who may call: what a service needs before it listens beyond this machine."""

from __future__ import annotations

import subprocess
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from frontrank.errors import InputError
from frontrank.service.async_client import AsyncClient
from frontrank.service.client import Client
from frontrank.service.http import http_server
from frontrank.service.http.rest_client import RestClient
from frontrank.service.security import Security, is_loopback, security
from tests.listening import listening
from tests.served import grown
from tests.test_control import frontrank

TOKEN = "a-long-and-secret-word"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate of localhost, signed by itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    cert, key = str(folder / "cert.pem"), str(folder / "key.pem")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*made, *names, "-keyout", key, "-out", cert], check=True, capture_output=True)
    return cert, key


@pytest.fixture
def token_file(tmp_path: Path) -> str:
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return str(path)


def test_loopback_needs_nothing() -> None:
    for host in ("127.0.0.1", "::1", "localhost"):
        assert security(host) == Security()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "example.org", ""])
def test_elsewhere_needs_a_token_and_tls(host: str, token_file: str, certificate: tuple[str, str]) -> None:
    with pytest.raises(InputError, match=r"needs a token \(--token-file\) and TLS \(--tls-cert, --tls-key\)"):
        security(host)
    with pytest.raises(InputError, match=r"needs TLS \(--tls-cert, --tls-key\); give that, or --insecure"):
        security(host, token_file)
    with pytest.raises(InputError, match=r"needs a token \(--token-file\); give"):
        security(host, "", *certificate)
    assert security(host, token_file, *certificate) == Security(TOKEN, certificate)
    assert security(host, insecure=True) == Security()


def test_files_that_cannot_be_used_are_said(token_file: str, tmp_path: Path, certificate: tuple[str, str]) -> None:
    (tmp_path / "text").write_text("not a certificate")
    for cert, key in ((str(tmp_path / "text"), certificate[1]), (certificate[0], "missing"), (certificate[0], certificate[0])):
        with pytest.raises(InputError, match="cannot be used"):
            security("127.0.0.1", "", cert, key)
    with pytest.raises(InputError, match="--tls-cert was given without --tls-key"):
        security("127.0.0.1", "", certificate[0])
    with pytest.raises(InputError, match="the token cannot be read"):
        security("127.0.0.1", str(tmp_path / "missing"))


@pytest.mark.parametrize("text", ["", "short", "two words of a good length", "Käse" * 10, "x" * 20 + "\nsecond"])
def test_tokens_that_are_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(text)
    with pytest.raises(InputError, match="a token must be one word of at least 16"):
        security("127.0.0.1", str(tmp_path / "token"))


def test_a_token_that_everybody_can_read_is_refused(token_file: str) -> None:
    Path(token_file).chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        security("127.0.0.1", token_file)


def test_names_may_lead_anywhere() -> None:
    assert not is_loopback("localhost.example.org") and not is_loopback("127.0.0.1.example.org") and is_loopback("LOCALHOST")


def test_a_token_goes_over_tls_or_to_this_machine_alone(tmp_path: Path, token_file: str) -> None:
    for address in ("crawler.example.org:7071", "192.0.2.1:7071", "http://crawler.example.org:7072"):
        with pytest.raises(InputError, match="would go there unencrypted"):
            RestClient(address, TOKEN).request("/health")
    for kind in (Client, AsyncClient):
        with pytest.raises(InputError, match="would go there unencrypted"):
            kind("crawler.example.org:7071", token=TOKEN)
    Client("crawler.example.org:7071", token=TOKEN, insecure=True).close()
    Client("crawler.example.org:7071", token=TOKEN, tls_ca="system").close()
    done = frontrank("boost", "crawler.example.org:7072", "--token-file", token_file, "/news/", "+1")
    assert done.returncode == 2 and "would go there unencrypted" in done.stderr


def test_a_certificate_of_ones_own_is_trusted_by_commands(
    tmp_path: Path, token_file: str, certificate: tuple[str, str]
) -> None:
    with grown(tmp_path / "crawls") as crawls, http_server(crawls, port=0, token=TOKEN, tls=certificate) as server:
        address = server.url.removeprefix("https://")
        args = ["--token-file", token_file, "--tls-ca", certificate[0]]
        done = frontrank("boost", address, *args, "/news/", "+1")
        assert done.returncode == 0, done.stderr
        assert "/news/" in crawls.get().state.rules.families
        assert RestClient(address, TOKEN, certificate[0]).request("/api/v1/crawls")["crawls"]
        for trusted in ("", "system"):
            with pytest.raises(InputError, match="cannot be asked"):
                RestClient(server.url, TOKEN, trusted).request("/api/v1/crawls")
        with pytest.raises(InputError, match="the certificate cannot be read"):
            RestClient(server.url, TOKEN, str(tmp_path / "missing")).request("/api/v1/crawls")


def test_a_token_is_not_carried_elsewhere() -> None:
    class Elsewhere(BaseHTTPRequestHandler):
        asked: list[str] = []

        def do_GET(self) -> None:
            self.asked.append(self.path)
            self.send_response(302)
            self.send_header("Location", f"http://{self.headers['Host']}/trap")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *said: object) -> None: ...

    with listening(Elsewhere) as home, pytest.raises(InputError, match="sends elsewhere"):
        RestClient(home.removeprefix("http://"), TOKEN).request("/health")
    assert Elsewhere.asked == ["/health"]
