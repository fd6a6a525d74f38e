"""The messages of the protocol: as they are compiled, and as their source says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from frontrank.service import wire
from tests.conftest import ROOT

SOURCE = ROOT / "src" / "frontrank" / "service"


def test_the_compiled_messages_are_those_of_their_source(tmp_path: Path) -> None:
    pytest.importorskip("grpc_tools")
    made = tmp_path / "made.desc"
    args = [f"-I{SOURCE}", f"--descriptor_set_out={made}", "urlfrontier.proto"]
    subprocess.run([sys.executable, "-m", "grpc_tools.protoc", *args], check=True)
    assert made.read_bytes() == (SOURCE / "urlfrontier.desc").read_bytes(), "run make proto"


def test_the_protocol_has_nineteen_methods() -> None:
    methods = wire.DESCRIPTOR.services_by_name["URLFrontier"].methods
    assert len(methods) == 19 and methods[0].full_name == "urlfrontier.URLFrontier.ListNodes"
    assert sorted(method.name for method in methods if method.client_streaming) == ["PutDiscovered", "PutURLs"]
    streaming = sorted(method.name for method in methods if method.server_streaming)
    assert streaming == ["GetURLs", "ListURLs", "PutDiscovered", "PutURLs"]


def test_messages_are_these_bytes() -> None:
    info = wire.URLInfo(url="u", key="k", metadata={"m": wire.StringList(values=["v"])}, crawlID="c")
    known = wire.URLItem(known=wire.KnownURLItem(info=info, refetchable_from_date=300), ID="i", creation_date=1)
    inner = b"\x0a\x01u\x12\x01k\x1a\x08\x0a\x01m\x12\x03\x0a\x01v\x22\x01c"
    assert info.SerializeToString() == inner
    assert known.SerializeToString() == b"\x12\x18\x0a\x13" + inner + b"\x10\xac\x02\x1a\x01i\x20\x01"
    assert wire.GetParams(anyCrawlID=wire.AnyCrawlID()).SerializeToString() == b"\x2a\x00"
    assert wire.GetParams(crawlID="").SerializeToString() == b"\x32\x00", "a blank ID that is set is not an ID that is not set"
    assert (wire.AckMessage.OK, wire.AckMessage.SKIPPED, wire.AckMessage.FAIL) == (0, 1, 2)
