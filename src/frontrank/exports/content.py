"""What stands on a page: its text, language and digest, from the stored response.

    visible     of <main> if there is one, else of <body> without <nav>, as the crawl itself reads it (``pages.html``)
    main        the main content, by trafilatura: without menus, footers, cookie notices
    markdown    the same with headings, lists, tables and links, as Markdown

The text of text/plain is the page itself; other types have none. Hostile pages are read within a time limit, and one whose main
content takes too long has its visible text, and is counted.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from types import TracebackType
from typing import NamedTuple

from frontrank.errors import need
from frontrank.exports.records import StoredResponse
from frontrank.pages import bounded, html
from frontrank.pages.directives import OWN_NAME, SEARCH
from frontrank.pages.page_headers import PageHeaders
from frontrank.system.lazy import trafilatura
from frontrank.system.workers import Closed, TooLong, Workers

EXTRACTION_S = 10.0  # of the processor, for the main content of one page
IMPORT_S = 60.0  # of the processor: trafilatura is imported, and compiles its expressions
EXTRACTED = ("main", "markdown")


class Content(NamedTuple):
    """What stands on a page. text: None if it has none, or it was not asked for."""

    text: str | None = None
    language: str | None = None
    digest: str | None = None
    withheld: str = ""  # why it must not be used, if its owner asks for that


class ContentReader:
    """Reads pages for one export. ``problems`` counts what could not be done, in words."""

    def __init__(self, text: str, agent: str = OWN_NAME, purpose: str = SEARCH) -> None:
        """``agent``, ``purpose``: of the crawl, to which sites make statements."""
        need("selectolax")
        if text in EXTRACTED:
            need("trafilatura", "lxml_html_clean")
        self.text, self.agent, self.purpose = text, agent, purpose
        self.problems: Counter[str] = Counter()
        self._parsers = Workers(1)
        self._extractors = Workers(1, EXTRACTION_S, first=(main_text, (b"", "", None, "main")), first_s=IMPORT_S)

    def read(self, url: str, response: StoredResponse, page: html.Page | None = None) -> Content:
        """The content of a response. ``page``: the same, if it has been parsed already."""
        kind, body = response.header("content-type"), response.body
        language = html.language_of(response.header("content-language")) or None
        charset = html.charset_in(kind)
        is_page = bool(body) and not html.looks_binary(body)
        is_html = is_page and html.is_html(kind, body)
        if is_html and page is None:
            page = bounded.parse(self._parsers, body, url, charset, most_links=0)
        if withheld := self._withheld(response, page if is_html else None):
            return Content(withheld=withheld)
        if is_html and page is not None:
            text = self._chosen(url, page.text, body, charset)
            return Content(text, page.language or language, digest_of(page.text))
        if is_page and kind.partition(";")[0].strip().lower() == "text/plain":
            text = html.decode(body, charset)
            return Content(None if self.text == "none" else text, language, digest_of(text))
        return Content(language=language)

    def _withheld(self, response: StoredResponse, page: html.Page | None) -> str:
        """What the owner of a page asks, there and in the headers. New crawls have noted it; of old ones it is read here."""
        headers = PageHeaders.of((name.encode("latin-1"), value.encode("latin-1")) for name, value in response.headers)
        if page is None and not headers.statements:
            return ""
        return (page or html.Page()).directives(self.agent, headers.statements).withheld(self.purpose)

    def _chosen(self, url: str, visible: str, body: bytes, charset: str | None) -> str | None:
        if self.text not in EXTRACTED:
            return None if self.text == "none" else visible
        try:
            return self._extractors.call(main_text, body, url, charset, self.text)
        except TooLong:
            self.problems["main content took too long, the visible text stands instead"] += 1
        except (ImportError, Closed):
            raise
        except Exception:  # a parser that fails on a page, or dies of it, must not end the export
            self.problems["main content could not be found, the visible text stands instead"] += 1
        return visible

    def __enter__(self) -> ContentReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._parsers.close()
        self._extractors.close()


def main_text(body: bytes, url: str, charset: str | None, text: str) -> str:
    """The main content of a page of HTML."""
    rich = text == "markdown"
    found: str | None = trafilatura.extract(
        html.decode(body, charset),
        url=url or None,
        output_format="markdown" if rich else "txt",
        include_comments=False,
        include_links=rich,
        include_formatting=rich,
    )
    return found or ""


def digest_of(text: str) -> str | None:
    """A digest by which exact copies of a text are found, whatever its letter case and white space; None for no text.

    >>> digest_of("A  page") == digest_of("a page\\n"), digest_of(" ")
    (True, None)
    """
    words = " ".join(text.casefold().split())
    return f"sha256:{sha256(words.encode('utf-8', 'replace')).hexdigest()}" if words else None
