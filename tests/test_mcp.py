"""frontrank mcp: asked by the protocol's own client over a real pipe, and by hand where a client would not go."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from frontrank.crawl.crawl import Crawl
from frontrank.service.http.params import Params
from frontrank.service.mcp import MAX_LINE_LENGTH, McpServer, Tool
from frontrank.system.workers import Closed, Died, TooLong
from tests.served import MARKUP, grow, grown, serving

TOOLS = ["status", "next", "explain", "compare", "simulate", "recommend"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("mcp") / "crawl"
    with Crawl("backlink", path) as crawl:
        grow(crawl)
        yield path  # it is at work meanwhile


def asked(args: list[str], *calls: tuple[str, dict[str, Any]]) -> tuple[list[str], list[tuple[bool, Any]]]:
    """The tools that there are, and for each call whether it failed and what was said."""
    mcp = pytest.importorskip("mcp", reason="the client is not installed")
    from mcp.client.stdio import StdioServerParameters, stdio_client

    async def talk() -> tuple[list[str], list[tuple[bool, Any]]]:
        server = StdioServerParameters(command=sys.executable, args=["-m", "frontrank", "mcp", *args])
        async with stdio_client(server) as (reading, writing), mcp.ClientSession(reading, writing) as session:
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            said = [await session.call_tool(name, given) for name, given in calls]
            return names, [(_failed(one), _read(one.content[0].text)) for one in said]

    return anyio.run(talk)


def _failed(answer: Any) -> bool:
    return bool(getattr(answer, "is_error", None) or getattr(answer, "isError", False))


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def test_a_client_asks_about_a_running_crawl(folder: Path) -> None:
    names, (status, coming, why, other) = asked(
        [str(folder)],
        ("status", {}),
        ("next", {"n": 3}),
        ("explain", {"url": MARKUP}),
        ("compare", {"policy": "dfs", "n": 2}),
    )
    assert names == TOOLS
    assert (status[0], status[1]["fetched"], status[1]["running"]) == (False, 6, True)
    with Crawl.recover(folder, read_only=True) as crawl:
        assert [page["url"] for page in coming[1]["pages"]] == [page["url"] for page in crawl.inspect.next(3)]
    assert (why[0], why[1]["url"]) == (False, MARKUP)
    assert (other[1]["policy"], len(other[1]["head"])) == ("dfs", 2)


def test_other_orderings_are_tried_on_what_was_fetched(folder: Path) -> None:
    _, (tried, advised) = asked(
        [str(folder)], ("simulate", {"policies": "bfs dfs", "budget": 1}), ("recommend", {"for": "coverage"})
    )
    assert not tried[0] and sorted(tried[1]["policies"]) == ["bfs", "dfs"]
    assert tried[1]["web"]["pages"] == 6
    assert not advised[0] and advised[1]["for"] == "coverage"


def test_a_model_may_control_a_crawl_only_if_it_is_allowed_to(tmp_path: Path) -> None:
    with Crawl("bfs", tmp_path / "crawl") as crawl:
        crawl.seed(["http://a.example/", "http://b.example/"])
    names, said = asked(
        [str(tmp_path / "crawl"), "--control"],
        ("limit_host", {"host": "a.example", "delay_s": 7}),
        ("limit_host", {"host": "a.example"}),
        ("pause", {}),
    )
    assert names == [*TOOLS, "boost", "limit_host", "limit_pattern", "block_until", "pause", "resume"]
    assert said[0] == (False, {"done": "a.example has new limits", "applied": True})
    assert said[1][0] and "at least one of budget, delay_s" in said[1][1]
    with Crawl.recover(tmp_path / "crawl", read_only=True) as crawl:
        assert crawl.state.progress.paused and crawl.inspect.hosts()[0]["delay"] == 7.0


def test_what_cannot_be_answered_is_said_to_the_model(folder: Path) -> None:
    _, found = asked(
        [str(folder)],
        ("explain", {"url": "http://never.example/"}),
        ("next", {"n": 0}),
        ("next", {"m": 1}),
        ("simulate", {"policies": "prior:file=/etc/passwd"}),
        ("simulate", {"policies": "os.path:join"}),
        ("recommend", {"for": "quality:os.path:join"}),
    )
    assert [failed for failed, _ in found] == [True] * 6
    assert "does not know" in found[0][1] and "from 1 to 1,000" in found[1][1] and "unknown field" in found[2][1]


def test_a_crawl_of_a_service_is_asked_about_by_its_address(tmp_path: Path) -> None:
    token = "a-token-of-enough-letters"
    (tmp_path / "token").write_text(token)
    (tmp_path / "token").chmod(0o600)
    with grown(tmp_path / "service") as crawls, serving(crawls, token) as served:
        args = ["--address", served.url, "--token-file", str(tmp_path / "token")]
        names, (status, tried, advised) = asked(
            args, ("status", {}), ("simulate", {"policies": "bfs dfs", "budget": 1}), ("recommend", {"for": "coverage"})
        )
        assert names == TOOLS
        assert status[1]["known"] == crawls.get().inspect.known
        assert sorted(tried[1]["policies"]) == ["bfs", "dfs"] and advised[1]["for"] == "coverage"
        _, (refused,) = asked(["--address", served.url], ("status", {}))
        assert refused[0] and "token" in refused[1]


def said(folder: Path, *lines: bytes) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "frontrank", "mcp", str(folder)], input=b"".join(lines), capture_output=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_broken_messages_get_an_error_and_the_next_one_an_answer(folder: Path) -> None:
    ping = b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}\n'
    found = said(
        folder,
        b"{\n",
        b"[1]\n",
        b"\n",
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n',
        b'{"jsonrpc": "2.0", "id": 1, "method": "nothing"}\n',
        b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "drop"}}\n',
        b'{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "next", "arguments": [1]}}\n',
        b'{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": 5}\n',
        b'{"jsonrpc": "2.0", "id": 5, "method": "initialize", "params": {"protocolVersion": "1999-01-01"}}\n',
        b"x" * (2 * MAX_LINE_LENGTH) + b"\n",
        ping,
    )
    codes = [one.get("error", {}).get("code") for one in found]
    assert codes == [-32700, -32600, -32601, -32602, None, -32602, None, -32600, None]
    assert found[4]["result"]["isError"] and "object" in found[4]["result"]["content"][0]["text"]
    assert found[6]["result"]["protocolVersion"] == "2025-11-25"
    assert found[-1] == {"jsonrpc": "2.0", "id": 7, "result": {}}


def test_the_tools_can_be_listed_without_a_client(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "frontrank", "mcp", str(folder), "--json"], capture_output=True, check=True)
    assert [tool["name"] for tool in json.loads(done.stdout)] == TOOLS


@pytest.mark.parametrize(
    ("args", "word"),
    [([], "either the directory"), (["d", "--address", "x:1"], "either the directory"), (["no"], "not a crawl")],
)
def test_a_wrong_call_is_a_sentence(args: list[str], word: str) -> None:
    done = subprocess.run([sys.executable, "-m", "frontrank", "mcp", *args], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and word in done.stderr and done.stdout == ""


CALL = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "slow"}}'


@pytest.mark.parametrize("error", [TooLong(), Died("a worker crashed"), Closed()])
def test_an_answer_that_takes_too_long_is_said_to_the_model(error: Exception) -> None:
    def answer(params: Params) -> Any:
        raise error

    told = McpServer([Tool("slow", "", Params, answer)]).answer(CALL)
    assert told is not None and told["result"]["isError"] and "too long" in told["result"]["content"][0]["text"]


@pytest.mark.parametrize("answer", [lambda params: 1 / 0, lambda params: float("nan"), lambda params: object()])
def test_a_defect_of_ours_ends_no_conversation(answer: Any, capfd: pytest.CaptureFixture[str]) -> None:
    told = McpServer([Tool("slow", "", Params, answer)]).answer(CALL)
    assert told is not None and told["error"]["code"] == -32603
    assert "Traceback" in capfd.readouterr().err
