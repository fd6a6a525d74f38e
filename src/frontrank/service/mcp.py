"""A server of the Model Context Protocol: a language model asks about a crawl, over standard input and output.

One JSON-RPC message per line. The five methods that a server of tools needs are written out here: the official package would
bring an HTTP client, a data validation library and a tracing library for them.

    status, next, explain, compare      of a crawl in a directory, or of one of a service (by its HTTP side)
    simulate, recommend                 other orderings on what it has fetched
    boost, limit_host, pause, ...       the operator verbs, if they are allowed: nothing else changes a crawl
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import IO, Any
from urllib.parse import quote

import msgspec

from frontrank import __version__
from frontrank.crawl.verbs import MCP
from frontrank.errors import FrontrankError
from frontrank.service.http.operations import Operation, Target
from frontrank.service.http.params import Params, from_data, schema_of
from frontrank.service.http.reader import CrawlReader
from frontrank.service.http.rest_client import RestClient
from frontrank.service.http.routes import OPERATIONS
from frontrank.system.workers import Closed, Died, TooLong

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # of the protocol; tools are the same in all
MAX_LINE_LENGTH = 1_000_000
TOO_LONG = "the answer took too long, and was given up; ask for less"
ASKED = {"status": "getStatus", "next": "getNext"} | {
    name: name for name in ("explain", "compare", "simulate", "recommend")
}  # tool: operation
PARSE, REQUEST, METHOD, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603  # JSON-RPC's codes of errors


@dataclass(frozen=True)
class Tool:
    name: str
    about: str
    params: type[Params]
    answer: Callable[[Any], Any]
    reads: bool = True  # it changes nothing

    def described(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.about,
            "inputSchema": schema_of(self.params),
            "annotations": {"readOnlyHint": self.reads, "openWorldHint": False},
        }


# Tools ---------------------------------------------------------------------------------------------------------------------
def tools_of_directory(reader: CrawlReader, control: bool = False) -> list[Tool]:
    name = next(iter(reader.ids()))
    return list(_tools(lambda operation, params: operation.answer(Target(reader, name), params), control))


def tools_of_service(client: RestClient, crawl: str, control: bool = False) -> list[Tool]:
    def asked(operation: Operation, params: Params) -> Any:
        path = operation.path.replace("{crawl}", quote(crawl, safe=""))
        given = {name: value for name, value in msgspec.to_builtins(params).items() if value is not None}
        return client.request(path, given, post=operation.acts)

    return list(_tools(asked, control))


def _tools(asked: Callable[[Operation, Params], Any], control: bool) -> Iterable[Tool]:
    """The tools that read and, with ``control``, the verbs of operators."""
    named = {operation.name: operation for operation in OPERATIONS}
    for tool, name in ASKED.items():
        yield Tool(tool, named[name].about, named[name].params, partial(asked, named[name]))
    for operation in OPERATIONS if control else ():
        if operation.verb is not None and MCP in operation.verb.callers:
            yield Tool(operation.verb.method, operation.about, operation.params, partial(asked, operation), reads=False)


# The protocol ---------------------------------------------------------------------------------------------------------------
class McpServer:
    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools = {tool.name: tool for tool in tools}

    def serve(self, lines: IO[bytes], out: IO[bytes]) -> None:
        """Answer until the input ends."""
        while line := lines.readline(MAX_LINE_LENGTH + 1):
            if len(line) > MAX_LINE_LENGTH:
                while line and not line.endswith(b"\n"):
                    line = lines.readline(MAX_LINE_LENGTH)
                answer: dict[str, Any] | None = _error(None, REQUEST, f"a message must have at most {MAX_LINE_LENGTH:,} bytes")
            else:
                answer = self.answer(line) if line.strip() else None
            if answer is not None:
                out.write(json.dumps(answer).encode() + b"\n")
                out.flush()

    def answer(self, line: bytes) -> dict[str, Any] | None:
        """The answer to a message; None for a notification."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return _error(None, PARSE, "a message must be one line of JSON")
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            if isinstance(message, dict) and ("result" in message or "error" in message):
                return None  # an answer to a request that was never sent
            return _error(None, REQUEST, "a message must be a JSON-RPC request")
        if "id" not in message:
            return None
        params = message.get("params", {})
        if not isinstance(params, dict):
            return _error(message["id"], PARAMS, "params must be an object")
        return self._called(message["id"], message["method"], params)

    def _called(self, number: Any, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            asked = params.get("protocolVersion")
            return _result(number, self._hello(asked if asked in VERSIONS else VERSIONS[0]))
        if method == "ping":
            return _result(number, {})
        if method == "tools/list":
            return _result(number, {"tools": [tool.described() for tool in self.tools.values()]})
        if method == "tools/call":
            return self._tool(number, params)
        return _error(number, METHOD, f"there is no method {method[:80]!r}")

    def _hello(self, version: str) -> dict[str, Any]:
        return {
            "protocolVersion": version,
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": "frontrank", "version": __version__},
            "instructions": "Ask about one web crawl: how far it is, which pages come next and why, what other orderings do.",
        }

    def _tool(self, number: Any, params: dict[str, Any]) -> dict[str, Any]:
        tool = self.tools.get(params["name"]) if isinstance(params.get("name"), str) else None
        if tool is None:
            return _error(number, PARAMS, f"a tool must be one of {', '.join(self.tools)}")
        try:
            answer = tool.answer(from_data(tool.params, params.get("arguments") or {}))
            text = json.dumps(msgspec.to_builtins(answer), indent=1, allow_nan=False)
        except (FrontrankError, TooLong, Died, Closed) as error:
            sentence = str(error) if isinstance(error, FrontrankError) else TOO_LONG
            return _result(number, {"content": [{"type": "text", "text": sentence}], "isError": True})
        except Exception:  # a defect of ours does not end the session; standard error has it
            traceback.print_exc(file=sys.stderr)
            return _error(number, INTERNAL, "something went wrong in frontrank; its standard error says what")
        return _result(number, {"content": [{"type": "text", "text": text}]})


def _result(number: Any, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _error(number: Any, code: int, sentence: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": sentence}}
