"""Regular expressions on URLs: what ``re`` says, in bounded time."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import pytest
import re2
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.rules import Rule, Rules
from frontrank.errors import InputError
from frontrank.fetching.crawler.scope import Scope
from frontrank.pages import html
from frontrank.pages.patterns import MAX_CHARACTERS, ONE_WAY, searcher
from tests.patience import PATIENCE_S

PIECES = [
    "a",
    "b",
    "ab",
    ".",
    r"\w",
    r"\d",
    "[ab]",
    "[^a]",
    "^",
    "$",
    r"\b",
    r"\B",
    "/",
    r"\Z",
    r"\A",
    "(?i:A)",
    r"\.",
    "[a-c/]",
]
patterns = st.recursive(
    st.sampled_from(PIECES),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "*?", "{2,}"])).map(
            lambda two: f"(?:{two[0]}){two[1]}"
        ),
        st.tuples(inner, st.sampled_from(["i", "s"])).map(lambda two: f"(?{two[1]}:{two[0]})"),
    ),
    max_leaves=8,
)
texts = st.text(alphabet="abA/1 .\né_", min_size=1, max_size=12)  # of an empty one, versions of Python differ


def repeats(pattern: str) -> int:
    """How often a part of the pattern may be repeated by number, at most: RE2 takes a thousand."""
    return int(2 ** pattern.count("{2") * 3 ** pattern.count("{1,3}"))


@settings(max_examples=1500)
@given(patterns, texts)
@example("a$", "a\n")
@example("(?:^a|b$)*", "ab")
@example(r"\w", "é")
@example(r"\\Z", "\\Z")
def test_what_is_found_is_what_re_finds(pattern: str, text: str) -> None:
    r"""As far as both mean the same: ``$`` is the end of the text, letters are those of ASCII, and ``\B`` may match amid the
    bytes of another letter."""
    assume(repeats(pattern) <= 1000 and (text.isascii() or r"\B" not in pattern))
    search = searcher(pattern)
    meant = re.compile(pattern.replace("$", r"\Z"), re.ASCII)
    assert bool(search(text)) == bool(meant.search(text)), (pattern, text)


@pytest.mark.parametrize("pattern", ["/news/", "[.]pdf$", r"^http://a\.example/\d\d\d\d/", "[^/a-z0-9]x", "é$"])
def test_an_expression_with_one_way_to_match_is_left_to_re(pattern: str) -> None:
    assert ONE_WAY.fullmatch(pattern.removesuffix("$"))
    assert searcher(pattern).__name__ == "<lambda>"


@pytest.mark.parametrize(
    "pattern", ["a*", "(ab)", "a|b", r"(a)\1", "a$b", r"\s", "[a", r"[\]]", "(?i)a", r"\1", "a{2}", "[[:alpha:]]"]
)
def test_no_other_expression_is_left_to_re(pattern: str) -> None:
    assert not ONE_WAY.fullmatch(pattern)


HARD = [
    "(a+)+$",
    "(a|aa)+$",
    "(a|a?)+$",
    "(.*a){20}$",
    ".*.*.*.*=",
    "a*a*a*a*a*a*b",
    "(?:a?){40}a{40}$",
    "(x+x+)+y",
    r"(\w+\s?)*$",
]
SLOW = """
import sys, time
from frontrank.pages.patterns import searcher
search, began = searcher(sys.argv[1]), time.process_time()
for sign in "ax=/":
    for tail in ("", "!", "\\n!"):
        search(sign * 100_000 + tail); search(sign * 2_000 + tail); search("http://h/" + sign * 2_000 + tail)
