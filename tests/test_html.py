"""What is read off an HTML page, and that no page can hurt the reader."""

from __future__ import annotations

from html import escape

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

from frontrank.pages.html import MAX_URL_LENGTH, Page, decode, looks_binary, parse, resolve
from frontrank.pages.urls import canonical

HERE = "http://example.org/dir/page"


def links(markup: str, **options: object) -> list[tuple[str, str]]:
    return parse(markup.encode(), HERE, **options).links  # type: ignore[arg-type]


def test_links_are_absolute_canonical_and_in_the_order_of_the_page() -> None:
    found = links(
        '<a href="b?x=1&amp;y=2#part">to <b>b</b></a> <map><area href="/c/../d" alt=" a  map "></map>'
        '<A HREF=" HTTPS://Example.COM:443 "> two\n words </A><a name=x>no link</a><a href="">itself</a>'
    )
    assert found == [
        ("http://example.org/dir/b?x=1&y=2", "to b"),
        ("http://example.org/d", "a map"),
        ("https://example.com/", "two words"),
        (HERE, "itself"),
    ]


def test_a_target_that_occurs_twice_keeps_its_first_place_and_all_its_anchors() -> None:
    assert links("<a href=/a>one</a><a href=/b>x</a><a href=/a#f></a><a href=/a>two</a>") == [
        ("http://example.org/a", "one two"),
        ("http://example.org/b", "x"),
    ]


def test_an_image_speaks_for_a_link_without_text() -> None:
    assert links('<a href=/a> <img alt="A  logo"><img alt="two"></a><a href=/b>text<img alt=no></a><a href=/c><img></a>') == [
        ("http://example.org/a", "A logo two"),
        ("http://example.org/b", "text"),
        ("http://example.org/c", ""),
    ]


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("http://other.example/x/", "http://other.example/x/a"),
        ("/y/z", "http://example.org/y/a"),
        ("javascript:alert(1)", "http://example.org/dir/a"),
        ("http://[broken", "http://example.org/dir/a"),
    ],
)
def test_a_base_is_honoured_if_it_is_one(base: str, expected: str) -> None:
    assert links(f'<base href="{base}"><base href="http://second.example/"><a href=a>x</a>') == [(expected, "x")]


def test_links_that_lead_nowhere_are_counted_by_reason() -> None:
    long = "x" * MAX_URL_LENGTH
    page = parse(
        f"""<a href="javascript:void(0)">a</a><a href="mailto:a@example.org">b</a><a href="java\nscript:x">c</a>
        <a href="data:text/html,{long}">d</a><a href="file:///etc/passwd">e</a><a href="tel:1">f</a>
        <a href="/{long}">g</a><a href="/{"ä" * 500}">h</a><a href="http://[x">i</a><a href="http://a b/">j</a><a href=/k>k</a>
        """.encode(),
        HERE,
    )
    assert page.dropped == {"scheme": 6, "too long": 2, "not a URL": 2}
    assert [anchor for _, anchor in page.links] == ["k"]


def test_the_number_of_links_has_a_limit() -> None:
    page = parse(b"".join(b"<a href=/%d>%d</a>" % (i % 7, i) for i in range(14)), HERE, most_links=5)
    assert [url for url, _ in page.links] == [f"http://example.org/{i}" for i in range(5)]
    assert page.links[0][1] == "0 7", "a known target is no further link"
    assert page.dropped == {"too many links": 4}


@pytest.mark.parametrize(
    ("content", "nofollow", "noindex"),
    [("NoFollow", True, False), ("noindex, follow", False, True), ("none", True, True), ("all,max-snippet:1", False, False)],
)
def test_a_page_may_ask_that_its_links_be_left_alone(content: str, nofollow: bool, noindex: bool) -> None:
    page = parse(f'<meta name="Robots" content="{content}"><a href=/a>a</a>'.encode(), HERE)
    assert (page.directives().nofollow, page.directives().noindex, len(page.links)) == (nofollow, noindex, 1)


