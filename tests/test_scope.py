"""What belongs to a crawl, and why the rest does not."""

from __future__ import annotations

import re

import pytest

from frontrank.errors import InputError
from frontrank.fetching.crawler.scope import Scope


@pytest.mark.parametrize(
    ("reach", "url", "why"),
    [
        ("host", "https://example.org/a", None),
        ("host", "http://www.example.org:8080/a", None),
        ("host", "https://news.example.org/", "other host"),
        ("host", "https://example.com/", "other host"),
        ("host", "https://example.org.evil.example/", "other host"),
        ("host", "https://example.org@evil.example/", "other host"),
        ("domain", "https://news.example.org/", None),
        ("domain", "https://notexample.org/", "other domain"),
        ("any", "https://example.com/", None),
        ("any", "ftp://example.com/", "not http"),
        ("any", "mailto:a@example.org", "not http"),
        ("any", "", "not http"),
        ("any", "https://example.com/a/a/a", "path repeats"),
    ],
)
def test_reach_is_told_by_the_seeds(reach: str, url: str, why: str | None) -> None:
    scope = Scope(["https://www.example.org/start"], reach=reach)
    assert scope.why_not(url) == why
    assert scope.why_not(url) == why, "a kept verdict is the same verdict"


def test_a_seed_with_www_and_one_without_mean_the_same_host() -> None:
    for seed in ("http://example.org", "http://www.example.org"):
        scope = Scope([seed])
        assert scope.why_not("http://example.org/") is None and scope.why_not("http://www.example.org/") is None


def test_several_seeds_open_several_hosts() -> None:
    scope = Scope(["http://a.example/", "http://127.0.0.1:9/"])
    assert scope.why_not("http://127.0.0.1:10/x") is None
    assert scope.why_not("http://127.0.0.2/x") == "other host"


def test_expressions_are_searched_in_the_whole_url() -> None:
    scope = Scope(["http://example.org/"], include=[r"/docs/", r"\.html$"], exclude=[r"[?&]print="])
    assert scope.why_not("http://example.org/docs/a") is None
    assert scope.why_not("http://example.org/b.html") is None
    assert scope.why_not("http://example.org/blog") == "not included"
    assert scope.why_not("http://example.org/docs/a?print=1") == "excluded"
    assert scope.why_not("http://example.com/docs/") == "other host"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"exclude": ["ok", "a("]}, "exclude 'a(' is not a regular expression"),
        ({"include": "*"}, "include '*' is not a regular expression"),
        ({"reach": "hosts"}, "reach must be host, domain or any, got 'hosts'; did you mean 'host'?"),
    ],
)
def test_a_scope_that_makes_no_sense_is_refused(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        Scope(["http://example.org/"], **options)  # type: ignore[arg-type]


def test_a_seed_that_is_no_url_is_refused() -> None:
    with pytest.raises(InputError, match="has no scheme"):
        Scope(["example.org"])


def test_scopes_of_equal_settings_are_equal() -> None:
    one, two = Scope(["http://example.org/"]), Scope(("http://example.org/",))
    one.why_not("http://example.org/a")
    assert one == two
