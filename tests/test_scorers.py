"""Scorers: what the built-in ones say, and what becomes of pages on which somebody else's fails."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontrank.errors import InputError, SpecError
from frontrank.pages.scorers import LOWEST, REGISTRY, Judged, find, goal_words, score_all, scored
from frontrank.pages.scoring import GIVEN_UP, MAX_MISSES, TOO_LONG, Page, Scoring
from frontrank.web.importance import importance
from frontrank.web.quality import scores_of
from frontrank.web.web import Web
from tests.patience import PATIENCE_S

BUILT_IN = ("words", "rules", "topic:solar energy")
PROSE = "It was the best of times, and it was the age of wisdom that people have to be content with. " * 4


@pytest.mark.parametrize("spec", BUILT_IN)
@given(url=st.text(), title=st.text(), text=st.text())
def test_built_in_scores_are_between_0_and_1_whatever_the_page(spec: str, url: str, title: str, text: str) -> None:
    assert 0.0 <= scored(spec, url, title, text) <= 1.0
    assert scored(spec, url, "", "") == 0.0


def test_words_counts_distinct_words_in_any_case() -> None:
    assert scored("words", "", "", "one ONE two") == 2 / 202
    assert scored("words", "", "three", "one ONE two") == 3 / 203


def test_rules_prefer_prose_to_lists_symbols_and_repetitions() -> None:
    assert scored("rules", "", "", PROSE + " ".join(f"word{i}" for i in range(60))) == 1.0
    assert scored("rules", "", "", "### 12 34 56 " * 30) <= 0.5
    assert scored("rules", "", "", "click here " * 100) < scored("rules", "", "", PROSE)


def test_topic_is_graded_by_words_held_occurrences_title_and_length() -> None:
    def says(title: str, text: str) -> float:
        return scored("topic:solar energy", "", title, text)

    assert says("", "coal") == 0.0
    assert 0 < says("", "solar") < says("", "solar energy") < says("Solar energy", "solar energy")
    assert says("", "solar " * 5) < 0.5 + says("", "solar") < 1.0
    assert says("", "solar " + "filler " * 1000) < says("", "solar filler")
    assert says("", "solarium energetic") == 0.0


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("wrds", "did you mean 'words'"),
        ("words:x", "'x' given, but words takes nothing"),
        ("topic", "no words given; write topic:WORDS"),
        ("topic: ", "no words given"),
        ("topic:...", "needs a word to look for, got '...'"),
        ("tests.scorers:no_such", "has no 'no_such'"),
        ("no_such_module:f", "there is no module 'no_such_module'"),
        ("tests.scorers:REGISTRY", "must be a function of url, title and text"),
    ],
)
def test_a_scorer_that_cannot_be_used_is_refused_with_a_sentence(spec: str, says: str) -> None:
    with pytest.raises(SpecError, match=says.replace("(", r"\(").replace("...", r"\.\.\.")):
        find(spec)


def test_what_stands_behind_a_name_is_its_fourth_parameter() -> None:
    assert scored("tests.scorers:starting_with", "", "", "abc") == 1.0
    assert scored("tests.scorers:starting_with:b", "", "", "abc") == 0.0


def test_a_page_without_a_score_has_a_reason() -> None:
    pages = [("u", "", text) for text in ("four", "raise", "nan", "word")]
    judged = score_all("tests.scorers:picky", pages)
    assert judged == [0.04, "raised ValueError: this page is not for me", "gave nan", "gave 'seven'"]
    with pytest.raises(InputError, match="picky must give a finite number for u; it gave nan"):
        scored("tests.scorers:picky", "u", "", "nan")


def test_scores_without_bounds_are_cut_so_that_sums_stay_finite() -> None:
    from frontrank.pages.scorers import MAX_SCORE

    REGISTRY.register("huge", _huge)
    assert score_all("huge", [("", "", "")]) == [MAX_SCORE]
    assert math.isfinite(1e9 * MAX_SCORE) and -1e9 * MAX_SCORE > LOWEST


def _huge(url: str, title: str, text: str) -> float:
    return 1e308


def test_a_batch_form_is_given_many_pages_and_asked_one_by_one_if_one_spoils_it() -> None:
    pages = [("", "", text) for text in ("a", "raise", "abc")]
    assert score_all("tests.scorers:lengths", pages) == [1.0, "raised ValueError: one spoils it for all", 3.0]
    with Scoring("tests.scorers:lengths") as scoring:
        assert scoring.pages([("", "", "x" * n) for n in range(150)]) == [float(n) for n in range(150)]


class Impatient(Scoring):
    """The clock ends none but those that wait for ever."""

    def _elsewhere(self, pages: Sequence[Page]) -> Iterator[Judged]:
        hangs = any(word in text for _, _, text in pages for word in ("sleep", "slow"))
        self._wall_s = self._workers.wall_s = 0.2 if hangs else PATIENCE_S
        return super()._elsewhere(pages)


def test_one_that_hangs_costs_its_deadline_and_the_next_pages_are_scored() -> None:
    pages = [("", "", text) for text in ("ten chars ", "loop", "raise", "sleep", "four")]
    with Impatient("tests.scorers:picky", cpu_s=0.3) as scoring:
        judged = scoring.pages(pages)
    assert judged == [0.1, TOO_LONG, "raised ValueError: this page is not for me", TOO_LONG, 0.04]


def test_one_that_always_hangs_is_not_asked_any_more() -> None:
    with Scoring("tests.scorers:slow", wall_s=0.05) as scoring:
        judged = scoring.pages([("", "", "text")] * (MAX_MISSES + 3))
    assert judged == [TOO_LONG] * MAX_MISSES + [GIVEN_UP] * 3


def test_one_of_this_process_that_hangs_costs_its_deadline_too() -> None:
    free = threading.Event()

    def hangs(url: str, title: str, text: str) -> float:
        if "slow" in text:
            free.wait()
        return 0.5

    REGISTRY.register("hangs", hangs)
    try:
        with Impatient("hangs") as scoring:
            assert scoring.at_once("u", "", "slow") is None  # a crawl does not wait for it
            assert scoring.pages([("u", "", "a"), ("u", "", "slow"), ("u", "", "b")]) == [0.5, TOO_LONG, 0.5]
            slow = [("u", "", "slow")] * (MAX_MISSES + 1)
            assert [scoring.page(*page) for page in slow] == [TOO_LONG] * MAX_MISSES + [GIVEN_UP]
    finally:
        free.set()


def test_a_web_is_judged_once_and_failures_are_told(caplog: pytest.LogCaptureFixture) -> None:
    web = Web.from_edges([0], [1], pages=3, texts=["four", "nan", "raise"], urls=["http://a/", "http://b/", "http://c/"])
    scores = scores_of(web, "tests.scorers:picky")
    assert scores.tolist() == [0.04, LOWEST, LOWEST]
    assert scores_of(web, "tests.scorers:picky") is scores
    said = "scorer tests.scorers:picky has no score for 2 of 3 pages, and they count as the worst; of http://b/ it gave nan"
    assert said in caplog.text
    assert importance(web, "quality:scorer=tests.scorers:picky").tolist() == [0.04, 0.0, 0.0]


def test_quality_as_importance() -> None:
    web = Web.from_edges([0], [1], pages=2, texts=["one two", "solar"])
    assert importance(web, "quality").tolist() == [2 / 202, 1 / 201]
    assert importance(web, "quality:scorer=topic:solar")[0] == 0.0
    assert np.allclose(importance(web, "2*quality:scorer=words+1*forward"), [4 / 202 + 1, 2 / 201])
    with pytest.raises(SpecError, match="unknown scorer 'wods'; did you mean 'words'"):
        importance(web, "quality:scorer=wods")
    with pytest.raises(InputError, match="needs a web with texts"):
        importance(Web.from_edges([0], [1], pages=2), "quality")


@pytest.mark.parametrize("goal", ["", "  ", "?!", "the best pages about", "___"])
def test_a_goal_without_a_usable_word_is_refused(goal: str) -> None:
    with pytest.raises(InputError, match="a goal must say what pages are to be about"):
        goal_words(goal)
