"""Results on disk: refused before the work, written whole or not at all."""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from frontrank.cli import main
from frontrank.errors import InputError
from frontrank.search.workload import load_workload
from frontrank.system.files import check_target, written_beside
from tests.commands import run_command


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
        args = ["simulate", "synthetic:pages=200000,links=1,seed=1", "--ordering", "bfs", "--order-out", "order.npy"]
        ran = subprocess.run([sys.executable, "-c", program, *args], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert ran.returncode == 2, ran.stderr
        assert ran.stderr.startswith("frontrank: order.npy cannot be written: ") and "None" not in ran.stderr
        assert ran.stderr.count("\n") == 1
        assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_of_the_target_and_not_of_what_lies_beside_it(tmp_path: Path) -> None:
    def save() -> None:
        with written_beside(tmp_path / "runs") as folder:
            folder.mkdir()
            with written_beside(folder / "order-0.npy") as file:
                file.write_bytes(b"half")
                raise OSError(28, "No space left on device")

    with pytest.raises(InputError) as told:
        save()
    assert str(told.value) == f"{tmp_path}/runs cannot be written: No space left on device"
    assert not list(tmp_path.iterdir())


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
TABLES = [
    ["demo"],
    ["orderings"],
    *([name, NEVER] for name in ("simulate", "evaluate", "rank", "recommend", "revisit", "tune")),
]
TABLES += [["leaderboard"]]


@pytest.mark.parametrize(
    "args",
    [
        ["simulate", NEVER, "--out", "taken"],
        ["simulate", NEVER, "--ordering", "bfs", "--order-out", "taken"],
        ["report", NEVER, "--out", "taken.html"],
        ["report", NEVER, "--out", "report.csv"],
        ["simulate", NEVER, "--out", "report.html"],
        ["leaderboard", NEVER, "--out", "board.html"],
        ["demo", "--out", "taken"],
        ["convert", NEVER, "taken"],
        ["convert", NEVER, "no/such/place"],
        ["import", "--pages", "none.csv", "--links", "none.csv", "taken"],
        ["rank", "none.crawl", "--out", "taken"],
        ["reproduce", "fpr10", "--web", NEVER, "--out", "taken.html"],
        ["reproduce", "fpr10", "--web", NEVER, "--out", "page.parquet"],
        ["reproduce", "fpr10", "--web", NEVER, "--markdown", "taken.md"],
        ["reproduce", "fpr10", "--web", NEVER, "--markdown", "page.html"],
    ],
    ids=lambda args: " ".join(args[:1] + args[-2:]),
)
def test_a_target_that_cannot_be_written_is_refused_before_anything_is_read(args: list[str], tmp_path: Path) -> None:
    taken = args[-1] if args[-1].startswith("taken") else "taken"
    (tmp_path / taken).mkdir()
    (tmp_path / taken / "thesis.tex").write_text("years of work")
    ran = run_command(*args, cwd=tmp_path)
    assert ran.returncode == 2
    said = ran.stderr.removeprefix("frontrank: ").removeprefix("--out ")
    assert said.startswith((f"{args[-1]} ", f"{args[-1]}: ")) and said.count("\n") == 1
    assert [path.name for path in tmp_path.rglob("*")] == [taken, "thesis.tex"]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (
            ["simulate", NEVER, "--ordering", "bfs", "--order-out", "a.csv", "--out", "./a.csv"],
            "both name ./a.csv; give two files",
        ),
        *(([*command, "--json", "--csv"], "--json and --csv were given together") for command in TABLES),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_cannot_be_meant_together_is_refused_before_anything_is_read(args: list[str], says: str, tmp_path: Path) -> None:
    ran = run_command(*args, cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1) and says in ran.stderr
    assert not list(tmp_path.iterdir())


def test_saved_runs_are_not_run_again_with_other_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "runs.json").write_text("{}")
    for args, flag in ((["--ordering", "fpr"], "--ordering"), (["--host-delay", "1"], "--host-delay")):
        with pytest.raises(SystemExit):
            main(["report", str(tmp_path), *args])
        assert f"{flag} was given, but {tmp_path} holds saved runs" in capsys.readouterr().err


def ran(*args: str, cwd: Path, stdout: int = subprocess.PIPE, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "frontrank", *args]
    return subprocess.run(
        command, stdout=stdout, stderr=subprocess.PIPE, cwd=cwd, env={**os.environ, **environment}, check=False
    )


def test_a_full_disk_behind_standard_output_is_told_in_a_sentence(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = ran("orderings", cwd=tmp_path, stdout=full.fileno())
    assert done.returncode == 2
    assert done.stderr == b"frontrank: standard output cannot be written: No space left on device\n"


def test_a_terminal_that_lacks_a_sign_shows_another(tmp_path: Path) -> None:
    args = ("simulate", SMALL, "--ordering", "bfs", "--seeds", "random:5@1", "--repeat", "2")
    done = ran(*args, cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"") and b"?" in done.stdout


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    odd = os.fsdecode(b"\xff")
    (tmp_path / f"{odd}.txt").write_text("0 1\n1 2\n")
    for args in (["convert", f"{odd}.txt", f"{odd}.web"], ["simulate", f"{odd}.txt", "--ordering", "bfs", "--out", odd]):
        done = ran(*args, cwd=tmp_path, PYTHONUTF8="1")
        assert done.returncode == 2 and b"cannot be written: its name is not UTF-8; give another path\n" in done.stderr
    done = ran("report", f"{odd}.txt", "--ordering", "bfs", "--out", "page.html", cwd=tmp_path, PYTHONUTF8="1")
    assert (done.returncode, done.stderr) == (0, b"") and "\\udcff.txt" in (tmp_path / "page.html").read_text()
    done = ran("simulate", f"{odd}.txt", "--ordering", "bfs", cwd=tmp_path, PYTHONUTF8="1")
    assert (done.returncode, done.stderr) == (0, b"") and b"3 pages, 2 links" in done.stdout


@pytest.mark.parametrize("packed", [False, True])
def test_a_byte_order_mark_is_no_part_of_a_text(packed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Spreadsheets and some editors write one."""

    def write(name: str, text: str) -> str:
        data = b"\xef\xbb\xbf" + text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if packed else data)
        return str(tmp_path / name)

    urls = write("urls.txt", "http://a.example/ http://b.example/\nhttp://b.example/ http://c.example/\n")
    seeds = write("seeds.txt", "http://a.example/\n")
    numbers = write("numbers.txt", "0 1\n1 2\n")
    queries = write("queries.txt", "tea\n")
    for web, start, names in (
        (urls, seeds, ["http://a.example/", "http://b.example/", "http://c.example/"]),
        (numbers, "", None),
    ):
        order = tmp_path / "order.csv"
        main(["simulate", web, "--ordering", "bfs", "--order-out", str(order), "--seeds", start or write("0.txt", "0\n")])
        if names:
            assert [line.partition(",")[2] for line in order.read_text().splitlines()[1:]] == names
        else:
            assert order.read_text().splitlines() == ["id", "0", "1", "2"]
    assert load_workload(queries).queries == ("tea",)
    assert "3 pages" in capsys.readouterr().out
