"""URLs before they are asked for: one URL a page, usable seeds, and the marks of traps."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontrank.errors import InputError
from frontrank.pages.urls import SESSION, canonical, clean, host_of, pattern, registered_domain, repeats, usable_seed


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("HTTP://Example.ORG:80/a/../b/./c#part", "http://example.org/b/c"),
        ("https://bücher.example/ä?q=ü", "https://xn--bcher-kva.example/%C3%A4?q=%C3%BC"),
        ("http://example.org/?PHPSESSID=0a1b", "http://example.org/"),
        ("http://example.org/?b=2&sid=9&a=1&b=3", "http://example.org/?b=2&a=1&b=3"),
        ("http://example.org/x;jsessionid=AB12.node1?y=1", "http://example.org/x?y=1"),
        ("http://example.org/x;JSESSIONID=AB12/y;v=2", "http://example.org/x/y;v=2"),
        ("http://example.org/?ASPSESSIONIDQQ=1&x", "http://example.org/?x"),
        ("http://example.org/?utm_source=a&utm_medium=b&p=%7Ea%2fb+c", "http://example.org/?p=%7Ea%2fb+c"),
        ("http://example.org/?sidebar=1&side=2&xsid=3", "http://example.org/?sidebar=1&side=2&xsid=3"),
        ("http://example.org/?", "http://example.org/?"),
        ("http://example.org/?a=&&b", "http://example.org/?a=&&b"),
        ("http://example.org/?sid", "http://example.org/"),
        ("not a url?sid=1", "not a url"),
    ],
)
def test_a_page_has_one_clean_url(given: str, expected: str) -> None:
    assert clean(given) == expected


def test_the_parameters_to_drop_can_be_chosen() -> None:
    assert clean("http://example.org/?sid=1&page=2", ["page"]) == "http://example.org/?sid=1"
    assert clean("http://example.org/?sid=1", ()) == "http://example.org/?sid=1"
    assert clean("http://example.org/?a.b=1&axb=2", ("a.b",)) == "http://example.org/?axb=2"


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_cleaning_twice_is_cleaning_once(rest: str) -> None:
    once = clean(f"http://example.org/{rest}")
    assert clean(once) == once


@given(st.lists(st.tuples(st.sampled_from([*SESSION, "a", "b", "sidecar"]), st.from_regex(r"[a-z%0-9]{0,5}", fullmatch=True))))
def test_what_is_not_dropped_keeps_its_order_and_spelling(fields: list[tuple[str, str]]) -> None:
    fields = [(name.replace("*", "x"), value) for name, value in fields]
    url = clean("http://example.org/?" + "&".join(f"{name}={value}" for name, value in fields))
    kept = [f"{name}={value}" for name, value in fields if name in ("a", "b", "sidecar")]
    assert url == "http://example.org/" + (f"?{'&'.join(kept)}" if kept else "" if fields else "?")


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.org", "example.org"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("one.github.io", "one.github.io"),
        ("www.xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("192.168.7.1", "192.168.7.1"),
        ("[::1]", "[::1]"),
        ("localhost", "localhost"),
        ("org", "org"),
        ("Example.ORG.", "example.org"),
        ("", ""),
    ],
)
def test_a_registered_domain_is_what_one_owner_has(host: str, domain: str) -> None:
    assert registered_domain(host) == domain


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("  https://Example.org/a#b ", "https://example.org/a"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/"),
        ("http://[::1]:80/", "http://[::1]/"),
        ("HTTP://bücher.example", "http://xn--bcher-kva.example/"),
    ],
)
def test_a_usable_seed_comes_back_canonical(given: str, expected: str) -> None:
    assert usable_seed(given) == expected


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("exmaple", "seed 'exmaple' has no scheme; expected an http or https URL, such as https://exmaple"),
        ("localhost:8000/a", "no scheme; expected an http or https URL, such as https://localhost:8000/a"),
        ("//example.org/x", "such as https://example.org/x"),
        ("ftp://example.org/", "has the scheme ftp; expected an http or https URL"),
        ("mailto:a@example.org", "has the scheme mailto"),
        ("file:///etc/passwd", "has the scheme file"),
        ("", "is empty"),
        ("   ", "is empty"),
        ("https://a.example https://b.example", "holds a blank"),
        ("http://", "is not a URL"),
        ("http://example.org:99999/", "is not a URL"),
        ("http://./", "has no host"),
        ("http://user:secret@example.org/", "holds a user name or password"),
        ("http://example.org:0/", "has port 0"),
        ("http://\ud800/", "is not a URL"),
    ],
)
def test_a_seed_that_cannot_be_used_is_refused_in_one_sentence(given: str, sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)) as raised:
        usable_seed(given)
    assert "secret" not in str(raised.value)


@given(st.text(max_size=40))
def test_any_text_is_a_seed_or_an_input_error(text: str) -> None:
    try:
        url = usable_seed(text)
    except InputError:
        return
    assert url == canonical(url) and host_of(url)


@pytest.mark.parametrize(
    ("path", "trapped"),
    [
        ("a/a/a", True),
        ("a/a/b", False),
        ("x/a/b/a/b/a/b", True),
        ("a/b/c/a/b/c/a/b/c/", True),
        ("a/b/c/d/a/b/c/d/a/b/c/d", False),
        ("a/x/a/y/a/z/a", True),
        ("a/x/a/y/a/z", False),
        ("2020/2020/2020/2020/2020", False),
        ("1/a/1/a/1/a", True),
        ("1/2/1/2/1/2", False),
        ("1/x/1/y/1/z/1/w", False),
        ("a//a//a", True),
        ("q?u=a/a/a/a/a", False),
    ],
)
def test_a_path_that_goes_in_circles_is_told(path: str, trapped: bool) -> None:
    assert repeats(f"http://example.org/{path}") is trapped


def test_pages_of_a_trap_share_a_pattern() -> None:
    calendar = {
        pattern(f"http://example.org/cal/{year}/{month}?day={day}") for year, month, day in [(2026, 1, 2), (1999, 12, 31)]
    }
    assert calendar == {"example.org/cal/#/#?day"}
    ids = {pattern(f"http://example.org/item/{name}.html") for name in ("5f3a9bc01d", "0cc175b9c0f1b6a831c399e269772661")}
    assert ids == {"example.org/item/*.html"}
    assert pattern("https://example.org/6ba7b810-9dad-11d1-80b4-00c04fd430c8/x") == "example.org/*/x"
    assert pattern("http://example.org/facade/decade") == "example.org/facade/decade"
    assert pattern("http://example.org/?b=1&a&=2") == "example.org/?b&a&"
    assert pattern("http://10.0.0.1:8000/p1") == "10.0.0.1:8000/p#"


def test_half_a_character_makes_no_url() -> None:
    assert host_of("http://a.org:1/\ud800") == ""
    assert canonical("http://a.org/\ud800") == "http://a.org/\ud800"