def test_text_is_that_of_main_or_of_the_body_without_what_is_not_read() -> None:
    unseen = "<script>var s='<p>no</p>'</script><style>p{}</style><noscript>no</noscript><template>no</template>"
    page = parse(
        f"<title>\n A &amp;  B </title><body>{unseen}<nav>menu</nav><p>one</p><p>two&nbsp;three</p>{unseen}".encode(), HERE
    )
    assert (page.title, page.text) == ("A & B", "one two three")
    page = parse(f"<body>aside<main><p>one{unseen}</p><nav>in main</nav></main><footer>end</footer>".encode(), HERE)
    assert page.text == "one in main"
    assert parse(b"<main>words</main>", HERE, text=False).text == ""


words = st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1), max_size=8).map(
    lambda parts: " ".join(" ".join(parts).split())
)


@given(words, words, st.lists(words, max_size=5))
def test_what_was_served_comes_back_as_it_was(title: str, text: str, anchors: list[str]) -> None:
    nav = "".join(f'<a href="/{i}">{escape(anchor)}</a>\n' for i, anchor in enumerate(anchors))
    body = f"<!doctype html><title>{escape(title)}</title><nav>{nav}</nav><main>{escape(text)}</main>"
    page = parse(body.encode(), HERE, "utf-8")
    assert (page.title, page.text) == (title, text)
    assert page.links == [(f"http://example.org/{i}", anchor) for i, anchor in enumerate(anchors)]


@pytest.mark.parametrize(
    ("body", "charset", "expected"),
    [
        ("grün".encode(), None, "grün"),
        ("grün".encode("cp1252"), None, "grün"),
        ("“grün”".encode("cp1252"), "ISO-8859-1", "“grün”"),
        ("grün".encode(), "utf8", "grün"),
        ("\ufeffgrün".encode(), "koi8-r", "grün"),
        ("\ufeffgrün".encode("utf-16-le"), None, "grün"),
        ("\ufeffgrün".encode("utf-16-be"), "utf-8", "grün"),
        (b"<meta charset='koi8-r'>" + "да".encode("koi8-r"), None, "<meta charset='koi8-r'>да"),
        (b"<meta charset=utf-16>" + "да".encode(), None, "<meta charset=utf-16>да"),
        ("漢字".encode("gbk"), "gb2312", "漢字"),
        ("漢字".encode("shift_jis"), '"Shift_JIS"', "漢字"),
        ("grün blü".encode()[:-1], None, "grün bl\ufffd"),
        ("café".encode("cp1252"), None, "café"),
        (b"a\xffb", "utf-8", "a\ufffdb"),
        (b"a\x81b", "windows-1252", "a\ufffdb"),
        (b"\xe0\xff", "windows-1253", "\u03b0\ufffd"),
        (b"abc", "base64", "abc"),
        (b"abc", "no such charset", "abc"),
        (b"abc", "\0", "abc"),
        (b"", None, ""),
    ],
)
def test_characters_are_read_as_browsers_read_them(body: bytes, charset: str | None, expected: str) -> None:
    assert decode(body, charset) == expected


def test_the_charset_may_stand_in_an_http_equiv() -> None:
    head = b'<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><title>'
    assert parse(head + "да".encode("cp1251"), HERE).title == "да"


@pytest.mark.parametrize("body", [b"PK\x03\x04x", b"\x89PNG\r\n", b"\xff\xd8\xff\xe0", b"GIF89a", b"%PDF-1.7", b"\x1f\x8b\x08"])
def test_files_of_other_kinds_are_known_by_their_first_bytes(body: bytes) -> None:
    assert looks_binary(body)


def test_nul_bytes_are_binary_unless_they_are_utf16() -> None:
    assert looks_binary(b"\x7fELF") and looks_binary(b"<html>\0") and not looks_binary(b"<html>" + b" " * 2000 + b"\0")
    assert not looks_binary("\ufeff<html>".encode("utf-16-le")) and not looks_binary(b"")


pieces = st.sampled_from(
    [
        *("<a href=/x>", "</a>", "<a href='b'>", "<area href=/y>", "<base href=//[>", "<base href=/q/>", "<title>", "</title>"),
        *("<meta name=robots content=none>", "<main>", "</main>", "<nav>", "<script>", "</script>", "<template>", "<svg>"),
        *("<math>", "<table>", "<td>", "<select>", "<option>", "<b>", "</b>", "<p>", "<div>", "</div>", "<!--", "-->"),
        *("<![CDATA[", "]]>", "&amp;", "&#0;", "&#xD800;", "&#x110000;", "<", ">", '"', "'", "=", "\0", "text"),
        *("<plaintext>", "<frameset>", "<body>", "</html>", "<noscript>", "<iframe>"),
    ]
)


