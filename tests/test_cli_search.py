"""Search impact on the command line: evaluate, tune, import, rank, explain, and rankers in simulations."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import frontrank as fr
from tests.test_cli import frontrank, good

WEB = "synthetic:pages=1500,links=8,text=1,seed=4"
SHARES = ["0.01", "0.02", "0.05", "0.1", "0.2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A query log from words of titles, and crawl tables of the same web: 500 pages fetched breadth-first."""
    path = tmp_path_factory.mktemp("search")
    web = fr.load(WEB)
    assert web.titles is not None and web.urls is not None and web.anchors is not None and web.texts is not None
    pairs = Counter(" ".join(title.lower().split()[:2]) for title in web.titles)
    with gzip.open(path / "log.txt.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{query}\n" * count for query, count in pairs.items())
    order = fr.order(web, "bfs", budget=500)
    fetched = set(order)
    views = np.random.default_rng(1).poisson(3, web.pages)
    pages = ["url\tfetched\tviews\ttitle\ttext"]
    pages += [f"{web.urls[p]}\t1\t{views[p]}\t{web.titles[p]}\t{web.texts[p]}" for p in order]
    (path / "pages.tsv").write_text("\n".join(pages) + "\n", encoding="utf-8")
    links = ["source\ttarget\tanchor"]
    for p in order:
        first = int(web.indptr[p])
        links += [f"{web.urls[p]}\t{web.urls[q]}\t{web.anchors[first + j]}" for j, q in enumerate(web.targets_of(p).tolist())]
    (path / "links.tsv").write_text("\n".join(links) + "\n", encoding="utf-8")
    queries = ["query\tfrequency", *(f"{query}\t{count}" for query, count in pairs.items())]
    (path / "queries.tsv").write_text("\n".join(queries) + "\n", encoding="utf-8")
    assert len(fetched) == 500
    good("import", "--pages", "pages.tsv", "--links", "links.tsv", "--queries", "queries.tsv", "my.crawl", cwd=path)
    (path / "unfetched.tsv").write_text("url\tfetched\nhttp://a/\t0\n", encoding="utf-8")
    good("import", "--pages", "unfetched.tsv", "--links", "links.tsv", "unfetched.crawl", cwd=path)
    return path


class TestEvaluate:
    def test_json_has_the_promised_shape(self, folder: Path) -> None:
        rankers = ["random", "pagerank", "rw", "rw-eg:omega=0.5", "q-overlap", "fusion", "fpr"]
        asked = [part for name in rankers for part in ("--ordering", name)]
        told = json.loads(good("evaluate", WEB, "--queries", folder / "log.txt.gz", "--crawled", "bfs:0.3", *asked, "--json"))
        assert list(told["pages"]) == ["D", "F", "tested"]
        assert told["pages"]["D"] == 450
        assert len(told["rankers"]) == len(rankers)
        for value in told["rankers"].values():
            assert list(value["views"]) == SHARES
            assert all(0 <= share <= 1 for share in value["views"].values())
        walk = told["rankers"]["rw"]["convergence"]
        assert next(iter(walk.values()))["residual"] <= 1e-10

    def test_split_tests_only_the_pages_that_were_not_revealed(self, folder: Path) -> None:
        log = folder / "log.txt.gz"
        told = json.loads(good("evaluate", WEB, "--queries", log, "--protocol", "split", "--ordering", "rw", "--json"))
        assert told["pages"]["tested"] == told["pages"]["F"] - round(0.65 * told["pages"]["F"])

    def test_tune_measures_each_setting_as_evaluate_does_on_the_same_split_and_names_the_best_estimate(
        self, folder: Path
    ) -> None:
        log = ("--queries", folder / "log.txt.gz")
        told = json.loads(good("tune", WEB, *log, "--omega", "0,0.5,1", "--gamma", "0,1", "--json"))
        estimates = [setting["estimate"] for setting in told["settings"]]
        assert len(estimates) == 6 and estimates == sorted(estimates, reverse=True)
        assert told["best"] == {key: told["settings"][0][key] for key in ("omega", "gamma")}
        rankers = [f"rw-eg:omega={s['omega']:g},gamma={s['gamma']:g}" for s in told["settings"]]
        asked = [part for name in rankers for part in ("--ordering", name)]
        judged = json.loads(good("evaluate", WEB, *log, "--protocol", "split", *asked, "--json"))["rankers"]
        for name, setting in zip(rankers, told["settings"], strict=True):
            assert setting["test"] == pytest.approx((judged[name]["views"]["0.05"] + judged[name]["views"]["0.1"]) / 2)
        assert len({setting["test"] for setting in told["settings"]}) > 1


