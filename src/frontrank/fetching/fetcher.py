"""A page fetched: asked for, unpacked, stored as WARC records, read. What becomes of it is for others to say.

    Fetcher(options).fetch(url)     FetchResult: the response, the records to keep, the content of the page; or an error

It knows limits and nothing else: no frontier, no ordering, no robots.txt. So it runs where the crawl runs, or in processes of
its own (fetchers.py); a ``FetchResult`` is plain data.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import can_ada

from frontrank.fetching import robots_file
from frontrank.fetching.copies import Copy, header_of, words_of
from frontrank.fetching.credentials import Credentials
from frontrank.fetching.failures import NotFetched
from frontrank.fetching.http.client import Client
from frontrank.fetching.http.message import Response
from frontrank.fetching.limits import decoded
from frontrank.fetching.parsing import Parsing
from frontrank.fetching.private import Lookup, Names, getaddrinfo
from frontrank.fetching.robots_file import product_of
from frontrank.pages import bounded, feeds, html, urls
from frontrank.pages.directives import NOINDEX, NOTHING, SEARCH, Directives
from frontrank.pages.page_headers import PageHeaders
from frontrank.pages.warc_records import date_of, digest, new_id, records
from frontrank.system.workers import Closed, TooLong

if TYPE_CHECKING:
    from frontrank.crawl.crawl import Where
    from frontrank.fetching.crawler.options import Options

REDIRECTS = (301, 302, 303, 307, 308)
MAX_HOPS = 10  # redirects in a row that are followed


@dataclass(frozen=True)
class FetchOptions:
    """How pages are to be fetched."""

    agent: str
    timeout_s: float = 30.0
    max_size: int = 10_000_000
    max_links: int = html.MAX_LINKS
    proxy: str = ""
    allow_private: bool = False
    text: bool = True  # also extract the words of a page, not only its links
    warc: bool = False
    copies: bool = False  # also extract what is needed to visit a page again
    purpose: str = SEARCH  # what the pages are for: which wishes of their owners are obeyed
    language: str = "en"  # Accept-Language
    credentials: Credentials = field(default_factory=Credentials, repr=False)
    archive_credentials: bool = False

    @classmethod
    def of(cls, options: Options, text: bool) -> FetchOptions:
        return cls(
            options.agent,
            options.timeout,
            options.max_size,
            options.max_links,
            options.proxy,
            options.allow_private,
            text or bool(options.revisit or options.export),
            options.warc,
            bool(options.revisit),
            options.purpose,
            options.accept_language,
            options.credentials,
            options.archive_credentials,
        )


@dataclass(slots=True)
class FetchResult:
    """The result of one request. Either ``error`` says why nothing came, or the rest says what did."""

    error: NotFetched | None = None
    status: int = 0
    location: str = ""  # where it leads, of a redirect
    retry_after: bytes | None = None
    records: tuple[bytes, bytes] | None = None  # for the WARC file: request and response
    where: Where | None = None  # in the WARC file, once the records are stored
    found: html.Page | None = None  # the content of an HTML page; its links are clean
    copy: Copy | None = None  # what is needed to visit the page again
    unchanged: bool = False  # the page is the same as before, to the byte: it was not parsed
    directives: Directives = NOTHING  # what its owner asks for
    withheld: str = ""  # why it is not to be used, if its owner asks for that

    @property
    def redirects(self) -> bool:
        return self.status in REDIRECTS and bool(self.location)

    @property
    def may_keep(self) -> bool:
        """Whether what came may be kept and looked at; a page that may not be indexed may."""
        return self.withheld in ("", NOINDEX)

    def metadata(self, url: str) -> dict[str, str]:
        """What is stored with the page."""
        canonical = self.found.canonical if self.found is not None else ""
        if not canonical and not self.withheld:
            return {}
        metadata = {"withheld": self.withheld, "canonical": canonical if canonical != url else ""}
        return {name: value for name, value in metadata.items() if value}


class Fetcher:
    def __init__(self, options: FetchOptions, lookup: Lookup = getaddrinfo) -> None:
        self.options = options
        self.names = Names(options.allow_private, lookup)
        self.client = Client(
            options.agent,
            names=self.names,
            proxy=options.proxy,
            timeout_s=options.timeout_s,
            language=options.language,
            credentials=options.credentials,
            archive_credentials=options.archive_credentials,
        )
        self.parsing = Parsing()
        self._token = product_of(options.agent)

    async def fetch(
        self, url: str, info: bytes = b"", before: Copy | None = None, sent: Callable[[], None] | None = None
    ) -> FetchResult:
        """Fetch a page; ``info`` is the WARC file's own record, ``before`` the copy that there is of it.

        ``sent`` is called once the request is written.
        """
        try:
            extra_headers = before.headers() if before is not None else None
            response = await self.client.get(url, max_bytes=self.options.max_size, extra_headers=extra_headers, sent=sent)
            response = replace(response, body=decoded(response.headers, response.body, self.options.max_size))
        except NotFetched as error:
            return FetchResult(error)
        result = FetchResult(status=response.status, retry_after=response.header(b"retry-after"))
        if response.status in REDIRECTS:
            result.location = (response.header(b"location") or b"").decode("utf-8", "replace")
        payload = digest(response.body).decode() if self.options.copies else ""
        if before is not None:
            result.unchanged = response.status == 304 or (response.status == 200 and payload == before.payload)
        now = time.time()
        if not result.unchanged:
            await self._look(url, response, result)
        kept = ("", "")
        if self.options.warc and result.may_keep:
            kept = self._keep(url, response, result, info, before=before, now=now)
        if result.unchanged and before is not None:
            result.copy = before.seen_again(response)
            return result
        if self.options.copies:
            words = words_of(result.found, result.location.encode() or response.body)
            result.copy = Copy(header_of(response, b"etag"), header_of(response, b"last-modified"), words, payload, *kept)
        return result

    async def _look(self, url: str, response: Response, result: FetchResult) -> None:
        """Read the page, if it is one, and what its owner asks for, there and in the headers."""
        if has_links(response):
            result.found = await self._read(url, response)
        elif 200 <= response.status < 300 and feeds.is_feed(type_of(response), response.body):
            result.found = await self._read_feed(url, response)
        if not 200 <= response.status < 300:
            return
        headers = PageHeaders.of(response.headers)
        if headers.links:
            result.found = headers.add_links(url, result.found)
        if result.found is not None or headers.statements:
            result.directives = (result.found or html.Page()).directives(self._token, headers.statements)
            result.withheld = result.directives.withheld(self.options.purpose)

    def _keep(
        self, url: str, response: Response, result: FetchResult, info: bytes, *, before: Copy | None, now: float
    ) -> tuple[str, str]:
        """Make the records of a page; returns the id and date by which a later one can refer to its payload."""
        record = new_id()
        result.records = records(
            url,
            response.status,
            response.headers,
            response.body,
            request_headers=response.asked,
            protocol=response.protocol,
            address=response.address,
            info=info,
            now=now,
            record=record,
            unchanged=before.original if before is not None and result.unchanged else None,
        )
        return (record.decode(), date_of(now).decode()) if response.status == 200 else ("", "")

    async def _read(self, url: str, response: Response) -> html.Page:
        given = (response.body, url, charset_of(response), self.options.max_links, self.options.text)
        found = self.parsing.at_once(*given)
        if found is None:
            found = await self.parsing.page(urls.host_of(url), *given)
        return clean_links(found)

    async def _read_feed(self, url: str, response: Response) -> html.Page:
        try:
            read = self.parsing.call(urls.host_of(url), feeds.read_feed, response.body, url, self.options.max_links)
            return clean_links(await read)
        except Closed:
            raise
        except Exception as error:  # whatever it is: a feed must not end the crawl
            return html.Page(base=url, given_up=bounded.TOO_LONG if isinstance(error, TooLong) else bounded.FAILED)

    async def robots_txt(self, url: str, sent: Callable[[], None] | None = None) -> Response:
        """As much of a robots.txt as is read."""
        response = await self.client.get(url, max_bytes=robots_file.MAX_BYTES, truncate=True, sent=sent)
        return replace(response, body=decoded(response.headers, response.body, robots_file.MAX_BYTES, truncate=True))

    async def file(
        self, url: str, max_bytes: int, sink: Callable[[bytes], object], sent: Callable[[], None] | None = None
    ) -> Response:
        """A file that is not a page of the crawl: ``sink`` gets its bytes, with their content codings."""
        return await self.client.get(url, max_bytes=max_bytes, truncate=True, sent=sent, sink=sink)

    def close(self) -> None:
        self.client.close()
        self.parsing.close()


def redirect_target(base: str, location: str) -> str:
    """Where a redirect leads, in canonical form; empty if that is not a URL.

    >>> redirect_target("http://a.example/b/c", "../d?sid=1#e"), redirect_target("http://a.example/", "http://[")
    ('http://a.example/d', '')
    """
    try:
        return urls.clean((can_ada.parse(base) + location.strip()).href)
    except (ValueError, TypeError):
        return ""


def cleaned(url: str) -> str:
    """urls.clean of a URL that is canonical: most have nothing that could be dropped."""
    return urls.clean(url) if "?" in url or ";" in url else url


def clean_links(page: html.Page) -> html.Page:
    return replace(page, links=[(cleaned(target), anchor) for target, anchor in page.links])


def has_links(response: Response) -> bool:
    """Whether this is a page to be parsed."""
    is_page = 200 <= response.status < 400 and not (response.status in REDIRECTS and response.header(b"location"))
    return is_page and is_html(response) and not html.looks_binary(response.body)


def type_of(response: Response) -> str:
    return (response.header(b"content-type") or b"").decode("latin-1").partition(";")[0].strip().lower()


def is_html(response: Response) -> bool:
    return html.is_html(_content_type(response), response.body)


def charset_of(response: Response) -> str | None:
    """The encoding that the server names, if it names one."""
    return html.charset_in(_content_type(response))


def _content_type(response: Response) -> str:
    return (response.header(b"content-type") or b"").decode("latin-1")
