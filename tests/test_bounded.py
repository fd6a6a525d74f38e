"""Pages that no parser gets through in time: they end, keep their links, and hurt nobody but a worker."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.pages import bounded, html
from frontrank.pages.skim import skim
from frontrank.system.workers import Closed, Died, TooLong, Workers
from tests.patience import PATIENCE_S
from tests.test_html import HERE, check, pieces

LINKS = b"<base href=/sub/><a href=first>1</a><!-- <a href=no> --><a href='second?a&amp;b'>2</a>"
KEPT = ["http://example.org/sub/first", "http://example.org/sub/second?a&b"]


# Workers ---------------------------------------------------------------------------------------------------------------------
class Impatient(Workers):
    """Parsers are ended after a second of the processor, all else has what it needs."""

    def call(self, function: Callable[..., Any], *given: object) -> Any:
        self.cpu_s = 1.0 if function in (html.parse, for_ever) else PATIENCE_S
        return super().call(function, *given)


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Impatient(2, wall_s=PATIENCE_S) as made:
        yield made


def for_ever() -> None:
    """Time in C that no exception and no other thread interrupts."""
    re.match("(a+)+$", "a" * 64 + "b")


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def all_memory() -> int:
    return len(bytearray(2**40))


def test_a_worker_answers_and_raises_as_a_function_does(workers: Workers) -> None:
    before = workers.started
    assert workers.call(sorted, [3, 1, 2]) == [1, 2, 3]
    with pytest.raises(ZeroDivisionError):
        workers.call(divmod, 1, 0)
    with pytest.raises(MemoryError):
        workers.call(all_memory)
    assert workers.call(len, b"x" * 10_000_000) == 10_000_000
    assert workers.started <= before + 1, "the same worker does it all"


@pytest.mark.parametrize(("function", "error"), [(for_ever, TooLong), (crash, Died)])
def test_a_worker_that_takes_too_long_or_crashes_is_replaced(workers: Workers, function: object, error: type) -> None:
    before = workers.started
    for _ in range(2):
        with pytest.raises(error):
            workers.call(function)  # type: ignore[arg-type]
    assert workers.call(len, "abc") == 3
    assert workers.started >= before + 2


def test_no_more_processes_than_were_allowed_and_closing_ends_them_in_mid_call() -> None:
    workers = Workers(2, cpu_s=600.0, wall_s=PATIENCE_S)
    told: list[BaseException] = []

    def ask() -> None:
        try:
            workers.call(for_ever)
        except (Died, Closed) as error:
            told.append(error)

    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + PATIENCE_S
    while len(workers._busy) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    processes = [worker.process for worker in workers._busy]
    workers.close()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert workers.started == len(processes) == 2 and len(told) == 5
    assert all(process.poll() is not None for process in processes)
    with pytest.raises(Closed):
        workers.call(len, "")


def test_a_worker_ends_when_its_owner_is_killed() -> None:
    script = (
        "from frontrank.system.workers import Workers; import os; w = Workers(); print(w.call(os.getpid), flush=True); input()"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).resolve().parent.parent,
    )
    assert owner.stdout is not None and owner.stdin is not None
    with owner.stdout, owner.stdin:
        worker = int(owner.stdout.readline())
        owner.kill()
        owner.wait(PATIENCE_S)
    until = time.monotonic() + PATIENCE_S
    while running(worker) and time.monotonic() < until:
        time.sleep(0.01)
    assert not running(worker)


def running(pid: int) -> bool:
    """Whether a process is there, and not only its name that nobody has asked about."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


