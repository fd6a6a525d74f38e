"""What a person sees on a real terminal of 80, 100 and 140 columns: whole figures, the best of them bold, no line too long."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import frontrank as fr
from tests.terminal import Terminal, seen
from tests.tiers import full

WIDTHS = (80, full(100), full(140))
WEB = "synthetic:pages=2000,hosts=20,trap=200,seed=7"
LONG = "https://garden.example/" + "/".join(f"a-folder-with-a-long-name-{i}" for i in range(5)) + "/page.html?session=7f"


@cache
def piped(*args: object, cwd: Path | None = None) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "frontrank", *map(str, args)], capture_output=True, text=True, cwd=cwd, check=False
    )
    assert ran.returncode == 0 and ran.stderr == "", ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an imported crawl, in which a page with a very long URL waits, and with a query log."""
    folder = tmp_path_factory.mktemp("garden")
    home = "https://garden.example/"
    (folder / "pages.csv").write_text(f"url,fetched,title\n{home},1,Garden club\n{home}beans,1,Growing beans\n")
    links = [(home, f"{home}beans", "beans"), (home, LONG, "growing beans"), (f"{home}beans", f"{home}squash", "squash")]
    (folder / "links.csv").write_text("source,target,anchor\n" + "\n".join(",".join(link) for link in links) + "\n")
    (folder / "log.csv").write_text(f"query,url,views,clicks\ngrowing beans,{home}beans,900,410\ngarden,{home},60,40\n")
    piped("import", "--pages", "pages.csv", "--links", "links.csv", "--log", "log.csv", "garden.crawl", cwd=folder)
    web = fr.load("synthetic:pages=800,seed=3")
    assert web.titles is not None
    (folder / "asked.txt").write_text("\n".join(" ".join(title.split()[:2]) for title in web.titles[:200]) + "\n")
    return folder


@pytest.mark.parametrize("columns", WIDTHS)
class TestEveryLineFits:
    def fits(self, shown: Terminal) -> str:
        assert shown.widest <= shown.columns
        assert "…" not in shown.text and "..." not in shown.text
        return shown.text

    def test_simulate(self, columns: int) -> None:
        args = [
            "simulate",
            WEB,
            *("--ordering", "bfs", "--ordering", "fpr:m=100", "--ordering", "fica:k=250000,beta=0.25,schedule=exp"),
        ]
        args += ["--ordering", "oracle", "--budget", "0.6"]
        shown = seen(*args, columns=columns)
        text = self.fits(shown)
        figures = json.loads(piped(*args, "--json"))["policies"]
        for value in figures.values():
            for measure in ("hot", "mass"):
                for share in ("0.05", "0.1", "0.2", "0.3", "0.5"):
                    assert f" {100 * value[measure][share]:.1f}%" in text
        hot = {spec: value["hot"]["0.1"] for spec, value in figures.items()}
        table = text[text.index("ordering") :]
        places = [table.index(f"\n{spec[:20]}") for spec in sorted(hot, key=lambda spec: -hot[spec])]
        assert places == sorted(places)  # the best first
        assert "sorted by hot@10%" in text
        del hot["oracle"]  # which is told the answer
        assert f"{100 * max(hot.values()):.1f}%" in shown.bold()
        assert f"{100 * min(hot.values()):.1f}%" not in shown.bold() and "100.0%" not in shown.bold()

    def test_simulate_over_several_draws(self, columns: int) -> None:
        args = ["simulate", WEB, "--ordering", "bfs", "--ordering", "fpr", "--seeds", "random:5@3", "--repeat", "3"]
        text = self.fits(seen(*args, columns=columns))
        for value in json.loads(piped(*args, "--json"))["policies"].values():
            assert f"{100 * value['hot']['0.1']:.1f}±{100 * value['spread']['hot']['0.1']:.1f}%" in text

    def test_evaluate(self, columns: int, garden: Path) -> None:
        args = [
            "evaluate",
            "synthetic:pages=800,seed=3",
            "--queries",
            "asked.txt",
            "--ordering",
            "random",
            "--ordering",
            "pagerank",
        ]
        shown = seen(*args, columns=columns, cwd=garden)
        text = self.fits(shown)
        figures = json.loads(piped(*args, "--json", cwd=garden))["rankers"]
        assert all(f"{100 * share:.1f}%" in text for value in figures.values() for share in value["views"].values())
        assert f"{100 * max(value['views']['0.05'] for value in figures.values()):.1f}%" in shown.bold()

    def test_tune(self, columns: int, garden: Path) -> None:
        args = ["tune", "synthetic:pages=800,seed=3", "--queries", "asked.txt", "--omega", "0,0.5,1"]
        assert "best: rw-eg:omega=" in self.fits(seen(*args, columns=columns, cwd=garden))

    def test_rank_breaks_long_urls_and_keeps_them_whole(self, columns: int, garden: Path) -> None:
        shown = seen("rank", "garden.crawl", "--out", "next.csv", columns=columns, cwd=garden)
        text = self.fits(shown)
        assert "fusion" in text and "written: next.csv" in text
        assert (garden / "next.csv").read_text().splitlines()[0].startswith("url,score,")  # by its ending, not Parquet
        folded = "".join(line.split("  0.")[0].strip() for line in shown.lines)
        assert LONG in folded

    def test_explain(self, columns: int, garden: Path) -> None:
        shown = seen("explain", "garden.crawl", "https://garden.example/squash", columns=columns, cwd=garden)
        assert "rw-eg: place" in self.fits(shown)

    def test_orderings(self, columns: int) -> None:
        assert "largest-site" in self.fits(seen("orderings", columns=columns))

    def test_advice(self, columns: int) -> None:
        """All but the commands: they can be pasted."""
        lines = seen("recommend", columns=columns).plain.replace("\r", "").split("\n")
        advice = [line for line in lines if not line.startswith("  try ")]
        assert max(map(len, advice)) <= columns and len(lines) > len(advice)
        assert "take rankmass with --until coverage=0.9 why the only one that knows a lower bound" in " ".join(
            "".join(advice).split()
        )

    def test_reproduce(self, columns: int) -> None:
        text = self.fits(seen("reproduce", "fpr10", "--web", "synthetic:pages=400,seed=1", columns=columns))
        assert "agree with what was measured" in " ".join(text.split())


