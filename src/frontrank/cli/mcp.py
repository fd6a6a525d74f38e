"""frontrank mcp: a server of the Model Context Protocol on standard input and output."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from frontrank.cli.click_options import trust_option

if TYPE_CHECKING:
    from frontrank.service.mcp import Tool


@click.command(name="mcp")
@click.argument("directory", metavar="[DIR]", required=False)
@click.option("--address", metavar="ADDRESS", help="The HTTP address of a service, instead of DIR: 127.0.0.1:7072.")
@click.option("--crawl", default="DEFAULT", show_default=True, metavar="ID", help="Which crawl of the service.")
@click.option("--token-file", metavar="FILE", help="The token of the service.")
@click.option("--tls-ca", default="", metavar="FILE", help="Certificate (PEM) of the service to trust, or: system.")
@click.option("--insecure", is_flag=True, help="Send the token beyond this machine without TLS.")
@click.option("--control", is_flag=True, help="Let the model boost, limit, block, pause and resume, too.")
@trust_option
@click.option("--json", "as_json", is_flag=True, help="List the tools as JSON, and exit.")
def command(directory: str | None, address: str | None, control: bool, as_json: bool, **connection: Any) -> None:
    """Answer a language model's questions about the crawl in DIR, or one of a service: status, next, explain, compare,
    simulate, recommend.

    It speaks the Model Context Protocol on standard input and output, and changes nothing unless --control is given. The
    crawl may be running.

    \b
    frontrank mcp my-crawl
    frontrank mcp --address 127.0.0.1:7072
    """
    from frontrank.errors import InputError, need

    need("msgspec")
    from frontrank.cli.screen import show_json
    from frontrank.service.mcp import McpServer

    if (directory is None) == (address is None):
        raise InputError("mcp needs either the directory of a crawl or the --address of a service")
    with ExitStack() as used:
        if address is not None:
            tools = _of_service(address, control, **connection)
        else:
            tools = _of_directory(Path(directory or ""), control, used)
        if as_json:
            show_json([tool.described() for tool in tools])
            return
        with os.fdopen(os.dup(1), "wb") as out:
            os.dup2(2, 1)  # what anything prints must not come between the messages
            McpServer(tools).serve(sys.stdin.buffer, out)


def _of_service(address: str, control: bool, *, crawl: str, token_file: str | None, tls_ca: str, insecure: bool) -> list[Tool]:
    from frontrank.service.http.rest_client import RestClient
    from frontrank.service.mcp import tools_of_service
    from frontrank.service.security import read_token

    client = RestClient(address, read_token(token_file) if token_file else "", tls_ca, insecure)
    return tools_of_service(client, crawl, control)


def _of_directory(folder: Path, control: bool, used: ExitStack) -> list[Tool]:
    from frontrank.crawl.journal import check_crawl
    from frontrank.crawl.stored import check_trusted
    from frontrank.service.http.reader import CrawlReader
    from frontrank.service.mcp import tools_of_directory

    check_crawl(folder)
    check_trusted(folder)
    reader = CrawlReader(folders={folder.name or "crawl": folder})
    used.callback(reader.close)
    return tools_of_directory(reader, control)
