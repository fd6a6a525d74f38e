"""Generated webs: what a specification promises holds for the web that comes out."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import zlib
from functools import cache

import numpy as np
import pytest

from frontrank.errors import SpecError
from frontrank.kernels.jit import Array
from frontrank.pages.urls import canonical, host_of
from frontrank.sources.synthetic import Synthetic, synthetic
from frontrank.web.links import tidy
from frontrank.web.web import Web

SMALL = "pages=600,links=6,trap=40,topics=5,seed=3"
GOLDEN = 708015182  # checksum of SMALL


@cache
def web_of(spec: str) -> Web:
    return synthetic(spec)


def source_of_links(web: Web) -> Array:
    return np.repeat(np.arange(web.pages), web.out_degree())


def share_on_host(web: Web) -> float:
    assert web.hosts is not None
    return float((web.hosts[source_of_links(web)] == web.hosts[web.targets]).mean())


def reachable(web: Web) -> Array:
    assert web.seeds is not None
    seen = np.zeros(web.pages, bool)
    seen[web.seeds] = True
    waiting = web.seeds.tolist()
    while waiting:
        for q in web.targets_of(waiting.pop()).tolist():
            if not seen[q]:
                seen[q] = True
                waiting.append(q)
    return seen


def checksum(web: Web) -> int:
    crc = 0
    for array in (web.indptr, web.targets, web.hosts, web.seeds):
        assert array is not None
        crc = zlib.crc32(array.tobytes(), crc)
    for strings in (web.urls, web.titles, web.texts, web.anchors, web.host_names):
        assert strings is not None
        crc = zlib.crc32("\n".join(strings).encode(), crc)
    return crc


def path_depth(url: str) -> int:
    return len([segment for segment in url.split("/")[3:] if segment])


def test_the_same_specification_gives_the_same_bytes() -> None:
    assert checksum(synthetic(SMALL)) == checksum(synthetic(SMALL))


def test_the_bytes_stay_what_they_were() -> None:
    # Published figures name generated webs by their specification: a change here changes them all.
    assert checksum(web_of(SMALL)) == GOLDEN


def test_another_seed_gives_another_web() -> None:
    other = synthetic(SMALL.replace("seed=3", "seed=4"))
    assert not np.array_equal(other.targets, web_of(SMALL).targets)


def test_interpreted_kernels_give_the_same_bytes() -> None:
    code = "import tests.test_sources_synthetic as t; print(t.checksum(t.synthetic(t.SMALL)))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=os.path.dirname(os.path.dirname(__file__)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(run.stdout) == checksum(web_of(SMALL))


def test_text_does_not_change_the_links() -> None:
    with_text, without = synthetic("pages=500,text=1"), synthetic("pages=500,text=0")
    assert np.array_equal(with_text.targets, without.targets)
    assert with_text.has("texts")
    assert not without.has("texts")
    assert not without.has("anchors")


def test_text_is_there_up_to_twenty_thousand_pages() -> None:
    assert Synthetic(pages=20_000).has_text
    assert not Synthetic(pages=20_001).has_text


@pytest.mark.parametrize("spec", ["", "pages=50000,links=8,seed=1", "pages=10000,links=40,copying=0.9", "copying=0"])
def test_mean_out_degree_is_the_one_asked_for(spec: str) -> None:
    web = web_of(spec)
    wanted = Synthetic.parse(spec)
    assert web.pages == wanted.pages
    assert web.links / web.pages == pytest.approx(wanted.links, rel=0.05)


@pytest.mark.parametrize("spec", ["", SMALL, "copying=1,pages=2000", "pages=300,links=50,hosts=60", "pages=30,hosts=1"])
def test_links_are_distinct_and_leave_their_page(spec: str) -> None:
    web = web_of(spec)
    indptr, targets, _ = tidy(web.indptr, web.targets)
    assert np.array_equal(indptr, web.indptr)
    assert np.array_equal(targets, web.targets)
    assert web.targets.min() >= 0
    assert web.targets.max() < web.pages


@pytest.mark.parametrize("locality", [0.3, 0.8, 0.95])
def test_the_asked_share_of_links_stays_on_the_host(locality: float) -> None:
    assert share_on_host(web_of(f"locality={locality}")) == pytest.approx(locality, abs=0.03)


def test_full_locality_leaves_hosts_alone() -> None:
    assert share_on_host(web_of("pages=3000,locality=1,links=5")) > 0.97


def test_few_pages_hold_many_of_the_links() -> None:
    web = web_of("")
    inlinks = np.sort(np.bincount(web.targets, minlength=web.pages))[::-1]
    assert inlinks[: web.pages // 100].sum() > 0.25 * web.links
    assert np.median(inlinks) < 0.6 * inlinks.mean()
    assert inlinks[0] > 100 * inlinks.mean()


def test_some_pages_link_nowhere_and_some_to_hundreds() -> None:
    degree = web_of("").out_degree()
    assert 0.03 < (degree == 0).mean() < 0.12
    assert degree.max() > 10 * degree.mean()


def test_host_sizes_follow_zipf() -> None:
    size = np.sort(np.bincount(web_of("").hosts))[::-1]  # type: ignore[arg-type]
    assert len(size) == 31
    for rank in (2, 5, 20):
        assert size[rank - 1] == pytest.approx(size[0] / rank, rel=0.02)


def test_pages_of_a_host_lie_together_and_hosts_in_no_order_of_size() -> None:
    web = web_of("hosts=200")
    assert web.hosts is not None
    assert (np.diff(web.hosts) >= 0).all()
    size = np.bincount(web.hosts)
    assert len(size) == 200
    assert np.argmax(size) != 0
    assert abs(np.corrcoef(np.arange(200), size)[0, 1]) < 0.3


@pytest.mark.parametrize("spec", ["", "pages=30000,seed=2", "pages=2000,links=3"])
def test_nearly_all_pages_are_reachable_from_the_seeds(spec: str) -> None:
    assert reachable(web_of(spec)).mean() >= 0.95


def test_every_page_but_the_roots_is_linked_from_its_own_host() -> None:
    web = web_of("pages=3000,links=2,locality=0")
    assert web.hosts is not None
    source = source_of_links(web)
    linked = np.zeros(web.pages, bool)
    linked[web.targets[web.hosts[source] == web.hosts[web.targets]]] = True
    roots = np.unique(web.hosts, return_index=True)[1]
    assert np.isin(np.flatnonzero(~linked), roots).all()


def test_seeds_are_the_roots_of_the_largest_hosts() -> None:
    web = web_of("")
    assert web.hosts is not None
    assert web.seeds is not None
    assert web.urls is not None
    assert web.seeds.dtype == np.int32
    assert all(path_depth(web.urls[p]) == 0 for p in web.seeds)
    size = np.bincount(web.hosts)
    assert np.array_equal(size[web.hosts[web.seeds]], np.sort(size)[::-1][:10])


@pytest.mark.parametrize("spec", ["pages=5000", SMALL, "pages=40,hosts=40", "pages=900,hosts=1,topics=1"])
def test_urls_are_canonical_distinct_and_on_their_host(spec: str) -> None:
    web = web_of(spec)
    assert web.urls is not None
    assert web.hosts is not None
    assert web.host_names is not None
    urls = list(web.urls)
    assert len(set(urls)) == web.pages
    for page, url in enumerate(urls):
        assert canonical(url) == url
        assert host_of(url) == web.host_names[web.hosts[page]]
    assert len(web.host_names) == len(set(web.host_names)) == web.hosts[-1] + 1


def test_a_path_is_one_deeper_than_that_of_its_parent_which_links_to_it() -> None:
    web = web_of("pages=3000,links=2")
    assert web.urls is not None
    urls = list(web.urls)
    page_at = {url: page for page, url in enumerate(urls)}
    for page, url in enumerate(urls):
        if path_depth(url):
            parent = url.rstrip("/").rpartition("/")[0] + "/"
            assert page in web.targets_of(page_at[parent])
    assert max(map(path_depth, urls)) >= 4


def test_generated_strings_are_sequences_that_travel() -> None:
    urls = web_of("pages=500").urls
    assert urls is not None
    assert urls[-1] == urls[499] == list(urls)[499]
    assert urls[10:13] == [urls[10], urls[11], urls[12]]
    assert list(pickle.loads(pickle.dumps(urls))) == list(urls)
    with pytest.raises(IndexError):
        urls[500]


def test_links_prefer_the_topic_of_their_page() -> None:
    web = web_of("")
    topic = web.urls.layout.topic  # type: ignore[union-attr]
    source = source_of_links(web)
    by_chance = float((np.bincount(topic) / web.pages) @ (np.bincount(topic[web.targets]) / web.links))
    assert (topic[source] == topic[web.targets]).mean() > 2 * by_chance
    away = web.hosts[source] != web.hosts[web.targets]  # type: ignore[index]
    assert (topic[source[away]] == topic[web.targets[away]]).mean() > 2 * by_chance


def test_texts_speak_of_their_topic() -> None:
    web = web_of("pages=1500")
    assert web.texts is not None
    assert web.titles is not None
    topic = web.urls.layout.topic  # type: ignore[union-attr]
    said = np.array([text.split().count("computer") for text in web.texts])
    assert said[topic == 0].mean() > 5
    assert said[topic != 0].mean() < 0.5
    titled = np.array(["computer" in title.lower() for title in web.titles])
    assert titled[topic == 0].mean() > 0.7
    assert not titled[topic != 0].any()
    assert all(50 <= len(text.split()) <= 300 for text in web.texts)


def test_words_are_zipfian() -> None:
    texts = web_of("pages=500").texts
    assert texts is not None
    _, count = np.unique(" ".join(texts).split(), return_counts=True)
    count = np.sort(count)[::-1]
    assert count[:20].sum() > 0.25 * count.sum()
    assert len(count) > 1500


def test_anchors_speak_of_their_target() -> None:
    web = web_of("pages=1500")
    assert web.anchors is not None
    assert web.titles is not None
    assert len(web.anchors) == web.links
    shared = titled = 0
    for link in range(0, web.links, 11):
        anchor, title = web.anchors[link], web.titles[int(web.targets[link])].lower()
        assert anchor
        shared += bool(set(anchor.split()) & set(title.split()))
        titled += anchor == title
    checked = len(range(0, web.links, 11))
    assert shared > 0.75 * checked
    assert 0.3 < titled / checked < 0.5


def test_a_trap_is_a_calendar_that_leads_on_and_on() -> None:
    web = web_of("pages=3000,trap=400")
    assert web.urls is not None
    assert web.hosts is not None
    days = [page for page, url in enumerate(web.urls) if "/calendar/" in url]
    first, last = days[0], days[-1]
    assert days == list(range(first, first + 400))
    assert web.urls[first].endswith("/calendar/2031/01/01")
    assert web.targets_of(first).tolist() == list(range(first + 1, first + 8))
    assert web.targets_of(first + 50).tolist() == [*range(first + 51, first + 58), first]
    assert web.targets_of(last).tolist() == [first]
    source = source_of_links(web)
    into = source[(web.targets >= first) & (web.targets <= last) & ((source < first) | (source > last))]
    root = int(np.flatnonzero(web.hosts == web.hosts[first])[0])
    assert root in into
    assert (web.hosts[into] == web.hosts[first]).all()
    outside = web.targets[np.isin(source, into) & (web.targets >= first) & (web.targets <= last)]
    assert (outside == first).all()
    assert reachable(web)[days].all()


@pytest.mark.parametrize(
    ("spec", "pages"),
    [("pages=1", 1), ("pages=2", 2), ("pages=5,trap=4", 5), ("pages=7,hosts=7", 7), ("pages=12,links=100", 12)],
)
def test_tiny_webs_are_webs(spec: str, pages: int) -> None:
    web = synthetic(spec)
    assert web.pages == pages
    assert web.urls is not None
    assert len(set(web.urls)) == pages


def test_the_name_is_the_specification_without_defaults() -> None:
    assert web_of("").name == "synthetic:"
    assert synthetic(" seed=7 , pages=1e2,links=20, text=auto").name == "synthetic:pages=100,seed=7"
    name = Synthetic(pages=50, links=2.5, locality=0.25, trap=3, text=0).name
    assert name == "synthetic:pages=50,links=2.5,locality=0.25,text=0,trap=3"
    assert Synthetic.parse(name.removeprefix("synthetic:")).name == name


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("page=10", "there is no parameter 'page'; did you mean 'pages'"),
        ("pages", "must be key=value, such as pages=100000, got 'pages'"),
        ("pages=5,", "must be key=value, such as pages=100000, got ''"),
        ("pages=", "must be key=value, such as pages=100000, got 'pages='"),
        ("pages=5,pages=6", "pages was given twice"),
        ("pages=many", "pages must be a number.*got many"),
        ("pages=0", "pages must be a whole number from 1 to 2147483646.*got 0"),
        ("pages=-4", "pages must be .*, got -4"),
        ("pages=2.5", "pages must be a whole number.*got 2.5"),
        ("pages=nan", "pages must be a whole number.*got nan"),
        ("pages=1e400", "pages must be a whole number.*got inf"),
        ("pages=2147483647", "pages must be a whole number from 1 to 2147483646.*got 2147483647"),
        ("pages=2e9,links=10000", "of memory, this machine has"),
        ("links=nan", "links must be a number from 1.*got nan"),
        ("links=0.5", "links must be a number from 1 to 10000.*got 0.5"),
        ("locality=1.5", "locality must be a number from 0 to 1.*got 1.5"),
        ("locality=-0.1", "locality must be .*, got -0.1"),
        ("copying=nan", "copying must be .*, got nan"),
        ("topics=0", "topics must be a whole number from 1 to 1000.*got 0"),
        ("text=yes", "text must be 0, 1 or auto.*got yes"),
        ("pages=10,trap=10", "trap must be a whole number from 0 to 9, fewer than pages, got 10"),
        ("pages=10,trap=5,hosts=6", "hosts must be a whole number from 0 to 5.*got 6"),
        ("seed=-1", "seed must be .*, got -1"),
    ],
)
def test_a_bad_specification_is_told_in_one_sentence(spec: str, message: str) -> None:
    with pytest.raises(SpecError) as told:
        synthetic(spec)
    assert re.search(message, str(told.value))
    assert str(told.value).startswith("synthetic: ")
    assert "\n" not in str(told.value)


# Searchers -------------------------------------------------------------------------------------------------------------
def test_searchers_are_the_same_twice_and_most_pages_are_never_shown() -> None:
    web, again = (synthetic("pages=3000,seed=2,searchers=1") for _ in range(2))
    assert web.views is not None and web.clicks is not None and again.views is not None and again.clicks is not None
    assert np.array_equal(web.views, again.views) and np.array_equal(web.clicks, again.clicks)
    assert web.queries.queries == again.queries.queries and np.array_equal(web.queries.frequency, again.queries.frequency)
    assert np.all(web.clicks <= web.views)
    assert 0.02 < (web.views > 0).mean() <= 0.21
    plain = web_of("pages=3000,seed=2")
    assert plain.views is plain.clicks is plain.queries is None
    assert np.array_equal(plain.targets, web.targets)


@pytest.mark.parametrize("seed", range(3))
def test_pages_that_are_shown_link_to_such_pages_and_stand_beside_them(seed: int) -> None:
    web = web_of(f"pages=4000,seed={seed},searchers=1")
    assert web.views is not None
    shown = web.views > 0
    source = np.repeat(np.arange(web.pages), web.out_degree())
    along = shown[web.targets]
    assert along[shown[source]].mean() > 1.25 * along[~shown[source]].mean()
    listed = np.bincount(source, along, web.pages)[source]  # of the links of a page, those to pages that are shown
    rest = (listed - along) / np.maximum(1, web.out_degree()[source] - 1)
    assert rest[along].mean() > 1.25 * rest[~along].mean()


def test_webs_without_words_have_searchers_who_ask_for_addresses() -> None:
    web = web_of("pages=500,text=0,searchers=1")
    assert web.titles is None and len(web.queries) > 0


def test_searchers_are_there_or_not() -> None:
    with pytest.raises(SpecError, match="searchers must be a whole number from 0 to 1, got 2"):
        web_of("searchers=2")