# Pages -----------------------------------------------------------------------------------------------------------------------
def numbered(form: bytes, size: int) -> bytes:
    return b"".join(form % i for i in range(size // len(form)))


MB = 1_000_000
HOSTILE: dict[str, Callable[[], bytes]] = {  # each takes the parser minutes, or did
    "attributes of html": lambda: b"<html " + numbered(b"a%d ", 3 * MB) + b">" + numbered(b"<html b%d>", 3 * MB),
    "attributes of body": lambda: numbered(b"<body a%d b%d c%d>".replace(b"b%d c%d", b"b c"), 5 * MB),
    "attributes of a link": lambda: b"<a href=/x " + numbered(b"a%d ", 5 * MB) + b">",
    "unclosed li": lambda: b"<span>" * (4 * MB // 6) + b"<li>" * MB,
    "unclosed dd": lambda: b"<x>" * MB + b"<dd>" * MB,
    "unclosed div": lambda: b"<div>" * (2 * MB),
    "unknown end tags": lambda: b"<x>" * MB + b"</y>" * MB,
    "end of body": lambda: b"<x>" * MB + b"</body>" * MB,
    "end of form": lambda: b"<form>" + b"<x>" * MB + b"</form>" * MB,
    "open formatting": lambda: numbered(b"<p><b id=%d>x", 5 * MB),
    "formatting in a table": lambda: b"<table>" + numbered(b"<b id=%d>", 3 * MB) + b"x<tr>" * (MB // 2),
    "adoption": lambda: numbered(b"<b id=%d>", 2 * MB) + b"<div>" * (MB // 5) + b"</b>" * (MB // 4),
}
LINEAR: dict[str, Callable[[], bytes]] = {  # hostile to other ways of reading a page
    "unclosed h1": lambda: b"<h1>" * (2 * MB),
    "nested links": lambda: b"<a href=/x><object>" * (MB // 16) + b"words " * (MB // 2),
    "one target": lambda: b"<a href=/x>some words</a>" * 300_000,
    "many targets": lambda: numbered(b"<li><a href=/%d>link</a> words", 9 * MB),
    "open tags": lambda: b"<a" * (4 * MB),
    "open tags, blanks": lambda: b"<a " * (3 * MB),
    "open quotes": lambda: b"<a href='" * MB,
    "open quotes of two kinds": lambda: b"<i x='\"" * MB + b"<a href='\"" * (MB // 2),
    "one open quote": lambda: b"<a href=\"'" + b"<a href= " * MB,
    "blanks after href": lambda: b"<a href" + b" " * (9 * MB),
    "blanks after =": lambda: (b"<a href=" + b" " * 1000) * 9_000,
    "open comments": lambda: b"<!--" * (2 * MB),
    "dashes": lambda: b"<!--" + b"-" * (9 * MB),
    "comments that nearly close": lambda: b"<!-- --" * MB,
    "open scripts": lambda: b"<script>" * MB,
    "scripts that nearly close": lambda: b"<script>" + b"</script" * MB,
    "less than": lambda: b"<" * (9 * MB),
    "references": lambda: b"&" * (9 * MB) + b"<a href='" + b"&amp" * MB + b"'>",
    "numbers": lambda: b"<a href='&#" + b"9" * MB + b";'>" + b"<a href='&#%s;'>" % (b"9" * 4_000) * 1_000,
    "nul": lambda: bytes(9 * MB),
    "bytes that stand for none": lambda: b"\x81" * (9 * MB),
    "half characters": lambda: b"\xff\xfe" + b"\x00\xd8" * (4 * MB),
    "garbage": lambda: random.Random(7).randbytes(9 * MB),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_page_over_its_deadline_keeps_its_links_and_says_why(workers: Workers, name: str) -> None:
    page = bounded.parse(workers, LINKS + HOSTILE[name](), HERE)
    assert page.given_up == bounded.TOO_LONG
    assert [url for url, _ in page.links][:2] == KEPT
    check(page)


@pytest.mark.parametrize("name", [*LINEAR, *HOSTILE])
def test_the_simple_pass_is_linear_in_any_page(name: str) -> None:
    """It takes half a second of the processor; the square of these sizes would take hours."""
    with Workers(1, cpu_s=600.0, wall_s=PATIENCE_S) as patient:
        check(patient.call(skim, (LINKS if name in HOSTILE else b"") + {**LINEAR, **HOSTILE}[name](), HERE))


def test_a_page_on_which_the_parser_crashes_keeps_its_links(workers: Workers) -> None:
    with Workers(1, cpu_s=600.0, max_bytes=200 * 2**20, wall_s=PATIENCE_S) as small:
        page = bounded.parse(small, LINKS + b"<p>" * (3 * MB), HERE)
    assert page.given_up == bounded.FAILED and [url for url, _ in page.links] == KEPT


def test_a_refusal_to_be_followed_holds_for_a_page_over_its_deadline(workers: Workers) -> None:
    page = bounded.parse(workers, b"<META content='NOFOLLOW,noindex' NAME=Robots>" + LINKS + HOSTILE["unclosed div"](), HERE)
    assert (bool(page.given_up), page.directives().nofollow, page.directives().noindex) == (True, True, True)


def test_the_simple_pass_has_the_same_limit_of_links() -> None:
    page = skim(b"".join(b"<a href=/%d>%d</a>" % (i % 7, i) for i in range(14)), HERE, most_links=5)
    assert [url for url, _ in page.links] == [f"http://example.org/{i}" for i in range(5)]
    assert page.dropped == {"too many links": 1}


@settings(deadline=None, max_examples=50)
@given(st.lists(pieces, max_size=60).map(" ".join), st.sampled_from(["", " ", "<p>x", "<b>"]), st.none() | st.just("utf-8"))
def test_where_a_page_is_parsed_makes_no_difference(workers: Workers, markup: str, more: str, charset: str | None) -> None:
    body = (markup + more * bounded.SMALL).encode() if more != "<b>" else (markup + more * 250).encode()
    expected = html.parse(body, HERE, charset)
    assert bounded.parse(workers, body, HERE, charset) == expected
    assert bounded.parse_elsewhere(workers, body, HERE, charset, html.MAX_LINKS, True) == expected


targets = st.one_of(
    st.from_regex(r"/?[a-z0-9/.?=&|~-]{0,12}(#[a-z]*)?", fullmatch=True),
    st.sampled_from(
        ["http://Other.example", "//x.example/a b", "mailto:a@b", "javascript:void(0)", "ä?ö=ü", "/a|b", "http//x"]
    ),
)
inline = st.sampled_from(["<b>{}</b>", "<p class='a \"b\" > c'>{}</p>", '<span title="it\'s">{}</span>', "{}", "<li>{}</li>"])
unread = st.sampled_from(
    [
        "<!-- <a href=/no>it's</a> -->",
        "<script>if (a<b) it='</div><a href=/no>'; // don't</script>",
        "<style>a>b{}</style>",
        "<xmp><a href=/no></xmp>",
        "<textarea><a href=/no></textarea>",
        "<img alt='<a href=/no>'>",
        "<br>",
        "words &amp; <i>words</i>",
    ]
)
quotes = st.sampled_from(['<a href="{}">{}</a>', "<A class=x HREF='{}' rel=nofollow>{}</A>", '<a\nhref = "{}" hidden>{}</a>'])
linked = st.tuples(quotes, targets).map(lambda of: of[0].format(escape(of[1]), "an <em>anchor</em>"))
bodies = st.lists(st.one_of(st.tuples(inline, linked).map(lambda of: of[0].format(of[1])), unread), max_size=12).map("\n".join)


@settings(deadline=None)
@given(bodies, st.sampled_from(["", "<base href='/sub/x'>", "<meta name=robots content=none>"]))
def test_on_well_formed_pages_the_simple_pass_finds_the_links_of_the_parser(body: str, head: str) -> None:
    markup = f"<!doctype html><html><head><title>a <b> c</title>{head}</head><body>{body}</body></html>".encode()
    whole, skimmed = html.parse(markup, HERE), skim(markup, HERE)
    assert [url for url, _ in skimmed.links] == [url for url, _ in whole.links]
    assert (skimmed.base, skimmed.statements, skimmed.canonical) == (whole.base, whole.statements, whole.canonical)
    assert skimmed.dropped == whole.dropped