class TestProgress:
    def test_the_ordering_at_work_is_named_also_while_it_is_compiled(self, tmp_path: Path) -> None:
        """With an empty cache kernels are compiled: the wait is explained, under the names of those that wait. Once."""
        asked = ["--ordering", "largest-site", "--ordering", "backlink", "--jobs", "2"]
        args = ["simulate", "synthetic:pages=500,links=5,seed=1", *asked]
        shown = seen(*args, columns=80, env={"NUMBA_CACHE_DIR": str(tmp_path)})
        assert "largest-site, backlink: compiling, first time" in shown.plain
        assert "compiling" not in shown.text  # the bar is gone at the end
        again = seen(*args, columns=80, env={"NUMBA_CACHE_DIR": str(tmp_path)})
        assert "compiling" not in again.plain

    def test_a_pipe_gets_the_table_alone(self) -> None:
        out = piped("simulate", WEB, "--ordering", "bfs", "--ordering", "fpr")
        head, *rows = out.splitlines()[1:4]
        assert head.split()[:3] == ["ordering", "hot@5%", "hot@10%"] and head.split()[-2:] == ["fetched", "seconds"]
        assert all(len(row.split()) == 13 for row in rows)
        assert out.count("*") > 5 and "\x1b" not in out and "*: the best of its column" in out


def test_a_terminal_without_bold_letters_marks_the_best_with_a_star() -> None:
    shown = seen("simulate", WEB, "--ordering", "bfs", "--ordering", "fpr", columns=80, env={"TERM": "dumb"})
    assert "*: the best of its column" in shown.text and shown.bold() == []
    assert shown.widest <= 80


def test_completion_in_a_real_bash_names_commands_and_options(tmp_path: Path) -> None:
    """As docs/commands.md says: the script that the command itself prints, then Tab."""
    folder = Path(sys.executable).parent
    terminal = Terminal(columns=100, command=("bash", "--norc", "--noprofile", "-i"), env={"PATH": f"{folder}:/usr/bin:/bin"})
    terminal.type('eval "$(_FRONTRANK_COMPLETE=bash_source frontrank)"; echo rea""dy\n')
    terminal.wait_for("ready")
    terminal.type("frontrank sim\t")
    terminal.wait_for("frontrank simulate ")
    terminal.type("x --metr\t")
    terminal.wait_for("x --metric ")
    terminal.type("\x15exit\n")  # the line is taken back first
    terminal.end()