class TestRank:
    def test_next_pages_with_parts_that_add_up(self, folder: Path) -> None:
        good("rank", "my.crawl", "--ordering", "rw-eg", "--budget", "50", "--out", "next.parquet", cwd=folder)
        table = pq.read_table(folder / "next.parquet").to_pydict()
        assert list(table) == ["url", "score", "links", "virtual edges", "jump"]
        assert len(table["url"]) == 50
        assert table["score"] == sorted(table["score"], reverse=True)
        assert np.add(np.add(table["links"], table["virtual edges"]), table["jump"]) == pytest.approx(table["score"])

    def test_without_a_ranker_the_best_that_the_crawl_can_feed_is_taken(self, folder: Path) -> None:
        tables = {
            "links": ("--pages", "bare.tsv", "--links", "links.tsv"),
            "views": ("--pages", "pages.tsv", "--links", "links.tsv"),
            "queries": ("--pages", "bare.tsv", "--links", "links.tsv", "--queries", "queries.tsv"),
        }
        urls = [line.split("\t")[0] for line in (folder / "pages.tsv").read_text(encoding="utf-8").splitlines()[1:]]
        (folder / "bare.tsv").write_text("url\tfetched\n" + "".join(f"{url}\t1\n" for url in urls), encoding="utf-8")
        for name, given in tables.items():
            good("import", *given, f"{name}.crawl", cwd=folder)
        with fr.Crawl(fr.parse("bfs"), folder / "live") as crawl:
            crawl.seed(["http://a.example/"])
            crawl.take()
            crawl.fetched("http://a.example/", links=["http://a.example/x", "http://a.example/y"])
        expected = {"my.crawl": "fusion", "links.crawl": "pagerank", "views.crawl": "rw-eg", "queries.crawl": "q-overlap"}
        for name, ranker in {**expected, "live": "pagerank"}.items():
            told = json.loads(good("rank", name, "--budget", "2", "--out", "default.parquet", "--json", cwd=folder))
            assert told["ranker"].partition(":")[0] == ranker
            assert len(told["next"]) == 2
            good("explain", name, told["next"][0]["url"], cwd=folder)

    @pytest.mark.parametrize("ranker", ["indegree", "q-overlap", "q-hybrid:fit=tree", "fusion", "opic"])
    def test_every_kind_of_ranker(self, folder: Path, ranker: str) -> None:
        asked = ("--ordering", ranker, "--budget", "5", "--out", "n.parquet")
        told = json.loads(good("rank", "my.crawl", *asked, "--json", cwd=folder))
        assert len(told["next"]) == 5
        assert told["pages"]["D"] == 500

    def test_explain_says_who_votes_and_which_queries_match(self, folder: Path) -> None:
        best = json.loads(good("rank", "my.crawl", "--ordering", "fusion", "--budget", "1", "--json", cwd=folder))["next"][0]
        told = json.loads(good("explain", "my.crawl", best["url"], "--json", cwd=folder))
        assert told["rankers"][best_spec(told)]["place"] == 1
        assert sum(voter["share"] for voter in told["voters"]) <= 1 + 1e-9
        assert told["queries"]
        text = good("explain", "my.crawl", best["url"], cwd=folder)
        assert "Voted for by:" in text
        assert "Matches the queries:" in text


def best_spec(told: dict[str, dict[str, object]]) -> str:
    (spec,) = [name for name in told["rankers"] if name.startswith("fusion")]
    return spec


def test_rankers_run_online_where_the_web_has_impact(folder: Path) -> None:
    told = json.loads(good("simulate", "my.crawl", "--ordering", "rw-eg:every=100", "--ordering", "bfs", "--json", cwd=folder))
    assert set(told["policies"]) == {"rw-eg:every=100", "bfs"}


def test_a_simulation_by_impact_is_driven_and_judged_by_it(folder: Path) -> None:
    given = ("simulate", "my.crawl", "--ordering", "rw:every=100", "--ordering", "oracle:truth=views", "--impact", "views")
    told = json.loads(good(*given, "--json", cwd=folder))
    assert told["policies"]["oracle:truth=views"]["mass"]["0.05"] > told["policies"]["rw:every=100"]["mass"]["0.05"]
    assert "importance: views" in good(*given, cwd=folder)


