"""Facts about the report: it is whole, needs nothing but itself, says what was measured, and works in a browser."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import frontrank as fr
from frontrank.errors import InputError
from frontrank.lab import report
from frontrank.lab.compare import Runs
from frontrank.lab.numbers import percent
from frontrank.lab.report.comparison import hot_figure
from frontrank.orderings.policy import Policy
from frontrank.web.web import Web

ORDERINGS = ["bfs", "fpr", "opic", "rankmass", "oracle"]


@dataclass(frozen=True)
class Bold(Policy):
    """<b>Bold</b> & "quoted"."""

    name = "<script>alert(1)</script>&amp"


class Page(HTMLParser):
    """What a page would load, its visible text, and the data in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.text = ""
        self.scripts: list[str] = []
        self.figures: list[list[dict[str, str]]] = []  # of each plot for a wide screen, its lines
        self.rows: list[list[str]] = []
        self.inside: list[tuple[str, dict[str, str | None]]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.loads += [values[a] or "" for a in ("src", "href", "srcset", "data", "action", "poster") if a in values]
        if tag not in ("meta", "link", "line", "path", "use", "rect"):
            self.inside.append((tag, values))
        if tag == "div" and values.get("class") == "wide-screen":
            self.figures.append([])
        if tag == "g" and (values.get("class") or "").startswith("series") and "narrow-screen" not in self._screens():
            self.figures[-1].append({"name": values["data-name"] or "", "class": values["class"] or ""})
        if tag == "path" and self.inside[-1][1].get("data-name") and "narrow-screen" not in self._screens():
            self.figures[-1][-1] |= {"style": values["style"] or ""}
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def _screens(self) -> set[str | None]:
        return {values.get("class") for tag, values in self.inside if tag == "div"}

    def handle_endtag(self, tag: str) -> None:
        if self.inside and tag == self.inside[-1][0]:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        tag = self.inside[-1][0] if self.inside else ""
        if tag == "script":
            self.scripts.append(data)
        elif tag == "style":
            assert "url(" not in data
            assert "@import" not in data
        elif not any(inside == "svg" for inside, _ in self.inside):
            self.text += data
            if any(tag in ("td", "th") for tag, _ in self.inside):
                self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def runs() -> Runs:
    web = fr.load("synthetic:pages=3000,seed=2")
    return fr.compare(web, ORDERINGS, seeds="random:20@7", budget=0.4, command="frontrank simulate 'a <web>' --ordering bfs")


def sorted_by_hot(runs: Runs) -> list[str]:
    hot = {spec: value["hot"]["0.1"] for spec, value in runs.json()["policies"].items()}
    return sorted(hot, key=lambda spec: -hot[spec])


@pytest.fixture(scope="module")
def written(runs: Runs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    runs.report(path)
    return path


@pytest.fixture(scope="module")
def page(written: Path) -> Page:
    return Page(written)


def test_the_page_loads_nothing_and_is_small(written: Path, page: Page) -> None:
    assert page.loads == ["data:,"]
    assert written.stat().st_size < 1_000_000
    assert [path.name for path in written.parent.iterdir()] == ["report.html"]


def test_the_page_names_every_ordering_the_facts_the_command_and_the_version(runs: Runs, page: Page) -> None:
    names = [row[0] for row in page.rows[2:]]
    for ordering, told in zip(sorted_by_hot(runs), names, strict=True):
        assert told.startswith(ordering)
    assert any(name == "bfsBreadth-first: first discovered, first fetched." for name in names)
    for fact in ("3,000", f"{runs.web.links:,}", "1,200 pages", "PageRank", "frontrank simulate 'a <web>' --ordering bfs"):
        assert fact in page.text
    assert f"frontrank {fr.__version__}" in page.text


def test_the_verdict_names_the_best_ordering_that_was_not_told_the_truth(runs: Runs, page: Page) -> None:
    found = {name: values["hot"]["0.1"] for name, values in runs.json()["policies"].items()}
    del found["oracle"]
    best = max(found, key=lambda name: found[name])
    many = "the 300 most important pages"
    verdict = f"{best} found {percent(found[best])} of {many} after 10% of the web; bfs {percent(found['bfs'])}."
    assert verdict in page.text


def test_the_table_holds_what_the_measures_say_without_shares_that_no_crawl_reached(runs: Runs, page: Page) -> None:
    numbers = runs.json()["policies"]
    assert page.rows[1][:11] == ["ordering", *["5%", "10%", "15%", "20%", "30%"] * 2]
    for name, row in zip(sorted_by_hot(runs), page.rows[2:], strict=True):
        values = [*numbers[name]["hot"].values()][:5] + [*numbers[name]["mass"].values()][:5]
        assert row[1:11] == [percent(value) for value in values]
        assert row[11:13] == ["1,200", "budget"]


def test_figures_have_the_order_of_the_table_and_the_best_and_bfs_in_colour(runs: Runs, page: Page) -> None:
    hot, hot_whole, mass, mass_whole, top, top_whole, coverage = page.figures[:7]
    best = next(name for name in sorted_by_hot(runs) if name != "oracle")
    for figure in (hot, hot_whole, mass, mass_whole, top, top_whole):
        assert {one["name"] for one in figure} == {*ORDERINGS, "ideal", "drawn at random"}
        quiet = {one["name"] for one in figure if "quiet" in one["class"]}
        assert quiet == set(ORDERINGS) - {best, "bfs"}
        looks = {one["name"]: one["style"] for one in figure}
        assert len(set(looks.values())) == len(ORDERINGS) + 2, "each has looks of its own"
        assert looks == {one["name"]: one["style"] for one in hot}
    assert [one["name"] for one in coverage] == ["rankmass"]


def test_figures_end_at_30_percent_and_the_whole_crawl_can_be_opened(runs: Runs, page: Page) -> None:
    figure = hot_figure(runs)
    assert [one.name for one in figure.series] == [*sorted_by_hot(runs), "ideal", "drawn at random"]
    assert figure.until == 0.3 and max(one.x[-1] for one in figure.series) == 0.4
    assert page.text.count("The whole crawl") >= 3


def test_an_ordering_has_one_colour_in_every_report() -> None:
    alone, beside = report.styles(["surf"]), report.styles(["opic", "bfs", "fica:k=700", "surf"])
    assert alone["surf"] == beside["surf"] and beside["bfs"] == report.styles(["bfs", "dfs"])["bfs"]
    assert len(set(report.styles([f"fica:k={k}" for k in range(30)]).values())) == 30


def test_curves_end_at_the_numbers_of_the_table(runs: Runs) -> None:
    from frontrank.lab.measures import hot

    for line in hot_figure(runs).series[: len(ORDERINGS)]:
        assert line.x[-1] == 0.4
        assert line.y[-1] == pytest.approx(hot(runs[line.name].trace, runs.web, [0.4])[0.4], rel=1e-4)


def test_names_are_escaped_wherever_they_stand(tmp_path: Path) -> None:
    web = replace(fr.load("synthetic:pages=200,seed=2"), name="</title><img src=x>")
    fr.compare(web, [Bold(), "bfs"], seeds=[0]).report(tmp_path / "r.html")
    page = Page(tmp_path / "r.html")
    assert page.loads == ["data:,"]
    assert page.rows[2][0] == '<script>alert(1)</script>&amp<b>Bold</b> & "quoted".'
    assert "2 orderings on </title><img src=x>" in page.text
    assert "<script>alert(1)</script>&amp" in [one["name"] for one in page.figures[0]]
    assert not any(script.startswith("alert") for script in page.scripts)


@pytest.mark.parametrize("seeds", [[3, 77], list(range(100, 400)), None], ids=["few", "many", "usual"])
def test_without_a_command_the_page_gives_python_that_makes_the_same_runs(
    seeds: list[int] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = fr.load("synthetic:pages=500,seed=2")
    runs = fr.compare(web, ["opic", "similarity:topic=a b"], seeds=seeds, budget=0.8, metric="backlink")
    runs.report(tmp_path / "first.html")
    code = re.search(r"import frontrank as fr.*runs\.report\(.*?\)", Page(tmp_path / "first.html").text, re.DOTALL)
    assert code is not None
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first.html").unlink()
    names: dict[str, Any] = {}
    exec(code[0], names)
    again = names["runs"]
    assert [run.trace.order.tolist() for run in again] == [run.trace.order.tolist() for run in runs]
    assert again.metric == "backlink"
    assert (tmp_path / "first.html").exists()


@pytest.mark.parametrize("count", [1, 20])
def test_one_ordering_and_twenty_have_looks_of_their_own(count: int, tmp_path: Path) -> None:
    web = fr.load("synthetic:pages=300,seed=2")
    fr.compare(web, [f"fica:k={10 + i}" for i in range(count)], seeds=[0]).report(tmp_path / "r.html")
    page = Page(tmp_path / "r.html")
    assert len(page.rows) == count + 2
    assert len({one["style"] for one in page.figures[0]}) == count + 2


def test_equal_orderings_keep_names_apart(tmp_path: Path) -> None:
    web = fr.load("synthetic:pages=300,seed=2")
    fr.compare(web, ["bfs", "bfs"], seeds=[0]).report(tmp_path / "r.html")
    assert {one["name"] for one in Page(tmp_path / "r.html").figures[0]} > {"bfs", "bfs (2)"}


def test_an_importance_that_cannot_be_summed_leaves_out_what_is_summed(tmp_path: Path) -> None:
    web = fr.load("synthetic:pages=300,seed=2")
    fr.compare(web, ["bfs", "location"], seeds=[0], metric="location").report(tmp_path / "r.html")
    page = Page(tmp_path / "r.html")
    assert "Importance gathered" not in page.text
    assert len(page.rows[1]) == 1 + 6 + 4


def test_a_web_of_one_page_has_a_report(tmp_path: Path) -> None:
    fr.compare(Web.from_edges([], [], pages=1), ["bfs"], seeds=[0]).report(tmp_path / "r.html")
    assert "bfs found 100% of the 1 most important pages after 100% of the web" in Page(tmp_path / "r.html").text


def test_a_page_that_cannot_be_written_is_said_and_leaves_nothing_behind(runs: Runs, tmp_path: Path) -> None:
    for path in (tmp_path / "missing" / "r.html", tmp_path):
        with pytest.raises(InputError, match="cannot be written"):
            runs.report(path)
    assert list(tmp_path.iterdir()) == []
    assert not list(tmp_path.parent.glob(f".{tmp_path.name}*"))


def test_parts_make_any_other_page(tmp_path: Path) -> None:
    series = [report.FigureLine("a", [0.0, 1.0], [0.2, float("nan")], report.styles(["a"])["a"])]
    table = report.HtmlTable(["claim", "measured"], [["a < b", 0.5], ["b", None]])
    sections = [
        report.Section("Figure 1", "One.\n\nTwo.", report.lines(series, "x", "y")),
        report.Section("Table 1", table=table, code="1 < 2"),
    ]
    report.save(report.page("Title", "Lead.\n\nMore.", sections, [("pages", "3")]), tmp_path / "r.html")
    page = Page(tmp_path / "r.html")
    assert page.rows == [["claim", "measured"], ["a < b", "0.5"], ["b", "–"]]
    assert [one["name"] for one in page.figures[0]] == ["a"]
    assert "1 < 2" in page.text
    assert "<svg" not in report.page("Title", "Lead.", sections[1:])
    with pytest.raises(InputError, match="1 cells given for 2 columns"):
        report.HtmlTable(["a", "b"], [["c"]])


# Crawled and simulated ------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """As the demo has it: two orderings that crawled for a minute, in an order of their own, and the same two simulated."""
    return crawled_and_simulated(tmp_path_factory.mktemp("mixed") / "r.html", "random:10@5")


def crawled_and_simulated(path: Path, seeds: str | None) -> Page:
    web = fr.load("synthetic:pages=2000,seed=2")
    simulated = fr.compare(web, ["dfs", "fpr", "bfs"])
    crawled = [replace(run, crawled=True, seconds=60.0) for run in fr.compare(web, ["bfs", "fpr"], seeds, budget=0.1)]
    replace(simulated, runs=(*crawled, *simulated.runs)).report(path)
    return Page(path)


def test_a_crawl_is_never_set_against_a_simulation(mixed: Page) -> None:
    crawled, simulated = re.search(r"Crawled over HTTP: (.*?)\. Simulated: (.*?)\.", mixed.text).groups()  # type: ignore[union-attr]
    assert re.fullmatch(r"fpr found \d+% of the 200 most important pages after 10% of the web; bfs \d+%", crawled)
    assert re.fullmatch(r"\d+% and \d+%", simulated)
    assert "3 orderings on" in mixed.text


def test_real_crawls_come_first(mixed: Page) -> None:
    assert [row[0].partition(")")[0] for row in mixed.rows[2:4]] == ["fpr (crawled", "bfs (crawled"]


def test_what_is_the_same_is_not_said_twice(tmp_path: Path) -> None:
    text = crawled_and_simulated(tmp_path / "r.html", None).text
    assert re.search(
        r"fpr found \d+% of the 200 most important pages after 10% of the web; bfs \d+%\. Simulated: the same\.", text
    )


def test_the_time_of_deciding_holds_no_time_of_fetching(mixed: Page) -> None:
    for row in mixed.rows[2:]:
        assert (row[-2:] == ["–", "–"]) == ("(crawled)" in row[0])


def test_a_crawl_has_the_colour_of_its_simulation_and_is_dashed(mixed: Page) -> None:
    looks = {one["name"]: one["style"] for one in mixed.figures[0]}
    for spec in ("bfs", "fpr"):
        solid, dashed = (dict(part.split(": ") for part in looks[name].split("; ")) for name in (spec, f"{spec} (crawled)"))
        assert solid["stroke"] == dashed["stroke"]
        assert "stroke-dasharray" in dashed and "stroke-dasharray" not in solid


# In a browser ---------------------------------------------------------------------------------------------------------
@pytest.mark.browser
@pytest.mark.parametrize("width", [1400, 420])
def test_in_a_browser_curves_are_drawn_keys_toggle_them_and_the_table_sorts(
    browser: Any, runs: Runs, written: Path, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    trouble: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(written.as_uri())

    def grey(name: str) -> set[bool]:
        """Whether its lines that can be seen are grey."""
        script = "lines => lines.map(line => getComputedStyle(line.querySelector('path')).stroke)"
        strokes = page.locator(f".plot [data-name='{name}']:visible").evaluate_all(script)
        assert strokes
        return {stroke == "rgb(182, 188, 196)" for stroke in strokes}

    assert page.locator("button[data-series=rankmass]").count() == 4  # also the one line of the coverage
    assert page.locator(".plot svg:visible").count() == 5, "the whole crawls are closed, and one size is shown"
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert grey("opic") == {True} and grey("bfs") == {False}
    page.locator("button[data-series=opic]").first.click()
    assert grey("opic") == {False}
    assert page.locator("button[data-series=opic][aria-pressed=true]").count() == 3
    page.locator("button[data-series=bfs]").nth(1).click()
    assert grey("bfs") == {True}

    def column(at: int) -> list[str]:
        return [text.strip().split("\n")[0] for text in page.locator(f"tbody tr > :nth-child({at})").all_inner_texts()]

    assert column(1) == sorted_by_hot(runs)
    heads = page.locator("thead button")
    heads.nth(2).click()
    shares = [float(text.rstrip("%")) for text in column(3)]
    assert shares == sorted(shares, reverse=True)
    assert column(1)[0] == "oracle"
    heads.nth(2).click()
    assert column(1)[-1] == "oracle"
    heads.nth(0).click()
    assert column(1) == sorted(ORDERINGS)
    assert trouble == []
    assert asked == [written.as_uri()]


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from frontrank.papers import run

    path = tmp_path_factory.mktemp("reproduced") / "r.html"
    run("fpr10", fr.load("synthetic:pages=600,seed=1")).html(path)
    return path


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_axe_finds_no_barrier_in_a_report(browser: Any, written: Path, width: int, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(written.as_uri())
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["impact"]) for one in found if one["impact"] in ("serious", "critical")] == []


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("kind", ["comparison", "reproduction"])
def test_in_a_browser_nothing_runs_out_of_the_page_and_marks_stand_beside_their_words(
    browser: Any, written: Path, reproduced: Path, kind: str, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto((written if kind == "comparison" else reproduced).as_uri())
    page.wait_for_selector(".plot svg", state="attached")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    cut = page.evaluate("[...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth).length")
    assert width < 1280 or cut == 0  # a phone scrolls wide tables, each in its own box
    apart = page.evaluate(
        """[...document.querySelectorAll('.dot')].map(dot => {
             const words = document.createRange();
             words.selectNodeContents(dot.nextSibling);
             const [mark, line] = [dot.getBoundingClientRect(), words.getClientRects()[0]];
             return Math.abs((mark.top + mark.bottom - line.top - line.bottom) / 2);
           })"""
    )
    assert apart and max(apart) < 4.0