def check(page: Page) -> None:
    assert len({url for url, _ in page.links}) == len(page.links)
    for url, anchor in page.links:
        assert url == canonical(url) and url.startswith("http") and len(url) <= MAX_URL_LENGTH
        assert anchor == " ".join(anchor.split())
    for text in (page.title, page.text, *(anchor for _, anchor in page.links)):
        text.encode()


@given(
    st.binary(max_size=200), st.sampled_from([HERE, "", "no url", "http://[", "about:blank"]), st.none() | st.text(max_size=10)
)
@example(b"\xff\xfe<\xd8a", HERE, None)
def test_no_bytes_make_it_raise(body: bytes, url: str, charset: str | None) -> None:
    check(parse(body, url, charset))


@settings(deadline=None)
@given(st.lists(pieces, max_size=60).map(" ".join))
def test_no_markup_makes_it_raise(markup: str) -> None:
    check(parse(markup.encode(), HERE))


def test_a_link_alone_is_resolved_in_the_same_way() -> None:
    assert resolve(HERE, " ../a?b#c ") == "http://example.org/a?b"
    assert resolve(HERE, "javascript:x") == resolve(HERE, "http://[") == resolve(HERE, "x" * 3_000) == ""
    assert resolve("", "http://example.org") == "http://example.org/"


# Beside Scrapy's extractor ---------------------------------------------------------------------------------------------------
segments = st.text(st.sampled_from("abcXYZ019._~-!$'()*+,@\u00e4\u6f22 "), max_size=6).filter(lambda text: text.strip(". "))
paths = st.lists(st.one_of(segments, st.sampled_from([".", ".."])), min_size=1, max_size=4).map("/".join)
queries = st.lists(st.tuples(segments, segments).map("=".join), min_size=1, max_size=3).map("&".join)
hrefs = st.builds(
    lambda start, path, query, fragment: start + path + query + fragment,
    st.sampled_from(["", "/", "./", "../", "//other.example/", "http://Other.example/", "https://example.org/"]),
    paths,
    st.one_of(st.just(""), queries.map("?{}".format)),
    st.sampled_from(["", "#part"]),
)
around = st.sampled_from(["{}", "<p>{}</p>", "<li><b>{}", "<table><tr><td>{}</td></table>", "<div>{}</div><!-- a -->"])


def extracted(markup: str) -> list[str]:
    """The links that Scrapy finds, written as ours are."""
    response = HtmlResponse(HERE, body=markup.encode(), encoding="utf-8")
    found = (canonical(link.url) for link in LinkExtractor(deny_extensions=[]).extract_links(response))
    return list(dict.fromkeys(url for url in found if url.startswith("http")))


@settings(deadline=None)
@given(st.lists(st.tuples(around, hrefs), max_size=6))
def test_links_are_those_of_scrapys_extractor(parts: list[tuple[str, str]]) -> None:
    markup = "".join(form.format(f'<a href="{escape(href)}">x</a>') for form, href in parts)
    assert [url for url, _ in links(markup)] == extracted(markup)


@pytest.mark.parametrize(
    ("href", "ours", "scrapys"),
    [
        ("/a|b?c|d", "http://example.org/a|b?c|d", "http://example.org/a%7Cb?c%7Cd"),
        ("/a[1]?b[2]=3", "http://example.org/a[1]?b[2]=3", "http://example.org/a%5B1%5D?b%5B2%5D=3"),
        ("http//x.example/y", "http://example.org/dir/http//x.example/y", "http://example.org/dir/http/x.example/y"),
        ("///x.example/y", "http://x.example/y", "http://example.org/x.example/y"),
        ("/a?", "http://example.org/a?", "http://example.org/a"),
        ("https:x.example/y", "https://x.example/y", None),
        ("http://", None, HERE),
    ],
)
def test_where_scrapy_and_the_url_standard_differ_links_are_those_of_the_standard(
    href: str, ours: str | None, scrapys: str | None
) -> None:
    """What a browser would ask for. Scrapy escapes more, and drops empty segments of relative paths."""
    markup = f'<a href="{href}">x</a>'
    assert [url for url, _ in links(markup)] == ([ours] if ours else [])
    assert extracted(markup) == ([scrapys] if scrapys else [])