class TestBadInput:
    @pytest.mark.parametrize(
        ("args", "says"),
        [
            (["evaluate", WEB, "--ordering", "rw"], ["--queries"]),
            (["evaluate", WEB, "--queries", "none.txt"], ["none.txt"]),
            (["evaluate", WEB, "--queries", "empty.txt"], ["empty.txt"]),
            (["evaluate", WEB, "--queries", "log.txt.gz", "--ordering", "rw-eg:omega=1.5"], ["omega must be", "got 1.5"]),
            (["evaluate", WEB, "--queries", "log.txt.gz", "--ordering", "rw-gg"], ["did you mean 'rw-eg'"]),
            (["evaluate", WEB, "--queries", "log.txt.gz", "--crawled", "bfs"], ["bfs", "ORDERING:SHARE"]),
            (["evaluate", WEB, "--queries", "log.txt.gz", "--crawled", "bfs:1.0"], ["no frontier"]),
            (["evaluate", WEB, "--queries", "log.txt.gz", "--protocol", "half"], ["half"]),
            (["evaluate", WEB, "--queries", "strange.txt", "--judge", "same"], ["all observed impacts are zero"]),
            (["evaluate", WEB, "--queries", "strange.txt"], ["too small to be cut in halves"]),
            (["evaluate", WEB, "--queries", "log.txt.gz", "--judge", "dates"], ["log.txt.gz", "no dates"]),
            (["evaluate", WEB, "--queries", "log.txt.gz", "--judge", "thirds"], ["thirds"]),
            (["evaluate", WEB, "--impact", "clicks"], ["knows no clicks"]),
            (["evaluate", WEB, "--visibility", "1/r", "--ordering", "rw"], ["no queries are used here"]),
            (["evaluate", WEB, "--visibility", "much", "--ordering", "rw"], ["visibility must be step", "got 'much'"]),
            (["simulate", WEB, "--ordering", "bfs", "--impact", "clicks"], ["knows no clicks"]),
            (["simulate", WEB, "--ordering", "bfs", "--metric", "clicks"], ["needs a web with clicks"]),
            (["reproduce", "fpr10", "--impact", "clicks"], ["fpr10 is about links alone"]),
            (["rank", "my.crawl", "--budget", "0"], ["0"]),
            (["rank", "elsewhere.crawl"], ["elsewhere.crawl"]),
            (["rank", "my.crawl", "--ordering", "fusion:of=rw+zz"], ["zz"]),
            (["explain", "my.crawl", "http://nowhere.example/"], ["frontrank: 'http://nowhere.example/' is not a page of my"]),
            (["rank", "unfetched.crawl"], ["no page is fetched yet", "fetched=1"]),
            (
                ["tune", WEB, "--queries", "log.txt.gz", "--omega", "0.5,2"],
                ["--omega must be numbers from 0 to 1", "got 0.5,2"],
            ),
            (["import", "--pages", "bad.tsv", "--links", "links.tsv", "bad.crawl"], ["bad.tsv", "views"]),
            (["simulate", "synthetic:pages=50", "--ordering", "rw"], ["views or clicks or queries"]),
        ],
    )
    def test_one_sentence(self, folder: Path, args: list[str], says: list[str]) -> None:
        (folder / "empty.txt").write_text("", encoding="utf-8")
        (folder / "strange.txt").write_text("zzzzz qqqqq\n", encoding="utf-8")
        (folder / "bad.tsv").write_text("url\tfetched\tviews\nhttp://a/\t1\t-3\n", encoding="utf-8")
        before = sorted(path.name for path in folder.iterdir())
        done = frontrank(*args, cwd=folder)
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith("frontrank: ")
        assert len(done.stderr.strip().splitlines()) == 1
        for part in says:
            assert part in done.stderr
        assert sorted(path.name for path in folder.iterdir()) == before


class TestImportedCrawls:
    def test_orderings_that_need_hosts_rank_a_crawl_without_its_queries(self, folder: Path) -> None:
        for ranker in ("fpr:m=100", "location", "largest-site"):
            told = json.loads(good("rank", "my.crawl", "--ordering", ranker, "--budget", "3", "--json", cwd=folder))
            assert len(told["next"]) == 3

    def test_queries_of_the_crawl_drive_a_simulation(self, folder: Path) -> None:
        told = json.loads(
            good("simulate", "my.crawl", "--ordering", "fusion:every=400", "--budget", "450", "--json", cwd=folder)
        )
        assert told["policies"]["fusion:every=400"]["fetched"] == 450

    def test_views_are_counted_from_results_where_no_log_tells_them(self, folder: Path) -> None:
        pages = (folder / "pages.tsv").read_text(encoding="utf-8").splitlines()
        plain = ["url\tfetched", *("\t".join(line.split("\t")[:2]) for line in pages[1:])]
        (folder / "plain.tsv").write_text("\n".join(plain) + "\n", encoding="utf-8")
        first = pages[1].split("\t")[0]
        query = (folder / "queries.tsv").read_text(encoding="utf-8").splitlines()[1].split("\t")[0]
        (folder / "results.tsv").write_text(f"query\turl\trank\n{query}\t{first}\t1\n", encoding="utf-8")
        tables = ("--pages", "plain.tsv", "--links", "links.tsv", "--queries", "queries.tsv", "--results", "results.tsv")
        good("import", *tables, "shown.crawl", cwd=folder)
        told = json.loads(good("rank", "shown.crawl", "--ordering", "rw", "--budget", "3", "--json", cwd=folder))
        assert len(told["next"]) == 3


def test_a_url_is_a_seed() -> None:
    url = fr.load("synthetic:pages=100,text=0").name_of(0)
    told = json.loads(good("simulate", "synthetic:pages=100,text=0", "--ordering", "bfs", "--seeds", url, "--json"))
    assert told["policies"]["bfs"]["fetched"] > 50


def test_each_walk_tells_its_own_convergence(folder: Path) -> None:
    asked = ("--ordering", "rw-eg", "--ordering", "rw")
    told = json.loads(good("evaluate", WEB, "--queries", folder / "log.txt.gz", *asked, "--json"))
    (key,) = told["rankers"]["rw"]["convergence"]
    assert key.startswith("rw RandomWalk")
