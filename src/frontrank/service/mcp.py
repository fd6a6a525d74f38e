"""A server of the Model Context Protocol: a language model asks about a crawl, over standard input and output.

One JSON-RPC message a line. The protocol's five methods that a server of tools needs are written out here: the official package
would bring an HTTP client, a data validation library and a tracing library for them. Tools read; none changes a crawl.

    status, next, explain, compare      of a crawl in a directory, or of one of a service (by its HTTP side)
    simulate, recommend                 other orderings on what a crawl in a directory has fetched
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from frontrank import __version__
from frontrank.errors import FrontrankError, InputError
from frontrank.service.http import fields, replays
from frontrank.service.http.answers import Asked
from frontrank.service.http.asking import ask
from frontrank.service.http.desk import Desk
from frontrank.service.http.fields import Field
from frontrank.service.http.routes import OPERATIONS, Operation

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # of the protocol; tools are the same in all
LONGEST_LINE = 1_000_000
ASKED = {"status": "getStatus", "next": "getNext", "explain": "explain", "compare": "compare"}  # tool: operation
PARSE, REQUEST, METHOD, PARAMS = -32700, -32600, -32601, -32602  # JSON-RPC's codes of errors


@dataclass(frozen=True)
class Tool:
    name: str
    about: str
    fields: tuple[Field, ...]
    answer: Callable[[dict[str, Any]], Any]

    def told(self) -> dict[str, Any]:
        schema = {
            "type": "object",
            "properties": {field.name: field.schema() | {"description": field.about} for field in self.fields},
            "required": [field.name for field in self.fields if field.needed],
            "additionalProperties": False,
        }
        return {
            "name": self.name,
            "description": self.about,
            "inputSchema": schema,
            "annotations": {"readOnlyHint": True, "openWorldHint": False},
        }


# What is asked --------------------------------------------------------------------------------------------------------------
def tools_of_directory(folder: Path, desk: Desk) -> list[Tool]:
    name = next(iter(desk.ids()))

    def asked(operation: Operation, given: dict[str, Any]) -> Any:
        return operation.answer(Asked(desk, name, given))

    return [*_asking(asked), *_trying(folder)]


def tools_of_service(address: str, crawl: str, token: str) -> list[Tool]:
    def asked(operation: Operation, given: dict[str, Any]) -> Any:
        return ask(address, operation.path.replace("{crawl}", quote(crawl, safe="")), token, given)

    return [*_asking(asked), _advice()]


def _asking(asked: Callable[[Operation, dict[str, Any]], Any]) -> Iterable[Tool]:
    named = {operation.name: operation for operation in OPERATIONS}
    for tool, name in ASKED.items():
        yield Tool(tool, named[name].about, named[name].fields, partial(asked, named[name]))


def _trying(folder: Path) -> Iterable[Tool]:
    policies = Field(
        "policies", "string", "orderings to try, with spaces between: surf opic fpr:m=100", "bfs surf", longest=500
    )
    budget = Field("budget", "number", "share of the pages that each may fetch", 0.3, 0.001, 1.0)
    wish = Field("for", "string", "importance, coverage, votes or topic:WORDS", "importance", longest=200)
    yield Tool(
        "simulate",
        "Crawl what this crawl has fetched once more with other orderings: how soon does each find the important pages?",
        (policies, budget),
        lambda given: _simulated(folder, given["policies"].split(), given["budget"]),
    )
    yield Tool(
        "recommend",
        "Which ordering to take for a crawl like this one: several are tried on what it has fetched.",
        (wish,),
        lambda given: _recommended(folder, given["for"]),
    )


def _simulated(folder: Path, policies: list[str], budget: float) -> Any:
    from frontrank.lab.compare import compare
    from frontrank.sources import load

    if not 1 <= len(policies) <= 8:
        raise InputError(f"policies must name 1 to 8 orderings, got {len(policies)}")
    return compare(load(str(folder)), [replays.ordering(spec) for spec in policies], budget=budget).json()


def _recommended(folder: Path, wish: str) -> Any:
    from frontrank.lab.recommend import Wish, recommend
    from frontrank.sources import load

    chosen = Wish.of(wish)
    if chosen.name not in ("importance", "coverage", "votes", "topic"):
        raise InputError(f"for must be importance, coverage, votes or topic:WORDS, got {wish!r}")
    return recommend(load(str(folder)), chosen, draws=2).json()


def _advice() -> Tool:
    from frontrank.lab.advice import advice_for

    about = "Which ordering to use for what: a table. (Orderings are tried only on a crawl whose directory is available.)"
    return Tool("recommend", about, (), lambda given: [row.json() for row in advice_for(None)])


# The protocol ---------------------------------------------------------------------------------------------------------------
class Server:
    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools = {tool.name: tool for tool in tools}

    def serve(self, lines: IO[bytes], out: IO[bytes]) -> None:
        """Answer until the input ends."""
        while line := lines.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                while line and not line.endswith(b"\n"):
                    line = lines.readline(LONGEST_LINE)
                answer: dict[str, Any] | None = _error(None, REQUEST, f"a message must have at most {LONGEST_LINE:,} bytes")
            else:
                answer = self.answer(line) if line.strip() else None
            if answer is not None:
                out.write(json.dumps(answer).encode() + b"\n")
                out.flush()

    def answer(self, line: bytes) -> dict[str, Any] | None:
        """What is answered to a message; nothing to a notification."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return _error(None, PARSE, "a message must be one line of JSON")
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            if isinstance(message, dict) and ("result" in message or "error" in message):
                return None  # an answer, to a question that was never asked
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
            return _result(number, {"tools": [tool.told() for tool in self.tools.values()]})
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
            told = tool.answer(fields.read_body(tool.fields, params.get("arguments") or {}))
        except FrontrankError as error:
            return _result(number, {"content": [{"type": "text", "text": str(error)}], "isError": True})
        return _result(number, {"content": [{"type": "text", "text": json.dumps(told, indent=1, allow_nan=False)}]})


def _result(number: Any, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _error(number: Any, code: int, sentence: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": sentence}}
