"""HTML from anywhere, parsed within a time limit, however hostile it is.

    small and tame     parsed at once, in this process
    all others         parsed by a worker process; over its deadline, or if it fails, the page keeps the links that one linear
                       pass finds (skim.py), and says why

Small and tame: at most LONG characters, of which at most SMALL are within tags, MAX_TAGS tags, and MAX_COPIES for the product
of tags and formatting elements (every block may open all formatting elements again that were left open). Tags and their
attributes are what costs more than its length: within these bounds the worst of 250 hostile pages (unclosed elements of all
kinds, end tags of none, attributes by the thousand, the adoption of formatting elements, nested links) takes 50 ms, most take
20; beyond them 16,000 bytes of the worst take a second, and 64,000 more than nine. Ordinary pages of 32,000 characters take 1
ms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Any

from frontrank.pages import html
from frontrank.pages.skim import skim
from frontrank.system.workers import Closed, TooLong, Workers

WORKERS = 4  # of one crawl; started one by one, when the others are busy
LONG = 160_000
SMALL = 32_000
MAX_TAGS = 3_000
MAX_COPIES = 40_000
FORMATTING = re.compile(r"<(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/>]", re.IGNORECASE)
TAG = re.compile(r"<[^>]*")
HIDDEN_END = re.compile(r"""=\s*(?:"[^"]*>|'[^']*>)""")  # a > within an attribute's value: the tag goes on behind it
TOO_LONG, FAILED = "parsing took too long", "the parser failed"
Call = tuple[Callable[..., Any], tuple[Any, ...]]  # a function and its arguments
Attempts = Generator[Call, Any, html.Page]


def parse(
    workers: Workers, body: bytes, url: str, encoding: str | None = None, most_links: int = html.MAX_LINKS, text: bool = True
) -> html.Page:
    """As html.parse; ``given_up`` says why if it is not the whole page."""
    found = parse_here(body, url, encoding, most_links, text)
    return parse_elsewhere(workers, body, url, encoding, most_links, text) if found is None else found


def parse_here(body: bytes, url: str, encoding: str | None, most_links: int, text: bool) -> html.Page | None:
    """The page, if it is small and tame."""
    if len(body) > 4 * LONG:
        return None
    markup = html.decode(body, encoding)
    return html.read(markup, url, most_links, text) if is_tame(markup) else None


def is_tame(markup: str) -> bool:
    """Whether no parser can take long over these characters."""
    tags = markup.count("<")
    if len(markup) > LONG or tags > MAX_TAGS or tags * len(FORMATTING.findall(markup)) > MAX_COPIES:
        return False
    if len(markup) <= SMALL:
        return True
    return sum(map(len, TAG.findall(markup))) <= SMALL and HIDDEN_END.search(markup) is None


def parse_elsewhere(workers: Workers, body: bytes, url: str, encoding: str | None, most_links: int, text: bool) -> html.Page:
    """The page, or what could be read of it in time. Waits for a worker; raises Closed if there will be none."""
    trying = attempts(body, url, encoding, most_links, text)
    asked = next(trying)
    while True:
        try:
            asked = _answered(workers, trying, asked)
        except StopIteration as end:
            page: html.Page = end.value
            return page


def _answered(workers: Workers, trying: Attempts, asked: Call) -> Call:
    try:
        answer = workers.call(asked[0], *asked[1])
    except Exception as error:
        return trying.throw(error)
    return trying.send(answer)


def attempts(body: bytes, url: str, encoding: str | None, most_links: int, text: bool) -> Attempts:
    """What is asked of workers for a page, call by call: whoever makes the calls sends what they return, or throws what they
    raise, and is given the page in the end."""
    try:
        whole: html.Page = yield html.parse, (body, url, encoding, most_links, text)
        return whole
    except Closed:
        raise
    except TooLong:
        reason = TOO_LONG
    except Exception:  # out of memory, a crash: whatever it is, the page must not end the crawl
        reason = FAILED
    try:
        skimmed = yield skim, (body, url, encoding, most_links)
    except Closed:
        raise
    except Exception:
        skimmed = html.Page(base=url)
    return html.Page(**{**vars(skimmed), "given_up": reason})
