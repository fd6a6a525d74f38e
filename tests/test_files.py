"""Results on disk: refused before the work, written whole or not at all."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from frontrank.errors import InputError
from frontrank.web.files import check_target, written_beside


class TestWrittenBeside:
    def test_a_file_takes_the_place_of_the_one_before(self, tmp_path: Path) -> None:
        target = tmp_path / "figures.csv"
        target.write_text("before")
        with written_beside(target) as beside:
            beside.write_text("after")
            assert target.read_text() == "before"
            assert beside.parent == tmp_path  # on the same file system, or it could not be renamed
        assert target.read_text() == "after"
        assert list(tmp_path.iterdir()) == [target]

    def test_a_directory_takes_the_place_of_the_one_before(self, tmp_path: Path) -> None:
        target = tmp_path / "runs"
        for content in ("first", "second"):
            with written_beside(f"{target}/") as beside:  # people write directories with a slash
                (beside / "deep").mkdir(parents=True)
                (beside / "deep" / content).write_text(content)
        assert [path.name for path in (target / "deep").iterdir()] == ["second"]
        assert list(tmp_path.iterdir()) == [target]

    @pytest.mark.parametrize("kind", ["file", "directory"])
    @pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("no"), InputError("no")], ids=lambda e: type(e).__name__)
    def test_a_block_that_fails_or_is_interrupted_changes_nothing(
        self, kind: str, error: BaseException, tmp_path: Path
    ) -> None:
        target = tmp_path / "kept"
        target.mkdir()
        (target / "inside").write_text("before")

        def fail() -> None:
            with written_beside(target) as beside:
                if kind == "directory":
                    beside.mkdir()
                (beside / "half" if kind == "directory" else beside).write_text("half")
                raise error

        with pytest.raises(type(error)):
            fail()
        assert [path.name for path in tmp_path.iterdir()] == ["kept"]
        assert (target / "inside").read_text() == "before"

    def test_a_full_disk_is_one_sentence_with_its_reason(self, tmp_path: Path) -> None:
        program = (
            "import resource, sys, numpy as np; from frontrank.cli import main;"
            f"resource.setrlimit(resource.RLIMIT_FSIZE, ({1 << 20}, {resource.RLIM_INFINITY}));"
            "main(sys.argv[1:])"
        )
        args = ["simulate", "synthetic:pages=200000,links=1,seed=1", "--policy", "bfs", "--order-out", "order.npy"]
        ran = subprocess.run([sys.executable, "-c", program, *args], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert ran.returncode == 2, ran.stderr
        assert ran.stderr.startswith("frontrank: order.npy cannot be written: ") and "None" not in ran.stderr
        assert ran.stderr.count("\n") == 1
        assert list(tmp_path.iterdir()) == []


class TestCheckTarget:
    def test_what_can_be_written_is_accepted(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        Path("there").write_text("")
        Path("empty").mkdir()
        for file in ("new", "there", tmp_path / "new"):
            check_target(file)
        for directory in ("new", "new/", "empty"):
            check_target(directory, lambda path: False, "runs")

    def test_what_cannot_is_refused_with_the_reason(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "thesis.tex").write_text("years of work")
        os.mkfifo(tmp_path / "pipe")
        for path, says in (("full", "is a directory"), ("no/file", "no directory"), ("pipe", "not a regular file")):
            with pytest.raises(InputError, match=says):
                check_target(tmp_path / path)
        for path, says in (("full", "does not hold runs"), ("file", "not a directory"), ("no/runs", "no directory")):
            with pytest.raises(InputError, match=says):
                check_target(tmp_path / path, lambda path: False, "runs")

    def test_a_device_is_never_replaced(self) -> None:
        with pytest.raises(InputError, match="not a regular file"):
            check_target("/dev/null")


SMALL = "synthetic:pages=500,links=5,seed=1"
NEVER = "synthetic:pages=never"  # not to be read: what can be said before any work is said first


@pytest.mark.parametrize(
    "args",
    [
        ["simulate", NEVER, "--out", "taken"],
        ["simulate", NEVER, "--policy", "bfs", "--order-out", "taken"],
        ["report", NEVER, "--out", "taken"],
        ["demo", "--out", "taken"],
        ["convert", NEVER, "taken"],
        ["convert", NEVER, "no/such/place"],
        ["import", "--pages", "none.csv", "--links", "none.csv", "taken"],
        ["rank", "none.crawl", "--out", "taken"],
        ["reproduce", "fpr10", "--web", NEVER, "--out", "taken"],
        ["reproduce", "fpr10", "--web", NEVER, "--markdown", "taken"],
    ],
    ids=lambda args: " ".join(args[:1] + args[-2:]),
)
def test_a_target_that_cannot_be_written_is_refused_before_anything_is_read(args: list[str], tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.tex").write_text("years of work")
    ran = subprocess.run([sys.executable, "-m", "frontrank", *args], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ran.returncode == 2
    assert ran.stderr.startswith((f"frontrank: {args[-1]} ", f"frontrank: {args[-1]}: ")) and ran.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.rglob("*")] == ["taken", "thesis.tex"]
