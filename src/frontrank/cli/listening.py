"""Options of commands that listen: the address, and who may connect: the parameters of ``service.security.security``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
OPTIONS = (
    click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on."),
    click.option("--token-file", default="", metavar="FILE", help="Requests must carry the token in this file."),
    click.option("--tls-cert", default="", metavar="FILE", help="Certificate (PEM), with --tls-key: serve over TLS."),
    click.option("--tls-key", default="", metavar="FILE", help="Key of the certificate (PEM)."),
    click.option("--insecure", is_flag=True, help="Listen beyond this machine without a token or TLS."),
)
NAMES = ("host", "token_file", "tls_cert", "tls_key", "insecure")


def protection_options(command: F) -> F:
    for option in reversed(OPTIONS):
        command = option(command)
    return command