print(time.process_time() - began)
"""


@pytest.mark.parametrize("pattern", [*HARD, "a+$", "https?://.*[.]pdf$", "(?:ab|cd)?(?:e|f)?.*x", "^(?:a+.+)b"])
def test_no_expression_takes_long_on_any_url(pattern: str) -> None:
    """In a process of its own: a hostile expression could not be interrupted here. The processor's time, not the clock's."""
    done = subprocess.run([sys.executable, "-c", SLOW, pattern], capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert float(done.stdout) / 36 < 1.0


REFUSED = [
    r"(.*)(.*)\1\2x",
    "(?=(a+)+b)(a+)+",
    "(?:(?:a{100}){100}b?)+",
    "(?:a++b?)+",
    r"(a)\1",
    "(?!b)c",
    "(?<=/)x",
    "(?>a+)",
    "(?:.{1,999}x){9}",
]


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_an_automaton_cannot_look_for_is_refused(pattern: str) -> None:
    with pytest.raises(InputError, match="bounded time on every URL"):
        searcher(pattern)


@pytest.mark.parametrize("pattern", ["[", "(", "*a", "a)", "\\"])
def test_what_is_no_expression_is_refused(pattern: str) -> None:
    with pytest.raises(InputError, match="pattern must be a regular expression, got"):
        searcher(pattern)


def test_rules_and_scopes_are_bounded() -> None:
    url = "http://h.test/" + "a" * 2_000 + "!"
    began = time.process_time()
    crawl = Crawl("bfs")
    crawl.discover([url])
    assert crawl.control.boost("(a+)+$", 1) == 0
    crawl.control.limit_pattern("(a|aa)+$", budget=1)
    assert crawl.take() == [url]
    scope = Scope(["http://h.test/"], include=["(a+)+"], exclude=["(a+)+$"])
    assert scope.why_not(url) is None
    assert time.process_time() - began < 60.0, "and not for ever: the processor's time"
    for refused in (
        lambda: crawl.control.boost(r"(.*)(.*)\1\2x", 1),
        lambda: Scope(["http://h.test/"], exclude=[r"(.*)(.*)\1\2x"]),
    ):
        with pytest.raises(InputError, match="bounded time"):
            refused()


def test_a_rule_that_would_be_refused_holds_for_no_page(caplog: pytest.LogCaptureFixture) -> None:
    """A directory that came from elsewhere may have one: it is not searched, and can be ended."""
    rules = Rules()
    rules.set(Rule(r"(.*)(.*)\1\2x", boost=2))
    assert rules.priority("http://h/abx") == 0 and "holds for no page" in caplog.text
    rules.set(Rule(r"(.*)(.*)\1\2x"))
    assert not rules


def test_to_end_a_rule_compiles_and_searches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = Crawl("bfs")
    crawl.discover(["http://h.test/a", "http://h.test/b"])
    assert crawl.control.boost("a$", 1) == 1
    crawl.control.limit_pattern("b$", budget=1)
    for module in (re, re2):
        for name in ("compile", "search"):
            monkeypatch.setattr(module, name, lambda *given: pytest.fail("a pattern was compiled"))
    assert crawl.control.boost("(a|a)*(?!x)b", 0) == 0, "there is no such rule"
    crawl.control.limit_pattern("(a|a)*(?!x)b", budget=0, delay_s=0.0)
    assert crawl.control.boost("a$", 0) == 1
    crawl.control.limit_pattern("b$", budget=0)
    assert not crawl.state.rules and crawl.state.log.seq == 7, "nothing is stored of rules that were never there"


COSTLY = """
import sys, time
from frontrank.crawl.crawl import Crawl
from frontrank.errors import InputError
crawl, pattern = Crawl("bfs"), sys.argv[1]
crawl.discover([f"http://h.test/{n}/" + "a" * 2_000 + "!" for n in range(50)])
began = time.process_time()
try:
    crawl.control.boost(pattern, 1)
except InputError as error:
    assert "fewer or narrower ranges" in str(error)
print(time.process_time() - began)
"""


@pytest.mark.parametrize("pattern", ["(a|a){13}b", "(?i)" + "".join(f"{chr(256 + n)}[\x01-\uffff]" for n in range(60))])
def test_a_rule_takes_no_second(pattern: str) -> None:
    """Neither when it is compiled nor over many URLs of a crawl: half a second for one URL and each of 60 ranges, once."""
    done = subprocess.run(
        [sys.executable, "-c", COSTLY, pattern], capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )
    assert float(done.stdout) < 1.0


def test_as_much_of_a_url_is_looked_at_as_pages_may_link_to() -> None:
    assert MAX_CHARACTERS == html.MAX_URL_LENGTH
    assert searcher("b$")("a" * (MAX_CHARACTERS - 1) + "b") and searcher("(a+)+b$")("a" * (MAX_CHARACTERS - 1) + "b")
